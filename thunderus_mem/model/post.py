"""Whole posts in and out through python-frontmatter, with our reader and writer as its handler.

The only module that knows python-frontmatter. For import, export and templates; the hot paths read with
`document.read_document`, which a test holds equal to this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import find_fences, read_header, typed_data


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
