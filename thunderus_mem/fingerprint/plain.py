"""Files without a grammar: their tokens, by a Pygments lexer or line by line, and their keys.

TOML has tokens of its own, by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint.walk import c_escapes
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

Token = tuple[int, str]
"""The line (from 1) where a token begins, and its text."""

MAX_LEXED: Final = 100_000
"""Maximum length in characters for a lexer, which processes about half a million per second."""
_LEXERS: Final = {
    "toml": "toml", "make": "mk", "ini": "ini cfg", "sql": "sql", "perl": "pl pm", "splus": "r",
    "julia": "jl", "ocaml": "ml mli", "protobuf": "proto", "graphql": "graphql gql", "clojure": "clj cljs",
    "erlang": "erl", "groovy": "groovy gradle", "objective-c": "m mm", "powershell": "ps1",
    "xml": "xml xsd svg", "cmake": "cmake", "d": "d", "fortran": "f90 f95", "scheme": "scm",
    "racket": "rkt", "common-lisp": "lisp", "vhdl": "vhd", "verilog": "v", "systemverilog": "sv",
    "glsl": "glsl vert frag", "wgsl": "wgsl", "thrift": "thrift", "tcl": "tcl", "awk": "awk",
    "json5": "json5", "properties": "properties", "rego": "rego", "scss": "scss", "less": "less",
    "ada": "ada adb ads", "prolog": "pro",
}  # fmt: skip
_LEXER_BY_SUFFIX: Final = {
    suffix: alias for alias, suffixes in _LEXERS.items() for suffix in suffixes.split()
}
_LEXER_BY_NAME: Final = {
    "Makefile": "make", "makefile": "make", "GNUmakefile": "make", "Dockerfile": "docker",
    "CMakeLists.txt": "cmake", ".gitconfig": "ini", ".editorconfig": "ini", "Cargo.lock": "toml",
    "poetry.lock": "toml", "uv.lock": "toml",
}  # fmt: skip


def lexer_name(path: str) -> str:
    """The alias of the lexer for a file name; "" when only lines can be compared."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name in _LEXER_BY_NAME:
        return _LEXER_BY_NAME[name]
    return _LEXER_BY_SUFFIX.get(suffix.lower(), "") if dot and stem else ""


_LEXER_BY_LANGUAGE: Final = {"ecma": "typescript", "c-header": "cpp", "hcl": "terraform"}


def lexer_of(language: str) -> str:
    """The alias of the lexer for definitions that the grammar of their language does not read."""
    return _LEXER_BY_LANGUAGE.get(language, language)


def lexer_version() -> str:
    """Pygments' version (major, minor)."""
    import pygments

    return ".".join(pygments.__version__.split(".")[:2])


def scheme_of(alias: str) -> tuple[str, str]:
    """The scheme of the fingerprints of a lexer, and the lexer's version."""
    return (alias or "lines", "") if alias in ("", "toml") else (f"text-{alias}", lexer_version())


def tokens(alias: str, text: str) -> list[Token]:
    """The tokens of a text; its lines without indent if there is no lexer."""
    if alias == "toml":
        return list(_toml(text))
    if alias:
        return lexed(alias, text)
    rows = ((at, " ".join(row.split())) for at, row in enumerate(text.split("\n"), 1))
    return [(at, row) for at, row in rows if row]


