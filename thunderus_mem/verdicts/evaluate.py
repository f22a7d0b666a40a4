"""How an anchor is judged, for each sort: a symbol, a span of lines, a whole file, a glob. Pure, over a tree
and a history.

The order is that of cost and of trust: the same place, then where git says the file went, then "the name is
still there, so it changed", and only then a search among what is new since (``moved``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.document.paths import matching
from thunderus_mem.fingerprint.source import fingerprint_of_files, parse_fingerprint, same_measure
from thunderus_mem.verdicts.moved import moved_definition, moved_file, moved_lines
from thunderus_mem.verdicts.verdict import CHANGED, MISSING, MOVED, UNKNOWN, VERIFIED, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.fingerprint.source import CodeSource, Definition, Fingerprint
    from thunderus_mem.verdicts.verdict import AnchorHistory, Tree

_NOT_YET: Final = "nobody has confirmed it yet"


def evaluate(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """The verdict on one anchor; ``history`` reaches back to when its fingerprint was taken."""
    if anchor.is_glob:
        return _evaluate_glob(anchor, tree)
    if anchor.symbol:
        return _evaluate_symbol(anchor, tree, history)
    if anchor.lines is not None:
        return _evaluate_lines(anchor, tree, history)
    return _evaluate_file(anchor, tree, history)


def _evaluate_symbol(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor that names a definition."""
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        found = moved_definition(anchor, tree, history)
        return found or _missing(anchor, "the file is gone", others=True)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    definitions = source.find(anchor.symbol)
    if definitions:
        verdict = _of_definitions(anchor, source, definitions, by)
        if verdict.status != CHANGED or any(one.name == anchor.symbol for one in definitions):
            return verdict
        # Another definition only ends in that name: it says nothing if the code stands elsewhere.
        return moved_definition(anchor, tree, history, source) or verdict
    if not source.language:
        return _unknown(anchor, "definitions of such files cannot be told; anchor lines instead")
    if source.broken:
        return _unknown(anchor, f"the file does not parse (line {source.trouble_at})")
    found = moved_definition(anchor, tree, history, source)
    return found or _missing(anchor, f"{path} defines no {anchor.symbol}", others=True)


def _of_definitions(
    anchor: Anchor, source: CodeSource, definitions: Sequence[Definition], by: str
) -> Verdict:
    wanted = parse_fingerprint(anchor.fingerprint)
    found = [definition.fingerprint for definition in definitions]
    chosen = found[0]
    if wanted is not None:
        chosen = next((one for one in found if _equal(one, wanted)), chosen)
    there = anchor._replace(path=source.path, fingerprint=str(chosen))
    if wanted is None or not _equal(chosen, wanted):
        return _differs(anchor, source, there, wanted, chosen, what=anchor.symbol, by=by)
    note = "its docstring changed" if wanted.doc != chosen.doc else ""
    return _held(anchor, there, by, note)


