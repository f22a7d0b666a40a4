"""A fact that is too long becomes several: its longest sections move, word for word, into facts of their own.

The rest stays where it is and gains a list of the parts. Links to headings follow them, in every document.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.garden.order.leading import Place, references_led
from thunderus_mem.garden.order.sections import Cut, Section, cut, movable, too_few
from thunderus_mem.garden.plan import DocumentEdit
from thunderus_mem.model.document import Document, read_document
from thunderus_mem.model.edit import remove_item, remove_key, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.ids import MAX_ID, file_stem, fold_key, is_document_id, slug
from thunderus_mem.model.outline import headings
from thunderus_mem.model.relinking import relinked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["MOST_PARTS", "Split", "split"]

MOST_PARTS: Final = 20
_LIST_OF_PARTS: Final = "Its parts:"
_SHORTEST_PART: Final = 10
_SLUG: Final = 40


class Split(NamedTuple):
    """How a document is split: its edits, the parts as (id, path, heading), or a ``reason`` why it is not."""

    edits: tuple[DocumentEdit, ...] = ()
    parts: tuple[tuple[str, str, str], ...] = ()
    reason: str = ""


class _Part(NamedTuple):
    section: Section
    id: str
    path: str


def split(
    document: Document,
    others: Sequence[Document],
    *,
    soft: int,
    hard: int,
    taken: Callable[[str, str], bool],
    means: Callable[[str], bool],
) -> Split:
    """Split a document so that about ``soft`` tokens stay, at most ``hard``.

    ``others`` are all other documents, whose links follow; ``taken`` says whether an id or a path is
    somebody's already, ``means`` whether a name in double brackets is this document's.
    """
    whole = cut(document.body)
    sections = movable(whole)
    if reason := too_few(whole, sections) or _bad_name(document):
        return Split(reason=reason)
    chosen, left = _chosen(whole, sections, len(document.text) // 4, soft)
    if left > hard:
        return Split(reason=f"without its {len(chosen)} longest sections it would still have {left:,} tokens")
    parts = _named(document, chosen, taken)
    try:
        return _split(document, whole, parts, others, means)
    except InvalidDocument as error:
        return Split(reason=f"its header cannot be copied: {error}")


def _bad_name(document: Document) -> str:
    return "" if is_document_id(document.id) else "its id is none, so that no part can be named after it"


def _chosen(
    whole: Cut, sections: Iterable[Section], tokens: int, soft: int
) -> tuple[tuple[Section, ...], int]:
    """The longest sections, as many as have to go, in their order; and the tokens that stay."""
    by_size = sorted(sections, key=lambda section: (-whole.size(section), section.start))
    chosen: list[Section] = []
    for section in by_size[:MOST_PARTS]:
        if tokens <= soft or whole.size(section) * _SHORTEST_PART < soft:
            break
        chosen.append(section)
        tokens -= whole.size(section)
    return tuple(sorted(chosen, key=lambda section: section.start)), tokens


def _named(
    document: Document, chosen: Iterable[Section], taken: Callable[[str, str], bool]
) -> tuple[_Part, ...]:
    folder = posixpath.dirname(document.path)
    parts: list[_Part] = []
    own: set[str] = set()
    for number, section in enumerate(chosen, 1):
        for doc_id in _ids(document.id, section.heading.text, number):
            path = posixpath.join(folder, f"{file_stem(doc_id, document.kind)}.md")
            if is_document_id(doc_id) and fold_key(path) not in own and not taken(doc_id, path):
                own.add(fold_key(path))
                parts.append(_Part(section, doc_id, path))
                break
    return tuple(parts)


def _ids(base: str, heading: str, number: int) -> Iterator[str]:
    """What a part may be called, the best first: the id, and the words of the heading."""
    words = slug(heading)
    if len(words) > _SLUG:
        words = words[:_SLUG].rpartition("-")[0] or words[:_SLUG]
    words = words or f"part-{number}"
    for suffix in ("", *(f"-{again}" for again in range(2, 1_000))):
        ending = f"-{words}{suffix}"
        yield base[: MAX_ID - len(ending)].rstrip("._-") + ending


def _split(
    document: Document,
    whole: Cut,
    parts: Sequence[_Part],
    others: Sequence[Document],
    means: Callable[[str], bool],
) -> Split:
    eol = "\r" if whole.lines[0].endswith("\r") else ""
    bodies = {part.id: _part_body(whole, part.section, eol) for part in parts}
    bodies[document.id] = _rest(whole, parts, eol)
    places = _places(document, whole, parts, bodies)
    paths = {document.id: document.path, **{part.id: part.path for part in parts}}

    def led(body: str, doc_id: str, path: str, *, within: bool) -> str:
        return relinked(body, references_led(body, doc_id, path, document, places, means, within=within))

    edits = []
    kept = _anchors_of(document, whole, parts)
    for doc_id, path in paths.items():
        text = document.text[: document.body_start] + led(bodies[doc_id], doc_id, path, within=True)
        text = _with_anchors(text, kept[doc_id])
        if doc_id != document.id:
            heading = next(part.section.heading.text for part in parts if part.id == doc_id)
            text = _part_header(text, document, doc_id, heading)
        after = read_document(path, text.encode("utf-8", "surrogatepass")).document
        if after is None or after.id != doc_id:
            raise InvalidDocument(f"the part {doc_id} would not read")
        before = document.hash if doc_id == document.id else ""
        edits.append(DocumentEdit(path, doc_id, before, text))
    for other in others:
        if "#" in other.body:
            text = other.text[: other.body_start] + led(other.body, other.id, other.path, within=False)
            if text != other.text:
                edits.append(DocumentEdit(other.path, other.id, other.hash, text))
    return Split(tuple(edits), tuple((part.id, part.path, part.section.heading.text) for part in parts))


def _part_body(whole: Cut, section: Section, eol: str) -> str:
    """The section as it stands, after a blank line, ending in a line end."""
    return "\n".join([eol, *_ended(whole.lines[section.start : section.end], eol)])


def _rest(whole: Cut, parts: Sequence[_Part], eol: str) -> str:
    """What stays: the text before the first section, the list of the parts, the sections not moved."""
    gone = {part.section.start for part in parts}
    intro = list(whole.lines[: whole.intro])
    while intro and not intro[-1].strip():
        intro.pop()
    intro = intro or [eol]
    listed = [f"- [[{part.id}|{_label(part.section.heading.text) or part.id}]]" for part in parts]
    middle = [line + eol for line in ("", _LIST_OF_PARTS, "", *listed)]
    kept = [
        line
        for section in whole.sections
        if section.start not in gone
        for line in whole.lines[section.start : section.end]
    ]
    return "\n".join([*intro, *middle, *_ended([eol, *kept], eol)])


def _ended(lines: Iterable[str], eol: str) -> list[str]:
    """Lines without the blank ones at the end, the last of them with its line end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    if kept and eol and not kept[-1].endswith(eol):
        kept[-1] += eol
    return [*kept, ""]


