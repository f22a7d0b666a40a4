"""Machine-readable output: a JSON envelope for every command, made from the fields of its value.

``{"schema": "thunderus-mem.<command>/2", …fields}``: one document with sorted keys, on one line, with a
newline at the end. A field with an empty value (null, "", false, [] or {}) is omitted, except arrays of the
envelope, which are the answer.
``output.v2.schema.json`` describes it; `make docs` generates that file from the types of the values.
"""

from __future__ import annotations

import json
import os
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.unicode import token_count
from thunderus_mem.errors import ThunderusError
from thunderus_mem.safety.secret_signs import may_contain_secret
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

VERSION: Final = 2
"""Version of all outputs. Adding a field keeps it; removing or changing one increments it."""

OUTPUT: Final = f"output.v{VERSION}"
"""The name of the schema of all outputs."""

OMITTED: Final[Mapping[str, tuple[str, ...]]] = {
    "AnchorState": ("line",),
    "Governing": ("status",),
    "Hit": ("status",),
    "ListedDocument": ("path", "tags", "created", "updated", "status", "tokens"),
    "SearchResult": ("query", "generation"),
    "Shown": ("created", "status"),
    "Step": ("edits", "texts", "private"),
    "Unanchored": ("kind", "next_step"),
    "Weak": ("next_step",),
    "WhyNode": ("before", "after"),
}
"""Type → fields that are not in its JSON: another field or command has them."""

DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "CodeFinding": ("diff",),
    "CodeThen": ("then", "now"),
    "Hit": ("line", "marks", "path"),
    "MigratedFile": ("diff",),
    "PlannedStep": ("evidence",),
    "Shown": ("text",),
    "UndoneDocument": ("diff",),
    "Written": ("text",),
}
"""Type → fields that are in its JSON only on request (``-p``, ``--explain``) or in a dry run."""

ONE_DOCUMENT: Final = "show"
"""The command whose answer is a document: its text is printed unchanged, and no list is the answer."""

_ALWAYS: Final = "value"
"""The field of `Setting` that may have any type; never omitted, as its value could not be inferred."""

# JSON must not contain terminal controls either; \u escapes keep its value.
_UNSAFE = lazy_pattern(
    "[\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def schema_name(command: str) -> str:
    """Return the schema name of a command's output: ``thunderus-mem.index-status/2``."""
    return f"thunderus-mem.{command.replace(' ', '-').replace('_', '-')}/{VERSION}"


def output_schema() -> str:
    """Return the JSON Schema of all outputs."""
    with open(os.path.join(os.path.dirname(__file__), f"{OUTPUT}.schema.json"), encoding="utf-8") as file:
        return file.read()


def plain(value: Any, *, details: bool = True) -> Any:
    """Convert a value to JSON types: its fields to an object, tuples and sets to arrays, times to RFC 3339.

    Fields with an empty value are omitted, those in `DETAILS` too unless ``details``.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    names = field_names(value)
    if names is not None:
        found = _fields(value, names, details)
        return {name: item for name, item in found.items() if name == _ALWAYS or not is_empty(item)}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item, details=details) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, datetime):
        from thunderus_mem.document.timestamp import format_timestamp

        return format_timestamp(value)
    if isinstance(value, date):
        return value.isoformat()
    return [plain(item, details=details) for item in value]


def _fields(value: Any, names: tuple[str, ...], details: bool) -> dict[str, Any]:
    kind = type(value).__name__
    hidden = OMITTED.get(kind, ()) + (() if details else DETAILS.get(kind, ()))
    # A trailing underscore keeps a field apart from a Python keyword: from_.
    return {
        name.removesuffix("_"): plain(getattr(value, name), details=details)
        for name in names
        if name not in hidden and _is_public(name, value)
    }


def field_names(value: Any) -> tuple[str, ...] | None:
    """Return the fields of a dataclass or named tuple (value or type); ``None`` for anything else."""
    found: tuple[str, ...] | None = getattr(value, "_fields", None)
    if found is None and (fields := getattr(value, "__dataclass_fields__", None)) is not None:
        return tuple(fields)
    return found


def _is_public(name: str, value: Any) -> bool:
    return not name.startswith("_") and not isinstance(getattr(value, name), (bytes, bytearray))


def is_empty(item: Any) -> bool:
    """Whether a field with this JSON value is omitted; numbers never are."""
    return item is None or item is False or (isinstance(item, (str, list, dict)) and not item)


def dumps(value: Any, *, whole: bool = False, indent: int | None = None) -> str:
    """Return JSON with sorted keys, on one line without ``indent``, safe to print on a terminal.

    Secrets are redacted unless ``whole``.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=indent, separators=separators)
    if not whole and may_contain_secret("\n".join(_strings(value))):
        from thunderus_mem.safety.secrets import find_secrets, redacted_data

        if any(find_secrets(one) for one in _strings(value) if may_contain_secret(one)):
            return dumps(redacted_data(value), whole=True, indent=indent)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escape, text)


