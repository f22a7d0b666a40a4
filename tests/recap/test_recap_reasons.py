"""A recap says why and what is open, only from events, commits, documents and proposals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.events import note_event, patch_event
from thunderus_mem.document.document import read_document
from thunderus_mem.document.timestamp import encode_ulid
from thunderus_mem.git.commits import Commit
from thunderus_mem.log.event import Change
from thunderus_mem.memory.proposals import Proposal, ProposedEdit
from thunderus_mem.recap.documents import commit_says, first_sentence
from thunderus_mem.recap.events import EventReading
from thunderus_mem.recap.page import by_name, recap_page
from thunderus_mem.recap.scope import Activity, CommittedChange, OutdatedCode, day_scope
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from tests.support.command_server import Server
    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event

DAY = "2026-01-21"
GOLDEN = Path(__file__).parent.parent / "cases" / "recap"
FOLDERS = {"adr": "semantic/DECISIONS", "fact": "semantic/FACTS"}


def path_of(doc_id: str) -> str:
    kind, _, name = doc_id.partition(".")
    return f".thunderus/memory/{FOLDERS[kind]}/{name}.md"


def document(doc_id: str, title: str, body: str, *header: str) -> Document:
    kind = doc_id.partition(".")[0]
    lines = (f"id: {doc_id}", f"title: {title}", f"kind: {kind}", "tags:", "  - x", *header)
    text = "---\n" + "\n".join(lines) + f"\n---\n{body}"
    found = read_document(path_of(doc_id), text.encode()).document
    assert found is not None
    return found


def adr(doc_id: str, title: str, state: str, context: str, *header: str) -> Document:
    return document(doc_id, title, f"## Status\n\n{state}\n\n## Context\n\n{context}\n", *header)


def patch(number: int, op: str, *docs: str, why: str = "", diff: str = "") -> Event:
    return patch_event(
        id=f"evt_{encode_ulid(1_768_953_600_000 + number, number)}",
        patch_id=f"patch_{encode_ulid(1, number)}",
        ts=f"{DAY}T09:{number:02d}:00.000Z",
        session_id="s",
        actor="user",
        op=op,
        changes=[Change("update" if diff else "create", doc, path_of(doc), "a", "b", diff) for doc in docs],
        why=why,
    )


def commit(letter: str, hour: int, subject: str, body: str = "", author: str = "Ines") -> Commit:
    return Commit(letter * 40, author, f"{DAY}T{hour:02d}:00:00Z", subject, body)


IMPORTED = ("metadata:", "  imported_from: docs/adr/{}.md")


def imported(name: str) -> tuple[str, ...]:
    return tuple(line.format(name) for line in IMPORTED)


DOCUMENTS = [
    adr("adr.redis", "Sessions in Redis", "Superseded by cookies", "Logins were lost.", *imported("1")),
    adr(
        "adr.cookies",
        "Signed cookies",
        "Accepted",
        "Redis went down twice.",
        *("links:", "  supersedes:", "    - adr.redis"),
        *imported("2"),
    ),
    adr("adr.replica", "Reports from a replica", "Proposed", "Reports are slow.", *imported("3")),
    document("fact.limit", "Pages have 50 items", "Text\n", *imported("4")),
    document("fact.v1", "Who still calls the v1 endpoints?", "Text\n", *imported("5")),
    adr(
        "adr.outbox",
        "An outbox for events",
        "Accepted",
        "The broker lost 300 events. It was full.",
        *("links:", "  supersedes:", "    - adr.broker"),
    ),
    adr("adr.broker", "A broker for events", "Accepted", "Polling is slow."),
    adr(
        "adr.idempotent",
        "Consumers are idempotent",
        "Accepted",
        "> quoted\n\nAn event may come **twice**. So what?\n\n- [ ] Shipping lacks the table\n- [x] Orders",
    ),
    adr("adr.age", "Encrypt backups", "Proposed", "The audit asks for it."),
    adr("adr.region", "One region", "Rejected", ""),
    document("fact.port", "The port", "Text\n", "anchors:", "  - src/port.py"),
]
COMMITS = [
    commit("e", 14, "Bump lib from 1 to 2", "Bumps lib from 1 to 2.\n\nRelease notes: many words here"),
    commit("d", 13, "Sort pages", "Customers saw the same item on two pages. It was reported twice."),
    commit("c", 12, "Require idempotent consumers"),
    commit("b", 11, "Move the port", "The old one is blocked by the new firewall.\n\nSigned-off-by: Ines"),
    commit("a", 10, "Use the reduced rate", "* list\n* of changes", "bot[bot]"),
]
TOUCHED = {
    "e" * 40: ("lock.txt",),
    "d" * 40: ("src/api.py",),
    "c" * 40: (path_of("adr.idempotent"),),
    "b" * 40: (path_of("fact.port"), "src/port.py"),
    "a" * 40: ("src/rate.py",),
}
PROPOSALS = (
    Proposal(
        "patch_1", f"{DAY}T10:00:00.000Z", "agent", "add", "Done by hand twice.", ("fact.flush",),
        (ProposedEdit(path_of("fact.flush"), "fact.flush", "", "h", "+title: Flush the cache\n"),),
    ),
    Proposal("patch_2", "2026-01-20T10:00:00.000Z", "agent", "edit", "Earlier", ("fact.port",), ()),
    *(
        Proposal(f"patch_{n}", f"{DAY}T11:00:00.000Z", "agent", "garden", "", ("fact.port",), (), rule="tags")
        for n in (3, 4)
    ),
)  # fmt: skip
EVENTS = [
    patch(1, "import", *(one.id for one in DOCUMENTS[:5]), why="One place for decisions"),
    patch(2, "add", "adr.outbox"),
    patch(3, "supersede", "adr.outbox")._replace(
        refs={"paths": [], "memory_doc_ids": ["adr.outbox", "adr.broker"]}, why="Events were lost"
    ),
    patch(4, "add", "adr.age"),
    patch(5, "edit", "fact.port"),
    patch(6, "edit", "adr.region", diff="@@ -1 +1 @@\n-Proposed\n+Rejected\n", why="Asia needs it"),
]
ACTIVITY = Activity(
    tuple(EVENTS),
    commits=tuple(COMMITS),
    touched=TOUCHED,
    committed=(CommittedChange("adr.idempotent", "c" * 40, "added"),),
    outdated={
        "fact.limit": (OutdatedCode("src/api.py#page", commit=COMMITS[1]._replace(body="")),),
        "fact.elsewhere": (OutdatedCode("src/other.py"),),
    },
    proposals=PROPOSALS,
)


def page(activity: Activity = ACTIVITY, documents: list[Document] = DOCUMENTS) -> str:
    return recap_page(day_scope(DAY), activity, by_name(documents), Config()).body


def test_recap_of_an_imported_memory_matches_golden_page() -> None:
    assert page() == (GOLDEN / "imported.md").read_text(encoding="utf-8")


def test_import_of_many_decisions_names_some() -> None:
    states = ["Accepted"] * 12 + ["Proposed"]
    many = [adr(f"adr.n{n:02}", f"Idea {n}", state, f"Why {n}.") for n, state in enumerate(states)]
    body = page(Activity((patch(1, "import", *(one.id for one in many)),)), many)
    assert "- 13 documents imported: 13 decisions (1 proposed), among them [[adr.n00|Idea 0]], " in body
    assert ", [[adr.n11|Idea 11]]. Commit" not in body
    assert "[[adr.n11|Idea 11]].\n" in body


def test_context_is_no_reason_beside_another() -> None:
    diff = "@@ -1 +1 @@\n-Proposed\n+Accepted\n"
    events = (
        patch(1, "add", "adr.region2", why="Asia needs it"),
        patch(2, "edit", "adr.region2", diff=diff, why="Asia needs it"),
        patch(3, "verify", "adr.region2"),
    )
    body = page(Activity(events), [adr("adr.region2", "Two regions", "Accepted", "Asia is slow.")])
    line = "[[adr.region2|Two regions]] added (reason: Asia needs it), then accepted, then verified."
    assert f"- {line}\n" in body


def test_unfit_texts_are_not_quoted() -> None:
    """Neither messages of commits, nor contexts, tasks, reasons and titles of proposals."""
    bad = ("Customers", "firewall", "broker lost", "audit", "Shipping", "by hand", "Flush")
    reading = EventReading(unfit=lambda text: any(word in text for word in bad))
    body = page(ACTIVITY._replace(reading=reading))
    assert not [word for word in bad if word in body]
    assert "`ddddddd`" in body
    mark = "(omitted: possible secret or prompt injection)"
    assert f"Proposal by an agent to add {mark} (`fact.flush`) waits for review. Reason: {mark}.\n" in body


def test_code_that_changed_after_a_move_is_listed() -> None:
    """No commit of the period has the file of the anchor."""
    earlier = COMMITS[3]._replace(date="2026-01-20T11:00:00Z")
    said = (
        '[[fact.port|The port]] may be out of date: `src/old.py#port`, changed in `bbbbbbb` "Move the port".'
    )
    for commit, is_listed in ((COMMITS[3], True), (earlier, False)):
        moved = {"fact.port": (OutdatedCode("src/old.py#port", commit=commit),)}
        assert (said in page(ACTIVITY._replace(events=(), outdated=moved))) == is_listed


def test_half_a_page_holds_many_open_items() -> None:
    many = [adr(f"adr.n{n}", f"Idea {n}", "Proposed", f"It is slow at {n}.") for n in range(60)]
    events = tuple(patch(n, "add", one.id) for n, one in enumerate(many))
    stale = {f"fact.n{n}": (OutdatedCode("src/api.py"),) for n in range(60)}
    body = page(ACTIVITY._replace(events=events, outdated=stale), many)
    head = body.partition("\n## Provenance\n")[0]
    assert len(head) <= 2_200
    assert "more" in head.partition("## Open items")[2]


def test_titles_that_the_ids_repeat_give_way_before_lines() -> None:
    """Such as `fact.idea-of-the-day-7` for *Idea of the day 7*."""

    def titles(number: int) -> list[str]:
        many = [document(f"fact.idea-of-the-day-{n}", f"Idea of the day {n}", "x\n") for n in range(number)]
        other = document("fact.other", "Not the id", "x\n")
        events = [patch(n, "add", one.id, why=f"reason {n} " * 15) for n, one in enumerate([*many, other])]
        body = page(Activity(tuple(events)), [*many, other])
        assert "[[fact.other|Not the id]]" in body
        assert body.count("]] added. Reason: ") == number + 1
        return [one.title for one in many if one.title in body]

    assert len(titles(3)) == 3
    assert titles(10) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two and more.", "One. Two and more."),
        ("Logins were lost. Two.", "Logins were lost."),
        ("- item\n\n| a |\n\n> q\n\n**Date:** x\n\nThe *prose* of [it](x.md) is here.\nMore text.",
         "The prose of it is here."),
        ("Signed-off-by: Ines\nCo-authored-by: Ruth", ""),
        ("Fixes #12", ""),
        ("", ""),
        ("1. step\n2. step", ""),
    ],
)  # fmt: skip
def test_first_sentence_of_prose(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("Bumps lib from 1.0 to 2.0.", "Bump lib from 1.0 to 2.0"),
        ("It leaks memory on reload.\n", "Bump lib from 1.0 to 2.0. It leaks memory on reload."),
        ("", "Bump lib from 1.0 to 2.0"),
    ],
)  # fmt: skip
def test_body_of_a_commit_counts_if_it_adds_to_the_subject(body: str, says: str) -> None:
    assert commit_says(commit("a", 1, "Bump lib from 1.0 to 2.0", body)) == says


def test_tasks_of_playbooks_and_boxes_of_a_state_are_not_open() -> None:
    boxes = "## Status\n\n- [ ] proposed\n- [x] accepted\n\n## Context\n\nIt is slow.\n"
    documents = [document("adr.boxes", "Boxes", boxes), document("fact.b", "B", "Text\n\n* [ ] do `it`\n")]
    activity = Activity((patch(1, "add", "adr.boxes", "fact.b", why="because"),))
    assert "## Open items\n\n- [[fact.b|B]]: to do: do it.\n\n" in page(activity, documents)


def test_nothing_open_is_said() -> None:
    activity = Activity(
        (note_event(id="evt_1", ts=f"{DAY}T09:00:00Z", session_id="s", actor="user", text="x"),)
    )
    assert "## Open items\n\nNone found.\n" in page(activity, [])


def test_commits_code_and_proposals_are_collected(repo: Path, server: Server) -> None:
    """What the log does not record comes from git, the code, and the proposals that wait for review."""

    def run(*arguments: str, minute: int, actor: str = "user") -> None:
        clock = {"THUNDERUS_MEM_NOW": f"{DAY}T09:{minute:02d}:00Z", "THUNDERUS_MEM_SEED": str(minute)}
        done = server.run(*arguments, cwd=str(repo), env=clock | {"THUNDERUS_MEM_ACTOR": actor})
        assert done.code == 0, done.err

    def save(minute: int, *message: str) -> None:
        when = f"{DAY}T09:{minute:02d}:30Z"
        said = [word for part in message for word in ("-m", part)]
        subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        subprocess.run(["git", "commit", "-q", *said], cwd=repo, check=True, env=os.environ | dates)

    run("init", minute=0)
    (repo / "rate.py").write_text("def rate():\n    return 19\n")
    run("add", "fact", "The rate", "--body", "It is 19.", "--anchor", "rate.py#rate", minute=1)
    run("add", "fact", "The port", "--body", "It is 80.", minute=2)
    save(2, "Note the rate and the port", "Both were asked for in support every week.")
    (repo / "rate.py").write_text("def rate():\n    return 7\n")
    (repo / path_of("adr.ADR-0001-books")).write_text(
        adr("adr.books", "Books have a rate of their own", "Accepted", "The law says so.").text
    )
    save(3, "Use the reduced rate for books", "The tax office confirmed it on Monday.")
    (repo / path_of("fact.the-port")).write_text((repo / path_of("fact.the-port")).read_text() + "\nOr 81.\n")
    save(4, "Name the other port")
    config = repo / ".thunderus/config.toml"
    config.write_text(config.read_text().replace('#agents = "apply"', 'agents = "propose"'))
    run("add", "fact", "The host", "--body", "It is x.", "-m", "Seen in a log", minute=5, actor="agent")
    run("recap", DAY, minute=6)
    text = (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()
    decided, _, rest = text.partition("## Decisions\n\n")[2].partition("\n\n## Changes\n\n")
    changes, _, rest = rest.partition("\n\n## Commits\n\n")
    commits, _, rest = rest.partition("\n\n## Open items\n\n")
    assert 'books. The tax office confirmed it on Monday." (Ada Example)' in commits
    assert decided == (
        "- [[adr.books|Books have a rate of their own]] added in a commit by Ada Example. "
        "Context: The law says so."
    )
    assert "- [[fact.the-rate|The rate]] added. Commit: `" in changes
    assert '` "Note the rate and the port".\n' in changes
    assert "- [[fact.the-port|The port]] added, then edited in a commit. Commit: `" in changes
    open_items = rest.partition("\n\n## ")[0].splitlines()
    proposal, outdated = open_items
    assert proposal == (
        "- Proposal by an agent to add The host (`fact.the-host`) waits for review. Reason: Seen in a log."
    )
    assert outdated.startswith(
        "- [[fact.the-rate|The rate]] may be out of date: `rate.py#rate`, changed later in"
    )
    assert outdated.endswith('` "Use the reduced rate for books".')
    linted = server.run("lint", "--json", cwd=str(repo)).json["diagnostics"]
    assert not [one for one in linted if "episodic" in one["path"]]
    # A superseded document describes earlier code.
    run("add", "fact", "The rates", "--body", "They are 19 and 7.", minute=7)
    run("supersede", "fact.the-rate", "fact.the-rates", "-m", "Books have their own", minute=8)
    run("recap", DAY, minute=9)
    assert "may be out of date" not in (repo / f".thunderus/memory/episodic/{DAY}.md").read_text()


def test_outdated_code_names_the_commit_that_check_names(repo: Path, server: Server) -> None:
    """Not another commit of the same file, nor the rename of the file; none for an uncommitted change."""

    def save(minute: int, subject: str, text: str = "") -> None:
        if text:
            (repo / "a.py").write_text(text)
        when = f"{DAY}T09:{minute:02d}:30Z"
        subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        subprocess.run(["git", "commit", "-q", "-m", subject], cwd=repo, check=True, env=os.environ | dates)

    def outdated() -> list[str]:
        text = server.run("recap", DAY, "--dry-run", cwd=str(repo)).out
        return [line for line in text.splitlines() if "may be out of date" in line]

    put, other, last = (
        "def put():\n    return 1\n",
        "def other():\n    return 3\n",
        "def last():\n    return 1\n",
    )
    clock = {"THUNDERUS_MEM_NOW": f"{DAY}T09:00:00Z", "THUNDERUS_MEM_SEED": "1"}
    server.run("init", cwd=str(repo), env=clock)
    save(1, "Add the cache", f"TTL = 9\n\n\n{put}\n\n{other}\n\n{last}")
    anchors = [word for name in ("put", "other", "last") for word in ("--anchor", f"a.py#{name}")]
    server.run("add", "fact", "The cache", "--body", "It is one.", *anchors, cwd=str(repo),
               env=clock | {"THUNDERUS_MEM_SEED": "2"})  # fmt: skip
    save(2, "Shorten the TTL", f"TTL = 8\n\n\n{put}\n\n{other}\n\n{last}")
    assert outdated() == []
    four = other.replace("3", "4")
    save(3, "Return four from other", f"TTL = 8\n\n\n{put}\n\n{four}\n\n{last}")
    save(4, "Remove put", f"TTL = 8\n\n\n{four}\n\n{last}")
    save(5, "Tune the TTL", f"TTL = 7\n\n\n{four}\n\n{last}")
    checked = server.run("check", "--json", cwd=str(repo)).json["findings"]
    sha = {one["place"]: one["commit"][:7] for one in checked}
    said = (
        "- [[fact.the-cache|The cache]] may be out of date: "
        f'`a.py#other`, changed later in `{sha["a.py#other"]}` "Return four from other". '
        f'`a.py#put`, removed later in `{sha["a.py#put"]}` "Remove put".'
    )
    assert outdated() == [said]
    (repo / "a.py").write_text(f"TTL = 7\n\n\n{four}\n\n{last.replace('1', '2')}")
    assert outdated() == [said.replace("`a.py#other`", "`a.py#last`, changed. `a.py#other`", 1)]
    (repo / "a.py").write_text(f"TTL = 7\n\n\n{four}\n\n{last}")
    subprocess.run(["git", "mv", "a.py", "b.py"], cwd=repo, check=True)
    save(6, "Rename a")
    (renamed,) = outdated()
    assert "Return four from other" in renamed
    assert "Rename a" not in renamed


def test_documents_whose_source_changed_after_their_import_are_open(repo: Path, server: Server) -> None:
    def run(*arguments: str, minute: int) -> str:
        clock = {"THUNDERUS_MEM_NOW": f"{DAY}T09:{minute:02d}:00Z", "THUNDERUS_MEM_SEED": str(minute)}
        done = server.run(*arguments, cwd=str(repo), env=clock)
        assert done.code == 0, done.err
        return done.out

    def save(minute: int, subject: str) -> None:
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{DAY}T09:{minute:02d}:30Z")
        subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
        subprocess.run(["git", "commit", "-q", "-m", subject], cwd=repo, check=True, env=os.environ | dates)

    def open_items(minute: int) -> str:
        return run("recap", DAY, "--dry-run", minute=minute).partition("## Open items\n\n")[2]

    run("init", minute=0)
    (repo / "docs").mkdir()
    for name in ("port", "rate", "host"):
        (repo / f"docs/{name}.md").write_text(f"# The {name}\n\nIt is {name} 1.\n")
    save(1, "Add notes")
    run("import", "markdown", "docs", "--kind", "fact", minute=2)
    save(2, "Import notes")
    assert open_items(3).startswith("None found.\n")
    for name in ("port", "rate"):
        (repo / f"docs/{name}.md").write_text(f"# The {name}\n\nIt is {name} 2.\n")
    save(3, "Correct two notes")
    sha = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=repo, capture_output=True, text=True)
    assert open_items(4).startswith(
        "- 2 documents may be out of date: [[fact.the-port|The port]] (its source `docs/port.md`), "
        f"[[fact.the-rate|The rate]] (its source `docs/rate.md`). Changed in `{sha.stdout.strip()}` "
        '"Correct two notes".\n\n'
    )
    run("import", "markdown", "docs", "--kind", "fact", "--on-conflict", "update", minute=5)
    assert open_items(6).startswith("None found.\n")
    (repo / "docs/host.md").write_text("# The host\n\nIt is host 2.\n")
    assert open_items(7).startswith(
        "- [[fact.the-host|The host]] may be out of date: its source `docs/host.md`, changed.\n\n"
    )


def test_recap_names_commits_whether_or_not_documents_concern_them() -> None:
    """With a quote of the message; elsewhere, a commit has only its subject."""
    outdated = {"fact.limit": (OutdatedCode("src/port.py#port", commit=COMMITS[3]),)}
    body = page(ACTIVITY._replace(outdated=outdated))
    listed = body.partition("## Commits\n\n")[2].partition("\n\n")[0].splitlines()
    assert listed == [
        '- `aaaaaaa` "Use the reduced rate" (bot[bot])',
        '- `bbbbbbb` "Move the port. The old one is blocked by the new firewall." (Ines)',
        '- `ddddddd` "Sort pages. Customers saw the same item on two pages." (Ines)',
        '- `eeeeeee` "Bump lib from 1 to 2" (Ines)',
    ]
    assert '[[fact.port|The port]] edited. Commit: `bbbbbbb` "Move the port".\n' in body
    assert 'may be out of date: `src/port.py#port`, changed later in `bbbbbbb` "Move the port".\n' in body


def test_commit_that_is_not_about_the_document_is_no_reason() -> None:
    anchors = ("anchors:", "  - src/port.py#port")
    port = document("fact.port", "The port", "Text\n", *anchors)
    edited = (patch(5, "edit", "fact.port"),)
    for touched, named, is_reason in (
        ((path_of("fact.port"), ".thunderus/sessions/s/events.jsonl"), port, True),
        ((path_of("fact.port"), "src/port.py"), port, True),
        ((path_of("fact.port"), "src/port.py"), document("fact.port", "The port", "Text\n"), False),
        ((path_of("fact.port"), "src/pool.py"), port, False),
    ):
        activity = Activity(edited, commits=(COMMITS[3],), touched={COMMITS[3].sha: touched})
        body = page(activity, [named])
        assert ('[[fact.port|The port]] edited. Commit: `bbbbbbb` "Move the port".' in body) == is_reason
        assert '- `bbbbbbb` "Move the port. The old one' in body


def test_quotes_in_a_message_do_not_end_its_quotation() -> None:
    reverted = commit("f", 9, 'Revert "Sort pages"')
    assert """- `fffffff` "Revert 'Sort pages'" (Ines)\n""" in page(Activity(commits=(reverted,)))


def test_document_edited_after_the_commit_has_only_an_old_anchor() -> None:
    moved = COMMITS[1]._replace(date=f"{DAY}T08:00:00Z")
    said = "[[fact.port|The port]] may be out of date: `src/port.py`,"
    body = page(ACTIVITY._replace(outdated={"fact.port": (OutdatedCode("src/port.py", commit=moved),)}))
    assert f'{said} changed in `ddddddd` "Sort pages"; edited since, not verified.\n' in body
    body = page(ACTIVITY._replace(outdated={"fact.port": (OutdatedCode("src/port.py", commit=COMMITS[1]),)}))
    assert f'{said} changed later in `ddddddd` "Sort pages".\n' in body


def test_documents_made_stale_by_one_commit_share_a_line() -> None:
    moved, other = COMMITS[1], COMMITS[3]
    outdated = {
        "fact.limit": (OutdatedCode("src/api.py#page", commit=moved),),
        "fact.v1": (OutdatedCode("src/api.py#v1", is_missing=True, commit=moved),),
        "fact.port": (OutdatedCode("src/port.py", commit=other),),
    }
    assert (
        "- 2 documents may be out of date: [[fact.limit|Pages have 50 items]] (`src/api.py#page`), "
        "[[fact.v1|Who still calls the v1 endpoints?]] (`src/api.py#v1`, removed). Changed in `ddddddd` "
        '"Sort pages".\n- [[fact.port|The port]] may be out of date: `src/port.py`, '
        'changed later in `bbbbbbb` "Move the port".'
    ) in page(ACTIVITY._replace(outdated=outdated))


def test_open_items_matter_more_than_commits_commands_and_files() -> None:
    commits = [
        commit("0123456789abcdef"[n], n, f"Change {n}", "why " * 40 + f"of {n} and more") for n in range(9)
    ]
    touched = {one.sha: (f"src/a_long_path_of_a_file_{n}.py",) for n, one in enumerate(commits)}
    asked = [
        note_event(
            id=f"evt_{n}", ts=f"{DAY}T09:{n:02d}:00Z", session_id="s", actor="user",
            text=f"TODO: ask {n} " + "long " * 20,
        )
        for n in range(10)
    ]  # fmt: skip
    body = page(Activity(tuple(asked), commits=tuple(commits), touched=touched), [])
    assert len(body.partition("\n## Provenance\n")[0]) <= 2_200
    assert all(f"- Ask {n} " in body for n in range(10))
    assert "9 commits" in body
