"""``anchor --suggest``: the code that a document's text mentions, each suggestion with its reason.

Precision before recall: an anchor on code that the text is not about causes false alarms later. A name counts
only when it is unambiguous, and skipped names are reported with the reason. Reads code files; writes nothing.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import Anchor, anchors_in, code_words, parse_anchor
from thunderus_mem.document.paths import is_code
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.fingerprint.languages import language_of
from thunderus_mem.index.questions import Filter
from thunderus_mem.memory.locate import find_document
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.verdicts.code import WorkingTree
from thunderus_mem.verdicts.lookup import ABOUT_CODE
from thunderus_mem.verdicts.verdict import Unsearchable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.document.anchors import CodeWord
    from thunderus_mem.document.document import Document
    from thunderus_mem.fingerprint.source import CodeSource, Definition
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.code import CodeTree

MOST_FILES: Final = 200
"""Maximum number of files parsed for one text."""
_SHORT: Final = 4
_SHORTEST_MEMBER: Final = 3
"""Characters of the last part of a dotted name: all files contain shorter words."""
_COMMON_WORDS: Final = (
    "add all any append apply args array assert async await bool boolean bytes call callback char class "
    "clear clone close config connect const context copy count create data date debug default delete dict "
    "done else enum equals error errors event exec execute exit false field file files filter find first "
    "flush format from function future get getter handle handler hash header headers host image import "
    "index info init input insert item items iter join json key keys kwargs last len length level line "
    "list load lock log logger long main make message meta method mode model module move name names new "
    "next none null number object open option options output parse path paths pop post print process "
    "property push put query raise read remove render reset response result return root run save search "
    "self send server service session setup size skip sort source split start state static status stop "
    "store stream string struct sub submit sum super switch table tag tags task test tests text this "
    "throw time title token total trait true type types undefined union update url use user user_id users "
    "util utils val value values version view void wait warn with write yield "
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_BUILTIN_WORDS: Final = (
    "Any Array Boolean Box Bytes Date Debug Default Dict Err Error Exception False Float Integer Iterator "
    "List Map None Null Number Object Option Optional Promise Range Record Result Self Set Some String "
    "Symbol True Tuple Type Union Value Vec Void "
)
_BUILTIN: Final = frozenset(_BUILTIN_WORDS.split())
_BESIDE_WORDS: Final = (
    "test tests __tests__ testing testdata spec specs e2e fixtures example examples sample samples demo "
    "demos doc docs vendor third_party thirdparty node_modules dist build benchmark benchmarks bench "
)
_BESIDE: Final = frozenset(_BESIDE_WORDS.split())
_TEST_FILE: Final = lazy_pattern(r"(?:test_.*|tests?\.\w+|conftest\.py|.*[_.-](?:test|tests|spec)\.\w+)")
_WORDS: Final = lazy_pattern(r"[^\W\d]\w*")
_MACRO: Final = lazy_pattern(r"#[ \t]*define[ \t]+")
_NO_DEFINITION: Final = lazy_pattern(r"\b(?:import|from|return|use|include|require|yield|raise|throw|new)\b")
_FUNCTIONS: Final = frozenset(("function", "method"))
_DECLARING: Final = (".h", ".hh", ".hpp", ".hxx", ".d.ts", ".pyi")
"""Endings of files that declare names for others to define."""
_LONGEST_HEAD: Final = 300
_LONGEST_GAP: Final = 20
_MOST_DECORATED: Final = 20


_LARGE: Final = 200
"""Lines from which a definition is hardly better as an anchor than the whole file."""
_SMALL: Final = 60
"""Maximum lines of a class that may be anchored in addition to its members."""
_SHOWN: Final = 3


class Site(NamedTuple):
    """A definition in a file."""

    path: str
    definition: Definition

    @property
    def where(self) -> str:
        """``src/jwt.py:40``."""
        return f"{self.path}:{self.definition.first}"

    @property
    def owner(self) -> str:
        """The class or module around it, "" for none."""
        return self.definition.name.rpartition(".")[0]

    @property
    def owner_name(self) -> str:
        """The last part of `owner`."""
        return self.owner.rpartition(".")[2]

    @property
    def leaf(self) -> str:
        """The name without its owner."""
        return self.definition.name.rpartition(".")[2]


class Sites(NamedTuple):
    """Where a name is defined; ``unread`` is the number of candidate files when there were too many to
    parse."""

    found: list[Site]
    unread: int = 0


class Reason(NamedTuple):
    """Why a name alone is not enough. ``by_file``: it is enough together with the file that defines it."""

    why: str
    by_file: bool = False


def why_not(word: CodeWord) -> Reason | None:
    """Why a name is not distinctive enough to search for in all files; ``None`` when it is."""
    leaf = word.name[-1]
    if leaf.startswith("__") and leaf.endswith("__") and len(word.name) == 1:
        return Reason("too common: any class may define it")
    if len(word.name) > 1:
        return Reason("too short") if len(leaf) < _SHORTEST_MEMBER else None
    if leaf in _COMMON or leaf in _BUILTIN or (leaf.isupper() and leaf.lower() in _COMMON):
        return Reason("too common")
    if len(leaf) < _SHORT and "_" not in leaf:
        return Reason("too short")
    if leaf.isalpha() and leaf.islower() and not word.called:
        return Reason("a plain word; write `name()` or mention its file", by_file=True)
    return None


def searched_names(word: CodeWord) -> tuple[str, ...]:
    """The names for which all files are searched: of a dotted name the last, and its owner's."""
    if not word.name or why_not(word):
        return ()
    owner = word.name[-2:-1]
    return word.name[-1:] if not owner or why_not(word._replace(name=owner)) else word.name[-2:]


