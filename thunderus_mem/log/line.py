"""One line of the log: strict JSON (RFC 8259, I-JSON) and the event in it.

Strict: one object within limits, no duplicate keys, no NaN, no lone surrogates.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.errors import Refused
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 40


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f'duplicate key "{repeated}"')
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return value


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")
    return int(text)


def _check_depth(data: object) -> None:
    level: list[object] = [data]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        if not below:
            return
        level = below
    raise ValueError(f"nested more than {MAX_DEPTH} levels deep")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
)


def parse_object(line: bytes, limit: int) -> dict[str, Any]:
    """Parse one JSON object of at most ``limit`` bytes; raises `ValueError` with the reason."""
    if len(line) > limit:
        raise ValueError(f"{len(line):,} bytes long, at most {limit:,} are allowed")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        raise ValueError(f"not valid JSON ({reason} at column {error.colno})") from None
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        _check_depth(data)
    if b"\\u" in line:
        try:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a string contains a lone surrogate") from None
    return data


VERSION: Final = 1
ACTORS: Final = ("user", "agent", "tool")
KINDS: Final = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")

MAX_LINE: Final = 1 << 20
"""Maximum size of a line in bytes."""

_BASE_KEYS = ("v", "id", "ts", "session_id", "actor", "kind", "refs", "body")
_OWN_KEYS = frozenset((*_BASE_KEYS, "why", "origin", "head", "heads", "prev"))
# Our ids are ULIDs; logs of other programs may contain any visible word.
_EVENT_ID = lazy_pattern(r"evt_[^\s\x00-\x1f]{1,196}")
_SESSION_ID = lazy_pattern(r"sess_[^\s\x00-\x1f]{1,195}")
_KIND = lazy_pattern(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_HASH = lazy_pattern(r"sha256:[0-9a-f]{64}", re.ASCII)
# Characters that could hide text from readers of a diff: written as \uXXXX.
_HIDDEN = lazy_pattern(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


class Event(NamedTuple):
    """One event. ``prev`` is a line hash or ``None``; ``raw`` is the line it was read from.

    ``heads`` are the last line hashes of other shards by session, ``head`` is its form in older logs: one
    hash. ``chained``: the line has the key ``prev``, which may be null. ``origin`` is who and what wrote it
    (author, client, model), ``why`` the reason given, ``extra`` the keys unknown to this version.
    """

    id: str
    ts: str
    session_id: str
    actor: str
    kind: str
    refs: dict[str, Any]
    body: dict[str, Any]
    origin: dict[str, Any]
    extra: dict[str, Any]
    heads: dict[str, str]
    prev: str | None = None
    head: str | None = None
    why: str = ""
    raw: bytes = b""
    chained: bool = True


def line_hash(line: bytes) -> str:
    """Return the hash for the next line's ``prev``: SHA-256 of the line without its line end, LF or CRLF."""
    return "sha256:" + hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


