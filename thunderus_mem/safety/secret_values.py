"""Tell secret values from words, identifiers, paths, templates, placeholders and links for the reader."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final

from thunderus_mem.safety.secret_signs import FOLLOWERS

_PLACEHOLDER = (
    r"example|sample|placeholder|redacted|dummy|change_?-?me|xxxx|your[_-]?|notreal|not-real|fake"
    r"|foobar|deadbeef|^pk[._](?:live|test|eyJ)|^[0-9]:[0-9]{6,16}:(?:web|ios|android):|"
    r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}T|^phc_|^ENC[\[(]|^\{(?:cipher|3?des|aes[0-9]{0,3})\}|^vault:v[0-9]|^!?encrypted[:(]|^AQICAH|^[*~+-]{0,4}[0-9.,]{1,20}[a-z]{1,3}\**$|"
    # Published by their issuers, for tests.
    r"4eC39HqLyjWDarjt|Eby8vdM02xNOcqFlq|devstoreaccount1|6LeIxAcTAAAA|JBSWY3DPEHPK3PXP|C2y6yDjf5/R\+ob0N8A7C"
    r"|czZCaGRSa3F0Mzpn|"
    # The ids of our events, which recaps cite after titles such as "Use tokens".
    r"^(?:evt|patch|snap|sess)_[0-9A-HJKMNP-TV-Z]{26}$|"
    # Words of languages without spaces.
    r"[\u2e80-\uffef]|"
    r"\.\.\.|\u2026|\*\*\*|[_-]here\b|insert|replace|(.)\1{5}"
)
# Words of passwords in documentation, and characters of code, templates and paths.
_CODE = (
    r"example|sample|password|secret|generated|encoded|undefined|placeholder|base64|header|payload"
    r"|signature|"
    r"^sha[0-9]{1,3}[:-]|^ENC\[|^AgB[a-z0-9]|"
    r"\$[{(]|\{\{|%\(|[<>]|\$[A-Z_]{3}|^[$%~^]|[a-z]\|[a-z]|abcdefg|12345678|^/(?![A-Za-z0-9+/]{39,400}={0,2}$)|://|::|->|\(\)|^[@#]"
)
_SHORT_WORDS = (
    r"p[a@4][s$]+|pwd|test|demo|abc|foo|(?<![a-z])bar(?![a-z])|some|(?<![a-z0-9])my|sha[0-9]|md5|user|hash"
)
_MADE_UP = (
    r"p(?:[a4@]|%40)[s$]+|w[o0]rd[^a-z]*$|pwd|s[e3]cr[e3]t|s[e3]cur|token|test|demo|abc|1234|(?<![a-z]{6})123$|qwert|hunter2"
    r"|letmein|admin|user|value|string|foo|(?<![a-z])bar(?![a-z])|some|(?<![a-z0-9])my|"
    r"base64|hash|sha[0-9]|md5|generated|random|encoded|hidden|masked|todo|null|undefined|"
    r"^[a-z_]{1,40}(?:\.[a-z_]{1,40}){1,9}$|\$[{(]|\{\{|%\(|[<>]|(?-i:\$[A-Z_]{3})|^[$%/~^]|[a-z]\|[a-z]|%[A-Z_]{3,40}%|://|/\.|\.(?:com|io|org|net|txt|key|pem"
    r"|json|ya?ml|env|md|py|js|ts|go|sh)\b|::|->|\(\)|^[@#]|a-z(?:a-z|0-9)|^ed(?:25519|448)"
)
# Words, each with up to four digits: identifiers, names of resources, versions.
_WORD = r"(?:[A-Za-z]?[a-z]+|[A-Z]+)[0-9]{0,4}"
_WORDS = (
    rf"[0-9A-F]{{8}}|[0-9A-F]{{16}}|[^A-Za-z0-9]*(?:{_WORD}|v?[0-9]{{1,6}})"
    rf"(?:[-_./:@+,=]+(?:{_WORD}|(?<==)[0-9]{{1,20}}|[0-9]{{1,5}}))*[^A-Za-z0-9]*"
)
# Passwords as their rules demand them, such as a word with a capital, digits and a sign.
_STRONG = r"(?=.{0,80}[a-z])(?=.{0,80}[A-Z])(?=.{0,80}[0-9]{2})(?=.{0,80}[!?@#$%^&*~]).{8,80}"
# What is left of such a one without a word in it.
_STRONG_REST = (
    r"(?=.{0,80}[a-z])(?=.{0,80}[A-Z])(?=.{0,80}[0-9])(?=.{0,80}[!?@#$%^&*~])(?!.{0,20}[wW][oO0][rR])"
    r".{7,80}"
)
# A word and a number that is no year, as people choose passwords.
_CHOSEN = (
    r"(?=.{0,80}[A-Za-z]{4})(?=.{0,80}(?<![0-9])(?!(?:19|20)[0-9]{2}(?![0-9]))[0-9]{2,5}(?![0-9]))"
    r"[^/\\:=<>()]{8,60}|[A-Za-z]{3,30}[0-9]{2,5}[A-Za-z]{3,30}[!?]?"
)
# Words with a number among them, and capitalized words with one at the end, as people choose passwords.
_PHRASE = (
    r"(?=.{16,80}$)(?=[^0-9]{0,80}[0-9])[A-Za-z]{3,20}(?:[-_.](?:[A-Za-z]{3,20}|[0-9]{1,4})){3,8}"
    r"|(?:[A-Z][a-z]{2,20}){2,3}[-_]?[0-9]{1,4}"
    r"|[A-Z][a-z]{3,20}(?:[-_.][A-Z]?[a-z]{2,20}){0,2}[-_.][0-9]{1,4}"
    r"|[A-Z][a-z]{3,20}(?:[-_.][A-Z][a-z]{2,20}){1,2}[0-9]{1,4}"
)
_PLACED: Final = 8
_FEW_CHANGES: Final = 2
_IDENTIFIER = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# Words inside an identifier, as in "TokenRefreshAfter401Retry" or "Llama-3.2-3B".
_PIECE = "[A-Z]?[a-z]{3,}|[A-Z]{3,}"
_OF_PIECES: Final = 0.75
_FEW_NUMBERS: Final = 4
_FILE = r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|mp[34]|m4[av]|mov|webm|og[gv]|m3u8|pdf)$"
_FOR_READER = r"(?:\]\(<?|(?:src|href)=[\"']?)[a-z]{2,8}$"
_PERMISSION = r"[?&](?:[a-z_]{0,12}token|key|auth|sig|jwt|app_?id)=$|/$"
_LONGEST_URL: Final = 600
_UNUSUAL_SHARE: Final = 0.3
_FEW_UNUSUAL: Final = 3
_SHORT_KEY: Final = 24
_SHORT_PIECES: Final = 16
_LONG: Final = 80
_RANDOM_REST: Final = 8


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder: it only shows where the real one goes."""
    found = re.search(_PLACEHOLDER, value, re.IGNORECASE)
    return found is not None and (found[1] is None or len(value) < _LONG)


