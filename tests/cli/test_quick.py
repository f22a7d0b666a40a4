"""The parser of the commands that start fast agrees with Typer."""

from __future__ import annotations

import importlib
import inspect
import io
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thunderus_mem.cli import group, quick
from thunderus_mem.cli.console import Console
from thunderus_mem.cli.table import BY_NAME
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = ("json", "quiet", "no_input", "no_pager", "color", "actor", "start")
GLOBAL = [
    ("--json",),
    ("-q",),
    ("--no-input",),
    ("--color", "always"),
    ("--all",),
    ("-C", "."),
    ("--actor", "me"),
]
OPTIONS = [
    *(
        ("words",),
        ("a b",),
        ("",),
        ("-n", "3"),
        ("--limit=7",),
        ("--limit", "1000"),
        ("--archived",),
        ("--ids",),
    ),
    *(("--raw",), ("--mentions",), ("--no-mentions",), ("--no-pager",), ("--json",), ("--quiet",)),
    *(("--color", "never"), ("--color", "green"), ("--explain",), ("--", "-x")),
]
STRANGE = [
    *(
        "-",
        "-5",
        "0",
        "1001",
        "-n",
        "-n5",
        "--limit",
        "--limit=",
        "-n=3",
        "--lim",
        "-i",
        "--help",
        "--version",
    ),
    *("--color=never", "--actor=user", "-C.", "--unknown", "-x", "-qn", "\u0663", "search", "show", "list"),
]


@pytest.fixture(scope="module")
def functions() -> Iterator[dict[str, inspect.Signature]]:
    """Replace the functions of the quick commands by one that raises what it was given."""

    def ran(ctx: object, **given: Any) -> None:
        raise Ran(given)

    signatures = {}
    with pytest.MonkeyPatch.context() as patch:
        loaded = {name: group.load_command(BY_NAME[name]) for name in quick.QUICK}
        for name, command in loaded.items():
            module = importlib.import_module(f"{quick.PACKAGE}.{BY_NAME[name].module}")
            signatures[name] = inspect.signature(module.app.functions[name])
            patch.setitem(module.app.functions, name, ran)
            patch.setattr(command, "callback", lambda **given: ran(None, **given))
        patch.setattr(
            group, "load_command", lambda entry: loaded.get(entry.name) or pytest.skip("another command")
        )
        yield signatures


class Ran(BaseException):
    """A command was run with these parameters."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__()
        self.given = given


def outcome(call: Any, arguments: list[str]) -> tuple[object, ...]:
    """The error of a command line, or its parameters that are no defaults; and the state of the console."""
    console = Console(io.StringIO(), io.StringIO(), {})
    ended: object
    try:
        ended = call(arguments, console)
    except Ran as ran:
        ended = ran.given
    except ThunderusError as error:
        return (str(error),)
    return (ended, *(getattr(console, name) for name in STATE))


def by_typer(arguments: list[str], console: Console) -> object:
    return group.invoke(arguments, console, json=False)


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    before=st.lists(st.sampled_from(GLOBAL), max_size=2),
    command=st.sampled_from(sorted(quick.QUICK)),
    after=st.lists(st.sampled_from(OPTIONS), max_size=4),
    strange=st.none() | st.tuples(st.integers(0, 6), st.sampled_from(STRANGE)),
)
def test_parsers_agree(
    functions: dict[str, inspect.Signature],
    before: list[tuple[str, ...]],
    command: str,
    after: list[tuple[str, ...]],
    strange: tuple[int, str] | None,
) -> None:
    arguments = [word for words in (*before, (command,), *after) for word in words]
    if strange:
        arguments.insert(*strange)
    parsed = quick.parse(arguments)
    if parsed is None:
        return
    mine, typers = outcome(quick.invoke, arguments), outcome(by_typer, arguments)
    if isinstance(mine[0], dict):
        assert isinstance(typers[0], dict)
        bound = functions[parsed.command].bind(None, **mine[0])
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != "ctx"}
        assert given == {
            name: list(value) if isinstance(value, tuple) else value for name, value in typers[0].items()
        }
    else:
        assert mine[0] == typers[0]
    assert mine[1:] == typers[1:]


@pytest.mark.parametrize("name", sorted(quick.QUICK))
def test_table_has_the_parameters_of_typer(name: str) -> None:
    spec = quick.QUICK[name]
    found: dict[str, Any] = {
        option: parameter
        for parameter in group.load_command(BY_NAME[name]).params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert (found[spec.arguments].nargs == -1) == spec.several
    for option, (parameter, value) in spec.switches.items():
        assert found[option].name == parameter
        assert (option in found[option].opts) == value
    for option, (parameter, least, most) in spec.numbers.items():
        assert (found[option].name, found[option].type.min, found[option].type.max) == (
            parameter,
            least,
            most,
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "token", "life"],
        ["-C", ".", "--json", "search", "-n", "3", "token", "--ids", "-q"],
        ["search", "--archived", "--explain", "--no-pager", "a b", "--color", "never"],
        ["show", "fact.x", "--raw", "--json"],
        ["for", "src/a.py#run", "--no-mentions"],
        ["search", "--", "-excluded"],
    ],
)
def test_usual_arguments_need_no_typer(arguments: list[str]) -> None:
    assert quick.parse(arguments) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["search"],
        ["search", "a", "--help"],
        ["search", "a", "-n", "-1"],
        ["search", "a", "--limit", "1001"],
        ["show"],
        ["show", "a", "b"],
        ["show", "a", "--unknown"],
        ["search", "-n", "2", "-n", "3", "a"],
        ["--version", "search", "a"],
        ["list"],
    ],
)
def test_other_arguments_are_left_to_typer(arguments: list[str]) -> None:
    assert quick.parse(arguments) is None
    assert "typer" in sys.modules
