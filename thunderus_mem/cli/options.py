"""Declarations of arguments and options, read by the quick parser, Typer and shell completion.

A command is a function whose parameters are annotated like those of Typer::

    app = Commands()

    @app.command("show")
    def show(ctx: Call, document: DocumentId, raw: Annotated[bool, Option("--raw", help="…")] = False) -> int:

Annotations are strings (``from __future__ import annotations``) and are evaluated only for the command that
runs, so declaring a command costs nothing and does not import Typer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from thunderus_mem.cli.console import Console

    Function = TypeVar("Function", bound=Callable[..., Any])

REQUIRED: Final = object()
"""The default of a parameter that must be given."""


class Declared(NamedTuple):
    """The declaration of a parameter: the names of an option, and its settings, as in Typer."""

    is_option: bool
    names: tuple[str, ...]
    settings: dict[str, Any]


def Option(*names: str, **settings: Any) -> Any:  # noqa: N802 - named like Typer's
    """Declare an option, ``--name`` by default; settings: metavar, help, min, max, hidden, show_default."""
    return Declared(True, names, settings)


def Argument(**settings: Any) -> Any:  # noqa: N802 - named like Typer's
    """Declare an argument; settings: metavar, help."""
    return Declared(False, (), settings)


class Call(NamedTuple):
    """What every command gets first, of a Typer context too."""

    obj: Console


class Commands:
    """The commands of a module, or of a group: functions by name, and groups by name."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}
        self.groups: dict[str, Commands] = {}

    def command(self, name: str) -> Callable[[Function], Function]:
        """Register a command: ``@app.command("show")``."""

        def register(function: Function) -> Function:
            self.functions[name] = function
            return function

        return register

    def group(self, name: str) -> Commands:
        """Register a group of commands: ``events = app.group("events")``."""
        return self.groups.setdefault(name, Commands())


class CommandParameter(NamedTuple):
    """A parameter of a command: its annotation without what is declared, its type, and its default.

    ``kind``: bool, int or str; of the elements if there may be ``several``.
    """

    name: str
    annotation: Any
    kind: type
    several: bool
    default: Any
    declared: Declared

    @property
    def options(self) -> dict[str, bool]:
        """The names of the option; false for one that turns a switch off. Empty for an argument."""
        if not self.declared.is_option:
            return {}
        long = "--" + self.name.replace("_", "-")
        given = self.declared.names or ((f"{long}/--no-{long[2:]}" if self.kind is bool else long),)
        parts = [name.partition("/") for name in given]
        return {on: True for on, _, _ in parts} | {off: False for _, _, off in parts if off}


def parameters(function: Callable[..., Any]) -> list[CommandParameter]:
    """Return the parameters of a command, without the first one."""
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    required = len(names) - len(defaults)
    known = vars(sys.modules[function.__module__])
    return [
        _parameter(
            name,
            eval(function.__annotations__[name], known),
            defaults[at - required] if at >= required else REQUIRED,
        )
        for at, name in enumerate(names)
    ]


def _parameter(name: str, annotated: Any, default: Any) -> CommandParameter:
    annotation, declared = get_args(annotated)
    kind = next((one for one in get_args(annotation) if one is not type(None)), annotation)
    if get_origin(annotation) is list:
        kind = annotation
    several = get_origin(kind) is list
    return CommandParameter(
        name, annotation, get_args(kind)[0] if several else kind, several, default, declared
    )
