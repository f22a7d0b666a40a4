"""The gardening rule `duplicates`: merge documents with one subject that make the same statements. Pure.

The text of the survivor never changes; the ids of the others become its aliases, and their tags,
links, provenance and other keys are added to its own. Where both have different values for a key, or a merge
could lose or blur anything else, the documents are only reported.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.authoring.sources import stem_of
from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.document import RELATIONS, read_document
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, remove_key, set_key
from thunderus_mem.document.frontmatter.write import PROVENANCE
from thunderus_mem.document.ids import slug
from thunderus_mem.document.references import references
from thunderus_mem.document.statements import (
    ORDERED_KINDS,
    Statement,
    digest,
    fold,
    gist,
    statements,
    text_digest,
)
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Step
from thunderus_mem.garden.rules.origins import role, shared_names, source_path, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.store.config import Config

# Other lists of provenance and links cannot be merged, because their meaning is unknown.
_KNOWN_LISTS = frozenset(
    ["tags", "aliases"] + [f"provenance.{key}" for key in PROVENANCE] + [f"links.{rel}" for rel in RELATIONS]
)
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")
_IDENTITY = frozenset({"id", "title", "kind", "created", "updated", "verification"})
# These describe the origin of a text, not its content: if they differ, both values are kept.
_ORIGIN = frozenset(
    ["author", "agent", "source", "source_type", "run_id", "episode_id", "sequence_number", "metadata"]
)
_UNITED = _IDENTITY | {"tags", "aliases", "links", "provenance", "anchors"}


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def malformation(document: Document) -> str:
    """Why this document cannot be edited automatically; "" if its header and text are valid."""
    data = document.data()
    provenance = data.get("provenance")
    links = data.get("links") or {}
    lists = {"tags": data.get("tags"), "aliases": data.get("aliases") or []}
    if isinstance(provenance, dict):
        lists |= {f"provenance.{key}": items or [] for key, items in provenance.items()}
    else:
        lists["provenance"] = provenance
    if isinstance(links, dict):
        lists |= {f"links.{rel}": items or [] for rel, items in links.items()}
    else:
        lists["links"] = links
    keys = [key for key, value in lists.items() if not _is_list_of_text(value) or key not in _KNOWN_LISTS]
    keys += [key for key in ("created", "updated") if not utc_key(str(data.get(key, "")))]
    if keys:
        return f"cannot merge the frontmatter of `{document.id}`: unsupported `{keys[0]}`"
    if any(line.startswith(_CONFLICT_MARKS) for line in document.text.splitlines()):
        return f"`{document.id}` contains conflict markers"
    return ""


def folder(path: str) -> str:
    """The folder of a POSIX path."""
    return path.rpartition("/")[0]


def file_links(body: str) -> tuple[str, ...]:
    """The files a body links to by relative path, as written, without fragments."""
    links = (reference.target for reference in references(body) if reference.kind == "link")
    return tuple(path for link in links if (path := link.partition("#")[0]))


def merged(stays: Document, leaves: Document, linked: Mapping[str, str]) -> Document | str:
    """``stays`` with the header of ``leaves`` merged into its own, or why they cannot be merged, regardless
    of title and text. ``linked`` maps a file to a document that links to it."""
    if leaves.path in linked:
        return f"`{linked[leaves.path]}` links to the file of `{leaves.id}`; link to its id instead"
    if folder(stays.path) != folder(leaves.path) and file_links(leaves.body):
        return f"`{leaves.id}` is in another folder; its relative links would break"
    reason = f"cannot merge: the frontmatter of `{stays.id}` has no place for keys of `{leaves.id}`"
    return unite(stays, leaves) or reason


def conflicts(stays: Document, leaves: Document) -> tuple[str, ...]:
    """A line with both values for each key that the two documents have with different values.

    Not for lists, which are united, nor for keys about the origin of a text, of which both values are kept.
    """
    kept, given = stays.data(), leaves.data()
    return tuple(
        f"`{key}`: {_shown(kept[key])} in `{stays.id}`, {_shown(given[key])} in `{leaves.id}`"
        for key in sorted(kept.keys() & given.keys() - _UNITED - _ORIGIN)
        if kept[key] != given[key] and not _are_lists(kept[key], given[key])
    )


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _are_lists(one: Any, other: Any) -> bool:
    return _is_list_of_text(one) and _is_list_of_text(other)


def _names(document: Document) -> set[str]:
    """What links call a document by."""
    return {document.id, *document.aliases, posixpath.basename(document.path).removesuffix(".md")}


def _relations(document: Document) -> dict[str, set[str]]:
    """The targets of each relation to other documents; `duplicates` also has the document's own aliases."""
    found: dict[str, set[str]] = {}
    for link in document.links:
        if link.rel != "duplicates":
            found.setdefault(link.rel, set()).add(link.target)
    return found


