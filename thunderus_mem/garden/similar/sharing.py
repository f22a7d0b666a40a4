"""How work on many things is shared out: in turn, or by what whoever plans brings along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Share: TypeAlias = Callable[[Sequence[Any], Callable[[Sequence[Any]], list[Any]]], list[Any]]
"""Gives for some things what the work on them gives, in their order; ``None`` for each where it failed."""


def in_turn(things: Sequence[Any], work: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
    """All of it here and now."""
    return work(things)
