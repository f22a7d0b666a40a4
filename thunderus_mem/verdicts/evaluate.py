"""The verdict on one anchor: a symbol, a range of lines, a whole file or a glob. Pure, over a tree and a
history.

Checks run from cheap and certain to expensive: the same location, then the path to which git says the file
was renamed, then "the name still exists, so the code changed", and only then a search in new and changed
files (``moved``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import stretches
from thunderus_mem.document.paths import matching
from thunderus_mem.fingerprint.languages import TOKENS, language_in
from thunderus_mem.fingerprint.selectors import leaf_of, split_selector
from thunderus_mem.fingerprint.source import fingerprint_of_files, of_many, parse_fingerprint, same_measure
from thunderus_mem.verdicts.verdict import (
    CHANGED,
    MISSING,
    MOVED,
    UNKNOWN,
    VERIFIED,
    Unsearchable,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.fingerprint.source import CodeSource, Fingerprint, Named
    from thunderus_mem.verdicts.verdict import AnchorHistory, Tree

_LINES_CHANGED: Final = "these lines have changed since they were recorded"
_NO_FILE: Final = "the file no longer exists"
_NOT_YET: Final = "not verified yet"
OTHER_RULES: Final = (
    "the fingerprint was computed by other rules; try `thunderus-mem verify --restamp`, or verify it again"
)


def evaluate(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """The verdict on one anchor; ``history`` goes back to when its fingerprint was computed."""
    if anchor.is_glob:
        return _evaluate_glob(anchor, tree, history)
    if anchor.symbol:
        try:
            return _evaluate_symbol(anchor, tree, history)
        except Unsearchable:
            return _unknown(
                anchor, "its code is not here, and git did not answer where it may be now", others=True
            )
    if anchor.lines is not None:
        return _evaluate_lines(anchor, tree, history)
    return _evaluate_file(anchor, tree, history)


def _evaluate_symbol(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor on a definition."""
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        found = moved_definition(anchor, tree, history)
        return found or _missing(anchor, _NO_FILE, others=True)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    meanings = source.meanings(anchor.symbol)
    if meanings:
        verdict = _of_meanings(anchor, source, meanings, history, by)
        if verdict.status != CHANGED or any(one.symbol == anchor.symbol for one in meanings):
            return verdict
        # The definition found only ends in that name: ignore it if the code is found elsewhere.
        return moved_definition(anchor, tree, history, source) or verdict
    if not source.has_symbols:
        return _unknown(anchor, "symbols are not supported in this file type; anchor lines instead")
    if source.may_define(leaf_of(anchor.symbol)):
        return _unknown(anchor, f"the file does not parse (line {source.trouble_at})")
    found = moved_definition(anchor, tree, history, source) or _reselected(anchor, source, history, by)
    return found or _missing(anchor, f"`{anchor.symbol}` is not defined in {path}", others=True)


def _of_meanings(
    anchor: Anchor, source: CodeSource, meanings: Sequence[Named], history: AnchorHistory, by: str
) -> Verdict:
    wanted = parse_fingerprint(anchor.fingerprint)
    named = meanings[0]
    if wanted is not None:
        named = next((one for one in meanings if _equal(one.read_as(anchor.scheme), wanted)), named)
    chosen = named.read_as(anchor.scheme)
    current = anchor._replace(path=source.path, fingerprint=str(chosen))
    if wanted is not None and _equal(chosen, wanted):
        note = "its docstring changed" if wanted.doc != chosen.doc else ""
        return _unchanged(anchor, current, by, note)
    doubt = ""
    alike = [one for one in source.find(anchor.symbol) if one.name == named.name]
    added = (
        wanted is not None
        and not of_many(wanted)
        and (named.is_several or any(_equal(one.read_as(anchor.scheme), wanted) for one in alike))
    )
    if wanted is not None and (added or source.broken):
        old = _before(anchor, wanted, history)
        if chosen.scheme != wanted.scheme == chosen.scheme.replace(TOKENS, ""):
            if old is not None and any(_equal(one.tokens, old.tokens) for one in meanings):
                return _unchanged(anchor, anchor._replace(path=source.path), by)._replace(others=True)
            wanted = old.tokens if old is not None else chosen
            doubt = "" if old is not None else f"`{anchor.symbol}` no longer parses"
        if any(source.in_conflict(*span) for span in named.spans):
            doubt = f"`{anchor.symbol}` contains a merge conflict"
        elif added and old is None:
            # The fingerprint may come from a version in which a symbol meant only its first definition.
            times = max(len(alike), len(named.members))
            doubt = f"`{anchor.symbol}` is defined {times} times; verify the document again"
        elif old is not None and old.is_in(source):
            doubt = _unparsed(source)
    verdict = _differs(anchor, current, wanted, chosen, what=f"`{anchor.symbol}`", by=by, doubt=doubt)
    return verdict._replace(others=verdict.others or source.broken)


