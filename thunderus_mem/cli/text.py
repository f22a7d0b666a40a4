"""Text for people, calm and readable without colour: marks of style, columns, plurals, findings. Pure.

Colour is marks in the text: set while rendering, turned into escapes (or nothing) when printed. `Style` marks
what a text is (a title, an error, an id), `look` how drawn Markdown looks. The marks are two private-use
characters. They pass the filter that makes control characters visible, so that a document's own escapes never
reach the terminal while ours do. A document that holds these two characters changes a colour at worst.

``room`` is the columns of the terminal, ``None`` where there is no terminal: nothing is cut or folded then.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic, Severity
    from thunderus_mem.errors import ThunderusError

# Private use area: U+F8E0 opens and names a style by the character that follows, U+F8E1 closes.
_OPEN, _CLOSE = "\uf8e0", "\uf8e1"
_CODES: Final = {
    "b": "1",  # bold
    "d": "2",  # dim
    "r": "1;31",  # error
    "y": "33",  # warning
    "g": "32",  # good
    "c": "36",  # an id or a path
    "m": "1;33",  # a match in a snippet
}
# Above them one character for each look that drawn Markdown may have: five switches and seventeen colours.
_FIRST_LOOK: Final = 0xF000
_SWITCHES: Final = ("1", "2", "3", "4", "9")  # bold, dim, italic, underlined, struck
_COLOURS: Final = ("", *(str(30 + at) for at in range(8)), *(str(90 + at) for at in range(8)))
_LAST_LOOK: Final = _FIRST_LOOK + len(_COLOURS) * (1 << len(_SWITCHES)) - 1
_MARK: Final = f"{_OPEN}([{''.join(_CODES)}{chr(_FIRST_LOOK)}-{chr(_LAST_LOOK)}])|{_CLOSE}"


def _marked(style: str, text: str) -> str:
    return f"{_OPEN}{style}{text}{_CLOSE}" if text else text


def _code(mark: str) -> str:
    """The numbers of the escape behind a mark."""
    if mark in _CODES:
        return _CODES[mark]
    switches, colour = divmod(ord(mark) - _FIRST_LOOK, len(_COLOURS))
    codes = [code for at, code in enumerate(_SWITCHES) if switches >> at & 1]
    return ";".join([*codes, *filter(None, [_COLOURS[colour]])])


def look(text: str, *, switches: tuple[bool, ...] = (), colour: int | None = None) -> str:
    """A text marked with any look: bold, dim, italic, underlined, struck, and one of sixteen colours."""
    bits = sum(1 << at for at, wanted in enumerate(switches) if wanted)
    number = bits * len(_COLOURS) + (0 if colour is None else colour + 1)
    return _marked(chr(_FIRST_LOOK + number), text) if number else text


class Style:
    """Marks text, and paints marked text. Without colour the marks vanish."""

    __slots__ = ("colored",)

    def __init__(self, *, colored: bool) -> None:
        self.colored = colored

    def bold(self, text: str) -> str:
        """A title."""
        return _marked("b", text)

    def dim(self, text: str) -> str:
        """What matters less."""
        return _marked("d", text)

    def error(self, text: str) -> str:
        """What is wrong."""
        return _marked("r", text)

    def warning(self, text: str) -> str:
        """What deserves a look."""
        return _marked("y", text)

    def good(self, text: str) -> str:
        """What is fine."""
        return _marked("g", text)

    def name(self, text: str) -> str:
        """An id or a path: something to copy."""
        return _marked("c", text)

    def match(self, text: str) -> str:
        """Words that were searched for."""
        return _marked("m", text)

    def paint(self, text: str) -> str:
        """Marks into escapes, or into nothing."""
        if _OPEN not in text and _CLOSE not in text:
            return text
        if not self.colored:
            return re.sub(_MARK, "", text)
        return re.sub(_MARK, lambda found: f"\x1b[{_code(found[1])}m" if found[1] else "\x1b[0m", text)


def unmarked(text: str) -> str:
    """The text without marks, for measuring its width."""
    if _OPEN not in text and _CLOSE not in text:
        return text
    return re.sub(_MARK, "", text)


def pieces(text: str) -> list[str]:
    """The text as its characters and its marks, each mark whole."""
    return re.findall(rf"{_MARK.replace('(', '(?:')}|.", text, re.DOTALL)


def is_mark(piece: str) -> bool:
    """Whether a piece is a mark."""
    return piece[:1] in (_OPEN, _CLOSE)


# Widths, columns, lines

ELLIPSIS = "…"
GAP = 2
"""Blanks between two columns."""
LEAST_CELL, LEAST_LAST = 12, 24
"""Columns that a cut cell keeps, and the last cell of a row."""
_LEAST_BESIDE = 24
"""Columns that a text needs to stand beside others; in fewer it stands below them."""
_MOST_NAMES = 4


def width(text: str) -> int:
    """Columns a text takes: wide East Asian characters two, combining ones none, style marks none."""
    bare = unmarked(text)
    if bare.isascii():
        return len(bare)
    return sum(_char_width(char) for char in bare)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, columns: int) -> str:
    """A text with blanks behind it, so many that it takes ``columns``."""
    return text + " " * (columns - width(text))


def cut(text: str, limit: int) -> str:
    """A text in at most ``limit`` columns; a cut one ends in an ellipsis. Its marks stay."""
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


def wrapped(text: str, limit: int) -> list[str]:
    """A text in lines of at most ``limit`` columns, broken between words; a longer word has its own line."""
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
    """A text whose lines of more than ``limit`` columns go on below, broken between words and as far from the
    margin as they began; the others stay as they are, and so does a word that is longer than a line."""
    return "\n".join(part for line in text.split("\n") for part in _folded(line, limit))


def _folded(line: str, limit: int) -> list[str]:
    if width(line) <= limit:
        return [line]
    words = line.lstrip(" ")
    margin = " " * min(len(line) - len(words), limit // 2)
    parts = (part.strip(" ") for part in wrapped(words, limit - len(margin)))
    return [margin + part for part in parts if part]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with aligned columns; no blanks at line ends."""
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
    """Rows of one length as lines with aligned columns, all but the first flush right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        right = (" " * (most - width(cell)) + cell for most, cell in zip(widths[1:], rest, strict=True))
        lines.append((" " * GAP).join([padded(first, widths[0]), *right]))
    return lines


def columns(rows: Sequence[Sequence[str]], room: int | None, *, whole: int = 0) -> str:
    """Rows in columns; on a terminal they are cut to what fits: the last one first, then the widest.

    The first ``whole`` columns are never cut.
    """
    if not rows or room is None:
        return "\n".join(aligned(rows))
    *lead, last = ([row[at] for row in rows] for at in range(len(rows[0])))
    widths = [max(map(width, column)) for column in lead]
    while sum(widths) + GAP * len(widths) > room - LEAST_LAST and max(widths[whole:], default=0) > LEAST_CELL:
        widths[widths.index(max(widths[whole:]), whole)] -= 1
    rest = max(room - sum(widths) - GAP * len(widths), LEAST_CELL)
    fitted = [[cut(cell, most) for cell in column] for column, most in zip(lead, widths, strict=True)]
    return "\n".join(aligned(list(zip(*fitted, [cut(cell, rest) for cell in last], strict=True))))


def fitting(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """The columns of a listing that leave its last one room: the first stays, and of the others the later
    ones matter more."""
    kept = list(range(len(rows[0])))
    for column in kept[1:-1]:
        taken = sum(max(width(row[at]) for row in rows) + GAP for at in kept[:-1])
        if taken <= room - LEAST_LAST - LEAST_CELL:
            break
        kept.remove(column)
    return kept


def flowing(rows: Sequence[Sequence[str]], room: int | None) -> list[str]:
    """Rows of one length as `aligned`, in at most ``room`` columns where that is a number: the last cell goes
    on below itself, or below the row where its words have no room beside the others."""
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
            found += [first.rstrip()] if width(first) <= room else wrapped(" ".join(first.split()), room)
            found += [" " * GAP + one for one in wrapped(row[-1], room - GAP)]
    return found


def indented(text: str, room: int | None, indent: str = "") -> list[str]:
    """A text behind ``indent``, in lines of at most ``room`` columns where that is a number."""
    return [indent + line for line in ([text] if room is None else wrapped(text, room - len(indent)))]


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 document``, ``3 documents``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """A text in one line: every run of blanks is one space."""
    return " ".join(text.split())


def day(timestamp: str) -> str:
    """The date of an RFC 3339 text."""
    return timestamp[:10]


def minute(timestamp: str) -> str:
    """Date and time to the minute of an RFC 3339 text: ``2026-01-21 09:00``."""
    return timestamp[:16].replace("T", " ")


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def error_lines(error: ThunderusError, style: Style) -> Iterator[str]:
    """What an error says: its findings, one sentence, and what to do."""
    for finding in error.diagnostics:
        yield finding_line(finding, style)
    yield f"{style.error('error:')} {_capitalised(str(error))}{_full_stop(str(error))}"
    if error.hint:
        yield hint_line(error.hint, style)


def hint_line(hint: str, style: Style) -> str:
    """The line that says what to do."""
    return f"{style.dim('hint:')}  {_capitalised(hint)}"


def _capitalised(text: str) -> str:
    """A message with a capital, unless it begins with a name."""
    first = text.partition(" ")[0].rstrip(",")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _full_stop(text: str) -> str:
    """The full stop that a message lacks."""
    return "" if text.endswith((".", "?", "!", ":", "`")) else "."


def _severity(severity: Severity, style: Style) -> str:
    """``error``, ``warning`` or ``note``, in its colour."""
    paint = {"error": style.error, "warning": style.warning}.get(severity.value, style.dim)
    return paint(severity.value)


def finding_line(finding: Diagnostic, style: Style) -> str:
    """One finding in one line: place, weight, rule (what `add` alone finds has none), message."""
    place = finding.path + (f":{finding.line}:{finding.column}" if finding.line else "")
    head = f"{style.name(place)}: " if place else ""
    rule = f" {finding.rule}" if finding.rule else ""
    return f"{head}{_severity(finding.severity, style)}{rule} {finding.message}"


def finding_lines(findings: Sequence[Diagnostic], style: Style) -> list[str]:
    """Findings with their hints below."""
    lines: list[str] = []
    for finding in findings:
        lines.append(finding_line(finding, style))
        if finding.hint:
            lines.append(f"    {style.dim(finding.hint)}")
    return lines


def verdict_word(verdict: str, style: Style) -> str:
    """A verdict, or a status, in its colour."""
    if verdict == "verified":
        return style.good(verdict)
    if verdict in ("changed", "missing", "stale"):
        return style.error(verdict)
    return style.warning(verdict) if verdict == "moved" else style.dim(verdict)


def target_names(targets: Sequence[str], style: Style, more_targets: int = 0) -> str:
    """The first few documents of a step or proposal, and how many more there are, those included that
    ``targets`` lacks."""
    left = len(targets) - _MOST_NAMES + more_targets
    more = f" and {left:,} more" if left > 0 else ""
    return style.name(", ".join(targets[:_MOST_NAMES])) + more


def diff_lines(path: str, what: str, diff: str | None, moved_from: str, style: Style) -> Iterable[str]:
    """A diff in colour; ``what`` happens to the file is told where there is none."""
    if moved_from:
        yield f"rename from {moved_from}"
        yield f"rename to {path}"
    elif diff is None:
        yield f"{what} {path} (the diff is too long, or would show a secret)"
    yield from (diff_line(line, style) for line in (diff or "").splitlines())


def diff_line(line: str, style: Style) -> str:
    """A line of a diff in its colour."""
    paint = {"+": style.good, "-": style.error}.get(line[:1])
    return paint(line) if paint is not None else line
