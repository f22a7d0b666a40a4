"""The program's own page and options, and the tree of commands, grown only as far as the asked command needs.

A command family is a module with ``app = typer.Typer()``, commands registered on it by name
(``@app.command("add")``) and groups added by name (``app.add_typer(…, name="index")``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command_from_info, get_group_from_info

from thunderus_mem.cli.table import BY_NAME, COMMANDS, GLOBAL_OPTIONS, CommandEntry, GlobalOption

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

    from thunderus_mem.cli.console import Console

_PACKAGE = "thunderus_mem.cli.commands"


class LazyGroup(TyperGroup):
    """The top group: knows names and one-line helps, loads one command's module when it is asked."""

    def list_commands(self, ctx: Context) -> list[str]:
        """All command names, in the order of the table."""
        return [entry.name for entry in COMMANDS if not entry.hidden]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command of that name, converted now; ``None`` when there is none."""
        entry = BY_NAME.get(cmd_name)
        return load_command(entry) if entry else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; a wrong name gets the nearest right one."""
        name = args[0]
        if name not in BY_NAME and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), n=3, cutoff=0.5)
            near.sort(key=lambda known: sorted(known) != sorted(name))  # letters swapped: surely that one
            ctx.fail(f"There is no command {name}." + (f" Did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The commands in their sections, without importing any of them."""
        shown = [entry for entry in COMMANDS if not entry.hidden]
        width = max(len(entry.name) for entry in shown)
        for section in dict.fromkeys(entry.section for entry in shown):
            with formatter.section(section):
                rows = [(e.name.ljust(width), e.help) for e in shown if e.section == section]
                formatter.write_dl(rows)


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and convert that command alone."""
    module = importlib.import_module(f"{_PACKAGE}.{entry.module}")
    app: typer.Typer = module.app
    for info in app.registered_commands:
        if info.name == entry.name:
            return _with_globals(
                get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None), entry
            )
    for group in app.registered_groups:
        if group.name == entry.name:
            made = get_group_from_info(
                group, pretty_exceptions_short=False, rich_markup_mode=None, suggest_commands=True
            )
            made.help = entry.help
            made.commands = {name: _with_globals(command, entry) for name, command in made.commands.items()}
            return cast("Command", made)
    raise LookupError(f"{entry.module} has no command {entry.name}")


_OPTIONS = {option.switch: option for option in GLOBAL_OPTIONS}
_ANYWHERE = ("json", "plain", "color", "quiet", "no_input", "no_pager")


def _with_globals(command: Command, entry: CommandEntry) -> Command:
    """Let the global switches stand after the command too, where people and agents put them."""
    taken = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    for option in map(_OPTIONS.__getitem__, _ANYWHERE if entry.pages else _ANYWHERE[:-1]):
        free = [name for name in option.names if name not in taken]
        if free and free[-1].startswith("--"):
            command.params.append(cast("Any", _switch(option, free)))
    return command


def _switch(option: GlobalOption, names: list[str]) -> TyperOption:
    def take(ctx: Context, parameter: object, value: bool | str | None) -> None:
        if value:
            ctx.obj.switch(option.switch, value)

    flag = option.metavar is None
    return TyperOption(
        param_decls=names,
        is_flag=flag,
        default=False if flag else None,
        metavar=option.metavar,
        expose_value=False,
        callback=take,
        help=option.help,
    )


def _option(switch: str, *, show_default: bool = True) -> Any:
    """An option of the program as Typer takes it."""
    option = _OPTIONS[switch]
    return typer.Option(*option.names, metavar=option.metavar, help=option.help, show_default=show_default)


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="COMMAND …",
)


@app.callback(invoke_without_command=True)
def top(
    ctx: typer.Context,
    directory: Annotated[str, _option("directory", show_default=False)] = "",
    json: Annotated[bool, _option("json")] = False,
    color: Annotated[str, _option("color")] = "auto",
    plain: Annotated[bool, _option("plain")] = False,
    quiet: Annotated[bool, _option("quiet")] = False,
    no_input: Annotated[bool, _option("no_input")] = False,
    no_pager: Annotated[bool, _option("no_pager")] = False,
    version: Annotated[bool, _option("version")] = False,
) -> None:
    """Repository memory: Markdown beside the code, found in milliseconds, with provenance."""
    console: Console = ctx.obj
    console.configure(
        directory=directory,
        color=color,
        json=json or console.json,
        plain=plain,
        quiet=quiet,
        no_input=no_input,
        no_pager=no_pager,
    )
    if version:
        console.version()
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        console.data(ctx.get_help())


def root() -> TyperGroup:
    """The top group, ready to parse."""
    return typer.main.get_group(app)
