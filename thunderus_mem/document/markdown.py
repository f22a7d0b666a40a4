"""Markdown of a body: headings and passages, a line as plain text or as GitHub's anchor, and suppression
comments. Pure.

One scan of the lines finds fenced code, HTML comments at the start of a line, ATX and setext headings
(CommonMark 0.31 §4). Any text is accepted; time is linear in its length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

# Lines

_LINK_TEXT = lazy_pattern(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = lazy_pattern(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
_EMPHASIS = lazy_pattern(r"(?<![\w\\])(_{1,3})(?=\S)([^_]+)(?<=\S)\1(?!\w)")
_PLAIN_TITLE = lazy_pattern(r"[\w .,:;?/'&()+-]*")


def inline_text(text: str) -> str:
    """A line of Markdown as plain text: links become their text; emphasis, backticks, tags and escapes are
    removed."""
    if _PLAIN_TITLE.fullmatch(text) and "_" not in text:
        return text
    if "[[" in text:
        text = re.sub(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]", lambda m: m[2] or m[1], text)
    if "](" in text or "][" in text:
        text = _LINK_TEXT.sub(lambda m: "" if m[0][0] == "!" else m[1], text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "_" in text and "`" not in text:
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"\\([!-/:-@\[-`{-~])|[`*]+", lambda m: m[1] or "", text)
    return text.strip()


_ASCII_DROPPED = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code) in "_- ")}
_ASCII_SLUG = {**_ASCII_DROPPED, ord(" "): "-"}
_KEPT = frozenset(("Mn", "Mc", "Me", "Nd", "Nl", "Pc"))


def heading_anchor(text: str) -> str:
    """GitHub's anchor for a heading: lower case, without punctuation, spaces as ``-``."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered.translate(_ASCII_SLUG)
    import unicodedata

    kept = []
    for char in lowered:
        if char == " ":
            kept.append("-")
        elif char.isalpha() or char in "_-" or unicodedata.category(char) in _KEPT:
            kept.append(char)
    return "".join(kept)


# Headings and passages

PASSAGE_SIZE = 1_200


class Heading(NamedTuple):
    """A heading. ``line`` counts from 1 in the body; ``anchor`` is unique in the body."""

    level: int
    text: str
    anchor: str
    line: int


class Passage(NamedTuple):
    """A part of a section: its own text, without that of subsections.

    ``heading`` is the path of headings ("Setup > Linux"), ``anchor`` that of the innermost one; both are
    empty before the first heading. ``line`` is where the text begins. A section without text has an empty
    passage only when it has no subsections.
    """

    anchor: str
    heading: str
    line: int
    text: str


class Outline(NamedTuple):
    """Headings and passages of one body, from one scan."""

    headings: tuple[Heading, ...]
    passages: tuple[Passage, ...]


# The only characters a line can begin with that matter to the scan.
_MARKS = frozenset("#`~=-< \t")
_ATX = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_FENCE = lazy_pattern(r"([ \t]*)(`{3,}|~{3,})(.*)$")
_SETEXT = lazy_pattern(r" {0,3}(=+|-+)[ \t]*$")
_ITEM = lazy_pattern(r"([ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)")
_NOT_PARAGRAPH = lazy_pattern(
    r" {4}|\t| {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|\||<!--|`{3}|~{3})"
)


class MarkdownScan(NamedTuple):
    """The result of scanning a body's lines once."""

    lines: list[str]
    titles: list[tuple[int, int, int, str]]  # level, first line, line after, raw text (indexes from 0)
    hidden: list[tuple[int, int]]  # half-open line ranges of fenced code and comments


def _split(body: str) -> list[str]:
    if "\r" in body:
        body = body.replace("\r\n", "\n")
    return body.split("\n")


def scan(body: str) -> MarkdownScan:
    """Scan a body: find its headings, and the lines that are code or comments."""
    lines = _split(body)
    titles: list[tuple[int, int, int, str]] = []
    hidden: list[tuple[int, int]] = []
    skip_to = 0
    outside: dict[int, int] = {}
    for index in [number for number, line in enumerate(lines) if line[:1] in _MARKS]:
        if index < skip_to:
            continue
        line = lines[index]
        stripped = line.lstrip(" \t")
        mark = stripped[:1]
        if mark == "#":
            atx = _ATX.match(line)
            if atx is not None:
                titles.append((len(atx[1]), index, index + 1, _closed(atx[2] or "")))
        elif mark == "`" or mark == "~":
            skip_to = _fence_end(lines, index, line, outside)
        elif mark == "<":
            if stripped.startswith("<!--") and len(line) - len(stripped) < 4:
                skip_to = _comment_end(lines, index, line)
        elif (mark == "=" or mark == "-") and not stripped.strip("=- \t"):
            title = _setext(lines, index, line, hidden, titles)
            if title is not None:
                titles.append(title)
        if skip_to > index:
            hidden.append((index, skip_to))
    return MarkdownScan(lines, titles, hidden)


