"""A person's editor: a template goes out, a text comes back, or nothing at all.

Help for the writer stands in an HTML comment that begins with ``<!-- help:``; it is taken out before the text
is kept. No line is dropped for its first character, since ``#`` begins a heading.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HELP = re.compile(r"(?m)^<!-- help:(?:(?!-->).)*-->[ \t]*\n?", re.DOTALL)
_FALLBACKS = ("nano", "vi")


def with_help(text: str, help_text: str) -> str:
    """A text for the editor, with help at its end that ``edited`` takes out again."""
    body = text if text.endswith("\n") or not text else text + "\n"
    return f"{body}\n<!-- help:\n{help_text.replace('-->', '->').strip()}\n-->\n"


def without_help(text: str) -> str:
    """What the writer wrote, without the help."""
    kept = _HELP.sub("", text)
    return kept if kept == text else kept.rstrip("\n") + "\n" if kept.strip() else ""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The editor by ``$VISUAL``, ``$EDITOR``, git's manners. Raises when there is none."""
    import shutil

    for name in ("VISUAL", "EDITOR"):
        command = environ.get(name, "").strip()
        if command:
            try:
                return shlex.split(command)
            except ValueError as error:
                raise ThunderusError(f"${name} cannot be read as a command: {command}.") from error
    for name in _FALLBACKS:
        if shutil.which(name):
            return [name]
    raise ThunderusError("No editor was found.", hint="Set EDITOR, or give the text with --body.")


def edited(text: str, environ: Mapping[str, str], name: str = "memory.md") -> str | None:
    """Let a person edit ``text``; ``None`` when they saved nothing new or an empty text.

    The lock is not held meanwhile. Raises ``ThunderusError`` when the editor fails; the text is kept then.
    """
    import subprocess

    command = editor_command(environ)
    folder = tempfile.mkdtemp(prefix="thunderus-mem-")
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as handle:
        handle.write(text)
    try:
        code = subprocess.run([*command, path], check=False, env=dict(environ)).returncode
    except OSError as error:
        raise ThunderusError(f"The editor {command[0]} does not start: {error.strerror}.") from error
    if code != 0:
        raise ThunderusError(f"The editor {command[0]} ended with {code}.", hint=f"Your text is in {path}.")
    try:
        with open(path, encoding="utf-8", newline="") as handle:
            result = handle.read()
    except UnicodeDecodeError as error:
        raise ThunderusError("The saved text is not UTF-8.", hint=f"It is in {path}.") from error
    os.remove(path)
    for leftover in os.listdir(folder):  # backups and swap files of the editor
        os.remove(os.path.join(folder, leftover))
    os.rmdir(folder)
    kept = without_help(result)
    return None if not kept.strip() or result == text else kept


@contextmanager
def keeping(text: str, name: str) -> Iterator[None]:
    """Whatever is refused inside, a text that a person wrote is kept, and the error says where."""
    try:
        yield
    except ThunderusError as error:
        descriptor, path = tempfile.mkstemp(prefix="thunderus-mem-", suffix=f"-{name}")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as handle:
            handle.write(text)
        error.hint = f"{error.hint}; your text is kept in {path}" if error.hint else f"your text is in {path}"
        raise
