"""Text output: style marks, columns, plurals, findings. No I/O.

Styles are marks in the text, set while rendering and turned into escapes (or removed) when printed. `Style`
marks the role of a text (title, error, id), `look` the style of rendered Markdown. The marks are two
private-use characters that pass the filter for control characters, so that escapes in a document never reach
the terminal while ours do. A document that contains these characters can at worst change a color.

``room`` is the width of the terminal in columns, ``None`` without a terminal: nothing is cut or folded then.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.authoring.sources import Source
    from thunderus_mem.diagnostic import Diagnostic, Severity
    from thunderus_mem.errors import ThunderusError

# Private use area: U+F8E0 opens a style named by the next character, U+F8E1 closes it.
_OPEN, _CLOSE = "\uf8e0", "\uf8e1"
_CODES: Final = {
    "b": "1",  # bold
    "d": "2",  # dim
    "r": "1;31",  # error
    "y": "1;35",  # warning; yellow cannot be read on white
    "g": "32",  # good
    "c": "1",  # an id or a path
    "m": "1;4",  # a match in a snippet
}
# One character for each style of rendered Markdown: five switches and seventeen colors.
_FIRST_LOOK: Final = 0xF000
_SWITCHES: Final = ("1", "2", "3", "4", "9")  # bold, dim, italic, underlined, struck
_COLOURS: Final = ("", *(str(30 + at) for at in range(8)), *(str(90 + at) for at in range(8)))
_LAST_LOOK: Final = _FIRST_LOOK + len(_COLOURS) * (1 << len(_SWITCHES)) - 1
_MARK: Final = f"{_OPEN}([{''.join(_CODES)}{chr(_FIRST_LOOK)}-{chr(_LAST_LOOK)}])|{_CLOSE}"


def _marked(style: str, text: str) -> str:
    return f"{_OPEN}{style}{text}{_CLOSE}" if text else text


def _code(mark: str) -> str:
    """Return the SGR codes of a mark."""
    if mark in _CODES:
        return _CODES[mark]
    switches, colour = divmod(ord(mark) - _FIRST_LOOK, len(_COLOURS))
    codes = [code for at, code in enumerate(_SWITCHES) if switches >> at & 1]
    return ";".join([*codes, *filter(None, [_COLOURS[colour]])])


def look(text: str, *, switches: tuple[bool, ...] = (), colour: int | None = None) -> str:
    """Mark a text as bold, dim, italic, underlined, struck and in one of sixteen colors."""
    bits = sum(1 << at for at, wanted in enumerate(switches) if wanted)
    number = bits * len(_COLOURS) + (0 if colour is None else colour + 1)
    return _marked(chr(_FIRST_LOOK + number), text) if number else text


class Style:
    """Marks text, and turns marks into escapes, or removes them when color is off."""

    __slots__ = ("colored",)

    def __init__(self, *, colored: bool) -> None:
        self.colored = colored

    def bold(self, text: str) -> str:
        """A title."""
        return _marked("b", text)

    def dim(self, text: str) -> str:
        """Secondary text."""
        return _marked("d", text)

    def error(self, text: str) -> str:
        """An error."""
        return _marked("r", text)

    def warning(self, text: str) -> str:
        """A warning."""
        return _marked("y", text)

    def good(self, text: str) -> str:
        """A good state."""
        return _marked("g", text)

    def name(self, text: str) -> str:
        """An id or a path."""
        return _marked("c", text)

    def match(self, text: str) -> str:
        """A match of the query."""
        return _marked("m", text)

    def paint(self, text: str) -> str:
        """Turn marks into escapes, or remove them."""
        if _OPEN not in text and _CLOSE not in text:
            return text
        if not self.colored:
            return re.sub(_MARK, "", text)
        return re.sub(_MARK, lambda found: f"\x1b[{_code(found[1])}m" if found[1] else "\x1b[0m", text)


def unmarked(text: str) -> str:
    """Return the text without marks, to measure its width."""
    if _OPEN not in text and _CLOSE not in text:
        return text
    return re.sub(_MARK, "", text)


def pieces(text: str) -> list[str]:
    """Split a text into characters and marks."""
    return re.findall(rf"{_MARK.replace('(', '(?:')}|.", text, re.DOTALL)


def is_mark(piece: str) -> bool:
    """Tell whether a piece is a mark."""
    return piece[:1] in (_OPEN, _CLOSE)


# Widths, columns, lines

ELLIPSIS = "…"
GAP = 2
"""Spaces between two columns."""
LEAST_CELL, LEAST_LAST = 12, 24
"""Minimum width of a cut cell, and of the last cell of a row."""
_LEAST_BESIDE = 24
"""Minimum width of a text beside others; in less room it is put below them."""
_MOST_NAMES = 4


def width(text: str) -> int:
    """Width of a text in columns: wide East Asian characters count two, combining ones and marks none."""
    bare = unmarked(text)
    if bare.isascii():
        return len(bare)
    return sum(_char_width(char) for char in bare)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, columns: int) -> str:
    """Pad a text with spaces to ``columns``."""
    return text + " " * (columns - width(text))


def cut(text: str, limit: int) -> str:
    """Cut a text to ``limit`` columns, with an ellipsis at the end; keep its marks."""
    if width(text) <= limit:
        return text
    kept, used, ended = [], 0, False
    for piece in pieces(text):
        if len(piece) > 1 or is_mark(piece):
            kept.append(piece)
            continue
        used += _char_width(piece)
        if used <= limit - 1:
            kept.append(piece)
        elif not ended:
            kept.append(ELLIPSIS)
            ended = True
    return "".join(kept)


def cut_path(path: str, limit: int) -> str:
    """Cut a path without marks to ``limit`` columns at the left, if possible between folders."""
    if width(path) <= limit:
        return path
    while "/" in path:
        path = path.partition("/")[2]
        if width(path) + 2 <= limit:
            return f"{ELLIPSIS}/{path}"
    while path and width(path) >= limit:
        path = path[1:]
    return ELLIPSIS + path


def wrapped(text: str, limit: int | None) -> list[str]:
    """Wrap a text between words to ``limit`` columns, if any; a longer word gets its own line."""
    if limit is None:
        return [text]
    lines: list[str] = []
    used = 0
    for word in text.split(" "):
        size = width(word)
        if lines and used + 1 + size <= limit:
            lines[-1] += f" {word}"
            used += 1 + size
        else:
            lines.append(word)
            used = size
    return lines


def folded(text: str, limit: int) -> str:
    """Wrap the lines longer than ``limit`` columns between words, keeping their indentation.

    Shorter lines stay unchanged; a word longer than a line is not broken.
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, limit))