def _evaluate_lines(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor that names a span of lines."""
    assert anchor.lines is not None
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        return _gone(anchor, history)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    wanted = parse_fingerprint(anchor.fingerprint)
    here = source.of_lines(*anchor.lines)
    there = anchor._replace(path=path, fingerprint=str(here) if here is not None else "")
    if here is not None and wanted is not None and _equal(here, wanted):
        return _held(anchor, there, by)
    if here is not None and (wanted is None or not same_measure(here, wanted)):
        return _differs(anchor, source, there, wanted, here, what="these lines", by=by)
    if wanted is None:
        return _missing(anchor, f"{path} has no code in these lines")
    moved = moved_lines(anchor, wanted, source, history)
    if moved is not None and moved.status == MOVED:
        return moved
    if source.broken:
        return _unknown(anchor, f"the file does not parse (line {source.trouble_at})")
    if moved is not None:
        return moved
    if here is None:
        return _missing(anchor, f"{path} has no code in these lines")
    return _changed(anchor, there, "these lines are not what they were, nor are they elsewhere")


def _evaluate_file(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor that names a whole file."""
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        return moved_file(anchor, tree, history) or _gone(anchor, history)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    wanted, here = parse_fingerprint(anchor.fingerprint), source.whole()
    there = anchor._replace(path=path, fingerprint=str(here))
    if wanted is not None and _equal(here, wanted):
        return _held(anchor, there, by)
    return _differs(anchor, source, there, wanted, here, what="the file", by=by)


def _evaluate_glob(anchor: Anchor, tree: Tree) -> Verdict:
    """An anchor that names all files of a pattern."""
    files = matching(anchor.path, tree.paths())
    if not files:
        return _missing(anchor, "no file fits the pattern", others=True)
    sources = [source for path in files if (source := tree.source(path)) is not None]
    wanted, here = parse_fingerprint(anchor.fingerprint), fingerprint_of_files(sources)
    there = anchor._replace(fingerprint=str(here))
    if wanted is not None and _equal(here, wanted):
        return Verdict(VERIFIED, anchor, there, f"{len(files)} files are as they were", "place", others=True)
    if not anchor.fingerprint:
        return Verdict(UNKNOWN, anchor, there, _NOT_YET, others=True)
    if wanted is None or not same_measure(wanted, here):
        return Verdict(UNKNOWN, anchor, there, _other_measure(wanted), others=True)
    reason = f"of {len(files)} files that fit the pattern, some changed, came or went"
    return Verdict(CHANGED, anchor, there, reason, "place", others=True)


def _where(anchor: Anchor, tree: Tree, history: AnchorHistory) -> tuple[str, str]:
    """The path the file has now, and how that is known; "" when it is not known."""
    if tree.source(anchor.path) is not None:
        return anchor.path, "place"
    renamed = history.renamed(anchor.path)
    return (renamed, "rename") if renamed else ("", "")


def _equal(one: Fingerprint, other: Fingerprint) -> bool:
    return one.hash == other.hash and same_measure(one, other)


def _held(anchor: Anchor, there: Anchor, by: str, note: str = "") -> Verdict:
    """The same content, at the place it had or where the file went."""
    if by == "place":
        return Verdict(VERIFIED, anchor, there, "the code is as it was", by, note)
    reason = f"the file is {there.path} now"
    return Verdict(MOVED, anchor, there, reason, by, note, others=True)


def _differs(
    anchor: Anchor,
    source: CodeSource,
    there: Anchor,
    wanted: Fingerprint | None,
    found: Fingerprint,
    *,
    what: str,
    by: str,
) -> Verdict:
    """There is something at the place, and it is not surely what it was."""
    others = by != "place"
    if not anchor.fingerprint:
        return Verdict(UNKNOWN, anchor, there, _NOT_YET, by, others=others)
    if wanted is None or not same_measure(wanted, found):
        return Verdict(UNKNOWN, anchor, there, _other_measure(wanted), by, others=others)
    if source.broken:
        reason = f"the file does not parse (line {source.trouble_at})"
        return Verdict(UNKNOWN, anchor, there, reason, by, others=others)
    reason = f"{what} is not what it was" if what != "these lines" else "these lines are not what they were"
    if others:
        reason += f"; the file is {there.path} now"
    return Verdict(CHANGED, anchor, there, reason, by, others=others)


def _other_measure(wanted: Fingerprint | None) -> str:
    if wanted is None:
        return "its fingerprint cannot be read; confirm it again"
    return "its fingerprint was taken with other rules; confirm it again"


def _changed(anchor: Anchor, there: Anchor, reason: str) -> Verdict:
    return Verdict(CHANGED, anchor, there, reason, "place")


def _missing(anchor: Anchor, reason: str, *, others: bool = False) -> Verdict:
    return Verdict(MISSING, anchor, None, reason, others=others)


def _gone(anchor: Anchor, history: AnchorHistory) -> Verdict:
    """A file that is nowhere, of which only git could tell whether it has another name."""
    if history.is_cut():
        return Verdict(
            UNKNOWN,
            anchor,
            None,
            "the file is gone, and this clone is too shallow to say where to",
            others=True,
        )
    return _missing(anchor, "the file is gone", others=True)


def _unknown(anchor: Anchor, reason: str) -> Verdict:
    return Verdict(UNKNOWN, anchor, None, reason)
