"""The table of configuration keys: what each means, takes, and is called elsewhere. Touches no disk.

One row a key. Its default stands in ``config.Config``; from both come what the reader takes and refuses,
``config show``, the files that `init` writes, the JSON Schemas that editors check them with, and
``docs/reference/config.md``.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from thunderus_mem.document.ids import closest
from thunderus_mem.errors import InvalidConfig
from thunderus_mem.store.config import Config
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG: Final = "config.toml"
GARDENER: Final = "gardener.toml"

KeyType = Literal["bool", "int", "float", "text", "choice", "list", "table", "tables", "caps"]

_KINDS: Final = tuple(DOCUMENT_FOLDERS)
_CAPPED_KINDS: Final = tuple(kind for kind in _KINDS if kind != "core")
_EVENT_KINDS: Final = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")
_SEVERITIES: Final = ("error", "warning", "note", "off")

_SECTIONS: Final = {
    "store": (CONFIG, "What the store asks of the program."),
    "lint": (CONFIG, "What lint checks and how much it weighs."),
    "search": (CONFIG, "What search prints."),
    "write": (CONFIG, "What happens around a write."),
    "events": (CONFIG, "What the log says and to whom."),
    "review": (CONFIG, "What waits for a decision, and for how long."),
    "watch": (CONFIG, "How watch follows changes."),
    "kinds": (GARDENER, "Which documents there are."),
    "caps": (GARDENER, "How long documents may grow."),
    "duplicates": (GARDENER, "What the gardener does with equal documents."),
    "recap": (GARDENER, "What a recap contains, and which the gardener writes."),
    "consolidate": (GARDENER, "What the gardener proposes to learn from sessions."),
    "archive": (GARDENER, "What is set aside, and when."),
    "tags": (GARDENER, "How tags are written."),
    "links": (GARDENER, "What is said of links."),
}
"""Section → the file it belongs in, and its heading there."""


class Key(NamedTuple):
    """One key: its dotted name, type, what it does, its bounds and choices, and its name in older files."""

    name: str
    type: KeyType
    explanation: str
    bounds: tuple[float | None, float | None] = (None, None)
    choices: tuple[str, ...] = ()
    older: str = ""

    @property
    def section(self) -> str:
        """The table of the file that it stands in: ``search`` of ``search.limit``."""
        return self.name.partition(".")[0]

    @property
    def file(self) -> str:
        """The name of the file it belongs in."""
        return _SECTIONS[self.section][0]

    @property
    def field(self) -> str:
        """The attribute of ``Config``: ``search.limit`` → ``search_limit``."""
        return self.name.replace(".", "_")

    @property
    def variable(self) -> str:
        """The environment variable that sets it: ``THUNDERUS_MEM_SEARCH_LIMIT``."""
        return f"THUNDERUS_MEM_{self.field.upper()}"

    @property
    def default(self) -> Any:
        """What holds when nothing sets it."""
        return Config._field_defaults[self.field]

    @property
    def expectation(self) -> str:
        """What it takes, for messages and the reference: "a whole number from 1 to 1000"."""
        if self.type in ("int", "float"):
            noun = "a whole number" if self.type == "int" else "a number"
            low, high = self.bounds
            return (
                noun + ("" if low is None else f" from {low:g}") + ("" if high is None else f" to {high:g}")
            )
        choices = ", ".join(self.choices)
        return {
            "bool": "true or false",
            "text": "a text",
            "choice": f"one of {choices}",
            "list": f"a list of {choices or 'texts'}",
            "table": f"a table whose values are {choices}" if choices else "a table of texts",
            "caps": f'a list of "kind = tokens", each for one of {choices}',
            "tables": "a table of globs, each a table of codes and reasons",
        }[self.type]


# fmt: off
KEYS: Final[tuple[Key, ...]] = (
    Key("store.version", "int",
        "The version of the formats this store needs. A program that knows only earlier ones reads it "
        "and writes nothing.", bounds=(1, None)),
    Key("lint.select", "list",
        "Codes, or beginnings of codes, of the only rules to run (TM1 is all of TM1xx). Empty: all "
        "rules."),
    Key("lint.ignore", "list", "Codes, or beginnings of codes, of rules that do not run."),
    Key("lint.severity", "table",
        'The weight of single rules, as TM301 = "note". Only errors and warnings make lint fail.',
        choices=_SEVERITIES),
    Key("lint.baseline", "text",
        "A file, from the root, with findings that lint does not tell again; lint --write-baseline "
        "writes it. Empty: none."),
    Key("lint.per_file", "tables",
        'Findings left alone in some files, and why: "episodic/**" = { TM205 = "files come and go" }. A '
        "glob is from the root or from .thunderus/memory."),
    Key("lint.path_max", "int",
        "Longest path of a document from the root, in characters. Some systems stop at 260 in all.",
        bounds=(40, 1000)),
    Key("lint.name_max", "int", "Longest file name without .md, in characters.", bounds=(8, 200)),
    Key("search.limit", "int", "How many hits search prints unless told.", bounds=(1, 1000)),
    Key("write.duplicates", "bool",
        "Whether add refuses a text that is known already, and warns of one that nearly is."),
    Key("write.lock_timeout", "float",
        "Seconds a writing command waits for another one to finish.", bounds=(0, 3600)),
    Key("events.origin", "bool",
        "Whether an event names its author (git's user.name) and the client that wrote it."),
    Key("events.private", "list",
        "Kinds of events that stay in .thunderus/local and are never committed.", choices=_EVENT_KINDS),
    Key("review.agents", "choice",
        "What becomes of a change that an agent makes: it is applied at once, or filed for review.",
        choices=("apply", "propose")),
    Key("review.kinds", "list",
        "Kinds of documents whose changes by agents are filed for review; others are applied at once.",
        choices=_KINDS),
    Key("review.expires_days", "int",
        "Days after which a proposal that nobody has decided expires.", bounds=(1, 3650)),
    Key("review.self_approval", "bool", "Whether an agent may approve what an agent has proposed."),
    Key("watch.quiet_ms", "int",
        "Milliseconds without a change before watch looks at the changes.", bounds=(10, 60_000)),
    Key("watch.longest_ms", "int",
        "Milliseconds after which watch looks even though changes go on.", bounds=(10, 600_000)),
    Key("watch.poll", "bool",
        "Whether watch looks at intervals instead of asking the system; for network folders and "
        "containers."),
    Key("kinds.allowed", "list", "Kinds of documents this memory takes.", choices=_KINDS),
    Key("caps.core_soft", "int",
        "Tokens (4 characters each) at which a core document gets a warning.",
        bounds=(1, None), older="hygiene.core_soft_limit"),
    Key("caps.core_hard", "int",
        "Tokens at which a core document gets an error.", bounds=(1, None), older="hygiene.core_hard_limit"),
    Key("caps.document_soft", "int",
        "Tokens at which any other document gets a warning.",
        bounds=(1, None), older="hygiene.doc_soft_limit"),
    Key("caps.document_hard", "int",
        "Tokens at which any other document gets an error.",
        bounds=(1, None), older="hygiene.doc_hard_limit"),
    Key("caps.kinds", "caps",
        'Caps of single kinds, as "recap = 3000": a warning at so many tokens in place of '
        "caps.document_soft, an error at the larger of them and caps.document_hard.", choices=_CAPPED_KINDS),
    Key("caps.core_total", "int",
        "Tokens of all core documents together, CORE.local.md left out, at which garden says what to "
        "cut.", bounds=(1, None)),
    Key("duplicates.strategy", "choice",
        "Which of several equal documents stays: the first made, the one updated last, or none by "
        "itself.",
        choices=("merge_to_first", "keep_newest", "flag_for_review"), older="hygiene.dedup_strategy"),
    Key("duplicates.kinds", "list",
        "Kinds whose duplicates are merged; others are only reported.", choices=_KINDS),
    Key("duplicates.near", "int",
        "Percent of the three-word runs of two documents that both have, from which they are near.",
        bounds=(30, 100)),
    Key("duplicates.contained", "int",
        "Percent of the shorter's three-word runs that the longer has, from which they are near.",
        bounds=(50, 100)),
    Key("duplicates.restated", "int",
        "Percent of what two documents speak of that both do, from which one may restate the other.",
        bounds=(20, 100)),
    Key("recap.include_file_changes", "bool", "Whether a recap lists the files that changed."),
    Key("recap.max_files", "int",
        "How many changed files a recap lists.", bounds=(0, 1000), older="recap.max_files_listed"),
    Key("recap.template", "text",
        "A Jinja template, from the root, that replaces the recap's built-in page. Empty: built in."),
    Key("recap.private", "bool",
        "Whether a recap tells commands, edited files and decisions of events private to this working "
        "tree."),
    Key("recap.schedule", "list",
        "Recaps that the gardener writes when they are missing, once what they tell of is over. Empty: "
        "none.", choices=("session", "day", "week", "month")),
    Key("recap.days_back", "int",
        "How many days back the gardener looks for recaps that are missing.", bounds=(1, 3660)),
    Key("consolidate.keywords", "list", "Words by which a sentence of a message tells of a decision."),
    Key("consolidate.workflow_steps", "int",
        "How many commands in a row must succeed to be proposed as a playbook.", bounds=(2, 50)),
    Key("consolidate.max_per_session", "int",
        "How many new documents the gardener proposes from one session. 0: none.", bounds=(0, 50)),
    Key("archive.recaps_after_days", "int",
        "Days after its last change at which a recap goes into the archive, when no document in use "
        "links to it but recaps that sum it up. 0: never.", bounds=(0, 36_500)),
    Key("archive.superseded_after_days", "int",
        "Days after which garden proposes to archive a document that another one supersedes. 0: never.",
        bounds=(0, 36_500)),
    Key("archive.keep", "list",
        "Documents that garden leaves in use, by a tag, or by a glob over ids or paths (with * or /)."),
    Key("tags.aliases", "table", 'Tags that garden writes in another way: testing = "tests".'),
    Key("links.orphans", "bool",
        "Whether garden lists documents that nothing leads to: no link from or to them, no tag of "
        "another document, no code."),
)
# fmt: on

KEY_BY_NAME: Final = {key.name: key for key in KEYS}

OLDER_NAMES: Final = {key.older: key.name for key in KEYS if key.older}
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


# Values: what a text of the environment or a value of a file means, and what a wrong one is told.

_DIGITS: Final = 9
"""What is longer is a slip, and thousands of digits are more than Python reads as a number."""


def from_text(key: Key, text: str) -> Any:
    """The value an environment variable means; lists are split at commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    try:
        match key.type:
            case "bool":
                words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
                return words.get(text.strip().lower(), text)
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "list" | "caps":
                return parts
            case "table":
                pairs = (part.partition("=") for part in parts)
                return {name.strip(): value.strip() for name, _, value in pairs}
            case "tables":
                import tomllib

                return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        pass  # it is told what it should be
    return text


