"""One configuration key: where it stands, what it takes, and what it is called elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

CONFIG: Final = "config.toml"
GARDENER: Final = "gardener.toml"
ENVIRONMENT_PREFIX: Final = "THUNDERUS_MEM_"

KeyType = Literal["bool", "int", "float", "text", "choice", "list", "table", "tables", "caps"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its dotted name, the file it lives in, type, allowed values or bounds, and what it does."""

    name: str
    file: str
    type: KeyType
    explanation: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def field(self) -> str:
        """The attribute of ``Config``: ``search.limit`` → ``search_limit``."""
        return self.name.replace(".", "_")

    @property
    def variable(self) -> str:
        """The environment variable that sets it: ``THUNDERUS_MEM_SEARCH_LIMIT``."""
        return ENVIRONMENT_PREFIX + self.field.upper()


def expectation(key: Key) -> str:
    """What a key takes, for messages and the reference: "a whole number from 1 to 1000"."""
    if key.type in ("int", "float"):
        noun = "a whole number" if key.type == "int" else "a number"
        low = "" if key.minimum is None else f" from {key.minimum:g}"
        high = "" if key.maximum is None else f" to {key.maximum:g}"
        return noun + low + (high if low or not high else f" up{high}")
    choices = ", ".join(key.choices)
    if key.type == "table" and not choices:
        return "a table of texts"
    return {
        "bool": "true or false",
        "text": "a text",
        "choice": f"one of {choices}",
        "list": f"a list of {choices}" if choices else "a list of texts",
        "table": f"a table whose values are {choices}",
        "caps": f'a list of "kind = tokens", each for one of {choices}',
        "tables": "a table of globs, each a table of codes and reasons",
    }[key.type]
