"""A file of code and the fingerprints of its parts: one-line hashes that change with the meaning of the code,
but not with its formatting.

In this order: the fingerprint as a value, the shape of a definition, checks whether bytes are safe to
parse, files without a grammar (Pygments, or plain lines), and `CodeSource`.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from bisect import bisect_left
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions, languages, plain
from thunderus_mem.fingerprint.selectors import Selector, dotted, parameters_of, split_selector
from thunderus_mem.fingerprint.walk import CLOSE, OPEN, TokenWalk, tokens_of_lines
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ast_grep_py import SgNode

NO_SHAPE: Final = "-"
"""The shape of code without a name of its own."""
_MANY: Final = "+many"
_HASH_DIGITS: Final = 20
_DOC_DIGITS: Final = 8
_WRITTEN: Final = lazy_pattern(
    r"([a-z][a-z0-9+#_.-]{0,39})@([0-9][0-9.]{0,15})?/([0-9]{1,6})"
    r":([0-9a-f]{20}):([0-9a-f]{20}|-):([0-9]{1,9})(?::([0-9a-f]{8}))?"
)


class Fingerprint(NamedTuple):
    """The fingerprint of a piece of code; ``str()`` gives its form in documents.

    ``scheme`` is the input: a language (its syntax tree), ``text-<lexer>`` (tokens of Pygments), ``lines``
    (stripped lines), ``bytes`` (a file that is not text) or ``files`` (many files), followed by ``+many`` for
    several definitions of one name and ``+lines`` for a range of lines of a syntax tree. ``grammar`` is the
    version of the parser library ("" for none), ``rules`` that of the scheme's rules. ``hash`` is a hash
    of the code, ``shape`` one of the code without its own name ("-" if it has no name), ``size`` the number
    of tokens, and ``doc`` a hash of the docstrings ("" for none).
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
    """Parse a fingerprint; ``None`` when the text is not one."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    scheme, grammar, rules, code, shape, size, doc = found.groups()
    return Fingerprint(scheme, grammar or "", int(rules), code, shape, doc or "", int(size))


def same_measure(a: Fingerprint, b: Fingerprint) -> bool:
    """Whether both were computed in the same way, so that different hashes mean different code."""
    return (_one(a.scheme), a.grammar, a.rules) == (_one(b.scheme), b.grammar, b.rules)


def _one(scheme: str) -> str:
    return scheme.removesuffix(_MANY)


def of_many(found: Fingerprint) -> bool:
    """Whether it is the fingerprint of several definitions."""
    return found.scheme.endswith(_MANY)


def combined(found: Sequence[Fingerprint]) -> Fingerprint:
    """The fingerprint of the definitions of one name, read in the same way; their order does not matter."""
    if len(found) == 1:
        return found[0]
    docs = sorted(one.doc for one in found if one.doc)
    shapes = sorted(one.shape for one in found)
    return Fingerprint(
        found[0].scheme + _MANY,
        found[0].grammar,
        max(one.rules for one in found),
        digest(sorted(one.hash for one in found)),
        NO_SHAPE if NO_SHAPE in shapes else digest(shapes),
        digest(docs, _DOC_DIGITS) if docs else "",
        sum(one.size for one in found),
    )


def digest(parts: Iterable[str], digits: int = _HASH_DIGITS) -> str:
    """Hex digest of texts, in order; they may contain lone surrogates."""
    # No part contains NUL: files with NUL are not parsed, and string values escape it.
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
    """The fingerprint of tokens, of the tokens without the code's own name, and of docstrings."""
    texts = list(docs)
    return Fingerprint(
        scheme,
        grammar,
        languages.version_of(scheme),
        digest(tokens),
        NO_SHAPE if shape is None else digest(shape),
        digest(texts, _DOC_DIGITS) if texts else "",
        size,
    )


_DIGITS: Final = 20
_MEASURES: Final = 10**8


def fingerprint_of_files(sources: Iterable[CodeSource]) -> Fingerprint:
    """The fingerprint of several files: their paths and contents, in the order of the paths.

    Its grammar is a hash of the grammars of all files, to distinguish files parsed with another grammar from
    changed files.
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


_BLANK: Final = "\x04"
_JOINTS: Final = frozenset([".", "?.", "::", "->", ":", "#"])
_SELVES: Final = frozenset(["self", "this", "cls", "Self", "super", "static"])
_KEYWORD: Final = OPEN + "keyword_argument"


def blanked(tokens: Sequence[str], name: str, owner: str = "") -> list[str]:
    """The tokens with the definition's own name blanked, in its declaration and in recursive calls.

    After a dot a name belongs to another object (``cache.get`` in ``get``), unless the object itself or
    ``owner``, the type of the definition, is before the dot.
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

