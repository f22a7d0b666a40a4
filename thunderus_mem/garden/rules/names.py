"""The gardening rules for names: repair dead `links`, unify the spelling of `tags`, and renumber decisions
that share a number (`numbers`). Pure.

A dead link is repaired if the log or an alias identifies its target, proposed if only the name is similar,
and reported otherwise. Links that are not between documents are left to lint.

Spellings of a tag that differ only in case or in ``_``, ``-`` and spaces between words are one tag, and the
configuration can define aliases; both are unified without review, all documents in one step. A tag with a
capital inside a word (``ReAct``) is a name, whose case counts. A tag that an import made from a folder says
nothing about how the authors write it. Singular and plural often mean different things, so they are only
reported, on request.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import content_hash
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.edit import rename_item
from thunderus_mem.document.ids import file_stem, fold_key, slug
from thunderus_mem.document.paths import MEMORY, archived_path
from thunderus_mem.document.profile import tag_key
from thunderus_mem.document.references import (
    is_bracketed,
    link_to,
    linked_path,
    may_be_name,
    references,
    relinked,
    wiki_to,
)
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import REPORT, DocumentEdit, DocumentNames, Step, moved
from thunderus_mem.garden.rules.origins import is_aside
from thunderus_mem.lint.rules.identity import decision_number, renumbered
from thunderus_mem.log.new_event import MOST_DOCUMENTS
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set

    from thunderus_mem.document.document import Document, Link
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.document.references import Reference
    from thunderus_mem.garden.plan import GardenInput, Reach
    from thunderus_mem.store.config import Config

# Links

LINKS: Final = "links"
_MOST_LINES: Final = 100


class _Dead(NamedTuple):
    """A dead link: its line and target; ``new`` is the target to write to make it point to ``doc_id``, "" if
    unknown. It is an item of a ``relation`` or a ``reference`` in the text."""

    line: int
    said: str
    new: str = ""
    doc_id: str = ""
    reason: str = ""
    reach: Reach = "report"
    relation: str = ""
    reference: Reference | None = None


class _Found(NamedTuple):
    """The document that a dead link probably means, and why."""

    document: Profile
    reason: str
    reach: Reach


def plan_links(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Steps that repair links of documents in use, one for each document and reach; one report of the links
    without a known target, and with ``links.orphans`` one of documents without connections."""
    where = _Where(material)
    steps: list[Step] = []
    nowhere: list[tuple[Document, _Dead]] = []
    for profile in material.documents:
        if not where.has_dead(profile):
            continue
        document = material.read(profile)
        dead = list(where.dead(document))
        nowhere += [(document, one) for one in dead if not one.new]
        for reach in ("apply", "propose"):
            step = _repaired(document, [one for one in dead if one.reach == reach], reach)
            steps += [step] if step is not None else []
    steps += [_lost(nowhere)] if nowhere else []
    if config.links_orphans:
        steps += _orphans(material, where.names)
    return tuple(steps)


