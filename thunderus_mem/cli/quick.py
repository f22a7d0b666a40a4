"""Command lines that are parsed without Typer, whose import takes longer than most commands.

`parse` handles common uses of the declared parameters (``options.py``). It returns ``None`` for help, errors
and anything else, which Typer then parses. A test checks that both parsers give the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.cli.options import REQUIRED, Call, parameters
from thunderus_mem.cli.table import BY_NAME, GLOBAL_OPTIONS
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.options import CommandParameter, Commands

PACKAGE: Final = "thunderus_mem.cli.commands"
_GLOBALS: Final = {
    name: (option.switch, option.metavar is not None) for option in GLOBAL_OPTIONS for name in option.names
}
DEFAULT: Final = "list"
"""The command of a group that is meant if none is given."""
_NOT_QUICK: Final = {"version", "everything"}
_MOST_DIGITS: Final = 6


class CommandLine(NamedTuple):
    """A command line: global options before and after the command, its function, and its parameters."""

    before: dict[str, bool | str]
    function: Callable[..., Any]
    after: dict[str, bool | str]
    parameters: dict[str, Any]


def invoke(arguments: Sequence[str], console: Console) -> int | None:
    """Run the command and return its exit code; ``None`` when Typer has to parse the arguments."""
    parsed = parse(arguments)
    if parsed is None:
        return None
    configure(parsed, console)
    result = parsed.function(Call(console), **parsed.parameters)
    return result if isinstance(result, int) else 0


def configure(parsed: CommandLine, console: Console) -> None:
    """Set the global options of a command line. Raises ``ThunderusError`` for an invalid value."""
    switches = dict.fromkeys(("json", "pretty", "quiet", "no_input", "no_pager"), False)
    console.configure(**({"directory": "", "color": "auto", "actor": ""} | switches | parsed.before))  # type: ignore[arg-type]
    for name, value in parsed.after.items():
        console.switch(name, value)


def commands_of(name: str) -> Commands:
    """Import the module of a command and return its declarations."""
    app: Commands = __import__(f"{PACKAGE}.{BY_NAME[name].module}", fromlist=["app"]).app
    return app


def parse(arguments: Sequence[str]) -> CommandLine | None:
    """Parse a command line; ``None`` for one that only Typer can parse, or that has an error."""
    rest = list(reversed(arguments))
    before = _options(rest, _GLOBALS)
    if before is None or before.keys() & _NOT_QUICK or not rest or rest[-1] not in BY_NAME:
        return None
    name = rest.pop()
    app = commands_of(name)
    if name in app.groups:
        app, accepted = app.groups[name], BY_NAME[name].switches
        name = rest.pop() if rest and not rest[-1].startswith("-") else DEFAULT
    else:
        accepted = BY_NAME[name].switches
    function = app.functions.get(name)
    if function is None:
        return None
    declared = parameters(function)
    options = {option: (one, on) for one in declared for option, on in one.options.items()}
    allowed = {
        name: about for name, about in _GLOBALS.items() if about[0] in accepted and name not in options
    }
    after: dict[str, bool | str] = {}
    found: dict[str, Any] = {}
    words: list[str] = []
    while rest:
        if (given := _options(rest, allowed)) is None or given.keys() & after.keys():
            return None
        after |= given
        if not rest:
            break
        word = rest.pop()
        if word == "--":
            words += reversed(rest)
            break
        if word == "-" or not word.startswith("-"):
            words.append(word)
        elif not _take(word, rest, options, found):
            return None
    positional = _positional(words, [one for one in declared if not one.declared.is_option])
    if positional is None or any(
        one.default is REQUIRED and one.name not in found for one in declared if one.declared.is_option
    ):
        return None
    return CommandLine(before, function, after, found | positional)


def _options(rest: list[str], known: dict[str, tuple[str, bool]]) -> dict[str, bool | str] | None:
    """Remove the global options at the end of ``rest``; ``None`` if one is repeated or lacks a value."""
    found: dict[str, bool | str] = {}
    while rest and rest[-1] in known:
        switch, valued = known[rest.pop()]
        if valued and (not rest or rest[-1].startswith("-") or switch in found):
            return None
        found[switch] = rest.pop() if valued else True
    return found


def _take(
    word: str, rest: list[str], options: dict[str, tuple[CommandParameter, bool]], found: dict[str, Any]
) -> bool:
    """Add an option and its value to ``found``: ``-n 5``, ``--limit 5``, ``--limit=5``, ``--raw``.

    False for one that is unknown, is repeated, or lacks a plain value.
    """
    option, equals, given = word.partition("=")
    if option not in options or (equals and not option.startswith("--")):
        return False
    one, on = options[option]
    if one.kind is bool:
        found[one.name] = on
        return not equals
    if not equals:
        if not rest or (rest[-1].startswith("-") and rest[-1] != "-"):
            return False
        given = rest.pop()
    value = _value(one, given)
    if value is None or (one.name in found and not one.several):
        return False
    if one.several:
        found.setdefault(one.name, []).append(value)
    else:
        found[one.name] = value
    return True


def _value(one: CommandParameter, given: str) -> str | int | None:
    """Convert a value; ``None`` for one that Typer would report, or of another type."""
    if one.kind is str:
        return given
    if one.kind is not int or not (given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS):
        return None
    limits = one.declared.settings
    most = limits.get("max")
    return int(given) if limits.get("min", 0) <= int(given) and (most is None or int(given) <= most) else None


def _positional(words: list[str], declared: list[CommandParameter]) -> dict[str, Any] | None:
    """Assign the words to the arguments in order; the last takes all remaining words if it takes several."""
    found: dict[str, Any] = {}
    for one in declared:
        if one.several:
            if one is not declared[-1]:
                return None
            taken, words = words, []
        else:
            taken, words = words[:1], words[1:]
        if not taken and one.default is REQUIRED:
            return None
        values = [_value(one, word) for word in taken]
        if None in values:
            return None
        if values:
            found[one.name] = values if one.several else values[0]
    return None if words else found
