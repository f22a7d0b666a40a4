"""The gardening rule `similar`: proposals and reports about documents that are alike. Pure.

Nothing here is ever carried out by itself. Of two documents that say the same one gets the blocks that only
the other has, none is changed; the newer of two that may contradict each other may supersede the older.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.edit import insert_item, replace_body, set_key
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.statements import statements, text_digest
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import REPORT, DocumentEdit, Step, moved
from thunderus_mem.garden.rules.duplicates import (
    FLAG_FOR_REVIEW,
    MERGEABLE_KINDS,
    by_strategy,
    hindrance,
    linked_files,
    malformation,
    unite,
)
from thunderus_mem.garden.similar.compare import CONTRADICTION, FORM, SAME
from thunderus_mem.garden.similar.pairs import Families, Gates, find_similar, links_between
from thunderus_mem.garden.similar.profile import sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.garden.similar.pairs import Pair
    from thunderus_mem.store.config import Config

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"(#{1,6})([ \t].*)")
_DEEPEST = 6


def blocks(body: str) -> list[str]:
    """A body cut at its blank lines; a fenced block and a comment stay whole."""
    found: list[list[str]] = [[]]
    closing = ""
    for line in body.splitlines():
        if closing:
            found[-1].append(line)
            if closing in line if closing == "-->" else line.strip().startswith(closing):
                closing = ""
            continue
        if fence := _FENCE.match(line):
            closing = fence[1]
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            closing = "-->"
        if not line.strip():
            found.append([])
        elif line.startswith("#"):
            found += [[line], []]
        else:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found if lines]


def lacking(stays: Document, leaves: Document) -> list[str]:
    """The blocks of one document with a sentence that the other does not have, each under its heading."""
    told = {sentence.plain for sentence in sentences_of(stays.body)}
    kept: list[str] = []
    headings: list[str] = []
    for block in blocks(leaves.body):
        if heading := _HEADING.match(block):
            level = len(heading[1])
            headings = [one for one in headings if len(one) - len(one.lstrip("#")) < level]
            headings.append(block)
            continue
        said = {sentence.plain for sentence in sentences_of(block)}
        if block in stays.body or (said and said <= told):
            continue
        kept += [_lowered(one) for one in headings]
        headings = []
        kept.append(block)
    return kept


def _lowered(heading: str) -> str:
    marks = len(heading) - len(heading.lstrip("#"))
    return "#" * min(max(marks + 1, 3), _DEEPEST) + heading[marks:]


def joined(stays: Document, leaves: Document) -> Document | None:
    """``stays`` with the header of both (see `unite`) and with what only ``leaves`` says under
    a heading of its own; ``None`` when the header cannot hold it all."""
    united = unite(stays, leaves)
    if united is None:
        return None
    added = lacking(stays, leaves)
    text = united.text
    if added:
        title = " ".join(leaves.title.split())
        body = united.body.rstrip("\r\n") + "\n\n" + "\n\n".join([f"## From “{title}”", *added]) + "\n"
        text = replace_body(text, body.replace("\r\n", "\n"))
    try:
        if added and utc_key(leaves.updated) > utc_key(stays.updated):
            text = set_key(text, ("updated",), leaves.updated)
        return read_document(stays.path, text.encode("utf-8", "surrogatepass")).document
    except InvalidDocument:
        return None


RULE: Final = "similar"
JOIN: Final = "join"
SUPERSEDE: Final = "supersede"
_SETTLED: Final = frozenset(("supersedes", "duplicates"))


def plan_similar(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Proposals and reports about documents that nearly say the same, or say it in other words.

    *same* proposes one document with what both say, *possible contradiction* that the newer supersedes the
    older; documents of one form and related ones are only reported, as is everything when
    ``duplicates_strategy`` is ``flag_for_review``. Documents that are superseded, and pairs that a link
    joins already, are not told again.
    """
    settled = links_between(material.documents, _SETTLED)
    documents = compared(material.documents)
    by_id = {document.id: document for document in documents}
    joined_pairs = {frozenset((source, target)) for source, _, target in settled}
    pairs = [
        pair
        for pair in find_similar(documents, material.signatures, gates_of(config))
        if frozenset((pair.first, pair.second)) not in joined_pairs
    ]
    links = linked_files(documents) if any(pair.label == SAME for pair in pairs) else {}
    steps = [_step(pair, by_id, config, links) for pair in pairs if pair.label != FORM]
    return (*steps, *_forms([pair for pair in pairs if pair.label == FORM], by_id))


def gates_of(config: Config) -> Gates:
    """From where on documents are alike, as the settings say in percent."""
    percent = config.duplicates_near, config.duplicates_contained, config.duplicates_restated
    return Gates(*(one / 100 for one in percent))


