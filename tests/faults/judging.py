"""The checks after any fault in a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commands import RECOVERIES, Command, missing_words, state
from harness import KILLED, KNOWN_CODES

from tests.support.verify_store import verify

if TYPE_CHECKING:
    from harness import State

    from tests.support.command_server import Done, Server

_STEPS = frozenset({"garden", "garden-both", "lint-fix", "init"})
_RECOVERS = frozenset(command.name for command in RECOVERIES)


def said_plainly(done: Done) -> None:
    """Whatever happened: a known code, no traceback, and on failure one error with a way out."""
    assert "Traceback" not in done.err, done
    assert done.code in KNOWN_CODES | KILLED | {1}, done
    if done.code in KNOWN_CODES - {0, 6}:
        assert done.err.count("error: ") == 1, done


def steps_of(command: Command, old: State, new: State) -> bool:
    """Whether the command is several complete events, so that only some may be done."""
    return command.name in _STEPS and new.events - old.events > 1


def judge(
    server: Server,
    command: Command,
    root: str,
    done: Done,
    golden: tuple[State, State],
    *,
    closer: bool = True,
) -> bool:
    """Heal and look; says whether something acknowledged is lost.

    The next ordinary command recovers and succeeds, an independent reader finds nothing, each document is old
    or new. ``closer``: the one after it changes nothing more, index and manifest agree with the files, and
    the command itself can be run again.
    """
    old, new = golden
    said_plainly(done)
    if done.code == 0:
        assert state(root) == new, done
    healing = command.healed(server, root)
    assert healing.code == 0, (done, healing)
    assert (wrong := verify(root, settled=command.settles)) == [], (done, healing, wrong)
    assert missing_words(root, command) == [], (done, healing)
    found = state(root)
    acknowledged = done.code in (0, 6)
    if command.heal == command.arguments or command.name in _RECOVERS:
        old = new
    if not steps_of(command, *golden):
        assert found in (old, new), (done, healing, found)
    if closer:
        _look_closer(server, command, root, golden, done)
    return acknowledged and found != new


def check_manifest(server: Server, root: str) -> None:
    """Fail unless the manifest has every document; those that cannot be read are reported and missing."""
    checked = server.run("index", "manifest", "--check", cwd=root)
    findings = [line for line in checked.out.splitlines() if line[:1].strip()]
    unread = [line for line in findings if "error TM502 Not in the manifest" in line]
    assert checked.code == 0 or (unread and unread == findings), checked


def _look_closer(
    server: Server, command: Command, root: str, golden: tuple[State, State], done: Done
) -> None:
    found = state(root)
    after = command.healed(server, root, 1)
    assert after.code == 0, after
    assert state(root) == found
    check_manifest(server, root)
    if done.code not in (0, 6) and found == golden[0] != golden[1]:
        again = command.run(server, root)
        assert again.code in (0, 1), (done, again)
        assert state(root).documents == golden[1].documents, (done, again)
