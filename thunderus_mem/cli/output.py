"""Machine-readable output: a JSON envelope for every command, made from the fields of its value, and records.

``{"schema": "thunderus-mem.<command>/<version>", …fields}``: one document with sorted keys and a newline at
the end. Adding a field keeps the version; removing or changing one increments it (``VERSIONS``).
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.unicode import escaped
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from thunderus_mem.errors import ThunderusError

VERSIONS: Final[dict[str, int]] = {"why": 2}
"""Commands whose output has changed incompatibly since the first release: name → version."""

# JSON must not contain terminal controls either; \u escapes keep its value.
_UNSAFE = lazy_pattern(
    "[\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_ESCAPES = lazy_pattern(r"\\(?:u[0-9a-fA-F]{4}|.)")


def schema_name(command: str) -> str:
    """Return the schema name of a command's output: ``thunderus-mem.index-status/1``."""
    name = command.replace(" ", "-")
    return f"thunderus-mem.{name}/{VERSIONS.get(name, 1)}"


def plain(value: Any) -> Any:
    """Convert a value to JSON types: dataclasses to objects, tuples and sets to arrays, times to RFC 3339."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    names = field_names(value)
    if names is not None:
        # A trailing underscore keeps a field apart from a Python keyword: from_.
        return {
            name.removesuffix("_"): plain(getattr(value, name)) for name in names if _is_public(name, value)
        }
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, datetime):
        from thunderus_mem.document.timestamp import format_timestamp

        return format_timestamp(value)
    if isinstance(value, date):
        return value.isoformat()
    return [plain(item) for item in value]


def field_names(value: Any) -> tuple[str, ...] | None:
    """Return the fields of a dataclass or named tuple (value or type); ``None`` for anything else."""
    if is_dataclass(value):
        return tuple(item.name for item in fields(value))
    found: tuple[str, ...] | None = getattr(value, "_fields", None)
    return found


def _is_public(name: str, value: Any) -> bool:
    return not name.startswith("_") and not isinstance(getattr(value, name), (bytes, bytearray))


def dumps(value: Any, *, whole: bool = False, indent: int | None = 2) -> str:
    """Return JSON with sorted keys, on one line without ``indent``, safe to print on a terminal.

    Secrets are redacted unless ``whole``.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=indent)
    if not whole:
        from thunderus_mem.document.secrets import find_secrets, redacted_data

        if find_secrets(_ESCAPES.sub(" ", text)):
            text = json.dumps(redacted_data(value), ensure_ascii=False, sort_keys=True, indent=indent)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if ord(found[0]) != 0x7F else "\\u007f"


def envelope(command: str, value: Any) -> str:
    """Return the JSON document of a command: its schema name and the value's fields."""
    content = plain(value)
    if not isinstance(content, dict):
        content = {"items": content}
    # `show` prints the text of a document unchanged; `watch` prints many documents, one a line.
    lines = None if command == "watch" else 2
    return dumps({**content, "schema": schema_name(command)}, whole=command == "show", indent=lines)


def failure_envelope(error: ThunderusError, code: int) -> str:
    """Return the JSON document of an error, for stderr."""
    content = {
        "code": code,
        "diagnostics": plain(error.diagnostics),
        "error": error.code,
        "hint": error.hint,
        "message": str(error),
        "schema": schema_name("error"),
    }
    return dumps(content)


_FINDING: Final = ("path", "line", "column", "severity", "rule", "message", "hint")
_EVENT: Final = ("id", "ts", "actor", "author", "kind", "op", "doc_ids", "session_id", "why", "text")
_WRITTEN: Final = ("id", "path", "op", "event_id", "changed", "proposed")
_DECISION: Final = ("id", "state", "targets", "approval_id", "event_id", "problem", "hint")
_HOOK: Final = ("hook", "state", "path", "note")

PAIRS: Final = ("", ("name", "value"))
"""One record per field of the value, its name first; a list gives one record per item."""

