"""The tools of the MemoryOS dual memory: their arguments and results, and the records behind them. Pure.

The JSON Schemas (draft-07) are in ``document/schemas/memoryos``, one for the arguments and one for the result
of each tool; every call is validated against them. `get_user_profile` is an extension without an original
schema.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.schema import check, load_schema
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import InvalidDocument, Refused
from thunderus_mem.index.records import RecordFilter
from thunderus_mem.log.records import CONVERSATION, EXECUTION, MAX_DURATION, Record
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.search.records import Patterns, RecordHit, RecordsFound

TOOLS: Final = {
    "add_conversation_memory": "add_conversation",
    "add_execution_memory": "add_execution",
    "retrieve_conversation_memory": "retrieve_conversation",
    "retrieve_execution_memory": "retrieve_execution",
    "get_user_profile": "get_user_profile",
}
"""Tool → the beginning of the names of its schemas."""
DEFAULT_RESULTS: Final = 10
_USER: Final = "user_id"
_MOST_PROBLEMS: Final = 5
_PATTERN: Final = lazy_pattern(r'(?<!\S)(tool|error|success):(?:"([^"]+)"|([^\s"]+))')


def input_schema(tool: str) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool."""
    return load_schema(f"memoryos/{TOOLS[tool]}_input")


def held(tool: str, reply: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a tool, which must match its schema. Raises `AssertionError`."""
    found = check(f"memoryos/{TOOLS[tool]}_output", reply)
    if found:
        raise AssertionError(f"the result of {tool} does not match its schema: {found[0].message}")
    return reply


def flattened(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that may be nested under ``params``; the user may be in either place."""
    inner = given.get("params")
    outer = {key: value for key, value in given.items() if key != "params"}
    if not isinstance(inner, dict) or not outer.keys() <= {_USER}:
        return dict(given)
    return {**outer, **inner}


def checked(tool: str, given: Mapping[str, Any], user: str) -> dict[str, Any]:
    """Return the valid arguments of a tool, flat and without the user.

    Raises `Refused` if they name another ``user``, `InvalidDocument` if they do not match the schema.
    """
    named = [one[_USER] for one in (given, given.get("params")) if isinstance(one, dict) and _USER in one]
    if any(name != user for name in named):
        raise Refused(
            f"`{_USER}` is not the user of this server",
            hint=f"omit `{_USER}`: the environment of the server names the user",
        )
    arguments = flattened(given)
    arguments.pop(_USER, None)
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode("utf-8")
        found = check(f"memoryos/{TOOLS[tool]}_input", arguments)
    except UnicodeEncodeError:
        raise InvalidDocument("a text contains a lone surrogate") from None
    except (ValueError, RecursionError) as error:
        raise InvalidDocument("the arguments are not valid JSON: NaN, too large or too deep") from error
    if found:
        problems = [str(one) for one in found[:_MOST_PROBLEMS]]
        raise InvalidDocument(". ".join(problems))
    return arguments


# Records


def record_of(tool: str, arguments: Mapping[str, Any]) -> Record:
    """Return the record that valid arguments of `add_conversation_memory` or `add_execution_memory` describe.

    Raises `InvalidDocument` for a time or duration that cannot be stored.
    """
    ts = arguments.get("timestamp", "")
    if ts and not utc_key(ts):
        raise InvalidDocument("`timestamp` is not a time", hint="pass e.g. 2026-01-21T09:00:00Z")
    meta_data = ""
    if "meta_data" in arguments:
        meta_data = json.dumps(arguments["meta_data"], ensure_ascii=False, separators=(",", ":"))
    common = {"ts": ts, "why": arguments["explanation"], "meta_data": meta_data}
    if tool == "add_conversation_memory":
        texts = (arguments["user_input"], arguments["agent_response"])
        return Record(CONVERSATION, arguments["message_id"], texts, **common)
    duration = arguments.get("duration_ms")
    if duration is not None and duration > MAX_DURATION:
        raise InvalidDocument("`duration_ms` is too large")
    return Record(
        EXECUTION,
        arguments["message_id"],
        (arguments["execution_summary"], arguments["observations"]),
        **common,
        tools=tuple(arguments["tools_used"]),
        errors=tuple(arguments["errors"]),
        success=arguments["success"],
        duration_ms=None if duration is None else int(duration),
    )


def arguments_of(record: Record) -> dict[str, Any]:
    """Return the arguments that store a record: the inverse of `record_of`."""
    first, second = record.texts
    timed = {"timestamp": record.ts} if record.ts else {}
    more = {"meta_data": _data(record)} if record.meta_data else {}
    common = {"message_id": record.message_id, "explanation": record.why}
    if record.kind == CONVERSATION:
        return {**common, "user_input": first, "agent_response": second, **timed, **more}
    lasted = {} if record.duration_ms is None else {"duration_ms": record.duration_ms}
    return {
        **common, "execution_summary": first, "tools_used": list(record.tools), "errors": list(record.errors),
        "observations": second, "success": record.success, **lasted, **timed, **more,
    }  # fmt: skip


def _data(record: Record) -> dict[str, Any]:
    try:
        data = json.loads(record.meta_data)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


# Queries


class RecordQuery(NamedTuple):
    """What arguments of a retrieve tool ask for: words, a filter, and what selects (``query_type``)."""

    words: str
    filter: RecordFilter
    query_type: str


def wanted_by(tool: str, arguments: Mapping[str, Any]) -> RecordQuery:
    """Return what valid arguments of a retrieve tool ask for.

    In a query for executions, ``tool:NAME``, ``error:TYPE`` and ``success:true`` (or false) are filters.
    Raises `InvalidDocument` for a range of time that cannot be searched.
    """
    words, message_id = arguments["query"], arguments.get("message_id", "")
    if tool == "retrieve_conversation_memory":
        since, until = _range(arguments.get("time_range", {}))
        chosen = RecordFilter(message_id, since, until)
        ranged = "time_filtered" if since or until else "general"
        return RecordQuery(words, chosen, "specific_message" if message_id else ranged)
    named: dict[str, list[str]] = {"tool": [], "error": [], "success": []}
    for key, quoted, plain in _PATTERN.findall(words):
        named[key].append(quoted or plain)
    outcomes = {value.lower() for value in named["success"]}
    success = {frozenset({"true"}): True, frozenset({"false"}): False}.get(frozenset(outcomes))
    chosen = RecordFilter(message_id, tools=named["tool"], errors=named["error"], success=success)
    pattern = "pattern_search" if chosen != RecordFilter(message_id, tools=[], errors=[]) else "general"
    words = _PATTERN.sub(" ", words) if pattern != "general" else words
    return RecordQuery(words, chosen, "specific_message" if message_id else pattern)


def _range(given: Mapping[str, Any]) -> tuple[str, str]:
    since, until = (utc_key(given[key]) if key in given else "" for key in ("start", "end"))
    if any(key in given and not utc_key(given[key]) for key in ("start", "end")):
        raise InvalidDocument("`time_range` contains no time", hint="pass e.g. 2026-01-21T09:00:00Z")
    if since and until and until < since:
        raise InvalidDocument("`time_range.end` is before `time_range.start`")
    return since, until


# Results


def _reply(message: str, data: dict[str, Any]) -> dict[str, Any]:
    failed = data["status"] == "error"
    return {"success": not failed, "message": message, "data": data}


def failed(tool: str, given: Mapping[str, Any], message: str, now: str) -> dict[str, Any]:
    """Return the result for an error, which has the same shape; what is not valid in ``given`` is omitted."""
    arguments = flattened(given)

    def text(key: str) -> str:
        value = arguments.get(key)
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""

    data: dict[str, Any] = {"status": "error"}
    if tool == "get_user_profile":
        return _reply(message, {**data, "timestamp": now, "user_id": "", "user_profile": ""})
    if tool.startswith("add_"):
        return _reply(message, {**data, "message_id": text("message_id"), "timestamp": now})
    most = arguments.get("max_results")
    listed = "conversations" if tool == "retrieve_conversation_memory" else "executions"
    data |= {
        "query": text("query"), "explanation": text("explanation"), "query_type": "general",
        "retrieval_timestamp": now, listed: [], "total_found": 0, "returned_count": 0,
        "max_results_applied": most if type(most) is int and 1 <= most <= 50 else DEFAULT_RESULTS,
    }  # fmt: skip
    return _reply(message, data)


def stored(record: Record, processing: str) -> dict[str, Any]:
    """Return the result of an add tool for the record that was stored."""
    details: dict[str, Any] = {}
    if record.kind == EXECUTION:
        details = {
            "execution_summary": record.texts[0], "tools_count": len(record.tools),
            "errors_count": len(record.errors), "success": record.success,
        }  # fmt: skip
        if record.duration_ms is not None:
            details["duration_ms"] = record.duration_ms
    details |= {"has_meta_data": bool(_data(record)), "memory_processing": processing}
    data = {"status": "success", "message_id": record.message_id, "timestamp": record.ts, "details": details}
    return _reply(f"{record.kind.capitalize()} stored", data)


def retrieved(
    tool: str, arguments: Mapping[str, Any], wanted: RecordQuery, found: RecordsFound, now: str
) -> dict[str, Any]:
    """Return the result of a retrieve tool."""
    data: dict[str, Any] = {
        "status": "success", "query": arguments["query"], "explanation": arguments["explanation"],
        "query_type": wanted.query_type, "retrieval_timestamp": now,
    }  # fmt: skip
    if "message_id" in arguments:
        data["requested_message_id"] = arguments["message_id"]
    if "time_range" in arguments:
        data["time_range"] = arguments["time_range"]
    if tool == "retrieve_conversation_memory":
        data["conversations"] = [_conversation(hit) for hit in found.hits]
        message = f"{_counted(found.total, 'conversation')} found"
    else:
        data["executions"] = [_execution(hit) for hit in found.hits]
        message = summary(found.patterns)
    data |= {
        "total_found": found.total, "returned_count": len(found.hits),
        "max_results_applied": arguments.get("max_results", DEFAULT_RESULTS),
    }  # fmt: skip
    return _reply(message, data)


def _conversation(hit: RecordHit) -> dict[str, Any]:
    record = hit.record
    return {
        "message_id": record.message_id, "conversation_timestamp": record.ts,
        "user_input": record.texts[0], "agent_response": record.texts[1], "meta_data": _data(record),
        "has_execution_memory": hit.linked, "relevance_score": hit.score,
    }  # fmt: skip


def _execution(hit: RecordHit) -> dict[str, Any]:
    record = hit.record
    details = {
        "execution_summary": record.texts[0], "tools_used": list(record.tools),
        "errors": list(record.errors), "observations": record.texts[1],
    }  # fmt: skip
    return {
        "message_id": record.message_id, "execution_timestamp": record.ts, "execution_details": details,
        "success": record.success, "duration_ms": record.duration_ms or 0, "relevance_score": hit.score,
    }  # fmt: skip


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def summary(patterns: Patterns) -> str:
    """Return what executions have in common, in one sentence: success rate, duration, tools, errors."""
    parts = [f"{_counted(patterns.executions, 'execution')} found"]
    if patterns.executions:
        rate = round(100 * patterns.succeeded / patterns.executions)
        parts.append(f"{patterns.succeeded} succeeded ({rate}%)")
    if patterns.duration_ms is not None:
        parts.append(f"mean duration {patterns.duration_ms} ms")
    for name, counts in (("tools", patterns.tools), ("errors", patterns.errors)):
        if counts:
            parts.append(f"{name}: " + ", ".join(f"{one} {count}" for one, count in counts))
    return "; ".join(parts)


def profile(
    user: str, conversations: int, executions: Patterns, arguments: Mapping[str, Any], now: str
) -> dict[str, Any]:
    """Return the result of `get_user_profile`: what is stored, in numbers. Nothing is concluded from it."""
    data: dict[str, Any] = {
        "status": "success", "timestamp": now, "user_id": user,
        "user_profile": f"{_counted(conversations, 'conversation')} found; {summary(executions)}",
    }  # fmt: skip
    for name, asked in (
        ("user_knowledge", arguments.get("include_knowledge", True)),
        ("assistant_knowledge", arguments.get("include_assistant_knowledge", False)),
    ):
        if asked:
            data |= {name: [], f"{name}_count": 0}
    return _reply("Profile computed", data)
