"""Foreign Markdown into documents of the store. Pure: bytes and facts in, texts and notes out.

The body is kept byte for byte, and so is every frontmatter line whose meaning does not clash with ours. A
value that our schema cannot hold is set anew, and the original stands under ``metadata``; the notes say so.
"""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from thunderus_mem.interop.decisions import Decision, read_decision, split_title
from thunderus_mem.interop.fields import (
    Dates,
    Draft,
    Options,
    Taken,
    choose_number,
    free_path,
    set_dates,
    set_identity,
    set_records,
    set_tags,
    set_title,
)
from thunderus_mem.interop.mapping import apply_mapping
from thunderus_mem.interop.stars import read_foreign
from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import compose, remove_key, set_key
from thunderus_mem.model.header import find_fences
from thunderus_mem.model.markdown import headings
from thunderus_mem.model.post import Post, read_post

if TYPE_CHECKING:
    from thunderus_mem.model.document import Reading

_NO_HEADER = frozenset(["TM004", "TM005"])
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Imported:
    """A document to be: its id, path from the root, whole text, and what a person should know of it.

    ``own_id`` is the id the file gave itself, ``kept`` its keys that stay as they are, ``changed`` those
    that got another value.
    """

    id: str
    path: str
    text: str
    notes: tuple[str, ...]
    title: str = ""
    number: int | None = None
    decision: Decision = field(default_factory=Decision)
    own_id: str = ""
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptOut:
    """A file that cannot become a document, and why."""

    reason: str


def import_document(
    path: str, data: bytes, kind: str, dates: Dates, taken: Taken, *, options: Options
) -> Imported | KeptOut:
    """Make a document of kind ``kind`` from bytes ``data`` of the file ``path`` (relative to its folder).

    Never raises on what a file holds; the same input gives the same result.
    """
    reading, starred = read_foreign(path, data)
    if reading.text is None:
        return KeptOut(_problem(reading))
    plain_note = _plain_reason(reading)
    if reading.header is None and plain_note is None:
        return KeptOut(f"its frontmatter cannot be read: {_problem(reading)}")
    text = reading.text
    post = Post({}, text.removeprefix(_BOM)) if plain_note is not None else read_post(text)
    body, values = post.body, post.metadata
    if not body.strip():
        return KeptOut("it is empty")
    stem = os.path.splitext(os.path.basename(path))[0]
    first = next((mark.text for mark in headings(body) if mark.text.strip()), "")
    day_first = options.day_first
    decision = read_decision(stem, first, values, body, day_first=day_first) if kind == "adr" else Decision()
    draft = Draft(values)
    draft.notes.extend(starred)
    told = apply_mapping(options.mapping, draft, body, day_first=day_first)
    decision = replace(decision, mentions=(*decision.mentions, *told))
    heading_number = split_title(first, decision.number)[0]
    if heading_number is not None and decision.number not in (None, heading_number):
        draft.notes.append(
            f"its heading says number {heading_number}, its file {decision.number}: that one counts"
        )
    if plain_note:
        draft.notes.append(plain_note)
    title = set_title(draft, path, first, decision)
    document_id = set_identity(draft, path, kind, title, taken, main=options.main)
    number = choose_number(draft, decision, taken) if kind == "adr" else None
    target = free_path(options.folder, document_id, kind, number, taken)
    set_tags(draft, path, options)
    set_dates(draft, stem, decision, dates, options.now)
    set_records(draft, options)
    origin = f"{options.origin}/{path}" if options.origin else path
    made = _edit(text, draft, origin) if plain_note is None else _wrap(text, body, draft, origin)
    found = _checked(made, target, body, draft)
    if isinstance(found, KeptOut):
        return found
    own = values.get("id")
    return replace(
        found,
        title=title,
        number=number,
        decision=decision,
        own_id=str(own) if isinstance(own, str | int) else "",
        kept=tuple(key for key in values if key not in draft.edits and key not in draft.moved),
        changed=tuple(key for key in values if key in draft.edits or key in draft.moved),
    )


def _problem(reading: Reading) -> str:
    if not reading.problems:
        return "it cannot be read"
    first = reading.problems[0]
    place = f" (line {first.line})" if first.line else ""
    wanted = f"; expected: {first.expected}" if first.expected else ""
    return f"{first.message.rstrip('.')}{place}{wanted}"


def _plain_reason(reading: Reading) -> str | None:
    """``None`` when the file has a frontmatter; else a note about what stands in its place, often empty."""
    codes = {problem.rule for problem in reading.problems}
    text = (reading.text or "").removeprefix(_BOM)
    if reading.header is not None:
        return None
    if "TM005" in codes:
        return "it begins with `---` and nothing closes it: the whole file is kept as text"
    if codes & _NO_HEADER:
        hugo = text.startswith("+++")
        return "frontmatter between `+++` is not read: it is kept as part of the text" if hugo else ""
    fences = find_fences(text)
    head = text[fences.start : fences.end] if fences is not None else ""
    if ":" not in head:
        return "the lines between `---` at its start are no frontmatter: they are kept as text"
    return None


def _wrap(text: str, body: str, draft: Draft, origin: str) -> str:
    """Put a new header before a text that had none, with the line ends of that text."""
    header = dict(draft.edits)
    header["metadata"] = {"imported_from": origin}
    made = compose(header, "")
    if body.count("\r\n") * 2 > body.count("\n"):
        made = made.replace("\n", "\r\n")
    if text.startswith(_BOM):
        draft.notes.append("the byte order mark moved in front of the new frontmatter")
        made = _BOM + made
    return made + body


def _edit(text: str, draft: Draft, origin: str) -> str:
    """Set the drafted keys line by line; move clashing values under ``metadata``."""
    for key, value in draft.edits.items():
        text = set_key(text, tuple(key.split(".")), value)
    for key in _foreign(text):
        draft.moved[key] = draft.data.get(key)
        draft.notes.append(f"{key} has another meaning here: its value is under metadata")
        text = remove_key(text, (key,))
    for key, value in draft.moved.items():
        text = set_key(text, ("metadata", key), value)
    return set_key(text, ("metadata", "imported_from"), origin)


def _foreign(text: str) -> list[str]:
    """Top-level keys whose values the schema of documents refuses."""
    from thunderus_mem.model.schema import check, surely_valid

    document = read_document("document.md", text.encode("utf-8", "surrogatepass")).document
    if document is None:
        return []
    data = document.data()
    if surely_valid(data):
        return []
    found = check("memory_doc.frontmatter", data)
    return sorted({key for item in found if (key := item.key.partition(".")[0]) and key in data})


def _checked(made: str, target: str, body: str, draft: Draft) -> Imported | KeptOut:
    """Read the result again: it must be a document, with exactly this body."""
    reading = read_document(target, made.encode("utf-8", "surrogatepass"))
    document = reading.document
    if document is None:
        return KeptOut(f"it would not read back as a document: {_problem(reading)}")
    if document.body != body:
        return KeptOut("its text would not survive unchanged")
    return Imported(document.id, target, made, tuple(draft.notes))
