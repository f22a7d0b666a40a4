"""What keeps the start of a command short: named tuples and patterns that cost little to define.

Most of a short command's time is importing modules, and most of that is defining classes and compiling
patterns.
"""

from __future__ import annotations

import re
from collections import namedtuple
from functools import cached_property
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Fields(type):
        """Makes a named tuple of a class body. ``typing.NamedTuple`` also compiles every annotation, which
        takes longer than the rest together."""

        def __new__(cls, name, bases, body):
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Fields, "NamedTuple", (), {})


class LazyPattern:
    """A regular expression that is compiled when one of its attributes is first read."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._arguments = text, flags

    @cached_property
    def compiled(self) -> re.Pattern[Any]:
        """The compiled pattern."""
        return re.compile(*self._arguments)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.compiled, name)
        setattr(self, name, value)  # found without this method next time
        return value


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that works like ``re.compile(text, flags)``, at no cost until it is used."""
    return cast("re.Pattern[AnyStr]", LazyPattern(text, flags))
