"""The types of a rule and its input, the table of codes, and findings with their rule's severity. Pure.

A rule is a function in `lint.rules` with the name of its code below. It takes a `LintContext` (one document),
a `StoreState` (the store around the documents) or a `SuppressionUse`, and yields findings. Its docstring is
its manual page. Rules read only values: no disk, no index, no clock. Questions about other documents, the
log, the code and the repository's files go through objects passed by the caller.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import Counter
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document import markdown, schema
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.nodes import Node, Scalar
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.references import is_bracketed, may_be_name
from thunderus_mem.document.references import references as find_references
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.diagnostic import TextEdit
    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.document.references import Reference
    from thunderus_mem.document.schema import Violation
    from thunderus_mem.verdicts.judge import CodeState

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

LIST_RULES: Final = "run `thunderus-mem lint --explain all` to list all rules"
"""The hint after an unknown rule."""

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
    "TM112": ("names-alike", ERROR),
    "TM113": ("kind-not-allowed", ERROR),
    "TM114": ("recap-provenance", ERROR),
    "TM115": ("unlisted-type", WARNING),
    "TM116": ("usage-in-file", WARNING),
    "TM201": ("dead-link", ERROR),
    "TM202": ("superseded-still-linked", WARNING),
    "TM203": ("dead-anchor", WARNING),
    "TM204": ("unknown-relation-target", ERROR),
    "TM205": ("dead-citation", NOTE),
    "TM206": ("unresolved-provenance", NOTE),
    "TM207": ("archived-target", NOTE),
    "TM208": ("import-drift", WARNING),
    "TM301": ("size-soft", WARNING),
    "TM302": ("size-hard", ERROR),
    "TM401": ("secret", ERROR),
    "TM402": ("invisible-unicode", ERROR),
    "TM403": ("remote-image-with-query", WARNING),
    "TM404": ("planted-instruction", WARNING),
    "TM405": ("script-address", WARNING),
    "TM501": ("schema-drift", WARNING),
    "TM502": ("manifest-schema", ERROR),
    "TM503": ("shard-schema", ERROR),
    "TM504": ("shard-chain", ERROR),
    "TM505": ("shard-torn", WARNING),
    "TM506": ("tracked-derived-file", ERROR),
    "TM507": ("conflict-in-shard", ERROR),
    "TM508": ("shard-line-ends", NOTE),
    "TM509": ("unreadable-proposal", ERROR),
    "TM510": ("expired-proposal", WARNING),
    "TM511": ("stray-document", ERROR),
    "TM512": ("stray-log", ERROR),
    "TM601": ("suppression-without-reason", WARNING),
    "TM602": ("unused-suppression", WARNING),
    "TM603": ("unknown-code", WARNING),
    "TM604": ("configured-suppressions", WARNING),
    "TM701": ("code-changed", WARNING),
    "TM702": ("code-missing", WARNING),
    "TM703": ("code-moved", NOTE),
    "TM801": ("unpaired-emotion", NOTE),
    "TM802": ("tag-spelling", NOTE),
    "TM803": ("tag-count", NOTE),
    "TM804": ("episode-length", NOTE),
    "TM805": ("missing-metadata", WARNING),
    "TM806": ("unlisted-metadata", WARNING),
}

PROFILES: Final[dict[str, tuple[str, ...]]] = {
    "shodh": ("TM801", "TM802", "TM803", "TM804"),
    "nova": ("TM802", "TM805", "TM806"),
}
"""The rules that run only if one of their profiles is enabled."""
_OF_PROFILES: Final = "TM8"


class Corpus(Protocol):
    """What rules can ask about other documents."""

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with that id, sorted."""

    def paths_like(self, path: str) -> tuple[str, ...]:
        """Every file whose path differs from this one only in case or Unicode normalization, sorted."""

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        """Every id that differs from this one only in case or Unicode normalization, sorted."""

    def resolve(self, target: str) -> str | None:
        """Resolve an id, an alias, a file stem or a root-relative path to an id."""

    def superseded_by(self, doc_id: str) -> str | None:
        """The id of the document that supersedes this one."""

    def ids(self) -> Sequence[str]:
        """Every id, sorted."""

    def anchors(self, doc_id: str) -> frozenset[str]:
        """The heading anchors of a document's body."""

    def adr_numbers(self) -> Mapping[int, tuple[str, ...]]:
        """The files of each ADR number, sorted."""

    def episode_length(self, name: str) -> int:
        """The number of active documents of an episode, without recaps of it."""