def _united_text(stays: Document, leaves: Document) -> str:
    text = stays.text
    known = {stays.id, *stays.aliases}
    said = fold(leaves.title).lower() in {fold(name).lower() for name in (stays.title, *stays.aliases)}
    for alias in (leaves.id, *([] if said else [leaves.title]), *leaves.aliases):
        if alias not in known:
            known.add(alias)
            text = insert_item(text, ("aliases",), alias)
    for tag in leaves.tags:
        text = insert_item(text, ("tags",), tag)
    for key, items in (("events", leaves.events), ("patches", leaves.patches), ("commits", leaves.commits)):
        for item in items:
            text = insert_item(text, ("provenance", key), item)
    for rel, targets in _relations(stays).items():
        for target in targets & _names(leaves):
            text = remove_item(text, ("links", rel), target)
        if targets <= _names(leaves):
            text = remove_key(text, ("links", rel))
    for link in leaves.links:
        if link.target not in _names(stays) | _names(leaves):
            text = insert_item(text, ("links", link.rel), link.target)
    places = {cited.anchor.place for cited in anchors_in(stays.header, stays.header_line)}
    for cited in anchors_in(leaves.header, leaves.header_line):
        if cited.anchor.place not in places:
            places.add(cited.anchor.place)
            text = insert_item(text, ("anchors",), cited.item)
    text = insert_item(text, ("links", "duplicates"), leaves.id)
    own = stays.data()
    for key, value in leaves.data().items():
        if key in _UNITED or own.get(key) == value:
            continue
        if _are_lists(own.get(key), value):
            for item in value:
                text = insert_item(text, (key,), item)
        else:
            text = set_key(text, _place(key, own, leaves.id), value)
    return text


def _place(key: str, own: dict[str, Any], other_id: str) -> tuple[str, ...]:
    """The key under which the survivor stores a key of the other: the same, or below `metadata` if taken."""
    apart = key in own or key == "metadata"
    return ("metadata", "merged", other_id, key) if apart else (key,)


def _holds(data: Any, place: tuple[str, ...], value: Any) -> bool:
    for part in place:
        data = data.get(part) if isinstance(data, dict) else None
    return bool(data == value)


def _anchors_held(leaves: Document, after: Document) -> bool:
    """Whether ``after`` contains every anchor of ``leaves``, with its fingerprint."""
    held = {(one.anchor.place, one.anchor.fingerprint) for one in anchors_in(after.header, after.header_line)}
    anchors = anchors_in(leaves.header, leaves.header_line)
    given = leaves.data().get("anchors") or []
    readable = not isinstance(given, list) or len(given) == len(anchors)
    return readable and held.issuperset((one.anchor.place, one.anchor.fingerprint) for one in anchors)


def unite(stays: Document, leaves: Document) -> Document | None:
    """``stays`` with everything from the header of ``leaves`` that its own lacks; its body is unchanged.

    ``None`` if the header cannot store all of it: the result is parsed and compared before it is returned.
    """
    try:
        after = read_document(stays.path, _united_text(stays, leaves).encode()).document
    except InvalidDocument:
        return None
    if after is None or after.body != stays.body:
        return None
    own, kept = stays.data(), after.data()
    whole = all(
        own.get(key) == value
        or (_are_lists(own.get(key), value) and set(value) <= set(kept[key]))
        or _holds(kept, _place(key, own, leaves.id), value)
        for key, value in leaves.data().items()
        if key not in _UNITED
    )
    return after if whole and leaves.id in after.aliases and _anchors_held(leaves, after) else None


KEEP_NEWEST: Final = "keep_newest"
FLAG_FOR_REVIEW: Final = "flag_for_review"

# How many words an imported text must have to be one that only a copy repeats.
_FEWEST_IMPORTED: Final = 20
# Core documents are written by hand, decisions and recaps are records of their time: these are never merged.
MERGEABLE_KINDS: Final = frozenset({"fact", "playbook"})


