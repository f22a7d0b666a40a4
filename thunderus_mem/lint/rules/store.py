"""Rules about the store as a whole: schema files, manifest, log, and what git must not track."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.diagnostic import Diagnostic
from thunderus_mem.document import schema
from thunderus_mem.document.ids import closest
from thunderus_mem.document.suppressions import FINGERPRINT
from thunderus_mem.lint.rule import CODES, LintStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.suppressions import Suppression
    from thunderus_mem.lint.context import Answered


def _found(
    code: str, path: str, message: str, *, key: str = "", expected: str = "", hint: str = ""
) -> Diagnostic:
    return Diagnostic(code, CODES[code][1], path, 0, 0, message, key, expected, hint)


def _same(text: str, wanted: str) -> bool:
    return text.replace("\r\n", "\n").removeprefix("\ufeff") == wanted


def schema_drift(store: LintStore) -> Iterable[Diagnostic]:
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
        elif not _same(copy.text, copy.wanted):
            message = "The schema file differs from the one this version writes."
        else:
            continue
        expected = f"{name} as this version has it"
        path = f"{store.schemas_folder}/{name}"
        yield _found("TM501", path, message, expected=expected, hint="Run `thunderus-mem schema update`.")


def manifest_schema(store: LintStore) -> Iterable[Diagnostic]:
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
    import json

    hint = "Run `thunderus-mem manifest` to write it anew."
    try:
        data = json.loads(store.manifest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        yield _found("TM502", store.manifest_path, "The manifest is no JSON.", expected="JSON", hint=hint)
        return
    if schema.is_valid_fast(schema.MANIFEST, data):
        return
    for violation in schema.check(schema.MANIFEST, data):
        yield _found(
            "TM502",
            store.manifest_path,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint=hint,
        )


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _from_log(store: LintStore, code: str) -> Iterator[Diagnostic]:
    return (found for found in store.log if found.rule == code)


def shard_schema(store: LintStore) -> Iterable[Diagnostic]:
    """A line of the event log is no event: no JSON, or not what its schema asks for.

    Why: the line is not counted as evidence. The other lines are still read.

    Bad::

        {"v": 1, "id": "evt_1", "kind": "patched"}

    Good::

        the lines as this program writes them

    Mend: bring the line back from git (``git log -p`` on the shard). Never rewrite it by hand: every line is
    named by the hash in the next one.
    """
    return _from_log(store, "TM503")


def shard_chain(store: LintStore) -> Iterable[Diagnostic]:
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
    return _from_log(store, "TM504")


def shard_torn(store: LintStore) -> Iterable[Diagnostic]:
    """The last line of an event log is not finished.

    Why: a process was killed while writing, or a disk was full. The line was never acknowledged.

    Bad::

        {"v": 1, "id": "evt_01J…", "ts": "2026-01-

    Good::

        every line ends with a newline

    Mend: run any command that writes; it sets the torn bytes aside in ``.thunderus/.quarantine`` and goes on.
    """
    return _from_log(store, "TM505")


def tracked_projection(store: LintStore) -> Iterable[Diagnostic]:
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
        yield _found(
            "TM506",
            path,
            "Git tracks this file, which is derived or private.",
            expected="a file that git ignores",
            hint=f"Run `git rm --cached {path}`.",
        )


def conflict_in_shard(store: LintStore) -> Iterable[Diagnostic]:
    """An event log holds git's conflict markers.

    Why: shards are written by one working tree and never merged by line; markers mean that a shard was
    changed on two sides, which only happens by hand.

    Bad::

        <<<<<<< HEAD

    Good::

        both sides' lines, each whole, without markers

    Mend: keep the lines of both sides and delete the three marker lines.
    """
    return _from_log(store, "TM507")


def shard_line_ends(store: LintStore) -> Iterable[Diagnostic]:
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
    return _from_log(store, "TM508")


# Rules about the review queue: what in it is no proposal, and what nobody has decided in time.


def _from_queue(store: LintStore, code: str) -> Iterator[Diagnostic]:
    return (found for found in store.queue if found.rule == code)


def unreadable_proposal(store: LintStore) -> Iterable[Diagnostic]:
    """A file in ``.thunderus/patches`` is no proposal, or one that nobody may carry out.

    Why: nobody can decide about it, and whoever wrote it believes that it waits. A proposal may come from
    anybody through git, so one that names a place where no document lives, or that holds a secret, is none.

    Bad::

        a file that git merged with conflict markers, or one that was edited by hand

    Good::

        the files as ``thunderus-mem garden --propose`` writes them

    Mend: bring the file back from git, or delete it: then nothing is proposed.
    """
    return _from_queue(store, "TM509")


def expired_proposal(store: LintStore) -> Iterable[Diagnostic]:
    """A proposal has waited for longer than ``review.expires_days``.

    Why: a queue that nobody reads hides what matters, and its diffs fit less with every day.

    Bad::

        a proposal of last spring

    Good::

        proposals that are approved or rejected in the weeks they are made

    Mend: decide (``thunderus-mem patch show``, ``approve``, ``reject``), or ``thunderus-mem patch expire``.
    """
    return _from_queue(store, "TM510")


# Rules about answers to findings: each has a reason, a code that exists, and something to answer.

_CONFIG = ".thunderus/config.toml"


def _comments(answered: Answered) -> Iterator[tuple[int, Suppression]]:
    """The comments of the document with their places among the answers; examples in code left out."""
    return ((place, one) for place, one in enumerate(answered.answers) if not one.glob and not one.shown)


def _likely(code: str) -> str:
    by_name = {name: known for known, (name, _) in CODES.items()}
    upper = code.upper()
    # Digits change places easily; otherwise the likeliest code, or the rule of that name.
    near = [known for known in CODES if sorted(known) == sorted(upper)]
    near = near or closest(upper, list(CODES), 1) or closest(code.lower(), list(by_name), 1)
    if not near:
        return "`thunderus-mem rule` lists them all."
    return f"Did you mean {' or '.join(by_name.get(name, name) for name in near)}?"


def answer_without_reason(answered: Answered) -> Iterable[Diagnostic]:
    """A comment answers a finding without saying why.

    Why: the next reader cannot tell a judgement from a way to silence the check, and nobody dares to take the
    comment out again.

    Bad::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 -->

    Good::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 written when the migration is done -->

    Mend: write the reason behind the code.
    """
    for _, one in _comments(answered):
        if not one.reason and any(code in CODES for code in one.codes):
            yield answered.subject.found(
                "TM601",
                one.at,
                f"The comment answers {', '.join(one.codes)} without a reason.",
                expected="a reason behind the code",
                hint="Write why the finding is to be left alone.",
            )


def unused_answer(answered: Answered) -> Iterable[Diagnostic]:
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
    subject = answered.subject
    if subject.document is None or subject.corpus is None:
        return
    for place, one in _comments(answered):
        idle = [
            code
            for code in one.codes
            if code in CODES and (place, code) not in answered.used and _could_be_used(answered, code)
        ]
        if idle:
            where = f"line {one.line}" if one.line else "the file"
            yield subject.found(
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


def _could_be_used(answered: Answered, code: str) -> bool:
    # An answer to the rules about answers is looked at after them.
    return answered.subject.config.runs(code) and not code.startswith("TM6")


def unknown_code(answered: Answered) -> Iterable[Diagnostic]:
    """A comment names a rule that does not exist.

    Why: a slip in the code makes the comment answer nothing, without a word.

    Bad::

        <!-- thunderus-mem: ignore TM021 planned -->

    Good::

        <!-- thunderus-mem: ignore TM201 planned -->

    Mend: correct the code; ``thunderus-mem rule`` lists them all.
    """
    for _, one in _comments(answered):
        for code in one.codes or ("",):
            if code not in CODES:
                said = f"There is no rule `{code}`." if code else "The comment names no rule."
                yield answered.subject.found(
                    "TM603", one.at, said, expected="the code of a rule", hint=_likely(code)
                )
                break  # what follows is the reason's first words as likely as a code


def configured_answers(store: LintStore) -> Iterable[Diagnostic]:
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
            yield from _entry(store, glob, code, reason)


def _entry(store: LintStore, glob: str, code: str, reason: str) -> Iterator[Diagnostic]:
    key = f"lint.per_file.{glob}.{code}"
    if code not in CODES:
        yield _configured(key, f"There is no rule `{code}`.", "the code of a rule", _likely(code))
        return
    if not reason.strip():
        said = f"{code} is left alone in {glob} without a reason."
        yield _configured(key, said, "a reason", "Write why these findings are to be left alone.")
    if store.answered is not None and (glob, code) not in store.answered and store.config.runs(code):
        said = f"{code} is left alone in {glob}, where nothing of it is found."
        yield _configured(key, said, "a finding to answer", "Take the entry out, or correct the glob.")


def _configured(key: str, message: str, expected: str, hint: str) -> Diagnostic:
    return Diagnostic("TM604", CODES["TM604"][1], _CONFIG, 0, 0, message, key, expected, hint)