class Provenance(Protocol):
    """What rules can ask about the log and git history."""

    def missing_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """The events that are in no local shard."""

    def ambiguous_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names that several imported events have, each in a session of its own."""

    def private_events(self, document: Document) -> frozenset[str]:
        """Events listed by a change of the document as private to the working tree that wrote it."""

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        """The document's patches without a local event about the document."""

    def lost_commits(self, names: Sequence[str]) -> tuple[tuple[str, bool], ...]:
        """The commits not reachable from a branch or tag, each with whether it exists in the clone."""


class Evidence(Protocol):
    """What rules can ask about the code."""

    def of(self, document: Document) -> Sequence[CodeState]:
        """The state of each anchor of a document."""


class LintConfig(NamedTuple):
    """Which rules run, their severities, the profiles, and the settings with size limits.

    ``select`` and ``ignore`` are prefixes of codes (``TM2``); an empty ``select`` means all. ``severities``
    maps a code to a severity or ``"off"``; ``per_file`` maps a glob to the codes suppressed there, with the
    reasons.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity | Literal["off"]] = MappingProxyType({})
    per_file: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    settings: Config = Config()
    profiles: tuple[str, ...] = ()

    def runs(self, code: str) -> bool:
        """Whether the rule with this code is enabled."""
        if code.startswith(_OF_PROFILES) and not any(code in PROFILES[name] for name in self.profiles):
            return False
        if self.severities.get(code) == "off" or (self.ignore and code.startswith(self.ignore)):
            return False
        return not self.select or code.startswith(self.select)


class SchemaCopy(NamedTuple):
    """A store's copy of a schema: its ``text`` (``None`` if missing) and the expected text."""

    text: str | None
    wanted: str


class StoreState(NamedTuple):
    """Input of the rules about the store, collected by the caller.

    ``schemas`` maps a file name in the schemas folder to its actual and expected text; ``manifest`` is the
    manifest's text (``None`` if missing); ``reported`` are findings from reading the log and the review
    queue; ``tracked`` are the root-relative paths that git tracks below the ignored folders; ``needed`` are
    the globs and codes of ``per_file`` that hid a finding (``None`` if only some documents were checked).
    """

    config: LintConfig = LintConfig()
    schemas: Mapping[str, SchemaCopy] = MappingProxyType({})
    manifest: str | None = None
    reported: tuple[Diagnostic, ...] = ()
    tracked: tuple[str, ...] = ()
    needed: frozenset[tuple[str, str]] | None = None


Scope: TypeAlias = Literal["document", "store", "suppressions"]
Check: TypeAlias = "Callable[[Any], Iterable[Diagnostic]]"


class Rule(NamedTuple):
    """One rule. ``check`` takes a `LintContext`; for other scopes a `StoreState` or a `SuppressionUse`.

    ``reads_only``: it only reports read errors, so it is skipped for files without any. ``archived``: it also
    runs on archived documents.
    """

    code: str
    name: str
    severity: Severity
    check: Check
    scope: Scope = "document"
    reads_only: bool = False
    archived: bool = False

    @property
    def summary(self) -> str:
        """The first line of its page."""
        return (self.check.__doc__ or self.name).strip().partition("\n")[0].replace("``", "`")


