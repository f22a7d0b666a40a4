"""``check``: which memories does the code not support, or does a change of it make false?

`check` judges anchors against the working tree; `check_staged`, `check_since` and `check_diff` judge what a
change of the code does to them. Reads code and git; writes nothing but verdicts into the cache.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.diff import apply_diff, parse_diff, reversed_diff
from thunderus_mem.errors import InvalidQuery, NotFound
from thunderus_mem.fingerprint.source import parse_fingerprint, same_measure
from thunderus_mem.git.changes import merge_base, patch_between
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.git.repository import look_for_git
from thunderus_mem.lint.engine import distinct, fingerprinted
from thunderus_mem.lint.rule import finding
from thunderus_mem.lint.runner import lint_config
from thunderus_mem.memory.locate import find_row
from thunderus_mem.verdicts import code
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.judge import Judge
from thunderus_mem.verdicts.verdict import CHANGED, MISSING, UNKNOWN, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.document.diff import FileDiff, Hunk
    from thunderus_mem.fingerprint.source import CodeSource
    from thunderus_mem.index.questions import Anchored
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.verdict import Tree

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
    anchors = memory.index.anchors(rows)
    with Judge(memory) as judge:
        judged = judge.all(anchors)
        stale = [one for one in judged if one.verdict.is_stale]
        findings = []
        for place, one in enumerate(stale):
            cause = _cause(judge, one.verdict, look=place < _MOST_EXPLAINED)
            findings.append(_finding(memory, one.anchored, one.verdict, cause))
    return CheckReport(
        tuple(findings),
        tuple(
            Unknown(one.anchored.doc_id, one.anchored.anchor.place, one.verdict.reason)
            for one in judged
            if one.verdict.status == UNKNOWN
        ),
        len({one.doc_id for one in anchors}),
        len(anchors),
        sum(one.verdict.status == "moved" for one in judged),
    )


class _Cause(NamedTuple):
    """What made an anchor stale, as far as it is known; the fields are those of `CodeFinding`."""

    file: str = ""
    hunk: str = ""
    commit: str = ""
    subject: str = ""
    diff: str = ""


def _cause(judge: Judge, verdict: Verdict, *, look: bool) -> _Cause:
    """What made a verdict what it is; without ``look`` the commit that did it is not looked for."""
    if judge.past is None:
        return _Cause()
    file = (verdict.found or verdict.anchor).path
    known = code.breaking_commit(verdict.anchor, verdict.found, judge.past) if look else None
    if known is None:
        return _Cause(file)
    diff = code.code_diff(verdict, known, judge.tree)
    if known.commit is None:
        return _Cause(file, diff=diff)
    return _Cause(file, "", known.commit.sha, known.commit.subject, diff)


def _finding(memory: Memory, one: Anchored, verdict: Verdict, cause: _Cause) -> CodeFinding:
    row = memory.index.get(one.doc_id)
    return CodeFinding(
        doc_id=one.doc_id,
        title=row.title if row is not None else "",
        path=row.path if row is not None else "",
        line=one.line,
        place=one.anchor.place,
        verdict=verdict.status,
        reason=verdict.reason,
        now=verdict.found.place if verdict.found is not None else "",
        next_step=_next_step(one, verdict),
        **cause._asdict(),
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


_RULES = {CHANGED: "TM701", MISSING: "TM702"}
MADE_FALSE = tuple(_RULES.values())
"""The rules of `lint` that say the same."""


def diagnostics(memory: Memory, report: CheckReport) -> list[Diagnostic]:
    """The findings as lint's, for the formats that machines read; each weighs what the configuration says."""
    given = lint_config(memory).severities
    found: list[Diagnostic] = []
    for one in report.findings:
        rule = _RULES[one.verdict]
        weight = given.get(rule)
        if weight == "off":
            continue
        diagnostic = finding(
            rule,
            one.path,
            _message(one),
            place=(one.line, 1),
            key="anchors",
            expected="a text that the code supports",
            hint=one.next_step,
            severity=weight,
        )
        # The anchor makes the fingerprint, not the text of the line: the line may move, the anchor stays.
        found += fingerprinted([diagnostic._replace(doc_id=one.doc_id)], partial(_anchored_place, one))
    return distinct(found)


