"""Run rules on one document or the store, fingerprint findings, apply their edits, print rule pages. Pure.

`RULES` lists all rules in the order of their codes. To add a rule, add a line to `rule.CODES` and a function
of that name to `lint.rules`.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.ids import closest
from thunderus_mem.document.markdown import MARK
from thunderus_mem.document.paths import is_archived
from thunderus_mem.errors import NotFound
from thunderus_mem.lint.rule import CODES, LIST_RULES, Rule
from thunderus_mem.lint.rules import identity, links, profiles, safety, store, structure
from thunderus_mem.lint.rules.store import SuppressionUse, suppress, suppressions_of
from thunderus_mem.safety.secrets import redacted
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.rule import Check, LintConfig, LintContext, Scope, StoreState

_MODULES: Final = (structure, identity, links, safety, store, profiles)
_STORE: Final = ("TM5", "TM604")
_SUPPRESSIONS: Final = "TM6"
_FIRST_CHECKING: Final = "TM012"
"""The first rule with a check of its own: those before it only report read errors."""
_ARCHIVED: Final = ("TM0", "TM101", "TM102", "TM103", "TM104", "TM109", "TM112", "TM4")
"""Archived documents must be readable, identifiable and safe; other rules do not apply to them."""

_LENGTH: Final = 32
_INDEX = lazy_pattern(r"\.[0-9]+(?=\.|$)")


def _rule(code: str, name: str, severity: Severity) -> Rule:
    function = name.replace("-", "_")
    check: Check = next(getattr(module, function) for module in _MODULES if hasattr(module, function))
    scope: Scope = "document"
    if code.startswith(_STORE):
        scope = "store"
    elif code.startswith(_SUPPRESSIONS):
        scope = "suppressions"
    return Rule(code, name, severity, check, scope, code < _FIRST_CHECKING, code.startswith(_ARCHIVED))


RULES: Final = tuple(_rule(code, *named) for code, named in CODES.items())


class Selection(NamedTuple):
    """The checks enabled by a configuration, each with its configured severity or ``None``.

    ``document`` are all checks of documents, ``readable`` those for files without read errors, ``archived``
    those for archived files.
    """

    document: tuple[tuple[Check, Severity | None], ...]
    readable: tuple[tuple[Check, Severity | None], ...]
    archived: tuple[tuple[Check, Severity | None], ...]
    suppressions: tuple[tuple[Check, Severity | None], ...]


def select_checks(config: LintConfig) -> Selection:
    """Select the checks for `lint_reading`; call it once for many documents."""
    return Selection(
        document=_wanted(config, RULES, "document"),
        readable=_wanted(config, [rule for rule in RULES if not rule.reads_only], "document"),
        archived=_wanted(config, [rule for rule in RULES if rule.archived], "document"),
        suppressions=_wanted(config, RULES, "suppressions"),
    )


def _wanted(
    config: LintConfig, rules: Iterable[Rule], scope: Scope
) -> tuple[tuple[Check, Severity | None], ...]:
    wanted = [rule for rule in rules if rule.scope == scope and config.runs(rule.code)]
    weights = {code: Severity(word) for code, word in config.severities.items() if word != "off"}
    return tuple([(rule.check, weights.get(rule.code)) for rule in wanted])


def lint_reading(
    context: LintContext, selected: Selection | None = None, needed: set[tuple[str, str]] | None = None
) -> list[Diagnostic]:
    """Return the findings about one document in the order of a report, without suppressed ones.

    ``selected`` is the result of `select_checks`, computed once for many documents. ``needed`` collects the
    configured globs and codes that suppressed a finding.
    """
    chosen = selected or select_checks(context.config)
    archived = is_archived(context.path)
    checks = chosen.document if context.reading.problems else chosen.readable
    found = _run(context, chosen.archived if archived else checks)
    if context.config.per_file or MARK in (context.reading.text or ""):
        given = suppressions_of(context)
        kept, used = suppress(found, given)
        # Few rules run on archived documents, so unused suppressions are not reported there.
        about = _run(SuppressionUse(context, given, used), () if archived else chosen.suppressions)
        found = sorted([*kept, *suppress(about, given)[0]], key=lambda one: one.sort_key)
        if needed is not None:
            needed.update((given[place].glob, code) for place, code in used if given[place].glob)
    return fingerprinted(found, context.line_text) if found else found


def lint_store(store: StoreState) -> list[Diagnostic]:
    """Return the findings about the store as a whole, in the order of a report."""
    return fingerprinted(_run(store, _wanted(store.config, RULES, "store")))


def _run(
    looked_at: LintContext | StoreState | SuppressionUse, checks: Iterable[tuple[Check, Severity | None]]
) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for check, weight in checks:
        if weight is None:
            found.extend(check(looked_at))
        else:
            found.extend([one._replace(severity=weight) for one in check(looked_at)])
    return sorted(found, key=lambda one: one.sort_key) if len(found) > 1 else found


def _digest(*parts: str) -> str:
    text = "\0".join(parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def fingerprinted(
    found: Iterable[Diagnostic], line_text: Callable[[int], str] = lambda line: ""
) -> list[Diagnostic]:
    """Return the findings of one file in order, with fingerprints and without duplicates.

    A fingerprint identifies a finding when its line moves: it is a hash of rule, document and text of the
    line (from ``line_text``), not of the line number, and of the fingerprint set by the rule; equal lines are
    distinguished by their order. Secrets are redacted first. For a finding about a whole file it is a hash of
    rule, document and key.
    """
    ones = list(dict.fromkeys(found))
    hides = any(one.rule == "TM401" for one in ones)
    lines: dict[int, str] = {0: ""}
    seen: Counter[str] = Counter()
    marked = []
    for one in ones:
        if one.line not in lines:
            text = line_text(one.line)
            lines[one.line] = _digest(" ".join((redacted(text) if hides else text).split()))
        own = (one.fingerprint,) if one.fingerprint else ()
        name = _digest(one.rule, one.doc_id or one.path, _INDEX.sub("", one.key), lines[one.line], *own)
        marked.append(one._replace(fingerprint=_numbered(name, seen[name])))
        seen[name] += 1
    return marked


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings of several files with unique fingerprints; two files may have the same id."""
    seen: Counter[str] = Counter()
    apart = []
    for one in found:
        again = seen[one.fingerprint]
        seen[one.fingerprint] += 1
        apart.append(one._replace(fingerprint=_numbered(one.fingerprint, again, one.path)) if again else one)
    return apart


