"""Tokens and definitions of data and markup: YAML, JSON, HCL, Nix, CSS, HTML and Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import (
    CLOSE,
    OPEN,
    Rules,
    bare,
    flowing,
    unquoted,
    valued,
    without,
    written,
)
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Handler, Item, Pairs, TokenWalk

# YAML

_TYPED: Final = lazy_pattern(
    r"~|null|Null|NULL|<<|=|y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE"
    r"|on|On|ON|off|Off|OFF"
    r"|[-+]?(?:0b[01_]+|0o[0-7]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)"
    r"|[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.{0,40})?"
)
"""Plain scalars that are not strings in YAML 1.1 or 1.2."""
_BREAKS: Final = lazy_pattern(r"\n+")


def _folded(text: str) -> str:
    """A text over several lines as one: a line break is a space, an empty line a line break."""
    first, *more = text.split("\n")
    if not more:
        return text
    rows = [first.rstrip(), *(row.strip() for row in more[:-1]), more[-1].lstrip()]
    return _BREAKS.sub(lambda found: "\n" * (len(found[0]) - 1) or " ", "\n".join(rows))


def _plain(text: str) -> str:
    """A scalar without quotes: a string, marked like one in quotes, or a value of another type."""
    folded = _folded(text)
    return ("=" if _TYPED.fullmatch(folded) else "'") + folded


def _single(text: str) -> str:
    return "'" + _folded(text[1:-1]).replace("''", "'")


def _double(text: str) -> str:
    folded = _folded(text[1:-1])
    return ('"' if "\\" in folded else "'") + folded


def _block_scalar(text: str) -> str:
    """The lines without their indent; those of ``>`` joined. With an indent in its header, as written."""
    header, _, body = text.partition("\n")
    style = header.split()[0]
    rows = [row if row.strip() else "" for row in body.split("\n")]
    first = next((row for row in rows if row), "")
    margin = 0 if style.strip("|>+-") else len(first) - len(first.lstrip(" "))
    rows = [row[margin:] for row in rows]
    value = "\n".join(rows).rstrip("\n")
    is_flowing = style[0] == ">" and not any(row.startswith((" ", "\t")) for row in rows)
    return f"{style}\n{_folded(value) if is_flowing else value}"


# Markdown

_CLOSING: Final = lazy_pattern(r"(?:^|[ \t])#+$")


def _heading(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """The level and the text of a heading, underlined or not."""
    return [f"{OPEN}heading", str(_level(node)), "'" + _title(node, walk.slice), CLOSE, (node, "")]


def _level(node: SgNode) -> int:
    """The level of a heading, or of a section's heading; 0 for other nodes."""
    kind = node.kind()
    if kind == "section":
        first = node.child(0)
        return _level(first) if first is not None else 0
    if kind not in ("atx_heading", "setext_heading"):
        return 0
    marks = (child.kind() for child in node.children())
    return next((int(mark.split("_h")[1][0]) for mark in marks if "_h" in mark), 0)


def _title(node: SgNode, text: definitions.TokenText) -> str:
    """The text of a heading in one line."""
    inner = next((child for child in node.named_children() if child.kind() in ("inline", "paragraph")), None)
    title = " ".join(text(inner).split()) if inner is not None else ""
    return _CLOSING.sub("", title).rstrip() if node.kind() == "atx_heading" else title


def _fence(walk: TokenWalk, node: SgNode, _pairs: Pairs) -> list[Item]:
    """A block of code: what is behind the first fence, and the lines without the indent of the fence."""
    first, *rows = walk.slice(node).rstrip("\n").split("\n")
    margin = node.range().start.column
    rows = [row[margin:] if not row[:margin].strip(" \t>") else row for row in rows]
    mark = first[: len(first) - len(first.lstrip(first[:1]))]
    if rows and rows[-1].strip().startswith(mark) and not rows[-1].strip().strip(mark[0]):
        rows.pop()
    return ["'" + "\n".join([first[len(mark) :].strip(), *rows]), (node, "")]