def _before(anchor: Anchor, wanted: Fingerprint, history: AnchorHistory) -> Named | None:
    """The definitions that an anchor was made for, in the history; ``None`` when they are not there."""
    before = history.before(anchor.path)
    found = before.meanings(anchor.symbol) if before is not None and not before.trouble else ()
    return next((one for one in found if _equal(one.read_as(anchor.scheme), wanted)), None)


def _reselected(anchor: Anchor, source: CodeSource, history: AnchorHistory, by: str) -> Verdict | None:
    """The verdict when a selector chooses nothing any more, but exactly one definition of its name has new
    parameters; ``None`` otherwise."""
    asked = split_selector(anchor.symbol)
    now = source.named(asked.name) if not asked.is_plain and anchor.fingerprint else None
    before = history.before(anchor.path)
    was = before.named(asked.name) if before is not None else None
    if now is None:
        return None
    known = [one.parameters for one in was.members] if was is not None else []
    new = [one for one in now.each() if one.members[0].parameters not in known]
    if len(new) != 1:
        return None
    symbol = new[0].symbol if now.is_several else now.symbol
    current = anchor._replace(path=source.path, symbol=symbol, fingerprint=str(new[0].read_as(anchor.scheme)))
    reason = f"`{anchor.symbol}` has changed since it was recorded; it is now `{symbol}`"
    return Verdict(CHANGED, anchor, current, reason, by, others=True)