def checked(key: Key, value: Any, place: str) -> Any:
    """``value`` in the type of its key. Raises ``InvalidConfig`` that says what is expected in ``place``."""
    found = of_type(key, value)
    if found is not None:
        return found
    if key.type == "caps" and _is_texts(value):
        text, problem, hint = next(_wrong_caps(value, key.choices))
        raise InvalidConfig(f"{place}: {key.name}: {_short(text)} {problem}", hint=hint)
    raise InvalidConfig(f"{place}: {key.name} must be {key.expectation}.", hint=f"It is {_short(value)} now.")


def of_type(key: Key, value: Any) -> Any:
    """``value`` in the type of its key, ``None`` when it is not of it."""
    allowed = {*key.choices}
    match key.type:
        case "bool":
            good = isinstance(value, bool)
        case "int" | "float":
            low, high = key.bounds
            good = isinstance(value, int if key.type == "int" else (int, float)) and not isinstance(
                value, bool
            )
            good = good and (low is None or value >= low) and (high is None or value <= high)
            value = float(value) if good and key.type == "float" else value
        case "text" | "choice":
            good = isinstance(value, str) and (key.type == "text" or value in allowed)
        case "list":
            good = _is_texts(value) and (not allowed or allowed.issuperset(value))
        case "caps":
            good = _is_texts(value) and next(_wrong_caps(value, key.choices), None) is None
        case "table":
            good = _holds_texts(value) and (not allowed or allowed.issuperset(value.values()))
        case "tables":
            good = isinstance(value, dict) and all(map(_holds_texts, value.values()))
    if not good:
        return None
    return tuple(value) if isinstance(value, list) else value


