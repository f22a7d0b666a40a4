"""One document under lint, and what several rules ask of it, each found once."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from thunderus_mem.lint.follow import follow
from thunderus_mem.lint.rule import CODES
from thunderus_mem.model import markdown
from thunderus_mem.model.conflict import find_conflict
from thunderus_mem.model.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.model.header import Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.lint.follow import Target
    from thunderus_mem.lint.rule import Corpus, Evidence, LintConfig, Origins
    from thunderus_mem.model.document import Document, Reading
    from thunderus_mem.model.schema import Violation

_COMPARED = 80
_SET_BY_HAND = re.compile(r"""(?:\b(?:id|name)\s{0,3}=\s{0,3}["']?|\{\s{0,3}#)([^\s"'>}]+)""")


def node_at(node: Node | None, path: tuple[str | int, ...]) -> Node | None:
    """Follow keys and indexes down from ``node``."""
    for step in path:
        if isinstance(node, Mapping):
            node = node.get(str(step))
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def place_at(header: Mapping | None, path: tuple[str | int, ...], first_line: int) -> tuple[int, int]:
    """File line and column of a header value; its key when it is empty, its parent when there is none."""
    node = node_at(header, path)
    if node is not None and not (isinstance(node, Scalar) and node.start == node.end):
        return first_line + node.line - 1, node.column
    while path:
        parent = node_at(header, path[:-1])
        if isinstance(parent, Mapping):
            for entry in parent.entries:
                if entry.key.text == path[-1]:
                    return first_line + entry.key.line - 1, entry.key.column
        path = path[:-1]
    return first_line, 1


def relative_path(target: str, source: str) -> str:
    """The path from the folder of ``source`` to ``target``, both relative to the root."""
    return posixpath.relpath(target, posixpath.dirname(source) or ".")


def _alike(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def nearest(text: str, known: Iterable[str]) -> str:
    """The known name most like ``text``, "" when none is; quick however many there are."""
    from thunderus_mem.model.ids import closest

    # Comparing letter by letter is slow: only names that begin alike get that far.
    likely = sorted(known, key=lambda name: (-_alike(name, text), name))[:_COMPARED]
    return next(iter(closest(text[:_COMPARED], likely, 1)), "")


@dataclass(frozen=True)
class Subject:
    """One document under lint, with what the rules share: headings and references are found once.

    ``corpus``, ``origins`` and ``evidence`` may be ``None`` (nothing is known of other documents, of log and
    history, of the code; rules that ask skip). ``exists`` answers whether a root-relative
    path of the repository is there.
    """

    reading: Reading
    corpus: Corpus | None
    config: LintConfig
    exists: Callable[[str], bool]
    origins: Origins | None = None
    evidence: Evidence | None = None

    @property
    def path(self) -> str:
        """Root-relative path of the file."""
        return self.reading.path

    @property
    def document(self) -> Document | None:
        """The document, when it reads."""
        return self.reading.document

    @cached_property
    def body(self) -> str:
        """The document's body; empty when the document does not read."""
        return self.document.body if self.document else ""

    @cached_property
    def scanned(self) -> markdown.Scan:
        """What the one scan of the body's lines finds."""
        return markdown.scan(self.body)

    @cached_property
    def headings(self) -> tuple[markdown.Heading, ...]:
        """Headings of the body."""
        return markdown.headings(self.body, self.scanned)

    @cached_property
    def anchors(self) -> frozenset[str]:
        """Anchors a link may name: those of headings, and those set by hand in HTML or braces."""
        named = {heading.anchor for heading in self.headings}
        if "=" in self.body or "{" in self.body:
            named.update(name.lower() for name in _SET_BY_HAND.findall(self.body))
        return frozenset(named)

    @cached_property
    def references(self) -> tuple[markdown.Reference, ...]:
        """Wiki links and relative Markdown links of the body, outside code."""
        return markdown.references(self.body, self.scanned) if "[" in self.body else ()

    @cached_property
    def targets(self) -> tuple[tuple[markdown.Reference, Target], ...]:
        """References with where they lead. See `follow`."""
        return follow(self)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The frontmatter with types."""
        return self.document.data() if self.document else {}

    @cached_property
    def violations(self) -> list[Violation]:
        """Where the frontmatter breaks its schema; the schema library is loaded only if it may."""
        from thunderus_mem.model import schema

        return [] if schema.surely_valid(self.data) else schema.check(schema.DOCUMENT, self.data)

    @cached_property
    def conflict_lines(self) -> tuple[int, ...]:
        """Lines of git's conflict markers, when a whole conflict is there."""
        text = self.reading.text or ""
        return find_conflict(text) if "<<<<<<<" in text else ()

    @cached_property
    def _line_starts(self) -> list[int]:
        lengths = [len(line) + 1 for line in (self.reading.text or "").split("\n")]
        return list(accumulate(lengths[:-1], initial=0))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset into the text."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def _region(self, edit: TextEdit) -> tuple[int, int, int, int]:
        return (*self.place(edit.start), *self.place(edit.end))

    def line_text(self, line: int) -> str:
        """The text of a line of the file (from 1), without its end; "" for one that is not there."""
        starts = self._line_starts
        if not 0 < line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else None
        return (self.reading.text or "")[starts[line - 1] : end].rstrip("\r\n")

    def offset(self, line: int, column: int) -> int:
        """Offset into the text of a line and column, both from 1."""
        return self._line_starts[line - 1] + column - 1

    def body_text(self, line: int) -> str:
        """The text of a body line (from 1), without its end."""
        return self.line_text(self.in_body(line))

    def in_body(self, line: int) -> int:
        """The file line of a body line (from 1)."""
        return line + (self.document.body_line if self.document else 1) - 1

    def node(self, *path: str | int) -> Node | None:
        """The header's value at a path of keys and indexes."""
        return node_at(self.reading.header, path)

    def at(self, *path: str | int) -> tuple[int, int]:
        """Where the value at a path stands in the file; its key or parent, when it is empty or missing."""
        return place_at(self.reading.header, path, self.reading.header_line or 1)

    def span(self, node: Scalar) -> tuple[int, int]:
        """Offsets into the text of a header scalar, quotes included."""
        start = self._line_starts[self.reading.header_line - 1]
        return start + node.start, start + node.end

    def found(
        self,
        code: str,
        place: tuple[int, int],
        message: str,
        *,
        key: str = "",
        expected: str = "",
        hint: str = "",
        severity: Severity | None = None,
        edits: tuple[TextEdit, ...] = (),
    ) -> Diagnostic:
        """A finding about this file with its rule's severity, or the one given."""
        weight = severity or CODES[code][1]
        doc_id = self.document.id if self.document else ""
        line, column = place
        edits = tuple([edit._replace(region=self._region(edit)) for edit in edits])
        return Diagnostic(code, weight, self.path, line, column, message, key, expected, hint, doc_id, edits)
