"""`recap --summarizer`: a command's summary of a recap, kept as a draft that says who wrote it."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.recaps.page import Page
from thunderus_mem.lint.planted import planted
from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import InvalidDocument, Refused, ThunderusError
from thunderus_mem.model.secrets import find_secrets
from thunderus_mem.model.unicode import visible
from thunderus_mem.store.kind_caps import configured_caps

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory

__all__ = ["drafted"]

_HEADING = re.compile(r"(?m)^(#{1,6})([ \t].*)?$")
_RELATIVE = re.compile(r"\]\((?!https?://)")
_PROVENANCE: Final = "\n## Provenance\n"
_LONGEST_TIME: Final = 3_600.0


def drafted(memory: Memory, page: Page, command: str, timeout: float) -> Page:
    """The recap ``page`` with the answer of ``command`` (given the page as Markdown) in place of its text;
    where it is from stays ours.

    Raises `ThunderusError` for a command that cannot be read or fails, `Refused` for an answer that holds a
    secret or gives its reader orders, `InvalidDocument` for one that makes the document too long.
    """
    from thunderus_mem.store.answering import answer_of

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
    if len(compose(header, "\n" + body)) > 4 * configured_caps(memory.config, "recap").hard:
        raise InvalidDocument(
            f"the answer of {name} makes the recap longer than a document may be", hint="have it be shorter"
        )
    return Page(header, body, page.private)


def _refuse(answer: str, name: str) -> None:
    for secret in find_secrets(answer)[:1]:
        raise Refused(
            f"the answer of {name} holds what looks like a secret ({secret.kind}); nothing was written"
        )
    for one in planted(answer)[:1]:
        line = answer.count("\n", 0, one.start) + 1
        raise Refused(f"line {line} of the answer of {name} {one.says}; nothing was written")
