"""The gardener's rules under the names Thunderus gives them, rewritten to ours, line by line."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from thunderus_mem.store.config_keys import KEY_BY_NAME
from thunderus_mem.store.older_keys import OLDER_NAMES, OLDER_VALUES

__all__ = ["migrated_rules"]

_SECTION: Final = re.compile(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?", re.ASCII)
_SETTING: Final = re.compile(r"(\s*)([A-Za-z0-9_-]+)(\s*=.*)", re.ASCII | re.DOTALL)


def migrated_rules(text: str) -> str:
    """``gardener.toml`` with its keys under their present names; comments, values and other keys stay.

    A key moves to the end of its section, which is made where there is none. A text that would then mean
    something else, or that is no TOML, stays as it is.
    """
    before = _settings(text)
    if before is None or not any(name in OLDER_NAMES for name in before):
        return text
    kept, moved = _sorted_out(text.splitlines(keepends=True))
    line_end = "\r\n" if "\r\n" in text else "\n"
    for name, line in moved:
        section, _, key = name.partition(".")
        kept = _with(kept, section, line.replace("\0", key), line_end)
    after = "".join(kept)
    return after if _settings(after) == _renamed(before) else text


def _settings(text: str) -> dict[str, Any] | None:
    """Every key with its value; ``None`` for what is no TOML."""
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found: dict[str, Any] = {}
    for section, content in table.items():
        below = content.items() if isinstance(content, dict) else ()
        found.update({f"{section}.{name}": value for name, value in below})
        if not isinstance(content, dict):
            found[section] = content
    return found


def _renamed(settings: dict[str, Any]) -> dict[str, Any]:
    older = {
        OLDER_NAMES[name]: OLDER_VALUES.get(str(value), value)
        for name, value in settings.items()
        if name in OLDER_NAMES
    }
    return older | {name: value for name, value in settings.items() if name not in OLDER_NAMES}


def _sorted_out(lines: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The lines that stay, and of each older key its present name and its line, the key's place marked."""
    kept, moved = [], []
    section = ""
    for line in lines:
        head, setting = _SECTION.fullmatch(line.rstrip("\r\n")), _SETTING.fullmatch(line)
        section = head[1] if head is not None else section
        name = OLDER_NAMES.get(f"{section}.{setting[2]}") if setting is not None else None
        if name is None or setting is None:
            kept.append(line)
        else:
            moved.append((name, f"{setting[1]}\0{_present(name, setting[3])}"))
    return [line for at, line in enumerate(kept) if not _is_emptied(kept, at, lines)], moved


def _present(name: str, rest: str) -> str:
    """What follows a key, with the value's present word."""
    if KEY_BY_NAME[name].type != "choice":
        return rest
    for older, word in OLDER_VALUES.items():
        rest = re.sub(rf"(['\"]){older}\1", f'"{word}"', rest, count=1)
    return rest


def _is_emptied(kept: list[str], at: int, lines: list[str]) -> bool:
    """Whether this line heads a section all of whose keys have moved away."""
    if _SECTION.fullmatch(kept[at].rstrip("\r\n")) is None:
        return False
    return not _has_keys(kept, at) and _has_keys(lines, lines.index(kept[at]))


def _has_keys(lines: list[str], at: int) -> bool:
    for line in lines[at + 1 :]:
        if _SECTION.fullmatch(line.rstrip("\r\n")):
            return False
        if line.strip() and not line.lstrip().startswith("#"):
            return True
    return False


def _with(lines: list[str], section: str, line: str, line_end: str) -> list[str]:
    """The lines with one more at the end of a section."""
    heads = [
        (at, head[1]) for at, one in enumerate(lines) if (head := _SECTION.fullmatch(one.rstrip("\r\n")))
    ]
    place = next((at for at, name in heads if name == section), None)
    line = line if line.endswith("\n") else line + line_end
    if place is None:
        lead = [] if not lines or lines[-1].endswith("\n") else [line_end]
        gap = [line_end] if lines else []
        return [*lines, *lead, *gap, f"[{section}]{line_end}", line]
    end = next((at for at, _ in heads if at > place), len(lines))
    while end > place + 1 and not lines[end - 1].strip():
        end -= 1
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += line_end
    return [*lines[:end], line, *lines[end:]]
