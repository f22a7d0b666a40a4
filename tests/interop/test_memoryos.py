"""The MemoryOS contract: arguments and results by their schemas, records and the events they consist of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thunderus_mem.document.schema import EVENT, MEMORYOS_SCHEMAS, check, load_schema
from thunderus_mem.errors import InvalidDocument, Refused
from thunderus_mem.index.records import RecordFilter
from thunderus_mem.interop.memoryos import (
    TOOLS,
    arguments_of,
    checked,
    failed,
    held,
    input_schema,
    record_of,
    retrieved,
    stored,
    wanted_by,
)
from thunderus_mem.log.line import decode, encode
from thunderus_mem.log.new_event import EventContext, make_event
from thunderus_mem.log.records import CONVERSATION, Record, parts_of, records_in, words_in
from thunderus_mem.log.shard import LoggedEvent
from thunderus_mem.search.records import Patterns, RecordHit, RecordsFound

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = "2026-01-21T09:00:00.123Z"
CONVERSED: dict[str, Any] = {
    "message_id": "msg_1",
    "explanation": "for later",
    "user_input": "Which port does the server use?",
    "agent_response": "Port 8080.",
    "timestamp": "2024-12-15T14:30:00Z",
    "meta_data": {"score": 0.5, "tags": [], "none": None},
}
EXECUTED: dict[str, Any] = {
    "message_id": "msg_1",
    "explanation": "for later",
    "execution_summary": "Read the configuration.",
    "tools_used": ["shell", "grep", "shell"],
    "errors": [{"error_type": "TimeoutError", "error_message": "too slow", "tool": "grep"}],
    "observations": "",
    "success": False,
    "duration_ms": 0,
    "timestamp": "2024-12-15T14:30:00+02:00",
    "meta_data": {},
}
ASKED: dict[str, Any] = {
    "explanation": "to answer",
    "query": "port",
    "message_id": "msg_1",
    "time_range": {"start": "2024-12-15T00:00:00Z", "end": "2024-12-16T00:00:00Z"},
    "max_results": 50,
}
VALID = {
    "add_conversation_memory": CONVERSED,
    "add_execution_memory": EXECUTED,
    "retrieve_conversation_memory": ASKED,
    "retrieve_execution_memory": {key: ASKED[key] for key in ASKED if key != "time_range"},
    "get_user_profile": {"include_knowledge": True, "include_assistant_knowledge": False},
}
WRONG: dict[str, Any] = {
    "string": 7, "integer": "7", "number": "7", "boolean": "true", "array": {}, "object": [],
}  # fmt: skip
FIELDS = {
    "add_conversation_input": "message_id* explanation* user_input* agent_response* timestamp meta_data",
    "add_execution_input": "message_id* explanation* execution_summary* tools_used* errors* observations* "
    "success* duration_ms timestamp meta_data",
    "retrieve_conversation_input": "explanation* query* message_id time_range max_results",
    "retrieve_execution_input": "explanation* query* message_id max_results",
}


def at(data: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The data with another value at a path; ``...`` removes the key."""
    if not path:
        return value
    copy = list(data) if isinstance(data, list) else dict(data)
    if value is ... and len(path) == 1:
        del copy[path[0]]  # type: ignore[arg-type]
    else:
        copy[path[0]] = at(copy[path[0]] if path[0] in copy or path[0] == 0 else None, path[1:], value)  # type: ignore[index]
    return copy


