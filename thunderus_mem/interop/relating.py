"""What imported records say of each other, as links between the new documents. Pure."""

from __future__ import annotations

import os.path
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.interop.decisions import file_number
from thunderus_mem.model.edit import insert_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.interop.markdown import Imported
    from thunderus_mem.interop.relations import Mention


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What became of one file. ``reason`` says why it was skipped; then id, path and text are empty.

    ``kept`` are the keys it had that stay, ``changed`` those that got another value, ``links`` the relations
    made of what it says, ``status`` a decision's own. ``refused`` is a text that would come in if it were
    mended; the other skipped ones are not wanted.
    """

    source: str
    id: str = ""
    path: str = ""
    title: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    status: str = ""
    refused: bool = False

    @property
    def imported(self) -> bool:
        """Whether the file becomes a document."""
        return not self.reason


def relate(made: Mapping[str, Imported]) -> dict[str, ImportItem]:
    """Write the relations between the new documents, and gather the notes."""
    names = _Names(made)
    texts = {path: doc.text for path, doc in made.items()}
    notes: dict[str, list[str]] = {path: list(doc.notes) for path, doc in made.items()}
    links: dict[str, list[tuple[str, str]]] = {path: [] for path in made}
    for path, doc in made.items():
        for mention in doc.decision.mentions:
            if mention.partial:
                notes[path].append(f"no relation made of: {mention.partial}")
                continue
            found = names.find(path, mention.target)
            if len(found) != 1:
                notes[path] += _not_found(mention, len(found))
                continue
            other = found[0]
            if other == path:
                continue
            here, there = (other, path) if mention.backwards else (path, other)
            link = (mention.rel, made[there].id)
            if link not in links[here]:
                links[here].append(link)
                texts[here] = insert_item(texts[here], ("links", mention.rel), made[there].id)
                notes[here].append(f"{mention.rel} {made[there].id}")
    items: dict[str, ImportItem] = {}
    for path, doc in made.items():
        items[path] = ImportItem(
            path,
            doc.id,
            doc.path,
            doc.title,
            texts[path],
            tuple(dict.fromkeys(notes[path])),
            kept=doc.kept,
            changed=doc.changed,
            links=tuple(links[path]),
            status=doc.decision.status,
        )
    return items


class _Names:
    """What the imported files are called by each other: paths, numbers, ids and names of their own."""

    def __init__(self, made: Mapping[str, Imported]) -> None:
        self._made = made
        self._numbers: dict[int, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for path, doc in made.items():
            if doc.decision.number is not None:
                self._numbers.setdefault(doc.decision.number, []).append(path)
            for name in {doc.own_id.lower(), stem_of(path)} - {""}:
                self._names.setdefault(name, []).append(path)

    def find(self, here: str, target: str) -> list[str]:
        """The imported files a target may mean from ``here``."""
        if target.startswith("#"):
            return self._numbers.get(int(target[1:]), [])
        bare = target.removeprefix("?").partition("#")[0]
        if "://" in bare:
            return self._names.get(stem_of(bare), []) if bare.endswith(".md") else []
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(here), bare.removeprefix("./")))
        for candidate in (joined, f"{joined}.md"):
            if candidate in self._made:
                return [candidate]
        named = self._names.get(bare.lower()) or self._names.get(stem_of(joined))
        if named:
            return named
        number = file_number(posixpath.basename(joined))
        return self._numbers.get(number, []) if number is not None else []


def _not_found(mention: Mention, count: int) -> list[str]:
    """What is said of a target that is no file, or more than one."""
    if mention.target.startswith("?"):
        return []
    what = f"means {count} of the imported files" if count else "is not among the imported files"
    return [f"`{mention.target}` ({mention.word or mention.rel}) {what}: link it by hand"]


def stem_of(path: str) -> str:
    """The name of a file without its ending, in small letters."""
    return os.path.splitext(posixpath.basename(path))[0].lower()
