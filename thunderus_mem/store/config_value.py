"""Values of configuration keys: what a text or a value of a file means, and what a wrong one is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.model.errors import InvalidConfig
from thunderus_mem.store.config_key import expectation
from thunderus_mem.store.kind_caps import refusal

if TYPE_CHECKING:
    from thunderus_mem.store.config_key import Key
    from thunderus_mem.store.kind_caps import Refusal

__all__ = ["checked", "from_text", "of_type"]


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
