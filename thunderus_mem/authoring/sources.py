"""Markdown in a repository that is worth importing: find its folders, and list their files.

An import reads the same files that are counted here.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.templates import is_core_skeleton
from thunderus_mem.errors import ThunderusError
from thunderus_mem.memory.locate import find_document
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import read_below
from thunderus_mem.store.folders import folders_below
from thunderus_mem.store.layout import CORE_FILE, STORE
from thunderus_mem.store.paths import inside, safe_relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.memory.memory import Memory

_ENDINGS: Final = (".md", ".markdown", ".mdc")
_SKIPPED_FOLDERS: Final = frozenset(["node_modules", "__pycache__", ".git", STORE])
_NOT_DECISIONS: Final = frozenset(["readme", "index", "template", "adr-template", "toc", "contributing"])
_TEMPLATE_WORDS: Final = ("template",)
_LONGEST_PATH: Final = 1024

_FOLDERS: Final = {
    **dict.fromkeys(("adr", "adrs", "decision", "decisions", "decision-records"), ("adr", "decision")),
    **dict.fromkeys(("architecture-decisions", "architectural-decisions"), ("adr", "decision")),
    **dict.fromkeys(("architecture-decision-records", "decision-log"), ("adr", "decision")),
    **dict.fromkeys(("guides", "how-to", "howto", "howtos"), ("playbook", "guide")),
    **dict.fromkeys(("playbooks", "runbooks", "runbook"), ("playbook", "runbook")),
}
"""Name of a folder → the kind of document for its files, and what they are."""

_RULES: Final = (
    *(".agents/rules", ".claude/rules", ".clinerules", ".cursor/rules", ".github/instructions"),
    *(".kiro/steering", ".roo/rules", ".windsurf/rules"),
)
"""Folders of rules for coding agents."""


class Source(NamedTuple):
    """A folder with Markdown files to import: its path relative to the root, number and type of the files."""

    path: str
    kind: str
    files: int
    what: str

    @property
    def command(self) -> str:
        """The command that imports it."""
        from shlex import quote

        return f"thunderus-mem import markdown {quote(self.path)} --kind {self.kind}"


class FirstStep(NamedTuple):
    """What to do with a new memory: what was ``found`` to import, and the next step."""

    found: tuple[Source, ...]
    next_step: str


def first_step(memory: Memory) -> FirstStep | None:
    """Return the first step with a memory, ``None`` if it has documents other than the core one."""
    ids = [row.id for row in memory.index.documents()]
    if set(ids) - {"core"}:
        return None
    found = find_sources(memory.root)
    has_decisions = bool(found) and found[0].kind == "adr"  # guides may be documentation for others
    command = found[0].command if has_decisions else 'thunderus-mem add fact "What everybody should know"'
    core = find_document(memory, "core") if ids else None
    if core is not None and is_core_skeleton(core.body, core.title):
        command = f"fill in {CORE_FILE}, then: {command}"
    return FirstStep(found, command)


def find_sources(root: str) -> tuple[Source, ...]:
    """Find the folders below ``root`` with decisions, guides or rules of coding agents: decisions first."""
    named = dict.fromkeys(_RULES, ("fact", "agent rule"))
    if chosen := _folder_of_adr_tools(root):
        named[chosen] = _FOLDERS["adr"]
    for folder in folders_below(root):
        path = os.path.relpath(folder, root).replace(os.sep, "/")
        if use := _FOLDERS.get(posixpath.basename(path).lower().replace("_", "-")):
            named.setdefault(path, use)
    found: list[Source] = []
    for path, (kind, what) in named.items():
        if not any(path.startswith(f"{other.path}/") for other in found):
            number = _count(os.path.join(root, *path.split("/")), kind)
            if number:
                found.append(Source(path, kind, number, what))
    return tuple(sorted(found, key=lambda one: ("adr", "playbook", "fact").index(one.kind)))


def _folder_of_adr_tools(root: str) -> str:
    """The folder of decisions that adr-tools has recorded in ``.adr-dir``; "" for none in this repository."""
    try:
        path = safe_relative(os.fsdecode(read_below(root, ".adr-dir", _LONGEST_PATH)).strip())
        return path if os.path.isdir(inside(root, path)) and not path.startswith(f"{STORE}/") else ""
    except ThunderusError:
        return ""


def _count(folder: str, kind: str) -> int:
    if os.path.islink(folder):
        return 0
    names = [os.path.relpath(path, folder).replace(os.sep, "/") for path in markdown_files(folder)]
    if all(stem_of(name) in _NOT_DECISIONS for name in names):
        return 0
    return sum(not not_wanted(name, names, kind) for name in names)


def markdown_files(folder: str, skipped: dict[str, str] | None = None) -> Iterator[str]:
    """Markdown files below a folder, by name; without links, dependencies, and what is hidden.

    Adds to ``skipped``, with the reason, the other entries that look like Markdown files or contain such
    files: those whose names begin with a dot, linked ones, and devices.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _SKIPPED_FOLDERS:
            continue
        named = entry.name.lower().endswith(_ENDINGS)
        found: Iterator[str] = iter(())
        reason = "its name starts with a dot; pass it as DIR to import it" if entry.name[0] == "." else ""
        if entry.is_symlink():
            found = iter([entry.path] if named or os.path.isdir(entry.path) else [])
            reason = "symbolic link; pass it to import it"
        elif entry.is_dir():
            found = markdown_files(entry.path, None if reason else skipped)
        elif named:
            found = iter([entry.path])
            reason = reason if entry.is_file() else "not a regular file"
        if not reason:
            yield from found
        elif skipped is not None and next(found, None) is not None:
            skipped[entry.path] = reason


def not_wanted(path: str, names: Sequence[str], kind: str) -> str:
    """Why a file among decisions is not a decision: an index page or a template."""
    folder, name = posixpath.split(path)
    stem = os.path.splitext(name)[0].lower()
    if kind != "adr" or (
        stem not in _NOT_DECISIONS and not any(word in stem.split("-") for word in _TEMPLATE_WORDS)
    ):
        return ""
    if file_number(stem):  # a decision about templates; tools use number 0 for their own template
        return ""
    if "template" in stem:
        return "template"
    prefix = f"{folder}/" if folder else ""
    below = [other[len(prefix) :] for other in names if other != path and other.startswith(prefix)]
    others = any("/" in other or stem_of(other) not in _NOT_DECISIONS for other in below)
    return "index page" if others else ""


def stem_of(path: str) -> str:
    """The name of a file without its extension, in lower case."""
    return os.path.splitext(posixpath.basename(path))[0].lower()


_FILE_NUMBER = lazy_pattern(
    r"(?:adr|rfc|decision)?[-_ ]?(\d{1,5})(?!\d)(?:[-_ ]|\.(?!\d)|$)", re.ASCII | re.IGNORECASE
)
_FILE_DATE = lazy_pattern(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", re.ASCII)


def file_number(stem: str) -> int | None:
    """The number at the start of a file name (``0007-use-jwt``, ``adr-7``); a date is not a number."""
    if _FILE_DATE.match(stem):
        return None
    match = _FILE_NUMBER.match(stem)
    return int(match.group(1)) if match else None


def without_number(stem: str) -> str:
    """A file name without the number at its start."""
    match = None if _FILE_DATE.match(stem) else _FILE_NUMBER.match(stem)
    return (stem[match.end() :] or stem) if match else stem


def file_date(stem: str) -> str:
    """The date at the start of a file name (``2024-05-01-notes``, ``20240501-notes``), as ``YYYY-MM-DD``."""
    match = _FILE_DATE.match(stem)
    return "-".join(match.groups()) if match else ""
