"""References in a Markdown body: wiki links, relative links, and repository paths in code spans.

Fenced code and comments are ignored, and so are links inside code spans.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.markdown import MarkdownScan, inline_text, scan
from thunderus_mem.document.paths import path_in
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.document import Document


class Reference(NamedTuple):
    """A link to another document or heading. ``target`` is decoded (``%20``).

    ``kind`` is "wiki" (``[[id]]``, ``[[id|text]]``, ``[[id#Heading]]``) or "link" (a Markdown link without a
    scheme: relative, or only ``#anchor``). ``line`` and ``column`` count from 1 in the body; ``written`` is
    the target as written, and ``place`` its line and column.
    """

    target: str
    text: str
    line: int
    column: int
    kind: str
    written: str = ""
    place: tuple[int, int] = (0, 0)


class Span(NamedTuple):
    """A code span: its content, where it begins, and the line where its paragraph begins."""

    code: str
    line: int
    column: int
    paragraph: int


class Citation(NamedTuple):
    """A path mentioned in the text. ``relative``: from a link, so relative to the document's own folder."""

    path: str
    line: int
    column: int
    relative: bool = False


_WIKI = lazy_pattern(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_TARGET = lazy_pattern(
    r"\]\(\s{0,20}(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*){0,8}))"
    r"""(?:\s{1,20}(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?\s{0,20}\)"""
)
_DEFINITION_TEXT = r" {0,3}\[([^\[\]\n]+)\]:[ \t]*(?:<([^<>\n]*)>|([^\s<>]+))"
_TITLE_TEXT = r"""(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))"""
_DEFINITION = lazy_pattern(_DEFINITION_TEXT)
_WHOLE_DEFINITION = lazy_pattern(rf"(?m)^{_DEFINITION_TEXT}(?:[ \t]+{_TITLE_TEXT})?[ \t\r]*$")
_HTML = lazy_pattern(
    r"""<(?:a|img|source)\s[^<>]{0,500}?\b(?:href|src)=(["'])([^"'<>\n]*)\1""", re.ASCII | re.IGNORECASE
)
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:|//|\\\\")
_ITEM = lazy_pattern(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_TICKS = lazy_pattern(r"(?<!\\)(\\*)(`+)")
_PLAIN_TICKS = lazy_pattern("`+")


def _paragraphs(scanned: MarkdownScan, *marks: str) -> Iterator[tuple[int, str]]:
    """Paragraphs outside code and comments that contain one of the marks: first line (from 0) and text."""
    lines = scanned.lines
    edges = iter([*scanned.hidden, (len(lines), len(lines))])
    floor, (ceiling, after) = 0, next(edges)
    done = 0
    hits = {n for mark in marks for n, line in enumerate(lines) if mark in line}
    for hit in sorted(hits):
        while hit >= after and after < len(lines):
            floor, (ceiling, after) = after, next(edges)
        if hit < done or hit >= ceiling:
            continue
        first = hit
        while first > max(floor, done) and lines[first - 1].strip():
            first -= 1
        done = hit + 1
        while done < ceiling and lines[done].strip():
            done += 1
        if lines[first][0] not in " \t" or not _indented_code(lines, first):
            yield first, "\n".join(lines[first:done])


def _indented_code(lines: list[str], first: int) -> bool:
    """Whether a paragraph is an indented code block and not the text of a list item above."""
    if not lines[first].startswith(("    ", "\t")):
        return False
    for above in range(first - 1, max(first - 60, -1), -1):
        line = lines[above]
        if line.strip() and line[0] not in " \t":
            return _ITEM.match(line) is None
    return True


def _tick_runs(text: str) -> list[tuple[int, int, int, int]]:
    """Runs of backticks: offset and width as an opening, where the first may be escaped, and as a closing."""
    if "\\" not in text:
        whole = [(match.start(), match.end() - match.start()) for match in _PLAIN_TICKS.finditer(text)]
        return [(start, size, start, size) for start, size in whole]
    runs = []
    for match in _TICKS.finditer(text):
        escaped = len(match[1]) % 2
        runs.append((match.start(2) + escaped, len(match[2]) - escaped, match.start(2), len(match[2])))
    return runs


def _code_spans(text: str) -> list[tuple[int, int, int]]:
    """Code spans as (start, end, width of the mark), in linear time."""
    if "`" not in text:
        return []
    runs = _tick_runs(text)
    closers: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closers.setdefault(runs[number][3], []).append(number)
    spans = []
    number = 0
    while number < len(runs):
        start, size, _, _ = runs[number]
        candidates = closers.get(size, [])
        while candidates and candidates[-1] <= number:
            candidates.pop()
        if size and candidates:
            closing = candidates.pop()
            spans.append((start, runs[closing][2] + size, size))
            number = closing
        number += 1
    return spans


def _ends(text: str) -> list[int]:
    """Offsets of the line ends."""
    ends = []
    at = text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    return ends


def _place(first: int, ends: list[int], offset: int) -> tuple[int, int]:
    """Line and column (from 1) of an offset in a paragraph that begins at line ``first`` (from 0)."""
    above = bisect_left(ends, offset)
    return first + above + 1, offset - (ends[above - 1] if above else -1)


def references(body: str, scanned: MarkdownScan | None = None) -> tuple[Reference, ...]:
    """Every wiki link and relative Markdown link outside code and comments, in order.

    ``scanned`` is the result of `scan`, if known.
    """
    if "[" not in body:
        return ()
    return _references(body, scanned or scan(body))


def _references(body: str, scanned: MarkdownScan) -> tuple[Reference, ...]:
    found: list[Reference] = []
    marks = [mark for mark in ("[[", "](", "]:") if mark in body]
    for first, text in _paragraphs(scanned, *marks) if marks else ():
        masked = _masked(text)
        found.extend(_wiki_links(first, text, masked))
        found.extend(_markdown_links(first, text, masked))
    found.sort(key=_by_place)
    return tuple(found)


def _by_place(one: Reference | Citation) -> tuple[int, int]:
    return one.line, one.column


def _masked(text: str) -> str:
    spans = _code_spans(text)
    if not spans:
        return text
    parts = []
    position = 0
    for start, end, _ in spans:
        parts.append(text[position:start])
        parts.append("".join(["\n" if char == "\n" else "\0" for char in text[start:end]]))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _wiki_links(first: int, text: str, masked: str) -> Iterator[Reference]:
    if "[[" not in masked:
        return
    ends = _ends(text)
    for match in _WIKI.finditer(masked):
        target = match[1].strip()
        if target and "\0" not in target:
            place = _place(first, ends, match.start(1))
            label = (match[2] or target).strip()
            yield Reference(target, label, *_place(first, ends, match.start()), "wiki", match[1], place)


def _markdown_links(first: int, text: str, masked: str) -> Iterator[Reference]:
    if "](" in masked:
        ends = _ends(text)
        for match in _TARGET.finditer(masked):
            group = 2 if match[1] is None else 1
            target = match[group]
            start = _opening(masked, match.start()) if _is_relative(target) else -1
            if start < 0:
                continue
            label = inline_text(text[start + 1 : match.start()])
            place = _place(first, ends, match.start(group))
            yield Reference(_decoded(target), label, *_place(first, ends, start), "link", target, place)
    if "]:" in masked:
        for number, line in enumerate(masked.split("\n")):
            definition = _DEFINITION.match(line)
            if definition is None or definition[1].startswith("^"):
                continue
            group = 3 if definition[2] is None else 2
            target, row = definition[group], first + number + 1
            if _is_relative(target):
                place = row, definition.start(group) + 1
                yield Reference(
                    _decoded(target), definition[1], row, line.index("[") + 1, "link", target, place
                )


def _opening(text: str, closing: int, *, images: bool = False) -> int:
    """The offset of the ``[`` for a ``]``, within a thousand characters; -1 for none, or for an image unless
    ``images``."""
    depth = 0
    for offset in range(closing - 1, max(closing - 1_000, -1), -1):
        char = text[offset]
        if char == "]":
            depth += 1
        elif char == "[":
            if depth == 0:
                before = text[offset - 1] if offset else ""
                if before == "\\" or (before == "!" and not images):
                    return -1
                return offset
            depth -= 1
    return -1


def _is_relative(target: str) -> bool:
    return bool(target) and "\0" not in target and target[0] not in "/{$" and _SCHEME.match(target) is None


def _decoded(target: str) -> str:
    if "%" not in target:
        return target
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), target.encode("utf-8", "surrogatepass")
    )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return target
    return text if text.isprintable() else target


def paths_in_code(scanned: MarkdownScan) -> Iterator[Citation]:
    """Files and folders of the repository in code spans, in order."""
    for first, text in _paragraphs(scanned, "`"):
        ends: list[int] | None = None
        for start, end, size in _code_spans(text):
            code = text[start + size : end - size]
            path = path_in(code.strip())
            if path:
                ends = _ends(text) if ends is None else ends
                offset = start + size + len(code) - len(code.lstrip())
                yield Citation(path, *_place(first, ends, offset))


def code_spans(body: str) -> tuple[Span, ...]:
    """The code spans outside fenced code and comments, stripped, in order."""
    return tuple(_spans(scan(body))) if "`" in body else ()


def _spans(scanned: MarkdownScan) -> Iterator[Span]:
    for first, text in _paragraphs(scanned, "`"):
        ends = _ends(text)
        for start, end, size in _code_spans(text):
            code = text[start + size : end - size]
            offset = start + size + len(code) - len(code.lstrip())
            yield Span(code.strip(), *_place(first, ends, offset), first + 1)


def cited_paths(body: str) -> tuple[Citation, ...]:
    """Files and folders of the repository in code spans and relative links, in order."""
    if "`" not in body and "](" not in body and "]:" not in body:
        return ()
    scanned = scan(body)
    found = list(paths_in_code(scanned))
    for one in _references(body, scanned):
        path = one.target.partition("#")[0]
        if one.kind == "link" and path and path_in(path):
            found.append(Citation(path, one.line, one.column, relative=True))
    found.sort(key=_by_place)
    return tuple(found)


_NO_NAME: Final = lazy_pattern(r"""[$"'=<>{}();:&!*,]|^-|^\d+$|^\s|\s$""")
# "[[text]](address)" is a link with bracketed text, not a wiki link.
_BRACKETED: Final = lazy_pattern(r"\[\[[^\[\]]*\]\][(\[:]")
_PLAIN: Final = "/._-~"


def may_be_name(name: str) -> bool:
    """Whether the text in double brackets could be the name of a document."""
    return _NO_NAME.search(name) is None


def is_bracketed(line: str, column: int) -> bool:
    """Whether the double brackets at a column (from 1) are the text of a link."""
    return _BRACKETED.match(line, column - 1) is not None


def linked_path(path: str, target: str) -> str:
    """The root-relative path that a relative link in the file at ``path`` points to, without fragment and
    query; "" for a link within the text."""
    file = target.partition("#")[0].partition("?")[0]
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else ""


def link_to(reference: Reference, source: str, target: str) -> str:
    """The new target of a Markdown link in the file ``source`` so that it points to the file ``target``;
    anchor and query are kept. Both paths are POSIX and relative to the root."""
    from urllib.parse import quote

    path = re.split("[#?]", reference.written, maxsplit=1)[0]
    relative = posixpath.relpath(target, posixpath.dirname(source) or ".")
    return quote(relative, safe=_PLAIN) + reference.written[len(path) :]


def rebased(body: str, source: str, target: str) -> str:
    """The body of the file ``source`` as the body of the file ``target``: relative links and images, also in
    HTML, point to the same files. Nothing else changes.

    Both paths are POSIX and relative to the root. Rebasing twice is the same as rebasing from the first file
    to the last.
    """
    if "](" not in body and "]:" not in body and "=" not in body:
        return body
    from urllib.parse import quote

    here, there = (_folders(quote(posixpath.dirname(path), safe=_PLAIN)) for path in (source, target))
    found = _relative_targets(body)
    return relinked(body, [(one, _rebased(one.written, here, there)) for one in found])


def _folders(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part != "."] if path else []


def rebased_text(document: Document, path: str) -> str:
    """The text of a document as the file ``path``: with the links of an imported text rebased. Links of other
    documents are left, and so are those of texts that were imported unchanged."""
    if not document.imported_sha256:
        return document.text
    return document.text[: document.body_start] + rebased(document.body, document.path, path)


def _rebased(written: str, source: list[str], target: list[str]) -> str:
    """A relative link in a file of the folder ``source``, as written in a file of the folder ``target``."""
    path = re.split("[#?]", written, maxsplit=1)[0]
    if not path:
        return written
    parts = _folders("/".join([*source, path]))
    # Not `relpath`: it depends on the current folder where a link leaves the root.
    common = 0
    while common < min(len(parts), len(target)) and parts[common] == target[common]:
        common += 1
    relative = "/".join([*[".."] * (len(target) - common), *parts[common:]]) or "."
    ending = "/" if path.endswith("/") else ""
    return relative + ending + written[len(path) :]


def _relative_targets(body: str) -> list[Reference]:
    """Every relative target of a link, an image or a definition outside code and comments."""
    found = []
    for first, text in _paragraphs(scan(body), "](", "]:", "href=", "src="):
        masked, ends = _masked(text), _ends(text)
        starts = [
            (match[group], match.start(group))
            for match in _TARGET.finditer(masked)
            if _opening(masked, match.start(), images=True) >= 0
            for group in (2 if match[1] is None else 1,)
        ]
        starts += [(match[2], match.start(2)) for match in _HTML.finditer(masked)]
        for match in _WHOLE_DEFINITION.finditer(masked):
            group = 3 if match[2] is None else 2
            if not match[1].startswith("^"):
                starts.append((match[group], match.start(group)))
        for written, start in starts:
            if _is_relative(written):
                place = _place(first, ends, start)
                found.append(Reference(written, "", *place, "link", written, place))
    return found


def wiki_to(reference: Reference, doc_id: str) -> str:
    """The new text of a wiki link so that it points to ``doc_id``; its heading is kept."""
    name = reference.target.partition("#")[0].strip()
    return reference.written.replace(name, doc_id, 1) if name else doc_id + reference.written.lstrip()


def relinked(body: str, changes: Iterable[tuple[Reference, str]]) -> str:
    """The body with the targets of these references replaced; nothing else changes.

    A reference whose text is no longer at its place is skipped.
    """
    lines = body.split("\n")
    placed = sorted(((one.place, one.written, new) for one, new in changes), reverse=True)
    for (number, column), written, new in placed:
        line, start = lines[number - 1], column - 1
        if line.startswith(written, start):
            lines[number - 1] = line[:start] + new + line[start + len(written) :]
    return "\n".join(lines)
