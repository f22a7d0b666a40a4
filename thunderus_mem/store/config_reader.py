"""Reader of a store's settings (``config.toml``, ``gardener.toml`` or ``gardener.json``, the environment) and
format version.

Unset keys keep their defaults, so a store works without configuration. The environment takes precedence:
``search.limit`` is ``THUNDERUS_MEM_SEARCH_LIMIT``. If nothing is set (the usual case), neither the table of
keys nor the TOML parser is loaded: that would slow down every command.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidConfig, Refused, ThunderusError
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.config import FORMAT, Config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from thunderus_mem.store.config import Origin
    from thunderus_mem.store.config_keys import Key
    from thunderus_mem.store.layout import Layout

_SIZE_LIMIT: Final = 1 << 20


def load(layout: Layout, environ: Mapping[str, str]) -> Config:
    """Read both files and the environment. Raises ``InvalidConfig`` with file, key and a hint."""
    values: dict[str, Any] = {}
    origins: list[tuple[str, Origin]] = []
    retired: list[str] = []
    for path, name, data in _files(layout):
        if path.endswith(".json") or not _sets_nothing(data):
            for key, value in _settings(data, path, name, retired):
                values[key.field] = value
                origins.append((key.name, "file"))
    if any(variable.startswith("THUNDERUS_MEM_") for variable in environ):
        for key, value in _variables(environ):
            values[key.field] = value
            origins.append((key.name, "environment"))
    if not values and not retired:
        return Config()
    return Config(**values, origins=tuple(origins), retired=tuple(retired))


def _files(layout: Layout) -> Iterator[tuple[str, str, bytes]]:
    """Yield each file with settings: its path, the name of its keys' file, and its bytes."""
    for path, name in ((layout.config_file, "config.toml"), (layout.gardener_file, "gardener.toml")):
        data = _read(path)
        if data is not None:
            yield path, name, data
    data = _read(layout.gardener_json_file)
    if data is None:
        return
    if os.path.lexists(layout.gardener_file):
        raise InvalidConfig(
            f"both {layout.gardener_file} and {layout.gardener_json_file} exist", hint="delete one of them"
        )
    yield layout.gardener_json_file, "gardener.toml", data


def _read(path: str) -> bytes | None:
    """Return the bytes of a file, ``None`` if it does not exist."""
    try:
        # Non-blocking, in case it is a pipe.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as handle:
            data = handle.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidConfig(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _SIZE_LIMIT:
        raise InvalidConfig(f"{path} is larger than 1 MiB", hint="keep only settings in it")
    return data


def _sets_nothing(data: bytes) -> bool:
    """Whether there are only comments and section headings."""
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


def _settings(data: bytes, path: str, name: str, retired: list[str]) -> Iterator[tuple[Key, Any]]:
    """Yield the keys set in the file ``path``, which is ``name``; those with an older name come first. Keys
    without an effect are added to ``retired``."""
    from thunderus_mem.store.config_keys import (
        KEY_BY_NAME,
        OF_OTHERS,
        OLDER_NAMES,
        OLDER_VALUES,
        RETIRED,
        checked,
        of_type,
    )

    table = _parse(data, path)
    later = _is_later(table)
    for dotted, value in sorted(_flatten(table), key=lambda pair: pair[0] not in OLDER_NAMES):
        if dotted in OF_OTHERS or dotted.partition(".")[0] in OF_OTHERS:
            continue
        if dotted in RETIRED:
            retired.append(dotted)
            continue
        if dotted in OLDER_NAMES:
            dotted, value = OLDER_NAMES[dotted], OLDER_VALUES.get(str(value), value)
        key = KEY_BY_NAME.get(dotted)
        if later:
            # Use only the keys and values that this version supports.
            found = of_type(key, value) if key is not None and key.file == name else None
            if key is not None and found is not None:
                yield key, found
            continue
        if key is None:
            raise _unknown(dotted, path)
        if key.file != name:
            raise InvalidConfig(f"{path}: key {dotted} belongs in {key.file}", hint=f"move it to {key.file}")
        yield key, checked(key, value, path)


def _parse(data: bytes, path: str) -> dict[str, Any]:
    is_json = path.endswith(".json")
    try:
        text = data.decode("utf-8-sig")
        return _from_json(text, path) if is_json else _from_toml(text)
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # a number with too many digits raises ValueError
        marked = data.startswith(b"<<<<<<<") or b"\n<<<<<<<" in data
        hint = (
            "it has merge conflict markers: resolve the conflict and delete them"
            if marked
            else f"fix the line; run `{_schema(path)}` to list all keys"
        )
        raise InvalidConfig(
            f"{path} is not valid {'JSON' if is_json else 'TOML'}: {error}", hint=hint
        ) from error


def _from_toml(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _from_json(text: str, path: str) -> dict[str, Any]:
    """Parse JSON as strictly as TOML: no duplicate keys, no ``NaN``."""
    import json

    table = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    if not isinstance(table, dict):
        raise InvalidConfig(f"{path} is not a JSON object", hint=f"for all keys, run `{_schema(path)}`")
    return table


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _is_later(table: dict[str, Any]) -> bool:
    """Whether the file has a later format version and may contain unknown keys."""
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


def _schema(path: str) -> str:
    """The command that prints the keys of a configuration file."""
    return f"thunderus-mem config schemas {'config' if path.endswith('config.toml') else 'gardener'}"


def _unknown(name: str, path: str) -> InvalidConfig:
    from difflib import get_close_matches

    from thunderus_mem.store.config_keys import KEY_BY_NAME

    # The section makes two names similar, so the last parts must be similar too.
    leaf = name.rpartition(".")[2]
    close = get_close_matches(name, list(KEY_BY_NAME), n=5, cutoff=0.5)
    near = get_close_matches(leaf, [one.rpartition(".")[2] for one in close], n=1, cutoff=0.6)
    meant = next((one for one in close if near and one.rpartition(".")[2] == near[0]), "")
    hint = f"did you mean {meant}?" if meant else f"run `{_schema(path)}` to list all keys"
    return InvalidConfig(f"unknown key {name!r} in {path}", hint=hint)


_LIMIT: Final = 1 << 20
_VERSIONED: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1")
_ID: Final = lazy_pattern(rb'"\$id":\s{0,9}"urn:thunderus-mem:schema:[a-z-]{1,40}:([0-9]{1,6})"')


def version_of_schemas(layout: Layout) -> int:
    """Return the highest version among the store's copies of the schemas, 0 if there are none."""
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
    """Return the format version of the store if it is newer than this program supports, else 0."""
    version = max(version_of_schemas(layout), config.store_version)
    return version if version > FORMAT else 0


def refuse_newer(layout: Layout, config: Config) -> None:
    """Raise `Refused` if only a newer program can write this store."""
    version = newer_version(layout, config)
    if version:
        raise Refused(
            f"the store has format version {version}, this program can only write version {FORMAT}",
            hint="upgrade thunderus-mem to write; nothing was changed",
        )
