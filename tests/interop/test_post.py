from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from tests.support.headers import documents
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.nodes import typed_data
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.fields import read_post


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
