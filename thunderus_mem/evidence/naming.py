"""Where the code defines a name, as far as a text can mean it: which files, which definitions, which not."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.evidence.code.source import Definition, Source
    from thunderus_mem.evidence.trees import CodeTree
    from thunderus_mem.model.code_words import CodeWord

__all__ = ["MOST_FILES", "Names", "Reason", "Site", "Sites", "is_beside", "name_line", "why_not"]

MOST_FILES: Final = 200
"""Files parsed for one text at most."""
_SHORT: Final = 4
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
_TEST: Final = re.compile(r"test_\w*|[tT]est[A-Z0-9_]\w*|\w*Tests?")
_BESIDE_WORDS: Final = (
    "test tests __tests__ testing testdata spec specs e2e fixtures example examples sample samples demo "
    "demos doc docs vendor third_party thirdparty node_modules dist build benchmark benchmarks bench "
)
_BESIDE: Final = frozenset(_BESIDE_WORDS.split())
_TEST_FILE: Final = re.compile(r"(?:test_.*|conftest\.py|.*[_.-](?:test|tests|spec)\.\w+)")
_NO_DEFINITION: Final = re.compile(r"\b(?:import|from|return|use|include|require|yield|raise|throw|new)\b")
_SCRIPTS: Final = frozenset(("javascript", "typescript", "tsx"))
_FUNCTIONS: Final = frozenset(("function", "method"))
_LONGEST_HEAD: Final = 300
_LONGEST_GAP: Final = 20
_MOST_DECORATED: Final = 20


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


class Sites(NamedTuple):
    """Where a name is defined; ``unread`` files that may define it too were too many to be looked into."""

    found: list[Site]
    unread: int = 0


class Reason(NamedTuple):
    """Why a name alone is not enough. ``by_file``: with the file that defines it, it would be."""

    why: str
    by_file: bool = False


def why_not(word: CodeWord) -> Reason | None:
    """Why a name says too little to be looked for everywhere; ``None`` when it can be."""
    leaf = word.name[-1]
    if _TEST.fullmatch(leaf):
        return Reason("a test is meant only where its file is named with it")
    if leaf.startswith("__") and leaf.endswith("__") and len(word.name) == 1:
        return Reason("too common: every class may define it")
    if len(word.name) > 1:
        return None
    if leaf in _COMMON or leaf in _BUILTIN or (leaf.isupper() and leaf.lower() in _COMMON):
        return Reason("too common a word")
    if len(leaf) < _SHORT and "_" not in leaf:
        return Reason("too short to mean one thing")
    if leaf.isalpha() and leaf.islower() and not word.called:
        return Reason("a plain word: with brackets, or with its file, it would say which code", by_file=True)
    return None


def name_line(source: Source, definition: Definition) -> int:
    """The line with the name of a definition, behind its decorators."""
    leaf = definition.name.rpartition(".")[2]
    head = source.text.split("\n")[definition.first - 1 : definition.first - 1 + _MOST_DECORATED]
    return next((at for at, text in enumerate(head, definition.first) if leaf in text), definition.first)


def is_beside(path: str) -> bool:
    """Whether a file is test, example, documentation or somebody else's code."""
    *folders, name = path.lower().split("/")
    return not _BESIDE.isdisjoint(folders) or _TEST_FILE.fullmatch(name) is not None


class Names:
    """Looks up names in a tree. ``parsed`` counts the files it had to parse."""

    def __init__(self, tree: CodeTree) -> None:
        self._tree = tree
        self._parsed: dict[str, dict[str, list[Definition]]] = {}

    @property
    def parsed(self) -> int:
        return len(self._parsed)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Every path of the tree by its last name."""
        found: dict[str, list[str]] = {}
        for path in self._tree.paths():
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def expect(self, words: Iterable[str]) -> None:
        """Say which names will be asked for, so that one look through the tree serves all."""
        self._tree.expect(words)

    def parse(self, source: Source) -> Source:
        """A file whose definitions are asked for."""
        if source.path not in self._parsed:
            leaves: dict[str, list[Definition]] = {}
            names = {one.name for one in source.definitions() if one.kind in _FUNCTIONS}
            for one in source.definitions():
                # What a function defines for itself nobody outside can mean.
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
        paths = [path for path in self._tree.naming(leaf) if self._may_define(path, leaf)]
        fresh = [path for path in paths if path not in self._parsed]
        if len(fresh) > MOST_FILES - self.parsed:
            return Sites([], len(fresh))
        found = self.within(name, paths)
        paths = [one.path for one in found]
        return Sites([one for one in found if not (one.path.endswith(".pyi") and one.path[:-1] in paths)])

    def _defined(self, path: str, leaf: str) -> list[Definition]:
        source = self._tree.source(path)
        if source is None or not source.language:
            return []
        self.parse(source)
        return self._parsed[path].get(leaf, [])

    def _may_define(self, path: str, leaf: str) -> bool:
        """Whether a file is worth parsing: some line has the name where a definition would."""
        source = self._tree.source(path)
        if source is None or not source.language:
            return False
        loose, python = source.language in _SCRIPTS, source.language == "python"
        text, at = source.text, source.text.find(leaf)
        while at >= 0:
            head = text[max(text.rfind("\n", 0, at) + 1, at - _LONGEST_HEAD) : at]
            behind = text[at + len(leaf) : at + len(leaf) + _LONGEST_GAP].lstrip(" ")
            if _may_stand_before(head, loose=loose) and (not python or _may_be_python(head, behind)):
                return True
            at = text.find(leaf, at + len(leaf))
        return False


def _may_stand_before(head: str, *, loose: bool) -> bool:
    """Whether a line that begins so may go on with the name of a definition."""
    if head.lstrip().startswith(("#", "//", "*", "import ", "from ")):
        return False
    if loose:
        return True
    if any(mark in head for mark in "=.\"'"):
        return False
    return head.count("(") == head.count(")") and _NO_DEFINITION.search(head) is None


def _may_be_python(head: str, behind: str) -> bool:
    """Whether Python would take it for a definition, or for something that gets a value."""
    if head.rstrip().endswith(("def", "class", "type")):
        return True
    return behind.startswith((",", "=", ":", ")")) and not behind.startswith("==")


def _fitting(name: Sequence[str], sites: Sequence[Site]) -> list[Site]:
    """The definitions that a dotted name can mean: as much of it as can be is the definition's own name, and
    what stands before is where the file is."""
    for cut in range(len(name)):
        symbol = ".".join(name[cut:])
        fitting = [
            site
            for site in sites
            if f".{site.definition.name}".endswith(f".{symbol}") and _leads_to(name[:cut], site.path)
        ]
        if fitting:
            # What a module's name stands before is its own rather than a member's of one of its classes.
            own = [site for site in fitting if site.definition.name == symbol] if cut else []
            return own or fitting
    return []


def _leads_to(parts: Sequence[str], path: str) -> bool:
    """Whether names of modules stand in a path, in their order."""
    steps = iter([*path.split("/")[:-1], path.rpartition("/")[2].partition(".")[0]])
    return all(part in steps for part in parts)
