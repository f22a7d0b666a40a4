"""The code that a document is anchored to, as it was and as it is now. Reads the working tree and git."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.verdicts.code import breaking_commit, code_of
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.verdict import Verdict


class CodeThen(NamedTuple):
    """An anchor and its code. ``line`` is where the document has the anchor; ``then`` is the code it was made
    for, ``then_commit`` the newest commit that had it; ``now`` is the code that is there, at ``now_place``.
    ``commit`` is the one that changed it. All of them are "" where they are not known, or there are none.
    """

    place: str
    line: int
    verdict: str
    reason: str
    then: str
    then_commit: str
    now: str
    now_place: str
    commit: str
    subject: str


def code_then(memory: Memory, doc_id: str) -> tuple[CodeThen, ...]:
    """The code behind each anchor of a document, in their order. The index must be fresh."""
    if not memory.index.has_anchors():
        return ()
    with Judge(memory) as judge:
        judged = judge.all(memory.index.anchors([doc_id]))
        return tuple(_code_then(judge, one.verdict, one.anchored.line) for one in judged)


def _code_then(judge: Judge, verdict: Verdict, line: int) -> CodeThen:
    found = verdict.found
    source = judge.tree.source(found.path) if found is not None else None
    now = code_of(found, source) if found is not None and source is not None and not source.trouble else None
    known = (
        breaking_commit(verdict.anchor, found, judge.past)
        if verdict.is_stale and judge.past is not None
        else None
    )
    then = code_of(verdict.anchor, known.source) if known is not None else None
    if not verdict.is_stale and verdict.status != "unknown":
        then = now
    return CodeThen(
        place=verdict.anchor.place,
        line=line,
        verdict=verdict.status,
        reason=verdict.reason,
        then=then or "",
        then_commit=known.last_good.sha if known is not None else "",
        now=now or "",
        now_place=found.place if found is not None else "",
        commit=known.commit.sha if known is not None and known.commit is not None else "",
        subject=known.commit.subject if known is not None and known.commit is not None else "",
    )


def anchors_named(code: Sequence[CodeThen], number: int, text: str) -> tuple[str, ...]:
    """The anchors that a line of the document is, or names in its words."""
    return tuple(
        one.place for one in code if one.line == number or any(name in text for name in _names(one.place))
    )


def _names(place: str) -> tuple[str, ...]:
    path, _, symbol = place.partition("#")
    leaf = symbol.rpartition(".")[2]
    found = [f"`{path.rpartition(':')[0] if ':L' in path else path}"]
    if leaf:
        found += [f"`{leaf}", f".{leaf}`", f".{leaf}("]
    return tuple(found)
