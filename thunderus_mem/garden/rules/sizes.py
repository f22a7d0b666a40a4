"""The gardening rule `sizes`: split facts that are too long at their headings, and report core memory that is
too long. Pure.

The longest sections of a fact are moved unchanged into facts of their own; the rest keeps its place and gets
a list of the parts. Links to the moved headings are updated in every document. Imported pages keep their
shape unless the user asks for this rule by name. Lint reports every long document.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.frontmatter.edit import remove_item, remove_key, set_key
from thunderus_mem.document.ids import MAX_ID, file_stem, fold_key, is_document_id, slug
from thunderus_mem.document.markdown import Heading, heading_anchor, headings, scan
from thunderus_mem.document.references import linked_path, references, relinked
from thunderus_mem.document.unicode import token_count
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.fingerprint.selectors import leaf_of
from thunderus_mem.garden.plan import REPORT, DocumentEdit, DocumentNames, Step
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import configured_caps
from thunderus_mem.store.layout import CORE_LOCAL_FILE

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.document.profile import Profile
    from thunderus_mem.document.references import Reference
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.store.config import Config

_DEFINITION: Final = lazy_pattern(r" {0,3}\[([^\[\]\n]+)\]:")
_LABEL: Final = lazy_pattern(r"\[([^\[\]\n]+)\]")
_PAIRED: Final = ("details", "div", "table")


class Section(NamedTuple):
    """A half-open range of lines (from 0) that starts with a heading; ``first`` and ``after`` are the
    half-open range of its headings among all headings of the body."""

    heading: Heading
    start: int
    end: int
    first: int
    after: int


class Cut(NamedTuple):
    """A body split at the headings of one level: its lines (without LF, but with any CR), the number of lines
    before the first section, and the sections."""

    lines: tuple[str, ...]
    intro: int
    sections: tuple[Section, ...]
    headings: tuple[Heading, ...]

    def text(self, section: Section) -> str:
        """The text of a section, unchanged."""
        return "\n".join(self.lines[section.start : section.end])

    def size(self, section: Section) -> int:
        """The approximate number of tokens of a section."""
        return token_count(self.text(section))


def cut(body: str) -> Cut:
    """Split a body at the highest level with two headings; no sections if there is none."""
    scanned = scan(body)
    found = headings(body, scanned)
    lines = tuple(body.split("\n"))
    counts = Counter(heading.level for heading in found)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    starts = [
        number for number, one in enumerate(found) if one.level <= level and (number or one.level == level)
    ]
    sections = []
    for place, number in enumerate(starts):
        after = starts[place + 1] if place + 1 < len(starts) else len(found)
        end = found[after].line - 1 if after < len(found) else len(lines)
        sections.append(Section(found[number], found[number].line - 1, end, number, after))
    return Cut(lines, sections[0].start if sections else len(lines), tuple(sections), found)


def movable(whole: Cut) -> tuple[Section, ...]:
    """The sections that can be moved to another document without breaking anything.

    Not those that share link definitions or footnotes with the rest, or contain only one of a pair of HTML
    tags.
    """
    pieces = ["\n".join(whole.lines[: whole.intro]), *(whole.text(section) for section in whole.sections)]
    defined: dict[str, set[int]] = {}
    for place, piece in enumerate(pieces):
        for label in _labels(piece, _DEFINITION):
            defined.setdefault(label, set()).add(place)
    tied: set[int] = set()
    for place, piece in enumerate(pieces):
        for label in _labels(piece, _LABEL) & defined.keys():
            if defined[label] != {place}:
                tied |= {place, *defined[label]}
    return tuple(
        section
        for place, section in enumerate(whole.sections, 1)
        if place not in tied and not _has_unpaired_tag(pieces[place])
    )


def _labels(piece: str, pattern: re.Pattern[str]) -> set[str]:
    if "]" not in piece:
        return set()
    lines: Iterable[str] = piece.split("\n")
    found = (pattern.match(line) for line in lines) if pattern is _DEFINITION else pattern.finditer(piece)
    return {" ".join(match[1].casefold().split()) for match in found if match is not None}


def _has_unpaired_tag(piece: str) -> bool:
    lowered = piece.lower() if "<" in piece else ""
    return any(lowered.count(f"<{tag}") != lowered.count(f"</{tag}") for tag in _PAIRED)


def too_few(whole: Cut, sections: tuple[Section, ...]) -> str:
    """Why a body cannot be split at its headings; "" if it can."""
    if not whole.sections:
        return "it cannot be split because it has fewer than two headings of the same level"
    if not sections:
        return "it cannot be split because its sections share link definitions, footnotes or HTML"
    return ""


class HeadingPlace(NamedTuple):
    """The location of a heading after the split: document, file, and anchor."""

    doc_id: str
    path: str
    anchor: str


def moved_references(
    body: str,
    doc_id: str,
    path: str,
    document: Document,
    places: dict[str, HeadingPlace],
    means: Callable[[str], bool],
    *,
    within: bool,
) -> Iterator[tuple[Reference, str]]:
    """The references of a body to moved headings, each with its new target.

    ``within`` a result of the split, a reference without a name means the document that was split.
    """
    for reference in references(body):
        name, mark, anchor = reference.target.partition("#")
        wiki = reference.kind == "wiki"
        if not mark or not _is_meant(reference, name, path, document, means, within=within):
            continue
        place = places.get(heading_anchor(anchor) if wiki else anchor.lower())
        if place is None or (not within and place.doc_id == document.id and place.anchor == anchor.lower()):
            continue
        if wiki:
            heading = anchor if heading_anchor(anchor) == place.anchor else place.anchor
            new = f"{'' if place.doc_id == doc_id else place.doc_id}#{heading}"
        else:
            file = "" if place.doc_id == doc_id else posixpath.relpath(place.path, posixpath.dirname(path))
            new = f"{file}#{place.anchor}"
        if new != reference.written:
            yield reference, new


def _is_meant(
    reference: Reference,
    name: str,
    path: str,
    document: Document,
    means: Callable[[str], bool],
    *,
    within: bool,
) -> bool:
    """Whether a reference with an anchor points to the document that is split."""
    if not name.strip():
        return within
    if reference.kind == "wiki":
        return means(name.strip())
    return linked_path(path, reference.target) == document.path


MOST_PARTS: Final = 20
_LIST_OF_PARTS: Final = "Parts:"
_SHORTEST_PART: Final = 10
_SLUG: Final = 40


class Split(NamedTuple):
    """The result of a split: edits and parts as (id, path, heading), or the ``reason`` why there is none."""

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
    """Split a document so that about ``soft`` tokens remain, at most ``hard``.

    ``others`` are all other documents, whose links are updated; ``taken`` says whether an id or path is in
    use, ``means`` whether the name in a wiki link is this document.
    """
    whole = cut(document.body)
    sections = movable(whole)
    if reason := too_few(whole, sections) or _bad_name(document):
        return Split(reason=reason)
    chosen, left = _chosen(whole, sections, token_count(document.text), soft)
    if left > hard:
        return Split(reason=f"without its {len(chosen)} longest sections it would still have {left:,} tokens")
    parts = _named(document, chosen, taken)
    try:
        return _split(document, whole, parts, others, means)
    except InvalidDocument as error:
        return Split(reason=f"its frontmatter cannot be copied: {error}")


def _bad_name(document: Document) -> str:
    return "" if is_document_id(document.id) else "its id is invalid, so its parts cannot be named after it"


def _chosen(
    whole: Cut, sections: Iterable[Section], tokens: int, soft: int
) -> tuple[tuple[Section, ...], int]:
    """The longest sections that have to be moved, in document order, and the remaining tokens."""
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
    """Possible ids of a part, best first: the id of the document and the words of the heading."""
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
        return relinked(body, moved_references(body, doc_id, path, document, places, means, within=within))

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
            raise InvalidDocument(f"the part {doc_id} would be invalid")
        before = document.hash if doc_id == document.id else ""
        edits.append(DocumentEdit(path, doc_id, before, text))
    for other in others:
        if "#" in other.body:
            text = other.text[: other.body_start] + led(other.body, other.id, other.path, within=False)
            if text != other.text:
                edits.append(DocumentEdit(other.path, other.id, other.hash, text))
    return Split(tuple(edits), tuple((part.id, part.path, part.section.heading.text) for part in parts))


def _part_body(whole: Cut, section: Section, eol: str) -> str:
    """The section, unchanged, after a blank line and with a final newline."""
    return "\n".join([eol, *_ended(whole.lines[section.start : section.end], eol)])


def _rest(whole: Cut, parts: Sequence[_Part], eol: str) -> str:
    """The remaining text: everything before the first section, the list of parts, the sections not moved."""
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
    """Lines without trailing blank ones, the last one with its line ending."""
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
) -> dict[str, HeadingPlace]:
    """The location of each heading after the split, by its anchor before."""
    owner = {number: part for part in parts for number in range(part.section.first, part.section.after)}
    found: dict[str, HeadingPlace] = {}
    new = {doc_id: [heading.anchor for heading in headings(body)] for doc_id, body in bodies.items()}
    counts = dict.fromkeys(bodies, 0)
    for number, heading in enumerate(whole.headings):
        part = owner.get(number)
        doc_id, path = (part.id, part.path) if part is not None else (document.id, document.path)
        if counts[doc_id] < len(new[doc_id]):
            found[heading.anchor] = HeadingPlace(doc_id, path, new[doc_id][counts[doc_id]])
        counts[doc_id] += 1
    return found


def _anchors_of(document: Document, whole: Cut, parts: Sequence[_Part]) -> dict[str, list[Any]]:
    """The code anchors of each result: those that its text mentions; the original keeps the others."""
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
    """Whether a text mentions the file or the symbol of a code anchor."""
    place = f"{item.get('path', '')}#{item.get('symbol') or ''}" if isinstance(item, dict) else str(item)
    path, _, symbol = place.partition("#")
    words = (path, posixpath.basename(path), symbol, leaf_of(symbol))
    return any(word in text for word in words if word)


def _with_anchors(text: str, kept: list[Any]) -> str:
    """The text with only these of its anchors."""
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
    """The header adapted to a part: a new id and title, no aliases, one link."""
    title = f"{document.title}: {heading}" if heading.strip() else f"{document.title} ({doc_id})"
    for key in ("aliases", "links"):
        text = remove_key(text, (key,))
    text = set_key(set_key(text, ("id",), doc_id), ("title",), title)
    return set_key(text, ("links", "derives_from"), [document.id])


RULE: Final = "sizes"
_LISTED: Final = 10


def plan_sizes(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A proposal to split each fact above the hard cap, and a report of core memory that is too long.

    Decisions, playbooks and recaps are not split, because each needs all of its sections.
    """
    core = [one for one in material.documents if one.kind == "core" and one.path != CORE_LOCAL_FILE]
    steps = _core(core, config, material.read)
    caps = configured_caps(config, "fact")
    asked = RULE in material.named
    long = [
        one
        for one in material.documents
        if one.kind == "fact" and (asked or not one.imported_from) and one.tokens > caps.hard
    ]
    if not long or "fact" not in config.kinds_allowed:
        return tuple(steps)
    names = material.names
    taken = _Taken(material, names)
    linking = _linking(material.documents, names)
    for profile in long:
        if profile.id not in names.claimed_twice:
            document = material.read(profile)
            found = split(
                document,
                [material.read(one) for one in linking.get(profile.path, ()) if one.path != profile.path],
                soft=caps.soft,
                hard=caps.hard,
                taken=taken,
                means=lambda name: names.resolve(name) == document.id,  # noqa: B023
            )
            taken.give(found)
            steps += [_parted(profile, document, found)] if found.edits else []
    return tuple(steps)