def _evaluate_lines(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor on a range of lines."""
    assert anchor.lines is not None
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        return _no_file(anchor, history)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    wanted = parse_fingerprint(anchor.fingerprint)
    here = source.of_lines(*anchor.lines)
    current = anchor._replace(path=path, fingerprint=str(here) if here is not None else "")
    if here is not None and wanted is not None and _equal(here, wanted):
        return _from_a_twin(anchor, wanted, source, history) or _unchanged(anchor, current, by)
    if here is not None and (wanted is None or not same_measure(here, wanted)):
        return _differs(anchor, current, wanted, here, what="these lines", by=by, doubt=_unparsed(source))
    if wanted is None:
        return _missing(anchor, f"no code on these lines of {path}")
    moved = moved_lines(anchor, wanted, source, history)
    if moved is not None and moved.status == MOVED:
        return moved
    if source.broken:
        return _unknown(anchor, f"the file does not parse (line {source.trouble_at})")
    if moved is not None:
        return moved
    if here is None:
        return _missing(anchor, f"no code on these lines of {path}")
    reason = f"{_LINES_CHANGED}; the recorded code is nowhere else in the file"
    return Verdict(CHANGED, anchor, current, reason, "place")


def _evaluate_file(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor on a whole file."""
    path, by = _where(anchor, tree, history)
    source = tree.source(path) if path else None
    if source is None:
        return moved_file(anchor, tree, history) or _no_file(anchor, history)
    if source.trouble:
        return _unknown(anchor, source.trouble)
    wanted, here = parse_fingerprint(anchor.fingerprint), source.whole()
    current = anchor._replace(path=path, fingerprint=str(here))
    if wanted is not None and _equal(here, wanted):
        return _unchanged(anchor, current, by)
    return _differs(anchor, current, wanted, here, what="the file", by=by, doubt=_unparsed(source))


def _evaluate_glob(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict:
    """An anchor on all files that match a pattern."""
    files = matching(anchor.path, tree.paths())
    if not files:
        return _missing(anchor, "no file matches the pattern", others=True)
    sources = [source for path in files if (source := tree.source(path)) is not None]
    wanted, here = parse_fingerprint(anchor.fingerprint), fingerprint_of_files(sources)
    current = anchor._replace(fingerprint=str(here))
    if wanted is not None and _equal(here, wanted):
        reason = f"{len(files)} files, unchanged since they were recorded"
        return Verdict(VERIFIED, anchor, current, reason, "place", others=True)
    if not anchor.fingerprint:
        return Verdict(UNKNOWN, anchor, current, _NOT_YET, others=True)
    if wanted is None or not same_measure(wanted, here):
        return Verdict(UNKNOWN, anchor, current, _other_measure(wanted), others=True)
    doubt = _doubtful(sources, wanted, history)
    if doubt:
        return Verdict(UNKNOWN, anchor, current, doubt, others=True)
    now = "1 file matches" if len(files) == 1 else f"{len(files)} files match"
    reason = f"a file matching the pattern was changed, added or removed ({now} now)"
    return Verdict(CHANGED, anchor, current, reason, "place", others=True)


def _doubtful(sources: Sequence[CodeSource], wanted: Fingerprint, history: AnchorHistory) -> str:
    """Why the difference may come only from files that do not parse, now or when they were verified; "" when
    other files changed."""
    touched = history.touched()
    if touched is None:
        return next((_no_parse(one) for one in sources if one.broken), "")
    changed, then, doubts = set(touched), list(sources), []
    for at, source in enumerate(sources):
        old = history.before(source.path) if source.path in changed else None
        if old is not None and (source.broken or old.broken):
            then[at] = old
            doubts.append(_no_parse(source) if source.broken else f"{source.path} did not parse then")
    return doubts[0] if doubts and _equal(fingerprint_of_files(then), wanted) else ""


def _no_parse(source: CodeSource) -> str:
    return f"{source.path} does not parse (line {source.trouble_at})"


def _where(anchor: Anchor, tree: Tree, history: AnchorHistory) -> tuple[str, str]:
    """The present path of the file and how it was found; "" for both when it was not found."""
    if tree.source(anchor.path) is not None:
        return anchor.path, "place"
    renamed = history.renamed(anchor.path)
    return (renamed, "rename") if renamed else ("", "")


def _equal(one: Fingerprint, other: Fingerprint) -> bool:
    return one.hash == other.hash and same_measure(one, other)


def _unchanged(anchor: Anchor, current: Anchor, by: str, note: str = "") -> Verdict:
    """The same content, at its old path or where the file was renamed to."""
    if by == "place":
        return Verdict(VERIFIED, anchor, current, "unchanged since it was recorded", by, note)
    reason = f"the file is now {current.path}"
    return Verdict(MOVED, anchor, current, reason, by, note, others=True)


def _differs(
    anchor: Anchor,
    current: Anchor,
    wanted: Fingerprint | None,
    found: Fingerprint,
    *,
    what: str,
    by: str,
    doubt: str,
) -> Verdict:
    """There is code at the location, and it changed or cannot be compared (``doubt`` is why not)."""
    others = by != "place"
    if not anchor.fingerprint:
        return Verdict(UNKNOWN, anchor, current, _NOT_YET, by, others=others)
    if wanted is None or not same_measure(wanted, found):
        return Verdict(UNKNOWN, anchor, current, _other_measure(wanted, found), by, others=others)
    if doubt:
        return Verdict(UNKNOWN, anchor, current, doubt, by, others=others)
    reason = _LINES_CHANGED if what == "these lines" else f"{what} has changed since it was recorded"
    if others:
        reason += f"; the file is now {current.path}"
    return Verdict(CHANGED, anchor, current, reason, by, others=others)


def _unparsed(source: CodeSource) -> str:
    return f"the file does not parse (line {source.trouble_at})" if source.broken else ""


def _other_measure(wanted: Fingerprint | None, found: Fingerprint | None = None) -> str:
    if wanted is None:
        return "the fingerprint is invalid; verify the document again"
    if found is not None and language_in(wanted.scheme) != language_in(found.scheme):
        return "the file is now in another language; verify the document again"
    return OTHER_RULES


def _missing(anchor: Anchor, reason: str, *, others: bool = False) -> Verdict:
    return Verdict(MISSING, anchor, None, reason, others=others)


def _no_file(anchor: Anchor, history: AnchorHistory) -> Verdict:
    """A file that was not found; only git could show whether it was renamed."""
    if history.is_cut():
        reason = f"{_NO_FILE}, and this shallow clone does not show whether it was renamed"
        return Verdict(UNKNOWN, anchor, None, reason, others=True)
    return _missing(anchor, _NO_FILE, others=True)


def _unknown(anchor: Anchor, reason: str, *, others: bool = False) -> Verdict:
    return Verdict(UNKNOWN, anchor, None, reason, others=others)


# Moved content
#
# A target must be unique. Small bodies look alike: a body of fewer than 40 tokens is followed only under its
# own full name, or under its own last name within its file or into a file of the same name.

SMALL: Final = 40
"""Tokens below which a body is too small to be recognized under another name or in another file."""
_FEW: Final = 10
"""Tokens below which a body is followed only where history shows that it was not there before."""
_MOST_FILES: Final = 400
"""Files searched for one anchor; a word found in more files than that is not a distinctive name."""
_MOST_WINDOWS: Final = 2_000
_JOINERS: Final = str.maketrans("", "", "_-")


def moved_definition(
    anchor: Anchor, tree: Tree, history: AnchorHistory, source: CodeSource | None = None
) -> Verdict | None:
    """The verdict when a definition is no longer in its file; ``None`` when its code is not found.

    ``source`` is the present text of the file, if it exists.
    """
    wanted = parse_fingerprint(anchor.fingerprint)
    if wanted is None:
        return None
    found = _found_elsewhere(anchor, wanted, tree, history, source)
    if found is None or found.status != MOVED or found.found is None:
        return found
    # One of several equal declarations: the others are new, or were in another file.
    doubled = split_selector(found.found.symbol).nth and not split_selector(anchor.symbol).nth
    if doubled or _was_one_of_several(anchor, wanted, history):
        return _unknown(anchor, f"{found.reason}; verify the document again", others=True)
    return found


def _found_elsewhere(
    anchor: Anchor, wanted: Fingerprint, tree: Tree, history: AnchorHistory, source: CodeSource | None
) -> Verdict | None:
    renamed_with = _under_renamed_class(anchor, wanted, source, history) if source is not None else None
    if renamed_with is not None:
        return renamed_with
    leaf = leaf_of(anchor.symbol)
    same, renamed = [], []
    for found in _sources(anchor, leaf, tree, history, source):
        everything = history.touched() is not None or found is source
        for definition in _candidates(found, leaf, wanted, everything=everything):
            if _is_old(definition, found, history) and not _is_own(anchor, found, definition):
                continue
            if definition.read_as(wanted.scheme).hash == wanted.hash and _may_follow(
                anchor, wanted, found, definition
            ):
                same.append((found, definition))
            elif wanted.size >= SMALL:
                renamed.append((found, definition))
    there = _in_moved_file(anchor, same, tree)
    if there:
        return _chosen(anchor, there)
    if same and wanted.size < SMALL and _is_common(anchor, wanted, same, tree):
        return None
    if history.touched() is None:
        here = [one for one in renamed if one[0] is source]
        if here and all(found is not source for found, _ in same):
            return _chosen(anchor, here)
        if same and wanted.size < _FEW:
            return _too_short(anchor, same)
    return _chosen(anchor, same) or _chosen(anchor, renamed)


def _too_short(anchor: Anchor, same: Sequence[tuple[CodeSource, Named]]) -> Verdict | None:
    """The verdict when only a few tokens are the same: they say nothing under another name."""
    for source, definition in same:
        if _is_named(anchor, definition):
            reason = (
                f"{source.path} has the same, but it is too short to be recognized without the old commit"
            )
            return Verdict(UNKNOWN, anchor, None, reason, others=True)
    return None


def _was_one_of_several(anchor: Anchor, wanted: Fingerprint, history: AnchorHistory) -> bool:
    """Whether the symbol meant more definitions than the one of the fingerprint."""
    before = history.before(anchor.path)
    was = before.named(anchor.symbol) if before is not None else None
    return was is not None and was.is_several and not of_many(wanted)


def _is_own(anchor: Anchor, source: CodeSource, definition: Named) -> bool:
    """Whether it is one of the definitions among which the anchor's selector chooses."""
    return source.path == anchor.path and _is_named(anchor, definition)


def _is_named(anchor: Anchor, definition: Named) -> bool:
    """Whether a definition has the full name in an anchor; a name may itself end in parentheses."""
    return definition.name in (anchor.symbol, split_selector(anchor.symbol).name)


def _in_moved_file(
    anchor: Anchor, same: Sequence[tuple[CodeSource, Named]], tree: Tree
) -> list[tuple[CodeSource, Named]]:
    """Those under their full name in the file to which the anchor's file was probably moved: the only one of
    its name, or the one that shares most of its folders."""
    own = [(source, one) for source, one in same if _is_named(anchor, one)]
    name = anchor.path.rpartition("/")[2]
    named = [path for path in tree.paths() if path.rpartition("/")[2] == name] if own else []
    ranked = sorted(((_shared(anchor.path, path), path) for path in named), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return []
    return [one for one in own if one[0].path == ranked[0][1]]


def _under_renamed_class(
    anchor: Anchor, wanted: Fingerprint, source: CodeSource, history: AnchorHistory
) -> Verdict | None:
    """The verdict when one name in the symbol was replaced, as of a class renamed together with its file:
    the old name is no longer in the file, the new one was not, and one definition is the same."""
    before = history.before(anchor.path)
    if before is None:
        return None
    then, now = ({one.name for one in file.definitions()} for file in (before, source))
    symbol = split_selector(anchor.symbol).name
    found = []
    for definition in _candidates(source, leaf_of(symbol), wanted, everything=True):
        old, new = _replaced(symbol, definition.name)
        named_alike = old != symbol or (_named_as(old, anchor.path) and _named_as(new, source.path))
        if new and old not in now and new not in then and named_alike:
            found.append((source, definition))
    return _chosen(anchor, found) if len(found) == 1 else None


def _replaced(old: str, new: str) -> tuple[str, str]:
    """Two symbols up to the first name in which they differ; empty unless one name replaces another."""
    names = list(zip(old.split("."), new.split("."), strict=False))
    places = [at for at, (one, other) in enumerate(names, 1) if one != other]
    if old.count(".") != new.count(".") or len({names[at - 1] for at in places}) != 1:
        return "", ""
    first = names[: places[0]]
    return ".".join(one for one, _ in first), ".".join(other for _, other in first)


def _named_as(name: str, path: str) -> bool:
    """Whether a file is named as one definition in it: ``token_box.py`` as ``TokenBox``."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return stem.translate(_JOINERS).lower() == name.translate(_JOINERS).lower()


def _sources(
    anchor: Anchor, leaf: str, tree: Tree, history: AnchorHistory, source: CodeSource | None
) -> Iterator[CodeSource]:
    """The files to search: its own, then those that are new or changed, or that contain its name."""
    touched = history.touched()
    named = tree.naming(leaf) if touched is None else touched
    if len(named) > _MOST_FILES:
        naming = named if touched is None else sorted(set(touched).intersection(tree.naming(leaf)))
        named = [*naming, *_nearest(anchor.path, named)][:_MOST_FILES]
    for path in dict.fromkeys((*((source.path,) if source else ()), *named)):
        found = source if source is not None and path == source.path else tree.source(path)
        if found is not None and not found.trouble and found.has_symbols:
            yield found


def _is_common(
    anchor: Anchor, wanted: Fingerprint, same: Sequence[tuple[CodeSource, Named]], tree: Tree
) -> bool:
    """Whether a small body exists under its name in several places, which makes a match ambiguous: under its
    full name where that names a class, else under its last name."""
    leaf = leaf_of(anchor.symbol)
    full = leaf != split_selector(anchor.symbol).name and any(_is_named(anchor, one) for _, one in same)
    naming = tree.naming(leaf)
    if len(naming) > _MOST_FILES:
        return not full
    sources = (tree.source(path) for path in naming)
    found = [
        definition
        for source in sources
        if source is not None and not source.trouble and source.has_symbols
        for definition in _candidates(source, leaf, wanted, everything=False)
        if definition.read_as(wanted.scheme).hash == wanted.hash
        and (not full or _is_named(anchor, definition))
    ]
    return len(found) > 1


def _nearest(path: str, named: Sequence[str]) -> list[str]:
    """The most likely targets when there are too many files: the same file name or folder."""
    folder, _, name = path.rpartition("/")
    near = [one for one in named if one.rpartition("/")[2] == name or one.rpartition("/")[0] == folder]
    return near[:_MOST_FILES]


def _candidates(source: CodeSource, leaf: str, wanted: Fingerprint, *, everything: bool) -> Iterator[Named]:
    """Definitions with the same code, under the same name or, with ``everything``, under another."""
    for definition in source.places():
        own = leaf in (definition.name.rpartition(".")[2], leaf_of(definition.name))
        if not own and (not everything or wanted.shape == "-"):
            continue
        found = definition.read_as(wanted.scheme)
        if same_measure(found, wanted) and (found.hash == wanted.hash or found.shape == wanted.shape != "-"):
            yield definition


def _is_old(definition: Named, source: CodeSource, history: AnchorHistory) -> bool:
    """Whether this very definition existed before, so that nothing moved to it."""
    before = history.before(source.path)
    if before is None:
        return False
    return any(
        one.fingerprint.hash == definition.fingerprint.hash
        for one in before.places()
        if one.name == definition.name
    )


def _may_follow(anchor: Anchor, wanted: Fingerprint, source: CodeSource, definition: Named) -> bool:
    """Whether code with the same content and name may be the anchored code."""
    if wanted.size >= SMALL or _is_named(anchor, definition):
        return True
    return source.path.rpartition("/")[2] == anchor.path.rpartition("/")[2]


def _chosen(anchor: Anchor, found: Sequence[tuple[CodeSource, Named]]) -> Verdict | None:
    if not found:
        return None
    places = list(dict.fromkeys((source.path, definition.symbol) for source, definition in found))
    if len(places) > 1:
        places = _likeliest(anchor, places)
    if len(places) > 1:
        shown = ", ".join(f"{path}#{name}" for path, name in places[:3])
        reason = f"ambiguous: its code is now in {len(places)} places: {shown}"
        return Verdict(MISSING, anchor, None, reason, "search", others=True)
    path, symbol = places[0]
    definition = next(one for source, one in found if (source.path, one.symbol) == places[0])
    fingerprint = definition.read_as(anchor.scheme)
    current = anchor._replace(path=path, symbol=symbol, fingerprint=str(fingerprint))
    return Verdict(MOVED, anchor, current, f"its code is now {current.place}", "search", others=True)


def _likeliest(anchor: Anchor, places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The place with exactly the same name, in the same class, or whose path shares most folders; else all
    of them."""
    owner = (anchor.path, anchor.symbol.rpartition(".")[0])
    exact = [place for place in places if place[1] == anchor.symbol]
    beside = [place for place in places if (place[0], place[1].rpartition(".")[0]) == owner]
    for chosen in (exact, beside):
        if len(chosen) == 1:
            return chosen
    ranked = sorted(((_shared(anchor.path, path), path, name) for path, name in places), reverse=True)
    if ranked[0][0] > ranked[1][0]:
        return [ranked[0][1:]]
    return places


def _shared(path: str, other: str) -> tuple[int, int]:
    """How near two paths are: the number of names that they share, counted from the end and from the start,
    and, negative, the number of names in the other one."""
    one, two = path.split("/"), other.split("/")
    most = min(len(one), len(two))
    end = next((at for at in range(most) if one[-1 - at] != two[-1 - at]), most)
    start = next((at for at in range(most - end) if one[at] != two[at]), most - end)
    return end + start, -len(two)


def moved_file(anchor: Anchor, tree: Tree, history: AnchorHistory) -> Verdict | None:
    """The verdict when a whole file is missing and git has no rename; ``None`` when its text is not found."""
    wanted = parse_fingerprint(anchor.fingerprint)
    if wanted is None or wanted.size < SMALL:
        return None
    name = anchor.path.rpartition("/")[2]
    touched = history.touched()
    among = touched if touched is not None else [path for path in tree.paths() if path.endswith(f"/{name}")]
    if len(among) > _MOST_FILES:
        among = _nearest(anchor.path, among)
    found = [path for path in among if _is_target(tree.source(path), wanted, history)]
    if len(found) != 1:
        return None
    current = anchor._replace(path=found[0])
    return Verdict(MOVED, anchor, current, f"the file is now {found[0]}", "search", others=True)


def _is_target(source: CodeSource | None, wanted: Fingerprint, history: AnchorHistory) -> bool:
    if source is None or source.trouble:
        return False
    here = source.whole()
    if here.hash != wanted.hash or not same_measure(here, wanted):
        return False
    before = history.before(source.path)
    return before is None or before.whole().hash != wanted.hash


def moved_lines(
    anchor: Anchor, wanted: Fingerprint, source: CodeSource, history: AnchorHistory
) -> Verdict | None:
    """The verdict when a range of lines has other content now: moved up or down in the file, or changed,
    where the old text shows which lines replaced them; ``None`` when nothing is known."""
    assert anchor.lines is not None
    mapped = _mapped(anchor.path, anchor.lines, wanted, source, history)
    if mapped is None:
        return _lines_elsewhere(anchor, anchor.lines, wanted, source)
    count = anchor.lines[1] - anchor.lines[0]
    inside = ((start, start + count) for start in range(mapped[0], mapped[1] - count + 1))
    found = next((lines for lines in (mapped, *inside) if _is_here(lines, wanted, source)), None)
    if found is not None:
        return _lines_moved(anchor, found, source)
    here = source.of_lines(*mapped)
    if here is None:
        return Verdict(MISSING, anchor, None, "these lines were deleted", "place")
    if not same_measure(here, wanted):
        return _unknown(anchor, _other_measure(wanted))
    current = anchor._replace(path=source.path, lines=mapped, fingerprint=str(here))
    return Verdict(CHANGED, anchor, current, _LINES_CHANGED, "place")


def is_repeated(lines: tuple[int, int], source: CodeSource) -> bool:
    """Whether the text of these lines is also elsewhere in the file."""
    rows = [row.strip() for row in source.text.split("\n")]
    span = rows[lines[0] - 1 : lines[1]]
    alike = (at for at, row in enumerate(rows) if span and row == span[0])
    return sum(rows[at : at + len(span)] == span for at in alike) > 1


def _from_a_twin(
    anchor: Anchor, wanted: Fingerprint, source: CodeSource, history: AnchorHistory
) -> Verdict | None:
    """The verdict when the same code was at several places and another one is now on the anchor's lines;
    ``None`` when it is the anchor's, or that is not certain."""
    assert anchor.lines is not None
    if not is_repeated(anchor.lines, source):
        return None
    before = history.before(anchor.path)
    mapped = _mapped(anchor.path, anchor.lines, wanted, source, history)
    if before is None or mapped is None or mapped == anchor.lines:
        return None
    found = moved_lines(anchor, wanted, source, history)
    certain = _around(anchor.lines, before) == _around(mapped, source)
    return found if found is not None and (found.status == MOVED or certain) else None


def _around(lines: tuple[int, int], source: CodeSource) -> tuple[str, str]:
    """The line before these and the one after them."""
    rows = ["", *(row.strip() for row in source.text.split("\n")), ""]
    return rows[lines[0] - 1], rows[min(lines[1] + 1, len(rows) - 1)]


def _lines_moved(anchor: Anchor, lines: tuple[int, int], source: CodeSource) -> Verdict:
    current = anchor._replace(path=source.path, lines=lines, fingerprint=str(source.of_lines(*lines)))
    return Verdict(MOVED, anchor, current, f"these lines are now {current.place}", "search")


def _is_here(lines: tuple[int, int], wanted: Fingerprint, source: CodeSource) -> bool:
    found = source.of_lines(*lines)
    return found is not None and _equal(found, wanted)


def _lines_elsewhere(
    anchor: Anchor, lines: tuple[int, int], wanted: Fingerprint, source: CodeSource
) -> Verdict | None:
    """The verdict when the old text is not known but lines elsewhere in the file are the same: they may
    always have been there, so only one place with enough code is followed."""
    alike = (_trimmed(window, wanted, source) for window in _windows(lines, source))
    places = list(dict.fromkeys(place for place in alike if place is not None))
    if not places:
        return None
    if len(places) == 1 and wanted.size >= _FEW:
        return _lines_moved(anchor, places[0], source)
    count = "1 place" if len(places) == 1 else f"{len(places)} places"
    return _unknown(anchor, f"the same code is at {count} in the file, which may have been there before")


def _trimmed(lines: tuple[int, int], wanted: Fingerprint, source: CodeSource) -> tuple[int, int] | None:
    """These lines without those at both ends that have no code; ``None`` when their code is another."""
    if not _is_here(lines, wanted, source):
        return None
    first, last = lines
    while _is_here((first + 1, last), wanted, source):
        first += 1
    while _is_here((first, last - 1), wanted, source):
        last -= 1
    return first, last


def _mapped(
    path: str, lines: tuple[int, int], wanted: Fingerprint, source: CodeSource, history: AnchorHistory
) -> tuple[int, int] | None:
    """Where a range of the old text is in the new one; ``None`` when the old text is not known."""
    before = history.before(path)
    old = before.of_lines(*lines) if before is not None else None
    if before is None or old is None or old.hash != wanted.hash:
        return None
    edits = stretches(before.text.splitlines(), source.text.splitlines())
    if edits is None:
        return None
    first, last = _shifted(lines[0], edits, end=False), _shifted(lines[1], edits, end=True)
    return (first, last) if first <= last else (first, first)


def _shifted(line: int, edits: Iterable[tuple[int, int, int, int]], *, end: bool) -> int:
    """The new number of an old line (from 1); for a replaced line, the edge of its replacement."""
    shift = 0
    for old_start, old_stop, new_start, new_stop in edits:
        if line <= old_start:
            break
        if line <= old_stop:
            return max(1, new_stop if end else new_start + 1)
        shift = new_stop - old_stop
    return line + shift


def _windows(lines: tuple[int, int], source: CodeSource) -> Iterator[tuple[int, int]]:
    """Ranges of as many lines, nearest first."""
    first, last = lines
    span, total = last - first, source.text.count("\n") + 1
    for distance in range(1, min(total, _MOST_WINDOWS // 2) + 1):
        for start in (first - distance, first + distance):
            if start >= 1 and start + span <= total:
                yield start, start + span
