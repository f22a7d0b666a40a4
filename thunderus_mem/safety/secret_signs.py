"""Tell at once that ordinary text contains no secret, without the formats of `secret_rules`.

Text could contain a secret if it has an anchor of a format in a word that is long enough, or a name and
soon after it a word that no identifier, path or word of a language looks like. The test is never false for a
text in which `secrets.find_secrets` finds something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.secret_names import KEYS, PASSWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

IN_WORDS: Final = {
    16: (
        "@tcp( @unix( @udp( sig= pw= pwd= pass= word= wd= key= appid= app_id= token= auth= secret= &p= "
        "ASt ACDb AEh ASb ARm AIoT AzSe AzFu AzCa APIM ACRD npg_ WPL_AP AKIA ASIA ABIA ACCA LTAI wd= "
        "phrase= ey= oken= ecret= "
        "rzp_live_ sm_ $9$ ignature= dl.cloudsmith.io/"
    ),
    24: (
        "lip_ NRAK- NRII- NRJS- NRAL fw_ glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glffct- glimt- "
        "glagent- gloas- GOOG1 AQVN YCAJE YCP hvs. hvb. hvr. QVdTX0 QUtJQ GR1348941 API- :$ xoxb- xoxp- "
        "xoxa- xoxr- xoxs- xoxe xoxc- xoxd- sq0 EAAA rnd_ sbp_ sb_secret_ hooks/ /hook/ /webhook/ K00 "
        "sk_ cret_ ken_ tok_ pat_ key_ auth_ live_ prod_ priv_ svc_ sat_ rk_"
    ),
    32: (
        "oauth: aio_ ATATT3 ATCTT3 ATBB k_test_ A3- re_ cio fc- GOCSPX- p8e- dapi dckr_ ico- -us syt_ AKID "
        "sk-ant- 7Q~ 8Q~ 9Q~ hf_ api_org_ tvly- :fx shpat_ shpca_ shppa_ shpss_ whsec_ AIza glc_ tskey-"
    ),
    40: (
        "apify_api_ ddp_ ghp_ gho_ ghu_ ghs_ ghr_ sdk- mob- test_ _mmk nfp_ npm_ pnu_ pnb_ r8_ hook "
        "chat.googleapis.com/ /with/key/ /robot/send .pagerduty.com/ xau_ bkaj_ bkct_ bkpt_ HRKU- waka_ "
        "4b1d FLWSECK sk-lf- pscale_ secret- csk- cfut_ cfat_ cfk_ e2b_ 1//0 pat- llx- ntn_ secret_ phx_ "
        "pul- rpa_ squ_ sqp_ sqa_ sgp_ :AA vcp_ vci_ vca_ vcr_ vck_ AKLT amzn.mws. BBDC- bkua_ essu_ "
        "figd_ figu_ ya29. napi_ dp. cs_ glsa_ oy2 5Aep LS0tLS1CRUdJTi fo1_ fm1 fm2_ tgp_v1_ lin_api_ "
        "lin_oauth_ sk- tfp_"
    ),
    48: (
        "prv NNSXS. CFPAT- perm: perm- mdb_sa_sk_ sha256~ lsv2_ access- gsk_ pplx- tk-us- tk-eu- "
        "AccountKey= SharedAccessKey= duffel_ telegram.org/bot hcaik_ hcxik_ hcbik_ hcalk_ hcxlk_ jina_ "
        "rubygems_ EZAK EZTK pypi-AgE snyk_ xapp- pcsk_ :dev :prod :stag :test :pre :default SG. cmVmd "
        "CCIPAT_ CCIPRJ_ APP_USR- PMAK- AQE $aact_ nvapi- sk.eyJ CLOJARS_ eyJ bce-v3/ mlsn. ::: "
        "/u3+7QAAAA IBAzCC IBADANBgkqhkiG9w0BAQEF IBAAKCA MIGHAgEAMBMGByqGSM49 MC4CAQAwBQYDK2VwBCIEI "
        "wandb_v1_ fio-u- pdl_ "
        "1O/w1cDnyilFU= access_token$ dop_v1_ doo_v1_ dor_v1_ sntrys_ sntryu_ sntrya_ pat. sat. AKCp "
        "s-s4t2 sk-or- AGE-SECRET-KEY-1 depot_ xai- rdme_ 00D ATTA K10 amzn1.oa2-cs packagist_ "
        "AAAAAAAAAAAAAAAAAAAAA .azurewebsites.net/"
    ),
    80: (
        "pat .atlasv1. AZDO EAA xkeysib- xsmtpsib- github_pat_ 0. dt0 os_v2_ sl. ABSK ops_eyJ :APA91b v1.0-"
    ),
}
"""Anchors of formats that are in one word, by a length that no such word is below."""

NEAR: Final = ("discord", "gocardless", "mailgun", "twilio")
IN_BLOCKS: Final = (
    *("private key", "private-lines:", '"kty"', '"oct"', "openvpn static", "mc alias set", "chpasswd"),
    *("ecovery code", "ackup code", "wifi:", "jwt", "define("),
)
OF_KEYS: Final = (
    *("secret", "token", "key", "bearer", "appid", "cred", ":5432:", "sqlplus", "oracle:", "sqlldr"),
    *("expdp", "impdp", "-stdin", "sudo -s", "cryptsetup", "log in", "logged in", "user", "sign in"),
    *("anmeld", "zugang", "cookie:", " -b ", "--cookie ", "client(", "init(", "translator(", "realtime("),
    *("search(", "configure(", "setup(", "_pat", "pepper", "team:", "team=", "bundle config"),
    *("codecov", "<<<", "hmac", "fernet", "aes.new", "use ", "enter ", "put ", "paste ", "write "),
    *("save ", "store ", "copy ", "echo ", "printf ", "wallet(", "ssws ", "sign(", "encode(", '"ac'),
    *("'ac", "install ", "config", "server ", "privilege", " is the ", " is our ", " is my ", " is still "),
    *("encrypt", "]:587 ", "]:465 ", "]:25 ", "influx"),
    *(anchor for anchor, _ in KEYS),
)
OF_PASSWORDS: Final = (
    *("pass", "pw", "psk", "assword", "seed", "recovery", " words", "words in"),
    *(
        "wallet",
        "bip39",
        "bip-39",
        "nickserv",
        "open",
        "unlock",
        "unprotect",
        "protected",
        " mit ",
        "wlan",
        "wifi",
        "wi-f",
        "code wi",
        "idrac",
        "logs in",
        " -hp",
    ),
    *(anchor for anchor, _ in PASSWORDS),
    *("mnemonic", "auth", "connect", "login", "credential", "account", "users", "net use", "community"),
    *("root /", "admin /", "istrator /", "@", " code", "kinit", "add_user", "identified", "securestring"),
    *("createuser", "secret 0", "pin ", "pin:", "pin=", "puk ", "puk:", "puk=", " -p", " -u", " -a"),
    *(" -w", " -x", " -k", " -l", " --user", " /p", " /rp", "http-basic", " on >", " --proxy-user"),
)
"""In lower case; one of them is in every name of a secret and before its value, `AFTER` excepted.

