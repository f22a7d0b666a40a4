"""The tokens of a definition with its own name blanked, so that a renamed one looks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.walk import OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["blanked"]

_BLANK: Final = "\x04"
_JOINTS: Final = frozenset([".", "?.", "::", "->", ":", "#"])
_SELVES: Final = frozenset(["self", "this", "cls", "Self", "super", "static"])
_KEYWORD: Final = OPEN + "keyword_argument"


def blanked(tokens: Sequence[str], name: str, owner: str = "") -> list[str]:
    """The tokens, blank where the definition names itself: where it is declared, and where it calls itself.

    Behind a point a name is another's (``cache.get`` in ``get``), unless it is the object itself
    that stands before the point, or ``owner``, the type the definition belongs to.
    """
    written = list(tokens)
    for at, token in enumerate(tokens):
        if token != name or (at and tokens[at - 1] == _KEYWORD):
            continue
        if at < 2 or tokens[at - 1] not in _JOINTS or _itself(tokens, at - 2, owner):
            written[at] = _BLANK
    return written


def _itself(tokens: Sequence[str], at: int, owner: str) -> bool:
    return tokens[at] in _SELVES or (owner != "" and tokens[at] == owner)
