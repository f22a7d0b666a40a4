"""``anchor`` connects a document to the code it describes; ``verify`` confirms that it matches that code.

A new anchor stores the fingerprint of the current code. Verifying updates fingerprints and ``verification``
where they change, and logs an approval with the anchors and verdicts. Reads code and git; documents are
written through a transaction.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from thunderus_mem.document.anchors import Anchor, anchors_in, parse_anchor
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, remove_key, set_key, update_item
from thunderus_mem.document.paths import matching
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.fingerprint.selectors import leaf_of, split_selector
from thunderus_mem.fingerprint.source import fingerprint_of_files
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.lint.draft import validate
from thunderus_mem.log.actor import refuse_tool
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import find_document, find_row
from thunderus_mem.memory.transaction import Written, open_transaction, settle, unchanged
from thunderus_mem.startup import NamedTuple
from thunderus_mem.verdicts.code import CommitTree, WorkingTree, measured, same_code
from thunderus_mem.verdicts.evaluate import OTHER_RULES
from thunderus_mem.verdicts.judge import Judge, Judged, by_document
from thunderus_mem.verdicts.lookup import weakness
from thunderus_mem.verdicts.verdict import MISSING, MOVED, status_of, worst

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.frontmatter.edit import Item
    from thunderus_mem.fingerprint.source import CodeSource
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction
    from thunderus_mem.verdicts.verdict import Tree

_KEY = ("anchors",)
_COMMITTED = ("verification", "committed")


class RepeatedName(NamedTuple):
    """A new anchor on several definitions of one name, and the ``choices``: anchors on each of them."""

    place: str
    choices: tuple[str, ...]


class Anchoring(NamedTuple):
    """The result of `anchor`. ``weak`` are anchors whose verdicts are less reliable; ``notes`` say why
    new ones are. ``repeated`` are new anchors on several definitions."""

    written: Written
    anchors: tuple[str, ...]
    weak: tuple[str, ...]
    notes: tuple[str, ...]
    repeated: tuple[RepeatedName, ...]


def given_anchors(memory: Memory, places: Iterable[str]) -> list[Anchor]:
    """Parse anchors given by the user and add the fingerprints of the current code.

    Raises `InvalidDocument` for an invalid anchor, `NotFound` for a missing file, symbol or line.
    """
    wanted = [parse_anchor(place) for place in places]
    tree = WorkingTree(memory.root, memory.git)
    return [fingerprinted(one, tree) for one in wanted]


def fingerprinted(anchor: Anchor, tree: Tree) -> Anchor:
    """The anchor with the fingerprint of its code in a tree.

    Raises `NotFound` if the code is missing, `InvalidDocument` if it cannot be read.
    """
    if anchor.is_glob:
        files = matching(anchor.path, tree.paths())
        sources = [source for path in files if (source := tree.source(path)) is not None]
        if not sources:
            raise NotFound(f"no file in the repository matches {anchor.path!r}")
        return anchor._replace(fingerprint=str(fingerprint_of_files(sources)))
    source = tree.source(anchor.path)
    if source is None:
        raise NotFound(f"file {anchor.path!r} does not exist", hint=_near_path(anchor.path, tree))
    if source.trouble:
        problem, _, hint = source.trouble.partition("; ")
        raise InvalidDocument(f"cannot anchor {anchor.path}: {problem}", hint=hint or None)
    found = measured(anchor, source)
    if not found:
        raise NotFound(f"{anchor.path} {_lacks(anchor, source)}", hint=_near_symbol(anchor, source))
    chosen = _chosen(anchor, source)
    named = source.named(anchor.symbol) if anchor.symbol else None
    if named is not None and any(source.in_conflict(*span) for span in named.spans):
        raise InvalidDocument(f"{anchor.place} contains a merge conflict", hint="resolve it first")
    return chosen._replace(fingerprint=str(found[0]))


def _chosen(anchor: Anchor, source: CodeSource) -> Anchor:
    """The anchor with its selector as the program writes it.

    Raises `InvalidDocument` for a symbol that matches definitions in several scopes.
    """
    meanings = source.meanings(anchor.symbol) if anchor.symbol else ()
    if len(meanings) > 1:
        names = ", ".join(one.symbol for one in meanings)
        raise InvalidDocument(
            f"{anchor.symbol!r} is ambiguous in {anchor.path}: {names}", hint="use one of these names"
        )
    if not meanings or meanings[0].selector.is_plain:
        return anchor
    name = split_selector(anchor.symbol).name
    return anchor._replace(symbol=str(meanings[0].selector._replace(name=name)))


def _repeated(anchors: Iterable[Anchor], tree: Tree) -> Iterator[RepeatedName]:
    for anchor in anchors:
        source = tree.source(anchor.path) if anchor.symbol else None
        named = source.named(anchor.symbol) if source is not None else None
        if named is not None and named.is_several:
            choices = (anchor._replace(symbol=one.symbol).place for one in named.each())
            yield RepeatedName(anchor.place, tuple(choices))


def _lacks(anchor: Anchor, source: CodeSource) -> str:
    if anchor.symbol:
        unparsed = f"; it does not parse (line {source.trouble_at})" if source.broken else ""
        return f"does not define {anchor.symbol!r}{unparsed}"
    total = len(source.text.split("\n")) - source.text.endswith("\n")
    if anchor.lines is not None and anchor.lines[0] > total:
        return f"has only {total} line{'' if total == 1 else 's'}"
    return "has no code in these lines"


def _near_path(path: str, tree: Tree) -> str:
    from difflib import get_close_matches

    name = path.rpartition("/")[2]
    same = [one for one in tree.paths() if one.rpartition("/")[2] == name]
    near = same[:3] or get_close_matches(path, tree.paths(), 3)
    return f"did you mean {', '.join(near)}?" if near else "paths are relative to the root of the store"


def _near_symbol(anchor: Anchor, source: CodeSource) -> str:
    from difflib import get_close_matches

    if not anchor.symbol:
        return "choose lines that contain code"
    named = source.named(split_selector(anchor.symbol).name)
    if named is not None:
        return f"the file defines {', '.join(one.symbol for one in named.each())}"
    names = sorted({definition.name for definition in source.definitions()})
    if not names:
        return f"symbols are not supported for this file type; anchor lines: {anchor.path}:10-20"
    leaves = {name.rpartition(".")[2]: name for name in reversed(names)}
    leaf = leaf_of(anchor.symbol)
    near = get_close_matches(anchor.symbol, names, 3) or [
        leaves[one] for one in get_close_matches(leaf, list(leaves), 3)
    ]
    if near:
        return f"did you mean {', '.join(near)}?"
    return f"the file defines {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"


def text_with_anchors(text: str, header_anchors: Iterable[tuple[Anchor, Item]], new: Iterable[Anchor]) -> str:
    """Add anchors to a document's text; an existing anchor for the same place gets the new fingerprint."""
    known = {anchor.place: item for anchor, item in header_anchors}
    for one in new:
        if one.place in known:
            text = update_item(text, _KEY, known[one.place], one.item)
        else:
            text = insert_item(text, _KEY, one.item)
    return text


