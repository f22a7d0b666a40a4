"""The same document with another layout, which must be found as an exact duplicate."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

from benchmarks.quality.prose import Block, blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_WIDTHS: Final = (50, 64, 100, 9999)
_STARTS_BLOCK = re.compile(r"[-*+#>|=<:`~\[!]|\d+[.)]|---")
_PLAIN_CAPITAL = re.compile(r"[A-Z][a-z]+(?=[ ,])")
_SENTENCE = re.compile(r"(?<=[a-z]{3}\.) (?=[A-Z][a-z]*[ ,])")

_MARKUP = re.compile(r"^(?:[ \t]*<|[ \t]+(?:```|~~~))", re.MULTILINE)
# Where a sentence ends is not plain in these, nor what a change of order would do.
_AMBIGUOUS = re.compile(r"[!?:()\[\]\"*_<>]|\b(?:etc|inc|ltd|e\.g|i\.e|cf|vs)\.", re.IGNORECASE)


def _wrapped(block: Block, dice: Random) -> tuple[str, ...]:
    if block.sort != "paragraph" or any(line.endswith(("  ", "\\")) for line in block.lines):
        return block.lines
    words = " ".join(line.strip() for line in block.lines)
    lines = textwrap.wrap(words, dice.choice(_WIDTHS), break_long_words=False, break_on_hyphens=False)
    unsafe = any(_STARTS_BLOCK.match(line) for line in lines[1:])
    return block.lines if unsafe else tuple(lines)


def _bulleted(block: Block, dice: Random) -> tuple[str, ...]:
    if block.sort != "item":
        return block.lines
    other = {"-": "*", "*": "-", "+": "-"}[block.lines[0][0]]
    return (other + block.lines[0][1:],)


def _cased(block: Block, dice: Random) -> tuple[str, ...]:
    """The first letter in lower case, where the first word is an ordinary one."""
    first = block.lines[0]
    start = 2 if block.sort == "item" else 0
    if block.sort not in ("item", "paragraph") or not _PLAIN_CAPITAL.match(first, start):
        return block.lines
    return (first[:start] + first[start].lower() + first[start + 1 :], *block.lines[1:])


def _ended(block: Block, dice: Random) -> tuple[str, ...]:
    """A list item without the full stop at its end, or with one."""
    line = block.lines[0]
    if block.sort != "item" or block.continued or not (line[-1].isalpha() or line[-1] == "."):
        return block.lines
    return (line[:-1] if line[-1] == "." and line[-2:-1].isalpha() else line.rstrip(".") + ".",)


def _spaced(block: Block, dice: Random) -> tuple[str, ...]:
    """Two blank lines for one, blanks at the end of a heading."""
    if block.lines == ("",) and not block.continued:
        return ("", "")
    return (block.lines[0] + " ",) if block.lines[0].startswith("#") else block.lines


def _reordered(block: Block, dice: Random) -> tuple[str, ...]:
    """Swap the first two sentences of a paragraph, unless it introduces the next block."""
    if block.sort != "paragraph" or block.followed:
        return block.lines
    text = " ".join(block.lines)
    pieces = _SENTENCE.split(text)
    plain = all(len(piece.split()) > 3 and piece.endswith(".") and piece[0].isupper() for piece in pieces)
    if len(pieces) < 2 or not plain or _AMBIGUOUS.search(text):
        return block.lines
    return (" ".join([pieces[1], pieces[0], *pieces[2:]]),)


LAYOUTS: Final[dict[str, Callable[[Block, Random], tuple[str, ...]]]] = {
    "line wrap": _wrapped,
    "bullets": _bulleted,
    "first letter": _cased,
    "end of items": _ended,
    "blanks": _spaced,
    "order of sentences": _reordered,
}


def plain(body: str) -> bool:
    """Whether a text is Markdown without markup or code inside its lists, so that its layout is its own."""
    return not _MARKUP.search(body)


def laid_out(body: str, how: str, dice: Random) -> str:
    """A `plain` text in another layout, by the name of the change."""
    change = LAYOUTS[how]
    return "\n".join(line for block in blocks(body) for line in change(block, dice))
