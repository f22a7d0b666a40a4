"""The terminal: data on stdout, talk on stderr, nothing printed but through `Console`.

Every text passes a filter on its way out: nothing it holds steers a terminal, and no secret is told. Long
output goes through the person's own pager, work that lasts has a line of progress, and other programs of the
person (pager, fzf) are found by their full path, started without a shell and waited for in order.
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
    """Columns for what a stream prints: ``COLUMNS`` where that is a number above 0, else what the terminal
    behind the stream says, else 80."""
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


# Letters and marks by category, yet nobody sees them: the ones str.isprintable() lets pass.
_HIDDEN_LETTERS = "\u034f\u180e\u3164\uffa0"
_VARIATIONS = "\U000e0100"


def seen(text: str) -> str:
    """`document.unicode.visible`, loaded only for a text that has anything to make visible."""
    bare = unmarked(text).replace("\n", "").replace("\t", "")
    if bare.isprintable() and (bare.isascii() or not _hides(bare)):
        return text
    from thunderus_mem.document.unicode import visible

    return visible(text)


def _hides(text: str) -> bool:
    return any(char in text for char in _HIDDEN_LETTERS) or max(text) >= _VARIATIONS


def without_secrets(text: str) -> str:
    """The text without the value of any secret in it; marks could stand inside one, so they go then."""
    from thunderus_mem.document.secrets import redacted

    bare = unmarked(text)
    safe = redacted(bare)
    return text if safe == bare else safe


_WHEN = ("auto", "always", "never")


class Console:
    """What a command may say and how: the streams, ``--json``, colour, quiet, and the folder it works in."""

    def __init__(self, out: TextIO, talk: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self._talk = talk
        self._progress: Progress | None = None
        self._others = ""
        self.opened: Memory | None = None
        self.environ = environ
        self.json = False
        self.quiet = False
        self.no_input = False
        self.no_pager = False
        self.plain = False
        self.color = "auto"
        self.start = os.curdir
        self.style = Style(colored=False)
        for stream in (out, talk):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

    def configure(self, *, directory: str, color: str, **switches: bool) -> None:
        """Take the global options. Raises ``ThunderusError`` for a folder or a colour that is none."""
        for name, value in switches.items():
            setattr(self, name, value)
        if directory and not os.path.isdir(directory):
            raise ThunderusError(f"-C {directory}: there is no such folder.")
        self.start = directory or os.curdir
        self.switch("color", color)

    def switch(self, name: str, value: bool | str) -> None:
        """Take one of the global options that may also stand after a command."""
        setattr(self, name, value)
        if self.color not in _WHEN:
            raise ThunderusError(f"--color takes auto, always or never, not {self.color}.")
        self.style = Style(colored=self._colored(self._out))

    def _colored(self, stream: TextIO) -> bool:
        """Colour by option, then NO_COLOR (no-color.org), FORCE_COLOR, CLICOLOR, and the terminal."""
        if self.plain:
            return False
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
        """Whether a person sits there who may be asked: both ends a terminal, ``--no-input`` not given."""
        import sys

        return not self.no_input and sys.stdin.isatty() and self._talk.isatty()

    @property
    def width(self) -> int | None:
        """Columns of the terminal data is printed on; ``None`` when it is none (nothing is cut then)."""
        return None if self.plain or not self._out.isatty() else terminal_width(self._out, self.environ)

    @property
    def room(self) -> int | None:
        """Columns for a text that is drawn: on a terminal that can, or with ``--color always``; else none."""
        if self.plain or not (self.color == "always" or self._screen):
            return None
        return terminal_width(self._out, self.environ)

    @property
    def _screen(self) -> bool:
        """Whether data goes to a terminal that can do more than print line after line."""
        return self._out.isatty() and self.environ.get("TERM") != "dumb"

    def data(self, text: str) -> None:
        """Print data: every control and invisible character made visible, one newline at the end."""
        self._write(self._out, self.safe(text) + "\n")

    def long(self, text: str) -> None:
        """Print data that may be long: more than a terminal holds goes through the person's pager."""
        if self._screen and not (self.no_pager or self.plain):
            import shutil

            if is_long(text, *shutil.get_terminal_size()) and paged(self.safe(text) + "\n", self):
                return
        self.data(text)

    def raw(self, text: str) -> None:
        """Print a whole document as it is when nobody looks (a file, a pipe); made visible on a terminal."""
        if self._out.isatty():
            self.long(text.replace("\r\n", "\n").removesuffix("\n"))
        else:
            self._write(self._out, text)

    def clean(self, text: str) -> str:
        """A text safe to draw: no secret in it, every character seen."""
        return seen(without_secrets(text))

    def safe(self, text: str) -> str:
        """The text without secrets and with nothing hidden in it, as `data` prints it."""
        # Our own colours are the only escapes allowed; Style marks them and they return after the filter.
        return self.style.paint(seen(without_secrets(text)))

    def talk(self, text: str) -> None:
        """Print to stderr, after what was printed before; on a terminal words are not broken.

        Talk that cannot be written is lost; what could not be printed before fails again at the end.
        """
        with suppress(OSError, NotWritable):
            self._flush(self._out)
        text = seen(without_secrets(text))
        if self._talk.isatty():
            text = folded(text, terminal_width(self._talk, self.environ))
        self._tell(Style(colored=self._colored(self._talk)).paint(text) + "\n")

    def _tell(self, text: str) -> None:
        with suppress(OSError, NotWritable):
            self._write(self._talk, text)
            self._flush(self._talk)

    def ask(self, question: str) -> str:
        """Ask for a line at the terminal; "" at its end."""
        import sys

        self.flush()
        self._tell(seen(question))
        return sys.stdin.readline()

    def confirm(self, question: str) -> bool:
        """Ask for a yes."""
        return self.ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")

    def say(self, text: str) -> None:
        """Tell something in passing; silent with ``--quiet`` and ``--json``."""
        if not self.quiet and not self.json:
            self.talk(text)

    def say_recorded(self, names: Sequence[str]) -> None:
        """Say which documents were edited by hand, and are in the log since this command."""
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
        """Print a command's value: as JSON envelope, as plain records, or for people through ``render``.

        Nothing is printed when there is nothing to say. With ``long`` it may go through the pager; ``safe``
        says that ``render`` gives text that may be printed as it is.
        """
        if self.json:
            from thunderus_mem.cli.output import envelope

            self._write(self._out, envelope(command, value) + "\n")
            return
        if self.plain:
            from thunderus_mem.cli.output import TABLES, records

            if command in TABLES:
                self._write(self._out, "".join(f"{line}\n" for line in records(command, value)))
                return
        text = render(value, self)
        if text:
            if safe:
                self._write(self._out, text + "\n")
            else:
                (self.long if long else self.data)(text)

    def published_code(self, published: bool) -> int:
        """How a command ends that wrote: 0, or 6 with a word: the event is on disk, the file is not yet."""
        if published:
            return 0
        self.talk("The change is in the log; its file could not be put in place yet: the next command does.")
        return Degraded.exit_code

    def served_code(self, damaged: int) -> int:
        """How a command ends that read the log: 0, or 6 with a word when some of its lines cannot be read."""
        if not damaged:
            return 0
        self.talk(f"{counted(damaged, 'line')} of the log cannot be read; see: thunderus-mem events verify")
        return Degraded.exit_code

    def failure(self, error: ThunderusError, code: int) -> None:
        """Say what went wrong and what to do, findings first; an object with ``--json``."""
        if self.json:
            from thunderus_mem.cli.output import failure_envelope

            self._tell(failure_envelope(error, code) + "\n")
            return
        for line in error_lines(error, self.style):
            self.talk(line)

    def version(self) -> None:
        """Print name and version; with ``--json`` also what it runs on."""
        import platform

        from thunderus_mem import __version__

        value = {"version": __version__, "python": platform.python_version()}
        self.emit("version", value, lambda value, _: f"thunderus-mem {value['version']}")

    def layout(self) -> Layout:
        """The places of the store we work in, without opening it."""
        from thunderus_mem.store.layout import Layout, find_root

        return Layout(find_root(self.start, self.environ).root)

    def memory(self, *, lenient: bool = False) -> Memory:
        """Open the store for the folder we work in; ``lenient`` also one that no other command would open."""
        memory = self.open_at(self.start, lenient=lenient)
        self.opened = None if lenient else memory  # who opens any store looks at it closer, and tells more
        if memory.also and os.path.realpath(memory.root) != os.path.realpath(self.start):
            self._others = f"This is the memory in {memory.root}; another is in {', '.join(memory.also)}."
        return memory

    def tell_others(self) -> None:
        """Say which memory it was, to somebody below its folder who could have meant another one."""
        if self._others:
            self.say(self._others)

    def open_at(self, start: str, *, lenient: bool = False) -> Memory:
        """Open the store of a folder, with the clock and ids the environment may fix."""
        from thunderus_mem.memory.memory import open_memory

        now, random_bits = fixed_clock(self.environ)
        memory = open_memory(start, environ=self.environ, now=now, random_bits=random_bits, lenient=lenient)
        memory.say = self.say
        if not (self.quiet or self.json) and self._talk.isatty() and self.environ.get("TERM") != "dumb":
            self._progress = memory.tell = Progress(self._talk)
        return memory

    def _write(self, stream: TextIO, text: str) -> None:
        if self._progress is not None:
            self._progress.clear()
        with _told_when_unwritten():
            stream.write(text)

    def flush(self) -> None:
        """Hand the data to the system. Raises ``NotWritable`` when it is not taken."""
        self._flush(self._out)

    def _flush(self, stream: TextIO) -> None:
        with _told_when_unwritten():
            stream.flush()


