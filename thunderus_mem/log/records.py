"""The private records of a user: conversations and executions, and the events they consist of. Pure.

A conversation is two messages: the user's, then the response of the agent. An execution is one call per tool,
in the order of use, then one result. All of them name the user, the exchange (``message_id``) and the record,
and are private: in the folder of their user below ``local/users``, in no other shard.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidQuery
from thunderus_mem.log.event import text_in
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.log.shard import LoggedEvent

USER: Final = "MEMORY_USER_ID"
_DEFAULT_USER: Final = "default_user"
_LONGEST_USER: Final = 256
# Names that differ on every file system: no case, and the prefix keeps device names of Windows away.
_PLAIN: Final = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,47}")
MAX_DURATION: Final = (1 << 53) - 1

CONVERSATION: Final = "conversation"
EXECUTION: Final = "execution"
RECORD_KINDS: Final = (CONVERSATION, EXECUTION)


def valid_user(user: str) -> str:
    """Return the id of a user, which may be any text that is not blank. Raises `InvalidQuery`."""
    if not user.strip() or len(user) > _LONGEST_USER:
        problem = f"longer than {_LONGEST_USER} characters" if user.strip() else "empty"
        raise InvalidQuery(f"the id of the user is {problem}", hint=f"set {USER} to the id of the user")
    try:
        user.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidQuery("the id of the user is not valid UTF-8", hint=f"correct {USER}") from None
    return user


def user_in(environ: Mapping[str, str]) -> str:
    """Return the user that the environment names. Raises `InvalidQuery` if it names an invalid one."""
    return valid_user(environ.get(USER, _DEFAULT_USER))


def user_folder(user: str) -> str:
    """Return the folder of a user's shards, root-relative; no two users have the same one.

    A plain name is readable in it; any other id is replaced by its hash, so that none can leave the folder,
    and ids that differ only in case or form differ on every file system.
    """
    if _PLAIN.fullmatch(user):
        return f"{SHARD_FOLDERS[2]}/u-{user}"
    return f"{SHARD_FOLDERS[2]}/x-{hashlib.sha256(user.encode()).hexdigest()}"


class Record(NamedTuple):
    """A conversation or an execution. ``texts`` are the input and the response, or the summary and the
    observations; ``meta_data`` is JSON text, "" if there is none.

    ``tools``, ``errors``, ``success`` and ``duration_ms`` are those of an execution.
    """

    kind: str
    message_id: str
    texts: tuple[str, str]
    ts: str = ""
    why: str = ""
    meta_data: str = ""
    tools: tuple[str, ...] = ()
    errors: tuple[dict[str, Any], ...] = ()
    success: bool = False
    duration_ms: int | None = None


class Part(NamedTuple):
    """An event of a record that is to be written: its kind, actor, body and reason."""

    kind: str
    actor: str
    body: dict[str, Any]
    why: str = ""


def parts_of(record: Record, user: str, record_id: str) -> list[Part]:
    """Return the events of a record, in order. ``record_id`` is the id that the first of them will have."""
    common = {"user": user, "message_id": record.message_id, "record_id": record_id}
    more = {"meta_data": record.meta_data} if record.meta_data else {}
    first, second = record.texts
    if record.kind == CONVERSATION:
        asked = {**common, "role": "user", "text": first, **more}
        answered = {**common, "role": "assistant", "text": second}
        return [Part("message", "user", asked, record.why), Part("message", "agent", answered)]
    timed = {} if record.duration_ms is None else {"duration_ms": record.duration_ms}
    result = {
        "success": record.success,
        "result": first,
        "tools_count": len(record.tools),
        "errors": list(record.errors),
        "observations": second,
    }
    calls = [Part("tool_call", "agent", {**common, "tool": tool}) for tool in record.tools]
    return [*calls, Part("tool_result", "agent", {**common, **result, **timed, **more}, record.why)]


class StoredRecord(NamedTuple):
    """A record in a shard: the id of its first event, and the numbers of its lines."""

    id: str
    record: Record
    lines: tuple[int, ...]


def records_in(events: Iterable[LoggedEvent], user: str) -> Iterator[StoredRecord]:
    """Yield the complete records of a user among the events of a shard, in order."""
    found: dict[str, list[LoggedEvent]] = {}
    for logged in events:
        body = logged.event.body
        if text_in(body, "user") == user and (id := text_in(body, "record_id")):
            found.setdefault(id, []).append(logged)
    for id, parts in found.items():
        record = _record_of([one.event for one in parts])
        if record is not None and parts[0].event.id == id:
            yield StoredRecord(id, record, tuple(one.line for one in parts))


def _record_of(events: Sequence[Event]) -> Record | None:
    """Return the record that these events are, ``None`` if one is missing or malformed."""
    *calls, last = events
    body, message_id = last.body, text_in(last.body, "message_id")
    kinds = [event.kind for event in events]
    if kinds == ["message", "message"]:
        asked = calls[0]
        texts = (text_in(asked.body, "text"), text_in(body, "text"))
        meta_data = text_in(asked.body, "meta_data")
        return Record(CONVERSATION, message_id, texts, asked.ts, asked.why, meta_data)
    if kinds != ["tool_call"] * len(calls) + ["tool_result"] or body.get("tools_count") != len(calls):
        return None
    errors, duration = body.get("errors"), body.get("duration_ms")
    return Record(
        EXECUTION,
        message_id,
        (text_in(body, "result"), text_in(body, "observations")),
        last.ts,
        last.why,
        text_in(body, "meta_data"),
        tools=tuple(text_in(call.body, "tool") for call in calls),
        errors=tuple(one for one in errors if isinstance(one, dict)) if isinstance(errors, list) else (),
        success=body.get("success") is True,
        duration_ms=duration if type(duration) is int and 0 <= duration <= MAX_DURATION else None,
    )


def words_in(record: Record) -> str:
    """Return the texts by which a record is found."""
    named = [text for error in record.errors for text in error.values() if isinstance(text, str)]
    return "\n".join([*record.texts, record.message_id, record.why, *record.tools, *named, record.meta_data])
