"""The table of configuration keys: meaning, type and older name of each. No disk access.

One row per key; its default is in ``config.Config``. Both are the source of the reader's checks, of ``config
show``, of the files that `init` writes, of their JSON Schemas for editors, and of
``docs/reference/config.md``.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any, Final, Literal

from thunderus_mem.document.ids import closest
from thunderus_mem.errors import InvalidConfig
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.config import KINDS, Config

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG: Final = "config.toml"
GARDENER: Final = "gardener.toml"

KeyType = Literal["bool", "int", "float", "text", "choice", "list", "table", "tables", "caps"]

_CAPPED_KINDS: Final = tuple(kind for kind in KINDS if kind != "core")
_EVENT_KINDS: Final = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")
_SEVERITIES: Final = ("error", "warning", "note", "off")

_SECTIONS: Final = {
    "store": (CONFIG, "The format of the store."),
    "lint": (CONFIG, "Which rules lint runs, and their severity."),
    "search": (CONFIG, "Output of search."),
    "context": (CONFIG, "What context gives to an agent."),
    "write": (CONFIG, "Checks and locking of commands that write."),
    "events": (CONFIG, "What events record, and which are committed."),
    "review": (CONFIG, "Which changes need review, and when proposals expire."),
    "usage": (CONFIG, "What is counted in this working tree."),
    "watch": (CONFIG, "How watch detects changes."),
    "kinds": (GARDENER, "Which kinds of documents are allowed."),
    "caps": (GARDENER, "Size limits of documents."),
    "duplicates": (GARDENER, "How the gardener finds and merges duplicates."),
    "recap": (GARDENER, "What a recap contains, and which recaps the gardener writes."),
    "archive": (GARDENER, "What is archived, and when."),
    "tags": (GARDENER, "Spelling of tags."),
    "links": (GARDENER, "What is reported about links."),
}
"""Section → its file, and its heading in that file."""


class Key(NamedTuple):
    """One key: its dotted name, type, explanation, bounds, choices, and its name in older files."""

    name: str
    type: KeyType
    explanation: str
    bounds: tuple[float | None, float | None] = (None, None)
    choices: tuple[str, ...] = ()
    older: str = ""

    @property
    def section(self) -> str:
        """The section of the file: ``search`` of ``search.limit``."""
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
        """The default value."""
        return Config._field_defaults[self.field]

    @property
    def expectation(self) -> str:
        """The expected value, for messages and the reference: "an integer from 1 to 1000"."""
        if self.type in ("int", "float"):
            noun = "an integer" if self.type == "int" else "a number"
            low, high = self.bounds
            return (
                noun + ("" if low is None else f" from {low:g}") + ("" if high is None else f" to {high:g}")
            )
        choices = ", ".join(self.choices)
        return {
            "bool": "true or false",
            "text": "a string",
            "choice": f"one of {choices}",
            "list": f"a list of {choices or 'strings'}",
            "table": f"a table whose values are {choices}" if choices else "a table of strings",
            "caps": f'a list of "kind = tokens", where kind is one of {choices}',
            "tables": "a table of globs, each with a table of rule codes and reasons",
        }[self.type]


# fmt: off
KEYS: Final[tuple[Key, ...]] = (
    Key("store.version", "int",
        "The format version of this store. A program that supports only earlier versions can read the "
        "store but not write it.", bounds=(1, None)),
    Key("lint.select", "list",
        "Codes or code prefixes of the rules to run; TM1 means all of TM1xx. Empty: all rules."),
    Key("lint.ignore", "list", "Codes or code prefixes of the rules not to run."),
    Key("lint.profiles", "list",
        "Rules of other programs (TM8xx) to run as well: the practices of the unified memory schema, the "
        "metadata contract of Nova.", choices=("shodh", "nova")),
    Key("lint.severity", "table",
        'The severity of single rules, e.g. TM301 = "note". Only errors and warnings make lint fail.',
        choices=_SEVERITIES),
    Key("lint.baseline", "text",
        "Path of the baseline, from the root: findings in it are not reported. lint --write-baseline "
        "writes it. Empty: no baseline."),
    Key("lint.per_file", "tables",
        'Rules suppressed in some files, with the reason: "episodic/**" = { TM205 = "paths of the past" }. '
        "Globs are relative to the root or to .thunderus/memory."),
    Key("lint.path_max", "int",
        "Maximum length of a document's path from the root, in characters. Some systems allow 260 in all.",
        bounds=(40, 1000)),
    Key("lint.name_max", "int", "Maximum length of a file name without .md, in characters.", bounds=(8, 200)),
    Key("search.limit", "int", "Default number of hits that search prints.", bounds=(1, 1000)),
    Key("context.passages", "int",
        "Default number of passages that context prints, besides core documents.", bounds=(1, 50)),
    Key("context.budget", "int",
        "Default number of tokens (4 characters each) that context prints at most.", bounds=(64, 100_000)),
    Key("context.unreviewed", "bool",
        "Whether context includes documents that an agent wrote and no user has verified."),
    Key("write.duplicates", "bool",
        "Whether add refuses an exact duplicate of a document and warns about a near one."),
    Key("write.lock_timeout", "float",
        "Seconds that a command waits for another writing command to finish.", bounds=(0, 3600)),
    Key("events.origin", "bool",
        "Whether an event records its author (git's user.name) and the client that wrote it."),
    Key("events.private", "list",
        "Kinds of events that stay in .thunderus/local and are never committed.", choices=_EVENT_KINDS),
    Key("review.agents", "choice",
        "Changes made by an agent: apply them at once, or propose them for review.",
        choices=("apply", "propose")),
    Key("review.kinds", "list",
        "Kinds of documents for which an agent's changes become proposals; others are applied at once.",
        choices=KINDS),
    Key("review.expires_days", "int",
        "Days after which a pending proposal expires.", bounds=(1, 3650)),
    Key("review.self_approval", "bool", "Whether an agent may approve a proposal made by an agent."),
    Key("usage.count", "bool",
        "Whether show, context and the MCP server count the reads of each document, in .thunderus/local."),
    Key("watch.quiet_ms", "int",
        "Milliseconds without a change before watch processes the changes.", bounds=(10, 60_000)),
    Key("watch.longest_ms", "int",
        "Milliseconds after which watch processes the changes although more arrive.", bounds=(10, 600_000)),
    Key("watch.poll", "bool",
        "Whether watch polls instead of using file system events; for network folders and containers."),
    Key("kinds.allowed", "list",
        "Kinds of documents allowed in this memory: others are not added, imported or planned, and lint "
        "reports them.", choices=KINDS),
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
        'Caps of single kinds, e.g. "recap = 3000": a warning at this many tokens instead of '
        "caps.document_soft, an error at the larger of this number and caps.document_hard.",
        choices=_CAPPED_KINDS),
    Key("caps.core_total", "int",
        "Total tokens of all core documents without CORE.local.md, above which garden reports what to "
        "shorten.", bounds=(1, None)),
    Key("duplicates.strategy", "choice",
        "Which of several duplicates is kept: the oldest, the one updated last, or left to a review.",
        choices=("merge_to_first", "keep_newest", "flag_for_review"), older="hygiene.dedup_strategy"),
    Key("duplicates.kinds", "list",
        "Kinds whose duplicates are merged; others are only reported.", choices=KINDS),
    Key("duplicates.near", "int",
        "Percentage of three-word sequences that two documents about one subject share at which the newer "
        "one may supersede the older.",
        bounds=(30, 100)),
    Key("recap.include_file_changes", "bool", "Whether a recap lists the changed files."),
    Key("recap.max_files", "int",
        "Maximum number of changed files in a recap.", bounds=(0, 1000), older="recap.max_files_listed"),
    Key("recap.template", "text",
        "Path of a Jinja template, from the root, used instead of the built-in one. Empty: built-in."),
    Key("recap.private", "bool",
        "Whether a recap includes commands, their outcome and edited files from events kept local to this "
        "working tree."),
    Key("recap.quote", "bool",
        "Whether a recap quotes requests, error texts and notes from events kept local to this working "
        "tree; possible secrets are omitted."),
    Key("recap.schedule", "list",
        "Recaps that the gardener writes if they are missing, once their period is over. Empty: none.",
        choices=("session", "day", "week", "month")),
    Key("recap.days_back", "int",
        "How many days back the gardener looks for missing recaps.", bounds=(1, 3660)),
    Key("archive.recaps_after_days", "int",
        "Days since its last change after which a recap is archived, unless a document other than its "
        "rollups links to it. 0: never.", bounds=(0, 36_500)),
    Key("archive.superseded_after_days", "int",
        "Days after which garden proposes to archive a document that another one supersedes. 0: never.",
        bounds=(0, 36_500)),
    Key("archive.low_quality_after_days", "int",
        "Days since its last change after which garden proposes to archive a document with a quality_score "
        "up to 0.4, or rated down. 0: never.", bounds=(0, 36_500)),
    Key("archive.keep", "list",
        "Documents that garden never archives: a tag, or a glob of ids or paths (contains * or /)."),
    Key("tags.aliases", "table", 'Tags that garden replaces: testing = "tests" turns testing into tests.'),
    Key("links.orphans", "bool",
        "Whether garden lists orphans: documents without links to or from others, without shared tags "
        "and without anchors."),
)
# fmt: on

KEY_BY_NAME: Final = {key.name: key for key in KEYS}

OLDER_NAMES: Final = {key.older: key.name for key in KEYS if key.older}
"""Names used by Thunderus's own gardener → ours; they are read, and `migrate` renames them."""

