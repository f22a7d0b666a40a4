"""The sentences of a Markdown text, without its marks."""

from __future__ import annotations

import re

from thunderus_mem.model.inline import inline_text
from thunderus_mem.model.outline import scan

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]*[^\Wa-z_])|(?<=[。！？])")
_LEAD = re.compile(r"\s*(?:(?:[-*+]|[0-9]{1,9}[.)]|>|#{1,6}|\[[ xX]\])[ \t]+)+")
_RULE = re.compile(r"\s*(?:[-*_=|: ]+)\s*")


def plain_sentences(text: str, *, code: bool = True) -> tuple[str, ...]:
    """The sentences of a Markdown text without its marks.

    List items, headings and table rows end a sentence; comments are left out. With ``code`` each line of a
    fenced block counts as one sentence, as it is.
    """
    found: list[str] = []
    shown = scan(text)
    position = 0
    for start, end in [*shown.hidden, (len(shown.lines), len(shown.lines))]:
        _prose(found, shown.lines[position:start])
        if code and start < end and not shown.lines[start].lstrip().startswith("<!--"):
            found.extend([line.rstrip() for line in shown.lines[start + 1 : end - 1] if line.strip()])
        position = end
    return tuple(found)


def _prose(found: list[str], lines: list[str]) -> None:
    running: list[str] = []

    def flush() -> None:
        joined = inline_text(" ".join(running))
        found.extend([part for raw in _SENTENCE_END.split(joined) if (part := " ".join(raw.split()))])
        running.clear()

    for line in lines:
        if _RULE.fullmatch(line):
            flush()
            continue
        lead = _LEAD.match(line)
        if lead is not None:
            flush()
        running.append(line[lead.end() if lead else 0 :].strip())
        if lead is not None and "#" in lead[0]:
            flush()
    flush()
