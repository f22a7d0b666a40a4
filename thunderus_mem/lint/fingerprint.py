"""What makes a finding the same one after lines have moved: rule, document and text of the line. Pure.

The number of the line is no part of it; equal lines of a document are told apart by their order. A secret is
no part of it either.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.secrets import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.model.diagnostic import Diagnostic

_LENGTH: Final = 32
_INDEX = re.compile(r"\.[0-9]+(?=\.|$)")


def _digest(*parts: str) -> str:
    text = "\0".join(parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def fingerprinted(found: Iterable[Diagnostic], line_text: Callable[[int], str]) -> list[Diagnostic]:
    """The findings of one file, in order, with their fingerprints; equal ones are told once.

    ``line_text`` gives the text of a line. A finding about a whole file is known by rule, document and key.
    """
    ones = list(dict.fromkeys(found))
    hides = any(one.rule == "TM401" for one in ones)
    lines: dict[int, str] = {0: ""}
    told: dict[str, int] = {}
    marked = []
    for one in ones:
        if one.line not in lines:
            text = line_text(one.line)
            lines[one.line] = _digest(" ".join((redacted(text) if hides else text).split()))
        name = _digest(one.rule, one.doc_id or one.path, _INDEX.sub("", one.key), lines[one.line])
        before = told.get(name, 0)
        marked.append(one._replace(fingerprint=_numbered(name, before)))
        told[name] = before + 1
    return marked


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings of several files, with no fingerprint twice: two files may have one id."""
    told: Counter[str] = Counter()
    apart = []
    for one in found:
        again = told[one.fingerprint]
        told[one.fingerprint] += 1
        apart.append(one._replace(fingerprint=_numbered(one.fingerprint, again, one.path)) if again else one)
    return apart


def _numbered(name: str, before: int, *more: str) -> str:
    return _digest(name, str(before), *more) if before else name