TABLES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "add": ("", _WRITTEN),
    "edit": ("", _WRITTEN),
    "link": ("", _WRITTEN),
    "note": ("", ("event_id",)),
    "remove": ("", _WRITTEN),
    "supersede": ("", _WRITTEN),
    "recap": ("", _WRITTEN),
    "search": (
        "hits",
        (
            "id",
            "path",
            "line",
            "kind",
            "verdict",
            "superseded_by",
            "score",
            "title",
            "snippet",
            "injection",
            "state",
        ),
    ),
    "list": (
        "documents",
        (
            *("id", "kind", "verdict", "superseded_by", "updated", "created", "tokens", "path", "tags"),
            *("title", "state"),
        ),
    ),
    "status": PAIRS,
    "log": ("events", _EVENT),
    "why": ("nodes", ("kind", "id", "label")),
    "blame": ("lines", ("number", "source", "exact", "text")),
    "for": (
        "memories",
        (
            *("id", "how", "verdict", "place", "status", "kind"),
            *("superseded_by", "now", "path", "line", "reason", "title", "state"),
        ),
    ),
    "coverage": ("folders", ("path", "files", "anchored", "anchors", "stale", "by_pattern")),
    "events replay": ("documents", ("state", "id", "path", "reached", "found")),
    "undo": ("events", ("id", "ts", "op", "author", "undo_id", "why")),
    "record": ("recorded", ()),
    "events add": ("added", ()),
    "events list": ("events", _EVENT),
    "events verify": ("diagnostics", _FINDING),
    "lint": ("diagnostics", _FINDING),
    "anchor": ("anchors", ()),
    "anchor suggest": ("proposals", ("place", "line", "weak", "reason")),
    "anchor suggest_all": ("proposals", ("id", "place", "line", "weak", "reason")),
    "check": (
        "findings",
        ("doc_id", "path", "line", "place", "verdict", "reason", "now", "file", "hunk", "commit", "subject"),
    ),
    "verify": ("documents", ("id", "path", "status", "changed", "refused")),
    "verify check": ("*", ("id", "path", "written", "status", "reasons")),
    "verify fix_moved": ("moves", ()),
    "verify restamp": ("anchors", ("id", "place", "reason")),
    "rule": ("*", ("code", "name", "severity", "summary")),
    "schema list": ("names", ()),
    "schema update": ("written", ()),
    "doctor": ("checks", ("state", "name", "message", "hint", "command", "lost", "affects")),
    "doctor fix": ("steps", ("state", "action", "path", "kept", "back", "problem")),
    "init": PAIRS,
    "config show": ("settings", ("key", "value", "origin", "file", "variable")),
    "index status": PAIRS,
    "index refresh": PAIRS,
    "index rebuild": PAIRS,
    "manifest": PAIRS,
    "archive": ("documents", ("id", "path", "old_path")),
    "unarchive": ("documents", ("id", "path", "old_path")),
    "garden": ("steps", ("action", "targets", "why", "rule", "reach", "label", "key")),
    "garden apply": ("steps", ("action", "targets", "why", "event_id")),
    "garden propose": ("proposals", ("id", "action", "targets", "why", "label")),
    "garden undo": ("events", ("id", "ts", "op", "author", "undo_id", "why")),
    "patch list": (
        "proposals",
        (
            *("id", "created", "age_days", "expired", "author"),
            *("action", "rule", "label", "targets", "why", "more_targets"),
        ),
    ),
    "patch show": ("changes", ("path", "doc_id", "op", "diff")),
    "patch approve": ("decisions", _DECISION),
    "patch reject": ("decisions", _DECISION),
    "patch rebase": ("proposals", ("id", "state", "problem")),
    "patch expire": ("decisions", _DECISION),
    "restore": ("events", ("id", "ts", "op", "author", "undo_id", "why")),
    "restore listed": (
        "snapshots",
        ("id", "ts", "author", "command", "steps", "taken_back", "documents", "here"),
    ),
    "import markdown": ("files", ("source", "imported", "id", "path", "title", "reason", "notes")),
    "hooks install": ("", _HOOK),
    "hooks uninstall": ("", _HOOK),
    "hooks status": ("", _HOOK),
    "hooks run": ("diagnostics", _FINDING),
    "watch": PAIRS,
}
"""Command → location of its records in the value ("" the value itself, "*" its items), and their fields.

Without fields the records are single words. The names are those of the JSON output.
"""


def records(command: str, value: Any) -> Iterator[str]:
    """Format the value of a command in `TABLES`: one record per line, fields separated by tabs."""
    rows = list(_pairs(value) if TABLES[command] is PAIRS else _rows(*TABLES[command], value))
    from thunderus_mem.document.secrets import find_secrets, redacted

    if find_secrets("\n".join("\t".join(row) for row in rows)):
        rows = [[redacted(field) for field in row] for row in rows]
    return ("\t".join(map(escaped, row)) for row in rows)


def _rows(of: str, fields: tuple[str, ...], value: Any) -> Iterator[list[str]]:
    if of == "*":
        items = value if field_names(value) is None else [value]
    else:
        items = getattr(value, of) if of else [value]
    for item in items:
        yield [_text(getattr(item, name)) for name in fields] if fields else [_text(item)]


def _pairs(value: Any) -> Iterator[list[str]]:
    names = field_names(value)
    pairs = value.items() if names is None else ((name, getattr(value, name)) for name in names)
    for name, item in pairs:
        if isinstance(item, dict):
            yield from ([f"{name}.{key}", _text(inner)] for key, inner in item.items())
        elif isinstance(item, (tuple, list)):
            yield from ([name, _text(inner)] for inner in item)
        else:
            yield [name, _text(item)]


def _text(item: Any) -> str:
    """Format one field: lists with commas, booleans as true and false, ``None`` as an empty text."""
    if item is None:
        return ""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, tuple) and field_names(item) is None:
        return ",".join(map(_text, item))
    names = field_names(item)
    if names is not None:
        return " ".join(filter(None, (_text(getattr(item, name)) for name in names)))
    return str(item)
