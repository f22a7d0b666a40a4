"""One spelling for one tag.

Spellings that differ in case or in ``_``, ``-`` and blanks between words are one tag, and the configuration
may name others; those are written the one way at once. Singular and plural are only proposed: they may be
two things.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.frontmatter.edit import rename_item
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import DocumentEdit, Step, moved
from thunderus_mem.lint.rules.identity import renumbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.store.config import Config

RULE: Final = "tags"
_BETWEEN: Final = re.compile(r"[\s_-]+")
_SHORTEST: Final = 3
_LISTED: Final = 20


class _Use(NamedTuple):
    """How often a spelling is used, and how plain it is: what decides which one stays."""

    number: int
    spelling: str

    @property
    def rank(self) -> tuple[int, bool, bool, str]:
        plain = _BETWEEN.sub("-", self.spelling) == self.spelling
        return (-self.number, self.spelling != self.spelling.lower(), not plain, self.spelling)


def plan_tags(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each document with a tag that is spelt in another way, then a proposal for each pair of
    singular and plural."""
    uses = _uses(material.documents)
    spelling = _spellings(uses, config.tags_aliases)
    steps = [step for one in material.documents if (step := _respelt(one, uses, spelling)) is not None]
    return (*steps, *_plurals(material.documents, spelling))


def same_tag(tag: str) -> str:
    """What all spellings of one tag share: case and the marks between words do not count."""
    return _BETWEEN.sub("-", tag.strip().casefold()).strip("-") or tag


def _uses(documents: Iterable[Document], spelling: Callable[[str], str] = str) -> Counter[str]:
    """In how many documents each tag is, as it is spelt."""
    return Counter(tag for document in documents for tag in set(map(spelling, document.tags)))


def _spellings(uses: Mapping[str, int], aliases: Mapping[str, str]) -> Callable[[str], str]:
    """How a tag is to be written: as the configuration says, else as most documents write it."""
    named = {same_tag(alias): target for alias, target in aliases.items() if target.strip()}
    chosen = {same_tag(target): target for target in reversed(list(named.values()))}
    groups: dict[str, list[_Use]] = {}
    for tag, count in uses.items():
        groups.setdefault(same_tag(tag), []).append(_Use(count, tag))
    for key, found in groups.items():
        chosen.setdefault(key, min(found, key=lambda use: use.rank).spelling)

    def spelling(tag: str) -> str:
        key, seen = same_tag(tag), set()
        while key in named and key not in seen and same_tag(named[key]) != key:
            seen.add(key)
            key = same_tag(named[key])
        # Names that lead round in a circle lead nowhere.
        return tag if key in seen else chosen.get(key, tag)

    return spelling


def _edited(document: Document, names: Mapping[str, str]) -> DocumentEdit | None:
    """The document with its tags written anew; ``None`` when its header cannot take that."""
    text = document.text
    try:
        for old, new in names.items():
            while (after := rename_item(text, ("tags",), old, new)) != text:  # it may be there twice
                text = after
    except InvalidDocument:
        return None
    if text == document.text:
        return None
    return DocumentEdit(document.path, document.id, document.hash, text)


def _respelt(document: Document, uses: Mapping[str, int], spelling: Callable[[str], str]) -> Step | None:
    names = {tag: new for tag in document.tags if (new := spelling(tag)) != tag}
    edit = _edited(document, names) if names else None
    if edit is None:
        return None
    told = ", ".join(f"`{old}` to `{new}`" for old, new in names.items())
    return Step(
        "respell-tags",
        f"one tag has one spelling: {told}",
        tuple(_evidence(old, new, uses) for old, new in names.items()),
        (document.id,),
        (edit,),
        rule=RULE,
        texts=((document.id, repr(sorted(names.items()))),),
    )


def _evidence(old: str, new: str, uses: Mapping[str, int]) -> str:
    if same_tag(old) != same_tag(new):
        return f"the configuration writes `{old}` as `{new}`"
    return f"{_documents(uses.get(new, 0))} `{new}`, {_documents(uses.get(old, 0))} `{old}`"


def _documents(count: int) -> str:
    return "1 document says" if count == 1 else f"{count} documents say"


def _plurals(documents: Sequence[Document], spelling: Callable[[str], str]) -> list[Step]:
    """A proposal for each tag that is there in singular and plural: the one used more stays."""
    counts = _uses(documents, spelling)
    by_key = {same_tag(tag): tag for tag in sorted(counts, reverse=True)}
    steps = []
    for key, one in sorted(by_key.items()):
        for other in (by_key[plural] for plural in _plural_forms(key) if plural in by_key):
            stays, goes = sorted((_Use(counts[one], one), _Use(counts[other], other)), key=lambda u: u.rank)
            found = [document for document in documents if goes.spelling in document.tags]
            edits = [_edited(document, {goes.spelling: stays.spelling}) for document in found]
            made = [edit for edit in edits if edit is not None]
            if made:
                steps.append(_proposal(stays, goes, made))
    return steps


def _plural_forms(key: str) -> tuple[str, ...]:
    if len(key) < _SHORTEST:
        return ()
    if key.endswith("y"):
        return (f"{key}s", f"{key[:-1]}ies")
    return (f"{key}s", f"{key}es")


def _proposal(stays: _Use, goes: _Use, edits: list[DocumentEdit]) -> Step:
    listed = [f"`{edit.doc_id}` ({edit.path})" for edit in edits[:_LISTED]]
    more = [f"and {len(edits) - _LISTED} more"] if len(edits) > _LISTED else []
    return Step(
        "unite-tags",
        f"`{goes.spelling}` and `{stays.spelling}` may be one tag, in singular and plural",
        (
            f"{_documents(stays.number)} `{stays.spelling}`, {_documents(goes.number)} `{goes.spelling}`",
            *listed,
            *more,
        ),
        tuple(edit.doc_id for edit in edits),
        tuple(edits),
        rule=RULE,
        reach="propose",
        texts=((f"tag {goes.spelling}", stays.spelling),),
    )


NUMBERS: Final = "numbers"


def plan_numbers(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each decision that gets another number; archived decisions keep theirs."""
    del config
    planned = renumbered((*material.documents, *material.archived))
    return tuple(
        Step(
            "renumber",
            f"the number of `{one.document.id}` was taken twice; it gets the next free one",
            (f"{one.document.path} becomes {posixpath.basename(one.path)}; its id and links stay",),
            (one.document.id,),
            moved(one.document, one.path),
            rule=NUMBERS,
            texts=((one.document.id, posixpath.basename(one.document.path)),),
        )
        for one in planned
    )
