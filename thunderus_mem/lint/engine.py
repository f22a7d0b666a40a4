"""What makes a finding the same one after lines have moved: rule, document and text of the line. Pure.

The number of the line is no part of it; equal lines of a document are told apart by their order. A secret is
no part of it either.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.secrets import redacted
from thunderus_mem.document.suppressions import MARK
from thunderus_mem.errors import NotFound
from thunderus_mem.lint.context import Answered, answers, sift
from thunderus_mem.lint.rule import CODES, Rule
from thunderus_mem.lint.rules import identity, links, reading, safety, structure
from thunderus_mem.lint.rules import store as store_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.context import Subject
    from thunderus_mem.lint.rule import Check, LintConfig, LintStore, Scope

_LENGTH: Final = 32
_INDEX = re.compile(r"\.[0-9]+(?=\.|$)")


def _digest(*parts: str) -> str:
    text = "\0".join(parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def fingerprinted(found: Iterable[Diagnostic], line_text: Callable[[int], str]) -> list[Diagnostic]:
    """The findings of one file, in order, with their fingerprints; equal ones are told once.

    ``line_text`` gives the text of a line. A finding about a whole file is known by rule, document and key.
    """
    ones = list(dict.fromkeys(found))
    hides = any(one.rule == "TM401" for one in ones)
    lines: dict[int, str] = {0: ""}
    told: dict[str, int] = {}
    marked = []
    for one in ones:
        if one.line not in lines:
            text = line_text(one.line)
            lines[one.line] = _digest(" ".join((redacted(text) if hides else text).split()))
        name = _digest(one.rule, one.doc_id or one.path, _INDEX.sub("", one.key), lines[one.line])
        before = told.get(name, 0)
        marked.append(one._replace(fingerprint=_numbered(name, before)))
        told[name] = before + 1
    return marked


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings of several files, with no fingerprint twice: two files may have one id."""
    told: Counter[str] = Counter()
    apart = []
    for one in found:
        again = told[one.fingerprint]
        told[one.fingerprint] += 1
        apart.append(one._replace(fingerprint=_numbered(one.fingerprint, again, one.path)) if again else one)
    return apart


def _numbered(name: str, before: int, *more: str) -> str:
    return _digest(name, str(before), *more) if before else name


# The rules in the order of their codes. A new one is a function, lines here and in `rule.CODES`, a case.

# What is set aside has to read, to be told apart, and to be safe; nobody works on it or relies on it.
_ARCHIVED: Final = ("TM0", "TM101", "TM102", "TM103", "TM104", "TM109", "TM112", "TM4")


def _rule(code: str, check: Check, scope: Scope = "document", *, passes_on: bool = False) -> Rule:
    name, severity = CODES[code]
    return Rule(code, name, severity, check, scope, passes_on, code.startswith(_ARCHIVED))


RULES: Final[tuple[Rule, ...]] = (
    _rule("TM001", reading.not_utf8, passes_on=True),
    _rule("TM002", reading.nul_or_binary, passes_on=True),
    _rule("TM003", reading.too_large, passes_on=True),
    _rule("TM004", reading.no_frontmatter, passes_on=True),
    _rule("TM005", reading.unclosed_frontmatter, passes_on=True),
    _rule("TM006", reading.header_syntax, passes_on=True),
    _rule("TM007", reading.duplicate_key, passes_on=True),
    _rule("TM008", reading.tab, passes_on=True),
    _rule("TM009", reading.alias_or_anchor_or_tag, passes_on=True),
    _rule("TM010", reading.header_limits, passes_on=True),
    _rule("TM011", reading.missing_identity, passes_on=True),
    _rule("TM012", reading.conflict_markers),
    _rule("TM013", reading.ambiguous_scalar),
    _rule("TM101", structure.frontmatter_schema),
    _rule("TM102", identity.id_grammar),
    _rule("TM103", identity.duplicate_id),
    _rule("TM104", identity.kind_folder),
    _rule("TM105", identity.file_name),
    _rule("TM106", identity.path_length),
    _rule("TM107", structure.missing_section),
    _rule("TM108", structure.repeated_anchor),
    _rule("TM109", structure.updated_before_created),
    _rule("TM110", structure.empty_body),
    _rule("TM111", identity.adr_number_taken),
    _rule("TM112", identity.names_alike),
    _rule("TM201", links.dead_link),
    _rule("TM202", links.superseded_still_linked),
    _rule("TM203", links.dead_anchor),
    _rule("TM204", links.unknown_relation_target),
    _rule("TM205", links.dead_citation),
    _rule("TM206", links.unresolved_provenance),
    _rule("TM207", links.archived_target),
    _rule("TM301", identity.size_soft),
    _rule("TM302", identity.size_hard),
    _rule("TM401", safety.secret),
    _rule("TM402", safety.invisible_unicode),
    _rule("TM403", safety.remote_image_with_query),
    _rule("TM404", safety.planted_instruction),
    _rule("TM405", safety.script_address),
    _rule("TM501", store_module.schema_drift, "store"),
    _rule("TM502", store_module.manifest_schema, "store"),
    _rule("TM503", store_module.shard_schema, "store"),
    _rule("TM504", store_module.shard_chain, "store"),
    _rule("TM505", store_module.shard_torn, "store"),
    _rule("TM506", store_module.tracked_projection, "store"),
    _rule("TM507", store_module.conflict_in_shard, "store"),
    _rule("TM508", store_module.shard_line_ends, "store"),
    _rule("TM509", store_module.unreadable_proposal, "store"),
    _rule("TM510", store_module.expired_proposal, "store"),
    _rule("TM601", store_module.answer_without_reason, "answers"),
    _rule("TM602", store_module.unused_answer, "answers"),
    _rule("TM603", store_module.unknown_code, "answers"),
    _rule("TM604", store_module.configured_answers, "store"),
    _rule("TM701", links.code_changed),
    _rule("TM702", links.code_missing),
    _rule("TM703", links.code_moved),
)


# Running the rules: over one document, over the store; and making the edits they offer.


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


# The manual page of a rule, from the docstring of its function.


def rule_page(code: str) -> str:
    """The page of the rule with this code or name, as text that ends in a newline.

    Raises `NotFound`, with the nearest codes, when there is none.
    """
    wanted = code.strip()
    for rule in RULES:
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            looks_at = "store" if rule.scope == "store" else "document"
            head = f"{rule.code} {rule.name} ({rule.severity}, {looks_at})"
            return f"{head}\n\n{_as_markdown(inspect.cleandoc(rule.check.__doc__ or ''))}\n"
    from thunderus_mem.document.ids import closest

    near = closest(wanted, [name for rule in RULES for name in (rule.code, rule.name)])
    hint = f"Did you mean {' or '.join(near)}?" if near else "`thunderus-mem rule` lists them all."
    raise NotFound(f"There is no rule {wanted}.", hint=hint)


def _as_markdown(text: str) -> str:
    """A docstring as people read it: one backtick for two, one colon before an example."""
    return re.sub(r"(?m)^(\w+)::$", r"\1:", text.replace("``", "`"))
