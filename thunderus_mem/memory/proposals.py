"""A proposal: a change of documents that waits for a decision, one file each below ``.thunderus/patches``.

The value, its file as bytes, and the folder, which is read under a cap and without following links. It may
come from anybody through git, so nothing of it is believed: `decode` takes only what `encode` could have
written, and `ProposedEdit.text_after` only a diff that leads from the one hash to the other. `needs_review`
says whose changes become proposals at all; whether one still fits is said by `rebase` in `review.queue`.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.diff import apply_diff, lines_of, three_way, whole_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.frontmatter.edit import remove_item
from thunderus_mem.document.ids import closest
from thunderus_mem.document.timestamp import parse_timestamp, ulid_time
from thunderus_mem.errors import InvalidDocument, NotFound, Refused, ThunderusError, explain
from thunderus_mem.log.line import ACTORS, parse_object, with_escapes
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.store.files import ABSENT, TEMP_PREFIX, read_below, replace_file
from thunderus_mem.store.paths import inside, is_safe, kind_of, may_change, proposal_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.log.new_event import Ids
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.layout import Layout

PATCH_ID: Final = re.compile(r"patch_[0-9A-HJKMNP-TV-Z]{26}", re.ASCII)
OPS: Final = ("add", "edit", "remove", "rename", "supersede", "link", "anchor", "garden", "recap", "import")
"""What a proposal may be: the kinds of patches that make or change documents."""


class InvalidProposal(ValueError):
    """A file that is no proposal: which ``key`` (``edits[0].path``, or ""), the reason, and what to do."""

    def __init__(self, key: str, reason: str, fix: str = "") -> None:
        super().__init__(f"{key}: {reason}" if key else reason)
        self.key = key
        self.reason = reason
        self.fix = fix or "bring the file back from git, or delete it: then nothing is proposed"


class ProposedEdit(NamedTuple):
    """One file of a proposal.

    ``before`` is the content hash it was made from ("": a new file), ``after`` the one it leads to ("": the
    file goes away). ``diff`` leads from the one text to the other, with line ends as LF. A document that gets
    another path is two of them with ``renames``: the old path loses the text, then the new path gets it.
    """

    path: str
    doc_id: str
    before: str
    after: str
    diff: str
    renames: bool = False

    @property
    def op(self) -> str:
        """What it does to the file: create, update, remove or rename."""
        if self.renames:
            return "rename"
        return "create" if not self.before else "update" if self.after else "remove"

    @classmethod
    def between(
        cls, path: str, doc_id: str, before: str | None, after: str | None, *, renames: bool = False
    ) -> ProposedEdit:
        """The edit that makes ``after`` of ``before`` (``None``: no file)."""
        old, new = ("" if text is None else content_hash(text) for text in (before, after))
        return cls(path, doc_id, old, new, whole_diff(before, after, path), renames)

    @classmethod
    def of(cls, change: FileChange) -> ProposedEdit:
        """The edit that makes a change."""
        return cls.between(change.path, change.doc_id, change.before, change.after, renames=change.renames)

    def text_after(self, now: str | None) -> str | None:
        """The text it makes of ``now``, the text it was made from (``None``: no file); ``None`` removes it.

        Line ends are those of ``now``. Raises `InvalidProposal` when the diff does not lead to the hash it
        names.
        """
        if not self.after:
            return None
        lf = "".join(lines_of(now or ""))
        text = apply_diff(lf, self.diff)
        if text is None or content_hash(text) != self.after:
            raise InvalidProposal("edits", f"the diff of {self.path} does not lead to the text it names")
        return text if now is None or "\r" not in now else three_way(lf, now, text) or text


class Proposal(NamedTuple):
    """A change that waits for a decision.

    ``op`` is the kind of patch it becomes (one of `OPS`); ``rule``, ``action`` and ``label`` come from the
    gardener, "" else. ``key`` is what a decision about it is remembered by, ``texts`` the digests it rests
    on, by document id, ``private`` the private events that a new text names. ``created`` is when, ``actor``
    and ``origin`` who made it; ``why`` and ``evidence`` are for whoever decides.
    """

    id: str
    created: str
    actor: str
    op: str
    why: str
    targets: tuple[str, ...]
    edits: tuple[ProposedEdit, ...]
    origin: Mapping[str, str] = {}
    rule: str = ""
    action: str = ""
    label: str = ""
    evidence: tuple[str, ...] = ()
    key: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = ()


MAX_PROPOSAL: Final = 4 << 20
"""Bytes of the largest file of a proposal."""
VERSION: Final = 1
_HASH: Final = re.compile(r"(?:sha256:[0-9a-f]{64})?", re.ASCII)
_MOST_LABEL: Final = 120
_KEYS: Final = (
    *("v", "id", "created", "actor", "origin", "op", "rule", "action", "label", "why"),
    *("evidence", "targets", "key", "texts", "private", "edits"),
)
_EDIT_KEYS: Final = ("path", "doc_id", "before", "after", "renames", "diff")


def encode(proposal: Proposal) -> bytes:
    """The file of a proposal: one JSON object, keys in a fixed order, the same bytes for the same value."""
    data: dict[str, Any] = {"v": VERSION}
    for name in _KEYS[1:]:
        value = getattr(proposal, name)
        if name == "edits":
            value = [
                {**{key: getattr(edit, key) for key in _EDIT_KEYS}, "diff": edit.diff.split("\n")[:-1]}
                for edit in proposal.edits
            ]
        elif name == "texts":
            value = [{"id": one, "digest": digest} for one, digest in proposal.texts]
        elif name == "origin":
            value = {key: proposal.origin[key] for key in sorted(proposal.origin)}
        data[name] = value
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    return with_escapes(text).encode("utf-8", "replace") + b"\n"


def decode(data: bytes) -> Proposal:
    """Read the bytes of a proposal's file. Raises `InvalidProposal` with key, reason and a way out."""
    marked = data.startswith(b"<<<<<<<") or b"\n<<<<<<<" in data
    try:
        table = parse_object(data, MAX_PROPOSAL)
    except ValueError as error:
        fix = "git could not merge it: keep one side, or delete the file" if marked else ""
        raise InvalidProposal("", str(error), fix) from None
    version = table.get("v")
    if type(version) is int and version > VERSION:
        raise InvalidProposal("v", f"written by a newer version of the format ({version})", "use that one")
    _only(table, _KEYS, "")
    if version != VERSION or type(version) is not int:
        raise InvalidProposal("v", f"must be {VERSION}")
    texts = [_object(one, ("id", "digest"), f"texts[{at}]") for at, one in enumerate(_list(table, "texts"))]
    proposal = Proposal(
        id=_text(table, "id", PATCH_ID, "an id of a patch (patch_ and a ULID)"),
        created=_text(table, "created"),
        actor=_choice(table, "actor", ACTORS),
        origin=_origin(table),
        op=_choice(table, "op", OPS),
        rule=_short(table, "rule"),
        action=_short(table, "action"),
        label=_short(table, "label"),
        why=_text(table, "why"),
        evidence=_texts(table, "evidence"),
        targets=_texts(table, "targets"),
        key=_short(table, "key"),
        texts=tuple((_text(one, "id", at=at), _text(one, "digest", at=at)) for one, at in texts),
        private=_texts(table, "private"),
        edits=tuple(_edit(one, f"edits[{at}]") for at, one in enumerate(_list(table, "edits"))),
    )
    if parse_timestamp(proposal.created) is None:
        raise InvalidProposal("created", "is not an RFC 3339 time")
    _check_edits(proposal.edits)
    _check_targets(proposal)
    return proposal


