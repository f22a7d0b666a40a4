"""The command `check`: documents that may be out of date, or that a code change affects.

`check` evaluates anchors against the working tree; `check_staged`, `check_since` and `check_diff` find the
anchors affected by a change, and those of changed documents. Reads code and git; writes only cached verdicts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from thunderus_mem.document.diff import apply_diff, parse_diff, reversed_diff
from thunderus_mem.errors import InvalidQuery, NotFound
from thunderus_mem.git.changes import patch_between
from thunderus_mem.git.commits import base_to_compare
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.git.repository import look_for_git, no_repository
from thunderus_mem.lint.context import lint_config
from thunderus_mem.lint.engine import distinct, fingerprinted
from thunderus_mem.lint.rule import finding
from thunderus_mem.memory.locate import find_row
from thunderus_mem.startup import NamedTuple
from thunderus_mem.verdicts import code
from thunderus_mem.verdicts.change import CodeChange
from thunderus_mem.verdicts.judge import Judge
from thunderus_mem.verdicts.verdict import CHANGED, MISSING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.diff import FileDiff
    from thunderus_mem.index.questions import Anchored
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.change import Effect
    from thunderus_mem.verdicts.verdict import Verdict


class CodeFinding(NamedTuple):
    """A document that may be out of date, because the code of an anchor changed.

    ``path`` and ``line`` locate the anchor in the document, ``place`` is the anchor, ``verdict`` is changed
    or missing, ``now`` is where the code is now ("" if missing). ``file`` and ``hunk`` belong to the change
    that caused it, ``commit`` and ``subject`` to its commit ("" if not committed or unknown). ``file_line``
    is the first changed line of ``file`` (0 if it is missing or unknown). ``diff`` compares the recorded code
    with the current code ("" if one of them is unknown).
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
    diff: str = ""
    file_line: int = 0


class Unknown(NamedTuple):
    """An anchor that could not be checked, and why."""

    doc_id: str
    place: str
    reason: str


class CheckReport(NamedTuple):
    """The findings, and the number of documents and anchors checked."""

    findings: tuple[CodeFinding, ...]
    unknown: tuple[Unknown, ...]
    documents: int
    anchors: int
    moved: int = 0


def check(memory: Memory, ids: Sequence[str] = ()) -> CheckReport:
    """Check the anchors of the given documents, or of all, against the working tree."""
    memory.refresh()
    rows = [find_row(memory, id).id for id in ids] or None
    anchors = memory.index.anchors(rows)
    with Judge(memory) as judge:
        judged = judge.all(anchors)
        stale = [one for one in judged if one.verdict.is_stale]
        findings = []
        for place, one in enumerate(stale):
            cause = _cause(judge, one.verdict, look=place < code.MOST_EXPLAINED)
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
    """What made an anchor stale, as far as known; the fields are those of `CodeFinding`."""

    file: str = ""
    hunk: str = ""
    commit: str = ""
    subject: str = ""
    diff: str = ""
    file_line: int = 0


def _cause(judge: Judge, verdict: Verdict, *, look: bool) -> _Cause:
    """Find the cause of a verdict; with ``look`` false, without searching for the commit."""
    if judge.past is None:
        return _Cause()
    known = code.breaking_commit(verdict.anchor, judge.past) if look else None
    found = verdict.found
    source = judge.tree.source(found.path) if found is not None else None
    was = code.code_of(known.anchor, known.source) if known is not None else None
    line = code.changed_line(found, was or "", source) if found is not None and source is not None else 0
    if known is None:
        return _Cause((found or verdict.anchor).path, file_line=line)
    cause = _Cause(
        (found or known.anchor).path, diff=code.code_diff(verdict, known, judge.tree), file_line=line
    )
    if known.commit is None:
        return cause
    return cause._replace(commit=known.commit.sha, subject=known.commit.subject)


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
        **cause._asdict(),
    )


def next_step(verdict: str, doc_id: str) -> str:
    """What to do about a document with changed or missing code."""
    if verdict == MISSING:
        return (
            f"Anchor other code with `thunderus-mem anchor {doc_id} PLACE` and remove the anchor with "
            "--remove; if the text is no longer true, edit or supersede it"
        )
    return f"If it is still true, run `thunderus-mem verify {doc_id}`; otherwise edit or supersede it"


_RULES = {CHANGED: "TM701", MISSING: "TM702"}
ANCHOR_RULES = tuple(_RULES.values())
"""The rules of `lint` for changed and missing code."""


def diagnostics(memory: Memory, report: CheckReport) -> list[Diagnostic]:
    """The findings as diagnostics of lint, located at the anchors, with the configured severities."""
    return [one for _, one in _diagnosed(memory, report)]


def at_changed_code(memory: Memory, report: CheckReport) -> list[tuple[Diagnostic, Diagnostic]]:
    """Each diagnostic at the changed code if it exists, and the one at the anchor (the same one if not)."""
    top = memory.git.prefix if memory.git is not None else ""
    return [(_at_code(one, given, top), given) for one, given in _diagnosed(memory, report)]


def _at_code(one: CodeFinding, given: Diagnostic, top: str) -> Diagnostic:
    if not one.file_line:
        return given
    document = f"{one.title!r} ({top}{one.path}:{one.line})"
    message = f"{document} may be out of date: {_message(one._replace(hunk=''))}"
    return given._replace(path=one.file, line=one.file_line, message=message, expected="")


