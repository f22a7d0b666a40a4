"""Every command of the program, read from the app itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.cli.group import load_command
from thunderus_mem.cli.table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typer._click import Parameter

ENDLESS = frozenset({"watch"})
"""Commands that do not end by themselves."""


class CommandLine(NamedTuple):
    """A command with its parameters; ``path`` are the words that name it."""

    path: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """All names of its options."""
        return tuple(name for one in self.parameters for name in one.opts if name.startswith("-"))


def every_command() -> list[CommandLine]:
    """Every command that ends by itself."""
    found = []
    for entry in COMMANDS:
        if entry.name not in ENDLESS:
            command = load_command(entry)
            for name, one in (getattr(command, "commands", None) or {"": command}).items():
                path = (entry.name, name) if name else (entry.name,)
                found.append(CommandLine(path, tuple(one.params)))
    return found


def calls(values: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Every command, once with what it requires, once with all of its arguments, and once with each flag.

    ``values`` has the texts of each parameter by its name; a new parameter needs an entry.
    """
    found: dict[tuple[str, ...], None] = {}
    for command in every_command():
        required, everything = list(command.path), list(command.path)
        for one in command.parameters:
            if one.required or one.param_type_name == "argument":
                given = list(values[one.name or ""])
                if one.param_type_name != "argument":
                    given.insert(0, one.opts[-1])
                everything += given
                required += given if one.required else []
        found |= {tuple(required): None, tuple(everything): None}
        flags = [
            one.opts[-1] for one in command.parameters if getattr(one, "is_flag", False) and one.expose_value
        ]
        found |= dict.fromkeys((*everything, flag) for flag in flags)
    return list(found)
