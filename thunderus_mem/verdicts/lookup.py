"""``for``: the documents for a place in the code, with their verdicts; ``coverage``: the code that has
documents.

The most specific document comes first. Names are usually enough to relate an anchor to the place; a file is
parsed only to relate a symbol to lines, or symbols whose names do not settle it. Reads the index, and code
through `judge`; writes nothing except its cache.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import Anchor, split_place
from thunderus_mem.document.paths import fits, is_code, matching
from thunderus_mem.document.references import cited_paths
from thunderus_mem.errors import InvalidQuery, ThunderusError
from thunderus_mem.fingerprint import languages
from thunderus_mem.fingerprint.selectors import dotted, split_selector
from thunderus_mem.index import questions
from thunderus_mem.memory.locate import read_row
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.verdicts.judge import Judge
from thunderus_mem.verdicts.verdict import MOVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.fingerprint.source import CodeSource
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.code import WorkingTree
    from thunderus_mem.verdicts.judge import Judged
    from thunderus_mem.verdicts.verdict import Verdict

SAME: Final = "same"
AROUND: Final = "around"
INSIDE: Final = "inside"
OVERLAPS: Final = "overlaps"
NEARBY: Final = "nearby"
FILE: Final = "file"
FOLDER: Final = "folder"
MENTIONS: Final = "mentions"
_RANK: Final = {SAME: 0, AROUND: 1, INSIDE: 1, OVERLAPS: 2, NEARBY: 3, FILE: 4, FOLDER: 5, MENTIONS: 6}


class AnchorRelation(NamedTuple):
    """``how`` an anchor relates to the place, and its ``distance``: smaller is closer.

    same: the same place; around, inside: code that encloses the place, or that it encloses; overlaps: lines
    in common; nearby: somewhere in the same file; file: the whole file; folder: a folder or a pattern that
    matches the file.
    """

    how: str
    distance: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """A sort key, most specific first."""
        return _RANK[self.how], self.distance


def relate(asked: Anchor, anchor: Anchor, read: Callable[[], CodeSource | None]) -> AnchorRelation | None:
    """How an anchor relates to a place; ``None`` when it is about other code.

    ``asked`` is in a file, or is a folder by a path that ends in ``/`` ("" for everything). ``read`` returns
    the file that both are in; it is called only when names are not enough.
    """
    if not asked.path or asked.path.endswith("/"):
        return _below(asked.path, anchor)
    if anchor.is_glob:
        return AnchorRelation(FOLDER, -len(anchor.path)) if fits(anchor.path, asked.path) else None
    if anchor.path != asked.path:
        return None
    if anchor.is_weak:
        return AnchorRelation(FILE)
    if asked.is_weak:
        return AnchorRelation(INSIDE, 0 if anchor.symbol else 1)
    if asked.lines is not None and anchor.lines is not None:
        return _of_lines(asked.lines, anchor.lines)
    if asked.symbol and anchor.symbol:
        relation = _of_symbols(asked.symbol, anchor.symbol)
        if relation is not None:
            return relation
    return _of_code(asked, anchor, read())


def _below(folder: str, anchor: Anchor) -> AnchorRelation | None:
    if not anchor.path.startswith(folder):
        return AnchorRelation(FOLDER, -len(anchor.path)) if fits(anchor.path, f"{folder}x") else None
    if anchor.is_glob:
        return AnchorRelation(FOLDER, -len(anchor.path))
    return AnchorRelation(FILE if anchor.is_weak else INSIDE)


def _of_symbols(asked: str, anchored: str) -> AnchorRelation | None:
    """The relation by two symbols alone; ``None`` when only the code shows it."""
    one, other = split_selector(asked), split_selector(anchored)
    if (one.parameters, one.nth) == (other.parameters, other.nth):
        return _of_names(dotted(one.name), dotted(other.name))
    relation = _of_names(dotted(one.name), dotted(other.name))
    if relation is None or relation.how != SAME or not (one.is_plain or other.is_plain):
        return None
    return AnchorRelation(INSIDE if one.is_plain else AROUND)


def _of_names(asked: str, anchored: str) -> AnchorRelation | None:
    """The relation by two names alone: one may omit classes that the other has."""
    if asked == anchored or asked.endswith(f".{anchored}") or anchored.endswith(f".{asked}"):
        return AnchorRelation(SAME)
    if asked.startswith(f"{anchored}."):
        return AnchorRelation(AROUND, asked.count(".") - anchored.count("."))
    if anchored.startswith(f"{asked}."):
        return AnchorRelation(INSIDE, anchored.count(".") - asked.count("."))
    return None


def _of_lines(asked: tuple[int, int], anchored: tuple[int, int]) -> AnchorRelation | None:
    if asked == anchored:
        return AnchorRelation(SAME)
    return AnchorRelation(OVERLAPS, anchored[1] - anchored[0]) if _meet(asked, anchored) else None


def _of_code(asked: Anchor, anchor: Anchor, source: CodeSource | None) -> AnchorRelation | None:
    if source is None or source.trouble or not source.language:
        # Two symbols have different names. Whether lines and a symbol overlap is unknown.
        return None if asked.symbol and anchor.symbol else AnchorRelation(NEARBY)
    places = [_closest(one, other) for one in _spans(asked, source) for other in _spans(anchor, source)]
    return min((found for found in places if found is not None), key=lambda found: found.rank, default=None)


def _spans(anchor: Anchor, source: CodeSource) -> list[tuple[int, int]]:
    if anchor.lines is not None:
        return [anchor.lines]
    return [span for named in source.meanings(anchor.symbol) for span in named.spans]


def _closest(asked: tuple[int, int], anchored: tuple[int, int]) -> AnchorRelation | None:
    distance = abs((anchored[1] - anchored[0]) - (asked[1] - asked[0]))
    if asked == anchored:
        return AnchorRelation(AROUND)
    if anchored[0] <= asked[0] and asked[1] <= anchored[1]:
        return AnchorRelation(AROUND, distance)
    if asked[0] <= anchored[0] and anchored[1] <= asked[1]:
        return AnchorRelation(INSIDE, distance)
    return AnchorRelation(OVERLAPS, distance) if _meet(asked, anchored) else None


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def place_in_code(memory: Memory, given: str, start: str) -> tuple[Anchor, bool]:
    """Parse ``PATH``, ``PATH#SYMBOL`` or ``PATH:10-20``; return it with its path relative to the root, and
    whether that path exists. A folder ends in ``/``; the root is "".

    The path may be absolute, or relative to the folder ``start`` or to the root. Raises `InvalidQuery` for a
    path outside the repository, `InvalidDocument` for an invalid place.
    """
    if not _is_text(given):
        raise InvalidQuery("the path is not valid UTF-8")
    whole = Anchor(given)
    wanted = whole if _is_there(memory, given, start) else split_place(given)
    if not wanted.path:
        raise InvalidQuery(f"no path in {given!r}", hint="use PATH, PATH#SYMBOL or PATH:10-20")
    choices = _from_root(memory, wanted.path, start)
    if not choices:
        raise InvalidQuery(
            f"{wanted.path!r} is outside the repository",
            hint=f"give a path below {memory.root}",
        )
    there = next((path for path in choices if os.path.lexists(os.path.join(memory.root, path))), None)
    path = there
    if path is None:
        # The file no longer exists: take the path that some document is anchored to.
        path = next((path for path in choices if _is_known(memory, path)), choices[0])
    folder = os.path.isdir(os.path.join(memory.root, path)) or (there is None and wanted.path.endswith("/"))
    if folder:
        if not wanted.is_weak:
            raise InvalidQuery(f"{wanted.path!r} is a folder; it has no symbols or lines")
        path = "" if path == "." else f"{path}/"
    return wanted._replace(path=path), there is not None


def _is_known(memory: Memory, path: str) -> bool:
    return any(one.anchor.path == path for one in memory.index.anchors_at([path]))


def _is_there(memory: Memory, given: str, start: str) -> bool:
    return any(os.path.lexists(os.path.join(base, given)) for base in (start, memory.root))


def _from_root(memory: Memory, given: str, start: str) -> list[str]:
    """The root-relative paths that a path may mean: relative to ``start``, or to the root."""
    found: list[str] = []
    root = os.path.realpath(memory.root)
    for base in (start, memory.root):
        absolute = os.path.normpath(os.path.join(os.path.abspath(base), given))
        folder, name = os.path.split(absolute)
        real = os.path.join(os.path.realpath(folder), name)
        relative = os.path.relpath(real, root).replace(os.sep, "/")
        if relative != ".." and not relative.startswith("../") and relative not in found:
            found.append(relative)
    return found


def _is_text(given: str) -> bool:
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in given


FEW: Final = 5
"""With fewer anchored documents than this, documents that only mention the file are shown too."""
_MOST_READ: Final = 100
_WORD: Final = lazy_pattern(r"\w+")


class Governing(NamedTuple):
    """A document for the code, by one of its anchors, or one that only mentions the file.

    ``how`` is the relation of the anchor to the code: same, around, inside, overlaps, nearby, file, folder,
    or mentions. ``line`` is the line of the anchor or mention in the document (at ``path``), ``place`` the
    anchor or path as written there, ``now`` where moved code is now. ``verdict`` and ``reason`` are computed
    now, "" without an anchor; ``status`` is the value in the document, ``state`` that of a decision.
    """

    id: str
    title: str
    kind: str
    how: str
    place: str
    verdict: str
    reason: str
    now: str
    status: str
    superseded_by: str
    path: str
    line: int
    state: str = ""


class Governed(NamedTuple):
    """The documents for a place. ``exists``: whether the file or folder exists; ``mentions``: the number of
    documents that mention the file and are not shown."""

    place: str
    exists: bool
    documents: tuple[Governing, ...]
    mentions: int = 0


def governing(
    memory: Memory, place: str, *, mentions: bool | None = None, start: str = os.curdir
) -> Governed:
    """List the documents for ``PATH``, ``PATH#SYMBOL`` or ``PATH:10-20``.

    The path may be absolute, or relative to the folder ``start`` or to the root, and need not exist.
    ``mentions`` includes or omits documents whose text mentions the file; by default they are included where
    few documents are anchored.

    Raises `InvalidQuery` for a path outside the repository, `InvalidDocument` for an invalid place.
    """
    memory.refresh()
    asked, exists = place_in_code(memory, place, start)
    folder = not asked.path or asked.path.endswith("/")
    anchors = memory.index.anchors_below(asked.path) if folder else memory.index.anchors_at([asked.path])
    near = [one for one in anchors if relate(asked._replace(symbol="", lines=None), one.anchor, _nothing)]
    with Judge(memory) as judge:
        judged = _related(judge, asked, near)
        found = [_governing(memory, one, relation) for one, relation in judged]
        known = {one.id for one in found}
        cited: list[Governing] = []
        if not folder and asked.path:
            cited = [one for one in _citing(memory, asked.path, lambda: judge.tree) if one.id not in known]
    shown = mentions if mentions is not None else len(known) < FEW
    more = 0 if shown else len(cited)
    return Governed(asked.place or ".", exists, (*found, *(cited if shown else ())), more)


def _nothing() -> None:
    return None


def _related(
    judge: Judge, asked: Anchor, near: list[questions.Anchored]
) -> list[tuple[Judged, AnchorRelation]]:
    """The verdicts on the anchors that relate to a place, most specific first."""
    read: Callable[[], CodeSource | None] = partial(_source, judge, asked.path)
    found = []
    for one in judge.all(near):
        anchor, current = one.anchored.anchor, one.verdict.found
        relations = [relate(asked, anchor, read)]
        if one.verdict.status == MOVED and current is not None:
            relations.append(relate(asked, current, read))
        closest = min((relation for relation in relations if relation is not None), key=_rank, default=None)
        if closest is not None:
            found.append((one, closest))
    return sorted(found, key=lambda pair: (pair[1].rank, pair[0].doc_id, pair[0].anchored.place))


def _source(judge: Judge, path: str) -> CodeSource | None:
    return judge.tree.source(path)


def _rank(relation: AnchorRelation) -> tuple[int, int]:
    return relation.rank


def _governing(memory: Memory, one: Judged, relation: AnchorRelation) -> Governing:
    row = memory.index.get(one.doc_id)
    found, anchor = one.verdict.found, one.anchored.anchor
    moved = one.verdict.status == MOVED and found is not None
    by = memory.index.superseded_by([one.doc_id]).get(one.doc_id, "")
    return Governing(
        id=one.doc_id,
        title=row.title if row is not None else "",
        kind=row.kind if row is not None else "",
        how=relation.how,
        place=anchor.place,
        verdict=one.verdict.status,
        reason=one.verdict.reason,
        now=found.place if moved and found is not None else "",
        status=row.status if row is not None else "",
        superseded_by=by,
        path=row.path if row is not None else "",
        line=one.anchored.line,
        state="superseded" if by else row.state if row is not None else "",
    )


def _citing(memory: Memory, path: str, tree: Callable[[], WorkingTree]) -> Iterator[Governing]:
    """Documents whose text mentions the file in a code span or links to it, by id."""
    words = _WORD.findall(path.rpartition("/")[2])
    ids = memory.index.nearest([" ".join(words)], _MOST_READ) if words else []
    for id in sorted(ids):
        row = memory.index.get(id)
        cited = _citation(memory, row, path, tree) if row is not None else None
        if row is not None and cited is not None:
            by = memory.index.superseded_by([id]).get(id, "")
            yield Governing(
                id, row.title, row.kind, MENTIONS, cited[0], "", "", "", row.status, by, row.path, cited[1],
                "superseded" if by else row.state,
            )  # fmt: skip


def _citation(
    memory: Memory, row: questions.DocRow, path: str, tree: Callable[[], WorkingTree]
) -> tuple[str, int] | None:
    """The path as a document writes it, and the line in the document's file."""
    try:
        document = read_row(memory, row)
    except ThunderusError:  # deleted or unreadable since the index was read
        return None
    if document is None:
        return None
    for cited in cited_paths(document.body):
        folder = document.path.rpartition("/")[0] if cited.relative else ""
        named = os.path.normpath(f"{folder}/{cited.path}" if folder else cited.path)
        line = document.body_line + cited.line - 1
        if named == path:
            return cited.path, line
        if not cited.relative and path.endswith(f"/{named}") and _is_only(named, tree()):
            return cited.path, line
    return None


