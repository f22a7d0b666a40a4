"""The terminal: data on stdout, messages on stderr, all through `Console`.

All output is filtered: control characters are made visible and secrets removed. Long output goes through the
user's pager, and slow work shows a progress line. Other programs (pager, fzf) are found by their full path
and run without a shell.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

from thunderus_mem.cli.text import Style, counted, error_lines, folded, unmarked, width
from thunderus_mem.errors import Degraded, InvalidConfig, NotWritable, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_USUAL: Final = 80


def terminal_width(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Width of a stream: ``COLUMNS`` when it is a number above 0, else the width of its terminal, else 80."""
    try:
        given = int(environ.get("COLUMNS", ""))
    except ValueError:
        given = 0
    if given > 0:
        return given
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL
    except (OSError, ValueError):
        return _USUAL


# Invisible characters for which str.isprintable() is true, because they count as letters or marks.
_HIDDEN_LETTERS = "\u034f\u180e\u3164\uffa0"
_VARIATIONS = "\U000e0100"


def with_visible_characters(text: str) -> str:
    """Apply `document.unicode.visible`; it is imported only when the text needs it."""
    bare = unmarked(text).replace("\n", "").replace("\t", "")
    if bare.isprintable() and (bare.isascii() or not _hides(bare)):
        return text
    from thunderus_mem.document.unicode import visible

    return visible(text)


def _hides(text: str) -> bool:
    return any(char in text for char in _HIDDEN_LETTERS) or max(text) >= _VARIATIONS


def without_secrets(text: str) -> str:
    """Redact secrets; marks are removed then, because one could be inside a secret."""
    from thunderus_mem.safety.redaction import redacted

    bare = unmarked(text)
    safe = redacted(bare)
    return text if safe == bare else safe


_INDENT: Final = 2
_WHEN = ("auto", "always", "never")
_ACTORS = ("", "user", "agent", "tool")


