"""The table of configuration keys: name, file, type, bounds and what each does.

Defaults stand in ``store.config.Config``; the default files and schemas are made in ``store.config_text``.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.store.config_key import CONFIG, Key
from thunderus_mem.store.gardener_keys import GARDENER_KEYS
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

_KINDS: Final = tuple(DOCUMENT_FOLDERS)
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
