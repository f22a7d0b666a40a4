"""Markdown rendered for a terminal, without hiding any of it. Only this module uses rich.

Parts that Markdown viewers hide are shown as written: HTML, unused definitions, link titles. rich gets
filtered text, and its output passes the console's filter again, because an entity such as ``&#8238;`` becomes
a character only when the Markdown is parsed.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.cli.text import look, unmarked
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console as RichConsole
    from rich.console import ConsoleOptions, RenderResult
    from rich.markdown import MarkdownContext, MarkdownElement
    from rich.style import Style as RichStyle

    from thunderus_mem.cli.console import Console

_DEFINITION = lazy_pattern(r"(?m)^( {0,3})(\[([^\[\]\n]+)\]:)")
_LABEL = lazy_pattern(r"\[([^\[\]\n]+)\](?!:)")
_NAME = lazy_pattern(r"[a-zA-Z0-9+#-]{1,12}")
_USE = lazy_pattern(r"(?<=\])\[([^\[\]\n]+)\]")
_LANGUAGE = lazy_pattern(r"(?m)(?<=```|~~~)[ \t]*[a-zA-Z0-9+#-]{1,12}[ \t]*$")
_NUMBER = lazy_pattern(r"(?m)^[ \t>]*\d{1,9}[.)](?=\s)")


def with_definitions(text: str) -> str:
    """Turn unused link definitions into plain text, so that they are visible."""
    definitions = list(_DEFINITION.finditer(text))
    if not definitions:
        return text
    used = {" ".join(label.split()).casefold() for label in _LABEL.findall(text)}
    for found in reversed(definitions):
        if " ".join(found[3].split()).casefold() not in used:
            text = f"{text[: found.start(2)]}\\{text[found.start(2) :]}"
    return text


def show_whole(token: Any) -> None:
    """Convert tokens that rich omits into tokens that it renders."""
    if token.type == "html_block":
        token.type, token.tag, token.info = "fence", "code", "html"
    elif token.type == "fence" and token.info.strip() and not _NAME.fullmatch(token.info.strip()):
        token.content = f"{token.info.strip()}\n{token.content}"
    if token.children:
        token.children = list(_inline(token.children))


def _inline(children: Iterable[Any]) -> Iterator[Any]:
    """Convert inline tokens: HTML and images to text, and each link followed by its target."""
    targets: list[str] = []
    said: list[str] = []
    for child in children:
        if child.type == "html_inline":
            child.type = "text"
        elif child.type == "image":
            child.type, child.tag, child.children = "text", "", None
            child.content = f"[image: {child.content}] ({_target(child.attrs, 'src')})"
        elif child.type == "link_open":
            targets.append(_target(child.attrs, "href"))
            said.append("")
            child.type = "a_open"
        elif child.type == "link_close" and targets:
            child.type = "a_close"
            yield child
            yield from _with_target(child, targets.pop(), said.pop())
            continue
        if said:
            said[-1] += child.content
        yield child


def _with_target(like: Any, target: str, said: str) -> Iterator[Any]:
    """Add `` (target)`` after a link, unless its text is the target."""
    if said == target.removeprefix("mailto:"):
        return
    for kind, tag, text in (("text", "", " ("), ("target", "target", target), ("text", "", ")")):
        token = copy.copy(like)
        token.type, token.tag, token.nesting, token.content = kind, tag, 0, text
        yield token


def _target(attributes: Any, name: str) -> str:
    """Return the target of a link and its title."""
    title = attributes.get("title")
    return f'{attributes.get(name, "")} "{title}"' if title else str(attributes.get(name, ""))


def missing(text: str, drawn: str) -> bool:
    """Tell whether the rendered text lacks letters of ``text``, apart from Markdown syntax.

    Syntax here means entity names, labels of definitions, code languages and list numbers.
    """
    from html import unescape
    from urllib.parse import unquote

    left = _LANGUAGE.sub("", _NUMBER.sub("", unescape(_without_labels(text))))
    shown = unquote(drawn)
    there = Counter(filter(str.isalnum, shown))
    there.subtract(Counter("image" * shown.count("[image: ")))
    return any(there[letter] < count for letter, count in Counter(filter(str.isalnum, unquote(left))).items())


def _without_labels(text: str) -> str:
    """Remove the labels of definitions and of the links that use them."""
    names = {" ".join(found[3].split()).casefold() for found in _DEFINITION.finditer(text)}
    if not names:
        return text
    bare = _DEFINITION.sub("", text)
    return _USE.sub(lambda found: "" if " ".join(found[1].split()).casefold() in names else found[0], bare)


MAX_DRAWN: Final = 128 << 10
"""Longer texts are printed unchanged, because rendering would take seconds."""

MAX_HIGHLIGHTED: Final = 8 << 10
# The Markdown parser drops anything nested deeper than twenty levels, and text without room would be cropped.
_DEEPEST: Final = 17
_NARROWEST: Final = 24
_LEAST_CELL: Final = 6
MEASURE: Final = 100
"""Maximum width of prose; tables may be as wide as the terminal."""

_THEME: Final = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold italic",
    "markdown.h4": "italic",
    "markdown.h5": "italic",
    "markdown.h6": "italic dim",
    "markdown.code": "magenta",
    "markdown.code_block": "none",
    "markdown.block_quote": "dim",
    "markdown.hr": "dim",
    "markdown.a": "underline",
    "markdown.target": "magenta",
}


def markdown(text: str, console: Console, room: int) -> str:
    """Render Markdown in at most ``room`` columns, with every word and link target visible.

    ``text`` must be free of control characters. Parts that viewers hide (HTML, comments, link titles, unused
    definitions) are shown as written. A text that cannot be rendered completely is returned unchanged.
    """
    if len(text) > MAX_DRAWN:
        return text
    from rich.markdown import Markdown

    ours = {**Markdown.elements, **_blocks(colored=console.style.colored), **_lists()}

    class Readable(Markdown):
        """rich's Markdown with the elements below, and nothing hidden."""

        elements = ours
        inlines = Markdown.inlines | frozenset(["a", "target"])

    made = Readable(with_definitions(text))
    deepest = max((token.level for token in made.parsed), default=0)
    if deepest > _DEEPEST or 4 * deepest + _NARROWEST > room:
        return text
    for token in made.parsed:
        show_whole(token)
    drawn = "\n".join(_lines(made, room, min(room, MEASURE)))
    return text if missing(text, unmarked(drawn)) else drawn


