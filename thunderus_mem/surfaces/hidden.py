"""What reading Markdown hides and `show` does not: HTML, definitions, titles of links, cells too many.

Works on text and on the tokens of the parser; knows no library.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEFINITION = re.compile(r"(?m)^( {0,3})(\[([^\[\]\n]+)\]:)")
_LABEL = re.compile(r"\[([^\[\]\n]+)\](?!:)")
_NAME = re.compile(r"[a-zA-Z0-9+#-]{1,12}")
_USE = re.compile(r"(?<=\])\[([^\[\]\n]+)\]")
_LANGUAGE = re.compile(r"(?m)(?<=```|~~~)[ \t]*[a-zA-Z0-9+#-]{1,12}[ \t]*$")
_NUMBER = re.compile(r"(?m)^[ \t>]*\d{1,9}[.)](?=\s)")


def with_definitions(text: str) -> str:
    """Link definitions that no link of the text uses become plain text, or nobody would see them."""
    definitions = list(_DEFINITION.finditer(text))
    if not definitions:
        return text
    used = {" ".join(label.split()).casefold() for label in _LABEL.findall(text)}
    for found in reversed(definitions):
        if " ".join(found[3].split()).casefold() not in used:
            text = f"{text[: found.start(2)]}\\{text[found.start(2) :]}"
    return text


def show_whole(token: Any) -> None:
    """Turn what rich would leave out into what it draws."""
    if token.type == "html_block":
        token.type, token.tag, token.info = "fence", "code", "html"
    elif token.type == "fence" and token.info.strip() and not _NAME.fullmatch(token.info.strip()):
        token.content = f"{token.info.strip()}\n{token.content}"
    if token.children:
        token.children = list(_inline(token.children))


def _inline(children: Iterable[Any]) -> Iterator[Any]:
    """The parts of a line of prose: HTML and images as text, each link followed by where it leads."""
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
            yield from _told(child, targets.pop(), said.pop())
            continue
        if said:
            said[-1] += child.content
        yield child


def _told(like: Any, target: str, said: str) -> Iterator[Any]:
    """`` (target)`` behind a link, unless its text is the target."""
    if said == target.removeprefix("mailto:"):
        return
    for kind, tag, text in (("text", "", " ("), ("target", "target", target), ("text", "", ")")):
        token = copy.copy(like)
        token.type, token.tag, token.nesting, token.content = kind, tag, 0, text
        yield token


def _target(attributes: Any, name: str) -> str:
    """Where a link leads, and its title."""
    title = attributes.get("title")
    return f'{attributes.get(name, "")} "{title}"' if title else str(attributes.get(name, ""))


def missing(text: str, drawn: str) -> bool:
    """Whether letters of ``text`` are not in what was drawn of it, beyond what Markdown itself uses up.

    Used up are names of entities, labels that lead to a definition, languages of code, numbers of lists.
    """
    from html import unescape
    from urllib.parse import unquote

    left = _LANGUAGE.sub("", _NUMBER.sub("", unescape(_without_labels(text))))
    shown = unquote(drawn)
    there = Counter(filter(str.isalnum, shown))
    there.subtract(Counter("image" * shown.count("[image: ")))
    return any(there[letter] < count for letter, count in Counter(filter(str.isalnum, unquote(left))).items())


def _without_labels(text: str) -> str:
    """The text without the labels of definitions and of the links that use them."""
    names = {" ".join(found[3].split()).casefold() for found in _DEFINITION.finditer(text)}
    if not names:
        return text
    bare = _DEFINITION.sub("", text)
    return _USE.sub(lambda found: "" if " ".join(found[1].split()).casefold() in names else found[0], bare)
