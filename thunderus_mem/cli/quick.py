"""Command lines that are parsed without Typer, whose import is most of the time of a quick command.

`parse` knows the options of the commands in `QUICK`; it returns ``None`` for help, for errors and for
whatever else it does not know, and Typer parses those. Tests hold the table equal to what Typer has, and the
results of both parsers equal for any arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.cli.table import BY_NAME, GLOBAL_OPTIONS
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from thunderus_mem.cli.console import Console

    Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE: Final = "thunderus_mem.cli.commands"


class Commands:
    """The commands of a module, by name: like a ``typer.Typer``, which is made from it when needed."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}

    def command(self, name: str) -> Callable[[Function], Function]:
        """Register a command: ``@app.command("show")``."""

        def register(function: Function) -> Function:
            self.functions[name] = function
            return function

        return register


class Quick(NamedTuple):
    """The parameters of a command: of its arguments, of options without a value, and of whole numbers.

    ``several``: the arguments are a list; else there is one. An option without a value has the value that it
    sets, a number its limits.
    """

    arguments: str
    several: bool
    switches: dict[str, tuple[str, bool]]
    numbers: dict[str, tuple[str, int, int]]


QUICK: Final = {
    "search": Quick(
        "query",
        True,
        {"--archived": ("archived", True), "--ids": ("ids", True), "--explain": ("explain", True)},
        {
            "--limit": ("limit", 0, 1000),
            "-n": ("limit", 0, 1000),
            "--budget": ("budget", 0, 999_999),
        },
    ),
    "show": Quick("document", False, {"--raw": ("raw", True)}, {}),
    "for": Quick(
        "place",
        False,
        {"--mentions": ("mentions", True), "--no-mentions": ("mentions", False)},
        {"--budget": ("budget", 0, 999_999)},
    ),
}
_GLOBALS: Final = {
    name: (option.switch, option.metavar is not None) for option in GLOBAL_OPTIONS for name in option.names
}
_NOT_QUICK: Final = {"version", "everything"}
_MOST_DIGITS: Final = 6


class CommandLine(NamedTuple):
    """A command line: global options before and after the command, the command, and its parameters."""

    before: dict[str, bool | str]
    command: str
    after: dict[str, bool | str]
    parameters: dict[str, Any]


class Call(NamedTuple):
    """What a command's function gets of a Typer context."""

    obj: Console


def invoke(arguments: Sequence[str], console: Console) -> int | None:
    """Run the command and return its exit code; ``None`` when Typer has to parse the arguments."""
    parsed = parse(arguments)
    if parsed is None:
        return None
    switches = dict.fromkeys(("json", "pretty", "quiet", "no_input", "no_pager"), False)
    console.configure(**({"directory": "", "color": "auto", "actor": ""} | switches | parsed.before))  # type: ignore[arg-type]
    for name, value in parsed.after.items():
        console.switch(name, value)
    module = __import__(f"{PACKAGE}.{BY_NAME[parsed.command].module}", fromlist=["app"])
    result = module.app.functions[parsed.command](Call(console), **parsed.parameters)
    return result if isinstance(result, int) else 0


def parse(arguments: Sequence[str]) -> CommandLine | None:
    """Parse a command line; ``None`` for one that only Typer can parse, or that has an error."""
    rest = list(reversed(arguments))
    before = _options(rest, _GLOBALS)
    if before is None or before.keys() & _NOT_QUICK or not rest or rest[-1] not in QUICK:
        return None
    command = rest.pop()
    spec, accepted = QUICK[command], BY_NAME[command].switches
    allowed = {name: about for name, about in _GLOBALS.items() if about[0] in accepted}
    after: dict[str, bool | str] = {}
    parameters: dict[str, Any] = {}
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
        if not word.startswith("-"):
            words.append(word)
        elif word in spec.switches:
            name, value = spec.switches[word]
            parameters[name] = value
        elif (number := _number(word, rest, spec)) and number[0] not in parameters:
            parameters[number[0]] = number[1]
        else:
            return None
    if not words or not (spec.several or len(words) == 1):
        return None
    return CommandLine(
        before, command, after, parameters | {spec.arguments: words if spec.several else words[0]}
    )


def _options(rest: list[str], known: dict[str, tuple[str, bool]]) -> dict[str, bool | str] | None:
    """Remove the global options at the end of ``rest``; ``None`` if one is repeated or lacks a value."""
    found: dict[str, bool | str] = {}
    while rest and rest[-1] in known:
        switch, valued = known[rest.pop()]
        if valued and (not rest or rest[-1].startswith("-") or switch in found):
            return None
        found[switch] = rest.pop() if valued else True
    return found


def _number(word: str, rest: list[str], spec: Quick) -> tuple[str, int] | None:
    """Parse an option with a whole number: ``-n 5``, ``--limit 5``, ``--limit=5``."""
    option, equals, given = word.partition("=")
    if option not in spec.numbers or (equals and not option.startswith("--")):
        return None
    given = given if equals else (rest.pop() if rest else "")
    name, least, most = spec.numbers[option]
    if not (given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS):
        return None
    return (name, int(given)) if least <= int(given) <= most else None