def violations(
    schema: dict[str, Any], data: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Values that break each rule of a schema, with the path at which they do."""
    yield path, WRONG[schema["type"]]
    if "minLength" in schema:
        yield path, "x" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield path, "é" * (schema["maxLength"] + 1)
    if "minimum" in schema:
        yield path, schema["minimum"] - 1
    if "maximum" in schema:
        yield path, schema["maximum"] + 1
    if "enum" in schema:
        yield path, "error" if "error" not in schema["enum"] else "other"
    if schema.get("format") == "date-time":
        yield path, "2024-12-15 14:30"
    for key in schema.get("required", ()):
        yield (*path, key), ...
    if schema.get("additionalProperties") is False:
        yield (*path, "user"), "alice"
    for key, inner in schema.get("properties", {}).items():
        if isinstance(data, dict) and key in data:
            yield from violations(inner, data[key], (*path, key))
    if schema["type"] == "array" and data:
        yield from violations(schema["items"], data[0], (*path, 0))


BROKEN = [
    pytest.param(tool, path, value, id=f"{tool}-{'.'.join(map(str, path))}-{str(value)[:12]}")
    for tool, data in VALID.items()
    for path, value in violations(input_schema(tool), data)
    if path
]


def test_schemas_have_the_names_and_fields_of_the_contract() -> None:
    names = [name.removeprefix("memoryos/") for name in MEMORYOS_SCHEMAS]
    assert names[:8] == [
        f"{action}_{side}"
        for action in ("add_conversation", "add_execution", "retrieve_conversation", "retrieve_execution")
        for side in ("input", "output")
    ]
    for name, fields in FIELDS.items():
        schema = load_schema(f"memoryos/{name}")
        marked = [key + "*" * (key in schema["required"]) for key in schema["properties"]]
        assert sorted(marked) == sorted(fields.split())
    for name in MEMORYOS_SCHEMAS:
        schema = load_schema(name)
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        assert schema["additionalProperties"] is False


def test_limits_and_enums_are_those_of_the_contract() -> None:
    def limits(tool: str, key: str) -> tuple[Any, ...]:
        one = input_schema(tool)["properties"][key]
        return tuple(one.get(name) for name in ("minLength", "maxLength", "minimum", "maximum", "default"))

    assert limits("add_conversation_memory", "message_id") == (1, 100, None, None, None)
    assert limits("add_conversation_memory", "user_input") == (1, 10_000, None, None, None)
    assert limits("add_conversation_memory", "agent_response") == (1, 10_000, None, None, None)
    assert limits("add_execution_memory", "execution_summary") == (1, 2_000, None, None, None)
    assert limits("add_execution_memory", "observations") == (None, 5_000, None, None, None)
    assert limits("add_execution_memory", "duration_ms") == (None, None, 0, None, None)
    for tool in ("retrieve_conversation_memory", "retrieve_execution_memory"):
        assert limits(tool, "query") == (1, 4_000, None, None, None)
        assert limits(tool, "max_results") == (None, None, 1, 50, 10)
    kinds = {
        name: load_schema(f"memoryos/{name}_output")["properties"]["data"]["properties"]["query_type"]["enum"]
        for name in ("retrieve_conversation", "retrieve_execution")
    }
    assert kinds["retrieve_conversation"] == ["general", "specific_message", "time_filtered"]
    assert kinds["retrieve_execution"] == ["general", "specific_message", "pattern_search"]


@pytest.mark.parametrize("tool", TOOLS)
def test_valid_arguments_are_accepted_flat_and_nested_with_and_without_the_user(tool: str) -> None:
    flat = VALID[tool]
    for given_ in (
        flat,
        {**flat, "user_id": "alice"},
        {"params": flat},
        {"params": {**flat, "user_id": "alice"}},
        {"params": flat, "user_id": "alice"},
    ):
        assert checked(tool, given_, "alice") == flat


@pytest.mark.parametrize(("tool", "path", "value"), BROKEN)
def test_invalid_arguments_are_an_error_of_the_same_shape(tool: str, path: Any, value: Any) -> None:
    broken = at(VALID[tool], path, value)
    with pytest.raises(InvalidDocument) as caught:
        checked(tool, {"params": broken}, "alice")
    assert str(path[-1]) in str(caught.value)
    reply = held(tool, failed(tool, {"params": broken}, str(caught.value), NOW))
    assert (reply["success"], reply["data"]["status"]) == (False, "error")


@pytest.mark.parametrize("tool", TOOLS)
def test_another_user_is_refused(tool: str) -> None:
    for other in ("bob", "Alice", "alice\0", "", None, "аlice"):
        for given_ in ({**VALID[tool], "user_id": other}, {"params": {**VALID[tool], "user_id": other}}):
            with pytest.raises(Refused, match="user of this server"):
                checked(tool, given_, "alice")


@pytest.mark.parametrize("given_", [{"params": []}, {"params": {}, "query": "x"}, {"params": None}])
def test_malformed_nesting_is_an_error(given_: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match="params"):
        checked("retrieve_execution_memory", given_, "alice")


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**5000], ids=["nan", "surrogate", "huge"])
def test_values_that_are_not_json_are_an_error(value: Any) -> None:
    given_ = {**CONVERSED, "meta_data": {"x": value}}
    with pytest.raises(InvalidDocument):
        checked("add_conversation_memory", given_, "alice")
    held("add_conversation_memory", failed("add_conversation_memory", {"message_id": value}, "no", NOW))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [({"timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"), ({"duration_ms": 1 << 53}, "duration_ms")],
)
def test_times_and_durations_that_cannot_be_stored_are_an_error(
    changed: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidDocument, match=problem):
        record_of("add_execution_memory", {**EXECUTED, **changed})


# Records and events


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
errors = st.fixed_dictionaries({"error_type": texts, "error_message": texts}, optional={"tool": texts})
meta_data = st.none() | st.dictionaries(texts, st.floats(allow_nan=False) | st.integers() | texts, max_size=3)
times = st.sampled_from(["2024-12-15T14:30:00Z", "2024-12-15T14:30:45.123+02:00"])


@st.composite
def arguments(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Valid arguments of a tool that stores."""
    more = {"timestamp": draw(times), "message_id": draw(texts), "explanation": draw(texts)}
    if (data := draw(meta_data)) is not None:
        more["meta_data"] = data
    if draw(st.booleans()):
        return "add_conversation_memory", {**more, "user_input": draw(texts), "agent_response": draw(texts)}
    if draw(st.booleans()):
        more["duration_ms"] = draw(st.integers(0, (1 << 53) - 1))
    return "add_execution_memory", {
        **more,
        "execution_summary": draw(texts),
        "tools_used": draw(st.lists(texts, max_size=4)),
        "errors": draw(st.lists(errors, max_size=3)),
        "observations": draw(texts),
        "success": draw(st.booleans()),
    }


def logged(record: Record, user: str, first: str = "evt_0") -> list[LoggedEvent]:
    """The events of a record, written and read again."""
    found = []
    for number, part in enumerate(parts_of(record, user, first)):
        id = first if not number else f"{first}_{number}"
        context = EventContext(record.ts, "sess_1")
        event = make_event(context, part.kind, part.body, id=id, actor=part.actor, why=part.why)
        found.append(LoggedEvent(decode(encode(event)), "shard", number + 1))
    return found


@given(arguments(), texts)
def test_records_survive_as_events(given_: tuple[str, dict[str, Any]], user: str) -> None:
    tool, data = given_
    record = record_of(tool, data)
    events = logged(record, user)
    assert [found.record for found in records_in(events, user)] == [record]
    assert arguments_of(record) == data
    for one in events:
        assert not check(EVENT, json.loads(encode(one.event)))
        assert one.event.body["user"] == user
    assert not list(records_in(events, user + "x"))
    assert data["message_id"] in words_in(record)


def test_conversation_is_two_messages_and_execution_is_its_calls_and_a_result() -> None:
    asked, answered = (one.event for one in logged(record_of("add_conversation_memory", CONVERSED), "alice"))
    assert (asked.kind, asked.actor, asked.body["role"]) == ("message", "user", "user")
    assert (answered.kind, answered.actor, answered.body["role"]) == ("message", "agent", "assistant")
    *calls, result = (one.event for one in logged(record_of("add_execution_memory", EXECUTED), "alice"))
    assert [(call.kind, call.body["tool"]) for call in calls] == [
        ("tool_call", "shell"), ("tool_call", "grep"), ("tool_call", "shell"),
    ]  # fmt: skip
    assert (result.kind, result.body["duration_ms"], result.body["observations"]) == ("tool_result", 0, "")
    assert {one.body["message_id"] for one in (asked, answered, *calls, result)} == {"msg_1"}


def test_incomplete_records_are_skipped() -> None:
    for tool in ("add_conversation_memory", "add_execution_memory"):
        whole = logged(record_of(tool, VALID[tool]), "alice")
        for missing in range(len(whole)):
            assert not list(records_in(whole[:missing] + whole[missing + 1 :], "alice"))


# Results


def results(tool: str, record: Record) -> dict[str, Any]:
    if tool.startswith("add_"):
        return stored(record, "stored")
    wanted = wanted_by(tool, VALID[tool])
    hits = (RecordHit(record, 0.5, linked=True),)
    found = RecordsFound(hits, 7, Patterns(1, 0, 5, (("shell", 2),), (("TimeoutError", 1),)))
    return retrieved(tool, VALID[tool], wanted, found, NOW)


@pytest.mark.parametrize("tool", list(TOOLS)[:4])
def test_results_are_held_to_their_schemas(tool: str) -> None:
    kind = tool.replace("retrieve", "add")
    reply = held(tool, results(tool, record_of(kind, VALID[kind])))
    schema = load_schema(f"memoryos/{TOOLS[tool]}_output")
    assert set(schema["properties"]["data"]["properties"]) == set(reply["data"])
    for path, value in violations(schema, reply):
        with pytest.raises(AssertionError):
            held(tool, at(reply, path, value))


def test_result_has_everything_that_was_stored() -> None:
    reply = results("retrieve_execution_memory", record_of("add_execution_memory", EXECUTED))
    (one,) = reply["data"]["executions"]
    assert one["execution_details"] == {
        key: EXECUTED[key] for key in ("execution_summary", "tools_used", "errors", "observations")
    }
    assert reply["message"] == (
        "1 execution found; 0 succeeded (0%); mean duration 5 ms; tools: shell 2; errors: TimeoutError 1"
    )
    details = results("add_execution_memory", record_of("add_execution_memory", EXECUTED))["data"]["details"]
    assert (details["tools_count"], details["errors_count"], details["duration_ms"]) == (3, 1, 0)
    assert (details["has_meta_data"], details["success"]) == (False, False)
    unknown = Record(CONVERSATION, "m", ("a", "b"), meta_data="not JSON")
    (two,) = results("retrieve_conversation_memory", unknown)["data"]["conversations"]
    assert two["meta_data"] == {}


# Queries


@pytest.mark.parametrize(
    ("query", "words", "wanted", "kind"),
    [
        ("port", "port", RecordFilter(), "general"),
        ("tool:shell why", "why", RecordFilter(tools=["shell"]), "pattern_search"),
        ('error:"Timeout Error"', "", RecordFilter(errors=["Timeout Error"]), "pattern_search"),
        ("success:FALSE", "", RecordFilter(success=False), "pattern_search"),
        ("success:maybe x", "success:maybe x", RecordFilter(), "general"),
        ("success:true success:false", "success:true success:false", RecordFilter(), "general"),
        ("my-tool:x tool: kind:foo", "my-tool:x tool: kind:foo", RecordFilter(), "general"),
    ],
)
def test_query_for_executions(query: str, words: str, wanted: RecordFilter, kind: str) -> None:
    found = wanted_by("retrieve_execution_memory", {"query": query})
    assert (found.words.strip(), found.query_type) == (words, kind)
    assert found.filter._replace(tools=list(found.filter.tools), errors=list(found.filter.errors)) == (
        wanted._replace(tools=list(wanted.tools), errors=list(wanted.errors))
    )
    named = wanted_by("retrieve_execution_memory", {"query": query, "message_id": "m"})
    assert (named.query_type, named.filter.message_id) == ("specific_message", "m")


@pytest.mark.parametrize(
    ("given_", "kind"),
    [
        ({}, "general"),
        ({"time_range": {}}, "general"),
        ({"time_range": {"start": "2024-12-15T00:00:00Z"}}, "time_filtered"),
        ({"message_id": "m", "time_range": {"end": "2024-12-15T00:00:00Z"}}, "specific_message"),
    ],
)
def test_query_for_conversations(given_: dict[str, Any], kind: str) -> None:
    assert wanted_by("retrieve_conversation_memory", {"query": "x", **given_}).query_type == kind


@pytest.mark.parametrize(
    "ends", [("2024-12-16T00:00:00Z", "2024-12-15T00:00:00Z"), ("0001-01-01T00:00:00+14:00",) * 2]
)
def test_range_of_time_that_contains_nothing_is_an_error(ends: tuple[str, str]) -> None:
    with pytest.raises(InvalidDocument, match="time_range"):
        wanted_by(
            "retrieve_conversation_memory", {"query": "x", "time_range": {"start": ends[0], "end": ends[1]}}
        )
