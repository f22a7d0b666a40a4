"""``anchor`` ties a document to the code it talks about; ``verify`` confirms that it is right about it.

Making an anchor takes the fingerprint of what is there now: who writes it says that the text is about this.
Confirming writes fingerprints and ``verification`` where they change, and an approval with what was looked
at. Reads code and git; documents are written through a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.anchors import Anchor, anchors_in, parse_anchor
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, set_key, update_item
from thunderus_mem.document.paths import matching
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.fingerprint.source import fingerprint_of_files
from thunderus_mem.lint.runner import validate
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import find_document, find_row
from thunderus_mem.memory.transaction import Written, open_transaction, settle, unchanged
from thunderus_mem.verdicts.code import WorkingTree, measured
from thunderus_mem.verdicts.judge import Judge, Judged, by_document
from thunderus_mem.verdicts.verdict import MISSING, MOVED, status_of, worst

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.frontmatter.edit import Item
    from thunderus_mem.fingerprint.source import CodeSource
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction
    from thunderus_mem.verdicts.verdict import Tree

_KEY = ("anchors",)


class Anchoring(NamedTuple):
    """What `anchor` did. ``weak`` are anchors on whole files: any edit there speaks against it."""

    written: Written
    anchors: tuple[str, ...]
    weak: tuple[str, ...]


def given_anchors(memory: Memory, places: Iterable[str]) -> list[Anchor]:
    """The anchors that a person named, each with the fingerprint of what is there.

    Raises `InvalidDocument` for a text that is no place, `NotFound` for a file, symbol or line that is not
    there.
    """
    wanted = [parse_anchor(place) for place in places]
    tree = WorkingTree(memory.root, memory.git)
    return [fingerprinted(one, tree) for one in wanted]


def fingerprinted(anchor: Anchor, tree: Tree) -> Anchor:
    """The anchor with the fingerprint of what a tree has at its place.

    Raises `NotFound` when nothing is there, `InvalidDocument` when what is there cannot be read.
    """
    if anchor.is_glob:
        files = matching(anchor.path, tree.paths())
        sources = [source for path in files if (source := tree.source(path)) is not None]
        if not sources:
            raise NotFound(f"no file of the repository fits {anchor.path!r}")
        return anchor._replace(fingerprint=str(fingerprint_of_files(sources)))
    source = tree.source(anchor.path)
    if source is None:
        raise NotFound(f"there is no file {anchor.path!r}", hint=_near_path(anchor.path, tree))
    if source.trouble:
        raise InvalidDocument(f"{anchor.path} cannot be anchored: {source.trouble}")
    found = measured(anchor, source)
    if not found:
        raise NotFound(f"{anchor.path} {_lacks(anchor)}", hint=_near_symbol(anchor, source))
    if source.broken and anchor.symbol:
        raise InvalidDocument(
            f"{anchor.path} does not parse (line {source.trouble_at})",
            hint="anchor it when the file is whole, or anchor lines",
        )
    return anchor._replace(fingerprint=str(found[0]))


def _lacks(anchor: Anchor) -> str:
    return f"defines no {anchor.symbol}" if anchor.symbol else "has no code in these lines"


def _near_path(path: str, tree: Tree) -> str:
    from difflib import get_close_matches

    name = path.rpartition("/")[2]
    same = [one for one in tree.paths() if one.rpartition("/")[2] == name]
    near = same[:3] or get_close_matches(path, tree.paths(), 3)
    return f"did you mean {', '.join(near)}?" if near else "paths are relative to the root of the store"


def _near_symbol(anchor: Anchor, source: CodeSource) -> str:
    from difflib import get_close_matches

    if not anchor.symbol:
        return f"it has {source.text.count(chr(10)) + 1} lines"
    names = sorted({definition.name for definition in source.definitions()})
    if not names:
        return f"definitions of such files cannot be told; anchor lines: {anchor.path}:10-20"
    leaves = {name.rpartition(".")[2]: name for name in reversed(names)}
    leaf = anchor.symbol.rpartition(".")[2]
    near = get_close_matches(anchor.symbol, names, 3) or [
        leaves[one] for one in get_close_matches(leaf, list(leaves), 3)
    ]
    return f"it defines {', '.join(near or names[:5])}{'' if near or len(names) <= 5 else ' …'}"


def text_with_anchors(text: str, header_anchors: Iterable[tuple[Anchor, Item]], new: Iterable[Anchor]) -> str:
    """The document's text with more anchors; one for the same place gets the new fingerprint."""
    known = {anchor.place: item for anchor, item in header_anchors}
    for one in new:
        if one.place in known:
            text = update_item(text, _KEY, known[one.place], one.item)
        else:
            text = insert_item(text, _KEY, one.item)
    return text


