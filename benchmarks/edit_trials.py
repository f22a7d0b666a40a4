"""One edit of one key of a header, and whether anything else changed by it.

What an edit may touch is worked out here from the header as it was read, not by the code that edits: the
lines of the key, and for a new key or item no line that was there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, remove_key, set_key
from thunderus_mem.document.frontmatter.nodes import Entry, Mapping, Node, Scalar, Sequence
from thunderus_mem.document.frontmatter.read import find_fences, read_header
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_NEW: Final = "zz-new"
_VALUES: Final[tuple[Any, ...]] = (
    *("changed", "with: a colon # and a mark", "", "two\nlines", "0755123", "été — 日本", "- dash"),
    *(True, None, 12, ["one", "two: 2"], [], {"status": "x", "own": ["y"]}, {}),
)


class Trial(NamedTuple):
    """``op`` is set, new, remove, insert or drop; ``argument`` a value or an item."""

    op: str
    path: tuple[str, ...]
    argument: Any


class Outcome(NamedTuple):
    """What came of a trial: the new ``header``, or why it was ``refused``, or how it was ``broken``."""

    header: str
    root: Mapping | None
    refused: str
    broken: str


def trials(root: Mapping, dice: Random, most: int = 0) -> list[Trial]:
    """Edits of every key, of every list, and one new key in every mapping; at most ``most`` of them."""
    found: list[Trial] = []
    for path, mapping in _mappings((), root):
        found.append(Trial("new", (*path, _NEW), dice.choice(_VALUES)))
        for entry in mapping.entries:
            below = (*path, entry.key.text)
            found.append(Trial("set", below, dice.choice(_VALUES)))
            found.append(Trial("remove", below, None))
            if isinstance(entry.value, Sequence):
                found.append(Trial("insert", below, dice.choice(("a", "mm", _NEW, "no: 1"))))
                texts = [item.text for item in entry.value.items if isinstance(item, Scalar)]
                if texts:
                    found.append(Trial("drop", below, dice.choice(texts)))
    if most and len(found) > most:
        return dice.sample(found, most)
    return found


def _mappings(path: tuple[str, ...], mapping: Mapping) -> Iterator[tuple[tuple[str, ...], Mapping]]:
    yield path, mapping
    for entry in mapping.entries:
        if isinstance(entry.value, Mapping) and entry.value.entries:
            yield from _mappings((*path, entry.key.text), entry.value)


def attempt(text: str, root: Mapping, trial: Trial) -> Outcome:
    """Try an edit on a document whose header parses as ``root``, and check every byte of the result."""
    fences = find_fences(text)
    assert fences is not None
    try:
        new = _edited(text, trial)
    except InvalidDocument as error:
        return Outcome("", None, str(error), "")
    before, after = text[: fences.start], text[fences.end :]
    if not (new.startswith(before) and new.endswith(after) and len(new) >= len(before) + len(after)):
        return Outcome("", None, "", "bytes outside the frontmatter changed")
    header = new[len(before) : len(new) - len(after)]
    found, problems = read_header(header)
    if found is None:
        return Outcome(header, None, "", f"does not read: {problems[0].message}")
    if not _same(_expected(root, trial), _pairs(found), ordered=trial.op != "new"):
        return Outcome(header, found, "", "reads as something else")
    return Outcome(header, found, "", _strayed(text[fences.start : fences.end], header, root, trial))


def _edited(text: str, trial: Trial) -> str:
    if trial.op == "remove":
        return remove_key(text, trial.path)
    if trial.op == "insert":
        return insert_item(text, trial.path, trial.argument)
    if trial.op == "drop":
        return remove_item(text, trial.path, trial.argument)
    return set_key(text, trial.path, trial.argument)


def _pairs(node: Node) -> Any:
    """Texts, lists, and mappings as lists of pairs in a tuple, so that their order counts."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [_pairs(item) for item in node.items]
    return tuple((entry.key.text, _pairs(entry.value)) for entry in node.entries)


