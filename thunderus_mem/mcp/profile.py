"""What a server offers: the tools of a profile, and what their calls return. Read only."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import ThunderusError
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from thunderus_mem.mcp.calls import Reply
    from thunderus_mem.memory.memory import Memory

PROFILES: Final = ("memoryos", "nova")
"""The profiles besides our own tools: modules of ``mcp.profiles``."""


class ServerProfile(NamedTuple):
    """The tools of a server, as the protocol lists them. Every reply is a JSON object.

    ``run`` gets the open memory, the name of a tool and its arguments, and returns the text of the reply.
    ``failed`` gets the same name and arguments, and turns the reply to a call that raised an exception into
    one that the contract allows. What
    ``Memory.say`` is given meanwhile is written to standard error.
    """

    instructions: str
    tools: Sequence[Mapping[str, Any]]
    run: Callable[[Memory, str, Mapping[str, Any]], str]
    failed: Callable[[str, Mapping[str, Any], Reply], Reply]


def find_profile(name: str, *, strict: bool) -> ServerProfile:
    """Return a profile by its name; with ``strict``, input that it warns about is an error.

    Raises `ThunderusError` for an unknown name.
    """
    if name not in PROFILES:
        raise ThunderusError(f"unknown profile {name!r}", hint=f"use one of: {', '.join(PROFILES)}")
    module = import_module(f"thunderus_mem.mcp.profiles.{name}")
    found: ServerProfile = module.profile(strict=strict)
    return found
