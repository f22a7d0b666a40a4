"""Where a full stop ends a sentence: never cut inside one, rather leave two together."""

from __future__ import annotations

import re

_MAY_END = re.compile(r"[.!?] (?=[A-Z\u00c0-\u00de`\"(\[])")
_DOTTED_NUMBER = re.compile(r"\d\.\d{1,9}$")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_ABBREVIATED = re.compile(
    r"\b(?:al|ca|cf|dr|eg|ie|jr|mr|ms|no|nr|pp|st|vs|etc|fig|sec|sect|chap|vol|ver|mrs|max|min|incl|excl"
    r"|approx|resp|dept|inc|ltd|esp)\.$",
    re.IGNORECASE,
)
_SHORTEST_SENTENCE = 3
_LETTERS = 2
_LONGEST_ABBREVIATION = 12
_LONGEST_NUMBER = 12


def _pieces(text: str) -> list[str]:
    """The text cut behind a full stop that follows two letters, a bracket, code or a number with a point in
    it, before a capital. Other numbers may count steps or days: ``1. Install``, ``on 4. August``."""
    pieces = []
    start = 0
    for stop in _MAY_END.finditer(text):
        at = stop.start()
        if (
            text[at - 1 : at] in ("`", ")")
            or (at >= _LETTERS and _TWO_LETTERS.match(text, at - _LETTERS))
            or _DOTTED_NUMBER.search(text, max(0, at - _LONGEST_NUMBER), at)
        ):
            pieces.append(text[start : at + 1])
            start = stop.end()
    pieces.append(text[start:])
    return pieces


def split_sentences(text: str) -> list[str]:
    """The sentences of one paragraph; the whole of it when a piece may be none (too short, ``approx.``)."""
    pieces = _pieces(" ".join(text.split()))
    for piece in pieces[:-1]:
        # Only how a piece ends is asked: searching the whole of it would cost most of the reading.
        if len(piece.split(None, _SHORTEST_SENTENCE)) < _SHORTEST_SENTENCE:
            return [text]
        if _ABBREVIATED.search(piece, max(0, len(piece) - _LONGEST_ABBREVIATION)):
            return [text]
    return pieces
