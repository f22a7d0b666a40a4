"""Properties of the gardener with all rules on generated memories: no text is lost, apply is idempotent, undo
restores every byte, and plans are deterministic."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import sealed_environment
from tests.support.order_support import MEMORY, document_text
from tests.support.review_support import Store, queue
from tests.support.undo_support import restore_last
from tests.support.verify_store import verify
from thunderus_mem.document.document import read_document
from thunderus_mem.document.statements import fold, statements
from thunderus_mem.errors import Conflict
from thunderus_mem.garden.apply import RULE_NAMES, garden_plan, garden_report
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import undo
from thunderus_mem.interop.events import events_add
from thunderus_mem.review.decisions import review_approve, review_reject

FOLDERS = {
    "fact": f"{MEMORY}semantic/FACTS/",
    "adr": f"{MEMORY}semantic/DECISIONS/",
    "playbook": f"{MEMORY}procedural/PLAYBOOKS/",
    "recap": f"{MEMORY}episodic/",
}
GARDENER = """[caps]
document_soft = 60
document_hard = 90
[recap]
schedule = ["session", "day", "week", "month"]
[archive]
superseded_after_days = 1
recaps_after_days = 30
[tags]
aliases = { k8s = "kubernetes" }
[links]
orphans = true
"""
SENTENCES = [
    "The exporter waits 30 seconds for the first page and five for each further one, then it gives up.",
    "The exporter waits 60 seconds for the first page and five for each further one, then it gives up.",
    "The exporter does not wait 30 seconds for the first page, nor five for each further one.",
    "Every frame begins with four bytes that hold its length, the most significant byte first.",
    "Every frame starts with four bytes holding its length, most significant byte first.",
    "See [the other](b.md) and [[fact.old]] before the gateway is restarted.",
    "See [what was](old.md#top), [[FACT.B]] and [a number](../DECISIONS/ADR-0001-a.md).",
    "```\nmake all\n```",
    "## Routing\n\n" + "The router keeps a table of where each parcel goes. " * 14,
    "## Storage\n\n" + "A shelf holds forty boxes, and each box has a label. " * 14,
    "Nobody restarts the gateway on a Friday.",
]
TAGS = ["Test", "test", "tests", "unit_test", "unit test", "K8s", "kubernetes"]
MORE = [
    "",
    "",
    "expires: 2026-01-01\n",
    "links:\n  refers_to:\n    - FACT.B\n    - fact.nobody\n",
    "links:\n  supersedes: [fact.a]\n",
    "aliases:\n  - fact.old\nanchors:\n  - src/a.py\n",
    "author: Ada\nowner: nobody\n",
]
NAMES = ["a", "b", "c", "d", "e", "ab", "c-d"]


@st.composite
def files(draw: st.DrawFn) -> dict[str, tuple[bytes, int]]:
    """Documents of all kinds, similar or not, with the bytes and permissions of their files."""
    made: dict[str, tuple[bytes, int]] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=2)):
        kind = draw(st.sampled_from(["fact", "fact", "fact", "adr", "playbook", "recap"]))
        pieces = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4))
        text = document_text(
            f"{kind}.{name}",
            "\n\n".join(pieces) + draw(st.sampled_from(["", "\n", "\n\n"])),
            title=draw(st.sampled_from(["Gateway", "Gateway", "The gateway of parcels", f"Title {name}"])),
            tags=draw(st.lists(st.sampled_from(TAGS), min_size=1, max_size=3, unique=True)),
            day=draw(st.sampled_from(["2024-05-01", "2025-11-30", "2026-01-20"])),
            more=draw(st.sampled_from(MORE)),
        )
        text = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))
        stem = f"ADR-000{draw(st.integers(1, 2))}-{name}" if kind == "adr" else name
        folder = FOLDERS[kind] + draw(st.sampled_from(["", "", "deep/"]))
        if draw(st.integers(0, 4)) == 0:
            folder = folder.replace(MEMORY, f"{MEMORY}archive/")
        mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
        made[f"{folder}{stem}.md"] = (
            mark + text.encode(),
            draw(st.sampled_from([0o644, 0o644, 0o600, 0o755])),
        )
    if draw(st.booleans()):
        made[f"{FOLDERS['fact']}unreadable.md"] = (b"\xff\xfe no document", 0o644)
    return made


SESSION = [
    {"kind": "message", "body": {"role": "user", "text": "Parcels are lost."}},
    {"kind": "tool_result", "body": {"tool": "bash", "command": "pytest -q tests", "exit_code": 1}},
    {"kind": "tool_call", "body": {"tool": "edit", "arguments": {"file_path": "src/cache.py"}}},
    {"kind": "tool_result", "body": {"tool": "bash", "command": "pytest -q tests", "exit_code": 0}},
    {
        "kind": "message",
        "body": {"role": "assistant", "text": "We decided to sort by weight because belts are slow."},
    },
]  # fmt: skip


def begun(folder: str, made: dict[str, tuple[bytes, int]], *, session: bool = False) -> Store:
    store = Store(folder).begin()
    store.put(".thunderus/memory/gardener.toml", GARDENER)
    if session:
        lines = "\n".join(json.dumps({**one, "session_id": "s1"}) for one in SESSION)
        events_add(store.memory(), lines.encode())
        store.days = 3
    for path, (data, mode) in made.items():
        store.put(path, data).chmod(mode)
    return store


def said(store: Store) -> set[str]:
    """Every statement of every document, in use or archived, without link targets."""
    found: set[str] = set()
    for path, (data, _) in store.bytes().items():
        document = read_document(path, data).document
        if document is not None:
            for one in statements(document.body, ""):
                found.add(re.sub(r"\]\([^()]*\)|\[\[[^\[\]|]*", "]", one.text))
    return found


def titles(store: Store) -> set[str]:
    """Every name of a document: id, title, aliases."""
    read = (read_document(path, data).document for path, (data, _) in store.bytes().items())
    return {fold(name).lower() for one in read if one for name in (one.id, one.title, *one.aliases)}


def told(store: Store) -> str:
    report = garden_report(store.memory(), garden_plan(store.memory()), limit=1000)
    return repr(report)


LAW = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.reuse, Phase.generate],
)


@LAW
@given(files(), st.booleans())
def test_apply_converges_loses_nothing_and_can_be_undone(
    made: dict[str, tuple[bytes, int]], session: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = begun(folder, made, session=session)
        before, sentences, names = store.bytes(), said(store), titles(store)
        assert told(store) == told(store)
        assert store.bytes() == before
        applied = store.garden()
        assert applied.skipped == ()
        after = store.bytes()
        assert [step.why for step in garden_plan(store.memory()).applicable] == []
        assert sentences - said(store) == set()
        assert names - titles(store) == set()
        assert verify(folder, settled=True) == []
        if applied.steps:
            restore_last(store.memory())
            assert store.bytes() == before
            undo(store.memory(), UndoChoice(redo=True))
            if len(applied.steps) == 1:
                assert store.bytes() == after


@LAW
@given(files(), st.randoms(use_true_random=False), st.booleans())
def test_proposals_in_any_order_lose_nothing_and_rejections_persist(
    made: dict[str, tuple[bytes, int]], chance, session: bool
) -> None:  # type: ignore[no-untyped-def]
    with tempfile.TemporaryDirectory() as folder:
        store = begun(folder, made, session=session)
        sentences, names = said(store), titles(store)
        filed = store.propose()
        assert filed.skipped == ()
        assert store.propose().proposals == ()
        assert queue(store.memory().layout).bad == ()
        ids = store.patches()
        chance.shuffle(ids)
        for id in ids:
            before = store.bytes()
            if chance.random() < 0.2:
                review_reject(store.memory(), [id], why="No")
                assert store.bytes() == before
                continue
            with suppress(Conflict):
                review_approve(store.memory(), [id], rebase=True)
            assert sentences - said(store) == set()
        assert names - titles(store) == set()
        rejected = {
            event.body["key"] for event in store.events("approval") if event.body["decision"] == "rejected"
        }
        planned = garden_plan(store.memory())
        assert not rejected & {step.key for step in planned.steps}
        store.garden()
        assert garden_plan(store.memory()).applicable == ()
        assert sentences - said(store) == set()
        assert verify(folder, settled=True) == []


def texts(store: Store) -> dict[str, bytes]:
    return {path: data for path, (data, _) in store.bytes().items()}


@LAW
@given(files(), st.lists(st.sampled_from(RULE_NAMES), unique=True), st.booleans())
def test_any_rules_and_approvals_can_be_undone(
    made: dict[str, tuple[bytes, int]], only: list[str], session: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = begun(folder, made, session=session)
        before, sentences = texts(store), said(store)
        applied = store.garden(only=tuple(only))
        between = texts(store)
        store.propose()
        approved: list[str] = []
        for id in store.patches():
            with suppress(Conflict):
                decided = review_approve(store.memory(), [id], rebase=True).decisions
                approved += [one.event_id for one in decided if one.state == "approved"]
        assert sentences - said(store) == set()
        for event in reversed(approved):
            undo(store.memory(), UndoChoice(event))
            assert sentences - said(store) == set()
        assert texts(store) == between
        if applied.steps:
            restore_last(store.memory())
        assert texts(store) == before
        assert verify(folder, settled=True) == []


@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.reuse, Phase.generate],
)
@given(files())
def test_two_processes_print_the_same_plan(made: dict[str, tuple[bytes, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        begun(folder, made)
        home = Path(folder, "home")
        home.mkdir()
        answers = [
            subprocess.run(
                [sys.executable, "-m", "thunderus_mem", "garden", "--json"],
                cwd=folder,
                env={**sealed_environment(home), "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        ]
        assert answers[0] == answers[1]
