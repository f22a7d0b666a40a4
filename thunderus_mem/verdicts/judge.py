"""Verdicts for all commands: computed now, or read from the cache where nothing they depend on has changed.

The verdict of one anchor, and the search for moved code, are in `evaluate`. Reads code files and git;
writes no tracked file, only the cache ``indexes/verdicts.json``.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import Anchor, anchors_in, parse_lines
from thunderus_mem.document.paths import matching
from thunderus_mem.fingerprint import definitions, languages
from thunderus_mem.fingerprint.selectors import leaf_of
from thunderus_mem.fingerprint.source import parse_fingerprint
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.index.caches import VerdictCache
from thunderus_mem.index.questions import Anchored
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.parallel import spread
from thunderus_mem.verdicts import code
from thunderus_mem.verdicts.evaluate import evaluate, is_repeated
from thunderus_mem.verdicts.verdict import MOVED, RULES, VERIFIED, NoHistory, Verdict, status_of, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

    from thunderus_mem.document.document import Document
    from thunderus_mem.index.scan import Stamp
    from thunderus_mem.memory.memory import Memory

_MANY: Final = 300
"""Number of anchors from which starting processes pays off."""


class Judged(NamedTuple):
    """An anchor of a document, with its verdict."""

    anchored: Anchored
    verdict: Verdict

    @property
    def doc_id(self) -> str:
        """The id of the anchor's document."""
        return self.anchored.doc_id

    @property
    def now(self) -> str:
        """Where the code is now; "" when it was not found."""
        return self.verdict.found.place if self.verdict.found is not None else ""


class CodeState(NamedTuple):
    """The state of an anchor's code: the anchor's ``place`` and ``line`` in the document, the ``verdict``
    (verified, moved, changed, missing, unknown), a reason, where the code is ``now``, and its
    ``fingerprints``, as verified and as it is."""

    place: str
    line: int
    verdict: str
    reason: str
    now: str
    fingerprints: tuple[str, str] = ("", "")


class Judge:
    """Judges anchors against the working tree. Opens files and git only as needed for a verdict.

    Use it as a context manager: leaving it saves the cache and ends git.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._folder = code.CodeFolder(memory.root)

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cache = self.__dict__.get("_cache")
        if cache is not None:
            cache.save()
        reader = self.__dict__.get("reader")
        if reader is not None:
            reader.close()

    @cached_property
    def _cache(self) -> VerdictCache:
        return VerdictCache(self._memory.layout.verdicts_file, f"{definitions.GRAMMAR}/{RULES}")

    @cached_property
    def tree(self) -> code.WorkingTree:
        """The files on disk."""
        return code.WorkingTree(self._memory.root, self._memory.git)

    @cached_property
    def reader(self) -> ObjectReader | None:
        """Reads git objects; ``None`` outside git."""
        return ObjectReader(self._memory.git) if self._memory.git is not None else None

    @cached_property
    def past(self) -> code.CodePast | None:
        """The history in git; ``None`` outside git."""
        if self._memory.git is None or self.reader is None:
            return None
        return code.CodePast(self._memory.git, self.reader)

    def all(self, anchors: Iterable[Anchored]) -> list[Judged]:
        """The verdicts on anchors, in their order."""
        asked = list(anchors)
        found = {one: self._recalled(one) for one in asked}
        fresh = [one for one, verdict in found.items() if verdict is None]
        if len(fresh) >= _MANY:
            found |= self._in_processes(fresh)
            fresh = [one for one in fresh if found[one] is None]
        if len(fresh) > 1:
            self._look_ahead(fresh)
        return [Judged(one, found[one] or self.fresh(one)) for one in asked]

    def _in_processes(self, fresh: list[Anchored]) -> dict[Anchored, Verdict | None]:
        """Judge in several processes the anchors whose code is in its place, each file read by one
        process."""
        fresh.sort(key=lambda one: one.anchor.path)
        stamps = [self._folder.stamp(one.anchor.path) for one in fresh]
        answers = spread(fresh, self._in_place)
        found: dict[Anchored, Verdict | None] = {}
        for one, stamp, packed in zip(fresh, stamps, answers, strict=True):
            verdict = _unpacked(one.anchor, packed) if packed is not None else None
            if verdict is not None:
                self._cache.learn(_key(one), [one.anchor.path], [stamp], packed)
            found[one] = verdict
        return found

    def _in_place(self, anchors: Sequence[Anchored]) -> list[list[object] | None]:
        """Packed verdicts of anchors whose code is unchanged in its place; ``None`` for the others."""
        found: list[list[object] | None] = []
        tree = code.WorkingTree(self._memory.root, None)
        path = ""
        for one in anchors:
            if one.anchor.path != path:
                path, tree = one.anchor.path, code.WorkingTree(self._memory.root, None)
            weak = one.anchor.is_glob or not one.anchor.fingerprint or tree.source(path) is None
            verdict = (
                None if weak or not _is_there(one.anchor, tree) else evaluate(one.anchor, tree, NoHistory())
            )
            verified = verdict is not None and verdict.status == VERIFIED
            found.append(_packed(verdict) if verified and verdict is not None else None)
        return found

    def _look_ahead(self, fresh: Sequence[Anchored]) -> None:
        """Search the files once for the names of all symbols that are no longer in their place."""
        missing = {leaf_of(one.anchor.symbol) for one in fresh if self._is_missing(one.anchor)}
        if len(missing) > 1:
            self.tree.expect(missing)

    def _is_missing(self, anchor: Anchor) -> bool:
        if not anchor.symbol or not anchor.fingerprint:
            return False
        source = self.tree.source(anchor.path)
        return source is None or (not source.trouble and source.named(anchor.symbol) is None)

    def of(self, document: Document) -> list[CodeState]:
        """The state of each anchor in a document's text, for the rules of `lint`."""
        since = document.last_verified_commit or ""
        cited = anchors_in(document.header, document.header_line)
        judged = self.all(
            Anchored(document.id, place, one.anchor, one.line, since) for place, one in enumerate(cited)
        )
        return [
            CodeState(
                one.verdict.anchor.place,
                one.anchored.line,
                one.verdict.status,
                one.verdict.reason,
                one.now,
                (one.anchored.anchor.fingerprint, one.verdict.found.fingerprint if one.verdict.found else ""),
            )
            for one in judged
        ]

    def fresh(self, one: Anchored) -> Verdict:
        """The verdict on an anchor, computed now."""
        history = self.past.of(one.anchor, one.since) if self.past is not None else NoHistory()
        if one.anchor.is_glob:
            files, stamps = self._matched(one.anchor)
            verdict = evaluate(one.anchor, self.tree, history)
            self._cache.learn(_key(one, files), files, stamps, _packed(verdict))
            return verdict
        files = [one.anchor.path]
        stamps = [self._folder.stamp(path) for path in files]
        verdict = evaluate(one.anchor, self.tree, history)
        if verdict.status == MOVED and verdict.found is not None and verdict.found.path not in files:
            files.append(verdict.found.path)
            # The file was read before this stamp; a change in between makes the stamp racy.
            stamps.append(self._folder.stamp(verdict.found.path))
        elif verdict.others or stamps == [None]:
            return verdict
        self._cache.learn(_key(one), files, stamps, _packed(verdict))
        return verdict

    def _matched(self, anchor: Anchor) -> tuple[list[str], list[Stamp | None]]:
        """The files that match a pattern, with their stamps."""
        files = matching(anchor.path, self.tree.paths())
        return files, [self._folder.stamp(path) for path in files]

    def _recalled(self, one: Anchored) -> Verdict | None:
        files = self._matched(one.anchor)[0] if one.anchor.is_glob else ()
        values = self._cache.recall(_key(one, files), self._folder.stamp)
        return _unpacked(one.anchor, values) if values is not None else None


