"""A body as statements: layout is ignored, meaning counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.statements import fold, statements


def said(body: str, title: str = "") -> set[tuple[tuple[str, ...], str, str]]:
    return {(each.under, each.lead, each.text) for each in statements(body, title)}


SAME = {
    "line breaks": (
        "Use the cache for reads.\nNever for writes.",
        "Use the cache\nfor reads. Never for writes.",
    ),
    "blank lines": ("One thing is so.\n\nAnother is not.", "One thing is so.\n\n\n\nAnother is not.\n\n"),
    "line ends": ("First line here.\r\nSecond line here.\r\n", "First line here.\nSecond line here.\n"),
    "bullets": ("- take the key\n- open the door", "* Take the key.\n* Open the door."),
    "capitals": ("Take the key first.", "take the key first"),
    "end marks": ("## Steps:\n\ntake the key!", "## Steps\n\ntake the key."),
    "sentence order": ("The sky is blue. The sea is green.", "The sea is green. The sky is blue."),
    "sentences that end in a number": (
        "This affects version 4.10. Then restart the node.",
        "Then restart the node. This affects version 4.10.",
    ),
    "item order": ("- red is warm\n- blue is cold", "- blue is cold\n- red is warm"),
    "heading style": ("Sub\n---\n\ntext goes here", "## Sub\n\ntext goes here"),
    "closing hashes": ("## Sub ##\n\ntext goes here", "## Sub\n\ntext goes here"),
    "repetition": ("Take the key first.\n\nTake the key first.", "Take the key first."),
    "wrapped item": ("- take the key\n  and go", "- take the key and go"),
    "title heading": ("# The Title\n\nsome text here", "some text here"),
}

APART = {
    "a number": ("Wait for 10 seconds.", "Wait for 11 seconds."),
    "a negation": ("It is safe to retry.", "It is not safe to retry."),
    "a question": ("It is safe to retry.", "It is safe to retry?"),
    "case in code": ("Set `DEBUG` to one.", "Set `debug` to one."),
    "a name in capitals": ("Set PORT to one.", "Set port to one."),
    "a path": ("See src/App.py for it.", "See src/app.py for it."),
    "spaces in code": ("```\na  b\n```", "```\na b\n```"),
    "the language of code": ("```sh\nls\n```", "```py\nls\n```"),
    "order of steps": ("1. stop it\n2. start it", "1. start it\n2. stop it"),
    "the number of a step": ("3. stop it", "1. stop it"),
    "the heading above": (
        "## Do\n\nretry now\n\n## Avoid\n\nwait now",
        "## Do\n\nwait now\n\n## Avoid\n\nretry now",
    ),
    "the lead-in above": (
        "Always:\n- lock it\n\nNever:\n- copy it",
        "Always:\n- copy it\n\nNever:\n- lock it",
    ),
    "a heading without text": ("The port:\n\n## It is 80", "The port:\n\n## It is 443"),
    "a heading without text before another": (
        "## It is 80\n\n## Next\n\ntext goes here",
        "## It is 443\n\n## Next\n\ntext goes here",
    ),
    "an underlined heading without text": ("It is 80\n---\n\n# Next", "It is 443\n---\n\n# Next"),
    "nesting": ("- a thing\n  - one part\n    - its part", "- a thing\n  - one part\n  - its part"),
    "table rows": ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 2 | 1 |"),
    "order in code": ("```\na\nb\n```", "```\nb\na\n```"),
    "a number of a step is no end": (
        "First do step 1. Install it here 2. Then run it.",
        "Then run it. First do step 1. Install it here 2.",
    ),
    "the day of a date is no end": (
        "We meet on 4. August in the hall. They meet on 5. May.",
        "August in the hall. They meet on 5. We meet on 4. May.",
    ),
    "numbered headings in a line are no ends": (
        "1.2. Install it all here now. 1.3. Run the thing.",
        "1.3. Install it all here now. 1.2. Run the thing.",
    ),
    "a number behind an abbreviation": (
        "It takes approx. 4.10. The other takes max. 5.10. Then stop.",
        "It takes max. 5.10. The other takes approx. 4.10. Then stop.",
    ),
    "an abbreviation is no end": (
        "Use Kafka vs. Redis here. Use Go vs. C now.",
        "Use Kafka vs. C now. Use Go vs. Redis here.",
    ),
    "a heading that is not the title": ("# Staging\n\nsome text here", "# Production\n\nsome text here"),
}


@pytest.mark.parametrize("name", SAME)
def test_layout_is_ignored(name: str) -> None:
    left, right = SAME[name]
    assert said(left, "the title") == said(right, "the title")


@pytest.mark.parametrize("name", APART)
def test_meaning_counts(name: str) -> None:
    left, right = APART[name]
    assert said(left, "the title") != said(right, "the title")


def test_unclosed_fence_and_comment_run_to_the_end() -> None:
    assert said("```\nx\n# y") == {((), "", "```\nx\n# y")}
    assert said("<!-- a\n\n# b") == {((), "", "<!-- a\n\n# b")}


def test_fold_keeps_words_that_are_not_plain() -> None:
    assert (
        fold("  Run  `Make  X` On README.md, HTTP2 and iPhone.")
        == "run `Make X` on README.md, HTTP2 and iPhone"
    )


markdown = st.text(st.sampled_from("aB1 \n\n#-*>|`~:.!?<\t()[]_") | st.characters(codec="utf-8"), max_size=80)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(markdown)
def test_any_text_has_the_same_statements_with_other_line_ends(body: str) -> None:
    plain = body.replace("\r\n", "\n").replace("\r", "\n")
    assert statements(plain) == statements(plain.replace("\n", "\r\n"))


@settings(deadline=None, max_examples=100, derandomize=True)
@given(
    st.lists(
        st.sampled_from(["- a b c", "1. x", "> q", "    code", "text", "", "# H", "```", "| t |"]),
        max_size=12,
    )
)
def test_every_word_of_a_body_is_in_its_statements(lines: list[str]) -> None:
    body = "\n".join(lines)
    found = " ".join(" ".join((*each.under, each.lead, each.text)) for each in statements(body)).lower()
    for word in ("a b c", "x", "q", "code", "text"):
        if word in body:
            assert word in found