def cited_of(document: Document) -> list[tuple[Anchor, Item]]:
    """The anchors of a document with the frontmatter items they were read from."""
    return [(cited.anchor, cited.item) for cited in anchors_in(document.header, document.header_line)]


def anchor(
    memory: Memory,
    id: str,
    places: Sequence[str],
    *,
    remove: bool = False,
    why: str = "",
) -> Anchoring:
    """Add anchors to a document, or remove them with ``remove``.

    Raises `NotFound` for a missing document or place, `InvalidDocument` for an invalid anchor.
    """
    settle(memory, "anchor")
    memory.refresh()
    find_document(memory, id)
    tree = WorkingTree(memory.root, memory.git)
    new = [] if remove else [fingerprinted(parse_anchor(place), tree) for place in places]
    repeated = tuple(_repeated(new, tree))
    gone = [parse_anchor(place).place for place in places] if remove else []
    with open_transaction(memory, "anchor") as transaction:
        document = find_document(memory, id)
        cited = cited_of(document)
        text = _without(document, cited, gone) if remove else text_with_anchors(document.text, cited, new)
        if text == document.text:
            return _answer(document, unchanged(document, "anchor"), new, repeated)
        text = remove_key(text, _COMMITTED)
        after, warnings = validate(memory, document.path, text, before=document.text)
        written = transaction.write("anchor", document, after, why=why, warnings=warnings)
        return _answer(after, written, new, repeated)


