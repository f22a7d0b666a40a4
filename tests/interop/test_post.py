from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from tests.support.headers import documents
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.nodes import typed_data
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.fields import Post, post_handler, read_post, write_post


@settings(deadline=None, max_examples=100, derandomize=True)
@given(documents())
def test_a_post_and_a_document_hold_the_same(text: str) -> None:
    assume("\0" not in text)
    reading = read_document("a.md", text.encode())
    fences = find_fences(text)
    assert fences is not None
    if reading.header is None:
        assume(fences.closed)
        with pytest.raises(InvalidDocument):
            read_post(text)
        return
    post = read_post(text)
    assert post.metadata == typed_data(reading.header)
    assert post.body == text[fences.body_start :]


def test_a_text_without_frontmatter_is_all_body() -> None:
    assert read_post("  # Title\n\ntext\n") == Post({}, "  # Title\n\ntext\n")
    assert read_post("---\nnever closed\n") == Post({}, "---\nnever closed\n")


def test_a_post_written_reads_back() -> None:
    post = Post({"id": "fact.a", "title": "no", "kind": "fact", "tags": ["x"], "content": 1}, "\nText.\n")
    text = write_post(post)
    assert text == '---\nid: fact.a\ntitle: "no"\nkind: fact\ntags:\n  - x\ncontent: 1\n---\n\nText.\n'
    assert read_post(text) == post


def test_the_library_itself_takes_our_handler() -> None:
    import frontmatter

    post = frontmatter.loads("---\nwhen: 2026-13-45\nyes: no\n---\nbody", handler=post_handler())
    assert dict(post.metadata) == {"when": "2026-13-45", "yes": "no"}
    assert (
        frontmatter.dumps(post, handler=post_handler())
        == '---\nwhen: "2026-13-45"\n"yes": "no"\n---\n\nbody\n'
    )
    assert post_handler().export({"a": "b"}) == "a: b\n"
