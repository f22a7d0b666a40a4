"""Texts that a document had once, each proved by its hash: from the log's diffs, or from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.patch import apply_diff, reversed_diff
from thunderus_mem.model.textdiff import lines_of
from thunderus_mem.model.three_way import three_way
from thunderus_mem.store.files import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.model.event import Change

__all__ = ["Former", "as_lf", "leads_back", "text_before", "without_way_back"]


def as_lf(text: str) -> str:
    """The text as the log knows it: every line end LF."""
    return "".join(lines_of(text)) if "\r" in text else text


def text_before(after: str | None, diff: str) -> str | None:
    """What a diff of the log says the text was, with the line ends of the one ``after``.

    ``None`` when the diff is not one of that text.
    """
    now = as_lf(after or "")
    before = apply_diff(now, reversed_diff(diff))
    if before is None or after is None or "\r" not in after:
        return before
    return three_way(now, after, before)


def leads_back(before: str, after: str | None, diff: str | None) -> bool:
    """Whether the logged diff gives back the text before a change to the byte."""
    if diff is None:
        return False
    if "\r" not in before and (after is None or "\r" not in after):
        return True
    return text_before(after, diff) == before


def without_way_back(
    changes: Sequence[Change], texts: Sequence[tuple[str | None, str | None]]
) -> dict[int, str]:
    """Texts before that an event's own diffs do not lead back to, by place; none that holds a secret.

    ``texts`` are those before and after each change, as they are on disk. A document that only moves has its
    text at its new path.
    """
    from thunderus_mem.model.secrets import holds_secret

    moved = {change.after for change in changes if change.op == "rename"}
    lost = {
        place: before
        for place, (change, (before, after)) in enumerate(zip(changes, texts, strict=True))
        if before is not None
        and not (change.op == "rename" and change.before in moved)
        and not leads_back(before, after, change.diff)
    }
    return {place: text for place, text in lost.items() if not holds_secret(text)}


class Former:
    """The former texts of one document, with line ends as LF, worked out when first asked for.

    ``changes`` are those of the log, in order; ``now`` its text. ``elsewhere`` gives texts from outside the
    log (what git has, say), and is asked only when the log alone does not lead there.
    """

    def __init__(
        self, changes: Sequence[Change], now: str | None, elsewhere: Callable[[], Iterable[str]]
    ) -> None:
        self._changes = [change for change in changes if change.diff is not None]
        self._elsewhere: Callable[[], Iterable[str]] | None = elsewhere
        self._known = {ABSENT: ""}
        self._learn([] if now is None else [now])

    def text(self, wanted: str) -> str | None:
        """The text of this hash; ``None`` when it is nowhere any more."""
        if wanted not in self._known:
            self._follow()
        if wanted not in self._known and self._elsewhere is not None:
            self._learn(self._elsewhere())
            self._elsewhere = None
            self._follow()
        return self._known.get(wanted)

    def _learn(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._known.setdefault(content_hash(text), as_lf(text))

    def _follow(self) -> None:
        """Go along the diffs, back and forth, for as long as they lead to a text not known yet."""
        before = -1
        while before != len(self._known):
            before = len(self._known)
            for change in reversed(self._changes):
                self._step(change.after, change.before, reversed_diff(change.diff or ""))
            for change in self._changes:
                self._step(change.before, change.after, change.diff or "")

    def _step(self, start: str, goal: str, diff: str) -> None:
        if start in self._known and goal not in self._known:
            text = apply_diff(self._known[start], diff)
            if text is not None and content_hash(text) == goal:
                self._known[goal] = text
