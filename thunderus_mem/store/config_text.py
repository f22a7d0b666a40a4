"""Configuration as text: the files ``init`` writes and the JSON Schemas editors check them with."""

from __future__ import annotations

from typing import Any

from thunderus_mem.store.config import Config
from thunderus_mem.store.config_key import CONFIG, GARDENER, Key, expectation
from thunderus_mem.store.config_keys import KEYS, SECTIONS


def toml_value(value: Any) -> str:
    """One value as TOML text."""
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if hasattr(value, "items"):
        inner = ", ".join(f"{_toml_key(name)} = {toml_value(item)}" for name, item in sorted(value.items()))
        return "{ " + inner + " }" if inner else "{}"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else toml_value(name)


def default_config_toml() -> str:
    """The ``config.toml`` that ``init`` writes: every key explained, each commented out at its default."""
    return _default_file(CONFIG, "Settings of this repository's memory.")


def default_gardener_toml() -> str:
    """The ``gardener.toml`` that ``init`` writes."""
    return _default_file(GARDENER, "Rules the gardener keeps: sizes, duplicates, recaps, archive, tags.")


def _default_file(name: str, title: str) -> str:
    lines = [
        f"# {title}",
        "# Every key is optional; a line that begins with # shows the default.",
        "# To change a value, remove the # before its key.",
    ]
    section = ""
    for key in (key for key in KEYS if key.file == name):
        head, _, rest = key.name.partition(".")
        if head != section:
            section = head
            lines += ["", f"# {SECTIONS[head]}", f"[{head}]"]
        lines += ["", *_comment(key.explanation), f"# ({expectation(key)}; {key.variable})"]
        lines.append(f"#{rest} = {toml_value(getattr(Config(), key.field))}")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    import textwrap

    return [f"# {line}" for line in textwrap.wrap(text, 100)]


def config_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``config.toml`` or ``gardener.toml``, for editors."""
    sections: dict[str, Any] = {}
    for key in (key for key in KEYS if key.file == name):
        head, _, rest = key.name.partition(".")
        section = sections.setdefault(
            head, {"type": "object", "description": SECTIONS[head], "additionalProperties": False}
        )
        section.setdefault("properties", {})[rest] = _key_schema(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:thunderus-mem:schema:{name.removesuffix('.toml')}:1",
        "title": f"thunderus-mem {name}",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
    }


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "items") else value


def _key_schema(key: Key) -> dict[str, Any]:
    default = getattr(Config(), key.field)
    schema: dict[str, Any] = {
        "description": key.explanation,
        "default": _as_json(default),
    }
    names = {"bool": "boolean", "int": "integer", "float": "number", "list": "array"}
    names |= {"table": "object", "tables": "object", "caps": "array"}
    schema["type"] = names.get(key.type, "string")
    if key.minimum is not None:
        schema["minimum"] = key.minimum
    if key.maximum is not None:
        schema["maximum"] = key.maximum
    text: dict[str, Any] = {"type": "string"} | ({"enum": list(key.choices)} if key.choices else {})
    if key.type == "list":
        schema["items"] = text
    elif key.type == "caps":
        # As the reader takes it: any blanks around both, and no number that is 0.
        pattern = rf"^\s*({'|'.join(key.choices)})\s*=\s*(?!0+\s*$)[0-9]{{1,9}}\s*$"
        schema["items"] = {"type": "string", "pattern": pattern}
    elif key.type == "table":
        schema["additionalProperties"] = text
    elif key.type == "tables":
        schema["additionalProperties"] = {"type": "object", "additionalProperties": text}
    elif key.choices:
        schema["enum"] = list(key.choices)
    return schema
