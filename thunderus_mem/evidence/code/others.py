"""How all other languages with a grammar are written as tokens: cautiously, strings as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.literals import loose_number
from thunderus_mem.evidence.code.walk import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.walk import Item, Walk

__all__ = ["OTHERS"]


def _verbatim(walk: Walk, node: SgNode, _pairs: object) -> list[Item]:
    return ["'" + walk.slice(node), (node, "")]


def _either_quote(walk: Walk, node: SgNode, _pairs: object) -> list[Item]:
    """A string whose quotes do not matter, since nothing in it means another thing between the others."""
    text = walk.slice(node)
    inner = text[1:-1]
    plain = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and not set(inner) & set("'\"\\$#{\n")
    return ["'" + (inner if plain else text), (node, "")]


def _flowing(walk: Walk, node: SgNode, _pairs: object) -> list[Item]:
    """Text that may be broken into lines anywhere."""
    return ["'" + " ".join(walk.slice(node).split()), (node, "")]


def _dashes(text: str) -> str:
    while "--" in text:
        text = text.replace("--", "-")
    return text


def _rules(
    verbatim: str = "",
    quotes: str = "",
    drop: str = "",
    *,
    numbers: str = "",
    parentheses: bool = True,
    flowing: str = "",
    empty: str = "",
    comments: str = "comment line_comment block_comment",
    loops: str = "for_statement c_style_for_statement",
) -> Rules:
    return Rules(
        comments=frozenset(comments.split()),
        transparent=frozenset(["parenthesized_expression"] if parentheses else []),
        drop=frozenset([*drop.split(), "\n"]),
        keep=dict.fromkeys(loops.split(), frozenset(";")),
        nodes={
            **dict.fromkeys(verbatim.split(), _verbatim),
            **dict.fromkeys(quotes.split(), _either_quote),
            **dict.fromkeys(flowing.split(), _flowing),
        },
        leaves=dict.fromkeys(numbers.split(), loose_number),
        empty=frozenset(empty.split()),
        trailing=True,
    )


_C: Final = "string_literal char_literal raw_string_literal system_lib_string"
_MARKDOWN: Final = Rules(
    comments=frozenset(["block_continuation"]),
    nodes={
        **dict.fromkeys(["inline", "html_block"], _flowing),
        **dict.fromkeys(["fenced_code_block", "indented_code_block"], _verbatim),
    },
    leaves={
        "list_marker_star": lambda _: "-",
        "list_marker_minus": lambda _: "-",
        "list_marker_plus": lambda _: "-",
        "pipe_table_delimiter_cell": _dashes,
    },
    empty=frozenset(["block_continuation", "inline"]),
)

OTHERS: Final[Mapping[str, Rules]] = {
    "java": _rules(
        "string_literal character_literal",
        numbers="decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal "
        "decimal_floating_point_literal",
    ),
    "c": _rules(_C, numbers="number_literal"),
    "cpp": _rules(_C, numbers="number_literal"),
    "csharp": _rules(
        "string_literal verbatim_string_literal raw_string_literal interpolated_string_expression "
        "character_literal",
        numbers="integer_literal real_literal",
    ),
    "ruby": _rules(
        "heredoc_body regex string_array symbol_array subshell delimited_symbol",
        "string",
        ";",
        numbers="integer float",
        parentheses=False,
    ),
    "kotlin": _rules(
        "string_literal character_literal multi_line_string_literal line_string_literal",
        drop=";",
        numbers="integer_literal real_literal hex_literal bin_literal long_literal",
        comments="line_comment multiline_comment",
    ),
    "swift": _rules(
        "line_string_literal multi_line_string_literal raw_string_literal regex_literal",
        drop=";",
        numbers="integer_literal hex_literal real_literal",
        comments="comment multiline_comment",
    ),
    "php": _rules(
        "heredoc nowdoc text shell_command_expression",
        "string encapsed_string",
        numbers="integer float",
    ),
    "scala": _rules(
        "string interpolated_string interpolated_string_expression character_literal",
        drop=";",
        numbers="integer_literal floating_point_literal",
        parentheses=False,
        comments="comment block_comment",
    ),
    "bash": _rules(
        "ansi_c_string heredoc_body heredoc_redirect string",
        "raw_string",
        ";",
        parentheses=False,
        loops="c_style_for_statement",
    ),
    "lua": _rules("", "string", ";", numbers="number", parentheses=False),
    "elixir": _rules(
        "string charlist sigil quoted_atom", drop=";", numbers="integer float", parentheses=False
    ),
    "haskell": _rules(
        "string char", parentheses=False, comments="comment haddock", empty="layout_start layout_end"
    ),
    "css": _rules("", "string_value", ";", comments="comment js_comment"),
    "json": _rules("string"),
    "yaml": _rules("block_scalar", "single_quote_scalar double_quote_scalar", flowing="plain_scalar"),
    "html": _rules("attribute_value raw_text", flowing="text"),
    "markdown": _MARKDOWN,
    "hcl": _rules("string_lit heredoc_template", parentheses=False),
    "nix": _rules("string_expression indented_string_expression", parentheses=False),
    "solidity": _rules("string unicode_string_literal hex_string_literal", numbers="number_literal"),
    "dart": _rules("string_literal", numbers="decimal_integer_literal hex_integer_literal"),
    "zig": _rules("string multiline_string character", parentheses=False),
}