class _Where:
    """Resolves links to current and former targets."""

    def __init__(self, material: GardenInput) -> None:
        self.names = material.names
        self._material = material
        self._files = material.files
        self._stems: dict[str, list[Profile]] = {}
        self._named_before: dict[str, list[Profile]] = {}
        self._former_stems: dict[str, set[str]] = {}
        for path, doc_id in material.former.items():
            stem = posixpath.basename(path).removesuffix(".md")
            self._former_stems.setdefault(fold_key(stem), set()).add(doc_id)
        for document in material.documents:
            folder, name = posixpath.split(document.path)
            self._stems.setdefault(fold_key(name), []).append(document)
            for alias in document.aliases:
                path = posixpath.join(folder, f"{file_stem(alias, document.kind)}.md")
                self._named_before.setdefault(path, []).append(document)

    def has_dead(self, document: Profile) -> bool:
        """Whether a document may have dead links; `dead` lists them."""
        return any(
            self.names.resolve(link.target) is None and link.target not in document.aliases
            for link in document.links
        ) or (
            not document.imported_from
            and (
                any(self._is_unknown(target) for target in document.traits.wiki_links)
                or any(
                    self._is_dead(linked_path(document.path, target)) for target in document.traits.file_links
                )
            )
        )

    def dead(self, document: Document) -> Iterator[_Dead]:
        """The dead links of a document; links in the body of an imported document are not checked."""
        for link in document.links:
            if self.names.resolve(link.target) is None and link.target not in document.aliases:
                shown = _Dead(_line_of(document, link), link.target, relation=link.rel)
                yield self._with_target(self._named(link.target), shown, document)
        if document.imported_from:
            return
        lines = document.body.split("\n")
        for reference in references(document.body):
            line = document.body_line + reference.line - 1
            shown = _Dead(line, reference.target, reference=reference)
            if reference.kind == "wiki":
                name = reference.target.partition("#")[0].strip()
                if self._is_unknown(name) and not is_bracketed(lines[reference.line - 1], reference.column):
                    yield self._with_target(self._named(name), shown, document)
            elif self._is_dead(path := linked_path(document.path, reference.target)):
                yield self._with_target(self._was_at(path), shown, document)

    def _is_unknown(self, target: str) -> bool:
        """Whether a wiki link names no document."""
        name = target.partition("#")[0].strip()
        return bool(name) and self.names.resolve(name) is None and may_be_name(name)

    def _is_dead(self, path: str) -> bool:
        """Whether a path in the memory folders leads to no document or file."""
        if not (path.startswith(MEMORY) and path.endswith(".md")) or "\\" in path:
            return False
        return (
            self.names.at(path) is None and path not in self._files and archived_path(path) not in self._files
        )

    def _named(self, name: str) -> _Found | None:
        """The document that a name probably means."""
        return self._alike(name) or self._was_called(name)

    def _alike(self, name: str) -> _Found | None:
        """The document whose id differs only in case."""
        ids = self.names.by_folded_id.get(fold_key(name), ())
        if len(ids) != 1:
            return None
        return _Found(self.names.ids[ids[0]], "the ids differ only in case", "propose")

    def _present(self, former: str) -> Profile | None:
        """The document with an id from the log, which may be an alias now; ``None`` if it no longer exists or
        the id is ambiguous."""
        known = self.names.ids.get(self.names.resolve(former) or "") if former else None
        by_name = known is not None and former in (known.id, *known.aliases)
        return known if known is not None and by_name and known.id not in self.names.claimed_twice else None

    def _was_called(self, name: str) -> _Found | None:
        """The document that once had a file of this name."""
        ids = self._former_stems.get(fold_key(name.removesuffix(".md")), set())
        was = self._present(next(iter(ids))) if len(ids) == 1 else None
        if was is None:
            return None
        return _Found(was, f"the former file name of `{was.id}`", "apply")

    def _was_at(self, path: str) -> _Found | None:
        """The document that was once at a path that no longer exists."""
        was = self._present(self._material.former.get(path, ""))
        if was is not None:
            return _Found(was, f"the former path of `{was.id}`", "apply")
        named = self._named_before.get(path, [])
        if len(named) == 1 and named[0].id not in self.names.claimed_twice:
            return _Found(named[0], f"an alias of `{named[0].id}` matches this file name", "apply")
        alike = self.names.by_folded_path.get(fold_key(path), ())
        if len(alike) == 1 and (document := self.names.at(alike[0])) is not None:
            return _Found(document, "the paths differ only in case", "propose")
        stems = self._stems.get(fold_key(posixpath.basename(path)), [])
        if len(stems) == 1:
            return _Found(stems[0], "the only file with this name", "propose")
        return None

    @staticmethod
    def _with_target(found: _Found | None, dead: _Dead, document: Document) -> _Dead:
        if found is None or found.document.path == document.path:
            return dead
        target = found.document
        reference = dead.reference
        if reference is None:
            new = target.id
        elif reference.kind == "wiki":
            new = wiki_to(reference, target.id)
        else:
            new = link_to(reference, document.path, target.path)
        return dead._replace(new=new, doc_id=target.id, reason=found.reason, reach=found.reach)


