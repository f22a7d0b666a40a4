"""E1: every call to the system refuses once, with every errno: a plain error, and the old or the new state.

In one process the durable modules see an ``os`` of which the n-th call fails. Where strace is present it
follows a real writer as well, with errors and with kills (C1); where it is not, that is said aloud.
"""

from __future__ import annotations

import errno
import os
import time

import pytest
import report
import traced
from harness import Scenario, Tally, copy, judge, state
from refusals import ERRNOS, MODULES, FailingOs
from scenarios import SCENARIOS
from tier import NIGHT, share
from writer import SHARD, Writer, _texts

from tests.support.verify_store import verify
from thunderus_mem.errors import NotWritable, ThunderusError
from thunderus_mem.log import append
from thunderus_mem.store import disk, lock


def _work(root: str, texts: dict[str, str | None]) -> tuple[str, str]:
    """Recover and change, as a command does; ("acked" | "pending" | "failed" | "unknown", message)."""
    writer = Writer(root)
    try:
        with lock.held(writer.lock, command="change"):
            writer.heal()
            code = writer.change(writer.new_id(), texts) if texts else 0
    except append.Uncertain as error:
        return "unknown", str(error)
    except ThunderusError as error:
        return "failed", str(error)
    return {0: "acked", 6: "pending", 3: "aborted"}[code], ""


def _sample(at: int) -> tuple[int, ...]:
    """One of the errnos, another at each call; all of them at night."""
    return ERRNOS if NIGHT else (ERRNOS[at * 5 % len(ERRNOS)],)


IN_PROCESS = tuple(
    scenario
    for scenario in SCENARIOS
    if scenario.name
    in ("first", "several", "remove", "after-torn-tail", "heal-committed", "heal-uncommitted")
)


@pytest.mark.parametrize("scenario", IN_PROCESS, ids=lambda scenario: scenario.name)
def test_io_error_in_the_nth_call(scenario: Scenario, tmp_path, monkeypatch, capsys) -> None:
    base, root = str(tmp_path / "base"), str(tmp_path / "store")
    scenario.build(base)
    texts = _texts(list(scenario.command[1:])) if scenario.command[0] == "change" else {}
    old = state(base)
    assert _work(copy(base, root), texts)[0] == "acked"
    new = state(root)
    tally = Tally()
    at = 0
    while True:
        at += 1
        failing = FailingOs(at, ERRNOS[0])
        for code in _sample(at):
            failing = FailingOs(at, code)
            copy(base, root)
            with monkeypatch.context() as patch:
                for module in MODULES:
                    patch.setattr(module, "os", failing)
                outcome, message = _work(root, texts)
            if not failing.failed:
                break
            _judge_in_process(
                root, outcome, message, (old, new), (at, failing.failed, errno.errorcode[code]), tally
            )
            tally.tried += 1
        if not failing.failed:
            break
    capsys.readouterr()
    report.add("E1", scenario.name, **vars(tally))
    assert tally.tried > 30


def _judge_in_process(root, outcome, message, golden, place, tally: Tally) -> None:
    old, new = golden
    assert "\n" not in message, place
    quiet_failure = outcome == "failed"
    if quiet_failure and state(root).documents not in (old.documents, new.documents):
        # A half-published change of an earlier process may be under way; the recovery below completes it.
        assert Writer(root).journal.pending(), place
    writer = Writer(root)
    pending = writer.journal.pending()
    with lock.held(writer.lock):
        writer.heal()
    tally.healed += bool(pending)
    assert verify(root, settled=outcome != "aborted") == [], (place, outcome, message)
    found = state(root)
    if outcome in ("acked", "pending"):
        tally.lost += found != new
        assert found == new, (place, outcome)
    elif outcome == "aborted":
        assert os.listdir(os.path.join(root, ".thunderus", ".quarantine")), place
    else:
        assert found.documents in (old.documents, new.documents), (place, outcome)


def test_unrecoverable_error_is_reported_as_unknown_outcome(tmp_path, monkeypatch) -> None:
    root = str(tmp_path)
    assert _work(root, {"a": "eins"})[0] == "acked"

    class NoSync(FailingOs):
        def __getattr__(self, name: str):
            if name in ("fsync", "ftruncate") and os.path.exists(
                os.path.join(root, ".thunderus", ".staging")
            ):

                def refuse(*arguments):
                    if os.readlink(f"/proc/self/fd/{arguments[0]}").endswith("events.jsonl"):
                        raise OSError(errno.EIO, "no")
                    return getattr(os, name)(*arguments)

                return refuse
            return getattr(os, name)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "os", NoSync(None, 0))
        outcome, message = _work(root, {"a": "zwei"})
    assert outcome == "unknown", message
    assert issubclass(append.Uncertain, NotWritable)
    assert Writer(root).journal.pending() == 1
    assert _work(root, {})[0] == "acked"
    assert verify(root, settled=True) == []
    assert Writer(root).lines()[-1].count(b"evt_") == 1
    assert SHARD


UNDER_STRACE = tuple(
    scenario for scenario in SCENARIOS if scenario.name in ("first", "several", "heal-committed")
)


@pytest.mark.parametrize("scenario", UNDER_STRACE, ids=lambda scenario: scenario.name)
@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("row", ["C1", "E1-strace"])
def test_under_strace(scenario: Scenario, row: str, tmp_path) -> None:
    if not traced.works():
        traced.skip_loudly(row)
    base, root, log = (str(tmp_path / name) for name in ("base", "store", "log"))
    scenario.build(base)
    old = state(copy(base, root))
    calls = traced.CHANGES if row == "C1" else f"{traced.CHANGES},{traced.LOOKS}"
    assert scenario.run(root, arm=traced.count(log, calls)).code == 0
    new, tally = state(root), Tally()
    places = traced.places(log, root, asking=row != "C1")
    for number, place in enumerate(share(places, 4 if row == "C1" else 10, scenario.name + row)):
        code = errno.errorcode[ERRNOS[number % len(ERRNOS)]]
        how = traced.kill(place, log) if row == "C1" else traced.fail(place, code, log)
        begun = time.monotonic()
        done = scenario.run(copy(base, root), arm=how)
        assert row == "C1" or len(traced.refused(log, root)) == 1, (place, done)
        judge(scenario, root, done, (old, new), tally)
        tally.tried += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    report.add(row, scenario.name, **vars(tally))
    assert tally.tried >= 4
