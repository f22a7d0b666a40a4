"""What a rule is, what it may look at, and the table of codes.

A rule is a function from a `Subject` (one document) or a `LintStore` (the whole store) to findings. Its
docstring is its manual page. Rules read values only: no disk, no index, no clock.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from thunderus_mem.model import markdown
from thunderus_mem.model.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.model.header import Mapping as HeaderMapping
from thunderus_mem.model.header import Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.model.document import Document, Reading
    from thunderus_mem.model.schema import Violation

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

CODES: Final[dict[str, tuple[str, Severity]]] = {
    "TM001": ("not-utf8", ERROR),
    "TM002": ("nul-or-binary", ERROR),
    "TM003": ("too-large", ERROR),
    "TM004": ("no-frontmatter", ERROR),
    "TM005": ("unclosed-frontmatter", ERROR),
    "TM006": ("header-syntax", ERROR),
    "TM007": ("duplicate-key", ERROR),
    "TM008": ("tab", ERROR),
    "TM009": ("alias-or-anchor-or-tag", ERROR),
    "TM010": ("header-limits", ERROR),
    "TM011": ("missing-identity", ERROR),
    "TM012": ("conflict-markers", ERROR),
    "TM013": ("ambiguous-scalar", WARNING),
    "TM101": ("frontmatter-schema", ERROR),
    "TM102": ("id-grammar", ERROR),
    "TM103": ("duplicate-id", ERROR),
    "TM104": ("kind-folder", ERROR),
    "TM105": ("file-name", ERROR),
    "TM106": ("path-length", WARNING),
    "TM107": ("missing-section", WARNING),
    "TM108": ("repeated-anchor", WARNING),
    "TM109": ("updated-before-created", ERROR),
    "TM110": ("empty-body", WARNING),
    "TM111": ("adr-number-taken", WARNING),
    "TM201": ("dead-link", ERROR),
    "TM202": ("superseded-still-linked", WARNING),
    "TM203": ("dead-anchor", WARNING),
    "TM204": ("unknown-relation-target", ERROR),
    "TM301": ("size-soft", WARNING),
    "TM302": ("size-hard", ERROR),
    "TM401": ("secret", ERROR),
    "TM402": ("invisible-unicode", ERROR),
    "TM403": ("remote-image-with-query", WARNING),
    "TM501": ("schema-drift", WARNING),
    "TM502": ("manifest-schema", ERROR),
    "TM503": ("shard-schema", ERROR),
    "TM504": ("shard-chain", ERROR),
    "TM505": ("shard-torn", WARNING),
    "TM506": ("tracked-projection", ERROR),
    "TM507": ("conflict-in-shard", ERROR),
}


class Corpus(Protocol):
    """What a rule may know of the other documents."""

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with that id, sorted."""

    def resolve(self, target: str) -> str | None:
        """The id meant by an id, an alias, a file stem or a root-relative path."""

    def superseded_by(self, doc_id: str) -> str | None:
        """The id of the document that replaces this one."""

    def ids(self) -> Iterable[str]:
        """Every id."""

    def anchors(self, doc_id: str) -> frozenset[str]:
        """The heading anchors of a document."""

    def adr_numbers(self) -> Mapping[int, tuple[str, ...]]:
        """The files of each ADR number, sorted."""