def name_line(source: CodeSource, definition: Definition) -> int:
    """The line with the name of a definition, after its decorators."""
    leaf = definition.name.rpartition(".")[2]
    head = source.text.split("\n")[definition.first - 1 : definition.first - 1 + _MOST_DECORATED]
    return next((at for at, text in enumerate(head, definition.first) if leaf in text), definition.first)


def is_beside(path: str) -> bool:
    """Whether a file is a test, an example, documentation or third-party code."""
    *folders, name = path.lower().split("/")
    return not _BESIDE.isdisjoint(folders) or _TEST_FILE.fullmatch(name) is not None


class CodeNames:
    """Looks up names in a tree. ``parsed`` is the number of files parsed."""

    def __init__(self, tree: CodeTree) -> None:
        self._tree = tree
        self._parsed: dict[str, dict[str, list[Definition]]] = {}
        self._texts: dict[str, str] = {}
        self._naming: dict[str, list[str]] = {}

    @property
    def parsed(self) -> int:
        return len(self._parsed)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The paths of the tree by file name."""
        found: dict[str, list[str]] = {}
        for path in self._tree.paths():
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def expect(self, words: Iterable[str]) -> None:
        """Announce names, so that one search through the tree finds all of them."""
        wanted = set(words)
        self._tree.expect(wanted)
        try:
            found = self._tree.naming_any() if wanted else ()
        except Unsearchable:
            found = ()
        for path in filter(is_code, found):
            text = self._tree.text(path)
            named = wanted.intersection(_WORDS.findall(text))
            if named:
                self._texts[path] = text
            for name in named:
                self._naming.setdefault(name, []).append(path)

    def parse(self, source: CodeSource) -> CodeSource:
        """Parse a file and keep its definitions."""
        if source.path not in self._parsed:
            leaves: dict[str, list[Definition]] = {}
            names = {one.name for one in source.definitions() if one.kind in _FUNCTIONS}
            for one in source.definitions():
                # Definitions inside a function are not visible outside it.
                if one.name.rpartition(".")[0] not in names:
                    leaves.setdefault(one.name.rpartition(".")[2], []).append(one)
            self._parsed[source.path] = leaves
        return source

    def within(self, name: Sequence[str], paths: Iterable[str]) -> list[Site]:
        """Definitions of a name in some files."""
        found = [(path, self._defined(path, name[-1])) for path in paths]
        return _fitting(name, [Site(path, one) for path, ones in found for one in ones])

    def sites(self, name: Sequence[str]) -> Sites:
        """Definitions of a name in the whole tree."""
        leaf = name[-1]
        paths = [path for path in self._naming.get(leaf, ()) if self._may_define(path, leaf)]
        fresh = [path for path in paths if path not in self._parsed]
        if len(fresh) > MOST_FILES - self.parsed:
            return Sites([], len(fresh))
        return Sites(self.within(name, paths))

    def _defined(self, path: str, leaf: str) -> list[Definition]:
        source = self._tree.source(path)
        if source is None or not source.language:
            return []
        self.parse(source)
        return self._parsed[path].get(leaf, [])

    def _may_define(self, path: str, leaf: str) -> bool:
        """Whether a file is worth parsing: some line may define the name."""
        language = language_of(path, b"")
        loose, python = language == "ecma", language == "python"
        text = self._texts[path]
        at = text.find(leaf)
        while at >= 0:
            head = text[max(text.rfind("\n", 0, at) + 1, at - _LONGEST_HEAD) : at]
            behind = text[at + len(leaf) : at + len(leaf) + _LONGEST_GAP].lstrip(" ")
            if _may_precede_definition(head, loose=loose) and (not python or _may_be_python(head, behind)):
                return True
            at = text.find(leaf, at + len(leaf))
        return False


def _may_precede_definition(head: str, *, loose: bool) -> bool:
    """Whether the name of a definition may follow this beginning of a line."""
    start = head.lstrip()
    if start.startswith(("#", "//", "*", "import ", "from ")):
        return _MACRO.fullmatch(start) is not None
    if loose:
        return True
    if any(mark in head for mark in "=.\"'"):
        return False
    return head.count("(") == head.count(")") and _NO_DEFINITION.search(head) is None


def _may_be_python(head: str, behind: str) -> bool:
    """Whether the line may be a Python definition or assignment."""
    if head.rstrip().endswith(("def", "class", "type")):
        return True
    return behind.startswith((",", "=", ":", ")")) and not behind.startswith("==")


def _fitting(name: Sequence[str], sites: Sequence[Site]) -> list[Site]:
    """The definitions that a dotted name can mean: its longest possible end is the definition's name, and the
    rest is in the file's path."""
    for cut in range(len(name)):
        symbol = ".".join(name[cut:])
        fitting = [
            site
            for site in sites
            if f".{site.definition.name}".endswith(f".{symbol}") and _matches_path(name[:cut], site.path)
        ]
        if fitting:
            # After a module's name, prefer the module's own definition to a member of one of its classes.
            own = [site for site in fitting if site.definition.name == symbol] if cut else []
            return own or fitting
    return [site for site in sites if len(name) > 1 and _folded(site.owner_name) == _folded(name[-2])]