def _is_only(named: str, tree: WorkingTree) -> bool:
    """Whether the end of a path is unambiguous."""
    return sum(path == named or path.endswith(f"/{named}") for path in tree.paths()) <= 1


# Coverage: code with documents, and documents with no code or too much of it.

ABOUT_CODE: Final = ("fact", "adr", "playbook")
"""Kinds whose claims a code change can make wrong; a recap is about the past."""


class FolderCoverage(NamedTuple):
    """A folder ("." for the root). At the maximum depth it counts everything below it, above that only files
    directly in it, so that the folders add up.

    ``files`` are code files; ``anchored`` are files of any type with an anchor of their own, ``by_pattern``
    code files covered only by an anchor on a folder or pattern; ``stale`` of the ``anchors`` are changed or
    missing. An anchor on a folder or pattern is counted in the folder where it begins.
    """

    path: str
    files: int = 0
    anchored: int = 0
    anchors: int = 0
    stale: int = 0
    by_pattern: int = 0


class Unanchored(NamedTuple):
    """A document without an anchor, which no code change can mark as out of date, and the next step."""

    id: str
    kind: str
    title: str
    next_step: str


class Weak(NamedTuple):
    """An anchor whose verdicts are less reliable, for a ``reason``. ``files`` is the number of whole files it
    covers, 0 for a part of a file."""

    id: str
    place: str
    files: int
    reason: str
    next_step: str


