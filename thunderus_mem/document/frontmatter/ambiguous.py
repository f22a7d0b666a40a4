"""Values that YAML readers do not agree on: which of a header's unquoted ones need quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thunderus_mem.document.frontmatter.nodes import KEY_TYPES, NUMBER_KEYS, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.document.frontmatter.nodes import Key, Mapping

_OTHER_BOOLEAN = frozenset(("y", "n", "yes", "no", "on", "off"))
_BOOLEAN_OR_NULL = frozenset(("true", "false", "null", "~"))
# What YAML 1.1 and 1.2 read differently: leading zeros, 0o, sexagesimal, exponents without a dot, `_`.
_OTHER_NUMBER = re.compile(
    r"[-+]?(?:0[0-9_]+|0o[0-7]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*|[0-9]+[eE][-+]?[0-9]+|[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?)"
)
_ANY_NUMBER = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|\.(?:inf|nan|Inf|NaN|INF|NAN))"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?")

_TIMES = frozenset(("created", "updated", "expires"))
_NUMBERS = frozenset((*NUMBER_KEYS, "session"))
_TEXTS = frozenset(
    ("links", "provenance", *(key for key, kind in KEY_TYPES.items() if kind == "s" or kind == "L"))
) - {*_TIMES, "status"}


def _reads_two_ways(text: str) -> bool:
    return text.lower() in _OTHER_BOOLEAN or _OTHER_NUMBER.fullmatch(text) is not None


def _is_no_text(text: str) -> bool:
    return (
        _reads_two_ways(text)
        or text.lower() in _BOOLEAN_OR_NULL
        or _ANY_NUMBER.fullmatch(text) is not None
        or _DATE.fullmatch(text) is not None
    )


def _short(node: Node, path: Key, found: list[tuple[Key, Scalar]]) -> None:
    """Collect the unquoted values that are no long text and no word beyond doubt, in order."""
    if isinstance(node, Scalar):
        text = node.text
        # Most values begin with a letter and are no such word: one look at them is enough.
        if node.plain and text and (len(text) <= 5 or (len(text) <= 64 and not text[0].isalpha())):
            found.append((path, node))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            _short(item, (*path, str(index)), found)
    else:
        for entry in node.entries:
            _short(entry.value, (*path, entry.key.text), found)


def _test_for(path: Key) -> Callable[[str], bool] | None:
    """What a value is asked: known texts must be text to any reader, others the same to all."""
    top = path[0]
    if top in _TIMES or top in _NUMBERS:
        return None
    if top in _TEXTS:
        return _is_no_text
    if path == ("verification", "last_verified_commit"):
        return lambda text: text not in ("null", "~") and _is_no_text(text)
    return _reads_two_ways


def ambiguous(header: Mapping) -> Iterator[tuple[Key, Scalar]]:
    """The unquoted values that mean different things to different readers, each with its path of keys."""
    found: list[tuple[Key, Scalar]] = []
    _short(header, (), found)
    for path, value in found:
        test = _test_for(path)
        if test is not None and test(value.text):
            yield path, value