class Console:
    """Input and output of a command: the streams, the global options, and the working folder.

    Commands set ``details`` for JSON with diffs and other long fields, and ``budget``, the maximum number of
    tokens of a list (0 for any).
    """

    def __init__(self, out: TextIO, talk: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self._talk = talk
        self._progress: Progress | None = None
        self._others = ""
        self.opened: Memory | None = None
        self.environ = environ
        self.json = False
        self.pretty = False
        self.details = False
        self.budget = 0
        self.quiet = False
        self.no_input = False
        self.no_pager = False
        self.color = "auto"
        self.actor = ""
        self.start = os.curdir
        self.style = Style(colored=False)
        for stream in (out, talk):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

    def configure(self, *, directory: str, color: str, actor: str, **switches: bool) -> None:
        """Set the global options. Raises ``ThunderusError`` for a missing folder or an invalid value."""
        for name, value in switches.items():
            setattr(self, name, value)
        if directory and not os.path.isdir(directory):
            raise ThunderusError(f"-C: no such folder: {directory}")
        self.start = directory or os.curdir
        self.switch("color", color)
        self.switch("actor", actor)

    def switch(self, name: str, value: bool | str) -> None:
        """Set a global option that may also be given after the command."""
        setattr(self, name, value)
        self.json |= self.pretty
        if self.color not in _WHEN:
            raise ThunderusError(
                f"invalid value for --color: {self.color!r}", hint="use auto, always or never"
            )
        if self.actor not in _ACTORS:
            raise ThunderusError(f"invalid value for --actor: {self.actor!r}", hint="use user, agent or tool")
        self.style = Style(colored=self._colored(self._out))

    def _colored(self, stream: TextIO) -> bool:
        """Decide on color by option, then NO_COLOR (no-color.org), FORCE_COLOR, CLICOLOR and the terminal."""
        if self.color != "auto":
            return self.color == "always"
        if self.environ.get("NO_COLOR"):
            return False
        if self.environ.get("FORCE_COLOR", "0") != "0" or self.environ.get("CLICOLOR_FORCE", "0") != "0":
            return True
        plain = self.environ.get("TERM") == "dumb" or self.environ.get("CLICOLOR") == "0"
        return not plain and stream.isatty()

    @property
    def interactive(self) -> bool:
        """Whether prompts are possible: stdin and stderr are terminals, and a person is at them."""
        import sys

        return sys.stdin.isatty() and self._talk.isatty() and self._attended

    @property
    def _attended(self) -> bool:
        """Whether a person may press keys: the actor is a user, and there is no ``--no-input``."""
        from thunderus_mem.log.actor import actor_of

        return not self.no_input and (self.actor or actor_of(self.environ, terminal=True)) == "user"

    @property
    def width(self) -> int | None:
        """Width of the terminal on stdout; ``None`` without a terminal (nothing is cut then)."""
        return None if not self._out.isatty() else terminal_width(self._out, self.environ)

    @property
    def room(self) -> int | None:
        """Width for rendered Markdown, on a capable terminal or with ``--color always``; else ``None``."""
        if not (self.color == "always" or self._screen):
            return None
        return terminal_width(self._out, self.environ)

    @property
    def _screen(self) -> bool:
        """Whether stdout is a terminal that is not dumb."""
        return self._out.isatty() and self.environ.get("TERM") != "dumb"

    def data(self, text: str) -> None:
        """Print data with control and invisible characters made visible, and one newline at the end."""
        self._write(self._out, self.safe(text) + "\n")

    def long(self, text: str) -> None:
        """Print data, through the user's pager when it does not fit on the terminal."""
        if self._screen and not self.no_pager and self._attended:
            import shutil

            if is_long(text, *shutil.get_terminal_size()) and paged(self.safe(text) + "\n", self):
                return
        self.data(text)

    def raw(self, text: str) -> None:
        """Print a document unchanged to a file or pipe; on a terminal make hidden characters visible."""
        if self._out.isatty():
            self.long(text.replace("\r\n", "\n").removesuffix("\n"))
        else:
            self._write(self._out, text)

    def clean(self, text: str) -> str:
        """Redact secrets and make hidden characters visible, before a text is rendered."""
        return with_visible_characters(without_secrets(text))

    def safe(self, text: str) -> str:
        """Return the text as `data` prints it: redacted, filtered, with styles applied."""
        # Only our own color escapes are allowed: Style marks them, and they are inserted after the filter.
        return self.style.paint(with_visible_characters(without_secrets(text)))

    def talk(self, text: str) -> None:
        """Print a message to stderr, after flushing stdout; on a terminal wrap it between words.

        Errors are ignored here: a message that cannot be written is lost, and a failed write of data is
        reported at the end.
        """
        with suppress(OSError, NotWritable):
            self._flush(self._out)
        text = with_visible_characters(without_secrets(text))
        if self._talk.isatty():
            text = folded(text, terminal_width(self._talk, self.environ))
        self._tell(Style(colored=self._colored(self._talk)).paint(text) + "\n")

    def _tell(self, text: str) -> None:
        with suppress(OSError, NotWritable):
            self._write(self._talk, text)
            self._flush(self._talk)

    def ask(self, question: str) -> str:
        """Prompt for a line at the terminal; "" at end of file."""
        import sys

        self.flush()
        self._tell(with_visible_characters(question))
        return sys.stdin.readline()

    def confirm(self, question: str) -> bool:
        """Ask a yes/no question; the default is no."""
        return self.ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")

    def say(self, text: str) -> None:
        """Print an informational message to stderr; silent with ``--quiet`` and ``--json``."""
        if not self.quiet and not self.json:
            self.talk(text)

    def say_done(self, done: str, published: bool) -> None:
        """Report what a write has ``done`` to the documents that are listed next."""
        self.say(f"{done}:" if published else "Logged, but not written yet:")

    def say_recorded(self, names: Sequence[str]) -> None:
        """Report the hand-edited documents that this command recorded."""
        if names:
            self.say(f"Recorded edits made by hand: {', '.join(names)}")

    def emit(
        self,
        command: str,
        value: Any,
        render: Callable[[Any, Console], str],
        *,
        long: bool = False,
        safe: bool = False,
    ) -> None:
        """Print a command's value: as a JSON envelope, or as text made by ``render``.

        An empty text prints nothing. With ``long`` the output may go through the pager; with ``safe`` the
        text of ``render`` needs no filter. `details` and `budget` are what the command sets.
        """
        if self.json:

            def printed(value: Any, more: int) -> str:
                return self.envelope(command, value, more)

            self._write(self._out, self._cut(command, value, printed) + "\n")
            return

        def rendered(value: Any, more: int) -> str:
            return "\n".join(filter(None, (render(value, self), f"{more:,} more" if more else "")))

        text = self._cut(command, value, rendered)
        if text:
            if safe:
                self._write(self._out, text + "\n")
            else:
                (self.long if long else self.data)(text)

    def envelope(self, command: str, value: Any, more: int = 0) -> str:
        """Return the JSON document of a command's value, of which ``more`` items were cut."""
        from thunderus_mem.cli.output import envelope

        return envelope(command, value, details=self.details, more=more, indent=self._indent(self._out))

    def _cut(self, command: str, value: Any, printed: Callable[[Any, int], str]) -> str:
        """Return the text of a value, within the budget if there is one."""
        if not self.budget:
            return printed(value, 0)
        from thunderus_mem.cli.output import within_budget

        return within_budget(command, value, self.budget, printed)

    def _indent(self, stream: TextIO) -> int | None:
        """Indentation of JSON: ``None``, which is one line, unless it is for a person."""
        return _INDENT if self.pretty or stream.isatty() else None

    def published_code(self, published: bool) -> int:
        """Exit code of a write: 0, or 6 with a message when a file could not be written yet."""
        if published:
            return 0
        self.talk(
            "warning: the change is logged, but its file could not be written; the next write retries, "
            "`thunderus-mem undo` aborts it"
        )
        return Degraded.exit_code

    def served_code(self, damaged: int) -> int:
        """Exit code after reading the log: 0, or 6 with a message when some of its lines are unreadable."""
        if not damaged:
            return 0
        self.talk(
            f"warning: {counted(damaged, 'unreadable line')} in the log; see: thunderus-mem events verify"
        )
        return Degraded.exit_code

    def failure(self, error: ThunderusError, code: int) -> None:
        """Print an error with its findings and hint; with ``--json`` as an object."""
        if self.json:
            from thunderus_mem.cli.output import failure_envelope

            self._tell(failure_envelope(error, code, indent=self._indent(self._talk)) + "\n")
            return
        for line in error_lines(error, self.style):
            self.talk(line)

    def version(self) -> None:
        """Print name and version; with ``--json`` also the Python version."""
        import platform

        from thunderus_mem import __version__

        value = {"version": __version__, "python": platform.python_version()}
        self.emit("version", value, lambda value, _: f"thunderus-mem {value['version']}")

    def layout(self) -> Layout:
        """Return the layout of the current store, without opening it."""
        from thunderus_mem.store.layout import Layout, find_root

        return Layout(find_root(self.start, self.environ).root)

    def memory(self, *, lenient: bool = False) -> Memory:
        """Open the store of the working folder; with ``lenient`` even one with an invalid configuration."""
        memory = self.open_at(self.start, lenient=lenient)
        self.opened = None if lenient else memory  # a lenient command reports interrupted writes itself
        if memory.also and os.path.realpath(memory.root) != os.path.realpath(self.start):
            self._others = (
                f"note: used the memory in {memory.root}; there is another in {', '.join(memory.also)}"
            )
        return memory

    def say_others(self) -> None:
        """Report which memory was used, when run in a subfolder with more than one memory above it."""
        if self._others:
            self.say(self._others)

    def open_at(self, start: str, *, lenient: bool = False) -> Memory:
        """Open the store of a folder, with the clock and ids that the environment may fix."""
        from thunderus_mem.memory.memory import open_memory

        now, random_bits = fixed_clock(self.environ)
        memory = open_memory(start, environ=self.environ, now=now, random_bits=random_bits, lenient=lenient)
        memory.say, memory.terminal = self.say, self._talk.isatty()
        if self.actor:
            memory.actor = self.actor
        timer = hasattr(signal, "setitimer")
        quiet = self.quiet or self.json or self.environ.get("TERM") == "dumb"
        if timer and not quiet and self._talk.isatty():
            self._progress = memory.tell = Progress(self._talk)
            self._progress("Reading the memory", 0, 0)
        return memory

    def _write(self, stream: TextIO, text: str) -> None:
        self._clear_progress()
        with _write_errors():
            stream.write(text)

    def flush(self) -> None:
        """Flush stdout, and remove the progress line. Raises ``NotWritable`` when the write fails."""
        self._clear_progress()
        self._flush(self._out)

    def _clear_progress(self) -> None:
        if self._progress is not None:
            self._progress.clear()

    def _flush(self, stream: TextIO) -> None:
        with _write_errors():
            stream.flush()


@contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritable(f"cannot write the output: {error.strerror}") from error


def fixed_clock(
    environ: Mapping[str, str],
) -> tuple[Callable[[], datetime] | None, Callable[[int], int] | None]:
    """Return the clock and random bits that the environment fixes for tests; ``None`` for the real ones.

    ``THUNDERUS_MEM_NOW`` (RFC 3339) and ``THUNDERUS_MEM_SEED`` (an integer) are used only together with
    ``THUNDERUS_MEM_TEST=1``, so that a stray variable never falsifies a log. Raises ``InvalidConfig`` for an
    invalid value.
    """
    if environ.get("THUNDERUS_MEM_TEST") != "1":
        return None, None
    now: Callable[[], datetime] | None = None
    bits: Callable[[int], int] | None = None
    text = environ.get("THUNDERUS_MEM_NOW")
    if text is not None:
        from thunderus_mem.document.timestamp import parse_timestamp

        moment = parse_timestamp(text)
        if moment is None:
            raise InvalidConfig(f"invalid THUNDERUS_MEM_NOW: {text!r} is not an RFC 3339 time")

        def now() -> datetime:
            return moment

    seed = environ.get("THUNDERUS_MEM_SEED")
    if seed is not None:
        import random

        if not seed.isdigit():
            raise InvalidConfig(f"invalid THUNDERUS_MEM_SEED: {seed!r} is not an integer")
        bits = random.Random(int(seed)).getrandbits
    return now, bits


_PAGERS: Final = ("THUNDERUS_MEM_PAGER", "PAGER")
_NO_PAGER: Final = ("", "cat")
# less: quit if the text fits, keep colors, do not clear the screen.
_LESS: Final = "FRX"


def pager_command(environ: Mapping[str, str]) -> list[str]:
    """Return the pager command with the full path of its program; empty for no pager.

    Only the environment chooses the pager, never a file of the repository.
    """
    from shlex import split

    given = next((environ[name] for name in _PAGERS if name in environ), "less").strip()
    if given in _NO_PAGER:
        return []
    try:
        words = split(given)
    except ValueError:
        return []
    program = found_program(words[0], environ)
    return [program, *words[1:]] if program else []


def is_long(text: str, columns: int, lines: int) -> bool:
    """Tell whether a text needs more rows than the terminal has; one row is for the prompt."""
    rows = 0
    for line in text.split("\n"):
        rows += max(1, -(-width(line) // max(columns, 1)))
        if rows >= lines:
            return True
    return False


def paged(text: str, console: Console) -> bool:
    """Show ``text`` in the pager and wait for it; return false when there is no pager.

    Quitting the pager early is not an error.
    """
    command = pager_command(console.environ)
    if not command:
        return False
    console.flush()
    environ = {"LESS": _LESS, "LESSCHARSET": "utf-8", **console.environ}
    try:
        run_program(command, text, environ)
    except OSError:
        return False
    return True


_QUIET_SECONDS: Final = 0.5
_DRAWING_SECONDS: Final = 0.1


class Progress:
    """A progress line on stderr, shown after half a second without output and removed before the next output.

    A timer draws it, so that long steps show it too; it is stopped while nothing is reported.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._work = ("", 0, 0)
        self._began = 0.0
        self._running = False
        self._drawn = ""
        signal.signal(signal.SIGALRM, lambda number, frame: self.draw())

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` parts are finished; a total of 0 is not known."""
        self._work = what, done, total
        if not self._running:
            self._running, self._began = True, time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, _QUIET_SECONDS, _DRAWING_SECONDS)

    def draw(self) -> None:
        """Show the work, and for how many seconds it has run."""
        what, done, total = self._work
        count = f" {done:,} of {total:,}" if total else f" {done:,}" if done else ""
        line = f"{what}{count} ({time.monotonic() - self._began:.0f} s)"
        if self._running and line != self._drawn:
            self._drawn = line
            self._put(f"\r{line}\x1b[K")

    def clear(self) -> None:
        """Remove the line, if one is shown, and show none until work is reported."""
        if self._running:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._running = False
        if self._drawn:
            self._drawn = ""
            self._put("\r\x1b[K")

    def _put(self, text: str) -> None:
        # Not through the buffer of the stream, which a signal could find in use.
        with suppress(OSError):
            os.write(self._stream.fileno(), text.encode())


_TERMINATION_SECONDS: Final = 2.0


def found_program(name: str, environ: Mapping[str, str]) -> str | None:
    """Find a program by name or full path; ``None`` when it is missing.

    Only absolute folders in PATH are searched, so that no program of the working tree is run.
    """
    from shutil import which

    if os.path.dirname(name) and not os.path.isabs(name):
        return None
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return which(name, path=os.pathsep.join(folder for folder in folders if os.path.isabs(folder)))


def run_program(
    command: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    *,
    folder: str | None = None,
    answers: bool = False,
) -> tuple[int, str]:
    """Run another program on this terminal with ``text`` on its stdin.

    Returns its exit code and, with ``answers``, its stdout. Raises ``OSError`` when it does not start.
    """
    import subprocess

    with _interrupts_ignored():
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if answers else None,
            cwd=folder,
            env=environ,
        )
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(text.encode("utf-8", "backslashreplace"))
            with suppress(BrokenPipeError):
                process.stdin.close()
            answer = process.stdout.read().decode("utf-8", "replace") if process.stdout is not None else ""
            return process.wait(), answer
        except BaseException:
            # Terminate the other program first: it has to restore the terminal.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TERMINATION_SECONDS)
            raise


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Leave Ctrl-C to the other program until it has exited.

    The handler is a function, because a child process would inherit SIG_IGN.
    """
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