def _strings(value: Any, name: str = "") -> Iterator[str]:
    """The keys and strings of a JSON value, each string after its key as `redacted_data` reads them."""
    if isinstance(value, str):
        yield f"{name}\n{value}" if "\n" in value else f"{name}: {value}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, name)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if ord(found[0]) != 0x7F else "\\u007f"


def envelope(
    command: str, value: Any, *, details: bool = False, more: int = 0, indent: int | None = None
) -> str:
    """Return the JSON document of a command: its schema name and the value's fields.

    ``details`` adds the fields in `DETAILS`; a dry run always has them. ``more`` is the number of items that
    were cut.
    """
    details = details or getattr(value, "dry_run", False)
    names = field_names(value)
    content = plain(value, details=details) if names is None else _fields(value, names, details)
    if not isinstance(content, dict):
        content = {"items": content}
    elif names is not None:
        content = {
            name: item
            for name, item in content.items()
            if not is_empty(item) or (item == [] and command != ONE_DOCUMENT)
        }
    if more:
        content["more"] = more
    return dumps({**content, "schema": schema_name(command)}, whole=command == ONE_DOCUMENT, indent=indent)


def failure_envelope(error: ThunderusError, code: int, *, indent: int | None = None) -> str:
    """Return the JSON document of an error, for stderr."""
    content = {
        "code": code,
        "diagnostics": plain(error.diagnostics),
        "error": error.code,
        "hint": error.hint or "",
        "message": str(error),
        "schema": schema_name("error"),
    }
    return dumps({name: item for name, item in content.items() if not is_empty(item)}, indent=indent)


# ``--budget``: the first items of a list are kept; of several lists, the later ones are cut first.

LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "check": ("findings", "unknown"),
    "context": ("items",),
    "coverage": ("folders", "unanchored", "weak"),
    "for": ("documents",),
    "lint": ("diagnostics", "obsolete"),
    "list": ("documents",),
    "log": ("events",),
    "search": ("hits", "closest"),
    "search events": ("hits",),
}
"""Command → the fields of its value that are cut, the most important first."""


def within_budget(command: str, value: Any, budget: int, printed: Callable[[Any, int], str]) -> str:
    """Return what ``printed`` makes of the value with as many items as the budget allows.

    ``printed`` takes the cut value and the number of items left out. Raises `ThunderusError` if the budget is
    too small even without any item.
    """
    lists = LISTS.get(command, ())
    total = sum(len(getattr(value, name)) for name in lists)
    least, most, best = 0, total, ""
    text = printed(value, 0)
    if token_count(text) <= budget:
        return text
    while least < most:
        kept = (least + most) // 2
        text = printed(_cut(value, lists, kept), total - kept)
        if token_count(text) <= budget:
            least, best = kept + 1, text
        else:
            most = kept
    if not best:
        raise ThunderusError(f"--budget {budget} is too small", hint=f"use at least {token_count(text)}")
    return best


def _cut(value: Any, lists: tuple[str, ...], kept: int) -> Any:
    """Return the value with the first ``kept`` items of its lists together."""
    parts = {}
    for name in lists:
        parts[name] = getattr(value, name)[:kept]
        kept -= len(parts[name])
    if hasattr(value, "_replace"):
        return value._replace(**parts)
    from dataclasses import replace

    return replace(value, **parts)