def _row(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """A row of a table: its cells."""
    cells: list[Item] = []
    for child, kind in pairs:
        is_cell = kind == "pipe_table_cell"
        cells += ["'" + " ".join(walk.slice(child).split())] if is_cell else []
        cells.append((child, "" if is_cell or kind == "|" else kind))
    return [OPEN + node.kind(), *cells, CLOSE, (node, "")]


def _alignment(text: str) -> str:
    """The delimiter of a column: ``-`` with the colons around it."""
    marks = text.strip()
    return f"{':' * marks.startswith(':')}-{':' * marks.endswith(':')}"


# Others

_CSS_NUMBER: Final = lazy_pattern(r"([+-]?(?:[0-9]{0,15}\.)?[0-9]{1,15})(%|[a-z]*)", re.IGNORECASE)


def _css_number(text: str) -> str:
    """A number by value, and its unit."""
    found = _CSS_NUMBER.fullmatch(text)
    return f"{float(found[1])!r}{found[2].lower()}" if found else text.lower()


def _hcl_parentheses(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """Parentheses are redundant except around a key: ``(a) = 1`` has the value of ``a`` as its key."""
    outer = node.parent()
    return None if outer is not None and outer.kind() == "object_elem" else bare(walk, node, pairs)


def _rules(
    values: Mapping[str, Callable[[str], str]],
    nodes: Mapping[str, Handler] = {},
    *,
    drop: str = "",
    comments: str = "comment",
    version: int = 2,
) -> Rules:
    """The rules of a language; ``values`` are kinds whose content is a function of their text."""
    return Rules(
        comments=frozenset(comments.split()),
        transparent=frozenset(["parenthesized_expression"]),
        drop=frozenset([*drop.split(), "\n"]),
        nodes={**{kind: valued(value) for kind, value in values.items()}, **nodes},
        leaves=values,
        trailing=True,
        version=version,
    )


_MARKDOWN: Final = _rules(
    {
        **dict.fromkeys(["inline", "html_block"], flowing),
        "indented_code_block": written,
        "pipe_table_delimiter_cell": _alignment,
        **dict.fromkeys(["list_marker_star", "list_marker_minus", "list_marker_plus"], lambda _: "-"),
        **dict.fromkeys(["list_marker_dot", "list_marker_parenthesis"], str.strip),
        "thematic_break": lambda _: "---",
    },
    {
        **dict.fromkeys(["atx_heading", "setext_heading"], _heading),
        "fenced_code_block": _fence,
        **dict.fromkeys(["pipe_table_header", "pipe_table_delimiter_row", "pipe_table_row"], _row),
    },
    comments="block_continuation",
)

RULES: Final[Mapping[str, Rules]] = {
    "yaml": _rules(
        {
            "plain_scalar": _plain,
            "single_quote_scalar": _single,
            "double_quote_scalar": _double,
            "block_scalar": _block_scalar,
        },
        {"document": without("---", "...")},
    ),
    "json": _rules({"string": written}, version=1),
    "hcl": _rules(
        dict.fromkeys(["string_lit", "heredoc_template"], written),
        {
            **dict.fromkeys(["tuple", "object", "function_arguments"], without(",")),
            "expression": _hcl_parentheses,
        },
    ),
    "nix": _rules(dict.fromkeys(["string_expression", "indented_string_expression"], written)),
    "css": _rules(
        {
            "string_value": unquoted,
            "color_value": str.lower,
            **dict.fromkeys(["integer_value", "float_value"], _css_number),
        },
        drop=";",
        comments="comment js_comment",
    ),
    "html": _rules(
        {
            "attribute_value": written,
            "quoted_attribute_value": lambda text: written(text[1:-1]),
            "raw_text": written,
            "text": flowing,
            "/>": lambda _: ">",
        }
    )._replace(names={"self_closing_tag": "start_tag"}),
    "markdown": _MARKDOWN._replace(
        transparent=frozenset(["section"]), empty=frozenset(["block_continuation", "inline"])
    ),
}


def _css(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    name = node.child(1 if kind == "keyframes_statement" else 0)
    return (" ".join(text(name).split()),) if name is not None else ()


def _key(node: SgNode, _kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    key = node.field("key")
    return (text(key).strip("'\""),) if key is not None else ()


def _named(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    """The title of a section, or of an underlined heading, which is not a section of the grammar."""
    if kind == "setext_heading":
        outer = node.parent()
        heading = node if outer is not None and outer.kind() == "section" else None
    else:
        heading = node.child(0)
    if heading is None or (kind == "section" and heading.kind() != "atx_heading"):
        return ()
    title = _title(heading, text).strip("#=- \t")
    return (title,) if title else ()


def _extent(node: SgNode) -> tuple[SgNode, ...]:
    """A section; or an underlined heading and all until the next heading of its level or above."""
    if node.kind() == "section":
        return (node,)
    found, level = [node], _level(node)
    for one in _following(node):
        if 0 < _level(one) <= level:
            break
        found.append(one)
    return tuple(found)


def _following(node: SgNode) -> Iterator[SgNode]:
    """What is behind an underlined heading: the rest of its section and, if that has no heading of its own,
    the sections behind it."""
    outer = node.parent()
    starts = [node] if outer is None or _is_titled(outer) else [node, outer]
    for start in starts:
        following = start.next()
        while following is not None:
            yield following
            following = following.next()


def _is_titled(section: SgNode) -> bool:
    """Whether a section begins with a heading of its own, which is not underlined."""
    first = section.child(0)
    return first is not None and first.kind() == "atx_heading"


def _hcl(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "attribute":
        return (definitions.first(node, ("identifier",), text),)
    labels = [
        text(child).strip('"')
        for child in node.named_children()
        if child.kind() in ("identifier", "string_lit")
    ]
    return (".".join(labels),)


TABLES: Final[Mapping[str, definitions.Table]] = {
    "css": definitions.Table({"rule_set": "rule", "keyframes_statement": "rule"}, _css),
    "json": definitions.Table({"pair": "key"}, _key),
    "yaml": definitions.Table({"block_mapping_pair": "key"}, _key),
    "html": definitions.Table({}),
    "markdown": definitions.Table(
        {"section": "heading", "setext_heading": "heading"}, _named, extent=_extent
    ),
    "hcl": definitions.Table({"block": "block", "attribute": "key"}, _hcl),
    "nix": definitions.Table({}),
}