@dataclass(frozen=True, slots=True)
class LintConfig:
    """Which rules run, how much they weigh, and the caps. Sizes are in tokens (characters divided by four).

    ``select`` and ``ignore`` hold beginnings of codes (``TM2``); nothing selected means all. ``severities``
    maps a code to a severity or ``"off"``.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity | Literal["off"]] = field(default_factory=dict)
    core_soft: int = 4000
    core_hard: int = 8000
    document_soft: int = 2000
    document_hard: int = 4000
    path_max: int = 120
    name_max: int = 60

    def runs(self, code: str) -> bool:
        """Whether the rule with this code is wanted."""
        if self.severities.get(code) == "off" or (self.ignore and code.startswith(self.ignore)):
            return False
        return not self.select or code.startswith(self.select)


@dataclass(frozen=True)
class Subject:
    """One document under lint, with what the rules share: headings and references are found once.

    ``corpus`` may be ``None`` (nothing is known of other documents; rules that ask skip). ``exists`` answers
    whether a root-relative path of the repository is there.
    """

    reading: Reading
    corpus: Corpus | None
    config: LintConfig
    exists: Callable[[str], bool]

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
    def headings(self) -> tuple[markdown.Heading, ...]:
        """Headings of the body."""
        return markdown.headings(self.body)

    @cached_property
    def references(self) -> tuple[markdown.Reference, ...]:
        """Wiki links and relative Markdown links of the body, outside code."""
        return markdown.references(self.body)

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
        starts, text = [0], self.reading.text or ""
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return starts

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset into the text."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Offset into the text of a line and column, both from 1."""
        return self._line_starts[line - 1] + column - 1

    def in_body(self, line: int) -> int:
        """The file line of a body line (from 1)."""
        return line + (self.document.body_line if self.document else 1) - 1

    def node(self, *path: str | int) -> Node | None:
        """The header's value at a path of keys and indexes."""
        return node_at(self.reading.header, path)

    def at(self, *path: str | int) -> tuple[int, int]:
        """Where the value at a path stands in the file; what encloses it, when there is none or it is empty."""
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
        return Diagnostic(code, weight, self.path, line, column, message, key, expected, hint, doc_id, edits)


@dataclass(frozen=True, slots=True)
class LintStore:
    """What the store rules look at, gathered by the caller.

    ``schemas`` maps a schema's name to the text in the store (``None``: the file is not there);
    ``manifest`` is the manifest's text (``None``: there is none); ``log`` is what reading the log found;
    ``tracked`` are the root-relative paths git tracks below the ignored folders.
    """

    corpus: Corpus | None = None
    config: LintConfig = field(default_factory=LintConfig)
    schemas: Mapping[str, str | None] = field(default_factory=dict)
    schemas_folder: str = ".thunderus/schemas"
    manifest: str | None = None
    manifest_path: str = ".thunderus/memory/indexes/manifest.json"
    log: tuple[Diagnostic, ...] = ()
    tracked: tuple[str, ...] = ()


Check: TypeAlias = "Callable[[Any], Iterable[Diagnostic]]"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``check`` takes a `Subject` or, for ``scope`` "store", a `LintStore`."""

    code: str
    name: str
    severity: Severity
    check: Check
    scope: Literal["document", "store"] = "document"

    @property
    def summary(self) -> str:
        """The first line of its page."""
        return (self.check.__doc__ or self.name).strip().partition("\n")[0]


def node_at(node: Node | None, path: tuple[str | int, ...]) -> Node | None:
    """Follow keys and indexes down from ``node``."""
    for step in path:
        if isinstance(node, HeaderMapping):
            node = node.get(str(step))
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def place_at(header: HeaderMapping | None, path: tuple[str | int, ...], first_line: int) -> tuple[int, int]:
    """File line and column of a header value; of its key when it is empty, of its parent when it is missing."""
    node = node_at(header, path)
    if node is not None and not (isinstance(node, Scalar) and node.start == node.end):
        return first_line + node.line - 1, node.column
    while path:
        parent = node_at(header, path[:-1])
        if isinstance(parent, HeaderMapping):
            for entry in parent.entries:
                if entry.key.text == path[-1]:
                    return first_line + entry.key.line - 1, entry.key.column
        path = path[:-1]
    return first_line, 1


def find_conflict(text: str) -> tuple[int, ...]:
    """Lines (from 1) of git's conflict markers in ``text``; empty unless a conflict is whole.

    Git writes each marker at the start of a line: seven characters, then nothing or a blank and a label.
    """
    lines: list[int] = []
    wanted, opened = "<<<<<<<", 0
    for number, line in enumerate(text.split("\n"), 1):
        mark, rest = line[:7], line[7:].rstrip("\r")
        if mark == wanted and (not rest or rest[0] == " ") and (mark != "=======" or not rest):
            opened = opened or number
            lines.append(number)
            if mark == ">>>>>>>":
                opened = 0
            wanted = {"<<<<<<<": "=======", "=======": ">>>>>>>", ">>>>>>>": "<<<<<<<"}[mark]
    if opened:
        lines = [number for number in lines if number < opened]
    return tuple(lines)


def relative_path(target: str, source: str) -> str:
    """The path from the folder of ``source`` to ``target``, both relative to the root."""
    return posixpath.relpath(target, posixpath.dirname(source) or ".")