def cited_of(document: Document) -> list[tuple[Anchor, Item]]:
    """The anchors of a document with the items they were read from."""
    return [(cited.anchor, cited.item) for cited in anchors_in(document.header, document.header_line)]


def anchor(
    memory: Memory,
    id: str,
    places: Sequence[str],
    *,
    remove: bool = False,
    why: str = "",
    actor: str = "user",
) -> Anchoring:
    """Tie a document to places in the code, or with ``remove`` untie it.

    Raises `NotFound` for a document or a place that is not there, `InvalidDocument` for what is no place.
    """
    settle(memory, "anchor")
    memory.refresh()
    find_document(memory, id)
    new = [] if remove else given_anchors(memory, places)
    gone = [parse_anchor(place).place for place in places] if remove else []
    with open_transaction(memory, "anchor") as transaction:
        document = find_document(memory, id)
        cited = cited_of(document)
        text = _without(document, cited, gone) if remove else text_with_anchors(document.text, cited, new)
        if text == document.text:
            return _answer(document, unchanged(document, "anchor"))
        after, warnings = validate(memory, document.path, text, before=document.text)
        written = transaction.write("anchor", document, after, why=why, actor=actor, warnings=warnings)
        return _answer(after, written)


def _without(document: Document, cited: Sequence[tuple[Anchor, Item]], places: Iterable[str]) -> str:
    items = {one.place: item for one, item in cited}
    text = document.text
    for place in places:
        if place not in items:
            raise NotFound(
                f"{document.id} has no anchor {place!r}",
                hint=f"it has {', '.join(items)}" if items else "it has none",
            )
        text = remove_item(text, _KEY, items[place])
    return text


def _answer(document: Document, written: Written) -> Anchoring:
    anchors = [one for one, _ in cited_of(document)]
    places = tuple(one.place for one in anchors)
    return Anchoring(written, places, tuple(one.place for one in anchors if one.is_weak))


# Confirming, and following code that moved

_AT_ONCE = 50
"""Documents that one event speaks of: its line stays readable, and far below the longest that is taken."""


class Confirmed(NamedTuple):
    """One document and what became of it: ``refused`` says why it cannot be confirmed, "" when it was.

    ``status`` is what the file says now; ``places`` are its anchors with the verdict each had before.
    """

    id: str
    path: str
    status: str
    places: tuple[tuple[str, str], ...]
    changed: bool
    refused: str = ""


class Verification(NamedTuple):
    """What `verify` did, by document; ``events`` are those it wrote, ``by`` whose word it is."""

    documents: tuple[Confirmed, ...]
    events: tuple[str, ...]
    by: str
    published: bool = True

    @property
    def refused(self) -> int:
        """How many documents could not be confirmed."""
        return sum(bool(one.refused) for one in self.documents)


