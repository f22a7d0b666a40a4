"""Links that lead nowhere: led to where their target went, when that can be told.

Where the log or an alias says which document was meant the link follows at once; where only the name is
alike it is proposed; the rest is told. What is no link between documents is left to lint.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.frontmatter.edit import rename_item
from thunderus_mem.document.frontmatter.nodes import Mapping, Scalar, Sequence
from thunderus_mem.document.ids import file_stem, fold_key
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.references import is_bracketed, link_to, may_be_name, relinked, wiki_to
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import REPORT, DocumentEdit, DocumentNames, Step, path_of, references_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.document.document import Document, Link
    from thunderus_mem.document.references import Reference
    from thunderus_mem.garden.plan import GardenInput, Reach
    from thunderus_mem.store.config import Config

RULE: Final = "links"
_MEMORY: Final = ".thunderus/memory/"
_LISTED: Final = 100


class _Dead(NamedTuple):
    """A link that leads nowhere: where it stands and what it says; ``new`` is what it should say, to lead to
    the document ``doc_id``, "" when nobody knows. It is an item of a relation, or a ``reference``."""

    line: int
    said: str
    new: str = ""
    doc_id: str = ""
    reason: str = ""
    reach: Reach = "report"
    relation: str = ""
    reference: Reference | None = None


class _Found(NamedTuple):
    """Which document was meant, and how that is known."""

    document: Document
    reason: str
    reach: Reach


def plan_links(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Steps that mend links of documents in use, one a document and reach; one report of those that nobody
    can lead anywhere, and with ``links.orphans`` one of documents that nothing leads to."""
    where = _Where(material)
    steps: list[Step] = []
    nowhere: list[tuple[Document, _Dead]] = []
    for document in material.documents:
        dead = list(where.dead(document))
        nowhere += [(document, one) for one in dead if not one.new]
        for reach in ("apply", "propose"):
            mended = _mended(document, [one for one in dead if one.reach == reach], reach)
            steps += [mended] if mended is not None else []
    steps += [_lost(nowhere)] if nowhere else []
    if config.links_orphans:
        steps += _orphans(material, where.names)
    return tuple(steps)


class _Where:
    """Where links lead, and where they led."""

    def __init__(self, material: GardenInput) -> None:
        self.names = DocumentNames(material)
        self._material = material
        self._files = material.files
        self._stems: dict[str, list[Document]] = {}
        self._named_before: dict[str, list[Document]] = {}
        self._former_stems: dict[str, set[str]] = {}
        for path, doc_id in material.former.items():
            stem = posixpath.basename(path).removesuffix(".md")
            self._former_stems.setdefault(fold_key(stem), set()).add(doc_id)
        for document in material.documents:
            folder, name = posixpath.split(document.path)
            self._stems.setdefault(fold_key(name), []).append(document)
            for alias in document.aliases:
                path = posixpath.join(folder, f"{file_stem(alias, document.kind)}.md")
                self._named_before.setdefault(path, []).append(document)

    def dead(self, document: Document) -> Iterator[_Dead]:
        """The links of a document that lead nowhere. Those of an imported text hold as they are."""
        for link in document.links:
            if self.names.resolve(link.target) is None and link.target not in document.aliases:
                shown = _Dead(_line_of(document, link), link.target, relation=link.rel)
                yield self._told(self._alike(link.target), shown, document)
        if document.imported_from or "[" not in document.body:
            return
        lines = document.body.split("\n")
        for reference in references_in(document.body):
            line = document.body_line + reference.line - 1
            shown = _Dead(line, reference.target, reference=reference)
            if reference.kind == "wiki":
                name = reference.target.partition("#")[0].strip()
                known = not name or self.names.resolve(name) is not None
                if (
                    not known
                    and may_be_name(name)
                    and not is_bracketed(lines[reference.line - 1], reference.column)
                ):
                    yield self._told(self._alike(name) or self._was_called(name), shown, document)
            elif (path := path_of(document, reference)) and self._is_dead(path):
                yield self._told(self._was_at(path), shown, document)

    def _is_dead(self, path: str) -> bool:
        if not (path.startswith(_MEMORY) and path.endswith(".md")) or "\\" in path:
            return False
        return (
            self.names.at(path) is None and path not in self._files and archived_path(path) not in self._files
        )

    def _alike(self, name: str) -> _Found | None:
        """Whom an id or a path means that is written in another case."""
        ids = self.names.by_folded_id.get(fold_key(name), ())
        if len(ids) != 1:
            return None
        return _Found(self.names.ids[ids[0]], "its id differs in case alone", "propose")

    def _present(self, former: str) -> Document | None:
        """The document that the log knows by an id, which may be an alias by now; ``None`` when it is gone or
        cannot be told from another."""
        known = self.names.ids.get(self.names.resolve(former) or "") if former else None
        by_name = known is not None and former in (known.id, *known.aliases)
        return known if known is not None and by_name and known.id not in self.names.claimed_twice else None

    def _was_called(self, name: str) -> _Found | None:
        """Which document had a file of this name."""
        ids = self._former_stems.get(fold_key(name.removesuffix(".md")), set())
        was = self._present(next(iter(ids))) if len(ids) == 1 else None
        if was is None:
            return None
        return _Found(was, f"the log says that this was the file of `{was.id}`", "apply")

    def _was_at(self, path: str) -> _Found | None:
        """Which document once stood in a file that is gone."""
        was = self._present(self._material.former.get(path, ""))
        if was is not None:
            return _Found(was, f"the log says that `{was.id}` stood there", "apply")
        named = self._named_before.get(path, [])
        if len(named) == 1 and named[0].id not in self.names.claimed_twice:
            return _Found(named[0], f"an alias of `{named[0].id}` is the name of that file", "apply")
        alike = self.names.by_folded_path.get(fold_key(path), ())
        if len(alike) == 1 and (document := self.names.at(alike[0])) is not None:
            return _Found(document, "the path differs in case alone", "propose")
        stems = self._stems.get(fold_key(posixpath.basename(path)), [])
        if len(stems) == 1:
            return _Found(stems[0], "no other file has this name", "propose")
        return None

    @staticmethod
    def _told(found: _Found | None, dead: _Dead, document: Document) -> _Dead:
        if found is None or found.document.path == document.path:
            return dead
        target = found.document
        reference = dead.reference
        if reference is None:
            new = target.id
        elif reference.kind == "wiki":
            new = wiki_to(reference, target.id)
        else:
            new = link_to(reference, document.path, target.path)
        return dead._replace(new=new, doc_id=target.id, reason=found.reason, reach=found.reach)


