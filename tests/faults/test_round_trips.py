"""F9: read, written and read again, a document changes only in the edited key."""

from __future__ import annotations

import random
import re
import time
from typing import TYPE_CHECKING

import pytest
import report
import tier
from header_seeds import composed, mutated

from benchmarks.edit_trials import attempt, trials
from benchmarks.yaml_reference import differs, typed_reading
from thunderus_mem.document.frontmatter.edit import remove_key, replace_body, set_key
from thunderus_mem.document.frontmatter.nodes import Mapping, plain_data
from thunderus_mem.document.frontmatter.read import find_fences, read_header
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARES = 4
EDITS = 5
BODIES = (
    "",
    "\n# Title\n\nText.\n",
    "---\nno: header\n---\n",
    "été\u2028\x85\n",
    " \t\n",
    "no end",
    "a\r\nb\n",
)
# A text that says how far it is indented may be all blanks: where it ends cannot be seen, edits are refused.
SAYS_INDENT = re.compile(r"[|>][-+]?[1-9]")


def documents(count: int, seed: int) -> Iterator[tuple[str, Mapping, random.Random]]:
    """Texts of documents whose header reads and has a key, with what it reads as."""
    dice = random.Random(seed)
    while count:
        header = dice.choice((composed, composed, mutated))(dice)
        header += "" if header.endswith("\n") else "\n"
        mark = dice.choice(("", "", "", "\ufeff"))
        text = f"{mark}---\n{header}---\n{dice.choice(BODIES)}"
        if "\r" not in header and dice.random() < 0.2:
            text = text.replace("\n", "\r\n")
        fences = find_fences(text)
        root = read_header(text[fences.start : fences.end])[0] if fences and fences.closed else None
        if root is not None and root.entries:
            count -= 1
            yield text, root, dice


def unchanged(text: str, root: Mapping) -> None:
    """What gives each key the text it has, or takes away one that is not there, changes no byte."""
    fences = find_fences(text)
    assert fences is not None
    for entry in root.entries:
        data = plain_data(entry.value)
        if isinstance(data, str):
            assert set_key(text, (entry.key.text,), data) == text
    assert remove_key(text, ("not-there",)) == text
    assert replace_body(text, text[fences.body_start :]).startswith(text[: fences.body_start])


def written_anew(text: str, root: Mapping) -> None:
    """As a new document it reads the same: shas, ids and times are the same texts."""
    data = plain_data(root)
    try:
        new = compose(data, "Body.\n")
    except InvalidDocument:
        # Only values at a limit may exceed it in another style.
        assert text.count("\n") > 500 or max(len(line) for line in text.split("\n")) > 5_000, text[:300]
        return
    fences = find_fences(new)
    assert fences is not None
    again, problems = read_header(new[fences.start : fences.end])
    assert again is not None, problems
    assert plain_data(again) == data
    assert differs(new[fences.start : fences.end], again) == ""


@pytest.mark.parametrize("share", range(SHARES))
def test_documents_read_as_they_were_written(share: int) -> None:
    count = tier.points(600, 5_000) // SHARES
    slowest = tried = 0
    for text, root, dice in documents(count, share + 1 + 1_000 * tier.NIGHT):
        unchanged(text, root)
        written_anew(text, root)
        fences = find_fences(text)
        assert fences is not None
        strict = not typed_reading(text[fences.start : fences.end])[1]
        for trial in trials(root, dice, EDITS):
            start = time.process_time()
            outcome = attempt(text, root, trial)
            slowest = max(slowest, time.process_time() - start)
            assert not outcome.broken, (outcome.broken, trial, text)
            if outcome.refused:
                assert SAYS_INDENT.search(text), (outcome.refused, trial, text)
                continue
            assert outcome.root is not None
            assert differs(outcome.header, outcome.root) == "", (trial, text)
            assert not (strict and typed_reading(outcome.header)[1]), (trial, text, outcome.header)
            tried += 1
    assert tried > count
    report.add("F9", f"share {share}", tried=count + tried, slowest=slowest)