OLDER_VALUES: Final = {
    "MergeToFirst": "merge_to_first",
    "KeepNewest": "keep_newest",
    "FlagForReview": "flag_for_review",
}
"""Values of such keys → ours."""

OF_OTHERS: Final = frozenset(
    (
        *("default_profile", "profiles", "auto_consolidate", "hygiene_on_change", "drift_check_on_start"),
        *("extraction", "drift", "provenance_validation_mode", "hygiene.require_provenance"),
    )
)
"""Sections and keys that only Thunderus reads: allowed in our files and ignored."""

RETIRED: Final = frozenset(
    (
        *("consolidate.keywords", "consolidate.workflow_steps", "consolidate.max_per_session"),
        *("duplicates.contained", "duplicates.restated"),
    )
)
"""Keys of earlier versions without an effect: allowed, and reported by `doctor`."""


# Values: parse and check the text of an environment variable or a value of a file.

_DIGITS: Final = 9
"""Longer numbers are mistakes, and Python refuses to parse thousands of digits."""


def from_text(key: Key, text: str) -> Any:
    """Parse the value of an environment variable; lists are split at commas."""
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
        pass  # `checked` reports it
    return text


def checked(key: Key, value: Any, place: str) -> Any:
    """Return ``value`` in the type of its key. Raises ``InvalidConfig``, which names ``place``."""
    found = of_type(key, value)
    if found is not None:
        return found
    if key.type == "caps" and _is_text_list(value):
        text, problem, hint = next(_wrong_caps(value, key.choices))
        raise InvalidConfig(f"{place}: {key.name}: {_short(text)} {problem}", hint=hint)
    hint = f"run `thunderus-mem config schemas {key.file.partition('.')[0]}` to list all keys"
    if key.type == "table" and key.choices and _is_text_table(value):
        name, wrong = next((name, text) for name, text in value.items() if text not in key.choices)
        allowed = f"{', '.join(key.choices[:-1])} or {key.choices[-1]}"
        raise InvalidConfig(f"{place}: {key.name}.{name} must be {allowed}, not {_short(wrong)}", hint=hint)
    raise InvalidConfig(f"{place}: {key.name} must be {key.expectation}, not {_short(value)}", hint=hint)


