"""Merge later changes of an imported file into its document: a three-way merge of converted texts. Pure.

The file as it was at the last import, found by ``metadata.imported_sha256``, and the file now are both
converted to a document with the id and path of the existing one; what differs between the two is merged into
that document. So changes made in the document stay, and a conversion that changed with the program, its
options or the surroundings makes no difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import three_way, unified_diff
from thunderus_mem.document.document import read_document, source_hash
from thunderus_mem.document.frontmatter.edit import set_key
from thunderus_mem.document.frontmatter.write import flow_value
from thunderus_mem.document.references import rebased
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop import fields
from thunderus_mem.interop.decisions import DecisionRecord
from thunderus_mem.merge.documents import merge, two_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.merge.documents import Merged

_SHOWN: Final = ("title", "text")
_INVALID: Final = "the merged document is not valid"


def update_document(
    path: str,
    data: bytes,
    base: bytes | None,
    taken: fields.Taken,
    *,
    options: fields.Options,
    missing: str,
) -> fields.Imported | fields.ImportedFile:
    """Merge the changes of a file since ``base``, its bytes at the last import, into the document of the
    options; or return the conflict, or the reason why the file cannot be converted.

    Without a ``base``, for the reason ``missing``, everything is a conflict.
    """
    document = options.document
    assert document is not None
    dates = fields.Dates(document.created, document.updated)

    def converted(name: str, version: bytes, options: fields.Options) -> fields.Imported | str:
        return fields.import_document(name, version, document.kind, dates, taken, options=options)

    theirs = converted(path, data, options)
    if isinstance(theirs, str):
        return fields.ImportedFile(path, reason=theirs, refused=True)
    former, under = path, options
    if document.imported_from != options.origin_of(path):
        former, under = document.imported_from, replace(options, origin="")
    before = converted(former, base, under) if base is not None else ""
    if isinstance(before, str):
        return _conflict(path, data, document, theirs, missing, _SHOWN)
    merged = _merged(before.text, document, theirs.text)
    if merged.left:
        keys = tuple(dict.fromkeys(one.key for one in merged.left))
        why = f"both sides changed: {', '.join(keys)}"
        return _conflict(path, data, document, theirs, why, keys)
    text = _touched(document, merged.text, options.now)
    after = _read(document, text)
    if after is None:
        return _conflict(path, data, document, theirs, _INVALID, _SHOWN)
    known, wanted = before.decision.mentions, theirs.decision.mentions
    return theirs._replace(
        file=replace(
            _updated_file(path, document, after, theirs.decision.status),
            notes=(f"renamed from {former}",) if former != path else (),
        ),
        text=text,
        decision=replace(theirs.decision, mentions=tuple(one for one in wanted if one not in known)),
        dropped=tuple(one for one in known if one not in wanted),
        folder_tag="",
    )


def adopt_document(path: str, data: bytes, *, options: fields.Options) -> fields.Imported:
    """Rebase the links of a document that still has the text of the file, and record the file's hash."""
    document = options.document
    assert document is not None
    body = rebased(document.body, options.origin_of(path), document.path)
    text = document.text[: document.body_start] + body
    text = set_key(text, ("metadata", "imported_sha256"), source_hash(data))
    file = _updated_file(path, document, _read(document, text) or document)
    return fields.Imported(file, text, None, DecisionRecord(), "", ())


def _read(document: Document, text: str) -> Document | None:
    """The document with another text, if that is still the same document."""
    after = read_document(document.path, text.encode("utf-8", "surrogatepass")).document
    return after if after and (after.id, after.kind) == (document.id, document.kind) else None


def _updated_file(path: str, document: Document, after: Document, status: str = "") -> fields.ImportedFile:
    return fields.ImportedFile(
        path,
        id=document.id,
        path=document.path,
        title=after.title,
        changed=_changed(document, after),
        decision_status=status,
        updated=True,
    )


def _merged(base: str, document: Document, theirs: str) -> Merged:
    def lines(was: str, ours: str, other: str, labels: tuple[str, str]) -> str:
        merged = three_way(was, ours, other)
        return two_way(ours, other, labels) if merged is None else merged

    return merge(base, document.text, theirs, lines)


def _touched(document: Document, text: str, now: str) -> str:
    """The text with a new ``updated`` if title or body changed and the file has no time of its own."""
    after = _read(document, text)
    if after is None or after.updated != document.updated:
        return text
    if (after.title, after.body) == (document.title, document.body):
        return text
    try:
        return set_key(text, ("updated",), now)
    except InvalidDocument:
        return text


def _changed(document: Document, after: Document) -> tuple[str, ...]:
    old, new = document.data(), after.data()
    keys = [
        key for key in (*new, *old) if key not in ("metadata", "updated") and new.get(key) != old.get(key)
    ]
    return (*dict.fromkeys(keys), *(["text"] if after.body != document.body else []))


def _conflict(
    path: str, data: bytes, document: Document, theirs: fields.Imported, why: str, keys: Sequence[str]
) -> fields.ImportedFile:
    """The conflict of these keys, with the difference between both sides."""
    other = _read(document, theirs.text) or document
    diff = unified_diff(_side(document, keys), _side(other, keys), document.path)
    done = f"thunderus-mem edit {document.id} --set metadata.imported_sha256={source_hash(data)}"
    return fields.ImportedFile(
        path,
        id=document.id,
        path=document.path,
        title=document.title,
        reason=why,
        notes=(f"after merging it by hand: {done}",),
        refused=True,
        conflict=diff if diff is not None else "the difference is too large to show\n",
    )


def _side(document: Document, keys: Sequence[str]) -> str:
    data = document.data()
    lines = [f"{key}: {flow_value(data.get(key))}\n" for key in keys if key != "text"]
    return "".join([*lines, *([document.body] if "text" in keys else [])])
