"""The quick parser agrees with Typer."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thunderus_mem.cli import group, options, quick
from thunderus_mem.cli.console import Console
from thunderus_mem.cli.table import COMMANDS
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STATE = ("json", "pretty", "quiet", "no_input", "no_pager", "color", "actor", "start")
GLOBAL = [
    ("--json",),
    ("-q",),
    ("--no-input",),
    ("--color", "always"),
    ("--pretty",),
    ("-C", "."),
    ("--actor", "me"),
]
WORDS = ["words", "a b", "", "-", "3", "1000", "x=y"]
STRANGE = [
    *("-5", "-n", "-n5", "--limit", "--limit=", "-n=3", "--lim", "-i", "--help", "--version", "--all", "--"),
    *("--color=never", "--color", "green", "--actor=user", "-C.", "--unknown", "-x", "-qn", "\u0663"),
    *("search", "show", "list", "add", "--raw=1", "-m", "-mtext", "--no-pager", "--json", "--quiet"),
]


BARE = [
    (["tag"], ["tag", "list"]),
    (["tag", "-n", "1", "--json"], ["tag", "list", "-n", "1", "--json"]),
    (["-q", "review"], ["-q", "review", "list"]),
    (["review", "--only", "tags"], ["review", "list", "--only", "tags"]),
]


def every_function() -> dict[tuple[str, ...], Callable[..., Any]]:
    """The function of every command, by the words that name it."""
    found = {}
    for entry in COMMANDS:
        app = quick.commands_of(entry.name)
        if entry.name in app.functions:
            found[entry.name,] = app.functions[entry.name]
        else:
            found |= {(entry.name, name): one for name, one in app.groups[entry.name].functions.items()}
    return found


FUNCTIONS = every_function()


class Done(BaseException):
    """A command was run with these parameters."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__()
        self.given = given


@pytest.fixture(scope="module")
def typers() -> Iterator[None]:
    """Let every command of Typer raise what it was given."""

    def ran(**given: Any) -> None:
        raise Done(given)

    with pytest.MonkeyPatch.context() as patch:
        loaded = {entry.name: group.load_command(entry) for entry in COMMANDS}
        for command in loaded.values():
            for one in getattr(command, "commands", {"": command}).values():
                patch.setattr(one, "callback", ran)
        patch.setattr(group, "load_command", lambda entry: loaded[entry.name])
        yield


def console() -> Console:
    return Console(io.StringIO(), io.StringIO(), {})


def state(used: Console) -> tuple[object, ...]:
    return tuple(getattr(used, name) for name in STATE)


def by_quick(arguments: list[str]) -> tuple[object, ...] | None:
    """The parameters of a command line and the state of the console, or the error."""
    parsed = quick.parse(arguments)
    if parsed is None:
        return None
    used = console()
    defaults = {one.name: one.default for one in options.parameters(parsed.function)}
    try:
        quick.configure(parsed, used)
    except ThunderusError as error:
        return (str(error),)
    return (plain(defaults | parsed.parameters), *state(used))


def by_typer(arguments: list[str]) -> tuple[object, ...]:
    used = console()
    try:
        code = group.invoke(arguments, used, json=False)
    except Done as ran:
        return (plain(ran.given), *state(used))
    except ThunderusError as error:
        return (str(error),)
    return (code,)


def plain(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters without those that are not given, or an empty list."""
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    return {name: value for name, value in lists.items() if value not in (None, [])}


@pytest.mark.parametrize(("bare", "full"), BARE)
@pytest.mark.usefixtures("typers")
def test_group_without_a_command_lists(bare: list[str], full: list[str]) -> None:
    assert by_quick(bare) == by_quick(full) == by_typer(bare) == by_typer(full)
    assert by_quick(bare) is not None


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    path = draw(st.sampled_from(sorted(FUNCTIONS)))
    declared = options.parameters(FUNCTIONS[path])
    arguments = [word for words in draw(st.lists(st.sampled_from(GLOBAL), max_size=2)) for word in words]
    arguments += path
    named = [(name, one) for one in declared for name in one.options]
    for _ in range(draw(st.integers(0, 3))):
        if named and draw(st.booleans()):
            name, one = draw(st.sampled_from(named))
            arguments.append(name)
            if one.kind is not bool:
                arguments.append(draw(st.sampled_from(WORDS)))
        else:
            arguments.append(draw(st.sampled_from(WORDS)))
    arguments += [draw(st.sampled_from(WORDS)) for one in declared if one.default is options.REQUIRED]
    if draw(st.booleans()):
        arguments.insert(draw(st.integers(0, len(arguments))), draw(st.sampled_from(STRANGE)))
    return arguments


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(arguments=command_lines())
def test_parsers_agree(typers: None, arguments: list[str]) -> None:
    mine = by_quick(arguments)
    assert mine is None or mine == by_typer(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "token", "life"],
        ["-C", ".", "--json", "search", "-n", "3", "token", "--ids", "-q"],
        ["search", "--archived", "--explain", "--no-pager", "a b", "--color", "never"],
        ["show", "fact.x", "--raw", "--json"],
        ["for", "src/a.py#run", "--mentions"],
        ["search", "--", "-excluded"],
        ["add", "fact", "Title", "--tag", "a", "-t", "b", "--body", "-", "--anchor=src/a.py"],
        ["lint", "--staged", "--select", "TM201", "--select=TM202"],
        ["check", "--staged"],
        ["hooks", "run", "pre-commit"],
        ["status"],
    ],
)
def test_usual_arguments_need_no_typer(arguments: list[str]) -> None:
    assert quick.parse(arguments) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["search", "a", "--help"],
        ["search", "a", "-n", "-1"],
        ["search", "a", "-n", "1001"],
        ["show"],
        ["show", "a", "b"],
        ["show", "a", "--unknown"],
        ["search", "-n", "2", "-n", "3", "a"],
        ["--version", "search", "a"],
        ["events"],
        ["events", "unknown"],
    ],
)
def test_other_arguments_are_left_to_typer(arguments: list[str]) -> None:
    assert quick.parse(arguments) is None
