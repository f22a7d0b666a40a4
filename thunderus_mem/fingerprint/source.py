"""One file of code, and what any piece of it measures to: a fingerprint, one line of text that formatting
does not change and meaning does.

From below: the fingerprint as a value, tokens of lines and of definitions, what bytes look like and whether a
parser may be trusted with them, files without a grammar (Pygments, or plain lines), and `CodeSource`.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.fingerprint import definitions, languages
from thunderus_mem.fingerprint.walk import CLOSE, OPEN, TokenWalk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ast_grep_py import SgNode

RULES: Final = 1
"""Version of our own rules: raised whenever the same code may measure differently than before."""
NO_SHAPE: Final = "-"
"""The shape of code that has no name of its own."""
_HASH_DIGITS: Final = 20
_DOC_DIGITS: Final = 8
_WRITTEN: Final = re.compile(
    r"([a-z][a-z0-9+#_.-]{0,39})@([0-9][0-9.]{0,15})?/([0-9]{1,6})"
    r":([0-9a-f]{20}):([0-9a-f]{20}|-):([0-9]{1,9})(?::([0-9a-f]{8}))?"
)


class Fingerprint(NamedTuple):
    """The measure of one piece of code; ``str()`` of it is what is written into a file.

    ``scheme`` is what was read: the name of a language (its syntax tree), ``text-<lexer>`` (tokens of
    Pygments), ``lines`` (lines without the space around them), ``bytes`` (a file that cannot be read as
    text) or ``files`` (many files). ``grammar`` is the version of the library that read it ("" when none
    did), ``rules`` the version of our own rules. ``hash`` stands for the code, ``shape`` for the same code
    whatever its name is ("-" when it has none), ``size`` is the number of its tokens, and ``doc`` stands for
    its docstrings ("" when it has none).
    """

    scheme: str
    grammar: str
    rules: int
    hash: str
    shape: str
    doc: str
    size: int

    def __str__(self) -> str:
        doc = f":{self.doc}" if self.doc else ""
        return f"{self.scheme}@{self.grammar}/{self.rules}:{self.hash}:{self.shape}:{self.size}{doc}"


def parse_fingerprint(text: str) -> Fingerprint | None:
    """The fingerprint written as this text; ``None`` when it is not one of ours."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    scheme, grammar, rules, code, shape, size, doc = found.groups()
    return Fingerprint(scheme, grammar or "", int(rules), code, shape, doc or "", int(size))


def same_measure(a: Fingerprint, b: Fingerprint) -> bool:
    """Whether both were measured in the same way, so that different hashes mean different code."""
    return (a.scheme, a.grammar, a.rules) == (b.scheme, b.grammar, b.rules)


def digest(parts: Iterable[str], digits: int = _HASH_DIGITS) -> str:
    """Hex digits that stand for these texts in this order; lone surrogates are allowed in them."""
    # No part holds NUL: files with one are not read as text, and strings by value escape theirs.
    joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:digits]


def measure(
    scheme: str,
    grammar: str,
    tokens: Iterable[str],
    size: int,
    shape: Iterable[str] | None = None,
    docs: Iterable[str] = (),
) -> Fingerprint:
    """The fingerprint of a stream of tokens, of that stream without the code's own name, of docstrings."""
    texts = list(docs)
    return Fingerprint(
        scheme,
        grammar,
        RULES,
        digest(tokens),
        NO_SHAPE if shape is None else digest(shape),
        digest(texts, _DOC_DIGITS) if texts else "",
        size,
    )


_DIGITS: Final = 20
_MEASURES: Final = 10**8


def fingerprint_of_files(sources: Iterable[CodeSource]) -> Fingerprint:
    """The fingerprint of files together: of each its path and what it holds, in the order of the paths.

    Its grammar is a hash over the measures of the files, so that files read by another grammar are told
    apart from files that changed.
    """
    total = hashlib.sha256()
    measures: set[str] = set()
    size = 0
    for source in sorted(sources, key=lambda source: source.path):
        one = source.whole()
        measures.add(f"{one.grammar}/{one.rules}")
        total.update(f"{source.path}\0{one.hash}\0".encode("utf-8", "surrogateescape"))
        size += one.size
    measure = int(hashlib.sha256("\0".join(sorted(measures)).encode()).hexdigest(), 16) % _MEASURES
    return Fingerprint("files", str(measure), 1, total.hexdigest()[:_DIGITS], "-", "", size)


