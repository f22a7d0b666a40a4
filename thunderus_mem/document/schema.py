"""The quick yes: what is certainly right by our schemas, told without the schema library.

Everything accepted here is accepted by the schemas too; what is not accepted may still be right.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.ids import is_document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

# Years from 1000 and days up to the 28th are right in every calendar; rarer dates go the long way.
_ORDINARY_TIME = re.compile(
    r"[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LATE_DAY = re.compile(
    r"[12][0-9]{3}-(?:(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_SPAN = re.compile(r"L?[1-9][0-9]*(?:-L?[1-9][0-9]*)?", re.ASCII)
_SHA = re.compile(r"[0-9a-fA-F]{4,64}")
_KINDS = frozenset(("core", "fact", "adr", "playbook", "recap"))
_STATUSES = frozenset(("verified", "stale", "unknown"))
_RELATIONS = frozenset(("derives_from", "refers_to", "supersedes", "duplicates"))
_DECISION = frozenset(("action", "approved", "decision", "key", "label", "proposed", "rule", "texts"))
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
        type(status) is str and status in _STATUSES and value.get("by", "user") in ("user", "agent")
    )


def _links(value: Any) -> bool:
    return type(value) is dict and value.keys() <= _RELATIONS and all(_words(ids) for ids in value.values())


def _anchors(value: Any) -> bool:
    return type(value) is list and all(
        bool(item) if type(item) is str else type(item) is dict and _anchor(item) for item in value
    )


def _anchor(item: dict[str, Any]) -> bool:
    symbol, lines = item.get("symbol", "-"), item.get("lines", "1")
    path, fingerprint = item.get("path"), item.get("fingerprint")
    return (
        type(path) is type(symbol) is type(lines) is str
        and bool(path and symbol)
        and _SPAN.fullmatch(lines) is not None
        and (fingerprint is None or type(fingerprint) is str)
    )


def _text_or_null(value: Any) -> bool:
    return value is None or type(value) is str


def _share(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
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
    "anchors": _anchors,
    "credibility": _share,
    "emotional_valence": lambda value: value is None or (type(value) in (int, float) and -1 <= value <= 1),
    "emotional_arousal": _share,
    "quality_score": _share,
    "sequence_number": lambda value: value is None or (type(value) is int and value >= 0),
    "metadata": lambda value: value is None or type(value) is dict,
    "session": lambda value: value is None,
    "expires": lambda value: value is None or (type(value) is str and _DAY.match(value) is not None),
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


def is_valid_fast(data: dict[str, Any]) -> bool:
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
        and type(value.get("mode", "")) is str
    )


def _body(kind: str, body: Any) -> bool:
    if type(body) is not dict:
        return False
    if kind == "patch":
        changes, undoes, private = (body.get(key, []) for key in ("changes", "undoes", "private"))
        return (
            type(body.get("op", "")) is str
            and type(changes) is list
            and all(map(_change, changes))
            and type(undoes) is list
            and all(_prefixed(one, "evt_") for one in undoes)
            and type(private) is list
            and all(_prefixed(one, "evt_") for one in private)
        )
    if kind == "note":
        return type(body.get("text", "")) is str
    if kind == "approval" and "decision" in body:
        texts = body.get("texts", [])
        return (
            body.keys() <= _DECISION
            and all(type(body[key]) is str for key in body.keys() & _DECISION - {"approved", "texts"})
            and type(body.get("approved", True)) is bool
            and body["decision"] in ("approved", "rejected", "expired")
            and type(texts) is list
            and all(
                type(one) is dict and type(one.get("id")) is str and type(one.get("digest")) is str
                for one in texts
            )
        )
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


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _manifest_entry(entry: Any) -> bool:
    return (
        type(entry) is dict
        and all(type(entry.get(key)) is str and entry[key] for key in ("path", "id", "title"))
        and type(entry.get("kind")) is str
        and entry["kind"] in _KINDS
        and _words(entry.get("tags"))
        and _time(entry.get("updated"))
        and _count(entry.get("size_bytes"))
        and _count(entry.get("token_count_approx"))
        and _provenance(entry.get("provenance"))
        and "commits" in entry["provenance"]
        and _verification(entry.get("verification"))
    )


def surely_valid_manifest(data: Any) -> bool:
    """Whether a manifest is right beyond doubt; ``False`` only means that `check` must be asked."""
    if type(data) is not dict or type(data.get("docs")) is not list or type(data.get("stats")) is not dict:
        return False
    by_kind = data["stats"].get("by_kind")
    return (
        type(data.get("version")) is int
        and data["version"] == 1
        and _time(data.get("generated_at"))
        and all(map(_manifest_entry, data["docs"]))
        and _count(data["stats"].get("total_docs"))
        and _count(data["stats"].get("total_tokens_approx"))
        and type(by_kind) is dict
        and all(map(_count, by_kind.values()))
    )


# The JSON Schemas of documents, manifest, events and proposals: a quick yes, else jsonschema.
#
# The schema files are JSON Schema 2020-12 (json-schema.org/draft/2020-12). `surely_valid` accepts only what
# jsonschema accepts too, so that linting an ordinary document never imports it.

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