def confirm(memory: Memory, ids: Sequence[str], *, note: str = "", actor: str = "user") -> Verification:
    """Confirm documents: fingerprints, commit, status and by whom, as an approval of ``actor``.

    A document is refused, and left as it is, when code that it talks about is missing or cannot be read.
    Raises `NotFound` for an id that there is not.
    """
    settle(memory, "verify")
    memory.refresh()
    found = list(dict.fromkeys(find_row(memory, id).id for id in ids))
    answers: list[Confirmed] = []
    events: list[str] = []
    with open_transaction(memory, "verify") as transaction:
        for at in range(0, len(found), _AT_ONCE):
            some, written = _confirmed(memory, transaction, found[at : at + _AT_ONCE], note, actor)
            answers.extend(some)
            events.extend(written)
    return Verification(tuple(answers), tuple(events), actor, transaction.outcome.published)


def _confirmed(
    memory: Memory, transaction: Transaction, ids: Sequence[str], note: str, actor: str
) -> tuple[list[Confirmed], list[str]]:
    judged = _judged(memory, ids)
    answers: list[Confirmed] = []
    edits: list[FileChange] = []
    evidence: list[dict[str, str]] = []
    for id in ids:
        document = find_document(memory, id)
        looked_at = judged.get(id, [])
        places = tuple((one.verdict.anchor.place, one.verdict.status) for one in looked_at)
        refused = _refusal(document, looked_at)
        if refused:
            answers.append(Confirmed(id, document.path, document.status, places, False, refused))
            continue
        text = _with_places(document, looked_at)
        text = _with_verification(text, transaction.head or None, actor)
        changed = text != document.text
        if changed:
            text = validate(memory, document.path, text, before=document.text)[0].text
            edits.append(FileChange(id, document.path, document.text, text))
        answers.append(Confirmed(id, document.path, "verified", places, changed))
        evidence.extend(_evidence(one) for one in looked_at)
    confirmed = [one.id for one in answers if not one.refused]
    events = []
    if edits:
        events.append(transaction.commit("verify", edits, why=note, actor=actor))
    if confirmed:
        body = {"action": "verify", "approved": True, "evidence": evidence}
        events.append(transaction.approve(body, confirmed, why=note, actor=actor))
    return answers, events


def _judged(memory: Memory, ids: Sequence[str] | None) -> dict[str, list[Judged]]:
    with Judge(memory) as judge:
        return by_document(judge.all(memory.index.anchors(ids)))


def _judged_now(memory: Memory, given: Sequence[str] | None = None) -> dict[str, list[Judged]]:
    """What the code says now of the documents that are meant; of all without any."""
    memory.refresh()
    return _judged(memory, None if given is None else [find_row(memory, id).id for id in given])


def _refusal(document: Document, judged: Sequence[Judged]) -> str:
    lost = [one.verdict for one in judged if one.verdict.found is None]
    if len(judged) != len(cited_of(document)):
        return "its anchors changed meanwhile"
    if not lost:
        return ""
    first = lost[0]
    step = "anchor it anew, or remove the anchor" if first.status == MISSING else "mend that first"
    return f"{first.anchor.place}: {first.reason}; {step}"


def _with_places(document: Document, judged: Sequence[Judged], only: Collection[str] | None = None) -> str:
    """The text with each anchor (``only`` those at some places) where its code is now, with the fingerprint
    of what is there."""
    text = document.text
    for (anchor, item), one in zip(cited_of(document), judged, strict=True):
        found = one.verdict.found
        if found is not None and found != one.verdict.anchor and (only is None or anchor.place in only):
            text = update_item(text, ("anchors",), item, found.item)
    return text


def _with_verification(text: str, commit: str | None, actor: str) -> str:
    text = set_key(text, ("verification", "last_verified_commit"), commit)
    text = set_key(text, ("verification", "status"), "verified")
    return set_key(text, ("verification", "by"), "agent" if actor == "agent" else "user")


def _evidence(one: Judged) -> dict[str, str]:
    found = one.verdict.found or one.verdict.anchor
    return {
        "doc_id": one.doc_id,
        "place": found.place,
        "verdict": one.verdict.status,
        "fingerprint": found.fingerprint,
    }


