"""Values as JSON: one envelope for every command, made from the value's own fields.

``{"schema": "thunderus-mem.<command>/<version>", …fields}``: keys sorted, one document, a newline at the end.
Adding a field keeps the version; removing or changing one raises it (``VERSIONS``).
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from thunderus_mem.model.errors import ThunderusError

VERSIONS: Final[dict[str, int]] = {"why": 2}
"""Commands whose shape has changed incompatibly since the first release: name → version."""

# A JSON text must not steer a terminal either; \u escapes keep its value.
_UNSAFE = re.compile(
    "[\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


def schema_name(command: str) -> str:
    """The name and version of a command's shape: ``thunderus-mem.index-status/1``."""
    name = command.replace(" ", "-")
    return f"thunderus-mem.{name}/{VERSIONS.get(name, 1)}"


def plain(value: Any) -> Any:
    """A value as JSON has it: values with fields as objects, tuples and sets as arrays, times as RFC 3339."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    names = field_names(value)
    if names is not None:
        # A last underscore keeps a field's name apart from a word of Python: from_.
        return {name.removesuffix("_"): plain(getattr(value, name)) for name in names if _told(name, value)}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, datetime):
        from thunderus_mem.model.timestamp import format_timestamp

        return format_timestamp(value)
    if isinstance(value, date):
        return value.isoformat()
    return [plain(item) for item in value]


def field_names(value: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass or a named tuple, value or type; ``None`` for anything else."""
    if is_dataclass(value):
        return tuple(item.name for item in fields(value))
    found: tuple[str, ...] | None = getattr(value, "_fields", None)
    return found


def _told(name: str, value: Any) -> bool:
    return not name.startswith("_") and not isinstance(getattr(value, name), (bytes, bytearray))


def dumps(value: Any, *, whole: bool = False) -> str:
    """JSON text with sorted keys, two spaces deep, safe to print on a terminal, and without the value of any
    secret unless ``whole``."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2)
    if not whole:
        from thunderus_mem.model.secrets import find_secrets, redacted_data

        if find_secrets(_ESCAPES.sub(" ", text)):
            text = json.dumps(redacted_data(value), ensure_ascii=False, sort_keys=True, indent=2)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if ord(found[0]) != 0x7F else "\\u007f"


def envelope(command: str, value: Any) -> str:
    """The JSON document of a command: its schema name and the value's fields."""
    content = plain(value)
    if not isinstance(content, dict):
        content = {"items": content}
    # Whoever asks for a document gets its text as it is.
    return dumps({**content, "schema": schema_name(command)}, whole=command == "show")


def failure_envelope(error: ThunderusError, code: int) -> str:
    """The JSON document of a failure, for stderr."""
    content = {
        "code": code,
        "diagnostics": plain(getattr(error, "diagnostics", ())),
        "error": type(error).__name__,
        "hint": error.hint,
        "message": str(error),
        "schema": schema_name("error"),
    }
    return dumps(content)
