"""The two streams: data on stdout, talk on stderr. Nothing is printed but through here."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from thunderus_mem.model.errors import NotWritable, ThunderusError
from thunderus_mem.surfaces.cli.screen import columns
from thunderus_mem.surfaces.filter import seen, without_secrets
from thunderus_mem.surfaces.style import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.memory import Memory
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.surfaces.cli.progress import Progress

_WHEN = ("auto", "always", "never")


def _unwritten(error: OSError) -> NotWritable:
    return NotWritable(f"The output could not be written: {error.strerror}.")


class Console:
    """What a command may say and how: the streams, ``--json``, colour, quiet, and the folder it works in."""

    __slots__ = (
        "_others",
        "_out",
        "_progress",
        "_talk",
        "color",
        "environ",
        "json",
        "no_input",
        "no_pager",
        "opened",
        "plain",
        "quiet",
        "start",
        "style",
    )

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
        return None if self.plain or not self._out.isatty() else columns(self._out, self.environ)

    @property
    def room(self) -> int | None:
        """Columns for a text that is drawn: on a terminal that can, or with ``--color always``; else none."""
        if self.plain or not (self.color == "always" or self._screen):
            return None
        return columns(self._out, self.environ)

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

            from thunderus_mem.surfaces.cli.pager import is_long, paged

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
            from thunderus_mem.surfaces.text import folded

            text = folded(text, columns(self._talk, self.environ))
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

    def say(self, text: str) -> None:
        """Tell something in passing; silent with ``--quiet`` and ``--json``."""
        if not self.quiet and not self.json:
            self.talk(text)

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
            from thunderus_mem.surfaces.output import envelope

            self._write(self._out, envelope(command, value) + "\n")
            return
        if self.plain:
            from thunderus_mem.surfaces.plain import TABLES, records

            if command in TABLES:
                self._write(self._out, "".join(f"{line}\n" for line in records(command, value)))
                return
        text = render(value, self)
        if text:
            if safe:
                self._write(self._out, text + "\n")
            else:
                (self.long if long else self.data)(text)

    def failure(self, error: ThunderusError, code: int) -> None:
        """Say what went wrong and what to do, findings first; an object with ``--json``."""
        if self.json:
            from thunderus_mem.surfaces.output import failure_envelope

            self._tell(failure_envelope(error, code) + "\n")
            return
        from thunderus_mem.surfaces.cli.failing import told

        for line in told(error, self.style):
            self.talk(line)

    def version(self) -> None:
        """Print name and version; with ``--json`` also what it runs on."""
        from thunderus_mem import __version__

        if not self.json:
            self.data(f"thunderus-mem {__version__}")
            return
        import platform

        from thunderus_mem.surfaces.output import envelope

        self._write(
            self._out,
            envelope("version", {"version": __version__, "python": platform.python_version()}) + "\n",
        )

    def layout(self) -> Layout:
        """The places of the store we work in, without opening it."""
        from thunderus_mem.store.layout import Layout
        from thunderus_mem.store.root import find_root

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
        from thunderus_mem.memory import open_memory
        from thunderus_mem.surfaces.cli.clock import fixed_clock

        now, random_bits = fixed_clock(self.environ)
        memory = open_memory(start, environ=self.environ, now=now, random_bits=random_bits, lenient=lenient)
        memory.say = self.say
        if not (self.quiet or self.json) and self._talk.isatty() and self.environ.get("TERM") != "dumb":
            from thunderus_mem.surfaces.cli.progress import Progress

            self._progress = memory.tell = Progress(self._talk)
        return memory

    def _write(self, stream: TextIO, text: str) -> None:
        if self._progress is not None:
            self._progress.clear()
        try:
            stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritten(error) from error

    def flush(self) -> None:
        """Hand the data to the system. Raises ``NotWritable`` when it is not taken."""
        self._flush(self._out)

    def _flush(self, stream: TextIO) -> None:
        try:
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritten(error) from error