def _folded(line: str, limit: int) -> list[str]:
    if width(line) <= limit:
        return [line]
    words = line.lstrip(" ")
    margin = " " * min(len(line) - len(words), limit // 2)
    parts = (part.strip(" ") for part in wrapped(words, limit - len(margin)))
    return [margin + part for part in parts if part]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows as lines with aligned columns, without trailing spaces."""
    if not rows:
        return []
    count = max(len(row) for row in rows)
    widths = [max((width(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    lines = []
    for row in rows:
        cells = [padded(cell, widths[at]) for at, cell in enumerate(row)]
        lines.append((" " * GAP).join(cells).rstrip())
    return lines


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows of equal length as lines, with all columns but the first right-aligned."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        right = (" " * (most - width(cell)) + cell for most, cell in zip(widths[1:], rest, strict=True))
        lines.append((" " * GAP).join([padded(first, widths[0]), *right]))
    return lines


def columns(rows: Sequence[Sequence[str]], room: int | None, *, whole: int = 0) -> str:
    """Format rows in columns; on a terminal cut them to fit: first the last one, then the widest.

    The first ``whole`` columns are never cut, and a last column without any text takes no room.
    """
    if not any(row[-1] for row in rows):
        rows = [row[:-1] for row in rows]
    if not rows or room is None:
        return "\n".join(aligned(rows))
    *lead, last = ([row[at] for row in rows] for at in range(len(rows[0])))
    widths = [max(map(width, column)) for column in lead]
    while sum(widths) + GAP * len(widths) > room - LEAST_LAST and max(widths[whole:], default=0) > LEAST_CELL:
        widths[widths.index(max(widths[whole:]), whole)] -= 1
    rest = max(room - sum(widths) - GAP * len(widths), LEAST_CELL)
    fitted = [[cut(cell, most) for cell in column] for column, most in zip(lead, widths, strict=True)]
    return "\n".join(aligned(list(zip(*fitted, [cut(cell, rest) for cell in last], strict=True))))


def flowing(rows: Sequence[Sequence[str]], room: int | None) -> list[str]:
    """Format rows of equal length like `aligned`, in at most ``room`` columns.

    The last cell wraps below itself, or goes below the row when there is too little room beside the others.
    """
    lines = aligned(rows)
    if room is None or all(width(line) <= room for line in lines):
        return lines
    lead = aligned([row[:-1] for row in rows])
    start = max(map(width, lead)) + GAP
    found: list[str] = []
    for row, first, line in zip(rows, lead, lines, strict=True):
        if width(line) <= room:
            found.append(line)
        elif room - start >= max(_LEAST_BESIDE, *map(width, row[-1].split(" "))):
            head, *rest = wrapped(row[-1], room - start)
            found += [padded(first, start) + head, *(" " * start + one for one in rest)]
        else:
            if first.strip():
                found += [first.rstrip()] if width(first) <= room else wrapped(" ".join(first.split()), room)
            found += [" " * GAP + one for one in wrapped(row[-1], room - GAP)]
    return found


def counted(number: int, noun: str, plural: str = "") -> str:
    """Format a number and a noun: ``1 document``, ``3 documents``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """Collapse every run of whitespace to one space."""
    return " ".join(text.split())


def day(timestamp: str) -> str:
    """Return the date of an RFC 3339 text."""
    return timestamp[:10]


def minute(timestamp: str) -> str:
    """Return date and time to the minute of an RFC 3339 text: ``2026-01-21 09:00``."""
    return timestamp[:16].replace("T", " ")


def size(count: int) -> str:
    """Format a number of bytes."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def error_lines(error: ThunderusError, style: Style) -> Iterator[str]:
    """Format an error: its findings, the message and the hint."""
    for finding in error.diagnostics:
        yield finding_line(finding, style)
    yield f"{style.error('error:')} {error}"
    if error.hint:
        yield hint_line(error.hint, style)


def hint_line(hint: str, style: Style) -> str:
    """Format a hint."""
    return f"{style.dim('hint:')}  {hint}"


def _severity(severity: Severity, style: Style) -> str:
    """``error``, ``warning`` or ``note``, in its color."""
    paint = {"error": style.error, "warning": style.warning}.get(severity.value, style.dim)
    return paint(severity.value)


def finding_line(finding: Diagnostic, style: Style) -> str:
    """Format a finding as one line: location, severity, rule (none for findings of `add`), message."""
    place = finding.path + (f":{finding.line}:{finding.column}" if finding.line else "")
    head = f"{style.name(place)}: " if place else ""
    rule = f" {finding.rule}" if finding.rule else ""
    return f"{head}{_severity(finding.severity, style)}{rule} {finding.message}"


def finding_lines(findings: Sequence[Diagnostic], style: Style) -> list[str]:
    """Format findings with their hints below."""
    lines: list[str] = []
    for finding in findings:
        lines.append(finding_line(finding, style))
        if finding.hint:
            lines.append(f"    {style.dim(finding.hint)}")
    return lines


def found_lines(found: Sequence[Source]) -> list[str]:
    """List the folders to import into a new memory, with the commands, after an empty line."""
    lines = [f"Found {counted(one.files, one.what)} in {one.path}: {one.command}" for one in found]
    return ["", *lines] if lines else []


def verdict_word(verdict: str, style: Style) -> str:
    """A verdict, or a status, in its color."""
    if verdict == "verified":
        return style.good(verdict)
    if verdict in ("changed", "missing", "stale"):
        return style.error(verdict)
    return style.warning(verdict) if verdict == "moved" else style.dim(verdict)


def target_names(targets: Sequence[str], style: Style, more_targets: int = 0) -> str:
    """List the first few documents of a step or proposal, and count the others.

    ``more_targets`` is the number of documents that ``targets`` omits.
    """
    left = len(targets) - _MOST_NAMES + more_targets
    more = f" and {left:,} more" if left > 0 else ""
    return style.name(", ".join(targets[:_MOST_NAMES])) + more


def diff_lines(path: str, what: str, diff: str | None, moved_from: str, style: Style) -> Iterable[str]:
    """Format a diff in color; without a diff, ``what`` is the operation shown instead."""
    if moved_from:
        yield f"rename from {moved_from}"
        yield f"rename to {path}"
    elif diff is None:
        yield f"{what} {path} (diff omitted: too long, or contains a secret)"
    yield from (diff_line(line, style) for line in (diff or "").splitlines())


def diff_line(line: str, style: Style) -> str:
    """A line of a diff in its color."""
    paint = {"+": style.good, "-": style.error}.get(line[:1])
    return paint(line) if paint is not None else line
