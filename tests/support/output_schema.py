"""JSON output as its readers have it: checked against the shipped schema, with omitted fields filled in."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).resolve().parents[2] / "thunderus_mem" / "cli" / "output.v2.schema.json"


@cache
def definitions() -> dict[str, Any]:
    """The definitions of the shipped schema; here they allow no field that they do not have."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for one in found.values():
        one["additionalProperties"] = False
    return found


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions()})


def read_output(text: str) -> Any:
    """Parse the output of a command. Fails if its schema does not allow it.

    Omitted fields have their default; fields that are there on request only stay missing.
    """
    value = json.loads(text)
    program, _, rest = value.get("schema", "").partition(".") if isinstance(value, dict) else ("", "", "")
    if program != "thunderus-mem" or not rest.endswith("/2"):
        return value
    name = rest.removesuffix("/2")
    for problem in _validator(name).iter_errors(value):
        path = "/".join(map(str, problem.absolute_path))
        raise AssertionError(f"{name}: {path}: {problem.message[:500]}")
    return _filled(value, {"$ref": f"#/$defs/{name}"})


def _filled(value: Any, schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        schema = definitions()[schema["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_filled(item, schema["items"]) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    absent = {name: one["default"] for name, one in schema["properties"].items() if "default" in one}
    return absent | {name: _filled(item, schema["properties"][name]) for name, item in value.items()}
