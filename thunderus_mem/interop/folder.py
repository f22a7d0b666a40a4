"""A folder of Markdown as a plan: what each file becomes, what is left out, who relates to whom. Pure."""

from __future__ import annotations

import hashlib
import os.path
import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from thunderus_mem.interop.decisions import file_number
from thunderus_mem.interop.fields import Dates, Options, Taken
from thunderus_mem.interop.markdown import Imported, import_document
from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import insert_item
from thunderus_mem.model.ids import fold_key
from thunderus_mem.model.post import read_post

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.model.document import Document

_NOT_DECISIONS = frozenset(["readme", "index", "template", "adr-template", "toc", "contributing"])
_TEMPLATE_WORDS = ("template",)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the folder: path inside it, bytes, and when it changed."""

    path: str
    data: bytes
    dates: Dates = field(default_factory=Dates)


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What became of one file. ``reason`` says why it was skipped; then id, path and text are empty."""

    source: str
    id: str = ""
    path: str = ""
    title: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def imported(self) -> bool:
        """Whether the file becomes a document."""
        return not self.reason


@dataclass(slots=True)
class _Shelf:
    """What is taken while the plan grows: by the store, and by files planned before."""

    bodies: dict[str, str]
    origins: dict[str, str]
    ids: set[str]
    paths: set[str]
    numbers: set[int]

    def taken(self) -> Taken:
        """A frozen view for one file."""
        return Taken(frozenset(self.ids), frozenset(self.paths), frozenset(self.numbers))


def plan_folder(
    files: Sequence[SourceFile], kind: str, documents: Iterable[Document], options: Options
) -> tuple[ImportItem, ...]:
    """Plan the import of ``files`` as documents of ``kind`` into a store that holds ``documents``.

    Items come in the order of the sources' paths. A file whose body the store has already is skipped.
    """
    shelf = _shelf(documents)
    items: dict[str, ImportItem] = {}
    made: dict[str, Imported] = {}
    names = [file.path for file in files]
    main = _main(names) if kind == "core" else ""
    for file in sorted(files, key=lambda file: _reading_order(file.path, kind)):
        reason = _not_wanted(file.path, names, kind)
        body = "" if reason else _body_key(file)
        if not reason and body in shelf.bodies:
            reason = f"the same text is there already as {shelf.bodies[body]}"
        origin = f"{options.origin}/{file.path}" if options.origin else file.path
        if not reason and origin in shelf.origins:
            known = shelf.origins[origin]
            reason = f"{known} was imported from it before and the text differs now: use `edit {known}`"
        found = (
            None
            if reason
            else import_document(
                file.path,
                file.data,
                kind,
                file.dates,
                shelf.taken(),
                options=replace(options, main=file.path == main),
            )
        )
        if isinstance(found, Imported):
            made[file.path] = found
            shelf.bodies[body] = found.id
            shelf.ids.add(found.id)
            shelf.paths.add(fold_key(found.path))
            if found.number is not None:
                shelf.numbers.add(found.number)
        else:
            items[file.path] = ImportItem(file.path, reason=reason or (found.reason if found else ""))
    items.update(_relate(made))
    return tuple(items[path] for path in sorted(items))


def _main(names: Sequence[str]) -> str:
    """The file that is the core itself: the only one, or the one named so; "" when there is none."""
    if len(names) == 1:
        return names[0]
    return next((name for name in names if name.lower() == "core.md"), "")


def decision_number(path: str) -> int | None:
    """The number in the file name of a decision of the store (``…/ADR-0007-use-jwt.md``)."""
    return file_number(posixpath.basename(path))


def _shelf(documents: Iterable[Document]) -> _Shelf:
    shelf = _Shelf({}, {}, set(), set(), set())
    for document in documents:
        shelf.ids.update((document.id, *document.aliases))
        shelf.paths.add(fold_key(document.path))
        shelf.bodies.setdefault(_digest(document.body), document.id)
        if document.imported_from:
            shelf.origins.setdefault(document.imported_from, document.id)
        number = decision_number(document.path) if document.kind == "adr" else None
        if number is not None:
            shelf.numbers.add(number)
    return shelf


