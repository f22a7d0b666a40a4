"""A comment between any two tokens does not change the fingerprint, whatever its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fingerprint.test_code_cases import CASES, SUFFIX
from thunderus_mem.fingerprint.definitions import parse
from thunderus_mem.fingerprint.source import CodeSource

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = (" /* {} */ ", " // {}\n")
STYLES = {
    **dict.fromkeys(["python", "ruby", "bash"], (" # {}\n",)),
    **dict.fromkeys(["go", "rust", "java", "c", "cpp", "csharp", "kotlin", "swift"], BLOCKS),
    **dict.fromkeys(["javascript", "typescript", "tsx", "php"], BLOCKS),
}
TEXTS = ("string", "interpol", "regex", "expansion", "template_s", "encapsed", "preproc", "token_tree")
"""Parts of the names of kinds whose text counts, whatever is in it."""
LANGUAGES = sorted(path.parent.name for path in CASES.glob("*/same.txt") if path.parent.name in STYLES)


def boundaries(text: str, language: str) -> list[int]:
    """Where one leaf ends and another begins."""
    ends, stack = set(), [parse(text, language)]
    while stack:
        node = stack.pop()
        stack.extend(node.children())
        if not node.children():
            ends.add(node.range().start.index)
    return sorted(ends)


def texts(language: str) -> list[str]:
    found: list[str] = []
    for name in ("same", "differ"):
        path: Path = CASES / language / f"{name}.txt"
        for block in path.read_text(encoding="utf-8").split("===== ")[1:]:
            found += block.partition("\n")[2].split("-----\n")
    return found


@pytest.mark.parametrize("each", [4, pytest.param(1, marks=pytest.mark.faults)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_do_not_change_the_fingerprint(language: str, each: int) -> None:
    wrong, tried = [], 0
    for text in texts(language):
        for at in list(boundaries(text, language))[::each]:
            for style in STYLES[language]:
                one, other = (
                    CodeSource(f"a.{SUFFIX[language]}", (text[:at] + style.format(word) + text[at:]).encode())
                    for word in ("why", "how come")
                )
                if one.broken or other.broken:
                    continue
                tried += 1
                if one.whole().hash != other.whole().hash and not inside_text(one, at):
                    wrong.append(text[:at] + style.format("why") + text[at:])
    assert tried > 50 // each
    assert wrong == []


def inside_text(source: CodeSource, at: int) -> bool:
    """Whether the inserted text is not a comment but part of a string, or of something parsed as text."""
    stack = [source.root()]
    while stack:
        node = stack.pop()
        span = node.range()
        if span.start.index <= at + 2 < span.end.index:
            if "comment" in node.kind():
                return False
            if any(word in node.kind() for word in TEXTS):
                return True
            stack.extend(node.children())
    return True