def compared(documents: Sequence[Document]) -> list[Document]:
    """The documents that are compared: those that no other one supersedes."""
    links = links_between(documents, _SETTLED)
    replaced = {target for source, rel, target in links if rel == "supersedes" and source != target}
    return [document for document in documents if document.id not in replaced]


def _texts(documents: Iterable[Document]) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, text_digest(one.title, statements(one.body, one.title))) for one in documents)


def _step(pair: Pair, by_id: Mapping[str, Document], config: Config, links: Mapping[str, str]) -> Step:
    two = by_id[pair.first], by_id[pair.second]
    if pair.label == SAME:
        return _same(pair, two, config, links)
    if pair.label == CONTRADICTION:
        return _contradiction(pair, two, config)
    why = f"`{pair.first}` and `{pair.second}` speak of much the same"
    return _told(pair, two, f"{why}; a person decides whether they belong together")


def _told(pair: Pair, documents: Sequence[Document], why: str, obstacle: str = "") -> Step:
    """A pair that is only reported."""
    return Step(
        REPORT,
        why,
        (*pair.evidence, *([obstacle] if obstacle else [])),
        tuple(document.id for document in documents),
        rule=RULE,
        reach="report",
        label=pair.label,
        texts=_texts(documents),
    )


def set_aside(document: Document) -> tuple[DocumentEdit, ...]:
    """The edits that take a document out of use: what it says lives on in another, its file is archived."""
    return moved(document, archived_path(document.path))


def _same(pair: Pair, two: Sequence[Document], config: Config, links: Mapping[str, str]) -> Step:
    stays, leaves = by_strategy(two, config.duplicates_strategy)
    why = f"`{stays.id}` and `{leaves.id}` say the same in other words"
    reason = _obstacle(stays, leaves, config, links)
    after = None if reason else joined(stays, leaves)
    if after is None:
        told = reason or f"the header of `{stays.id}` cannot hold what that of `{leaves.id}` has"
        return _told(pair, (stays, leaves), f"{why}; a person decides what becomes of them", told)
    return Step(
        JOIN,
        f"{why}; `{stays.id}` gets what only the other says",
        pair.evidence,
        (stays.id, leaves.id),
        (DocumentEdit(stays.path, stays.id, stays.hash, after.text), *set_aside(leaves)),
        rule=RULE,
        reach="propose",
        label=pair.label,
        texts=_texts((stays, leaves)),
    )


def _obstacle(stays: Document, leaves: Document, config: Config, links: Mapping[str, str]) -> str:
    """Why two documents that say the same cannot be proposed as one; "" when they can."""
    if config.duplicates_strategy == FLAG_FOR_REVIEW:
        return "`duplicates.strategy` is `flag_for_review`"
    merged = MERGEABLE_KINDS & frozenset(config.duplicates_kinds)
    if stays.kind != leaves.kind or stays.kind not in merged:
        kinds = stays.kind if stays.kind == leaves.kind else f"{stays.kind} and {leaves.kind}"
        return f"documents of kind {kinds} are not joined"
    return malformation(stays) or malformation(leaves) or hindrance(stays, leaves, links)


def _contradiction(pair: Pair, two: Sequence[Document], config: Config) -> Step:
    older, newer = sorted(two, key=lambda document: (utc_key(document.updated), document.id))
    why = f"`{newer.id}` and `{older.id}` may contradict each other, both are in question"
    text = ""
    known = utc_key(older.updated) and utc_key(older.updated) != utc_key(newer.updated)
    if known and config.duplicates_strategy != FLAG_FOR_REVIEW:
        try:
            text = insert_item(newer.text, ("links", "supersedes"), older.id)
        except InvalidDocument:
            text = ""
    if not text:
        return _told(pair, (newer, older), f"{why}; a person decides which of them holds")
    return Step(
        SUPERSEDE,
        f"{why}; if the newer holds, it supersedes the other",
        pair.evidence,
        (newer.id, older.id),
        (DocumentEdit(newer.path, newer.id, newer.hash, text),),
        rule=RULE,
        reach="propose",
        label=pair.label,
        texts=_texts((newer, older)),
    )


def _forms(pairs: Sequence[Pair], by_id: Mapping[str, Document]) -> list[Step]:
    """One report for each form, naming every document that fills it."""
    families = Families()
    for pair in pairs:
        families.join(pair.first, pair.second)
    return [_form([by_id[name] for name in members]) for members in families.all()]


def _form(members: Sequence[Document]) -> Step:
    return Step(
        REPORT,
        f"{len(members)} documents fill one form with different things; that makes them no duplicates",
        tuple(f"`{one.id}` stands in {one.path}" for one in members),
        tuple(one.id for one in members),
        rule=RULE,
        reach="report",
        label=FORM,
        texts=_texts(members),
    )
