"""Texts that a document had once, each proved by its hash: from the log's diffs, or from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.transitions import Transition, known_texts
from thunderus_mem.model.document import content_hash
from thunderus_mem.model.patch import apply_diff, reversed_diff
from thunderus_mem.model.textdiff import lines_of
from thunderus_mem.model.three_way import three_way

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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

    ``changes`` are those of the log; ``now`` its text. ``elsewhere`` gives texts by hash from outside the log
    (what git has, say), and is asked only when the log alone does not lead there.
    """

    def __init__(
        self, changes: Iterable[Change], now: str | None, elsewhere: Callable[[], Mapping[str, str]]
    ) -> None:
        self._transitions = [
            Transition("", at, one.doc_id, one.path, one.before, one.after, one.before, one.diff)
            for at, one in enumerate(changes)
        ]
        self._elsewhere = elsewhere
        self._asked = False
        self._known = {} if now is None else {content_hash(now): as_lf(now)}

    def text(self, wanted: str) -> str | None:
        """The text of this hash; ``None`` when it is nowhere any more."""
        if wanted not in self._known:
            self._known = known_texts(self._transitions, self._known)
        if wanted not in self._known and not self._asked:
            self._asked = True
            self._known = known_texts(self._transitions, {**self._elsewhere(), **self._known})
        return self._known.get(wanted)