def _anchored_place(one: CodeFinding, _line: int) -> str:
    return one.place


def _message(one: CodeFinding) -> str:
    said = f"{one.place}: {one.reason}"
    if one.hunk:
        said += f" ({one.file} {one.hunk})"
    elif one.commit:
        said += f" (since {one.commit[:12]}, {one.subject})"
    return f"{said}."


def check_staged(memory: Memory) -> CheckReport:
    """Which memories the next commit makes false, as it stands in the index that git names to its hooks."""
    memory.refresh()
    git = look_for_git(memory.root, memory.environ, honour_index=True)[0]
    if git is None:
        raise _no_git()
    patch = patch_between(git, "", ":")
    if patch is None:
        raise NotFound(f"git does not say what is staged: {git.reason}")
    with ObjectReader(git) as reader:
        trees = code.CommitTree(git, reader, "HEAD"), code.CommitTree(git, reader, ":")
        return _check_change(memory, CodeChange(*trees, _diffs(patch)))


def check_since(memory: Memory, revision: str) -> CheckReport:
    """Which memories are made false by what the working tree has and the commit ``revision``, where it parted
    from HEAD, has not."""
    memory.refresh()
    git = memory.git
    if git is None:
        raise _no_git()
    base = merge_base(git, revision)
    patch = patch_between(git, base) if base else None
    if base is None or patch is None:
        raise NotFound(
            f"git has no commit {revision!r}",
            hint="a branch, a tag or a hash; a shallow clone has few of them",
        )
    with ObjectReader(git) as reader:
        trees = code.CommitTree(git, reader, base), code.WorkingTree(memory.root, git)
        return _check_change(memory, CodeChange(*trees, _diffs(patch)))


def check_diff(memory: Memory, text: str) -> CheckReport:
    """Which memories a unified diff makes false, whether the working tree has it already or not.

    Raises `InvalidQuery` for a text that is no diff, or one that does not fit the files.
    """
    memory.refresh()
    diffs = parse_diff(text)
    if not diffs:
        raise InvalidQuery("that is no unified diff", hint="give what `git diff` prints")
    tree = code.WorkingTree(memory.root, memory.git)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for diff in diffs:
        was, now = _versions(tree, diff)
        # Both versions go where the diff has them; a file that is moved is missing at the other place.
        if diff.old_path:
            before[diff.old_path] = was.encode("utf-8", "surrogateescape")
            after.setdefault(diff.old_path, None)
        if diff.new_path:
            after[diff.new_path] = now.encode("utf-8", "surrogateescape")
            if diff.new_path != diff.old_path:
                before.setdefault(diff.new_path, None)
    trees = code.PatchedTree(tree, before), code.PatchedTree(tree, after)
    return _check_change(memory, CodeChange(*trees, diffs))


def _versions(tree: code.WorkingTree, diff: FileDiff) -> tuple[str, str]:
    """The text of a file before and after its diff; one of them is in the working tree."""
    old = tree.source(diff.old_path) if diff.old_path else None
    new = tree.source(diff.new_path) if diff.new_path else None
    patch = "".join(f"{hunk.header}\n" + "".join(f"{line}\n" for line in hunk.lines) for hunk in diff.hunks)
    adds = any(line.startswith("+") for hunk in diff.hunks for line in hunk.lines)
    old_text, new_text = old.text if old is not None else "", new.text if new is not None else ""
    forward = apply_diff(old_text, patch) if old or not diff.old_path else None
    backward = apply_diff(new_text, reversed_diff(patch))
    if (diff.new_path and new is None) or (not diff.new_path and old is not None):
        backward = None
    if backward is not None and (adds or forward is None or diff.old_path != diff.new_path):
        return backward, new_text
    if forward is not None:
        return old_text, forward
    name = diff.new_path or diff.old_path
    raise InvalidQuery(f"the diff does not fit {name}", hint="make it anew, or check out what it is for")


