"""Properties of the rules numbers, links, tags, sizes and archive on generated memories: lossless,
idempotent."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.order_support import MEMORY, Files, applied, document_text, documents, material, plan_of
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.ids import MAX_ID, is_document_id
from thunderus_mem.document.paths import archived_path
from thunderus_mem.garden.rules.sizes import MOST_PARTS, cut, split
from thunderus_mem.store.config import Config

FACTS = f"{MEMORY}semantic/FACTS/"
FOLDERS = {"fact": FACTS, "adr": f"{MEMORY}semantic/DECISIONS/", "recap": f"{MEMORY}episodic/"}
SMALL = Config(
    caps_document_soft=90, caps_document_hard=120, tags_aliases={"k8s": "kubernetes", "a": "b", "b": "a"}
)
NAMES = ["a", "b", "c", "ab", "c-d"]
TAGS = ["Test", "test", "tests", "unit_test", "unit test", "K8s", "kubernetes", "a", "b", "keep"]
HEADINGS = [
    "# One",
    "## One",
    "## Two",
    "### Two",
    "## `Two` [x]",
    "Two\n---",
    "## ",
    "####### no",
    "Text\n====",
]
LINES = [
    "Some words that say something.",
    "- an item",
    "```\n## in a fence\n```",
    "<!--\n## in a comment\n-->",
    "    ## in code",
    "See [one](#one), [two](#two), [[#Two]], [[fact.a#one]], [b](b.md#two), [gone](old.md), [[FACT.B]].",
    "A [label] and [^note].",
    "[label]: b.md#one",
    "[^note]: what it says",
    "<details>",
    "</details>",
    "",
]
DAYS = ["2024-05-01", "2025-11-30", "2026-06-01"]


@st.composite
def bodies(draw: st.DrawFn) -> str:
    pieces = draw(
        st.lists(st.sampled_from(HEADINGS) | st.sampled_from(LINES) | st.just("word " * 90), max_size=14)
    )
    joint = draw(st.sampled_from(["\n", "\n\n"]))
    return joint.join(pieces) + draw(st.sampled_from(["", "\n", "\n\n\n"]))


@st.composite
def memories(draw: st.DrawFn) -> tuple[Files, dict[str, str], list[str]]:
    files: Files = {}
    ours = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        kind = draw(st.sampled_from(["fact", "fact", "adr", "recap"]))
        doc_id = f"{kind}.{name}"
        more = draw(
            st.sampled_from(
                [
                    "",
                    "expires: 2026-01-01\n",
                    "links:\n  refers_to:\n    - FACT.B\n    - fact.nobody\n",
                    "links:\n  supersedes: [fact.a]\n",
                    "aliases:\n  - fact.old\nanchors:\n  - src/a.py\n  - {path: b.py, symbol: words}\n",
                ]
            )
        )
        text = document_text(
            doc_id,
            draw(bodies()),
            tags=draw(st.lists(st.sampled_from(TAGS), min_size=1, max_size=3)),
            day=draw(st.sampled_from(DAYS)),
            more=more,
        )
        stem = f"ADR-000{draw(st.integers(1, 2))}-{name}" if kind == "adr" else name
        path = f"{FOLDERS[kind]}{draw(st.sampled_from(['', '', 'deep/']))}{stem}.md"
        if draw(st.booleans()) and kind != "recap":
            path = draw(st.sampled_from([path, archived_path(path)]))
        if draw(st.booleans()):
            text = text.replace("\n", "\r\n")
        files[path] = (draw(st.sampled_from(["", "\ufeff"])) + text).encode()
        if kind == "recap" and draw(st.booleans()):
            ours.append(doc_id)
    if draw(st.booleans()):
        files[f"{FACTS}unreadable.md"] = b"\xff\xfe no document"
    former = draw(
        st.dictionaries(
            st.sampled_from([f"{FACTS}old.md", f"{FACTS}deep/old.md"]),
            st.sampled_from(["fact.a", "fact.c-d"]),
        )
    )
    return files, former, ours


def told(files: Files) -> Counter[str]:
    """Every nonempty line, in use or archived, without link targets."""
    found: Counter[str] = Counter()
    for document in documents(files):
        found.update(lines_of(document.body))
    return found


def lines_of(body: str) -> list[str]:
    lines = [re.sub(r"\]\([^()]*\)|\[\[[^\[\]|]*|\]:.*", "]", line.rstrip("\r")) for line in body.split("\n")]
    return [line for line in lines if line.strip()]


@settings(deadline=None, max_examples=25)
@given(memories())
def test_apply_keeps_every_line_and_is_idempotent(
    memory: tuple[Files, dict[str, str], list[str]],
) -> None:
    files, former, ours = memory
    plan = plan_of(material(files, former=former, ours=ours), SMALL)
    assert plan == plan_of(material(dict(reversed(files.items())), former=former, ours=ours), SMALL)
    after = applied(files, plan.applicable)
    assert told(after) == told(files)
    assert {one.id for one in documents(after)} == {one.id for one in documents(files)}
    gone = {
        edit.path: edit.doc_id for step in plan.applicable for edit in step.edits if edit.path not in after
    }
    # Changes by the program do not count as edits of a recap.
    again = plan_of(material(after, former=former | gone, ours=ours), SMALL)
    assert again.applicable == ()


@settings(deadline=None, max_examples=25)
@given(memories())
def test_each_step_can_be_undone_and_each_proposal_loses_nothing(
    memory: tuple[Files, dict[str, str], list[str]],
) -> None:
    files, former, ours = memory
    plan = plan_of(material(files, former=former, ours=ours), SMALL)
    for step in plan.proposals:
        after = applied(files, [step])
        assert after != files
        assert not told(files) - told(after), step.why
        assert all(line == "Parts:" or line.startswith("- ]|") for line in told(after) - told(files))
    world = dict(files)
    done = []
    for step in plan.applicable:
        for edit in step.edits:
            before = world.pop(edit.path, None)
            done.append((edit.path, before))
            assert (read_document(edit.path, before).document.hash if before else "") == edit.before  # type: ignore[union-attr]
            if edit.after_text is not None:
                world[edit.path] = edit.after_text.encode()
    for path, before in reversed(done):
        world.pop(path, None)
        if before is not None:
            world[path] = before
    assert world == files


def fact(body: str, doc_id: str = "fact.a", more: str = "", eol: str = "\n") -> Document:
    text = document_text(doc_id, body, more=more).replace("\n", eol)
    document = read_document(f"{FACTS}a.md", text.encode()).document
    assert document is not None
    return document


def parted(document: Document, others: list[Document] | None = None, hard: int = 10**9):  # type: ignore[no-untyped-def]
    return split(
        document,
        others or [],
        soft=1,
        hard=hard,
        taken=lambda doc_id, path: False,
        means=lambda name: name == document.id,
    )


@settings(deadline=None, max_examples=100)
@given(bodies(), st.sampled_from(["\n", "\r\n"]))
@example("## A\n\ntext\n## B", "\r\n")
@example("## A\n```\nopen\n\n## B\n\n## C\n", "\n")
def test_every_line_is_in_exactly_one_part(body: str, eol: str) -> None:
    document = fact(body, eol=eol)
    found = parted(document)
    assert bool(found.edits) != bool(found.reason)
    results = [read_document(edit.path, (edit.after_text or "").encode()).document for edit in found.edits]
    said: Counter[str] = Counter()
    whole = lines_of(document.body)
    for one in results:
        assert one is not None
        lines = lines_of(one.body)
        if one.id == document.id:
            at = lines.index("Parts:")
            lines = lines[:at] + lines[at + 1 + len(found.parts) :]
        rest = iter(whole)
        assert all(line in rest for line in lines), "the lines of a part are in the order they had"
        said.update(lines)
        assert ("\r\n" in one.text) == (eol == "\r\n")
        assert one.text.count("\n") == one.text.count(eol)
    assert not found.edits or said == Counter(whole)


def test_ids_of_parts_are_valid_for_any_id_and_heading() -> None:
    long_id = "fact." + "a" * (MAX_ID - 5)
    headings = ["Setup", "setup", "数据库", "!!!", "con", "A" * 300, "é-ü"]
    body = "".join(f"## {heading}\n\n{'word ' * 30}\n\n" for heading in headings)
    found = parted(fact(body, long_id))
    ids = [doc_id for doc_id, _, _ in found.parts]
    assert len(ids) == len(headings) == len(set(ids)) == len({path for _, path, _ in found.parts})
    assert all(map(is_document_id, ids))


def test_ten_thousand_headings_do_not_become_as_many_documents() -> None:
    body = "".join(
        f"## Number {number}\n\nIt says {number}, see [next](#number-{number + 1}).\n\n"
        for number in range(10_000)
    )
    document = fact(body)
    assert len(cut(document.body).sections) == 10_000
    assert len(parted(document).parts) == MOST_PARTS
    assert "would still have" in parted(document, hard=4000).reason


def test_unsplittable_document_has_a_reason() -> None:
    assert "fewer than two headings" in parted(fact("# One\n\nText.\n")).reason
    assert "cannot be split" in parted(fact("## A\n\nSee [x][l] now.\n\n## B\n\n[l]: b.md\n")).reason
    assert "its id is invalid" in parted(fact("## A\n\ntext\n\n## B\n", doc_id="fact..a")).reason


def test_tag_that_cannot_be_edited_safely_is_skipped() -> None:
    text = document_text("fact.a", "A.\n", tags=["Test"]).replace("tags:\n  - Test\n", "tags: Test, other\n")
    files = {
        f"{FACTS}a.md": text.encode(),
        f"{FACTS}b.md": document_text("fact.b", "B.\n", tags=["test"]).encode(),
        f"{FACTS}c.md": document_text("fact.c", "C.\n", tags=["test"]).encode(),
    }
    assert plan_of(material(files), only=["tags"]).steps == ()
