"""Headers in every style found in real repositories, as seeds for mutation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

SEEDS: Final = (
    (
        "id: fact.testing.coverage\ntitle: Coverage counts lines\nkind: fact\ntags:\n  - testing\n  - ci\n"
        'created: "2026-01-21T09:00:00Z"\nupdated: "2026-01-21T09:00:00Z"\nprovenance:\n'
        "  events:\n    - evt_1\n"
        "  patches: []\n  commits: []\nverification:\n  last_verified_commit: null\n  status: unknown\n"
    ),
    (
        "layout: post\ntitle:  'It''s here: part 2'\ndate:   2014-10-21 08:00:00 -0400\n"
        "categories: [a, 'b c', \"d\"]\n"
    ),
    (
        "title: >-\n  A folded\n  title\n\n  of two paragraphs\ndescription: |\n  kept as it is\n    deeper\n"
        "weight: 10\n"
    ),
    "---x: no\ny: '---'\nz: |\n   ---\n",
    (
        "# about this file\nid: a  # stable\n\ntags: # sorted\n    - alpha  # first\n    # about gamma\n"
        '    - "gamma"\nlinks:\n- b\n-   c\n'
    ),
    (
        "functions:\n  shell:\n  - code: |\n      sh -c 'echo \"$1\"'\n    comment: |-\n      Needs `sudo`.\n"
        "  file-read:\n    - code: cat /etc/passwd\n      contexts: {sudo: , suid: {x: 1}}\n"
    ),
    "excerpt: \"A text that goes\n  on, and\n\n  on \\\n  here\\x41 \\u00e9 \\\\\"\nother: 'one\n  two'\n",
    (
        "f1_keywords: [\"std::view\", 'a[0]',\n  b, c d ,] # end\nempty: []\nnone: {}\n"
        "flow: {a: 1, b: [x, {c: d}]}\n"
    ),
    (
        "releases:\n  - releaseCycle: '1.2'\n    lts: true\n    eol: 2026-01-01 # or later\n"
        '    latest: "1.2.3"\n'
        "  - releaseCycle: '1.1'\n    eol: false\n    link: https://a.b/c?d=e#f\n"
    ),
    "タイトル: 日本語の題\nété: «oui»\nключ: значение\n🦊: fox\n'quoted key': 1\n\"double: key\": 2\n",
    "a: b: c\n- d\n",
    "title: a\r\ntags:\r\n  - b\r\n  - c\r\ntext: >\r\n  folded\r\n  more\r\n\r\nend: 1\r\n",
    "plain: a text\n  that goes on\n    and on # comment\nnext: - x\nurl: http://a.b:80/\ntime: 12:30:45\n",
    "a:\n  - - x\n    - y\n  - k: v\n    l:\n      - z\n  -\n  - ''\n",
    "key with spaces: 1\n1: 2\n? explicit\n: value\n",
    "title: ! 'tagged'\nbase: &b {a: 1}\nuse: *b\n<<: *b\n",
    "a: |2\n   two\n  more\nb: >+\n  keep\n\n\nc: |-  # strip\n  x\nd: >1\n x\n",
    "n: null\nt: ~\ny: yes\no: 0755\nx: 0x1F\nf: 1.5e3\ni: .inf\nd: 2026-13-45\ns: 12e4567\nb: True\n",
    "tabs:\there\nmore: a\tb\nend: x\t\n",
    "a: 'x' # c\nb: \"y\"\t# d\nc:   # e\n  z\nd:\n\n  # f\n\n  - g\n",
    "deep:\n a:\n  b:\n   c:\n    d: [e]\n",
    'a: [x\n, y]\nb: {k: v,\nl: w}\nc: "on\nand on"\n',
    "authors: [{{ author }}]\nstart: {{ start }} 00:00\ntitle: {% raw %}\n",
    "empty:\nblank:   \nquoted: ''\ndouble: \"\"\nfold: >\n\nlit: |\n",
    "id: a\nid: b\nnested:\n  k: 1\n  k: 2\n",
    "%YAML 1.1\n--- {a: no}\n",
    '{a: 1, "b":2, c, d: }\n',
    "- a\n- b\n",
    "just words\n",
    "",
)

_PIECES: Final = (
    *(
        "\t",
        "\n",
        "\n\n",
        " ",
        "  ",
        "\n  ",
        "\r\n",
        "\r",
        ":",
        ": ",
        "-",
        "- ",
        "\n- ",
        "?",
        "? ",
        "#",
        " #",
    ),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        '"',
        "''",
        '""',
        "\\",
        "\\n",
        "\\x41",
        "\\u00e9",
        "\\ud800",
        "\\U0010ffff",
    ),
    *(
        "|",
        ">",
        "|2",
        ">-",
        "|+\n",
        "&a ",
        "*a",
        "!t ",
        "!!int ",
        "<<: ",
        "%",
        "@",
        "`",
        "~",
        "null",
        "---\n",
    ),
    *(
        "...\n",
        "é",
        "日本",
        "🦊",
        "\u2028",
        "\u0085",
        "\ufeff",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\ufffe",
        "\u200b",
    ),
    *("a", "0", "1e5", ".", "=", "k: v\n", "  - x\n", "[a, b]", "{a: b}", "x" * 200, " " * 50, "\n" * 20),
)


def mutated(dice: random.Random) -> str:
    """A seed, or two, changed at one to twelve places; now and then a piece of it many times over."""
    text = dice.choice(SEEDS)
    for _ in range(dice.choice((1, 1, 2, 3, 5, 12))):
        text = dice.choice(_CHANGES)(text, dice)
    if dice.random() < 0.03:
        start = dice.randrange(len(text) + 1)
        piece = text[start : start + dice.randint(1, 40)] or "x"
        text = text[:start] + piece * dice.randint(
            10, max(10, 32_000 // len(piece.encode("utf-8", "replace")))
        )
    return text[:40_000]


def _put(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(_PIECES) + text[at:]


def _replace(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(_PIECES) + text[at + dice.randint(1, 4) :]


def _cut(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at + dice.choice((1, 1, 2, 5, 20)) :]


def _lines(text: str, dice: random.Random) -> str:
    """A line doubled, dropped, moved, or indented otherwise."""
    lines = text.split("\n")
    at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
    how = dice.randrange(5)
    if how == 0:
        lines.insert(to, lines[at])
    elif how == 1:
        del lines[at]
    elif how == 2:
        lines.insert(to, lines.pop(at))
    elif how == 3:
        lines[at] = dice.choice((" ", "  ", "    ", "\t")) + lines[at]
    else:
        lines[at] = lines[at][dice.randint(1, 2) :]
    return "\n".join(lines)


def _join(text: str, dice: random.Random) -> str:
    other = dice.choice(SEEDS)
    return text[: dice.randrange(len(text) + 1)] + other[dice.randrange(len(other) + 1) :]


_CHANGES: Final = (_put, _put, _replace, _replace, _cut, _lines, _lines, _join)


def composed(dice: random.Random) -> str:
    """A header out of a small grammar, mostly valid."""
    lines = _entries(dice, dice.choice((1, 2, 2, 3)), 0)
    if dice.random() < 0.1:
        lines = ["  " + line if line else line for line in lines]
    text = "\n".join([*lines, ""])
    return text.replace("\n", "\r\n") if dice.random() < 0.1 else text


_KEYS: Final = (
    "id",
    "title",
    "tags",
    "links",
    "a",
    "b-c",
    "x.y",
    "'q k'",
    '"d"',
    "two words",
    "é",
    "1",
    "-k",
)
_WORDS: Final = (
    *(
        "a",
        "b c",
        "fact.x",
        "no",
        "012",
        "1e3",
        "~",
        "it's",
        "a#b",
        "a:b",
        "http://x.y/?q=1#f",
        "été",
        "日本",
    ),
    *(
        "a - b",
        "?a",
        "=",
        "a\\b",
        'say "hi"',
        "a  b",
        "0x1F",
        "x\u00a0y",
        "--",
        "null",
        ".5",
        "<<",
        "a\u3000b",
    ),
)
_ODD_WORDS: Final = (
    *(
        "x, y",
        "é #c",
        "end:",
        "- x",
        "...",
        "%d",
        "@m",
        "`c`",
        "*a",
        "!t",
        "|",
        ">",
        "[z",
        "{",
        "}",
        "]",
        "a]",
    ),
    *("a}", "\u3000", "-", "a\tb", "&b", "a: b", "#", "", "? x", ",", "---", "'", '"'),
)


def _word(dice: random.Random) -> str:
    return dice.choice(_WORDS if dice.random() < 0.97 else _ODD_WORDS)


def _scalar(dice: random.Random) -> str:
    word = _word(dice)
    how = dice.randrange(8)
    if how < 5:
        return word
    if how == 5:
        word = dice.choice(_ODD_WORDS)
        return "'" + word.replace("'", "''") + "'"
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if how == 6 else f'"{escaped}\\n\n   {escaped}"'


def _flow(dice: random.Random, depth: int) -> str:
    inner = [
        _flow(dice, depth - 1) if depth and dice.random() < 0.3 else _scalar(dice)
        for _ in range(dice.randrange(4))
    ]
    gap = dice.choice((", ", ",", " , ", ",\n   ", ", # c\n   "))
    if dice.random() < 0.5:
        return "[" + gap.join(inner) + dice.choice(("", "", ",", " ", "\n  ")) + "]"
    return (
        "{" + gap.join([f"{dice.choice(_KEYS)}: {one}" for one in inner]) + dice.choice(("", ",", " ")) + "}"
    )


def _entries(dice: random.Random, depth: int, indent: int) -> list[str]:
    lines: list[str] = []
    blanks = " " * indent
    unused = dice.sample(_KEYS, 4)
    for _ in range(dice.randint(1, 4)):
        name = dice.choice(_KEYS)
        head = f"{blanks}{name if dice.random() < 0.05 else unused.pop()}:"
        comment = dice.choice(("", "", "", "", " # c", "  # é: [x", " #", "   "))
        how = dice.randrange(9)
        if how < 3:
            lines.append(f"{head} {_scalar(dice)}{comment}")
        elif how == 3:
            lines.append(f"{head} {_flow(dice, 2)}{comment}")
        elif how == 4:
            lines.append(f"{head} {dice.choice('|>')}{dice.choice(('', '-', '+', '2', '1-'))}{comment}")
            lines.extend(
                f"{blanks}  {dice.choice(('text', ' deep', '', '# no', 'a: b  '))}" for _ in range(3)
            )
        elif how == 5 and depth:
            lines.append(head + comment)
            lines.extend(_entries(dice, depth - 1, indent + dice.choice((1, 2, 2, 4))))
        elif how < 8 and depth:
            lines.append(head + comment)
            lines.extend(_items(dice, depth - 1, indent + dice.choice((0, 0, 2, 4))))
        else:
            lines.extend([head + " " + _word(dice), f"{blanks}  {_word(dice)}{comment}"])
        if dice.random() < 0.15:
            lines.append(dice.choice(("", "# comment", "   # far", "  ", "\t")))
    return lines


def _items(dice: random.Random, depth: int, indent: int) -> list[str]:
    lines: list[str] = []
    for _ in range(dice.randint(1, 3)):
        dash = " " * indent + dice.choice(("- ", "- ", "-   ", "-"))
        if depth and dice.random() < 0.25:
            inner = _entries(dice, depth - 1, len(dash))
            lines.extend([dash + inner[0][len(dash) :], *inner[1:]])
        else:
            lines.append(dash + (_scalar(dice) if dash[-1] == " " else ""))
    return lines
