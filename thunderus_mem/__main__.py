"""The program: ``thunderus-mem`` and ``python -m thunderus_mem``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def main() -> None:
    """Run the command line and exit with its exit code."""
    try:
        code = _run()
        # The command is complete; ignore interrupts from here on.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = 130
    except (MemoryError, ImportError, OSError, SystemError) as error:  # before the command line can report it
        from thunderus_mem.errors import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        os.write(2, b"error: out of memory\n")
        code = 4
    # Everything is flushed and closed; skip the interpreter's shutdown, which costs milliseconds.
    os._exit(code)


def _run() -> int:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A command runs for milliseconds; collecting the garbage of imports costs more than it frees.
    gc.set_threshold(50_000, 20, 100)
    sys.unraisablehook = _unraisable
    _open_missing_streams()
    _use_utf8()
    if sys.argv[1:2] == ["--complete"]:
        from thunderus_mem.cli.complete import answer

        sys.exit(answer(sys.argv[2:], os.environ))
    from thunderus_mem.cli.app import run

    return run()


def _unraisable(unraisable: UnraisableHookArgs) -> None:
    """Report an exception that nothing can catch, except that memory is short: the command reports it."""
    if not issubclass(unraisable.exc_type, MemoryError):
        sys.__unraisablehook__(unraisable)


def _open_missing_streams() -> None:
    """Open the null device for closed standard streams, whose descriptors would be reused."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while os.open(os.devnull, os.O_RDWR) < number:
                pass
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _use_utf8() -> None:
    """Restart in UTF-8 mode when the locale would decode names and arguments as ASCII."""
    if os.name == "nt" or sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


if __name__ == "__main__":
    main()
