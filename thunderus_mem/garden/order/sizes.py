"""Documents that are too long: facts are split at their headings, of all others it is said what to cut."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.order.naming import Names
from thunderus_mem.garden.order.sections import cut
from thunderus_mem.garden.order.splitting import Split, split
from thunderus_mem.garden.plan import REPORT, Step
from thunderus_mem.model.ids import fold_key
from thunderus_mem.model.outline import headings
from thunderus_mem.store.kind_caps import configured_caps
from thunderus_mem.store.layout import CORE_LOCAL_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.material import Material
    from thunderus_mem.model.document import Document
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.kind_caps import Caps

__all__ = ["RULE", "plan_sizes"]

RULE: Final = "sizes"
_LISTED: Final = 10


def plan_sizes(material: Material, config: Config) -> tuple[Step, ...]:
    """A proposal to split for each fact above the hard cap of facts, and reports of what else is too long.

    Decisions, playbooks and recaps need the sections they have: a part of one would be none.
    """
    core = [one for one in material.documents if one.kind == "core" and one.path != CORE_LOCAL_FILE]
    steps = _core(core, config)
    others = [one for one in material.documents if one.kind != "core"]
    caps = {kind: configured_caps(config, kind) for kind in {one.kind for one in others}}
    long = [one for one in others if _tokens(one) > caps[one.kind].hard]
    if not long:
        return tuple(steps)
    names = Names(material)
    taken = _Taken(material, names)
    for document in long:
        found = _split(document, material, caps[document.kind], names, taken)
        steps.append(
            _too_long(document, found.reason, caps[document.kind].hard)
            if found.reason
            else _parted(document, found)
        )
    return tuple(steps)


def _tokens(document: Document) -> int:
    return len(document.text) // 4


class _Taken:
    """Ids and paths that are somebody's, with those that this plan gives away."""

    def __init__(self, material: Material, names: Names) -> None:
        self._names = names
        self._given: set[str] = set()
        paths = {*material.files, *(one.path for one in (*material.documents, *material.archived))}
        self._paths = {fold_key(path) for path in paths}

    def __call__(self, doc_id: str, path: str) -> bool:
        known = self._names.resolve(doc_id) is not None or bool(
            self._names.by_folded_id.get(fold_key(doc_id))
        )
        return known or doc_id in self._given or fold_key(path) in self._paths

    def give(self, found: Split) -> None:
        """Remember what a split takes."""
        self._given |= {doc_id for doc_id, _, _ in found.parts}
        self._paths |= {fold_key(path) for _, path, _ in found.parts}


def _split(document: Document, material: Material, caps: Caps, names: Names, taken: _Taken) -> Split:
    if document.kind != "fact":
        return Split(reason=f"a {document.kind} needs its sections, so that a person has to cut it")
    if document.id in names.claimed_twice:
        return Split(reason="another file has its id")
    found = split(
        document,
        [one for one in material.documents if one.path != document.path],
        soft=caps.soft,
        hard=caps.hard,
        taken=taken,
        means=lambda name: names.resolve(name) == document.id,
    )
    taken.give(found)
    return found


def _parted(document: Document, found: Split) -> Step:
    parts = [f"§ {heading} becomes `{doc_id}` ({path})" for doc_id, path, heading in found.parts]
    following = [edit.doc_id for edit in found.edits[1 + len(found.parts) :]]
    led = (
        [f"links to these sections follow in {', '.join(f'`{one}`' for one in following)}"]
        if following
        else []
    )
    return Step(
        "split",
        f"`{document.id}` has about {_tokens(document):,} tokens; its longest sections can stand alone",
        (*parts, "each line stands in one of them, and links to headings follow", *led),
        (document.id, *(doc_id for doc_id, _, _ in found.parts), *following),
        found.edits,
        rule=RULE,
        reach="propose",
        texts=((document.id, _outline(document)),),
    )


def _outline(document: Document) -> str:
    """What a decision about a split rests on: the headings, with their levels and in their order.

    Whether a document may come apart is decided about its parts; a word more in one of them asks nothing new.
    """
    told = [(heading.level, heading.text) for heading in headings(document.body)]
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


def _too_long(document: Document, reason: str, most: int) -> Step:
    return Step(
        REPORT,
        f"`{document.id}` has about {_tokens(document):,} tokens, {most:,} are the most; {reason}",
        tuple(_longest([document])),
        (document.id,),
        rule=RULE,
        reach="report",
        texts=((document.id, document.hash),),
    )


def _core(core: Sequence[Document], config: Config) -> list[Step]:
    total = sum(map(_tokens, core))
    over = [one for one in core if _tokens(one) > config.caps_core_hard]
    if total <= config.caps_core_total and not over:
        return []
    most = config.caps_core_total if total > config.caps_core_total else config.caps_core_hard
    what = "core memory has" if total > config.caps_core_total else f"`{over[0].id}` has"
    tokens = total if total > config.caps_core_total else _tokens(over[0])
    return [
        Step(
            REPORT,
            f"{what} about {tokens:,} tokens, {most:,} are the most, and every reader loads all of it; "
            "move what is not always needed into facts",
            tuple(_longest(core)),
            tuple(one.id for one in core),
            rule=RULE,
            reach="report",
            texts=tuple(sorted((one.id, one.hash) for one in core)),
        )
    ]


def _longest(documents: Sequence[Document]) -> list[str]:
    """The longest sections, longest first, with where they stand."""
    found = []
    for document in documents:
        whole = cut(document.body)
        for section in whole.sections:
            line = document.body_line + section.start
            found.append((-whole.size(section), document.path, line, section.heading.text))
    return [
        f"{path}:{line}: § {text}, {-size:,} tokens" for size, path, line, text in sorted(found)[:_LISTED]
    ]