@contextmanager
def _told_when_unwritten() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritable(f"The output could not be written: {error.strerror}.") from error


def fixed_clock(
    environ: Mapping[str, str],
) -> tuple[Callable[[], datetime] | None, Callable[[int], int] | None]:
    """Clock and source of random bits as the environment fixes them for tests; ``None`` for the real ones.

    ``THUNDERUS_MEM_NOW`` (RFC 3339) and ``THUNDERUS_MEM_SEED`` (a whole number) count only when
    ``THUNDERUS_MEM_TEST=1`` stands beside them, so that a stray variable never falsifies a log. Raises
    ``InvalidConfig`` when one has no such value.
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
            raise InvalidConfig(f"THUNDERUS_MEM_NOW is no RFC 3339 time: {text}.")

        def now() -> datetime:
            return moment

    seed = environ.get("THUNDERUS_MEM_SEED")
    if seed is not None:
        import random

        if not seed.isdigit():
            raise InvalidConfig(f"THUNDERUS_MEM_SEED is no whole number: {seed}.")
        bits = random.Random(int(seed)).getrandbits
    return now, bits


_PAGERS: Final = ("THUNDERUS_MEM_PAGER", "PAGER")
_NO_PAGER: Final = ("", "cat")
# Quit when it fits, pass colours on, leave the text on the screen.
_LESS: Final = "FRX"


def pager_command(environ: Mapping[str, str]) -> list[str]:
    """The pager's words, its program by its full path; empty when output shall just be printed.

    The environment alone says which one, never a file of the repository.
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
    """Whether a text takes more rows than the terminal has, one of them for the prompt."""
    rows = 0
    for line in text.split("\n"):
        rows += max(1, -(-width(line) // max(columns, 1)))
        if rows >= lines:
            return True
    return False


def paged(text: str, console: Console) -> bool:
    """Show ``text`` in the pager and wait for it; false when there is none, and nothing was shown.

    A person who leaves early has read enough: that is no error.
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
    """One line on stderr, gone when the work is done; drawn only when that has lasted half a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = 0.0
        self._drawn = 0.0
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Tell that ``done`` of ``total`` files have had ``what`` done to them."""
        now = time.monotonic()
        if what != self._what:
            self.clear()
            self._what, self._began = what, now
        if now - self._began >= _QUIET_SECONDS and now - self._drawn >= _DRAWING_SECONDS:
            self._drawn = now
            self._put(f"\r{what} {done:,} of {total:,}\x1b[K")

    def clear(self) -> None:
        """Take the line away, when there is one."""
        if self._drawn:
            self._drawn = 0.0
            self._put("\r\x1b[K")

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._began = float("inf")


_TERMINATION_SECONDS: Final = 2.0


def found_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The full path of a program by its name, or by its full path; ``None`` when there is none.

    Only the absolute folders of PATH count, so that no program of the working tree is taken.
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
    """Run another program on this terminal with ``text`` on its stdin, or as much of it as it reads.

    Gives its exit code and, when it ``answers``, what it wrote to stdout. Raises ``OSError`` when it does not
    start.
    """
    import subprocess

    with _interrupts_are_its_own():
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
            # When we are ended, the other program is first: it has to give the terminal back.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TERMINATION_SECONDS)
            raise


@contextmanager
def _interrupts_are_its_own() -> Iterator[None]:
    """Ctrl-C stops what the other program does, not us before it has ended.

    A function, since a program started meanwhile would inherit that the signal is ignored.
    """
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
