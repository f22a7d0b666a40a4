"""Paths as strings: archived paths, paths mentioned in a text, and globs. Pure.

The archive is a folder that mirrors the memory's own folders. In a glob ``*``, ``?`` and ``[…]`` match within
one name, ``**`` matches any number of folders.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY: Final = ".thunderus/memory/"
ARCHIVE: Final = ".thunderus/memory/archive"
"""The archive folder, POSIX and relative to the root."""
_INSIDE: Final = f"{ARCHIVE}/"


def is_archived(path: str) -> bool:
    """Whether a root-relative POSIX path is in the archive."""
    return path.startswith(_INSIDE)


def archived_path(path: str) -> str:
    """The path of a document once archived: ``episodic/2026-01-21.md`` becomes
    ``archive/episodic/2026-01-21.md``. A path in the archive, or outside the memory, is returned
    unchanged."""
    if is_archived(path) or not path.startswith(MEMORY):
        return path
    return _INSIDE + path.removeprefix(MEMORY)


def live_path(path: str) -> str:
    """The path of an archived document once unarchived; other paths unchanged."""
    return MEMORY + path.removeprefix(_INSIDE) if is_archived(path) else path


_EXTENSION_WORDS = (
    "adoc asm bash bat bzl c cc cfg clj cmake conf cpp cs css csv cxx dart dockerfile el erl ex exs "
    "fish fs go gql gradle graphql groovy h hcl hh hpp hs htm html hxx in ini ipynb java jinja jl js "
    "json jsonc jsonl jsx kt kts less lock lua m make md mdx mjs mk ml mli mm nim nix php pl pm "
    "proto ps1 py pyi pyx r rb rkt rs rst sass scala scm scss service sh sol sql svelte svg swift "
    "tcl tf tfvars thrift toml ts tsx txt v vb vim vue xml xsd yaml yml zig zsh "
)
_EXTENSIONS = frozenset(_EXTENSION_WORDS.split())
# Of these, text and data files, which are not code.
_NO_CODE_WORDS = (
    "adoc cfg conf csv htm html in ini json jsonc jsonl less lock md mdx rst sass scss css svg toml txt "
    "xml yaml yml "
)
_MORE_CODE_WORDS = "mts cts cjs pyw phtml f90 f95 pas d inl mjs "
_CODE = (_EXTENSIONS - frozenset(_NO_CODE_WORDS.split())) | frozenset(_MORE_CODE_WORDS.split())
_CODE_NAME_WORDS = "dockerfile makefile rakefile gemfile justfile jenkinsfile cmakelists.txt "
_CODE_NAMES = frozenset(_CODE_NAME_WORDS.split())
_PATH = lazy_pattern(
    r"((?:\.{1,2}/)*\.?[\w@+-][\w.@+~-]*(?:/\.?[\w@+-][\w.@+~-]*)*/?)(?::[0-9]+(?:[-:][0-9]+)?|#L[0-9]+(?:-L[0-9]+)?)?"
)
_FILE_EXTENSION = lazy_pattern(r"[^/]\.(?=[A-Za-z0-9_]*[A-Za-z])([A-Za-z0-9_]{1,10})$")
# First words of things that look like a path: media types, git names, placeholders.
_NOT_FIRST_WORDS = (
    "application audio font image message model multipart text video origin upstream refs feature "
    "feat fix hotfix bugfix release path foo your my some and or n a "
)
_NOT_FIRST = frozenset(_NOT_FIRST_WORDS.split())
_HOST = lazy_pattern(r"(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|gov|edu|co|app|me|invalid|local)", re.ASCII)
_PRODUCT_WORDS = "node.js next.js vue.js react.js d3.js three.js express.js nuxt.js deno.js "
_PRODUCTS = frozenset(_PRODUCT_WORDS.split())


def path_in(code: str) -> str:
    """The repository path in a code span, "" for none.

    A path has a ``/`` or a known extension, and is not a URL, glob, placeholder, absolute path or branch; a
    trailing ``:12`` or ``#L12`` is omitted.
    """
    if len(code) > 300 or ("/" not in code and "." not in code):
        return ""
    match = _PATH.fullmatch(code)
    if match is None:
        return ""
    path = match[1]
    head, slash, _ = path.partition("/")
    extension = _FILE_EXTENSION.search(path)
    known = extension is not None and extension[1].lower() in _EXTENSIONS
    if not slash:
        return path if known and path.lower() not in _PRODUCTS and not path.endswith(".in") else ""
    if head.lower() in _NOT_FIRST or _HOST.fullmatch(head.lower()):
        return ""
    if known or path.endswith("/") or path.startswith("."):
        return path
    # "either/or" and "23/03/2020" are not paths; "src/model/parser" is one.
    long = path.count("/") > 1 and any(char.isalpha() for char in path)
    return path if extension is not None or long else ""


def is_code(path: str) -> bool:
    """Whether a file is code by its name, not text or data."""
    name = path.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    return name in _CODE_NAMES or (bool(dot and stem) and extension in _CODE)


_LONGEST: Final = 1_024
WILD: Final = lazy_pattern(r"[*?\[]")


def fits(glob: str, path: str) -> bool:
    """Whether a whole path matches a glob. A glob that ends in ``/`` matches everything below; one longer
    than 1,024 characters matches nothing."""
    if len(glob) > _LONGEST:
        return False
    return _fits(tuple(f"{glob}**".split("/") if glob.endswith("/") else glob.split("/")), path)


def matching(glob: str, paths: Iterable[str]) -> list[str]:
    """The paths that match a glob, in order."""
    wild = WILD.search(glob)
    literal = glob[: wild.start()] if wild else glob
    return [path for path in paths if path.startswith(literal) and fits(glob, path)]


def _fits(wanted: tuple[str, ...], path: str) -> bool:
    """Match part by part, so that many ``**`` cost no more than the product of both lengths."""
    steps = path.split("/")
    reached = {0}
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(steps) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(steps) and fnmatchcase(steps[at], part)}
        if not reached:
            return False
    return len(steps) in reached
