"""Find secrets by the formats of `secret_rules`: distinctive characters, or a name before a random value.

A finding has the kind, the position and a fingerprint, never the value. Ordinary text is cheap: formats are
only tried on long words that contain one of their anchors, and names only on the lines that contain them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.read import rewritten_values
from thunderus_mem.safety.literals import Literals, lower
from thunderus_mem.safety.secret_mentions import ANCHORS, mentioned_values
from thunderus_mem.safety.secret_rules import BLOCKS, EMBEDDED, NAMED, TOKENS, SecretRule
from thunderus_mem.safety.secret_signs import is_of_words
from thunderus_mem.safety.secret_values import (
    claims,
    is_for_reader,
    is_in_url,
    is_of_pieces,
    is_placeholder,
    looks_chosen,
    looks_generated,
    looks_placed,
    looks_random,
    password_of_login,
)
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MENTIONED: Final = "mentioned-secret"
_FINGERPRINT = 8
_FEW_CHARACTERS = 7
_FEW_IN_PASSWORD = 5
_SHORTEST = 16
_REACH = 400
_AFTER = 200
_LONGEST_VALUE_HERE = 2_400
_LONGEST_VALUE = 200
_LONGEST_CACHED: Final = 16 * 1024
_TEXTS_CACHED: Final = 2_048
"""More than the texts, ids and paths of the documents of an event."""
# Kinds whose place says that the value is a password, and that it is random.
_PASSWORDS = frozenset(
    (
        *("used-as-password", "sent-password", "call-password", "changed-password"),
        "user-and-password",
        *("wireless-code", "opening-password"),
    )
)
# Kinds in whose place nothing but a password can be.
_PLACED = frozenset(
    (
        *(
            "url-password",
            "password-parameter",
            "command-line-password",
            "pgpass-entry",
            "identified-password",
        ),
        *("secure-string", "database-login", "login-argument", "network-secret"),
        "command-password",
    )
)
_LOGINS = frozenset(("docker-auth", "authorization-header"))
_KEYS = frozenset(("used-as-key", "here-string", "commented-key", "plain-key"))
# Kinds between words of a sentence.
_NEAR_PROSE = frozenset(("value-and-name", "login-and-value"))
_BY_PLACE = frozenset(
    (
        "url-parameter",
        "url-token",
        "shared-access-signature",
        "go-database-password",
        "webhook-path",
        "prefixed-key",
        "alias-secret",
        "signing-key",
        "gossip-key",
    )
)


class Secret(NamedTuple):
    """A secret's kind (``github-token``), its offsets in the text and 8 hex characters of its SHA-256."""

    kind: str
    start: int
    end: int
    fingerprint: str


_IN_WORDS: Final = (*TOKENS, *EMBEDDED)
_IN_LONG: Final = Literals(
    [
        (anchor.encode(), number)
        for number, rule in enumerate(_IN_WORDS)
        for anchor in rule.anchors
        if not rule.near
    ]
)
_NEAR: Final = tuple(number for number, rule in enumerate(_IN_WORDS) if rule.near)
_SEARCHED: Final = tuple(
    dict.fromkeys(
        [
            *ANCHORS,
            *(anchor.lower() for rule in (*NAMED, *BLOCKS) for anchor in rule.anchors),
            *(rule.near for rule in (*TOKENS, *BLOCKS) if rule.near),
        ]
    )
)
_FOUND_BY: Final = Literals(
    (anchor.encode(), number) for number, anchor in enumerate(_SEARCHED) if anchor.isascii()
)
_BLOCK_ANCHORS: Final = tuple((rule, frozenset(map(str.lower, rule.anchors))) for rule in BLOCKS)
_NAMED_BY: Final = {
    anchor: [number for number, rule in enumerate(NAMED) if anchor in rule.anchors]
    for anchor in dict.fromkeys(anchor for rule in NAMED for anchor in rule.anchors)
}
_BEYOND_ASCII: Final = tuple(anchor for anchor in _SEARCHED if not anchor.isascii())

_BLANK: Final = bytes(32 if code in b"\t\n\v\f\r\x1c\x1d\x1e\x1f" else code for code in range(256))

_BY_NAME = frozenset(("assigned-secret", MENTIONED))
# In the claims of tokens of tutorials and of a server on the author's machine.
_TUTORIAL = lazy_pattern("1234567890|John Doe|//localhost|//127\\.0\\.0\\.1")
# In those of tokens that let the reader of a page see one file.
_OF_A_FILE = lazy_pattern(r"\"(?:path|url|obj)\"\s?:")
_SIGNED = lazy_pattern(r"\b(?:sv|se|sr|skn)=")


