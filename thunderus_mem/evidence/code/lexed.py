"""Text formats without a grammar, as tokens of Pygments: comments and space left out."""

from __future__ import annotations

from typing import Final

__all__ = ["MAX_LEXED", "lexed", "lexer_name", "version"]

MAX_LEXED: Final = 100_000
"""Characters of the longest text that is read by a lexer: about half a million go through in a second."""
_ALIASES: Final = {
    "toml": "toml", "make": "mk", "ini": "ini cfg", "sql": "sql", "perl": "pl pm", "splus": "r",
    "julia": "jl", "ocaml": "ml mli", "protobuf": "proto", "graphql": "graphql gql", "clojure": "clj cljs",
    "erlang": "erl", "groovy": "groovy gradle", "objective-c": "m mm", "powershell": "ps1",
    "xml": "xml xsd svg", "cmake": "cmake", "d": "d", "fortran": "f90 f95", "scheme": "scm",
    "racket": "rkt", "common-lisp": "lisp", "vhdl": "vhd", "verilog": "v", "systemverilog": "sv",
    "glsl": "glsl vert frag", "wgsl": "wgsl", "thrift": "thrift", "tcl": "tcl", "awk": "awk",
    "json5": "json5", "properties": "properties", "rego": "rego", "scss": "scss", "less": "less",
    "ada": "ada adb ads", "prolog": "pro",
}  # fmt: skip
_BY_SUFFIX: Final = {suffix: alias for alias, suffixes in _ALIASES.items() for suffix in suffixes.split()}
_BY_NAME: Final = {
    "Makefile": "make", "makefile": "make", "GNUmakefile": "make", "Dockerfile": "docker",
    "CMakeLists.txt": "cmake", ".gitconfig": "ini", ".editorconfig": "ini", "Cargo.lock": "toml",
    "poetry.lock": "toml", "uv.lock": "toml",
}  # fmt: skip


def lexer_name(path: str) -> str:
    """The alias of the lexer for a file of this name, "" when only its lines can be compared."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name in _BY_NAME:
        return _BY_NAME[name]
    return _BY_SUFFIX.get(suffix.lower(), "") if dot and stem else ""


def version() -> str:
    """Pygments' version (major, minor)."""
    import pygments

    return ".".join(pygments.__version__.split(".")[:2])


def lexed(alias: str, text: str) -> list[tuple[int, str]]:
    """The tokens of a text: the line (from 1) where each begins, and its text."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, String

    lexer = get_lexer_by_name(alias, stripnl=False, ensurenl=False)
    tokens: list[tuple[int, str]] = []
    line = 1
    for kind, value in lexer.get_tokens(text):
        if kind in String and value.strip():
            tokens.append((line, value))
        elif kind not in Comment or kind in Comment.Preproc:
            tokens += [(line + at, word) for at, row in enumerate(value.split("\n")) for word in row.split()]
        line += value.count("\n")
    return tokens