def _line_of(document: Document, link: Link) -> int:
    """The line of the file with the target of a relation; the first line of the header if it is not in a
    list."""
    links = document.header.get("links")
    node = links.get(link.rel) if isinstance(links, nodes.Mapping) else None
    items = node.items if isinstance(node, nodes.Sequence) else ()
    found = (item.line for item in items if isinstance(item, nodes.Scalar) and item.text == link.target)
    return document.header_line + next(found, 1) - 1


def _repaired(document: Document, dead: list[_Dead], reach: Reach) -> Step | None:
    text = document.text
    changes = [(one.reference, one.new) for one in dead if one.reference is not None]
    if changes:
        text = text[: document.body_start] + relinked(document.body, changes)
    try:
        for one in dead:
            if one.relation:
                text = rename_item(text, ("links", one.relation), one.said, one.new)
    except InvalidDocument:
        return None
    if text == document.text:
        return None
    targets = sorted({one.doc_id for one in dead} - {document.id})
    listed = ", ".join(f"`{target}`" for target in targets)
    return Step(
        "mend-links",
        f"{_dead_links(len(dead))} in `{document.id}`; new target{'s' if len(targets) > 1 else ''}: {listed}",
        tuple(f"{document.path}:{one.line}: `{one.said}` becomes `{one.new}`: {one.reason}" for one in dead),
        (document.id, *targets),
        (DocumentEdit(document.path, document.id, document.hash, text),),
        rule=LINKS,
        reach=reach,
        texts=((document.id, repr(sorted((one.said, one.new) for one in dead))),),
    )


def _dead_links(number: int) -> str:
    return "1 dead link" if number == 1 else f"{number} dead links"


def _lost(nowhere: list[tuple[Document, _Dead]]) -> Step:
    lines = [f"{document.path}:{dead.line}: `{dead.said}`" for document, dead in nowhere]
    left = len(lines) - _MOST_LINES
    more = [f"and {left} more; run `thunderus-mem lint`"] if left > 0 else []
    ids = tuple(sorted({document.id for document, _ in nowhere}))
    return Step(
        REPORT,
        f"{_dead_links(len(lines))} with no obvious replacement",
        (*lines[:_MOST_LINES], *more),
        ids,
        rule=LINKS,
        texts=tuple(sorted({(document.id, document.hash) for document, _ in nowhere})),
    )


