"""Find secrets by the name before them, such as "password" or "API key".

Between name and value may be an assignment in any syntax, a table cell, an option or a few words. A value
directly after a name need only look chosen; one further on must look generated.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from string import ascii_letters
from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.secret_names import KEYS, PASSWORDS
from thunderus_mem.safety.secret_values import (
    folded,
    is_made_up,
    is_of_pieces,
    is_placeholder,
    is_unpronounceable,
    looks_chosen,
    looks_generated,
    looks_placed,
    looks_random,
)
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANCHORS: Final = (
    *("pass", "pwd", "pw", "psk", "secret", "token", "key", "bearer", "seed", "appid", "recovery"),
    *("12 words", "24 words", "words in", "wallet", "bip39", "bip-39"),
    *(
        "snmp-server community",
        "community string",
        "rocommunity",
        "rwcommunity",
        "mnemonic",
        "_pat",
        "pepper",
    ),
    *(anchor for anchor, _ in (*PASSWORDS, *KEYS)),
)
"""Lower-case texts one of which is in every name of a secret."""

_PASSWORD: Final = "|".join(
    (
        (
            r"(?<!etc/)passw(?:or)?ds?(?![a-z])|pass[ _-]?phrases?|passcodes?|passwort|pwd"
            r"|(?<![0-9-])pw(?![a-z0-9-])|(?<![a-z!])psk(?![a-z])"
            r"|(?:(?<![a-z])|(?<=require)|(?<=store)|(?<=key)|(?<=root)|(?<=smtp)|(?<=user)"
            r"|(?<=db))pass(?![a-z])"
            r"|(?:snmp-server |r[ow])community6?|community string"
            r"|(?:seed|recovery) (?:phrase|words|sheet|code"
            r"|card)|mnemonic"
        ),
        *(pattern for _, pattern in PASSWORDS),
    )
)
_KEY: Final = "|".join(
    (
        (
            r"(?<!non-)(?<![0-9]:)secrets?(?![a-z])|(?<![cx]srf)(?<![cx]srf[ _-])(?<!search)"
            r"(?<!authenticity_)(?<!middleware)(?<![?&]ss)(?<!next)(?<!page)tokens?(?![a-z])|(?<![a-z])keyfile"
            r"|bearer|(?<![a-z])seed(?![a-z.]| node)|_pat(?![a-z])|pepper(?![a-z])|(?<![a-z])appid(?==)"
        ),
        *(pattern for _, pattern in KEYS),
    )
)
# What the words of a wallet follow.
_OF_WORDS: Final = r"(?:12|24) words|words in (?:this |the right )?order|wallet|bip-?39"
_NAME: Final = lazy_pattern(rf"(?:(?P<password>{_PASSWORD})|(?P<key>{_KEY})|(?P<words>{_OF_WORDS}))")
_QUALIFIED: Final = lazy_pattern(
    r"(?:access|account|activation|admin|aes|api|app|apps|application|auth|backup|client|consumer"
    r"|cookie|cron"
    r"|crypt|data|decryption|deploy|deployer|device|disk|encryption|eyaml|fernet|hmac|host|ingest"
    r"|integration"
    r"|isakmp|jwt|license|licence|live|luks|master|network|noise|nwks|partner|preshared|private|product"
    r"|project"
    r"|recovery|rescue|root|routing|rpc|sdk|sending|service|session|shared|sign|signing|storage|team|tsig"
    r"|tunnel|unseal|upload|validation|vault|vpn|webhook|wifi|wlan|wpa2?|write)[_. -]?keys?(?![a-z])"
    r"|(?<![a-z])skey(?![a-z])"
)
# Any other key that a long random value is assigned to, unless what it opens is public.
_SOME_KEY: Final = lazy_pattern(
    r"(?<![a-z])(?!(?:public|pub|primary|foreign|sort|partition|cache|idempotency|dedup|object|bucket"
    r"|ssh|gpg"
    r"|yubi|pgp|group|row|index|map|hash|shard|site|search|publishable|lookup|unique|request|message|event|known"
    r"|citation|cite|websocket"
    r"|registry|image|blob|layer|file|node|apt|rpm|maven|trusted|build|state|lock|stored?|server)[_. -]?k)"
    r"(?P<some>[a-z]{2,14}[_. -]?)keys?(?![a-z])"
)
_TOKEN: Final = lazy_pattern(
    r"[^\s\"'`\u00ab\u00bb\u2018-\u201e\u2039\u203a\u2190-\u21ff\u2e80-\uffef<>|,;\[\](){}\\]{6,400}",
    re.IGNORECASE,
)
_OPEN: Final = "\"'`\u00ab\u00bb\u2018\u201a\u201c\u201d\u201e\u2039\u203a\u300c\u300e"
_CLOSE: Final = "\"'`\u00ab\u00bb\u2018\u2019\u201c\u201d\u2039\u203a\u300d\u300f"
_QUOTED: Final = lazy_pattern(
    rf"[{_OPEN}]\s?(?P<value>[^\"`\u00ab\u00bb\u201c-\u201e\u300d\n]{{6,200}}?)\s?[{_CLOSE}]",
    re.IGNORECASE,
)
_PHRASE: Final = lazy_pattern(
    r"(?:[^\n=:]{0,30}[:=]\s{1,3}"
    r"|[=:] ?[\"']?)(?P<value>(?:(?:[a-z]{3,12}|[0-9]{1,4}) ){3,23}[a-z]{3,12})[\"']?"
    r"[ \t]{0,4}(?=\n|$|\. )",
    re.IGNORECASE,
)
# Words with numbers, as wallets list them.
_NUMBERED: Final = lazy_pattern(
    r"[^\n:]{0,60}:\s{1,3}(?P<value>(?:[0-9]{1,2}[.):]?\s{1,3}[a-z]{3,8}[\s,]{1,3}){11,23}"
    r"[0-9]{1,2}[.):]?\s{1,3}[a-z]{3,8})(?![a-z])",
    re.IGNORECASE,
)
# A password of an application, in groups of four; the key that recovers a disk.
_GROUPS: Final = lazy_pattern(
    r"(?<![\w-])(?:(?:[a-z0-9]{4}[ \u00a0]){3,5}[a-z0-9]{4}|(?:[a-z0-9]{4}-){3,7}[a-z0-9]{4}"
    r"|(?:[0-9]{6}-){7}[0-9]{6}|(?:[a-z0-9]{5}-){4}[a-z0-9]{5})(?![\w-])",
    re.IGNORECASE,
)
_IS: Final = (
    r"is(?: now| still)?|was|reads|lautet|ist|est|es|\u00e8|\u00e9|era|jest|to|je|er|\u00e4r|este"
    r"|e(?= [\"`\u00ab\u201e])|(?<=salasana )on|je te\u010f|\u0647\u064a"
    r"|\u03b5\u03af\u03bd\u03b1\u03b9|\u05d4\u05d9\u05d0|l\u00e0|adalah|contains"
)
# Only an assignment, or the word "is", between name and value.
_DIRECT: Final = lazy_pattern(
    r"[a-z0-9_.-]{0,24}?(?:[ \t]?[:=]?[ \t]?\{[ \t]?\w{1,20}[ \t]?(?=[:=]))?"
    r"(?: #?[0-9]{1,2}(?=:))?(?:\(\w{1,12}\)|\[\w{0,12}\])?[\"'`*_\])}]{0,6}\s{0,8}"
    rf"(?:(?:[:=?+~]{{0,2}}[=:>|,]{{1,3}}|\u2192|->|\u2014|-(?= [{_OPEN}])|\uff1a|{_IS}"
    r"|\u5c31?\u662f|[\u6539\u8bbe\u8a2d]?[\u70ba\u4e3a\u6210]|\u306f|[\uc740\ub294]|"
    r"value=|plaintext|--plaintext|by|: &?(?:str|string)\b ?=)\s{0,8})?"
    rf"(?:!\w{{1,8}} )?[fbru@]?[*{_OPEN}(\[{{]{{0,4}}\s?",
    re.IGNORECASE,
)
_ASSIGNS: Final = lazy_pattern(
    rf".{{0,60}}(?:[:=|\u2192\u2014>\uff1a,/{_OPEN}]|\b(?:{_IS})|\u662f|\u306f)\W{{0,6}}", re.IGNORECASE
)
_ASSIGNED: Final = lazy_pattern(
    r"[\"'`*]{0,3}\s{0,2}(?:[:=]|=>|is )\s{0,3}(?:(?:api|app|private|secret|live|new|value) )?[\"'`*]{0,3}"
)
_USER: Final = lazy_pattern(r"user|login|account|\w@[a-z]", re.IGNORECASE)
# A few words between name and value, then "is", a colon or the answer to a question.
_SAID: Final = lazy_pattern(
    r"(?! (?:length|polic|rule|requirement|reset|manager|strength|hint|help|field|format|must|should))"
    rf"(?:[s),]?[ ][\w'`\u2019\u0300-\u036f\u064b-\u0652-]{{1,20}}){{0,7}}(?: \([^()\n]{{0,40}}\))?"
    rf"(?:[ ](?:{_IS})|[ ]?:|\?(?: [-\u2013\u2014])?(?: (?:it'?s|it is|that'?s|still|yes|yep),?){{0,2}})"
    rf"(?:[ ]|[ \t\r]{{0,4}}\n[ \t]{{0,8}})[*{_OPEN}]{{0,3}}(?:(?<=\u00ab)[ \u00a0\u202f])?",
    re.IGNORECASE,
)
# A line that ends where the value follows, or before the word "is".
_BREAKS: Final = lazy_pattern(
    rf"[^\n]{{0,60}}?(?:[ ](?:{_IS})|:)[ \t\r]{{0,4}}\n|[ \t\r]{{0,4}}\n[ \t]{{0,8}}(?:{_IS})[ ]",
    re.IGNORECASE,
)
# The answer on a line below.
_ANSWER: Final = lazy_pattern(
    rf"(?:[ \t>]{{0,8}}\n)?[ \t>*-]{{0,8}}(?:[^\n]{{0,60}}?\b(?:it['\u2019]?s|it is|that['\u2019]?s"
    rf"|still|a:|is|try|should be|ist)"
    rf"\*{{0,2}}[ ](?:(?:still|now)[ ])?[*{_OPEN}]{{0,3}}|[^\n{_OPEN}]{{0,60}}?`)"
    rf"(?P<value>[^\s{_OPEN}{_CLOSE}]{{6,64}})",
    re.IGNORECASE,
)
# The value of a key is as long.
_LIKELY: Final = lazy_pattern(r"[^\s|,;<>()\[\]{}]{16}")
_BLANK: Final = lazy_pattern(r"[s)\s\"'`*]{0,12}")
# What makes a random value near a name no secret.
_PUBLIC: Final = lazy_pattern(
    r"sha-?[0-9]|md5|hash|digest|checksum|integrity|commit|public|fingerprint|publishable|encrypted"
    r"|sealed|vault(?!_)|"
    r"thumbprint|signature|\bids?\b|_id\b|uuid|guid|tenant|arn:|example|sample|revision|version|\.lock"
    r"|etag|nonce|salt|\b(?:good|bad) (?:was|is|at)\b",
    re.IGNORECASE,
)
_SAID_PUBLIC: Final = lazy_pattern(r"public (?:[\w-]{1,20} )?$", re.IGNORECASE)
# A password that is encrypted, or a text about one.
_OTHER: Final = lazy_pattern(
    r"ENC[\[(]|CRYPT\(|(?i:\{(?:cipher|aes|3?des)\}|encrypted[:(])|[._-](?:hint|help|label|title|policy"
    r"|error|rules?|length)\b|>\{$|(?i:\{s?sha)"  # Maven encloses encrypted passwords in braces
)
_CODE: Final = lazy_pattern(
    r"%20|arxiv|utf-?(?:8|16)|^s-1-[0-9]|@[a-z0-9-]{3,40}\.[a-z]{2}|/.{0,200}/.{0,200}[._-]"
    r"|[._-].{0,200}/.{0,200}/|-----|^arn:|^0x(?:[0-9a-f]{6,16}|[0-9a-f]{40})$|^(?:[0-9a-f]{2}:){4}"
    r"|(?<![0-9a-f])b64|encode|decode|crypt|scram|argon|pbkdf|rpc|osxkey|\\\\"
    r"|^[a-z]{1,9}$|(?-i:^[a-z]+$|^[A-Z]+$|^[A-Za-z][a-z]+(?:[A-Z][a-z]+|[A-Z]{2,3}){1,2}$)",
    re.IGNORECASE,
)
_JOINED: Final = lazy_pattern("[a-z]{3,12}[!#%&*+][a-z]{3,12}")
_BASE64: Final = lazy_pattern("[A-Za-z0-9+/]{32,90}={0,2}")
_STOPS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "of",
        "to",
        "and",
        "or",
        "in",
        "on",
        "for",
        "your",
        "you",
        "with",
        "not",
        "be",
        "must",
        "should",
        "can",
        "will",
        "that",
        "this",
        "it",
        "if",
        "as",
        "at",
        "by",
        "no",
        "from",
        "has",
        "have",
        "when",
        "der",
        "die",
        "das",
        "und",
        "ein",
        "le",
        "la",
        "les",
        "de",
        "el",
        "los",
        "un",
        "una",
    ]
)
_WINDOW: Final = 100
_USER_NEAR: Final = 40
_SEED_WORDS: Final = 10
_LONGEST_LINE: Final = 4_000
_LONGEST_TOKEN: Final = 400
_VERBS: Final = frozenset(("pass", "pwd", "pw"))
_BEFORE_KEY: Final = 16
_BEFORE_PUBLIC: Final = 30
_LONG_KEY: Final = 24
_AFTER_KEY: Final = 5
_SUFFIX: Final = 16
_LONGEST_WORD: Final = 20
_ROWS: Final = 40
_ROWS_KEPT: Final = 16 * _ROWS
_ID: Final = 19
_WORD: Final = lazy_pattern("[A-Za-z0-9]*")
_ENDS_IN_WORD: Final = lazy_pattern("[A-Za-z0-9]*$")
_FEW_DIGITS: Final = 3
_FEW_IN_GROUPS: Final = 6
_OF_GROUPS: Final = ("recovery", "license", "licence", "product", "activation")
# A value is judged after each name near it.
_CACHED: Final = 256
_HEAD: Final = lazy_pattern(r"[\s\w\"'`*./()-]{0,60}")
_NEXT: Final = lazy_pattern(
    r"(?:[ \t>]{0,12}\n)?(?:[ \t]{0,12}(?:type|description|sensitive)[ \t]{0,12}=[^\n]{0,100}\n){0,3}"
    r"[ \t>*+-]{0,16}(?:(?:default"
    r"|(?:new )?value)[\"']?[ \t]{0,8}[:=][ \t]{0,8})?[\"'`]?(?P<value>[^\s\"'`()\[\]<>{}]{8,200})[\"'`]?"
    r"[,;\\]?[ \t]{0,8}(?=\n|$)",
    re.IGNORECASE,
)


class _Row(NamedTuple):
    """The cells of a line, where each begins, and the values found in some of them."""

    cells: list[str]
    starts: list[int]
    values: dict[tuple[int, bool], tuple[int, int] | None]

    def value(self, number: int, *, password: bool) -> tuple[int, int] | None:
        """The place of the value in a cell, if it looks like a password, or like a key."""
        known = number, password
        if known not in self.values:
            cell = self.cells[number].strip(' *`"')
            fits = _is_chosen_in_table if password else _is_key_in_table
            place = None
            if 6 <= len(cell) <= 64 and not re.search("[ '=]", cell) and len(set(cell)) >= 5 and fits(cell):
                first = self.starts[number] + self.cells[number].index(cell)
                place = first, first + len(cell)
            self.values[known] = place
        return self.values[known]


class _Table(NamedTuple):
    """What separates its columns, the cells of its head, and its rows."""

    sign: str
    head: list[str]
    rows: list[_Row]


class _Rows:
    """The rows of the tables in a text. Each line may be the head of a table with the lines below it, so
    that most rows are in many tables: each is split once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[int, str], _Row] = {}
        self._line = 0, -1

    def row(self, at: int, sign: str) -> _Row:
        row = self._known.get((at, sign))
        if row is None:
            if len(self._known) >= _ROWS_KEPT:
                self._known.clear()
            cells = self._text[at : min(self.end(at), at + _LONGEST_LINE)].split(sign)
            starts = list(accumulate((len(one) + 1 for one in cells[:-1]), initial=at))
            row = self._known[at, sign] = _Row(cells, starts, {})
        return row

    def end(self, at: int) -> int:
        """The end of the line; of one long line it is searched once."""
        if not self._line[0] <= at <= self._line[1]:
            end = self._text.find("\n", at)
            self._line = at, end if end >= 0 else len(self._text)
        return self._line[1]


