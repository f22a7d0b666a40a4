"""Find orders in pieces of a text that are apart from its prose: a cell, a value, brackets, a comment. Pure.

Such pieces hardly ever tell anybody to do something, so a lower sum of words (`orders`) than in prose is
enough, even if they name no agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.called import sum_of
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST: Final = {
    "comment": 5.5,
    "cell": 5.5,
    "value": 3.5,
    "quotation": 5.0,
    "bracket": 4.5,
    "line": 5.0,
    "header": 6.5,
}
"""The sum of words that is enough, by the kind of a piece."""
_COMMENT: Final = lazy_pattern(r"<!--(?P<comment>(?:[^-]|-(?!->)){10,700}+)-->")
_CELL: Final = lazy_pattern(r"\|(?P<cell>[^|\n]{20,400})(?=\|)")
_VALUE: Final = lazy_pattern(
    r"(?:=|[\n{,|(\[;][ \t>*-]{0,40}[\"'`]?[\w.$-]{1,40}[\"'`\]]{0,2} ?:) ?\"(?P<value>[^\"\n]{20,500})\""
    r"(?=[ \t]{0,4}(?:[,}\])|;]|\n|$))"
)
_QUOTATION: Final = lazy_pattern(r": \"(?P<quotation>[^\"\n]{20,500})\"(?=[ \t]{0,4}(?:[,}\])|;]|\n|$))")
_BRACKET: Final = lazy_pattern(r"\[(?<!\]\[)(?P<bracket>[^\[\]\n]{25,400})\](?!\()")
_LINE: Final = lazy_pattern(r"\n[ \t]{0,40}(?:#|//|--|%|;)(?!#) ?(?P<line>[^\n]{20,300})")
_HEADER: Final = lazy_pattern(r"\n---\n(?P<header>(?:[^\n]|\n(?!---)){10,1500})\n---")
_PIECES: Final = (
    ("<!--", _COMMENT),
    ("|", _CELL),
    ('"', _VALUE),
    (': "', _QUOTATION),
    ("[", _BRACKET),
    ("\n", _LINE),
    ("---", _HEADER),
)
"""What begins a piece of each kind, and its pattern; a line is after an end of line."""
_WORDS: Final = lazy_pattern(r"(?<![\w'\u2019-])(?:[^\W\d_][\w'\u2019-]{0,30}+[,.:;]? ){4}")


def orders_apart(block: str) -> Iterator[int]:
    """Where orders in pieces of a block begin."""
    text = f"\n{block}"
    for begin, pattern in _PIECES:
        for piece in pattern.finditer(text) if begin in text else ():
            kind = piece.lastgroup or ""
            said = piece[kind]
            if _WORDS.search(said) is not None and sum_of(said) > LEAST[kind]:
                yield piece.start(kind) - 1
