"""Rules about answers to findings: each has a reason, a code that exists, and something to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.lint.rule import CODES
from thunderus_mem.lint.suppress import FINGERPRINT
from thunderus_mem.model.diagnostic import Diagnostic
from thunderus_mem.model.ids import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.lint.rule import LintStore
    from thunderus_mem.lint.suppress import Answered, Suppression

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
