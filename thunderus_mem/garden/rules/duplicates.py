"""The gardening rules `duplicates` (documents that make the same statements) and `similar` (near-duplicates).
Pure.

`duplicates` merges exact duplicates without loss. The text of the survivor never changes; the ids and titles
of the others become its aliases, and their tags, links and provenance are added to its own. If a merge could
lose or blur anything, the documents are only reported.

Steps of `similar` always need review. Of two documents with the same content, one gets the blocks that only
the other has; of two that may contradict each other, the newer may supersede the older.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.document import RELATIONS, read_document
from thunderus_mem.document.frontmatter.edit import insert_item, replace_body, set_key
from thunderus_mem.document.paths import archived_path
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
from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Step, moved
from thunderus_mem.garden.similar.compare import CONTRADICTION, FORM, SAME
from thunderus_mem.garden.similar.pairs import Families, Gates, find_similar, links_between
from thunderus_mem.garden.similar.profile import sentences_of
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.garden.similar.pairs import Pair
    from thunderus_mem.store.config import Config

# A body shorter than this depends on its title: documents with different titles are different.
_WORDS_THAT_STAND_ALONE = 12
_NEGATIONS = frozenset(["no", "not", "never", "none", "without", "cannot", "avoid", "except"])
_LISTS_OF_PROVENANCE = ("events", "patches", "commits")
# Other lists cannot be merged, because their meaning is unknown.
_KNOWN_LISTS = frozenset(
    ["tags", "aliases"]
    + [f"provenance.{key}" for key in _LISTS_OF_PROVENANCE]
    + [f"links.{rel}" for rel in RELATIONS]
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


def _is_significant(word: str) -> bool:
    return word in _NEGATIONS or "n't" in word or any(map(str.isdigit, word))


def _titles_disagree(one: str, other: str, words: int) -> bool:
    """Whether two titles give the same text different meanings: a number, a negation, or a short text."""
    folded = fold(one).lower(), fold(other).lower()
    if folded[0] == folded[1]:
        return False
    significant = [sorted(word for word in title.split() if _is_significant(word)) for title in folded]
    return words < _WORDS_THAT_STAND_ALONE or significant[0] != significant[1]


def folder(path: str) -> str:
    """The folder of a POSIX path."""
    return path.rpartition("/")[0]


def file_links(body: str) -> tuple[str, ...]:
    """The files a body links to by relative path, as written, without fragments."""
    links = (reference.target for reference in references(body) if reference.kind == "link")
    return tuple(path for link in links if (path := link.partition("#")[0]))


def obstacle(stays: Document, leaves: Document, words: int, linked_files: Mapping[str, str]) -> str:
    """Why ``leaves`` cannot be merged into ``stays`` automatically; "" if it can.

    ``words`` is the length of their common text, ``linked_files`` maps a file to a document that links to it.
    """
    if _titles_disagree(stays.title, leaves.title, words):
        return f"the titles of `{stays.id}` and `{leaves.id}` may describe different things"
    reason = hindrance(stays, leaves, linked_files)
    if not reason and unite(stays, leaves) is None:
        return _no_room(stays, leaves)
    return reason


def _no_room(stays: Document, leaves: Document) -> str:
    return f"cannot merge: the frontmatter of `{stays.id}` has no place for keys of `{leaves.id}`"


def hindrance(stays: Document, leaves: Document, linked_files: Mapping[str, str]) -> str:
    """Why two documents cannot be merged, regardless of their text and of what the header can store; "" if
    they can.

    ``linked_files`` maps a file to a document that links to it.
    """
    kept, given = stays.data(), leaves.data()
    for key in sorted(given.keys() - _UNITED):
        if key in kept and kept[key] != given[key] and key not in _ORIGIN:
            return f"`{key}` differs between `{stays.id}` and `{leaves.id}`"
    if leaves.path in linked_files:
        return f"`{linked_files[leaves.path]}` links to the file of `{leaves.id}`; link to its id instead"
    if folder(stays.path) != folder(leaves.path) and file_links(leaves.body):
        return f"`{leaves.id}` is in another folder; its relative links would break"
    return ""


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
    for link in leaves.links:
        if link.target not in (stays.id, leaves.id):
            text = insert_item(text, ("links", link.rel), link.target)
    places = {cited.anchor.place for cited in anchors_in(stays.header, stays.header_line)}
    for cited in anchors_in(leaves.header, leaves.header_line):
        if cited.anchor.place not in places:
            places.add(cited.anchor.place)
            text = insert_item(text, ("anchors",), cited.item)
    text = insert_item(text, ("links", "duplicates"), leaves.id)
    own = stays.data()
    for key, value in leaves.data().items():
        if key not in _UNITED and own.get(key) != value:
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
        own.get(key) == value or _holds(kept, _place(key, own, leaves.id), value)
        for key, value in leaves.data().items()
        if key not in _UNITED
    )
    return after if whole and leaves.id in after.aliases and _anchors_held(leaves, after) else None


KEEP_NEWEST: Final = "keep_newest"
FLAG_FOR_REVIEW: Final = "flag_for_review"

# Core documents are written by hand, decisions and recaps are records of their time: these are never merged.
MERGEABLE_KINDS: Final = frozenset({"fact", "playbook"})


@dataclass(frozen=True, slots=True)
class _Member:
    document: Document
    said: tuple[Statement, ...]
    words: int

    @property
    def id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return text_digest(self.document.title, self.said)


def _member(document: Document) -> _Member:
    said = statements(document.body, document.title)
    return _Member(document, said, sum(len(statement.text.split()) for statement in said))


def by_strategy(documents: Iterable[Document], strategy: str, logged: Mapping[str, int]) -> list[Document]:
    """The documents, the survivor first.

    An invalid time counts as created last, or as never updated. Equal times are ordered as ``logged`` (id →
    place of its creating event in the log), then by id.
    """

    def age(document: Document) -> tuple[bool, str, int, str]:
        created = utc_key(document.created)
        return not created, created, logged.get(document.id, len(logged)), document.id

    by_age = sorted(documents, key=age)
    if strategy == KEEP_NEWEST:
        by_id = sorted(by_age, key=lambda one: one.id)
        stays = max(by_id, key=lambda one: (utc_key(one.updated), logged.get(one.id, -1)))
        by_age.remove(stays)
        by_age.insert(0, stays)
    return by_age


def _choose(members: Sequence[_Member], strategy: str, logged: Mapping[str, int]) -> list[_Member]:
    """The members, the survivor first."""
    of = {member.document.path: member for member in members}
    return [of[document.path] for document in by_strategy((m.document for m in members), strategy, logged)]


def _merge_step(stays: Document, said: str, merged: Document, gone: Sequence[_Member]) -> Step:
    edits = [DocumentEdit(stays.path, stays.id, stays.hash, merged.text)]
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
        texts=((stays.id, said), *((member.id, member.text) for member in gone)),
    )


def _merge_family(
    family: Sequence[_Member], links: Mapping[str, str]
) -> tuple[list[Step], list[_Member], list[str]]:
    """Steps for documents of one kind and text, survivor first; the documents left; why they were not
    merged."""
    steps: list[Step] = []
    left: list[_Member] = []
    waiting = list(family)
    while waiting:
        first, *others = waiting
        merged, gone, waiting = first.document, [], []
        for member in others:
            document = member.document
            after = None
            if not obstacle(merged, document, member.words, links):
                after = unite(merged, document)
            if after is None:
                waiting.append(member)
            else:
                merged = after
                gone.append(member)
        if gone:
            steps.append(_merge_step(first.document, first.text, merged, gone))
        left.append(_Member(merged, first.said, first.words))
    reasons = [obstacle(left[0].document, m.document, m.words, links) for m in left[1:]]
    return steps, left, reasons


def _families(group: Sequence[_Member], strategy: str, logged: Mapping[str, int]) -> list[list[_Member]]:
    """A group with the same text, split by kind (and by order where it matters), each with its survivor
    first."""
    families: dict[tuple[str, str], list[_Member]] = {}
    for member in group:
        kind = member.document.kind
        order = digest(member.said) if kind in ORDERED_KINDS else ""
        families.setdefault((kind, order), []).append(member)
    return [_choose(families[key], strategy, logged) for key in sorted(families)]


def _plan_group(
    group: Sequence[_Member], config: Config, links: Mapping[str, str], logged: Mapping[str, int]
) -> list[Step]:
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
    for family in _families(sound, config.duplicates_strategy, logged):
        if family[0].document.kind not in merged_kinds:
            remaining += family
            continue
        merges, left, reasons = _merge_family(family, links)
        steps += merges
        remaining += left
        obstacles += reasons
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


def linked_files(documents: Iterable[Document]) -> dict[str, str]:
    """File path → the first id of a document that links to that file."""
    linked: dict[str, str] = {}
    for document in sorted(documents, key=lambda each: each.id):
        if "](" not in document.text and "]: " not in document.text:
            continue
        for link in file_links(document.body):
            path = posixpath.normpath(posixpath.join(folder(document.path), link))
            linked.setdefault(path, document.id)
    return linked


def plan_duplicates(
    documents: Iterable[Document],
    config: Config,
    gists: Mapping[str, str] = MappingProxyType({}),
    logged: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Step, ...]:
    """Steps that merge exact duplicates, and reports of those that need a decision.

    ``documents`` in any order; ``duplicates_strategy`` selects the survivor: the oldest (``merge_to_first``),
    the one updated last (``keep_newest``), or no merge at all (``flag_for_review``). Facts and playbooks
    among ``duplicates_kinds`` are merged within their kind; core documents, decisions, recaps and pairs of
    different kinds are only reported. Ids claimed by two files are left to lint. ``gists`` are those already
    computed (see `statements.gist`), by path; ``logged`` orders documents created at the same time (see
    `by_strategy`).
    """
    ordered = sorted(documents, key=lambda document: (document.id, document.path))
    claims = Counter(document.id for document in ordered)
    groups: dict[str, list[Document]] = {}
    for document in ordered:
        if claims[document.id] == 1 and (digest := _gist(document, gists)):
            groups.setdefault(digest, []).append(document)
    shared = [[_member(document) for document in group] for group in groups.values() if len(group) > 1]
    links = linked_files(ordered) if shared else {}
    steps = [step for group in shared for step in _plan_group(group, config, links, logged)]
    return tuple(sorted(steps, key=lambda step: (step.action == REPORT, step.targets)))


def _gist(document: Document, gists: Mapping[str, str]) -> str:
    known = gists.get(document.path)
    return gist(statements(document.body, document.title)) if known is None else known


# The rule `similar`

_FENCE: Final = lazy_pattern(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = lazy_pattern(r"(#{1,6})([ \t].*)")
_DEEPEST = 6


def blocks(body: str) -> list[str]:
    """A body split at its blank lines; fenced blocks and comments are not split."""
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
    """The blocks of ``leaves`` with a sentence that ``stays`` does not have, each under its headings."""
    known = {sentence.plain for sentence in sentences_of(stays.body)}
    lines = "\n".join(["", *stays.body.splitlines(), ""])
    kept: list[str] = []
    headings: list[str] = []
    for block in blocks(leaves.body):
        if heading := _HEADING.match(block):
            level = len(heading[1])
            headings = [one for one in headings if len(one) - len(one.lstrip("#")) < level]
            headings.append(block)
            continue
        said = {sentence.plain for sentence in sentences_of(block)}
        if f"\n{block}\n" in lines or (said and said <= known):
            continue
        kept += [_lowered(one) for one in headings]
        headings = []
        kept.append(block)
    return kept


def _lowered(heading: str) -> str:
    marks = len(heading) - len(heading.lstrip("#"))
    return "#" * min(max(marks + 1, 3), _DEEPEST) + heading[marks:]


def joined(stays: Document, leaves: Document) -> Document | None:
    """``stays`` with the merged header (see `unite`), and with the blocks that only ``leaves`` has under a
    heading of their own; ``None`` if the header cannot store everything."""
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


RULE: Final = "similar"
JOIN: Final = "join"
SUPERSEDE: Final = "supersede"
_SETTLED: Final = frozenset(("supersedes", "duplicates"))


def plan_similar(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Proposals and reports about near-duplicates and paraphrases.

    *same* proposes to merge the two, *possible contradiction* that the newer supersedes the older; documents
    of the same form and related ones are only reported, as is everything if ``duplicates_strategy`` is
    ``flag_for_review``. Superseded documents, and pairs already linked as superseded or duplicate, are
    skipped.
    """
    settled = links_between(material.documents, _SETTLED)
    documents = compared(material.documents)
    by_id = {document.id: document for document in documents}
    joined_pairs = {frozenset((source, target)) for source, _, target in settled}
    pairs = [
        pair
        for pair in find_similar(documents, material.signatures, gates_of(config))
        if frozenset((pair.first, pair.second)) not in joined_pairs
    ]
    links = linked_files(documents) if any(pair.label == SAME for pair in pairs) else {}
    steps = [_step(pair, by_id, config, links, material.logged) for pair in pairs if pair.label != FORM]
    return (*steps, *_forms([pair for pair in pairs if pair.label == FORM], by_id))


