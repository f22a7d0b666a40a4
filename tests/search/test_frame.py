"""The frame around texts of the memory: no text leaves its quotes, and no budget is exceeded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thunderus_mem.search.frame import NOTICE, Quote, clean, framed, head, line, quoted


@given(text=st.text(), title=st.text())
def test_no_text_can_leave_its_quotes(text: str, title: str) -> None:
    about = head("fact.a", kind="fact", note=title)
    shown = framed([Quote(about, line(title), clean(text))], 10**6)
    assert [one for one in shown.splitlines() if one and not one.startswith(">")] == [NOTICE, about]
    assert "\n" not in head(title, note=text)


@given(texts=st.lists(st.text(max_size=300), max_size=4), budget=st.integers(64, 150))
def test_cut_text_is_within_the_budget(texts: list[str], budget: int) -> None:
    blocks = [Quote(head("fact.a"), "A", clean(text)) for text in texts]
    shown = framed(blocks, budget, cut="ask for less")
    assert len(shown) <= budget * 4
    assert all(one.startswith((">", "[fact.a]", "(cut at", NOTICE)) for one in shown.split("\n") if one)
    whole = framed(blocks, 10**6)
    assert (shown == whole) == (len(whole) <= budget * 4) or shown.endswith("; ask for less)")


def test_long_text_leaves_room_for_later_ones() -> None:
    shown = framed([Quote("[a]", "", "word " * 200), Quote("[b]", "", "short")], 100, cut="ask")
    assert shown.endswith("word\n> …\n\n[b]\n> short\n\n(cut at 100 tokens; ask)")


def test_secrets_are_redacted() -> None:
    token = "ghp_" + "A1b2C3d4" * 4 + "A1b2"
    assert "ghp_" not in quoted(clean(f"token {token}")) + head("fact.a", reason=f"found {token}")
