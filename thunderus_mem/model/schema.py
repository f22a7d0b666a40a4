"""The JSON Schemas of documents, manifest, events and proposals: a quick yes, else jsonschema.

The schema files are JSON Schema 2020-12 (json-schema.org/draft/2020-12). `surely_valid` accepts only what
jsonschema accepts too, so that linting an ordinary document never imports it.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.accept import surely_valid, surely_valid_event, surely_valid_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

__all__ = [
    "DOCUMENT",
    "EVENT",
    "MANIFEST",
    "PROPOSAL",
    "SCHEMA_FOLDER",
    "SCHEMA_NAMES",
    "Violation",
    "check",
    "load_schema",
    "schema_text",
    "surely_valid",
    "surely_valid_event",
    "surely_valid_manifest",
]

SCHEMA_NAMES: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1", "patch.v1")
SCHEMA_FOLDER: Final = os.path.join(os.path.dirname(__file__), "schemas")

DOCUMENT: Final = SCHEMA_NAMES[0]
MANIFEST: Final = SCHEMA_NAMES[1]
EVENT: Final = SCHEMA_NAMES[2]
PROPOSAL: Final = SCHEMA_NAMES[3]

_SHOWN = 60
_HUGE = 10**300


class Violation(NamedTuple):
    """One place where data breaks its schema.

    ``key`` is the dotted path, ``path`` the same as its steps (ending in the missing key when ``kind`` is
    ``required``); ``kind`` is the keyword of JSON Schema that failed.
    """

    key: str
    message: str
    expected: str
    path: tuple[str | int, ...] = ()
    kind: str = ""


def schema_text(name: str) -> str:
    """The bytes of a packaged schema as text; ``name`` is one of `SCHEMA_NAMES`. Raises `KeyError` else."""
    if name not in SCHEMA_NAMES:
        raise KeyError(name)
    with open(os.path.join(SCHEMA_FOLDER, f"{name}.schema.json"), encoding="utf-8", newline="") as file:
        return file.read()


def load_schema(name: str) -> dict[str, Any]:
    """A packaged schema as data; ``name`` is one of `SCHEMA_NAMES`. Raises `KeyError` for another name."""
    import json

    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def _formats(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("format"), str):
            yield schema["format"]
        for value in schema.values():
            yield from _formats(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _formats(value)


@lru_cache(maxsize=len(SCHEMA_NAMES))
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, FormatChecker

    schema = load_schema(name)
    checker = FormatChecker()
    unknown = sorted(set(_formats(schema)) - checker.checkers.keys())
    if unknown:
        raise RuntimeError(f"No checker for the format {', '.join(unknown)}; install rfc3339-validator.")
    return Draft202012Validator(schema, format_checker=checker)


_TYPE_WORDS = {
    "string": "text",
    "array": "a list",
    "object": "a mapping",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _is_now(value: Any) -> str:
    if value is None:
        return "empty"
    for kind, words in ((bool, "true or false"), (str, "text"), (list, "a list"), (dict, "a mapping")):
        if isinstance(value, kind):
            return words
    return "a number"


def _shown(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > 1e15:
        return "a very large number"
    text = str(value)
    return f"“{text[:_SHOWN]}…”" if len(text) > _SHOWN else f"“{text}”"


def _type_words(types: Any) -> str:
    return " or ".join(_TYPE_WORDS[word] for word in ([types] if isinstance(types, str) else types))


def _in_words(error: ValidationError, key: str) -> tuple[str, str]:
    """What is, and what should be, in words; the library's own messages show values of any length."""
    name = f"`{key}`" if key else "The whole"
    want: Any = error.validator_value
    value: Any = error.instance
    match str(error.validator):
        case "type":
            return f"{name} is {_is_now(value)}.", _type_words(want)
        case "enum":
            return f"{name} is {_shown(value)}.", "one of " + ", ".join(map(str, want))
        case "const":
            return f"{name} is {_shown(value)}.", str(want)
        case "format":
            return f"{name} is {_shown(value)}.", "an RFC 3339 time such as 2026-01-21T09:00:00Z"
        case "minItems":
            return f"{name} is an empty list.", f"at least {want} entry" if want == 1 else f"{want} entries"
        case "uniqueItems":
            return f"{name} names something twice.", "each entry once"
        case "minLength":
            return f"{name} is empty.", "text"
        case "maxLength":
            return f"{name} is {len(value)} characters long.", f"at most {want} characters"
        case "pattern":
            return f"{name} is {_shown(value)}.", f"text that matches {want}"
        case "minimum":
            return f"{name} is {_shown(value)}.", f"{want} or more"
        case "maximum":
            return f"{name} is {_shown(value)}.", f"{want} or less"
        case "anyOf":
            return f"{name} is {_is_now(value)}.", "a path, or a mapping with the key `path`"
        case _:
            return f"{name} does not fit its schema.", "what the schema asks for"


def _violations(error: ValidationError) -> Iterator[Violation]:
    path = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    data: Any = error.instance
    if error.validator == "required":
        for name in [name for name in wanted if name not in data]:
            key = ".".join(map(str, (*path, name)))
            message = f"The key `{key}` is missing."
            yield Violation(key, message, f"the key `{key}`", (*path, name), "required")
        return
    if error.validator == "additionalProperties":
        schema: Any = error.schema
        known = sorted(schema.get("properties", {}))
        for name in sorted(set(data) - set(known)):
            key = ".".join(map(str, (*path, name)))
            message = f"`{key}` is not known here."
            yield Violation(key, message, "one of " + ", ".join(known), (*path, name), "additionalProperties")
        return
    key = ".".join(map(str, path))
    message, expected = _in_words(error, key)
    yield Violation(key, message, expected, path, str(error.validator))


def _bounded(data: Any) -> Any:
    # The library prints values into its messages, which Python refuses for numbers of thousands of digits.
    if isinstance(data, dict):
        return {key: _bounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_bounded(value) for value in data]
    if type(data) is int and abs(data) > _HUGE:
        return _HUGE if data > 0 else -_HUGE
    return data


def check(name: str, data: Any) -> list[Violation]:
    """Every place where ``data`` breaks the schema ``name``, ordered by key.

    Raises `KeyError` for an unknown name, `RuntimeError` when a format of the schema cannot be checked.
    """
    found: set[Violation] = set()
    for error in _validator(name).iter_errors(_bounded(data)):
        found.update(_violations(error))
    return sorted(found, key=lambda violation: (violation.key, violation.kind, violation.message))