def gates_of(config: Config) -> Gates:
    """The similarity thresholds, from the settings (in percent)."""
    percent = config.duplicates_near, config.duplicates_contained, config.duplicates_restated
    return Gates(*(one / 100 for one in percent))


def compared(documents: Sequence[Document]) -> list[Document]:
    """The documents to compare: those that are not superseded."""
    links = links_between(documents, _SETTLED)
    replaced = {target for source, rel, target in links if rel == "supersedes" and source != target}
    return [document for document in documents if document.id not in replaced]


def _texts(documents: Iterable[Document]) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, text_digest(one.title, statements(one.body, one.title))) for one in documents)


def _step(
    pair: Pair,
    by_id: Mapping[str, Document],
    config: Config,
    links: Mapping[str, str],
    logged: Mapping[str, int],
) -> Step:
    two = by_id[pair.first], by_id[pair.second]
    if pair.label == SAME:
        return _same(pair, two, config, links, logged)
    if pair.label == CONTRADICTION:
        return _contradiction(pair, two, config, logged)
    return _report_pair(
        pair, two, f"`{pair.first}` and `{pair.second}` overlap; decide whether to merge them"
    )


def _report_pair(pair: Pair, documents: Sequence[Document], why: str, obstacle: str = "") -> Step:
    """A pair that is only reported."""
    return Step(
        REPORT,
        why,
        (*pair.evidence, *([obstacle] if obstacle else [])),
        tuple(document.id for document in documents),
        rule=RULE,
        reach="report",
        label=pair.label,
        texts=_texts(documents),
    )


