"""The quick yes: what is certainly right by our schemas, told without the schema library.

Everything accepted here is accepted by the schemas too; what is not accepted may still be right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.ids import is_document_id

if TYPE_CHECKING:
    from collections.abc import Callable

# Years from 1000 and days up to the 28th are right in every calendar; rarer dates go the long way.
_ORDINARY_TIME = re.compile(
    r"[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LATE_DAY = re.compile(
    r"[12][0-9]{3}-(?:(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_SPAN = re.compile(r"L?[1-9][0-9]*(?:-L?[1-9][0-9]*)?", re.ASCII)
_SHA = re.compile(r"[0-9a-fA-F]{4,64}")
_KINDS = frozenset(("core", "fact", "adr", "playbook", "recap"))
_STATUSES = frozenset(("verified", "stale", "unknown"))
_RELATIONS = frozenset(("derives_from", "refers_to", "supersedes", "duplicates"))
_DECISION = frozenset(("action", "approved", "decision", "key", "label", "proposed", "rule", "texts"))
_ACTORS = frozenset(("user", "agent", "tool"))


def _time(value: Any) -> bool:
    return type(value) is str and (
        _ORDINARY_TIME.fullmatch(value) is not None or _LATE_DAY.fullmatch(value) is not None
    )


def _words(value: Any) -> bool:
    return type(value) is list and all(type(item) is str and item for item in value)


def _shas(value: Any) -> bool:
    return type(value) is list and all(type(item) is str and _SHA.fullmatch(item) for item in value)


def _tags(value: Any) -> bool:
    return bool(value) and _words(value) and len(set(value)) == len(value)


def _provenance(value: Any) -> bool:
    return (
        type(value) is dict
        and _words(value.get("events"))
        and _words(value.get("patches"))
        and _shas(value.get("commits", []))
    )


def _verification(value: Any) -> bool:
    if type(value) is not dict or "last_verified_commit" not in value:
        return False
    commit, status = value["last_verified_commit"], value.get("status")
    return (commit is None or (type(commit) is str and _SHA.fullmatch(commit) is not None)) and (
        type(status) is str and status in _STATUSES and value.get("by", "user") in ("user", "agent")
    )


def _links(value: Any) -> bool:
    return type(value) is dict and value.keys() <= _RELATIONS and all(_words(ids) for ids in value.values())


def _anchors(value: Any) -> bool:
    return type(value) is list and all(
        bool(item) if type(item) is str else type(item) is dict and _anchor(item) for item in value
    )


def _anchor(item: dict[str, Any]) -> bool:
    symbol, lines = item.get("symbol", "-"), item.get("lines", "1")
    path, fingerprint = item.get("path"), item.get("fingerprint")
    return (
        type(path) is type(symbol) is type(lines) is str
        and bool(path and symbol)
        and _SPAN.fullmatch(lines) is not None
        and (fingerprint is None or type(fingerprint) is str)
    )


def _text_or_null(value: Any) -> bool:
    return value is None or type(value) is str


def _share(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_REQUIRED = frozenset(("id", "title", "kind", "tags", "created", "updated", "provenance", "verification"))
_QUICK: dict[str, Callable[[Any], bool]] = {
    "id": lambda value: type(value) is str and is_document_id(value),
    "title": lambda value: type(value) is str and bool(value.strip()),
    "kind": lambda value: type(value) is str and value in _KINDS,
    "tags": _tags,
    "created": _time,
    "updated": _time,
    "provenance": _provenance,
    "verification": _verification,
    "links": _links,
    "aliases": _words,
    "anchors": _anchors,
    "credibility": _share,
    "emotional_valence": lambda value: value is None or (type(value) in (int, float) and -1 <= value <= 1),
    "emotional_arousal": _share,
    "quality_score": _share,
    "sequence_number": lambda value: value is None or (type(value) is int and value >= 0),
    "metadata": lambda value: value is None or type(value) is dict,
    "session": lambda value: value is None,
    "expires": lambda value: value is None or (type(value) is str and _DAY.match(value) is not None),
}
_FREE_TEXT = (
    "author",
    "type",
    "source_type",
    "emotion",
    "episode_id",
    "category",
    "run_id",
    "agent",
    "source",
)
_QUICK.update(dict.fromkeys((*_FREE_TEXT, "symbol", "timeframe", "market"), _text_or_null))


def surely_valid(data: dict[str, Any]) -> bool:
    """Whether frontmatter is right beyond doubt; ``False`` only means that `check` must be asked."""
    if not data.keys() >= _REQUIRED:
        return False
    for key, value in data.items():
        test = _QUICK.get(key)
        if test is not None and not test(value):
            return False
    return True


def _reference(refs: dict[str, Any], key: str, prefix: str, *, required: bool) -> bool:
    value = refs.get(key)
    if value is None:
        return key not in refs and not required
    return type(value) is str and _prefixed(value, prefix)


def _prefixed(value: Any, prefix: str) -> bool:
    # ASCII and printable without blanks: what the schemas' `\S` takes in any engine.
    return (
        type(value) is str
        and len(value) > len(prefix)
        and value.startswith(prefix)
        and value.isascii()
        and value.isprintable()
        and " " not in value
    )


def _change(value: Any) -> bool:
    return (
        type(value) is dict
        and all(type(value.get(key)) is str for key in ("op", "doc_id", "path", "before", "after"))
        and bool(value["path"])
        and ("diff" not in value or _text_or_null(value["diff"]))
        and type(value.get("diff_omitted", False)) is bool
        and type(value.get("mode", "")) is str
    )


def _body(kind: str, body: Any) -> bool:
    if type(body) is not dict:
        return False
    if kind == "patch":
        changes, undoes, private = (body.get(key, []) for key in ("changes", "undoes", "private"))
        return (
            type(body.get("op", "")) is str
            and type(changes) is list
            and all(map(_change, changes))
            and type(undoes) is list
            and all(_prefixed(one, "evt_") for one in undoes)
            and type(private) is list
            and all(_prefixed(one, "evt_") for one in private)
        )
    if kind == "note":
        return type(body.get("text", "")) is str
    if kind == "approval" and "decision" in body:
        texts = body.get("texts", [])
        return (
            body.keys() <= _DECISION
            and all(type(body[key]) is str for key in body.keys() & _DECISION - {"approved", "texts"})
            and type(body.get("approved", True)) is bool
            and body["decision"] in ("approved", "rejected", "expired")
            and type(texts) is list
            and all(
                type(one) is dict and type(one.get("id")) is str and type(one.get("digest")) is str
                for one in texts
            )
        )
    return not body


def surely_valid_event(data: dict[str, Any]) -> bool:
    """Whether an event is right beyond doubt; ``False`` only means that `check` must be asked."""
    kind, refs = data.get("kind"), data.get("refs")
    if type(refs) is not dict or kind not in ("patch", "note", "approval", "snapshot"):
        return False
    return (
        type(data.get("v")) is int
        and data["v"] == 1
        and _prefixed(data.get("id"), "evt_")
        and _prefixed(data.get("session_id"), "sess_")
        and _time(data.get("ts"))
        and type(data.get("actor")) is str
        and data["actor"] in _ACTORS
        and _words(refs.get("paths", []))
        and _words(refs.get("memory_doc_ids", []))
        and _reference(refs, "patch_id", "patch_", required=kind == "patch")
        and _reference(refs, "snapshot_id", "snap_", required=kind == "snapshot")
        and _body(kind, data.get("body"))
        and _text_or_null(data.get("prev"))
        and _text_or_null(data.get("head"))
        and type(data.get("origin", {})) is dict
        and type(data.get("why", "")) is str
    )


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _manifest_entry(entry: Any) -> bool:
    return (
        type(entry) is dict
        and all(type(entry.get(key)) is str and entry[key] for key in ("path", "id", "title"))
        and type(entry.get("kind")) is str
        and entry["kind"] in _KINDS
        and _words(entry.get("tags"))
        and _time(entry.get("updated"))
        and _count(entry.get("size_bytes"))
        and _count(entry.get("token_count_approx"))
        and _provenance(entry.get("provenance"))
        and "commits" in entry["provenance"]
        and _verification(entry.get("verification"))
    )


def surely_valid_manifest(data: Any) -> bool:
    """Whether a manifest is right beyond doubt; ``False`` only means that `check` must be asked."""
    if type(data) is not dict or type(data.get("docs")) is not list or type(data.get("stats")) is not dict:
        return False
    by_kind = data["stats"].get("by_kind")
    return (
        type(data.get("version")) is int
        and data["version"] == 1
        and _time(data.get("generated_at"))
        and all(map(_manifest_entry, data["docs"]))
        and _count(data["stats"].get("total_docs"))
        and _count(data["stats"].get("total_tokens_approx"))
        and type(by_kind) is dict
        and all(map(_count, by_kind.values()))
    )
