"""The garden commands on a real store in a real repository."""

from __future__ import annotations

import errno
import os
import random
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.events import note
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.authoring.init import init
from thunderus_mem.authoring.rename import rename
from thunderus_mem.authoring.show import show
from thunderus_mem.document.profile import profile_of
from thunderus_mem.errors import Conflict, DocumentExists, NotFound, NotWritable, ThunderusError
from thunderus_mem.garden import apply
from thunderus_mem.garden.apply import garden_apply, garden_plan, garden_propose, material_of
from thunderus_mem.index import writer
from thunderus_mem.lint.lint import lint
from thunderus_mem.log.event import changes_of
from thunderus_mem.memory import locate
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.recap.recap import recap
from thunderus_mem.recap.scope import Wanted
from thunderus_mem.store.safe_open import open_file, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.document.document import Document

CASES = Path(__file__).parent.parent / "cases" / "garden"
FACTS = ".thunderus/memory/semantic/FACTS"
EPISODIC = ".thunderus/memory/episodic"


class Clock:
    """A clock controlled by a test."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 21, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def git(root: Path, *arguments: str) -> None:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    day = "2026-01-21T10:00:00Z"
    clean |= {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day, "GIT_CONFIG_GLOBAL": os.devnull}
    identity = ("-c", "user.name=Ines", "-c", "user.email=ines@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, env=clean)


def opened(root: Path, clock: Clock) -> Memory:
    return open_memory(str(root), environ={}, now=clock, random_bits=lambda bits: 7)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path, clock: Clock) -> Path:
    git(tmp_path, "init", "-q")
    init(str(tmp_path), lambda: opened(tmp_path, clock))
    for source in sorted((CASES / "oldest-stays" / "before" / "FACTS").iterdir()):
        (tmp_path / FACTS / source.name).write_bytes(source.read_bytes())
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "Begin a memory")
    return tmp_path


def test_plan_changes_nothing(root: Path, clock: Clock) -> None:
    before = {path.name: path.read_bytes() for path in (root / FACTS).iterdir()}
    plan = garden_plan(opened(root, clock))
    assert [step.targets for step in plan.applicable] == [("fact.caching", "fact.cache")]
    assert {path.name: path.read_bytes() for path in (root / FACTS).iterdir()} == before


def test_apply_logs_each_step_and_leaves_nothing_to_plan(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    applied = garden_apply(memory, garden_plan(memory))
    assert [step.targets for step in applied.steps] == [("fact.caching", "fact.cache")]
    assert [(one.op, one.id) for one in applied.written] == [
        ("update", "fact.caching"),
        ("remove", "fact.cache"),
    ]
    assert applied.published
    assert sorted(path.name for path in (root / FACTS).iterdir()) == ["caching.md"]
    golden = CASES / "oldest-stays" / "after" / "FACTS" / "caching.md"
    assert (root / FACTS / "caching.md").read_bytes() == golden.read_bytes()
    event = next(e.event for e in memory.log.read_all().events if e.event.id == applied.steps[0].event_id)
    assert event.body["op"] == "garden"
    assert {(change.op, change.doc_id) for change in changes_of(event)} == {
        ("update", "fact.caching"),
        ("remove", "fact.cache"),
    }
    assert garden_plan(opened(root, clock)).applicable == ()


def test_plan_reads_only_documents_that_a_step_may_change(
    root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (root / FACTS / "cache.md").read_text()
    (root / FACTS / "other.md").write_text(text.replace("id: fact.cache", "id: fact.other") + "More.\n")
    monkeypatch.setattr(writer.FileStamp, "racy_at", lambda stamp, moment: False)
    memory = opened(root, clock)
    memory.refresh()
    read: list[str] = []

    def document_at(memory: Memory, path: str) -> Document | None:
        read.append(path)
        return locate.document_at(memory, path)

    monkeypatch.setattr(apply, "document_at", document_at)
    plan = garden_plan(memory, only=["duplicates"])
    assert [step.targets for step in plan.applicable] == [("fact.caching", "fact.cache")]
    assert sorted(read) == [f"{FACTS}/cache.md", f"{FACTS}/caching.md"]


def test_profiles_in_the_index_are_those_of_the_files(root: Path, clock: Clock) -> None:
    text = (root / FACTS / "cache.md").read_text()
    more = (
        "expires: 2026-02-01T00:00:00Z\nanchors: [src/a.py#f, 'src/b.py:L3-9']\n"
        "metadata: {imported_from: a.md}\n"
        "links: {supersedes: [fact.b, fact.a], refers_to: [fact.a]}\nid: fact.other"
    )
    body = "\n[[fact.a#B]], [[x]] and [[x]], [it](b%20c.md#d) and [this](#e).\n\n`[[z]]`\n"
    (root / FACTS / "other.md").write_text(text.replace("id: fact.cache", more, 1) + body)
    memory = opened(root, clock)
    memory.refresh()
    read = [locate.document_at(memory, path) for path, _, doc_id in memory.index.files() if doc_id]
    profiles = sorted(profile_of(one) for one in read if one is not None)
    assert sorted(memory.index.profiles()) == profiles
    traits = next(one.traits for one in profiles if one.id == "fact.other")
    assert (traits.imported_from, traits.expires) == ("a.md", "2026-02-01")
    assert traits.anchors == ("src/a.py#f", "src/b.py:L3-9")
    assert (traits.wiki_links, traits.file_links) == (("fact.a#B", "x"), ("b c.md#d",))


def test_document_changed_during_planning_is_a_conflict(root: Path, clock: Clock) -> None:
    material = material_of(opened(root, clock))
    one, other = (profile for profile in material.documents if profile.kind == "fact")
    with (root / other.path).open("a") as handle:
        handle.write("More.\n")
    assert material.read(one).hash == one.hash
    with pytest.raises(Conflict, match=f"{other.path} changed during planning"):
        material.read(other)


def test_removed_id_still_resolves(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    garden_apply(memory, garden_plan(memory))
    assert show(opened(root, clock), "fact.cache").id == "fact.caching"


def test_step_with_changed_documents_is_skipped_and_reported(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    for name in ("more", "most"):
        text = (root / FACTS / "cache.md").read_text(encoding="utf-8")
        text = text.replace("fact.cache", f"fact.{name}").partition("\n\n")[0]
        body = "The exporter waits thirty seconds for the first page and five for each further one."
        (root / FACTS / f"{name}.md").write_text(f"{text}\n\n{body}\n", encoding="utf-8")
    plan = garden_plan(memory)
    assert len(plan.applicable) == 2
    path = root / FACTS / "cache.md"
    path.write_text(path.read_text(encoding="utf-8") + "One thing more.\n", encoding="utf-8")
    applied = garden_apply(opened(root, clock), plan)
    assert [step.targets for step in applied.steps] == [("fact.more", "fact.most")]
    assert [(step.targets, step.why) for step in applied.skipped] == [
        (("fact.caching", "fact.cache"), f"{FACTS}/cache.md has changed since the plan was made")
    ]
    assert path.read_text(encoding="utf-8").endswith("One thing more.\n")


def test_unreadable_document_is_not_reported_as_changed(root: Path, clock: Clock, monkeypatch) -> None:
    plan = garden_plan(opened(root, clock))

    def refuse(path: str, limit: int) -> bytes:
        raise NotWritable(f"{path} could not be read: the disk reports an error.")

    monkeypatch.setattr(apply, "read_file", refuse)
    with pytest.raises(NotWritable, match="reports an error"):
        garden_apply(opened(root, clock), plan)


@pytest.mark.parametrize("known", [True, False], ids=["known", "new"])
def test_unreadable_document_prevents_plan_and_recap(
    root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    note(opened(root, clock), "todo: measure the cache")
    if known:
        opened(root, clock).refresh()
    else:
        os.unlink(opened(root, clock).layout.index_file)

    def refused(name: str, flags: int, *more: int) -> int:
        if name.endswith("cache.md"):
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return open_file(name, flags, *more)

    with monkeypatch.context() as patch:
        patch.setattr("thunderus_mem.store.files.open_file", refused)
        patch.setattr("thunderus_mem.index.scan.open_file", refused)
        with pytest.raises(NotWritable, match=f"^cannot open {FACTS}/cache.md: permission denied"):
            garden_plan(opened(root, clock))
        with pytest.raises(NotWritable, match=f"^cannot open {FACTS}/cache.md: permission denied"):
            recap(opened(root, clock), "2026-01-21")
    assert len(garden_plan(opened(root, clock)).applicable) == 1
    assert recap(opened(root, clock), "2026-01-21").changed


def test_unreadable_folder_prevents_plan_and_recap(
    root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(opened(root, clock), "todo: measure the cache")

    def refused(path: str) -> int:
        if path.endswith("episodic"):
            raise PermissionError(path)
        return open_folder(path)

    with monkeypatch.context() as patch:
        patch.setattr("thunderus_mem.index.scan.open_folder", refused)
        with pytest.raises(NotWritable, match=r"cannot read the folder .*episodic"):
            garden_plan(opened(root, clock))
        with pytest.raises(NotWritable, match=r"cannot read the folder .*episodic"):
            recap(opened(root, clock), "2026-01-21")
    assert len(garden_plan(opened(root, clock)).applicable) == 1


def test_unreadable_log_prevents_plan_until_it_is_readable(
    root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = note(opened(root, clock), "todo: measure the cache")
    os.unlink(opened(root, clock).layout.index_file)

    def refused(name: str, flags: int, *more: int) -> int:
        if name.endswith("events.jsonl"):
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return open_file(name, flags, *more)

    monkeypatch.setattr("thunderus_mem.index.log.is_racy", lambda *_: False)
    with monkeypatch.context() as patch:
        patch.setattr("thunderus_mem.log.reader.open_file", refused)
        with pytest.raises(NotWritable, match="decisions recorded there would be missed"):
            garden_plan(opened(root, clock))
    log_index = opened(root, clock).log_index()
    assert (log_index.damages(), log_index.known([noted])) == (0, {noted})
    assert len(garden_plan(opened(root, clock)).applicable) == 1


def test_unreadable_proposal_prevents_plan(root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    (filed,) = garden_propose(opened(root, clock), garden_plan(opened(root, clock), apart=True)).proposals
    assert garden_plan(opened(root, clock)).waiting == 1

    def refused(name: str, flags: int, *more: int) -> int:
        if filed.id in name:
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return open_file(name, flags, *more)

    monkeypatch.setattr("thunderus_mem.store.files.open_file", refused)
    with pytest.raises(NotWritable, match=filed.id):
        garden_plan(opened(root, clock))


def test_recap_cites_events_and_changes_only_with_new_ones(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    noted = note(memory, "todo: measure the cache")
    edit(memory, "fact.cache", DocumentEdits(add_tags=["slow"]), why="it is")
    written = recap(memory, "2026-01-21")
    assert written.id == "recap.2026-01-21"
    assert written.path == ".thunderus/memory/episodic/2026-01-21.md"
    text = (root / written.path).read_text(encoding="utf-8")
    assert noted in text.partition("---\n\n")[0]
    assert f"- Open items: `{noted}`" in text
    assert "- [[fact.cache|The cache]] edited. Reason: it is.\n" in text
    assert "Begin a memory" in text
    again = recap(opened(root, clock), "2026-01-21")
    assert not again.changed
    note(memory, "measured it")
    assert recap(opened(root, clock), "2026-01-21").changed


def test_edited_recap_is_kept_without_force(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    note(memory, "something to tell of")
    path = root / recap(memory, "today").path
    path.write_text(path.read_text(encoding="utf-8") + "\nAnd lunch was good.\n", encoding="utf-8")
    with pytest.raises(Conflict, match="was edited"):
        recap(opened(root, clock), "2026-01-21")
    assert "lunch" in path.read_text(encoding="utf-8")
    assert recap(opened(root, clock), "2026-01-21", force=True).changed
    assert "lunch" not in path.read_text(encoding="utf-8")


def test_recap_dry_run_writes_nothing(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    note(memory, "something to tell of")
    planned = recap(memory, "2026-01-21", dry_run=True)
    assert planned.dry_run
    assert "Something to tell of" in planned.text
    assert not (root / planned.path).exists()


def test_days_without_events_and_invalid_days_are_rejected(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    with pytest.raises(NotFound, match="no events or commits on 2025-12-31"):
        recap(memory, "2025-12-31")
    for word in ("tomorrow", "2026-02-30", "20260121", ""):
        with pytest.raises(ThunderusError, match="invalid period"):
            recap(memory, word)


def test_week_names_the_days_that_it_omits(root: Path, clock: Clock) -> None:
    for day in (20, 21, 22):
        clock.moment = datetime(2026, 1, day, 10, tzinfo=UTC)
        note(opened(root, clock), f"something of the {day}th")
    memory = opened(root, clock)
    with pytest.raises(NotFound, match="no recaps of days or sessions in 2026-W04") as caught:
        recap(memory, Wanted("week", "2026-W04"))
    assert caught.value.hint == "write them first: `thunderus-mem recap 2026-01-20`"
    with pytest.raises(NotFound) as caught:
        recap(memory, Wanted("week", "2025-W04"))
    assert caught.value.hint == "no events in 2025-W04; `thunderus-mem log --all` lists events by day"
    recap(memory, "2026-01-21")
    said = "Days with events but without a recap are omitted: 2026-01-20, 2026-01-22"
    omitted = [(said, "Run `thunderus-mem recap 2026-01-20`, then this command again")]
    for _ in range(2):  # also if it is up to date
        written = recap(opened(root, clock), Wanted("week", "2026-W04"))
        assert [(one.message, one.hint) for one in written.warnings] == omitted
    recap(memory, "2026-01-20")
    recap(memory, "2026-01-22")
    written = recap(opened(root, clock), Wanted("week", "2026-W04"))
    assert (written.changed, written.warnings) == (True, ())


def test_custom_template_is_used(root: Path, clock: Clock) -> None:
    (root / "recap.tpl").write_text("# Day {{ day }}\n\n- {{ notes[0] }}\n", encoding="utf-8")
    gardener = root / ".thunderus" / "memory" / "gardener.toml"
    gardener.write_text('[recap]\ntemplate = "recap.tpl"\n', encoding="utf-8")
    memory = opened(root, clock)
    note(memory, "something to tell of")
    text = (root / recap(memory, "2026-01-21").path).read_text(encoding="utf-8")
    assert "# Day 2026-01-21\n\n- Something to tell of\n\n## Provenance\n" in text


def test_lint_accepts_a_merge(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    garden_apply(memory, garden_plan(memory))
    found = [one.key for one in lint(memory).diagnostics if one.rule == "TM204"]
    assert found == ["links.refers_to.0"]  # expected in this case: adr.cache does not exist


def test_add_rejects_exact_duplicates(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    add(
        memory,
        NewDocument("fact", "Tests", body="Run the tests with make.\nNever skip one of them.", tags=["a"]),
    )
    moved = "Never skip one of them.\n\nRun the tests with make"
    listed = "* never skip one of them\n\nRun the tests with make"
    with pytest.raises(DocumentExists):
        add(memory, NewDocument("fact", "How to test", body=moved, tags=["a"]))
    assert add(memory, NewDocument("fact", "A list", body=listed, tags=["a"])).changed


def test_split_is_proposed_only_above_the_cap_of_the_kind(root: Path, clock: Clock) -> None:
    body = "".join(f"## {name}\n\n" + f"{name} has a line. " * 40 + "\n\n" for name in ("One", "Two"))
    add(opened(root, clock), NewDocument("fact", "Long fact", tags=("one",), body=body))
    add(opened(root, clock), NewDocument("playbook", "Long steps", tags=("one",), body=body))

    def planned(kinds: str) -> list[tuple[str, str]]:
        file = root / ".thunderus/memory/gardener.toml"
        file.write_text(f"[caps]\ndocument_soft = 100\ndocument_hard = 200\nkinds = {kinds}\n")
        plan = garden_plan(opened(root, clock), only=["sizes"])
        return [(step.action, step.targets[0]) for step in plan.steps]

    split = ("split", "fact.long-fact")
    assert planned("[]") == [split]
    assert planned("['fact = 150']") == [split]
    assert planned("['fact = 3000']") == []


def typed(root: Path, seconds: int, **environ: str) -> Callable[[], Memory]:
    """Open the memory for commands that are typed this many seconds apart."""
    bits = random.Random(7).getrandbits
    moments = (datetime(2026, 1, 21, 9, tzinfo=UTC) + timedelta(seconds=seconds * at) for at in count())

    def memory() -> Memory:
        moment = next(moments)
        return open_memory(str(root), environ=environ, now=lambda: moment, random_bits=bits)

    return memory


LONG = "The exporter waits thirty seconds for the first page and five for each further one.\n"


@pytest.mark.parametrize("seconds", [0, 60])
@pytest.mark.parametrize("names", [("Zeta", "Alfa"), ("Alfa", "Zeta")])
@pytest.mark.parametrize("strategy", ["merge_to_first", "keep_newest"])
def test_survivor_does_not_depend_on_typing_speed(
    repo: Path, strategy: str, names: tuple[str, str], seconds: int
) -> None:
    memory = typed(repo, seconds, THUNDERUS_MEM_DUPLICATES_STRATEGY=strategy)
    init(str(repo), memory)
    for name in names:
        body = f"{LONG}\nA line about {name}.\n"
        add(memory(), NewDocument("fact", "Waiting", id=f"fact.{name.lower()}", body=body, tags=["x"]))
    for name in names:
        path = repo / FACTS / f"{name.lower()}.md"
        path.write_bytes(path.read_bytes().replace(f"\nA line about {name}.\n".encode(), b""))
    stays, leaves = names if strategy == "merge_to_first" else reversed(names)
    assert [step.targets for step in garden_plan(memory()).applicable] == [
        (f"fact.{stays.lower()}", f"fact.{leaves.lower()}")
    ]
    rename(memory(), f"fact.{stays.lower()}", "fact.middle")
    assert [step.targets for step in garden_plan(memory()).applicable] == [
        ("fact.middle", f"fact.{leaves.lower()}")
    ]


@pytest.mark.parametrize("names", [("fact.zeta", "fact.alfa"), ("fact.alfa", "fact.zeta")])
def test_newer_of_two_texts_about_one_subject_supersedes_the_older(
    repo: Path, names: tuple[str, str]
) -> None:
    memory = typed(repo, 60)
    init(str(repo), memory)
    (repo / "export.py").write_text("WAITS = 60\n")
    for name, waits in zip(names, ("thirty", "sixty"), strict=True):
        body = f"The exporter waits {waits} seconds for the first page and five for each further page.\n"
        add(
            memory(),
            NewDocument(
                "fact", "Waiting of the exporter", id=name, body=body, tags=["x"], anchors=["export.py"]
            ),
        )
    (step,) = garden_plan(memory()).proposals
    assert (step.action, step.targets) == ("supersede", names[::-1])


def test_order_in_which_hand_written_documents_are_recorded_decides_nothing(repo: Path) -> None:
    memory = typed(repo, 0)
    init(str(repo), memory)
    text = (CASES / "oldest-stays" / "before" / "FACTS" / "cache.md").read_text(encoding="utf-8")
    head = text.partition("\n\n")[0].replace("kind: fact", "kind: fact\nanchors: [export.py]")
    for name, waits in (("one", "thirty"), ("two", "sixty")):
        body = f"The exporter waits {waits} seconds for the first page and five for each further page."
        (repo / FACTS / f"{name}.md").write_text(f"{head.replace('fact.cache', f'fact.{name}')}\n\n{body}\n")
    assert garden_plan(memory()).steps == ()
    before = garden_plan(memory(), verbose=True)
    assert [(step.action, step.reach) for step in before.steps] == [("report", "report")]
    add(memory(), NewDocument("fact", "Third", body="This command records both files.", tags=["x"]))
    assert garden_plan(memory(), verbose=True) == before


def test_quality_decides_what_is_archived_for_its_age(root: Path, clock: Clock) -> None:
    """Low quality is proposed, high quality keeps a recap; a rating counts more than the score."""
    text = (root / FACTS / "cache.md").read_text().replace("id: fact.cache\n", "id: {0}\n{1}\n")
    assert "{1}" in text
    given = {
        "low": "quality_score: 0.4",
        "medium": "quality_score: 0.41",
        "rated-down": "quality_score: 0.9\nrating: down",
        "rated-up": "quality_score: 0\nrating: up",
        "unscored": "quality_score: null",
    }
    for name, fields in given.items():
        (root / FACTS / f"{name}.md").write_text(text.format(f"fact.{name}", fields) + f"About {name}.\n")
    recap = text.replace("kind: fact", "kind: recap")
    (root / EPISODIC).mkdir(exist_ok=True)
    for name, fields in {
        "good": "quality_score: 0.8",
        "rated": "rating: up",
        "old": "quality_score: 0.7",
    }.items():
        (root / EPISODIC / f"{name}.md").write_text(recap.format(f"recap.{name}", fields) + f"Of {name}.\n")
    assert garden_plan(opened(root, clock), only=["archive"]).steps == ()
    clock.moment += timedelta(days=400)
    found = {step.targets[0]: step.reach for step in garden_plan(opened(root, clock), only=["archive"]).steps}
    assert found == {
        "fact.low": "propose",
        "fact.rated-down": "propose",
        "recap.old": "propose",
    }
