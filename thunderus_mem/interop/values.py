"""How single values of foreign records are read and written: times, ids, hashes, numbers, tags, types. Pure.

A conversion raises `ValueError` with the reason for a value that it cannot read. The kinds of documents and
the types of the SHODH family correspond as in `TYPE_OF_KIND`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.templates import TYPES
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""No value; in contrast to null, an empty value or a default."""


class Conversion(NamedTuple):
    """A kind of value: how it is called in the docs, its JSON Schema, and both directions."""

    name: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _never(value: Any) -> Any:
    return ABSENT


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("is not a string")  # noqa: TRY004
    if "\0" in value:
        raise ValueError("contains a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode") from None
    return value


def _content(value: Any) -> str:
    text = _text(value)
    if not text.strip():
        raise ValueError("is empty")
    return text


def _label(value: Any) -> Any:
    return _text(value) or ABSENT


def _number(least: float, most: float) -> Callable[[Any], int | float]:
    def read(value: Any) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("is not a number")  # noqa: TRY004
        if not least <= value <= most:
            raise ValueError(f"is not between {least:g} and {most:g}")
        return value

    return read


def _count(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("is not an integer")  # noqa: TRY004
    if value < 0:
        raise ValueError("is negative")
    return value


def _time(value: Any) -> str:
    text = _text(value)
    if parse_timestamp(text) is None:
        raise ValueError("is not a time in RFC 3339 format")
    return text


def _from_seconds(value: Any) -> str:
    """A Unix time as RFC 3339, with as many digits as its microseconds need."""
    seconds = _number(-62_135_596_800, 253_402_300_799)(value)
    whole = math.floor(seconds)
    micro = round((seconds - whole) * 1_000_000)
    moment = datetime.fromtimestamp(whole + micro // 1_000_000, UTC).replace(microsecond=micro % 1_000_000)
    return _utc_text(moment)


def _utc_text(moment: datetime) -> str:
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction + "Z"


def _to_seconds(value: str) -> Any:
    moment = parse_timestamp(value)
    return moment.timestamp() if moment is not None else ABSENT


def _sql_time(value: Any) -> str:
    """A time of SQLite, or RFC 3339."""
    text = _text(value)
    return _time(f"{text.replace(' ', 'T', 1)}Z" if _SQL_TIME.fullmatch(text) else text)


_SQL_TIME = lazy_pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?", re.ASCII)


def _words(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ValueError("is not a list")  # noqa: TRY004
    return list(dict.fromkeys(word for word in map(_text, value) if word.strip()))


def _tags(value: Any) -> Any:
    return _words(value) or ABSENT


def _written_tags(value: list[str]) -> Any:
    return [] if value == DEFAULT_TAGS else list(value)


def _json_tags(value: Any) -> Any:
    """Tags as JSON text, or as a list."""
    if not isinstance(value, str):
        return _tags(value)
    try:
        return _tags(json.loads(value))
    except json.JSONDecodeError:
        raise ValueError("is not a list as JSON text") from None


def _comma_tags(value: Any) -> Any:
    """Tags in one text, separated by commas, or as a list."""
    given = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    return _tags(given)


DEFAULT_TAGS: Final = ["imported"]
"""The tags of a document from a record without tags; an export writes none for them."""

STRING: Final = {"type": "string"}
STRING_OR_NULL: Final = {"type": ["string", "null"]}


def _bounded(least: float, most: float) -> Conversion:
    schema = {"type": ["number", "null"], "minimum": least, "maximum": most}
    return Conversion(f"number, {least:g} to {most:g}", schema, _number(least, most), _same)


CONTENT: Final = Conversion("text", {"type": "string", "minLength": 1, "pattern": "\\S"}, _content, _same)
LABEL: Final = Conversion("string", STRING_OR_NULL, _label, _same)
UNIT: Final = _bounded(0, 1)
BALANCE: Final = _bounded(-1, 1)
COUNT: Final = Conversion("integer", {"type": ["integer", "null"], "minimum": 0}, _count, _same)
TIME: Final = Conversion("time, RFC 3339", {"type": ["string", "null"], "format": "date-time"}, _time, _same)
SECONDS: Final = Conversion(
    "time, seconds since 1970", {"type": ["number", "null"]}, _from_seconds, _to_seconds
)
SQL_TIME: Final = Conversion("time, RFC 3339 or SQLite", STRING_OR_NULL, _sql_time, _same)
_LIST: Final = {"type": ["array", "null"], "items": STRING}
TAGS: Final = Conversion("list of strings", _LIST, _tags, _written_tags)
JSON_TAGS: Final = Conversion(
    "list, or list as JSON text",
    {"type": ["string", "array", "null"]},
    _json_tags,
    _written_tags,
)
COMMA_TAGS: Final = Conversion(
    "list, or text with commas", {"type": ["string", "array", "null"]}, _comma_tags, _written_tags
)
DROPPED: Final = Conversion("not stored", {}, _never, _never)


# JSON

_LONGEST_SHOWN: Final = 80


def shortened(text: str) -> str:
    """A text of the file as far as a message quotes it."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


class _NotJson(ValueError):
    pass


def conflict_in(text: str) -> str:
    """Why a document with this text cannot be written: it has conflict markers (TM012). "" if it has none."""
    if "<<<<<<<" not in text or "ignore-file TM012" in text:
        return ""
    from thunderus_mem.merge.documents import find_conflict

    reason = "contains conflict markers; resolve the conflict, or indent the markers of an example"
    return reason if find_conflict(text) else ""


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `ValueError` with the reason, also for what `json` alone would change:
    half of a surrogate pair, a number beyond those of JSON, a key that is there twice."""
    try:
        # Given bytes, `json` would guess the encoding of each record.
        text = text if isinstance(text, str) else text.decode("utf-8")
        value = json.loads(text, parse_constant=_constant, parse_float=_float, object_pairs_hook=_object)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise ValueError("is not valid UTF-8") from None
    except UnicodeEncodeError:
        raise ValueError("contains half of a surrogate pair, which is no character") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON at character {error.pos + 1}") from None
    except _NotJson:
        raise
    except ValueError:
        raise ValueError("contains an integer with more than 4,300 digits") from None
    return value


def _constant(name: str) -> None:
    raise _NotJson(f"{name} is not a number in JSON")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NotJson(f"{shortened(text)} is too large for a number")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise _NotJson(f"repeats the key {shortened(repeated)!r}")
    return found


def enum(values: Collection[str]) -> Conversion:
    """A string, one of ``values``; any other is kept, and reported by `validate`."""
    return Conversion("one of a list", {"enum": [*values, None]}, _label, _same)


# Kinds and types

TYPE_OF_KIND: Final = {
    "core": "Context",
    "fact": "Learning",
    "adr": "Decision",
    "playbook": "Pattern",
    "recap": "Conversation",
}
_KIND_OF_TYPE: Final = {TYPE_OF_KIND[kind].lower(): kind for kind in ("adr", "playbook", "recap")}
DEFAULT_KIND: Final = "fact"


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


_BY_NAME: Final = {_folded(name): name for name in TYPES}


def snake(name: str) -> str:
    """A type in lower case with underscores: ``CodeEdit`` as ``code_edit``."""
    return "".join(f"_{one.lower()}" if one.isupper() and at else one.lower() for at, one in enumerate(name))


def _kind(value: Any) -> str:
    return _KIND_OF_TYPE.get(_folded(_text(value)), DEFAULT_KIND)


def kinds(write: Callable[[str], str] = _same) -> Conversion:
    """The kind of a document from a type, and the type of a document that has none."""
    return Conversion("kind", {}, _kind, lambda kind: write(TYPE_OF_KIND[kind]))


def types(write: Callable[[str], str], names: Collection[str]) -> Conversion:
    """A type: any spelling of the 13 as ours, any other as it is; written by ``write``."""
    return Conversion(
        "type",
        {"enum": [*names, None]},
        lambda value: _BY_NAME.get(_folded(_text(value)), value) or ABSENT,
        lambda value: write(value) if value in TYPES else value,
    )


TITLE: Final = Conversion("first heading or sentence", {}, lambda value: title_of(_content(value)), _never)
_LONGEST: Final = 80
_HEADING = lazy_pattern(r"#{1,6}[ \t]+(\S.*)")


def title_of(text: str) -> str:
    """The first heading if the text begins with one, else the beginning of its first line; one line."""
    first = text.lstrip()[: _LONGEST * 8].partition("\n")[0].strip()
    heading = _HEADING.fullmatch(first)
    words = " ".join((heading[1].rstrip("# \t") or first if heading else first).split())
    if not words.isprintable():
        words = "".join(one if one.isprintable() else " " for one in words).strip() or "Untitled"
    end = words.find(". ")
    if 0 < end < _LONGEST:
        words = words[:end]
    if len(words) <= _LONGEST:
        return words
    return words[:_LONGEST].rsplit(" ", 1)[0].rstrip(" ,;:-")


# Hashes and ids

NAMESPACE: Final = uuid.UUID("5b0f9a3c-6d1e-5c53-9a70-6f7a4b1f2e77")
"""The namespace of UUIDs made from ids of documents; fixed for ever."""
_SHA256 = lazy_pattern(r"[0-9a-fA-F]{64}", re.ASCII)


def document_uuid(id: str, text: str = "") -> str:
    """The UUID (version 5) of a document; of a record without any id, by its text."""
    return str(uuid.uuid5(NAMESPACE, id or raw_hash(text)))


def raw_hash(text: str) -> str:
    """SHA-256 of the text as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def folded_hash(text: str) -> str:
    """SHA-256 of the text without outer blanks, in lower case."""
    return raw_hash(text.strip().lower())


HASHES: Final = (raw_hash, folded_hash)


def is_sha256(value: Any) -> bool:
    """Whether a value can be a SHA-256 in hex."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


# What a frontmatter can hold


def fits_frontmatter(key: str, value: Any, depth: int = 2) -> bool:
    """Whether a value below ``metadata`` comes back from the frontmatter as it is."""
    if not key or not key.isprintable() or len(key) > 100:
        return False
    if isinstance(value, dict):
        return (
            depth > 0
            and bool(value)
            and all(fits_frontmatter(name, one, depth - 1) for name, one in value.items())
        )
    if isinstance(value, list):
        return depth > 0 and bool(value) and all(_fits_line(one) for one in value)
    return _fits_line(value)


def _fits_line(value: Any) -> bool:
    if isinstance(value, str):
        return value.isprintable() and len(value) < 4_096
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 1 << 63)


def digest_of(record: Mapping[str, Any]) -> str:
    """The digest of a record, as an import of it records it."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
