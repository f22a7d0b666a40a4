from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.markdown import Heading, Passage, heading_anchor, headings, outline
from thunderus_mem.document.paths import path_in
from thunderus_mem.document.references import Citation, Reference, cited_paths, rebased, references

LAWS = settings(deadline=None, max_examples=100, derandomize=True)

BODY = """Before it all.

# Title #

Intro with [[fact.x]].

## A `code` & *more*

```sh
# not a heading
[[not.a.link]] `no/path.py`
```

    # indented code, no heading

Setext here
-----------

<!--
# hidden
[[hidden]]
-->

text

---

## A `code` & *more*
### Deep [link](x.md) Ünïcode 日本 ✓
#### #hash
#no heading
####### seven

Two
lines
=====
"""


def test_headings_are_those_that_render() -> None:
    assert [(h.level, h.text, h.anchor, h.line) for h in headings(BODY)] == [
        (1, "Title", "title", 3),
        (2, "A code & more", "a-code--more", 7),
        (2, "Setext here", "setext-here", 16),
        (2, "A code & more", "a-code--more-1", 28),
        (3, "Deep link Ünïcode 日本 ✓", "deep-link-ünïcode-日本-", 29),
        (4, "#hash", "hash", 30),
        (1, "Two lines", "two-lines", 34),
    ]


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("Simple words", "simple-words"),
        ("C++ and C#", "c-and-c"),
        ("snake_case-kept", "snake_case-kept"),
        ("a  b", "a--b"),
        ("Ça va?", "ça-va"),
        ("हिन्दी", "हिन्दी"),
        ("1.2.3", "123"),
        ("", ""),
    ],
)
def test_anchors_match_github(text: str, anchor: str) -> None:
    assert heading_anchor(text) == anchor


def test_repeated_anchors_get_the_next_free_number() -> None:
    body = "# a\n# a\n# a-1\n# a\n"
    assert [h.anchor for h in headings(body)] == ["a", "a-1", "a-1-1", "a-2"]


@pytest.mark.parametrize(
    "body",
    [
        "- item\n---\n",
        "> quote\n---\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "\n---\n",
        "---\n",
        "~~~\n# x\n~~~~\n",
        "````\n```\n# x\n```\n````\n",
        "1. item\n\n    ```\n    # x\n    ```\n",
        "```\nnever closed\n# x\n",
        "<!-- never closed\n# x\n",
        "text\n<!-- a\n\n# x -->\n",
        "#\ttab\n"[1:],
    ],
)
def test_lookalikes_are_not_headings(body: str) -> None:
    assert headings(body) == ()


def test_closing_fence_has_no_info_string() -> None:
    assert [h.text for h in headings("```\n``` x\n# no\n```\n# yes\n")] == ["yes"]


def test_passages_are_sections_with_their_path() -> None:
    body = "Lead.\n\n# A\n\n## B\n\nText of B.\n\n```\n# c\n```\n\n### C\n\n# D\nText of D.\n"
    assert outline(body).passages == (
        Passage("", "", 1, "Lead."),
        Passage("b", "A > B", 7, "Text of B.\n\n```\n# c\n```"),
        Passage("c", "A > B > C", 13, ""),
        Passage("d", "D", 16, "Text of D."),
    )


def test_long_section_is_split_at_blank_lines_without_losing_lines() -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 60 for n in range(20)]
    body = "# A\n\n" + "\n\n".join(paragraphs) + "\n"
    found = outline(body).passages
    assert len(found) > 4
    assert all(len(one.text) <= 1_200 for one in found)
    assert "\n\n".join(one.text for one in found) == "\n\n".join(paragraphs)
    for one in found:
        assert body.split("\n")[one.line - 1] == one.text.split("\n")[0]


def test_crlf_bodies_give_the_same_outline() -> None:
    assert outline(BODY.replace("\n", "\r\n")) == outline(BODY)
    assert references(BODY.replace("\n", "\r\n")) == references(BODY)


noise = st.text(alphabet="ab# \n\t`~-=<!>[](){}|*_\\:/.%0é\r", max_size=200) | st.text()


