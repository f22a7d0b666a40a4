"""Whom a name means among the documents, and who links to whom. Pure; as the index answers it."""

from __future__ import annotations

import posixpath
from collections import Counter
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.archive import archived_path, live_path
from thunderus_mem.model.ids import fold_key
from thunderus_mem.model.references import references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.garden.material import Material
    from thunderus_mem.model.document import Document
    from thunderus_mem.model.references import Reference

__all__ = ["Names", "path_of", "references_in"]

_MOST_REMEMBERED: Final = 1 << 15


@lru_cache(maxsize=_MOST_REMEMBERED)
def references_in(body: str) -> tuple[Reference, ...]:
    """The references of a body. Several rules ask for those of every document; `sequence` forgets them."""
    return references(body)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def path_of(document: Document, reference: Reference) -> str:
    """The root-relative path a relative link leads to, without anchor and query; "" for one within the text.

    In the archive a document's links are those of the place it had in use.
    """
    target = reference.target.partition("#")[0].partition("?")[0]
    folder = posixpath.dirname(live_path(document.path))
    return posixpath.normpath(posixpath.join(folder, target)) if target else ""


class Names:
    """Every name of a memory's documents; one in use goes before one in the archive, then the first id."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self.ids: dict[str, Document] = {}
        self._paths: dict[str, Document] = {}
        self._names: dict[str, str] = {}
        for document in (*material.documents, *material.archived):
            self.ids.setdefault(document.id, document)
            self._paths[document.path] = document
            for name in _known_as(document):
                self._names.setdefault(name, document.id)
        archived = {document.id for document in material.archived} - {one.id for one in material.documents}
        self._heirs = {
            alias: document.id
            for document in reversed(material.documents)
            for alias in document.aliases
            if alias in archived
        }
        claims = Counter(document.id for document in (*material.documents, *material.archived))
        self.claimed_twice = frozenset(doc_id for doc_id, count in claims.items() if count > 1)

    def resolve(self, name: str) -> str | None:
        """The id behind an id, a path, an alias or a file stem; behind that of an archived document that was
        joined into another, the other."""
        if name in self.ids:
            return self._heirs.get(name, name)
        if name in self._paths:
            return self._paths[name].id
        return self._names.get(_folded(name.removesuffix(".md")))

    def at(self, path: str) -> Document | None:
        """The document in a file, or in the archive when it was set aside from there."""
        return self._paths.get(path) or self._paths.get(archived_path(path))

    @cached_property
    def by_folded_id(self) -> dict[str, tuple[str, ...]]:
        """Ids that differ in nothing but case and Unicode form."""
        found: dict[str, tuple[str, ...]] = {}
        for doc_id in sorted(self.ids):
            found[fold_key(doc_id)] = (*found.get(fold_key(doc_id), ()), doc_id)
        return found

    @cached_property
    def by_folded_path(self) -> dict[str, tuple[str, ...]]:
        """Paths that differ in nothing but case and Unicode form."""
        found: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._paths):
            found[fold_key(path)] = (*found.get(fold_key(path), ()), path)
        return found

    def targets(self, document: Document) -> Iterator[str]:
        """Ids of the other documents that one links to, by relation, in brackets or by path."""
        for link in document.links:
            yield from self._other(document, self.resolve(link.target))
        for reference in references_in(document.body):
            if reference.kind == "wiki":
                yield from self._other(document, self.resolve(reference.target.partition("#")[0].strip()))
            elif path := path_of(document, reference):
                found = self.at(path)
                yield from self._other(document, found.id if found is not None else None)

    @staticmethod
    def _other(document: Document, found: str | None) -> tuple[str, ...]:
        return (found,) if found and found != document.id else ()

    def linked_by(self) -> dict[str, tuple[Document, ...]]:
        """For each id, the documents in use that link to it."""
        found: dict[str, dict[str, Document]] = {}
        for document in self._material.documents:
            for target in self.targets(document):
                found.setdefault(target, {})[document.path] = document
        return {target: tuple(linking.values()) for target, linking in found.items()}


def _known_as(document: Document) -> set[str]:
    stem = posixpath.basename(document.path).removesuffix(".md").casefold()
    known = {name for alias in document.aliases if (name := _folded(alias))} | {stem}
    if document.imported_from:
        known.add(_folded(document.imported_from.removesuffix(".md")))
    return known