def mentioned_values(text: str, lowered: str, starts: list[int]) -> Iterator[tuple[int, int]]:
    """The places of values after names, at the sorted positions ``starts`` of anchors."""
    names: list[re.Match[str]] = []
    rows = _Rows(text)
    start = end = -1
    for at in starts:
        name = _NAME.match(lowered, at)
        if name is None and lowered.startswith("key", at):
            around = max(at - _BEFORE_KEY, 0), at + _AFTER_KEY
            name = _QUALIFIED.search(lowered, *around) or _SOME_KEY.search(lowered, *around)
        if name is None or (names and name.start() < names[-1].end()):
            continue
        if name[0] == "pwd" and text.startswith(("/", "\\"), name.end()):
            continue  # the working directory
        if (
            name.lastgroup not in ("password", "words")
            and name[0] != "seed"
            and not name[0].startswith(_OF_GROUPS)
            and not _LIKELY.search(text, at, at + 2 * _WINDOW)
        ):
            continue
        if _is_in_id(text, name.start(), name.end()):
            continue
        if at >= end:
            if names:
                yield from _in_line(text, names, start, end, rows)
            start = max(at - _LONGEST_LINE, 0)
            start = max(text.rfind("\n", start, at) + 1, start)
            end = _end_of_line(text, at, at + _LONGEST_LINE)
            names = []
        names.append(name)
    if names:
        yield from _in_line(text, names, start, end, rows)