def _reading_order(path: str, kind: str) -> tuple[bool, int, str]:
    """Numbered decisions first, so that each can keep its number; else by path."""
    number = file_number(os.path.splitext(posixpath.basename(path))[0]) if kind == "adr" else None
    return (number is None, number or 0, path)


def _not_wanted(path: str, names: Sequence[str], kind: str) -> str:
    """Why a file beside decisions is none itself: a list of them or a template."""
    folder, name = posixpath.split(path)
    stem = os.path.splitext(name)[0].lower()
    if kind != "adr" or (
        stem not in _NOT_DECISIONS and not any(word in stem.split("-") for word in _TEMPLATE_WORDS)
    ):
        return ""
    if "template" in stem and file_number(stem) is None:
        return "a template, no decision"
    prefix = f"{folder}/" if folder else ""
    below = [other[len(prefix) :] for other in names if other != path and other.startswith(prefix)]
    others = any("/" in other or _stem(other) not in _NOT_DECISIONS for other in below)
    return "a page about decisions, none itself" if others else ""


def _stem(path: str) -> str:
    return os.path.splitext(posixpath.basename(path))[0].lower()


def _body_key(file: SourceFile) -> str:
    """The digest of a file's body as its document would have it."""
    reading = read_document(file.path, file.data)
    text = (reading.text if reading.text is not None else file.data.decode("latin-1")).removeprefix("\ufeff")
    return _digest(read_post(text).body if reading.header is not None else text)


def _digest(body: str) -> str:
    even = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()


def _relate(made: Mapping[str, Imported]) -> dict[str, ImportItem]:
    """Write supersession between the new documents, and gather the notes."""
    by_number = {number: path for path, doc in made.items() if (number := doc.decision.number) is not None}
    texts = {path: doc.text for path, doc in made.items()}
    notes: dict[str, list[str]] = {path: list(doc.notes) for path, doc in made.items()}
    for path, doc in made.items():
        notes[path].extend(f"no relation made of: {line}" for line in doc.decision.partial)
        pairs = [(path, target, True) for target in doc.decision.supersedes]
        pairs += [(path, target, False) for target in doc.decision.superseded_by]
        for here, target, newer in pairs:
            other = _resolve(here, target, made, by_number)
            if other is None or other == here:
                notes[here].append(
                    f"`{target}` (supersession) is not among the imported files: link it by hand"
                )
                continue
            new, old = (here, other) if newer else (other, here)
            texts[new] = insert_item(texts[new], ("links", "supersedes"), made[old].id)
            notes[new].append(f"supersedes {made[old].id}")
    items: dict[str, ImportItem] = {}
    for path, doc in made.items():
        notes[path].extend(_status_note(doc))
        items[path] = ImportItem(
            path, doc.id, doc.path, doc.title, texts[path], tuple(dict.fromkeys(notes[path]))
        )
    return items


def _resolve(
    here: str, target: str, made: Mapping[str, Imported], by_number: Mapping[int, str]
) -> str | None:
    """The imported file a target means: a number, or a path from ``here`` (with or without ``.md``)."""
    if target.startswith("#"):
        return by_number.get(int(target[1:]))
    bare = target.partition("#")[0].removeprefix("./")
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(here), bare))
    for candidate in (joined, f"{joined}.md"):
        if candidate in made:
            return candidate
    number = file_number(posixpath.basename(joined))
    return by_number.get(number) if number is not None else None


def _status_note(doc: Imported) -> Iterator[str]:
    if doc.decision.status and not doc.decision.status_in_body:
        yield f"its status ({doc.decision.status}) is in the frontmatter only: the text has no Status section"


__all__ = ["ImportItem", "SourceFile", "decision_number", "plan_folder"]
