"""One file of code: its definitions, and what any part of it measures to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.languages import LANGUAGES, language_of
from thunderus_mem.evidence.code.locate import Found, locate
from thunderus_mem.evidence.code.outline import ordinary
from thunderus_mem.evidence.code.plain import Plain, keys
from thunderus_mem.evidence.code.shape import blanked
from thunderus_mem.evidence.code.spans import tokens_of_lines
from thunderus_mem.evidence.code.syntax import GRAMMAR, faults, parse, prepare
from thunderus_mem.evidence.code.text import MAX_CODE, conflicts, read_text, trouble_of
from thunderus_mem.evidence.code.trial import trial
from thunderus_mem.evidence.code.walk import CLOSE, OPEN, Walk
from thunderus_mem.model.fingerprint import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.plain import Keyed
    from thunderus_mem.model.fingerprint import Fingerprint

__all__ = ["Definition", "Source"]


_DATA: Final = ("json", "yaml", "css", "hcl")
_MAX_DATA: Final = 200_000
"""Characters: data longer than this is not looked through for its keys, which would be tens of thousands."""

_DEEP: Final = 8
"""Definitions in definitions: the innermost belong to all outer ones, whose sizes add up."""


class Definition:
    """A named piece of a file; ``first`` and ``last`` are its lines, from 1, with decorators and the like."""

    __slots__ = ("_broken", "_fingerprint", "_found", "_source", "first", "kind", "last", "name")

    def __init__(self, source: Source, found: Found | Keyed) -> None:
        self.name, self.kind, self.first, self.last = found.name, found.kind, found.first, found.last
        self._source, self._found = source, found
        self._fingerprint: Fingerprint | None = None
        self._broken = False

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {self._source.path}:{self.first}-{self.last}>"

    @property
    def fingerprint(self) -> Fingerprint:
        """What this node measures to; read when first asked."""
        if self._fingerprint is None:
            self._fingerprint, self._broken = self._source.measure_of(self._found)
        return self._fingerprint

    @property
    def broken(self) -> bool:
        """Whether the parser failed somewhere inside: then its fingerprint says little."""
        return bool(self.fingerprint) and (self._broken or self._source.in_conflict(self.first, self.last))


class Source:
    """One file's bytes, read as code when they can be.

    ``path`` chooses the language. ``language`` is "" when no syntax tree can be had; ``trouble`` says why
    nothing can be said of the file at all ("" when something can), what the caller knows already
    included ("is a link").
    """

    def __init__(self, path: str, data: bytes, trouble: str = "") -> None:
        self.path = path
        self._data = data
        self._root: SgNode | None = None
        self._definitions: tuple[Definition, ...] | None = None
        self._faults: list[int] | None = None
        self._plain: Plain | None = None
        language = language_of(path, data)
        self.trouble = trouble or trouble_of(data, language)
        self._text = "" if self.trouble else read_text(data)
        self.conflicts = conflicts(self._text)
        self.language = "" if self.trouble else language
        if self.language and not ordinary(data, language):
            # Of a file that is only large, what is done here with its tree is not in doubt.
            self._try(self.definitions if ordinary(data, language, MAX_CODE) else self._ask_everything)

    def __repr__(self) -> str:
        return f"<Source {self.path} {self.language or 'text'}{': ' + self.trouble if self.trouble else ''}>"

    def _try(self, work: Callable[[], object]) -> None:
        """Let a child process parse it first: the parsers' own code may end the process it runs in."""
        prepare()
        self.trouble = trial(work)
        if self.trouble:
            self._text, self.conflicts, self.language = "", (), ""

    def _ask_everything(self) -> None:
        self._failed()
        self.whole()
        for one in self.definitions():
            if one.name.count(".") > _DEEP:
                _ = one.fingerprint

    @property
    def text(self) -> str:
        """The text, its lines ended by LF, without byte order mark; "" when there is trouble."""
        return self._text

    def root(self) -> SgNode:
        """The root of the syntax tree; only for files with a language."""
        if self._root is None:
            self._root = parse(self._text, self.language)
        return self._root

    def _as_plain(self) -> Plain:
        if self._plain is None:
            self._plain = Plain(self.path, self._text)
        return self._plain

    def walk(self) -> Walk:
        """A new pass over this file's nodes."""
        return Walk(self._text, LANGUAGES[self.language].rules)

    def measured(self, walk: Walk, shape: list[str] | None = None) -> Fingerprint:
        """The fingerprint of what a pass has found."""
        size = sum(token[0] != OPEN and token != CLOSE for token in walk.tokens)
        return measure(self.language, GRAMMAR, walk.tokens, size, shape, walk.docs)

    def measure_of(self, found: Found | Keyed) -> tuple[Fingerprint, bool]:
        """What a definition of this file measures to, and whether the parser failed inside it."""
        if not isinstance(found, Found):
            return self.of_lines(found.first, found.last) or self.whole(), False
        walk = self.walk()
        walk.run(found.nodes)
        owner = found.name.split(".")[-2] if "." in found.name else ""
        return self.measured(walk, blanked(walk.tokens, found.own, owner)), walk.broken

    def in_conflict(self, first: int, last: int) -> bool:
        """Whether a merge left something to be settled in these lines."""
        return any(start <= last and first <= end for start, end in self.conflicts)

    def _failed(self) -> list[int]:
        if self._faults is None:
            empty = LANGUAGES[self.language].rules.empty if self.language else frozenset[str]()
            self._faults = faults(self.root(), empty) if self.language else []
        return self._faults

    @property
    def broken(self) -> bool:
        """Whether the parser failed anywhere in the file."""
        return bool(self.conflicts or self._failed())

    @property
    def trouble_at(self) -> int:
        """The first line where the parser failed, 0 when it did not."""
        return min([start for start, _ in self.conflicts] + self._failed()[:1], default=0)

    def definitions(self) -> tuple[Definition, ...]:
        """Every named definition, in the order of the file; methods and nested ones as well."""
        if self._definitions is None:
            found: list[Found] | list[Keyed] = []
            if not self.language:
                found = keys(self.path, self._text)
            elif self.language not in _DATA or len(self._text) <= _MAX_DATA:
                found = locate(self._text, self.root(), LANGUAGES[self.language].table)
            self._definitions = tuple(Definition(self, one) for one in found)
        return self._definitions

    def find(self, symbol: str) -> tuple[Definition, ...]:
        """The definitions of that dotted name, else those whose name ends in it; repeated names all."""
        wanted = symbol.replace("::", ".").replace("#", ".").strip(".")
        everything = self.definitions()
        exact = tuple(one for one in everything if one.name == wanted)
        return exact or tuple(one for one in everything if wanted and one.name.endswith("." + wanted))

    def of_lines(self, first: int, last: int) -> Fingerprint | None:
        """What these lines hold; ``None`` when they hold no code or are not in the file."""
        if self.trouble or first < 1 or last < first:
            return None
        if not self.language:
            return self._as_plain().lines(first, last)
        walk = self.walk()
        tokens_of_lines(walk, self.root(), first, last)
        return self.measured(walk) if walk.tokens else None

    def whole(self) -> Fingerprint:
        """What the whole file measures to: its code, its text, or its bytes when there is trouble."""
        if self.trouble:
            return measure("bytes", "", [self._data.hex()], len(self._data))
        if not self.language:
            return self._as_plain().whole()
        walk = self.walk()
        walk.run([self.root()])
        return self.measured(walk)
