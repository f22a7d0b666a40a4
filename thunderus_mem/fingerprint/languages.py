"""The language of a file, by its name or first line, and how it is parsed: with a grammar, or a Pygments
lexer.
"""

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
    "c-header": Language(others.HEADER, others.HEADER_TABLES),
}

_VERSIONS: Final[Mapping[str, int]] = {}
"""Versions of the rules for schemes without a grammar (``text-toml``, ``lines`` …), if not 1."""


def version_of(scheme: str) -> int:
    """The version of the rules for a scheme."""
    language = LANGUAGES.get(scheme.partition("+")[0].removesuffix("-tokens"))
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


def lexed(alias: str, text: str) -> list[tuple[int, str]]:
    """The tokens of a text, each with the line (from 1) where it begins."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, String

    lexer = get_lexer_by_name(alias, stripnl=False, ensurenl=False, startinline=True)
    tokens: list[tuple[int, str]] = []
    line = 1
    for kind, value in lexer.get_tokens(text):
        if kind in String and value.strip():
            tokens.append((line, value))
        elif kind not in Comment or kind in Comment.Preproc:
            tokens += [(line + at, word) for at, row in enumerate(value.split("\n")) for word in row.split()]
        line += value.count("\n")
    return tokens