def finding(
    code: str,
    path: str,
    message: str,
    *,
    place: tuple[int, int] = (0, 0),
    key: str = "",
    expected: str = "",
    hint: str = "",
    severity: Severity | None = None,
) -> Diagnostic:
    """Return a finding with its rule's severity or the given one; without ``place`` it is about the file."""
    return Diagnostic(code, severity or CODES[code][1], path, *place, message, key, expected, hint)


# One document under lint: values used by several rules, computed once, and resolved links.
# Offsets and columns count characters.

_EXPLICIT_ANCHOR = lazy_pattern(r"""(?:\b(?:id|name)\s{0,3}=\s{0,3}["']?|\{\s{0,3}#)([^\s"'>}]+)""")
_ENDINGS = ("", ".md", ".mdx", "/index.md", "/README.md", ".markdown", ".rst")
"""Endings of paths that documentation sites omit in links."""
_LABEL = lazy_pattern(r"\[[^\[\]\n]+\]")


class Target(NamedTuple):
    """The target of a reference: the path without its anchor ("" for this document), and the id found there.

    ``imported`` is true for a link of an imported text to a file that is not in the repository; ``path`` is
    then resolved relative to the original location of the text, and ``doc_id`` is the document imported from
    there. An archived document is also found by its former path.
    """

    path: str
    anchor: str
    doc_id: str | None
    exists: bool
    imported: bool = False


class LintContext:
    """One document under lint; headings, references and other shared values are computed once.

    ``corpus``, ``provenance`` and ``evidence`` may be ``None``; rules that need them are then skipped.
    ``exists`` returns whether a root-relative path exists in the repository, ``source_hash`` the hash of the
    file there as `document.source_hash` has it; ``None`` if it cannot be read.
    """

    def __init__(
        self,
        reading: Reading,
        corpus: Corpus | None,
        config: LintConfig,
        exists: Callable[[str], bool],
        provenance: Provenance | None = None,
        evidence: Evidence | None = None,
        source_hash: Callable[[str], str | None] = lambda path: None,
    ) -> None:
        self.reading = reading
        self.corpus = corpus
        self.config = config
        self.exists = exists
        self.provenance = provenance
        self.evidence = evidence
        self.source_hash = source_hash

    @property
    def path(self) -> str:
        """Root-relative path of the file."""
        return self.reading.path

    @property
    def document(self) -> Document | None:
        """The document, or ``None`` if it could not be read."""
        return self.reading.document

    @cached_property
    def body(self) -> str:
        """The document's body; empty if the document could not be read."""
        return self.document.body if self.document else ""

    @cached_property
    def scanned(self) -> markdown.MarkdownScan:
        """The result of scanning the body's lines once."""
        return markdown.scan(self.body)

    @cached_property
    def headings(self) -> tuple[markdown.Heading, ...]:
        """Headings of the body."""
        return markdown.headings(self.body, self.scanned)

    @cached_property
    def anchors(self) -> frozenset[str]:
        """Valid anchors for links: those of headings, and explicit ones in HTML or braces."""
        named = {heading.anchor for heading in self.headings}
        if "=" in self.body or "{" in self.body:
            named.update(name.lower() for name in _EXPLICIT_ANCHOR.findall(self.body))
        return frozenset(named)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Wiki links and relative Markdown links of the body, outside code."""
        return find_references(self.body, self.scanned) if "[" in self.body else ()

    @cached_property
    def targets(self) -> tuple[tuple[Reference, Target], ...]:
        """Every reference with its target; empty without a corpus."""
        return resolve_links(self)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The typed frontmatter."""
        return self.document.data() if self.document else {}

    @cached_property
    def violations(self) -> list[Violation]:
        """Schema violations of the frontmatter; the schema library is loaded only if there may be any."""
        if schema.is_valid_fast(schema.DOCUMENT, self.data):
            return []
        return schema.check(schema.DOCUMENT, self.data)

    @cached_property
    def conflict_lines(self) -> tuple[int, ...]:
        """Lines of git's conflict markers, if the text contains a complete conflict."""
        text = self.reading.text or ""
        if "<<<<<<<" not in text:
            return ()
        from thunderus_mem.merge.documents import find_conflict

        return find_conflict(text)

    @cached_property
    def _line_starts(self) -> list[int]:
        lengths = [len(line) + 1 for line in (self.reading.text or "").split("\n")]
        return list(accumulate(lengths[:-1], initial=0))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset in the text."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line and column (from 1)."""
        return self._line_starts[line - 1] + column - 1

    def line_text(self, line: int) -> str:
        """The text of a line of the file (from 1), without its line ending; "" if there is no such line."""
        starts = self._line_starts
        if not 0 < line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else None
        return (self.reading.text or "")[starts[line - 1] : end].rstrip("\r\n")

    def body_text(self, line: int) -> str:
        """The text of a body line (from 1), without its line ending."""
        return self.line_text(self.in_body(line))

    def in_body(self, line: int) -> int:
        """The line in the file of a body line (from 1)."""
        return line + (self.document.body_line if self.document else 1) - 1

    def node(self, *path: str | int) -> Node | None:
        """The header's value at a path of keys and indexes."""
        return node_at(self.reading.header, path)

    def at(self, *path: str | int) -> tuple[int, int]:
        """Location in the file of the value at a path; of its key or parent if it is empty or missing."""
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
        """Return a finding about this file with its rule's severity, or the given one."""
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
    """File line and column of a header value; of its key if it is empty, of its parent if it is missing."""
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
    """Every reference of a document with its target; empty without a corpus."""
    corpus = context.corpus
    if context.document is None or corpus is None or not context.references:
        return ()
    labels = Counter(_LABEL.findall(context.body.lower()))
    used = [one for one in context.references if _is_used(context, one, labels)]
    resolved = [(one, _resolve(context, context.document, corpus, one)) for one in used]
    return tuple([(one, target) for one, target in resolved if target is not None])


