"""The JSON Schemas of documents, manifest, events and proposals, and their violations. Reads `schemas/`.

The schema files (JSON Schema 2020-12, json-schema.org/draft/2020-12) are the only definition of each format.
Those of the MemoryOS tools are draft-07, like the originals. `is_valid_fast` compiles them to functions and
accepts clearly valid data, so that an ordinary document never loads the schema library; `check` uses
jsonschema and lists the violations.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

SCHEMA_NAMES: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1", "patch.v1")
MEMORYOS_SCHEMAS: Final = tuple(
    f"memoryos/{action}_{side}"
    for action in (
        *("add_conversation", "add_execution", "retrieve_conversation", "retrieve_execution"),
        "get_user_profile",
    )
    for side in ("input", "output")
)
"""The arguments and results of the MemoryOS tools; the last two are an extension."""
SCHEMA_FOLDER: Final = os.path.join(os.path.dirname(__file__), "schemas")

DOCUMENT: Final = SCHEMA_NAMES[0]
MANIFEST: Final = SCHEMA_NAMES[1]
EVENT: Final = SCHEMA_NAMES[2]
PROPOSAL: Final = SCHEMA_NAMES[3]
INDEX: Final = "memory_store"
"""The schema of the index, which is SQL."""

_SHOWN = 60
_HUGE = 10**300


class Violation(NamedTuple):
    """A violation of a schema.

    ``key`` is the dotted path, ``path`` the same as a tuple (ending in the missing key when ``kind`` is
    ``required``); ``kind`` is the JSON Schema keyword that failed.
    """

    key: str
    message: str
    expected: str
    path: tuple[str | int, ...] = ()
    kind: str = ""

    def __str__(self) -> str:
        """What is wrong and what is expected; for a missing key both are the same."""
        return self.message if self.kind == "required" else f"{self.message}; expected {self.expected}"


def schema_text(name: str) -> str:
    """The text of a packaged schema, by its name, or `INDEX`. Raises `KeyError` for an unknown name."""
    if name in MEMORYOS_SCHEMAS:
        file_name = f"{name}.json"
    elif name in (*SCHEMA_NAMES, INDEX):
        file_name = f"{name}.sql" if name == INDEX else f"{name}.schema.json"
    else:
        raise KeyError(name)
    with open(os.path.join(SCHEMA_FOLDER, file_name), encoding="utf-8", newline="") as file:
        return file.read()


def packaged_schemas() -> dict[str, str]:
    """File names and texts of the schemas that a store contains copies of."""
    files = {f"{name}.schema.json": schema_text(name) for name in SCHEMA_NAMES}
    return {**files, f"{INDEX}.sql": schema_text(INDEX)}


def load_schema(name: str) -> dict[str, Any]:
    """A packaged JSON Schema as data. Raises `KeyError` for an unknown name."""
    import json

    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


_Test: TypeAlias = "Callable[[Any], object]"
"""Its result counts as true or false."""
_Tests: TypeAlias = "dict[type, _Test]"
"""Tests by the type of a value; values of other types are rejected."""

# Years from 1000 to 2999, and days that exist in every year: not the 29th of February.
_ORDINARY_TIME: Final = lazy_pattern(
    r"[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def is_valid_fast(name: str, data: Any) -> bool:
    """Whether data is clearly valid; ``False`` only means that `check` must decide."""
    return bool(_compiled(name)(data))


@cache
def _compiled(name: str) -> _Test:
    return _of_any(_tests(load_schema(name)))


def _always(_value: Any) -> bool:
    return True


def _never(_value: Any) -> bool:
    return False


def _of_any(tests: _Tests) -> _Test:
    """One function for values of all types."""
    if len(tests) != 1:
        return lambda value: tests.get(type(value), _never)(value)
    ((only, test),) = tests.items()
    if test is _always:
        return lambda value: type(value) is only
    return lambda value: type(value) is only and test(value)


def _tests(schema: dict[str, Any]) -> _Tests:
    words = {word: value for word, value in schema.items() if word not in _COMMENTS}
    if words.keys() == {"enum"}:
        return {str: frozenset(words["enum"]).__contains__}
    if words.keys() == {"const"}:
        return {type(words["const"]): words["const"].__eq__}
    if words.keys() == {"anyOf"}:
        # Of two choices for one type only the last is tested: this rejects too much, never too little.
        return {kind: test for choice in words["anyOf"] for kind, test in _tests(choice).items()}
    names = words.pop("type", tuple(_BY_TYPE))
    if not words.keys() <= _KEYWORDS:
        return {}
    found: _Tests = {}
    for name in (names,) if isinstance(names, str) else names:
        types, keywords, test_of = _BY_TYPE[name]
        test = test_of(words) if words.keys() & keywords else _always
        found |= dict.fromkeys(types, test)
    return found


def _of_text(words: dict[str, Any]) -> _Test:
    least, most, pattern = words.get("minLength", 0), words.get("maxLength"), words.get("pattern")
    test: _Test = re.compile(pattern).search if pattern is not None else _always
    if "format" in words:
        if words["format"] != "date-time" or pattern is not None:
            return _never
        test = _ORDINARY_TIME.fullmatch
    if most is not None:
        return lambda text: least <= len(text) <= most and test(text)
    if least == 0 or (least == 1 and not test("")):
        return test
    return bool if least == 1 and test is _always else lambda text: len(text) >= least and test(text)


def _of_list(words: dict[str, Any]) -> _Test:
    least, unique, tests = words.get("minItems", 0), words.get("uniqueItems"), _tests(words.get("items", {}))
    if len(tests) != 1 or (unique and str not in tests):
        one = _never if unique else _of_any(tests)
        return lambda found: len(found) >= least and all(map(one, found))
    ((kind, test),) = tests.items()
    kinds, plain = {kind}, test is _always

    # Two loops in C are faster than one that calls a Python function for each item.
    def every(found: list[Any]) -> bool:
        return not found or ({*map(type, found)} == kinds and (plain or all(map(test, found))))

    if not (least or unique):
        return every
    return lambda found: len(found) >= least and every(found) and not (unique and len({*found}) < len(found))


def _of_number(words: dict[str, Any]) -> _Test:
    least, most = words.get("minimum"), words.get("maximum")
    return lambda number: (least is None or least <= number) and (most is None or number <= most)


def _of_mapping(words: dict[str, Any]) -> _Test:
    required, others = frozenset(words.get("required", ())), words.get("additionalProperties", True)
    properties = {key: _of_any(_tests(schema)) for key, schema in words.get("properties", {}).items()}
    other = _of_any(_tests(others)) if isinstance(others, dict) else _always if others else _never
    cases = _cases(words.get("allOf", ()))
    if cases is None:
        return _never
    few = tuple(properties.items()) if other is _always else ()

    def test(found: dict[str, Any]) -> bool:
        if not required <= found.keys():
            return False
        if 0 < len(few) <= len(found):
            for key, inner in few:
                if key in found and not inner(found[key]):
                    return False
        else:
            for key, value in found.items():
                if not properties.get(key, other)(value):
                    return False
        for key, thens in cases.items():
            text = found.get(key)
            if type(text) is str and text in thens and not thens[text](found):
                return False
        return True

    return test


def _cases(schemas: Iterable[dict[str, Any]]) -> dict[str, dict[str, _Test]] | None:
    """``allOf`` of the form: if a key has this text, another schema applies as well; ``None`` for others."""
    found: dict[str, dict[str, _Test]] = {}
    for schema in schemas:
        (key,) = schema.get("if", {}).get("required", ("",))
        text = schema.get("if", {}).get("properties", {}).get(key, {}).get("const")
        condition = {"required": [key], "properties": {key: {"const": text}}}
        if schema != {"if": condition, "then": schema.get("then")} or text in found.get(key, ()):
            return None
        found.setdefault(key, {})[text] = _of_any(_tests(schema["then"]))
    return found


_COMMENTS: Final = frozenset(("$schema", "$id", "title", "description", "examples"))
_BY_TYPE: Final[dict[str, tuple[tuple[type, ...], frozenset[str], Callable[[dict[str, Any]], _Test]]]] = {
    "string": ((str,), frozenset(("minLength", "maxLength", "pattern", "format")), _of_text),
    "array": ((list,), frozenset(("minItems", "uniqueItems", "items")), _of_list),
    "object": (
        (dict,),
        frozenset(("required", "properties", "additionalProperties", "allOf")),
        _of_mapping,
    ),
    "integer": ((int,), frozenset(("minimum", "maximum")), _of_number),
    "number": ((int, float), frozenset(("minimum", "maximum")), _of_number),
    "boolean": ((bool,), frozenset(), _of_number),
    "null": ((type(None),), frozenset(), _of_number),
}
_KEYWORDS: Final = frozenset().union(*(keywords for _, keywords, _ in _BY_TYPE.values()))


def _formats(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("format"), str):
            yield schema["format"]
        for value in schema.values():
            yield from _formats(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _formats(value)


@cache
def _checker(name: str) -> Callable[[Any], list[Violation]]:
    return checker_of(load_schema(name))


def validator_of(schema: dict[str, Any]) -> Validator:
    """The validator of a JSON Schema, which checks formats too."""
    from jsonschema import FormatChecker
    from jsonschema.validators import validator_for

    checker = FormatChecker()
    unknown = sorted(set(_formats(schema)) - checker.checkers.keys())
    if unknown:
        raise RuntimeError(f"no checker for the format {', '.join(unknown)}; install rfc3339-validator")
    return validator_for(schema)(schema, format_checker=checker)


_TYPE_WORDS = {
    "string": "a string",
    "array": "a list",
    "object": "a mapping",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _type_of(value: Any) -> str:
    if value is None:
        return "empty"
    for kind, words in ((bool, "true or false"), (str, "a string"), (list, "a list"), (dict, "a mapping")):
        if isinstance(value, kind):
            return words
    return "a number"


def _shown(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > 1e15:
        return "a very large number"
    text = str(value)
    text = f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text
    return f"'{text}'" if isinstance(value, str) else text


def _range(schema: Any) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None or most is None:
        return f"{most} or less" if least is None else f"{least} or more"
    return f"a number from {least} to {most}"


def _type_words(types: Any) -> str:
    return " or ".join(_TYPE_WORDS[word] for word in ([types] if isinstance(types, str) else types))


def _wrong_type(name: str, value: Any, want: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        return f"{name} is {_type_of(value)}"
    if {"array", "object"}.issuperset([want] if isinstance(want, str) else want):
        return f"{name} must be {_type_words(want)}, not a single value"
    return f"{name} is {_type_of(value)}"


_EXAMPLES: Final = {
    "expires": "a date such as 2026-06-30",
    "title": "a string that is not blank",
    "commits": "a commit id (4 to 64 hexadecimal digits)",
    "last_verified_commit": "a commit id (4 to 64 hexadecimal digits)",
}
"""The expectation of a pattern, by the key that it belongs to."""


def _last_name(error: ValidationError) -> str:
    return next((part for part in reversed(error.absolute_path) if isinstance(part, str)), "")


def _in_words(error: ValidationError, key: str) -> tuple[str, str]:
    """The finding and the expectation in words; the library's own messages show values of any length."""
    name = f"`{key}`" if key else "The value"
    want: Any = error.validator_value
    value: Any = error.instance
    match str(error.validator):
        case "type":
            return _wrong_type(name, value, want), _type_words(want)
        case "enum":
            return f"{name} cannot be {_shown(value)}", "one of " + ", ".join(
                "null" if one is None else str(one) for one in want
            )
        case "const":
            return f"{name} cannot be {_shown(value)}", str(want)
        case "format":
            return (
                f"{name} is not a valid time: {_shown(value)}",
                "an RFC 3339 time such as 2026-01-21T09:00:00Z",
            )
        case "minItems":
            return (
                f"{name} has too few entries" if want > 1 else f"{name} needs at least one entry",
                f"at least {want} entry" if want == 1 else f"{want} entries",
            )
        case "uniqueItems":
            return f"{name} has duplicate entries", "each entry once"
        case "minLength":
            return f"{name} is empty", "a string that is not empty"
        case "maxLength":
            return f"{name} is {len(value)} characters long", f"at most {want} characters"
        case "pattern":
            return f"{name} cannot be {_shown(value)}", _EXAMPLES.get(
                _last_name(error), f"a string matching {want}"
            )
        case "minimum" | "maximum":
            return f"{name} cannot be {_shown(value)}", _range(error.schema)
        case "anyOf":
            found = f"is {_type_of(value)}"
            if isinstance(value, dict):
                found = "is not a valid anchor" if "path" in value else "has no key `path`"
            return f"{name} {found}", "a path, or a mapping with the key `path`"
        case _:
            return f"{name} does not match the schema", "a value that matches the schema"


