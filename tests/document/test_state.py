"""The state of a decision in every dialect: read, and replaced where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.document import STATES, Document, read_document
from thunderus_mem.document.state import body_with_state, check_state, document_state, state_in, with_state
from thunderus_mem.errors import InvalidDocument

CASES = Path(__file__).parent.parent / "cases" / "import"
HEAD = "---\nid: adr.x\ntitle: X\nkind: adr\n{}---\n"


def decision(body: str, key: str = "") -> Document:
    read = read_document("ADR-0001-x.md", (HEAD.format(key) + body).encode()).document
    assert read is not None
    return read


DIALECTS = {
    "section": ("# X\n\n## Status\n\n{}\n\nAmends [1](1.md)\n", "Accepted", "Rejected"),
    "emphasis": ("# X\n\n## Status\n\n**{}**\n", "ACCEPTED", "REJECTED"),
    "list": ("# X\n\n## Status\n\n- {}\n", "accepted", "rejected"),
    "setext": ("X\n=\n\nStatus\n------\n\n{}\n", "Accepted", "Rejected"),
    "heading": ("# X\n\n## Status: {} ##\n", "accepted", "rejected"),
    "line": ("# X\n\n* Status: {}\n* Date: 2020\n", "accepted", "rejected"),
    "bold label": ("# X\n\n**Status:** {}  \nby us\n", "Approved", "Rejected"),
    "bold line": ("# X\n\n**Status: {}**\n", "accepted", "rejected"),
    "fields": ("# X\n\n**Status:** {} | **Date:** 2025-03-26 | **Review:** 2026\n", "Accepted", "Rejected"),
    "comment": ("# X\n\nStatus: {} <!-- or Proposed -->\n", "Accepted", "Rejected"),
    "successor": ("# X\n\n## Status\n\n{}\n\n## Context\n", "Superceded by [2. Y](2.md)", "Rejected"),
    "boxes": (
        "# X\n\n## Status\n\n- [ ] proposed\n- [{}\n",
        "x] accepted\n- [ ] rejected",
        " ] accepted\n- [x] rejected",
    ),
    "choice": ("# X\n\n## Status\n\n{}\n", "[proposed | accepted | rejected]", "rejected"),
    "empty section": ("# X\n\n## Status\n{}\n## Context\n\nC\n", "", "\nRejected\n"),
    "none": ("# X\n\n{}## Context\n\nStatus: of the art\n", "", "## Status\n\nRejected\n\n"),
    "no title": ("{}Text\n", "", "## Status\n\nRejected\n\n"),
}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_state_is_replaced_in_the_dialect_of_the_body(name: str, end: str) -> None:
    body, *words = DIALECTS[name]
    before, after = (body.format(said).replace("\n", end) for said in words)
    assert with_state(decision(before), "rejected") == decision(after).text
    assert document_state(decision(after)) == "rejected"


def test_the_frontmatter_key_comes_first_unless_it_means_no_state() -> None:
    body = "# X\n\n## Status\n\nAccepted\n"
    madr = decision(body, "status: Proposed  # by Ada\n")
    assert document_state(madr) == "proposed"
    assert with_state(madr, "accepted") == decision(body, "status: Accepted  # by Ada\n").text
    ours = decision(body, "status: verified\n")
    assert document_state(ours) == "accepted"
    rejected = decision(body.replace("Accepted", "Rejected"), "status: verified\n")
    assert with_state(ours, "rejected") == rejected.text


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("Approved", "accepted"),
        ("✅ Accepted (2024-01-02)", "accepted"),
        ("Accepted, partially superseded by ADR-9", "accepted"),
        ("Accepted; superseded by ADR-9", "superseded"),
        ("superseded by [ADR-0005](0005-x.md)", "superseded"),
        ("In review", "proposed"),
        ("under discussion", "proposed"),
        ("Draft", "proposed"),
        ("Withdrawn", "rejected"),
        ("Obsolete", "deprecated"),
        ("proposed | rejected | accepted", ""),
        ("of the art", ""),
        ("", ""),
    ],
)
def test_words_for_states(words: str, state: str) -> None:
    assert state_in(words) == state


def test_only_the_five_states_can_be_given() -> None:
    assert check_state(" Accepted ") == "accepted"
    with pytest.raises(InvalidDocument) as caught:
        check_state("approved")
    assert "proposed, accepted" in caught.value.hint
    with pytest.raises(InvalidDocument, match="checkbox"):
        body_with_state("## Status\n\n- [x] accepted\n", "rejected")


def test_other_kinds_have_no_state() -> None:
    fact = decision("## Status\n\nAccepted\n")._replace(kind="fact")
    assert document_state(fact) == ""


def foreign_bodies() -> list[str]:
    return [path.read_text() for path in sorted(CASES.rglob("*.md"))]


def test_foreign_records_can_change_their_state_on_one_line() -> None:
    known = 0
    for text in foreign_bodies():
        read = read_document("x.md", text.encode())
        body = text if read.header is None else text[len(text) - len(text.partition("\n---\n")[2]) :]
        state = document_state(decision(body))
        if not state:
            continue
        known += 1
        made = body_with_state(body, "accepted" if state == "proposed" else "proposed")
        changed = [
            (old, new) for old, new in zip(body.split("\n"), made.split("\n"), strict=True) if old != new
        ]
        assert len(changed) == 1 + ("[x]" in body), body
    assert known > 5


PIECES = st.sampled_from(
    [
        *("# X", "## Status", "## Context", "Status: ", "* Status: accepted", "**Status:** Proposed"),
        *("- [x] Accepted", "- [ ] rejected", "- proposed", "Superseded by [2](2.md)", "<!-- Accepted -->"),
        *("", "word", "Status", "------", "**Accepted**", '"accepted"', "a | b | c", "```", "<!-- open"),
    ]
)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    lines=st.lists(PIECES, max_size=9),
    key=st.sampled_from(["", "", "status: proposed\n", "status: 'a | b | c'\n", "status: []\n"]),
    state=st.sampled_from(STATES),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_state_that_is_set_is_read_again(lines: list[str], key: str, state: str, end: str) -> None:
    before = decision(end.join(lines), key)
    try:
        text = with_state(before, state)
    except InvalidDocument:
        assert "- [" in before.body
        return
    after = read_document(before.path, text.encode()).document
    assert after is not None
    assert document_state(after) == state
    assert with_state(after, state) == text
