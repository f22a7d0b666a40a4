"""May two documents with one text become one, and what that one looks like: pure, one pair at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.model.anchor import anchors_in
from thunderus_mem.model.document import RELATIONS, read_document
from thunderus_mem.model.edit import insert_item, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.references import references
from thunderus_mem.model.statements import fold
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.model.document import Document

# Below this many words a body cannot stand without its title, so two titles are two documents.
_WORDS_THAT_STAND_ALONE = 12
_NEGATIONS = frozenset(["no", "not", "never", "none", "without", "cannot", "avoid", "except"])
_LISTS_OF_PROVENANCE = ("events", "patches", "commits")
# A list that we do not know we could not unite.
_KNOWN_LISTS = frozenset(
    ["tags", "aliases"]
    + [f"provenance.{key}" for key in _LISTS_OF_PROVENANCE]
    + [f"links.{rel}" for rel in RELATIONS]
)
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")
_IDENTITY = frozenset({"id", "title", "kind", "created", "updated", "verification"})
# These say who wrote a text down and where, not what it says: where they differ, both are kept.
_ORIGIN = frozenset(
    ["author", "agent", "source", "source_type", "run_id", "episode_id", "sequence_number", "metadata"]
)
_UNITED = _IDENTITY | {"tags", "aliases", "links", "provenance", "anchors"}


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def malformation(document: Document) -> str:
    """What keeps any program's hands off this document; "" when its header and text are sound."""
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
        return f"the header of `{document.id}` cannot be merged as it stands: see `{keys[0]}`"
    if any(line.startswith(_CONFLICT_MARKS) for line in document.text.splitlines()):
        return f"`{document.id}` holds conflict markers"
    return ""


def _tells(word: str) -> bool:
    return word in _NEGATIONS or "n't" in word or any(map(str.isdigit, word))


def _titles_disagree(one: str, other: str, words: int) -> bool:
    """Whether two titles may tell two documents with one text apart: a number, a negation, a short text."""
    folded = fold(one).lower(), fold(other).lower()
    if folded[0] == folded[1]:
        return False
    telling = [sorted(word for word in title.split() if _tells(word)) for title in folded]
    return words < _WORDS_THAT_STAND_ALONE or telling[0] != telling[1]


def folder(path: str) -> str:
    """The folder of a POSIX path."""
    return path.rpartition("/")[0]


def file_links(body: str) -> tuple[str, ...]:
    """The files a body links to by relative path, as written, without their anchors."""
    links = (reference.target for reference in references(body) if reference.kind == "link")
    return tuple(path for link in links if (path := link.partition("#")[0]))


def obstacle(stays: Document, leaves: Document, words: int, linked_files: Mapping[str, str]) -> str:
    """Why ``leaves`` cannot be merged into ``stays`` without a person; "" when it can.

    ``words`` is the length of their common text, ``linked_files`` says which document links to which file.
    """
    if _titles_disagree(stays.title, leaves.title, words):
        return f"the titles of `{stays.id}` and `{leaves.id}` may tell two things apart"
    reason = hindrance(stays, leaves, linked_files)
    if not reason and unite(stays, leaves) is None:
        return f"the header of `{stays.id}` cannot hold what that of `{leaves.id}` has"
    return reason


def hindrance(stays: Document, leaves: Document, linked_files: Mapping[str, str]) -> str:
    """What keeps two documents apart whatever they say and the header can hold; "" for nothing.

    ``linked_files`` says which document links to which file.
    """
    kept, given = stays.data(), leaves.data()
    for key in sorted(given.keys() - _UNITED):
        if key in kept and kept[key] != given[key] and key not in _ORIGIN:
            return f"`{key}` differs between `{stays.id}` and `{leaves.id}`"
    if leaves.path in linked_files:
        return f"`{linked_files[leaves.path]}` links to the file of `{leaves.id}`; link to the id instead"
    if folder(stays.path) != folder(leaves.path) and file_links(leaves.body):
        return f"`{leaves.id}` stands in another folder, where its relative links mean other files"
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
    """Where the survivor keeps a key of the other: under its name, or set apart when that is taken."""
    apart = key in own or key == "metadata"
    return ("metadata", "merged", other_id, key) if apart else (key,)


def _holds(data: Any, place: tuple[str, ...], value: Any) -> bool:
    for part in place:
        data = data.get(part) if isinstance(data, dict) else None
    return bool(data == value)


def _anchors_held(leaves: Document, after: Document) -> bool:
    """Whether every anchor of ``leaves`` stands in ``after``, with the fingerprint it has."""
    held = {(one.anchor.place, one.anchor.fingerprint) for one in anchors_in(after.header, after.header_line)}
    anchors = anchors_in(leaves.header, leaves.header_line)
    given = leaves.data().get("anchors") or []
    readable = not isinstance(given, list) or len(given) == len(anchors)
    return readable and held.issuperset((one.anchor.place, one.anchor.fingerprint) for one in anchors)


def unite(stays: Document, leaves: Document) -> Document | None:
    """``stays`` with everything of ``leaves`` that its own header lacks; its text is untouched.

    ``None`` when the header cannot hold it all: the result is read again and compared before it is returned.
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
