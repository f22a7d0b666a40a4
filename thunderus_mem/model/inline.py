"""One line of Markdown as plain text, and the anchor that GitHub makes of it."""

from __future__ import annotations

import re

_LINK_TEXT = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
_EMPHASIS = re.compile(r"(?<![\w\\])(_{1,3})(?=\S)([^_]+)(?<=\S)\1(?!\w)")
_PLAIN_TITLE = re.compile(r"[\w .,:;?/'&()+-]*")


def inline_text(text: str) -> str:
    """A line of Markdown as it reads: links give their text; emphasis, code marks, tags and escapes go."""
    if _PLAIN_TITLE.fullmatch(text) and "_" not in text:
        return text
    if "[[" in text:
        text = re.sub(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]", lambda m: m[2] or m[1], text)
    if "](" in text or "][" in text:
        text = _LINK_TEXT.sub(lambda m: "" if m[0][0] == "!" else m[1], text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "_" in text and "`" not in text:
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"\\([!-/:-@\[-`{-~])|[`*]+", lambda m: m[1] or "", text)
    return text.strip()


_ASCII_DROPPED = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code) in "_- ")}
_ASCII_SLUG = {**_ASCII_DROPPED, ord(" "): "-"}


def slug(text: str) -> str:
    """The anchor GitHub gives a heading of this text: lower case, punctuation dropped, blanks to ``-``."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered.translate(_ASCII_SLUG)
    import unicodedata

    kept = []
    for char in lowered:
        if char == " ":
            kept.append("-")
        elif (
            char in "_-"
            or unicodedata.category(char)[0] in "LM"
            or unicodedata.category(char) in ("Nd", "Nl", "Pc")
        ):
            kept.append(char)
    return "".join(kept)
