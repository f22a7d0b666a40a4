"""Line diffs of texts: write, parse, apply and merge them. Pure.

`unified_diff` writes diffs that ``git apply`` accepts; `parse_diff` reads those of git (git-diff(1),
"Generating patch text with -p"), ``diff -u`` (POSIX) and mails; `apply_diff` and `reversed_diff` restore a
text from another one; `three_way` merges two changes of one text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_DIFF: Final = 32 * 1024
"""Maximum size of a stored diff, in bytes of UTF-8."""
_CONTEXT: Final = 3
_MAX_LINES: Final = 3_000
"""Changed ranges longer than this are not compared: their diff would exceed the limit or take seconds."""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their line ends, all as LF; a last line without a line end gets none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        return [f"{line}\n" for line in lines[:-1]]
    return [f"{line}\n" for line in lines[:-1]] + [lines[-1]]


def raw_lines(text: str) -> list[str]:
    """Lines with their line ends, split at LF only (a lone CR or U+2028 is text, as in git)."""
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The number of common lines at the start, and at the end."""
    limit = min(len(old), len(new))
    start = 0
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def stretches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]] | None:
    """Where two lists of lines differ, as ``(old start, old stop, new start, new stop)``, in order.

    ``None`` when comparing would take seconds because too much differs.
    """
    from difflib import SequenceMatcher

    start, end = _shared(old, new)
    if max(len(old), len(new)) - start - end > _MAX_LINES:
        return None
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end])
    return [
        (i1 + start, i2 + start, j1 + start, j2 + start)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _range(start: int, stop: int) -> str:
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _marked(sign: str, lines: Sequence[str]) -> list[str]:
    whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return [sign + line for line in whole]


def unified_diff(
    old: str | None, new: str | None, path: str, *, first_lines: tuple[int, int] = (1, 1)
) -> str | None:
    """The diff from ``old`` to ``new`` (``None`` = no file) with three lines of context; line ends as LF.
    ``first_lines`` are the numbers of their first lines.

    "" when nothing differs, ``None`` when the diff would be longer than 32 KiB.
    """
    diff = _diff(old, new, path, coarse=False, first_lines=first_lines)
    return diff if diff is not None and len(diff.encode("utf-8", "replace")) <= MAX_DIFF else None


def whole_diff(old: str | None, new: str | None, path: str) -> str:
    """Like `unified_diff`, of any length; where comparing would take seconds, the changed range is one
    hunk."""
    return _diff(old, new, path, coarse=True) or ""


def _diff(
    old: str | None, new: str | None, path: str, *, coarse: bool, first_lines: tuple[int, int] = (1, 1)
) -> str | None:
    before, after = lines_of(old or ""), lines_of(new or "")
    if before == after and (old is None) == (new is None):
        return ""
    start, end = _shared(before, after)
    long = max(len(before), len(after)) - start - end > _MAX_LINES
    if long and not coarse:
        return None
    first = max(0, start - _CONTEXT)
    cut = max(0, end - _CONTEXT)
    before, after = before[first : len(before) - cut], after[first : len(after) - cut]
    old_at, new_at = (first + line - 1 for line in first_lines)
    parts = [f"--- {'/dev/null' if old is None else f'a/{path}'}\n"]
    parts.append(f"+++ {'/dev/null' if new is None else f'b/{path}'}\n")
    for group in _one_group(before, after, start - first, end - cut) if long else _groups(before, after):
        old_range = _range(group[0][1] + old_at, group[-1][2] + old_at)
        new_range = _range(group[0][3] + new_at, group[-1][4] + new_at)
        parts.append(f"@@ -{old_range} +{new_range} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                parts.extend(_marked(" ", before[i1:i2]))
            else:
                parts.extend(_marked("-", before[i1:i2]))
                parts.extend(_marked("+", after[j1:j2]))
    return "".join(parts)


_Group: TypeAlias = "list[tuple[str, int, int, int, int]]"


def _groups(before: Sequence[str], after: Sequence[str]) -> list[_Group]:
    from difflib import SequenceMatcher

    return [list(group) for group in SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)]


def _one_group(before: Sequence[str], after: Sequence[str], lead: int, tail: int) -> list[_Group]:
    """Everything between the first ``lead`` and the last ``tail`` lines as one replacement."""
    old, new = len(before), len(after)
    whole = [
        ("equal", 0, lead, 0, lead),
        ("replace", lead, old - tail, lead, new - tail),
        ("equal", old - tail, old, new - tail, new),
    ]
    return [[one for one in whole if one[2] > one[1] or one[4] > one[3]]]


_HUNK: Final = lazy_pattern(
    r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@", re.ASCII
)
_ESCAPES: Final = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED: Final = lazy_pattern(r'\\([0-7]{3}|[abtnvfr"\\])')


class Hunk(NamedTuple):
    """A run of changed lines: first line and count in the old and new file (from 1; with a count of 0 the
    hunk is after that line), and the diff's own lines."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[str, ...]

    def touches_old(self, first: int, last: int) -> bool:
        """Whether it removes or adds lines inside this range of the old file."""
        return _meets(self.old_start, self.old_count, first, last)

    def touches_new(self, first: int, last: int) -> bool:
        """Whether it adds or removes lines inside this range of the new file."""
        return _meets(self.new_start, self.new_count, first, last)

    @property
    def first_changed(self) -> int:
        """The first line of the new file that it adds, or that is where it removes lines; at least 1."""
        before = next((at for at, line in enumerate(self.lines) if line[:1] in "+-"), 0)
        return max(self.new_start + before, 1)

    @property
    def header(self) -> str:
        """The header line in a diff."""
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@"


def _meets(start: int, count: int, first: int, last: int) -> bool:
    if count == 0:
        # Between that line and the next: inside only when both are in the range.
        return first <= start < last
    return start <= last and first < start + count


class FileDiff(NamedTuple):
    """The diff of one file; a path is "" for a new or deleted file. That of a binary file has no hunks."""

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """The files of a unified diff, in order. Other text between them is skipped, so that mails and the output
    of ``git show`` can be parsed; a text without a diff gives nothing. Never raises."""
    return tuple(_files(text.split("\n")))


def _files(lines: list[str]) -> Iterator[FileDiff]:
    at, git_names = 0, ("", "")
    pending: FileDiff | None = None
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            if pending is not None:
                yield pending
            git_names = _git_names(line[11:])
            pending = FileDiff(*git_names, ())
        elif pending is not None and line.startswith(("rename from ", "copy from ")):
            pending = pending._replace(old_path=unquoted(line.partition(" from ")[2]))
        elif pending is not None and line.startswith(("rename to ", "copy to ")):
            pending = pending._replace(new_path=unquoted(line.partition(" to ")[2]))
        elif pending is not None and line.startswith("new file mode"):
            pending = pending._replace(old_path="")
        elif pending is not None and line.startswith("deleted file mode"):
            pending = pending._replace(new_path="")
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if pending is not None and not git_names[0]:
                yield pending
            old, new = _name(line[4:], "a/"), _name(lines[at + 1][4:], "b/")
            hunks, at = _hunks(lines, at + 2)
            yield FileDiff(old, new, hunks)
            pending = None
            continue
        at += 1
    if pending is not None:
        yield pending


def _hunks(lines: list[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    found = []
    while at < len(lines) and (match := _HUNK.match(lines[at])) is not None:
        old_start, old_count = int(match[1]), int(match[2] or "1")
        new_start, new_count = int(match[3]), int(match[4] or "1")
        start = at = at + 1
        old_left, new_left = old_count, new_count
        while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at][:1] == "\\"):
            mark = lines[at][:1]
            old_left -= mark in ("-", " ", "")
            new_left -= mark in ("+", " ", "")
            if mark not in ("-", "+", " ", "\\", ""):
                break
            at += 1
        found.append(Hunk(old_start, old_count, new_start, new_count, tuple(lines[start:at])))
    return tuple(found), at


def _git_names(names: str) -> tuple[str, str]:
    """Both names of a ``diff --git`` line; "" where the line is ambiguous."""
    if names.startswith('"'):
        end = _closing(names)
        return unquoted(names[: end + 1]).removeprefix("a/"), unquoted(names[end + 2 :]).removeprefix("b/")
    half = len(names) // 2
    one, other = names[:half], names[half + 1 :]
    if one.startswith("a/") and other == f"b/{one[2:]}":
        return one[2:], one[2:]
    first, mark, second = names.partition(" b/")
    return (first.removeprefix("a/"), second) if mark else ("", "")


def _closing(text: str) -> int:
    at = 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at


def _name(written: str, prefix: str) -> str:
    if not written.startswith('"'):
        written = written.partition("\t")[0].rstrip("\r")
    name = unquoted(written)
    return "" if name == "/dev/null" else name.removeprefix(prefix)


def unquoted(name: str) -> str:
    """Decode a path as git writes it: in double quotes with escapes when it has unusual characters."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    raw = bytearray()
    last = 0
    inner = name[1:-1]
    for match in _ESCAPED.finditer(inner):
        raw += inner[last : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        raw.append(int(code, 8) & 0xFF if len(code) == 3 else _ESCAPES[code])
        last = match.end()
    raw += inner[last:].encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")


_HUNK_HEAD = lazy_pattern(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.ASCII)
_NO_NEWLINE = "\\ No newline at end of file"
_OPPOSITE = {"+": "-", "-": "+"}


def apply_diff(text: str, diff: str) -> str | None:
    """The text after applying a unified diff; ``None`` when the diff does not apply."""
    old = raw_lines(text)
    new: list[str] = []
    position = 0
    body = raw_lines(diff)
    index = 0
    while index < len(body):
        match = _HUNK_HEAD.match(body[index])
        if match is None:
            index += 1
            continue
        start = int(match[1]) - (1 if match[2] != "0" else 0)
        if start < position or start > len(old):
            return None
        new.extend(old[position:start])
        position, index, applies = _apply_hunk(old, start, body, index + 1, new)
        if not applies:
            return None
    new.extend(old[position:])
    return "".join(new)


def reversed_diff(diff: str) -> str:
    """The reverse diff; the lines with file names are not changed."""
    reversed_lines: list[str] = []
    inside = False
    for line in raw_lines(diff):
        match = _HUNK_HEAD.match(line)
        if match is not None:
            old, _, new = match[0][4:-3].partition(" +")
            reversed_lines.append(f"@@ -{new} +{old} @@\n")
            inside = True
        else:
            reversed_lines.append(_OPPOSITE.get(line[:1], line[:1]) + line[1:] if inside else line)
    return "".join(reversed_lines)


def _apply_hunk(
    old: list[str], position: int, body: list[str], index: int, new: list[str]
) -> tuple[int, int, bool]:
    """Apply one hunk; return the positions after it in the old text and the diff, and whether it applied."""
    while index < len(body) and body[index][:1] in (" ", "+", "-"):
        mark, line = body[index][0], body[index][1:]
        index += 1
        if index < len(body) and body[index].startswith(_NO_NEWLINE):
            line = line.removesuffix("\n")
            index += 1
        if mark == "+":
            new.append(line)
            continue
        if position >= len(old) or old[position] != line:
            return position, index, False
        if mark == " ":
            new.append(line)
        position += 1
    return position, index, True


class _Stretch(NamedTuple):
    """Lines ``start`` to ``stop`` of the base, and the lines that replace them."""

    start: int
    stop: int
    lines: tuple[str, ...]


def main_line_end(text: str) -> str:
    """The line end of most lines in a text; LF when there are none."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def three_way(base: str, ours: str, theirs: str, *, apart: int = 0) -> str | None:
    """``ours`` with the changes from ``base`` to ``theirs``; ``None`` when both changed the same lines.

    Line ends are ignored in the comparison: lines of ``ours`` keep theirs, new ones get the most frequent
    one. As in git, changes of adjacent lines conflict, except in the first ``apart`` lines.
    """
    old, own, other = lines_of(base), lines_of(ours), lines_of(theirs)
    by_us, by_them = _stretches(old, own), _stretches(old, other)
    if by_us is None or by_them is None:
        return None
    wanted = [one for one in by_them if one not in by_us]
    if any(_meet(one, ours_too, apart) for one in wanted for ours_too in by_us):
        return None
    return _merged(_raw_lines(ours), by_us, wanted, main_line_end(ours))


def _stretches(old: Sequence[str], new: Sequence[str]) -> list[_Stretch] | None:
    found = stretches(old, new)
    return None if found is None else [_Stretch(i, j, tuple(new[k:end])) for i, j, k, end in found]


def _meet(one: _Stretch, other: _Stretch, apart: int) -> bool:
    if one.start < other.stop and other.start < one.stop:
        return True
    if one.start == one.stop == other.start == other.stop:
        return True
    touching = one.start == other.stop or other.start == one.stop
    return touching and max(one.start, other.start) >= apart


def _raw_lines(text: str) -> list[str]:
    """The lines of a text with their own line ends; as many as `lines_of` returns."""
    lines = []
    at = 0
    for line in lines_of(text):
        end = at + len(line)
        if line.endswith("\n") and text.startswith("\r\n", end - 1):
            end += 1
        lines.append(text[at:end])
        at = end
    return lines


def _merged(lines: list[str], by_us: list[_Stretch], wanted: list[_Stretch], line_end: str) -> str:
    """Our raw lines with the wanted changes, whose line numbers are those of the base."""
    for one in reversed(wanted):
        shift = sum(len(ours.lines) - (ours.stop - ours.start) for ours in by_us if ours.stop <= one.start)
        lines[one.start + shift : one.stop + shift] = [_with_line_end(line, line_end) for line in one.lines]
    return "".join(lines)


def _with_line_end(line: str, line_end: str) -> str:
    return line[:-1] + line_end if line.endswith("\n") else line
