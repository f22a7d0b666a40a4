"""Rules about the store as a whole (TM5); suppressions, what they hide, and rules about them (TM6).

What is wrong in the log and in the queue is found where they are read; their rules here pass it on. A comment
in the document suppresses a finding (`document.markdown`), or ``lint.per_file`` in ``config.toml`` does for
files. Each has to give a reason, name a code that exists, and have something to hide.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document import schema
from thunderus_mem.document.ids import closest
from thunderus_mem.document.markdown import FINGERPRINT, Suppression, suppressions
from thunderus_mem.document.paths import fits
from thunderus_mem.lint.rule import CODES, finding
from thunderus_mem.store.layout import INDEXES, MEMORY, STORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.rule import LintContext, StoreState

_MANIFEST: Final = f"{INDEXES}/manifest.json"


def _reported(store: StoreState, code: str) -> Iterator[Diagnostic]:
    """What reading the log or the review queue found already."""
    return (one for one in store.reported if one.rule == code)


def schema_drift(store: StoreState) -> Iterable[Diagnostic]:
    """A schema file in ``.thunderus/schemas`` is missing or differs from the one this version writes.

    Why: editors and CI check documents against these files; when they lag behind, the two disagree with lint.

    Bad::

        a schemas folder of an older version, or one with a hand edit

    Good::

        the files as ``thunderus-mem schema update`` writes them

    Mend: run ``thunderus-mem schema update``; it writes these files and leaves all else alone.
    """
    for name, copy in sorted(store.schemas.items()):
        if copy.text is None:
            message = "The schema file is missing."
        elif copy.text.replace("\r\n", "\n").removeprefix("\ufeff") != copy.wanted:
            message = "The schema file differs from the one this version writes."
        else:
            continue
        expected = f"{name} as this version has it"
        path = f"{STORE}/schemas/{name}"
        yield finding("TM501", path, message, expected=expected, hint="Run `thunderus-mem schema update`.")


def manifest_schema(store: StoreState) -> Iterable[Diagnostic]:
    """The manifest is no JSON, or does not hold what its schema asks for.

    Why: Thunderus and other tools list the memory from it and refuse one that lacks a key.

    Bad::

        {"version": 1, "docs": []}

    Good::

        the file as ``thunderus-mem manifest`` writes it

    Mend: run ``thunderus-mem manifest``. It is derived from the documents, so nothing can be lost.
    """
    if store.manifest is None:
        return
    hint = "Run `thunderus-mem manifest` to write it anew."
    try:
        data = json.loads(store.manifest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        yield finding("TM502", _MANIFEST, "The manifest is no JSON.", expected="JSON", hint=hint)
        return
    if schema.is_valid_fast(schema.MANIFEST, data):
        return
    for violation in schema.check(schema.MANIFEST, data):
        yield finding(
            "TM502",
            _MANIFEST,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint=hint,
        )


def _refuse(name: str) -> Any:
    raise ValueError(name)


def shard_schema(store: StoreState) -> Iterable[Diagnostic]:
    """A line of the event log is no event: no JSON, or not what its schema asks for.

    Why: the line is not counted as evidence. The other lines are still read.

    Bad::

        {"v": 1, "id": "evt_1", "kind": "patched"}

    Good::

        the lines as this program writes them

    Mend: bring the line back from git (``git log -p`` on the shard). Never rewrite it by hand: every line is
    named by the hash in the next one.
    """
    return _reported(store, "TM503")


def shard_chain(store: StoreState) -> Iterable[Diagnostic]:
    """A line of the event log does not follow from the line before it.

    Why: each line names the hash of the one before. An edited, removed or moved line shows as a break. That
    a whole shard is missing, because git dropped or split it, is a note only.

    Bad::

        a shard from which a line was deleted, or in which one was edited

    Good::

        a shard whose older lines are as they were written

    Mend: bring the shard back from git (``git checkout <commit> -- <file>``), or keep it and know that its
    order and text are no longer proved.
    """
    return _reported(store, "TM504")


def shard_torn(store: StoreState) -> Iterable[Diagnostic]:
    """The last line of an event log is not finished.

    Why: a process was killed while writing, or a disk was full. The line was never acknowledged.

    Bad::

        {"v": 1, "id": "evt_01J…", "ts": "2026-01-

    Good::

        every line ends with a newline

    Mend: run any command that writes; it sets the torn bytes aside in ``.thunderus/.quarantine`` and goes on.
    """
    return _reported(store, "TM505")


def tracked_projection(store: StoreState) -> Iterable[Diagnostic]:
    """Git tracks a file that is derived or private.

    Why: index and manifest change with every document and would be in conflict in every merge; an index from
    somebody else's clone is not to be trusted; personal overlays are nobody else's.

    Bad::

        git add -f .thunderus/memory/indexes/memory.db

    Good::

        only documents, schemas, configuration and session shards are tracked

    Mend: ``git rm --cached <file>``, and keep the ``.gitignore`` that init wrote.
    """
    for path in sorted(store.tracked):
        yield finding(
            "TM506",
            path,
            "Git tracks this file, which is derived or private.",
            expected="a file that git ignores",
            hint=f"Run `git rm --cached {path}`.",
        )


def conflict_in_shard(store: StoreState) -> Iterable[Diagnostic]:
    """An event log holds git's conflict markers.

    Why: shards are written by one working tree and never merged by line; markers mean that a shard was
    changed on two sides, which only happens by hand.

    Bad::

        <<<<<<< HEAD

    Good::

        both sides' lines, each whole, without markers

    Mend: keep the lines of both sides and delete the three marker lines.
    """
    return _reported(store, "TM507")


def shard_line_ends(store: StoreState) -> Iterable[Diagnostic]:
    """Lines of the event log end in CRLF.

    Why: git turns LF into CRLF where ``core.autocrlf``, ``core.eol`` or an attribute says so. The log reads
    the same, since no hash counts line ends, but other programs may not expect it. New lines end in LF.

    Bad::

        a clone with ``core.autocrlf=true`` and without ``.thunderus/.gitattributes``

    Good::

        sessions/** text eol=lf

    Mend: run ``thunderus-mem init``, which adds the missing file, commit it, and check the shards out again
    (``git rm --cached -r .thunderus/sessions && git reset --hard`` in a clean tree).
    """
    return _reported(store, "TM508")


def unreadable_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A file in ``.thunderus/patches`` is no proposal, or one that nobody may carry out.

    Why: nobody can decide about it, and whoever wrote it believes that it waits. A proposal may come from
    anybody through git, so one that names a place where no document lives, or that holds a secret, is none.

    Bad::

        a file that git merged with conflict markers, or one that was edited by hand

    Good::

        the files as ``thunderus-mem garden --propose`` writes them

    Mend: bring the file back from git, or delete it: then nothing is proposed.
    """
    return _reported(store, "TM509")


def expired_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A proposal has waited for longer than ``review.expires_days``.

    Why: a queue that nobody reads hides what matters, and its diffs fit less with every day.

    Bad::

        a proposal of last spring

    Good::

        proposals that are approved or rejected in the weeks they are made

    Mend: decide (``thunderus-mem patch show``, ``approve``, ``reject``), or ``thunderus-mem patch expire``.
    """
    return _reported(store, "TM510")


# Suppressions

_CONFIG: Final = ".thunderus/config.toml"
_LONGEST_GLOB: Final = 300


class SuppressionUse(NamedTuple):
    """What the rules about suppressions look at: a document, its suppressions, and which were needed.

    ``used`` holds the place of a suppression in ``given`` and the code it was needed for.
    """

    context: LintContext
    given: tuple[Suppression, ...]
    used: frozenset[tuple[int, str]]


def suppressions_of(context: LintContext) -> tuple[Suppression, ...]:
    """All that may hold for a document: its own comments, then the configuration's for its path."""
    comments = suppressions(context.reading.text or "")
    entries = [
        Suppression((code,), 0, reason, glob=glob)
        for glob, codes in context.config.per_file.items()
        if matches(glob, context.path)
        for code, reason in codes.items()
    ]
    return (*comments, *entries)


def suppress(
    found: Iterable[Diagnostic], given: Sequence[Suppression]
) -> tuple[list[Diagnostic], frozenset[tuple[int, str]]]:
    """The findings that nothing suppresses, and which suppressions the others needed."""
    kept: list[Diagnostic] = []
    used: set[tuple[int, str]] = set()
    for one in found:
        by = [(place, one.rule) for place, suppression in enumerate(given) if suppression.covers(one)]
        used.update(by)
        if not by:
            kept.append(one)
    return kept, frozenset(used)


def matches(glob: str, path: str) -> bool:
    """Whether a path from the root, or from the memory's folder, fits a glob; ``**`` means any folders."""
    below = path.removeprefix(f"{MEMORY}/")
    return len(glob) <= _LONGEST_GLOB and (fits(glob, path) or (below != path and fits(glob, below)))


def _comments(use: SuppressionUse) -> Iterator[tuple[int, Suppression]]:
    """The comments of the document with their places among ``given``; examples in code left out."""
    return ((place, one) for place, one in enumerate(use.given) if not one.glob and not one.shown)


def _likely(code: str) -> str:
    by_name = {name: known for known, (name, _) in CODES.items()}
    upper = code.upper()
    # Digits change places easily; otherwise the likeliest code, or the rule of that name.
    near = [known for known in CODES if sorted(known) == sorted(upper)]
    near = near or closest(upper, list(CODES), 1) or closest(code.lower(), list(by_name), 1)
    if not near:
        return "`thunderus-mem rule` lists them all."
    return f"Did you mean {' or '.join(by_name.get(name, name) for name in near)}?"


def answer_without_reason(use: SuppressionUse) -> Iterable[Diagnostic]:
    """A comment answers a finding without saying why.

    Why: the next reader cannot tell a judgement from a way to silence the check, and nobody dares to take the
    comment out again.

    Bad::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 -->

    Good::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 written when the migration is done -->

    Mend: write the reason behind the code.
    """
    for _, one in _comments(use):
        if not one.reason and any(code in CODES for code in one.codes):
            yield use.context.finding(
                "TM601",
                one.at,
                f"The comment answers {', '.join(one.codes)} without a reason.",
                expected="a reason behind the code",
                hint="Write why the finding is to be left alone.",
            )


def unused_answer(use: SuppressionUse) -> Iterable[Diagnostic]:
    """A comment answers a finding that is not there.

    Why: what it excused was mended or moved; left in place, it would hide the next such finding without
    anybody having looked at it. It is only told of rules that ran, and of documents that read. A comment in
    code marks is taken for an example.

    Bad::

        See [[fact.testing]]. <!-- thunderus-mem: ignore TM201 planned -->      (the document exists)

    Good::

        See [[fact.testing]].

    Mend: delete the comment, or put it on the line it speaks for.
    """
    context = use.context
    if context.document is None or context.corpus is None:
        return
    for place, one in _comments(use):
        idle = [
            code
            for code in one.codes
            if code in CODES and (place, code) not in use.used and _could_be_used(use, code)
        ]
        if idle:
            where = f"line {one.line}" if one.line else "the file"
            yield context.finding(
                "TM602",
                one.at,
                f"The comment answers {', '.join(idle)} for {where}, where nothing of it is found.",
                expected="a finding to answer",
                hint=_way_out(one, idle),
            )


def _way_out(one: Suppression, idle: list[str]) -> str:
    if idle == ["TM401"] and not FINGERPRINT.search(one.reason):
        return "Name the fingerprint that the finding shows, then the reason."
    return "Delete the comment, or put it on the line it speaks for."


def _could_be_used(use: SuppressionUse, code: str) -> bool:
    # An answer to the rules about answers is looked at after them.
    return use.context.config.runs(code) and not code.startswith("TM6")


def unknown_code(use: SuppressionUse) -> Iterable[Diagnostic]:
    """A comment names a rule that does not exist.

    Why: a slip in the code makes the comment answer nothing, without a word.

    Bad::

        <!-- thunderus-mem: ignore TM021 planned -->

    Good::

        <!-- thunderus-mem: ignore TM201 planned -->

    Mend: correct the code; ``thunderus-mem rule`` lists them all.
    """
    for _, one in _comments(use):
        for code in one.codes or ("",):
            if code not in CODES:
                said = f"There is no rule `{code}`." if code else "The comment names no rule."
                yield use.context.finding(
                    "TM603", one.at, said, expected="the code of a rule", hint=_likely(code)
                )
                break  # what follows is the reason's first words as likely as a code


def configured_answers(store: StoreState) -> Iterable[Diagnostic]:
    """The configuration ignores what does not exist, answers nothing, or gives no reason.

    Why: ``lint.per_file`` leaves findings of whole folders alone, so each entry says why, and goes when
    nothing needs it any more. A code that does not exist does nothing, without a word.

    Bad::

        [lint.per_file]
        "episodic/**" = { TM250 = "" }

    Good::

        [lint.per_file]
        "episodic/**" = { TM205 = "recaps name files that are gone" }

    Mend: correct the code, write the reason, or take the entry out.
    """
    config = store.config
    for key, codes in (("select", config.select), ("ignore", config.ignore), ("severity", config.severities)):
        for code in codes:
            if not any(known.startswith(code) for known in CODES):
                yield _configured(
                    f"lint.{key}", f"There is no rule `{code}`.", "the code of a rule", _likely(code)
                )
    for glob, reasons in config.per_file.items():
        for code, reason in reasons.items():
            yield from _per_file(store, glob, code, reason)


def _per_file(store: StoreState, glob: str, code: str, reason: str) -> Iterator[Diagnostic]:
    key = f"lint.per_file.{glob}.{code}"
    if code not in CODES:
        yield _configured(key, f"There is no rule `{code}`.", "the code of a rule", _likely(code))
        return
    if not reason.strip():
        said = f"{code} is left alone in {glob} without a reason."
        yield _configured(key, said, "a reason", "Write why these findings are to be left alone.")
    if store.needed is not None and (glob, code) not in store.needed and store.config.runs(code):
        said = f"{code} is left alone in {glob}, where nothing of it is found."
        yield _configured(key, said, "a finding to answer", "Take the entry out, or correct the glob.")


def _configured(key: str, message: str, expected: str, hint: str) -> Diagnostic:
    return finding("TM604", _CONFIG, message, key=key, expected=expected, hint=hint)
