"""The format `thunderus-queue`: ``patch_queue.json`` of a session of Thunderus, as proposals pending review.

A memory patch of Thunderus has the new text of a document, or a section to append to it. Each pending one
becomes a proposal; patches of code and decided ones are only counted. From our own queue, proposals that
create or update a document are exported with its complete new text, which Thunderus writes unchanged.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.document.frontmatter.edit import replace_body
from thunderus_mem.document.timestamp import format_precise, parse_timestamp
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.interop.formats import FormatField
from thunderus_mem.interop.migrate import OlderDocument, migrated
from thunderus_mem.interop.transfer import RefusedRecord, TransferReport
from thunderus_mem.interop.values import json_value, shortened
from thunderus_mem.lint.draft import validate
from thunderus_mem.memory.proposals import Proposal, ProposedEdit, all_waiting, write
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.review.queue import rejected_keys
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside, kind_of, present_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from thunderus_mem.interop.export import Tally
    from thunderus_mem.memory.memory import Memory

_STORE: Final = ".thunderus/"
_PENDING: Final = "proposed"
_TYPES: Final[dict[str, tuple[type, str]]] = {
    **dict.fromkeys(("path", "doc_id", "kind", "description", "status", "diff"), (str, "a string")),
    **dict.fromkeys(("session_id", "created_at"), (str, "a string")),
    "source_events": (list, "a list"),
    "seq": (int, "an integer"),
}
_RECORD: Final = "record"
"""The key of the origin of a proposal under which the patch is kept, without a text that the proposal has."""


class PatchQueue:
    """Reads and writes such files."""

    fields = (
        FormatField("memory_patches: path, doc_id, kind", "edits: path, doc_id", "string", "kept", ""),
        FormatField("memory_patches: diff", "edits: diff", "text", "kept", "a section is appended"),
        FormatField("memory_patches: description", "why", "string", "kept", ""),
        FormatField("memory_patches: source_events", "evidence", "list of strings", "kept", ""),
        FormatField("memory_patches: id, session_id, seq, status", "origin", "object", "kept", ""),
        FormatField("memory_patches: created_at", "created", "time, RFC 3339", "kept", ""),
        FormatField("patches, applied_patches", "-", "list", "lost", "code, and what was decided there"),
    )  # fmt: skip

    def take(self, memory: Memory, data: bytes, source: str, why: str, *, dry_run: bool) -> TransferReport:
        """Add the pending patches to the review queue."""
        patches, dropped = _read(data)
        if dry_run:
            memory.refresh()
            return _Import(memory, source, why).report(patches, dropped, dry_run=True)
        with open_transaction(memory, "import"):
            return _Import(memory, source, why).report(patches, dropped, dry_run=False)

    def problems(self, data: bytes) -> tuple[int, list[RefusedRecord]]:
        """The number of memory patches, and what is wrong with some."""
        patches, _ = _read(data)
        found = []
        for number, patch in patches:
            try:
                _checked(patch)
            except ValueError as reason:
                found.append(RefusedRecord(number, "", str(reason)))
        return len(patches), found

    def pieces(self, memory: Memory, tally: Tally) -> Iterator[str]:
        """Yield the queue; lost are proposals that remove or rename, or whose document has changed since."""
        memory.refresh()
        patches: list[dict[str, Any]] = []
        for waiting in all_waiting(memory.layout):
            for edit in waiting.proposal.edits:
                made = _exported(memory, waiting.proposal, edit, len(patches))
                if isinstance(made, str):
                    tally.lost[made] += 1
                else:
                    patches.append(made)
        tally.exported = len(patches)
        queue = {"patches": [], "memory_patches": patches, "applied_patches": [], "base_snapshot": "HEAD"}
        yield json.dumps(queue, ensure_ascii=False, indent=2) + "\n"


LOG: Final = PatchQueue()


def _read(data: bytes) -> tuple[list[tuple[int, Any]], Counter[str]]:
    """The pending memory patches with their numbers, and how many others there are."""
    try:
        queue = json_value(data)
    except ValueError as reason:
        raise InvalidDocument(f"the file {reason}") from None
    listed = queue.get("memory_patches") if isinstance(queue, dict) else None
    if not isinstance(listed, list):
        raise InvalidDocument("the file has no list `memory_patches`")
    dropped: Counter[str] = Counter()
    code = queue.get("patches")
    dropped["patches"] += len(code) if isinstance(code, list) else 0
    found = []
    for number, patch in enumerate(listed):
        status = patch.get("status") if isinstance(patch, dict) else None
        if isinstance(status, str) and status != _PENDING:
            dropped[shortened(status)] += 1
        else:
            found.append((number, patch))
    return found, +dropped


def _checked(patch: Any) -> dict[str, Any]:
    """A memory patch. Raises `ValueError` with the reason if it is none."""
    if not isinstance(patch, dict):
        raise ValueError("is not an object")  # noqa: TRY004
    for name, (kind, words) in _TYPES.items():
        if type(patch.get(name)) is not kind:
            raise ValueError(f"`{name}` is not {words}")
    if not isinstance(patch.get("id"), dict) or not isinstance(patch["id"].get("id"), str):
        raise ValueError("`id` is not an object with a string `id`")  # noqa: TRY004
    if not all(isinstance(one, str) for one in patch["source_events"]):
        raise ValueError("`source_events` is not a list of strings")
    if parse_timestamp(patch["created_at"]) is None:
        raise ValueError("`created_at` is not a time in RFC 3339 format")
    return patch


def _key(patch: Mapping[str, Any]) -> str:
    return shortened(f"thunderus:{patch['session_id']}:{patch['id']['id']}")


class _Import:
    """The patches of one file, checked one by one against the documents and the queue."""

    def __init__(self, memory: Memory, source: str, why: str) -> None:
        self._memory = memory
        self._origin = {**memory.origin(), "source": source}
        self._why = why
        self._known = {one.proposal.key for one in all_waiting(memory.layout)} | rejected_keys(memory)

    def report(
        self, patches: list[tuple[int, Any]], dropped: Mapping[str, int], *, dry_run: bool
    ) -> TransferReport:
        refused: list[RefusedRecord] = []
        imported = unchanged = 0
        last = ""
        for number, patch in patches:
            try:
                proposal = self._proposal(_checked(patch))
                if proposal is not None and not dry_run:
                    write(self._memory.layout, proposal)
            except (ValueError, ThunderusError) as reason:
                refused.append(RefusedRecord(number, _named(patch), str(reason)))
                continue
            imported, unchanged = imported + (proposal is not None), unchanged + (proposal is None)
            last = proposal.id if proposal is not None and not dry_run else last
        return TransferReport(
            "thunderus-queue",
            self._origin["source"],
            imported,
            0,
            unchanged,
            (),
            tuple(refused),
            {},
            dict(sorted(dropped.items())),
            dry_run=dry_run,
            proposed=last,
        )

    def _proposal(self, patch: Mapping[str, Any]) -> Proposal | None:
        """The proposal of a patch, ``None`` if it is known or applied already."""
        if (key := _key(patch)) in self._known:
            return None
        self._known.add(key)
        path, before = self._place(patch)
        after = _text_after(path, before, patch["diff"])
        if after == before:
            return None
        document, _ = validate(self._memory, path, after, before=before)
        if document.id != patch["doc_id"]:
            raise ValueError(f"the text is that of {shortened(document.id)}, not of `doc_id`")
        kept = {**patch, **({"diff": None} if patch["diff"] == after else {})}
        record = json.dumps(kept, ensure_ascii=False)
        return Proposal(
            self._memory.new_id("patch"),
            format_precise(self._memory.now()),
            "agent",
            "add" if before is None else "edit",
            patch["description"] or self._why,
            (document.id,),
            (ProposedEdit.between(path, document.id, before, after),),
            {**self._origin, _RECORD: record},
            evidence=tuple(patch["source_events"]),
            key=key,
        )

    def _place(self, patch: Mapping[str, Any]) -> tuple[str, str | None]:
        """The path of the document that a patch is about, and its text now."""
        row = self._memory.index.get(patch["doc_id"])
        path = patch["path"].replace("\\", "/")
        path = row.path if row is not None else path[max(path.find(_STORE), 0) :]
        path = present_place(path) or path
        if kind_of(path) is None:
            raise ValueError("`path` is not that of a document")
        return path, _text_at(self._memory, path)


def _named(patch: Any) -> str:
    id = patch.get("id") if isinstance(patch, dict) else None
    return str(id["id"]) if isinstance(id, dict) and isinstance(id.get("id"), str) else ""


def _text_at(memory: Memory, path: str) -> str | None:
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None


def _text_after(path: str, before: str | None, given: str) -> str:
    """The text of a document after a patch. Raises `ValueError` if it cannot be applied."""
    if given.lstrip().startswith("---\n"):
        after, _ = migrated(OlderDocument(path, kind_of(path) or "", given.lstrip()))
        return after
    if before is None:
        raise ValueError("the document to append to does not exist")
    document = read_document(path, before.encode()).document
    if document is None:
        raise ValueError(f"{path} cannot be read")
    return replace_body(before, f"{document.body.rstrip()}\n\n{given.strip()}\n")


def _exported(memory: Memory, proposal: Proposal, edit: ProposedEdit, number: int) -> dict[str, Any] | str:
    """The memory patch of an edit; or why there is none."""
    if edit.op not in ("create", "update"):
        return edit.op
    now = _text_at(memory, edit.path) if edit.before else None
    if edit.before and (now is None or content_hash(now) != edit.before):
        return "changed since"
    after = edit.text_after(now) or ""
    kept = _record(proposal)
    if kept:
        return {**kept, "diff": after if kept["diff"] is None else kept["diff"]}
    return {
        "id": {"id": proposal.id},
        "path": edit.path,
        "doc_id": edit.doc_id,
        "kind": kind_of(edit.path) or "fact",
        "description": proposal.why,
        "status": _PENDING,
        "diff": after,
        "source_events": list(proposal.evidence),
        "session_id": proposal.created[:19].replace(":", "-") + "Z",
        "seq": number,
        "created_at": f"{proposal.created[:19]}Z",
    }


def _record(proposal: Proposal) -> dict[str, Any]:
    """The patch that a proposal was made from, empty if it was made here."""
    try:
        found = json_value(proposal.origin.get(_RECORD, "{}"))
        return _checked({**found, "diff": found["diff"] or ""}) and dict(found)
    except (ValueError, KeyError, TypeError):  # proposals may come from anyone
        return {}
