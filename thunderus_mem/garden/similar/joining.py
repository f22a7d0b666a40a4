"""A document that also says what another one says: the blocks it lacks are added, none is changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.merging import unite
from thunderus_mem.garden.similar.sentences import sentences_of
from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import replace_body, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from thunderus_mem.model.document import Document

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"(#{1,6})([ \t].*)")
_DEEPEST = 6


def blocks(body: str) -> list[str]:
    """A body cut at its blank lines; a fenced block and a comment stay whole."""
    found: list[list[str]] = [[]]
    closing = ""
    for line in body.splitlines():
        if closing:
            found[-1].append(line)
            if closing in line if closing == "-->" else line.strip().startswith(closing):
                closing = ""
            continue
        if fence := _FENCE.match(line):
            closing = fence[1]
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            closing = "-->"
        if not line.strip():
            found.append([])
        elif line.startswith("#"):
            found += [[line], []]
        else:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found if lines]


def lacking(stays: Document, leaves: Document) -> list[str]:
    """The blocks of one document with a sentence that the other does not have, each under its heading."""
    told = {sentence.plain for sentence in sentences_of(stays.body)}
    kept: list[str] = []
    headings: list[str] = []
    for block in blocks(leaves.body):
        if heading := _HEADING.match(block):
            level = len(heading[1])
            headings = [one for one in headings if len(one) - len(one.lstrip("#")) < level]
            headings.append(block)
            continue
        said = {sentence.plain for sentence in sentences_of(block)}
        if block in stays.body or (said and said <= told):
            continue
        kept += [_lowered(one) for one in headings]
        headings = []
        kept.append(block)
    return kept


def _lowered(heading: str) -> str:
    marks = len(heading) - len(heading.lstrip("#"))
    return "#" * min(max(marks + 1, 3), _DEEPEST) + heading[marks:]


def joined(stays: Document, leaves: Document) -> Document | None:
    """``stays`` with the header of both (see `garden.merging.unite`) and with what only ``leaves`` says under
    a heading of its own; ``None`` when the header cannot hold it all."""
    united = unite(stays, leaves)
    if united is None:
        return None
    added = lacking(stays, leaves)
    text = united.text
    if added:
        title = " ".join(leaves.title.split())
        body = united.body.rstrip("\r\n") + "\n\n" + "\n\n".join([f"## From “{title}”", *added]) + "\n"
        text = replace_body(text, body.replace("\r\n", "\n"))
    try:
        if added and utc_key(leaves.updated) > utc_key(stays.updated):
            text = set_key(text, ("updated",), leaves.updated)
        return read_document(stays.path, text.encode("utf-8", "surrogatepass")).document
    except InvalidDocument:
        return None
