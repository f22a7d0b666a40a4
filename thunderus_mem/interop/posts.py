"""Foreign documents with frontmatter in YAML, TOML or JSON, read and written by python-frontmatter. Pure.

The library detects and splits the formats, reads JSON and writes posts. YAML is read and written by our own
code, so that values mean the same as in a document. Bodies keep every byte, which the library would strip.
"""

from __future__ import annotations

import re
from datetime import date, time
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.nodes import typed_data
from thunderus_mem.document.frontmatter.read import find_fences, read_header
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.unicode import BOM
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from frontmatter import Post
    from frontmatter.default_handlers import BaseHandler

_OTHERS: Final = {"+": "TOML", "{": "JSON"}


def read_post(text: str) -> tuple[dict[str, Any], str]:
    """Frontmatter with types (YAML 1.2, our limits; TOML or JSON), and the exact body; no keys without
    frontmatter.

    Raises `InvalidDocument` for a header that cannot be read.
    """
    import frontmatter

    handler = frontmatter.detect_format(text, _handlers())
    if handler is None:
        return {}, text
    try:
        # Not `frontmatter.parse`: it strips the body.
        header, body = handler.split(text)
        return handler.load(header), body
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"cannot read the frontmatter: {error}", hint="fix it by hand") from None


def write_post(data: dict[str, Any], body: str) -> str:
    """A document with these keys in YAML, with the line ends of the body, and exactly this body."""
    import frontmatter

    post = frontmatter.Post(body)
    post.metadata = data
    return frontmatter.dumps(post, _handlers()[0])


def in_yaml(data: bytes) -> tuple[bytes, str]:
    """A file with TOML or JSON frontmatter converted to YAML, and the name of its format; any other file, or
    one that cannot be read, unchanged and ""."""
    try:
        text = data.decode("utf-8").removeprefix(BOM)
        values, body = read_post(text) if text[:1] in _OTHERS else ({}, "")
        return (write_post(values, body).encode(), _OTHERS[text[0]]) if values else (data, "")
    except (UnicodeDecodeError, InvalidDocument):
        return data, ""


def _handlers() -> tuple[BaseHandler, ...]:
    from frontmatter.default_handlers import BaseHandler, JSONHandler

    class Yaml(BaseHandler):  # type: ignore[misc, unused-ignore]
        FM_BOUNDARY = re.compile("---")  # asked for by the base class, used by none of the methods below

        def detect(self, text: str) -> bool:
            fences = find_fences(text)
            return fences is not None and fences.closed

        def split(self, text: str) -> tuple[str, str]:
            fences = find_fences(text)
            assert fences is not None
            return text[fences.start : fences.end], text[fences.body_start :]

        def load(self, fm: str) -> dict[str, Any]:
            root, problems = read_header(fm)
            if root is None:
                first = problems[0]
                raise InvalidDocument(
                    f"cannot read the frontmatter (line {first.line + 1}): {first.message}",
                    hint=first.hint or "fix it by hand",
                )
            return typed_data(root)

        def format(self, post: Post, **_: object) -> str:
            header, body = compose(post.metadata, ""), post.content
            if body.count("\r\n") * 2 > body.count("\n"):
                header = header.replace("\n", "\r\n")
            return header + body

    class Toml(BaseHandler):  # type: ignore[misc, unused-ignore]
        FM_BOUNDARY = re.compile(r"^\+\+\+[ \t]*(?:\r?\n|\Z)", re.MULTILINE)

        def load(self, fm: str) -> dict[str, Any]:
            import tomllib

            values: dict[str, Any] = _with_text_times(tomllib.loads(fm))
            return values

    class Json(JSONHandler):  # type: ignore[misc, unused-ignore]
        FM_BOUNDARY = re.compile(r"^[{}][ \t]*(?:\r?\n|\Z)", re.MULTILINE)

        def detect(self, text: str) -> bool:
            return text.startswith("{") and super().detect(text)

    return Yaml(), Toml(), Json()


def _with_text_times(value: Any) -> Any:
    """Values of TOML with dates and times as RFC 3339 text."""
    if isinstance(value, dict):
        return {key: _with_text_times(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_text_times(one) for one in value]
    return value.isoformat() if isinstance(value, date | time) else value
