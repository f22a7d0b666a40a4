"""A failure in words: what was found, one sentence, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.model.errors import ThunderusError
    from thunderus_mem.surfaces.style import Style


def told(error: ThunderusError, style: Style) -> Iterator[str]:
    """The lines that tell of an error."""
    for finding in getattr(error, "diagnostics", ()):
        from thunderus_mem.surfaces.render import finding_line

        yield finding_line(finding, style)
    yield f"{style.error('error:')} {_begun(str(error))}{_end(str(error))}"
    if error.hint:
        yield hinted(error.hint, style)


def hinted(hint: str, style: Style) -> str:
    """The line that says what to do."""
    return f"{style.dim('hint:')}  {_begun(hint)}"


def _begun(text: str) -> str:
    """A message with a capital, unless it begins with a name."""
    first = text.partition(" ")[0].rstrip(",")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _end(text: str) -> str:
    """The full stop that a message lacks."""
    return "" if text.endswith((".", "?", "!", ":", "`")) else "."
