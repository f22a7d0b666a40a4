"""Words, ids and times as older documents wrote them, and what they are today. Pure."""

from __future__ import annotations

import re
from typing import Final

from thunderus_mem.model.document import KINDS
from thunderus_mem.model.timestamp import parse_timestamp

__all__ = ["kind_of_word", "list_of_id", "moment", "status_of_word"]

_KINDS: Final = {
    **dict.fromkeys(("core_memory", "core-memory"), "core"),
    **dict.fromkeys(("facts", "knowledge"), "fact"),
    **dict.fromkeys(("adrs", "decision", "decisions", "decision_record"), "adr"),
    **dict.fromkeys(("playbooks", "procedure", "procedural", "runbook", "how-to", "howto"), "playbook"),
    **dict.fromkeys(("recaps", "episode", "episodic", "session", "session_recap"), "recap"),
}
_STATUSES: Final = {
    **dict.fromkeys(("verified", "true", "yes", "ok", "valid", "fresh", "current"), "verified"),
    **dict.fromkeys(("stale", "outdated", "drifted", "invalid"), "stale"),
    **dict.fromkeys(("unknown", "unverified", "pending", "none", "false", "no"), "unknown"),
}
_EVENT: Final = re.compile(r"evt_\S+|session:\S+|\d{4}-\d\d-\d\dT[\d:-]+Z_\d+(?::\S+)?", re.ASCII)
_PATCH: Final = re.compile(r"(?:patch|mem)_\S+", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-fA-F]{7,64}", re.ASCII)
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt]|[ \t]+|$)(?:(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?"
    r"[ \t]*([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


def kind_of_word(word: str, folder: str) -> str:
    """The kind that an older word means in the folder of a kind; the word itself when it is none we know."""
    lower = word.strip().lower()
    if lower in KINDS:
        return lower
    return folder if lower in ("", "semantic", "memory") else _KINDS.get(lower, word)


def status_of_word(word: str) -> str:
    """The status of a verification that an older word means; "" when it means none."""
    return _STATUSES.get(word.strip().lower(), "")


def list_of_id(id: str) -> str:
    """Which list of the provenance an id belongs to: events, patches or commits; "" when it is no id."""
    if _EVENT.fullmatch(id):
        return "events"
    if _PATCH.fullmatch(id):
        return "patches"
    return "commits" if _COMMIT.fullmatch(id) else ""


def moment(text: str) -> str:
    """The RFC 3339 time that an older time means, in UTC where it names no offset; "" when it is none."""
    if parse_timestamp(text) is not None:
        return text
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return ""
    day, hour, minute, second, fraction, zone = match.groups()
    offset = (zone or "Z").upper().replace("UTC", "Z")
    if len(offset) == 3:
        offset += ":00"
    elif len(offset) == 5:
        offset = f"{offset[:3]}:{offset[3:]}"
    found = f"{day}T{int(hour or 0):02d}:{minute or '00'}:{second or '00'}{fraction or ''}{offset}"
    return found if parse_timestamp(found) is not None else ""
