"""Write events in the format of Thunderus's log: the inverse of what `events` reads. Pure.

Reading converts what has a meaning here. The rest of an event is kept as JSON text under ``thunderus`` in the
body, so that it can be written back unchanged: fields with other values than those of `FIELDS`, and missing
ones.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

REST: Final = "thunderus"
PATHS, PATH, NOTHING, NO_ITEMS = "(paths)", "(path)", "(null)", "(empty list)"

FIELDS: Final[dict[str, dict[str, str]]] = {
    "user-message": {"content": "text"},
    "model-message": {"content": "text", "tokens_used": NOTHING},
    "tool-call": {"tool": "tool", "arguments": "arguments"},
    "tool-result": {"tool": "tool", "result": "result", "success": "success", "error": "error"},
    "approval": {"action": "action", "approved": "approved"},
    "patch": {"name": "name", "status": "status", "files": PATHS, "diff": "diff"},
    "shell-command": {
        "command": "command",
        "args": NO_ITEMS,
        "working_dir": NOTHING,
        "exit_code": "exit_code",
        "output_ref": NOTHING,
    },
    "git-snapshot": {"commit": "commit", "branch": "branch", "changed_files": "changed_files"},
    "file-read": {
        "file_path": PATH,
        "line_count": "result.line_count",
        "offset": "result.offset",
        "success": "success",
    },
    "approval-mode-change": {"from": "result.from", "to": "result.to"},
    "view-edit": {
        "view": "result.view",
        "change_type": "result.change_type",
        "content": NOTHING,
        "seq_refs": NO_ITEMS,
    },
    "context-load": {"source": "result.source", "path": PATH, "content_hash": "result.content_hash"},
    "checkpoint": {"label": "label", "description": "description", "snapshot_id": "snapshot_id"},
    "plan-update": {"action": "result.action", "item": "result.item", "reason": "result.reason"},
    "memory-update": {
        "kind": "result.kind",
        "path": PATH,
        "operation": "result.operation",
        "content_hash": "result.content_hash",
    },
}
"""The fields of each type of event, in their order, and where their values are in an event of ours: a key of
the body, the paths it refers to, or nowhere."""


def rest_of(theirs: Mapping[str, Any], body: Mapping[str, Any], paths: list[str]) -> str:
    """What an event as read does not say, as JSON text; "" for nothing."""
    plain = _plain(str(theirs["type"]), body, paths)
    changed = {
        key: value for key, value in theirs.items() if key not in plain or not _same(plain[key], value)
    }
    absent = [key for key in plain if key not in theirs]
    rest = {**({"set": changed} if changed else {}), **({"absent": absent} if absent else {})}
    return json.dumps(rest, ensure_ascii=False) if rest else ""


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def event_of(type: str, body: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    """The event as it was in Thunderus's log."""
    event = _plain(type, body, paths)
    try:
        rest = json.loads(body[REST]) if isinstance(body.get(REST), str) else {}
    except ValueError:
        rest = {}
    for key in rest.get("absent", ()):
        event.pop(key, None)
    return {**event, **rest.get("set", {})}


def _plain(type: str, body: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    fields = FIELDS.get(type)
    if fields is None:
        return {"type": type, **{key: value for key, value in body.items() if key != REST}}
    return {"type": type, **{key: _value(where, body, paths) for key, where in fields.items()}}


def _value(where: str, body: Mapping[str, Any], paths: list[str]) -> Any:
    if where in (PATHS, PATH):
        return paths if where == PATHS else next(iter(paths), None)
    if where in (NOTHING, NO_ITEMS):
        return [] if where == NO_ITEMS else None
    value: Any = body
    for part in where.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
