"""What is kept of texts to find those alike, computed for many of them in several processes."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.similar.profile import computed, key_of, not_kept

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from thunderus_mem.model.document import Document

# Fewer are read in the time it takes to start a process and to bring back what it found.
_MANY: Final = 256


def learn(documents: Sequence[Document], known: MutableMapping[str, bytes]) -> None:
    """Add to ``known`` the profiles of many documents that it does not hold; of a few they are computed
    where they are needed, as are those of a process that failed."""
    missing = not_kept(documents, known)
    if len(missing) < _MANY:
        return
    from thunderus_mem.store.forked import spread

    for document, packed in zip(missing, spread(missing, _packed), strict=True):
        if packed is not None:
            known[key_of(document)] = b64decode(packed)


def _packed(documents: Sequence[Document]) -> list[str]:
    return [b64encode(profile).decode() for profile in computed(documents)]