def archived(document: Document) -> tuple[DocumentEdit, ...]:
    """The edits that archive the file of a document whose content was merged into another."""
    return moved(document, archived_path(document.path))


def _same(
    pair: Pair, two: Sequence[Document], config: Config, links: Mapping[str, str], logged: Mapping[str, int]
) -> Step:
    stays, leaves = by_strategy(two, config.duplicates_strategy, logged)
    why = f"`{stays.id}` and `{leaves.id}` say the same thing"
    reason = _obstacle(stays, leaves, config, links)
    after = None if reason else joined(stays, leaves)
    if after is None:
        obstacle = reason or _no_room(stays, leaves)
        return _report_pair(pair, (stays, leaves), f"{why}; decide which one to keep", obstacle)
    return Step(
        JOIN,
        f"{why}; `{leaves.id}` is merged into `{stays.id}`",
        pair.evidence,
        (stays.id, leaves.id),
        (DocumentEdit(stays.path, stays.id, stays.hash, after.text), *archived(leaves)),
        rule=RULE,
        reach="propose",
        label=pair.label,
        texts=_texts((stays, leaves)),
    )


def _obstacle(stays: Document, leaves: Document, config: Config, links: Mapping[str, str]) -> str:
    """Why a merge of two documents with the same content cannot be proposed; "" if it can."""
    if config.duplicates_strategy == FLAG_FOR_REVIEW:
        return "`duplicates.strategy` is `flag_for_review`"
    merged = MERGEABLE_KINDS & frozenset(config.duplicates_kinds)
    if stays.kind != leaves.kind or stays.kind not in merged:
        kinds = stays.kind if stays.kind == leaves.kind else f"{stays.kind} and {leaves.kind}"
        return f"documents of kind {kinds} are not merged"
    return malformation(stays) or malformation(leaves) or hindrance(stays, leaves, links)


