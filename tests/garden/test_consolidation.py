"""Lessons from sessions become proposals, once, unless documents or code already have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from tests.recap.test_recap_sessions import logs, unfit
from tests.support.command_store import CommandStore
from tests.support.events import make_event
from thunderus_mem.document.document import read_document
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.sessions import (
    KnownLessons,
    Recalled,
    class_of,
    command_is_in,
    is_trivial,
    plan_consolidation,
)
from thunderus_mem.interop.events import read_brought
from thunderus_mem.recap.events import EventReading, decisions_in, first_words
from thunderus_mem.recap.scope import Activity
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from tests.support.command_server import Server
    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import Step
    from thunderus_mem.log.line import Event

CASES = Path(__file__).parent.parent / "cases" / "consolidate"
KEYWORDS = Config().consolidate_keywords
TOLD = "We decided to write every key to disk after each put because a restart must not lose keys."


def brought(data: bytes) -> tuple[Event, ...]:
    return tuple(
        make_event(
            one.kind, one.body, id=f"evt_{one.line:02d}", ts=one.ts or f"2026-01-21T09:{one.line:02d}:00Z",
            session_id="sess_A", actor=one.actor, refs=one.refs, origin=dict(one.origin) or {"session": "s"},
        )
        for one in read_brought(data)[0]
    )  # fmt: skip


def events(*bodies: dict[str, Any]) -> tuple[Event, ...]:
    lines = [{"kind": "message" if "text" in body else "tool_result", "body": body} for body in bodies]
    return brought("\n".join(json.dumps(line) for line in lines).encode())


def did(command: str, ok: bool = True) -> dict[str, Any]:
    return {"tool": "bash", "command": command, "success": ok}


def plan(
    told: tuple[Event, ...],
    *documents: Document,
    config: Config | None = None,
    code: dict[str, str] | None = None,
) -> tuple[Step, ...]:
    history = Activity(told, frozenset(one.id for one in told), build_files=lambda: code or {})
    return plan_consolidation(
        GardenInput(documents, today="2026-01-22", history=lambda: history), config or Config()
    )


def fact(text: str, doc_id: str = "fact.x") -> Document:
    raw = f"---\nid: {doc_id}\ntitle: T\nkind: fact\ntags:\n  - x\n---\n\n{text}\n"
    document = read_document(f".thunderus/memory/semantic/FACTS/{doc_id[5:]}.md", raw.encode()).document
    assert document is not None
    return document


def test_session_proposals_match_golden_files() -> None:
    steps = plan(brought((CASES / "session.jsonl").read_bytes()))
    assert {step.extent for step in steps} == {"propose"}
    found = {step.edits[0].path.rpartition("/")[2]: step.edits[0].after_text for step in steps}
    wanted = {path.name: path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*.md"))}
    assert found == wanted


def test_plan_is_deterministic_and_omits_approved_lessons() -> None:
    told = brought((CASES / "session.jsonl").read_bytes())
    steps = plan(told)
    assert plan(told[::-1]) == steps
    approved = []
    for step in steps:
        document = read_document(step.edits[0].path, (step.edits[0].after_text or "").encode()).document
        assert document is not None
        approved.append(document)
    assert plan(told, *approved) == ()


def test_proposals_per_session_are_limited() -> None:
    told = brought((CASES / "session.jsonl").read_bytes())
    assert len(plan(told, config=Config(consolidate_max_per_session=2))) == 2
    assert plan(told, config=Config(consolidate_max_per_session=0)) == ()


def test_disallowed_kind_is_not_proposed() -> None:
    told = brought((CASES / "session.jsonl").read_bytes())
    assert {step.edits[0].doc_id[:4] for step in plan(told, config=Config(kinds_allowed=("fact",)))} == {
        "fact"
    }


# Known from the memory


@pytest.mark.parametrize(
    "known",
    [
        TOLD,
        "Each put: every key is written to disk, because no restart must lose keys. It was decided so.",
        "Some words before. We decided to write every key to disk after each put. And words after.",
    ],
)
def test_documented_lessons_are_not_learned_again(known: str) -> None:
    assert len(plan(events({"text": TOLD}))) == 1
    assert plan(events({"text": TOLD}), fact(known)) == ()


def test_recap_of_a_session_does_not_prevent_learning() -> None:
    document = read_document("x.md", fact(TOLD).text.replace("kind: fact", "kind: recap").encode()).document
    assert document is not None
    assert len(plan(events({"text": TOLD}), document)) == 1
    assert plan(events({"tool": "read", "result": TOLD}, {"text": TOLD}), document) == ()


def test_recalled_text_is_not_learned_even_if_its_document_was_removed() -> None:
    recalled = {"tool": "mcp thunderus_mem search", "success": True, "result": f"1 hit\n{TOLD}\n"}
    assert plan(events(recalled, {"text": f"As the memory says: {TOLD}"})) == ()
    # A paraphrase of recalled text is still recalled.
    again = (
        "So we decided that after each put keys, every one, write to disk, because no restart must lose keys."
    )
    assert plan(events(recalled, {"text": again})) == ()
    # Stated before it was recalled: it comes from the session.
    assert len(plan(events({"text": TOLD}, recalled))) == 1


def test_tool_output_that_repeats_a_document_counts_as_recalled() -> None:
    passage = (
        "Keys go to disk after each put, and the journal is cut once a night when nobody looks at it at all."
    )
    tail = "We opted for a nightly cut of the journal because mornings are busy here."
    shown = {"tool": "read_file", "success": True, "result": f"{passage} {tail}\n"}
    document = fact(passage)
    assert len(plan(events({"text": tail}), document)) == 1
    assert plan(events(shown, {"text": tail}), document) == ()


def test_unrelated_tool_output_does_not_suppress_decisions() -> None:
    shown = {"tool": "read_file", "success": True, "result": "def put(key): ..."}
    assert len(plan(events(shown, {"text": TOLD}), fact("Ports are numbered from eighty upwards."))) == 1


# Known from the code


@pytest.mark.parametrize(
    ("command", "files", "stands"),
    [
        ("make test", {"Makefile": "test: build\n\tpytest\n"}, True),
        ("make test", {"Makefile": "tests:\n\tpytest\n"}, False),
        ("make X=1 -j2 test", {"Makefile": "test:\n"}, True),
        ("npm run lint", {"package.json": '{"scripts": {"lint": "eslint ."}}'}, True),
        ("npm test", {"package.json": '{"scripts": {"test": "jest"}}'}, True),
        ("npm run test:e2e", {"package.json": '{"scripts": {"test": "jest"}}'}, False),
        ("npm run test:e2e", {"package.json": "{"}, False),
        ("pytest -q", {"README.md": "Run `pytest -q` first."}, True),
        ("pytest -q", {"README.md": "Run `pytest -qq` first."}, False),
        ("pytest -q", {"README.md": "pytest -quiet"}, False),
        ("ruff check .", {".github/workflows/ci.yml": "  - run: ruff check .\n"}, True),
        ("ruff check .", {}, False),
    ],
)
def test_command_in_build_files_is_known(command: str, files: dict[str, str], stands: bool) -> None:
    assert command_is_in(command, files) is stands
    told = events(did(command), did(command))
    assert [
        step.edits[0].doc_id for step in plan(told, code=files) if "commands" in step.edits[0].doc_id
    ] == ([] if stands else [f"fact.commands.{class_of(command)}"])


# Commands


@pytest.mark.parametrize(
    ("outcomes", "learned"),
    [([True], 0), ([True, True], 1), ([True, True, False], 1), ([True, True, False, False], 0)],
)
def test_only_repeatedly_successful_commands_are_learned(outcomes: list[bool], learned: int) -> None:
    told = events(*(did("tox -e py311", ok) for ok in outcomes))
    assert len([step for step in plan(told) if "commands" in step.edits[0].doc_id]) == learned


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest -q", "test"), ("python -m pytest x", "test"), ("npm run build", "build"), ("mypy", "lint"),
        ("uv run ruff format .", "lint"), ("black .", "format"), ("make", "build"), ("npm start", "run"),
        ("git commit -m test", ""), ("ls test", ""), ("cat build.log", ""), ("", ""), ("./frob", ""),
    ],
)  # fmt: skip
def test_commands_are_classified(command: str, name: str) -> None:
    assert class_of(command) == name


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("A=1 sudo pytest -q x", "pytest"), ("npm run build -- --x", "npm run build"), ("", ""),
        ("A=1", "A=1"),
        ("python -m build --wheel", "python -m build"), ("python x.py", "python x.py"),
        ("cargo fmt", "cargo fmt"),
    ],
)  # fmt: skip
def test_first_words_identify_attempts_of_one_command(command: str, words: str) -> None:
    assert first_words(command) == words


def test_failure_without_known_fix_is_not_learned() -> None:
    assert plan(events(did("pytest -q", ok=False), did("pytest -q"))) == ()
    assert is_trivial("/usr/bin/ls x")


def test_different_working_command_is_learned() -> None:
    (step,) = plan(events(did("pytest -n 9", ok=False), did("pytest -n 0")))
    text = step.edits[0].after_text or ""
    assert "`pytest -n 9` failed.\n`pytest -n 0` works instead.\n" in text


# Sentences


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (TOLD, 1),
        ("After a while I picked sqlite since it is there.", 1),
        ("- Decided: use four bytes for the frame because two are too few.", 1),
        ("Postgres was chosen due to its locks.", 0),  # not among the keywords
        ("The user selected row is highlighted because it is focused.", 0),
        ("We have not decided to use it because it is slow.", 0),
        ("If we decided to use it because it is fast, fine.", 0),
        ("Have we decided to use it because it is fast?", 0),
        ("> We decided to use it because somebody else said so.", 0),
        ("```\nwe decided to use it because of code\n```", 0),
        ("We decided.", 0),
    ],
)
def test_questions_and_negations_are_not_decisions(text: str, number: int) -> None:
    assert len(list(decisions_in(text, KEYWORDS))) == number


def test_decision_without_reason_is_in_the_recap_but_not_learned() -> None:
    (one,) = decisions_in("We went with four bytes in each frame.", KEYWORDS)
    assert not one.reason
    assert plan(events({"text": "We went with four bytes in each frame."})) == ()


def test_secrets_and_injections_are_not_learned() -> None:
    told = events({"text": TOLD})
    history = Activity(told, reading=EventReading(unfit=lambda text: "restart" in text))
    assert plan_consolidation(GardenInput((), today="2026-01-22", history=lambda: history), Config()) == ()


def test_recalled_text_counts_only_within_its_session() -> None:
    heard = Recalled(KnownLessons([]))
    assert not heard.has(TOLD)
    heard.hear(events({"tool": "thunderus-mem", "success": True, "result": {"hits": [TOLD]}})[0])
    assert heard.has(TOLD)
    assert not heard.has("Something else entirely was decided here today because of rain.")


@settings(deadline=None, max_examples=100, derandomize=True)
@given(logs())
def test_any_log_gives_valid_proposals(told: list[Event]) -> None:
    history = Activity(tuple(told), frozenset(), reading=EventReading(unfit=unfit))
    for step in plan_consolidation(GardenInput((), today="2026-01-22", history=lambda: history), Config()):
        (edit,) = step.edits
        reading = read_document(edit.path, (edit.after_text or "").encode())
        assert reading.document is not None
        assert reading.document.id == edit.doc_id
        assert set(reading.document.events) <= {event.id for event in told}
        assert step.reach == "propose"


@pytest.mark.parametrize(
    ("text", "subject", "reason"),
    [
        (
            "We decided to keep the queue bounded because memory is limited.",
            "Keep the queue bounded",
            "because memory is limited.",
        ),
        ("We decided to avoid threads due to the lock.", "Avoid threads", "due to the lock."),
        (
            "Because memory is limited, we decided to keep the queue bounded.",
            "Keep the queue bounded",
            "Because memory is limited",
        ),
    ],
)
def test_decision_is_not_its_own_reason(text: str, subject: str, reason: str) -> None:
    (one,) = decisions_in(text, KEYWORDS)
    assert (one.subject, one.reason) == (subject, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("We decided to use one queue for all services.", ""),
        ("We went with four bytes for the frame.", ""),
        ("We chose Redis for caching pages.", ""),
        ("We decided to wait for the lock.", ""),
        ("We decided to keep the old parser for now.", ""),
        ("I picked sqlite for the index and the log.", ""),
        ("We chose one worker for performance tests.", ""),
        ("We have decided on tabs for each file since Monday.", ""),
        ("We have decided against threads since version 2.", ""),
        ("Since Monday, we decided to keep tabs.", ""),
        ("We chose Postgres as item store.", ""),
        ("We chose Postgres for its locks.", "for its locks."),
        ("We went with processes for better isolation.", "for better isolation."),
        ("We decided on plain files for simplicity.", "for simplicity."),
        ("We decided on plain files for data safety and speed.", "for data safety and speed."),
        ("We chose one writer for fear of deadlocks.", "for fear of deadlocks."),
        ("We decided on one queue for all services because two drift apart.", "because two drift apart."),
        ("We chose zstd for the archive for its speed.", "for its speed."),
        ("I picked sqlite since it is there.", "since it is there."),
        ("I picked sqlite since the deployment has it.", "since the deployment has it."),
    ],
)
def test_for_and_since_are_reasons_only_in_context(text: str, reason: str) -> None:
    (one,) = decisions_in(text, KEYWORDS)
    assert one.reason == reason


def test_consolidation_on_a_real_store_writes_nothing_and_adds_anchors(repo: Path, server: Server) -> None:
    store = CommandStore(repo, server)
    (repo / "src").mkdir()
    (repo / "src/cache.py").write_text("class Cache:\n    def put(self, key):\n        self.keys = key\n")
    assert store.run("events", "add", stdin=(CASES / "session.jsonl").read_bytes()).code == 0
    before = {path: path.read_bytes() for path in (repo / ".thunderus/memory").rglob("*.md")}
    planned = store.run("garden", "--json")
    assert planned.code == 0, planned.err
    steps = planned.json["steps"]
    assert [step["rule"] for step in steps] == ["consolidate"] * len(steps)
    texts = [step["edits"][0]["diff"] for step in steps]
    assert any("+anchors:\n+  - path: src/cache.py\n+    symbol: Cache\n" in text for text in texts), texts
    assert store.run("garden", "--apply").code == 0
    assert {path: path.read_bytes() for path in (repo / ".thunderus/memory").rglob("*.md")} == before
