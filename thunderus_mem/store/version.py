"""The version of a store's formats: what its copies of the schemas and its configuration say.

A store of a later version than this program knows is read and never written: what we do not know we could
break. A store of an earlier one is read as it is; `migrate` brings it up to date.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import Refused, ThunderusError
from thunderus_mem.store.config import FORMAT, Config
from thunderus_mem.store.files import read_file

if TYPE_CHECKING:
    from thunderus_mem.store.layout import Layout

__all__ = ["FORMAT", "newer_version", "refuse_newer", "version_of_schemas"]

_LIMIT: Final = 1 << 20
_NAMES: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1")
_ID: Final = re.compile(rb'"\$id":\s{0,9}"urn:thunderus-mem:schema:[a-z-]{1,40}:([0-9]{1,6})"')


def version_of_schemas(layout: Layout) -> int:
    """The highest version among the store's copies of the schemas; 0 when it has none."""
    found = [0]
    for name in _NAMES:
        try:
            text = read_file(os.path.join(layout.schemas_dir, f"{name}.schema.json"), _LIMIT)
        except ThunderusError:
            continue
        match = _ID.search(text)
        found.append(int(match[1]) if match is not None else 0)
    return max(found)


def newer_version(layout: Layout, config: Config) -> int:
    """The version of a store that is newer than this program; 0 for any other."""
    version = max(version_of_schemas(layout), config.store_version)
    return version if version > FORMAT else 0


def refuse_newer(layout: Layout, config: Config) -> None:
    """Raise `Refused` when a later version of the program must write this store."""
    version = newer_version(layout, config)
    if version:
        raise Refused(
            f"this store has version {version} of the formats, this program knows {FORMAT}: it only reads",
            hint="use a newer thunderus-mem to write; nothing was changed",
        )
