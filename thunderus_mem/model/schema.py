"""The JSON Schemas of frontmatter, manifest and events: a quick yes for ordinary data, else jsonschema.

The schema files are JSON Schema 2020-12 (json-schema.org/draft/2020-12). `surely_valid` accepts only what
jsonschema accepts too, so that linting an ordinary document never imports it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.ids import is_document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

SCHEMA_NAMES: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1")
SCHEMA_FOLDER: Final = os.path.join(os.path.dirname(__file__), "schemas")

DOCUMENT: Final = SCHEMA_NAMES[0]
MANIFEST: Final = SCHEMA_NAMES[1]
EVENT: Final = SCHEMA_NAMES[2]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Violation:
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


# Years from 1000 and days up to the 28th are right in every calendar; rarer dates go the long way.
_ORDINARY_TIME = re.compile(
    r"[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LATE_DAY = re.compile(
    r"[12][0-9]{3}-(?:(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_SHA = re.compile(r"[0-9a-fA-F]{4,64}")
_KINDS = frozenset(("core", "fact", "adr", "playbook", "recap"))
_STATUSES = frozenset(("verified", "stale", "unknown"))
_RELATIONS = frozenset(("derives_from", "refers_to", "supersedes", "duplicates"))
_ACTORS = frozenset(("user", "agent", "tool"))


def _time(value: Any) -> bool:
    return type(value) is str and (
        _ORDINARY_TIME.fullmatch(value) is not None or _LATE_DAY.fullmatch(value) is not None
    )


def _words(value: Any) -> bool:
    return type(value) is list and all(type(item) is str and item for item in value)


def _shas(value: Any) -> bool:
    return type(value) is list and all(type(item) is str and _SHA.fullmatch(item) for item in value)


def _tags(value: Any) -> bool:
    return bool(value) and _words(value) and len(set(value)) == len(value)


def _provenance(value: Any) -> bool:
    return (
        type(value) is dict
        and _words(value.get("events"))
        and _words(value.get("patches"))
        and _shas(value.get("commits", []))
    )


def _verification(value: Any) -> bool:
    if type(value) is not dict or "last_verified_commit" not in value:
        return False
    commit, status = value["last_verified_commit"], value.get("status")
    return (commit is None or (type(commit) is str and _SHA.fullmatch(commit) is not None)) and (
        type(status) is str and status in _STATUSES
    )


def _links(value: Any) -> bool:
    return type(value) is dict and value.keys() <= _RELATIONS and all(_words(ids) for ids in value.values())


def _text_or_null(value: Any) -> bool:
    return value is None or type(value) is str


def _share(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)


_REQUIRED = frozenset(("id", "title", "kind", "tags", "created", "updated", "provenance", "verification"))
_QUICK: dict[str, Callable[[Any], bool]] = {
    "id": lambda value: type(value) is str and is_document_id(value),
    "title": lambda value: type(value) is str and bool(value.strip()),
    "kind": lambda value: type(value) is str and value in _KINDS,
    "tags": _tags,
    "created": _time,
    "updated": _time,
    "provenance": _provenance,
    "verification": _verification,
    "links": _links,
    "aliases": _words,
    "anchors": _words,
    "credibility": _share,
    "emotional_valence": lambda value: value is None or (type(value) in (int, float) and -1 <= value <= 1),
    "emotional_arousal": _share,
    "quality_score": _share,
    "sequence_number": lambda value: value is None or (type(value) is int and value >= 0),
    "metadata": lambda value: value is None or type(value) is dict,
    "session": lambda value: value is None,
}
_FREE_TEXT = (
    "author",
    "type",
    "source_type",
    "emotion",
    "episode_id",
    "category",
    "run_id",
    "agent",
    "source",
)
_QUICK.update(dict.fromkeys((*_FREE_TEXT, "symbol", "timeframe", "market"), _text_or_null))


def surely_valid(data: dict[str, Any]) -> bool:
    """Whether frontmatter is right beyond doubt; ``False`` only means that `check` must be asked."""
    if not data.keys() >= _REQUIRED:
        return False
    for key, value in data.items():
        test = _QUICK.get(key)
        if test is not None and not test(value):
            return False
    return True


def _reference(refs: dict[str, Any], key: str, prefix: str, *, required: bool) -> bool:
    value = refs.get(key)
    if value is None:
        return key not in refs and not required
    return type(value) is str and _prefixed(value, prefix)


def _prefixed(value: Any, prefix: str) -> bool:
    # ASCII and printable without blanks: what the schemas' `\S` takes in any engine.
    return (
        type(value) is str
        and len(value) > len(prefix)
        and value.startswith(prefix)
        and value.isascii()
        and value.isprintable()
        and " " not in value
    )


def _change(value: Any) -> bool:
    return (
        type(value) is dict
        and all(type(value.get(key)) is str for key in ("op", "doc_id", "path", "before", "after"))
        and bool(value["path"])
        and ("diff" not in value or _text_or_null(value["diff"]))
        and type(value.get("diff_omitted", False)) is bool
    )


def _body(kind: str, body: Any) -> bool:
    if type(body) is not dict:
        return False
    if kind == "patch":
        changes = body.get("changes", [])
        return type(body.get("op", "")) is str and type(changes) is list and all(map(_change, changes))
    if kind == "note":
        return type(body.get("text", "")) is str
    return not body


def surely_valid_event(data: dict[str, Any]) -> bool:
    """Whether an event is right beyond doubt; ``False`` only means that `check` must be asked."""
    kind, refs = data.get("kind"), data.get("refs")
    if type(refs) is not dict or kind not in ("patch", "note", "approval", "snapshot"):
        return False
    return (
        type(data.get("v")) is int
        and data["v"] == 1
        and _prefixed(data.get("id"), "evt_")
        and _prefixed(data.get("session_id"), "sess_")
        and _time(data.get("ts"))
        and type(data.get("actor")) is str
        and data["actor"] in _ACTORS
        and _words(refs.get("paths", []))
        and _words(refs.get("memory_doc_ids", []))
        and _reference(refs, "patch_id", "patch_", required=kind == "patch")
        and _reference(refs, "snapshot_id", "snap_", required=kind == "snapshot")
        and _body(kind, data.get("body"))
        and _text_or_null(data.get("prev"))
        and _text_or_null(data.get("head"))
        and type(data.get("origin", {})) is dict
        and type(data.get("why", "")) is str
    )


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
    want: Any = error.validator_value
    data: Any = error.instance
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        for name in missing:
            key = ".".join(map(str, (*path, name)))
            yield Violation(
                key, f"The key `{key}` is missing.", f"the key `{key}`", (*path, name), "required"
            )
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


def check(name: str, data: Any) -> list[Violation]:
    """Every place where ``data`` breaks the schema ``name``, ordered by key.

    Raises `KeyError` for an unknown name, `RuntimeError` when a format of the schema cannot be checked.
    """
    found: set[Violation] = set()
    for error in _validator(name).iter_errors(data):
        found.update(_violations(error))
    return sorted(found, key=lambda violation: (violation.key, violation.kind, violation.message))
