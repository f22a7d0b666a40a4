"""Who last changed each line of a document: the log's events, git's commits, or nobody on record yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.owners import line_owners
from thunderus_mem.evidence.weave import Owner, Revision, weave
from thunderus_mem.model.document import read_document
from thunderus_mem.store.git_versions import file_versions, renamed_files
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.evidence.transitions import Past
    from thunderus_mem.model.document import Document
    from thunderus_mem.store.git import Git
    from thunderus_mem.store.git_history import Commit
    from thunderus_mem.store.git_versions import FileVersion

__all__ = ["Blame", "blame"]

_MOST_RENAMES = 8


class Blame(NamedTuple):
    """The owner of each line, and the commits among the owners by their hash."""

    owners: tuple[Owner, ...]
    commits: Mapping[str, Commit]


def blame(doc: Document, past: Past, git: Git | None) -> Blame:
    """The owner of every line of the document as it is now, frontmatter and body."""
    paths = list(past.paths)
    versions = file_versions(git, paths) if git is not None else []
    for _ in range(_MOST_RENAMES if git is not None else 0):
        earlier = _earlier_path(doc, past, git, versions, paths) if git is not None else ""
        if git is None or not earlier:
            break
        paths.append(earlier)
        versions = file_versions(git, paths)
    revisions = [
        Revision("", tuple(version.commit.sha for version in versions[:1]), _as_lf(doc.text)),
        *(
            Revision(version.commit.sha, version.parents, _text_of(doc, past, version, paths), version.cut)
            for version in versions
        ),
    ]
    owners = line_owners(weave(past.transitions, revisions))
    return Blame(tuple(owners), {version.commit.sha: version.commit for version in versions})


def _as_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _text_of(doc: Document, past: Past, version: FileVersion, paths: Sequence[str]) -> str | None:
    """The document's text in a commit: at its present path, else at an earlier one that was its own then."""
    for path in paths:
        data = version.texts.get(path)
        if data is not None and (path == doc.path or _is_it(path, data, past)):
            return _as_lf(data.decode("utf-8", "surrogateescape"))
    return None


def _is_it(path: str, data: bytes, past: Past) -> bool:
    document = read_document(path, data).document
    return document is None or document.id in past.ids


def _earlier_path(
    doc: Document, past: Past, git: Git, versions: Sequence[FileVersion], paths: Sequence[str]
) -> str:
    """The path from which git saw the document come, when the log does not know how it began; else ""."""
    known = {transition.path for transition in past.transitions if not transition.before}
    texts = {version.commit.sha: _text_of(doc, past, version, paths) for version in versions}
    first = {
        version.commit.sha: next(path for path in paths if path in version.texts)
        for version in versions
        if texts[version.commit.sha] is not None
        and not any(texts[parent] is not None for parent in version.parents)
    }
    asked = {sha: path for sha, path in first.items() if path not in known}
    if not asked:
        return ""
    renames = renamed_files(git, list(asked), MEMORY)
    found = (renames.get((sha, path), "") for sha, path in asked.items())
    return next((old for old in found if old and old not in paths), "")
