"""What rules and names need to know of the other documents, asked of the index once and kept."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.database import decode_list
from thunderus_mem.index.words import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.index.questions import Index

_ADR_NUMBER = re.compile(r"/DECISIONS/(?:.*/)?ADR-(\d+)[^/]*$", re.IGNORECASE)


class IndexCorpus:
    """Answers ``lint.Corpus`` from an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with that id."""
        return self._paths.get(doc_id, ())

    def paths_like(self, path: str) -> tuple[str, ...]:
        """Every file whose path is this one but for case and Unicode form."""
        return self._alike.get(fold_key(path), ())

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        """Every id that is this one but for case and Unicode form."""
        return self._alike_ids.get(fold_key(doc_id), ())

    def resolve(self, target: str) -> str | None:
        """The id behind an id, an alias, a file stem or a path; behind that of an archived document that was
        joined into another, the other."""
        if target in self._docs:
            return self._joined(target) or target
        return self._by_path.get(target) or self._names.get(fold_name(target.removesuffix(".md")))

    def _joined(self, doc_id: str) -> str | None:
        return self._index.heir(doc_id) if is_archived(self._docs[doc_id][0]) else None

    def superseded_by(self, doc_id: str) -> str | None:
        """The existing document that supersedes this one."""
        return self._superseded.get(doc_id)

    def ids(self) -> Iterable[str]:
        """All document ids, sorted."""
        return sorted(self._docs)

    def anchors(self, doc_id: str) -> frozenset[str]:
        """The heading anchors of a document."""
        return frozenset(decode_list(self._docs.get(doc_id, ("", "[]"))[1]))

    def adr_numbers(self) -> Mapping[int, tuple[str, ...]]:
        """Number of a decision → the files that carry it."""
        numbers: dict[int, list[str]] = {}
        for path, _, _ in self._files:
            if match := _ADR_NUMBER.search(path):
                numbers.setdefault(int(match[1]), []).append(path)
        return {number: tuple(paths) for number, paths in sorted(numbers.items())}

    def named(self, key: str) -> list[str]:
        """Everything that documents name in their provenance under ``events`` or ``commits``."""
        return self._index.named(key)

    @cached_property
    def _files(self) -> list[tuple[str, str, str]]:
        return self._index.files()

    @cached_property
    def _docs(self) -> dict[str, tuple[str, str]]:
        return self._index.headings()

    @cached_property
    def _alike(self) -> dict[str, tuple[str, ...]]:
        return _groups(path for path, _, _ in self._files)

    @cached_property
    def _alike_ids(self) -> dict[str, tuple[str, ...]]:
        return _groups(self._docs)

    @cached_property
    def _by_path(self) -> dict[str, str]:
        return {path: doc_id for path, _, doc_id in self._files if doc_id}

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for path, _, doc_id in sorted(self._files, key=lambda file: is_archived(file[0])):
            if doc_id:
                found[doc_id] = (*found.get(doc_id, ()), path)
        return found

    @cached_property
    def _names(self) -> dict[str, str]:
        return self._index.names()

    @cached_property
    def _superseded(self) -> dict[str, str]:
        return self._index.superseded_by()


def _groups(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Names by their folded form, where several share one."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(fold_key(name), []).append(name)
    return {folded: tuple(sorted(found)) for folded, found in groups.items() if len(found) > 1}
