"""Ids of documents: made from titles, completed from prefixes, and mapped to file names with ADR numbers.
Pure.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX: Final = 12
MAX_ID = 120
MAX_NAME = 60
_CUT_HASH = 6
_SIMILAR = 0.6

_ID = lazy_pattern(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*", re.ASCII)
_NOT_WORD = lazy_pattern(r"[^a-z0-9]+", re.ASCII)
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))]
)


def is_document_id(text: str) -> bool:
    """Whether ``text`` is ASCII words joined by single ``.``, ``-`` or ``_``, at most 120 characters.

    Case is kept, but two ids never differ in case alone: see `fold_key`.
    """
    return len(text) <= MAX_ID and _ID.fullmatch(text) is not None and not is_reserved_name(text)


def is_reserved_name(name: str) -> bool:
    """Whether a file with this name would be a device on Windows (``nul``, ``com1.md``)."""
    return name.lower().partition(".")[0].strip(" ") in _RESERVED


# Latin letters that NFKD does not decompose, and their usual ASCII spelling.
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "þ": "th", "Þ": "Th", "ı": "i"}
)


def slug(title: str) -> str:
    """The words of a title for an id: without accents, lower case, joined by ``-``; may be empty."""
    latin = title.translate(_LETTERS)
    folded = unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode().lower()
    return _NOT_WORD.sub("-", folded).strip("-")


def hash_prefix(hash: str) -> str:
    """Return the first digits of a content hash, enough to recognize a text."""
    return hash.removeprefix("sha256:")[:_PREFIX]


def short_hash(text: str, length: int = _CUT_HASH) -> str:
    """The first hex characters of the SHA-256 of ``text``."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def new_document_id(kind: str, title: str) -> str:
    """The id of a new document, from its title: ``fact.tests-run-with-pytest``.

    A title without ASCII letters or digits gets its hash as the name. Long titles are cut at a word.
    """
    words = slug(title)
    if len(words) > MAX_NAME:
        words = words[:MAX_NAME].rsplit("-", 1)[0]
    return f"{kind}.{words or short_hash(title, 8)}"


def file_stem(document_id: str, kind: str) -> str:
    """The file name (without ``.md``) for an id: lower case, without its kind, at most 60 characters.

    A cut name ends in six characters of the id's hash, so that two long ids never share a file.
    """
    stem = document_id.lower().removeprefix(f"{kind}.")
    if is_reserved_name(stem):
        stem = f"{kind}-{stem}"
    if len(stem) <= MAX_NAME:
        return stem
    return f"{stem[: MAX_NAME - _CUT_HASH - 1].rstrip('.-_')}-{short_hash(document_id)}"


def fold_key(name: str) -> str:
    """A key that is equal for names that some file system treats as the same: NFC and case-folded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def resolve_prefix(given: str, known: Iterable[str]) -> list[str]:
    """The ids that ``given`` may mean: itself if it exists, else ids with that prefix (with or without
    kind). Case matters only where ids differ in it."""
    ids = sorted(known)
    same = [one for one in ids if one.lower() == given.lower()]
    if same:
        return [given] if given in same else same
    found = _starting(given, ids)
    if found:
        return found
    lower = set(_starting(given.lower(), [one.lower() for one in ids]))
    return [one for one in ids if one.lower() in lower]


def _starting(given: str, ids: list[str]) -> list[str]:
    """The ids that start with ``given``; if there are none, those that are or start so after their kind."""
    by_start = [one for one in ids if one.startswith(given)]
    bare = [one for one in ids if one.partition(".")[2] == given]
    return by_start or bare or [one for one in ids if one.partition(".")[2].startswith(given)]


def closest(given: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Ids with the prefix ``given``, else similar ids, for a "did you mean".

    For ids of the same kind only the part after the kind is compared.
    """
    from difflib import get_close_matches

    names = list(known)
    begun = sorted(name for name in names if given and name.startswith(given))
    if begun:
        return sorted(begun, key=len)[:limit]
    kind, dot, rest = given.partition(".")
    same_kind = {name.removeprefix(kind + dot): name for name in names if dot and name.startswith(kind + dot)}
    near = [same_kind[name] for name in get_close_matches(rest, same_kind, n=limit, cutoff=_SIMILAR)]
    others = [name for name in names if name not in set(same_kind.values())]
    return near or get_close_matches(given, others, n=limit, cutoff=_SIMILAR)


def file_name(document_id: str, kind: str, existing: Iterable[str]) -> str:
    """The file name for an id; an ADR gets the number after the highest among the ``existing`` file names."""
    if kind == "core" and document_id == "core":
        return "CORE.md"
    stem = file_stem(document_id, kind)
    if kind != "adr":
        return f"{stem}.md"
    return f"ADR-{next_adr_number(existing):04d}-{stem}.md"


_ADR_FILE = lazy_pattern(r"ADR-(\d{1,9})(?=[-.])", re.ASCII | re.IGNORECASE)


def next_adr_number(existing: Iterable[str]) -> int:
    """One more than the highest number among ADR file names; 1 when there is none."""
    return max(map(adr_number, existing), default=0) + 1


def adr_number(name: str) -> int:
    """The number in the file name of an ADR; 0 for none."""
    match = _ADR_FILE.match(name)
    return int(match[1]) if match else 0