def _lines(drawn: Any, room: int, measure: int) -> list[str]:
    """Return the lines rendered by rich, with styles as marks."""
    from io import StringIO

    from rich.console import Console as RichConsole
    from rich.segment import Segment
    from rich.theme import Theme

    rich = RichConsole(
        file=StringIO(),
        width=room,
        height=100,
        color_system="standard",
        force_terminal=True,
        legacy_windows=False,
        theme=Theme(_THEME),
        _environ={},
    )
    lines = Segment.split_lines(rich.render(drawn, rich.options.update(width=measure)))
    return "\n".join("".join(_marked(line)).rstrip() for line in lines).strip("\n").split("\n")


def _marked(line: Iterable[Any]) -> Iterator[str]:
    """The pieces of a line with marks, without the blanks that fill it."""
    pieces = [(piece.text, piece.style) for piece in line if not piece.control]
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    for number, (text, style) in enumerate(pieces, 1):
        yield _styled(text.rstrip() if number == len(pieces) else text, style)


def _styled(text: str, style: RichStyle | None) -> str:
    if style is None or not text.strip():
        return text
    switches = tuple(map(bool, (style.bold, style.dim, style.italic, style.underline, style.strike)))
    number = style.color.number if style.color is not None else None
    return look(text, switches=switches, colour=number if number is not None and number < 16 else None)


