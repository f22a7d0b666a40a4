"""The commands as a Typer application: parsing, help, and usage errors.

Only the command that runs is loaded, from the declarations in its module (``options.py``). Common command
lines are parsed by ``quick.py`` instead.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException
from typer.main import get_command_from_info
from typer.models import CommandInfo

from thunderus_mem.cli.options import REQUIRED, Declared, parameters
from thunderus_mem.cli.quick import DEFAULT, commands_of
from thunderus_mem.cli.table import (
    BY_NAME,
    COMMANDS,
    FIRST_PAGE,
    GLOBAL_OPTIONS,
    CommandEntry,
    GlobalOption,
    instead_of,
    meant,
)
from thunderus_mem.errors import ThunderusError
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typer._click import Command, Context, HelpFormatter

    from thunderus_mem.cli.console import Console

PROGRAM: Final = "thunderus-mem"
_ALL: Final = "--all"
_HELP: Final = ("-h", "--help")
_WHOLE: Final = 1000
"""More characters than a description has."""
_SHORT_HELP: Final = "--help --all shows all commands, e.g. context, export, garden and lint, and options."


class LazyGroup(TyperGroup):
    """The top-level group: knows names and help lines, and loads a command's module on demand."""

    def list_commands(self, ctx: Context) -> list[str]:
        """List all visible command names, in table order."""
        return [entry.name for entry in COMMANDS if not entry.hidden]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Load the command with this name; ``None`` when it is unknown."""
        entry = BY_NAME.get(cmd_name)
        return load_command(entry) if entry else None

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the global options; remember whether the help is for all commands."""
        ctx.meta[_ALL] = _ALL in args
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; suggest the nearest name for an unknown one."""
        name = args[0]
        if name not in BY_NAME and not name.startswith("-"):
            near = meant(name)
            ctx.fail(f"unknown command {name!r}" + (f"; did you mean {near!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write options and commands: on the first page the main ones, with --all every one."""
        if ctx.meta.get(_ALL):
            super().format_options(ctx, formatter)
        else:
            self._write_sections(formatter, [one for one in COMMANDS if one.section in FIRST_PAGE])
            formatter.write_paragraph()
            formatter.write_text(_SHORT_HELP)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write all commands by section, without importing any of them."""
        self._write_sections(formatter, [one for one in COMMANDS if not one.hidden])

    def _write_sections(self, formatter: HelpFormatter, shown: list[CommandEntry]) -> None:
        width = max(len(entry.name) for entry in shown)
        for section in dict.fromkeys(entry.section for entry in shown):
            with formatter.section(section):
                rows = [(e.name.ljust(width), e.help) for e in shown if e.section == section]
                formatter.write_dl(rows)


class _Subgroup(TyperGroup):
    """A group of commands; its help has their descriptions in full. Without a command it lists, if it can."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments; add the command if none is given, and the group has a default."""
        if DEFAULT in self.commands and (not args or (args[0][:1] == "-" and args[0] not in _HELP)):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write each command with the first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(_WHOLE)) for name, one in self.commands.items()]
            )


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and convert only that command, or that group."""
    app = commands_of(entry.name)
    if entry.name in app.functions:
        return _with_globals(_typed(entry.name, app.functions[entry.name]), entry)
    made = _Subgroup(name=entry.name, help=entry.help, no_args_is_help=True, rich_markup_mode=None)
    for name, function in app.groups[entry.name].functions.items():
        made.add_command(_with_globals(_typed(name, function), entry), name)
    return made


def _typed(name: str, function: Callable[..., Any]) -> Command:
    """Return a command as Typer has it."""

    def call(ctx: object, **given: Any) -> Any:
        return function(ctx, **given)

    declared = parameters(function)
    hints: dict[str, Any] = {"ctx": typer.Context}
    hints |= {one.name: Annotated[one.annotation, _declaration(one.declared)] for one in declared}
    call.__doc__, call.__annotations__ = function.__doc__, hints
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
            *(
                inspect.Parameter(
                    one.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if one.default is REQUIRED else one.default,
                    annotation=hints[one.name],
                )
                for one in declared
            ),
        ]
    )
    info = CommandInfo(name=name, callback=call)
    return get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)


def _declaration(declared: Declared) -> Any:
    make = typer.Option if declared.is_option else typer.Argument
    return make(*declared.names, **declared.settings)


_OPTIONS = {option.switch: option for option in GLOBAL_OPTIONS}


def _with_globals(command: Command, entry: CommandEntry) -> Command:
    """Accept the global switches after the command too, where people and agents put them."""
    taken = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    for option in map(_OPTIONS.__getitem__, entry.switches):
        free = [name for name in option.names if name not in taken]
        if free and free[-1].startswith("--"):
            command.params.append(cast("Any", _switch(option, free)))
    return command


def _switch(option: GlobalOption, names: list[str]) -> TyperOption:
    def take(ctx: Context, parameter: object, value: bool | str | None) -> None:
        if value not in (None, False):
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
    """A global option as a Typer option."""
    option = _OPTIONS[switch]
    return typer.Option(*option.names, metavar=option.metavar, help=option.help, show_default=show_default)


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(_HELP), "max_content_width": 100},
    subcommand_metavar="COMMAND …",
)


@app.callback(invoke_without_command=True)
def top(
    ctx: typer.Context,
    directory: Annotated[str, _option("directory", show_default=False)] = "",
    json: Annotated[bool, _option("json")] = False,
    pretty: Annotated[bool, _option("pretty")] = False,
    color: Annotated[str, _option("color")] = "auto",
    quiet: Annotated[bool, _option("quiet")] = False,
    no_input: Annotated[bool, _option("no_input")] = False,
    no_pager: Annotated[bool, _option("no_pager")] = False,
    actor: Annotated[str, _option("actor", show_default=False)] = "",
    everything: Annotated[bool, _option("everything")] = False,
    version: Annotated[bool, _option("version")] = False,
) -> None:
    """Repository memory: searchable Markdown documents beside the code, with provenance."""
    console: Console = ctx.obj
    console.configure(
        directory=directory,
        color=color,
        actor=actor,
        json=json or console.json,
        pretty=pretty,
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
    """Return the top-level group, ready to parse."""
    return typer.main.get_group(app)


# Running one command

_WITH_FILTERS: Final = ("search", "list", "export")


def _instead(command: str, option: str) -> str:
    """What to use instead of an option that people often try, or ""."""
    from thunderus_mem.search.query import FILTERS

    name = option.lstrip("-").replace("-", "_")
    if command in _WITH_FILTERS and name in FILTERS:
        return f"use the filter `{name}:…`"
    return 'set fields with --set: --set title="New title"' if (command, name) == ("edit", "title") else ""


def _needed(error: TyperException) -> str:
    """What to pass for a missing option; "" for any other error."""
    option = getattr(error, "param", None)
    if type(error).__name__ != "MissingParameter" or not isinstance(option, TyperOption) or not option.help:
        return ""
    return (
        f"pass {option.opts[0]} {option.metavar}: {option.help[0].lower()}{option.help[1:].removesuffix('.')}"
    )


_UNKNOWN_COMMAND: Final = lazy_pattern(r"(?:unknown|No such) command '([^']+)'")
_PLAINER: Final = (
    (lazy_pattern(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (lazy_pattern(r"is not in the range (-?\d+)<=x<=(-?\d+)$"), r"is not between \1 and \2"),
    (lazy_pattern(r"is not in the range x>=(-?\d+)$"), r"is less than \1"),
)
"""Patterns in messages of the command line library, and plainer words."""


def invoke(arguments: Sequence[str], console: Console, *, json: bool) -> int:
    """Parse the arguments, run the command and return its exit code.

    ``json``: a message about wrong usage is printed as JSON.
    """
    group = root()
    try:
        with group.make_context(PROGRAM, list(arguments), obj=console) as context:
            result: Any = group.invoke(context)
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except TyperException as error:
        console.json |= json
        return _usage(error, console)
    return result if isinstance(result, int) else 0


def _removed(error: TyperException, context: Context | None) -> str:
    """The message for a former command or option; "" for any other error."""
    if context is None:
        return ""
    command = context.command_path.removeprefix(PROGRAM).strip()
    option = str(getattr(error, "option_name", ""))
    unknown = _UNKNOWN_COMMAND.search(error.format_message())
    return instead_of(command, option or (unknown[1] if unknown else ""))


def _usage(error: TyperException, console: Console) -> int:
    """Report a usage error and how to get help."""
    context = getattr(error, "ctx", None)
    if removed := _removed(error, context):
        console.failure(ThunderusError(removed), 2)
        return 2
    if type(error).__name__ == "NoArgsIsHelpError":
        console.talk(error.format_message())
        return 2
    hint = None
    if context is not None:
        hint = _instead(str(context.info_name), str(getattr(error, "option_name", "")))
        if hint and (also := getattr(error, "possibilities", None)):
            also.clear()  # similar names are not what was meant
        hint = hint or _needed(error) or f"run `{context.command_path} --help`"
    message = error.format_message().removesuffix(".")
    for pattern, words in _PLAINER:
        message = pattern.sub(words, message)
    console.failure(ThunderusError(message[:1].lower() + message[1:], hint=hint), 2)
    return 2
