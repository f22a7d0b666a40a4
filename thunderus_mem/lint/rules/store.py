"""Rules about the store as a whole (TM5); suppressions, and rules about them (TM6).

Problems in the log and the review queue are found while reading them; the rules here only report them. A
comment in the document suppresses a finding (`document.markdown`), or ``lint.per_file`` in ``config.toml``
does for files. Each suppression needs a reason, a known code and a finding to hide.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document import schema
from thunderus_mem.document.ids import closest
from thunderus_mem.document.markdown import FINGERPRINT, Suppression, suppressions
from thunderus_mem.document.paths import fits
from thunderus_mem.lint.rule import CODES, finding
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.layout import INDEXES, MEMORY, STORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.rule import LintContext, StoreState

_MANIFEST: Final = f"{INDEXES}/manifest.json"


def _reported(store: StoreState, code: str) -> Iterator[Diagnostic]:
    """Findings of this rule from reading the log or the review queue."""
    return (one for one in store.reported if one.rule == code)


def schema_drift(store: StoreState) -> Iterable[Diagnostic]:
    """A schema file in ``.thunderus/schemas`` is missing or outdated.

    Why: editors and CI validate documents against these files; outdated ones disagree with lint.

    Bad::

        schema files of an older version, or edited by hand

    Good::

        schema files written by ``thunderus-mem migrate --apply``

    Fix: run ``thunderus-mem migrate --apply``; without ``--apply`` it only lists what it would write.
    """
    for name, copy in sorted(store.schemas.items()):
        if copy.text is None:
            message = "Missing schema file"
        elif copy.text.replace("\r\n", "\n").removeprefix("\ufeff") != copy.wanted:
            message = "The schema file differs from the one in this version"
        else:
            continue
        expected = f"{name} of this version"
        path = f"{STORE}/schemas/{name}"
        yield finding("TM501", path, message, expected=expected, hint="Run `thunderus-mem migrate --apply`")


def manifest_schema(store: StoreState) -> Iterable[Diagnostic]:
    """The manifest is not valid JSON, or does not match its schema.

    Why: other programs list the documents from the manifest, and reject a manifest without a required key.

    Bad::

        {"version": 1, "docs": []}

    Good::

        a manifest written by ``thunderus-mem index manifest``

    Fix: run ``thunderus-mem index manifest``. The manifest is derived from the documents, so nothing can be
    lost. If the finding remains, correct the frontmatter of the document whose entry it reports.
    """
    if store.manifest is None:
        return
    hint = "Run `thunderus-mem index manifest`; else correct the frontmatter of that document"
    try:
        data = json.loads(store.manifest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        yield finding("TM502", _MANIFEST, "The manifest is not valid JSON", expected="JSON", hint=hint)
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
            hint=_entry_hint(data, violation.path) or hint,
        )


def _entry_hint(data: Any, path: tuple[str | int, ...]) -> str:
    """The advice for an entry of the manifest: its values are those of the document."""
    if path[:1] != ("docs",) or len(path) < 3:
        return ""
    entry = data["docs"][path[1]]
    named = entry.get("path") if isinstance(entry, dict) else None
    return f"Correct the frontmatter of {named}" if isinstance(named, str) and named else ""


def _refuse(name: str) -> Any:
    raise ValueError(name)


def shard_schema(store: StoreState) -> Iterable[Diagnostic]:
    """A line of the event log is not a valid event: not JSON, or it does not match its schema.

    Why: the line is ignored. The other lines are still read.

    Bad::

        {"v": 1, "id": "evt_1", "kind": "patched"}

    Good::

        lines written by this program

    Fix: restore the line from git (``git log -p`` on the shard). Do not rewrite it by hand: the next line
    contains its hash.
    """
    return _reported(store, "TM503")


def shard_chain(store: StoreState) -> Iterable[Diagnostic]:
    """Broken hash chain: lines of the event log were edited, removed or moved.

    Why: each line contains the hash of the line before it. The first line of a shard (the log file of a
    session) contains the hashes of the last lines of earlier shards. A shard must also begin with the lines
    committed to git. The finding is only a note if a whole shard is missing (a rebase can cause this), or if
    no line of the shard has the key ``prev`` because another program wrote it.

    Bad::

        a shard with a deleted or edited line

    Good::

        a shard that is only appended to

    Fix: restore the shard from git (``git checkout <commit> -- <file>``), or accept that its order and text
    can no longer be verified.
    """
    return _reported(store, "TM504")


def shard_torn(store: StoreState) -> Iterable[Diagnostic]:
    """The last line of an event log is incomplete.

    Why: a process was killed while writing, or the disk was full. No command reported success for
    this line, so nothing is lost.

    Bad::

        {"v": 1, "id": "evt_01J…", "ts": "2026-01-

    Good::

        every line ends with a newline

    Fix: run ``thunderus-mem doctor --fix``; it moves the incomplete line to ``.thunderus/.quarantine``. If
    the line is already in git, ``thunderus-mem doctor`` shows how to restore the file.
    """
    return _reported(store, "TM505")


def tracked_derived_file(store: StoreState) -> Iterable[Diagnostic]:
    """Git tracks a derived or private file.

    Why: index and manifest change with every document and would conflict in every merge, an index from
    another clone cannot be trusted, and personal documents are not meant to be shared.

    Bad::

        git add -f .thunderus/memory/indexes/memory.db

    Good::

        only documents, schemas, configuration and session shards are tracked

    Fix: run ``git rm --cached <file>``, and keep the ``.gitignore`` written by ``init``.
    """
    for path in sorted(store.tracked):
        yield finding(
            "TM506",
            path,
            "Derived or private file is tracked by git",
            expected="a file ignored by git",
            hint=f"Run `git rm --cached {path}`",
        )


def conflict_in_shard(store: StoreState) -> Iterable[Diagnostic]:
    """An event log contains conflict markers.

    Why: each shard is written by one working tree, so git never has to merge it; conflict markers mean that
    a shard was changed by hand on both sides.

    Bad::

        <<<<<<< HEAD

    Good::

        the complete lines of both sides, without markers

    Fix: keep the lines of both sides and delete the three marker lines.
    """
    return _reported(store, "TM507")


def shard_line_ends(store: StoreState) -> Iterable[Diagnostic]:
    """Lines of the event log end in CRLF.

    Why: git converts LF to CRLF if ``core.autocrlf``, ``core.eol`` or an attribute says so. The log stays
    valid, because hashes ignore line endings, but other programs may not expect CRLF. New lines end in LF.

    Bad::

        a clone with ``core.autocrlf=true`` and without ``.thunderus/.gitattributes``

    Good::

        sessions/** text eol=lf

    Fix: run ``thunderus-mem init`` to add the missing file, commit it, and check out the shards again
    (``git rm --cached -r .thunderus/sessions && git reset --hard`` in a clean tree).
    """
    return _reported(store, "TM508")


def unreadable_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A file in ``.thunderus/patches`` is not a valid proposal.

    Why: it cannot be approved or rejected, although its author believes that it is pending. Anyone can add a
    proposal through git, so one with a path outside the document folders, or with a secret, is invalid too.

    Bad::

        a file with conflict markers, or edited by hand

    Good::

        files written by ``thunderus-mem garden --propose``

    Fix: restore the file from git, or delete it to discard the proposal.
    """
    return _reported(store, "TM509")


def expired_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A proposal has been pending for longer than ``review.expires_days``.

    Why: important proposals are lost in a neglected queue, and old diffs no longer apply.

    Bad::

        a proposal from last spring

    Good::

        proposals approved or rejected within a few weeks

    Fix: approve or reject it (see ``thunderus-mem review show``), or run ``thunderus-mem review expire``.
    """
    return _reported(store, "TM510")


def stray_document(store: StoreState) -> Iterable[Diagnostic]:
    """A Markdown file below the memory folder is not in a folder of documents.

    Why: commands read documents only in the folders for their kinds, and only files whose name ends in
    ``.md`` and does not begin with a dot. They do not follow symbolic links, and do not look more than 24
    folders deep. Other files look like memory, but are never found, checked or shown.

    Bad::

        .thunderus/memory/notes/deploy.md
        .thunderus/memory/semantic/FACTS/Testing.MD

    Good::

        .thunderus/memory/procedural/PLAYBOOKS/deploy.md
        .thunderus/memory/semantic/FACTS/testing.md

    Fix: run the command in the finding. It moves a document to the folder of its kind, imports other
    Markdown, or shows the difference from the document with the same id or path. A file without frontmatter
    is only a warning, and a README only a note.
    """
    return _reported(store, "TM511")


def stray_log(store: StoreState) -> Iterable[Diagnostic]:
    """An ``events.jsonl`` file is in a place that is not part of the event log.

    Why: the log consists of ``.thunderus/sessions/SESSION/events.jsonl``, the private shards below
    ``.thunderus/local``, and ``.thunderus/events.jsonl``. Events in any other file are missing from history
    and provenance.

    Bad::

        .thunderus/memory/events.jsonl
        .thunderus/sessions/events.jsonl

    Good::

        .thunderus/sessions/sess_01KFF9T5G0GM00EG87DTZMYXB0/events.jsonl

    Fix: run the command in the finding, which moves the file or adds its events to the log.
    """
    return _reported(store, "TM512")


# Suppressions

_CONFIG: Final = ".thunderus/config.toml"
_LONGEST_GLOB: Final = 300
_CODE: Final = lazy_pattern(r"TM[0-9]{3}")
_MARKED: Final = lazy_pattern(r"\(fingerprint ([0-9a-f]{8})\)")


class SuppressionUse(NamedTuple):
    """Input of the rules about suppressions: a document, its suppressions, and those that hid a finding.

    ``used`` contains pairs of an index into ``given`` and the code of a finding hidden by that suppression.
    """

    context: LintContext
    given: tuple[Suppression, ...]
    used: frozenset[tuple[int, str]]


def suppressions_of(context: LintContext) -> tuple[Suppression, ...]:
    """All suppressions for a document: its own comments, then the configured ones for its path."""
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
    """The findings that are not suppressed, and the suppressions used by the others."""
    places: dict[tuple[str, int, str], list[int]] = {}
    for place, suppression in enumerate(given):
        for key in suppression.covers():
            places.setdefault(key, []).append(place)
    kept: list[Diagnostic] = []
    met: set[tuple[str, int, str]] = set()
    for one in found:
        by = places.keys() & _suppressed_by(one)
        met |= by
        if not by:
            kept.append(one)
    return kept, frozenset((place, key[0]) for key in met for place in places[key])


def _suppressed_by(found: Diagnostic) -> Iterator[tuple[str, int, str]]:
    """What `Suppression.covers` has if it suppresses a finding."""
    for mark in _MARKED.findall(found.message) if found.rule == "TM401" else ("",):
        yield found.rule, 0, mark
        if found.line:
            yield found.rule, found.line, mark


def matches(glob: str, path: str) -> bool:
    """Whether a path matches a glob, relative to the root or to the memory folder; ``**`` matches any
    folders."""
    below = path.removeprefix(f"{MEMORY}/")
    return len(glob) <= _LONGEST_GLOB and (fits(glob, path) or (below != path and fits(glob, below)))


def _comments(use: SuppressionUse) -> Iterator[tuple[int, Suppression]]:
    """The comments of the document with their indexes in ``given``, without examples in code."""
    return ((place, one) for place, one in enumerate(use.given) if not one.glob and not one.shown)


def _suggestion(code: str) -> str:
    by_name = {name: known for known, (name, _) in CODES.items()}
    upper = code.upper()
    # Swapped digits are the most common typo; other wrong digits could mean any rule. Otherwise the closest
    # code or rule name.
    near = [known for known in CODES if sorted(known) == sorted(upper)]
    if not near and not _CODE.fullmatch(upper):
        near = closest(upper, list(CODES), 1) or closest(code.lower(), list(by_name), 1)
    if not near:
        return "Run `thunderus-mem lint --explain all` to list all rules"
    return f"Did you mean {' or '.join(by_name.get(name, name) for name in near)}?"


def suppression_without_reason(use: SuppressionUse) -> Iterable[Diagnostic]:
    """A suppression comment has no reason.

    Why: without a reason the next reader cannot know whether the suppression is justified and when it can be
    removed.

    Bad::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 -->

    Good::

        [[fact.later]] <!-- thunderus-mem: ignore TM201 written when the migration is done -->

    Fix: write the reason after the code.
    """
    for _, one in _comments(use):
        if not one.reason and any(code in CODES for code in one.codes):
            yield use.context.finding(
                "TM601",
                one.at,
                f"Suppression of {', '.join(one.codes)} without a reason",
                expected="a reason after the code",
                hint="Write why the finding is suppressed",
            )


def unused_suppression(use: SuppressionUse) -> Iterable[Diagnostic]:
    """Unused suppression: the comment hides no finding.

    Why: the finding was fixed or moved; a leftover comment would silently hide the next finding. Only
    suppressions of rules that ran, in documents without read errors, are reported. Comments in code blocks
    are examples and are ignored.

    Bad::

        See [[fact.testing]]. <!-- thunderus-mem: ignore TM201 planned -->      (the document exists)

    Good::

        See [[fact.testing]].

    Fix: delete the comment, or move it to the line with the finding.
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
            where = f"on line {one.line}" if one.line else "in the file"
            verb = "are" if len(idle) > 1 else "is"
            yield context.finding(
                "TM602",
                one.at,
                f"Unused suppression: {', '.join(idle)} {verb} not reported {where}",
                expected="a suppression that hides a finding",
                hint=_unused_hint(one, idle),
            )


def _unused_hint(one: Suppression, idle: list[str]) -> str:
    if idle == ["TM401"] and not FINGERPRINT.search(one.reason):
        return "Write the fingerprint shown in the finding before the reason"
    return "Delete the comment, or move it to the line with the finding"


def _could_be_used(use: SuppressionUse, code: str) -> bool:
    # Suppressions of the rules about suppressions are applied after those rules.
    return use.context.config.runs(code) and not code.startswith("TM6")


def unknown_code(use: SuppressionUse) -> Iterable[Diagnostic]:
    """A suppression comment contains an unknown rule code.

    Why: because of a typo in the rule code, the comment has no effect.

    Bad::

        <!-- thunderus-mem: ignore TM021 planned -->

    Good::

        <!-- thunderus-mem: ignore TM201 planned -->

    Fix: correct the code; ``thunderus-mem lint --explain all`` lists all rules.
    """
    for _, one in _comments(use):
        for code in one.codes or ("",):
            if code not in CODES:
                message = f"Unknown rule `{code}`" if code else "Suppression without a rule code"
                yield use.context.finding(
                    "TM603", one.at, message, expected="a rule code", hint=_suggestion(code)
                )
                break  # the rest may be the start of the reason instead of a code


def configured_suppressions(store: StoreState) -> Iterable[Diagnostic]:
    """A suppression in the configuration is unused, has no reason or has an unknown code.

    Why: ``lint.per_file`` hides findings in whole folders, so each entry needs a reason and should be removed
    when it is no longer used. An entry with an unknown code hides nothing.

    Bad::

        [lint.per_file]
        "episodic/**" = { TM250 = "" }

    Good::

        [lint.per_file]
        "episodic/**" = { TM205 = "recaps mention removed files" }

    Fix: correct the code, add a reason, or remove the entry.
    """
    config = store.config
    for key, codes in (("select", config.select), ("ignore", config.ignore), ("severity", config.severities)):
        for code in codes:
            if not any(known.startswith(code) for known in CODES):
                yield _configured(f"lint.{key}", f"Unknown rule `{code}`", "a rule code", _suggestion(code))
    for glob, reasons in config.per_file.items():
        for code, reason in reasons.items():
            yield from _per_file(store, glob, code, reason)


def _per_file(store: StoreState, glob: str, code: str, reason: str) -> Iterator[Diagnostic]:
    key = f"lint.per_file.{glob}.{code}"
    if code not in CODES:
        yield _configured(key, f"Unknown rule `{code}`", "a rule code", _suggestion(code))
        return
    if not reason.strip():
        message = f"Suppression of {code} in {glob} without a reason"
        yield _configured(key, message, "a reason", "Write why these findings are suppressed")
    if store.needed is not None and (glob, code) not in store.needed and store.config.runs(code):
        message = f"Unused suppression: {code} is not reported in {glob}"
        yield _configured(
            key, message, "a suppression that hides a finding", "Remove the entry, or correct the glob"
        )


def _configured(key: str, message: str, expected: str, hint: str) -> Diagnostic:
    return finding("TM604", _CONFIG, message, key=key, expected=expected, hint=hint)
