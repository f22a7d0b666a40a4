"""The methods of other tools to decide whether a note about code is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Expected, Span

BLOB: Final = "whole-file hash"
DATE: Final = "file mention and commit date"
LOG: Final = "git log -L of the span"
METHODS: Final = (BLOB, DATE, LOG)


def stale_by(span: Span, touched: set[str], path: str) -> dict[str, bool]:
    """The two methods that use whole files."""
    return {
        BLOB: span.after.get(path) != span.before[path],
        DATE: path in touched or path not in span.after,
    }


def stale_by_log(span: Span, path: str, symbol: Symbol, truth: Expected) -> bool:
    """Any commit on the lines of the symbol. Truth tells it where the symbol is now, which no tool knows:
    this is the method at its best."""
    place = next((one for one in truth.places if one[0] == path), None)
    if place is None or path not in span.after:
        return True
    if span.before[path] == span.after[path] and not span.versions.get(path):
        return False
    found = span.library.one(path, span.after[path]).named(place[1])
    here = next((one for one in found if one.content == symbol.content), found[0] if found else None)
    if here is None:
        return True
    return span.library.clone.span_touched(span.a, span.b, path, here.first, here.last)
