"""One configuration key: where it stands, what it takes, and what it is called elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from thunderus_mem.store.layout import DOCUMENT_FOLDERS

CONFIG: Final = "config.toml"
GARDENER: Final = "gardener.toml"
ENVIRONMENT_PREFIX: Final = "THUNDERUS_MEM_"

KeyType = Literal["bool", "int", "float", "text", "choice", "list", "table", "tables", "caps"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its dotted name, the file it lives in, type, allowed values or bounds, and what it does."""

    name: str
    file: str
    type: KeyType
    explanation: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def field(self) -> str:
        """The attribute of ``Config``: ``search.limit`` → ``search_limit``."""
        return self.name.replace(".", "_")

    @property
    def variable(self) -> str:
        """The environment variable that sets it: ``THUNDERUS_MEM_SEARCH_LIMIT``."""
        return ENVIRONMENT_PREFIX + self.field.upper()


def expectation(key: Key) -> str:
    """What a key takes, for messages and the reference: "a whole number from 1 to 1000"."""
    if key.type in ("int", "float"):
        noun = "a whole number" if key.type == "int" else "a number"
        low = "" if key.minimum is None else f" from {key.minimum:g}"
        high = "" if key.maximum is None else f" to {key.maximum:g}"
        return noun + low + (high if low or not high else f" up{high}")
    choices = ", ".join(key.choices)
    if key.type == "table" and not choices:
        return "a table of texts"
    return {
        "bool": "true or false",
        "text": "a text",
        "choice": f"one of {choices}",
        "list": f"a list of {choices}" if choices else "a list of texts",
        "table": f"a table whose values are {choices}",
        "caps": f'a list of "kind = tokens", each for one of {choices}',
        "tables": "a table of globs, each a table of codes and reasons",
    }[key.type]


# The keys of ``gardener.toml``; see `config_keys`.

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


# The table of configuration keys: name, file, type, bounds and what each does.
#
# Defaults stand in ``store.config.Config``; the default files and schemas are made in
# ``store.config_text``.

_EVENT_KINDS: Final = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")
_SEVERITIES: Final = ("error", "warning", "note", "off")

KEYS: Final[tuple[Key, ...]] = (
    Key(
        "store.version",
        CONFIG,
        "int",
        "The version of the formats this store needs. A program that knows only earlier ones reads it and "
        "writes nothing.",
        minimum=1,
    ),
    Key(
        "lint.select",
        CONFIG,
        "list",
        "Codes, or beginnings of codes, of the only rules to run (TM1 is all of TM1xx). Empty: all rules.",
    ),
    Key("lint.ignore", CONFIG, "list", "Codes, or beginnings of codes, of rules that do not run."),
    Key(
        "lint.severity",
        CONFIG,
        "table",
        'The weight of single rules, as TM301 = "note". Only errors and warnings make lint fail.',
        choices=_SEVERITIES,
    ),
    Key(
        "lint.baseline",
        CONFIG,
        "text",
        "A file, from the root, with findings that lint does not tell again; "
        "lint --write-baseline writes it. Empty: none.",
    ),
    Key(
        "lint.per_file",
        CONFIG,
        "tables",
        'Findings left alone in some files, and why: "episodic/**" = { TM205 = "files come and go" }. '
        "A glob is from the root or from .thunderus/memory.",
    ),
    Key(
        "lint.path_max",
        CONFIG,
        "int",
        "Longest path of a document from the root, in characters. Some systems stop at 260 in all.",
        minimum=40,
        maximum=1000,
    ),
    Key(
        "lint.name_max",
        CONFIG,
        "int",
        "Longest file name without .md, in characters.",
        minimum=8,
        maximum=200,
    ),
    Key("search.limit", CONFIG, "int", "How many hits search prints unless told.", minimum=1, maximum=1000),
    Key(
        "write.duplicates",
        CONFIG,
        "bool",
        "Whether add refuses a text that is known already, and warns of one that nearly is.",
    ),
    Key(
        "write.lock_timeout",
        CONFIG,
        "float",
        "Seconds a writing command waits for another one to finish.",
        minimum=0,
        maximum=3600,
    ),
    Key(
        "events.origin",
        CONFIG,
        "bool",
        "Whether an event names its author (git's user.name) and the client that wrote it.",
    ),
    Key(
        "events.private",
        CONFIG,
        "list",
        "Kinds of events that stay in .thunderus/local and are never committed.",
        choices=_EVENT_KINDS,
    ),
    Key(
        "review.agents",
        CONFIG,
        "choice",
        "What becomes of a change that an agent makes: it is applied at once, or filed for review.",
        choices=("apply", "propose"),
    ),
    Key(
        "review.kinds",
        CONFIG,
        "list",
        "Kinds of documents whose changes by agents are filed for review; others are applied at once.",
        choices=_KINDS,
    ),
    Key(
        "review.expires_days",
        CONFIG,
        "int",
        "Days after which a proposal that nobody has decided expires.",
        minimum=1,
        maximum=3650,
    ),
    Key(
        "review.self_approval",
        CONFIG,
        "bool",
        "Whether an agent may approve what an agent has proposed.",
    ),
    Key(
        "watch.quiet_ms",
        CONFIG,
        "int",
        "Milliseconds without a change before watch looks at the changes.",
        minimum=10,
        maximum=60_000,
    ),
    Key(
        "watch.longest_ms",
        CONFIG,
        "int",
        "Milliseconds after which watch looks even though changes go on.",
        minimum=10,
        maximum=600_000,
    ),
    Key(
        "watch.poll",
        CONFIG,
        "bool",
        "Whether watch looks at intervals instead of asking the system; for network folders and containers.",
    ),
    *GARDENER_KEYS,
)

KEY_BY_NAME: Final = {key.name: key for key in KEYS}
SECTIONS: Final = {
    "store": "What the store asks of the program.",
    "lint": "What lint checks and how much it weighs.",
    "search": "What search prints.",
    "write": "What happens around a write.",
    "events": "What the log says and to whom.",
    "review": "What waits for a decision, and for how long.",
    "watch": "How watch follows changes.",
    "kinds": "Which documents there are.",
    "caps": "How long documents may grow.",
    "duplicates": "What the gardener does with equal documents.",
    "recap": "What a recap contains, and which the gardener writes.",
    "consolidate": "What the gardener proposes to learn from sessions.",
    "archive": "What is set aside, and when.",
    "tags": "How tags are written.",
    "links": "What is said of links.",
}


# Configuration that was written for Thunderus's own gardener, and what it is called here.

OLDER_NAMES: Final = {
    "hygiene.core_soft_limit": "caps.core_soft",
    "hygiene.core_hard_limit": "caps.core_hard",
    "hygiene.doc_soft_limit": "caps.document_soft",
    "hygiene.doc_hard_limit": "caps.document_hard",
    "hygiene.dedup_strategy": "duplicates.strategy",
    "recap.max_files_listed": "recap.max_files",
}
"""Keys by the names of Thunderus's own gardener; they are read, and `migrate` renames them."""

OLDER_VALUES: Final = {
    "MergeToFirst": "merge_to_first",
    "KeepNewest": "keep_newest",
    "FlagForReview": "flag_for_review",
}
"""Words for values of such keys."""

OF_OTHERS: Final = frozenset(
    (
        *("default_profile", "profiles", "auto_consolidate", "hygiene_on_change", "drift_check_on_start"),
        *("extraction", "drift", "provenance_validation_mode", "hygiene.require_provenance"),
    )
)
"""Sections and keys that only Thunderus reads: they may stand in our files and are passed over."""