def moved_documents(memory: Memory) -> list[str]:
    """Documents of which some code moved and none is stale or unknown, by id."""
    return [id for id, ones in _judged_now(memory).items() if worst(one.verdict for one in ones) == MOVED]


class Drift(NamedTuple):
    """A document whose file says another status than the code does."""

    id: str
    path: str
    written: str
    status: str
    reasons: tuple[str, ...]


class Moves(NamedTuple):
    """Anchors whose code is elsewhere now: document, former and present place. ``event_id`` is set when the
    documents say so by now."""

    moves: tuple[tuple[str, str, str], ...]
    event_id: str = ""
    published: bool = True


def drifted(memory: Memory, ids: Sequence[str] | None = None) -> list[Drift]:
    """Documents whose written status is not what their anchors say, or that are stale; by id.

    A document that nobody confirmed yet says ``unknown``: that is no drift as long as its code is as it was.
    """
    found = []
    for id, ones in _judged_now(memory, ids).items():
        row = memory.index.get(id)
        now = status_of(worst(one.verdict for one in ones))
        if row is None or not (now == "stale" or (row.status == "stale" and now == "verified")):
            continue
        reasons = tuple(
            f"{one.verdict.anchor.place}: {one.verdict.reason}" for one in ones if one.verdict.is_stale
        )
        found.append(Drift(id, row.path, row.status, now, reasons))
    return found


def update_status(
    memory: Memory, ids: Sequence[str] | None = None, *, why: str = ""
) -> tuple[list[Drift], str]:
    """Write ``stale`` where the code says so, and ``verified`` again where it has come back.

    Gives what was looked at and the event's id, "" when every file says already what is so.
    """
    settle(memory, "verify")
    drift = drifted(memory, ids)
    wrong = [one for one in drift if one.written != one.status]
    if not wrong:
        return drift, ""
    with open_transaction(memory, "verify") as transaction:
        edits = []
        for one in wrong:
            document = find_document(memory, one.id)
            text = set_key(document.text, ("verification", "status"), one.status)
            if text != document.text:
                edits.append(FileChange(document.id, document.path, document.text, text))
        event = transaction.commit("verify", edits, why=why, actor="tool") if edits else ""
    return drift, event


def planned_moves(memory: Memory, ids: Sequence[str] | None = None) -> Moves:
    """Which anchors would be set anew: those whose code only moved."""
    return Moves(tuple(_moves(_judged_now(memory, ids))))


def _moves(judged: dict[str, list[Judged]]) -> Iterable[tuple[str, str, str]]:
    for id, ones in judged.items():
        for one in ones:
            if one.verdict.status == MOVED and one.verdict.found is not None:
                yield id, one.verdict.anchor.place, one.verdict.found.place


def reanchor(memory: Memory, planned: Moves, *, why: str = "") -> Moves:
    """Carry out what `planned_moves` found; a move that is another by now is left out. Confirms nothing."""
    wanted = set(planned.moves)
    if not wanted:
        return planned
    ids = sorted({id for id, _, _ in wanted})
    done: list[tuple[str, str, str]] = []
    with open_transaction(memory, "verify") as transaction:
        judged = _judged(memory, ids)
        edits = []
        for id in ids:
            document = find_document(memory, id)
            moving = [move for move in _moves({id: judged.get(id, [])}) if move in wanted]
            if len(judged.get(id, [])) != len(cited_of(document)):
                raise InvalidDocument(f"the anchors of {document.id} changed meanwhile", hint="try again")
            text = _with_places(document, judged.get(id, []), {old for _, old, _ in moving})
            if text != document.text:
                edits.append(FileChange(id, document.path, document.text, text))
                done.extend(moving)
        event = transaction.commit("anchor", edits, why=why, actor="tool") if edits else ""
    return Moves(tuple(done), event, transaction.outcome.published)