def _is_used(context: LintContext, reference: Reference, labels: Mapping[str, int]) -> bool:
    """Whether a reference takes effect: a definition ``[label]: target`` only if its label is used."""
    line = context.body_text(reference.line)
    if reference.kind == "wiki":
        return not is_bracketed(line, reference.column)
    label = f"[{reference.text}]"
    if not line.startswith(f"{label}:", reference.column - 1):
        return True
    return labels.get(label.lower(), 0) > 1


def _resolve(context: LintContext, document: Document, corpus: Corpus, reference: Reference) -> Target | None:
    """The target of a reference; ``None`` if it is outside the root or not a link."""
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
    if doc_id is None and document.imported_sha256:
        return _resolve_from_origin(context, corpus, context.path, name, anchor)
    if doc_id is not None or _is_file(context, path):
        return Target(path, anchor, doc_id, True)
    if document.imported_from:
        return _resolve_from_origin(context, corpus, document.imported_from, name, anchor)
    return Target(path, anchor, doc_id, False)


def _document_at(corpus: Corpus, path: str) -> str | None:
    doc_id = corpus.resolve(path)
    return doc_id if doc_id is not None and path in corpus.paths_of(doc_id) else None


def _resolve_from_origin(context: LintContext, corpus: Corpus, origin: str, name: str, anchor: str) -> Target:
    """Resolve a relative link of an imported text, which is relative to ``origin``, to a document imported
    from there or a file."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), name))
    exists = not path.startswith("..") and _is_file(context, path)
    doc_id = next(filter(None, (corpus.resolve(path + ending) for ending in _ENDINGS)), None)
    return Target(path, anchor, doc_id, exists or doc_id is not None, imported=not exists)


def _is_file(context: LintContext, path: str) -> bool:
    if any(context.exists(path + ending) for ending in _ENDINGS):
        return True
    return path.endswith(".html") and context.exists(path.removesuffix(".html") + ".md")
