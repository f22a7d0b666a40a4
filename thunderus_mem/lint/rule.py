"""What a rule is, what it may look at, the table of codes, and a finding with the severity of its rule.

A rule is a function in `lint.rules` with the name of its code below. It takes a `LintContext` (one document),
a `StoreState` (what is around the documents) or a `SuppressionUse`, and gives findings. Its docstring is its
manual page. Rules read values only: no disk, no index, no clock.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from thunderus_mem.diagnostic import Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.verdicts.judge import CodeState

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
    "TM112": ("names-alike", ERROR),
    "TM201": ("dead-link", ERROR),
    "TM202": ("superseded-still-linked", WARNING),
    "TM203": ("dead-anchor", WARNING),
    "TM204": ("unknown-relation-target", ERROR),
    "TM205": ("dead-citation", NOTE),
    "TM206": ("unresolved-provenance", NOTE),
    "TM207": ("archived-target", NOTE),
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
    "TM506": ("tracked-projection", ERROR),
    "TM507": ("conflict-in-shard", ERROR),
    "TM508": ("shard-line-ends", NOTE),
    "TM509": ("unreadable-proposal", ERROR),
    "TM510": ("expired-proposal", WARNING),
    "TM601": ("answer-without-reason", WARNING),
    "TM602": ("unused-answer", WARNING),
    "TM603": ("unknown-code", WARNING),
    "TM604": ("configured-answers", WARNING),
    "TM701": ("code-changed", WARNING),
    "TM702": ("code-missing", WARNING),
    "TM703": ("code-moved", NOTE),
}


class Corpus(Protocol):
    """What a rule may know of the other documents."""

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with that id, sorted."""

    def paths_like(self, path: str) -> tuple[str, ...]:
        """Every file whose path differs from this one in nothing but case or Unicode form, sorted."""

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        """Every id that differs from this one in nothing but case or Unicode form, sorted."""

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


class Provenance(Protocol):
    """What a rule may know of the log and of git's history."""

    def missing_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the events that no shard here holds."""

    def private_events(self, document: Document) -> frozenset[str]:
        """The events that a change of the document calls private to the tree that wrote it."""

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        """Those of a document's patches that no event about it here belongs to."""

    def lost_commits(self, names: Sequence[str]) -> tuple[tuple[str, bool], ...]:
        """Those of the commits that no branch or tag reaches, and whether the clone has them at all."""


class Evidence(Protocol):
    """What a rule may know of the code."""

    def of(self, document: Document) -> Sequence[CodeState]:
        """The state of each anchor of a document."""


class LintConfig(NamedTuple):
    """Which rules run, how much they weigh, and the caps. Sizes are in tokens (characters divided by four).

    ``select`` and ``ignore`` hold beginnings of codes (``TM2``); nothing selected means all. ``severities``
    maps a code to a severity or ``"off"``; ``kind_soft`` a kind to the soft cap it has in place of the
    document's; ``per_file`` a glob to codes left alone there, with the reasons.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity | Literal["off"]] = MappingProxyType({})
    core_soft: int = 4000
    core_hard: int = 8000
    document_soft: int = 2000
    document_hard: int = 4000
    kind_soft: Mapping[str, int] = MappingProxyType({})
    path_max: int = 120
    name_max: int = 60
    per_file: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def runs(self, code: str) -> bool:
        """Whether the rule with this code is wanted."""
        if self.severities.get(code) == "off" or (self.ignore and code.startswith(self.ignore)):
            return False
        return not self.select or code.startswith(self.select)


class SchemaCopy(NamedTuple):
    """A store's copy of a schema: its ``text`` (``None``: no such file) and the one it should have."""

    text: str | None
    wanted: str


class StoreState(NamedTuple):
    """What the rules about the store look at, gathered by the caller.

    ``schemas`` maps a file name of the schemas folder to what is there and what should be;
    ``manifest`` is the manifest's text (``None``: there is none); ``reported`` is what reading the log and
    the review queue found; ``tracked`` are the root-relative paths git tracks below the ignored folders;
    ``needed`` the globs and codes of ``per_file`` that some finding needed (``None``: not everything was
    looked at).
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

    ``reads_only``: it only passes on what reading the file found, so that it has nothing to say of a file
    that reads well. ``archived``: it looks at documents in the archive, too.
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
    """A finding with its rule's severity, or the one given; without a place it is about the whole file."""
    return Diagnostic(code, severity or CODES[code][1], path, *place, message, key, expected, hint)
