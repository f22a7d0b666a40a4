"""User input: option values, text from the editor, and the choice of a document.

Options: text from an argument, a file or stdin, ``KEY=VALUE``, ``REL:ID``. Editor: the help in a template is
an HTML comment that starts with ``<!-- help:`` and is removed before the text is saved. Lines starting with
``#`` are kept, because they are headings.

``search -i``: fzf if it is installed, else a numbered list. fzf runs our own command again after every key.
Neither typed nor stored text becomes part of a shell command: fzf quotes what it inserts, ids are checked by
their grammar in both directions, and the shell is always /bin/sh.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.cli.console import Console, found_program, run_program
from thunderus_mem.cli.text import columns, one_line
from thunderus_mem.document.document import RELATIONS
from thunderus_mem.document.ids import is_document_id
from thunderus_mem.errors import InvalidQuery, NotFound, ThunderusError
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.memory.memory import Memory

_TEXT_LIMIT = 1 << 20


def text_of(given: str | None, console: Console, what: str = "the text") -> str | None:
    """Read stdin for ``-`` and a file for ``@FILE`` (relative to ``-C``); else return the text."""
    if given == "-":
        return _decoded(read_stdin(console, _TEXT_LIMIT + 1, what), "stdin")
    if given is None or not given.startswith("@"):
        return given
    path = os.path.join(console.start, given[1:])
    try:
        with open(path, "rb") as handle:
            return _decoded(handle.read(_TEXT_LIMIT + 1), given[1:])
    except OSError as error:
        raise NotFound(f"cannot read {given[1:]}: {error.strerror}") from error


_SILENT_SECONDS = 1.0


def read_stdin(console: Console, limit: int, what: str) -> bytes:
    """Read stdin to its end, at most ``limit`` bytes (-1: all); report it if nothing has arrived in a second.

    The other end of a pipe may stay open for ever, which looks as if the command did nothing.
    """
    import select

    with suppress(OSError, ValueError):  # streams that cannot be watched, e.g. on Windows
        if not select.select([sys.stdin], [], [], _SILENT_SECONDS)[0]:
            console.talk(f"Reading {what} from stdin, until its end")
    return sys.stdin.buffer.read(limit)


def _decoded(data: bytes, name: str) -> str:
    if len(data) > _TEXT_LIMIT:
        raise ThunderusError(
            f"the text from {name} is longer than 1 MiB", hint="split it into several documents"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ThunderusError(f"the text from {name} is not valid UTF-8", hint="save it as UTF-8") from error


def pairs(given: Iterable[str], option: str) -> dict[str, Any]:
    """Parse ``KEY=VALUE`` options; a value that is a JSON list, object, boolean or null is parsed as JSON."""
    found: dict[str, Any] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise ThunderusError(f"invalid value for {option}: {item!r} is not KEY=VALUE")
        found[key.strip()] = _value(value)
    return found


def _value(text: str) -> Any:
    import json

    if text[:1] in ("[", "{") or text in ("true", "false", "null"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def links(given: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse ``REL:ID`` options."""
    found = []
    for item in given:
        rel, _, target = item.partition(":")
        if not target:
            raise ThunderusError(
                f"invalid value for --link: {item!r} is not REL:ID",
                hint=f"use one of these relations: {', '.join(RELATIONS)}",
            )
        found.append((relation(rel), target))
    return tuple(found)


def relation(given: str) -> str:
    """Return a relation by its name, with ``-`` or ``_``. Raises ``ThunderusError`` for an unknown one."""
    name = given.replace("-", "_")
    if name not in RELATIONS:
        raise ThunderusError(f"unknown relation {given!r}", hint=f"use one of: {', '.join(RELATIONS)}")
    return name


_HELP = lazy_pattern(r"(?m)^<!-- help:(?:(?!-->).)*-->[ \t]*\n?", re.DOTALL)
_FALLBACKS = ("nano", "vi")


