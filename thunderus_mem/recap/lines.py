"""Free text as lines of a page that nothing in it can break: list items, code spans, counts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST: Final = 300
"""Characters of a text of somebody's private events that a page repeats."""

_RELATIVE = re.compile(r"\]\((?!https?://)")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")


def one_line(text: str) -> str:
    """Free text as one list line that cannot open a comment, an element or a code span over the rest of the
    page.

    Neither is a relative link one from here: the page would be refused for it.
    """
    line = " ".join(text.split())
    if line.count("`") % 2:
        line = line.replace("`", "'")
    parts = line.split("`")
    parts[::2] = [_MARKUP.sub("&lt;", part) for part in parts[::2]]
    # A link is one wherever its bracket stands; the comment mark hides text even inside a code span.
    return _RELATIVE.sub(r"]\\(", "`".join(parts)).replace("<!--", "&lt;!--")


def cut(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning up to a word and an ellipsis."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:") + "…"


def span(text: str) -> str:
    """The text as a code span, whatever backticks it holds."""
    line = " ".join(text.split()).replace("<!--", "< !--").replace("](", "] (")
    if "`" not in line:
        return f"`{line}`"
    longest = max(len(run) for run in re.findall(r"`+", line))
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def spans(names: Iterable[str]) -> str:
    """Names as code spans, joined by commas."""
    return ", ".join(span(name) for name in names)


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``3 events``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