def _check_change(memory: Memory, change: CodeChange) -> CheckReport:
    """Which memories a change makes false, judged by its hunks. The index must be fresh."""
    anchors = memory.index.anchors_at(change.paths)
    harms = [(one, harm) for one in anchors if (harm := change.harm(one.anchor)) is not None]
    findings = [_finding(memory, one, verdict, cause) for one, (verdict, cause) in harms]
    return CheckReport(tuple(findings), (), len({one.doc_id for one in anchors}), len(anchors))


def _no_git() -> NotFound:
    return NotFound("this memory is in no git repository", hint="use --diff, or check everything with --all")


def _diffs(patch: bytes) -> Sequence[FileDiff]:
    return parse_diff(patch.decode("utf-8", "surrogateescape"))


class CodeChange:
    """A diff with the trees before and after it; it is the history of every anchor it is asked about."""

    def __init__(self, before: Tree, after: Tree, diffs: Sequence[FileDiff]) -> None:
        self._before = before
        self._after = after
        self.diffs = tuple(diffs)
        self._by_old = {diff.old_path: diff for diff in diffs if diff.old_path}
        self._by_new = {diff.new_path: diff for diff in diffs if diff.new_path}

    @property
    def paths(self) -> frozenset[str]:
        """Files that it touches, under their former and their new names."""
        return frozenset(self._by_old) | frozenset(self._by_new)

    def renamed(self, path: str) -> str | None:
        """Where the change moves a file."""
        diff = self._by_old.get(path)
        return diff.new_path if diff is not None and diff.new_path and diff.new_path != path else None

    def touched(self) -> Sequence[str]:
        """Files that are new or changed by it, sorted."""
        return sorted(self._by_new)

    def is_cut(self) -> bool:
        """A diff knows both its ends."""
        return False

    def before(self, path: str) -> CodeSource | None:
        """A file as it was before the change."""
        diff = self._by_new.get(path)
        return self._before.source(path) if diff is None or diff.old_path == path else None

    def harm(self, anchor: Anchor) -> tuple[Verdict, _Cause] | None:
        """What it does to an anchor; ``None`` when that holds, cannot be known, or did not hold before.

        The cause is the first hunk that touches the code; none when the whole file went, or came with no
        lines shown.
        """
        verdict = evaluate(anchor, self._after, self)
        if not verdict.is_stale or not self._held_before(anchor):
            return None
        file = (verdict.found or anchor).path
        hunk = next(self._hunks(anchor, verdict), None)
        if hunk is None:
            return verdict, _Cause(file)
        return verdict, _Cause(file, hunk.header, diff="".join(f"{line}\n" for line in hunk.lines))

    def _held_before(self, anchor: Anchor) -> bool:
        if anchor.is_glob:
            return evaluate(anchor, self._before, self).status == "verified"
        wanted = parse_fingerprint(anchor.fingerprint)
        found = code.measured(anchor, self._before.source(anchor.path))
        if wanted is None:
            return bool(found)
        return any(one.hash == wanted.hash and same_measure(one, wanted) for one in found)

    def _hunks(self, anchor: Anchor, verdict: Verdict) -> Iterator[Hunk]:
        """The hunks inside the anchored code, as it was or as it is."""
        found = verdict.found
        diff = self._by_old.get(anchor.path) or (self._by_new.get(found.path) if found is not None else None)
        if diff is None:
            return
        was = _span(anchor, self._before.source(diff.old_path) if diff.old_path else None)
        here = None
        if found is not None and diff.new_path:
            here = _span(found, self._after.source(diff.new_path))
        for hunk in diff.hunks:
            if (was and hunk.touches_old(*was)) or (here and hunk.touches_new(*here)):
                yield hunk


def _span(anchor: Anchor, source: CodeSource | None) -> tuple[int, int] | None:
    """The lines of what an anchor names in a version of its file."""
    if source is None or source.trouble:
        return None
    if anchor.symbol:
        found = source.find(anchor.symbol)
        return (found[0].first, found[0].last) if found else None
    return anchor.lines or (1, source.text.count("\n") + 1)
