"""Whole posts in and out through python-frontmatter, with our reader and writer as its handler; and headers
of elsewhere that no YAML reader takes. Pure.

The only module that knows python-frontmatter; the hot paths read with `read_document`, which a test holds
equal to this. Import mends values that begin with an unquoted ``*`` (``globs: **/*.ts`` in rules for
editors), which would name an anchor: what the writer means is a text, so it gets quotes; everything else
stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.nodes import typed_data
from thunderus_mem.document.frontmatter.read import find_fences, read_header
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from thunderus_mem.document.document import Reading

# As many lines of one header as this are mended; each costs a reading.
_MOST: Final = 50
_BEFORE = re.compile(r" {0,40}(?:- {1,8})?(?:([A-Za-z_][\w-]{0,60}): {1,40})?(?=\*)", re.ASCII)


def read_foreign(path: str, data: bytes) -> tuple[Reading, tuple[str, ...]]:
    """A file as `read_document` reads it, values that begin with ``*`` taken as texts; and a note for each.

    A header that has another fault as well is told of as it stands in the file.
    """
    first = reading = read_document(path, data)
    notes: list[str] = []
    while reading.header is None and reading.text is not None and len(notes) < _MOST:
        line = next((one.line for one in reading.problems), 0)
        mended = _quoted(reading.text, line) if line else None
        if mended is None:
            return first, ()
        notes.append(mended[1])
        reading = read_document(path, mended[0].encode("utf-8", "surrogatepass"))
    return (first, ()) if reading.header is None and notes else (reading, tuple(dict.fromkeys(notes)))


def _quoted(text: str, number: int) -> tuple[str, str] | None:
    """The text with the value in a line (from 1) in quotes, and a note; ``None`` when it begins otherwise."""
    lines = text.split("\n")
    line = lines[number - 1]
    before = _BEFORE.match(line)
    if before is None:
        return None
    value = line[before.end() :].partition(" #")[0].rstrip()
    written = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines[number - 1] = line[: before.end()] + written + line[before.end() + len(value) :]
    name = before[1] or "an item of a list"
    return "\n".join(lines), f"{name} is in quotes now: no YAML reader takes a bare *"


@dataclass(frozen=True, slots=True)
class Post:
    """Frontmatter with types, and the body to the byte. Without frontmatter ``metadata`` is empty."""

    metadata: dict[str, Any]
    body: str


def post_handler() -> Any:
    """A handler for ``frontmatter.loads`` and ``frontmatter.dumps``: YAML 1.2, our limits, our key order.

    Loading raises `InvalidDocument` where the header cannot be read, instead of a text without metadata.
    """
    from frontmatter.default_handlers import BaseHandler

    class Handler(BaseHandler):  # type: ignore[misc, unused-ignore]
        FM_BOUNDARY = re.compile("---")  # asked for by the base class, used by none of the methods below
        START_DELIMITER = END_DELIMITER = "---"

        def detect(self, text: str) -> bool:
            fences = find_fences(text)
            return fences is not None and fences.closed

        def split(self, text: str) -> tuple[str, str]:
            fences = find_fences(text)
            if fences is None or not fences.closed:
                raise ValueError("no frontmatter")
            return text[fences.start : fences.end], text[fences.body_start :]

        def load(self, fm: str, **_: object) -> dict[str, Any]:
            root, problems = read_header(fm)
            if root is None:
                first = problems[0]
                message = f"The frontmatter cannot be read (line {first.line + 1}): {first.message}"
                raise InvalidDocument(message, hint=first.hint or "Mend it by hand.")
            return typed_data(root)

        def export(self, metadata: dict[str, Any], **_: object) -> str:
            text = compose(dict(metadata), "")
            return text[len("---\n") : -len("---\n")]

        def format(self, post: Any, **_: object) -> str:
            return compose(dict(post.metadata), post.content)

    return Handler()


def read_post(text: str) -> Post:
    """Read a file's text, with or without frontmatter. Raises `InvalidDocument` for a header that is none."""
    import frontmatter

    # Not `loads`: it hands the keys on as arguments, and "content" is one of its own.
    metadata, _ = frontmatter.parse(text, handler=post_handler())
    # The library strips the body; we owe it to the byte.
    fences = find_fences(text)
    body = text[fences.body_start :] if fences is not None and fences.closed else text
    return Post(dict(metadata), body)


def write_post(post: Post) -> str:
    """The text of a new file: see `edit.compose`."""
    import frontmatter

    whole = frontmatter.Post(post.body, handler=post_handler())
    whole.metadata = dict(post.metadata)
    return str(post_handler().format(whole))