class Coverage(NamedTuple):
    """Folders below ``path`` ("." for the root), their totals, and documents that need better anchors.

    ``without_anchor``, ``whole_files`` and ``weak_code`` count all of them; the lists have the first ones.
    ``unanchored`` are current facts, decisions and playbooks without an anchor; they belong to no folder, so
    only the coverage of the root has them. ``documents`` is the number of documents with an anchor here.
    """

    path: str
    folders: tuple[FolderCoverage, ...]
    total: FolderCoverage
    documents: int
    unanchored: tuple[Unanchored, ...]
    weak: tuple[Weak, ...]
    without_anchor: int
    whole_files: int
    weak_code: int


def coverage(memory: Memory, path: str = "", *, limit: int = 0, start: str = os.curdir) -> Coverage:
    """Count the code files, anchors and stale anchors of each folder, two folders down.

    At most ``limit`` documents without an anchor, anchors on whole files and other weak ones are listed; 0
    for all.

    Raises `InvalidQuery` when the path is not a folder below the root.
    """
    memory.refresh()
    below = _covering_folder(memory, path, start)
    with Judge(memory) as judge:
        judged = judge.all(memory.index.anchors())
        paths = judge.tree.paths()
    inside = [one for one in judged if _is_inside(one.anchored, below, paths)]
    folders = folders_covered(paths, [one.verdict for one in inside], below)
    unanchored = () if below else tuple(_unanchored(memory, {one.doc_id for one in judged}))
    weak = tuple(_weak((one.anchored for one in inside), paths))
    whole = tuple(one for one in weak if one.files)
    code = tuple(one for one in weak if not one.files)
    most = limit or None
    return Coverage(
        below or ".",
        tuple(folders),
        _total(below or ".", folders),
        len({one.doc_id for one in inside}),
        unanchored[:most],
        whole[:most] + code[:most],
        len(unanchored),
        len(whole),
        len(code),
    )


