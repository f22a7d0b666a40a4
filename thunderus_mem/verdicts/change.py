"""What a change does to anchors: a diff, with the trees before and after it.

An anchor is followed to where its code is before the change, through all earlier commits, and judged from
there. Code that did not match before the change is not affected by it; it is judged only for the documents
that the change contains. Reads code files and git; writes nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.document import read_document
from thunderus_mem.document.paths import fits, is_archived
from thunderus_mem.fingerprint.source import NO_SHAPE, parse_fingerprint, same_measure
from thunderus_mem.index.questions import Anchored
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import kind_of
from thunderus_mem.verdicts import code
from thunderus_mem.verdicts.evaluate import SMALL, evaluate
from thunderus_mem.verdicts.verdict import MOVED, UNKNOWN, VERIFIED, NoHistory, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.document.diff import FileDiff, Hunk
    from thunderus_mem.fingerprint.source import CodeSource, Named
    from thunderus_mem.index.questions import Index
    from thunderus_mem.verdicts.verdict import AnchorHistory, Tree


class Effect(NamedTuple):
    """The verdict on an anchor after a change, and its cause: a file and the first hunk that touches the
    code, ``None`` if the file was added or deleted without lines. ``line`` is the first changed line of the
    file, 0 if it was deleted."""

    verdict: Verdict
    file: str
    hunk: Hunk | None
    line: int = 0


class CodeChange:
    """A diff with the trees before and after it; serves as the history of the anchors it is asked about.

    ``past`` is the history up to the tree before, ``None`` outside git.
    """

    def __init__(
        self, before: Tree, after: Tree, diffs: Sequence[FileDiff], past: code.CodePast | None
    ) -> None:
        self._before = before
        self._after = after
        self._past = past
        self._diffs = tuple(diffs)
        self._by_old = {diff.old_path: diff for diff in diffs if diff.old_path}
        self._by_new = {diff.new_path: diff for diff in diffs if diff.new_path}
        self._paths = frozenset(self._by_old) | frozenset(self._by_new)

    def renamed(self, path: str) -> str | None:
        """The new path of a renamed file, or ``None``."""
        diff = self._by_old.get(path)
        return diff.new_path if diff is not None and diff.new_path and diff.new_path != path else None

    def touched(self) -> Sequence[str]:
        """The added and changed files, sorted."""
        return sorted(self._by_new)

    def is_cut(self) -> bool:
        """Whether the history is incomplete; a diff never is."""
        return False

    def before(self, path: str) -> CodeSource | None:
        """A file before the change."""
        diff = self._by_new.get(path)
        return self._before.source(path) if diff is None or diff.old_path == path else None

    def candidates(self, index: Index, root: str) -> list[Anchored]:
        """The anchors it may affect, by document and in their order: those at changed files, those whose file
        is no longer below ``root``, and those on code that is now in a changed file."""

        def is_gone(path: str) -> bool:
            return not os.path.lexists(os.path.join(root, path))

        gone = filter(is_gone, index.anchored_files())
        found = {one for one in index.anchors_at({*self._paths, *gone}) if self._concerns(one.anchor)}
        hashes, shapes = self._changed_code()
        for one in index.anchors_with(hashes | shapes):
            wanted = parse_fingerprint(one.anchor.fingerprint)
            # Under another name, small bodies are followed only out of a missing file.
            if wanted and (wanted.hash in hashes or wanted.size >= SMALL or is_gone(one.anchor.path)):
                found.add(one)
        return sorted(found, key=lambda one: (one.doc_id, one.place))

    def in_documents(self) -> Iterator[Anchored]:
        """The anchors of the documents that it adds or changes, as they are after it."""
        for path in sorted(self._by_new):
            source = self._after.source(path) if kind_of(path) and not is_archived(path) else None
            data = source.text.encode("utf-8", "surrogateescape") if source is not None else b""
            document = read_document(path, data).document if data else None
            if document is not None:
                since = document.last_verified_commit or ""
                for place, one in enumerate(anchors_in(document.header, document.header_line)):
                    yield Anchored(document.id, place, one.anchor, one.line, since)

    def _concerns(self, anchor: Anchor) -> bool:
        if anchor.is_glob:
            return any(fits(anchor.path, path) for path in self._paths)
        return anchor.path in self._paths or not anchor.symbol

    def _changed_code(self) -> tuple[set[str], set[str]]:
        """The hashes of the definitions that the diff touches, as they were before it, with and without
        their names."""
        found = [one.fingerprint for one in self._touched_definitions()]
        return {one.hash for one in found}, {one.shape for one in found} - {NO_SHAPE}

    def _touched_definitions(self) -> Iterator[Named]:
        for path, diff in self._by_old.items():
            source = self._before.source(path) if diff.hunks and not path.startswith(".thunderus/") else None
            for named in source.places() if source is not None and not source.trouble else ():
                if any(hunk.touches_old(*span) for span in named.spans for hunk in diff.hunks):
                    yield named

    def effect(self, anchor: Anchor, since: str) -> Effect | None:
        """The effect on an anchor that was verified at the commit ``since``; ``None`` if its code still
        matches, is unknown, or did not match before. The verdict is unknown if a shallow clone does not show
        where the code was before."""
        if _is_in_place(anchor, self._after):
            return None
        history = self._history(anchor, since)
        before = self._verdict_before(anchor, history)
        if before.status == UNKNOWN and history.is_cut():
            return Effect(before, anchor.path, None)
        here = before.found if before.status in (VERIFIED, MOVED) else None
        verdict = evaluate(here, self._after, self) if here is not None else None
        if here is None or verdict is None or not verdict.is_stale:
            return None
        verdict = verdict._replace(anchor=anchor)
        for diff, hunk in self._hunks(here, verdict.found):
            file, line = (diff.new_path, hunk.first_changed) if diff.new_path else (diff.old_path, 0)
            return Effect(verdict, file, hunk, line)
        return Effect(verdict, (verdict.found or here).path, None)

    def earlier(self, anchor: Anchor, since: str) -> Effect | None:
        """The effect of earlier changes on an anchor: its code matches neither before nor after this one."""
        if _is_in_place(anchor, self._after):
            return None
        verdict = self._verdict_before(anchor, self._history(anchor, since))
        if not verdict.is_stale or not evaluate(anchor, self._after, self).is_stale:
            return None
        return Effect(verdict, (verdict.found or anchor).path, None)

    def _verdict_before(self, anchor: Anchor, history: AnchorHistory) -> Verdict:
        if _is_in_place(anchor, self._before):
            return Verdict(VERIFIED, anchor, anchor)
        return evaluate(anchor, self._before, history)

    def _history(self, anchor: Anchor, since: str) -> AnchorHistory:
        if self._past is None:
            return NoHistory()
        return _Earlier(self._past.of(anchor, since), self._by_new)

    def _hunks(self, was: Anchor, now: Anchor | None) -> Iterator[tuple[FileDiff, Hunk]]:
        """The hunks inside the anchored code, before or after the change, each with its file."""
        if was.is_glob:
            files = [one for one in self._diffs if self._fits(was, one)]
            yield from ((one, hunk) for one in files for hunk in one.hunks)
            return
        diff = self._by_old.get(was.path) or (self._by_new.get(now.path) if now is not None else None)
        if diff is None:
            return
        old = code.spans_of(was, self._before.source(diff.old_path) if diff.old_path else None)
        new = (
            code.spans_of(now, self._after.source(diff.new_path)) if now is not None and diff.new_path else []
        )
        for hunk in diff.hunks:
            if any(hunk.touches_old(*span) for span in old) or any(hunk.touches_new(*span) for span in new):
                yield diff, hunk

    @staticmethod
    def _fits(anchor: Anchor, diff: FileDiff) -> bool:
        return any(fits(anchor.path, path) for path in (diff.old_path, diff.new_path) if path)


class _Earlier:
    """The history of an anchor with a diff taken back, which may be part of it: a diff that is applied
    already."""

    def __init__(self, history: AnchorHistory, by_new: dict[str, FileDiff]) -> None:
        self._history = history
        self._by_new = by_new

    def _back(self, path: str) -> str:
        diff = self._by_new.get(path)
        return diff.old_path if diff is not None and diff.old_path else path

    def renamed(self, path: str) -> str | None:
        """The path to which a missing file was renamed before the diff."""
        found = self._history.renamed(path)
        return self._back(found) if found is not None else None

    def touched(self) -> Sequence[str] | None:
        """Files that are new or changed since, sorted."""
        found = self._history.touched()
        return None if found is None else sorted({self._back(path) for path in found})

    def before(self, path: str) -> CodeSource | None:
        """The file when the anchor was made."""
        return self._history.before(path)

    def is_cut(self) -> bool:
        """Whether part of the history is not available."""
        return self._history.is_cut()


def _is_in_place(anchor: Anchor, tree: Tree) -> bool:
    """Whether the anchored code is at the anchor's own place. Reads no history."""
    if anchor.is_glob:
        return evaluate(anchor, tree, NoHistory()).status == VERIFIED
    wanted = parse_fingerprint(anchor.fingerprint)
    found = code.measured(anchor, tree.source(anchor.path))
    if wanted is None:
        return bool(found)
    return any(one.hash == wanted.hash and same_measure(one, wanted) for one in found)
