"""The filter in front of every stream: nothing a text holds steers a terminal, and no secret is told."""

from __future__ import annotations

from thunderus_mem.surfaces.style import unmarked

# Letters and marks by category, yet nobody sees them: the ones str.isprintable() lets pass.
_HIDDEN_LETTERS = "\u034f\u180e\u3164\uffa0"
_VARIATIONS = "\U000e0100"


def seen(text: str) -> str:
    """`model.unicode.visible`, loaded only for a text that has anything to make visible."""
    bare = unmarked(text).replace("\n", "").replace("\t", "")
    if bare.isprintable() and (bare.isascii() or not _hides(bare)):
        return text
    from thunderus_mem.model.unicode import visible

    return visible(text)


def _hides(text: str) -> bool:
    return any(char in text for char in _HIDDEN_LETTERS) or max(text) >= _VARIATIONS


def without_secrets(text: str) -> str:
    """The text without the value of any secret in it; marks could stand inside one, so they go then."""
    from thunderus_mem.model.secrets import redacted

    bare = unmarked(text)
    safe = redacted(bare)
    return text if safe == bare else safe