def _only(table: Mapping[str, Any], keys: Iterable[str], place: str) -> None:
    """Raise for a key too many or too few."""
    wanted = list(keys)
    for key in table:
        if key not in wanted:
            near = closest(key, wanted, 1)
            meant = f'did you mean "{near[0]}"? ' if near else ""
            raise InvalidProposal(_at(place, key), "is no key of a proposal", f"{meant}take the key out")
    for key in wanted:
        if key not in table:
            raise InvalidProposal(_at(place, key), "is missing")


def _at(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _text(
    table: Mapping[str, Any],
    key: str,
    pattern: re.Pattern[str] | None = None,
    what: str = "",
    *,
    at: str = "",
) -> str:
    value = table[key]
    if not isinstance(value, str):
        raise InvalidProposal(_at(at, key), "must be text")
    if pattern is not None and not pattern.fullmatch(value):
        raise InvalidProposal(_at(at, key), f"is not {what}")
    return value


def _short(table: Mapping[str, Any], key: str) -> str:
    value = _text(table, key)
    if len(value) > _MOST_LABEL or not value.isprintable():
        raise InvalidProposal(key, f"must be at most {_MOST_LABEL} visible characters")
    return value


def _choice(table: Mapping[str, Any], key: str, among: tuple[str, ...]) -> str:
    value = _text(table, key)
    if value not in among:
        raise InvalidProposal(key, f"must be one of {', '.join(among)}")
    return value


def _list(table: Mapping[str, Any], key: str, at: str = "") -> list[Any]:
    value = table[key]
    if not isinstance(value, list):
        raise InvalidProposal(_at(at, key), "must be a list")
    return value


def _texts(table: Mapping[str, Any], key: str, at: str = "") -> tuple[str, ...]:
    values = _list(table, key, at)
    if not all(isinstance(value, str) for value in values):
        raise InvalidProposal(_at(at, key), "must be a list of texts")
    return tuple(values)


def _object(value: Any, keys: tuple[str, ...], place: str) -> tuple[dict[str, Any], str]:
    if not isinstance(value, dict):
        raise InvalidProposal(place, "must be an object")
    _only(value, keys, place)
    return value, place


def _origin(table: Mapping[str, Any]) -> dict[str, str]:
    value = table["origin"]
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise InvalidProposal("origin", "must be an object of texts")
    return value


def _edit(value: Any, place: str) -> ProposedEdit:
    table, _ = _object(value, _EDIT_KEYS, place)
    if not isinstance(table["renames"], bool):
        raise InvalidProposal(_at(place, "renames"), "must be true or false")
    path = _text(table, "path", at=place)
    before, after = (_text(table, key, _HASH, "a content hash", at=place) for key in ("before", "after"))
    if not path:
        raise InvalidProposal(_at(place, "path"), "is empty")
    if not before and not after:
        raise InvalidProposal(place, "neither begins nor ends with a file")
    lines = _texts(table, "diff", place)
    if any("\n" in line for line in lines):
        raise InvalidProposal(_at(place, "diff"), "is a list of lines, and one of them holds a line end")
    diff = "".join(f"{line}\n" for line in lines)
    return ProposedEdit(path, _text(table, "doc_id", at=place), before, after, diff, table["renames"])


def _check_targets(proposal: Proposal) -> None:
    """Raise when a document is changed that is not named: who decides goes by the names. The gardener also
    names documents that it only compared."""
    named = set(proposal.targets)
    changed = {edit.doc_id for edit in proposal.edits}
    for at, edit in enumerate(proposal.edits):
        if edit.doc_id and edit.doc_id not in named:
            raise InvalidProposal(f"edits[{at}].doc_id", f"{_cut(edit.doc_id)} is not among the targets")
    for at, target in enumerate(proposal.targets):
        if target not in changed and not proposal.rule:
            raise InvalidProposal(f"targets[{at}]", f"no edit changes {_cut(target)}")


def _cut(name: str) -> str:
    return repr(name if len(name) <= _MOST_LABEL else name[:_MOST_LABEL] + "…")


def _check_edits(edits: tuple[ProposedEdit, ...]) -> None:
    """Raise for no edit, a file named twice, a rename that is not two halves, or a diff that cannot be."""
    if not edits:
        raise InvalidProposal("edits", "is empty: nothing is proposed")
    seen: set[str] = set()
    for at, edit in enumerate(edits):
        if edit.path.casefold() in seen:
            raise InvalidProposal(f"edits[{at}].path", "is named twice")
        seen.add(edit.path.casefold())
    halves = [edit for edit in edits if edit.renames]
    sides = [(bool(edit.before), bool(edit.after)) for edit in halves]
    if sides != [(True, False), (False, True)] * (len(halves) // 2):
        raise InvalidProposal("edits", "a rename is two edits: the old path, then the new one")
    for at, edit in enumerate(edits):
        if not edit.before:
            try:
                edit.text_after(None)
            except InvalidProposal as error:
                raise InvalidProposal(f"edits[{at}].diff", error.reason) from None


FOLDER: Final = ".thunderus/patches"
_DAY: Final = 86_400


class Waiting(NamedTuple):
    """A proposal that waits: its file from the root, the text of that file, and what it says."""

    path: str
    text: str
    proposal: Proposal

    @property
    def hash(self) -> str:
        """The hash of the file."""
        return content_hash(self.text)

    @property
    def removal(self) -> FileChange:
        """What a decision does besides, so that the proposal is gone with it."""
        return FileChange("", self.path, self.text, None)


class BadProposal(NamedTuple):
    """A file among the proposals that is none: where, which key of it, why, and what to do."""

    path: str
    key: str
    reason: str
    fix: str


def file_names(layout: Layout) -> list[str]:
    """The files among the proposals, from the root, oldest first: their names begin with the time."""
    try:
        names = os.listdir(layout.patches_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explain(error, layout.patches_dir) from error
    return [f"{FOLDER}/{name}" for name in sorted(names) if not name.startswith((TEMP_PREFIX, "."))]


def age(path: str, now: datetime) -> int | None:
    """Whole days since the proposal in this file was made, by the time in its name; ``None`` for no such."""
    made = ulid_time(proposal_id(path).removeprefix("patch_"))
    return None if made is None else max(int((now - made).total_seconds()) // _DAY, 0)


def entries(layout: Layout) -> Iterator[Waiting | BadProposal]:
    """Each file of the folder, oldest first, one at a time: one bad file hides no other."""
    for path in file_names(layout):
        try:
            yield _read(layout, path)
        except InvalidProposal as error:
            yield BadProposal(path, error.key, error.reason, error.fix)
        except NotFound:
            continue  # decided meanwhile
        except ThunderusError as error:
            reason = str(error).removeprefix(repr(path)).removeprefix(path).strip(" .")
            yield BadProposal(path, "", reason, error.hint or "")


def all_waiting(layout: Layout) -> Iterator[Waiting]:
    """Each proposal that waits, oldest first, for who decides about all of them.

    A file that is none is left out; one that the system will not let us read may be one, and raises.
    """
    for path in file_names(layout):
        with suppress(InvalidProposal, NotFound, Refused):
            yield _read(layout, path)


def read(layout: Layout, path: str) -> Waiting:
    """One proposal by its file. Raises `NotFound`, `Refused`, or `InvalidDocument` naming file and key."""
    try:
        return _read(layout, path)
    except InvalidProposal as error:
        raise InvalidDocument(f"{path} is no proposal: {error}", hint=error.fix) from None


def _read(layout: Layout, path: str) -> Waiting:
    named = proposal_id(path)
    if not named:
        raise InvalidProposal("", "no proposal has such a name (patch_….json)", "move the file away")
    data = read_below(layout.root, path, MAX_PROPOSAL)
    proposal = decode(data)
    if proposal.id != named:
        raise InvalidProposal("id", f"is {proposal.id}, but the file is named {named}")
    for at, edit in enumerate(proposal.edits):
        if not (is_safe(edit.path) and may_change(edit.path)):
            raise InvalidProposal(
                f"edits[{at}].path", f"{edit.path!r} is no place of a document", "delete it: it is not ours"
            )
        if not edit.doc_id and kind_of(edit.path) is not None:
            raise InvalidProposal(f"edits[{at}].doc_id", "is empty")
    _refuse_secrets(data, proposal)
    return Waiting(path, data.decode("utf-8"), proposal)


def _refuse_secrets(data: bytes, proposal: Proposal) -> None:
    from thunderus_mem.document.secrets import find_secrets

    texts = [proposal.why, *proposal.evidence, *(edit.diff for edit in proposal.edits)]
    for secret in find_secrets("\n".join(texts))[:1] or find_secrets(data.decode("utf-8", "replace"))[:1]:
        raise InvalidProposal(
            "", f"holds what looks like a secret ({secret.kind})", "delete the file, and make the secret void"
        )


def write(layout: Layout, proposal: Proposal, *, expecting: str = ABSENT) -> str:
    """Put a proposal into the folder; returns its file from the root. ``expecting`` is the hash of the file
    it replaces. Raises `Refused` when it holds a secret or is too large, `Conflict` when the file differs."""
    data = encode(proposal)
    if len(data) > MAX_PROPOSAL:
        raise Refused(
            f"the proposal is {len(data):,} bytes long; {MAX_PROPOSAL:,} are allowed",
            hint="make several smaller changes of it",
        )
    try:
        _refuse_secrets(data, proposal)
    except InvalidProposal as error:
        raise Refused(
            f"nothing is filed: the proposal {error.reason}",
            hint="name where the secret is kept instead of the secret",
        ) from None
    assert PATCH_ID.fullmatch(proposal.id), proposal.id
    path = f"{FOLDER}/{proposal.id}.json"
    replace_file(inside(layout.root, path), data, expecting=expecting)
    return path


REVIEWED_OPS: Final = frozenset(("add", "edit", "anchor", "supersede", "link", "remove", "rename", "garden"))
"""The kinds of patches that ``review.agents`` may send to review."""


def needs_review(config: Config, actor: str, op: str, paths: Iterable[str]) -> bool:
    """Whether a change waits for a decision: one of an agent, where the configuration says so."""
    if config.review_agents != "propose" or actor != "agent" or op not in REVIEWED_OPS:
        return False
    return any(kind_of(path) in config.review_kinds for path in paths)


def proposal_of(
    changes: Sequence[FileChange],
    ids: Ids,
    *,
    created: str,
    actor: str,
    op: str,
    why: str,
    origin: Mapping[str, str],
) -> Proposal:
    """The proposal that a writing command becomes instead of making ``changes``.

    A new document does not name its event: what it is made from is the decision, and that is yet to come.
    """
    edits = tuple(
        ProposedEdit.of(
            one._replace(after=_without_event(one.after, ids.event)) if one.before is None else one
        )
        for one in changes
    )
    targets = dict.fromkeys(one.doc_id for one in changes if one.doc_id)
    return Proposal(ids.patch, created, actor, op, why, tuple(targets), edits, dict(origin))


def _without_event(text: str | None, event: str) -> str | None:
    if text is None or event not in text:
        return text
    try:
        return remove_item(text, ("provenance", "events"), event)
    except InvalidDocument:
        return text