def _end_of_line(text: str, at: int, last: int) -> int:
    stop = text.find("\n", at, last)
    return stop if stop >= 0 else min(len(text), last)


def _end_of_sentence(text: str, name: re.Match[str], end: int) -> int:
    """The end of the line with the name, or of the next one if the line breaks before the value."""
    if name.lastgroup != "password" or not _BREAKS.match(text, name.end()):
        return end
    return _end_of_line(text, end + 1, end + _LONGEST_LINE)


def _in_line(
    text: str, names: list[re.Match[str]], start: int, end: int, rows: _Rows
) -> Iterator[tuple[int, int]]:
    found = False
    reached = start
    for name in names:
        if name.end() < reached:
            continue
        place = _after(text, name, _end_of_sentence(text, name, end))
        if place is not None:
            found, reached = True, place[1]
            yield place
    tables = _tables(text, start, end, rows) if not found else []
    if tables and not _PUBLIC.search(text, start, end):
        heads = [name for name in names if name.lastgroup not in ("some", "words")]
        for place in _in_columns(text, heads, start, tables):
            found = True
            yield place
    if not found:
        place = _below(text, names[-1], start, end)
        if place is not None:
            yield place


def _is_in_id(text: str, start: int, end: int) -> bool:
    """Whether a name is by chance in an id or a hash, as "PWD" in an ULID."""
    around = text[max(start - _ID, 0) : start], text[end : end + _ID]
    before, after = _ENDS_IN_WORD.search(around[0]), _WORD.match(around[1])
    word = (before[0] if before else "") + text[start:end] + (after[0] if after else "")
    return len(word) > _ID and sum(map(str.isdigit, word)) > _FEW_DIGITS