def _meant(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _meant(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return [_meant(inner) for inner in value]
    return value if isinstance(value, str) else {None: "null", True: "true"}.get(value, str(value))


def _expected(root: Mapping, trial: Trial) -> Any:
    return _changed(_pairs(root), trial.path, trial)


def _changed(pairs: tuple[Any, ...], path: tuple[str, ...], trial: Trial) -> Any:
    if trial.op == "new" and len(path) == 1:
        return (*pairs, (path[0], _meant(trial.argument)))
    kept = []
    for key, value in pairs:
        if key != path[0]:
            kept.append((key, value))
        elif len(path) > 1:
            kept.append((key, _changed(value, path[1:], trial)))
        elif trial.op != "remove":
            kept.append((key, _changed_value(value, trial)))
    return tuple(kept)


def _changed_value(value: Any, trial: Trial) -> Any:
    if trial.op == "set":
        return _meant(trial.argument)
    if trial.op == "drop":
        return [one for one in value if one != trial.argument]
    return value if trial.argument in value else [*value, trial.argument]


def _same(expected: Any, found: Any, *, ordered: bool) -> bool:
    """Equal; a mapping that lost its last key may be without a value; a new item may stand anywhere."""
    if expected in ((), []) and found in ((), "", []):
        return True
    if type(expected) is not type(found) or isinstance(expected, str):
        return bool(expected == found)
    if len(expected) != len(found):
        return False
    if isinstance(expected, list):
        left = [one for one in expected if one not in found]
        return not left or all(_same(a, b, ordered=ordered) for a, b in zip(expected, found, strict=True))
    if not ordered:
        expected, found = sorted(expected, key=repr), sorted(found, key=repr)
    return all(
        a[0] == b[0] and _same(a[1], b[1], ordered=ordered) for a, b in zip(expected, found, strict=True)
    )


def _strayed(old: str, new: str, root: Mapping, trial: Trial) -> str:
    """ "", or what an edit changed outside the lines that are its key's."""
    if "\n" not in old.replace("\r\n", "") and "\r\n" in old and "\n" in new.replace("\r\n", ""):
        return "a line ends otherwise than its neighbours"
    first, last, added = _difference(old, new)
    low, high, may_replace = _lines_of(old, root, trial)
    if first >= last and not added:
        return ""
    if not may_replace and first < last:
        return f"line {first + 1} is not as it was"
    if not low <= first <= last <= max(high, first):
        return f"lines {first + 1} to {last} changed, its own are {low + 1} to {high}"
    return ""


def _difference(old: str, new: str) -> tuple[int, int, int]:
    """The smallest range of old lines that differ, and how many lines stand there now."""
    before, after = old.split("\n"), new.split("\n")
    least = min(len(before), len(after))
    first = 0
    while first < least and before[first] == after[first]:
        first += 1
    last = 0
    while last < least - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return first, len(before) - last, len(after) - last - first


def _lines_of(header: str, root: Mapping, trial: Trial) -> tuple[int, int, bool]:
    """Half-open range of header lines an edit may change, and whether it may replace what stands there."""
    holder, entry = _found(root, trial.path)
    everything = header.count("\n") + 1
    if entry is None:
        if holder.flow:
            return holder.line - 1, _last_line(header, holder) + 1, True
        return 0, everything, False
    low, high = entry.key.line - 1, _last_line(header, entry.value) + 1
    if holder.flow:
        return low, high, True
    if trial.op == "insert" and isinstance(entry.value, Sequence) and entry.value.items:
        return low, high, entry.value.flow
    if trial.op == "remove":
        high = _own_comments(header, high, entry.key.column)
    return low, high, True


def _last_line(header: str, node: Node) -> int:
    return header.count("\n", 0, node.end)


def _own_comments(header: str, line: int, column: int) -> int:
    """The line behind comments deeper than a key, and behind blank lines: they may go with it."""
    lines = header.split("\n")
    while line < len(lines):
        row = lines[line].strip()
        if row and not (row.startswith("#") and lines[line].startswith(" " * column)):
            break
        line += 1
    return line


def _found(root: Mapping, path: tuple[str, ...]) -> tuple[Mapping, Entry | None]:
    holder = root
    for depth, name in enumerate(path):
        entry = next((one for one in holder.entries if one.key.text == name), None)
        if entry is None or depth == len(path) - 1:
            return holder, entry
        assert isinstance(entry.value, Mapping)
        holder = entry.value
    return holder, None
