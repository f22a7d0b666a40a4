"""What `doctor` looks at in the log: changes that were interrupted, torn ends, lines that cannot be read."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.model.shard import CHAIN, CONFLICT, SHAPE, TORN, parse_shard
from thunderus_mem.store.events import MAX_SHARD
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import STORE, is_shard
from thunderus_mem.verbs.health import Check, Mend, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.verbs.patient import Patient

FIX: Final = "thunderus-mem doctor --fix"
_STAGING: Final = f"{STORE}/.staging"


class _Kind(NamedTuple):
    """What is said of all findings of one rule."""

    one: str
    many: str
    hint: str
    lost: str


_KINDS: Final = {
    SHAPE: _Kind(
        "a line of the log is no event",
        "{} lines of the log are no events",
        "the others are served; old lines are never rewritten: the shard comes back from git, or stays",
        "what these lines said; no document",
    ),
    CONFLICT: _Kind(
        "a conflict marker of git stands in the log",
        "{} conflict markers of git stand in the log",
        "keep the lines of both sides and delete the marker lines",
        "nothing: the lines of both sides are there",
    ),
    CHAIN: _Kind(
        "a line of the log does not follow from the one before it",
        "{} lines of the log do not follow from the ones before them",
        "a line was edited, removed or moved; the shard comes back from git, or stays and proves less",
        "the proof of what stood there; no document",
    ),
}


def interrupted(patient: Patient) -> Iterator[Check]:
    """Whether a killed command left something to finish, and whether strange things lie in its way."""
    pending = patient.memory.journal.pending()
    strange = _strange(patient)
    if pending:
        yield Check(
            "writes",
            "warning",
            many(pending, "a change was interrupted", "{} changes were interrupted"),
            "the next command that writes finishes or undoes it",
            (_STAGING,),
            "nothing that was acknowledged",
            FIX,
            (Mend("recover", _STAGING),),
        )
    else:
        yield Check("writes", "ok", "none interrupted")
    if strange:
        message = many(
            len(strange),
            f"{strange[0]} is no staged change of ours",
            "{} files among the staged changes are none of ours",
        )
        mends = tuple(Mend("set-aside", path) for path in strange)
        yield Check("writes", "note", message, "", strange, "nothing", FIX, mends)


def _strange(patient: Patient) -> tuple[str, ...]:
    from thunderus_mem.store.staging import staged_ids

    known = {f"{_STAGING}/{name}" for name in staged_ids(patient.layout.staging_dir)}
    inside = (seen.path for seen in patient.entries if os.path.dirname(seen.path) == _STAGING)
    return tuple(path for path in inside if path not in known)


def events(patient: Patient) -> Iterator[Check]:
    """Whether every line of the log reads, follows from the one before it, and is whole."""
    from thunderus_mem.verbs.surveying import log_findings

    found: dict[str, list[Diagnostic]] = {}
    for finding in log_findings(patient.memory):
        weight = (
            CHAIN + "note" if finding.severity is Severity.NOTE and finding.rule == CHAIN else finding.rule
        )
        found.setdefault(weight, []).append(finding)
    if not found:
        yield Check("log", "ok", "every line and every chain is whole")
    for rule in (SHAPE, CONFLICT, CHAIN):
        if rule in found:
            yield _damaged(patient, _KINDS[rule], found[rule])
    for finding in found.get(TORN, ()):
        yield _torn(patient, finding)
    if CHAIN + "note" in found:
        notes = found[CHAIN + "note"]
        yield Check("log", "note", notes[0].message, notes[0].hint, _where(notes), "nothing that is here")


def _where(findings: list[Diagnostic]) -> tuple[str, ...]:
    return tuple(f"{one.path}:{one.line}" if one.line else one.path for one in findings)


def _damaged(patient: Patient, kind: _Kind, findings: list[Diagnostic]) -> Check:
    weights = {finding.severity for finding in findings}
    state = next(one for one in Severity if one in weights)
    message = many(len(findings), f"{kind.one}: {findings[0].message}", kind.many)
    shard = findings[0].path
    return Check(
        "log", state.value, message, kind.hint, _where(findings), kind.lost, _bring_back(patient, shard)
    )


def _bring_back(patient: Patient, shard: str) -> str:
    """The command for a damaged shard: from git, when git has every event of it that can still be read."""
    git, quoted = patient.memory.git, shlex.quote(shard)
    committed = git.head_bytes(shard) if git is not None else None
    if committed is None:
        return f"less {quoted}"
    theirs = parse_shard(shard, committed)
    ours = patient.memory.log.read_shard(shard)
    if theirs.damages or not {one.event.id for one in ours.events} <= {one.event.id for one in theirs.events}:
        return f"git diff HEAD -- {quoted}"
    return f"git checkout HEAD -- {quoted}"


def _torn(patient: Patient, finding: Diagnostic) -> Check:
    path = finding.path
    mends = (Mend("end", path),) if may_end(patient, path) else ()
    return Check(
        "log",
        "warning" if finding.severity is Severity.ERROR else finding.severity.value,
        f"the last line of {path} is not finished",
        "a command was killed while it wrote it"
        if mends
        else "git knows this file, or another program writes it, so it stays as it is",
        (path,),
        "nothing that was acknowledged",
        FIX if mends else _bring_back(patient, path),
        mends,
    )


def may_end(patient: Patient, shard: str) -> bool:
    """Whether the end of a shard is ours to mend: one of our shards, torn behind everything that git has."""
    if not is_shard(shard):
        return False
    git = patient.memory.git
    staged = git.staged_bytes(shard) if git is not None else None
    if staged is None:
        return True
    now = read_file(patient.layout.at(shard), MAX_SHARD)
    return staged.endswith(b"\n") and len(now) > len(staged) and now.startswith(staged)