def _without(document: Document, cited: Sequence[tuple[Anchor, Item]], places: Iterable[str]) -> str:
    items = {one.place: item for one, item in cited}
    text = document.text
    for given in places:
        place = given if given in items else _spaced(given)
        if place not in items:
            raise NotFound(
                f"{document.id} has no anchor {place!r}" if items else f"{document.id} has no anchors",
                hint=f"its anchors: {', '.join(items)}" if items else None,
            )
        text = remove_item(text, _KEY, items[place])
    return text


def _spaced(place: str) -> str:
    """The place with its selector spaced as the program writes it."""
    anchor = parse_anchor(place)
    return anchor._replace(symbol=str(split_selector(anchor.symbol))).place


def _answer(
    document: Document, written: Written, new: Sequence[Anchor], repeated: tuple[RepeatedName, ...]
) -> Anchoring:
    anchors = [one for one, _ in cited_of(document)]
    places = tuple(one.place for one in anchors)
    weak = tuple(one.place for one in anchors if weakness(one))
    notes = tuple(f"{one.place} {reason}" for one in new if (reason := weakness(one)))
    return Anchoring(written, places, weak, notes, repeated)


# Verify documents, and update anchors of moved code

_AT_ONCE = 50
"""Documents per event: keeps the line readable and far below the maximum length."""


class ConfirmedAnchor(NamedTuple):
    """An anchor of a verified document, and its verdict before."""

    place: str
    was: str


class Confirmed(NamedTuple):
    """The result for one document: ``refused`` is the reason why it cannot be verified, "" if it was.

    ``status`` is the status in the file; ``places`` are its anchors with their verdicts before.
    """

    id: str
    path: str
    status: str
    places: tuple[ConfirmedAnchor, ...]
    changed: bool
    refused: str = ""


class Verification(NamedTuple):
    """The result of `verify` by document; ``events`` are the events written, ``by`` is who verified."""

    documents: tuple[Confirmed, ...]
    events: tuple[str, ...]
    by: str
    published: bool = True

    @property
    def refused(self) -> int:
        """The number of documents that could not be verified."""
        return sum(bool(one.refused) for one in self.documents)


def confirm(memory: Memory, ids: Sequence[str], *, note: str = "") -> Verification:
    """Verify documents: write fingerprints, commit, status and who verified, and log an approval.

    A document is refused and stays unchanged if anchored code is missing or cannot be read.
    Raises `NotFound` for an unknown id, `Refused` if the actor is a tool.
    """
    refuse_tool(memory.actor, "verify")
    settle(memory, "verify")
    memory.refresh()
    found = list(dict.fromkeys(find_row(memory, id).id for id in ids))
    answers: list[Confirmed] = []
    events: list[str] = []
    with open_transaction(memory, "verify") as transaction:
        for at in range(0, len(found), _AT_ONCE):
            some, written = _confirmed(memory, transaction, found[at : at + _AT_ONCE], note)
            answers.extend(some)
            events.extend(written)
    return Verification(tuple(answers), tuple(events), memory.actor, transaction.outcome.published)