def _linking(documents: Sequence[Profile], names: DocumentNames) -> dict[str, list[Profile]]:
    """For the path of each document, those with a link to one of its headings."""
    found: dict[str, dict[str, Profile]] = {}
    for document in documents:
        for link in document.traits.wiki_links:
            name, mark, _ = link.partition("#")
            target = names.ids.get(names.resolve(name.strip()) or "") if mark else None
            if target is not None:
                found.setdefault(target.path, {})[document.path] = document
        for link in document.traits.file_links:
            if "#" in link:
                found.setdefault(linked_path(document.path, link), {})[document.path] = document
    return {path: list(linking.values()) for path, linking in found.items()}


class _Taken:
    """Ids and paths in use, including those assigned by this plan."""

    def __init__(self, material: GardenInput, names: DocumentNames) -> None:
        self._names = names
        self._given: set[str] = set()
        paths = {*material.files, *(one.path for one in (*material.documents, *material.archived))}
        self._paths = {fold_key(path) for path in paths}

    def __call__(self, doc_id: str, path: str) -> bool:
        known = self._names.resolve(doc_id) is not None or bool(
            self._names.by_folded_id.get(fold_key(doc_id))
        )
        return known or doc_id in self._given or fold_key(path) in self._paths

    def give(self, found: Split) -> None:
        """Reserve the ids and paths of a split."""
        self._given |= {doc_id for doc_id, _, _ in found.parts}
        self._paths |= {fold_key(path) for _, path, _ in found.parts}