def _violations(error: ValidationError) -> Iterator[Violation]:
    path = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    data: Any = error.instance
    if error.validator == "required":
        for name in [name for name in wanted if name not in data]:
            key = ".".join(map(str, (*path, name)))
            message = f"The key `{key}` is missing"
            yield Violation(key, message, f"the key `{key}`", (*path, name), "required")
        return
    if error.validator == "additionalProperties":
        schema: Any = error.schema
        known = sorted(schema.get("properties", {}))
        for name in sorted(set(data) - set(known)):
            key = ".".join(map(str, (*path, name)))
            message = f"Unknown key `{key}`"
            yield Violation(key, message, "one of " + ", ".join(known), (*path, name), "additionalProperties")
        return
    key = ".".join(map(str, path))
    message, expected = _in_words(error, key)
    yield Violation(key, message, expected, path, str(error.validator))


def _bounded(data: Any) -> Any:
    # The library formats values in its messages; Python refuses that for numbers of thousands of digits.
    if isinstance(data, dict):
        return {key: _bounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_bounded(value) for value in data]
    if type(data) is int and abs(data) > _HUGE:
        return _HUGE if data > 0 else -_HUGE
    return data


def check(name: str, data: Any) -> list[Violation]:
    """Every violation of the schema ``name`` in ``data``, ordered by key.

    Raises `KeyError` for an unknown name, `RuntimeError` when a format of the schema cannot be checked.
    """
    return _checker(name)(data)


def checker_of(schema: dict[str, Any]) -> Callable[[Any], list[Violation]]:
    """The function that returns every violation of a schema, ordered by key."""
    validator = validator_of(schema)
    return lambda data: _found(validator, data)


def _found(validator: Validator, data: Any) -> list[Violation]:
    found: set[Violation] = set()
    for error in validator.iter_errors(_bounded(data)):
        found.update(_violations(error))
    return sorted(found, key=lambda violation: (violation.key, violation.kind, violation.message))
