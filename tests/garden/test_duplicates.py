"""Planning exact duplicates: golden folders and property tests.

Set ``WRITE_CASES=1`` to write ``plan.json`` and ``after/`` of every golden folder.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.statements import fold, statements
from thunderus_mem.garden.plan import GardenInput, Step, make_plan
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

CASES = Path(__file__).parent.parent / "cases" / "garden"
SHOWN = ("action", "why", "evidence", "targets", "edits")
Files = dict[str, bytes]


def documents(files: Files) -> list[Document]:
    readings = [read_document(path, data) for path, data in files.items()]
    return [reading.document for reading in readings if reading.document is not None]


def planned(files: Files, **config: Any) -> tuple[Step, ...]:
    return plan_duplicates(GardenInput.of(documents(files), verbose=True), Config(**config))


def plan_of(files: Files, strategy: str) -> tuple[Step, ...]:
    return plan_duplicates(
        GardenInput.of(documents(files), verbose=True), Config(duplicates_strategy=strategy)
    )


def applied(files: Files, steps: Iterable[Step]) -> Files:
    after = dict(files)
    for step in steps:
        for edit in step.edits:
            assert read_document(edit.path, after[edit.path]).document.hash == edit.before  # type: ignore[union-attr]
            if edit.after_text is None:
                del after[edit.path]
            else:
                after[edit.path] = edit.after_text.encode()
    return after


def read_folder(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.md"))}


def shown(steps: Iterable[Step]) -> str:
    """A plan without the complete texts, which are in ``after/``."""
    data = [{key: asdict(step)[key] for key in SHOWN} for step in steps]
    for step in data:
        step["edits"] = [
            f"{'remove' if edit['after_text'] is None else 'update'} {edit['path']}" for edit in step["edits"]
        ]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_golden_folder(name: str) -> None:
    folder = CASES / name
    strategy = (folder / "about.txt").read_text(encoding="utf-8").splitlines()[0].removeprefix("strategy: ")
    before = read_folder(folder / "before")
    steps = plan_of(before, strategy)
    after = applied(before, steps)
    changed = {path: data for path, data in after.items() if before[path] != data}
    if os.environ.get("WRITE_CASES"):
        shutil.rmtree(folder / "after", ignore_errors=True)
        (folder / "plan.json").write_text(shown(steps), encoding="utf-8")
        for path, data in changed.items():
            (folder / "after" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "after" / path).write_bytes(data)
    assert shown(steps) == (folder / "plan.json").read_text(encoding="utf-8")
    assert changed == read_folder(folder / "after")
    assert not make_plan(plan_of(after, strategy)).applicable


# A small vocabulary, so that duplicates, near misses and obstacles are frequent.
SENTENCES = ["The cache is cold now.", "The Lock is held.", "Wait 10 seconds first.", "Use `X` not `x` here."]
TITLES = ["The cache", "the cache.", "Locks", "Cache 2"]
ids = st.sampled_from(["a", "b", "c", "d", "e", "f"])


@st.composite
def document_bytes(draw: st.DrawFn, name: str) -> tuple[str, bytes]:
    kind = draw(st.sampled_from(["fact", "fact", "fact", "playbook", "adr", "core", "recap"]))
    said = draw(st.permutations(SENTENCES).map(lambda order: order[: 4 if draw(st.booleans()) else 3]))
    joint = draw(st.sampled_from([" ", "\n", "\n\n", "  "]))
    body = joint.join(said) + draw(st.sampled_from(["", "\n"]))
    if draw(st.booleans()):
        body = body.lower() if "`" not in body and "10" not in body else body
    day = draw(st.integers(1, 3))
    lines = [
        f"id: {kind}.{name}",
        f"title: {draw(st.sampled_from(TITLES))}",
        f"kind: {kind}",
        "tags: " + draw(st.sampled_from(["[x]", "[y, z]", "word", "\n  - x\n  - w"])),
        f"created: 2026-01-0{day}T00:00:00Z",
        f"updated: 2026-01-0{day + draw(st.integers(0, 3))}T00:00:00Z",
        *draw(st.sampled_from([[], [], ["timeframe: '2024'"], ["timeframe: '2025'"], ["x-note: 1"]])),
        *draw(st.sampled_from([[], ["author: Ines"], ["author: Ruth", "metadata:", "  from: here"]])),
        *draw(st.sampled_from([[], ["aliases:", "  - old-name", "  - fact.z"], ["aliases: []"]])),
        *draw(st.sampled_from([[], ["links:", "  refers_to:", f"    - fact.{draw(ids)}"]])),
        "provenance:",
        f"  events: [evt_{name}1, evt_{name}2]",
        "  patches:",
        f"    - patch_{name}",
        f"  commits: [{draw(st.sampled_from(['', 'abc']))}]",
    ]
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(["---", *lines, "---", "", body]).replace("\n", eol)
    return f"{kind}/{name}.md", text.encode()


@st.composite
def stores(draw: st.DrawFn) -> Files:
    return dict(draw(document_bytes(name)) for name in draw(st.lists(ids, unique=True, max_size=6)))


strategies = st.sampled_from(["merge_to_first", "keep_newest", "flag_for_review"])
law = settings(deadline=None, max_examples=40, derandomize=True)


@law
@given(stores(), strategies)
def test_plan_after_apply_has_only_the_same_reports(files: Files, strategy: str) -> None:
    first = make_plan(plan_of(files, strategy))
    second = make_plan(plan_of(applied(files, first.steps), strategy))
    assert second.applicable == ()
    assert second.reports == first.reports


@law
@given(stores(), strategies, st.randoms(use_true_random=False))
def test_plan_does_not_depend_on_document_order(files: Files, strategy: str, shuffle: random.Random) -> None:
    names = list(files)
    shuffle.shuffle(names)
    assert plan_of({name: files[name] for name in names}, strategy) == plan_of(files, strategy)


@law
@given(stores(), strategies)
def test_merge_loses_nothing_and_changes_no_other_file(files: Files, strategy: str) -> None:
    steps = plan_of(files, strategy)
    after = applied(files, steps)
    by_id = {document.id: document for document in documents(files)}
    for step in (step for step in steps if step.edits):
        stays, *gone = [by_id[target] for target in step.targets]
        kept = read_document(stays.path, after[stays.path]).document
        assert kept is not None
        assert kept.body == stays.body
        assert (kept.title, kept.updated, kept.status) == (stays.title, stays.updated, stays.status)
        names = {fold(name).lower() for name in (kept.title, *kept.aliases)}
        for document in gone:
            assert document.kind == kept.kind in ("fact", "playbook")
            assert {document.id, *document.aliases} <= set(kept.aliases)
            assert fold(document.title).lower() in names
            assert set(document.tags) <= set(kept.tags)
            for key in ("events", "patches", "commits"):
                assert set(getattr(document, key)) <= set(getattr(kept, key))
            own = {kept.id, *(other.id for other in gone)}
            assert {link for link in document.links if link.target not in own} <= set(kept.links)
            assert document.id in {link.target for link in kept.links if link.rel == "duplicates"}
            assert set(statements(document.body, document.title)) <= set(statements(kept.body, kept.title))
            for key in ("author", "metadata", "timeframe", "x-note"):
                apart = (kept.data().get("metadata") or {}).get("merged", {}).get(document.id, {})
                given = document.data().get(key)
                assert given in (None, stays.data().get(key), kept.data().get(key), apart.get(key)) or (
                    key == "metadata" and given.items() <= kept.data()["metadata"].items()
                )
    named = {target for step in steps if step.edits for target in step.targets}
    for path, data in files.items():
        document = read_document(path, data).document
        if document is not None and document.id not in named:
            assert after[path] == data
            assert strategy != "flag_for_review" or after == files


LINES = [
    "The cache is cold now.",
    "the cache is cold now",
    "## The port is 80",
    "## The port is 443",
    "# The port",
    "### Later",
    "The port is 80\n---",
    "- Wait 10 seconds.",
    "* wait 10 seconds",
    "1. Stop it.",
    "| port | 80 |",
    "> Wait first.",
    "```\nmake it\n```",
    "<!-- port 443 -->",
    "***",
]


@law
@given(
    st.lists(st.lists(st.sampled_from(LINES), max_size=5), min_size=2, max_size=4),
    st.lists(st.sampled_from(LINES), min_size=1, max_size=4),
)
def test_apply_loses_no_line(bodies: list[list[str]], common: list[str]) -> None:
    """Except for layout: every line that is removed is in the survivor."""

    def written(*lines: str) -> str:
        return "".join(char for char in " ".join(lines).casefold() if char.isalnum())

    header = (
        "---\nid: fact.{0}\ntitle: The port\nkind: fact\ntags: []\ncreated: 2026-01-01T00:00:00Z\nupdated: "
    )
    header += "2026-01-01T00:00:00Z\nprovenance:\n  events: []\n  patches: []\n  commits: []\n---\n\n"
    files = {
        f"fact/{at}.md": (header.format(at) + "\n\n".join((*common, *lines))).encode()
        for at, lines in enumerate([[], *bodies, [], *map(sorted, bodies)])
    }
    by_id = {document.id: document for document in documents(files)}
    for step in (step for step in plan_of(files, "merge_to_first") if step.edits):
        stays, *gone = [by_id[target] for target in step.targets]
        kept = written(stays.title, stays.body)
        assert [line for one in gone for line in one.body.split("\n") if written(line) not in kept] == []


@law
@given(stores(), st.sampled_from(["merge_to_first", "keep_newest"]))
def test_survivor_is_oldest_or_newest(files: Files, strategy: str) -> None:
    by_id = {document.id: document for document in documents(files)}
    for step in plan_of(files, strategy):
        if step.edits:
            group = [by_id[target] for target in step.targets]
            if strategy == "merge_to_first":
                oldest = min(each.created for each in group)
                of_one_age = [each for each in group if each.created == oldest]
                assert group[0] in of_one_age
                assert group[0].updated == max(each.updated for each in of_one_age)
            else:
                newest = max(each.updated for each in group)
                assert group[0].updated == newest


def test_survivor_of_one_age_is_the_newest_then_the_most_linked() -> None:
    def named(updated: str) -> Files:
        files = read_folder(CASES / "oldest-stays" / "before")
        one = next(data for data in files.values() if b"kind: fact" in data).decode()
        head, body = one.split("---\n", 2)[1:]
        lines = [line for line in head.splitlines() if line[:3] not in ("id:", "cre", "upd")]
        created = "created: 2026-01-01T00:00:00Z\nupdated: "
        ids = (("a", "2026-01-02"), ("b", updated), ("c", "2026-01-02"))
        made = {
            name: "\n".join([f"id: fact.{name}", f"{created}{day}T00:00:00Z", *lines]) for name, day in ids
        }
        files = {f"{name}.md": f"---\n{header}\n---\n{body}".encode() for name, header in made.items()}
        linking = files["a.md"].replace(b"id: fact.a", b"id: fact.d\nlinks:\n  refers_to: [fact.c]")
        return {**files, "d.md": linking.replace(body.encode(), b"\nSee another.\n")}

    assert plan_of(named("2026-01-03"), "merge_to_first")[0].targets == ("fact.b", "fact.c", "fact.a")
    assert plan_of(named("2026-01-02"), "keep_newest")[0].targets == ("fact.c", "fact.a", "fact.b")


def test_unconfigured_kinds_are_only_reported() -> None:
    files = read_folder(CASES / "oldest-stays" / "before")
    steps = plan_duplicates(
        GardenInput.of(documents(files), verbose=True), Config(duplicates_kinds=("playbook",))
    )
    assert [step.action for step in steps] == ["report"]
