"""What a new document looks like: its id, its header, the skeleton of its kind. Also which keys a person may
set, and what a field's text means. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thunderus_mem.document.document import KINDS, RELATIONS
from thunderus_mem.document.frontmatter.nodes import NUMBER_KEYS
from thunderus_mem.document.ids import is_document_id, new_document_id
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ADR_STATUSES = ("Proposed", "Accepted", "Deprecated", "Superseded", "Rejected")

# Set by the tool alone: identity, provenance and verdict are not free text.
GUARDED_KEYS = frozenset({"id", "kind", "provenance", "verification"})
_LIST_KEYS = frozenset({"tags", "aliases"})

_STATUS_HEADING = re.compile(r"^#{1,6}[ \t]+Status[ \t]*#*[ \t]*$", re.MULTILINE | re.IGNORECASE)

_SKELETONS = {
    "core": """\
# {title}

## Identity

<!-- What this repository is, in two sentences. -->

## Commands

<!-- How it is built, tested and run. -->

## Architecture

<!-- The parts and how they talk. -->

## Conventions

<!-- What everybody keeps to. -->
""",
    "fact": """\
# {title}

What is true, and where one sees it.
""",
    "adr": """\
# {title}

## Status

{status}

## Context

What made a decision necessary.

## Decision

What we do.

## Consequences

What becomes easier, and what becomes harder.
""",
    "playbook": """\
# {title}

## Preconditions

What must hold before the first step.

## Steps

1. First.

## Verification

How one sees that it worked.

## Rollback

How to get back.
""",
    "recap": """\
# {title}

## Summary

What happened.

## Provenance

Which events say so.
""",
}


def skeleton(kind: str, title: str, *, status: str = "Accepted") -> str:
    """The body a new document of a kind starts from, with the sections Thunderus asks for."""
    return _SKELETONS[check_kind(kind)].format(title=title, status=status)


def check_kind(kind: str) -> str:
    """The kind itself, or `InvalidDocument` that lists the five."""
    if kind not in KINDS:
        raise InvalidDocument(f"{kind!r} is no kind of document", hint=f"one of: {', '.join(KINDS)}")
    return kind


def choose_id(kind: str, title: str, given: str | None) -> str:
    """The id of a new document: the given one when its grammar is right, else made from the title."""
    if given is None:
        return new_document_id(kind, title)
    if not is_document_id(given):
        raise InvalidDocument(
            f"{given!r} cannot be an id",
            hint="lower-case words of a-z and 0-9 joined by single . - or _, 120 characters at most",
        )
    return given


def adr_status(text: str) -> str:
    """A status as the field writes it (``accepted`` → ``Accepted``), or `InvalidDocument`."""
    for status in ADR_STATUSES:
        if status.casefold() == text.strip().casefold():
            return status
    raise InvalidDocument(f"{text!r} is no ADR status", hint=f"one of: {', '.join(ADR_STATUSES)}")


def with_status_section(body: str, status: str) -> str:
    """The body of an ADR with its Status section: kept when it has one, put in front when it has none."""
    if _STATUS_HEADING.search(body):
        return body
    lines = body.split("\n")
    after_title = 1 if lines and lines[0].startswith("# ") else 0
    head, rest = "\n".join(lines[:after_title]), "\n".join(lines[after_title:]).lstrip("\n")
    lead = f"{head}\n\n" if head else ""
    return f"{lead}## Status\n\n{status}\n\n{rest}"


def link_map(links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Pairs of relation and id as the ``links`` mapping of a header."""
    found: dict[str, set[str]] = {}
    for relation, target in links:
        found.setdefault(check_relation(relation), set()).add(target)
    return {relation: sorted(found[relation]) for relation in RELATIONS if relation in found}


def check_relation(relation: str) -> str:
    """The relation itself (``-`` and ``_`` are one), or `InvalidDocument` that lists the four."""
    name = relation.replace("-", "_")
    if name not in RELATIONS:
        raise InvalidDocument(f"{relation!r} is no relation", hint=f"one of: {', '.join(RELATIONS)}")
    return name


def parse_field(key: str, value: Any) -> tuple[tuple[str, ...], Any]:
    """A field as a person names it: the key's path, and the value with the type the key asks for.

    Raises `InvalidDocument` for a key that the tool itself keeps.
    """
    path = tuple(key.split("."))
    if not all(path):
        raise InvalidDocument(f"{key!r} is no key", hint="a word, or words joined by dots for a nested key")
    if path[0] in GUARDED_KEYS:
        raise InvalidDocument(
            f"{path[0]!r} is kept by the tool",
            hint="`rename` gives another id, `link` and `supersede` make relations",
        )
    if not isinstance(value, str):
        return path, value
    if path[0] in _LIST_KEYS:
        return path, [item.strip() for item in value.split(",") if item.strip()]
    return path, _number(value) if path[0] in NUMBER_KEYS else value


def _number(text: str) -> int | float | str:
    """The number a text is; the text itself when it is none, for the schema to complain of."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def new_header(
    document_id: str,
    title: str,
    kind: str,
    *,
    tags: Iterable[str],
    now: str,
    event_id: str,
    patch_id: str,
    fields: Mapping[str, Any],
) -> dict[str, Any]:
    """The header of a new document: the keys that are required, then ``fields``, the others given."""
    return {
        "id": document_id,
        "title": title,
        "kind": kind,
        "tags": sorted(set(tags)),
        "created": now,
        "updated": now,
        "provenance": {"events": [event_id], "patches": [patch_id], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
        **fields,
    }
