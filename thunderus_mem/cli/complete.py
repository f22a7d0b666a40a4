"""Shell completion: the scripts, and the candidates for a word.

Options come from the command's declarations; Typer is not imported. Ids come from the files and the index
without a refresh, and only ids that match our grammar are offered, because the shell inserts them.

Protocol: ``thunderus-mem --complete WORD…`` with the words after the program name, the last one incomplete;
prints one candidate per line, a tab, and a description.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from thunderus_mem.cli.options import parameters
from thunderus_mem.cli.quick import commands_of
from thunderus_mem.cli.table import BY_NAME, COMMANDS, GLOBAL_OPTIONS, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.index.sqlite_index import SqliteIndex
    from thunderus_mem.store.layout import Layout

_LIMIT = 200

_WITH_VALUE: Final = frozenset(name for one in GLOBAL_OPTIONS if one.metavar for name in one.names)
_TAKES_PROPOSAL: Final = frozenset(("show", "approve", "reject", "rebase"))

SCRIPTS: Final = {
    "bash": """_thunderus_mem() {
    local line
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _thunderus_mem thunderus-mem tmem
""",
    "zsh": """#compdef thunderus-mem tmem
_thunderus_mem() {
    local -a found
    local word text
    while IFS=$'\\t' read -r word text; do
        found+=("${word//:/\\\\:}:$text")
    done < <("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#found} )); then _describe 'thunderus-mem' found; else _files; fi
}
compdef _thunderus_mem thunderus-mem tmem
""",
    "fish": """function __thunderus_mem
    set -l words (commandline -opc) (commandline -ct)
    $words[1] --complete $words[2..-1] 2>/dev/null
end
complete -c thunderus-mem -a '(__thunderus_mem)'
complete -c tmem -a '(__thunderus_mem)'
""",
}


def answer(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print candidates for the last of ``words``; never print an error, because a shell cannot use it."""
    try:
        found = list(candidates(words, environ))[:_LIMIT]
        lines = "".join(f"{word}\t{_one_line(text)}\n" for word, text in found)
        sys.stdout.write(lines)
        sys.stdout.flush()
    except OSError:
        # The pipe is closed: exit before the interpreter reports its failed flush.
        os._exit(1)
    except Exception:  # noqa: BLE001 - the user is typing
        return 1
    return 0


def candidates(words: Sequence[str], environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Return the candidates for the last of ``words``, each with a description."""
    typed = words[-1] if words else ""
    before, start = _split_globals(words[:-1])
    if not before:
        table = _globals() if typed.startswith("-") else _names()
        return [(name, text) for name, text in table if name.startswith(typed)]
    command = before[0]
    if typed.startswith("-"):
        return _options(before, typed)
    fixed = _fixed(before, typed)
    if fixed:
        return [(word, text) for word, text in fixed if word.lower().startswith(typed.lower())]
    if len(before) == 1 and command in BY_NAME and command not in VALUES:
        return [(name, text) for name, text in _subcommands(command) if name.startswith(typed)]
    return _offered(before, start, typed, environ)


def _offered(
    before: Sequence[str], start: str, typed: str, environ: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    """Return the ids that a command takes: documents, events, proposals or changes."""

    command = before[0]
    if command == "anchor" and len(before) > 1:
        return ()  # a path: the shell completes files
    kind = BY_NAME[command].completes if command in BY_NAME else ""
    if before[:2] == ["events", "show"]:
        kind = "events"
    elif command == "review" and before[1] in _TAKES_PROPOSAL:
        kind = "proposals"
    if not kind:
        return ()
    finders = {"documents": documents, "events": events, "proposals": proposals, "changes": changes}
    return finders[kind](layout(start, environ), typed, _LIMIT)


def _fixed(before: Sequence[str], typed: str) -> Sequence[tuple[str, str]]:
    """Return words of a fixed set: kinds, states, relations, formats, rules of lint and of the gardener."""
    command = before[0]
    if before[-1] == "--state":
        from thunderus_mem.document.document import STATES

        return [(word, "") for word in STATES]
    if before[-1] == "--sort":
        from thunderus_mem.authoring.show import ORDERS

        return [(word, "") for word in ORDERS]
    if before[0] == "config" and len(before) == 2 and before[1] in ("show", "set", "unset"):
        from thunderus_mem.store.config_keys import KEYS

        return [(key.name, key.explanation) for key in KEYS]
    kinds = before == ["add"] or before[-1] in ("--kind", "-k")
    if kinds or (command == "link" and len(before) == 2):
        from thunderus_mem.document.document import KINDS, RELATIONS

        return [(word, "") for word in (KINDS if kinds else RELATIONS)]
    if command == "lint" and before[-1] == "--format":
        from thunderus_mem.cli.report import FORMATS

        return [(name, "") for name in (*FORMATS, "json")]
    if before[-1] in ("--select", "--ignore", "--explain"):
        from thunderus_mem.lint.rule import CODES

        return [(code, name) for code, (name, _) in CODES.items()]
    if before[-1] == "--only" and command in ("garden", "review"):
        from thunderus_mem.garden.apply import RULES

        earlier = typed.rpartition(",")[0]
        first = f"{earlier}," if earlier and command == "garden" else ""
        return [(first + rule.name, rule.does) for rule in RULES]
    return ()


def _globals() -> list[tuple[str, str]]:
    return [
        *((option.names[-1], option.help.rstrip(".")) for option in GLOBAL_OPTIONS),
        ("--help", "Show help"),
    ]


def _names() -> list[tuple[str, str]]:
    return [(entry.name, entry.help) for entry in COMMANDS if not entry.hidden]


def _subcommands(command: str) -> list[tuple[str, str]]:
    """Return the commands of a group such as ``review``; empty for any other command."""
    group = commands_of(command).groups.get(command)
    found = group.functions if group else {}
    return [(name, (one.__doc__ or "").partition("\n")[0]) for name, one in found.items()]


def _split_globals(words: Sequence[str]) -> tuple[list[str], str]:
    """Remove the global options before the command; also return the folder given by -C."""
    rest, start = list(words), os.curdir
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in _WITH_VALUE and rest:
            value = rest.pop(0)
            start = value if option == "-C" else start
    return rest, start


def _options(before: Sequence[str], typed: str) -> Iterable[tuple[str, str]]:
    """Return a command's options; this loads its module."""
    entry = BY_NAME.get(before[0])
    if entry is None:
        return
    app = commands_of(entry.name)
    app = app.groups.get(entry.name, app)
    names = [name for name in before[:2] if name in app.functions]
    known: dict[str, str] = {"--help": "Show this message and exit."}
    if names:
        for one in parameters(app.functions[names[-1]]):
            if not one.declared.settings.get("hidden"):
                known |= dict.fromkeys(one.options, one.declared.settings.get("help", ""))
        for option in GLOBAL_OPTIONS:
            if option.switch in entry.switches:
                known |= dict.fromkeys(set(option.names) - known.keys(), option.help)
    for name, text in known.items():
        if name.startswith("--") and name.startswith(typed):
            yield name, text


def _one_line(text: str) -> str:
    kept = " ".join(text.split())
    return "".join(char if char.isprintable() else "?" for char in kept)


def layout(start: str, environ: Mapping[str, str]) -> Layout:
    """Return the layout of the store for a command run in ``start``."""
    from thunderus_mem.store.layout import Layout, find_root

    return Layout(find_root(start, environ).root)


def documents(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Return the ids of documents that start with ``typed``, and their titles."""
    from thunderus_mem.document.ids import is_document_id

    return [(id, title) for id, title in _index(places).titles(typed, limit) if is_document_id(id)]


def events(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Return the ids of patches in the log, newest first, with their dates."""
    return [(id, day) for id, day in _index(places).log().patches(typed, limit) if _is_word(id)]


def proposals(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Return the ids of pending proposals, oldest first, with action, documents and reason."""
    from thunderus_mem.errors import ThunderusError
    from thunderus_mem.memory.proposals import file_names, read
    from thunderus_mem.store.paths import proposal_id

    paths = [path for path in file_names(places) if proposal_id(path).startswith(typed or "patch_")]
    for path in paths[:limit]:
        try:
            one = read(places, path).proposal
        except (ThunderusError, OSError):  # reported by `review list`
            continue
        yield one.id, f"{one.label or one.action or one.op}: {', '.join(one.targets)}; {one.why}"


def snapshots(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Return the ids of snapshots, newest first, with time and command."""
    from thunderus_mem.index.log import read
    from thunderus_mem.log.reader import EventLog

    log = EventLog(places.root, places.sessions_dir, places.local_sessions_dir, places.legacy_events_file)
    rows = _index(places).log().newest(limit, kinds=("snapshot",))
    for entry in read(log, rows):
        id = entry.event.refs.get("snapshot_id")
        if isinstance(id, str) and id.startswith(typed or "snap_") and _is_word(id):
            yield id, f"{entry.event.ts[:16].replace('T', ' ')} {entry.event.body.get('command', '')}"


def changes(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Return the ids that `undo` accepts: patches, then snapshots."""
    yield from events(places, typed, limit)
    yield from snapshots(places, typed, limit)


def _index(places: Layout) -> SqliteIndex:
    from thunderus_mem.index.sqlite_index import SqliteIndex

    return SqliteIndex.open(places.index_file)


def _is_word(id: str) -> bool:
    return id.isascii() and id.replace("_", "").isalnum()
