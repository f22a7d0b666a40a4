"""The verb `events add`: what happened elsewhere (messages, tools, notes) comes into the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.errors import InvalidDocument, Refused
from thunderus_mem.model.event import encode, make_event
from thunderus_mem.model.event_secrets import secret_in
from thunderus_mem.model.incoming import BROUGHT_KINDS, Brought, read_brought

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event

__all__ = ["AddedEvents", "events_add", "given_event"]


class AddedEvents(NamedTuple):
    """Events that were added, by id; those ``known`` already were left out. ``private`` of them are in no
    shared shard."""

    added: tuple[str, ...]
    known: tuple[str, ...] = ()
    private: int = 0


def given_event(kind: str, text: str, *, actor: str = "", exit_code: int | None = None) -> Brought:
    """One event from a command line: what was said, or for a tool the command that was run.

    Raises `InvalidDocument` for another kind, or an empty text.
    """
    if kind not in BROUGHT_KINDS:
        raise InvalidDocument(f"{kind!r} cannot be added", hint=f"one of: {', '.join(BROUGHT_KINDS)}")
    if not text.strip():
        raise InvalidDocument("an empty event says nothing", hint="give --body TEXT")
    if exit_code is not None and kind != "tool_result":
        raise InvalidDocument(f"only a tool_result has an exit code, not a {kind}")
    body: dict[str, Any] = {"text": text}
    if kind == "tool_call":
        body = {"tool": "shell", "arguments": {"command": text}}
    elif kind == "tool_result":
        ended = {} if exit_code is None else {"exit_code": exit_code, "success": exit_code == 0}
        body = {"tool": "shell", "command": text, **ended}
    by_kind = {"tool_call": "agent", "tool_result": "tool"}
    return Brought(1, kind, actor or by_kind.get(kind, "user"), body, {"paths": [], "memory_doc_ids": []})


def events_add(memory: Memory, given: bytes | Sequence[Brought], *, why: str = "") -> AddedEvents:
    """Add events (JSON lines, or values) to the log: all of them, or none and an error that names the line.

    Kinds of ``events.private`` go to the private shard of this working tree, the others to the shared one.
    An event whose id the log has is left out. Raises `InvalidDocument` for a line that is no such event,
    `Refused` for one that holds a secret.
    """
    brought = read_brought(given) if isinstance(given, bytes) else tuple(given)
    for one in brought:
        _refuse_secret(one)
    with memory.writing("events add") as transaction:
        known = memory.log_index().known([one.id for one in brought if one.id])
        fresh = list(
            {one.id or str(at): one for at, one in enumerate(brought) if one.id not in known}.values()
        )
        makers = [(one, _maker(memory, one, why)) for one in fresh]
        for one, make in makers:
            _try(one, make)
        private = [make for one, make in makers if one.kind in memory.config.events_private]
        # The private ones go first: in one write, which is the likelier to be refused by a full disk.
        events = transaction.log_private(private) if private else []
        events += [
            transaction.log(make) for one, make in makers if one.kind not in memory.config.events_private
        ]
    return AddedEvents(tuple(event.id for event in events), tuple(sorted(known)), len(private))


def _refuse_secret(one: Brought) -> None:
    for place, value in (
        ("body", one.body),
        ("refs", one.refs),
        ("why", one.why),
        ("session_id", one.session),
    ):
        if found := secret_in(value, place):
            raise Refused(
                f"line {one.line}: {found[0]} holds what looks like a secret ({found[1]}); "
                "nothing was written",
                hint="name where the secret is kept instead of the secret",
            )


def _maker(memory: Memory, one: Brought, why: str) -> Callable[[Mapping[str, Any]], Event]:
    id = one.id or memory.new_id("evt")

    def make(common: Mapping[str, Any]) -> Event:
        origin = {**common["origin"], **({"session": one.session} if one.session else {})}
        kept = {**common, "origin": origin, "ts": one.ts or common["ts"]}
        return make_event(
            one.kind, one.body, id=id, actor=one.actor, refs=one.refs, why=one.why or why, **kept
        )

    return make


_LIKE_ANY: Final[dict[str, Any]] = {
    "ts": "2026-01-21T09:00:00.000Z",
    "session_id": "sess_0",
    "prev": None,
    "head": None,
    "origin": {},
}


def _try(one: Brought, make: Callable[[Mapping[str, Any]], Event]) -> None:
    """See that the event has a line, and that the line is one by the schema, before any is written."""
    import json

    from thunderus_mem.model.schema import EVENT, check

    try:
        line = encode(make(_LIKE_ANY))
    except ValueError as reason:
        raise InvalidDocument(f"line {one.line} cannot be logged: {reason}; nothing was written") from reason
    for violation in _first(check(EVENT, json.loads(line))):
        raise InvalidDocument(
            f"line {one.line} is no event: {violation.message.rstrip('.')}; nothing was written",
            hint="`thunderus-mem schema print events` tells what an event holds",
        )


def _first(found: Iterable[Any]) -> list[Any]:
    return list(found)[:1]
