"""Strategies for frontmatter, ordinary and unusual, as people and other tools write it."""

from __future__ import annotations

from hypothesis import strategies as st

KEYS = (
    "id",
    "title",
    "kind",
    "tags",
    "created",
    "links",
    "provenance",
    "verification",
    "x-y",
    "notes",
    "a.b",
)

words = st.sampled_from(
    [
        *(
            "fact.testing",
            "a",
            "b c",
            "no",
            "012",
            "1e3",
            "2026-01-21T09:00:00Z",
            "~",
            "null",
            "it's",
            "a#b",
            "a:b",
        ),
        *(
            "http://x.y/z?q=1#f",
            "été",
            "日本",
            "🦊",
            "x, y",
            "[z",
            "a - b",
            "é #c",
            "a: b",
            "end:",
            "- x",
            "...",
            "?a",
            "=",
            "<<",
        ),
        *(
            "a\\b",
            'say "hi"',
            "%d",
            "a  b",
            "\u00a0x",
            "@me",
            "`c`",
            "x\tz",
            "'q",
            "*a",
            "&a",
            "!t",
            "|",
            ">",
            "0x1F",
            "{",
            "}",
        ),
    ]
)
scalars = st.one_of(
    words,
    words.map(lambda w: "'" + w.replace("'", "''") + "'"),
    words.map(lambda w: '"' + w.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    words.map(lambda w: '"' + w + '"'),
    st.sampled_from(['""', "''", '"\\u00e9\\x41"', '"\\ud800"', '"a\\nb"', '"\\0"', '"un', "'un"]),
)
comments = st.sampled_from(["", "", "", "", " # c", "  # é: [x", " #", "#no", "   "])
flows = st.lists(scalars, max_size=3).map(lambda items: "[" + ", ".join(items) + "]") | st.sampled_from(
    [
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[a,b]",
        "[ a , b ]",
        "[a, ]",
        "[a, b,]",
        "{a: 1, b: [x]}",
        "{a: }",
        '{"a":1}',
        "[a: b]",
        "[[a], [b]]",
        "[a\n  , b]",
        "[a, # c\n  b]",
        "{a: 1,\n  b: 2}",
        "[a:b]",
        "[-a, .b]",
    ]
)
keys = st.sampled_from([*KEYS, *KEYS, '"quoted key"', "'id'", "with space", "<<", "? a", "1", "é", "k "])


def _indented(lines: list[str], indent: int) -> list[str]:
    return [" " * indent + line if line else line for line in lines]


@st.composite
def _items(draw: st.DrawFn, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        dash = draw(st.sampled_from(["- ", "- ", "-   ", "-"]))
        if dash != "-" and depth > 0 and draw(st.integers(0, 4)) == 0:
            inner = _indented(draw(entries(depth=depth - 1)), len(dash))
            lines.append(dash + inner[0][len(dash) :])
            lines.extend(inner[1:])
        else:
            lines.append((dash + draw(scalars | flows) + draw(comments)) if dash != "-" else "-")
        if draw(st.integers(0, 7)) == 0:
            lines.append(draw(st.sampled_from(["", "# between", "  # deeper", "    more"])))
    return lines


@st.composite
def entries(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Lines of a block mapping, mostly valid."""
    lines: list[str] = []
    names = draw(st.lists(keys, min_size=1, max_size=4, unique=draw(st.integers(0, 9)) > 0))
    for name in names:
        shape = draw(st.integers(0, 11))
        comment = draw(comments)
        if shape <= 4:
            lines.append(f"{name}: {draw(scalars)}{comment}")
        elif shape == 5:
            lines.append(f"{name}:{comment}")
        elif shape == 6:
            lines.append(f"{name}: {draw(flows)}{comment}")
        elif shape == 7:
            mark = draw(st.sampled_from(["|", ">", "|-", "|+", ">+", "|2", ">-  # c"]))
            lines.append(f"{name}: {mark}")
            lines.extend(
                _indented(
                    draw(st.lists(st.sampled_from(["text", "  deep", "", "# no", "a: b  "]), max_size=4)), 2
                )
            )
        elif shape == 8:
            lines.append(f"{name}: {draw(words)}")
            lines.append("   " + draw(words))
        elif shape <= 10 or depth == 0:
            lines.append(f"{name}:{comment}")
            lines.extend(_indented(draw(_items(depth)), draw(st.sampled_from([0, 0, 2, 2, 4, 3]))))
        else:
            lines.append(f"{name}:{comment}")
            lines.extend(_indented(draw(entries(depth=depth - 1)), draw(st.sampled_from([1, 2, 2, 4]))))
        if draw(st.integers(0, 7)) == 0:
            lines.append(draw(st.sampled_from(["", "# comment", "   # far", "  "])))
    return lines


@st.composite
def headers(draw: st.DrawFn) -> str:
    """The text between fences; LF, or CRLF, now and then indented or in braces."""
    lines = draw(entries())
    if draw(st.integers(0, 9)) == 0:
        lines = _indented(lines, 2)
    if draw(st.integers(0, 14)) == 0:
        lines = ["{id: a, tags: [x, y], n: {o: }}"]
    text = "".join([line + "\n" for line in lines])
    return text.replace("\n", "\r\n") if draw(st.integers(0, 5)) == 0 else text


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A whole file around such a header."""
    header = draw(headers())
    eol = "\r\n" if "\r\n" in header else "\n"
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    opening = draw(st.sampled_from(["---", "---", "---  ", "---\t"]))
    closing = draw(st.sampled_from(["---", "---", "--- ", "..."]))
    body = draw(st.sampled_from(["", eol, f"{eol}# Title{eol}{eol}Text.", f"body{eol}---{eol}", "---"]))
    end = eol if body else draw(st.sampled_from(["", eol]))
    return bom + opening + eol + header + closing + end + body
