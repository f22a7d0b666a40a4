"""Commands that events tell of: how they ended, which failure was followed by which success, files edited.
Pure.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.log.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.log.line import Event

_SHELLS: Final = frozenset(
    (
        *("shell", "bash", "sh", "zsh", "fish", "terminal", "exec", "execute", "run", "command"),
        *("cmd", "powershell", "console"),
    )
)
_EDITORS: Final = frozenset(
    (
        *("edit", "write", "patch", "replace", "create", "insert", "multiedit", "update"),
        *("delete", "rename"),
    )
)
_VIEWS: Final = frozenset(("view", "read", "list"))
_PREFIXES: Final = frozenset(("sudo", "time", "command", "env", "exec", "nohup"))
_LOOKERS: Final = frozenset(
    (
        *("ls", "cd", "cat", "pwd", "echo", "grep", "rg", "find", "fd", "head", "tail", "awk"),
        *("wc", "which", "less", "more", "tree", "stat", "file", "type", "ps", "du", "df"),
        *("diff", "cmp", "sort", "true", "date"),
    )
)
"""Programs that change nothing and prove nothing."""
_RUNNERS: Final = frozenset(
    (
        *("npm", "pnpm", "yarn", "bun", "uv", "poetry", "pdm", "hatch", "npx", "uvx", "pipx"),
        *("bundle", "git", "docker", "dotnet", "go", "cargo", "make", "just", "task", "kubectl"),
        *("mvn", "gradle", "rake"),
    )
)
"""Programs whose first argument says what they do."""
_INTERPRETERS: Final = frozenset(("python", "python3", "node", "ruby", "perl", "bash", "sh"))
_WORDS = re.compile(r"[A-Za-z]+")
_GONE_TO = re.compile(r"cd [^&|;]{1,300}(?:&&|;) *")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=\S*")
_LONGEST_COMMAND: Final = 160
_NAMED: Final = 6


class Run(NamedTuple):
    """A command that was run: how it ended (``None``: nobody says), the events that say so, and the place of
    the last of them."""

    command: str
    ok: bool | None
    events: tuple[str, ...]
    place: int
    thread: str


class CommandProblem(NamedTuple):
    """A command that failed, ``times`` in a row, and the run of it that succeeded (``None``: none did).

    ``files`` were edited in between, ``commands`` run; ``events`` say all of it.
    """

    failed: Run
    solved: Run | None
    times: int = 1
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


def thread_of(event: Event) -> str:
    """The session in which an event happened, by the name that its bringer gave, else by ours."""
    named = event.origin.get("session")
    return named if isinstance(named, str) and named else event.session_id


def said(event: Event) -> str:
    """What a message or note says."""
    for key in ("text", "content"):
        if isinstance(text := event.body.get(key), str):
            return text
    return ""


def runs(events: Sequence[Event], hide: Mapping[str, str]) -> tuple[Run, ...]:
    """The commands that were run, in the order in which they ended.

    A call is joined with the next result of its tool that names the same command or none. ``hide`` maps
    beginnings of paths that are this machine's own to what stands for them.
    """
    found: list[Run] = []
    waiting: dict[tuple[str, str], list[Run]] = {}
    for place, event in enumerate(events):
        if event.kind not in ("tool_call", "tool_result") or _SHELLS.isdisjoint(_words_of_tool(event)):
            continue
        command = _tidy(_command(event), hide)
        key = (thread_of(event), str(event.body.get("tool")))
        if event.kind == "tool_call":
            if command:
                waiting.setdefault(key, []).append(Run(command, None, (event.id,), place, key[0]))
            continue
        calls = waiting.get(key, [])
        call = next((one for one in calls if not command or one.command == command), None)
        if call is not None:
            calls.remove(call)
        if command or call is not None:
            ids = (*(call.events if call else ()), event.id)
            found.append(Run(command or (call.command if call else ""), _ended(event), ids, place, key[0]))
    found += [call for calls in waiting.values() for call in calls]
    return tuple(sorted(found, key=lambda run: (run.place, run.events)))


def _words_of_tool(event: Event) -> frozenset[str]:
    """The words in the name of an event's tool: ``str_replace_editor`` has three."""
    return frozenset(_WORDS.findall(str(event.body.get("tool", ""))[:100].lower()))


def _tables(event: Event) -> Iterable[Mapping[str, Any]]:
    yield event.body
    for key in ("arguments", "result"):
        value = event.body.get(key)
        if isinstance(value, str) and value[:1] == "{":
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, dict):
            yield value


def _command(event: Event) -> str:
    for table in _tables(event):
        for key in ("command", "cmd"):
            value = table.get(key)
            if isinstance(value, str) and value.strip():
                return value
            if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                return shlex.join(value)
    return ""


