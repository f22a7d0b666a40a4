"""What `resolve` did, for people: each document with what was settled and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import aligned, counted, one_line

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.merge_driver import Driven
    from thunderus_mem.verbs.resolving import Resolved, ResolvedDocument

_STATES = {
    "merged": "",
    "kept": "kept",
    "done": "settled before",
    "apart": "has a file of its own",
    "unreadable": "left as it is",
}
_SHOWN = 160


def resolved(value: Resolved, console: Console) -> str:
    """The sides by git's names, a paragraph a document, and other files."""
    style = console.style
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    for name in value.clear:
        console.say(f"{name} is not in conflict.")
    if not value.documents and not value.others:
        if not value.clear:
            console.say("Nothing to resolve: no document is in conflict.")
        return ""
    if value.ours:
        console.say(f"Ours is {one_line(value.ours)}, theirs is {one_line(value.theirs)}.")
    lines = [line for document in value.documents for line in _document(document, style)]
    for other in value.others:
        word = "settled" if other.settled else "left"
        lines += [style.name(other.path), *_rows([(word, "", other.advice)], style)]
    if value.planned:
        lines += ["", value.diff.rstrip("\n")] if value.diff else []
    return "\n".join(lines)


def _document(document: ResolvedDocument, style: Style) -> list[str]:
    rows = [("settled", one.key, one.how) for one in document.settled]
    rows += [("removed", "", f"{path}, the other file of it") for path in document.removed]
    rows += [("left", one.key, one.why) for one in document.left]
    state = _STATES[document.state]
    says = [text for text in (state, document.note) if text]
    head = f"{style.name(document.id or document.path)}  {document.path if document.id else ''}".rstrip()
    return [head, *([f"    {one_line(': '.join(says))}"] if says else []), *_rows(rows, style)]


def _rows(rows: list[tuple[str, str, str]], style: Style) -> list[str]:
    paint = {"settled": style.good, "removed": style.dim, "left": style.warning}
    cells = [
        (paint[word](word), one_line(f"{key}: {how}" if key else how)[:_SHOWN]) for word, key, how in rows
    ]
    return [f"    {line}" for line in aligned(cells)]


def say_more(value: Resolved, console: Console) -> None:
    """After the documents: what was staged, how many are settled and left, and the next step."""
    if value.unstaged:
        console.talk(f"Nothing is staged: {value.unstaged}.")
    if value.staged:
        console.say(f"Staged {counted(len(value.staged), 'file')}.")
    if value.documents or value.others:
        console.say(_summary(value))


def _summary(value: Resolved) -> str:
    left = [one for one in value.documents if one.left] + [one for one in value.others if not one.settled]
    clean = len(value.documents) + len(value.others) - len(left)
    parts = [f"{counted(clean, 'file')} {'would be ' if value.planned else ''}settled"] if clean else []
    parts += [f"{len(left)} left to you"] if left else []
    step = f" Next: {value.next_step}." if value.next_step else ""
    return f"{', '.join(parts)}.{step}"


def driven(value: Driven, console: Console) -> str:
    """A line among git's own, on stderr as theirs are."""
    if value.settled:
        console.say(f"{value.path}: settled {', '.join(value.settled)}")
    for left in value.left:
        console.say(f"{value.path}: left {left.key + ', ' if left.key else ''}{one_line(left.why)}")
    return ""