def _is_placeholder(rule: SecretRule, value: str) -> bool:
    if rule.kind in ("url-password", "password-parameter") and "%" in value:
        from urllib.parse import unquote

        value = unquote(value)
    if rule.kind in ("private-key", "putty-key", "encoded-private-key"):
        return len(set(value)) < _FEW_CHARACTERS
    by_name = bool(rule.gate) or rule.kind in ("url-password", "recovery-code")
    if len(set(value)) < (_FEW_IN_PASSWORD if by_name else _FEW_CHARACTERS) or is_placeholder(value):
        return True
    if rule.kind in ("personal-number", "recovery-code"):
        return value in "01234567890123456789"
    if not by_name and rule not in BLOCKS and is_of_words(value):
        return True
    if rule.kind in _LOGINS and (password := password_of_login(value)) is not None:
        return not looks_placed(password)
    if rule.kind in _PLACED:
        return not looks_placed(value)
    if rule.kind in _PASSWORDS:
        return not looks_chosen(value)
    if rule.kind in _NEAR_PROSE and (is_of_pieces(value) or (value.islower() and not looks_generated(value))):
        return True
    if rule.kind in _KEYS:
        return not looks_generated(value)
    if rule.kind == "device-secret" and value.startswith("$"):
        return False
    return (by_name or rule.kind in _BY_PLACE) and not looks_random(value)


def find_secrets(text: str) -> list[Secret]:
    """Every secret in ``text``, by position; of overlapping ones the first and longest.

    Placeholders (``sk-xxxx``, ``AKIA…EXAMPLE``, few distinct characters) do not count. A value in the header
    of a document is also searched as YAML reads it: the secret is the whole value then.
    """
    return list(_cached(text) if len(text) <= _LONGEST_CACHED else _find(text))


def _find(text: str) -> list[Secret]:
    found = _as_written(text)
    hidden = [one for one in _in_header(text) if _is_apart(one.start, one.end, found)]
    return _without_overlaps([*found, *hidden]) if hidden else found


# A command searches a text before it writes it and again before it keeps a copy.
_cached = lru_cache(maxsize=_TEXTS_CACHED)(_find)


def _in_header(text: str) -> Iterator[Secret]:
    for key, value, start, end in rewritten_values(text):
        if secrets := find_under(key, value):
            yield secrets[0]._replace(start=start, end=end)


def _as_written(text: str) -> list[Secret]:
    lowered = _lowered(text)
    places = _places(text, lowered)
    known = _without_overlaps(_secrets([*_in_words(text, places), *_in_blocks(text, places)]))
    # A token after a name is reported as what it is.
    named = [
        one for one in _secrets(_in_lines(text, lowered, places)) if _is_apart(one.start, one.end, known)
    ]
    known = _without_overlaps([*known, *named]) if named else known
    said = [
        Secret(MENTIONED, start, end, _fingerprint(text[start:end]))
        for start, end in _mentioned(text, lowered, places)
        if _is_apart(start, end, known) and not _is_public(MENTIONED, text, start, end)
    ]
    return _without_overlaps([*known, *said]) if said else known


def _secrets(matches: Iterable[tuple[SecretRule, re.Match[str]]]) -> list[Secret]:
    found = []
    for rule, match in matches:
        group = "value" if "value" in match.re.groupindex else 0
        value = match[group]
        start, end = match.span(group)
        if not _is_placeholder(rule, value) and not _is_public(rule.kind, match.string, start, end):
            found.append(Secret(rule.kind, start, end, _fingerprint(value)))
    return found


def _is_public(kind: str, text: str, start: int, end: int) -> bool:
    """Whether what is around a value says that it is abbreviated, of a tutorial or for the reader."""
    if text.startswith(("...", "\u2026"), end):
        return True
    web_token = text.startswith("eyJ", start)
    said = claims(text[start:end]) if web_token else ""
    if _TUTORIAL.search(said):
        return True
    if kind == "shared-access-signature" and not _SIGNED.search(text, max(start - _REACH, 0), end + _AFTER):
        return True
    if kind in _BY_NAME and not web_token:
        return is_in_url(text, start)  # `url-parameter` finds those
    return (kind == "url-parameter" or web_token) and (
        is_for_reader(text, start) or (_OF_A_FILE.search(said) is not None and is_in_url(text, start))
    )


