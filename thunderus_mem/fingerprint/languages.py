"""Which language a file is written in, by its name or its first line, and how that language is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.fingerprint import others
from thunderus_mem.fingerprint.python import PYTHON, PYTHON_TABLE
from thunderus_mem.fingerprint.script import JAVASCRIPT_TABLE, SCRIPT, TYPESCRIPT_TABLE
from thunderus_mem.fingerprint.systems import GO, GO_TABLE, RUST, RUST_TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.fingerprint.definitions import Table
    from thunderus_mem.fingerprint.walk import Rules


class Language(NamedTuple):
    """A language with a grammar: the rules of its tokens and the table of its definitions."""

    rules: Rules
    table: Table


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language(PYTHON, PYTHON_TABLE),
    "javascript": Language(SCRIPT, JAVASCRIPT_TABLE),
    "typescript": Language(SCRIPT, TYPESCRIPT_TABLE),
    "tsx": Language(SCRIPT, TYPESCRIPT_TABLE),
    "go": Language(GO, GO_TABLE),
    "rust": Language(RUST, RUST_TABLE),
    **{name: Language(rules, others.TABLES[name]) for name, rules in others.RULES.items()},
}

_SUFFIXES: Final = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl cu",
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
    "python": "python", "node": "javascript", "deno": "typescript", "bun": "typescript", "sh": "bash",
    "bash": "bash", "zsh": "bash", "dash": "bash", "ruby": "ruby", "lua": "lua", "php": "php",
    "elixir": "elixir",
}  # fmt: skip
_BY_NAME: Final = {
    "Rakefile": "ruby",
    "Gemfile": "ruby",
    "Vagrantfile": "ruby",
    "Podfile": "ruby",
    "PKGBUILD": "bash",
}
_CPP_WORDS: Final = (b"\nclass ", b"\nnamespace ", b"\ntemplate", b"public:", b"std::")
"""What makes a ``.h`` one of C++."""


def language_of(path: str, data: bytes) -> str:
    """The name of the language, "" when there is no grammar for it."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    stem, dot, suffix = name.rpartition(".")
    if dot and stem:
        if suffix == "h" and any(word in data for word in _CPP_WORDS):
            return "cpp"
        return _BY_SUFFIX.get(suffix.lower(), "")
    if not data.startswith(b"#!"):
        return ""
    words = data[2:200].split(b"\n")[0].decode("latin-1").split()
    program = words[0].rpartition("/")[2] if words else ""
    if program == "env":
        program = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    return _BY_PROGRAM.get(program.rpartition("/")[2].rstrip("0123456789."), "")