def _after(text: str, name: re.Match[str], end: int) -> tuple[int, int] | None:
    at, stop = name.end(), min(name.end() + _WINDOW, end)
    password = name.lastgroup == "password"
    weak = name[0] == "pass" and text[max(name.start() - 1, 0)] not in "_" + ascii_letters
    phrase = _phrase_after(text, name, min(stop + _WINDOW, end))
    if phrase is not None or name.lastgroup == "words":
        return phrase
    for token in _TOKEN.finditer(text, at, min(stop + _LONGEST_TOKEN, end)):
        if token.start() > stop:
            break
        assigned = text[at] in "=:" or "=" in token[0][:_SUFFIX]
        if (token.start() == at and not assigned) or text.startswith("(", token.end()):
            continue
        if token[0].endswith(("...", "\u2026")) or _is_link(text, token):
            continue
        value = token[0].rstrip(".:*!?)") if not _is_closed(text, token) else token[0]
        first = token.start()
        value = value.lstrip(":=").removeprefix("base64:")
        first = token.end() - len(token[0]) + token[0].index(value)
        if "=" in value[:40] and not value.rstrip("=").isalnum():
            ahead = value.index("=") + 1
            if ahead < len(value):
                first, value = first + ahead, value[ahead:]
        if _is_no_value(value):
            continue
        direct = (
            _DIRECT.fullmatch(text, at, first) is not None
            and (
                not _BLANK.fullmatch(text, at, first)
                or _is_option(text, name)
                or (password and name[0] not in _VERBS and _is_compound(value))
                or (password and _is_quoted_in_prose(text, name, first))
            )
        ) or (password and _SAID.fullmatch(text, at, first) is not None)
        if not direct and first > token.start() and re.search("[/?]", token[0][: first - token.start()]):
            continue
        if weak and not _follows_weak(text, name, first, value):
            continue
        if name.lastgroup == "some" and (len(value) < _LONG_KEY or not _ASSIGNED.fullmatch(text, at, first)):
            continue
        begin = _word_start(text, name.start())
        near = text[begin:first]
        if _is_secret(value, password=password, direct=direct, near=near) and (
            password or not _SAID_PUBLIC.search(text, max(begin - _BEFORE_PUBLIC, 0), begin)
        ):
            return first, first + len(value)
    return None