def _folded(name: str) -> str:
    """A name without case and underscores: a variable is often named after its class."""
    return name.replace("_", "").lower()


def _matches_path(parts: Sequence[str], path: str) -> bool:
    """Whether a path contains these module names, in order."""
    steps = iter([*path.split("/")[:-1], path.rpartition("/")[2].partition(".")[0]])
    return all(part in steps for part in parts)


class SuggestedAnchor(NamedTuple):
    """A suggested anchor. ``line`` is the line of the document's file that mentions the code. A ``weak`` one
    covers so much code that unrelated edits will mark the document stale."""

    place: str
    reason: str
    line: int
    weak: bool = False


class Passed(NamedTuple):
    """A mention that was skipped, and why."""

    code: str
    line: int
    why: str


class Proposals(NamedTuple):
    """The suggestions, strong ones first; the skipped mentions; the number of files parsed."""

    proposals: tuple[SuggestedAnchor, ...]
    passed: tuple[Passed, ...]
    files: int


class _Found(NamedTuple):
    """The code that a word refers to, and the number of lines of its definition."""

    anchor: Anchor
    proposal: SuggestedAnchor
    size: int = 0


class _No(Exception):
    """A word is skipped, with the reason."""


class _Several(_No):
    """An ambiguous word."""

    def __init__(self, sites: Sequence[Site]) -> None:
        more = ", …" if len(sites) > _SHOWN else ""
        where = ", ".join(one.where for one in sites[:_SHOWN])
        super().__init__(f"defined {len(sites)} times: {where}{more}")
        self.sites = sites


