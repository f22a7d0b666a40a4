"""A document → the rows it has in the index, its part of the manifest among them. Pure."""

from __future__ import annotations

import re
from json.encoder import encode_basestring as _json_text
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.markdown import outline, without_comments
from thunderus_mem.document.paths import is_archived, live_path
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.index.database import PASSAGES_PER_DOCUMENT
from thunderus_mem.index.words import fold_name, identifier_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.document.markdown import Passage

_FOLDER = re.compile(r"^\.thunderus/memory/(?:semantic/|procedural/)?[^/]+/")


class DocumentRows(NamedTuple):
    """The rows of one document, without row ids: in ``docs``, ``manifest``, ``docs_fts``, ``passages``,
    ``names``, ``doc_edges``, ``anchors``. One in the archive has no anchors, and "" as its part of the
    manifest."""

    doc_id: str
    doc: tuple[Any, ...]
    manifest: str
    words: tuple[str, ...]
    passages: tuple[tuple[str, int, str, str, str, str], ...]
    names: tuple[tuple[str, str], ...]
    edges: tuple[tuple[str, str, str], ...]
    anchors: tuple[tuple[str, int, str, str, str, str, int, str], ...]


def entry_of(document: Document, content_hash: str, size: int) -> DocumentRows:
    """What the index keeps of a document whose file has ``size`` bytes."""
    # What a reader of the rendered text does not see is not found either: placeholders, hidden words.
    doc_id, title, path, body = document.id, document.title, document.path, without_comments(document.body)
    inner = _FOLDER.sub("", live_path(path)).removesuffix(".md")
    archived = is_archived(path)
    names = " ".join((*document.aliases, inner))
    outlined = outline(body)
    found_headings = outlined.headings
    tokens = approximate_tokens(document)
    rows = _passage_rows(outlined.passages, f"{title}\n{names}", document.body_line)
    words = (
        doc_id,
        title,
        "\n".join(heading.text for heading in found_headings),
        " ".join(document.tags),
        body,
        names,
        " ".join((*identifier_parts(f"{doc_id} {title} {names}"), *(row[5] for row in rows))),
    )
    doc = (
        doc_id, document.kind, title, path, _list(document.tags), document.updated, _provenance(document),
        document.created, utc_key(document.updated), document.status, document.confirmed_by,
        _list(document.aliases),
        _list(heading.anchor for heading in found_headings), content_hash, size, tokens, int(archived),
    )  # fmt: skip
    stem = inner.rpartition("/")[2].casefold()
    known_as = {name for alias in document.aliases if (name := fold_name(alias))} | {stem}
    if document.imported_from:
        known_as.add(fold_name(document.imported_from.removesuffix(".md")))
    return DocumentRows(
        doc_id,
        doc,
        "" if archived else manifest_entry(document, size, tokens),
        words,
        rows,
        tuple((name, doc_id) for name in sorted(known_as)),
        tuple(sorted({(doc_id, link.rel, link.target) for link in document.links})),
        () if archived else _anchors(document),
    )


def _anchors(document: Document) -> tuple[tuple[str, int, str, str, str, str, int, str], ...]:
    since = document.last_verified_commit or ""
    return tuple(
        (
            document.id,
            place,
            cited.anchor.path,
            cited.anchor.symbol,
            cited.anchor.item.get("lines", ""),
            cited.anchor.fingerprint,
            cited.line,
            since,
        )
        for place, cited in enumerate(anchors_in(document.header, document.header_line))
    )


def approximate_tokens(document: Document) -> int:
    """About how many tokens a language model counts in the document."""
    return len(document.text) // 4


def manifest_entry(document: Document, size: int, tokens: int) -> str:
    """A document's part of the manifest, ready to be written: indented JSON, as a whole file has it."""
    commit = document.last_verified_commit
    verified = "null" if commit is None else _json_text(commit)
    return (
        "    {\n"
        f'      "id": {_json_text(document.id)},\n'
        f'      "kind": {_json_text(document.kind)},\n'
        f'      "path": {_json_text(document.path)},\n'
        f'      "provenance": {_provenance(document)},\n'
        f'      "size_bytes": {size},\n'
        f'      "tags": {_list(document.tags)},\n'
        f'      "title": {_json_text(document.title)},\n'
        f'      "token_count_approx": {tokens},\n'
        f'      "updated": {_json_text(document.updated)},\n'
        f'      "verification": {{"last_verified_commit": {verified}, '
        f'"status": {_json_text(document.status)}}}\n'
        "    }"
    )


def _passage_rows(
    found: tuple[Passage, ...], title: str, body_line: int
) -> tuple[tuple[str, int, str, str, str, str], ...]:
    first = body_line - 1
    rows = [
        (
            passage.anchor,
            first + passage.line,
            title,
            passage.heading,
            passage.text,
            " ".join(identifier_parts(f"{passage.heading}\n{passage.text}")),
        )
        for passage in _within_room(found)
    ]
    if not rows:
        rows = [("", body_line, title, "", "", "")]
    return tuple(rows)


def _within_room(found: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """As many passages as a document may have rows; the last one holds what all further ones say."""
    if len(found) <= PASSAGES_PER_DOCUMENT:
        return found
    kept, rest = found[: PASSAGES_PER_DOCUMENT - 1], found[PASSAGES_PER_DOCUMENT - 1 :]
    text = "\n".join(part for one in rest for part in (one.heading, one.text) if part)
    return (*kept, rest[0]._replace(text=text))


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(map(_json_text, items))}]"


def _provenance(document: Document) -> str:
    return (
        f'{{"commits": {_list(document.commits)}, "events": {_list(document.events)}, '
        f'"patches": {_list(document.patches)}}}'
    )


def encode_problems(problems: Sequence[Diagnostic]) -> str:
    """Findings as JSON text, for the index."""
    if not problems:
        return "[]"
    import json

    return json.dumps(
        [
            [p.rule, p.severity, p.path, p.line, p.column, p.message, p.key, p.expected, p.hint, p.doc_id]
            for p in problems
        ],
        ensure_ascii=False,
    )