def _escaped(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _refuse_float(value: object) -> None:
    if isinstance(value, float):
        raise ValueError("an event must not contain floating-point numbers; write them as text")  # noqa: TRY004
    if isinstance(value, dict):
        for child in value.values():
            _refuse_float(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            _refuse_float(child)


def _written(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return with_escapes(text).encode("utf-8", "replace")


def with_escapes(text: str) -> str:
    """Escape characters in a JSON text that could hide others as ``\\uXXXX``."""
    return _HIDDEN.sub(_escaped, text)


def encoded_size(value: Any) -> int:
    """Return the size of a value in a line, in bytes."""
    return len(_written(value))


def encode(event: Event) -> bytes:
    """Encode an event as its canonical line, including LF.

    Lone surrogates become ``?``. Raises `ValueError` for a float, or a line longer than `MAX_LINE`.
    """
    data: dict[str, Any] = {
        "v": VERSION,
        "id": event.id,
        "ts": event.ts,
        "session_id": event.session_id,
        "actor": event.actor,
        "kind": event.kind,
        "refs": event.refs,
        "body": event.body,
    }
    if event.why:
        data["why"] = event.why
    if event.origin:
        data["origin"] = event.origin
    if event.head is not None:
        data["head"] = event.head
    if event.heads:
        data["heads"] = dict(sorted(event.heads.items()))
    if event.chained:
        data["prev"] = event.prev
    for key in sorted(event.extra):
        data.setdefault(key, event.extra[key])
    _refuse_float(data)
    line = _written(data) + b"\n"
    if len(line) > MAX_LINE:
        raise ValueError(f"the event is {len(line):,} bytes long, at most {MAX_LINE:,} are allowed")
    return line


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is missing or not a string')  # noqa: TRY004
    return value


def _hash_or_none(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is None or (isinstance(value, str) and _HASH.fullmatch(value)):
        return value
    raise ValueError(f'"{key}" is not a line hash (sha256: and 64 hex digits)')


def _heads(data: Mapping[str, Any]) -> dict[str, str]:
    heads = data.get("heads", {})
    if not isinstance(heads, dict) or not all(map(is_session_id, heads)):
        raise ValueError('"heads" is not an object of session ids')
    for session_id in heads:
        if _hash_or_none(heads, session_id) is None:
            raise ValueError(f'"heads" has no line hash for {session_id}')
    return heads


def is_session_id(text: str) -> bool:
    """Whether a text can be the id of a session (``sess_…``)."""
    return _SESSION_ID.fullmatch(text) is not None


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise ValueError(f'"{key}" is missing or not an object')  # noqa: TRY004
    return value


def _check_names(data: Mapping[str, Any]) -> None:
    version = data.get("v")
    if version is True or not isinstance(version, int) or version < 1:
        raise ValueError('"v" is missing or not a version number')
    if version > VERSION:
        raise ValueError(f"written by a newer version of the format ({version})")
    if not _EVENT_ID.fullmatch(_text(data, "id")):
        raise ValueError('"id" is not an event id (evt_…)')
    if not is_session_id(_text(data, "session_id")):
        raise ValueError('"session_id" is not a session id (sess_…)')
    if parse_timestamp(_text(data, "ts")) is None:
        raise ValueError('"ts" is not an RFC 3339 time')
    if _text(data, "actor") not in ACTORS:
        raise ValueError(f'"actor" must be one of {", ".join(ACTORS)}')
    if not _KIND.fullmatch(_text(data, "kind")):
        raise ValueError('"kind" is not a word')


def decode(line: bytes) -> Event:
    """Decode one line, with or without its line end.

    Unknown kinds are accepted, because later versions may add some. Raises `ValueError` with the reason for
    anything else that is not an event within the limits.
    """
    raw = line.rstrip(b"\r\n")
    data = parse_object(raw, MAX_LINE)
    _check_names(data)
    origin = data.get("origin")
    why = data.get("why")
    return Event(
        id=data["id"],
        ts=data["ts"],
        session_id=data["session_id"],
        actor=data["actor"],
        kind=data["kind"],
        refs=_table(data, "refs"),
        body=_table(data, "body"),
        prev=_hash_or_none(data, "prev"),
        head=_hash_or_none(data, "head"),
        origin=origin if isinstance(origin, dict) else {},
        why=why if isinstance(why, str) else "",
        raw=raw,
        extra={key: value for key, value in data.items() if key not in _OWN_KEYS},
        heads=_heads(data),
        chained="prev" in data,
    )


def secret_in(value: Any, key: str = "") -> tuple[str, str] | None:
    """Return the dotted key and the kind of the first secret in a JSON value, or ``None``."""
    from thunderus_mem.safety.secrets import find_secrets, find_under

    if isinstance(value, str):
        name = key.rpartition(".")[2].partition("[")[0]
        return next(((key, secret.kind) for secret in find_under(name, value)[:1]), None)
    if isinstance(value, dict):
        for name, item in value.items():
            if secrets := find_secrets(str(name)):
                return f"{key}.*".lstrip("."), secrets[0].kind
            if found := secret_in(item, f"{key}.{name}".lstrip(".")):
                return found
    if isinstance(value, (list, tuple)):
        return next(
            (found for at, item in enumerate(value) if (found := secret_in(item, f"{key}[{at}]"))), None
        )
    return None


def refuse_secrets(event: Event) -> None:
    """Raise `Refused` if any text of the event contains a secret."""
    from thunderus_mem.safety.secrets import find_secrets

    for place, value in (("the reason", event.why), ("the event", [event.body, event.refs])):
        # A large event repeats ids and paths, and its hashes are long.
        for text in dict.fromkeys(one for one in _texts(value) if not _HASH.fullmatch(one)):
            for secret in find_secrets(text)[:1]:
                raise Refused(
                    f"{place} contains a possible secret ({secret.kind}); nothing was written",
                    hint="describe where the secret is stored instead",
                )


def _texts(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value except diffs: their documents are checked as a whole."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "diff":
                yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
