"""The language of a file, by its name or first line, and how it is parsed: with a grammar, or a Pygments
lexer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import data, others
from thunderus_mem.fingerprint.python import PYTHON, PYTHON_TABLE
from thunderus_mem.fingerprint.script import JAVASCRIPT_TABLE, SCRIPT, TYPESCRIPT_TABLE
from thunderus_mem.fingerprint.systems import GO, GO_TABLE, RUST, RUST_TABLE
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.fingerprint.definitions import Table
    from thunderus_mem.fingerprint.walk import Rules


class Language(NamedTuple):
    """A language with a syntax tree: the rules of its tokens, and its grammars with the tables of their
    definitions.

    The first grammar that reads a text without an error is used, whatever the file's suffix is, so a renamed
    file keeps its fingerprints. The same text gives the same tokens in all of them.
    """

    rules: Rules
    tables: Mapping[str, Table]


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language(PYTHON, {"python": PYTHON_TABLE}),
    "ecma": Language(
        SCRIPT, {"tsx": TYPESCRIPT_TABLE, "typescript": TYPESCRIPT_TABLE, "javascript": JAVASCRIPT_TABLE}
    ),
    "go": Language(GO, {"go": GO_TABLE}),
    "rust": Language(RUST, {"rust": RUST_TABLE}),
    **{name: Language(rules, {name: others.TABLES[name]}) for name, rules in others.RULES.items()},
    **{name: Language(rules, {name: data.TABLES[name]}) for name, rules in data.RULES.items()},
    "c-header": Language(others.HEADER, others.HEADER_TABLES),
}

_VERSIONS: Final[Mapping[str, int]] = {}
"""Versions of the rules for schemes without a grammar (``text-toml``, ``lines`` …), if not 1."""


TOKENS: Final = "-tokens"
"""Ends the scheme of a definition that is read by its tokens, because the parser fails inside it."""

WEAK: Final = frozenset(
    {
        *("bash", "c", "c-header", "cpp", "css", "dart", "elixir", "haskell", "hcl", "html", "lua", "nix"),
        *("ruby", "scala", "solidity", "swift", "zig"),
    }
)
"""Languages whose verdicts have not been compared with another parser, or agreed with it in fewer than 99 of
100 cases, or whose macros keep a grammar from parsing (C)."""


def by_tokens(scheme: str) -> bool:
    """Whether a scheme reads code by its tokens."""
    return scheme.partition("+")[0].endswith(TOKENS)


def weakness(scheme: str) -> str:
    """Why verdicts on code read in this way are less reliable; "" if they are not."""
    if by_tokens(scheme):
        return "does not parse and is compared by its tokens; other formatting may mark the document stale"
    return "is in a language with weak support" if language_in(scheme) in WEAK else ""


def language_in(scheme: str) -> str:
    """The language, or group of languages, of a scheme: ``c`` in ``c-tokens+many``."""
    return scheme.partition("+")[0].removesuffix(TOKENS)


def version_of(scheme: str) -> int:
    """The version of the rules for a scheme."""
    language = LANGUAGES.get(language_in(scheme))
    return language.rules.version if language is not None else _VERSIONS.get(scheme, 1)


def versions() -> str:
    """The versions of all rules as text, for what depends on files of any language."""
    every = {name: language.rules.version for name, language in LANGUAGES.items()} | dict(_VERSIONS)
    return " ".join(f"{name}={version}" for name, version in sorted(every.items()) if version != 1)


_SUFFIXES: Final = {
    "python": "py pyi pyw",
    "ecma": "js mjs cjs jsx ts mts cts tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "c-header": "h hh hpp hxx h++",
    "cpp": "cc cpp cxx c++ ipp inl cu",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "kotlin": "kt kts",
    "swift": "swift",
    "php": "php phtml",
    "scala": "scala sc sbt",
    "bash": "sh bash zsh bats",
    "lua": "lua",
    "elixir": "ex exs",
    "haskell": "hs",
    "css": "css",
    "json": "json",
    "yaml": "yaml yml",
    "html": "html htm",
    "markdown": "md markdown",
    "hcl": "hcl tf tfvars",
    "nix": "nix",
    "solidity": "sol",
    "dart": "dart",
    "zig": "zig",
}
_BY_SUFFIX: Final = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_PROGRAM: Final = {
    "python": "python", "node": "ecma", "deno": "ecma", "bun": "ecma", "sh": "bash", "bash": "bash",
    "zsh": "bash", "dash": "bash", "ruby": "ruby", "lua": "lua", "php": "php", "elixir": "elixir",
}  # fmt: skip
_BY_NAME: Final = {
    "Rakefile": "ruby",
    "Gemfile": "ruby",
    "Vagrantfile": "ruby",
    "Podfile": "ruby",
    "PKGBUILD": "bash",
}


def language_of(path: str, data: bytes) -> str:
    """The name of the language; "" when there is no grammar for it."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    stem, dot, suffix = name.rpartition(".")
    if dot and stem:
        return _BY_SUFFIX.get(suffix.lower(), "")
    if not data.startswith(b"#!"):
        return ""
    words = data[2:200].split(b"\n")[0].decode("latin-1").split()
    program = words[0].rpartition("/")[2] if words else ""
    if program == "env":
        program = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    return _BY_PROGRAM.get(program.rpartition("/")[2].rstrip("0123456789."), "")