def is_made_up(value: str) -> bool:
    """Whether a value has words of documentation or characters of code."""
    if len(value) < _SHORT_KEY:
        # Short words are in random values by chance.
        rest = re.sub(_SHORT_WORDS, "", value, flags=re.IGNORECASE)
        by_chance = rest != value and (
            (len(rest) > _RANDOM_REST and _is_mixed_inside(rest))
            or re.fullmatch(_STRONG_REST, rest) is not None
        )
        return re.search(_MADE_UP, rest.lstrip("#@$%^~/") if by_chance else value, re.IGNORECASE) is not None
    return re.search(_CODE, value, re.IGNORECASE) is not None


def _is_mixed_inside(value: str) -> bool:
    """Whether a value has capitals inside words and letters that no word has in this order."""
    return re.search("[a-z][A-Z]", value) is not None and is_unpronounceable(value)


def is_of_pieces(value: str) -> bool:
    """Whether most letters of a value are in words, with capitals, digits or signs between them."""
    letters = sum(map(str.isalpha, value))
    return (
        re.fullmatch(r"[\w./:-]+", value) is not None
        and sum(map(len, re.findall(_PIECE, value))) >= _OF_PIECES * letters
        and len(re.findall("[0-9]+", value)) <= max(_FEW_NUMBERS, len(value) // 6)
        and not is_unpronounceable(value)
    )


@cache
def _pairs() -> frozenset[str]:
    return frozenset(first + second for first, after in FOLLOWERS.items() for second in after)


def is_unpronounceable(value: str) -> bool:
    """Whether many pairs of neighbouring letters hardly occur in words."""
    lowered = value.lower()
    pairs = [
        first + second for first, second in pairwise(lowered) if "a" <= first <= "z" and "a" <= second <= "z"
    ]
    unusual = sum(pair not in _pairs() for pair in pairs)
    return unusual >= _FEW_UNUSUAL and unusual >= _UNUSUAL_SHARE * len(pairs)


def looks_random(value: str) -> bool:
    """Whether a value after a name looks like a secret, and not like a word, a path or a template."""
    if not re.search("[A-Za-z]", value) or is_made_up(value):
        return False
    if len(value) >= _SHORT_PIECES and is_of_pieces(value):
        return False
    said = decoded(value)
    if said is not None and not looks_random(said):
        return False
    if not re.search("[0-9]", value):
        return (
            _has_both_cases(value)
            and is_unpronounceable(value)
            and not re.search("[a-z][-_.][A-Za-z]", value)
        )
    return not re.fullmatch(_WORDS, value) or bool(re.fullmatch(_STRONG, value))


def folded(value: str) -> str:
    """The value with the Latin letters of its letters; those of other alphabets as a syllable repeated."""
    if value.isascii():
        return value
    from unicodedata import combining, normalize

    plain = [one for one in normalize("NFKD", value) if not combining(one)]
    return "".join(
        [
            one if one.isascii() or not one.isalpha() else ("AN" if one.isupper() else "an")[at % 2]
            for at, one in enumerate(plain)
        ]
    )


def looks_chosen(value: str) -> bool:
    """Whether a value that is named as a password looks like one that people choose."""
    value = folded(value)
    if any(is_made_up(one) or is_placeholder(one) for one in (value, decoded(value) or "?")):
        return False
    return (
        looks_random(value)
        or is_unpronounceable(value)
        or re.fullmatch(_CHOSEN, value) is not None
        or re.fullmatch(_PHRASE, value) is not None
        or (_has_both_cases(value) and len(re.findall("[0-9][A-Za-z]|[A-Za-z][0-9]", value)) > _FEW_CHANGES)
        or (_has_both_cases(value) and re.search(r"[a-zA-Z][!#$%^&*?][a-zA-Z0-9]", value) is not None)
    )


def looks_placed(value: str) -> bool:
    """Whether a value in a place that only passwords have looks like one: it may be a word with a digit."""
    if re.match(r"[-*]|[A-Za-z]:\\", value):  # an option, emphasis, a path
        return False
    if looks_chosen(value):
        return True
    value = folded(value)
    mixed = re.search("[a-z]", value) is not None and re.search("[0-9!?#$%&*+]", value) is not None
    both = value, decoded(value) or "?"
    return mixed and len(value) >= _PLACED and not any(is_made_up(one) or is_placeholder(one) for one in both)


def password_of_login(value: str) -> str | None:
    """The password in a value that encodes ``user:password`` in base 64."""
    user, colon, password = (decoded(value) or "").partition(":")
    return password if user and colon else None


def looks_generated(value: str) -> bool:
    """Whether a value is long and mixed enough to be a key wherever it is: hexadecimal, base 32, 58"
    " or 64."""
    if is_made_up(value) or is_placeholder(value) or re.fullmatch(_IDENTIFIER, value):
        return False
    digits = len(re.findall("[0-9]", value))
    letters = len(re.findall("[A-Za-z]", value))
    return (
        digits >= 2
        and letters >= 4
        and len(set(value)) >= 9
        and not re.fullmatch(_WORDS, value)
        and (
            is_unpronounceable(value)
            or re.fullmatch("[0-9a-f]{20,}|[0-9A-F]{20,}", value) is not None
            or len(re.findall("[0-9][A-Za-z]|[A-Za-z][0-9]", value)) >= 5
        )
    )


def _has_both_cases(value: str) -> bool:
    return value != value.lower() and value != value.upper()


def decoded(value: str) -> str | None:
    """The text that a value encodes in base 64, if it is printable."""
    from base64 import b64decode

    try:
        text = b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return None
    return text.strip() if text.strip().isprintable() else None


def is_in_url(text: str, start: int) -> bool:
    """Whether a value is in the query of a URL or a part of its path."""
    return _url_before(text, start) != ""


def _url_before(text: str, start: int) -> str:
    """The URL with a value in its query or path, and what is before it, up to the value; or nothing."""
    at = text.rfind("://", max(start - _LONGEST_URL, 0), start)
    inside = text[at + 3 : start]
    if at < 0 or re.search("[\\s\"'`<>]", inside) or not re.search("[?#&]|/$", inside):
        return ""
    return text[max(at - 24, 0) : start]


def is_for_reader(text: str, start: int) -> bool:
    """Whether a value is in a link that carries its own permission: the link of an image, a video or another
    file to look at, or one that a reader of the page follows."""
    before, _, path = _url_before(text, start).partition("://")
    if re.search(_FILE, re.split("[?#]", path)[0], re.IGNORECASE):
        return True
    return bool(re.search(_FOR_READER, before, re.IGNORECASE) and re.search(_PERMISSION, path, re.IGNORECASE))


def claims(token: str) -> str:
    """The claims of a JSON Web Token as text, or nothing if it has none."""
    from base64 import urlsafe_b64decode

    _, _, rest = token.partition(".")
    encoded = rest.partition(".")[0]
    try:
        return urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8", "replace")
    except ValueError:
        return ""
