"""Suppressions of findings: which hold for a document, what they hide, and rules about them.

A comment in the document suppresses a finding, or ``lint.per_file`` in ``config.toml`` does for files: see
`document.suppressions`. Each has to give a reason, name a code that exists, and have something to hide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.ids import closest
from thunderus_mem.document.paths import fits
from thunderus_mem.document.suppressions import FINGERPRINT, Suppression, suppressions
from thunderus_mem.lint.rule import CODES, finding
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.context import LintContext
    from thunderus_mem.lint.rule import StoreState

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