def of_type(key: Key, value: Any) -> Any:
    """Return ``value`` in the type of its key, ``None`` if it does not match."""
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
            good = _is_text_list(value) and (not allowed or allowed.issuperset(value))
        case "caps":
            good = _is_text_list(value) and next(_wrong_caps(value, key.choices), None) is None
        case "table":
            good = _is_text_table(value) and (not allowed or allowed.issuperset(value.values()))
        case "tables":
            good = isinstance(value, dict) and all(map(_is_text_table, value.values()))
    if not good:
        return None
    return tuple(value) if isinstance(value, list) else value


def _wrong_caps(texts: list[str], kinds: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield each invalid entry of ``caps.kinds`` with its problem and a hint.

    A valid entry is "kind = tokens": one of ``kinds``, each at most once, and an integer from 1.
    """
    seen: set[str] = set()
    for text in texts:
        kind, tokens = (part.strip() for part in text.partition("=")[::2])
        number = tokens.isascii() and tokens.isdigit() and len(tokens) <= _DIGITS and int(tokens) > 0
        if kind not in kinds:
            problem = "sets a cap for core documents" if kind == "core" else "has an unknown kind"
            yield text, problem, _suggest_kind(kind, kinds)
        elif not number:
            problem = f"needs an integer from 1 to {10**_DIGITS - 1:,} as the number of tokens"
            yield text, problem, f'write it as "{kind} = 3000"'
        elif kind in seen:
            yield text, "repeats a kind", f"keep one entry for {kind}"
        seen.add(kind)


def _suggest_kind(kind: str, kinds: tuple[str, ...]) -> str:
    if kind == "core":
        return "for core documents, set `caps.core_soft` and `caps.core_hard`"
    near = closest(kind.lower(), kinds, 1)
    return f"did you mean {near[0]}?" if near else f"use one of: {', '.join(kinds)}"


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


# Configuration as text: the files `init` writes, and their JSON Schemas for editors.


def toml_value(value: Any) -> str:
    """Format one value as TOML."""
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
    """Return the ``config.toml`` that ``init`` writes: every key with its explanation, commented out."""
    return _default_file(CONFIG, "Settings of this repository's memory.")


def default_gardener_toml() -> str:
    """Return the ``gardener.toml`` that ``init`` writes."""
    return _default_file(GARDENER, "Settings of the gardener: sizes, duplicates, recaps, archive, tags.")


def _default_file(name: str, title: str) -> str:
    lines = [
        f"# {title}",
        "# Every key is optional; the commented lines show the defaults.",
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
    """Return the JSON Schema (2020-12) of ``config.toml`` or ``gardener.toml``, for editors."""
    sections: dict[str, Any] = {}
    for key in (key for key in KEYS if key.file == name):
        heading = _SECTIONS[key.section][1]
        empty = {"type": "object", "description": heading, "additionalProperties": False, "properties": {}}
        sections.setdefault(key.section, empty)["properties"][key.name.partition(".")[2]] = _key_schema(key)
    for section, _, leaf in (dotted.partition(".") for dotted in sorted(RETIRED) if name == GARDENER):
        empty = {"type": "object", "description": "Without effect.", "deprecated": True, "properties": {}}
        sections.setdefault(section, empty)["properties"][leaf] = {"deprecated": True}
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
        # As the reader accepts it: any spaces around both, and not 0.
        pattern = rf"^\s*({'|'.join(key.choices)})\s*=\s*(?!0+\s*$)[0-9]{{1,9}}\s*$"
        schema["items"] = {"type": "string", "pattern": pattern}
    elif key.type == "table":
        schema["additionalProperties"] = text
    elif key.type == "tables":
        schema["additionalProperties"] = {"type": "object", "additionalProperties": text}
    elif key.choices:
        schema["enum"] = list(key.choices)
    return schema