def _confirmed(
    memory: Memory, transaction: Transaction, ids: Sequence[str], note: str
) -> tuple[list[Confirmed], list[str]]:
    judged = _judged(memory, ids)
    committed = _committed(memory, transaction.head, judged)
    answers: list[Confirmed] = []
    edits: list[FileChange] = []
    evidence: list[dict[str, str]] = []
    for id in ids:
        document = find_document(memory, id)
        looked_at = judged.get(id, [])
        places = tuple(ConfirmedAnchor(one.verdict.anchor.place, one.verdict.status) for one in looked_at)
        refused = _refusal(document, looked_at)
        if refused:
            answers.append(Confirmed(id, document.path, document.status, places, False, refused))
            continue
        text = _with_places(document, looked_at)
        text = _with_verification(text, transaction.head or None, memory.actor)
        if id in committed:
            text = set_key(text, _COMMITTED, _proof(transaction.head, committed[id]))
        else:
            text = remove_key(text, _COMMITTED)
        changed = text != document.text
        if changed:
            text = validate(memory, document.path, text, before=document.text)[0].text
            edits.append(FileChange(id, document.path, document.text, text))
        answers.append(Confirmed(id, document.path, "verified", places, changed))
        evidence.extend(_evidence(one) for one in looked_at)
    confirmed = [one.id for one in answers if not one.refused]
    events = []
    if edits:
        events.append(transaction.commit("verify", edits, why=note))
    if confirmed:
        body = {"action": "verify", "approved": True, "evidence": evidence}
        events.append(transaction.approve(body, confirmed, why=note))
    return answers, events


def _committed(memory: Memory, head: str, judged: Mapping[str, Sequence[Judged]]) -> dict[str, list[Anchor]]:
    """The present anchors of each document whose anchored code has the same text in the newest commit."""
    found = {
        id: [one.verdict.found for one in ones if one.verdict.found is not None]
        for id, ones in judged.items()
    }
    if memory.git is None or not head:
        return {}
    with ObjectReader(memory.git) as reader:
        now, then = WorkingTree(memory.root, memory.git), CommitTree(memory.git, reader, head)
        return {
            id: anchors
            for id, anchors in found.items()
            if anchors and all(same_code(one, now, then) for one in anchors)
        }