def propose(
    words: Sequence[CodeWord], tree: CodeTree, existing: Iterable[Anchor] = (), first_line: int = 1
) -> Proposals:
    """Suggest anchors for a text with the code spans ``words``, without existing anchors.

    ``first_line`` is the line of the document's file on which the text begins.
    """
    return _Search(tree, words, first_line).run(list(existing))


class _Search:
    """One search for all words of a text."""

    def __init__(self, tree: CodeTree, words: Sequence[CodeWord], first_line: int) -> None:
        self._tree = tree
        self._words = words
        self._first_line = first_line
        self._names = CodeNames(tree)
        self._files: dict[CodeWord, str] = {}
        self._passed: dict[str, Passed] = {}
        self._open: list[tuple[CodeWord, _Several]] = []

    def run(self, existing: list[Anchor]) -> Proposals:
        found = [one for one in (self._try_path(word) for word in self._words if word.path) if one]
        named = [word for word in self._words if word.name and word not in self._files]
        self._names.expect(name for word in named for name in searched_names(word))
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
            raise _No("its path is not valid in an anchor")
        line = self._line(word)
        return _Found(
            anchor, SuggestedAnchor(anchor.place, f"`{word.code}` in line {line} {why}", line, weak)
        )

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
        self._passed.pop(word.code, None)  # it was skipped as a path before
        return found

    def _members(self, found: Iterable[_Found]) -> Iterator[_Found]:
        """Ambiguous names, resolved to the member of a class that the text mentions too."""
        named = {(one.anchor.path, one.anchor.symbol): one.proposal for one in found if one.anchor.symbol}
        for word, several in self._open:
            owned = [one for one in several.sites if (one.path, one.owner) in named]
            if len(owned) == 1:
                line = named[owned[0].path, owned[0].owner].line
                why = f"is a member of {owned[0].owner}, mentioned in line {line}: {owned[0].where}"
                yield self._of_site(word, owned[0], why)
            else:
                self._pass(word, str(several))

    def _of_path(self, word: CodeWord) -> _Found:
        path = self._file(word)
        source = self._tree.source(path)
        if source is None:
            raise _No("no such file")
        self._files[word] = path
        if source.trouble:
            raise _No(f"not readable as code: {source.trouble}")
        if word.symbol:
            return self._of_symbol(word, source)
        if word.lines is not None:
            return self._of_lines(word, source, word.lines)
        if not is_code(path):
            raise _No("not code")
        return self._made(word, Anchor(path), "is a whole file", weak=True)

    def _file(self, word: CodeWord) -> str:
        """The one file that a path in the text means; from the original's folder if the text was imported."""
        try:
            return self._file_at(word.path)
        except _No:
            if not word.origin:
                raise
            return self._file_at(word.origin)

    def _file_at(self, named: str) -> str:
        path = named.removeprefix("./")
        everything = self._names.by_name.get(path.rstrip("/").rpartition("/")[2], [])
        fitting = [one for one in everything if one == path] or [
            one for one in everything if one.endswith(f"/{path}")
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise _No(f"ambiguous: {len(fitting)} files match")
        if any(f"/{one}".find(f"/{path.rstrip('/')}/") >= 0 for one in self._tree.paths()):
            raise _No("a folder: any edit in it would mark the document stale")
        raise _No("no such file")

    def _of_symbol(self, word: CodeWord, source: CodeSource) -> _Found:
        meanings = self._names.parse(source).meanings(word.symbol)
        if len(meanings) != 1:
            if meanings:
                raise _No(f"ambiguous: {len(meanings)} definitions in {source.path}")
            raise _No(f"not defined in {source.path}")
        site = Site(source.path, meanings[0].members[0])
        found = self._of_site(word, site, "names the file and the symbol")
        place = found.anchor._replace(symbol=meanings[0].symbol)
        return found._replace(anchor=place, proposal=found.proposal._replace(place=place.place))

    def _of_lines(self, word: CodeWord, source: CodeSource, lines: tuple[int, int]) -> _Found:
        if source.of_lines(*lines) is None:
            raise _No(f"no code on these lines of {source.path}")
        single = lines[0] == lines[1]
        for one in self._names.parse(source).definitions():
            # Prefer the definition: it is found even when lines above it are added or removed.
            begins = single and one.first <= lines[0] <= one.last and lines[0] <= name_line(source, one)
            if begins or lines == (one.first, one.last):
                return self._of_site(word, Site(source.path, one), f"is where {one.name} is defined")
        return self._made(word, Anchor(source.path, lines=lines), "names the lines")

    def _of_site(self, word: CodeWord, site: Site, why: str) -> _Found:
        size = site.definition.last - site.definition.first + 1
        large = size > _LARGE
        why += f" ({size} lines)" if large else ""
        return self._made(word, Anchor(site.path, site.definition.name), why, weak=large)._replace(size=size)

    def _of_name(self, word: CodeWord) -> _Found:
        near, line = self._near(word)
        if near:
            sites = _distinct(self._names.within(word.name, near))
            if len(sites) == 1:
                why = f"is defined in {sites[0].where}, mentioned in line {self._first_line + line - 1}"
                return self._of_site(word, sites[0], why)
        reason = why_not(word)
        named = sorted(set(self._files.values()))
        if reason and not reason.by_file:
            raise _No(reason.why)
        sites, unread = (
            self._names.sites(word.name) if not reason else Sites(self._names.within(word.name, named))
        )
        if unread:
            raise _No(f"too common: {unread} files may define it, more than the limit")
        own = _distinct([one for one in sites if not is_beside(one.path)])
        cited = [one for one in own if one.path in named]
        if reason or len(own) > 1:
            if len(cited) == 1:
                why = f"is defined in {cited[0].where}, a file that the text mentions"
                return self._of_site(word, cited[0], why)
            raise _No(reason.why) if reason else _Several(own)
        if not own and (owner := self._owner(word)):
            return owner
        if not own:
            raise _No(
                "only defined in tests or third-party code" if sites else "not defined in this repository"
            )
        others = " outside tests" if len(_distinct(sites)) > 1 else ""
        return self._of_site(word, own[0], f"is defined once{others}: {own[0].where}")

    def _owner(self, word: CodeWord) -> _Found | None:
        """The class in whose text the last part of a dotted name is, such as the field of a struct."""
        if len(word.name) == 1 or why_not(word._replace(name=word.name[-2:-1])):
            return None
        sites = _distinct([one for one in self._names.sites(word.name[:-1]).found if not is_beside(one.path)])
        if len(sites) != 1 or sites[0].definition.kind in _FUNCTIONS:
            return None
        source = self._tree.source(sites[0].path)
        first, last = sites[0].definition.first, sites[0].definition.last
        lines = source.text.split("\n")[first - 1 : last] if source else []
        if not re.search(rf"\b{re.escape(word.name[-1])}\b", "\n".join(lines)):
            return None
        return self._of_site(
            word, sites[0], f"is in {sites[0].definition.name}, defined once: {sites[0].where}"
        )

    def _near(self, word: CodeWord) -> tuple[list[str], int]:
        """Files mentioned on the same line, else the only one in the same paragraph; and the line."""
        here = [other for other in self._files if other.line == word.line]
        if here:
            return [self._files[other] for other in here], word.line
        around = [other for other in self._files if other.paragraph == word.paragraph]
        files = {self._files[other] for other in around}
        return (list(files), around[0].line) if len(files) == 1 else ([], 0)

    def _chosen(self, found: list[_Found], existing: list[Anchor]) -> list[_Found]:
        """Each place once, without existing anchors, and no file or long class that contains another
        place."""
        first: dict[str, _Found] = {}
        for one in sorted(found, key=lambda one: one.proposal.line):
            first.setdefault(one.anchor.place, one)
        places = [one.anchor for one in first.values()] + existing
        known = {(anchor.path, self._canonical(anchor)) for anchor in existing}
        kept = []
        for one in first.values():
            anchor = one.anchor
            if (anchor.path, anchor.symbol or anchor.lines) in known:
                self._passed_place(one, "already anchored")
            elif (anchor.is_weak or one.size > _SMALL) and any(_is_inside(other, anchor) for other in places):
                self._passed_place(one, "a more specific anchor in it is used")
            else:
                kept.append(one)
        return kept

    def _canonical(self, anchor: Anchor) -> str | tuple[int, int] | None:
        """The full name of an anchor's symbol."""
        source = self._tree.source(anchor.path) if anchor.symbol else None
        if source is None or source.trouble:
            return anchor.symbol or anchor.lines
        return next((one.symbol for one in source.meanings(anchor.symbol)), anchor.symbol)

    def _passed_place(self, one: _Found, why: str) -> None:
        self._passed.setdefault(one.anchor.place, Passed(one.anchor.place, one.proposal.line, why))


def _is_inside(inner: Anchor, outer: Anchor) -> bool:
    if inner.path != outer.path or inner.place == outer.place:
        return False
    return outer.is_weak or (bool(outer.symbol) and inner.symbol.startswith(f"{outer.symbol}."))


def _distinct(sites: Sequence[Site]) -> list[Site]:
    """One site for each thing that is defined: overloads and conditional definitions count as one, a class
    and its constructors as the class, a declaration and its definition as the definition."""
    found: dict[tuple[str, str], Site] = {}
    for one in sites:
        found.setdefault((one.path, one.definition.name), one)
    kept = [one for one in found.values() if one.leaf != one.owner_name or (one.path, one.owner) not in found]
    defined = {one.definition.name for one in kept if not one.path.endswith(_DECLARING)}
    return [one for one in kept if not (one.path.endswith(_DECLARING) and one.definition.name in defined)]


class Suggestions(NamedTuple):
    """Anchors suggested for a document, strong ones first; skipped mentions (``passed``) with the reason; its
    existing ``anchors``; the number of ``files`` parsed."""

    id: str
    proposals: tuple[SuggestedAnchor, ...]
    passed: tuple[Passed, ...]
    anchors: tuple[str, ...]
    files: int

    @property
    def strong(self) -> tuple[str, ...]:
        """The places of the strong suggestions, as `anchor` takes them."""
        return tuple(one.place for one in self.proposals if not one.weak)


def suggest(memory: Memory, id: str) -> Suggestions:
    """Suggest anchors for a document from its text. Writes nothing.

    Raises `NotFound` for an unknown document.
    """
    memory.refresh()
    return _suggested(find_document(memory, id), WorkingTree(memory.root, memory.git))


class SuggestedFor(NamedTuple):
    """An anchor suggested for the document ``id``; see `SuggestedAnchor`."""

    id: str
    place: str
    reason: str
    line: int
    weak: bool


class AllSuggestions(NamedTuple):
    """Anchors suggested for all documents without anchors, by document; ``documents`` is their number."""

    proposals: tuple[SuggestedFor, ...]
    documents: int


def suggest_all(memory: Memory) -> AllSuggestions:
    """Suggest anchors for the documents about code that have none. Writes nothing."""
    memory.refresh()
    have = {*memory.index.superseded_by(), *(one.doc_id for one in memory.index.anchors(None))}
    rows = memory.index.documents(Filter(kinds=ABOUT_CODE))
    documents = [find_document(memory, row.id) for row in rows if row.id not in have]
    tree = WorkingTree(memory.root, memory.git)
    tree.expect(name for one in documents for word in _words(one) for name in searched_names(word))
    found = [(one.id, proposal) for one in documents for proposal in _suggested(one, tree).proposals]
    return AllSuggestions(tuple(SuggestedFor(id, *proposal) for id, proposal in found), len(documents))


def _words(document: Document) -> tuple[CodeWord, ...]:
    folder, origin = (path.rpartition("/")[0] for path in (document.path, document.imported_from))
    unchanged = document.imported_from and not document.imported_sha256
    return code_words(document.body, folder, origin if unchanged else None)


def _suggested(document: Document, tree: WorkingTree) -> Suggestions:
    existing = [cited.anchor for cited in anchors_in(document.header, document.header_line)]
    found = propose(_words(document), tree, existing, document.body_line)
    places = tuple(anchor.place for anchor in existing)
    return Suggestions(document.id, found.proposals, found.passed, places, found.files)