def _orphans(material: GardenInput, names: DocumentNames) -> list[Step]:
    """One report of the documents without links, shared tags and anchors."""
    linked: set[str] = set()
    tags: Counter[str] = Counter()
    for document in material.documents:
        found = set(names.targets(document))
        linked |= found | ({document.id} if found else set())
        tags.update({tag.casefold() for tag in document.tags})
    alone = [
        one
        for one in material.documents
        if one.kind not in ("core", "recap")
        and one.id not in linked
        and all(tags[tag.casefold()] == 1 for tag in one.tags)
        and not material.read(one).data().get("anchors")
    ]
    if not alone:
        return []
    lines = [f"`{one.id}` ({one.path}), tags: {', '.join(one.tags)}" for one in alone]
    more = [f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    noun = "document" if len(alone) == 1 else "documents"
    return [
        Step(
            REPORT,
            f"{len(alone)} {noun} without links, shared tags or anchors",
            (*lines[:_MOST_LINES], *more),
            tuple(one.id for one in alone),
            rule=LINKS,
            texts=tuple((f"orphan {one.id}", "") for one in alone),
        )
    ]


# Tags

TAGS: Final = "tags"
_SHORTEST: Final = 3
_USUAL: Final = 0.8
"""The share of tags from which on their form is the usual one."""
_CLEAR: Final = 10
"""How often a spelling must be used, and how many times as often as the others, to be a clear majority."""


class _Use(NamedTuple):
    """How many documents use a spelling."""

    number: int
    spelling: str


class _Tagged(NamedTuple):
    """A document's tags, and those that its author wrote."""

    tags: frozenset[str]
    written: frozenset[str]


def plan_tags(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each tag with several spellings; on request, a report of each singular with its plural."""
    documents = [one for one in material.documents if not is_aside(one)]
    hashtags = frozenset(tag for one in material.documents for tag in one.traits.hashtags)
    spelling = _spellings(documents, config.tags_aliases, hashtags)
    steps = _respelt(material, documents, spelling)
    return (*steps, *(_plurals(documents, spelling) if material.verbose else ()))


def _uses(documents: Iterable[Profile], spelling: Callable[[str], str] = str) -> Counter[str]:
    """The number of documents with each tag, by spelling."""
    return Counter(tag for document in documents for tag in set(map(spelling, document.tags)))


def _written(document: Profile) -> frozenset[str]:
    """The tags of a document that an author wrote. A single tag with the name of the folder that the document
    was imported from does not count: an import adds it to documents without tags."""
    made = slug(posixpath.basename(posixpath.dirname(document.imported_from)))
    return frozenset() if document.tags == (made,) else frozenset(document.tags)


def _spellings(
    documents: Sequence[Profile], aliases: Mapping[str, str], hashtags: Set[str]
) -> Callable[[str], str]:
    """A function from a tag to its spelling: the configured one, else the one that authors prefer.

    Tags that a text uses as hashtags are kept, and so are links: a link means the document with its name.
    """
    named = {tag_key(alias): target for alias, target in aliases.items() if target.strip()}
    chosen = {tag_key(target): target for target in reversed(list(named.values()))}

    def spelling(tag: str) -> str:
        key, seen = tag_key(tag), set()
        while key in named and key not in seen and tag_key(named[key]) != key:
            seen.add(key)
            key = tag_key(named[key])
        # Aliases in a cycle are ignored.
        return tag if key in seen else chosen.get(key, tag)

    tagged = [_Tagged(frozenset(one.tags), _written(one)) for one in documents]

    def respelt() -> Iterator[_Tagged]:
        for one in tagged:
            yield _Tagged(frozenset(map(spelling, one.tags)), frozenset(map(spelling, one.written)))

    # The more tags have the usual form, the more usual it is.
    while found := _preferred(respelt(), hashtags, chosen):
        chosen |= found
    return spelling


def _preferred(tagged: Iterable[_Tagged], hashtags: Set[str], chosen: Container[str]) -> dict[str, str]:
    """The spelling to keep of each tag with several ones and no ``chosen`` one, if there is one."""
    groups: dict[str, dict[str, list[Set[str]]]] = {}
    for one in tagged:
        for tag in one.tags:
            uses = groups.setdefault(tag_key(tag), {}).setdefault(tag, [])
            if tag in one.written:
                uses.append(one.tags)
    is_usual = _usual_form([tag for group in groups.values() for tag, uses in group.items() if uses])
    best = {
        key: _best(group, is_usual) for key, group in groups.items() if len(group) > 1 and key not in chosen
    }
    return {
        key: tag
        for key, tag in best.items()
        if tag
        and hashtags.isdisjoint(groups[key].keys() - {tag})
        and not any("[[" in one for one in groups[key])
    }


def _usual_form(tags: Iterable[str]) -> Callable[[str], bool]:
    """Whether a tag is written as most of these are: in lower case, with the same separator between words.

    What differs from tag to tag does not matter, but a tag with a space, which is no hashtag, is only usual
    where most have one.
    """
    cased = [tag for tag in tags if tag.lower() != tag.upper()]
    separated = [marks for tag in tags if (marks := _separators(tag))]
    lower = sum(tag == tag.lower() for tag in cased) >= _USUAL * len(cased)
    usual = [mark for mark in "-_ " if separated.count({mark}) >= _USUAL * len(separated) > 0]

    def is_usual(tag: str) -> bool:
        return (tag == tag.lower() or not lower) and _separators(tag) <= {*(usual or "-_")}

    return is_usual


def _separators(tag: str) -> set[str]:
    return {char for char in tag if char in "-_" or char.isspace()}


def _best(uses: Mapping[str, Sequence[Set[str]]], is_usual: Callable[[str], bool]) -> str:
    """Choose the spelling of a tag to keep; "" if none is clearly better.

    ``uses`` has for each spelling the documents whose authors wrote it, as their sets of tags. The spelling
    used most is kept if it has the usual form. For a tag of one word it must be the only one in that form,
    and nearly all must use it: `Workflow` may be of another language, and `PARA` a name. For a tag of several
    words, another form is kept if no spelling has the usual one, or if nearly all documents use it.
    """
    best, *others = sorted(uses, key=lambda tag: (-len(uses[tag]), tag))
    if len(uses[best]) == len(uses[others[0]]):
        return ""
    if best != best.strip():
        return ""
    usual = [tag for tag in uses if is_usual(tag)]
    if _has_words(best):
        sure = best in usual or not usual or _is_clear(best, uses)
    else:
        sure = usual == [best] and _is_clear(best, uses)
    return best if sure and not any(_is_apart(other, best, uses) for other in others) else ""


def _is_clear(tag: str, uses: Mapping[str, Sequence[Set[str]]]) -> bool:
    """Whether authors nearly always use this spelling of a tag."""
    rest = sum(map(len, uses.values())) - len(uses[tag])
    return len(uses[tag]) >= _CLEAR * max(rest, 1)


def _has_words(tag: str) -> bool:
    """Whether a tag consists of several words."""
    return "-" in tag_key(tag)


def _is_apart(tag: str, best: str, uses: Mapping[str, Sequence[Set[str]]]) -> bool:
    """Whether two spellings may be two tags: a document has both, or they are one word, and their documents
    have no other tag in common."""
    if any(best in tags for tags in uses[tag]):
        return True
    if _has_words(tag):
        return False
    own = tag_key(tag)
    company, others = ({tag_key(each) for tags in uses[one] for each in tags} - {own} for one in (tag, best))
    return company.isdisjoint(others)


class _Respelling(NamedTuple):
    """A document in which the tags ``old`` become one spelling."""

    document: Document
    old: tuple[str, ...]

    def applied(self, text: str, new: str) -> str:
        """The text of the document with these tags renamed; the same if its header cannot be edited."""
        after = text
        try:
            for old in self.old:
                while (once := rename_item(after, ("tags",), old, new)) != after:  # it may be there twice
                    after = once
        except InvalidDocument:
            return text
        return after


def _respelt(
    material: GardenInput, documents: Sequence[Profile], spelling: Callable[[str], str]
) -> Iterator[Step]:
    """A step for each spelling to use, several if it is in more than `MOST_DOCUMENTS` documents; the steps
    for one document build on those that will be applied."""
    groups: dict[str, list[_Respelling]] = {}
    for profile in documents:
        changed: dict[str, list[str]] = {}
        for tag in dict.fromkeys(profile.tags):
            if (new := spelling(tag)) != tag:
                changed.setdefault(new, []).append(tag)
        for new, names in changed.items():
            one = _Respelling(material.read(profile), tuple(names))
            if one.applied(one.document.text, new) != one.document.text:
                groups.setdefault(new, []).append(one)
    parts = [
        (new, some[at : at + MOST_DOCUMENTS])
        for new, some in groups.items()
        for at in range(0, len(some), MOST_DOCUMENTS)
    ]
    evidence = _Evidence(documents)
    texts: dict[str, str] = {}
    for new, some in sorted(parts, key=lambda part: [one.document.id for one in part[1]]):
        edits = []
        for one in some:
            path, doc_id, text = one.document.path, one.document.id, one.document.text
            text = texts.get(path, text)
            edits.append(DocumentEdit(path, doc_id, content_hash(text), one.applied(text, new)))
        old = sorted({name for one in groups[new] for name in one.old})
        step = _respelling(new, old, tuple(edits), evidence)
        if material.going((step,)):
            texts |= {edit.path: edit.after_text or "" for edit in edits}
        yield step


def _respelling(
    new: str, old: Sequence[str], edits: tuple[DocumentEdit, ...], evidence: Callable[[str, str], str]
) -> Step:
    names = " and ".join(f"`{name}`" for name in old)
    where = f"`{edits[0].doc_id}`" if len(edits) == 1 else f"{len(edits)} documents"
    return Step(
        "respell-tags",
        f"{names} {'becomes' if len(old) == 1 else 'become'} `{new}` in {where}",
        tuple(evidence(name, new) for name in old),
        tuple(edit.doc_id for edit in edits),
        edits,
        rule=TAGS,
        texts=tuple((f"tag {name}", new) for name in old),
    )


class _Evidence:
    """Says how many documents use two spellings of a tag, and how many of them got it from their folder."""

    def __init__(self, documents: Sequence[Profile]) -> None:
        self._uses = _uses(documents)
        self._written = Counter(tag for one in documents for tag in _written(one))

    def __call__(self, old: str, new: str) -> str:
        if tag_key(old) != tag_key(new):
            return f"the configuration replaces `{old}` with `{new}`"
        return f"{self._count(new)}, {self._count(old)}"

    def _count(self, tag: str) -> str:
        made = self._uses[tag] - self._written[tag]
        return f"{_documents(self._uses[tag])} `{tag}`{f' ({made} from a folder)' if made else ''}"


def _documents(count: int) -> str:
    return "1 document uses" if count == 1 else f"{count} documents use"


def _plurals(documents: Sequence[Profile], spelling: Callable[[str], str]) -> Iterator[Step]:
    """A report of each tag used in singular and plural, with the documents of the less common form."""
    counts = _uses(documents, spelling)
    by_key = {tag_key(tag): tag for tag in sorted(counts, reverse=True)}
    for key, one in sorted(by_key.items()):
        for other in (by_key[plural] for plural in _plural_forms(key) if plural in by_key):
            rare, common = sorted((_Use(counts[one], one), _Use(counts[other], other)))
            found = [each.id for each in documents if rare.spelling in map(spelling, each.tags)]
            yield _possible_plural(common, rare, found)


def _plural_forms(key: str) -> tuple[str, ...]:
    if len(key) < _SHORTEST:
        return ()
    if key.endswith("y"):
        return (f"{key}s", f"{key[:-1]}ies")
    return (f"{key}s", f"{key}es")


def _possible_plural(common: _Use, rare: _Use, doc_ids: list[str]) -> Step:
    return Step(
        REPORT,
        f"`{rare.spelling}` and `{common.spelling}` may be singular and plural of the same tag",
        (f"{_documents(common.number)} `{common.spelling}`, {_documents(rare.number)} `{rare.spelling}`",),
        tuple(doc_ids),
        rule=TAGS,
        texts=((f"tag {rare.spelling}", common.spelling),),
    )


NUMBERS: Final = "numbers"


def plan_numbers(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each decision to renumber; archived decisions keep their numbers."""
    del config
    known = (*material.documents, *material.archived)
    decisions = [one for one in known if one.kind == "adr"]
    numbers = Counter(number for one in decisions if (number := decision_number(one.path)) is not None)
    if max(numbers.values(), default=0) < 2:
        return ()
    linked = {linked_path(one.path, target) for one in known for target in one.traits.file_links}
    planned = renumbered(map(material.read, decisions), linked)
    return tuple(
        Step(
            "renumber",
            f"the number of `{one.document.id}` is used twice; it gets the next free number",
            (f"{one.document.path} becomes {posixpath.basename(one.path)}; id and links are unchanged",),
            (one.document.id,),
            moved(one.document, one.path),
            rule=NUMBERS,
            texts=((one.document.id, posixpath.basename(one.document.path)),),
        )
        for one in planned
    )
