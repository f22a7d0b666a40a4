"""Answers to a shell that completes a word. No typer here: an answer with ids is due within a blink.

Protocol: ``thunderus-mem --complete WORD…`` with the words after the program name, the last one being typed;
one candidate a line, a tab, and an explanation.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from thunderus_mem.surfaces.cli.table import BY_NAME, COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LIMIT = 200

_GLOBAL: Final = {
    "-C": "Work as if started in DIR",
    "--json": "Print one JSON document",
    "--color": "Colour: auto, always or never",
    "--plain": "Print tab-separated fields, one record a line",
    "--quiet": "Say nothing but data and errors",
    "--no-input": "Never ask and never open an editor",
    "--no-pager": "Print long output at once",
    "--version": "Print the version",
    "--help": "Show help",
}
_TAKES_ID: Final = frozenset(
    (
        *("archive", "blame", "edit", "link", "log", "remove", "rename", "resolve", "show", "supersede"),
        *("unarchive", "why"),
    )
)
_KINDS: Final = ("core", "fact", "adr", "playbook", "recap")
_RELATIONS: Final = ("derives_from", "refers_to", "supersedes", "duplicates")

SCRIPTS: Final = {
    "bash": """_thunderus_mem() {
    local line
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _thunderus_mem thunderus-mem
""",
    "zsh": """#compdef thunderus-mem
_thunderus_mem() {
    local -a found
    local word text
    while IFS=$'\\t' read -r word text; do
        found+=("${word//:/\\\\:}:$text")
    done < <("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#found} )); then _describe 'thunderus-mem' found; else _files; fi
}
compdef _thunderus_mem thunderus-mem
""",
    "fish": """function __thunderus_mem
    set -l words (commandline -opc) (commandline -ct)
    $words[1] --complete $words[2..-1] 2>/dev/null
end
complete -c thunderus-mem -a '(__thunderus_mem)'
""",
}


def answer(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print candidates for the last of ``words``. Never fails: a shell has no use for an error."""
    try:
        found = list(candidates(words, environ))[:_LIMIT]
        lines = "".join(f"{word}\t{_one_line(text)}\n" for word, text in found)
        sys.stdout.write(lines)
        sys.stdout.flush()
    except OSError:
        # Nobody reads on: leave before the interpreter complains of what is still to be written.
        os._exit(1)
    except Exception:  # noqa: BLE001 - whatever it is, the person is typing
        return 1
    return 0


def candidates(words: Sequence[str], environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Words that may stand where the last of ``words`` is being typed, with a line on each."""
    typed = words[-1] if words else ""
    before, start = _split_globals(words[:-1])
    if not before:
        table = [(name, text) for name, text in _GLOBAL.items()] if typed.startswith("-") else _names()
        return [(name, text) for name, text in table if name.startswith(typed)]
    command = before[0]
    if typed.startswith("-"):
        return _options(before, typed)
    fixed = _fixed(before)
    if fixed:
        return [(word, text) for word, text in fixed if word.lower().startswith(typed.lower())]
    if len(before) == 1 and BY_NAME.get(command) and len(BY_NAME[command].values) > 1:
        return [(name, "") for name, _ in BY_NAME[command].values if name.startswith(typed)]
    if command in _TAKES_ID:
        return _ids(start, typed, environ)
    if command == "undo" or before[:2] == ["events", "show"]:
        return _events(start, typed, environ)
    return ()


def _fixed(before: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Words of a known set that may stand here: kinds, relations, codes of rules."""
    command = before[0]
    if before == ["add"] or before[-1] in ("--kind", "-k"):
        return [(kind, "") for kind in _KINDS]
    if command == "link" and len(before) == 2:
        return [(relation, "") for relation in _RELATIONS]
    if command == "lint" and before[-1] == "--format":
        from thunderus_mem.surfaces.report import FORMATS

        return [(name, "") for name in FORMATS]
    if command == "rule" or before[-1] in ("--select", "--ignore"):
        from thunderus_mem.lint.rule import CODES

        return [(code, name) for code, (name, _) in CODES.items()]
    return ()


def _names() -> list[tuple[str, str]]:
    return [(entry.name, entry.help) for entry in COMMANDS if not entry.hidden]


def _split_globals(words: Sequence[str]) -> tuple[list[str], str]:
    """The words without the global options before the command, and the folder -C names."""
    rest, start = list(words), os.curdir
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-C", "--color") and rest:
            value = rest.pop(0)
            start = value if option == "-C" else start
    return rest, start


def _options(before: Sequence[str], typed: str) -> Iterable[tuple[str, str]]:
    """A command's options: the one case that loads its module."""
    import typer

    from thunderus_mem.surfaces.cli.app import load_command

    entry = BY_NAME.get(before[0])
    if entry is None:
        return
    command = load_command(entry)
    subcommands = getattr(command, "commands", {})
    if len(before) > 1:
        command = subcommands.get(before[1], command)
    context = typer.Context(command)
    for parameter in command.get_params(context):
        for name in parameter.opts:
            if name.startswith("--") and name.startswith(typed):
                yield name, getattr(parameter, "help", None) or ""


def _ids(start: str, typed: str, environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Ids and titles, straight from the index as it stands."""
    from thunderus_mem.model.ids import is_document_id
    from thunderus_mem.projection.opening import open_existing
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.store.root import find_root

    database = open_existing(Layout(find_root(start, environ).root).index_file)
    pattern = typed.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    rows = database.rows(
        "SELECT doc_id, title FROM docs WHERE doc_id LIKE ? ESCAPE '\\' ORDER BY doc_id LIMIT ?",
        (pattern, _LIMIT),
    )
    # What the shell puts on the command line is run: nothing but an id as ids are made.
    return [(row[0], row[1]) for row in rows if is_document_id(row[0])]


def _events(start: str, typed: str, environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Ids of events and when they happened, newest first, from the index as it stands."""
    from thunderus_mem.projection.opening import open_existing
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.store.root import find_root

    database = open_existing(Layout(find_root(start, environ).root).index_file)
    rows = database.rows(
        "SELECT id, day FROM events WHERE kind = 'patch' AND substr(id, 1, ?) = ? "
        "ORDER BY place DESC LIMIT ?",
        (len(typed), typed, _LIMIT),
    )
    return [(row[0], row[1]) for row in rows if row[0].isascii() and row[0].replace("_", "").isalnum()]


def _one_line(text: str) -> str:
    kept = " ".join(text.split())
    return "".join(char if char.isprintable() else "?" for char in kept)