def _phrase_after(text: str, name: re.Match[str], end: int) -> tuple[int, int] | None:
    """A value of several words or groups after a name."""
    at, password = name.end(), name.lastgroup == "password"
    if name[0] == "seed" or (password and name[0] != "pass"):
        quoted = _QUOTED.search(text, at, end)
        if (
            quoted is not None
            and _is_phrase(quoted["value"])
            and _ASSIGNS.fullmatch(text, at, quoted.start("value"))
        ):
            return quoted.span("value")
    if password or name[0] == "seed" or name.lastgroup == "words":
        words = _PHRASE.match(text, at)
        least = 1 if password and name[0] not in ("pass", "mnemonic") else _SEED_WORDS
        if words is not None and words["value"].count(" ") >= least and _is_phrase(words["value"]):
            return words.span("value")
        words = _NUMBERED.match(text, at)
        if words is not None:
            return words.span("value")
    groups = _GROUPS.search(text, at, end) if password or name[0].startswith(_OF_GROUPS) else None
    if groups is not None and _is_grouped(groups[0]):
        return groups.span()
    return None


def _is_grouped(value: str) -> bool:
    """Whether groups of four are no words, or only digits as a disk shows them."""
    digits = sum(map(str.isdigit, value))
    return len(set(value)) > _FEW_IN_GROUPS and (
        digits == 8 * 6 or (digits < len(value) / 2 and is_unpronounceable(re.sub("[^A-Za-z]", "", value)))
    )


