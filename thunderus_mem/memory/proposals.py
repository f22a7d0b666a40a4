"""Proposals: changes of documents pending review, one file each below ``.thunderus/patches``.

The value, its encoding, and the folder, which is read with a size limit and without following links.
Proposals may come from anyone through git, so they are untrusted: `decode` accepts only what `encode` could
have written, and `ProposedEdit.text_after` only a diff that leads from one hash to the other. `needs_review`
decides which changes become proposals; `rebase` in `review.queue` applies them to the current documents.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.diff import apply_diff, lines_of, three_way, whole_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.frontmatter.edit import remove_item
from thunderus_mem.document.ids import closest
from thunderus_mem.document.timestamp import parse_timestamp, ulid_time
from thunderus_mem.errors import InvalidDocument, NotFound, Refused, ThunderusError, explain
from thunderus_mem.log.line import ACTORS, parse_object, with_escapes
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import ABSENT, TEMP_PREFIX, read_below, replace_file
from thunderus_mem.store.paths import inside, is_safe, kind_of, may_change, proposal_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.log.new_event import Ids
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.layout import Layout

PATCH_ID: Final = lazy_pattern(r"patch_[0-9A-HJKMNP-TV-Z]{26}", re.ASCII)
OPS: Final = ("add", "edit", "remove", "rename", "supersede", "link", "anchor", "garden", "recap", "import")
"""The kinds of patches that can be proposals: those that create or change documents."""


class InvalidProposal(ValueError):
    """A file that is not a valid proposal: the ``key`` (``edits[0].path``, or ""), reason, and fix."""

    def __init__(self, key: str, reason: str, fix: str = "") -> None:
        super().__init__(f"{key}: {reason}" if key else reason)
        self.key = key
        self.reason = reason
        self.fix = fix or "restore the file from git, or delete it to discard the proposal"


class ProposedEdit(NamedTuple):
    """One file of a proposal.

    ``before`` is the content hash it applies to ("": a new file), ``after`` the resulting one ("": removed).
    ``diff`` leads from one text to the other, with LF line ends. A moved document is two edits with
    ``renames``: the old path, then the new path.
    """

    path: str
    doc_id: str
    before: str
    after: str
    diff: str
    renames: bool = False

    @property
    def op(self) -> str:
        """What the edit does to the file: create, update, remove or rename."""
        if self.renames:
            return "rename"
        return "create" if not self.before else "update" if self.after else "remove"

    @classmethod
    def between(
        cls, path: str, doc_id: str, before: str | None, after: str | None, *, renames: bool = False
    ) -> ProposedEdit:
        """Return the edit from ``before`` to ``after`` (``None``: no file)."""
        old, new = ("" if text is None else content_hash(text) for text in (before, after))
        return cls(path, doc_id, old, new, whole_diff(before, after, path), renames)

    @classmethod
    def of(cls, change: FileChange) -> ProposedEdit:
        """Return the edit for a change."""
        return cls.between(change.path, change.doc_id, change.before, change.after, renames=change.renames)

    def text_after(self, now: str | None) -> str | None:
        """Apply the edit to ``now``, the text it was made from (``None``: no file); ``None`` means removed.

        Line ends are those of ``now``. Raises `InvalidProposal` if the result does not match the hash.
        """
        if not self.after:
            return None
        lf = "".join(lines_of(now or ""))
        text = apply_diff(lf, self.diff)
        if text is None or content_hash(text) != self.after:
            raise InvalidProposal(
                "edits", f"the diff of {self.path} does not give the text with the hash `after`"
            )
        return text if now is None or "\r" not in now else three_way(lf, now, text) or text


class Proposal(NamedTuple):
    """A change pending review.

    ``op`` is the kind of patch it becomes (one of `OPS`); ``rule``, ``action`` and ``label`` come from the
    gardener, else "". Decisions are remembered by ``key``; ``texts`` are the digests it is based on, by
    document id; ``private`` are the private events that a new text cites. ``created``, ``actor`` and
    ``origin`` are when and who; ``why`` and ``evidence`` are for the reviewer.
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
"""Maximum size of a proposal's file in bytes."""
VERSION: Final = 1
_HASH: Final = lazy_pattern(r"(?:sha256:[0-9a-f]{64})?", re.ASCII)
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
    """Decode the bytes of a proposal's file. Raises `InvalidProposal` with key, reason and a hint."""
    marked = data.startswith(b"<<<<<<<") or b"\n<<<<<<<" in data
    try:
        table = parse_object(data, MAX_PROPOSAL)
    except ValueError as error:
        fix = "it has merge conflict markers: keep one side, or delete the file" if marked else ""
        raise InvalidProposal("", str(error), fix) from None
    version = table.get("v")
    if type(version) is int and version > VERSION:
        raise InvalidProposal("v", f"written in a newer format version ({version})", "upgrade thunderus-mem")
    _only(table, _KEYS, "")
    if version != VERSION or type(version) is not int:
        raise InvalidProposal("v", f"must be {VERSION}")
    texts = [_object(one, ("id", "digest"), f"texts[{at}]") for at, one in enumerate(_list(table, "texts"))]
    proposal = Proposal(
        id=_text(table, "id", PATCH_ID, "a patch id (patch_ and a ULID)"),
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
    """Raise for unknown or missing keys."""
    wanted = list(keys)
    for key in table:
        if key not in wanted:
            near = closest(key, wanted, 1)
            fix = f'rename it to "{near[0]}", or remove it' if near else "remove the key"
            raise InvalidProposal(_at(place, key), "unknown key", fix)
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
        raise InvalidProposal(_at(at, key), "must be a string")
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
        raise InvalidProposal(_at(at, key), "must be a list of strings")
    return tuple(values)


def _object(value: Any, keys: tuple[str, ...], place: str) -> tuple[dict[str, Any], str]:
    if not isinstance(value, dict):
        raise InvalidProposal(place, "must be an object")
    _only(value, keys, place)
    return value, place


def _origin(table: Mapping[str, Any]) -> dict[str, str]:
    value = table["origin"]
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise InvalidProposal("origin", "must be an object of strings")
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
        raise InvalidProposal(place, "has neither a text before nor one after")
    lines = _texts(table, "diff", place)
    if any("\n" in line for line in lines):
        raise InvalidProposal(_at(place, "diff"), "must be a list of lines without line ends")
    diff = "".join(f"{line}\n" for line in lines)
    return ProposedEdit(path, _text(table, "doc_id", at=place), before, after, diff, table["renames"])


def _check_targets(proposal: Proposal) -> None:
    """Raise if a changed document is not among the targets, which the reviewer sees.

    A target that does not change may be superseded, or was compared by the gardener.
    """
    named = set(proposal.targets)
    changed = {edit.doc_id for edit in proposal.edits}
    for at, edit in enumerate(proposal.edits):
        if edit.doc_id and edit.doc_id not in named:
            raise InvalidProposal(f"edits[{at}].doc_id", f"{_cut(edit.doc_id)} is not one of the targets")
    for at, target in enumerate(proposal.targets):
        if target not in changed and not proposal.rule and proposal.op != "supersede":
            raise InvalidProposal(f"targets[{at}]", f"no edit changes {_cut(target)}")


def _cut(name: str) -> str:
    return repr(name if len(name) <= _MOST_LABEL else name[:_MOST_LABEL] + "…")


def _check_edits(edits: tuple[ProposedEdit, ...]) -> None:
    """Raise for no edits, duplicate paths, an incomplete rename, or an invalid diff."""
    if not edits:
        raise InvalidProposal("edits", "is empty")
    seen: set[str] = set()
    for at, edit in enumerate(edits):
        if edit.path.casefold() in seen:
            raise InvalidProposal(f"edits[{at}].path", "is a duplicate path")
        seen.add(edit.path.casefold())
    halves = [edit for edit in edits if edit.renames]
    sides = [(bool(edit.before), bool(edit.after)) for edit in halves]
    if sides != [(True, False), (False, True)] * (len(halves) // 2):
        raise InvalidProposal("edits", "a rename must be two edits: the old path, then the new one")
    for at, edit in enumerate(edits):
        if not edit.before:
            try:
                edit.text_after(None)
            except InvalidProposal as error:
                raise InvalidProposal(f"edits[{at}].diff", error.reason) from None


FOLDER: Final = ".thunderus/patches"
_DAY: Final = 86_400


class Waiting(NamedTuple):
    """A pending proposal: its root-relative path, the text of that file, and its value."""

    path: str
    text: str
    proposal: Proposal

    @property
    def hash(self) -> str:
        """The hash of the file."""
        return content_hash(self.text)

    @property
    def removal(self) -> FileChange:
        """The change that deletes the proposal together with a decision."""
        return FileChange("", self.path, self.text, None)


class BadProposal(NamedTuple):
    """An invalid file among the proposals: path, key, reason, and how to fix it."""

    path: str
    key: str
    reason: str
    fix: str


def file_names(layout: Layout) -> list[str]:
    """Return the root-relative files of the proposals, oldest first: their names sort by time."""
    try:
        names = os.listdir(layout.patches_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explain(error, layout.patches_dir) from error
    return [f"{FOLDER}/{name}" for name in sorted(names) if not name.startswith((TEMP_PREFIX, "."))]


def age(path: str, now: datetime) -> int | None:
    """Return the age in days by the time in the file name; ``None`` for other names."""
    made = ulid_time(proposal_id(path).removeprefix("patch_"))
    return None if made is None else max(int((now - made).total_seconds()) // _DAY, 0)


def entries(layout: Layout) -> Iterator[Waiting | BadProposal]:
    """Yield each file of the folder, oldest first; an invalid file does not hide the others."""
    for path in file_names(layout):
        try:
            yield _read(layout, path)
        except InvalidProposal as error:
            yield BadProposal(path, error.key, error.reason, error.fix)
        except NotFound:
            continue  # decided meanwhile
        except ThunderusError as error:
            reason = str(error)
            for name in (repr(path), path):
                reason = reason.replace(f"{name} ", "").replace(f" {name}", "")
            yield BadProposal(path, "", reason, error.hint or "")


def all_waiting(layout: Layout) -> Iterator[Waiting]:
    """Yield all pending proposals, oldest first.

    Skips invalid files, but raises if a file cannot be read: it may be a proposal.
    """
    for path in file_names(layout):
        with suppress(InvalidProposal, NotFound, Refused):
            yield _read(layout, path)


def read(layout: Layout, path: str) -> Waiting:
    """Read one proposal. Raises `NotFound`, `Refused`, or `InvalidDocument` with file and key."""
    try:
        return _read(layout, path)
    except InvalidProposal as error:
        raise InvalidDocument(f"{path} is not a valid proposal: {error}", hint=error.fix) from None


def _read(layout: Layout, path: str) -> Waiting:
    named = proposal_id(path)
    if not named:
        raise InvalidProposal(
            "",
            "the file name is not `patch_ID.json` with an id of 26 characters",
            "move the file out of .thunderus/patches",
        )
    data = read_below(layout.root, path, MAX_PROPOSAL)
    proposal = decode(data)
    if proposal.id != named:
        raise InvalidProposal("id", f"is {proposal.id}, but the file name is {named}")
    for at, edit in enumerate(proposal.edits):
        if not (is_safe(edit.path) and may_change(edit.path)):
            raise InvalidProposal(
                f"edits[{at}].path", f"{edit.path!r} is not the path of a document", "delete the file"
            )
        if not edit.doc_id and kind_of(edit.path) is not None:
            raise InvalidProposal(f"edits[{at}].doc_id", "is empty")
    _refuse_secrets(data, proposal)
    return Waiting(path, data.decode("utf-8"), proposal)


def _refuse_secrets(data: bytes, proposal: Proposal) -> None:
    from thunderus_mem.safety.secrets import find_secrets

    texts = [proposal.why, *proposal.evidence, *(edit.diff for edit in proposal.edits)]
    for secret in find_secrets("\n".join(texts))[:1] or find_secrets(data.decode("utf-8", "replace"))[:1]:
        raise InvalidProposal(
            "", f"contains a possible secret ({secret.kind})", "delete the file, and revoke the secret"
        )


def write(layout: Layout, proposal: Proposal) -> str:
    """Write a proposal to a new file; return its root-relative path.

    Raises `Refused` if it contains a secret or is too large, `Conflict` if the file exists.
    """
    data = encode(proposal)
    if len(data) > MAX_PROPOSAL:
        raise Refused(
            f"the proposal is {len(data):,} bytes long, at most {MAX_PROPOSAL:,} are allowed",
            hint="split it into smaller changes",
        )
    try:
        _refuse_secrets(data, proposal)
    except InvalidProposal as error:
        raise Refused(
            f"the proposal {error.reason}; nothing was written",
            hint="describe where the secret is stored instead",
        ) from None
    assert PATCH_ID.fullmatch(proposal.id), proposal.id
    path = f"{FOLDER}/{proposal.id}.json"
    replace_file(inside(layout.root, path), data, expecting=ABSENT)
    return path


REVIEWED_OPS: Final = frozenset(("add", "edit", "anchor", "supersede", "link", "remove", "rename", "garden"))
"""The kinds of patches that ``review.agents`` applies to."""


def needs_review(config: Config, actor: str, op: str, paths: Iterable[str]) -> bool:
    """Whether a change needs review: made by an agent, if the settings say so."""
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
    about: Iterable[str],
    origin: Mapping[str, str],
) -> Proposal:
    """Return the proposal of ``changes``, instead of making them; ``about`` are more targets.

    A new document does not cite its event, which is created only by the approval.
    """
    edits = tuple(
        ProposedEdit.of(
            one._replace(after=_without_event(one.after, ids.event)) if one.before is None else one
        )
        for one in changes
    )
    targets = dict.fromkeys([*(one.doc_id for one in changes if one.doc_id), *about])
    return Proposal(ids.patch, created, actor, op, why, tuple(targets), edits, dict(origin))


def _without_event(text: str | None, event: str) -> str | None:
    if text is None or event not in text:
        return text
    try:
        return remove_item(text, ("provenance", "events"), event)
    except InvalidDocument:
        return text