# 99.3 % of 20,796 files of 17 repositories and three sets of libraries are within all of these limits.
_SIZE: Final = 150_000
_LINE: Final = 2_000
_DEPTH: Final = 48
_HIDDEN: Final = 200
"""Maximum depth with brackets in strings and comments: every grammar parses as much in milliseconds."""
_INDENTS: Final = 48
_MARKS: Final = 8
_PACKED: Final = 12
"""Maximum compression ratio: one text in a hundred reaches 6; repetitive texts, as most that harm a parser
are, reach 50 and more."""


def ordinary(data: bytes, language: str, most: int = _SIZE) -> bool:
    """Whether a file looks like normal code, so that it is safe to parse.

    ``most`` is its maximum size in bytes: parsers take seconds for larger files that are not code.
    """
    small = len(data) <= most and len(data) <= _PACKED * len(zlib.compress(data, 1))
    return small and well_formed(data, language)


def well_formed(data: bytes, language: str = "") -> bool:
    """Whether line lengths, bracket depth and indents are normal."""
    lines = data.split(b"\n")
    return (
        max(map(len, lines)) <= _LINE
        and _nesting(data) <= _HIDDEN
        and depth(data, language) <= _DEPTH
        and indents(lines) <= _INDENTS
        and marks(lines, language) <= _MARKS
    )


def depth(data: bytes, language: str = "") -> int:
    """The maximum nesting depth of brackets; in a language, without those in strings and comments.

    The strings and comments are found without a parser, which could be misled, so some brackets of the code
    may be missing; one that opens an expression in a string is never missing.
    """
    nesting = _nesting(data)
    if nesting <= _DEPTH or not language:
        return nesting
    return min(nesting, _nesting(_texts(language).sub(b"", data)))