def _covering_folder(memory: Memory, path: str, start: str) -> str:
    if not path:
        return ""
    asked, exists = place_in_code(memory, path, start)
    if not asked.path or asked.path.endswith("/"):
        return asked.path
    if exists:
        raise InvalidQuery(f"{path!r} is not a folder", hint=f"try `thunderus-mem for {path}`")
    raise InvalidQuery(f"folder {path!r} does not exist")


def _is_inside(one: questions.Anchored, below: str, paths: Sequence[str]) -> bool:
    anchor = one.anchor
    if anchor.path.startswith(below) or not anchor.is_glob:
        return anchor.path.startswith(below)
    return any(path.startswith(below) for path in matching(anchor.path, paths))


def _total(path: str, folders: Iterable[FolderCoverage]) -> FolderCoverage:
    sums = [sum(column) for column in zip(*(folder[1:] for folder in folders), strict=True)]
    return FolderCoverage(path, *sums)


def _unanchored(memory: Memory, anchored: set[str]) -> Iterator[Unanchored]:
    have = {*anchored, *memory.index.superseded_by()}
    for row in memory.index.documents(questions.Filter(kinds=ABOUT_CODE)):
        if row.id not in have:
            yield Unanchored(row.id, row.kind, row.title, _suggest(row.id))


