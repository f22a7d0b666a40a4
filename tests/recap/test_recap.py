"""The recap of a day: complete, with citations, deterministic."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.events import make_event, note_event, patch_event
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.timestamp import encode_ulid
from thunderus_mem.errors import NotFound
from thunderus_mem.git.commits import Commit
from thunderus_mem.log.event import Change
from thunderus_mem.recap.page import by_name, recap_page
from thunderus_mem.recap.scope import Activity, RecapScope, day_scope
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

    from tests.support.command_server import Done, Server
    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event

DAY = "2026-01-21"
FOLDER = ".thunderus/memory/semantic/FACTS"
GOLDEN = Path(__file__).parent.parent / "cases" / "recap"


def recap_document(
    scope: RecapScope,
    events: Iterable[Event],
    documents: Iterable[Document],
    commits: Iterable[Commit],
    config: Config,
    *,
    template: str = "",
) -> tuple[dict[str, Any], str]:
    """Header and body of a recap of shared events."""
    page = recap_page(
        scope, Activity(tuple(events), commits=tuple(commits), template=template), by_name(documents), config
    )
    return page.header, page.body


def event_id(number: int) -> str:
    return f"evt_{encode_ulid(1_768_953_600_000 + number, number)}"


def at(number: int, day: str = DAY) -> str:
    return f"{day}T{9 + number // 60:02d}:{number % 60:02d}:00.000Z"


def patch(number: int, op: str, *docs: str, why: str = "", session: str = "sess_A", day: str = DAY) -> Event:
    changes = [Change("update", doc, f"{FOLDER}/{doc.partition('.')[2]}.md", "a", "b", "d") for doc in docs]
    return patch_event(
        id=event_id(number),
        patch_id=f"patch_{encode_ulid(1, number)}",
        ts=at(number, day),
        session_id=session,
        actor="user",
        op=op,
        changes=changes,
        why=why,
    )


def note(number: int, text: str, paths: tuple[str, ...] = ()) -> Event:
    refs = {"paths": list(paths), "memory_doc_ids": []}
    return make_event(
        "note",
        {"text": text},
        id=event_id(number),
        ts=at(number),
        session_id="sess_B",
        actor="agent",
        refs=refs,
    )


def fact(doc_id: str, title: str) -> bytes:
    return f"---\nid: {doc_id}\ntitle: {title}\nkind: fact\ntags:\n  - x\n---\ntext\n".encode()


DOCUMENTS = [
    document
    for doc_id, title in (("fact.cache", "The cache"), ("fact.keys", "Keys"))
    if (document := read_document(f"{FOLDER}/{doc_id[5:]}.md", fact(doc_id, title)).document)
]
EVENTS = [
    patch(1, "add", "fact.cache", why="We looked it up twice."),
    patch(2, "edit", "fact.cache", why="The figure was wrong"),
    patch(3, "edit", "fact.cache"),
    patch(4, "hand-edit", "fact.keys", session="sess_B"),
    note(5, "The cache is cold after a deploy.\nSee `src/cache.py", paths=("src/cache.py",)),
    note(6, "todo: warm it"),
    note(7, "Who owns the keys?"),
    note(8, "Open the port before the deploy <!-- x"),
    patch(9, "garden", "fact.keys", why="`fact.keys` says all that `fact.key` says"),
    make_event(
        "approval", {"patch": "p"}, id=event_id(10), ts=at(10), session_id="sess_A", actor="user", refs={}
    ),
    make_event("message", {"text": "private"}, id=event_id(11), ts=at(11), session_id="s", actor="user"),
    patch(12, "recap", "recap.2026-01-20"),
    patch(13, "hand-edit", "recap.2026-01-21"),
    patch(14, "edit", "fact.keys", day="2026-01-22"),
]
COMMITS = [
    Commit("b" * 40, "Ines", f"{DAY}T12:00:00Z", "Warm the cache"),
    Commit("a" * 40, "Ruth", f"{DAY}T08:00:00Z", "Count misses"),
    Commit("c" * 40, "Ruth", "2026-01-20T23:59:59Z", "Yesterday"),
]


def test_day_recap_matches_golden_page() -> None:
    _, body = recap_document(day_scope(DAY), EVENTS, DOCUMENTS, COMMITS, Config())
    assert body == (GOLDEN / "day.md").read_text(encoding="utf-8")


def test_every_event_used_is_cited_in_header_and_provenance() -> None:
    header, body = recap_document(day_scope(DAY), EVENTS, DOCUMENTS, COMMITS, Config())
    cited = header["provenance"]["events"]
    assert cited == [event_id(number) for number in range(1, 12)]
    lines = body.partition("## Provenance\n\n")[2].splitlines()
    assert all("`evt_" in line or line.startswith("- Commits: `") for line in lines)
    assert {one for line in lines for one in line.split("`") if one.startswith("evt_")} == set(cited)


def test_created_and_updated_are_first_and_last_moment() -> None:
    header, _ = recap_document(day_scope(DAY), EVENTS, DOCUMENTS, COMMITS, Config())
    assert (header["created"], header["updated"]) == (f"{DAY}T08:00:00Z", f"{DAY}T12:00:00Z")


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_order_and_repetition_of_events_do_not_matter(shuffle: random.Random) -> None:
    events, commits, documents = [*EVENTS, EVENTS[0]], [*COMMITS, COMMITS[0]], list(DOCUMENTS)
    for each in (events, documents):
        shuffle.shuffle(each)
    told = recap_document(day_scope(DAY), events, documents, commits, Config())
    assert told == recap_document(day_scope(DAY), EVENTS, DOCUMENTS, COMMITS, Config())


def test_events_of_recaps_are_skipped() -> None:
    without = [event for event in EVENTS if "recap." not in str(event.refs)]
    assert recap_document(day_scope(DAY), EVENTS, DOCUMENTS, [], Config()) == recap_document(
        day_scope(DAY), without, DOCUMENTS, [], Config()
    )


def test_day_without_events_is_not_found() -> None:
    for events in ([], [EVENTS[10]], [EVENTS[11]], [EVENTS[13]]):
        with pytest.raises(NotFound, match=f"no events or commits on {DAY}"):
            recap_document(day_scope(DAY), events, DOCUMENTS, [COMMITS[2]], Config())


def test_commits_alone_make_a_recap() -> None:
    header, body = recap_document(day_scope(DAY), [], [], COMMITS, Config())
    assert header["provenance"] == {"events": [], "patches": [], "commits": [COMMITS[1].sha, COMMITS[0].sha]}
    assert "- Commits: `aaaaaaa`, `bbbbbbb`" in body
    assert "## Changes" not in body


def test_import_of_many_documents_is_one_line() -> None:
    many = patch(1, "import", *(f"fact.n{number:03d}" for number in range(50)), why="the old wiki")
    _, body = recap_document(day_scope(DAY), [many], [], [], Config())
    assert "- 50 documents imported: 50 facts: `fact.n000`, " in body
    assert "`fact.n010`, `fact.n011` and 38 more. Reason: the old wiki.\n" in body
    assert len(body.splitlines()) < 20


def test_imports_are_one_line_whatever_their_reasons() -> None:
    body = page_of(
        patch(1, "import", "fact.a", why="the old wiki"),
        patch(2, "import", "fact.b", why="the runbooks"),
        patch(3, "edit", "fact.a", why="it was outdated"),
    )
    assert (
        "## Changes\n\n- 2 documents imported: 2 facts: `fact.a`, `fact.b`. "
        "Reasons: the old wiki; the runbooks.\n"
        "- `fact.a` edited. Reason: it was outdated.\n\n"
    ) in body


ALIASED = fact("fact.keys", "Keys").replace(b"kind: fact\n", b"kind: fact\naliases:\n  - fact.e\n")


def test_merges_are_one_line() -> None:
    def merge(number: int, kept: str, removed: str) -> Event:
        sides = (Change("update", kept, "k.md", "a", "b"), Change("remove", removed, "r.md", "c", ""))
        return changed("garden", *sides)._replace(
            id=event_id(number), ts=at(number), why=f"the same as {kept}"
        )

    body = page_of(merge(1, "fact.a", "fact.b"), merge(2, "fact.keys", "fact.d"), documents=DOCUMENTS)
    assert "- 2 documents merged: `fact.b` into `fact.a`, `fact.d` into [[fact.keys|Keys]].\n" in body
    by_hand = changed("hand-edit", Change("create", "fact.d", "d.md", "", "a", "+title: The copy\n"))
    same = changed("hand-edit", Change("create", "fact.e", "e.md", "", "a", "+title: Keys\n"))
    texts = (*DOCUMENTS[:1], *(one for one in [read_document("k.md", ALIASED).document] if one))
    body = page_of(same._replace(id=event_id(9)), merge(2, "fact.keys", "fact.e"), documents=texts)
    assert "- `fact.e` added by hand, then merged into [[fact.keys|Keys]].\n" in body
    body = page_of(by_hand._replace(id=event_id(9)), merge(2, "fact.keys", "fact.d"), documents=DOCUMENTS)
    assert "- The copy (`fact.d`) added by hand, then merged into [[fact.keys|Keys]].\n" in body
    assert "- 2 changes to 1 document: 1 added by hand, 1 merged.\n" in body
    commits = [Commit(f"{n:040x}", "Ines", f"{DAY}T08:00:00Z", f"Merge branch 'b{n}'") for n in range(1, 4)]
    body = recap_document(day_scope(DAY), [], [], [*commits, COMMITS[0]], Config())[1]
    assert '## Commits\n\n- `bbbbbbb` "Warm the cache" (Ines)\n- 3 merges: `0000000` "Merge' in body


def test_commits_are_listed_in_the_order_of_history() -> None:
    commits = [Commit(one * 40, "Ines", f"{DAY}T{at}:00:00Z", one) for one, at in (("a", "08"), ("b", "09"))]
    body = recap_document(day_scope(DAY), [], [], commits, Config())[1]
    assert '## Commits\n\n- `bbbbbbb` "b" (Ines)\n- `aaaaaaa` "a" (Ines)\n' in body


def test_changes_with_one_reason_are_one_line() -> None:
    body = page_of(
        patch(1, "add", "fact.a", "fact.b", why="read in the code"),
        patch(2, "edit", "fact.a", why="the port moved"),
        patch(3, "edit", "fact.a"),
        patch(4, "edit", "fact.b", why="the port moved"),
        patch(5, "link", "fact.c"),
        note(6, "It is slow."),
        note(7, "It is slow."),
    )
    assert (
        "- 2 documents added (reason: read in the code), then edited: `fact.a`, `fact.b`. "
        "Reason: the port moved.\n"
        "- `fact.c` linked.\n\n"
    ) in body
    assert "## Notes\n\n- It is slow. (written 2 times)\n\n" in body


def test_change_by_hand_is_listed_without_a_reason() -> None:
    added = [patch(number, "add", f"fact.n{number}", why="read in the code") for number in range(1, 9)]
    body = page_of(*added, patch(10, "hand-edit", "fact.n8"), patch(11, "hand-edit", "fact.n7"))
    assert "- 10 changes to 8 documents: 8 added, 2 edited by hand.\n" in body
    assert (
        "- 2 documents added (reason: read in the code), then edited by hand: `fact.n7`, `fact.n8`. "
        "No reason given.\n"
    ) in body
    # Others with a reason are as many as the room allows.
    edits = [patch(20 + number, "edit", f"fact.m{number}", why=f"reason {number}") for number in range(30)]
    assert "`fact.n7`, `fact.n8`. No reason given.\n" in page_of(
        *added, patch(10, "hand-edit", "fact.n8"), patch(11, "hand-edit", "fact.n7"), *edits
    )


def test_omitted_decisions_are_counted_by_document() -> None:
    """Twenty decisions without a reason share a line; the others have one each."""
    reasons = {f"adr.n{number:03}": f"reason {number}" if number % 3 else "" for number in range(60)}
    events = [patch(number, "add", doc, why=why) for number, (doc, why) in enumerate(reasons.items())]
    events.append(note(60, "Decision: Nobody deploys on Fridays."))
    body = recap_document(day_scope(DAY), events, [], [], Config())[1]
    listed = body.partition("## Decisions\n\n")[2].partition("\n\n")[0].split("\n- ")
    shown = sum("added." in line for line in listed)
    assert shown >= 4
    assert listed[-1].startswith(f"and {61 - shown} more: `adr.n000`, ")
    assert listed[-1].count("`adr.") == 12
    assert "adr.n001" not in listed[-1]


def test_reason_of_an_earlier_step_is_given_once() -> None:
    body = page_of(
        patch(1, "add", "fact.a", "fact.b", why="it is true"),
        patch(2, "edit", "fact.a", why="the port"),
        *(patch(2 + number, "edit", "fact.b", why=f"reason {number}") for number in range(1, 8)),
    )
    assert (
        "- `fact.a` added (reason: it is true), then edited. Reason: the port.\n"
        "- `fact.b` added, then edited (reason: reason 1), then edited (reason: reason 2), "
        "then changed 4 more times, then edited. Reason: reason 7.\n"
    ) in body


def test_reason_that_repeats_the_line_is_omitted() -> None:
    body = page_of(
        patch(1, "add", "fact.a", why="72 hours, because batch clients retry over a weekend"),
        patch(2, "edit", "fact.a", why="Batch clients retry over a weekend: 72 hours"),
        patch(3, "link", "fact.a", why="They retry"),
        patch(4, "verify", "fact.a", why="72 hours"),
    )
    assert (
        "- `fact.a` added (reason: 72 hours, because batch clients retry over a weekend), then edited, "
        "then linked (reason: They retry), then verified.\n"
    ) in body


def test_steps_of_the_same_documents_are_one_line() -> None:
    body = page_of(
        patch(1, "anchor", "fact.a", "fact.b", why="moved"),
        patch(2, "verify", "fact.a", "fact.b", why="same code"),
    )
    line = "2 documents anchored (reason: moved), then verified: `fact.a`, `fact.b`. Reason: same code."
    assert f"## Changes\n\n- {line}\n\n" in body


def test_changed_settings_are_listed_from_commits() -> None:
    touched = {COMMITS[0].sha: (".thunderus/config.toml", "src/a.py"), COMMITS[1].sha: ("src/b.py",)}
    used = make_event(
        "tool_call",
        {"tool": "edit", "arguments": {"path": "src/c.py"}},
        id=event_id(1), ts=at(1), session_id="s", actor="agent",
    )  # fmt: skip
    activity = Activity((used,), commits=tuple(COMMITS), touched=touched)
    body = recap_page(day_scope(DAY), activity, {}, Config()).body
    assert "## Changes\n\n- Settings changed: `.thunderus/config.toml`.\n\n" in body
    assert "## Files\n\n- `src/a.py`, `src/b.py`, `src/c.py` (edited, in no commit)\n" in body


def test_template_of_init_is_not_a_change() -> None:
    change = Change("create", "core", ".thunderus/memory/core/CORE.md", "", "a")
    body = page_of(changed("add", change)._replace(why="init"), note(2, "It is slow."))
    assert "## Summary\n\n- The memory was created.\n\n## Notes\n" in body
    assert f"- Changes to `core`: `{event_id(1)}`\n" in body


@pytest.mark.parametrize(("op", "shown"), [("remove", "removed"), ("undo", "undone")])
def test_document_added_and_removed_is_one_line(op: str, shown: str) -> None:
    body = page_of(patch(1, "add", "fact.a", why="oops"), patch(2, op, "fact.a", why="a mistake"))
    assert f"## Changes\n\n- `fact.a` added (reason: oops), then {shown}. Reason: a mistake.\n\n" in body


def changed(op: str, *changes: Change) -> Event:
    return patch_event(
        id=event_id(1),
        patch_id=f"patch_{encode_ulid(1, 1)}",
        ts=at(1),
        session_id="sess_A",
        actor="user",
        op=op,
        changes=changes,
    )


def test_renamed_document_is_listed_once() -> None:
    sides = [
        Change("rename", "fact.old", f"{FOLDER}/old.md", "a", "", ""),
        Change("rename", "fact.keys", f"{FOLDER}/keys.md", "", "b", ""),
        Change("update", "fact.cache", f"{FOLDER}/cache.md", "c", "d", ""),
    ]
    body = page_of(changed("rename", *sides), documents=DOCUMENTS)
    assert "- 2 documents changed: 1 changed, 1 renamed.\n" in body
    assert "- [[fact.keys|Keys]] renamed from `fact.old`.\n" in body
    assert "- `fact.old`" not in body


def busy(number: int) -> tuple[list[str], str]:
    events = [
        patch(n, "edit", f"fact.n{n % 300:03d}", why="" if n % 3 else f"reason {n}") for n in range(number)
    ] + [note(n, f"todo: ask about {n}") for n in range(number, number + 20)]
    events.append(note(number + 20, "a very long note " * 3_000))
    commits = [Commit(f"{n:040x}", "Ines", f"{DAY}T08:00:00Z", f"Change {n}") for n in range(number)]
    header, body = recap_document(day_scope(DAY), events, [], commits, Config())
    text = compose(header, "\n" + body)
    assert len(text) <= 4 * Config().caps_document_hard
    cited = header["provenance"]["events"]
    assert isinstance(cited, list)
    assert f"- {number + 21 - len(cited)} events omitted for length; see `thunderus-mem log`." in body
    return cited, body


def test_busy_day_is_cut_and_counts_omitted_events() -> None:
    cited, body = busy(800)
    assert "- 800 changes to 300 documents: 800 edited." in body
    assert len(cited) > 60
    assert cited == sorted(cited)
    told = {one for one in body.partition("## Provenance")[2].split("`") if one.startswith("evt_")}
    assert told == set(cited)
    assert "- Ask about 800\n" in body
    assert "reason 0" in body
    assert body.count("very long note") < 20
    head, _, _ = body.partition("\n## Provenance\n")
    assert len(head) <= 2_200
    assert head.count("\n- ") <= 24
    assert "800 commits" in head
    # One event more would not fit.
    assert len(compose({"provenance": {"events": cited}}, body)) > 4 * Config().caps_document_hard - 2_000


def test_recap_may_grow_up_to_the_hard_cap() -> None:
    events = [patch(n, "edit", f"fact.n{n:03d}", why=f"reason {n}") for n in range(300)]

    def length(*kinds: str) -> int:
        config = Config(caps_document_hard=1000, caps_kinds=kinds)
        header, body = recap_document(day_scope(DAY), events, DOCUMENTS, [], config)
        return len(compose(header, "\n" + body))

    assert length() == length("recap = 500") == length("fact = 2000") <= 4000
    assert 4000 < length("recap = 2000") <= 8000


def test_recap_of_a_busy_day_passes_lint(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    (repo / ".thunderus/memory/gardener.toml").write_text(
        "[caps]\ndocument_soft = 250\ndocument_hard = 250\n"
    )
    for number in range(12):
        words = f"{number} words " * 40
        seed = {"THUNDERUS_MEM_SEED": str(number + 2)}
        assert (
            server.run("events", "add", "--kind", "note", "--body", words, cwd=str(repo), env=seed).code == 0
        )
    made = server.run("recap", DAY, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "30"})
    assert made.code == 0, made.err
    assert "events omitted for length" in (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()
    assert server.run("lint", cwd=str(repo)).code == 0


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_first_and_last_day_of_the_calendar_are_valid(repo: Path, server: Server, day: str) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    ran = server.run("recap", day, cwd=str(repo))
    assert ran.code == 4
    assert f"events or commits on {day}" in ran.err


@pytest.mark.damaged
def test_recap_reports_unreadable_log_lines(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    (shard,) = (repo / ".thunderus/sessions").glob("*/events.jsonl")
    shard.write_bytes(shard.read_bytes() + b"{}\n")
    for _ in range(2):
        made = server.run("recap", DAY, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "3"})
        assert made.code == 6
        assert "warning: 1 unreadable line in the log; see: thunderus-mem events verify" in made.err
    assert (repo / f".thunderus/memory/episodic/{DAY}.md").exists()


def test_utc_offset_does_not_change_the_day() -> None:
    late = note_event(
        id=event_id(1), ts="2026-01-22T00:30:00+02:00", session_id="s", actor="user", text="late here"
    )
    assert "Late here" in recap_document(day_scope(DAY), [late], [], [], Config())[1]


def test_files_can_be_limited_or_omitted() -> None:
    config = Config(recap_max_files=1)
    seen = note(5, "Three files belong together.", paths=("src/a.py", "src/b.py", "src/c.py"))
    assert (
        "## Files\n\n- `src/a.py`, and 2 more\n" in recap_document(day_scope(DAY), [seen], [], [], config)[1]
    )
    config = Config(recap_include_file_changes=False)
    assert "## Files" not in recap_document(day_scope(DAY), EVENTS, DOCUMENTS, [], config)[1]


def test_custom_template_gets_provenance() -> None:
    _, body = recap_document(
        day_scope(DAY), EVENTS, DOCUMENTS, [], Config(), template="# {{ day }} costs $5\n\n- {{ notes[0] }}\n"
    )
    assert body.startswith(f"# {DAY} costs $5\n\n- The cache")
    assert "\n## Provenance\n\n- Changes to `fact.cache`: `evt_" in body


def test_invisible_characters_do_not_block_a_recap(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    note = server.run(
        "events",
        "add",
        "--kind",
        "note",
        "--body",
        "a\x1b[31m b\u202e see [c](d.md)",
        cwd=str(repo),
        env={"THUNDERUS_MEM_SEED": "2"},
    )
    assert note.code == 0
    made = server.run("recap", DAY, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "3"})
    assert made.code == 0, made.err
    assert "A\\x1b[31m b<U+202E>" in (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()


def test_most_touched_files_are_listed(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    dates = {"GIT_AUTHOR_DATE": f"{DAY}T10:00:00Z", "GIT_COMMITTER_DATE": f"{DAY}T10:00:00Z"}
    for text in ("one", "two"):
        for name in ("a.py", "often.py") if text == "one" else ("often.py",):
            (repo / name).write_text(text)
        subprocess.run(["git", "add", "*.py"], cwd=repo, check=True)
        subprocess.run(["git", "commit", "-qm", text], cwd=repo, check=True, env=os.environ | dates)
    (repo / ".thunderus/memory/gardener.toml").write_text("[recap]\nmax_files = 1\n")
    made = server.run("recap", DAY, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "3"})
    assert made.code == 0, made.err
    text = (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()
    assert "## Files\n\n- `often.py`, and 1 more\n" in text
    assert "- 2 commits by " in text


def page_of(*events: Event, documents: Iterable[Document] = ()) -> str:
    return recap_document(day_scope(DAY), events, documents, [], Config())[1]


def approval(number: int, body: dict[str, Any], *docs: str, why: str = "") -> Event:
    return make_event(
        "approval",
        body,
        id=event_id(number),
        ts=at(number),
        session_id="sess_A",
        actor="user",
        refs={"paths": [], "memory_doc_ids": list(docs)},
        why=why,
    )


VERIFIED = {"action": "verify", "approved": True, "evidence": []}


def test_verification_is_a_change_and_not_an_approval() -> None:
    changed = patch(1, "verify", "fact.cache", why="ok")
    body = page_of(changed, approval(2, VERIFIED, "fact.cache", "fact.keys", why="ok"), documents=DOCUMENTS)
    assert "- 2 documents verified.\n" in body
    assert "- 2 documents verified: [[fact.cache|The cache]], [[fact.keys|Keys]]. Reason: ok.\n" in body
    assert f"- Changes to `fact.cache`: `{event_id(1)}`, `{event_id(2)}`\n" in body
    assert f"- Changes to `fact.keys`: `{event_id(2)}`\n" in body
    assert "pprov" not in body
    assert "## Decisions" not in body


def test_repeated_verification_is_listed_once() -> None:
    again = [approval(number, VERIFIED, "fact.keys") for number in (1, 2)]
    assert "## Changes\n\n- `fact.keys` verified.\n\n" in page_of(*again)


def test_verification_of_many_documents_is_one_line() -> None:
    ids = [f"fact.n{number:03d}" for number in range(30)]
    body = page_of(patch(1, "verify", *ids[:25]), approval(2, VERIFIED, *ids))
    assert "- 30 documents verified.\n" in body
    body = page_of(approval(2, VERIFIED, *ids, why="still true"))
    assert "`fact.n010`, `fact.n011` and 18 more. Reason: still true.\n" in body


def test_reviews_are_listed_with_the_change_they_decide() -> None:
    made = {"action": "patch", "approved": False, "proposed": "add"}
    approved = approval(1, made | {"approved": True, "decision": "approved"}, "fact.a", why="right")
    added = patch(2, "add", "fact.a", why="right")
    approved.refs["patch_id"] = added.refs["patch_id"]
    body = page_of(
        approved,
        added,
        approval(3, made | {"decision": "rejected"}, "fact.b", why="wrong"),
        approval(4, made | {"decision": "expired", "proposed": "edit"}, "fact.keys"),
        approval(5, made | {"decision": "rejected"}, "adr.a", why="too slow"),
        documents=DOCUMENTS,
    )
    assert "- 1 document added.\n\n" in body
    assert "## Decisions\n\n- `adr.a`: a proposal to add it was rejected. Review: too slow.\n\n" in body
    assert (
        "## Changes\n\n- `fact.a` added, proposal approved. Reason: right.\n"
        "- `fact.b`: a proposal to add it was rejected. Review: wrong.\n"
        "- [[fact.keys|Keys]]: a proposal to edit it expired.\n\n"
    ) in body
    assert f"- Changes to `fact.a`: `{event_id(2)}`\n- Reviews: `{event_id(1)}`" in body


def by(name: str, event: Event) -> Event:
    return event._replace(origin={"author": name})


def test_decisions_say_who_proposed_and_decided() -> None:
    made = {"action": "patch", "proposed": "add", "proposed_by": "agent"}
    approved = by("Ruth", approval(1, made | {"decision": "approved"}, "adr.a", why="agreed with Tom"))
    added = by("Ruth", patch(2, "add", "adr.a", why="14 duplicates"))
    approved.refs["patch_id"] = added.refs["patch_id"]
    body = page_of(
        approved,
        added,
        by("Ruth", patch(3, "edit", "adr.a", why="the weekend")),
        by("Tom", patch(4, "verify", "adr.a", why="implemented")),
        by("Tom", approval(5, made | {"decision": "rejected"}, "adr.b", why="no time")),
        by("Ruth", approval(6, made | {"decision": "rejected", "rule": "tags"}, "fact.b")),
        by("Ruth", patch(7, "add", "adr.c")._replace(actor="agent")),
        by("Ruth", patch(8, "add", "fact.c")),
        by("Tom", note(9, "Decision: nobody deploys on Fridays")._replace(actor="user")),
    )
    assert (
        "## Decisions\n\n- `adr.a` added, proposed by an agent and approved by Ruth (reason: 14 duplicates; "
        "review: agreed with Tom), then edited (reason: the weekend), then verified by Tom. "
        "Reason: implemented.\n"
        "- `adr.b`: a proposal by an agent to add it was rejected by Tom. Review: no time.\n"
        "- `adr.c` added by Ruth (agent).\n"
        "- Stated in a note by Tom: Nobody deploys on Fridays\n\n"
    ) in body
    assert "- `fact.b`: a proposal by the gardener to add it was rejected by Ruth.\n" in body
    assert "- `fact.c` added.\n" in body


def test_rejected_proposal_is_listed_after_earlier_steps() -> None:
    made = {"action": "patch", "approved": False, "proposed": "remove", "decision": "rejected"}
    body = page_of(patch(1, "add", "fact.a"), approval(2, made, "fact.a", why="in use"))
    assert "- `fact.a` added; a proposal to remove it was rejected. Review: in use.\n" in body
    body = page_of(approval(2, made | {"proposed": "garden"}, "fact.a", "fact.b"))
    assert "- Proposals to change 2 documents were rejected: `fact.a`, `fact.b`.\n" in body


def test_undone_supersession_is_shown() -> None:
    events = [
        patch(1, "add", "adr.valkey", why="It is free"),
        superseding(2, "adr.redis", "adr.valkey", "test"),
        reversal(3, "undo", superseding(2, "adr.redis", "adr.valkey", "test"), "undo supersede: test"),
    ]
    documents = [decision("adr.redis", "Use redis"), decision("adr.valkey", "Use valkey")]
    assert (
        "- [[adr.valkey|Use valkey]] superseded [[adr.redis|Use redis]] (reason: test), then undone, "
        "so that [[adr.redis]] applies again.\n"
    ) in page_of(*events[1:], documents=documents)
    assert (
        "- [[adr.valkey|Use valkey]] added (reason: It is free), then superseded [[adr.redis|Use redis]] "
        "(reason: test), then undone, "
        "so that [[adr.redis]] applies again.\n"
    ) in page_of(*events, documents=documents)
    whole = [*events, reversal(4, "undo", events[0], "undo add: It is free")]
    assert (
        "- `adr.valkey` added, superseding [[adr.redis|Use redis]] (reason: It is free), then undone, "
        "so that [[adr.redis]] applies again.\n"
    ) in page_of(*whole, documents=documents[:1])
    redone = [*events[1:], reversal(4, "redo", events[2], "redo supersede: test")]
    body = page_of(*redone, documents=[documents[0], decision("adr.valkey", "Use valkey", "adr.redis")])
    assert "superseded [[adr.redis|Use redis]] (reason: test), then undone, then redone.\n" in body
    assert "- [[adr.redis|Use redis]] superseded by [[adr.valkey|Use valkey]]. Reason: test.\n" in body
    # Of a change before this period, the automatic reason alone says what was undone.
    (later,) = [line for line in page_of(events[2]).splitlines() if "undone. " in line]
    assert later == "- `adr.valkey` undone. Reason: undo supersede: test."


@pytest.mark.parametrize(
    ("op", "done", "automatic"),
    [
        ("undo", "undone", "undo edit: typo"),
        ("redo", "redone", "redo edit"),
        ("import", "imported", "imported from n"),
    ],
)
def test_automatic_reasons_are_left_out(op: str, done: str, automatic: str) -> None:
    edited = patch(1, "edit", "fact.a", why="typo")
    for why, shown in ((automatic, ""), ("a mistake", " Reason: a mistake.")):
        body = page_of(edited, reversal(2, op, edited, why))
        assert f"- `fact.a` edited (reason: typo), then {done}.{shown}\n" in body


def test_snapshot_is_skipped() -> None:
    snapshot = make_event(
        "snapshot",
        {"command": "garden"},
        id=event_id(1),
        ts=at(1),
        session_id="sess_A",
        actor="user",
        refs={"memory_doc_ids": ["fact.a"]},
        why="before a run of the gardener",
    )
    assert page_of(snapshot, note(2, "Done.")) == page_of(note(2, "Done."))


@pytest.mark.parametrize(
    ("op", "shown"),
    [("create", "added by hand"), ("update", "edited by hand"), ("remove", "removed by hand")],
)
def test_edit_by_hand_says_what_happened_to_the_file(op: str, shown: str) -> None:
    change = Change(op, "fact.keys", f"{FOLDER}/keys.md", "a", "b", "d")
    assert f"- `fact.keys` {shown}. No reason given.\n" in page_of(changed("hand-edit", change))


def decision(doc_id: str, title: str, *supersedes: str) -> Document:
    links = f"links:\n  supersedes: [{', '.join(supersedes)}]\n" if supersedes else ""
    text = f"---\nid: {doc_id}\ntitle: {title}\nkind: adr\n{links}---\n## Decision\n\n{title} always.\n"
    document = read_document(f"{doc_id}.md", text.encode()).document
    assert document is not None
    return document


def superseding(number: int, old: str, new: str, why: str) -> Event:
    event = changed("supersede", Change("update", new, "x.md", "a", "b", "d"))
    refs = event.refs | {"memory_doc_ids": [new, old]}
    return event._replace(id=event_id(number), ts=at(number), why=why, refs=refs)


def reversal(number: int, op: str, undone: Event, why: str) -> Event:
    """An undo or redo of an event."""
    body = undone.body | {"op": op, "undoes": [undone.id]}
    refs = undone.refs | {"patch_id": f"patch_{number}"}
    return undone._replace(id=event_id(number), ts=at(number), body=body, why=why, refs=refs)


def test_superseded_decision_is_shown_as_superseded() -> None:
    events = [
        patch(1, "add", "adr.redis", why="It is fast."),
        patch(2, "add", "adr.valkey", why="It is free"),
        superseding(3, "adr.redis", "adr.valkey", "the licence"),
    ]
    old, new = decision("adr.redis", "Use redis"), decision("adr.valkey", "Use valkey", "adr.redis")
    body = page_of(*events, documents=[old, new])
    assert "- 3 changes to 2 documents: 2 added, 1 superseded.\n" in body
    assert (
        "## Decisions\n\n- [[adr.redis|Use redis]] added (reason: It is fast), then superseded by "
        "[[adr.valkey|Use valkey]]. Reason: the licence.\n"
        "- [[adr.valkey|Use valkey]] added. Reason: It is free.\n\n"
    ) in body
    later = page_of(events[2], documents=[old, new])
    assert (
        "- [[adr.redis|Use redis]] superseded by [[adr.valkey|Use valkey]]. Reason: the licence.\n" in later
    )
    undone = page_of(*events, documents=[old, decision("adr.valkey", "Use valkey")])
    assert "- [[adr.redis|Use redis]] added. Reason: It is fast.\n" in undone


def test_proposed_decision_is_an_open_item() -> None:
    text = "---\nid: adr.a\ntitle: Use a\nkind: adr\n---\n# Use a\n\n## Status\n\nProposed\n"
    document = read_document("a.md", text.encode()).document
    assert document is not None
    body = page_of(patch(1, "add", "adr.a", why="asked for"), documents=[document])
    assert "## Open items\n\n- [[adr.a|Use a]] proposed, not decided. Reason: asked for.\n" in body
    assert "## Decisions" not in body
    assert "## Changes" not in body


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("Decision: four bytes, because two are too few.", "Four bytes, because two are too few."),
        ("Done.\n- **Decided:** `a` stays", "`a` stays"),
        ("We decided to use four bytes because two are too few.", ""),
        ("The decision: was hard", ""),
        ("Decision:", ""),
    ],
)
def test_only_marked_texts_are_decisions(text: str, decided: str) -> None:
    body = page_of(note(1, text))
    assert (f"## Decisions\n\n- Stated in a note by an agent: {decided}\n" in body) == bool(decided)
    assert ("## Decisions" in body) == bool(decided)


def test_superseded_fact_names_its_successor() -> None:
    documents = [DOCUMENTS[1], decision("adr.cache", "The cache", "fact.keys")]
    body = page_of(superseding(1, "fact.keys", "adr.cache", "it moved"), documents=documents)
    assert "- [[fact.keys|Keys]] superseded by [[adr.cache|The cache]]. Reason: it moved.\n" in body


def test_decision_without_its_document_is_added() -> None:
    assert "## Decisions\n\n- `adr.redis` added.\n" in page_of(patch(1, "add", "adr.redis"))


def test_document_moved_to_the_archive_by_the_gardener_is_archived() -> None:
    sides = [
        Change("rename", "fact.keys", f"{FOLDER}/keys.md", "a", "", ""),
        Change("rename", "fact.keys", ".thunderus/memory/archive/semantic/FACTS/keys.md", "", "a", ""),
    ]
    assert "- `fact.keys` archived.\n" in page_of(changed("garden", *sides))


def test_recap_after_supersede_names_the_successor(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    for seed, title in enumerate(("Old", "Older", "New"), 2):
        env = {"THUNDERUS_MEM_SEED": str(seed)}
        made = server.run("add", "fact", title, "--tag", "x", "--body", f"{title}.", cwd=str(repo), env=env)
        assert made.code == 0, made.err
    for seed, old in enumerate(("old", "older"), 5):
        env = {"THUNDERUS_MEM_SEED": str(seed)}
        done = server.run("supersede", f"fact.{old}", "fact.new", "-m", "it moved", cwd=str(repo), env=env)
        assert done.code == 0, done.err
    env = {"THUNDERUS_MEM_SEED": "9"}
    assert server.run("recap", DAY, cwd=str(repo), env=env).code == 0
    text = (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()
    assert text.count(" by [[fact.new|New]]") == 2
    assert " Reason: it moved.\n" in text
    assert "[[fact.old|Old]]" in text
    assert "[[fact.older|Older]]" in text
    assert "- 5 changes to 3 documents: 3 added, 2 superseded.\n" in text
    # The links of a recap may be outdated.
    assert server.run("lint", cwd=str(repo)).out.strip() == "No findings"
    for seed, (command, old) in enumerate((("archive", "fact.old"), ("remove", "fact.older")), 10):
        env = {"THUNDERUS_MEM_SEED": str(seed)}
        assert server.run(command, old, "-m", "it is old", cwd=str(repo), env=env).code == 0
    linted = server.run("lint", "--json", cwd=str(repo))
    found = {
        (one["rule"], one["severity"]) for one in linted.json["diagnostics"] if "episodic" in one["path"]
    }
    assert found == {("TM201", "note")}, linted.out
    # A rename updates the links, and the recap still counts as generated.
    assert (
        server.run("rename", "fact.new", "fact.newest", cwd=str(repo), env={"THUNDERUS_MEM_SEED": "12"}).code
        == 0
    )
    assert "[[fact.newest|New]]" in (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()
    assert server.run("recap", DAY, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "13"}).code == 0


def test_commits_that_cannot_be_read_are_reported(repo: Path, run: Callable[..., Done]) -> None:
    assert run("init").code == 0
    nowhere = {"PATH": str(repo / "nowhere")}
    said = "git is not installed, or not in an absolute folder of PATH"
    failed = run("recap", "2020-01-01", env=nowhere)
    assert failed.code == 4
    assert f"no events or commits on 2020-01-01 (commits cannot be read: {said})\n" in failed.err
    assert "hint:  install git, or add its folder to PATH\n" in failed.err
    assert run("events", "add", "--kind", "note", "--body", "It is slow.").code == 0
    written = run("recap", "2026-01-21", env=nowhere)
    assert written.code == 0
    assert f"warning Commits are omitted: {said}\n" in written.err
    assert said not in run("recap", "2026-01-21").err
    assert said in run("check", "--staged", env=nowhere).err


def test_files_without_an_id_are_named_by_their_path(repo: Path, run: Callable[..., Done]) -> None:
    assert run("init").code == 0
    for name in ("a", "b"):
        (repo / FOLDER / f"{name}.md").write_text(fact('""', "A title").decode())
    assert run("events", "record").code == 0
    done = run("recap", "2026-01-21", "--dry-run")
    assert "``" not in done.out
    assert f"- Changes to `{FOLDER}/a.md`: `evt_" in done.out
    assert f"- Changes to `{FOLDER}/b.md`: `evt_" in done.out


def test_texts_and_paths_without_content_are_omitted() -> None:
    events = [note(1, "TODO: ", (" ", "")), note(2, "[ ]"), note(3, " \n"), note(4, "It is slow.", ("a.py",))]
    _, body = recap_document(day_scope(DAY), events, [], [], Config())
    lines = [line for line in body.splitlines() if line.startswith("-")]
    assert lines[:3] == ["- 1 event.", "- It is slow.", "- `a.py`"]
    assert event_id(1) not in body