def _nesting(data: bytes) -> int:
    brackets = data.translate(None, _OTHERS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


_WITHOUT_EXPRESSIONS: Final = frozenset(
    ["c", "c-header", "cpp", "css", "ecma", "go", "haskell", "java", "json", "lua", "rust", "solidity", "zig"]
)
"""Languages whose strings in quotes contain no expressions."""
_COMMENT_MARKS: Final = {
    **dict.fromkeys(["bash", "elixir", "hcl", "nix", "php", "python", "ruby", "yaml"], b"#"),
    **dict.fromkeys(["haskell", "lua"], b"--"),
}


@cache
def _texts(language: str) -> re.Pattern[bytes]:
    """The strings and comments of a language, or their parts before and after what may be an expression."""
    free = language in _WITHOUT_EXPRESSIONS
    opening, escape = (b"", rb"\\[\s\S]") if free else (rb"{$", rb"\\[^(]")
    # No pattern can fail after its first character, so the time is linear.
    return re.compile(
        rb'"""(?:[^"\\%(opening)s]|%(escape)s|"(?!""))*(?:""")?'
        rb'|"(?:[^"\\\n%(opening)s]|%(escape)s)*"?'
        rb"|'(?:[^'\\\n%(opening)s]|%(escape)s)*'?"
        rb"|/\*(?:[^*%(opening)s]|\*(?!/))*(?:\*/)?"
        rb"|%(mark)s[^\n%(opening)s]*"
        % {b"opening": opening, b"escape": escape, b"mark": _COMMENT_MARKS.get(language, b"//")}
    )


def indents(lines: list[bytes]) -> int:
    """The number of different indents; scanners have a stack of bounded size."""
    return len({len(line) - len(line.lstrip()) for line in lines})


def marks(lines: list[bytes], language: str) -> int:
    """The maximum number of nested list and quote marks at the start of a line; 0 for other languages."""
    if language not in _MARKED:
        return 0
    return max(_marks(line) for line in lines)


def _marks(line: bytes) -> int:
    start = line[: len(line) - len(line.lstrip(_NUMBERS_AND_MARKS))]
    return len(start.replace(b">", b"> ").split())


MAX_CODE: Final = 2_000_000
"""Maximum size in bytes. A parser takes about 0.2 s per million."""
_MAX_DEPTH: Final = 200
_MAX_INDENTS: Final = 100
_LONG: Final = 10_000
_MEAN_LINE: Final = 1_000
_TEXT_PACKED: Final = ("ecma", "css", "html")
"""Languages that are often minified."""
_MOST_MARKS: Final = 40
"""Scanners keep open lists and quotes in 1,024 bytes, and abort the process when there are more."""
_TEXT_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def trouble_of(data: bytes, language: str) -> str:
    """Why these bytes cannot be compared; "" when they can."""
    if len(data) > MAX_CODE:
        return f"too large: {len(data) / 1e6:.1f} MB, over the limit of {MAX_CODE / 1e6:.0f} MB"
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
    if depth(data, language) > _MAX_DEPTH:
        return f"brackets nested more than {_MAX_DEPTH} levels deep"
    lines = data.split(b"\n")
    if marks(lines, language) > _MOST_MARKS:
        return f"more than {_MOST_MARKS} nested lists or quotes"
    if indents(lines) > _MAX_INDENTS:
        return f"more than {_MAX_INDENTS} different indents"
    return ""


def read_text(data: bytes) -> str:
    """The text with LF line ends. Bytes that are not UTF-8 are decoded as Latin-1, which never fails."""
    encoding = next((name for mark, name in _TEXT_MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def conflicts(text: str) -> tuple[tuple[int, int], ...]:
    """Lines (first and last, from 1) of merge conflicts with all their markers."""
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


class Plain:
    """A file without a grammar, read once: its tokens or lines, each with the line (from 1) where it
    begins, and its keys."""

    def __init__(self, path: str, text: str) -> None:
        # Lexers use patterns with long lookahead: some take minutes for one line of 100,000 brackets.
        alias = plain.lexer_name(path) if len(text) <= plain.MAX_LEXED and well_formed(text.encode()) else ""
        self.has_keys = alias in plain.KEYED
        self._scheme, self._grammar = plain.scheme_of(alias)
        parts = plain.tokens(alias, text)
        self._lines = [line for line, _ in parts]
        self._words = [word for _, word in parts]
        self.keys = plain.keys(alias, text, parts)

    def lines(self, first: int, last: int) -> Fingerprint | None:
        """The fingerprint of these lines; ``None`` when they are empty."""
        words = self._between(first, last)
        return self._measured(words) if words else None

    def key(self, found: plain.Keyed) -> Fingerprint:
        """The fingerprint of a named part; its shape is without the name, the first word."""
        words = self._between(found.first, found.last)
        name = next((at for at, word in enumerate(words) if word != "["), 0)
        return self._measured(words, [*words[:name], _BLANK, *words[name + 1 :]])

    def whole(self) -> Fingerprint:
        """The fingerprint of the whole text."""
        return self._measured(self._words)

    def _between(self, first: int, last: int) -> list[str]:
        return self._words[bisect_left(self._lines, first) : bisect_left(self._lines, last + 1)]

    def _measured(self, words: list[str], shape: list[str] | None = None) -> Fingerprint:
        return measure(self._scheme, self._grammar, words, len(words), shape)


def _words(alias: str, text: str) -> list[str]:
    """The tokens of a text, without commas before closing brackets."""
    usable = len(text) <= plain.MAX_LEXED and well_formed(text.encode())
    words = [word for _, word in plain.lexed(alias, text)] if usable else text.split()
    return [word for word, behind in pairwise([*words, ""]) if word != "," or behind not in ")]}"]


_DATA: Final = ("json", "yaml", "css", "hcl")
_MAX_DATA: Final = 200_000
"""Characters: longer data is not searched for keys, which would be tens of thousands."""

_DEEP: Final = 8
"""Maximum nesting of definitions: inner ones are part of all outer ones, so the sizes add up."""


_MOST_USES: Final = 200


class Definition:
    """A named part of a file; ``first`` and ``last`` are its lines (from 1), including decorators."""

    def __init__(self, source: CodeSource, found: definitions.FoundDefinition | plain.Keyed) -> None:
        self.name, self.kind, self.first, self.last = found.name, found.kind, found.first, found.last
        self._source, self._found = source, found

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {self._source.path}:{self.first}-{self.last}>"

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint by its syntax tree, or by its tokens if the parser failed inside; computed on first
        use."""
        return self.tokens if self.fails else self._measured[0]

    @cached_property
    def tokens(self) -> Fingerprint:
        """The fingerprint by its tokens, which do not depend on the parser. Plain files have only one."""
        return self._source.tokens_of(self._found) or self._measured[0]

    def read_as(self, scheme: str) -> Fingerprint:
        """The fingerprint by the reader of a scheme, if it can read this definition."""
        return self.tokens if languages.by_tokens(scheme) else self.fingerprint

    @cached_property
    def has_body(self) -> bool:
        """Whether it is more than a declaration, such as a prototype or an abstract method."""
        return self._source.has_body(self._found)

    @cached_property
    def parameters(self) -> tuple[str, ...] | None:
        """The types of its parameters; ``None`` when it has none."""
        found = self._found
        return parameters_of(found.node) if isinstance(found, definitions.FoundDefinition) else None

    @property
    def broken(self) -> bool:
        """Whether the parser failed somewhere inside, or it contains a merge conflict."""
        return self.fails or self._source.in_conflict(self.first, self.last)

    @property
    def fails(self) -> bool:
        """Whether the parser failed somewhere inside."""
        return self._measured[1]

    def uses(self, at: int) -> bool:
        """Whether a place in the text is in this definition, and the parser did not fail inside."""
        found = self._found
        if not isinstance(found, definitions.FoundDefinition):
            return False
        return any(definitions.covers(node, at) for node in found.nodes) and not self.broken

    def is_in(self, source: CodeSource) -> bool:
        """Whether a file contains the lines of this definition, which were in a file without an error."""
        lines = "\n".join(self._source.text.split("\n")[self.first - 1 : self.last])
        return not self._source.broken and f"\n{lines}\n" in f"\n{source.text}\n"

    @cached_property
    def _measured(self) -> tuple[Fingerprint, bool]:
        return self._source.measure_of(self._found)


class Named:
    """What a symbol means in a file: all ``members`` with its full ``name``, or those that ``selector``
    chooses.

    Members without a body, such as prototypes, count only where none has a body.
    """

    def __init__(self, members: tuple[Definition, ...], selector: Selector) -> None:
        self.members = members
        self.name = members[0].name
        self.selector = selector._replace(name=self.name)

    def __repr__(self) -> str:
        return f"<{len(self.members)} of {self.symbol}>"

    @property
    def symbol(self) -> str:
        """The full name with the selector."""
        return str(self.selector)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the member, or one of all members, whose order does not matter. All are read by
        their tokens if the parser failed inside one."""
        if any(one.fails for one in self.members):
            return self.tokens
        return combined([one.fingerprint for one in self.members])

    @cached_property
    def tokens(self) -> Fingerprint:
        """The fingerprint by tokens, which do not depend on the parser."""
        return combined([one.tokens for one in self.members])

    def read_as(self, scheme: str) -> Fingerprint:
        """The fingerprint by the reader of a scheme, if it can read every member."""
        return self.tokens if languages.by_tokens(scheme) else self.fingerprint

    @property
    def is_several(self) -> bool:
        """Whether it has more than one member."""
        return len(self.members) > 1

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The first and last line of each member."""
        return [(one.first, one.last) for one in self.members]

    @property
    def broken(self) -> bool:
        """Whether the parser failed inside a member."""
        return any(one.broken for one in self.members)

    def is_in(self, source: CodeSource) -> bool:
        """Whether a file contains the lines of each member, which were in a file without an error."""
        return all(one.is_in(source) for one in self.members)

    def each(self) -> list[Named]:
        """Each member with the selector that chooses it alone."""
        signatures = [one.parameters for one in self.members]
        equal = len(set(signatures)) == 1
        found = []
        for at, one in enumerate(self.members):
            alike = signatures.count(one.parameters) > 1
            nth = signatures[: at + 1].count(one.parameters) if alike or one.parameters is None else 0
            types = None if equal else one.parameters
            found.append(Named((one,), Selector(one.name, types, nth)))
        return found


def _selected(members: Sequence[Definition], asked: Selector) -> Named | None:
    """The definitions that a selector chooses among those of one name; ``None`` when there are none."""
    if asked.parameters is not None:
        members = [one for one in members if one.parameters == asked.parameters]
    kept = list(members)
    if len(kept) > 1:
        kept = [one for one in kept if one.has_body] or kept
    if asked.nth:
        if len({one.parameters for one in kept}) > 1:  # without types, only what has no parameters is left
            kept = [one for one in kept if one.parameters is None]
        kept = kept[asked.nth - 1 : asked.nth]
    return Named(tuple(kept), asked) if kept else None


def _meanings(found: Iterable[Definition], asked: Selector) -> tuple[Named, ...]:
    """What a selector chooses for each full name."""
    groups: dict[str, list[Definition]] = {}
    for one in found:
        groups.setdefault(one.name, []).append(one)
    kept = (_selected(members, asked) for members in groups.values())
    return tuple(one for one in kept if one is not None)


class CodeSource:
    """The bytes of a file, parsed as code if possible.

    ``path`` determines the language. ``language`` is "" when there is no syntax tree; ``trouble`` says why
    the file cannot be compared at all ("" when it can), including reasons passed in by the caller ("it is a
    symlink").
    """

    def __init__(self, path: str, data: bytes, trouble: str = "") -> None:
        self.path = path
        self._data = data
        self._parsed: definitions.Parsed | None = None
        self._definitions: tuple[Definition, ...] | None = None
        self._places: tuple[Named, ...] | None = None
        self._faults: list[int] | None = None
        self._plain: Plain | None = None
        language = languages.language_of(path, data)
        self.trouble = trouble or trouble_of(data, language)
        self._text = "" if self.trouble else read_text(data)
        self.conflicts = conflicts(self._text)
        self.language = "" if self.trouble else language
        if self.language and not ordinary(data, language):
            # For a file that is only large, parsing is the only risk.
            self._try(self.definitions if ordinary(data, language, MAX_CODE) else self._ask_everything)

    def __repr__(self) -> str:
        return f"<Source {self.path} {self.language or 'text'}{': ' + self.trouble if self.trouble else ''}>"

    def _try(self, work: Callable[[], object]) -> None:
        """Parse it in a child process first: a parser may crash its process."""
        definitions.prepare()
        self.trouble = definitions.trial(work)
        if self.trouble:
            self._text, self.conflicts, self.language = "", (), ""

    def _ask_everything(self) -> None:
        self._failed()
        self.whole()
        for one in self.definitions():
            if one.name.count(".") > _DEEP:
                _ = one.broken

    @property
    def text(self) -> str:
        """The text with LF line ends and without byte order mark; "" when there is trouble."""
        return self._text

    def root(self) -> SgNode:
        """The root of the syntax tree; only for files with a language."""
        return self._parse().root

    def _parse(self) -> definitions.Parsed:
        if self._parsed is None:
            language = languages.LANGUAGES[self.language]
            self._parsed = definitions.parse_with(self._text, list(language.tables), language.rules.empty)
        return self._parsed

    def _table(self) -> definitions.Table:
        return languages.LANGUAGES[self.language].tables[self._parse().grammar]

    def _as_plain(self) -> Plain:
        if self._plain is None:
            self._plain = Plain(self.path, self._text)
        return self._plain

    @property
    def has_symbols(self) -> bool:
        """Whether parts of this kind of file have names, so that one that is not found is missing."""
        if self.language:
            return True
        return plain.lexer_name(self.path) in plain.KEYED and self._as_plain().has_keys

    def walk(self) -> TokenWalk:
        """A new pass over this file's nodes."""
        return TokenWalk(self._text, languages.LANGUAGES[self.language].rules)

    def measured(self, walk: TokenWalk, shape: list[str] | None = None) -> Fingerprint:
        """The fingerprint of the tokens of a pass."""
        size = sum(token[0] != OPEN and token != CLOSE for token in walk.tokens)
        return measure(self.language, definitions.GRAMMAR, walk.tokens, size, shape, walk.docs)

    def measure_of(self, found: definitions.FoundDefinition | plain.Keyed) -> tuple[Fingerprint, bool]:
        """The fingerprint of a definition, and whether the parser failed inside it."""
        if not isinstance(found, definitions.FoundDefinition):
            return self._as_plain().key(found), False
        walk = self.walk()
        walk.run(found.nodes)
        owner = found.name.split(".")[-2] if "." in found.name else ""
        return self.measured(walk, blanked(walk.tokens, found.own, owner)), walk.broken

    def has_body(self, found: definitions.FoundDefinition | plain.Keyed) -> bool:
        """Whether a definition is more than a declaration."""
        if not isinstance(found, definitions.FoundDefinition):
            return True
        return definitions.has_body(found, self._table())

    def tokens_of(self, found: definitions.FoundDefinition | plain.Keyed) -> Fingerprint | None:
        """The fingerprint of a definition by its tokens; ``None`` in a plain file."""
        if not isinstance(found, definitions.FoundDefinition):
            return None
        text = "\n".join(definitions.text_of(self._text, node) for node in found.nodes)
        words = _words(plain.lexer_of(self.language), text)
        owner = found.name.split(".")[-2] if "." in found.name else ""
        shape = blanked(words, found.own, owner)
        return measure(self.language + languages.TOKENS, plain.lexer_version(), words, len(words), shape)

    def in_conflict(self, first: int, last: int) -> bool:
        """Whether these lines contain a merge conflict."""
        return any(start <= last and first <= end for start, end in self.conflicts)

    def _failed(self) -> list[int]:
        if self._faults is None:
            if not self.language:
                self._faults = []
            elif (known := self._parse().faults) is not None:
                self._faults = known
            else:
                self._faults = definitions.faults(self.root(), languages.LANGUAGES[self.language].rules.empty)
        return self._faults

    @property
    def broken(self) -> bool:
        """Whether the parser failed anywhere in the file."""
        return bool(self.conflicts or self._failed())

    @property
    def trouble_at(self) -> int:
        """The first line where the parser failed; 0 when it did not."""
        return min([start for start, _ in self.conflicts] + self._failed()[:1], default=0)

    def definitions(self) -> tuple[Definition, ...]:
        """Every named definition, in the order of the file, including methods and nested ones."""
        if self._definitions is None:
            found: list[definitions.FoundDefinition] | list[plain.Keyed] = []
            if not self.language:
                found = self._as_plain().keys
            elif self.language not in _DATA or len(self._text) <= _MAX_DATA:
                found = definitions.locate(self._text, self.root(), self._table())
            self._definitions = tuple(Definition(self, one) for one in found)
        return self._definitions

    def may_define(self, name: str) -> bool:
        """Whether code that does not parse may define a name that no definition found has.

        It does not if the name is only in comments and in definitions without an error, which use it.
        """
        if not self.broken:
            return False
        if not name.isidentifier() or any(one.name.rpartition(".")[2] == name for one in self.definitions()):
            return True
        uses = [found.start() for found in re.finditer(rf"(?<!\w){name}(?!\w)", self._text)]
        if len(uses) > _MOST_USES or (uses and not self.language):
            return True
        comments = languages.LANGUAGES[self.language].rules.comments if uses else ()
        return not all(
            definitions.is_in(self.root(), at, comments) or any(one.uses(at) for one in self.definitions())
            for at in uses
        )

    def find(self, symbol: str) -> tuple[Definition, ...]:
        """All definitions with this dotted name, else those whose name ends in it."""
        wanted = dotted(symbol)
        exact = tuple(one for one in self.definitions() if one.name == wanted)
        return exact or self._ending(symbol)

    def _ending(self, symbol: str) -> tuple[Definition, ...]:
        wanted = dotted(symbol)
        return tuple(one for one in self.definitions() if wanted and one.name.endswith("." + wanted))

    def meanings(self, symbol: str) -> tuple[Named, ...]:
        """What a symbol may mean: the definitions of each full name that it matches, in order."""
        found = self.find(symbol)
        if found:
            return _meanings(found, Selector(symbol))
        asked = split_selector(symbol)
        if asked.is_plain:
            return ()
        # `A(int)` is a constructor, although `A` is the full name of its class.
        return _meanings(self.find(asked.name), asked) or _meanings(self._ending(asked.name), asked)

    def named(self, symbol: str) -> Named | None:
        """What a symbol means in this file (the first meaning where it matches several full names); ``None``
        when it is not defined."""
        return next(iter(self.meanings(symbol)), None)

    def places(self) -> tuple[Named, ...]:
        """Every place that a symbol can name: each full name, then each of several definitions of a name."""
        if self._places is None:
            named = _meanings(self.definitions(), Selector(""))
            parts = [part for one in named if one.is_several for part in one.each()]
            self._places = (*named, *parts)
        return self._places

    def of_lines(self, first: int, last: int) -> Fingerprint | None:
        """The fingerprint of these lines; ``None`` when they have no code or are not in the file."""
        if self.trouble or first < 1 or last < first:
            return None
        if not self.language:
            return self._as_plain().lines(first, last)
        walk = self.walk()
        tokens_of_lines(walk, self.root(), first, last)
        found = self.measured(walk)
        return found._replace(scheme=f"{found.scheme}+lines") if walk.tokens else None

    def whole(self) -> Fingerprint:
        """The fingerprint of the whole file: of its code, its text, or its bytes when there is trouble."""
        if self.trouble:
            return measure("bytes", "", [self._data.hex()], len(self._data))
        if not self.language:
            return self._as_plain().whole()
        walk = self.walk()
        walk.run([self.root()])
        return self.measured(walk)