def _weak(anchors: Iterable[questions.Anchored], paths: Sequence[str]) -> Iterator[Weak]:
    for one in anchors:
        if reason := weakness(one.anchor):
            files = len(matching(one.anchor.path, paths)) if one.anchor.is_glob else int(one.anchor.is_weak)
            yield Weak(one.doc_id, one.anchor.place, files, reason, _suggest(one.doc_id))


def weakness(anchor: Anchor) -> str:
    """Why verdicts on an anchor are less reliable; "" if they are not."""
    if anchor.is_weak:
        return "covers whole files; any edit there marks the document stale"
    return languages.weakness(anchor.scheme)


def _suggest(id: str) -> str:
    return f"thunderus-mem anchor --suggest {id}"


def folders_covered(
    paths: Sequence[str], verdicts: Iterable[Verdict], below: str = "", depth: int = 2
) -> list[FolderCoverage]:
    """The folders below ``below`` (ends in ``/``, or "") that have code or anchors, by path."""
    found: dict[str, FolderCoverage] = {}

    def count(path: str, **counts: int) -> None:
        folder = _folder(path, below, depth)
        known = found.get(folder, FolderCoverage(folder))
        found[folder] = known._replace(**{name: getattr(known, name) + one for name, one in counts.items()})

    inside = [path for path in paths if path.startswith(below)]
    for path in inside:
        if is_code(path):
            count(path, files=1)
    named: set[str] = set()
    reached: set[str] = set()
    for verdict in verdicts:
        anchor = verdict.anchor
        if anchor.is_glob:
            reached.update(files := matching(anchor.path, inside))
            if not files and not anchor.path.startswith(below):
                continue
            place = anchor.path if anchor.path.startswith(below) else below
        elif anchor.path.startswith(below):
            named.add(place := anchor.path)
        else:
            continue
        count(place, anchors=1, stale=int(verdict.is_stale))
    for path in named.intersection(inside):
        count(path, anchored=1)
    for path in reached - named:
        if is_code(path):
            count(path, by_pattern=1)
    return [found[path] for path in sorted(found)]


def _folder(path: str, below: str, depth: int) -> str:
    """The folder a path is counted in: at most ``depth`` folders down, and without wildcards."""
    names = path[len(below) :].split("/")[:-1][:depth]
    wild = next((at for at, name in enumerate(names) if any(mark in name for mark in "*?[")), len(names))
    return (below + "".join(f"{name}/" for name in names[:wild])) or "."
