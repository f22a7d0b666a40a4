"""Configuration: ``.thunderus/config.toml``, ``.thunderus/memory/gardener.toml`` and the environment.

The keys are explained in one table (``store.config_keys``); the default files, the JSON Schemas and
``docs/reference/config.md`` are made from it. A key that no file sets keeps its default, so a store without
any configuration works. The environment wins: ``search.limit`` is ``THUNDERUS_MEM_SEARCH_LIMIT``.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from thunderus_mem.model.errors import InvalidConfig
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from thunderus_mem.store.config_key import Key
    from thunderus_mem.store.layout import Layout

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
    from thunderus_mem.store.config_value import checked, from_text

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
    from thunderus_mem.store.config_value import checked
    from thunderus_mem.store.older_keys import OF_OTHERS, OLDER_NAMES, OLDER_VALUES

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
    from thunderus_mem.store.config_value import of_type

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
