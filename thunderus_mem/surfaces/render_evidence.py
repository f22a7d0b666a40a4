"""Anchors and verdicts for people: what the code says of a document, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import aligned, counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.anchoring import Anchoring
    from thunderus_mem.verbs.code_checking import CheckReport, CodeFinding
    from thunderus_mem.verbs.verifying import Drift, Moves, Verification

_MOST_UNKNOWN = 10


def verdict_word(verdict: str, style: Style) -> str:
    """A verdict, or a status, in its colour."""
    if verdict == "verified":
        return style.good(verdict)
    if verdict in ("changed", "missing", "stale"):
        return style.error(verdict)
    return style.warning(verdict) if verdict == "moved" else style.dim(verdict)


def anchoring(value: Anchoring, console: Console) -> str:
    """The document and its anchors."""
    style = console.style
    if value.written.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.written.recorded)}")
    if value.written.proposed:
        patch = value.written.proposed
        console.say(f"Filed for review; nothing is written yet: thunderus-mem patch show {patch}")
        return f"{style.name(patch)}  {style.name(value.written.id)}  {value.written.path}"
    if not value.written.changed:
        console.say("Nothing to change.")
    for place in value.weak:
        console.say(f"{place} names whole files: every edit in them will speak against the document.")
    lines = [f"{style.name(value.written.id)}  {value.written.path}"]
    return "\n".join([*lines, *(f"  {place}" for place in value.anchors)])


def check_report(value: CheckReport, console: Console, *, patch: bool = False) -> str:
    """Each memory that the code does not support, with its anchors; then what cannot be told."""
    blocks = ["\n".join(_document(ones, console.style, patch)) for ones in _by_document(value.findings)]
    if value.unknown:
        blocks.append("\n".join(_unknown(value, console.style)))
    return "\n\n".join(blocks)


def _by_document(findings: Sequence[CodeFinding]) -> list[list[CodeFinding]]:
    found: dict[str, list[CodeFinding]] = {}
    for one in findings:
        found.setdefault(one.doc_id, []).append(one)
    return list(found.values())


def _document(ones: Sequence[CodeFinding], style: Style, patch: bool) -> Iterator[str]:
    first = ones[0]
    yield f"{style.bold(one_line(first.title))}  {style.name(first.doc_id)}"
    for one in ones:
        yield style.dim(f"{one.path}:{one.line}")
        yield f"  {verdict_word(one.verdict, style)}  {one.place}: {one.reason}"
        if one.hunk:
            yield f"    by {one.file} {one.hunk}"
        elif one.commit:
            yield f"    by {one.commit[:12]} {one_line(one.subject)}"
        if patch and one.diff:
            yield from (f"    {_diff_line(line, style)}" for line in one.diff.splitlines())
    yield style.dim(f"  {first.next_step}")


def _diff_line(line: str, style: Style) -> str:
    if line.startswith("+"):
        return style.good(line)
    return style.error(line) if line.startswith("-") else line


def _unknown(value: CheckReport, style: Style) -> Iterator[str]:
    yield style.dim(f"Of {counted(len(value.unknown), 'anchor')} nothing can be said:")
    rows = [(f"  {one.doc_id}", one.place, one.reason) for one in value.unknown[:_MOST_UNKNOWN]]
    yield from aligned(rows)
    if len(value.unknown) > _MOST_UNKNOWN:
        yield f"  … and {len(value.unknown) - _MOST_UNKNOWN} more"


def said_of_check(value: CheckReport, *, changed: bool) -> Iterator[str]:
    """One line about the whole."""
    looked = f"{counted(value.anchors, 'anchor')} of {counted(value.documents, 'document')}"
    if changed:
        yield f"{looked} at the changed files; {len({one.doc_id for one in value.findings})} made false."
        return
    moved = f", {value.moved} moved" if value.moved else ""
    stale = len(value.findings)
    yield f"{looked} checked: {stale} not supported by the code{moved}, {len(value.unknown)} unknown."
    if value.moved:
        yield "`thunderus-mem verify --fix-moved` sets anchors anew whose code only moved."


def confirmed(value: Verification, console: Console) -> str:
    """Each document, its anchors with the verdict they had, and why one was refused."""
    style = console.style
    who = "an agent" if value.by == "agent" else "you"
    lines = []
    for one in value.documents:
        if one.refused:
            lines.append(f"{style.error('refused')}   {style.name(one.id)}  {one.refused}")
            continue
        lines.append(f"{style.good('confirmed')} {style.name(one.id)}  {one.path}")
        lines += [f"  {place} (was {verdict})" for place, verdict in one.places]
    if any(not one.refused for one in value.documents):
        console.say(f"Confirmed by {who}:")
    return "\n".join(lines)


def drifts(value: Sequence[Drift], console: Console) -> str:
    """Documents whose file says another status than the code does, with the reasons."""
    style = console.style
    lines = []
    for one in value:
        said = f"file says {one.written}" if one.written != one.status else "its file says so"
        lines.append(f"{verdict_word(one.status, style)}  {style.name(one.id)}  ({said})")
        lines += [f"    {reason}" for reason in one.reasons]
    return "\n".join(lines)


def moves(value: Moves, console: Console) -> str:
    """From where to where the code of each anchor went."""
    style = console.style
    return "\n".join(aligned([(style.name(id), before, "→", after) for id, before, after in value.moves]))