def _numbered(name: str, before: int, *more: str) -> str:
    return _digest(name, str(before), *more) if before else name


def apply_edits(text: str, diagnostics: Iterable[Diagnostic]) -> str:
    """Return the text with the edits of the findings applied (``lint --fix``).

    The edits of a finding are applied all or none. If two findings change the same characters, the first one
    in the report wins; the next ``lint --fix`` applies the other. Edits beyond the end of the text are
    skipped.
    """
    taken: list[tuple[int, int, str]] = []
    for one in sorted(diagnostics, key=lambda found: found.sort_key):
        wanted = [(edit.start, edit.end, edit.replacement) for edit in one.edits]
        fits = all(0 <= start <= end <= len(text) for start, end, _ in wanted)
        if wanted and fits and not _overlap(taken, wanted):
            taken.extend(wanted)
    # From the end, so that earlier offsets stay valid.
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _overlap(taken: list[tuple[int, int, str]], wanted: list[tuple[int, int, str]]) -> bool:
    return any(
        (start < other_end and other_start < end) or (start, end) == (other_start, other_end)
        for start, end, _ in wanted
        for other_start, other_end, _ in taken
    )


def rule_formats(code: str) -> str:
    """What the rule with this code finds, from its table: names, examples and texts that only resemble them.

    "" for a rule without a table.
    """
    rows = safety.FORMATS.get(code, tuple)()
    if not rows:
        return ""
    lines = [
        f"    {name}\n        finds: {example}\n        not:   {counter}" for name, example, counter in rows
    ]
    return "\n".join(["Formats, with shortened examples:", "", *lines, ""])


def rule_page(code: str) -> str:
    """The manual page of the rule with this code or name, ending in a newline.

    Raises `NotFound` with the closest codes for an unknown rule.
    """
    wanted = code.strip()
    for rule in RULES:
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            head = f"{rule.code} {rule.name} ({rule.severity})"
            # Docstrings have double backticks and colons; the page has single ones.
            from inspect import cleandoc

            page = cleandoc(rule.check.__doc__ or "").replace("``", "`")
            page = re.sub(r"(?m)^(\w+)::$", r"\1:", page)
            return f"{head}\n\n{page}\n"
    near = closest(wanted, [name for rule in RULES for name in (rule.code, rule.name)])
    hint = f"did you mean {' or '.join(near)}?" if near else LIST_RULES
    raise NotFound(f"unknown rule {wanted!r}", hint=hint)
