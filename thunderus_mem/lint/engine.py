"""Running the rules: over one document, over the store; and making the edits they offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.lint.fingerprint import fingerprinted
from thunderus_mem.lint.rules import RULES
from thunderus_mem.lint.suppress import MARK, Answered, answers, sift
from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.lint.rule import Check, LintConfig, LintStore, Rule, Scope
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic


class Running(NamedTuple):
    """The checks that a configuration wants of a document, each with the severity it gives them, if any.

    ``sound`` are those of ``document`` that have something to say of a file that reads well;
    ``archived`` those for a file in the archive.
    """

    document: tuple[tuple[Check, Severity | None], ...]
    sound: tuple[tuple[Check, Severity | None], ...]
    answers: tuple[tuple[Check, Severity | None], ...]
    archived: tuple[tuple[Check, Severity | None], ...] = ()


def running(config: LintConfig, rules: Sequence[Rule] = RULES) -> Running:
    """What `lint_reading` runs: asked once for however many documents."""
    sound = [rule for rule in rules if not rule.passes_on]
    return Running(
        document=_wanted(config, rules, "document"),
        sound=_wanted(config, sound, "document"),
        answers=_wanted(config, rules, "answers"),
        archived=_wanted(config, [rule for rule in rules if rule.archived], "document"),
    )


def _wanted(
    config: LintConfig, rules: Iterable[Rule], scope: Scope
) -> tuple[tuple[Check, Severity | None], ...]:
    wanted = [rule for rule in rules if rule.scope == scope and config.runs(rule.code)]
    weights = {code: Severity(word) for code, word in config.severities.items() if word != "off"}
    return tuple([(rule.check, weights.get(rule.code)) for rule in wanted])


def lint_reading(
    subject: Subject, checks: Running | None = None, needed: set[tuple[str, str]] | None = None
) -> list[Diagnostic]:
    """Every finding about one document, answered ones left out, in the order of a report.

    ``checks`` is what is `running` for the subject's configuration, which saves choosing for each document.
    ``needed`` collects the globs and codes of the configuration that a finding needed.
    """
    chosen = checks or running(subject.config)
    if is_archived(subject.path):
        # An answer to a rule that does not look here is no answer without use.
        chosen = Running(chosen.archived, chosen.archived, (), chosen.archived)
    found = _run(subject, chosen.document if subject.reading.problems else chosen.sound)
    if subject.config.per_file or MARK in (subject.reading.text or ""):
        found = _unanswered(subject, found, chosen, needed)
    return fingerprinted(found, subject.line_text) if found else found


def _unanswered(
    subject: Subject, found: list[Diagnostic], chosen: Running, needed: set[tuple[str, str]] | None
) -> list[Diagnostic]:
    given = answers(subject)
    kept, used = sift(found, given)
    about = _run(Answered(subject, given, used), chosen.answers)
    if needed is not None:
        needed.update((given[place].glob, code) for place, code in used if given[place].glob)
    return sorted([*kept, *sift(about, given)[0]], key=lambda one: one.sort_key)


def lint_store(store: LintStore, rules: Sequence[Rule] = RULES) -> list[Diagnostic]:
    """Every finding about the store as a whole, in the order of a report."""
    found = _run(store, _wanted(store.config, rules, "store"))
    return fingerprinted(found, lambda line: "")


def _run(
    subject: Subject | LintStore | Answered, checks: Iterable[tuple[Check, Severity | None]]
) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for check, weight in checks:
        if weight is None:
            found.extend(check(subject))
        else:
            found.extend([one._replace(severity=weight) for one in check(subject)])
    return sorted(found, key=lambda one: one.sort_key) if len(found) > 1 else found


def apply_edits(text: str, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with the findings' edits made (``lint --fix``).

    A finding's edits are made all or none. Where two findings touch the same characters, the one that comes
    first in a report wins; linting and fixing again does the rest. Edits beyond the text are left out.
    """
    taken: list[tuple[int, int, str]] = []
    for one in sorted(diagnostics, key=lambda found: found.sort_key):
        wanted = [(edit.start, edit.end, edit.replacement) for edit in one.edits]
        fits = all(0 <= start <= end <= len(text) for start, end, _ in wanted)
        if wanted and fits and not _overlap(taken, wanted):
            taken.extend(wanted)
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _overlap(taken: list[tuple[int, int, str]], wanted: list[tuple[int, int, str]]) -> bool:
    return any(
        (start < other_end and other_start < end) or (start, end) == (other_start, other_end)
        for start, end, _ in wanted
        for other_start, other_end, _ in taken
    )