def _is_link(text: str, token: re.Match[str]) -> bool:
    """Whether a word is the text or the target of a link."""
    return text.startswith("](", max(token.start() - 2, 0)) or text.startswith("](", token.end())


def _follows_weak(text: str, name: re.Match[str], first: int, value: str) -> bool:
    """Whether a value belongs to the word "pass", which is also a verb and a verdict: it is assigned, or a
    user is named before; and after a verdict it has no words."""
    if "/" in value or (text[name.start() : name.end()] == "PASS" and is_of_pieces(value)):
        return False
    return _ASSIGNED.fullmatch(text, name.end(), first) is not None or (
        text[name.end() : first].isspace()
        and _USER.search(text, max(name.start() - _USER_NEAR, 0), name.start()) is not None
    )


def _word_start(text: str, at: int) -> int:
    """Where the word begins that contains the position, at most a few characters before it."""
    first = at
    while first > max(at - 24, 0) and (text[first - 1].isalnum() or text[first - 1] in "_.-"):
        first -= 1
    return first


def _is_option(text: str, name: re.Match[str]) -> bool:
    """Whether a name is an option or keyword that its value follows without a sign."""
    word = text[_word_start(text, name.start()) : name.end()]
    return (
        word.startswith("-")
        or text[name.start() : name.end()].isupper()
        or (len(word) > 2 and word.lower().endswith(("requirepass", "pw", "community")))
        or text.startswith("enable ", max(name.start() - 7, 0))
    )


