"""The program: runs one command line and returns its exit code.

`run` parses and calls; every exception becomes one message and an exit code here. The codes are those of
``errors.py``; in addition 70 is a bug (the path of the crash report is printed), 130 SIGINT, 143 SIGTERM and
129 SIGHUP. A closed pipe (``| head``) is not an error.

``quick.py`` parses common command lines of the commands that must start fast, Typer in ``group.py`` all
others. Only crash reports are written to disk.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from thunderus_mem import __version__
from thunderus_mem.cli import quick
from thunderus_mem.cli.console import Console
from thunderus_mem.errors import Degraded, OutOfMemory, ThunderusError, explain, is_out_of_memory
from thunderus_mem.store.layout import Layout, find_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

BUG, INTERRUPTED = 70, 130
_SIGNALLED = 128
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _Ended(BaseException):
    """A terminating signal as an exception, so that open files are closed in order."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = _SIGNALLED + number


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's arguments) and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(sys.stdout, sys.stderr, os.environ)
    console.json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    try:
        _end_in_order()
        code = _caught(given, console)
        if code != Degraded.exit_code and code < _SIGNALLED:  # otherwise it is already reported
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
    if _is_write_incomplete(console):
        what = "an earlier command was interrupted; this output may be incomplete"
        console.talk(f"warning: {what}. {_RECOVER}")


_RECOVER = "The next write recovers it, or run `thunderus-mem doctor --fix`"


def _is_write_incomplete(console: Console) -> bool:
    """Whether the opened store has a write that was interrupted."""
    if console.opened is None:
        return False
    from thunderus_mem.memory.memory import is_interrupted

    with suppress(ThunderusError, OSError):
        return is_interrupted(console.opened.layout)
    return False


def _interrupted(stop: BaseException, console: Console) -> None:
    """Report that this command was interrupted, and how to continue or recover."""
    if notes := getattr(stop, "__notes__", ()):
        console.talk(f"This command was interrupted; {notes[0]}")
    elif _is_write_incomplete(console):
        console.talk(f"This command was interrupted, and a write is incomplete. {_RECOVER}")
    elif isinstance(stop, KeyboardInterrupt):
        console.say("Interrupted")


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
        return _invoke(arguments, console, json=wants_json)
    except BrokenPipeError:
        raise
    except ThunderusError as error:
        console.json |= wants_json
        return _failed(error, console)
    except KeyboardInterrupt as stop:
        _interrupted(stop, console)
        return INTERRUPTED
    except _Ended as ended:
        _interrupted(ended, console)
        return ended.code
    except OSError as error:
        return _failed(
            explain(error, error.filename if isinstance(error.filename, str) else "a file"), console
        )
    except Exception as error:  # noqa: BLE001 - anything else is a bug in this program
        if is_out_of_memory(error):
            return _failed(OutOfMemory(), console)
        return _bug(error, arguments, console)


def _invoke(arguments: list[str], console: Console, *, json: bool) -> int:
    for argument in arguments:
        if not argument.isascii() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise ThunderusError("an argument is not valid UTF-8", hint="pass names and texts in UTF-8")
    code = quick.invoke(arguments, console)
    if code is None:
        from thunderus_mem.cli.group import invoke

        code = invoke(arguments, console, json=json)
    return code


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
    import platform
    import traceback

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
