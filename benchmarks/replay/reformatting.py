"""Whole repositories run through other people's formatters at one commit, committed, and judged."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.replay.judging import HISTORY
from benchmarks.replay.truth import Span
from benchmarks.replay.walking import Seen, cases_of, sown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.replay.truth import Library

_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")


class Formatter(NamedTuple):
    """``command`` is given the files of its suffixes; none of them reads the repository's own settings."""

    name: str
    suffixes: tuple[str, ...]
    command: tuple[str, ...]


def formatters(tools: Sequence[str]) -> list[Formatter]:
    """Those that are in one of the folders of tools, or on the search path."""
    path = os.pathsep.join([*tools, os.environ.get("PATH", "")])
    wanted = (
        ("ruff format", (".py", ".pyi"), ("ruff", "format", "--isolated", "--line-length", "110", "-q")),
        ("black, 79 columns", (".py", ".pyi"), ("black", "-l", "79", "-q", "--config", os.devnull)),
        (
            "prettier, 4 spaces, single quotes",
            _SCRIPTS,
            (
                *("prettier", "--no-config", "--no-editorconfig", "--ignore-path", os.devnull, "--write"),
                *("--log-level", "silent", "--tab-width", "4", "--single-quote", "--no-semi"),
                *("--trailing-comma", "none", "--print-width", "70", "--arrow-parens", "avoid"),
            ),
        ),
        (
            "prettier, 2 spaces, double quotes",
            _SCRIPTS,
            (
                *("prettier", "--no-config", "--no-editorconfig", "--ignore-path", os.devnull, "--write"),
                *("--log-level", "silent", "--tab-width", "2", "--trailing-comma", "all"),
                *("--print-width", "120", "--arrow-parens", "always", "--quote-props", "consistent"),
            ),
        ),
        ("gofmt", (".go",), ("gofmt", "-w")),
        (
            "rustfmt, 70 columns",
            (".rs",),
            ("rustfmt", "--edition", "2021", "--config", "max_width=70,tab_spaces=2,hard_tabs=false"),
        ),
    )
    found = []
    for name, suffixes, command in wanted:
        program = shutil.which(command[0], path=path)
        if program is not None:
            found.append(Formatter(name, suffixes, (program, *command[1:])))
    return found


def _formatted(formatter: Formatter, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files that a formatter changed; it is asked file by file where one is refused."""
    with tempfile.TemporaryDirectory() as folder:
        for path, data in files.items():
            place = os.path.join(folder, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)
        names = sorted(files)
        for at in range(0, len(names), 50):
            _ask(formatter, names[at : at + 50], folder)
        changed = {}
        for path, data in files.items():
            with open(os.path.join(folder, path), "rb") as file:
                new = file.read()
            if new != data:
                changed[path] = new
    return changed


def _ask(formatter: Formatter, names: list[str], folder: str) -> None:
    done = subprocess.run([*formatter.command, *names], cwd=folder, capture_output=True, check=False)
    if done.returncode and len(names) > 1:
        for name in names:
            subprocess.run([*formatter.command, name], cwd=folder, capture_output=True, check=False)


def roughened(data: bytes) -> bytes:
    """Go as no formatter leaves it: spaces for tabs and wide assignments, so that gofmt has work to do."""
    rows = []
    for row in data.split(b"\n"):
        bare = row.lstrip(b"\t")
        quiet = not any(mark in bare for mark in (b'"', b"`", b"'", b"//", b"/*"))
        spaced = bare.replace(b" := ", b"   :=  ").replace(b", ", b" ,  ") if quiet else bare
        rows.append((b"   " * (len(row) - len(bare)) if quiet else row[: len(row) - len(bare)]) + spaced)
    return b"\n".join(rows)


def reformat(library: Library, at: str, formatter: Formatter) -> Seen:
    """Every symbol of a commit in a file that the formatter changed, judged in the commit behind it.

    Go is formatted everywhere, so it is first roughened, and the symbols are planted in that.
    """
    clone = library.clone
    tree = clone.tree(at)
    paths = [path for path in tree if path.endswith(formatter.suffixes) and library.reads(path)]
    if formatter.name == "gofmt":
        at = clone.commit(at, {path: roughened(clone.blob(tree[path])) for path in paths}, parents=[at])
        tree = clone.tree(at)
    changed = _formatted(formatter, {path: clone.blob(tree[path]) for path in paths})
    if not changed:
        return Seen([], [])
    after = clone.commit(at, dict(changed), parents=[at])
    readings = library.read({path: tree[path] for path in changed})
    chosen = [(path, symbol, True) for path, reading in readings.items() for symbol in reading.symbols]
    planted, not_seen = sown(library, tree, chosen)
    return Seen(cases_of(formatter.name, Span(library, at, after), planted, 1, (HISTORY,)), not_seen)
