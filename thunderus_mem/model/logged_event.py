"""The events of Thunderus's own log, as ours: one function a type, each giving kind, actor, body and paths.

What an event of the harness shows (files read, plans, checkpoints) is a ``tool_result`` of a tool of that
name. Texts of files and diffs are left out: they are in the repository.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LOGGED_TYPES", "Translated", "translated"]


class Translated(NamedTuple):
    """An event of ours to be: kind, actor, body, and the paths it names."""

    kind: str
    actor: str
    body: dict[str, Any]
    paths: list[str]


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise ValueError(f'"event.{key}" is missing or not text')  # noqa: TRY004
    return value


def _texts(event: Mapping[str, Any], key: str) -> list[str]:
    value = event.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f'"event.{key}" is not a list of texts')
    return value


def _user_message(event: Mapping[str, Any]) -> Translated:
    return Translated("message", "user", {"role": "user", "text": _text(event, "content")}, [])


def _model_message(event: Mapping[str, Any]) -> Translated:
    return Translated("message", "agent", {"role": "assistant", "text": _text(event, "content")}, [])


def _tool_call(event: Mapping[str, Any]) -> Translated:
    body = {"tool": _text(event, "tool"), "arguments": event.get("arguments")}
    return Translated("tool_call", "agent", body, [])


def _tool_result(event: Mapping[str, Any]) -> Translated:
    if not isinstance(event.get("success"), bool):
        raise ValueError('"event.success" is missing or not true or false')  # noqa: TRY004
    body = {"tool": _text(event, "tool"), "success": event["success"], "result": event.get("result")}
    if event.get("error") is not None:
        body["error"] = _text(event, "error")
    return Translated("tool_result", "tool", body, [])


def _shell_command(event: Mapping[str, Any]) -> Translated:
    import shlex

    words = [_text(event, "command"), *map(shlex.quote, _texts(event, "args"))]
    body: dict[str, Any] = {"tool": "shell", "command": " ".join(words)}
    code = event.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        body |= {"exit_code": code, "success": code == 0}
    elif code is not None:
        raise ValueError('"event.exit_code" is not a whole number')
    return Translated("tool_result", "tool", body, [])


def _approval(event: Mapping[str, Any]) -> Translated:
    if not isinstance(event.get("approved"), bool):
        raise ValueError('"event.approved" is missing or not true or false')  # noqa: TRY004
    body = {"tool": "approval", "action": _text(event, "action"), "approved": event["approved"]}
    return Translated("tool_result", "user", body, [])


def _patch(event: Mapping[str, Any]) -> Translated:
    files, status = _texts(event, "files"), _text(event, "status")
    body = {
        "tool": "patch",
        "success": status != "failed",
        "result": {"name": event.get("name"), "status": status},
    }
    return Translated("tool_result", "agent", body, files)


_KEPT: Final = {
    "git-snapshot": ("commit", "branch"),
    "file-read": ("line_count", "offset"),
    "approval-mode-change": ("from", "to"),
    "view-edit": ("view", "change_type"),
    "context-load": ("source", "content_hash"),
    "checkpoint": ("label", "description", "snapshot_id"),
    "plan-update": ("action", "item", "reason"),
    "memory-update": ("kind", "operation", "content_hash"),
}
"""What is kept of an event that only shows what the harness did; its paths are kept as paths."""


def _of_harness(event: Mapping[str, Any]) -> Translated:
    name = event["type"]
    body: dict[str, Any] = {"tool": name, "result": {key: event[key] for key in _KEPT[name] if key in event}}
    if isinstance(event.get("success"), bool):
        body["success"] = event["success"]
    paths = [path for key in ("file_path", "path") if isinstance(path := event.get(key), str)]
    if name == "git-snapshot":
        paths += _texts(event, "changed_files")
    actor = "user" if name in ("view-edit", "approval-mode-change") else "tool"
    return Translated("tool_result", actor, body, paths)


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Translated]]] = {
    "user-message": _user_message,
    "model-message": _model_message,
    "tool-call": _tool_call,
    "tool-result": _tool_result,
    "approval": _approval,
    "patch": _patch,
    "shell-command": _shell_command,
} | dict.fromkeys(_KEPT, _of_harness)

LOGGED_TYPES: Final = tuple(_READERS)
"""The types of Thunderus's log that are read."""


def translated(event: Mapping[str, Any]) -> Translated:
    """An event of Thunderus's log (``{type, …}``, a type of `LOGGED_TYPES`) as one of ours.

    Raises `ValueError` whose text names the key that is missing or of the wrong type.
    """
    return _READERS[event["type"]](event)
