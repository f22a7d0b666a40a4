"""One document under lint: what several rules ask of it, each found once, and where its links lead.

Offsets and columns count characters. Reads nothing: other documents, the log, the code and the repository's
files are asked through what the caller gives.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.document import markdown, schema
from thunderus_mem.document.conflict_markers import find_conflict
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.nodes import Node, Scalar
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.references import is_bracketed, may_be_name
from thunderus_mem.document.references import references as find_references
from thunderus_mem.lint.rule import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit
    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.document.references import Reference
    from thunderus_mem.document.schema import Violation
    from thunderus_mem.lint.rule import Corpus, Evidence, LintConfig, Provenance

_SET_BY_HAND = re.compile(r"""(?:\b(?:id|name)\s{0,3}=\s{0,3}["']?|\{\s{0,3}#)([^\s"'>}]+)""")
_ENDINGS = ("", ".md", ".mdx", "/index.md", "/README.md", ".markdown", ".rst")
"""Ways in which documentation sites leave out the end of a path."""
_LABEL = re.compile(r"\[[^\[\]\n]+\]")


class Target(NamedTuple):
    """Where a reference leads: the path without its anchor ("" for this document), and the id found there.

    ``imported`` is true for a dead link that an imported text brought with it; ``path`` is then taken from
    the place where the text came from. A document in the archive is found by the path it had in use.
    """

    path: str
    anchor: str
    doc_id: str | None
    exists: bool
    imported: bool = False


@dataclass(frozen=True)
class LintContext:
    """One document under lint, with what the rules share: headings and references are found once.

    ``corpus``, ``provenance`` and ``evidence`` may be ``None`` (nothing is known of other documents, of log
    and history, of the code; rules that ask skip). ``exists`` answers whether a root-relative path of the
    repository is there.
    """

    reading: Reading
    corpus: Corpus | None
    config: LintConfig
    exists: Callable[[str], bool]
    provenance: Provenance | None = None
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
    def scanned(self) -> markdown.MarkdownScan:
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
    def references(self) -> tuple[Reference, ...]:
        """Wiki links and relative Markdown links of the body, outside code."""
        return find_references(self.body, self.scanned) if "[" in self.body else ()

    @cached_property
    def targets(self) -> tuple[tuple[Reference, Target], ...]:
        """Every reference with where it leads; none when nothing is known of other documents."""
        return resolve_links(self)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The frontmatter with types."""
        return self.document.data() if self.document else {}

    @cached_property
    def violations(self) -> list[Violation]:
        """Where the frontmatter breaks its schema; the schema library is loaded only if it may."""
        if schema.is_valid_fast(schema.DOCUMENT, self.data):
            return []
        return schema.check(schema.DOCUMENT, self.data)

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

    def line_text(self, line: int) -> str:
        """The text of a line of the file (from 1), without its end; "" for one that is not there."""
        starts = self._line_starts
        if not 0 < line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else None
        return (self.reading.text or "")[starts[line - 1] : end].rstrip("\r\n")

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

    def finding(
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
        one = finding(
            code, self.path, message, place=place, key=key, expected=expected, hint=hint, severity=severity
        )
        placed = [edit._replace(region=(*self.place(edit.start), *self.place(edit.end))) for edit in edits]
        return one._replace(doc_id=self.document.id if self.document else "", edits=tuple(placed))


def node_at(node: Node | None, path: tuple[str | int, ...]) -> Node | None:
    """Follow keys and indexes down from ``node``."""
    for step in path:
        if isinstance(node, nodes.Mapping):
            node = node.get(str(step))
        elif isinstance(node, nodes.Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def place_at(header: nodes.Mapping | None, path: tuple[str | int, ...], first_line: int) -> tuple[int, int]:
    """File line and column of a header value; its key when it is empty, its parent when there is none."""
    node = node_at(header, path)
    if node is not None and not (isinstance(node, Scalar) and node.start == node.end):
        return first_line + node.line - 1, node.column
    while path:
        parent = node_at(header, path[:-1])
        if isinstance(parent, nodes.Mapping):
            for entry in parent.entries:
                if entry.key.text == path[-1]:
                    return first_line + entry.key.line - 1, entry.key.column
        path = path[:-1]
    return first_line, 1


def resolve_links(context: LintContext) -> tuple[tuple[Reference, Target], ...]:
    """Every reference of a document with where it leads; empty when nothing is known of other documents."""
    corpus = context.corpus
    if context.document is None or corpus is None or not context.references:
        return ()
    labels = Counter(_LABEL.findall(context.body.lower()))
    used = [one for one in context.references if _is_used(context, one, labels)]
    resolved = [(one, _resolve(context, context.document, corpus, one)) for one in used]
    return tuple([(one, target) for one, target in resolved if target is not None])


def _is_used(context: LintContext, reference: Reference, labels: Mapping[str, int]) -> bool:
    """Whether a reader meets this reference: a ``[label]: target`` counts when its label is used."""
    line = context.body_text(reference.line)
    if reference.kind == "wiki":
        return not is_bracketed(line, reference.column)
    label = f"[{reference.text}]"
    if not line.startswith(f"{label}:", reference.column - 1):
        return True
    return labels.get(label.lower(), 0) > 1


def _resolve(context: LintContext, document: Document, corpus: Corpus, reference: Reference) -> Target | None:
    """Where a reference leads; ``None`` when that cannot be told (outside the root, or no link at all)."""
    name, _, anchor = reference.target.partition("#")
    if reference.kind == "wiki":
        if not may_be_name(name):
            return None
        doc_id = corpus.resolve(name) if name else document.id
        return Target(name, anchor, doc_id, doc_id is not None)
    name = name.partition("?")[0]
    if not name:
        return Target("", anchor, document.id, True)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(context.path), name))
    if path.startswith("..") or "\\" in path:
        return None
    doc_id = _document_at(corpus, path) or _document_at(corpus, archived_path(path))
    if doc_id is not None or _is_file(context, path):
        return Target(path, anchor, doc_id, True)
    if document.imported_from:
        return _resolve_from_origin(context, corpus, document.imported_from, name, anchor)
    return Target(path, anchor, doc_id, False)


def _document_at(corpus: Corpus, path: str) -> str | None:
    doc_id = corpus.resolve(path)
    return doc_id if doc_id is not None and path in corpus.paths_of(doc_id) else None


def _resolve_from_origin(context: LintContext, corpus: Corpus, origin: str, name: str, anchor: str) -> Target:
    """Where a relative link of an imported text leads from the place where the text was written."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), name))
    for ending in _ENDINGS:
        doc_id = corpus.resolve(path + ending)
        if doc_id is not None:
            return Target(path, anchor, doc_id, True)
    exists = not path.startswith("..") and _is_file(context, path)
    return Target(path, anchor, None, exists, imported=not exists)


def _is_file(context: LintContext, path: str) -> bool:
    if any(context.exists(path + ending) for ending in _ENDINGS):
        return True
    return path.endswith(".html") and context.exists(path.removesuffix(".html") + ".md")