def misplaced_outline(body: str) -> list[Heading | Passage]:
    """Headings and passages whose line or anchor is wrong."""
    found = outline(body)
    lines = body.replace("\r\n", "\n").split("\n")
    anchors = Counter(heading.anchor for heading in found.headings)
    return [
        *(one for one in found.headings if not 1 <= one.line <= len(lines) or anchors[one.anchor] > 1),
        *(one for one in found.passages if not 1 <= one.line <= len(lines)),
        *(one for one in found.passages if one.text and lines[one.line - 1] != one.text.split("\n")[0]),
    ]


def misplaced_references(body: str) -> list[Reference | Citation]:
    """References and cited paths whose position is wrong."""
    lines = body.replace("\r\n", "\n").split("\n")
    return [
        *(one for one in references(body) if lines[one.line - 1][one.column - 1] != "["),
        *(one for one in cited_paths(body) if not 1 <= one.line <= len(lines)),
    ]


@LAWS
@given(noise)
def test_any_text_has_an_outline_with_correct_lines_and_unique_anchors(body: str) -> None:
    assert misplaced_outline(body) == []
    assert headings(body) == outline(body).headings


@LAWS
@given(noise)
def test_any_text_has_references_at_correct_positions(body: str) -> None:
    assert misplaced_references(body) == []


def test_references_are_wiki_and_relative_links_outside_code() -> None:
    body = (
        "See [[fact.x]], [[fact.y|the y]] and [[adr.z#Context]].\n"
        'A [b [c]](../d%20e.md#f "t"), `[[code]]`, ![image](i.png), [w](https://w.org), [m](mailto:a@b).\n'
        "``a ` [[b]]`` [angle](<x y.md>) [top](#top) [root](/etc/x)\n\n"
        "```\n[[fenced]]\n```\n\n[ref]: ./g.md\n[^1]: note\n    [[indented]]\n"
    )
    assert [(r.kind, r.target, r.text, r.line, r.column) for r in references(body)] == [
        ("wiki", "fact.x", "fact.x", 1, 5),
        ("wiki", "fact.y", "the y", 1, 17),
        ("wiki", "adr.z#Context", "adr.z#Context", 1, 38),
        ("link", "../d e.md#f", "b [c]", 2, 3),
        ("link", "x y.md", "angle", 3, 15),
        ("link", "#top", "top", 3, 33),
        ("link", "./g.md", "ref", 9, 1),
        ("wiki", "indented", "indented", 11, 5),
    ]


def test_indented_code_block_has_no_references() -> None:
    assert references("text\n\n    [[code]]\n") == ()
    assert [r.target for r in references("- item\n\n    [[of.the.item]]\n")] == ["of.the.item"]


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("src/net/frame.py", "src/net/frame.py"),
        ("src/net/frame.py:12", "src/net/frame.py"),
        ("src/a.py#L3-L9", "src/a.py"),
        ("pyproject.toml", "pyproject.toml"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".ci/run", ".ci/run"),
        ("tests/", "tests/"),
        ("src/net/http", "src/net/http"),
        ("and/or", ""),
        ("23/03/2020", ""),
        ("2020/3/23", ""),
        ("12/2020/", "12/2020/"),
        ("2020/03/notes", "2020/03/notes"),
        ("23/03/2020.md", "23/03/2020.md"),
        ("application/json", ""),
        ("origin/main", ""),
        ("refs/heads/main", ""),
        ("https://a.b/c.py", ""),
        ("github.com/a/b.git", ""),
        ("*.py", ""),
        ("src/**/x.py", ""),
        ("<root>/x.py", ""),
        ("path/to/file.py", ""),
        ("/etc/hosts.conf", ""),
        ("~/.bashrc", ""),
        ("C:\\a\\b.py", ""),
        ("os.path", ""),
        ("node.js", ""),
        ("1.2.3", ""),
        ("a b/c.py", ""),
        ("fact.testing", ""),
        ("", ""),
    ],
)
def test_cited_path_looks_like_a_file(code: str, path: str) -> None:
    assert path_in(code) == path