People choose the values of the second ones."""

OF_PHRASES: Final = (
    *("passw", "phrase", "passc", "pw", "psk", "community", "words", "mnemonic", "seed"),
    *("recovery", "wallet", "bip39", "bip-39"),
    *(anchor for anchor, _ in PASSWORDS),
)
"""One of them is in every name of a secret that may consist of words."""

AFTER: Final = (" as ", "<<<", " is the ", " is our ", " is my ", " is still ", "# ", "// ", "-- ", "/* ")
"""In lines with these the value may be before the name."""

_SHORTEST: Final = 6
_LONG: Final = 16
_MIXED: Final = 32
_LONGEST_LINE: Final = 4_000
_ROWS: Final = 40
_BELOW: Final = 6
_CAPITALS: Final = b"A" * _LONG
_NUMBERED: Final = b"0/" + b"0" * 15
# For each byte: a capital, a small letter, a digit, a space, what joins words, and everything else. "/" and
# "(" are also what no password of words and a number contains.
_CLASSES: Final = bytes(
    b"A"[0] if 65 <= code <= 90
    else b"a"[0] if 97 <= code <= 122
    else b"0"[0] if 48 <= code <= 57
    else code if code in b"\n" else b" "[0] if code in b" \t\r\f\v"
    else b"/"[0] if code in b"/:="
    else b"-"[0] if code in b"-_.@+,"
    else b"("[0] if code in b"\\<>()"
    else b"!"[0]
    for code in range(256)
)  # fmt: skip
_UNUSUAL_IN_WORDS: Final = (b"0a", b"0A", b"aA", b"AAa", b"a00000", b"A00000", b"000000", _CAPITALS)
_QUOTES: Final = str.maketrans(dict.fromkeys("'`\u00ab\u300c\u201c\u201e:=", '"'))
_STOPS: Final = frozenset(("the", "and", "for", "your", "you", "with", "not", "must", "should", "can", "will",
                           "that", "this", "from", "has", "have", "when", "are", "der", "die", "das", "und",
                           "ein", "les", "los", "una"))  # fmt: skip

FOLLOWERS: Final = {
    "a": "bcdfgiklmnprstuvwy",
    "b": "aeilorsuy",
    "c": "acehiklorstuy",
    "d": "abdeilorsu",
    "e": "abcdefgiklmnopqrstuvwxy",
    "f": "aefilortu",
    "g": "aeghilnorsu",
    "h": "aeiortu",
    "i": "abcdefgklmnoprstvz",
    "j": "aeo",
    "k": "aeiosu",
    "l": "adeilostuy",
    "m": "abeimopsuy",
    "n": "acdefgiknopstuv",
    "o": "abcdfgiklmnoprstuvw",
    "p": "aehiloprstu",
    "q": "u",
    "r": "acdegiklmnoprstuvy",
    "s": "acehiklmopstuy",
    "t": "acefhilmoprstuy",
    "u": "abcdegilmnprst",
    "v": "aeio",
    "w": "aeinos",
    "x": "ept",
    "y": "enps",
    "z": "ae",
}
"""The letters that often follow a letter in words of European languages and identifiers."""


def may_contain_secret(text: str) -> bool:
    """Whether `secrets.find_secrets` may find something in the text."""
    if text.startswith(("---", "\ufeff---")):
        return True  # YAML may read a value of the header otherwise than it is written
    lowered = text.lower().replace("\t", " ")
    if "\u212a" in text or "\u0130" in text or any(one in lowered for one in IN_BLOCKS):
        return True  # the two letters are of ASCII in lower case
    return _is_in_word(text, lowered) or _is_after_name(text, lowered)


def _is_in_word(text: str, lowered: str) -> bool:
    words = [word for word in text.split() if len(word) >= _LONG and not is_of_words(word)]
    if any(("://" in word and "@" in word) or _NUMBERED in _classes(word) for word in words):
        return True
    for length, anchors in IN_WORDS.items():
        words = [word for word in words if len(word) >= length]
        joined = "\n".join(words)
        if words and any(anchor in joined for anchor in anchors.split()):
            return True
    return any(len(word) >= _MIXED for word in text.split()) and any(near in lowered for near in NEAR)


def _classes(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_CLASSES)


def is_of_words(word: str) -> bool:
    """Whether text without spaces is made of words, each with up to four digits, and what joins them."""
    inner = _classes(word).strip(b"!-/(")
    return not (b"!" in inner or b"(" in inner or any(one in inner for one in _UNUSUAL_IN_WORDS))


def _is_after_name(text: str, lowered: str) -> bool:
    names = [name for name in (*OF_KEYS, *OF_PASSWORDS) if name in lowered]
    if not names:
        return False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        low = line.lower().replace("\t", " ")
        at = min([place for name in names if (place := low.find(name)) >= 0], default=-1)
        if at < 0:
            continue
        if len(line) > _LONGEST_LINE:
            return True
        rest = line if any(one in low for one in AFTER) else line[at:]
        chosen = any(name in low for name in OF_PASSWORDS)
        if (
            any(_may_be_random(word) for word in _words(rest))
            or (" code" in low and b"0000" in _classes(rest))
            or any(_may_be_random(word) for row in _rows(lines, number) for word in _words(row))
            or (chosen and any(map(_may_be_password, _words("\n".join([rest, *_rows(lines, number)])))))
            or any(_may_be_random(word) for word in _words(_below(lines, number)))
            or (chosen and _may_be_groups(rest))
            or ("?" in rest and any(map(_may_be_password, _words("\n".join(lines[number + 1 : number + 3])))))
            or (
                any(one in low for one in OF_PHRASES)
                and _may_be_phrase("\n".join((rest, *lines[number + 1 : number + 4])))
            )
        ):
            return True
    return False


def _words(line: str) -> Iterator[str]:
    """The parts of a line between blanks of ASCII; values may contain others."""
    return (word for word in line.replace("\t", " ").replace("\n", " ").split(" ") if len(word) >= _SHORTEST)


def _rows(lines: list[str], number: int) -> Iterator[str]:
    """The lines below that may be rows of a table with this line as its head."""
    for sign in "|,;\t":
        count = lines[number].count(sign)
        for row in lines[number + 1 : number + 1 + _ROWS] if count else ():
            if row.count(sign) != count:
                break
            yield row


def _below(lines: list[str], number: int) -> str:
    """The next line that is not blank, if it is one word or could be the value of a key."""
    below = [line.strip(" \t>*+-") for line in lines[number + 1 : number + 1 + _BELOW]]
    found = [line for line in below if line.lower().startswith(("default", "value", "new value"))]
    first = next(filter(None, below[:2]), "")
    return " ".join([first, *found] if len(first.split()) == 1 else found)


def _may_be_random(word: str) -> bool:
    """Whether a part of the word may pass `secret_values.looks_random`."""
    classes = _classes(word)
    letters = b"a" in classes or b"A" in classes
    if b"0" in classes and letters and not is_of_words(word):
        return True
    both = b"a" in classes and b"A" in classes
    if both and b"00" in classes and any(sign in word for sign in "!?@#$%^&*~"):
        return True
    return letters and _has_unusual_pairs(word)


def _may_be_password(word: str) -> bool:
    """Whether a part of the word may pass `secret_values.looks_chosen`, or is a long number."""
    classes = _classes(word)
    if b"a" in classes and b"A" in classes and any(sign in word for sign in "!#$%^&*?"):
        return True
    parts = classes.lower().replace(b"(", b"/").split(b"/")
    return b"000000" in classes or any(b"00" in part and b"aaaa" in part for part in parts)


def _has_unusual_pairs(word: str) -> bool:
    """Whether three pairs of letters or more hardly occur in words, among at most ten for three."""
    found: list[int] = []
    number = 0
    before = ""
    for char in word.lower():
        if "a" <= char <= "z":
            if before:
                if char not in FOLLOWERS[before]:
                    found.append(number)
                number += 1
            before = char
        else:
            before = ""
    return any(
        found[last] - found[first] < (last - first + 1) / 0.3
        for first in range(len(found))
        for last in range(first + 2, min(first + 5, len(found)))
    )


def _may_be_groups(text: str) -> bool:
    """Whether words of four characters follow each other, with anything around them."""
    lengths = [len(word) for word in text.split()]
    return any(
        first >= 4 and second == third == 4 and last >= 4
        for first, second, third, last in zip(lengths, lengths[1:], lengths[2:], lengths[3:], strict=False)
    )


def _may_be_phrase(text: str) -> bool:
    """Whether a quotation or what follows a colon begins with four words, none of them of grammar."""
    for piece in text.translate(_QUOTES).split('"')[1:]:
        words = piece.split(maxsplit=4)[:4]
        if len(words) == 4 and all(
            word.rstrip(".):").isdigit() or (len(word) > 2 and word.isalpha() and word not in _STOPS)
            for word in words
        ):
            return True
    return False
