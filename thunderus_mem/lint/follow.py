"""Where the references of a body lead: to this document, another one, a file, or nowhere."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.archive import archived_path
from thunderus_mem.model.relinking import is_bracketed, may_be_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.lint.rule import Corpus
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.markdown import Reference

# Ways in which documentation sites leave out the end of a path.
_ENDINGS = ("", ".md", ".mdx", "/index.md", "/README.md", ".markdown", ".rst")


class Target(NamedTuple):
    """Where a reference leads: the path without its anchor ("" for this document), and the id found there.

    ``imported`` is true for a dead link that an imported text brought with it; ``path`` is then taken from
    the place where the text came from. A document in the archive is found by the path it had in use.
    """

    path: str
    anchor: str
    doc_id: str | None
    there: bool
    imported: bool = False


def _follow(subject: Subject, reference: Reference, corpus: Corpus) -> Target | None:
    """Where a reference leads; ``None`` when that cannot be told (outside the root, or no link at all)."""
    name, _, anchor = reference.target.partition("#")
    own_id = subject.document.id if subject.document else ""
    if reference.kind == "wiki":
        if not may_be_name(name):
            return None
        doc_id = corpus.resolve(name) if name else own_id
        return Target(name, anchor, doc_id, doc_id is not None)
    name = name.partition("?")[0]
    if not name:
        return Target("", anchor, own_id, True)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(subject.path), name))
    if path.startswith("..") or "\\" in path:
        return None
    doc_id = _document_in(corpus, path) or _document_in(corpus, archived_path(path))
    found = Target(path, anchor, doc_id, doc_id is not None or _is_there(subject, path))
    origin = subject.document.imported_from if subject.document else ""
    return found if found.there or not origin else _from_origin(subject, origin, name, anchor, corpus)


def _document_in(corpus: Corpus, path: str) -> str | None:
    doc_id = corpus.resolve(path)
    return doc_id if doc_id is not None and path in corpus.paths_of(doc_id) else None


def _from_origin(subject: Subject, origin: str, name: str, anchor: str, corpus: Corpus) -> Target:
    """Where a relative link of an imported text leads from the place where the text was written."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), name))
    for ending in _ENDINGS:
        doc_id = corpus.resolve(path + ending)
        if doc_id is not None:
            return Target(path, anchor, doc_id, True)
    there = not path.startswith("..") and _is_there(subject, path)
    return Target(path, anchor, None, there, imported=not there)


def _is_there(subject: Subject, path: str) -> bool:
    if any(subject.exists(path + ending) for ending in _ENDINGS):
        return True
    return path.endswith(".html") and subject.exists(path.removesuffix(".html") + ".md")


_LABEL = re.compile(r"\[[^\[\]\n]+\]")


def _is_used(subject: Subject, reference: Reference, labels: Mapping[str, int]) -> bool:
    """Whether a reader meets this reference: a ``[label]: target`` counts when its label is used."""
    line = subject.body_text(reference.line)
    if reference.kind == "wiki":
        return not is_bracketed(line, reference.column)
    label = f"[{reference.text}]"
    if not line.startswith(f"{label}:", reference.column - 1):
        return True
    return labels.get(label.lower(), 0) > 1


def follow(subject: Subject) -> tuple[tuple[Reference, Target], ...]:
    """Every reference of a document with where it leads; empty when nothing is known of other documents."""
    corpus = subject.corpus
    if subject.document is None or corpus is None:
        return ()
    labels = Counter(_LABEL.findall(subject.body.lower())) if subject.references else Counter()
    used = [one for one in subject.references if _is_used(subject, one, labels)]
    led = [(one, _follow(subject, one, corpus)) for one in used]
    return tuple([(one, target) for one, target in led if target is not None])