def _proof(commit: str, anchors: Iterable[Anchor]) -> str:
    """The value of ``verification.committed``; other anchors or another commit give another."""
    places = "\n".join(sorted(one.place for one in anchors))
    return sha256(f"{commit}\n{places}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _judged(memory: Memory, ids: Sequence[str] | None) -> dict[str, list[Judged]]:
    with Judge(memory) as judge:
        return by_document(judge.all(memory.index.anchors(ids)))


def _judged_now(memory: Memory, given: Sequence[str] | None = None) -> dict[str, list[Judged]]:
    """The current verdicts of the given documents, or of all."""
    memory.refresh()
    return _judged(memory, None if given is None else [find_row(memory, id).id for id in given])


def _refusal(document: Document, judged: Sequence[Judged]) -> str:
    lost = [one.verdict for one in judged if one.verdict.found is None]
    if len(judged) != len(cited_of(document)):
        return "its anchors changed meanwhile"
    if not lost:
        return ""
    first = lost[0]
    step = "anchor other code, or remove the anchor" if first.status == MISSING else "fix that first"
    return f"{first.anchor.place}: {first.reason}; {step}"


def _with_places(document: Document, judged: Sequence[Judged], only: Collection[str] | None = None) -> str:
    """Update each anchor in the text (or only those at the places ``only``) to the current location and
    fingerprint of its code."""
    text = document.text
    for (anchor, item), one in zip(cited_of(document), judged, strict=True):
        found = one.verdict.found
        if found is not None and found != one.verdict.anchor and (only is None or anchor.place in only):
            text = update_item(text, ("anchors",), item, found.item)
    return text


def _with_verification(text: str, commit: str | None, actor: str) -> str:
    text = set_key(text, ("verification", "last_verified_commit"), commit)
    text = set_key(text, ("verification", "status"), "verified")
    return set_key(text, ("verification", "by"), actor)


def _evidence(one: Judged) -> dict[str, str]:
    found = one.verdict.found or one.verdict.anchor
    return {
        "doc_id": one.doc_id,
        "place": found.place,
        "verdict": one.verdict.status,
        "fingerprint": found.fingerprint,
    }


def moved_documents(memory: Memory) -> list[str]:
    """The ids of documents with moved code and no stale or unknown anchor."""
    return [id for id, ones in _judged_now(memory).items() if worst(one.verdict for one in ones) == MOVED]


class Drift(NamedTuple):
    """A document whose status in the file differs from the computed one."""

    id: str
    path: str
    written: str
    status: str
    reasons: tuple[str, ...]


class Moves(NamedTuple):
    """Anchors whose code moved: document, old and new place. ``event_id`` is set once the documents are
    updated."""

    moves: tuple[tuple[str, str, str], ...]
    event_id: str = ""
    published: bool = True


def drifted(memory: Memory, ids: Sequence[str] | None = None) -> list[Drift]:
    """Documents that are stale, or whose status in the file differs from their anchors; by id.

    A document not verified yet has the status ``unknown``: that is not drift while its code is unchanged.
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
    """Write ``stale`` into stale documents, and ``verified`` into those that match the code again.

    Returns the documents found by `drifted` and the event's id, "" if every file is already up to date.
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
    """The anchors that `reanchor` would update: those whose code only moved."""
    return Moves(tuple(_moves(_judged_now(memory, ids))))


def _moves(judged: dict[str, list[Judged]]) -> Iterable[tuple[str, str, str]]:
    for id, ones in judged.items():
        for one in ones:
            if one.verdict.status == MOVED and one.verdict.found is not None:
                yield id, one.verdict.anchor.place, one.verdict.found.place


def reanchor(memory: Memory, planned: Moves, *, why: str = "") -> Moves:
    """Apply the result of `planned_moves`, without moves that have changed since. Verifies nothing."""
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


class Restamped(NamedTuple):
    """An anchor whose fingerprint was computed by other rules: ``reason`` is why it could not be replaced, ""
    if it was."""

    id: str
    place: str
    reason: str


class Restamping(NamedTuple):
    """The result of `restamp`; ``event_id`` is "" if nothing was written."""

    anchors: tuple[Restamped, ...]
    event_id: str
    published: bool


def restamp(memory: Memory, ids: Sequence[str] | None = None, *, why: str = "") -> Restamping:
    """Recompute fingerprints by older rules from the code at the commit of the verification, if that is
    provably the code that was verified. Verifies nothing."""
    settle(memory, "verify")
    outdated = {
        id: places
        for id, ones in _judged_now(memory, ids).items()
        if (places := {one.verdict.anchor.place for one in ones if one.verdict.reason == OTHER_RULES})
    }
    if not outdated:
        return Restamping((), "", True)
    answers: list[Restamped] = []
    edits = []
    with open_transaction(memory, "verify") as transaction:
        for id, places in outdated.items():
            document = find_document(memory, id)
            text, restamped = _restamped(memory, document, places)
            answers.extend(restamped)
            if text != document.text:
                edits.append(FileChange(id, document.path, document.text, text))
        event = transaction.commit("anchor", edits, why=why, actor="tool") if edits else ""
    return Restamping(tuple(answers), event, transaction.outcome.published)


def _restamped(memory: Memory, document: Document, places: Collection[str]) -> tuple[str, list[Restamped]]:
    """The text with the new fingerprints of the anchors at these places, and what became of each."""
    cited = cited_of(document)
    wanted = [(anchor, item) for anchor, item in cited if anchor.place in places]
    commit = document.last_verified_commit
    if (
        memory.git is None
        or commit is None
        or document.committed != _proof(commit, [one for one, _ in cited])
    ):
        reason = "it is not recorded that its verified code was committed; verify the document again"
        return document.text, [Restamped(document.id, anchor.place, reason) for anchor, _ in wanted]
    text, answers = document.text, []
    with ObjectReader(memory.git) as reader:
        tree = CommitTree(memory.git, reader, commit)
        for anchor, item in wanted:
            reason = ""
            try:
                new = fingerprinted(anchor._replace(fingerprint=""), tree)
                text = update_item(text, _KEY, item, new.item)
            except (NotFound, InvalidDocument):
                reason = f"its code is not in commit {commit[:12]} of this repository"
            answers.append(Restamped(document.id, anchor.place, reason))
    return text, answers