def _parted(profile: Profile, document: Document, found: Split) -> Step:
    parts = [f"§ {heading} becomes `{doc_id}` ({path})" for doc_id, path, heading in found.parts]
    following = [edit.doc_id for edit in found.edits[1 + len(found.parts) :]]
    led = (
        [f"links to these sections are updated in {', '.join(f'`{one}`' for one in following)}"]
        if following
        else []
    )
    return Step(
        "split",
        f"`{profile.id}` has about {profile.tokens:,} tokens; its longest sections become documents",
        (*parts, "no line is lost; links to headings are updated", *led),
        (document.id, *(doc_id for doc_id, _, _ in found.parts), *following),
        found.edits,
        rule=RULE,
        reach="propose",
        texts=((document.id, _outline(document)),),
    )


def _outline(document: Document) -> str:
    """A hash of the headings (levels and texts, in order), the basis of a decision about a split.

    The decision is about the parts: a changed word in one of them does not ask for a new one.
    """
    outline = [(heading.level, heading.text) for heading in headings(document.body)]
    return hashlib.sha256(repr(outline).encode("utf-8", "surrogatepass")).hexdigest()


def _core(core: Sequence[Profile], config: Config, read: Callable[[Profile], Document]) -> list[Step]:
    total = sum(one.tokens for one in core)
    over = [one for one in core if one.tokens > config.caps_core_hard]
    if total <= config.caps_core_total and not over:
        return []
    most = config.caps_core_total if total > config.caps_core_total else config.caps_core_hard
    what = "core memory has" if total > config.caps_core_total else f"`{over[0].id}` has"
    tokens = total if total > config.caps_core_total else over[0].tokens
    return [
        Step(
            REPORT,
            f"{what} about {tokens:,} tokens (limit {most:,}), and all of it is always loaded; "
            "move what is not always needed into facts",
            tuple(_longest(map(read, core))),
            tuple(one.id for one in core),
            rule=RULE,
            texts=tuple(sorted((one.id, one.hash) for one in core)),
        )
    ]


def _longest(documents: Iterable[Document]) -> list[str]:
    """The longest sections with their location, longest first."""
    found = []
    for document in documents:
        whole = cut(document.body)
        for section in whole.sections:
            line = document.body_line + section.start
            found.append((-whole.size(section), document.path, line, section.heading.text))
    return [
        f"{path}:{line}: § {text}, {-size:,} tokens" for size, path, line, text in sorted(found)[:_LISTED]
    ]
