"""The file of a proposal, as bytes: `decode` takes only what `encode` could have written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.event_line import ACTORS, with_escapes
from thunderus_mem.model.ids import closest
from thunderus_mem.model.proposal import OPS, PATCH_ID, InvalidProposal, Proposal, ProposedEdit, text_after
from thunderus_mem.model.strict_json import parse_object
from thunderus_mem.model.timestamp import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["MAX_PROPOSAL", "decode", "encode"]

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
    told = [(bool(edit.before), bool(edit.after)) for edit in halves]
    if told != [(True, False), (False, True)] * (len(halves) // 2):
        raise InvalidProposal("edits", "a rename is two edits: the old path, then the new one")
    for at, edit in enumerate(edits):
        if not edit.before:
            try:
                text_after(edit, None)
            except InvalidProposal as error:
                raise InvalidProposal(f"edits[{at}].diff", error.reason) from None
