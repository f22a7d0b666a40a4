"""Strict JSON: one object within limits, no repeated key, no NaN, no half characters (RFC 8259, I-JSON)."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["MAX_DEPTH", "parse_object"]

MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 40


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f'the key "{repeated}" stands twice')
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
    raise ValueError(f"values are nested more than {MAX_DEPTH} deep")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
)


def parse_object(line: bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object of at most ``limit`` bytes; raises `ValueError` whose text is the reason."""
    if len(line) > limit:
        raise ValueError(f"{len(line):,} bytes long; {limit:,} are allowed")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError(f"values are nested more than {MAX_DEPTH} deep") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        _check_depth(data)
    if b"\\u" in line:
        try:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a text holds half a character (a lone surrogate)") from None
    return data
