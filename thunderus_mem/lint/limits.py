"""Rules about names and sizes: what every file system and every reader can bear."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thunderus_mem.lint.identity import MEMORY
from thunderus_mem.lint.rule import NOTE
from thunderus_mem.model.ids import file_stem, is_document_id, is_reserved_name, short_hash
from thunderus_mem.store.kind_caps import Caps, caps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.model.document import Document

_IMPOSSIBLE = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_ADR = re.compile(r"ADR-[0-9]{1,6}(?:[-_.]|$)", re.IGNORECASE)


def file_name(subject: Subject) -> Iterable[Diagnostic]:
    """The file's name cannot exist on every system, is too long, or does not follow from the id.

    Why: a name that Windows refuses breaks every clone there. A name that does not follow from the id is a
    note: the id counts, the name only helps to find the file by eye. 60 characters at most, without the
    number of a decision and without ``.md``.

    Bad::

        FACTS/what: why?.md
        FACTS/nul.md

    Good::

        FACTS/testing.llvm-cov.md     id: fact.testing.llvm-cov

    Mend: rename the file; its id and the links to it stay as they are.
    """
    document = subject.document
    if document is None or not subject.path.startswith(MEMORY):
        return
    name = subject.path.rpartition("/")[2]
    stem = name.removesuffix(".md")
    wanted = _name_for(document)
    bad = _IMPOSSIBLE.search(name)
    own = _ADR.sub("", stem, count=1)
    problem = ""
    if bad is not None:
        problem = f"The file name holds `{bad.group()}`, which not every system allows."
    elif stem != stem.strip(" ") or stem.endswith("."):
        problem = "The file name begins or ends with a blank or ends with a dot."
    elif is_reserved_name(name):
        problem = f"`{stem}` is the name of a device on Windows."
    elif len(own) > subject.config.name_max:
        problem = f"The file name is {len(own)} characters long."
    if problem:
        expected = f"at most {subject.config.name_max} characters, letters, digits, `.`, `-` and `_`"
        yield subject.found("TM105", (0, 0), problem, expected=expected, hint=f"Rename the file to {wanted}.")
    elif not _follows(stem, document):
        message = f"The file name does not follow from the id `{document.id}`."
        yield subject.found(
            "TM105", (0, 0), message, expected=wanted, hint=f"Rename the file to {wanted}.", severity=NOTE
        )


def _name_for(document: Document) -> str:
    if document.kind == "core":
        return "CORE.md"
    stem = file_stem(document.id, document.kind)
    return f"ADR-<number>-{stem}.md" if document.kind == "adr" else f"{stem}.md"


def _follows(stem: str, document: Document) -> bool:
    if document.kind in ("core", "recap") or not is_document_id(document.id):
        return True
    wanted = file_stem(document.id, document.kind)
    if document.kind == "adr":
        own = _ADR.sub("", stem, count=1)
        cut = own.lower().endswith(f"-{short_hash(document.id)}")  # the number left less room for the name
        return own != stem and (cut or own.lower() in (wanted, ""))
    return stem.lower().replace("_", ".") in (wanted.replace("_", "."), document.id.replace("_", "."))


def path_length(subject: Subject) -> Iterable[Diagnostic]:
    """The path of the file is longer than 120 characters.

    Why: Windows still refuses paths over 260, and clones lie deep in folders of their own.

    Bad::

        .thunderus/memory/episodic/2026/01/21/morning/…/2026-01-21-the-long-story-of-the-broken-build.md

    Good::

        .thunderus/memory/episodic/2026-01-21-broken-build.md

    Mend: shorten the names of folders or of the file.
    """
    if len(subject.path) > subject.config.path_max:
        yield subject.found(
            "TM106",
            (0, 0),
            f"The path is {len(subject.path)} characters long.",
            expected=f"at most {subject.config.path_max} characters",
            hint="Shorten the names of folders or of the file.",
        )


def _tokens(document: Document) -> int:
    return len(document.text) // 4


def _caps(subject: Subject, document: Document) -> Caps:
    config = subject.config
    core = Caps(config.core_soft, config.core_hard)
    return caps_of(document.kind, core, Caps(config.document_soft, config.document_hard), config.kind_soft)


def size_soft(subject: Subject) -> Iterable[Diagnostic]:
    """The document is longer than is good for a reader with a small window.

    Why: core knowledge is read before every piece of work (4,000 tokens), other documents whole when they
    are found (2,000). A token is taken as four characters. For an imported text and for a recap, which is
    as long as its day, it is a note.

    Bad::

        one fact with the history of three years

    Good::

        three facts of one page, linked

    Mend: split the document at its headings, or cut what nobody needs. ``caps`` in ``gardener.toml``
    moves the caps, ``caps.kinds`` the one of a single kind.
    """
    document = subject.document
    if document is None:
        return
    soft, hard = _caps(subject, document)
    tokens = _tokens(document)
    if soft < tokens <= hard:
        yield subject.found(
            "TM301",
            (0, 0),
            f"The document holds about {tokens:,} tokens.",
            expected=f"at most {soft:,} tokens",
            hint="Split it at its headings, or cut what nobody needs.",
            severity=NOTE if document.imported_from or document.kind == "recap" else None,
        )


def size_hard(subject: Subject) -> Iterable[Diagnostic]:
    """The document is far too long to be read whole.

    Why: beyond 8,000 tokens for core and 4,000 for others, a reader gets a cut document, and nobody sees
    what was cut. A token is taken as four characters. For an imported text it is a note, as the other rules
    about its form: it came as it was, and an old decision is not written anew to please a check.

    Bad::

        a fact into which a whole manual was pasted

    Good::

        a fact that says what matters and links the manual

    Mend: split the document at its headings; for a fact ``thunderus-mem garden`` proposes how.
    ``caps`` in ``gardener.toml`` moves the caps.
    """
    document = subject.document
    if document is None:
        return
    hard = _caps(subject, document)[1]
    tokens = _tokens(document)
    if tokens > hard:
        yield subject.found(
            "TM302",
            (0, 0),
            f"The document holds about {tokens:,} tokens.",
            expected=f"at most {hard:,} tokens",
            hint="See how it could be split: thunderus-mem garden --only sizes"
            if document.kind == "fact"
            else "Split it at its headings.",
            severity=NOTE if document.imported_from else None,
        )