def without_comments(body: str) -> str:
    """The body with HTML comment lines blanked; line numbers stay the same, code is kept."""
    if "<!--" not in body:
        return body
    lines, _, hidden = scan(body)
    kept: list[str] = []
    for first, after in [*hidden, (len(lines), len(lines))]:
        kept += ["" if _is_comment(line) else line for line in lines[len(kept) : first]]
        block = lines[first:after]
        kept += [""] * len(block) if block and block[0].lstrip(" \t").startswith("<!--") else block
    return "\n".join(kept)


def _is_comment(line: str) -> bool:
    text = line.strip(" \t")
    return text.startswith("<!--") and text.endswith("-->")


def _closed(text: str) -> str:
    """The text of an ATX heading without its closing run of ``#``."""
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def _fence_end(lines: list[str], index: int, line: str, outside: dict[int, int]) -> int:
    """Index after a fenced block that begins here; 0 for none.

    ``outside`` has for each indent the last line known not to be in a list item.
    """
    fence = _FENCE.match(line)
    if fence is None or (fence[2][0] == "`" and "`" in fence[3]):
        return 0
    indent = len(fence[1].expandtabs(4))
    if indent > 3 and not _inside_item(lines, index, indent, outside.get(indent, -1)):
        outside[indent] = index
        return 0
    run = fence[2]
    for after in range(index + 1, len(lines)):
        if run in lines[after] and not lines[after].strip(" \t").strip(run[0]):
            return after + 1
    return len(lines)


def _inside_item(lines: list[str], index: int, indent: int, known: int) -> bool:
    """Whether a line with this indent belongs to a list item above and is not indented code."""
    for above in range(index - 1, max(index - 200, known), -1):
        line = lines[above]
        item = _ITEM.match(line)
        if item is not None and len(item[1].expandtabs(4)) <= indent:
            return indent - len(item[1].expandtabs(4)) < 4
        if line.strip() and line[0] not in " \t":
            return False
    return False


def _comment_end(lines: list[str], index: int, line: str) -> int:
    """Index after an HTML comment that begins here; 0 for one that ends on its own line."""
    if "-->" in line:
        return 0
    for after in range(index + 1, len(lines)):
        if "-->" in lines[after]:
            return after + 1
    return len(lines)


def _setext(
    lines: list[str],
    index: int,
    line: str,
    hidden: list[tuple[int, int]],
    titles: list[tuple[int, int, int, str]],
) -> tuple[int, int, int, str] | None:
    """The heading that this line underlines, if the lines above it are a paragraph."""
    under = _SETEXT.match(line)
    if under is None:
        return None
    floor = max(hidden[-1][1] if hidden else 0, titles[-1][2] if titles else 0)
    first = index
    while first > floor and index - first < 50 and lines[first - 1].strip():
        if _NOT_PARAGRAPH.match(lines[first - 1]) and (first == index or lines[first - 1][0] not in " \t"):
            break
        first -= 1
    if first == index:
        return None
    if first > floor and lines[first - 1].strip() and not re.match(r" {0,3}(?:\||#)", lines[first - 1]):
        return None
    text = " ".join(part.strip() for part in lines[first:index])
    return (1 if under[1][0] == "=" else 2, first, index + 1, text)


def _named(titles: list[tuple[int, int, int, str]]) -> list[Heading]:
    found = []
    taken: dict[str, int] = {}
    for level, first, _, raw in titles:
        text = inline_text(raw)
        base = anchor = heading_anchor(text)
        while anchor in taken:
            taken[base] += 1
            anchor = f"{base}-{taken[base]}"
        taken[anchor] = 0
        found.append(Heading(level, text, anchor, first + 1))
    return found


def outline(body: str, scanned: MarkdownScan | None = None) -> Outline:
    """Headings and passages from one scan; ``scanned`` is the result of `scan`, if known."""
    scanned = scanned or scan(body)
    named = _named(scanned.titles)
    found: list[Passage] = []
    _section(
        found, scanned.lines, 0, scanned.titles[0][1] if scanned.titles else len(scanned.lines), "", "", True
    )
    path: list[Heading] = []
    last = len(named) - 1
    for number, heading in enumerate(named):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        end = scanned.titles[number + 1][1] if number < last else len(scanned.lines)
        has_children = number < last and named[number + 1].level > heading.level
        joined = " > ".join([above.text for above in path]) if len(path) > 1 else heading.text
        _section(found, scanned.lines, scanned.titles[number][2], end, heading.anchor, joined, has_children)
    return Outline(tuple(named), tuple(found))


def _section(
    found: list[Passage], lines: list[str], start: int, end: int, anchor: str, heading: str, skip_empty: bool
) -> None:
    after_title = start
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end:
        if not skip_empty:
            found.append(Passage(anchor, heading, after_title, ""))
        return
    text = "\n".join(lines[start:end])
    if len(text) <= PASSAGE_SIZE:
        found.append(Passage(anchor, heading, start + 1, text))
        return
    for first, after in _pieces(lines, start, end):
        found.append(Passage(anchor, heading, first + 1, "\n".join(lines[first:after])))