def lexed(alias: str, text: str) -> list[Token]:
    """The tokens of a text by a lexer."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, String

    lexer = get_lexer_by_name(alias, stripnl=False, ensurenl=False, startinline=True)
    found: list[Token] = []
    line = 1
    for kind, value in lexer.get_tokens(text):
        if kind in String and value.strip():
            found.append((line, value))
        elif kind not in Comment or kind in Comment.Preproc:
            found += [(line + at, word) for at, row in enumerate(value.split("\n")) for word in row.split()]
        line += value.count("\n")
    return found


_TOML: Final = lazy_pattern(
    r'"""((?:[^"\\]|\\[\s\S]|"(?!""))*)(?:""")?'
    r"|'''((?:[^']|'(?!''))*)(?:''')?"
    r'|"((?:[^"\\\n]|\\.)*)"?'
    r"|'([^'\n]*)'?"
    r"|([\[\]{},=]|[^\s\[\]{},=\"'#]+)"
    r"|\n|#.*"
)
"""A string (four kinds), a mark or bare word, a line break, or a comment."""
_BARE_KEY: Final = lazy_pattern(r"[A-Za-z0-9_-]+")
_TOML_NUMBER: Final = lazy_pattern(r"[-+]?[0-9].*")


def _toml(text: str) -> Iterator[Token]:
    """The tokens of TOML: strings by value, keys without quotes, no comma at the end of a list."""
    line = 1
    comma = 0
    found = [match for match in _TOML.finditer(text) if not match[0].startswith("#")]
    for at, match in enumerate(found):
        here, word = line, _toml_word(match, is_key=_precedes_equals(found, at))
        line += match[0].count("\n")
        if not word:
            continue
        if comma and word not in ("]", "}"):
            yield comma, ","
        comma = here if word == "," else 0
        if word != ",":
            yield here, word


def _precedes_equals(found: Sequence[re.Match[str]], at: int) -> bool:
    return at + 1 < len(found) and found[at + 1][0] == "="


def _toml_word(match: re.Match[str], *, is_key: bool) -> str:
    """A mark or a bare word; a string by value, after a mark; "" for a line break."""
    long, long_literal, short, literal, bare = match.groups()
    if bare is not None:
        is_number = not is_key and _TOML_NUMBER.fullmatch(bare)
        return bare.replace("_", "").lower() if is_number else bare
    if match[0] == "\n":
        return ""
    raw = long_literal if long_literal is not None else literal
    value = raw if raw is not None else c_escapes(long if long is not None else short)
    if long is not None or long_literal is not None:
        value = value.removeprefix("\n")
    return value if is_key and _BARE_KEY.fullmatch(value) else "'" + value


class Keyed(NamedTuple):
    """A named part of a plain file: its dotted name, what it is, its lines from 1."""

    name: str
    kind: str
    first: int
    last: int


KEYED: Final = ("toml", "ini", "make")
"""Lexers of files whose parts have names."""
_SECTION: Final = lazy_pattern(r"\[([^\]\[]+)\](?:\s+|\s*[#;].*)?")
_KEY: Final = lazy_pattern(r"([\w.\"'-]+)\s*[=:]")
_TARGET: Final = lazy_pattern(
    r" *+(?:(?:export|override|define) ++)*+"
    r"(?:([\w./%-]++(?: ++[\w./%-]++)*+)\s*+::?(?![:=])|([\w./%-]++)\s*+(?:[:?+!]?=|:::?=))"
)
"""The targets of a rule, or a variable."""
_Start = tuple[int, list[str], str]
"""The line where a part begins, its names and what it is."""


def keys(alias: str, text: str, parts: Sequence[Token]) -> list[Keyed]:
    """Sections and keys of TOML and INI, targets and variables of makefiles; none for other files."""
    if alias not in KEYED:
        return []
    lines = text.split("\n")
    starts = (
        _toml_starts(parts) if alias == "toml" else _targets(lines) if alias == "make" else _settings(lines)
    )
    found: list[Keyed] = []
    following = section = len(lines)
    for line, names, kind in reversed(starts):
        stop = section if kind == "section" else following
        following = line - 1
        section = following if kind == "section" else section
        while stop > line and not lines[stop - 1].strip(" \t#;"):
            stop -= 1
        found += [Keyed(name, kind, line, stop) for name in reversed(names)]
    return found[::-1]


def _toml_starts(parts: Sequence[Token]) -> list[_Start]:
    """Tables and keys: what begins a line outside of any brackets."""
    starts: list[_Start] = []
    section = ""
    depth = former = 0
    for at, (line, word) in enumerate(parts):
        if not depth and line > former:
            name = _toml_name(parts, at)
            if word == "[":
                section = name
                starts.append((line, [section], "section"))
            elif name:
                starts.append((line, [f"{section}.{name}" if section else name], "key"))
        depth += (word in ("[", "{")) - (word in ("]", "}"))
        former = line
    return starts


def _toml_name(parts: Sequence[Token], at: int) -> str:
    """The name before ``]`` or ``=`` in this line; "" when there is none."""
    line, word = parts[at]
    end = "]" if word == "[" else "="
    name = ""
    for here, part in parts[at : at + 40]:
        if here != line:
            break
        if part == end:
            return name
        name += part.removeprefix("'") if part != "[" else ""
    return ""


def _settings(lines: list[str]) -> list[_Start]:
    starts: list[_Start] = []
    section = ""
    for number, line in enumerate(lines, 1):
        if (header := _SECTION.fullmatch(line.strip()[:500])) and header[1].strip():
            section = header[1].replace('"', "").strip()
            starts.append((number, [section], "section"))
        elif line[:1].strip() and (key := _KEY.match(line[:500])):
            name = key[1].strip("\"'")
            starts.append((number, [f"{section}.{name}" if section else name], "key"))
    return starts


def _targets(lines: list[str]) -> list[_Start]:
    found = [(number, _TARGET.match(line[:500])) for number, line in enumerate(lines, 1)]
    return [(number, (match[1] or match[2]).split(), "target") for number, match in found if match]