def test_cited_paths_have_positions() -> None:
    body = (
        "Read `src/a.py:3` or\n[the b](../b.md#c) and `` pyproject.toml ``, not `x`.\n\n```\n`c/d.py`\n```\n"
    )
    assert [(c.path, c.line, c.column, c.relative) for c in cited_paths(body)] == [
        ("src/a.py", 1, 7, False),
        ("../b.md", 2, 1, True),
        ("pyproject.toml", 2, 27, False),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "x" * 1_000_000,
        "\n" * 200_000,
        "[" * 100_000,
        "](" * 100_000,
        "[[a" * 100_000,
        "[a](" * 50_000,
        "[a](b (" * 30_000,
        "`" * 100_000,
        "".join("`" * n + " " for n in range(600)),
        "` " * 100_000,
        "a\n" * 100_000 + "---\n",
        "a\n---\n" * 50_000,
        "- \n    ```\n" * 30_000,
        "    ```\n" * 50_000,
        "``` x`\n" * 50_000,
        "<!--\n" * 50_000,
        "<" * 100_000,
        "# a\n" * 30_000,
        "# " + "_a" * 100_000,
        "# " + "[" * 100_000,
        "# " + "<a" * 50_000,
        "# " + "#" * 100_000 + " x",
        "# " + " " * 100_000 + "x",
        "_a " * 50_000,
        "\\" * 100_000,
        "a. " * 50_000,
        "- " * 50_000,
        "> " * 50_000,
        "](" + " " * 100_000,
        "[a]: " * 30_000,
        "`" + "a/" * 100_000 + "`",
        "=" * 100_000,
        " " * 100_000 + "=",
        "\t" * 100_000,
    ],
)
def test_pathological_text_has_correct_positions(body: str) -> None:
    assert misplaced_outline(body) == []
    assert misplaced_references(body) == []


def test_thousands_of_links_in_one_paragraph_have_correct_positions() -> None:
    body = "".join(
        f"[a]: b{number}\nsee [[fact.x{number}]] and [t](c{number}.md) and `src/x{number}.py`\n"
        for number in range(3000)
    )
    found = references(body)
    assert len(found) == 9000
    last = found[-1]
    assert (last.line, last.column, last.target) == (
        6000,
        body.split("\n")[5999].index("[t]") + 1,
        "c2999.md",
    )
    assert cited_paths(body)[-1].line == 6000


SOURCE, TARGET, OTHER = "docs/a b/x.md", ".m/memory/y.md", "z.md"


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("[x](y.md#L3)", "[x](../../docs/a%20b/y.md#L3)"),
        ('![x](./i.png "title")', '![x](../../docs/a%20b/i.png "title")'),
        ("[![x](i.svg)](../y.md?a=b)", "[![x](../../docs/a%20b/i.svg)](../../docs/y.md?a=b)"),
        ("[x](<a b.md>)", "[x](<../../docs/a%20b/a b.md>)"),
        ("[x](../../.m/memory/)", "[x](./)"),
        ("[x](../../../out/y.md)", "[x](../../../out/y.md)"),
        ('<img width="3" src="i.png">', '<img width="3" src="../../docs/a%20b/i.png">'),
        ("<a href='i.md'>", "<a href='../../docs/a%20b/i.md'>"),
        ("[x]: y.md 'title'", "[x]: ../../docs/a%20b/y.md 'title'"),
    ],
)
def test_relative_targets_are_rebased(written: str, made: str) -> None:
    assert rebased(f"# T\n\n{written}\n", SOURCE, TARGET) == f"# T\n\n{made}\n"


@pytest.mark.parametrize(
    "text",
    [
        "[x](/y.md) [x](https://e.org) [x](mailto:a@b) [x](#y) [x](?y) [[y.md]] [x]({y}) \\[x](y.md)",
        "`[x](y.md)`",
        "```\n[x](y.md)\n```",
        "text\n\n    [x](y.md)",
        "[NOTE]: some words",
        "in a [sentence]: word",
        "[^1]: word",
    ],
)
def test_other_text_is_not_rebased(text: str) -> None:
    assert rebased(text, SOURCE, TARGET) == text


_PIECES = st.sampled_from(
    [
        "[a](",
        "![a](",
        ")",
        "](",
        "[a]: ",
        "[",
        "]",
        "`",
        "\n",
        "\n\n",
        "    ",
        "<img src='",
        "'>",
        "x.md",
        "../",
        "./",
        " ",
    ]
)


@LAWS
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_rebasing_twice_is_rebasing_once(body: str) -> None:
    there = rebased(body, SOURCE, TARGET)
    assert rebased(there, TARGET, OTHER) == rebased(body, SOURCE, OTHER)
    assert len(references(there)) == len(references(body))