def _label(text: str) -> str:
    return " ".join(text.translate(dict.fromkeys(map(ord, "[]|"), " ")).split())


def _places(
    document: Document, whole: Cut, parts: Sequence[_Part], bodies: dict[str, str]
) -> dict[str, Place]:
    """For each anchor of the body, where its heading stands afterwards."""
    owner = {number: part for part in parts for number in range(part.section.first, part.section.after)}
    found: dict[str, Place] = {}
    new = {doc_id: [heading.anchor for heading in headings(body)] for doc_id, body in bodies.items()}
    counts = dict.fromkeys(bodies, 0)
    for number, heading in enumerate(whole.headings):
        part = owner.get(number)
        doc_id, path = (part.id, part.path) if part is not None else (document.id, document.path)
        if counts[doc_id] < len(new[doc_id]):
            found[heading.anchor] = Place(doc_id, path, new[doc_id][counts[doc_id]])
        counts[doc_id] += 1
    return found


def _anchors_of(document: Document, whole: Cut, parts: Sequence[_Part]) -> dict[str, list[Any]]:
    """Which places in the code each result talks about: those that its text names; what none does stays."""
    items = document.data().get("anchors")
    listed = items if isinstance(items, list) else []
    gone = {part.section.start for part in parts}
    rest = "\n".join(whole.lines[: whole.intro]) + "\n".join(
        whole.text(section) for section in whole.sections if section.start not in gone
    )
    found: dict[str, list[Any]] = {document.id: [], **{part.id: [] for part in parts}}
    for item in listed:
        naming = [part.id for part in parts if _names(whole.text(part.section), item)]
        for doc_id in naming:
            found[doc_id].append(item)
        if not naming or _names(rest, item):
            found[document.id].append(item)
    return found


def _names(text: str, item: Any) -> bool:
    """Whether a text names a place in the code: its file, or the definition in it."""
    place = f"{item.get('path', '')}#{item.get('symbol') or ''}" if isinstance(item, dict) else str(item)
    path, _, symbol = place.partition("#")
    words = (path, posixpath.basename(path), symbol, symbol.rpartition(".")[2])
    return any(word in text for word in words if word)


def _with_anchors(text: str, kept: list[Any]) -> str:
    """The text with these of its anchors alone."""
    document = read_document("", text.encode("utf-8", "surrogatepass")).document
    items = document.data().get("anchors") if document is not None else None
    if not isinstance(items, list):
        return text
    if not kept:
        return remove_key(text, ("anchors",))
    for item in items:
        if item not in kept:
            text = remove_item(text, ("anchors",), item)
    return text


def _part_header(text: str, document: Document, doc_id: str, heading: str) -> str:
    """The header of the whole as that of a part: another id and title, no aliases, one link."""
    title = f"{document.title}: {heading}" if heading.strip() else f"{document.title} ({doc_id})"
    for key in ("aliases", "links"):
        text = remove_key(text, (key,))
    text = set_key(set_key(text, ("id",), doc_id), ("title",), title)
    return set_key(text, ("links", "derives_from"), [document.id])
