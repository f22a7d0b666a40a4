"""``check``: which memories does the code not support, or does a change of it make false?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.verdict import CHANGED, MISSING, UNKNOWN
from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.projection.anchored import anchored, anchored_at
from thunderus_mem.verbs.judging import Judge
from thunderus_mem.verbs.locating import find_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.evidence.change import CodeChange, Harm
    from thunderus_mem.evidence.verdict import Verdict
    from thunderus_mem.memory import Memory
    from thunderus_mem.projection.anchored import Anchored

__all__ = ["CheckReport", "CodeFinding", "Unknown", "check", "check_change", "diagnostics"]

_MOST_EXPLAINED = 100
"""Findings whose commit is looked for: a tree in which more is stale has another worry than who did it."""


class CodeFinding(NamedTuple):
    """A claim that the code does not support.

    ``path`` and ``line`` are where the document makes it, ``place`` is its anchor, ``verdict`` changed or
    missing, ``now`` where the code is that is there instead ("" when none is). ``file`` and ``hunk`` are of
    the change that did it, ``commit`` its hash and ``subject`` ("" when it is not committed, or not known);
    ``diff`` is the code that was meant and the code that is there, "" when one of them is not known.
    """

    doc_id: str
    title: str
    path: str
    line: int
    place: str
    verdict: str
    reason: str
    now: str
    file: str
    hunk: str
    commit: str
    subject: str
    next_step: str
    diff: str = ""


class Unknown(NamedTuple):
    """An anchor of which nothing can be said, and why."""

    doc_id: str
    place: str
    reason: str


class CheckReport(NamedTuple):
    """What was looked at and what was found, by document."""

    findings: tuple[CodeFinding, ...]
    unknown: tuple[Unknown, ...]
    documents: int
    anchors: int
    moved: int = 0


def check(memory: Memory, ids: Sequence[str] = ()) -> CheckReport:
    """Judge the anchors of some documents, or of all, against the working tree."""
    memory.refresh()
    rows = [find_row(memory, id).id for id in ids] or None
    anchors = anchored(memory.index.database, rows)
    with Judge(memory) as judge:
        judged = judge.all(anchors)
        stale = [one for one in judged if one.verdict.is_stale]
        explain = _explainer(judge)
        findings = [_finding(memory, one.anchored, one.verdict, explain(one.verdict)) for one in stale]
    return CheckReport(
        tuple(findings),
        tuple(_unknown((one.anchored, one.verdict) for one in judged)),
        len({one.doc_id for one in anchors}),
        len(anchors),
        sum(one.verdict.status == "moved" for one in judged),
    )


class _Deed(NamedTuple):
    """What made an anchor stale, as far as it is known."""

    file: str = ""
    hunk: str = ""
    commit: str = ""
    subject: str = ""
    diff: str = ""


def _explainer(judge: Judge) -> Callable[[Verdict], _Deed]:
    """What made a verdict what it is: of the first ones; to look into all would take too long."""
    left = _MOST_EXPLAINED

    def explained(verdict: Verdict) -> _Deed:
        nonlocal left
        left -= 1
        if judge.past is None:
            return _Deed()
        from thunderus_mem.evidence.culprit import code_diff, turn

        known = turn(verdict.anchor, verdict.found, judge.past) if left >= 0 else None
        file = (verdict.found or verdict.anchor).path
        if known is None:
            return _Deed(file)
        diff = code_diff(verdict, known, judge.tree)
        if known.commit is None:
            return _Deed(file, diff=diff)
        return _Deed(file, "", known.commit.sha, known.commit.subject, diff)

    return explained


def check_change(memory: Memory, change: CodeChange) -> CheckReport:
    """Which memories a change makes false, judged by its hunks. The index must be fresh."""
    anchors = anchored_at(memory.index.database, change.paths)
    harms = [(one, harm) for one in anchors if (harm := change.harm(one.anchor)) is not None]
    findings = [_finding(memory, one, harm.verdict, _deed(harm)) for one, harm in harms]
    return CheckReport(tuple(findings), (), len({one.doc_id for one in anchors}), len(anchors))


def _deed(harm: Harm) -> _Deed:
    if harm.hunk is None:
        return _Deed(harm.file)
    return _Deed(harm.file, harm.hunk.header, diff="".join(f"{line}\n" for line in harm.hunk.lines))


def _finding(memory: Memory, one: Anchored, verdict: Verdict, deed: _Deed) -> CodeFinding:
    row = memory.index.get(one.doc_id)
    now = verdict.found.place if verdict.found is not None else ""
    return CodeFinding(
        doc_id=one.doc_id,
        title=row.title if row is not None else "",
        path=row.path if row is not None else "",
        line=one.line,
        place=one.anchor.place,
        verdict=verdict.status,
        reason=verdict.reason,
        now=now,
        file=deed.file,
        hunk=deed.hunk,
        commit=deed.commit,
        subject=deed.subject,
        diff=deed.diff,
        next_step=_next_step(one, verdict),
    )


def _next_step(one: Anchored, verdict: Verdict) -> str:
    if verdict.status == MISSING:
        return (
            f"`thunderus-mem edit {one.doc_id}`, or anchor it anew: "
            f"`thunderus-mem anchor {one.doc_id} PLACE`; `supersede` it when it is over"
        )
    return (
        f"still right: `thunderus-mem verify {one.doc_id}`; else `thunderus-mem edit {one.doc_id}` "
        "or `supersede` it"
    )


def _unknown(judged: Iterable[tuple[Anchored, Verdict]]) -> Iterable[Unknown]:
    for one, verdict in judged:
        if verdict.status == UNKNOWN:
            yield Unknown(one.doc_id, one.anchor.place, verdict.reason)


_RULES = {CHANGED: "TM701", MISSING: "TM702"}
MADE_FALSE = tuple(_RULES.values())
"""The rules of `lint` that say the same."""


def diagnostics(memory: Memory, report: CheckReport) -> list[Diagnostic]:
    """The findings as lint's, for the formats that machines read; each weighs what the configuration says."""
    from thunderus_mem.lint.fingerprint import distinct, fingerprinted
    from thunderus_mem.lint.rule import CODES
    from thunderus_mem.verbs.linting import lint_config

    given = lint_config(memory).severities

    found: list[Diagnostic] = []
    for one in report.findings:
        rule = _RULES[one.verdict]
        weight = given.get(rule, CODES[rule][1])
        if weight == "off":
            continue
        finding = Diagnostic(
            rule=rule,
            severity=Severity(weight),
            path=one.path,
            line=one.line,
            column=1,
            message=_message(one),
            key="anchors",
            expected="a text that the code supports",
            hint=one.next_step,
            doc_id=one.doc_id,
        )
        found.extend(fingerprinted([finding], partial(_place, one.place)))
    return distinct(found)


def _place(place: str, _line: int) -> str:
    """What a finding is about, instead of the text of its line: the line may move, the anchor stays."""
    return place


def _message(one: CodeFinding) -> str:
    told = f"{one.place}: {one.reason}"
    if one.hunk:
        told += f" ({one.file} {one.hunk})"
    elif one.commit:
        told += f" (since {one.commit[:12]}, {one.subject})"
    return f"{told}."