def _diagnosed(memory: Memory, report: CheckReport) -> list[tuple[CodeFinding, Diagnostic]]:
    given = lint_config(memory).severities
    kept: list[CodeFinding] = []
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
            expected="text that matches the code",
            hint=next_step(one.verdict, one.doc_id),
            severity=weight,
        )
        # The fingerprint is made from the anchor instead of the line's text, which may change.
        found += fingerprinted([diagnostic._replace(doc_id=one.doc_id)], partial(_anchored_place, one))
        kept.append(one)
    return list(zip(kept, distinct(found), strict=True))


def _anchored_place(one: CodeFinding, _line: int) -> str:
    return one.place


def _message(one: CodeFinding) -> str:
    message = f"{one.place}: {one.reason}"
    if one.hunk:
        message += f" ({one.file} {one.hunk})"
    elif one.commit:
        message += f" (since {one.commit[:12]}, {one.subject})"
    return message


def check_staged(memory: Memory) -> CheckReport:
    """Find the documents affected by the staged changes, in the index that git passes to hooks."""
    memory.refresh()
    git = look_for_git(memory.root, memory.environ, honour_index=True)[0]
    if git is None:
        raise _no_git(memory)
    patch = patch_between(git, "", ":")
    if patch is None:
        raise NotFound(f"cannot read the staged changes from git: {git.reason}")
    with ObjectReader(git) as reader:
        trees = code.CommitTree(git, reader, "HEAD"), code.CommitTree(git, reader, ":")
        past = code.CodePast(git, reader, "HEAD")
        return _check_change(memory, CodeChange(*trees, _diffs(patch), past))


def check_since(memory: Memory, revision: str) -> CheckReport:
    """Find the documents affected by the changes since the merge base of HEAD and ``revision``."""
    memory.refresh()
    git = memory.git
    if git is None:
        raise _no_git(memory)
    base = base_to_compare(git, revision)
    patch = patch_between(git, base)
    if patch is None:
        raise NotFound(f"cannot read the changes since {revision!r} from git: {git.reason}")
    with ObjectReader(git) as reader:
        trees = code.CommitTree(git, reader, base), code.WorkingTree(memory.root, git)
        return _check_change(memory, CodeChange(*trees, _diffs(patch), code.CodePast(git, reader, base)))


def check_diff(memory: Memory, text: str) -> CheckReport:
    """Find the documents affected by a unified diff, applied to the working tree or not.

    Raises `InvalidQuery` for a text that is not a diff, or that does not apply to the files.
    """
    memory.refresh()
    diffs = parse_diff(text)
    if not diffs:
        raise InvalidQuery("not a unified diff", hint="use the output of `git diff`")
    tree = code.WorkingTree(memory.root, memory.git)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for diff in diffs:
        was, now = _versions(tree, diff)
        # Each version goes to its own path in the diff; a moved file is missing at the other path.
        if diff.old_path:
            before[diff.old_path] = was.encode("utf-8", "surrogateescape")
            after.setdefault(diff.old_path, None)
        if diff.new_path:
            after[diff.new_path] = now.encode("utf-8", "surrogateescape")
            if diff.new_path != diff.old_path:
                before.setdefault(diff.new_path, None)
    trees = code.PatchedTree(tree, before), code.PatchedTree(tree, after)
    with Judge(memory) as judge:
        return _check_change(memory, CodeChange(*trees, diffs, judge.past))


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
    raise InvalidQuery(
        f"the diff does not apply to {name}", hint="create it again, or check out its base commit"
    )


def _check_change(memory: Memory, change: CodeChange) -> CheckReport:
    """Find the documents affected by a change, by its hunks, and those in it whose code had changed before.

    The index must be fresh.
    """
    inside = {(one.doc_id, one.place): one for one in change.in_documents()}
    known = {(one.doc_id, one.place): one for one in change.candidates(memory.index, memory.root)} | inside
    anchors = [known[key] for key in sorted(known)]
    findings, unknown = [], []
    for one in anchors:
        effect = change.effect(one.anchor, one.since)
        if effect is None and (one.doc_id, one.place) in inside:
            effect = change.earlier(one.anchor, one.since)
        if effect is not None and effect.verdict.status == UNKNOWN:
            unknown.append(Unknown(one.doc_id, one.anchor.place, effect.verdict.reason))
        elif effect is not None:
            findings.append(_finding(memory, one, effect.verdict, _cause_of(effect)))
    documents = len({one.doc_id for one in anchors})
    return CheckReport(tuple(findings), tuple(unknown), documents, len(anchors))


def _cause_of(effect: Effect) -> _Cause:
    cause = _Cause(effect.file, file_line=effect.line)
    if effect.hunk is None:
        return cause
    return cause._replace(hunk=effect.hunk.header, diff="".join(f"{line}\n" for line in effect.hunk.lines))


def _no_git(memory: Memory) -> NotFound:
    message, hint = "not in a git repository", "use --diff, or check all documents: run it without an option"
    return no_repository(memory.root, memory.environ, message=message, hint=hint)


def _diffs(patch: bytes) -> Sequence[FileDiff]:
    return parse_diff(patch.decode("utf-8", "surrogateescape"))
