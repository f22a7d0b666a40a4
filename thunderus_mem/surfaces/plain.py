"""Values as tab-separated records for ``cut`` and ``fzf`` (``--plain``): whole, without colour, one a line.

The fields of a command keep their order; new ones come at the end. What would break a line or steer a
terminal is written as in a Python string: ``\\t``, ``\\n``, ``\\\\``, ``\\x1b``, ``\\u202e``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.unicode import escaped
from thunderus_mem.surfaces.output import field_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FINDING: Final = ("path", "line", "column", "severity", "rule", "message", "hint")
_EVENT: Final = ("id", "ts", "actor", "author", "kind", "op", "doc_ids", "session_id", "why", "text")
_WRITTEN: Final = ("id", "path", "op", "event_id", "changed", "proposed")
_DECISION: Final = ("id", "state", "targets", "approval_id", "event_id", "problem", "hint")
_HOOK: Final = ("hook", "state", "path", "note")

PAIRS: Final = ("", ("name", "value"))
"""A record for each field of the value, its name first; a list gives a record for each item."""

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
        ("id", "path", "line", "kind", "status", "superseded_by", "score", "title", "snippet"),
    ),
    "list": (
        "documents",
        ("id", "kind", "status", "superseded_by", "updated", "created", "tokens", "path", "tags", "title"),
    ),
    "status": PAIRS,
    "log": ("events", _EVENT),
    "why": ("nodes", ("kind", "id", "label")),
    "blame": ("lines", ("number", "source", "exact", "text")),
    "for": (
        "memories",
        (
            "id",
            "how",
            "verdict",
            "place",
            "status",
            "kind",
            "superseded_by",
            "now",
            "path",
            "line",
            "reason",
            "title",
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
    "check": (
        "findings",
        ("doc_id", "path", "line", "place", "verdict", "reason", "now", "file", "hunk", "commit", "subject"),
    ),
    "verify": ("documents", ("id", "path", "status", "changed", "refused")),
    "verify check": ("*", ("id", "path", "written", "status", "reasons")),
    "verify fix_moved": ("moves", ()),
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
"""Command → where its records are in the value ("" the value itself, "*" its items) and their fields.

No fields: the records are single words. The names are those of the JSON output.
"""


def records(command: str, value: Any) -> Iterator[str]:
    """The value of a command in `TABLES`, one record a line, fields separated by tabs."""
    rows = list(_pairs(value) if TABLES[command] is PAIRS else _rows(*TABLES[command], value))
    from thunderus_mem.model.secrets import find_secrets, redacted

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
    """One field: words of a list with commas between, true and false, nothing for what is not there."""
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