def tokens_of_lines(walk: TokenWalk, root: SgNode, first: int, last: int) -> None:
    """Add the tokens that begin in these lines (from 1) to the walk."""
    stack = [root]
    rules = walk.rules
    while stack:
        node = stack.pop()
        kind = node.kind()
        if not kind or kind in rules.comments:
            continue
        span = node.range()
        begins, ends = span.start.line + 1, span.end.line + (1 if span.end.column else 0)
        if ends < first or begins > last:
            continue
        children = node.children()
        inside = begins >= first and ends <= last
        if inside or not children:
            if begins >= first and (children or kind not in rules.drop):
                walk.run([node])
            continue
        stack.extend(reversed(children))


_BLANK: Final = "\x04"
_JOINTS: Final = frozenset([".", "?.", "::", "->", ":", "#"])
_SELVES: Final = frozenset(["self", "this", "cls", "Self", "super", "static"])
_KEYWORD: Final = OPEN + "keyword_argument"


def blanked(tokens: Sequence[str], name: str, owner: str = "") -> list[str]:
    """The tokens, blank where the definition names itself: where it is declared, and where it calls itself.

    Behind a point a name is another's (``cache.get`` in ``get``), unless it is the object itself
    that stands before the point, or ``owner``, the type the definition belongs to.
    """
    written = list(tokens)
    for at, token in enumerate(tokens):
        if token != name or (at and tokens[at - 1] == _KEYWORD):
            continue
        if at < 2 or tokens[at - 1] not in _JOINTS or _itself(tokens, at - 2, owner):
            written[at] = _BLANK
    return written


def _itself(tokens: Sequence[str], at: int, owner: str) -> bool:
    return tokens[at] in _SELVES or (owner != "" and tokens[at] == owner)


_BRACKETS: Final = b"([{)]}"
_STEP: Final = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
_OTHERS: Final = bytes(sorted(set(range(256)) - set(_BRACKETS)))
_MARKED: Final = ("yaml", "markdown")
_NUMBERS_AND_MARKS: Final = b" \t>-*+?:.)0123456789"

# Of 20,796 files of 17 repositories and three sets of libraries, 99.3 % are within all of these.
_SIZE: Final = 150_000
_LINE: Final = 2_000
_DEPTH: Final = 48
_INDENTS: Final = 48
_MARKS: Final = 8
_PACKED: Final = 12
"""How many times smaller compression makes a text: 6 in one of a hundred; what is one thing said a
thousand times, as most texts are that harm a parser, becomes fifty times smaller and more."""


def ordinary(data: bytes, language: str, most: int = _SIZE) -> bool:
    """Whether a file is like those that people write, so that its parser may be trusted with it.

    ``most`` are the bytes it may have: parsers take seconds for more of what is no code at all.
    """
    small = len(data) <= most and len(data) <= _PACKED * len(zlib.compress(data, 1))
    return small and well_formed(data, language)


def well_formed(data: bytes, language: str = "") -> bool:
    """Whether lines, brackets and indents are as people write them."""
    lines = data.split(b"\n")
    return (
        max(map(len, lines)) <= _LINE
        and depth(data) <= _DEPTH
        and indents(lines) <= _INDENTS
        and marks(lines, language) <= _MARKS
    )