def _ended(event: Event) -> bool | None:
    for table in _tables(event):
        if isinstance(ok := table.get("success"), bool):
            return ok
        code = table.get("exit_code", table.get("returncode"))
        if isinstance(code, int) and not isinstance(code, bool):
            return code == 0
    return False if event.body.get("error") else None


def _tidy(command: str, hide: Mapping[str, str]) -> str:
    """A command as one line, without where somebody stood when it was run."""
    lines = command.strip()[: 4 * _LONGEST_COMMAND].splitlines()
    text = " ".join(lines[0].split()) + (" …" if len(lines) > 1 else "") if lines else ""
    if (stood := _GONE_TO.match(text)) is not None and stood.end() < len(text):
        text = text[stood.end() :]
    for path, shown in hide.items():
        text = text.replace(path, shown)
    return text if len(text) <= _LONGEST_COMMAND else text[: _LONGEST_COMMAND - 1] + "…"


def first_words(command: str) -> str:
    """What makes two commands tries of one: the program, and for one that runs others what it was told."""
    words = command.split()
    while words and (words[0] in _PREFIXES or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    if not words:
        return command
    program, *rest = words
    if program in _INTERPRETERS and rest[:1] == ["-m"]:
        return " ".join(words[:3])
    if program not in _RUNNERS | _INTERPRETERS:
        return program
    plain = [word for word in rest if not word.startswith("-")]
    return " ".join((program, *plain[: 2 if plain[:1] == ["run"] else 1]))


def only_looks(command: str) -> bool:
    """Whether a command changes nothing and proves nothing: its failure is no problem either."""
    return first_words(command).partition(" ")[0].rpartition("/")[2] in _LOOKERS


def edited_paths(event: Event) -> tuple[str, ...]:
    """Files below the root that a tool was told to change."""
    if event.kind not in ("tool_call", "tool_result"):
        return ()
    words = _words_of_tool(event)
    arguments = event.body.get("arguments")
    table = arguments if isinstance(arguments, dict) else {}
    if words.isdisjoint(_EDITORS) or "memory" in words or table.get("command") in _VIEWS:
        return ()
    listed = event.refs.get("paths")
    named = [*(listed if isinstance(listed, list) else ()), *map(table.get, ("path", "file_path", "file"))]
    return tuple(dict.fromkeys(path for path in named if isinstance(path, str) and is_inside(path)))


def problems(events: Sequence[Event], ran: Sequence[Run]) -> tuple[CommandProblem, ...]:
    """Failures, each with the success that followed it in its session: of the same command, else of one with
    the same first words. One that never succeeded has no solution."""
    found: list[CommandProblem] = []
    open_ones: dict[tuple[str, str], tuple[Run, int, tuple[str, ...]]] = {}
    for run in ran:
        key = (run.thread, first_words(run.command))
        if run.ok is False:
            _, times, ids = open_ones.get(key, (run, 0, ()))
            open_ones[key] = (run, times + 1, (*ids, *run.events))
        elif run.ok and key in open_ones:
            failed, times, ids = open_ones.pop(key)
            found.append(_solved(events, ran, failed, run, times, ids))
    found += [CommandProblem(failed, None, times, events=ids) for failed, times, ids in open_ones.values()]
    return tuple(sorted(found, key=lambda one: (one.failed.place, one.failed.events)))


def _solved(
    events: Sequence[Event], ran: Sequence[Run], failed: Run, solved: Run, times: int, ids: tuple[str, ...]
) -> CommandProblem:
    files: dict[str, None] = {}
    seen = dict.fromkeys(ids)
    for event in events[failed.place + 1 : solved.place]:
        if thread_of(event) != failed.thread and event.kind != "patch":
            continue
        paths = edited_paths(event) or tuple(change.path for change in changes_of(event))
        if paths:
            files |= dict.fromkeys(paths)
            seen[event.id] = None
    between = [
        run
        for run in ran
        if failed.place < run.place < solved.place and run.thread == failed.thread and run.ok
        and first_words(run.command) != first_words(failed.command)
    ]  # fmt: skip
    for run in between[-_NAMED:]:
        seen |= dict.fromkeys(run.events)
    seen |= dict.fromkeys(solved.events)
    commands = tuple(dict.fromkeys(run.command for run in between[-_NAMED:]))
    return CommandProblem(failed, solved, times, tuple(files)[:_NAMED], commands, tuple(seen))


def is_inside(path: str) -> bool:
    """Whether a path is relative and stays below the root."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not path.startswith(("/", "\\", "~")) and ".." not in parts and ":" not in parts[0]
