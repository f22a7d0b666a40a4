"""A folder of Markdown as a plan: what each file becomes, what is left out, who relates to whom. Pure."""

from __future__ import annotations

import hashlib
import os.path
import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from thunderus_mem.interop.days import writes_day_first
from thunderus_mem.interop.decisions import file_number
from thunderus_mem.interop.fields import Dates, Options, Taken
from thunderus_mem.interop.markdown import Imported, import_document
from thunderus_mem.interop.relating import ImportItem, relate, stem_of
from thunderus_mem.interop.stars import read_foreign
from thunderus_mem.model.ids import fold_key
from thunderus_mem.model.post import read_post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.model.document import Document

_NOT_DECISIONS = frozenset(["readme", "index", "template", "adr-template", "toc", "contributing"])
_TEMPLATE_WORDS = ("template",)
_DATE_LINE = re.compile(r"(?im)^[ \t>*+-]{0,6}date[*_ ]{0,3}:(.*)$")
_HEAD = 4_096


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the folder: path inside it, bytes, and when it changed."""

    path: str
    data: bytes
    dates: Dates = field(default_factory=Dates)


@dataclass(slots=True)
class _Shelf:
    """What is taken while the plan grows: by the store, and by files planned before."""

    bodies: dict[str, str]
    origins: dict[str, str]
    ids: set[str]
    paths: set[str]
    numbers: set[int]
    wanted: frozenset[int] = frozenset()

    def taken(self) -> Taken:
        """A view for one file; it grows with the plan."""
        return Taken(self.ids, self.paths, self.numbers, self.wanted)

    def known(self, body: str, origin: str) -> str:
        """Why a file with this body and from this place is not imported again; "" when it is new."""
        if body in self.bodies:
            return f"the same text is there already as {self.bodies[body]}"
        if origin in self.origins:
            known = self.origins[origin]
            return f"{known} was imported from it before and the text differs now: use `edit {known}`"
        return ""

    def put(self, made: Imported, body: str) -> None:
        """Count a document among those that are there."""
        self.bodies[body] = made.id
        self.ids.add(made.id)
        self.paths.add(fold_key(made.path))
        if made.number is not None:
            self.numbers.add(made.number)


def plan_folder(
    files: Sequence[SourceFile],
    kind: str,
    documents: Iterable[Document],
    options: Options,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[ImportItem, ...]:
    """Plan the import of ``files`` as documents of ``kind`` into a store that holds ``documents``.

    Items come in the order of the sources' paths. A file whose body the store has already is skipped.
    """
    shelf = _shelf(documents)
    if kind == "adr":
        shelf.wanted = frozenset(number for file in files if (number := _number(file.path)) is not None)
        options = replace(options, day_first=writes_day_first(_date_lines(files)))
    items: dict[str, ImportItem] = {}
    made: dict[str, Imported] = {}
    names = [file.path for file in files]
    main = _main(names) if kind == "core" else ""
    for done, file in enumerate(sorted(files, key=lambda file: _reading_order(file.path, kind))):
        tell("Planning the import:", done, len(files))
        reason = _not_wanted(file.path, names, kind)
        body = "" if reason else _body_key(file)
        origin = f"{options.origin}/{file.path}" if options.origin else file.path
        reason = reason or shelf.known(body, origin)
        if reason:
            items[file.path] = ImportItem(file.path, reason=reason)
            continue
        own = replace(options, main=file.path == main)
        found = import_document(file.path, file.data, kind, file.dates, shelf.taken(), options=own)
        if isinstance(found, Imported):
            made[file.path] = found
            shelf.put(found, body)
        else:
            items[file.path] = ImportItem(file.path, reason=found.reason, refused=True)
    items.update(relate(made))
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


def _number(path: str) -> int | None:
    return file_number(os.path.splitext(posixpath.basename(path))[0])


def _date_lines(files: Sequence[SourceFile]) -> Iterator[str]:
    """What stands behind ``Date:`` in the files."""
    for file in files:
        yield from _DATE_LINE.findall(file.data[:_HEAD].decode("utf-8", "replace"))


def _reading_order(path: str, kind: str) -> tuple[bool, int, str]:
    """Numbered decisions first, so that each can keep its number; else by path."""
    number = _number(path) if kind == "adr" else None
    return (number is None, number or 0, path)


def _not_wanted(path: str, names: Sequence[str], kind: str) -> str:
    """Why a file beside decisions is none itself: a list of them or a template."""
    folder, name = posixpath.split(path)
    stem = os.path.splitext(name)[0].lower()
    if kind != "adr" or (
        stem not in _NOT_DECISIONS and not any(word in stem.split("-") for word in _TEMPLATE_WORDS)
    ):
        return ""
    if file_number(stem):  # a decision about templates; number 0 is where tools put their own
        return ""
    if "template" in stem:
        return "a template, no decision"
    prefix = f"{folder}/" if folder else ""
    below = [other[len(prefix) :] for other in names if other != path and other.startswith(prefix)]
    others = any("/" in other or stem_of(other) not in _NOT_DECISIONS for other in below)
    return "a page about decisions, none itself" if others else ""


def _body_key(file: SourceFile) -> str:
    """The digest of a file's body as its document would have it."""
    reading = read_foreign(file.path, file.data)[0]
    text = (reading.text if reading.text is not None else file.data.decode("latin-1")).removeprefix("\ufeff")
    return _digest(read_post(text).body if reading.header is not None else text)


def _digest(body: str) -> str:
    even = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()


__all__ = ["ImportItem", "SourceFile", "decision_number", "plan_folder"]
