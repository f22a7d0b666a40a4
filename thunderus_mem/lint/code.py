"""The rules about the code that a document talks about: its anchors, judged by content."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.lint.rule import CodeState
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic


def code_changed(subject: Subject) -> Iterable[Diagnostic]:
    """The code that an anchor names is not what it was when the document was confirmed.

    Why: what the document says was true of other code. It may still be true; somebody has to look. Comments,
    formatting and moves do not count: what is compared is the content of the definition.

    Bad::

        anchors:
          - path: src/jwt.py
            symbol: issue_token        (its lifetime was changed since)
            fingerprint: python@0.51/1:4be0…

    Good::

        the text read again, and `thunderus-mem verify fact.tokens`

    Mend: `thunderus-mem check ID -p` shows the code then and now. Still right: `verify` it. Else `edit` the
    text, or `supersede` it.
    """
    for state in _states(subject, "changed"):
        hint = f"still right: `thunderus-mem verify {_id(subject)}`; else edit or supersede it"
        yield _found(subject, "TM701", state, "code that is as it was confirmed", hint)


def code_missing(subject: Subject) -> Iterable[Diagnostic]:
    """The code that an anchor names is gone, and its content is nowhere else.

    Why: a document about code that does not exist misleads whoever trusts it.

    Bad::

        anchors: [src/jwt.py#issue_token]      (removed)

    Good::

        anchors: [src/tokens.py#mint]          (what does it now)

    Mend: `supersede` or `remove` the document when it is over; else name what does it now with
    `thunderus-mem anchor ID PLACE` and take the old anchor out with `--remove`.
    """
    for state in _states(subject, "missing"):
        hint = "anchor it anew, or supersede or remove the document"
        yield _found(subject, "TM702", state, "code that is there", hint)


def code_moved(subject: Subject) -> Iterable[Diagnostic]:
    """The code that an anchor names is elsewhere now, with the same content.

    Why: the document is right, only its anchor leads to the old place. It is followed all the same, so this
    is a note.

    Bad::

        anchors: [src/util.py#retry]      (moved to src/net/retry.py)

    Good::

        anchors: [src/net/retry.py#retry]

    Mend: `thunderus-mem verify --fix-moved` sets such anchors anew.
    """
    for state in _states(subject, "moved"):
        hint = "`thunderus-mem verify --fix-moved` sets it anew"
        yield _found(subject, "TM703", state, "the place where the code is", hint)


def _states(subject: Subject, verdict: str) -> Iterable[CodeState]:
    if subject.document is None or subject.evidence is None:
        return ()
    return [state for state in subject.evidence.of(subject.document) if state.verdict == verdict]


def _id(subject: Subject) -> str:
    return subject.document.id if subject.document is not None else ""


def _found(subject: Subject, rule: str, state: CodeState, expected: str, hint: str) -> Diagnostic:
    return subject.found(
        rule, (state.line, 1), f"{state.place}: {state.reason}.", key="anchors", expected=expected, hint=hint
    )
