"""Small conventions of the index's rows that writers and readers share."""

from __future__ import annotations

import re
from functools import cache
from json.encoder import encode_basestring as _json_text
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.markdown import outline, without_comments
from thunderus_mem.document.paths import ARCHIVE, is_archived, live_path
from thunderus_mem.document.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.markdown import Passage
    from thunderus_mem.index.database import Database

PASSAGES_PER_DOCUMENT: Final = 4096
"""Row id of a passage = row id of its document times this, plus its place."""


def decode_list(text: str) -> tuple[str, ...]:
    """A JSON array of strings as the index keeps it."""
    import json

    return tuple(json.loads(text)) if text != "[]" else ()


def has_anchors(database: Database) -> bool:
    """Whether any document talks about code in a way that can be checked."""
    return database.row("SELECT 1 FROM anchors LIMIT 1") is not None


def first_path(column: str) -> str:
    """The SQL of the path, among a group, whose file is the document: in use first, then archived."""
    return f"substr(min(({column} GLOB '{ARCHIVE}/*') || {column}), 2)"


def fold_name(text: str) -> str:
    """How aliases compare: case and runs of blanks do not matter."""
    return " ".join(text.casefold().split())


# The words of a text as the index finds them: parts of camel-case names, pieces of Asian scripts.

_CJK_CLASS: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
# Patterns are compiled when a text first needs them: most words are plain, and every search feels the start.
_ALNUM_RUN: Final = r"[^\W_]+"
_HUMP: Final = r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]"
_CAMEL_WORD: Final = r"\b(?=[A-Za-z0-9_]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]))[A-Za-z0-9_]+"
# What each byte of a text is to a hump: a capital, a small letter or a digit, anything else.
_SHAPES: Final = bytes(
    65 if 65 <= byte <= 90 else 97 if 97 <= byte <= 122 or 48 <= byte <= 57 else 32 for byte in range(256)
)
_CAMEL_PART: Final = r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+"
_SCRIPT_RUN: Final = f"[{_CJK_CLASS}]+|[^{_CJK_CLASS}]+"


def identifier_parts(text: str) -> list[str]:
    """Words that plain tokenising would miss in ``text``, in order, for an index column of their own.

    Parts of camel-case names (``parseHTTPFrame`` → parse, http, frame), two-character grams of Chinese,
    Japanese and Korean runs, and the Latin words glued to such a run.
    """
    found: list[str] = []
    if _may_have_humps(text):
        mixed = [word for word in text.split() if not (word.islower() or word.istitle())]
        camel_part = pattern(_CAMEL_PART)
        for word in pattern(_CAMEL_WORD).findall(" ".join(mixed)):
            found += [part.lower() for part in camel_part.findall(word)]
    if not text.isascii():
        for run in filter(is_cjk, scripts(text)):
            found += grams(run)
            if len(run) > 1:
                found.append(run[-1])
        found += [
            piece
            for word in pattern(_ALNUM_RUN).findall(text)
            if not word.isascii() and len(pieces := scripts(word)) > 1
            for piece in pieces
            if not is_cjk(piece)
        ]
    return found


def _may_have_humps(text: str) -> bool:
    """Whether a capital follows a small letter or a digit, or two capitals come before one, anywhere: most
    texts have none, and telling so is much cheaper than to look at every word."""
    shape = text.encode("utf-8", "surrogatepass").translate(_SHAPES)
    return b"aA" in shape or b"AAa" in shape


@cache
def pattern(text: str) -> re.Pattern[str]:
    """The compiled pattern of a text."""
    return re.compile(text)


def has_word(text: str) -> bool:
    """Whether anything in the text is a letter or a digit."""
    return any(char.isalnum() for char in text)


def words_of(text: str) -> list[str]:
    """The runs of letters and digits of a text."""
    return [text] if text.isalnum() else pattern(_ALNUM_RUN).findall(text)


def has_hump(text: str) -> bool:
    """Whether a name in the text changes case inside: ``parseHTTPFrame``."""
    plain = text.isalpha() and (text.islower() or text.istitle())
    return not plain and pattern(_HUMP).search(text) is not None


def scripts(text: str) -> list[str]:
    """The text cut where Chinese, Japanese or Korean begins and ends."""
    return [text] if text.isascii() else pattern(_SCRIPT_RUN).findall(text)


def is_cjk(piece: str) -> bool:
    """Whether a piece of `scripts` is Chinese, Japanese or Korean."""
    first = piece[:1]
    return first >= "\u3040" and any(
        low <= first <= high for low, high in zip(_CJK_CLASS[0::3], _CJK_CLASS[2::3], strict=True)
    )


def grams(run: str) -> list[str]:
    """Every two neighbouring characters of a run; the run itself when it has one."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def latin_parts(text: str) -> list[str]:
    """The words of a text, names with humps as their parts, in small letters."""
    return [
        part.lower()
        for word in words_of(text)
        for part in (pattern(_CAMEL_PART).findall(word) if word.isascii() and has_hump(word) else [word])
    ]


# A document → the rows it has in the index. Pure.

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