def _wrong_caps(texts: list[str], kinds: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """The texts of ``caps.kinds`` that cannot be taken, each with what is wrong with it and a way out.

    Each is "kind = tokens", of another one of ``kinds`` and with a whole number from 1.
    """
    seen: set[str] = set()
    for text in texts:
        kind, tokens = (part.strip() for part in text.partition("=")[::2])
        number = tokens.isascii() and tokens.isdigit() and len(tokens) <= _DIGITS and int(tokens) > 0
        if kind not in kinds:
            yield text, "names no kind that can have a cap of its own.", _kind_meant(kind, kinds)
        elif not number:
            problem = f"needs a whole number of tokens from 1 to {10**_DIGITS - 1:,}."
            yield text, problem, f'Write it as "{kind} = 3000".'
        elif kind in seen:
            yield text, "names a kind that has a cap already.", f"Keep one line for {kind}."
        seen.add(kind)


def _kind_meant(kind: str, kinds: tuple[str, ...]) -> str:
    if kind == "core":
        return "Core memory has caps.core_soft and caps.core_hard."
    near = closest(kind.lower(), kinds, 1)
    return f"Did you mean {near[0]}?" if near else f"Kinds: {', '.join(kinds)}."


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _holds_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


# Configuration as text: the files `init` writes, and the JSON Schemas that editors check them with.


def toml_value(value: Any) -> str:
    """One value as TOML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if hasattr(value, "items"):
        inner = ", ".join(f"{_toml_key(name)} = {toml_value(item)}" for name, item in sorted(value.items()))
        return "{ " + inner + " }" if inner else "{}"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else toml_value(name)


def default_config_toml() -> str:
    """The ``config.toml`` that ``init`` writes: every key explained, each commented out at its default."""
    return _default_file(CONFIG, "Settings of this repository's memory.")


def default_gardener_toml() -> str:
    """The ``gardener.toml`` that ``init`` writes."""
    return _default_file(GARDENER, "Rules the gardener keeps: sizes, duplicates, recaps, archive, tags.")


def _default_file(name: str, title: str) -> str:
    lines = [
        f"# {title}",
        "# Every key is optional; a line that begins with # shows the default.",
        "# To change a value, remove the # before its key.",
    ]
    section = ""
    for key in (key for key in KEYS if key.file == name):
        if key.section != section:
            section = key.section
            lines += ["", f"# {_SECTIONS[section][1]}", f"[{section}]"]
        lines += ["", *(f"# {line}" for line in textwrap.wrap(key.explanation, 100))]
        lines += [f"# ({key.expectation}; {key.variable})"]
        lines += [f"#{key.name.partition('.')[2]} = {toml_value(key.default)}"]
    return "\n".join(lines) + "\n"


def config_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``config.toml`` or ``gardener.toml``, for editors."""
    sections: dict[str, Any] = {}
    for key in (key for key in KEYS if key.file == name):
        heading = _SECTIONS[key.section][1]
        empty = {"type": "object", "description": heading, "additionalProperties": False, "properties": {}}
        sections.setdefault(key.section, empty)["properties"][key.name.partition(".")[2]] = _key_schema(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:thunderus-mem:schema:{name.removesuffix('.toml')}:1",
        "title": f"thunderus-mem {name}",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
    }


def _key_schema(key: Key) -> dict[str, Any]:
    default = key.default
    default = list(default) if isinstance(default, tuple) else default
    default = dict(default) if hasattr(default, "items") else default
    names = {"bool": "boolean", "int": "integer", "float": "number", "list": "array"}
    names |= {"table": "object", "tables": "object", "caps": "array"}
    schema: dict[str, Any] = {
        "description": key.explanation,
        "default": default,
        "type": names.get(key.type, "string"),
    }
    limits = zip(("minimum", "maximum"), key.bounds, strict=True)
    schema |= {name: bound for name, bound in limits if bound is not None}
    text: dict[str, Any] = {"type": "string"} | ({"enum": list(key.choices)} if key.choices else {})
    if key.type == "list":
        schema["items"] = text
    elif key.type == "caps":
        # As the reader takes it: any blanks around both, and no number that is 0.
        pattern = rf"^\s*({'|'.join(key.choices)})\s*=\s*(?!0+\s*$)[0-9]{{1,9}}\s*$"
        schema["items"] = {"type": "string", "pattern": pattern}
    elif key.type == "table":
        schema["additionalProperties"] = text
    elif key.type == "tables":
        schema["additionalProperties"] = {"type": "object", "additionalProperties": text}
    elif key.choices:
        schema["enum"] = list(key.choices)
    return schema