def _is_there(anchor: Anchor, tree: code.WorkingTree) -> bool:
    """Whether there is code at the anchor's location, so that no search is needed to judge it."""
    source = tree.source(anchor.path)
    if source is None:
        return False
    if anchor.lines is not None:
        return not is_repeated(anchor.lines, source)
    return not anchor.symbol or bool(source.trouble or source.named(anchor.symbol))


def _key(one: Anchored, files: Sequence[str] = ()) -> str:
    """The cache key of a verdict: everything it depends on except the content of files."""
    anchor = one.anchor
    rules = languages.versions() if anchor.is_glob else str(languages.version_of(anchor.scheme))
    text = "\0".join((anchor.place, anchor.fingerprint, rules, one.since, *files))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _packed(verdict: Verdict) -> list[object]:
    found = verdict.found.item if verdict.found is not None else None
    return [verdict.status, found, verdict.reason, verdict.by, verdict.note]


def _unpacked(anchor: Anchor, values: Sequence[object]) -> Verdict | None:
    try:
        status, item, reason, by, note = values
        found = None
        if isinstance(item, dict):
            lines = parse_lines(item.get("lines", ""))
            found = Anchor(item["path"], item.get("symbol", ""), lines, item.get("fingerprint", ""))
            here = parse_fingerprint(found.fingerprint)
            if here is not None and here.rules != languages.version_of(here.scheme):
                return None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return Verdict(str(status), anchor, found, str(reason), str(by), str(note))


def by_document(judged: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Verdicts by document, each in the order of its anchors."""
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.doc_id, []).append(one)
    return found


def code_statuses(memory: Memory, doc_ids: Sequence[str] | None = None) -> Mapping[str, str]:
    """The status by verdicts of the given documents (``None``: of all): verified, stale or unknown, by id.

    The index must be fresh. Documents without an anchor are not included: only their file has a status.
    """
    anchors = memory.index.anchors(doc_ids)
    if not anchors:
        return {}
    with Judge(memory) as judge:
        judged = by_document(judge.all(anchors))
    return {doc_id: status_of(worst(one.verdict for one in ones)) for doc_id, ones in judged.items()}
