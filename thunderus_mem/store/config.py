"""How long a document of a kind may grow, in tokens of four characters, and the texts of ``caps.kinds``."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from thunderus_mem.errors import InvalidConfig
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.store.config_keys import Key
    from thunderus_mem.store.layout import Layout

_DIGITS: Final = 9
"""What is longer is a slip, and thousands of digits are more than Python reads as a number."""


class Caps(NamedTuple):
    """Tokens above which a document gets a warning (``soft``) and an error (``hard``)."""

    soft: int
    hard: int


class Refusal(NamedTuple):
    """Why one ``text`` of ``caps.kinds`` cannot be taken, and a way out."""

    text: str
    problem: str
    hint: str


def caps_of(kind: str, core: Caps, document: Caps, kinds: Mapping[str, int]) -> Caps:
    """The caps of a kind: those of ``core`` for core memory, of ``document`` for any other.

    The number that ``kinds`` has for a kind stands in place of the document's soft cap, and raises the hard
    one where it is larger. The soft cap is never above the hard one.
    """
    if kind == "core":
        found = core
    elif kind in kinds:
        found = Caps(kinds[kind], max(kinds[kind], document.hard))
    else:
        found = document
    return Caps(min(found), found.hard)


def configured_caps(config: Config, kind: str) -> Caps:
    """The caps of a kind by the settings of a store."""
    return caps_of(
        kind,
        Caps(config.caps_core_soft, config.caps_core_hard),
        Caps(config.caps_document_soft, config.caps_document_hard),
        tokens_by_kind(config.caps_kinds),
    )


def tokens_by_kind(texts: Iterable[str]) -> dict[str, int]:
    """Kind → tokens, of texts such as ``recap = 3000`` of which none is refused."""
    return {kind: int(tokens) for kind, tokens in map(_parts, texts)}


def refusal(texts: Iterable[str], kinds: Sequence[str]) -> Refusal | None:
    """What is wrong with the first text that cannot be taken: ``None`` when all are "kind = tokens", each of
    another one of ``kinds`` and with a whole number from 1."""
    seen: set[str] = set()
    for text in texts:
        kind, tokens = _parts(text)
        if kind not in kinds:
            return Refusal(text, "names no kind that can have a cap of its own.", _kind_meant(kind, kinds))
        if not _is_cap(tokens):
            hint = f'Write it as "{kind} = 3000".'
            return Refusal(text, f"needs a whole number of tokens from 1 to {10**_DIGITS - 1:,}.", hint)
        if kind in seen:
            return Refusal(text, "names a kind that has a cap already.", f"Keep one line for {kind}.")
        seen.add(kind)
    return None


def _parts(text: str) -> tuple[str, str]:
    kind, _, tokens = text.partition("=")
    return kind.strip(), tokens.strip()


def _is_cap(tokens: str) -> bool:
    return tokens.isascii() and tokens.isdigit() and len(tokens) <= _DIGITS and int(tokens) > 0


def _kind_meant(kind: str, kinds: Sequence[str]) -> str:
    if kind == "core":
        return "Core memory has caps.core_soft and caps.core_hard."
    from thunderus_mem.document.ids import closest

    near = closest(kind.lower(), kinds, 1)
    return f"Did you mean {near[0]}?" if near else f"Kinds: {', '.join(kinds)}."


# Values of configuration keys: what a text or a value of a file means, and what a wrong one is told.


def from_text(key: Key, text: str) -> Any:
    """The value an environment variable means; lists are split at commas."""
    if key.type == "bool":
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.strip().lower(), text
        )
    if key.type in ("int", "float"):
        try:
            return int(text) if key.type == "int" else float(text)
        except ValueError:
            return text
    if key.type in ("list", "caps"):
        return [part.strip() for part in text.split(",") if part.strip()]
    if key.type == "table":
        pairs = (part.partition("=") for part in text.split(",") if part.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}
    return _toml(text) if key.type == "tables" else text


def _toml(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def checked(key: Key, value: Any, place: str) -> Any:
    """``value`` in the type of its key. Raises ``InvalidConfig`` that says what is expected."""
    result = of_type(key, value)
    if result is None:
        refused = _refused(key, value)
        if refused is not None:
            raise InvalidConfig(
                f"{place}: {key.name}: {_short(refused.text)} {refused.problem}", hint=refused.hint
            )
        from thunderus_mem.store.config_keys import expectation

        raise InvalidConfig(
            f"{place}: {key.name} must be {expectation(key)}.", hint=f"It is {_short(value)} now."
        )
    return result


def of_type(key: Key, value: Any) -> Any:
    """``value`` in the type of its key, ``None`` when it is not of it."""
    if key.type == "bool":
        return value if isinstance(value, bool) else None
    if key.type in ("int", "float"):
        good = isinstance(value, int if key.type == "int" else (int, float)) and not isinstance(value, bool)
        if not good or not _within(key, value):
            return None
        return value if key.type == "int" else float(value)
    if key.type in ("text", "choice"):
        good = isinstance(value, str) and (key.type == "text" or value in key.choices)
        return value if good else None
    if key.type == "list":
        good = _is_texts(value)
        return (
            tuple(value) if good and all(not key.choices or item in key.choices for item in value) else None
        )
    if key.type == "caps":
        return tuple(value) if _is_texts(value) and _refused(key, value) is None else None
    if key.type == "tables":
        good = isinstance(value, dict) and all(_holds_texts(item) for item in value.values())
        return {name: dict(item) for name, item in value.items()} if good else None
    good = _holds_texts(value) and all(not key.choices or item in key.choices for item in value.values())
    return dict(value) if good else None


def _refused(key: Key, value: Any) -> Refusal | None:
    return refusal(value, key.choices) if key.type == "caps" and _is_texts(value) else None


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _holds_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _within(key: Key, value: float) -> bool:
    return (key.minimum is None or value >= key.minimum) and (key.maximum is None or value <= key.maximum)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


# Configuration: ``.thunderus/config.toml``, ``.thunderus/memory/gardener.toml`` and the environment.
#
# The keys are explained in one table (``store.config_keys``); the default files, the JSON Schemas and
# ``docs/reference/config.md`` are made from it. A key that no file sets keeps its default, so a store
# without any configuration works. The environment wins: ``search.limit`` is ``THUNDERUS_MEM_SEARCH_LIMIT``.

Origin = Literal["default", "file", "environment"]
FORMAT: Final = 1
"""The version of the store's formats that this program writes; earlier ones are read, later ones too."""
_SIZE_LIMIT: Final = 1 << 20
_KEYWORDS: Final = ("decided", "chose", "selected", "picked", "went with", "opted for")
_KINDS: Final = tuple(DOCUMENT_FOLDERS)