def _line_of(document: Document, link: Link) -> int:
    """The line of the file in which a relation names its target; that of the header's beginning when it is
    not in a list."""
    links = document.header.get("links")
    node = links.get(link.rel) if isinstance(links, Mapping) else None
    items = node.items if isinstance(node, Sequence) else ()
    found = (item.line for item in items if isinstance(item, Scalar) and item.text == link.target)
    return document.header_line + next(found, 1) - 1


def _mended(document: Document, dead: list[_Dead], reach: Reach) -> Step | None:
    text = document.text
    changes = [(one.reference, one.new) for one in dead if one.reference is not None]
    if changes:
        text = text[: document.body_start] + relinked(document.body, changes)
    try:
        for one in dead:
            if one.relation:
                text = rename_item(text, ("links", one.relation), one.said, one.new)
    except InvalidDocument:
        return None
    if text == document.text:
        return None
    targets = sorted({one.doc_id for one in dead} - {document.id})
    told = ", ".join(f"`{target}`" for target in targets)
    return Step(
        "mend-links",
        f"{'a link' if len(dead) == 1 else f'{len(dead)} links'} of `{document.id}` led nowhere; "
        f"{'it leads' if len(dead) == 1 else 'they lead'} to {told}",
        tuple(f"{document.path}:{one.line}: `{one.said}` becomes `{one.new}`: {one.reason}" for one in dead),
        (document.id, *targets),
        (DocumentEdit(document.path, document.id, document.hash, text),),
        rule=RULE,
        reach=reach,
        texts=((document.id, repr(sorted((one.said, one.new) for one in dead))),),
    )


def _lost(nowhere: list[tuple[Document, _Dead]]) -> Step:
    lines = [f"{document.path}:{dead.line}: `{dead.said}`" for document, dead in nowhere]
    more = [f"and {len(lines) - _LISTED} more; see thunderus-mem lint"] if len(lines) > _LISTED else []
    ids = tuple(sorted({document.id for document, _ in nowhere}))
    return Step(
        REPORT,
        f"{'a link leads' if len(lines) == 1 else f'{len(lines)} links lead'} nowhere; nothing says where to",
        (*lines[:_LISTED], *more),
        ids,
        rule=RULE,
        reach="report",
        texts=tuple(sorted({(document.id, document.hash) for document, _ in nowhere})),
    )


def _orphans(material: GardenInput, names: DocumentNames) -> list[Step]:
    """One report of the documents that no link, no shared tag and no code ties to anything."""
    linked: set[str] = set()
    tags: Counter[str] = Counter()
    for document in material.documents:
        found = set(names.targets(document))
        linked |= found | ({document.id} if found else set())
        tags.update({tag.casefold() for tag in document.tags})
    alone = [
        one
        for one in material.documents
        if one.kind not in ("core", "recap")
        and one.id not in linked
        and not one.data().get("anchors")
        and all(tags[tag.casefold()] == 1 for tag in one.tags)
    ]
    if not alone:
        return []
    lines = [f"`{one.id}` ({one.path}), tags: {', '.join(one.tags)}" for one in alone]
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    verb = "document has" if len(alone) == 1 else "documents have"
    return [
        Step(
            REPORT,
            f"{len(alone)} {verb} no link from or to another, no tag of another, and no code",
            (*lines[:_LISTED], *more),
            tuple(one.id for one in alone),
            rule=RULE,
            reach="report",
            texts=tuple((f"orphan {one.id}", "") for one in alone),
        )
    ]
