"""A change of one word, number or operator changes the fingerprint, in every language with cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.fingerprint.test_code_cases import CASES, SUFFIX
from thunderus_mem.fingerprint.source import CodeSource

if TYPE_CHECKING:
    from collections.abc import Iterator

SWAPPED = {
    "+": "-", "-": "+", "*": "/", "/": "*", "<": ">", ">": "<", "==": "!=", "!=": "==", "&&": "||",
    "||": "&&", "<=": ">=", ">=": "<=", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "!": "~",
}  # fmt: skip
TOKEN = re.compile(r"\w+|[-+*/<>=!&|]+")
SPACE = re.compile(r"""(?<=\w )(?=\w+["'])""")
"""Inside a string of two words."""
COMMENTS = {
    **dict.fromkeys(["bash", "hcl", "nix", "ruby", "toml", "yaml"], r"#.*"),
    "python": r"#.*|\"\"\"One|\"Two",
    "javascript": r"//.*|/\*[\s\S]*?\*/|className=.*",
    **dict.fromkeys(["haskell", "lua"], r"--.*"),
    "html": "<!--.*?-->",
    "css": r"/\*.*?\*/",
    "php": r"//.*|#.*|/\*.*?\*/",
    "markdown": r"(?m:^ *[-+*])",
}
"""Comments, docstrings, names of classes, list marks: where a change has no meaning."""


def texts(language: str) -> Iterator[str]:
    for path in sorted((CASES / language).glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("===== ")[1:]:
            yield from block.partition("\n")[2].split("-----\n")


def mutations(text: str, language: str) -> Iterator[str]:
    """The text with one token replaced, except in comments."""
    comments = re.compile(COMMENTS.get(language, r"//.*|/\*[\s\S]*?\*/"))
    ignored = [found.span() for found in comments.finditer(text)]
    for found in TOKEN.finditer(text):
        if any(start <= found.start() < end for start, end in ignored):
            continue
        word = found[0]
        others = [SWAPPED[word]] if word in SWAPPED else []
        if word[0].isalnum() or word[0] == "_":
            others = [f"7{word}" if word[0].isdigit() else f"{word}q"]
            others += ["0"] if word.isdigit() and word != "0" else []
        for other in others:
            yield text[: found.start()] + other + text[found.end() :]
    for found in SPACE.finditer(text):
        if not any(start <= found.start() < end for start, end in ignored):
            yield text[: found.start()] + " " + text[found.start() :]


@pytest.mark.parametrize("each", [3, pytest.param(1, marks=pytest.mark.faults)])
@pytest.mark.parametrize("language", sorted(SUFFIX))
def test_changed_token_changes_the_fingerprint(language: str, each: int) -> None:
    unnoticed, tried = [], 0
    for text in dict.fromkeys(texts(language)):
        before = CodeSource(f"a.{SUFFIX[language]}", text.encode()).whole().hash
        for changed in list(mutations(text, language))[::each]:
            source = CodeSource(f"a.{SUFFIX[language]}", changed.encode())
            if source.broken:
                continue
            tried += 1
            if source.whole().hash == before:
                unnoticed.append(changed)
    assert unnoticed == []
    assert tried > (20 if each == 1 else 2)
