"""Reads the settings of a store (``config.toml``, ``gardener.toml``, the environment) and its version.

A key that neither sets keeps its default, so a store without any configuration works. The environment wins:
``search.limit`` is ``THUNDERUS_MEM_SEARCH_LIMIT``. Where nothing is set, as nearly everywhere, neither the
table of keys nor the TOML parser is loaded, which every command would feel.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidConfig, Refused, ThunderusError
from thunderus_mem.store.config import FORMAT, Config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from thunderus_mem.store.config import Origin
    from thunderus_mem.store.config_keys import Key
    from thunderus_mem.store.layout import Layout

_SIZE_LIMIT: Final = 1 << 20


def load(layout: Layout, environ: Mapping[str, str]) -> Config:
    """Read both files and the environment. Raises ``InvalidConfig`` naming file, key and a way out."""
    values: dict[str, Any] = {}
    origins: list[tuple[str, Origin]] = []
    for path, name in ((layout.config_file, "config.toml"), (layout.gardener_file, "gardener.toml")):
        data = _read(path)
        if not _sets_nothing(data):
            for key, value in _settings(data, path, name):
                values[key.field] = value
                origins.append((key.name, "file"))
    if any(variable.startswith("THUNDERUS_MEM_") for variable in environ):
        for key, value in _variables(environ):
            values[key.field] = value
            origins.append((key.name, "environment"))
    return Config(**values, origins=tuple(origins)) if values else Config()


def _read(path: str) -> bytes:
    """The bytes of a file; none when it is not there."""
    try:
        # Not blocking, should somebody have put a pipe there.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as handle:
            data = handle.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InvalidConfig(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > _SIZE_LIMIT:
        raise InvalidConfig(f"{path} is longer than 1 MiB.", hint="Keep only settings in it.")
    return data


def _sets_nothing(data: bytes) -> bool:
    """Whether there are only comments and headings of sections."""
    for line in map(bytes.strip, data.split(b"\n")):
        empty = line[:1] in (b"", b"#")
        if not empty and not (line[:1] == b"[" and line[-1:] == b"]" and line[1:-1].isalpha()):
            return False
    return True


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[Key, Any]]:
    from thunderus_mem.store.config_keys import KEYS, checked, from_text

    for key in KEYS:
        text = environ.get(key.variable)
        if text is not None:
            yield key, checked(key, from_text(key, text), f"environment variable {key.variable}")


def _settings(data: bytes, path: str, name: str) -> Iterator[tuple[Key, Any]]:
    """The keys that the file ``path`` sets, which is ``name``, those by an older name first."""
    from thunderus_mem.store.config_keys import (
        KEY_BY_NAME,
        OF_OTHERS,
        OLDER_NAMES,
        OLDER_VALUES,
        checked,
        of_type,
    )

    table = _parse(data, path)
    later = _is_later(table)
    for dotted, value in sorted(_flatten(table), key=lambda pair: pair[0] not in OLDER_NAMES):
        if dotted in OF_OTHERS or dotted.partition(".")[0] in OF_OTHERS:
            continue
        if dotted in OLDER_NAMES:
            dotted, value = OLDER_NAMES[dotted], OLDER_VALUES.get(str(value), value)
        key = KEY_BY_NAME.get(dotted)
        if later:
            # Only what this version knows, and can take.
            found = of_type(key, value) if key is not None and key.file == name else None
            if key is not None and found is not None:
                yield key, found
            continue
        if key is None:
            raise _unknown(dotted, path)
        if key.file != name:
            raise InvalidConfig(
                f"{path}: key {dotted} belongs in {key.file}.", hint=f"Move it to {key.file}."
            )
        yield key, checked(key, value, path)


def _parse(data: bytes, path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path} is not UTF-8 text.", hint="Save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:  # more digits than Python reads are no TOML error
        marked = data.startswith(b"<<<<<<<") or b"\n<<<<<<<" in data
        hint = (
            "Git could not merge it: keep what is right and delete the conflict markers."
            if marked
            else "Mend the line; every key and its meaning: thunderus-mem schema print config"
        )
        raise InvalidConfig(f"{path} is not valid TOML: {error}.", hint=hint) from error


def _is_later(table: dict[str, Any]) -> bool:
    """Whether the file is one of a later version, which may hold what we do not know."""
    store = table.get("store")
    version = store.get("version") if isinstance(store, dict) else None
    return isinstance(version, int) and version > FORMAT


def _flatten(table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, content in table.items():
        if not isinstance(content, dict):
            yield section, content
            continue
        for name, value in content.items():
            yield f"{section}.{name}", value


def _unknown(name: str, path: str) -> InvalidConfig:
    from difflib import get_close_matches

    from thunderus_mem.store.config_keys import KEY_BY_NAME

    near = get_close_matches(name, list(KEY_BY_NAME), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "All keys: thunderus-mem config show"
    return InvalidConfig(f"Unknown key {name} in {path}.", hint=hint)


# The version of the formats that a store is written in

_LIMIT: Final = 1 << 20
_VERSIONED: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1")
_ID: Final = re.compile(rb'"\$id":\s{0,9}"urn:thunderus-mem:schema:[a-z-]{1,40}:([0-9]{1,6})"')


def version_of_schemas(layout: Layout) -> int:
    """The highest version among the store's copies of the schemas; 0 when it has none."""
    from thunderus_mem.store.files import read_file

    found = [0]
    for name in _VERSIONED:
        try:
            text = read_file(os.path.join(layout.schemas_dir, f"{name}.schema.json"), _LIMIT)
        except ThunderusError:
            continue
        match = _ID.search(text)
        found.append(int(match[1]) if match is not None else 0)
    return max(found)


def newer_version(layout: Layout, config: Config) -> int:
    """The version of a store that is newer than this program; 0 for any other."""
    version = max(version_of_schemas(layout), config.store_version)
    return version if version > FORMAT else 0


def refuse_newer(layout: Layout, config: Config) -> None:
    """Raise `Refused` when a later version of the program must write this store."""
    version = newer_version(layout, config)
    if version:
        raise Refused(
            f"this store has version {version} of the formats, this program knows {FORMAT}: it only reads",
            hint="use a newer thunderus-mem to write; nothing was changed",
        )
