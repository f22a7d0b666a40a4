"""The keys of ``gardener.toml``; see `config_keys`."""

from __future__ import annotations

from typing import Final

from thunderus_mem.store.config_key import GARDENER, Key
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

_KINDS: Final = tuple(DOCUMENT_FOLDERS)
_CAPPED_KINDS: Final = tuple(kind for kind in _KINDS if kind != "core")

GARDENER_KEYS: Final[tuple[Key, ...]] = (
    Key("kinds.allowed", GARDENER, "list", "Kinds of documents this memory takes.", choices=_KINDS),
    Key(
        "caps.core_soft",
        GARDENER,
        "int",
        "Tokens (4 characters each) at which a core document gets a warning.",
        minimum=1,
    ),
    Key("caps.core_hard", GARDENER, "int", "Tokens at which a core document gets an error.", minimum=1),
    Key(
        "caps.document_soft", GARDENER, "int", "Tokens at which any other document gets a warning.", minimum=1
    ),
    Key(
        "caps.document_hard", GARDENER, "int", "Tokens at which any other document gets an error.", minimum=1
    ),
    Key(
        "caps.kinds",
        GARDENER,
        "caps",
        'Caps of single kinds, as "recap = 3000": a warning at so many tokens in place of '
        "caps.document_soft, an error at the larger of them and caps.document_hard.",
        choices=_CAPPED_KINDS,
    ),
    Key(
        "caps.core_total",
        GARDENER,
        "int",
        "Tokens of all core documents together, CORE.local.md left out, at which garden says what to cut.",
        minimum=1,
    ),
    Key(
        "duplicates.strategy",
        GARDENER,
        "choice",
        "Which of several equal documents stays: the first made, the one updated last, or none by itself.",
        choices=("merge_to_first", "keep_newest", "flag_for_review"),
    ),
    Key(
        "duplicates.kinds",
        GARDENER,
        "list",
        "Kinds whose duplicates are merged; others are only reported.",
        choices=_KINDS,
    ),
    Key(
        "duplicates.near",
        GARDENER,
        "int",
        "Percent of the three-word runs of two documents that both have, from which they are near.",
        minimum=30,
        maximum=100,
    ),
    Key(
        "duplicates.contained",
        GARDENER,
        "int",
        "Percent of the shorter's three-word runs that the longer has, from which they are near.",
        minimum=50,
        maximum=100,
    ),
    Key(
        "duplicates.restated",
        GARDENER,
        "int",
        "Percent of what two documents speak of that both do, from which one may restate the other.",
        minimum=20,
        maximum=100,
    ),
    Key("recap.include_file_changes", GARDENER, "bool", "Whether a recap lists the files that changed."),
    Key("recap.max_files", GARDENER, "int", "How many changed files a recap lists.", minimum=0, maximum=1000),
    Key(
        "recap.template",
        GARDENER,
        "text",
        "A Jinja template, from the root, that replaces the recap's built-in page. Empty: built in.",
    ),
    Key(
        "recap.private",
        GARDENER,
        "bool",
        "Whether a recap tells commands, edited files and decisions of events private to this working tree.",
    ),
    Key(
        "recap.schedule",
        GARDENER,
        "list",
        "Recaps that the gardener writes when they are missing, once what they tell of is over. Empty: none.",
        choices=("session", "day", "week", "month"),
    ),
    Key(
        "recap.days_back",
        GARDENER,
        "int",
        "How many days back the gardener looks for recaps that are missing.",
        minimum=1,
        maximum=3660,
    ),
    Key(
        "consolidate.keywords",
        GARDENER,
        "list",
        "Words by which a sentence of a message tells of a decision.",
    ),
    Key(
        "consolidate.workflow_steps",
        GARDENER,
        "int",
        "How many commands in a row must succeed to be proposed as a playbook.",
        minimum=2,
        maximum=50,
    ),
    Key(
        "consolidate.max_per_session",
        GARDENER,
        "int",
        "How many new documents the gardener proposes from one session. 0: none.",
        minimum=0,
        maximum=50,
    ),
    Key(
        "archive.recaps_after_days",
        GARDENER,
        "int",
        "Days after its last change at which a recap goes into the archive, when no document in use links to "
        "it but recaps that sum it up. 0: never.",
        minimum=0,
        maximum=36_500,
    ),
    Key(
        "archive.superseded_after_days",
        GARDENER,
        "int",
        "Days after which garden proposes to archive a document that another one supersedes. 0: never.",
        minimum=0,
        maximum=36_500,
    ),
    Key(
        "archive.keep",
        GARDENER,
        "list",
        "Documents that garden leaves in use, by a tag, or by a glob over ids or paths (with * or /).",
    ),
    Key(
        "tags.aliases",
        GARDENER,
        "table",
        'Tags that garden writes in another way: testing = "tests".',
    ),
    Key(
        "links.orphans",
        GARDENER,
        "bool",
        "Whether garden lists documents that nothing leads to: no link from or to them, no tag of another "
        "document, no code.",
    ),
)