def with_help(text: str, help_text: str) -> str:
    """Append help to a text for the editor; ``edited`` removes it."""
    body = text if text.endswith("\n") or not text else text + "\n"
    return f"{body}\n<!-- help:\n{help_text.replace('-->', '->').strip()}\n-->\n"


def without_help(text: str) -> str:
    """Remove the help from an edited text."""
    kept = _HELP.sub("", text)
    return kept if kept == text else kept.rstrip("\n") + "\n" if kept.strip() else ""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """Find the editor by ``$VISUAL`` and ``$EDITOR``. Raises ``ThunderusError`` when there is none."""
    import shlex
    import shutil

    for name in ("VISUAL", "EDITOR"):
        command = environ.get(name, "").strip()
        if command:
            try:
                return shlex.split(command)
            except ValueError as error:
                raise ThunderusError(f"cannot parse ${name} as a command: {command}") from error
    for name in _FALLBACKS:
        if shutil.which(name):
            return [name]
    raise ThunderusError("no editor found", hint="set EDITOR, or give the text with --body")


def edited(text: str, environ: Mapping[str, str], name: str = "memory.md") -> str | None:
    """Open ``text`` in the editor; return ``None`` when it is saved unchanged or empty.

    The lock is not held while the editor runs. Raises ``ThunderusError`` when the editor fails; the temporary
    file stays then.
    """
    import subprocess
    import tempfile

    command = editor_command(environ)
    folder = tempfile.mkdtemp(prefix="thunderus-mem-")
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as handle:
        handle.write(text)
    try:
        code = subprocess.run([*command, path], check=False, env=dict(environ)).returncode
    except OSError as error:
        raise ThunderusError(f"cannot run the editor {command[0]}: {error.strerror}") from error
    if code != 0:
        raise ThunderusError(
            f"the editor {command[0]} exited with code {code}", hint=f"your text is in {path}"
        )
    try:
        with open(path, encoding="utf-8", newline="") as handle:
            result = handle.read()
    except UnicodeDecodeError as error:
        raise ThunderusError("the saved text is not valid UTF-8", hint=f"your text is in {path}") from error
    os.remove(path)
    for leftover in os.listdir(folder):  # backup and swap files of the editor
        os.remove(os.path.join(folder, leftover))
    os.rmdir(folder)
    kept = without_help(result)
    return None if not kept.strip() or result == text else kept


@contextmanager
def keeping(text: str, name: str) -> Iterator[None]:
    """Save a text written in the editor when the block fails, and add its path to the hint."""
    try:
        yield
    except ThunderusError as error:
        import tempfile

        descriptor, path = tempfile.mkstemp(prefix="thunderus-mem-", suffix=f"-{name}")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as handle:
            handle.write(text)
        error.hint = f"{error.hint}; your text is in {path}" if error.hint else f"your text is in {path}"
        raise


NOTHING_CHOSEN, LEFT = 1, 130
_OFFERED: Final = 200
_LISTED: Final = 15
_LIVE: Final = (0, 25)
"""The first version of fzf with ``--disabled`` (external search)."""

# The program and our package folder are passed in variables, because as text they might need quoting.
_RUN: Final = '"$_THUNDERUS_MEM_PYTHON" -P -m thunderus_mem'
_PREVIEW: Final = (
    f"test -z {{1}} || COLUMNS=$FZF_PREVIEW_COLUMNS {_RUN} show --no-pager --color always -- {{1}} 2>&1"
)
_AGAIN: Final = f"{_RUN} search --choices -- {{q}} 2>/dev/null || :"


class Choice(NamedTuple):
    """A document in the list: its id, kind and title."""

    id: str
    kind: str
    title: str


def choices(memory: Memory, text: str) -> list[Choice]:
    """List the documents for the typed text, best first; without text all of them, newest first."""
    if text.strip():
        from thunderus_mem.search.search import search

        try:
            answer = search(memory, text, limit=_OFFERED, unfinished=True)
            hits = answer.hits or answer.closest
        except InvalidQuery:  # an unfinished filter such as "kind:ad"
            hits = ()
        found = [Choice(hit.id, hit.kind, hit.title) for hit in hits]
    else:
        from thunderus_mem.authoring.show import list_documents

        listed = sorted(list_documents(memory).documents, key=lambda one: one.updated, reverse=True)
        found = [Choice(one.id, one.kind, one.title) for one in listed]
    return [one for one in dict.fromkeys(found) if is_document_id(one.id)]


