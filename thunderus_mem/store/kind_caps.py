"""How long a document of a kind may grow, in tokens of four characters, and the texts of ``caps.kinds``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.store.config import Config

_DIGITS: Final = 9
"""What is longer is a slip, and thousands of digits are more than Python reads as a number."""


class Caps(NamedTuple):
    """Tokens above which a document gets a warning (``soft``) and an error (``hard``)."""

    soft: int
    hard: int


class Refusal(NamedTuple):
    """Why one ``text`` of ``caps.kinds`` cannot be taken, and a way out."""

    text: str
    problem: str
    hint: str


def caps_of(kind: str, core: Caps, document: Caps, kinds: Mapping[str, int]) -> Caps:
    """The caps of a kind: those of ``core`` for core memory, of ``document`` for any other.

    The number that ``kinds`` has for a kind stands in place of the document's soft cap, and raises the hard
    one where it is larger. The soft cap is never above the hard one.
    """
    if kind == "core":
        found = core
    elif kind in kinds:
        found = Caps(kinds[kind], max(kinds[kind], document.hard))
    else:
        found = document
    return Caps(min(found), found.hard)


def configured_caps(config: Config, kind: str) -> Caps:
    """The caps of a kind by the settings of a store."""
    return caps_of(
        kind,
        Caps(config.caps_core_soft, config.caps_core_hard),
        Caps(config.caps_document_soft, config.caps_document_hard),
        tokens_by_kind(config.caps_kinds),
    )


def tokens_by_kind(texts: Iterable[str]) -> dict[str, int]:
    """Kind → tokens, of texts such as ``recap = 3000`` of which none is refused."""
    return {kind: int(tokens) for kind, tokens in map(_parts, texts)}


def refusal(texts: Iterable[str], kinds: Sequence[str]) -> Refusal | None:
    """What is wrong with the first text that cannot be taken: ``None`` when all are "kind = tokens", each of
    another one of ``kinds`` and with a whole number from 1."""
    seen: set[str] = set()
    for text in texts:
        kind, tokens = _parts(text)
        if kind not in kinds:
            return Refusal(text, "names no kind that can have a cap of its own.", _kind_meant(kind, kinds))
        if not _is_cap(tokens):
            hint = f'Write it as "{kind} = 3000".'
            return Refusal(text, f"needs a whole number of tokens from 1 to {10**_DIGITS - 1:,}.", hint)
        if kind in seen:
            return Refusal(text, "names a kind that has a cap already.", f"Keep one line for {kind}.")
        seen.add(kind)
    return None


def _parts(text: str) -> tuple[str, str]:
    kind, _, tokens = text.partition("=")
    return kind.strip(), tokens.strip()


def _is_cap(tokens: str) -> bool:
    return tokens.isascii() and tokens.isdigit() and len(tokens) <= _DIGITS and int(tokens) > 0


def _kind_meant(kind: str, kinds: Sequence[str]) -> str:
    if kind == "core":
        return "Core memory has caps.core_soft and caps.core_hard."
    from thunderus_mem.model.ids import closest

    near = closest(kind.lower(), kinds, 1)
    return f"Did you mean {near[0]}?" if near else f"Kinds: {', '.join(kinds)}."
