from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.headers import documents
from thunderus_mem.document.document import Link, content_hash, read_document
from thunderus_mem.document.frontmatter.write import compose

TEXT = """---
# a fact
id: fact.testing
title: How we test
kind: fact
tags: [testing, ci]
created: 2026-01-21T09:00:00Z
updated: 2026-01-22T09:00:00Z
aliases:
- pytest
links:
  refers_to: [adr.use-jwt]
  supersedes:
    - fact.old
  odd: [x]
provenance:
  events: [evt_1]
  patches: []
  commits: [1234567]
verification:
  last_verified_commit: 012
  status: verified
---

# How we test
"""


def test_document_has_its_fields_and_positions() -> None:
    reading = read_document("FACTS/testing.md", TEXT.encode())
    document = reading.document
    assert document is not None
    assert reading.problems == ()
    assert (document.id, document.title, document.kind) == ("fact.testing", "How we test", "fact")
    assert document.tags == ("testing", "ci")
    assert (document.created, document.updated) == ("2026-01-21T09:00:00Z", "2026-01-22T09:00:00Z")
    assert document.aliases == ("pytest",)
    assert document.links == (Link("refers_to", "adr.use-jwt"), Link("supersedes", "fact.old"))
    assert (document.events, document.patches, document.commits) == (("evt_1",), (), ("1234567",))
    assert (document.status, document.last_verified_commit) == ("verified", "012")
    assert document.body == "\n# How we test\n"
    assert TEXT.split("\n")[document.body_line - 1 :] == document.body.split("\n")
    title = document.header.get("title")
    assert title is not None
    assert TEXT.split("\n")[document.header_line + title.line - 2] == "title: How we test"
    assert document.data()["verification"] == {"last_verified_commit": "012", "status": "verified"}


def test_missing_and_malformed_fields_are_empty() -> None:
    text = "---\nid: a\ntitle: b\nkind: c\ntags: {x: 1}\nlinks: [{}]\nprovenance: 3\nverification: [x]\n---"
    document = read_document("a.md", text.encode()).document
    assert document is not None
    assert (document.tags, document.links, document.events) == ((), (), ())
    assert (document.status, document.last_verified_commit) == ("unknown", None)
    assert document.body == ""


def test_string_is_read_as_a_list_of_one() -> None:
    text = "---\nid: a\ntitle: b\nkind: c\ntags: net, slow\naliases: other\nlinks:\n  refers_to: d\n---\n"
    document = read_document("a.md", text.encode()).document
    assert document is not None
    assert (document.tags, document.aliases) == (("net", "slow"), ("other",))
    assert [link.target for link in document.links] == ["d"]


@pytest.mark.parametrize("null", ["null", "~", ""])
def test_null_commit_is_none_and_quoted_null_is_text(null: str) -> None:
    text = f"---\nid: a\ntitle: b\nkind: c\nverification:\n  last_verified_commit: {null}\n---\n"
    document = read_document("a.md", text.encode()).document
    assert document is not None
    assert document.last_verified_commit is None


def test_bom_and_line_ends_are_kept_in_the_text_but_not_hashed() -> None:
    crlf = TEXT.replace("\n", "\r\n")
    reading = read_document("a.md", b"\xef\xbb\xbf" + crlf.encode())
    assert reading.text == "\ufeff" + crlf
    assert reading.document is not None
    assert reading.document.body == "\r\n# How we test\r\n"
    plain = "sha256:" + hashlib.sha256(TEXT.encode()).hexdigest()
    assert (
        content_hash(crlf) == content_hash(crlf.encode()) == content_hash(TEXT.replace("\n", "\r")) == plain
    )
    document = read_document("a.md", crlf.encode()).document
    assert document is not None
    assert document.hash == plain


@pytest.mark.parametrize(
    ("data", "rule", "line", "column"),
    [
        ("---\na: é".encode() + b"\xff\n---\n", "TM001", 2, 5),
        (b"---\na: \x00\n---\n", "TM002", 2, 1),
        (b"x" * (1024 * 1024 + 1), "TM003", 0, 0),
        (b"", "TM004", 1, 1),
        (b"# Title\n", "TM004", 1, 1),
        (b"\n---\nid: a\n---\n", "TM004", 1, 1),
        (b"---\nid: a\n", "TM005", 1, 1),
        (b"---\nid: a: b\n---\n", "TM006", 2, 6),
        (b"---\nid: a\nid: b\n---\n", "TM007", 3, 1),
        (b"---\nid: a\ntags:\n\t- b\n---\n", "TM008", 4, 1),
        (b"---\nid: &x a\n---\n", "TM009", 2, 5),
        (b"---\nid: *x\n---\n", "TM009", 2, 5),
        (b"---\nid: !!str x\n---\n", "TM009", 2, 5),
        (b"---\n<<: {a: b}\n---\n", "TM009", 2, 1),
        (b"---\nid: " + b"x" * 33_000 + b"\n---\n", "TM010", 2, 1),
        (b"---\nid: [[[[[[[[]]]]]]]]\n---\n", "TM010", 2, 10),
        (b"---\nid: a\nkind: b\n---\n", "TM011", 2, 1),
        (b"---\nid: a\ntitle:\nkind: b\n---\n", "TM011", 3, 7),
        (b"---\nid: a\ntitle: [x]\nkind: b\n---\n", "TM011", 3, 8),
        (b"<<<<<<< ours\n---\nid: a\n---\n", "TM004", 1, 1),
    ],
)
def test_unreadable_file_is_a_finding_with_its_position(
    data: bytes, rule: str, line: int, column: int
) -> None:
    reading = read_document("a.md", data)
    assert reading.document is None
    found = reading.problems[0]
    assert (found.rule, found.path, found.line, found.column) == (rule, "a.md", line, column)
    assert not found.message.endswith(".")
    assert found.expected
    assert found.hint


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.binary() | documents().map(str.encode) | st.binary().map(lambda raw: b"---\n" + raw + b"\n---\n" + raw)
)
def test_any_bytes_give_a_document_or_findings(data: bytes) -> None:
    reading = read_document("a.md", data)
    assert (reading.document is None) == bool(reading.problems)
    if reading.document is not None:
        assert reading.document.text.encode() == data
        reading.document.data()


def test_mutated_documents_never_raise() -> None:
    seed = bytearray(TEXT.encode())
    dice = random.Random(11)
    for _ in range(300):
        data = bytearray(seed)
        for _ in range(dice.randint(1, 6)):
            data[dice.randrange(len(data))] = dice.choice(b"\x00\xff\t:[]{}&*!'\"#\n\r-|>%@ 0")
        reading = read_document("a.md", bytes(data))
        assert (reading.document is None) == bool(reading.problems)


@pytest.mark.parametrize(
    "data",
    [
        b"---\n" * 250_000,
        b"---\n" + b"\n" * 1_000_000,
        b"---\n" + b"---x\n" * 200_000,
        b"---\n" + b"... x\n" * 150_000 + b"---\n",
        compose({"id": "a", "title": "b", "kind": "fact"}, "x" * 1_000_000).encode(),
    ],
)
def test_large_inputs_are_a_document_or_a_problem(data: bytes) -> None:
    reading = read_document("a.md", data)
    assert (reading.document is None) == bool(reading.problems)
