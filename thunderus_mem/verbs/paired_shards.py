"""Shards of the log that git has in conflict: it took one for another, as their lines are much alike.

That takes a shard which went (by a revert, say) and one which came. Each is whole on the side that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.store.git import Git
    from thunderus_mem.store.git_unmerged import Unmerged

__all__ = ["Shard", "shard_of"]

_THEIRS: Final = {
    "merge": "MERGE_HEAD",
    "rebase": "REBASE_HEAD",
    "cherry-pick": "CHERRY_PICK_HEAD",
    "revert": "REVERT_HEAD^",
}


class Shard(NamedTuple):
    """A shard that is settled: its bytes, ``None`` where neither side has it; and how that was told."""

    path: str
    data: bytes | None
    how: str


def shard_of(git: Git, one: Unmerged) -> Shard | None:
    """What a shard in conflict is; ``None`` when both sides have other lines, which is no work of git."""
    if one.ours is not None and one.theirs is not None:
        longer, shorter = sorted((_as_lf(one.ours), _as_lf(one.theirs)), key=len, reverse=True)
        return Shard(one.path, longer, "both sides have it") if longer.startswith(shorter) else None
    if one.ours is None and one.theirs is None:
        return Shard(one.path, None, "neither side has it any more")
    mine = one.ours is not None
    side = "HEAD" if mine else _THEIRS.get(git.operation(), "")
    name = f"{side}:{git.prefix}{one.path}"
    # What git shows as this side's version may be the two shards mixed.
    data = (git.blobs([name])[name] if side else None) or (one.ours if mine else one.theirs)
    return Shard(
        one.path, data, f"whole, as {'ours' if mine else 'theirs'} has it: git took it for another one"
    )


def _as_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")