def depth(data: bytes) -> int:
    """How deep brackets stand in each other, wherever they stand."""
    brackets = data.translate(None, _OTHERS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def indents(lines: list[bytes]) -> int:
    """How many different indents there are; scanners keep a stack of bounded size."""
    return len({len(line) - len(line.lstrip()) for line in lines})


def marks(lines: list[bytes], language: str) -> int:
    """The most marks of lists and quotes that begin a line, each inside the one before; else 0."""
    if language not in _MARKED:
        return 0
    return max(_marks(line) for line in lines)


def _marks(line: bytes) -> int:
    start = line[: len(line) - len(line.lstrip(_NUMBERS_AND_MARKS))]
    return len(start.replace(b">", b"> ").split())


MAX_CODE: Final = 2_000_000
"""Bytes. A parser takes about 0.2 s for a million."""
_MAX_DEPTH: Final = 200
_MAX_INDENTS: Final = 100
_LONG: Final = 10_000
_MEAN_LINE: Final = 1_000
_TEXT_PACKED: Final = ("javascript", "typescript", "tsx", "css", "html")
"""Languages that are shipped without line ends."""
_MOST_MARKS: Final = 40
"""Scanners of lists and quotes keep what is open in 1,024 bytes, and end the process when more is."""
_TEXT_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def trouble_of(data: bytes, language: str) -> str:
    """Why nothing can be said of these bytes, "" when something can."""
    if len(data) > MAX_CODE:
        return f"{len(data) / 1e6:.1f} MB, more than {MAX_CODE / 1e6:.0f} MB"
    if b"\x00" in data and not data.startswith(tuple(mark for mark, _ in _TEXT_MARKS)):
        return "binary"
    if not language:
        return ""
    if (
        language in _TEXT_PACKED
        and len(data) > _LONG
        and len(data) / (data.count(b"\n") + data.count(b"\r") + 1) > _MEAN_LINE
    ):
        return "minified"
    if depth(data) > _MAX_DEPTH:
        return f"brackets nested more than {_MAX_DEPTH} deep"
    lines = data.split(b"\n")
    if marks(lines, language) > _MOST_MARKS:
        return f"more than {_MOST_MARKS} lists or quotes in each other"
    if indents(lines) > _MAX_INDENTS:
        return f"more than {_MAX_INDENTS} different indents"
    return ""


def read_text(data: bytes) -> str:
    """The text, its lines ended by LF. Bytes that are not UTF-8 are read as Latin-1, which never fails."""
    encoding = next((name for mark, name in _TEXT_MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def conflicts(text: str) -> tuple[tuple[int, int], ...]:
    """Lines (first and last, from 1) that a merge left to be settled; only when all marks are there."""
    if "<<<<<<< " not in text or ">>>>>>> " not in text:
        return ()
    found: list[tuple[int, int]] = []
    start = middle = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("<<<<<<< "):
            start, middle = number, 0
        elif start and line == "=======":
            middle = number
        elif middle and line.startswith(">>>>>>> "):
            found.append((start, number))
            start = middle = 0
    return tuple(found)


_SECTION: Final = re.compile(r"\[{1,2}([^\]\[]+)\]{1,2}(?:\s+|\s*[#;].*)?")
_KEY: Final = re.compile(r"([\w.\"'-]+)\s*[=:]")
_TARGET: Final = re.compile(r"([\w./%-]+)\s*(?:::?(?!=)|[:?+]?=)")


class Keyed(NamedTuple):
    """A named part of a plain file: its dotted name, what it is, its lines from 1."""

    name: str
    kind: str
    first: int
    last: int


class Plain:
    """A file without a grammar, read once: its tokens or lines, each with the line (from 1) it begins in."""

    def __init__(self, path: str, text: str) -> None:
        alias = _alias(path, text)
        self._scheme, self._grammar = (f"text-{alias}", languages.lexer_version()) if alias else ("lines", "")
        rows = enumerate(text.split("\n"), 1)
        parts = languages.lexed(alias, text) if alias else [(at, " ".join(row.split())) for at, row in rows]
        self._lines = [line for line, word in parts if word]
        self._words = [word for _, word in parts if word]

    def lines(self, first: int, last: int) -> Fingerprint | None:
        """The measure of these lines; ``None`` when nothing stands in them."""
        words = self._words[bisect_left(self._lines, first) : bisect_left(self._lines, last + 1)]
        return self._measured(words) if words else None

    def whole(self) -> Fingerprint:
        """The measure of the whole text."""
        return self._measured(self._words)

    def _measured(self, words: list[str]) -> Fingerprint:
        return measure(self._scheme, self._grammar, words, len(words))


def _alias(path: str, text: str) -> str:
    # Lexers are patterns that look far ahead: over one line of 100,000 brackets some take minutes.
    alias = languages.lexer_name(path) if len(text) <= languages.MAX_LEXED else ""
    return alias if alias and well_formed(text.encode()) else ""


def keys(path: str, text: str) -> list[Keyed]:
    """Sections and keys of TOML and INI, targets and variables of makefiles; of other files none."""
    alias = _alias(path, text)
    if alias not in ("toml", "ini", "make"):
        return []
    lines = text.split("\n")
    starts = _targets(lines) if alias == "make" else _settings(lines)
    found: list[Keyed] = []
    following = section = len(lines)
    for line, name, kind in reversed(starts):
        stop = section if kind == "section" else following
        following = line - 1
        section = following if kind == "section" else section
        while stop > line and not lines[stop - 1].strip(" \t#;"):
            stop -= 1
        found.append(Keyed(name, kind, line, stop))
    return found[::-1]


def _settings(lines: list[str]) -> list[tuple[int, str, str]]:
    starts: list[tuple[int, str, str]] = []
    section = ""
    for number, line in enumerate(lines, 1):
        if (header := _SECTION.fullmatch(line.strip()[:500])) and header[1].strip():
            section = header[1].replace('"', "").strip()
            starts.append((number, section, "section"))
        elif line[:1].strip() and (key := _KEY.match(line[:500])):
            name = key[1].strip("\"'")
            starts.append((number, f"{section}.{name}" if section else name, "key"))
    return starts


def _targets(lines: list[str]) -> list[tuple[int, str, str]]:
    found = [(number, _TARGET.match(line[:500])) for number, line in enumerate(lines, 1)]
    return [(number, match[1], "target") for number, match in found if match is not None]


_DATA: Final = ("json", "yaml", "css", "hcl")
_MAX_DATA: Final = 200_000
"""Characters: data longer than this is not looked through for its keys, which would be tens of thousands."""

_DEEP: Final = 8
"""Definitions in definitions: the innermost belong to all outer ones, whose sizes add up."""


class Definition:
    """A named piece of a file; ``first`` and ``last`` are its lines, from 1, with decorators and the like."""

    __slots__ = ("_broken", "_fingerprint", "_found", "_source", "first", "kind", "last", "name")

    def __init__(self, source: CodeSource, found: definitions.FoundDefinition | Keyed) -> None:
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


class CodeSource:
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
        language = languages.language_of(path, data)
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
        definitions.prepare()
        self.trouble = definitions.trial(work)
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
            self._root = definitions.parse(self._text, self.language)
        return self._root

    def _as_plain(self) -> Plain:
        if self._plain is None:
            self._plain = Plain(self.path, self._text)
        return self._plain

    def walk(self) -> TokenWalk:
        """A new pass over this file's nodes."""
        return TokenWalk(self._text, languages.LANGUAGES[self.language].rules)

    def measured(self, walk: TokenWalk, shape: list[str] | None = None) -> Fingerprint:
        """The fingerprint of what a pass has found."""
        size = sum(token[0] != OPEN and token != CLOSE for token in walk.tokens)
        return measure(self.language, definitions.GRAMMAR, walk.tokens, size, shape, walk.docs)

    def measure_of(self, found: definitions.FoundDefinition | Keyed) -> tuple[Fingerprint, bool]:
        """What a definition of this file measures to, and whether the parser failed inside it."""
        if not isinstance(found, definitions.FoundDefinition):
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
            empty = languages.LANGUAGES[self.language].rules.empty if self.language else frozenset[str]()
            self._faults = definitions.faults(self.root(), empty) if self.language else []
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
            found: list[definitions.FoundDefinition] | list[Keyed] = []
            if not self.language:
                found = keys(self.path, self._text)
            elif self.language not in _DATA or len(self._text) <= _MAX_DATA:
                found = definitions.locate(self._text, self.root(), languages.LANGUAGES[self.language].table)
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
