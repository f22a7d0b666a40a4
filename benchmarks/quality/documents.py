"""Documents as they stand in a memory, made from a title and a text: the rest of a header is made up.

What is made up follows from the id alone, so that a run can be repeated byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from thunderus_mem.document.document import read_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.document.document import Document

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_NOT_WORD = re.compile(r"[^a-z0-9]+", re.ASCII)
_FOLDERS = {"fact": "semantic/FACTS", "adr": "semantic/DECISIONS", "playbook": "procedural/PLAYBOOKS"}


def slug(text: str) -> str:
    """A text as part of an id."""
    return _NOT_WORD.sub("-", text.lower()).strip("-")[:80].strip("-") or "untitled"


def document(id: str, title: str, body: str, *, kind: str = "fact", tags: Sequence[str] = ()) -> Document:
    """A document of this id; raises `ValueError` when it does not read."""
    digest = hashlib.sha256(id.encode()).digest()
    day, month, hour = digest[0] % 28 + 1, digest[1] % 12 + 1, digest[2] % 24
    written = f"2026-{month:02}-{day:02}T{hour:02}:{digest[3] % 60:02}:{digest[4] % 60:02}Z"
    event = "evt_01" + "".join(_CROCKFORD[byte % 32] for byte in digest[:24])
    lines = ["---", f"id: {id}", f"title: {json.dumps(title, ensure_ascii=False)}", f"kind: {kind}"]
    lines += ["tags:", *(f"  - {tag}" for tag in tags)] if tags else ["tags: []"]
    lines += [f'created: "{written}"', f'updated: "{written}"']
    lines += ["provenance:", "  events:", f"    - {event}", "  patches: []", "  commits: []"]
    lines += ["verification:", "  last_verified_commit: null", "  status: unknown", "---", ""]
    path = f".thunderus/memory/{_FOLDERS[kind]}/{id}.md"
    reading = read_document(path, ("\n".join(lines) + "\n" + body.strip("\n") + "\n").encode())
    if reading.document is None:
        raise ValueError(f"{id} does not read: {reading.problems}")
    return reading.document