def _blocks(*, colored: bool) -> dict[str, type[MarkdownElement]]:
    """Headings where the text begins, code in the terminal's own colours, tables without empty lines."""
    from rich.box import SIMPLE_HEAD
    from rich.markdown import CodeBlock, Heading, HorizontalRule, TableElement
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.syntax import Syntax
    from rich.table import Table
    from rich.text import Text

    class Left(Heading):
        LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, Heading.LEVEL_ALIGN["h2"])

    class Code(CodeBlock):
        def __rich_console__(self, console: RichConsole, options: ConsoleOptions) -> RenderResult:
            code = str(self.text).rstrip("\n")
            shown: Any = Text(code, overflow="fold")
            if colored and self.lexer_name != "text" and len(code) <= MAX_HIGHLIGHTED:
                shown = Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True)
            yield Padding(shown, (0, 0, 0, 4))

    class Line(HorizontalRule):
        new_line = True

        def __rich_console__(self, console: RichConsole, options: ConsoleOptions) -> RenderResult:
            yield Rule(style="markdown.hr")

    class Wide(TableElement):
        def __rich_console__(self, console: RichConsole, options: ConsoleOptions) -> RenderResult:
            room = console.width if options.max_width == min(console.width, MEASURE) else options.max_width
            head = self.header.row.cells if self.header and self.header.row else []
            rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
            if len(head) * _LEAST_CELL > room:
                yield from (Text(" | ").join(row) for row in [[cell.content for cell in head], *rows])
                return
            drawn = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, border_style="dim")
            for cell in head:
                drawn.add_column(cell.content, justify=cell.justify, overflow="fold", header_style="bold")
            for row in rows:
                drawn.add_row(*row)
            yield from console.render(drawn, options.update(width=room))

    return {"heading_open": Left, "fence": Code, "code_block": Code, "hr": Line, "table_open": Wide}


def _lists() -> dict[str, type[MarkdownElement]]:
    """Render lists as written: tight, or with an empty line between items."""
    from rich.markdown import ListElement, ListItem, Markdown, Paragraph
    from rich.segment import Segment
    from rich.text import Text

    class Words(Paragraph):
        close = False

        @classmethod
        def create(cls, markdown: Markdown, token: Any) -> Words:
            made = cls("left")
            made.close = token.hidden
            return made

    class Item(ListItem):
        loose = begun = False

        def on_child_close(self, context: MarkdownContext, child: MarkdownElement) -> bool:
            apart = not isinstance(child, Listed) and not (isinstance(child, Words) and child.close)
            self.loose |= apart and isinstance(child, Words)
            if apart and self.begun:
                self.elements.append(Text(""))
            self.begun = True
            return super().on_child_close(context, child)

        def drawn(self, console: RichConsole, options: ConsoleOptions, sign: str) -> RenderResult:
            inner = options.update(width=max(options.max_width - len(sign), 1))
            for number, line in enumerate(console.render_lines(self.elements, inner, style=self.style)):
                yield Segment(" " * len(sign) if number else sign, console.get_style("dim"))
                yield from line
                yield Segment.line()

    class Listed(ListElement):
        def __rich_console__(self, console: RichConsole, options: ConsoleOptions) -> RenderResult:
            loose = any(item.loose for item in self.items if isinstance(item, Item))
            first = self.list_start if self.list_start is not None else 1
            room = len(str(first + len(self.items) - 1))
            for number, item in enumerate(self.items):
                ordered = self.list_type != "bullet_list_open"
                sign = f" {first + number:>{room}}. " if ordered else " • "
                if loose and number:
                    yield Segment.line()
                if isinstance(item, Item):
                    yield from item.drawn(console, options, sign)

    return {
        "paragraph_open": Words,
        "list_item_open": Item,
        "bullet_list_open": Listed,
        "ordered_list_open": Listed,
    }