class Config(NamedTuple):
    """All settings with their defaults. Attribute ``search_limit`` is key ``search.limit``."""

    store_version: int = FORMAT
    lint_select: tuple[str, ...] = ()
    lint_ignore: tuple[str, ...] = ()
    lint_severity: Mapping[str, str] = MappingProxyType({})
    lint_baseline: str = ""
    lint_per_file: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    lint_path_max: int = 120
    lint_name_max: int = 60
    search_limit: int = 10
    write_duplicates: bool = True
    write_lock_timeout: float = 10.0
    events_origin: bool = True
    events_private: tuple[str, ...] = ("message", "tool_call", "tool_result")
    review_agents: str = "apply"
    review_kinds: tuple[str, ...] = _KINDS
    review_expires_days: int = 30
    review_self_approval: bool = False
    watch_quiet_ms: int = 300
    watch_longest_ms: int = 2000
    watch_poll: bool = False
    kinds_allowed: tuple[str, ...] = _KINDS
    caps_core_soft: int = 4000
    caps_core_hard: int = 8000
    caps_document_soft: int = 2000
    caps_document_hard: int = 4000
    caps_kinds: tuple[str, ...] = ()
    caps_core_total: int = 8000
    duplicates_strategy: str = "merge_to_first"
    duplicates_kinds: tuple[str, ...] = ("fact", "playbook")
    duplicates_near: int = 50
    duplicates_contained: int = 80
    duplicates_restated: int = 33
    recap_include_file_changes: bool = True
    recap_max_files: int = 20
    recap_template: str = ""
    recap_private: bool = True
    recap_schedule: tuple[str, ...] = ()
    recap_days_back: int = 31
    consolidate_keywords: tuple[str, ...] = _KEYWORDS
    consolidate_workflow_steps: int = 3
    consolidate_max_per_session: int = 5
    archive_recaps_after_days: int = 180
    archive_superseded_after_days: int = 365
    archive_keep: tuple[str, ...] = ()
    tags_aliases: Mapping[str, str] = MappingProxyType({})
    links_orphans: bool = False
    origins: tuple[tuple[str, Origin], ...] = ()

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key comes from. Raises ``InvalidConfig`` for an unknown key."""
        _known(key, "the configuration")
        return dict(self.origins).get(key, "default")

    def get(self, key: str) -> Any:
        """The value of a dotted key. Raises ``InvalidConfig`` for an unknown key."""
        return getattr(self, _known(key, "the configuration").field)


def load(layout: Layout, environ: Mapping[str, str]) -> Config:
    """Read both files and the environment. Raises ``InvalidConfig`` naming file, key and a way out."""
    values: dict[str, Any] = {}
    origins: list[tuple[str, Origin]] = []
    for path, name in ((layout.config_file, "config.toml"), (layout.gardener_file, "gardener.toml")):
        for key, value in _read_file(path, name):
            values[key.field] = value
            origins.append((key.name, "file"))
    if any(variable.startswith("THUNDERUS_MEM_") for variable in environ):
        for key, value in _read_environment(environ):
            values[key.field] = value
            origins.append((key.name, "environment"))
    if not values:
        return Config()
    return Config(**values, origins=tuple(origins))


def _read_environment(environ: Mapping[str, str]) -> Iterator[tuple[Key, Any]]:
    from thunderus_mem.store.config_keys import KEYS

    for key in KEYS:
        text = environ.get(key.variable)
        if text is not None:
            yield key, checked(key, from_text(key, text), f"environment variable {key.variable}")


def _read_file(path: str, name: str) -> Iterator[tuple[Key, Any]]:
    try:
        # Not blocking, should somebody have put a pipe there.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as handle:
            data = handle.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InvalidConfig(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > _SIZE_LIMIT:
        raise InvalidConfig(f"{path} is longer than 1 MiB.", hint="Keep only settings in it.")
    if _sets_nothing(data):
        return
    yield from _parse(data, path, name)


def _sets_nothing(data: bytes) -> bool:
    """Whether no key is set: then the TOML parser need not be loaded, which every command would feel."""
    for line in map(bytes.strip, data.split(b"\n")):
        empty = line[:1] in (b"", b"#")
        if not empty and not (line[:1] == b"[" and line[-1:] == b"]" and line[1:-1].isalpha()):
            return False
    return True


def _parse(data: bytes, path: str, name: str) -> Iterator[tuple[Key, Any]]:
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path} is not UTF-8 text.", hint="Save it as UTF-8.") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number of more digits than Python reads is no TOML error
        marked = data.startswith(b"<<<<<<<") or b"\n<<<<<<<" in data
        hint = (
            "Git could not merge it: keep what is right and delete the conflict markers."
            if marked
            else "Mend the line; every key and its meaning: thunderus-mem schema print config"
        )
        raise InvalidConfig(f"{path} is not valid TOML: {error}.", hint=hint) from error
    from thunderus_mem.store.config_keys import OF_OTHERS, OLDER_NAMES, OLDER_VALUES

    later = _is_later(table)
    flat = sorted(_flatten(table), key=lambda pair: pair[0] not in OLDER_NAMES)
    for dotted, value in flat:
        if dotted in OF_OTHERS or dotted.partition(".")[0] in OF_OTHERS:
            continue
        if dotted in OLDER_NAMES:
            dotted, value = OLDER_NAMES[dotted], OLDER_VALUES.get(str(value), value)
        if later:
            yield from _understood(dotted, value, name)
            continue
        key = _known(dotted, path)
        if key.file != name:
            raise InvalidConfig(
                f"{path}: key {dotted} belongs in {key.file}.", hint=f"Move it to {key.file}."
            )
        yield key, checked(key, value, path)


def _is_later(table: dict[str, Any]) -> bool:
    """Whether the file is one of a later version, which may hold what we do not know."""
    store = table.get("store")
    version = store.get("version") if isinstance(store, dict) else None
    return isinstance(version, int) and version > FORMAT


def _understood(dotted: str, value: Any, name: str) -> Iterator[tuple[Key, Any]]:
    """The setting, when this version knows the key and can take the value."""
    from thunderus_mem.store.config_keys import KEY_BY_NAME

    key = KEY_BY_NAME.get(dotted)
    found = of_type(key, value) if key is not None and key.file == name else None
    if key is not None and found is not None:
        yield key, found


def _flatten(table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, content in table.items():
        if not isinstance(content, dict):
            yield section, content
            continue
        for name, value in content.items():
            yield f"{section}.{name}", value


def _known(name: str, place: str) -> Key:
    from thunderus_mem.store.config_keys import KEY_BY_NAME

    key = KEY_BY_NAME.get(name)
    if key is not None:
        return key
    from difflib import get_close_matches

    near = get_close_matches(name, list(KEY_BY_NAME), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "All keys: thunderus-mem config show"
    raise InvalidConfig(f"Unknown key {name} in {place}.", hint=hint)


# Configuration as text: the files ``init`` writes and the JSON Schemas editors check them with.


def toml_value(value: Any) -> str:
    """One value as TOML text."""
    import json

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
    from thunderus_mem.store.config_keys import CONFIG

    return _default_file(CONFIG, "Settings of this repository's memory.")


def default_gardener_toml() -> str:
    """The ``gardener.toml`` that ``init`` writes."""
    from thunderus_mem.store.config_keys import GARDENER

    return _default_file(GARDENER, "Rules the gardener keeps: sizes, duplicates, recaps, archive, tags.")


def _default_file(name: str, title: str) -> str:
    from thunderus_mem.store.config_keys import KEYS, SECTIONS, expectation

    lines = [
        f"# {title}",
        "# Every key is optional; a line that begins with # shows the default.",
        "# To change a value, remove the # before its key.",
    ]
    section = ""
    for key in (key for key in KEYS if key.file == name):
        head, _, rest = key.name.partition(".")
        if head != section:
            section = head
            lines += ["", f"# {SECTIONS[head]}", f"[{head}]"]
        lines += ["", *_comment(key.explanation), f"# ({expectation(key)}; {key.variable})"]
        lines.append(f"#{rest} = {toml_value(getattr(Config(), key.field))}")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    import textwrap

    return [f"# {line}" for line in textwrap.wrap(text, 100)]


def config_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``config.toml`` or ``gardener.toml``, for editors."""
    from thunderus_mem.store.config_keys import KEYS, SECTIONS

    sections: dict[str, Any] = {}
    for key in (key for key in KEYS if key.file == name):
        head, _, rest = key.name.partition(".")
        section = sections.setdefault(
            head, {"type": "object", "description": SECTIONS[head], "additionalProperties": False}
        )
        section.setdefault("properties", {})[rest] = _key_schema(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:thunderus-mem:schema:{name.removesuffix('.toml')}:1",
        "title": f"thunderus-mem {name}",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
    }


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "items") else value


def _key_schema(key: Key) -> dict[str, Any]:
    default = getattr(Config(), key.field)
    schema: dict[str, Any] = {
        "description": key.explanation,
        "default": _as_json(default),
    }
    names = {"bool": "boolean", "int": "integer", "float": "number", "list": "array"}
    names |= {"table": "object", "tables": "object", "caps": "array"}
    schema["type"] = names.get(key.type, "string")
    if key.minimum is not None:
        schema["minimum"] = key.minimum
    if key.maximum is not None:
        schema["maximum"] = key.maximum
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