def _pieces(lines: list[str], start: int, end: int) -> list[tuple[int, int]]:
    """Split a long section at blank lines into pieces of about `PASSAGE_SIZE` characters."""
    pieces: list[tuple[int, int]] = []
    first = start
    size = 0
    paragraph = start  # where the current paragraph begins
    paragraph_size = 0
    for index in range(start, end):
        if lines[index].strip():
            if paragraph_size == 0:
                paragraph = index
            paragraph_size += len(lines[index]) + 1
            continue
        if paragraph_size == 0:
            continue
        if size and size + paragraph_size > PASSAGE_SIZE:
            pieces.append((first, _trimmed(lines, first, paragraph)))
            first, size = paragraph, 0
        size += paragraph_size
        paragraph_size = 0
    if size and paragraph_size and size + paragraph_size > PASSAGE_SIZE:
        pieces.append((first, _trimmed(lines, first, paragraph)))
        first = paragraph
    pieces.append((first, end))
    return pieces


def _trimmed(lines: list[str], first: int, after: int) -> int:
    while after > first and not lines[after - 1].strip():
        after -= 1
    return after


def headings(body: str, scanned: MarkdownScan | None = None) -> tuple[Heading, ...]:
    """Every heading of the body, in order; ``scanned`` is the result of `scan`, if known."""
    return tuple(_named((scanned or scan(body)).titles))


# Suppression comments
#
# ``<!-- thunderus-mem: ignore TM201 reason -->`` at the end of a line applies to that line, alone on a line
# to the next line that is not blank; ``ignore-file`` applies to the whole file, including its frontmatter.
# Codes are separated by commas. TM401 must give the fingerprint of the secret; it never covers all secrets.

MARK: Final = "thunderus-mem: ignore"
_COMMENT = lazy_pattern(r"<!--\s{0,9}thunderus-mem: ignore(-file)?(?![\w-])([^\n>]{0,600}?)-->")
_CODES = lazy_pattern(r"\s{0,9}([A-Za-z0-9_-]+(?:\s{0,3},\s{0,3}[A-Za-z0-9_-]+){0,40})")
_SECRET = "TM401"
FINGERPRINT = lazy_pattern(r"\b[0-9a-f]{8}\b")


class Suppression(NamedTuple):
    """A suppression: its codes, the line it applies to (0: the file), and its reason.

    ``at`` is the position of a comment, and ``shown`` is true for one inside code, which may be an example.
    ``glob`` is set for an entry in the configuration.
    """

    codes: tuple[str, ...]
    line: int
    reason: str
    at: tuple[int, int] = (0, 0)
    shown: bool = False
    glob: str = ""

    def covers(self) -> Iterator[tuple[str, int, str]]:
        """What this suppresses: codes, each with the line and, for a secret, a fingerprint."""
        for code in dict.fromkeys(self.codes):
            for mark in FINGERPRINT.findall(self.reason) if code == _SECRET else ("",):
                yield code, self.line, mark


def suppressions(text: str) -> tuple[Suppression, ...]:
    """The suppression comments of a file, in order. Lines count from 1 in the file."""
    if MARK not in text:
        return ()
    lines = text.split("\n")
    fenced = _fenced(text)
    by_line: list[list[Suppression]] = []
    below = 0  # the next line that a comment alone on its line applies to
    for number in range(len(lines), 0, -1):
        line = lines[number - 1]
        marked = MARK in line
        alone = marked and not _COMMENT.sub("", line).strip()
        if marked:
            target = below if alone and below else number
            by_line.append(list(_comments_in(line, number, target, number in fenced)))
        if not alone and line.strip():
            below = number
    return tuple(one for found in reversed(by_line) for one in found)


def _comments_in(line: str, number: int, target: int, fenced: bool) -> Iterator[Suppression]:
    ticks, counted = 0, 0
    for match in _COMMENT.finditer(line):
        ticks += line.count("`", counted, match.start())
        counted = match.start()
        codes, reason = _parts(match[2])
        at = number, match.start() + 1
        yield Suppression(codes, 0 if match[1] else target, reason, at, fenced or ticks % 2 == 1)


def _parts(words: str) -> tuple[tuple[str, ...], str]:
    match = _CODES.match(words)
    if match is None:
        return (), words.strip()
    return tuple(code.strip() for code in match[1].split(",")), words[match.end() :].strip()


def _fenced(text: str) -> frozenset[int]:
    lines, _, hidden = scan(text)
    code = [(start, end) for start, end in hidden if lines[start].lstrip(" \t")[:1] in ("`", "~")]
    return frozenset(number + 1 for start, end in code for number in range(start, end))
