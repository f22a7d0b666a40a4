"""`recap --summarizer`: a command's summary of a recap, kept as a draft that says who wrote it.

The command is asked once: text in, text out, within a time and a size, without a shell in between.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.secrets import find_secrets
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound, Refused, ThunderusError
from thunderus_mem.lint.injection import find_injections
from thunderus_mem.recap.page import Page, longest_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory.memory import Memory

_HEADING = re.compile(r"(?m)^(#{1,6})([ \t].*)?$")
_RELATIVE = re.compile(r"\]\((?!https?://)")
_PROVENANCE: Final = "\n## Provenance\n"
_LONGEST_TIME: Final = 3_600.0
MOST_ANSWER: Final = 64 * 1024
"""Bytes of the longest answer."""
_CHUNK: Final = 8_192


def drafted(memory: Memory, page: Page, command: str, timeout: float) -> Page:
    """The recap ``page`` with the answer of ``command`` (given the page as Markdown) in place of its text;
    where it is from stays ours.

    Raises `ThunderusError` for a command that cannot be read or fails, `Refused` for an answer that holds a
    secret or gives its reader orders, `InvalidDocument` for one that makes the document too long.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ThunderusError(f"the summarizer cannot be read as a command: {error}") from error
    if not words:
        raise ThunderusError(
            "the summarizer is empty", hint="give a command, as --summarizer 'my-model --short'"
        )
    if not 0 < timeout <= _LONGEST_TIME:
        raise ThunderusError(f"a summarizer gets more than 0 and at most {_LONGEST_TIME:g} seconds")
    answer = answer_of(words, page.body, timeout=timeout, folder=memory.root, environ=memory.environ)
    name = visible(os.path.basename(words[0]))[:100] or "summarizer"
    _refuse(answer, name)
    own = page.body.rpartition(_PROVENANCE)[2].strip("\n")
    # Headings of the answer stand below ours, so that none of them can pass for our provenance.
    text = _HEADING.sub(lambda found: f"{'#' * min(len(found[1]) + 2, 6)}{found[2] or ''}", visible(answer))
    text = _RELATIVE.sub(r"]\\(", text.replace("<!--", "&lt;!--"))
    header = {
        **page.header,
        "tags": sorted({*page.header["tags"], "draft"}),
        "author": name,
        "agent": name,
        "source": "summarizer",
    }
    title = page.header["title"]
    body = (
        f"# {title}\n\n## Summary\n\nA draft that `{name.replace('`', '')}` wrote; nobody has checked it.\n\n"
        f"{text}\n{_PROVENANCE}\n{own}\n"
    )
    if len(compose(header, "\n" + body)) > longest_page(memory.config):
        raise InvalidDocument(
            f"the answer of {name} makes the recap longer than a document may be", hint="have it be shorter"
        )
    return Page(header, body, page.private)


def _refuse(answer: str, name: str) -> None:
    for secret in find_secrets(answer)[:1]:
        raise Refused(
            f"the answer of {name} holds what looks like a secret ({secret.kind}); nothing was written"
        )
    for one in find_injections(answer)[:1]:
        line = answer.count("\n", 0, one.start) + 1
        raise Refused(f"line {line} of the answer of {name} {one.says}; nothing was written")


def answer_of(
    command: Sequence[str], text: str, *, timeout: float, folder: str, environ: Mapping[str, str]
) -> str:
    """What ``command`` prints when it is given ``text`` on its input; no shell is in between.

    Raises `NotFound` when it cannot be started, `ThunderusError` when it fails, answers nothing, too much or
    no UTF-8, or takes more than ``timeout`` seconds: it is ended then, with what it started.
    """
    name = command[0]
    with tempfile.TemporaryFile() as given:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=subprocess.PIPE,
                cwd=folder,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise NotFound(
                f"{name} cannot be started: {error.strerror or error}",
                hint="give the command as a shell would",
            ) from error
    data = _read(process, name, timeout)
    if process.returncode:
        raise ThunderusError(f"{name} ended with {process.returncode}; nothing was written")
    try:
        answer = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ThunderusError(f"{name} answered something that is not UTF-8") from error
    if not answer:
        raise ThunderusError(f"{name} answered nothing")
    return answer


def _read(process: subprocess.Popen[bytes], name: str, timeout: float) -> bytes:
    """All it prints, up to the end; the process is gone afterwards."""
    assert process.stdout is not None
    until, data = time.monotonic() + timeout, b""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _late(name, timeout)
                piece = os.read(process.stdout.fileno(), _CHUNK)
                if not piece:
                    break
                data += piece
                if len(data) > MOST_ANSWER:
                    raise ThunderusError(
                        f"{name} answered more than {MOST_ANSWER // 1024} KiB", hint="have it be shorter"
                    )
        process.wait(max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired as error:
        raise _late(name, timeout) from error
    finally:
        _end(process)
    return data


def _late(name: str, timeout: float) -> ThunderusError:
    return ThunderusError(f"{name} took more than {timeout:g} seconds", hint="--timeout gives it longer")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started, also where it has ended itself and that goes on; one that was
    waited for is left as it is."""
    # Until it is waited for its number is its own, so that the group cannot be another one.
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
