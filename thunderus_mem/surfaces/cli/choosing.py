"""``search -i``: choose a document while typing, in fzf where it is installed, else from a numbered list.

fzf runs our own command again at every letter. Nothing typed and nothing stored becomes part of a command:
fzf quotes what it puts in, ids are checked by their grammar on both ways, and the shell is a plain one.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console

NOTHING_CHOSEN, LEFT = 1, 130
_OFFERED: Final = 200
_LISTED: Final = 15
_LIVE: Final = (0, 25)
"""The first fzf that leaves the finding to somebody else (``--disabled``)."""

# The program and the folder of our package come in variables: as text they might need quoting.
_RUN: Final = '"$_THUNDERUS_MEM_PYTHON" -P -m thunderus_mem'
_PREVIEW: Final = (
    f"test -z {{1}} || COLUMNS=$FZF_PREVIEW_COLUMNS {_RUN} show --no-pager --color always -- {{1}} 2>&1"
)
_AGAIN: Final = f"{_RUN} search --choices -- {{q}} 2>/dev/null || :"


class Choice(NamedTuple):
    """One document to choose: its id, and what tells it from others."""

    id: str
    kind: str
    title: str


def choices(memory: Memory, text: str) -> list[Choice]:
    """Documents for what is typed so far, best first; all of them, newest first, while nothing is."""
    from thunderus_mem.model.errors import InvalidQuery
    from thunderus_mem.model.ids import is_document_id

    if text.strip():
        from thunderus_mem.verbs.finding import search

        try:
            hits = search(memory, text, limit=_OFFERED, unfinished=True).hits
        except InvalidQuery:  # half a filter, as "kind:ad"
            hits = ()
        found = [Choice(hit.id, hit.kind, hit.title) for hit in hits]
    else:
        from thunderus_mem.verbs.reading import list_documents

        listed = sorted(list_documents(memory).documents, key=lambda one: one.updated, reverse=True)
        found = [Choice(one.id, one.kind, one.title) for one in listed]
    return [one for one in dict.fromkeys(found) if is_document_id(one.id)]


def choice_lines(offered: Sequence[Choice]) -> str:
    """The choices as fzf takes them: the id, a tab, and what is shown: kind and title."""
    from thunderus_mem.surfaces.text import one_line

    return "\n".join(f"{one.id}\t{one.kind:<8}  {one_line(one.title)}" for one in offered)


def choose(memory: Memory, text: str, console: Console) -> tuple[str, int]:
    """Let a person choose; the id, or "" and the exit code. Raises when nobody can be asked."""
    if console.json or console.plain:
        raise ThunderusError("Choosing is for people.", hint="Leave out -i, or leave out --json and --plain.")
    if not console.interactive:
        raise ThunderusError(
            "Choosing needs a terminal to ask at.", hint="Leave out -i: thunderus-mem search WORDS"
        )
    from thunderus_mem.surfaces.cli.program import found_program

    fzf = found_program("fzf", console.environ) if console.environ.get("TERM") != "dumb" else None
    if fzf is not None:
        return _in_fzf(fzf, memory, text, console)
    return _in_list(memory, text, console)


def fzf_arguments(version: tuple[int, ...], text: str, *, drawn: bool) -> list[str]:
    """The options for fzf; an old one looks for the words itself, in the documents it got."""
    preview = _PREVIEW if drawn else _PREVIEW.replace("--color always", "--color never")
    arguments = [
        *("--delimiter", "\t", "--with-nth", "2..", "--no-multi", "--no-print-query", "--no-expect"),
        *("--layout", "reverse", "--prompt", "memory> ", "--query", text),
        *("--preview", preview, "--preview-window", "down:60%"),
    ]
    return [*arguments, "--disabled", "--bind", f"change:reload:{_AGAIN}"] if version >= _LIVE else arguments


def _in_fzf(fzf: str, memory: Memory, text: str, console: Console) -> tuple[str, int]:
    import subprocess

    import thunderus_mem
    from thunderus_mem.model.ids import is_document_id
    from thunderus_mem.surfaces.cli.program import give, interrupts_are_its_own, leaving_in_order

    version = _version(fzf, console)
    lines = choice_lines(choices(memory, text if version >= _LIVE else ""))
    package = os.path.dirname(os.path.dirname(os.path.abspath(thunderus_mem.__file__)))
    paths = [package, *filter(os.path.isabs, console.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {
        **console.environ,
        "SHELL": "/bin/sh",
        "PYTHONPATH": os.pathsep.join(paths),
        "_THUNDERUS_MEM_PYTHON": sys.executable,
    }
    console.flush()
    with interrupts_are_its_own():
        process = subprocess.Popen(
            [fzf, *fzf_arguments(version, text, drawn=console.style.colored)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=console.start,
            env=environment,
        )
        with leaving_in_order(process):
            give(process, console.clean(lines).encode("utf-8", "backslashreplace"))
            assert process.stdout is not None
            answer = process.stdout.read().decode("utf-8", "replace")
            code = process.wait()
    chosen = answer.strip("\n").rpartition("\n")[2].partition("\t")[0]
    if code not in (0, NOTHING_CHOSEN, LEFT):
        raise ThunderusError(f"The program fzf ended with {code}.", hint="Its message stands above.")
    return (chosen, 0) if code == 0 and is_document_id(chosen) else ("", code or NOTHING_CHOSEN)


def _version(fzf: str, console: Console) -> tuple[int, ...]:
    """The version of fzf as numbers; none when it does not say."""
    import subprocess

    try:
        said = subprocess.run(
            [fzf, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            env=dict(console.environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = said.stdout.decode("ascii", "replace").split(" ")[0].strip().split(".")
    return tuple(int(number) for number in numbers if number.isdecimal())


def _in_list(memory: Memory, text: str, console: Console) -> tuple[str, int]:
    """Ask for a number until there is one; words are a new search, an empty answer leaves."""
    while True:
        offered = choices(memory, text)[:_LISTED]
        console.talk(_numbered(offered, console) if offered else "Nothing found.")
        answer = console.ask("Number, or other words (Enter leaves): ")
        if not answer.strip():
            return "", NOTHING_CHOSEN
        number = answer.strip()
        if number.isdecimal() and 1 <= int(number[:9]) <= len(offered):
            return offered[int(number) - 1].id, 0
        if number.isdecimal():
            console.talk(f"There is no {number}.")
            continue
        text = answer


def _numbered(offered: Sequence[Choice], console: Console) -> str:
    from thunderus_mem.surfaces.render import columns
    from thunderus_mem.surfaces.text import one_line

    style = console.style
    rows = [
        (f"{number:>2}", one.kind, style.name(one.id), one_line(one.title))
        for number, one in enumerate(offered, 1)
    ]
    return columns(rows, console)