def _lowered(text: str) -> str:
    """The text in lower case, with the same offsets."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join([char.lower() if len(char.lower()) == 1 else char for char in text])
    return lowered


def _places(text: str, lowered: str) -> dict[str, list[int]]:
    """Where each anchor is, in any case."""
    found: dict[str, list[int]] = {}
    for number, start, _ in _FOUND_BY.find(lower(text)):
        for row in _FOUND_BY.rows[number]:
            found.setdefault(_SEARCHED[row], []).append(start)
    for anchor in _BEYOND_ASCII if not text.isascii() else ():
        # One character is found many times as fast as several.
        at = lowered.find(anchor) if anchor[-1] in lowered else -1
        while at >= 0:
            found.setdefault(anchor, []).append(at)
            at = lowered.find(anchor, at + len(anchor))
    return found


def _in_words(text: str, places: dict[str, list[int]]) -> Iterator[tuple[SecretRule, re.Match[str]]]:
    """Matches of `TOKENS` and `EMBEDDED`, which are only in long words."""
    known = {(number, 0, len(text)) for number in _NEAR if _IN_WORDS[number].near in places}
    blanked = text.encode("ascii", "replace").translate(_BLANK)
    end = -1
    for literal, first, last in _IN_LONG.find(blanked):
        if last > end:
            start, end = blanked.rfind(b" ", 0, first) + 1, blanked.find(b" ", last)
            end = end if end >= 0 else len(text)
        if end - start >= _SHORTEST:
            known.update([(row, start, end) for row in _IN_LONG.rows[literal]])
    for number in sorted(
        {row for row, start, end in known if _IN_WORDS[row].pattern.search(text, start, end)}
    ):
        yield from ((_IN_WORDS[number], match) for match in _IN_WORDS[number].pattern.finditer(text))


def _in_blocks(text: str, places: dict[str, list[int]]) -> Iterator[tuple[SecretRule, re.Match[str]]]:
    for rule, anchors in _BLOCK_ANCHORS:
        if not anchors.isdisjoint(places) and (not rule.near or rule.near in places):
            yield from ((rule, match) for match in rule.pattern.finditer(text))


def _in_lines(
    text: str, lowered: str, places: dict[str, list[int]]
) -> Iterator[tuple[SecretRule, re.Match[str]]]:
    """Matches of `NAMED`, in the lines where the gate of a rule matches at an anchor."""
    starts: dict[int, list[int]] = {}
    for anchor, found in places.items():
        for number in _NAMED_BY.get(anchor, ()):
            starts.setdefault(number, []).extend(found)
    for number in sorted(starts):
        rule, done = NAMED[number], 0
        for at in sorted(starts[number]):
            if at >= done and _gate(rule.gate).match(lowered, at):
                start = max(lowered.rfind("\n", 0, at) + 1, at - _REACH, done)
                done = lowered.find("\n", at)
                done = min(done if done >= 0 else len(text), at + _LONGEST_VALUE_HERE)
                yield from ((rule, match) for match in rule.pattern.finditer(text, start, done))


def _mentioned(text: str, lowered: str, places: dict[str, list[int]]) -> Iterator[tuple[int, int]]:
    """Values after names that no rule knows."""
    starts = sorted([at for anchor in ANCHORS for at in places.get(anchor, ())])
    yield from mentioned_values(text, lowered, starts)


@cache
def _gate(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _fingerprint(value: str) -> str:
    from hashlib import sha256

    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:_FINGERPRINT]


def holds_secret(text: str) -> bool:
    """Whether the text contains a secret without a suppression (``ignore TM401`` with its fingerprint)."""
    return any(f"ignore TM401 {one.fingerprint}" not in text for one in find_secrets(text))


PRIVATE_QUOTES: Final = "Quotes text from private events (`recap.quote`)"
"""What a recap says if it does."""


def diff_for_log(old: str | None, new: str | None, path: str) -> str | None:
    """Like `unified_diff`, but also ``None`` if a text has a secret or quotes private events: the log is
    committed, and lines are never removed from it."""
    from thunderus_mem.document.diff import unified_diff

    # A hunk may contain only a part of a secret, so the texts are searched, not the diff.
    texts = [text for text in (old, new) if text is not None]
    if any(PRIVATE_QUOTES in text or holds_secret(text) for text in texts):
        return None
    return unified_diff(old, new, path)


def redacted(text: str) -> str:
    """The text with every secret replaced by its kind and fingerprint: ``<github-token 1a2b3c4d>``."""
    return _redacted_under("", text)


def redacted_data(value: Any, name: str = "") -> Any:
    """A JSON value with every string in it, including keys, `redacted`; ``name`` is the key it is under."""
    if isinstance(value, str):
        return _redacted_under(name, value)
    if isinstance(value, dict):
        return {redacted(key): redacted_data(item, str(key)) for key, item in value.items()}
    return [redacted_data(item, name) for item in value] if isinstance(value, list) else value


def find_under(name: str, value: str) -> list[Secret]:
    """The secrets in a string of a JSON object, or the string itself if its key makes it one.

    Offsets are those in the string.
    """
    found = find_secrets(value)
    before = f"{name}: "
    if found or not name or len(value) > _LONGEST_VALUE or "\n" in value:
        return found
    return [
        one._replace(start=one.start - len(before), end=one.end - len(before))
        for one in find_secrets(before + value)
        if one.start >= len(before)
    ]


def _redacted_under(name: str, value: str) -> str:
    found = find_under(name, value)
    pieces, at = [], 0
    for one in found:
        pieces += [value[at : one.start], f"<{one.kind} {one.fingerprint}>"]
        at = one.end
    return "".join([*pieces, value[at:]]) if found else value


def _is_apart(start: int, end: int, known: list[Secret]) -> bool:
    """Whether a place overlaps none of the known secrets, which are in order and do not overlap."""
    before = bisect_left(known, end, key=lambda one: one.start)
    return before == 0 or known[before - 1].end <= start


def _without_overlaps(found: list[Secret]) -> list[Secret]:
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept
