"""The program: global options, loading of commands, and exit codes.

`run` parses and calls; every exception becomes one message and an exit code here. The codes are those of
``errors.py``; in addition 70 is a bug (the path of the crash report is printed), 130 SIGINT, 143 SIGTERM and
129 SIGHUP. A closed pipe (``| head``) is not an error.

Only the command that is used is loaded. A command family is a module with an ``app = typer.Typer()``,
commands registered on it by name (``@app.command("add")``) and groups added by name
(``app.add_typer(…, name="index")``). Only crash reports are written to disk.
"""

from __future__ import annotations

import importlib
import os
import platform
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException
from typer.main import get_command_from_info, get_group_from_info

from thunderus_mem import __version__
from thunderus_mem.cli.console import Console
from thunderus_mem.cli.table import BY_NAME, COMMANDS, GLOBAL_OPTIONS, CommandEntry, GlobalOption, meant
from thunderus_mem.errors import Degraded, OutOfMemory, ThunderusError, explain, is_out_of_memory
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.layout import Layout, find_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from typer._click import Command, Context, HelpFormatter

_PACKAGE = "thunderus_mem.cli.commands"


class LazyGroup(TyperGroup):
    """The top-level group: knows names and help lines, and loads a command's module on demand."""

    def list_commands(self, ctx: Context) -> list[str]:
        """List all visible command names, in table order."""
        return [entry.name for entry in COMMANDS if not entry.hidden]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Load the command with this name; ``None`` when it is unknown."""
        entry = BY_NAME.get(cmd_name)
        return load_command(entry) if entry else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; suggest the nearest name for an unknown one."""
        name = args[0]
        if name not in BY_NAME and not name.startswith("-"):
            near = meant(name)
            ctx.fail(f"unknown command {name!r}" + (f"; did you mean {near!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands by section, without importing any of them."""
        shown = [entry for entry in COMMANDS if not entry.hidden]
        width = max(len(entry.name) for entry in shown)
        for section in dict.fromkeys(entry.section for entry in shown):
            with formatter.section(section):
                rows = [(e.name.ljust(width), e.help) for e in shown if e.section == section]
                formatter.write_dl(rows)


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and convert only that command."""
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
_ANYWHERE = ("json", "plain", "color", "quiet", "no_input")


def _with_globals(command: Command, entry: CommandEntry) -> Command:
    """Accept the global switches after the command too, where people and agents put them."""
    taken = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    accepted = (*_ANYWHERE, *(["no_pager"] if entry.pages else []), *(["actor"] if entry.acts else []))
    for option in map(_OPTIONS.__getitem__, accepted):
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
    """A global option as a Typer option."""
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
    actor: Annotated[str, _option("actor", show_default=False)] = "",
    version: Annotated[bool, _option("version")] = False,
) -> None:
    """Repository memory: searchable Markdown documents beside the code, with provenance."""
    console: Console = ctx.obj
    console.configure(
        directory=directory,
        color=color,
        actor=actor,
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
    """Return the top-level group, ready to parse."""
    return typer.main.get_group(app)


# Running one command


PROGRAM = "thunderus-mem"
BUG, INTERRUPTED = 70, 130
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

# Options that people often try, and what to use instead.
_INSTEAD: Final = {
    **{
        ("search", name): f"filters are part of the query: {name}:…"
        for name in ("kind", "tag", "path", "status", "since", "before")
    },
    ("edit", "title"): 'set fields with --set: --set title="New title"',
    ("edit", "tag"): "use --add-tag and --remove-tag",
}
_PLAINER: Final = (
    (lazy_pattern(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (lazy_pattern(r"is not in the range (-?\d+)<=x<=(-?\d+)$"), r"is not between \1 and \2"),
    (lazy_pattern(r"is not in the range x>=(-?\d+)$"), r"is less than \1"),
)
"""Patterns in messages of the command line library, and plainer words."""


class _Ended(BaseException):
    """A terminating signal as an exception, so that open files are closed in order."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's arguments) and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(sys.stdout, sys.stderr, os.environ)
    console.json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    try:
        _end_in_order()
        code = _caught(given, console)
        if code != Degraded.exit_code:  # with this code the command has already reported it
            _report_interrupted_write(console)
        return _flushed(code, console)
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        return INTERRUPTED
    except _Ended as ended:
        return ended.code


def _report_interrupted_write(console: Console) -> None:
    """Warn that the output may be incomplete when an earlier command was interrupted while writing."""
    if console.opened is None:
        return
    from thunderus_mem.memory.memory import is_interrupted

    with suppress(ThunderusError, OSError):
        if is_interrupted(console.opened.layout):
            console.talk(
                "warning: an earlier command was interrupted; this output may be incomplete. "
                "The next write recovers it, or run `thunderus-mem doctor --fix`"
            )


def _flushed(code: int, console: Console) -> int:
    """Flush the output and return the exit code; a failed write (``> /dev/full``) is an error."""
    try:
        console.flush()
    except ThunderusError as error:
        console.failure(error, error.exit_code)
        code = code or error.exit_code
    _ignore_signals()
    return code


def _end_in_order() -> None:
    """Turn terminating signals into exceptions; an ignored one (``nohup``) stays ignored."""
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _ignore_signals() -> None:
    """Ignore terminating signals: the command is complete."""
    for number in _ENDING:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise _Ended(number)


def _caught(arguments: list[str], console: Console) -> int:
    """Run the command and turn every exception into a message and an exit code."""
    wants_json, console.json = console.json, False
    try:
        return _invoke(arguments, console)
    except BrokenPipeError:
        raise
    except typer.Exit as leave:
        return leave.exit_code
    except ThunderusError as error:
        console.json |= wants_json
        return _failed(error, console)
    except TyperException as error:
        console.json |= wants_json
        return _usage(error, console)
    except (KeyboardInterrupt, typer.Abort):
        console.say("Interrupted")
        return INTERRUPTED
    except _Ended as ended:
        return ended.code
    except OSError as error:
        return _failed(
            explain(error, error.filename if isinstance(error.filename, str) else "a file"), console
        )
    except Exception as error:  # noqa: BLE001 - anything else is a bug in this program
        if is_out_of_memory(error):
            return _failed(OutOfMemory(), console)
        return _bug(error, arguments, console)


def _invoke(arguments: list[str], console: Console) -> int:
    for argument in arguments:
        if not argument.isascii() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise ThunderusError("an argument is not valid UTF-8", hint="pass names and texts in UTF-8")
    group = root()
    with group.make_context(PROGRAM, arguments, obj=console) as context:
        result: Any = group.invoke(context)
    return result if isinstance(result, int) else 0


def _usage(error: TyperException, console: Console) -> int:
    """Report a usage error and how to get help."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        console.talk(error.format_message())
        return 2
    hint = None
    if context is not None:
        option = str(getattr(error, "option_name", "")).lstrip("-")
        hint = _INSTEAD.get((str(context.info_name), option))
        if hint and (also := getattr(error, "possibilities", None)):
            also.clear()  # similar names are not what was meant
        hint = hint or f"run `{context.command_path} --help`"
    message = error.format_message().removesuffix(".")
    for pattern, words in _PLAINER:
        message = pattern.sub(words, message)
    console.failure(ThunderusError(message[:1].lower() + message[1:], hint=hint), 2)
    return 2


def _failed(error: ThunderusError, console: Console) -> int:
    """Report an error, and return its exit code."""
    console.failure(error, error.exit_code)
    return error.exit_code


def _bug(error: Exception, arguments: list[str], console: Console) -> int:
    """Report an internal error and the path of the crash report."""
    path = write_crash_report(error, arguments, console.start, console.environ)
    where = f"attach {path} to a bug report" if path else "the crash report could not be written"
    console.failure(
        ThunderusError(
            f"internal error ({type(error).__name__}); this is a bug in thunderus-mem", hint=where
        ),
        BUG,
    )
    return BUG


def _reader_gone() -> int:
    """Exit silently after a closed pipe, without an error from the interpreter's last flush."""
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        for stream in (sys.stdout, sys.stderr):
            try:
                os.dup2(nothing.fileno(), stream.fileno())
            except (OSError, ValueError):
                continue
    return 0


def write_crash_report(
    error: BaseException, arguments: Sequence[str], start: str, environ: Mapping[str, str]
) -> str | None:
    """Write a crash report to the store's local folder, else to the temp folder; return its path.

    Values of arguments and messages of exceptions are omitted: both may contain private text.
    """
    import tempfile

    text = _report(error, arguments)
    for folder in _folders(start, environ):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            descriptor, path = tempfile.mkstemp(prefix="crash-", suffix=".log", dir=folder, text=True)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as handle:
                handle.write(text)
        except OSError:
            continue
        return path
    return None


def _folders(start: str, environ: Mapping[str, str]) -> list[str]:
    from tempfile import gettempdir

    try:
        return [Layout(find_root(start, environ).root).crash_dir, gettempdir()]
    except (ThunderusError, OSError):
        return [gettempdir()]


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    names = [part.partition("=")[0] for part in arguments if part.startswith("-")]
    command = next((part for part in arguments if not part.startswith("-")), "")
    lines = [
        f"thunderus-mem {__version__}",
        f"Python {platform.python_version()} on {sys.platform}",
        f"command {command[:40]} {' '.join(names)}".rstrip(),
        "",
    ]
    seen: BaseException | None = error
    while seen is not None:
        lines += [line.rstrip("\n") for line in traceback.format_tb(seen.__traceback__)]
        lines += [type(seen).__name__, ""]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\n".join(lines)