def choice_lines(offered: Sequence[Choice]) -> str:
    """Format the choices for fzf: the id, a tab, then the visible part: kind and title."""
    return "\n".join(f"{one.id}\t{one.kind:<8}  {one_line(one.title)}" for one in offered)


def choose(memory: Memory, text: str, console: Console) -> tuple[str, int]:
    """Prompt for a document; return its id (or "") and the exit code. Raises without a terminal."""
    if console.json:
        raise ThunderusError("-i and --json are mutually exclusive", hint="remove one of them")
    if not console.interactive:
        raise ThunderusError("-i needs a terminal", hint="run `thunderus-mem search QUERY` without -i")
    fzf = found_program("fzf", console.environ) if console.environ.get("TERM") != "dumb" else None
    if fzf is not None:
        return _in_fzf(fzf, memory, text, console)
    return _in_list(memory, text, console)


def fzf_arguments(version: tuple[int, ...], text: str, *, drawn: bool) -> list[str]:
    """Return the options for fzf; an old version filters the given documents itself."""
    preview = _PREVIEW if drawn else _PREVIEW.replace("--color always", "--color never")
    arguments = [
        *("--delimiter", "\t", "--with-nth", "2..", "--no-multi", "--no-print-query", "--no-expect"),
        *("--layout", "reverse", "--prompt", "memory> ", "--query", text),
        *("--preview", preview, "--preview-window", "down:60%"),
    ]
    return [*arguments, "--disabled", "--bind", f"change:reload:{_AGAIN}"] if version >= _LIVE else arguments


def _in_fzf(fzf: str, memory: Memory, text: str, console: Console) -> tuple[str, int]:
    import thunderus_mem

    version = _version(fzf, console)
    lines = choice_lines(choices(memory, text if version >= _LIVE else ""))
    package = os.path.dirname(os.path.dirname(os.path.abspath(thunderus_mem.__file__)))
    paths = [package, *filter(os.path.isabs, console.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environ = {
        **console.environ,
        "SHELL": "/bin/sh",
        "PYTHONPATH": os.pathsep.join(paths),
        "_THUNDERUS_MEM_PYTHON": sys.executable,
    }
    console.flush()
    command = [fzf, *fzf_arguments(version, text, drawn=console.style.colored)]
    code, answer = run_program(command, console.clean(lines), environ, folder=console.start, answers=True)
    chosen = answer.strip("\n").rpartition("\n")[2].partition("\t")[0]
    if code not in (0, NOTHING_CHOSEN, LEFT):
        raise ThunderusError(f"fzf exited with code {code}", hint="see its message above")
    return (chosen, 0) if code == 0 and is_document_id(chosen) else ("", code or NOTHING_CHOSEN)


def _version(fzf: str, console: Console) -> tuple[int, ...]:
    """Return the version of fzf as numbers; empty when unknown."""
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
    """Prompt until a listed number is entered; words start a new search, an empty line exits."""
    while True:
        offered = choices(memory, text)[:_LISTED]
        console.talk(_numbered(offered, console) if offered else "No matches")
        answer = console.ask("Number, or new search words (Enter to quit): ")
        if not answer.strip():
            return "", NOTHING_CHOSEN
        number = answer.strip()
        if number.isdecimal() and 1 <= int(number[:9]) <= len(offered):
            return offered[int(number) - 1].id, 0
        if number.isdecimal():
            console.talk(f"no entry {number} in the list")
            continue
        text = answer


def _numbered(offered: Sequence[Choice], console: Console) -> str:
    style = console.style
    rows = [
        (f"{number:>2}", one.kind, style.name(one.id), one_line(one.title))
        for number, one in enumerate(offered, 1)
    ]
    return columns(rows, console.width)