@dataclass(frozen=True, slots=True)
class _Member:
    document: Document
    said: tuple[Statement, ...]

    @property
    def id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return text_digest(self.document.title, self.said)


def _member(document: Document) -> _Member:
    return _Member(document, statements(document.body, document.title))


def _survivor_first(
    members: Iterable[_Member], strategy: str, logged: Mapping[str, int], linked: Mapping[str, int]
) -> list[_Member]:
    """The members, those that survive others first.

    The oldest are first, or with `KEEP_NEWEST` those updated last. Of documents created at the same time, the
    one updated last is first, then the one with most links to it (``linked``), then the order of ``logged``
    (id → place of its creating event in the log), then of the ids. An invalid time counts as created last, or
    as never updated.
    """
    newest = strategy == KEEP_NEWEST
    unknown = -1 if newest else len(logged)
    ordered = sorted(members, key=lambda one: one.id)
    ordered.sort(key=lambda one: logged.get(one.id, unknown), reverse=newest)
    ordered.sort(key=lambda one: (utc_key(one.document.updated), linked.get(one.id, 0)), reverse=True)
    if not newest:
        ordered.sort(key=lambda one: (not (created := utc_key(one.document.created)), created))
    return ordered


def _merge_step(first: _Member, after: Document, gone: Sequence[_Member]) -> Step:
    """The merge of ``gone`` into the first."""
    stays = first.document
    edits = [DocumentEdit(stays.path, stays.id, stays.hash, after.text)]
    edits += [DocumentEdit(m.document.path, m.id, m.document.hash, None) for m in gone]
    ids = ", ".join(f"`{member.id}`" for member in gone)
    return Step(
        MERGE_DUPLICATES,
        f"{ids} {'duplicates' if len(gone) == 1 else 'duplicate'} `{stays.id}`",
        tuple(
            f"`{m.id}` ({m.document.path}) makes the same statements as `{stays.id}` ({stays.path})"
            for m in gone
        ),
        (stays.id, *(member.id for member in gone)),
        tuple(edits),
        reach="apply",
        texts=((stays.id, first.text), *((member.id, member.text) for member in gone)),
    )


def _merge_family(
    family: Sequence[_Member], links: Mapping[str, str]
) -> tuple[list[Step], list[_Member], list[str]]:
    """Steps for documents of one kind, title and text, survivor first; the documents left; why they were not
    merged."""
    steps: list[Step] = []
    left: list[_Member] = []
    waiting = list(family)
    while waiting:
        first, *others = waiting
        stays, gone, waiting = first.document, [], []
        for member in others:
            document = member.document
            after = "" if conflicts(stays, document) else merged(stays, document, links)
            if isinstance(after, str):
                waiting.append(member)
            else:
                stays = after
                gone.append(member)
        if gone:
            steps.append(_merge_step(first, stays, gone))
        left.append(_Member(stays, first.said))
    first, *others = left
    found = [merged(first.document, member.document, links) for member in others]
    reasons = [one for one in found if isinstance(one, str)]
    # Of two values of a key, such as a failed and a successful run, only a person knows which one holds.
    reasons += [line for member in others for line in conflicts(first.document, member.document)]
    return steps, left, reasons


def _families(group: Sequence[_Member]) -> list[list[_Member]]:
    """A group with the same text, split by kind, and by order where it matters."""
    families: dict[tuple[str, str], list[_Member]] = {}
    for member in group:
        kind = member.document.kind
        order = digest(member.said) if kind in ORDERED_KINDS else ""
        families.setdefault((kind, order), []).append(member)
    return [families[key] for key in sorted(families)]


def _plan_group(group: Sequence[_Member], config: Config, links: Mapping[str, str]) -> list[Step]:
    """The steps for documents of one text, those that survive others first."""
    flagged = config.duplicates_strategy == FLAG_FOR_REVIEW
    merged_kinds = frozenset() if flagged else MERGEABLE_KINDS & frozenset(config.duplicates_kinds)
    steps: list[Step] = []
    remaining: list[_Member] = []
    obstacles: list[str] = []
    sound = []
    for member in group:
        if reason := malformation(member.document):
            remaining.append(member)
            obstacles.append(reason)
        else:
            sound.append(member)
    for family in _families(sound):
        if family[0].document.kind not in merged_kinds:
            remaining += family
            continue
        subjects = _by_subject(family)
        for namesakes in subjects:
            merges, left, reasons = _merge_family(namesakes, links)
            steps += merges
            remaining += left
            obstacles += reasons
        first, *others = (namesakes[0].id for namesakes in subjects)
        obstacles += [
            f"the titles or files of `{first}` and `{other}` may describe different things"
            for other in others
        ]
    if len(remaining) > 1:
        steps.append(_report(remaining, obstacles))
    return steps


