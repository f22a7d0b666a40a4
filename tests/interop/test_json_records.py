"""Files of records in JSON: read piece by piece as `json` reads them whole, and each bad record by itself."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop import streams
from thunderus_mem.interop.streams import JsonList, Lines, Pages, read_envelope

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
    | st.text(st.characters(codec="utf-8"), max_size=9)
    | st.sampled_from(['"', "\\", '\\"}', "]", "[{", "\\u005d", ", ", "\ud7ff"]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner)),
    max_leaves=8,
)


def read(text: str | bytes, key: str = "records") -> list[Any]:
    data = text if isinstance(text, bytes) else text.encode()
    found = JsonList(key).read(io.BytesIO(data))
    return [str(one) if isinstance(one, ValueError) else one for one in found]


@settings(max_examples=80, deadline=None, database=None)
@given(st.lists(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3)), VALUES, st.integers(1, 40))
def test_pieces_of_any_size_give_the_records_of_the_file(
    records: list[dict[str, Any]], other: Any, size: int
) -> None:
    whole = {"before": other, "records": records, "after": other}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "_PIECE", size)
        for shown in (json.dumps(whole, indent=1), json.dumps(whole, ensure_ascii=False)):
            assert read(shown) == records
            assert read_envelope(io.BytesIO(shown.encode()), "records") == {**whole, "records": []}
            pages = Pages("records").read(io.BytesIO(f"{shown}\n{shown}".encode()))
            assert list(pages) == records * 2
        assert read(json.dumps(records)) == records


GOOD = '{"id": "a"}'


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"id": "\\ud83d"}', "contains half of a surrogate pair, which is no character"),
        ('{"id": 1e999}', "1e999 is too large for a number"),
        ('{"id": NaN}', "NaN is not a number in JSON"),
        ('{"id": ' + "9" * 5_000 + "}", "contains an integer with more than 4,300 digits"),
        ('{"id": 1, "a": {"b": 1, "b": 2}}', "repeats the key 'b'"),
        ('{"id" 1}', "is not valid JSON at character 7"),
        (b'{"id": "\xff"}', "is not valid UTF-8"),
        (b'{"id": "a"\0}', "is not valid JSON"),
        ('{"id": ' + "[" * 9_000 + "]" * 9_000 + "}", "is nested too deeply"),
        ("5", "is not an object"),
        ("", "is not valid JSON"),
    ],
)
def test_bad_record_does_not_stop_the_others(bad: str | bytes, reason: str) -> None:
    odd = bad.encode() if isinstance(bad, str) else bad
    data = GOOD.encode() + b"," + odd + b"," + GOOD.encode()
    for file in (b"[" + data + b"]", b'{"records": [' + data + b'], "x": {}}'):
        first, second, third = read(file)
        assert (first, third) == ({"id": "a"}, {"id": "a"})
        assert second.startswith(reason)
    if odd and b"\0" not in odd:
        (line,) = Lines().read(io.BytesIO(odd))
        assert str(line).startswith(reason)


def test_integers_of_any_size_are_read_as_they_are() -> None:
    assert read('[{"id": 18446744073709551616, "x": -0.0, "y": 1E2, "z": 1.10}]') == [
        {"id": 2**64, "x": -0.0, "y": 100.0, "z": 1.1}
    ]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("", "is not a JSON object or list"),
        ("5", "is not a JSON object or list"),
        ('[{"id": 1}', "is cut off"),
        ('[{"id": "1', "is cut off"),
        ('{"records": [{}', "is cut off"),
        ("[{}] {}", "text after its end"),
        ("[{} {}]", "has no , or ]"),
        ('{"a" 1}', "has no :"),
        ("{5: 1}", "a name of a member is not a string"),
        ('{"a": 1, "a": 2}', "repeats `a`"),
        ('{"records": [], "records": []}', "repeats `records`"),
        ('{"records": 5}', "`records` is not a list"),
        ('{"records": [], "a": 1e999}', "`a` 1e999 is too large"),
    ],
)
def test_file_that_is_not_a_list_of_records_is_refused(file: str, reason: str) -> None:
    with pytest.raises(InvalidDocument, match=reason.replace("]", "[]]")):
        read(file)
