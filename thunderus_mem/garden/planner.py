"""The gardener's rules, what they look at, and the plan they make together.

Each rule is a pure function of `GardenInput` and the configuration; each plans on what is there once the
steps before it are carried out. `garden_plan` reads index, log, files and the queue, and keeps what was
computed of texts in a cache.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import contextmanager
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.document import read_document
from thunderus_mem.document.ids import closest
from thunderus_mem.document.paths import is_archived
from thunderus_mem.errors import NotFound, NotWritable
from thunderus_mem.garden.plan import GardenInput, Plan, make_plan, references_in
from thunderus_mem.garden.rules.archive import expiry, old_recaps, plan_archive
from thunderus_mem.garden.rules.consolidate import plan_consolidation
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.links import plan_links
from thunderus_mem.garden.rules.recaps import plan_recaps
from thunderus_mem.garden.rules.similar import compared, gates_of, plan_similar
from thunderus_mem.garden.rules.sizes import plan_sizes
from thunderus_mem.garden.rules.tags import plan_numbers, plan_tags
from thunderus_mem.garden.similar.pairs import memory_key
from thunderus_mem.garden.similar.profile import computed, gists, key_of, measure, not_kept
from thunderus_mem.index.caches import SignatureCache
from thunderus_mem.index.log import read
from thunderus_mem.memory.locate import documents
from thunderus_mem.memory.proposals import all_waiting
from thunderus_mem.recap.activity import history_of
from thunderus_mem.recap.events import texts_by_us
from thunderus_mem.review.queue import rejected_keys
from thunderus_mem.store.parallel import paused, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import Step
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.config import Config


class GardenRule(NamedTuple):
    """One rule of the gardener; ``plan`` gives the same steps for the same material. None of them is carried
    out by itself unless the rule ``applies``."""

    name: str
    does: str
    plan: Callable[[GardenInput, Config], tuple[Step, ...]]
    applies: bool = True


def _duplicates(material: GardenInput, config: Config) -> tuple[Step, ...]:
    return plan_duplicates(material.documents, config, gists(material.documents, material.signatures))


RULES: Final[tuple[GardenRule, ...]] = (
    GardenRule("duplicates", "Merge documents that make exactly the same statements.", _duplicates),
    GardenRule(
        "similar",
        "Propose what to do with documents that nearly say the same.",
        plan_similar,
        applies=False,
    ),
    GardenRule("numbers", "Give decisions that took one number twice a number of their own.", plan_numbers),
    GardenRule("links", "Lead links that lead nowhere to where their target went.", plan_links),
    GardenRule("tags", "Write each tag in one way.", plan_tags),
    GardenRule("sizes", "Split long facts at their headings, and say what else is too long.", plan_sizes),
    GardenRule("recaps", "Write the recaps of `recap.schedule` that are missing.", plan_recaps),
    GardenRule("archive", "Set aside old recaps, and what has expired or was replaced.", plan_archive),
    GardenRule(
        "consolidate",
        "Propose facts, decisions and playbooks that sessions have shown.",
        plan_consolidation,
        applies=False,
    ),
)
"""In the order in which their steps are carried out."""

RULE_NAMES: Final = tuple(rule.name for rule in RULES)


def garden_plan(memory: Memory, *, only: Sequence[str] = (), apart: bool = False) -> Plan:
    """What the gardener would do now, by all rules or by those named ``only``; changes nothing. The same
    material gives the same plan. What was turned down, and what waits for review, is left out and counted.

    Steps that are carried out build on each other; with ``apart`` each is about the memory as it is, which is
    what can be filed. Raises `NotFound` for a rule that does not exist."""
    for name in only:
        if name not in RULE_NAMES:
            near = closest(name, RULE_NAMES, 1)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise NotFound(
                f'there is no gardening rule "{name}"', hint=f"{meant}The rules are {', '.join(RULE_NAMES)}"
            )
    chosen = [rule for rule in RULES if not only or rule.name in only]
    _see_all_decisions(memory)
    with paused(), with_signatures(memory, material_of(memory), [rule.name for rule in chosen]) as seen:
        decisions = _Decisions(memory)
        parts = planned(chosen, seen, memory.config, (lambda _: ()) if apart else decisions.undecided)
    steps = [step for part in parts for step in part if step.extent != "report"]
    return make_plan(
        *parts, rejected=decisions.rejected(steps), waiting=decisions.waiting(steps), order=RULE_NAMES
    )


def _see_all_decisions(memory: Memory) -> None:
    for shard in memory.log_index().unread():
        raise NotWritable(
            f"{shard} cannot be read, so what was decided there would be passed over.",
            hint="Mend its permissions, then run the command again.",
        )


class _Decisions:
    """What was decided about steps, or waits for it; the queue is read when a step asks for it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: frozenset[str] | None = None

    def rejected(self, steps: Sequence[Step]) -> frozenset[str]:
        """The keys that somebody turned down."""
        return rejected_keys(self._memory, {target for step in steps for target in step.targets})

    def waiting(self, steps: Sequence[Step]) -> frozenset[str]:
        """The keys that wait for review."""
        if self._waiting is None and steps:
            self._waiting = frozenset(one.proposal.key for one in all_waiting(self._memory.layout)) - {""}
        return self._waiting or frozenset()

    def undecided(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps that nobody has turned down, and that do not wait."""
        decided = self.rejected(steps) | self.waiting(steps)
        return tuple(step for step in steps if step.key not in decided)


def planned(
    rules: Iterable[GardenRule],
    material: GardenInput,
    config: Config,
    going: Callable[[Sequence[Step]], Sequence[Step]] = lambda steps: steps,
) -> tuple[tuple[Step, ...], ...]:
    """The steps of each rule. Two rules may change one document: what the second would carry out begins with
    what the first leaves. Proposals and reports are about the memory as it is, since they wait. ``going``
    says which steps will be carried out: nothing is built on those that were turned down or wait."""
    try:
        return tuple(_in_sequence(rules, material, config, going))
    finally:
        references_in.cache_clear()


def _in_sequence(
    rules: Iterable[GardenRule],
    material: GardenInput,
    config: Config,
    going: Callable[[Sequence[Step]], Sequence[Step]],
) -> Iterator[tuple[Step, ...]]:
    seen = material
    for rule in rules:
        if not rule.applies:
            yield rule.plan(material, config)
            continue
        steps = rule.plan(seen, config)
        now = tuple(step for step in steps if step.extent == "apply")
        rest = steps if seen is material else rule.plan(material, config)
        yield (*now, *(step for step in rest if step.extent != "apply"))
        certain = going(now) if now else ()
        if certain:
            seen = carried_out(seen, certain)


def carried_out(material: GardenInput, steps: Sequence[Step]) -> GardenInput:
    """The memory after the edits of ``steps``, in their order."""
    by_path = {document.path: document for document in (*material.documents, *material.archived)}
    files, former = set(material.files), dict(material.former)
    for edit in (edit for step in steps for edit in step.edits):
        by_path.pop(edit.path, None)
        files.discard(edit.path)
        former.pop(edit.path, None)
        if edit.after_text is None and edit.renames:
            former[edit.path] = edit.doc_id
        if edit.after_text is not None:
            files.add(edit.path)
            document = read_document(edit.path, edit.after_text.encode("utf-8", "surrogatepass")).document
            if document is not None:
                by_path[edit.path] = document
    ordered: list[Document] = sorted(by_path.values(), key=lambda one: (one.id, one.path))
    return material._replace(
        documents=tuple(one for one in ordered if not is_archived(one.path)),
        archived=tuple(one for one in ordered if is_archived(one.path)),
        files=frozenset(files),
        former=former,
    )


_COMPARES: Final = frozenset(("duplicates", "similar"))
"""Rules that look at what every text says."""


def material_of(memory: Memory) -> GardenInput:
    """What the gardening rules look at, from a fresh index."""
    memory.refresh()
    in_use, archived = (
        tuple(sorted(found, key=lambda document: (document.id, document.path)))
        for found in (documents(memory), documents(memory, archived=True))
    )
    today = memory.now().astimezone(UTC).date().isoformat()
    files = frozenset(path for path, _, _ in memory.index.files())
    former = memory.log_index().single_paths()
    return GardenInput(
        in_use,
        archived,
        today,
        files,
        _ours(memory, in_use, today),
        {path: doc_id for path, doc_id in former.items() if path not in files},
        partial(history_of, memory),
    )


def _ours(memory: Memory, in_use: Sequence[Document], today: str) -> frozenset[str]:
    """Of the recaps that may be archived, those that still say what the program itself wrote."""
    asked = {one.id: one for one in old_recaps(in_use, memory.config, today)}
    asked |= {one.id: one for one in in_use if one.kind == "recap" and "" < expiry(one) <= today}
    rows = memory.log_index().naming(sorted(asked)) if asked else []
    by_us = texts_by_us(logged.event for logged in read(memory.log, rows))
    return frozenset(one.id for one in asked.values() if (one.id, one.hash) in by_us)


@contextmanager
def with_signatures(memory: Memory, seen: GardenInput, names: Sequence[str]) -> Iterator[GardenInput]:
    """The material with what was computed of its texts before, where a rule compares them."""
    if not _COMPARES.intersection(names):
        yield seen
        return
    remembered = SignatureCache(memory.layout.signatures_file, measure())
    known = remembered.read()
    learn(seen.documents, known)
    yield seen._replace(signatures=known)
    texts = [key_of(document) for document in seen.documents]
    remembered.save(known, [*texts, memory_key(compared(seen.documents), gates_of(memory.config))])


# Fewer are read in the time it takes to start a process and to bring back what it found.
_MANY: Final = 256


def learn(documents: Sequence[Document], known: MutableMapping[str, bytes]) -> None:
    """Add to ``known`` the profiles of many documents that it does not hold; of a few they are computed
    where they are needed, as are those of a process that failed."""
    missing = not_kept(documents, known)
    if len(missing) < _MANY:
        return
    for document, packed in zip(missing, spread(missing, _packed), strict=True):
        if packed is not None:
            known[key_of(document)] = b64decode(packed)


def _packed(documents: Sequence[Document]) -> list[str]:
    return [b64encode(profile).decode() for profile in computed(documents)]
