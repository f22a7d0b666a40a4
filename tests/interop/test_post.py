from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.headers import documents
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.nodes import typed_data
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.fields import read_foreign
from thunderus_mem.interop.posts import in_yaml, read_post, write_post


@settings(deadline=None, max_examples=100, derandomize=True)
@given(documents())
def test_post_and_document_have_the_same_content(text: str) -> None:
    assume("\0" not in text)
    reading = read_document("a.md", text.encode())
    fences = find_fences(text)
    assert fences is not None
    if reading.header is None:
        assume(fences.closed)
        with pytest.raises(InvalidDocument):
            read_post(text)
        return
    assert read_post(text) == (typed_data(reading.header), text[fences.body_start :])


def test_text_without_frontmatter_is_all_body() -> None:
    assert read_post("  # Title\n\ntext\n") == ({}, "  # Title\n\ntext\n")
    assert read_post("---\nnever closed\n") == ({}, "---\nnever closed\n")


def test_values_have_the_types_of_yaml_1_2() -> None:
    text = "---\nwhen: 2026-13-45\nyes: no\ncontent: 1\n---\nbody"
    assert read_post(text) == ({"when": "2026-13-45", "yes": "no", "content": 1}, "body")


HUGO = """+++
title = "Let carriers call us"
date = 2020-07-01T08:00:00Z
day = 2020-07-01
tags = ["net", "push"]
[params]
owner = "Ada"
+++

# Push\r
"""
JEKYLL = '{\n  "title": "Push",\n  "tags": ["net"],\n  "weight": 3\n}\n\n# Push\n'


def test_toml_and_json_frontmatter_is_read_and_converted_with_the_same_body() -> None:
    data, body = read_post(HUGO)
    assert data == {
        "title": "Let carriers call us",
        "date": "2020-07-01T08:00:00+00:00",
        "day": "2020-07-01",
        "tags": ["net", "push"],
        "params": {"owner": "Ada"},
    }
    assert body == "\n# Push\r\n"
    assert read_post(JEKYLL) == ({"title": "Push", "tags": ["net"], "weight": 3}, "\n# Push\n")
    for text, name in ((HUGO, "TOML"), (JEKYLL, "JSON"), ("\ufeff" + HUGO.replace("\n", "\r\n"), "TOML")):
        made, format = in_yaml(text.encode())
        assert format == name
        assert made.startswith(b"---")
        assert made.endswith(read_post(text.removeprefix("\ufeff"))[1].encode())
        reading, notes = read_foreign("a.md", text.encode())
        assert reading.header is not None
        assert notes == (f"frontmatter converted from {name} to YAML",)


NOT_CONVERTED = {
    "invalid TOML": "+++\ntitle = \n+++\nText\n",
    "open TOML": "+++\nnever closed\n",
    "invalid JSON": "{\n  not json\n}\nText\n",
    "deep JSON": "{\n" + '"a": ' + "[" * 90_000 + "\n}\n",
    "open JSON": "{\n",
    "braces": "{}",
    "brace": "}\nText\n",
    "template": "{{ template }}\n",
    "empty": "",
    "YAML": "---\na: 1\n---\nText\n",
}


@pytest.mark.parametrize("text", NOT_CONVERTED.values(), ids=NOT_CONVERTED)
def test_other_texts_are_not_converted(text: str) -> None:
    assert in_yaml(text.encode()) == (text.encode(), "")


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}", fullmatch=True),
        st.text(max_size=9) | st.lists(st.integers(-9, 9) | st.booleans(), max_size=3),
        max_size=4,
    ),
    st.text(st.sampled_from("a \n\r-#{"), max_size=12),
)
def test_a_written_post_is_read_again(data: dict[str, object], body: str) -> None:
    try:
        text = write_post(data, body)
    except InvalidDocument:
        return
    assert read_post(text) == (data, body)
