"""Proposes anchors for a text: the places in the code that its code spans name, each with the reason. Pure.

Precision before recall. An anchor that the text is not about raises an alarm for nothing one day, so a name
counts only when it can mean one thing, and what is passed over is told with its reason too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.evidence.naming import Names, Site, is_beside, name_line, why_not
from thunderus_mem.model.anchor import Anchor, parse_anchor
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.path_text import is_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.evidence.trees import CodeTree
    from thunderus_mem.model.code_words import CodeWord

__all__ = ["Passed", "Proposal", "Proposals", "propose"]

_LARGE: Final = 200
"""Lines of a definition so large that it is hardly better than a whole file."""
_SMALL: Final = 60
"""Lines of a class that may be anchored beside its members."""
_SHOWN: Final = 3


class Proposal(NamedTuple):
    """An anchor worth making. ``line`` is where the document's file names it. A ``weak`` one is so much code
    that unrelated edits will speak against the document."""

    place: str
    reason: str
    line: int
    weak: bool = False


class Passed(NamedTuple):
    """What the text names and is no proposal, and why."""

    code: str
    line: int
    why: str


class Proposals(NamedTuple):
    """What was found: proposals, strong ones first; what was passed over; how many files were parsed."""

    proposals: tuple[Proposal, ...]
    passed: tuple[Passed, ...]
    files: int


class _Found(NamedTuple):
    """A place in the code that a word names, and the lines of the definition there."""

    anchor: Anchor
    proposal: Proposal
    size: int = 0


class _No(Exception):
    """A word that is no proposal, with the reason."""


class _Several(_No):
    """A word that can mean several things."""

    def __init__(self, sites: Sequence[Site]) -> None:
        more = ", …" if len(sites) > _SHOWN else ""
        where = ", ".join(one.where for one in sites[:_SHOWN])
        super().__init__(f"defined {len(sites)} times: {where}{more}")
        self.sites = sites


def propose(
    words: Sequence[CodeWord], tree: CodeTree, existing: Iterable[Anchor] = (), first_line: int = 1
) -> Proposals:
    """Anchors for a text whose code spans name ``words``, without those that exist already.

    ``first_line`` is the line of the document's file on which the text begins.
    """
    return _Search(tree, words, first_line).run(list(existing))


class _Search:
    """One search: what the words name, looked up together."""

    def __init__(self, tree: CodeTree, words: Sequence[CodeWord], first_line: int) -> None:
        self._tree = tree
        self._words = words
        self._first_line = first_line
        self._names = Names(tree)
        self._files: dict[CodeWord, str] = {}
        self._passed: dict[str, Passed] = {}
        self._open: list[tuple[CodeWord, _Several]] = []

    def run(self, existing: list[Anchor]) -> Proposals:
        found = [one for one in (self._try_path(word) for word in self._words if word.path) if one]
        named = [word for word in self._words if word.name and word not in self._files]
        self._names.expect(sorted({word.name[-1] for word in named}))
        found += [one for one in map(self._try_name, named) if one]
        found += self._members(found)
        found = self._chosen(found, existing)
        found.sort(key=lambda one: (one.proposal.weak, one.proposal.line))
        passed = sorted(self._passed.values(), key=lambda one: one.line)
        return Proposals(tuple(one.proposal for one in found), tuple(passed), self._names.parsed)

    def _line(self, word: CodeWord) -> int:
        return self._first_line + word.line - 1

    def _pass(self, word: CodeWord, why: str) -> None:
        self._passed.setdefault(word.code, Passed(word.code, self._line(word), why))

    def _made(self, word: CodeWord, anchor: Anchor, why: str, *, weak: bool = False) -> _Found:
        try:
            usable = parse_anchor(anchor.place) == anchor
        except InvalidDocument:
            usable = False
        if not usable:
            raise _No("its path cannot be written as an anchor")
        line = self._line(word)
        return _Found(anchor, Proposal(anchor.place, f"`{word.code}` in line {line} {why}", line, weak))

    def _try_path(self, word: CodeWord) -> _Found | None:
        try:
            return self._of_path(word)
        except _No as no:
            self._pass(word, str(no))
            return None

    def _try_name(self, word: CodeWord) -> _Found | None:
        try:
            found = self._of_name(word)
        except _Several as several:
            self._open.append((word, several))
            return None
        except _No as no:
            self._pass(word, str(no))
            return None
        self._passed.pop(word.code, None)  # as a path it was none
        return found

    def _members(self, found: Iterable[_Found]) -> Iterator[_Found]:
        """Names with several meanings, of which one belongs to a class that the text names too."""
        named = {(one.anchor.path, one.anchor.symbol): one.proposal for one in found if one.anchor.symbol}
        for word, several in self._open:
            owned = [one for one in several.sites if (one.path, one.owner) in named]
            if len(owned) == 1:
                line = named[owned[0].path, owned[0].owner].line
                yield self._of_site(
                    word, owned[0], f"belongs to {owned[0].owner}, which line {line} names: {owned[0].where}"
                )
            else:
                self._pass(word, str(several))

    def _of_path(self, word: CodeWord) -> _Found:
        path = self._file(word.path)
        source = self._tree.source(path)
        if source is None:
            raise _No("there is no such file")
        self._files[word] = path
        if source.trouble:
            raise _No(f"it cannot be read as code: {source.trouble}")
        if word.symbol:
            return self._of_symbol(word, source)
        if word.lines is not None:
            return self._of_lines(word, source, word.lines)
        if not is_code(path):
            raise _No("not code")
        return self._made(word, Anchor(path), "names the whole file", weak=True)

    def _file(self, named: str) -> str:
        """The one file that a path of the text means."""
        path = named.removeprefix("./")
        everything = self._names.by_name.get(path.rstrip("/").rpartition("/")[2], [])
        fitting = [one for one in everything if one == path] or [
            one for one in everything if one.endswith(f"/{path}")
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise _No(f"{len(fitting)} files end in it")
        if any(f"/{one}".find(f"/{path.rstrip('/')}/") >= 0 for one in self._tree.paths()):
            raise _No("a folder: any edit in it would speak against the document")
        raise _No("there is no such file")

    def _of_symbol(self, word: CodeWord, source: Source) -> _Found:
        definitions = self._names.parse(source).find(word.symbol)
        names = {one.name for one in definitions}
        if len(names) != 1:
            told = f"{len(names)} definitions" if names else "no definition"
            raise _No(f"{source.path} has {told} of that name")
        site = Site(source.path, definitions[0])
        return self._of_site(word, site, "names it")

    def _of_lines(self, word: CodeWord, source: Source, lines: tuple[int, int]) -> _Found:
        if source.of_lines(*lines) is None:
            raise _No(f"{source.path} has no code in these lines")
        single = lines[0] == lines[1]
        for one in self._names.parse(source).definitions():
            # A definition stays found when lines above it come and go.
            begins = single and one.first <= lines[0] <= one.last and lines[0] <= name_line(source, one)
            if begins or lines == (one.first, one.last):
                return self._of_site(word, Site(source.path, one), f"is where {one.name} stands")
        return self._made(word, Anchor(source.path, lines=lines), "names these lines")

    def _of_site(self, word: CodeWord, site: Site, why: str) -> _Found:
        size = site.definition.last - site.definition.first + 1
        large = size > _LARGE
        why += f", {size} lines of it" if large else ""
        return self._made(word, Anchor(site.path, site.definition.name), why, weak=large)._replace(size=size)

    def _of_name(self, word: CodeWord) -> _Found:
        near, line = self._near(word)
        if near:
            sites = _distinct(self._names.within(word.name, near))
            if len(sites) == 1:
                why = f"is defined in {sites[0].where}, which line {self._first_line + line - 1} names"
                return self._of_site(word, sites[0], why)
        reason = why_not(word)
        named = sorted(set(self._files.values()))
        if reason and not (reason.by_file and named):
            raise _No(reason.why)
        sites, unread = self._names.sites(word.name)
        if unread:
            raise _No(f"too common: {unread} files may define it, more than are looked into")
        own = _distinct([one for one in sites if not is_beside(one.path)])
        cited = [one for one in own if one.path in named]
        if reason or len(own) > 1:
            if len(cited) == 1:
                return self._of_site(word, cited[0], f"is defined in {cited[0].where}, a file the text names")
            raise _No(reason.why) if reason else _Several(own)
        if not own:
            raise _No(
                "only tests and the like define it" if sites else "no file of the repository defines it"
            )
        others = " outside of tests" if len(_distinct(sites)) > 1 else ""
        return self._of_site(word, own[0], f"is defined once{others}: {own[0].where}")

    def _near(self, word: CodeWord) -> tuple[list[str], int]:
        """Files named on the same line, else the only one in the same paragraph; and the line that does."""
        here = [other for other in self._files if other.line == word.line]
        if here:
            return [self._files[other] for other in here], word.line
        around = [other for other in self._files if other.paragraph == word.paragraph]
        files = {self._files[other] for other in around}
        return (list(files), around[0].line) if len(files) == 1 else ([], 0)

    def _chosen(self, found: list[_Found], existing: list[Anchor]) -> list[_Found]:
        """Each place once; no file or long class in which something is named; nothing that exists already."""
        first: dict[str, _Found] = {}
        for one in sorted(found, key=lambda one: one.proposal.line):
            first.setdefault(one.anchor.place, one)
        places = [one.anchor for one in first.values()] + existing
        known = {(anchor.path, self._canonical(anchor)) for anchor in existing}
        kept = []
        for one in first.values():
            anchor = one.anchor
            if (anchor.path, anchor.symbol or anchor.lines) in known:
                self._passed_place(one, "anchored already")
            elif (anchor.is_weak or one.size > _SMALL) and any(_is_inside(other, anchor) for other in places):
                self._passed_place(one, "something in it is named more exactly")
            else:
                kept.append(one)
        return kept

    def _canonical(self, anchor: Anchor) -> str | tuple[int, int] | None:
        """The symbol of an anchor by its whole name."""
        source = self._tree.source(anchor.path) if anchor.symbol else None
        if source is None or source.trouble:
            return anchor.symbol or anchor.lines
        return next((one.name for one in source.find(anchor.symbol)), anchor.symbol)

    def _passed_place(self, one: _Found, why: str) -> None:
        self._passed.setdefault(one.anchor.place, Passed(one.anchor.place, one.proposal.line, why))


def _is_inside(inner: Anchor, outer: Anchor) -> bool:
    if inner.path != outer.path or inner.place == outer.place:
        return False
    return outer.is_weak or (bool(outer.symbol) and inner.symbol.startswith(f"{outer.symbol}."))


def _distinct(sites: Sequence[Site]) -> list[Site]:
    """One for each name in a file: overloads and conditional definitions are one thing."""
    found: dict[tuple[str, str], Site] = {}
    for one in sites:
        found.setdefault((one.path, one.definition.name), one)
    return list(found.values())