def _text_age(document: Document, logged: Mapping[str, int]) -> tuple[str, int]:
    """When a text was last changed: the time, and the place in the log (-1 if unknown)."""
    updated = utc_key(document.updated)
    unchanged = updated == utc_key(document.created)
    return updated, logged.get(document.id, -1) if unchanged else -1


def _contradiction(pair: Pair, two: Sequence[Document], config: Config, logged: Mapping[str, int]) -> Step:
    older, newer = sorted(two, key=lambda document: (*_text_age(document, logged), document.id))
    why = f"`{newer.id}` and `{older.id}` may contradict each other"
    text = ""
    (since, first), (until, last) = _text_age(older, logged), _text_age(newer, logged)
    known = since and (since != until or -1 < first < last)
    if known and config.duplicates_strategy != FLAG_FOR_REVIEW:
        try:
            text = insert_item(newer.text, ("links", "supersedes"), older.id)
        except InvalidDocument:
            text = ""
    if not text:
        return _report_pair(pair, (newer, older), f"{why}; decide which one is correct")
    return Step(
        SUPERSEDE,
        f"{why}; this step marks `{older.id}`, the older one, as superseded",
        pair.evidence,
        (newer.id, older.id),
        (DocumentEdit(newer.path, newer.id, newer.hash, text),),
        rule=RULE,
        reach="propose",
        label=pair.label,
        texts=_texts((newer, older)),
    )


def _forms(pairs: Sequence[Pair], by_id: Mapping[str, Document]) -> list[Step]:
    """One report for each form (shared template), with all its documents."""
    families = Families()
    for pair in pairs:
        families.join(pair.first, pair.second)
    return [_form([by_id[name] for name in members]) for members in families.all()]


def _form(members: Sequence[Document]) -> Step:
    return Step(
        REPORT,
        f"{len(members)} documents share a template but differ in content; not duplicates",
        tuple(f"`{one.id}`: {one.path}" for one in members),
        tuple(one.id for one in members),
        rule=RULE,
        reach="report",
        label=FORM,
        texts=_texts(members),
    )
