"""The two streams: data on stdout, talk on stderr. Nothing is printed but through here."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from thunderus_mem.model.errors import NotWritable, ThunderusError
from thunderus_mem.surfaces.style import Style, unmarked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.memory import Memory
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.surfaces.cli.progress import Progress

# Letters and marks by category, yet nobody sees them: the ones str.isprintable() lets pass.
_HIDDEN_LETTERS = "\u034f\u180e\u3164\uffa0"
_VARIATIONS = "\U000e0100"
_WHEN = ("auto", "always", "never")


def seen(text: str) -> str:
    """`model.unicode.visible`, loaded only for a text that has anything to make visible."""
    bare = unmarked(text).replace("\n", "").replace("\t", "")
    if bare.isprintable() and (bare.isascii() or not _hides(bare)):
        return text
    from thunderus_mem.model.unicode import visible

    return visible(text)


def _redacted(text: str) -> str:
    """The text without the value of any secret in it; marks could stand inside one, so they go then."""
    from thunderus_mem.model.secrets import redacted

    bare = unmarked(text)
    safe = redacted(bare)
    return text if safe == bare else safe


def _unwritten(error: OSError) -> NotWritable:
    return NotWritable(f"The output could not be written: {error.strerror}.")


def _hides(text: str) -> bool:
    return any(char in text for char in _HIDDEN_LETTERS) or max(text) >= _VARIATIONS


def _begun(text: str) -> str:
    """A message with a capital, unless it begins with a name."""
    first = text.partition(" ")[0].rstrip(",")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _end(text: str) -> str:
    """The full stop that a message lacks."""
    return "" if text.endswith((".", "?", "!", ":", "`")) else "."


class Console:
    """What a command may say and how: the streams, ``--json``, colour, quiet, and the folder it works in."""

    __slots__ = (
        "_out",
        "_progress",
        "_talk",
        "color",
        "environ",
        "json",
        "no_input",
        "quiet",
        "start",
        "style",
    )

    def __init__(self, out: TextIO, talk: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self._talk = talk
        self._progress: Progress | None = None
        self.environ = environ
        self.json = False
        self.quiet = False
        self.no_input = False
        self.color = "auto"
        self.start = os.curdir
        self.style = Style(colored=False)
        for stream in (out, talk):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

    def configure(self, *, directory: str, json: bool, color: str, quiet: bool, no_input: bool) -> None:
        """Take the global options. Raises ``ThunderusError`` for a folder or a colour that is none."""
        self.json, self.quiet, self.no_input, self.color = json, quiet, no_input, color
        if color not in _WHEN:
            raise ThunderusError(f"--color takes auto, always or never, not {color}.")
        if directory and not os.path.isdir(directory):
            raise ThunderusError(f"-C {directory}: there is no such folder.")
        self.start = directory or os.curdir
        self.style = Style(colored=self._colored(self._out))

    def _colored(self, stream: TextIO) -> bool:
        """Colour by option, then NO_COLOR (no-color.org), FORCE_COLOR, CLICOLOR, and the terminal."""
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
        if not self._out.isatty():
            return None
        import shutil

        return shutil.get_terminal_size().columns

    def data(self, text: str) -> None:
        """Print data: every control and invisible character made visible, one newline at the end."""
        self._write(self._out, self._safe(text) + "\n")

    def raw(self, text: str) -> None:
        """Print a whole document as it is when nobody looks (a file, a pipe); made visible on a terminal."""
        self._write(self._out, self._safe(text) if self._out.isatty() else text)

    def _safe(self, text: str) -> str:
        # Our own colours are the only escapes allowed; Style marks them and they return after the filter.
        return self.style.paint(seen(_redacted(text)))

    def talk(self, text: str) -> None:
        """Print to stderr, after what was printed before.

        Talk that cannot be written is lost; what could not be printed before fails again at the end.
        """
        with suppress(OSError, NotWritable):
            self._flush(self._out)
        self._tell(Style(colored=self._colored(self._talk)).paint(seen(_redacted(text))) + "\n")

    def _tell(self, text: str) -> None:
        with suppress(OSError, NotWritable):
            self._write(self._talk, text)
            self._flush(self._talk)

    def say(self, text: str) -> None:
        """Tell something in passing; silent with ``--quiet`` and ``--json``."""
        if not self.quiet and not self.json:
            self.talk(text)

    def emit(self, command: str, value: Any, render: Callable[[Any, Console], str]) -> None:
        """Print a command's value: as JSON envelope, or for people through ``render`` (nothing if empty)."""
        if self.json:
            from thunderus_mem.surfaces.output import envelope

            self._write(self._out, envelope(command, value) + "\n")
            return
        text = render(value, self)
        if text:
            self.data(text)

    def failure(self, error: ThunderusError, code: int) -> None:
        """Say what went wrong and what to do, findings first; an object with ``--json``."""
        diagnostics = getattr(error, "diagnostics", ())
        if self.json:
            from thunderus_mem.surfaces.output import failure_envelope

            self._tell(failure_envelope(error, code) + "\n")
            return
        style = self.style
        for finding in diagnostics:
            from thunderus_mem.surfaces.render import finding_line

            self.talk(finding_line(finding, style))
        self.talk(f"{style.error('error:')} {_begun(str(error))}{_end(str(error))}")
        if error.hint:
            self.talk(f"{style.dim('hint:')}  {_begun(error.hint)}")

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
        from thunderus_mem.store.layout import Layout, find_root

        return Layout(find_root(self.start, self.environ).root)

    def memory(self) -> Memory:
        """Open the store for the folder we work in; says which when it could be another one."""
        memory = self.open_at(self.start)
        if memory.also:
            self.say(f"Using the memory in {memory.root} (there is another in {', '.join(memory.also)}).")
        return memory

    def open_at(self, start: str) -> Memory:
        """Open the store of a folder, with the clock and ids the environment may fix."""
        from thunderus_mem.memory import open_memory
        from thunderus_mem.surfaces.cli.clock import fixed_clock

        now, random_bits = fixed_clock(self.environ)
        memory = open_memory(start, environ=self.environ, now=now, random_bits=random_bits)
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