def _report(members: Sequence[_Member], obstacles: Sequence[str]) -> Step:
    ordered = sorted(members, key=lambda member: member.id)
    lines = [f"`{m.id}`: {m.document.path}" for m in ordered]
    ids = [m.id for m in ordered]
    return Step(
        REPORT,
        f"{', '.join(f'`{i}`' for i in ids)} make the same statements; decide which one to keep",
        (*lines, *sorted(obstacles)),
        tuple(ids),
        texts=tuple((m.id, m.text) for m in ordered),
    )


def _title(document: Document | Profile) -> str:
    return fold(document.title).lower()


def _by_subject(family: Sequence[_Member]) -> list[list[_Member]]:
    """The members by title; those imported from files also by file name if none of them has the title: a
    heading of a form, such as `Definition`, is the title of many files. Those from several folders also by
    text, to the byte, short texts alone: one may be an abandoned copy, or a list of values."""
    by_title: dict[str, list[_Member]] = {}
    for member in family:
        by_title.setdefault(_title(member.document), []).append(member)
    groups: list[list[_Member]] = []
    for title, namesakes in by_title.items():
        paths = [member.document.imported_from for member in namesakes]
        if not all(paths):
            groups.append(namesakes)
            continue
        is_named = any(slug(title) in slug(stem_of(path)) for path in paths)
        is_one_folder = len(set(map(folder, paths))) == 1
        copies: dict[tuple[str, ...], list[_Member]] = {}
        for path, member in zip(paths, namesakes, strict=True):
            body = member.document.body
            text = () if is_one_folder else (member.id,) if _is_short(body) else tuple(body.splitlines())
            copies.setdefault(("" if is_named else stem_of(path), *text), []).append(member)
        groups += copies.values()
    return groups


def _is_short(body: str) -> bool:
    """Whether a text has so few words that two people may have written the same."""
    return len(body.split()) < _FEWEST_IMPORTED


def _sharing(documents: Iterable[Profile], value: Callable[[Profile], Hashable]) -> list[Profile]:
    """The documents that have a value in common with another, in groups."""
    groups: dict[Hashable, list[Profile]] = {}
    for document in documents:
        groups.setdefault(value(document), []).append(document)
    return [one for some in groups.values() if len(some) > 1 for one in some]


def plan_duplicates(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Steps that merge exact duplicates, and reports of those that need a decision.

    ``duplicates_strategy`` selects the survivor: the oldest (``merge_to_first``), the one updated last
    (``keep_newest``), or no merge at all (``flag_for_review``). Facts and playbooks among
    ``duplicates_kinds`` are merged within their kind. Core documents, decisions, recaps, pairs of different
    kinds and documents with different titles are only reported, with ``material.verbose`` or
    ``flag_for_review``. Ids claimed by two files are left to lint. ``material.logged`` orders documents
    created at the same time (see `_survivor_first`). Files with a role in their folder are only compared
    within it.
    """
    claims = Counter(document.id for document in material.documents)
    known = (one for one in material.documents if claims[one.id] == 1)
    alike = _sharing(known, lambda one: one.traits.letters)
    reports = material.verbose or config.duplicates_strategy == FLAG_FOR_REVIEW
    if not reports:
        alike = _sharing(alike, lambda one: (one.traits.letters, _title(one)))
    groups: dict[tuple[str, ...], list[_Member]] = {}
    shared_by = shared_names(map(source_path, material.documents)) if alike else frozenset()
    for document in alike:
        member = _member(material.read(document))
        if text := gist(member.said):
            place = role(source_path(document), member.document.body, shared_by)
            groups.setdefault((text, place, *tree(document)), []).append(member)
    shared = [group for group in groups.values() if len(group) > 1]
    links = material.names.linked_files if shared else {}
    linked = Counter(link.target for document in material.documents for link in document.links)
    steps = [
        step
        for group in shared
        for step in _plan_group(
            _survivor_first(group, config.duplicates_strategy, material.logged, linked), config, links
        )
        if reports or step.action != REPORT
    ]
    return tuple(sorted(steps, key=lambda step: (step.action == REPORT, step.targets)))