def _is_quoted_in_prose(text: str, name: re.Match[str], first: int) -> bool:
    """Whether a value is in quotation marks of prose, or in any after a name that is not of code."""
    mark = text[first - 1]
    of_code = name[0].startswith(("pass", "pw", "psk")) and not text[max(name.start() - 1, 0)].isalpha()
    return mark in _OPEN and (not mark.isascii() or not of_code)


def _is_compound(value: str) -> bool:
    """Whether a value is of words and a number that are joined by signs, as "River-Blue-77"."""
    return (
        re.fullmatch(
            "(?=.{0,60}[0-9]{2}|[A-Z].{0,60}[0-9])[A-Za-z]{3,16}"
            "(?:[-_.!#](?:[A-Za-z]{2,12}[0-9]?|[0-9]{2,4})){1,5}[!?]?",
            folded(value),
        )
        is not None
    )


def _is_closed(text: str, token: re.Match[str]) -> bool:
    return text[token.start() - 1 : token.start()] in _OPEN and text[token.end() : token.end() + 1] in _CLOSE


@lru_cache(maxsize=_CACHED)
def _is_no_value(value: str) -> bool:
    """Whether a value is no secret after any name."""
    few = len(value) < 6 or len(set(value)) < 5
    return few or is_placeholder(value) or _CODE.search(value) is not None


def _is_secret(value: str, *, password: bool, direct: bool, near: str) -> bool:
    if not _looks_secret(value, password, direct) or _OTHER.search(near):
        return False
    return (password and (direct or _is_short(value))) or not _PUBLIC.search(near)


@lru_cache(maxsize=_CACHED)
def _looks_secret(value: str, password: bool, direct: bool) -> bool:
    if password and direct:
        is_word = value.isalnum() and len(value) <= _LONGEST_WORD
        return (
            looks_chosen(value)
            or (is_word and looks_placed(value))
            or (_JOINED.fullmatch(value) is not None and not is_made_up(value))
        )
    if password and _is_short(value):
        return looks_random(value) and _is_mixed(value) and not is_of_pieces(value)
    if (not direct and is_of_pieces(value)) or re.search("[a-z]{5}-", value):
        return False
    if direct and len(value) >= 16:
        return looks_random(value)
    return len(value) >= (16 if _is_mixed(value) else 20) and looks_generated(value)


