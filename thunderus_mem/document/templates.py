"""New documents: their id, header and the skeleton of their kind. Also the keys a user may set, their known
values, and how the text of a field is parsed. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import KINDS, RELATIONS
from thunderus_mem.document.frontmatter.nodes import NUMBER_KEYS
from thunderus_mem.document.ids import is_document_id, new_document_id
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STATUSES: Final = ("verified", "stale", "unknown")
"""The values of ``verification.status``."""
TYPES: Final = (
    *("Observation", "Decision", "Learning", "Error", "Discovery", "Pattern", "Context", "Task"),
    *("CodeEdit", "FileAccess", "Search", "Command", "Conversation"),
)
"""The known values of ``type``: those of the unified memory schema of the SHODH family."""
SOURCE_TYPES: Final = ("user", "system", "api", "file", "web", "ai_generated", "inferred")
"""The known values of ``source_type``, from the same schema."""

# Set only by the tool: identity, provenance and verification are not free text.
_GUARDED_HINTS = {
    "id": "use `rename` to change the id",
    "kind": "the kind cannot be changed; add a new document and `supersede` this one",
    "provenance": "each command that writes updates it",
    "verification": "use `verify` to record a verification",
}
GUARDED_KEYS = frozenset(_GUARDED_HINTS)
_LIST_KEYS = frozenset({"tags", "aliases"})

_SKELETONS = {
    "core": """\
# {title}

## Identity

<!-- What this repository is, in two sentences. -->

## Commands

<!-- How it is built, tested and run. -->

## Architecture

<!-- The components and how they interact. -->

## Conventions

<!-- Rules that all changes follow. -->
""",
    "fact": """\
# {title}

What is true, and where to check it.
""",
    "adr": """\
# {title}

## Status

{state}

## Context

Why a decision is needed.

## Decision

What we do.

## Consequences

What becomes easier, and what becomes harder.
""",
    "playbook": """\
# {title}

## Preconditions

What must be true before the first step.

## Steps

1. First.

## Verification

How to check that it worked.

## Rollback

How to undo the steps.
""",
    "recap": """\
# {title}

## Summary

What happened.

## Provenance

The events this is based on.
""",
}
_FORMER_CORE = (
    ("The components and how they interact.", "The parts and how they talk."),
    ("Rules that all changes follow.", "What everybody keeps to."),
)


def skeleton(kind: str, title: str, *, state: str = "accepted") -> str:
    """The initial body of a new document of a kind, with the sections Thunderus requires."""
    return _SKELETONS[check_kind(kind)].format(title=title, state=state.capitalize())


def is_core_skeleton(body: str, title: str) -> bool:
    """Whether the body of the core document is still its skeleton, in the present or the former wording."""
    present = former = skeleton("core", title)
    for new, old in _FORMER_CORE:
        former = former.replace(new, old)
    return body.strip() in (present.strip(), former.strip())


def check_kind(kind: str) -> str:
    """The kind itself; raises `InvalidDocument` with the five kinds for any other."""
    if kind not in KINDS:
        raise InvalidDocument(f"unknown kind {kind!r}", hint=f"use one of: {', '.join(KINDS)}")
    return kind


def choose_id(kind: str, title: str, given: str | None) -> str:
    """The id of a new document: the given one if it is valid, else one made from the title."""
    if given is None:
        return new_document_id(kind, title)
    if not is_document_id(given):
        raise InvalidDocument(
            f"invalid id {given!r}",
            hint="use words of ASCII letters and digits joined by single . - or _, at most 120 characters",
        )
    prefix = given.partition(".")[0]
    if prefix in KINDS and prefix != kind:
        raise InvalidDocument(
            f"the id {given!r} is that of the kind {prefix!r}, but the document is of kind {kind!r}",
            hint=f"begin the id with '{kind}.'",
        )
    return given


def link_map(links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Pairs of relation and id as the ``links`` mapping of a header."""
    found: dict[str, set[str]] = {}
    for relation, target in links:
        found.setdefault(check_relation(relation), set()).add(target)
    return {relation: sorted(found[relation]) for relation in RELATIONS if relation in found}


def check_relation(relation: str) -> str:
    """The relation with ``-`` as ``_``; raises `InvalidDocument` with the four relations for any other."""
    name = relation.replace("-", "_")
    if name not in RELATIONS:
        raise InvalidDocument(f"unknown relation {relation!r}", hint=f"use one of: {', '.join(RELATIONS)}")
    return name


def parse_field(key: str, value: Any) -> tuple[tuple[str, ...], Any]:
    """Parse a field given by the user: the path of the key, and the value with the type of the key.

    Raises `InvalidDocument` for a key that only the tool may set.
    """
    path = tuple(key.split("."))
    if not all(path):
        raise InvalidDocument(
            f"invalid key {key!r}", hint="use a word, or words joined by dots for a nested key"
        )
    if path[0] in GUARDED_KEYS:
        raise InvalidDocument(
            f"{path[0]!r} cannot be set with --set",
            hint=_GUARDED_HINTS[path[0]],
        )
    if not isinstance(value, str):
        return path, value
    if path[0] in _LIST_KEYS:
        return path, [item.strip() for item in value.split(",") if item.strip()]
    return path, _number(value) if path[0] in NUMBER_KEYS else value


def _number(text: str) -> int | float | str:
    """The text as a number; the text itself when it is not one, so that the schema check reports it."""
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
    """The header of a new document: the required keys, then ``fields``."""
    return {
        "id": document_id,
        "title": title,
        "kind": kind,
        "tags": sorted(set(tags)),
        "created": now,
        "updated": now,
        "provenance": {"events": [event_id], "patches": [patch_id]},
        "verification": {"last_verified_commit": None, "status": "unknown"},
        **fields,
    }
