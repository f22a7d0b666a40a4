"""Set or unset one key of a settings file; all other lines and the comments stay."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from thunderus_mem.document.document import content_hash
from thunderus_mem.document.ids import closest
from thunderus_mem.errors import InvalidConfig, NotFound, ThunderusError
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.config_keys import CONFIG, KEY_BY_NAME, checked, from_text, toml_value
from thunderus_mem.store.files import ABSENT, read_file, replace_file
from thunderus_mem.store.lock import held

if TYPE_CHECKING:
    from thunderus_mem.store.config_keys import Key
    from thunderus_mem.store.layout import Layout

_LARGEST = 1 << 20


class ChangedSetting(NamedTuple):
    """A key, its value in the file now (``None`` if it is not set there), and the file."""

    key: str
    value: Any
    file: str
    changed: bool


def set_key(layout: Layout, name: str, text: str) -> ChangedSetting:
    """Set a key to the value that ``text`` stands for. Raises `NotFound` and `InvalidConfig`."""
    key = _key(name)
    value = checked(key, from_text(key, text), "config set")
    return _write(layout, key, value)


def unset_key(layout: Layout, name: str) -> ChangedSetting:
    """Remove a key from its file, so that its default applies. Raises `NotFound` for an unknown key."""
    return _write(layout, _key(name), None)


def _key(name: str) -> Key:
    if name in KEY_BY_NAME:
        return KEY_BY_NAME[name]
    near = closest(name, list(KEY_BY_NAME), 1)
    hint = f"did you mean {near[0]!r}?" if near else "run `thunderus-mem config show` to list all settings"
    raise NotFound(f"unknown setting {name!r}", hint=hint)


def _write(layout: Layout, key: Key, value: Any) -> ChangedSetting:
    path = layout.config_file if key.file == CONFIG else layout.gardener_file
    if key.file != CONFIG and os.path.lexists(layout.gardener_json_file):
        raise ThunderusError(
            "the settings of the gardener are in gardener.json", hint=f"edit {layout.gardener_json_file}"
        )
    with held(layout.lock_file, command="config set"):
        data = read_file(path, _LARGEST) if os.path.lexists(path) else None
        before = _decoded(data or b"", path)
        after = with_value(before, key, value)
        if after != before:
            replace_file(path, after.encode(), expecting=ABSENT if data is None else content_hash(data))
    return ChangedSetting(key.name, value, layout.relative(path), after != before)


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error


def with_value(text: str, key: Key, value: Any) -> str:
    """Return the text of a settings file with a key set, or with ``None`` removed.

    Raises `InvalidConfig` if the text is not TOML, or has something else in place of the section.
    """
    import tomlkit

    section, _, name = key.name.partition(".")
    try:
        wanted = tomllib.loads(text)
        document = tomlkit.parse(text)
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(
            f"{key.file} is not valid TOML: {error}", hint="correct the file first"
        ) from error
    table = wanted.get(section, {})
    if not isinstance(table, dict):
        raise InvalidConfig(
            f"cannot change `{key.name}`: `{section}` is not a table in {key.file}",
            hint="correct the file first",
        )
    if value is None:
        if table.pop(name, None) is None:
            return text
        del document[section][name]
        return _commented(text, key, tomlkit.dumps(document))
    shown = toml_value(value)
    missing = name not in table
    wanted[section] = table | tomllib.loads(f"{name} = {shown}")
    found = [_inserted(text, section, name, shown)] if missing else []
    with suppress(ValueError, TypeError):
        document.setdefault(section, {})[name] = tomlkit.parse(f"value = {shown}")["value"]
        found.append(tomlkit.dumps(document).removesuffix("\n") + "\n")
    for changed in found:
        if _means(changed, wanted):
            return changed
    raise InvalidConfig(
        f"cannot change `{key.name}` without changing more of {key.file}", hint="set it by hand"
    )


def _means(text: str, wanted: dict[str, Any]) -> bool:
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(text) == wanted
    return False


def _commented(text: str, key: Key, removed: str) -> str:
    """Return ``text`` with the line of a key as its commented default; ``removed`` if that says otherwise."""
    section, _, name = key.name.partition(".")
    wanted, lines, inside = tomllib.loads(removed), text.split("\n"), False
    for at, line in enumerate(lines):
        inside = _begins(line, section) if line.startswith("[") else inside
        if inside and line.partition("=")[0].strip() == name:
            end = "\r" if line.endswith("\r") else ""
            lines[at] = f"#{name} = {toml_value(key.default)}{end}"
            break
    return "\n".join(lines) if _means("\n".join(lines), wanted) else removed


def _inserted(text: str, section: str, name: str, shown: str) -> str:
    """Add a key to its section: in place of its commented default, else below the heading."""
    eol = "\r\n" if "\r\n" in text else "\n"
    setting = f"{name} = {shown}"
    lines = text.removesuffix("\n").split("\n") if text else []
    heading = next((at for at, line in enumerate(lines) if _begins(line, section)), None)
    if heading is None:
        return (
            text
            + (eol if text and not text.endswith("\n") else "")
            + (eol if text else "")
            + f"[{section}]{eol}{setting}{eol}"
        )
    for at in range(heading + 1, len(lines)):
        if lines[at].startswith("["):
            break
        if lines[at].startswith(f"#{name}") and lines[at].removeprefix(f"#{name}").lstrip().startswith("="):
            end = "\r" if lines[at].endswith("\r") else ""
            return "\n".join([*lines[:at], setting + end, *lines[at + 1 :]]) + "\n"
    end = eol.removesuffix("\n")
    return "\n".join([*lines[: heading + 1], setting + end, *lines[heading + 1 :]]) + "\n"


def _begins(line: str, section: str) -> bool:
    """Whether a line is the heading of a section."""
    return line.partition("#")[0].strip() == f"[{section}]"