def _is_short(value: str) -> bool:
    return 8 <= len(value) <= 64 and not re.search("[/=:]|[a-z]{5}-", value)


def _is_mixed(value: str) -> bool:
    digits = len(re.findall("[0-9]", value))
    signs = re.search("[!#$%^&*+?~]", value) is not None
    inside = re.search("[a-z][A-Z]", value) is not None and is_unpronounceable(value)
    return value.upper() != value != value.lower() and (digits >= 2 or signs or inside)


def _is_phrase(value: str) -> bool:
    """Whether a quotation is a passphrase: several words, none of them the glue of a sentence."""
    words = value.split()
    return (
        4 <= len(words) <= 24
        and len(set(words)) >= len(words) / 2
        and all((word.isalpha() and len(word) > 2) or word.isdigit() for word in words)
        and (value.islower() or re.search("[0-9]", value) is not None)
        and _STOPS.isdisjoint(words)
    )


def _tables(text: str, start: int, end: int, rows: _Rows) -> list[_Table]:
    """The tables, in Markdown or CSV, of which a line may be the head."""
    found = []
    for sign in "|,;\t":
        head = text[start:end].split(sign)
        if not all(map(_HEAD.fullmatch, head)):
            continue
        below: list[_Row] = []
        at = end + 1
        while len(head) > 1 and len(below) < _ROWS:
            row = rows.row(at, sign)
            if len(row.cells) != len(head):
                break
            below.append(row)
            at = rows.end(at) + 1
        if below and (sign != "|" or not set("".join(below[0].cells)) - set(" :-+")):
            found.append(_Table(sign, head, below))
    return found


def _in_columns(
    text: str, names: list[re.Match[str]], start: int, tables: Sequence[_Table]
) -> Iterator[tuple[int, int]]:
    """The values in the columns of tables with these names at their heads."""
    for sign, head, rows in tables:
        number, counted = 0, start
        for name in names:
            number += text.count(sign, counted, name.start())
            counted = max(counted, name.start())
            if len(head[number].strip(' *`"')) > 24:
                continue
            for row in rows:
                place = row.value(number, password=name.lastgroup == "password")
                if place is not None:
                    yield place


def _is_chosen_in_table(cell: str) -> bool:
    return looks_placed(cell) and re.search("[0-9]", cell) is not None and not _CODE.search(cell)


def _is_key_in_table(cell: str) -> bool:
    is_path = "/" in cell and not _BASE64.fullmatch(cell)
    return len(cell) >= _SUFFIX and looks_generated(cell) and not is_of_pieces(cell) and not is_path


def _below(text: str, name: re.Match[str], start: int, end: int) -> tuple[int, int] | None:
    """A value alone on the next line, under a name at the end of a line, or the answer to a question."""
    if name.lastgroup == "password" and 0 <= text.find("?", name.end(), end) - name.end() <= _WINDOW:
        answer = _ANSWER.match(text, end + 1)
        if answer is not None and _is_chosen_in_table(answer["value"].rstrip(".,!?")):
            return answer.start("value"), answer.start("value") + len(answer["value"].rstrip(".,!?"))
    if end - name.end() > 60 or name.lastgroup in ("some", "words"):
        return None
    below = _NEXT.match(text, end + 1)
    if below is None:
        return None
    value = below["value"]
    if "=" in value.rstrip("="):
        return None
    fits = (
        looks_random(value) if name.lastgroup == "password" else len(value) >= 20 and looks_generated(value)
    )
    if not fits or is_of_pieces(value) or is_placeholder(value) or _PUBLIC.search(text, start, end):
        return None
    return below.span("value")
