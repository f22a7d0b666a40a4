"""The formats of secrets, one row each: kind, anchors, pattern, example and counter-example.

Sources: the formats their issuers publish; the rows of tokens are in `secret_tokens`. Every row is tested by
its own examples, and the page of TM401 lists the rows.

In patterns and examples ``%a`` is a letter or digit, ``%w`` also ``_`` and ``-``, ``%h`` a hexadecimal
digit, ``%u`` a capital letter or digit, ``%l`` a lower-case letter or digit, ``%b`` a character of base 64,
``%t`` one of base 32 and ``%d`` a digit; ``%n`` is what no password contains: spaces and characters outside
ASCII. ``$`` at the end of a pattern ends a word (``$=``: a word in base 64). In an example, ``%a{36}`` is 36
characters of an obvious sequence, and ``·`` separates pieces, so that no scanner takes this file for a leak.

A row is tried only where one of its anchors is. Repetitions have a limit and are not nested, so every pattern
takes linear time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from thunderus_mem.safety.secret_tokens import ROWS
from thunderus_mem.startup import NamedTuple

_CLASSES: Final = {
    "%a": "A-Za-z0-9",
    "%w": r"A-Za-z0-9_\-",
    "%h": "0-9a-f",
    "%u": "A-Z0-9",
    "%l": "a-z0-9",
    "%b": "A-Za-z0-9+/",
    "%d": "0-9",
    "%t": "A-Z2-7",
    "%n": r"\s\x80-\U0010ffff",
}
_MIXED: Final = "Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7Ii8Jj9Kk0Ll1Mm2Nn3"
_FILL: Final = {
    "%a": _MIXED,
    "%w": _MIXED,
    "%h": "0a1b2c3d4e5f6a7b8c9d",
    "%u": "A0B1C2D3E4F5G6H7J2K3",
    "%l": "a0b1c2d3e4f5g6h7i8j9",
    "%b": _MIXED,
    "%d": "2071639584",
    "%t": "A2B3C4D5E6F7G2H3",
}
_ENDS: Final = {"$=": "(?![A-Za-z0-9_+/-])", "$": "(?![A-Za-z0-9_-])"}
_FEW: Final = 4
_PIECE: Final = "\u00b7"


class SecretRule(NamedTuple):
    """One format: kind, anchors, the whole pattern, an example and a text that only resembles it.

    A group ``value`` marks the secret inside the pattern. ``near`` is a word that must be in the text, for
    patterns that are not distinctive enough. A rule with a ``gate`` recognizes a secret by the name before
    it, on one line and in any case: the gate must match, in lower case, where an anchor is, and the value
    must not look like a word or a placeholder. Patterns do not begin inside a word, except ``free`` ones.
    """

    kind: str
    anchors: tuple[str, ...]
    shape: str
    example: str
    counter: str
    near: str = ""
    gate: str = ""
    free: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled on first use."""
        return _compiled(self.shape if self.free else f"(?<![A-Za-z0-9_-]){self.shape}", bool(self.gate))


@cache
def _compiled(shape: str, named: bool) -> re.Pattern[str]:
    for mark, end in _ENDS.items():
        if shape.endswith(mark):
            shape = shape.removesuffix(mark) + end
            break
    shape = re.sub(r"\[(?:\\.|[^\]\\]){0,80}\]", lambda found: _members(found[0], "{}"), shape)
    return re.compile(_members(shape, "[{}]"), re.ASCII | re.IGNORECASE if named else re.ASCII)


def _members(shape: str, form: str) -> str:
    for mark, members in _CLASSES.items():
        shape = shape.replace(mark, form.format(members))
    return shape


def example_text(example: str) -> str:
    """An example in full: joined and filled in."""
    return re.sub(r"(%[a-z])\{(\d+)\}", _filled, example.replace(_PIECE, ""))


def _filled(found: re.Match[str]) -> str:
    fill = _FILL[found[1]]
    return (fill * (int(found[2]) // len(fill) + 1))[: int(found[2])]


def shown_example(example: str) -> str:
    """An example shortened for a page: an ellipsis for more than a few filled-in characters."""
    return re.sub(
        r"(%[a-z])\{(\d+)\}",
        lambda found: "\u2026" if int(found[2]) > _FEW else _filled(found),
        example.replace(_PIECE, ""),
    )


def _row(kind: str, anchors: str, shape: str, example: str, counter: str, near: str = "") -> SecretRule:
    return SecretRule(kind, tuple(anchors.split()), shape, example, counter, near)


def _free(kind: str, anchors: str, shape: str, example: str, counter: str, near: str = "") -> SecretRule:
    return SecretRule(kind, _anchors(anchors), shape, example, counter, near, free=True)


def _anchors(anchors: str) -> tuple[str, ...]:
    """The anchors of a row, separated by spaces; ``+`` is a space inside one."""
    return tuple(one.replace("+", " ") for one in anchors.split())


def _named(kind: str, anchors: str, gate: str, shape: str, example: str, counter: str) -> SecretRule:
    return SecretRule(kind, _anchors(anchors), shape, example, counter, gate=gate, free=True)


TOKENS: Final = tuple(_row(*row) for row in ROWS)
"""Formats recognized by their characters alone."""

EMBEDDED: Final = (
    _free(
        "azure-storage-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=(?P<value>%b{43,86}={1,2})",
        "Account·Key=%b{86}==",
        "AccountKey=<key>",
    ),
    _free(
        "encoded-private-key",
        "LS0tLS1CRUdJTi",
        r"(?P<value>LS0tLS1CRUdJTi(?:BSU0EgUFJJ|BFQyBQUkl|BQUklWQVRF|BPUEVOU1NIIF|BEU0EgUFJJ|BQR1AgUFJJ|"
        r"BFTkNSWVBURUQg)%b{24,8000})",
        "LS0tLS1CRUdJTi·BSU0EgUFJJVkFURSBLRVktLS0tLQo%b{80}",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg%b{80}",
    ),
    _free(
        "webhook-url",
        "hook chat.googleapis.com/ /with/key/ /robot/send .pagerduty.com/",
        r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/%u{8,14}/%a{8,20}/%a{20,64}"
        r"|discord(?:app)?\.com/api/webhooks/%d{17,20}/%w{60,80}"
        r"|\.office\.com/webhookb2/[%a@-]{30,80}/IncomingWebhook/%h{32}/%w{36}"
        r"|chat\.googleapis\.com/v1/spaces/%w{6,20}/messages\?key=%w{20,60}&(?:amp;)?token=[%w%=]{20,80}"
        r"|hooks\.zapier\.com/hooks/catch/%d{4,10}/%l{6,10}"
        r"|maker\.ifttt\.com/trigger/[^\s/]{1,60}/(?:json/)?with/key/%w{20,50}"
        r"|hook\.[a-z]{2}%d\.make\.com/%l{30,36}"
        r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[%h-]{36}"
        r"|oapi\.dingtalk\.com/robot/send\?access_token=%h{64}"
        r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[%h-]{36}"
        r"|events\.pagerduty\.com/integration/%h{32}/enqueue)$",
        "https://hooks.slack.com·/services/T%u{9}/B%u{9}/%a{24}",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    ),
    _free(
        "shared-access-signature",
        "sig=",
        r"[?&;]sig=(?P<value>[%a+/_-]{8,90}(?:%[0-9A-F]{2}[%a+/_-]{0,60}){0,9}=?)",
        "?sv=2024-11-04&si·g=%a{43}%3D",
        "?sv=2024-11-04&sig=<signature>",
    ),
    _free(
        "url-password",
        "://",
        r"://[^\s/:@\"'`<>\[\](){}$?#]{0,64}:(?P<value>[^%n/:@\"'`<>\[\](){}$*?]{3,128})@[A-Za-z0-9\[]",
        "postgres://app:·k7Vq%a{8}@db.example:5432/x",
        "postgres://user:password@localhost/x",
    ),
    _free(
        "url-token",
        "://",
        r"://(?P<value>%w{20,200})(?::x-oauth-basic)?@(?!o%d|[%w.]{0,60}sentry)[A-Za-z0-9\[]",
        "https://%a·{32}@git.example/app.git",
        "https://some-name-of-a-user@git.example/app.git",
    ),
    _free(
        "password-parameter",
        "word= wd=",
        r"(?:jdbc:[a-z0-9:]{1,30}|(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|redis|rediss|amqps?|mssql"
        r"|sqlserver|oracle|clickhouse|ftps?|ldaps?|smtps?)):?//[^\s\"'`<>]{3,200}[?&;]"
        r"(?:[pP]ass(?:word|wd)|pwd)=(?P<value>[^%n\"'`<>|&;(){}$]{6,128})",
        "jdbc:postgresql://db.example/shop?user=app&pass·word=k7Vq%a{8}",
        "jdbc:postgresql://db.example/shop?user=app&password=changeme",
    ),
    _free(
        "url-parameter",
        "pw= pwd= pass= word= wd= phrase= ey= appid= app_id= oken= auth= ecret= &p=",
        (
            r"(?:[?&](?:(?:[%w.]{0,20}(?:[pP]ass(?:word|wd|phrase)?|[sS]ecret)|pw|pwd|app_?id|key|auth)"
            r"|(?:(?:access|auth|api|app|bot|client|deploy|id|jwt|oauth|private|refresh|secret|security"
            r"|session|user)[_-]?)?[tT]oken"
            r"|[%w]{0,10}(?:access|api|app|auth|cron|license|private|subscription|write"
            r"|account)[_-]?[kK]ey)"
            r"|[?&]u(?:ser)?=[%w.@-]{1,40}&p)=(?P<value>[%w.~+/%-]{8,400}={0,2})"
        ),
        "https://api.example/v2?api_key=·%a{32}",
        "https://api.example/v2?api_key=your-own-key",
    ),
    _free(
        "signed-url",
        "ignature=",
        r"[?&](?:X-(?:Amz|Goog)-)?Signature=(?P<value>%h{64}|[%a%~_+/-]{170,700}={0,2})",
        "https://files.example/a.csv?X-Amz-Sign·ature=%h{64}",
        "https://files.example/a.csv?X-Amz-Signature=<signature>",
    ),
    _free(
        "function-key",
        ".azurewebsites.net/",
        r"\.azurewebsites\.net/[^\s?\"'<>]{1,120}\?(?:[^\s\"'<>]{0,80}&)?code=(?P<value>%w{40,60}={0,2})",
        "https://app.azurewebsites.net/api/mail?code·=%w{54}==",
        "https://app.azurewebsites.net/api/mail?code=<key>",
    ),
    _free(
        "go-database-password",
        "@tcp( @unix( @udp(",
        r"%w{1,40}:(?P<value>[^%n/:@\"'`]{6,80})@(?:tcp|unix|udp)\(",
        "app:·k7Vq%a{8}@tcp(db.example:3306)/shop",
        "user:password@tcp(db.example:3306)/shop",
    ),
    _free(
        "password-hash",
        ":$",
        (
            r"(?<=[a-z0-9_]):(?P<value>\$(?:2[aby]\$%d{2}\$[./%a]{53}"
            r"|6\$(?:rounds=%d{4,7}\$)?[./%a]{2,16}\$[./%a]{86}"
            r"|5\$[./%a]{2,16}\$[./%a]{43}|1\$[./%a]{2,8}\$[./%a]{22}|apr1\$[./%a]{2,8}\$[./%a]{22}"
            r"|y\$[./%a]{2,6}\$[./%a]{8,24}\$[./%a]{43}))"
        ),
        "root:$·6$%a{12}$%a{86}:19700:0:",
        "root:$6$salt$hash",
    ),
    _free(
        "ntlm-hash",
        ":::",
        r":%h{32}:(?P<value>%h{32}):::",
        "admin:500:%h{32}·:%h{32}:::",
        "admin:500:lm:nt:::",
    ),
    _free(
        "encoded-aws-key",
        "QVdTX0 QUtJQ",
        r"(?P<value>(?:QVdTX0(?:FDQ0VTU19LRVl|TRUNSRVR)|QUtJQ)%b{24,2000}={0,2})",
        "QVdTX0·FDQ0VTU19LRVl%b{60}",
        "QVdTX0FDQ0VTU19LRVk=",
    ),
    _free(
        "telegram-bot",
        "telegram.org/bot",
        r"telegram\.org/bot(?P<value>%d{8,10}:%w{30,40})$",
        "https://api.telegram.org/bot·%d{10}:AA%w{33}/getMe",
        "https://api.telegram.org/bot%d{10}/getMe",
    ),
    _free(
        "webhook-path",
        "hooks/ /hook/ /webhook/",
        r"/(?:web)?hooks?/(?:catch/|%w{8,40}/){0,2}(?P<value>%a{24,90})$",
        "https://chat.example/hooks/%a{17}/·%a{48}",
        "https://chat.example/hooks/incoming",
    ),
)
"""Formats without spaces that may follow any character."""

BLOCKS: Final = (
    _free(
        "private-key",
        "PRIVATE+KEY",
        r"----[- ]BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?[- ]----"
        r"(?:\s|\\[nr]|[>|#*+-]){1,24}(?:[A-Za-z-]{2,20}: [^\n]{0,200}\n(?:[>|#*+\s-]){0,12}){0,4}"
        r"(?P<value>[A-Za-z0-9+/=]{24,8000})",
        "-----BEGIN RSA PRIVATE ·KEY-----\n%b{64}",
        "-----BEGIN PRIVATE KEY----- is the first line",
    ),
    _free(
        "putty-key",
        "Private-Lines:",
        r"Private-Lines: [0-9]{1,3}\s{1,3}[>|#*+\s-]{0,12}(?P<value>[A-Za-z0-9+/=]{24,80})",
        "Private-Lines:· 14\n%b{64}",
        "Private-Lines: 14\nis the length",
    ),
    _free(
        "json-web-key",
        '"d"',
        r"\"d\"\s{0,4}:\s{0,4}\"(?P<value>%w{42,700})\"",
        '{"kty": "EC", "d"·: "%w{43}"}',
        '{"kty": "EC", "d": "…"}',
        near='"kty"',
    ),
    _free(
        "symmetric-web-key",
        '"k"',
        r"\"k\"\s{0,4}:\s{0,4}\"(?P<value>%w{22,700})\"",
        '{"kty": "oct", "k"·: "%w{43}"}',
        '{"kty": "oct", "k": "…"}',
        near='"oct"',
    ),
    _free(
        "openvpn-key",
        "OpenVPN+Static",
        r"BEGIN OpenVPN Static key V1-----[\s>*#|-]{1,16}(?P<value>[0-9a-f]{16,64})",
        "-----BEGIN OpenVPN Static ·key V1-----\n%h{32}",
        "-----BEGIN OpenVPN Static key V1----- begins it",
    ),
    _free(
        "alias-secret",
        "mc+alias+set",
        r"\bmc alias set [^\s]{1,60}"
        r" [^\s]{1,200}[\s\\]{1,16}[^\s]{1,60}[\s\\]{1,16}(?P<value>[^\s$<>\"']{8,80})",
        "mc alias set bk https://s3.example app ·%a{32}",
        "mc alias set bk https://s3.example app $SECRET",
    ),
    _free(
        "changed-password",
        "chpasswd",
        r"chpasswd:[^\n]{0,20}\n(?:[ \t]{0,12}[a-z]{1,20}:[^\n]{0,20}\n){0,2}[ \t-]{0,16}%w{1,32}:["
        r" ]?(?P<value>[^\s:]{8,60})",
        "chpasswd:\n  list: |\n    root:·k7Vq%a{8}",
        "chpasswd:\n  expire: false\n",
    ),
    _free(
        "recovery-code",
        "ecovery+code ackup+code",
        r"(?:ecovery|ackup) codes?[^\n]{0,80}(?:\n{1,2}|: )(?:[ \t>*+-]{0,8}~~[^\n]{0,40}\n){0,12}"
        r"[ \t>*+`-]{0,12}(?:%d{1,2}[.)] )?"
        r"(?P<value>(?=%w{0,10}%d)%l{4,6}-%l{4,6}\b|%d{8}(?=[ ,\n]{1,2}%d{8})|%d{4}[ -]%d{4}\b)",
        "Recovery codes:\n- %l{5}-·x7w9k",
        "Recovery codes:\n- kept in the safe",
    ),
    _free(
        "signing-key",
        '"key" ingkey"',
        r"\"[Jj][Ww][Tt]\w{0,12}\"\s{0,4}:\s{0,4}\{[^{}]{0,400}?"
        r"\"\w{0,16}[Kk]ey\"\s{0,4}:\s{0,4}\"(?P<value>[^\s\"]{16,200})\"",
        '{"Jwt": {"K·ey": "%a{40}"}}',
        '{"Jwt": {"Key": "<at least 32 characters>"}}',
        near="jwt",
    ),
    _free(
        "wordpress-salt",
        "define(",
        r"define\(\s?['\"](?:(?:SECURE_)?AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['\"],\s{0,8}['\"](?P<value>[^\n'\"]{48,80})",
        "define('AUTH_KEY', '·%a{64}');",
        "define('AUTH_KEY', 'put your unique phrase here');",
    ),
    _free(
        "wireless-code",
        "WIFI:",
        r"WIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){0,4}P:(?P<value>[^;\n]{8,63});",
        "WIFI:T:WPA;S:guests;P:·k7Vq%a{8};;",
        "WIFI:T:nopass;S:guests;;",
    ),
)
"""Formats with spaces or line ends."""

_TO: Final = (
    r"(?:(?:\\?[\"'`\]})*]){0,4}[ \t]{0,8}(?:=>|:=|\?=|=|:|>|\||is (?=[\"'`]))[ \t]{0,8}(?:![a-z]{1,8} )?"
    r"|[\"'](?:,| value=)[ \t]{0,4})"
)
_VALUE: Final = (
    r"(?:\\?(?P<quote>[\"'`]))?(?P<value>(?(quote)[^%n\"'`\\]{8,300}+(?=\\?[\"'`])"
    r"|[^%n\"'`<>,;&(){}\[\]|\\]{8,300}+(?![(\[])))"
)
_WORD: Final = r"(?:passw(?:or)?d|passphrase|pass|token|secret|api-?key|key|auth)"
_NAME: Final = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|(?<![a-z!])(?:(?<=_)pass|pass(?![ \t*`]{0,4}\|)|psk|pw)"
    r"|(?<!hashed_)(?<!:)secret"
    r"|(?<!publickey)(?<!authenticity_)(?<!middleware)(?<![?&])(?<![cx]srf)(?<![cx]srf-)(?<!next)(?<!page)"
    r"(?<!search)(?<![?&]ss)token"
    r"|(?:api|app|access|account|auth|client|consumer|crypt|encryption|hmac|jwt|license|master|private|"
    r"preshared|root|secret|service|shared|sign|signing|storage|webhook)[_. -]?key(?:[_-]?(?:base|data))?"
    r"|secret[_-]?(?:base|value|string|token))(?:[_-]?[0-9]{1,2})?"
)

NAMED: Final = (
    _named(
        "aws-secret-key",
        "secret",
        "secret_?access_?key",
        r"secret_?access_?key[\"'\\]{0,3}[ \t]{0,8}[=:][ \t]{0,8}[\"'`\\]{0,3}"
        r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9_+/-])",
        "aws_secret_access·_key = %b{40}",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
    _named(
        "assigned-secret",
        "pass secret token key pwd psk",
        r"[a-z0-9_.-]{2,24}(?:[^\w\s]{0,5}[ \t]{0,8}[:=?>|]|[\"'](?:,| value=)| is [\"'`])[=>]?"
        r"[ \t\"'`\\]{0,8}[^\s]{7}",
        _NAME + _TO + _VALUE,
        "DB_PASS·WORD=k7Vq%a{8}",
        "DB_PASSWORD=changeme",
    ),
    _named(
        "authorization-header",
        "auth ssws+ geniekey+",
        r"authorization[\"'`\\]{0,3}[ \t]{0,4}[:=,\"']|ssws |geniekey ",
        r"(?:\b(?:ssws|geniekey)[ \t](?=%w{32})"
        r"|authorization(?:\\?[\"'`]){0,2}[ \t]{0,4}(?:[:=,]|(?=[\"']))[ \t]{0,4}[\"'`]{0,2}"
        r"(?:(?:bearer|basic|token|apikey|api-key|key|ssws|splunk|bot|genie-?key)[ \t]{1,4})?)"
        r"(?P<value>[A-Za-z0-9_.~+/=:-]{10,2000}+)(?!\()",
        "Author·ization: Bearer %a{40}",
        "Authorization: Bearer <token>",
    ),
    _named(
        "command-line-password",
        "+-p +-hp +-u +-a +-w +-x +-k +--user +--proxy-user +--pass htpasswd +/p +/rp",
        r" (?:-(?:[upawxkl][^a-z]|h?p[^\s]|-(?:user|proxy-user|pass)|pass)|/)|htpasswd",
        r"(?:\b(?:curl|wget|http)\b[^\n|]{0,300}?[ \t](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,100}"
        r":[\"']?"
        r"|\bcurl\b[^\n|]{0,300}?[ \t](?:-u|--user)[ =]?[\"']?(?=[a-z0-9_-]{20,200}:(?:x"
        r"|api_token)?[\s\"'])"
        r"|\b(?:sshpass|security)\b[^\n|]{0,60}?[ \t]-p[ \t]{0,2}[\"']?"
        r"|\b(?:mysql|mariadb)[a-z-]{0,12}\b[^\n|]{0,200}?[ \t]-p[\"']?"
        r"|\bredis-cli\b[^\n|]{0,100}?[ \t](?:-a|--pass)[ \t]{1,4}[\"']?"
        r"|\b(?:7za?|7zz|rar|unrar)\b[^\n|]{0,100}?[ \t]-h?p"
        r"|\b(?:plink|pscp|psftp)\b[^\n|]{0,100}?[ \t]-pw[ \t]{1,4}[\"']?"
        r"|(?<![.\w])(?:zip|unzip|radclient)\b[^\n|]{0,200}?[ \t](?-i:-P)[ \t]{1,4}[\"']?"
        r"|\bsnmp[a-z]{3,10}\b[^\n|]{0,200}?[ \t]-[ax][ \t]{1,4}(?!sha|md5|aes|des)[\"']?"
        r"|\bhttps?[ \t]{1,4}[^\n|]{0,100}?-a[ \t]{1,4}[\"']?[^\s:\"']{1,64}:"
        r"|\bldap[a-z]{3,8}\b[^\n|]{0,200}?[ \t]-w[ \t]{1,4}[\"']?"
        r"|\bopenssl\b[^\n|]{0,200}?[ \t]-k[ \t]{1,4}[\"']?"
        r"|\bsmbclient\b[^\n|]{0,200}?[ \t]-u[ \t]{1,4}[\"']?[^\s%\"']{1,64}%"
        r"|\bhtpasswd\b[ \t]{1,4}-[a-z]{0,6}b[a-z]{0,6}[ \t]{1,4}(?:[^\s]{1,100} )?[^\s]{1,64} [\"']?"
        r"|[ \t]-(?:u|l|-user(?:name)?)[ \t=]{0,2}[^\s]{1,80}[ \t](?:[^\n|]{0,80}?[ \t])??"
        r"-(?:p|pw|-pass)[ \t=]{1,2}[\"']?"
        r"|/(?:u(?:ser)?:|ru[ \t])[^\s]{1,80}[ \t](?:[^\n|]{0,60}?[ \t])??/(?:p(?:ass(?:word)?)?:|rp[ \t])"
        r"|-pass(?:in|out)?[ \t]{1,4}[\"']?pass:)"
        r"(?P<value>[^\s\"'`<>|]{6,200}+)",
        "mysql·dump -u app -pk7Vq%a{8} shop",
        "mysqldump -u app -p shop",
    ),
    _named(
        "plain-key",
        "key",
        r"key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[a-z0-9+/]{32}",
        r"(?:^|(?<=\n))[ \t]{0,16}key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
        r"(?P<value>(?-i:(?!AAAA)(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z]))%b{32,64}={0,2})[\"']?"
        r"[ \t\r]{0,4}$",
        'api:\n  key: "·%a{32}"',
        'api:\n  key: "%h{32}"',
    ),
    _named(
        "gossip-key",
        "encrypt",
        r"encrypt[\"']?[ \t]?[:=]",
        r"\bencrypt[\"']?[ \t]?[:=][ \t]?[\"'](?P<value>%b{22,43}={1,2})[\"']",
        'encr·ypt = "%b{43}="',
        'encrypt = "<output of consul keygen>"',
    ),
    _named(
        "secret-option",
        "pass secret token key auth",
        r"(?<=-)[a-z-]{3,12}[ \t]",
        r"--(?!page-|next-|delete-|list-|export-)(?:[a-z]{1,12}-){0,3}"
        + _WORD
        + r"[ \t]{1,4}[\"']?(?P<value>[^%n\"'`<>|,;(){}\[\]]{8,300}+)",
        "deploy --tok·en %a{24}",
        "deploy --token from-the-vault",
    ),
    _named(
        "netrc-password",
        "pass",
        r"password[ \t]{1,4}[^\s]{8,200}[ \t\r]{0,4}(?:$|\n)",
        r"(?:\b(?:login|user|account)[ \t]{1,4}[^\s]{1,100}[ \t]{1,4}|(?:^|(?<=\n))[>| \t]{0,8})"
        r"password[ \t]{1,4}"
        r"(?P<value>[^%n\"'`<>|,;(){}\[\]]{8,200}+)[ \t\r]{0,4}$",
        "machine git.example login app pass·word k7Vq%a{8}",
        "machine git.example login app password <password>",
    ),
    _named(
        "docker-auth",
        "auth",
        r"auth[\"']?[ \t]{0,4}[:=]",
        r"(?:\"auth\"[ \t]{0,4}:[ \t]{0,4}\"|(?<![a-z])_auth[ \t]{0,4}=[ \t]{0,4}[\"']?)"
        r"(?P<value>%b{12,2000}+={0,2})",
        '{"au·th": "%b{24}"}',
        '{"auth": "<base64>"}',
    ),
    _named(
        "pgpass-entry",
        ":5432:",
        ":",
        r"[a-z0-9.*-]{1,80}:5432:[a-z0-9_.*-]{1,60}:[a-z0-9_.*-]{1,60}:(?P<value>[^%n\"'`<>|:]{8,200}+)",
        "db.example:5432:shop:app:·k7Vq%a{8}",
        "db.example:5432:shop:app:password",
    ),
    _named(
        "call-password",
        "connect login auth credential account users",
        r"[a-z_]{4,24}[\"']?[ \t]{0,4}(?:[=:][ \t]{0,4})?[(\[{]",
        (
            r"(?:connect|login|auth|basicauth|basic_auth|credentials?|accounts|users|authenticate"
            r"|getconnection)[\"']?[ \t]{0,4}"
            r"(?:(?:=|:)[ \t]{0,4})?[(\[{]{1,2}[^()\n{}]{0,160}?[\"'],["
            r" \t]{0,4}[\"'](?P<value>(?=[^\"']{0,60}[0-9])[^\s\"'$<>{}]{6,80})[\"']"
        ),
        "connect('db.example', 'app', '·k7Vq%a{8}')",
        "connect('db.example', 'app', 'password1')",
    ),
    _named(
        "database-login",
        "sqlplus oracle: sqlldr expdp impdp",
        r"[a-z:]{5,14}[^\n]{0,40}/",
        (
            r"(?:sqlplus|oracle:(?:thin|oci8?):|sqlldr|expdp"
            r"|impdp)(?:[ \t]-[a-z])?[ \t\"']{0,4}[a-z0-9_$#]{1,30}/(?P<value>[^\s/@\"'<>$&]{6,64})@"
        ),
        "sqlplus app/·k7Vq%a{8}@//db.example:1521/X",
        "sqlplus app/password@//db.example:1521/X",
    ),
    _named(
        "command-password",
        "net+user net+use+ add_user change_password rootpw +-passwd createuser +on+> http-basic <<<",
        r"(?:[a-z_ -]{3,16}[ .\t]?|<<<)[^\n]{6}",
        (
            r"(?:\bnet use (?:[a-z*]:? )?\\\\[^\s]{1,80} (?=[^\s/]{6,80} /user:)"
            r"|\bnet user [^\s]{1,40} |\bnet use [^\n]{0,100}/user:[^\s]{1,40} |rabbitmqctl (?:add_user"
            r"|change_password) [^\s]{1,40} |\bcreateuser [^\s]{1,40} (?:sha|md5)[0-9-]{0,4} "
            r"|\bhttp-basic\.[^\s]{1,60} [^\s]{1,40} |user [^\s]{1,40} on >"
            r"|(?:\bsudo -s|\bkinit|chpasswd|-stdin|cryptsetup)[^\n|<]{0,60}<<<[ ]?"
            r"|\brootpw (?:--plaintext )?|[a-z0-9] -passwd )[\"']?(?P<value>[^\s\"'<>]{6,80})"
        ),
        "net user backup ·k7Vq%a{8} /add",
        "net user backup * /add",
    ),
    _named(
        "device-secret",
        "secret+ password+ key+",
        r"(?:secret|password|key) [05-9] ",
        r"\b(?:secret|password|key) [05-9] (?P<value>(?=[^\s]{0,60}[0-9])[^\s\"'<>]{8,120})",
        "enable secret 9 ·k7Vq%a{20}",
        "enable secret 9 characters",
    ),
    _named(
        "piped-password",
        "echo+ printf+",
        r"(?:echo|printf) [^\n]{8,400}(?:\||>)",
        (
            r"\b(?:echo"
            r"|printf)[ \t](?:-n[ \t])?(?:'%s(?:\\n)?'[ \t])?[\"']?(?:[a-z0-9_]{1,32}:)?(?P<value>[^"
            r"\s\"'$<>"
            r"|:]{8,400})[\"']?[ \t]?(?:\|[^\n|]{0,200}?"
            r"(?:-stdin|chpasswd|sudo -s|cryptsetup|login\b|kinit|-token)"
            r"|>{1,2}[ \t]?[^\s|&;]{0,60}(?:pass|secret|token|cred|\.key))"
        ),
        "echo ·k7Vq%a{12} | docker login -u ci --password-stdin",
        "echo $TOKEN | docker login -u ci --password-stdin",
    ),
    _named(
        "here-string",
        "<<<",
        "<<<",
        r"<<<[ \t]?[\"']?(?P<value>[^\s\"'$<>|]{8,400})",
        "gpg --import <<< '·k7Vq%a{12}'",
        'gpg --import <<< "$KEY"',
    ),
    _named(
        "identified-password",
        "identified",
        r"identified[ \t][^\n]{8}",
        (
            r"identified[ \t](?:with[ \t][a-z0-9_'\"]{1,40}[ \t](?:by|as)|by)[ \t]"
            r"(?:password[ \t])?[\"']?(?P<value>[^\s\"'<>;]{6,100})"
        ),
        "identified by '·k7Vq%a{8}'",
        "identified by 'password'",
    ),
    _named(
        "login-pair",
        "log+in login cred user account sign+in anmeld zugang wlan wifi idrac",
        r"[a-z ]{4,12}[^\n/]{0,60}/ ?(?=[^\s/]{0,30}[0-9])",
        (
            r"(?<![a-z/])(?:log(?:ged)? ?in|login|creds?|credentials|user(?:name)?|account|sign in"
            r"|anmeld[a-z]{2,5}|zugang[a-z]{0,8}|wlan|wifi"
            r"|idrac)(?:[ \t:][^\n:/]{0,40}?)??[ \t:]{1,2}[\"'`]?"
            r"[a-z0-9_.@-]{2,40}[\"'`]?(?: / "
            r"|/(?![^\s]{0,30}#[0-9]))[\"'`]?(?P<value>(?=[^\s]{0,30}[0-9])(?=[^\s]{0,30}[a-z])[^\s/"
            r"@\"'`<>,;:=(){}\[\]$"
            r"|\\]{8,40})(?![/:(\[.])"
        ),
        "Credentials: root / ·k7Vq%a{8}",
        "Credentials: root / password",
    ),
    _named(
        "login-and-value",
        "log+in login logged+in logs+in sign+in cred",
        r"[a-z ]{4,12}[^\n]{0,60}(?::| with | and | using | mit )[^\s]{0,30}[0-9]",
        (
            r"(?<![a-z/])(?:log(?:ged|s)? ?in|signs? in|creds?|credentials)(?: as| with user"
            r"| are| is|:)[ ][\"'`]?[a-z0-9_.@-]{2,40}[\"'`]?"
            r"(?::|,? (?:with|and|using"
            r"|mit) )[\"'`]?(?P<value>(?=[^\s]{0,30}[0-9])[^\s/@\"'`<>,;:=(){}\[\]$|\\]{8,40})"
        ),
        "Log in as root with ·k7Vq%a{8}",
        "Log in as root with password1",
    ),
    _named(
        "user-and-password",
        "root+/ admin+/ istrator+/ @",
        r"[a-z]{4,8} /|@[a-z0-9.-]{4,60}[\"'`*]{0,3}(?:,| [/aw])",
        (
            r"(?:(?<![\w/.-])(?:root|admin|administrator)[\"'`*]{0,3} / "
            r"|[a-z0-9._-]{2,30}@[a-z0-9-]{2,30}\.[a-z0-9.-]{2,30}[\"'`*]{0,3}(?: / |, | with | and ))"
            r"[\"'`*]{0,3}(?P<value>(?=[^\s]{0,60}[0-9])[^\s\"'`<>,;:=(){}\[\]@|\\/]{8,60}+)(?!@)"
        ),
        "Console: qa@acme.example / ·k7Vq%a{8}",
        "Console: qa@acme.example / password",
    ),
    _named(
        "used-as-password",
        "password passphrase",
        r"passw|passp",
        (
            r"\b(?:use|enter"
            r"|type)[ \t][\"'`]?(?P<value>[^\s\"'`<>]{8,80})[\"'`]?[ \t]as[ \t](?:the["
            r" \t])?(?:[a-z]{1,12}[ \t]){0,2}(?:password|passphrase)\b"
        ),
        "use ·k7Vq%a{10} as the password",
        "use something as the password",
    ),
    _named(
        "used-as-key",
        "use+ enter+ put+ paste+ write+ save+ store+ copy+",
        r"[a-z]{3,5} [\"'`]?[^\s]{16}",
        (
            r"\b(?:use|enter|put|paste|write|save|store|copy)[ \t][\"'`]?"
            r"(?P<value>[^\s\"'`<>]{16,200})[\"'`]?[ \t](?:as|into|in|to|for|at)[ \t]"
            r"[^\n.,;]{0,40}?[\w./~-]{0,40}(?:password|token|secret|key|credential)"
        ),
        "put ·%a{32} into `config/main.key`",
        "put something into `config/main.key`",
    ),
    _named(
        "sent-password",
        "assword",
        r"assword[^\n]{0,40}send",
        r"expect[^\n]{0,40}assword[^\n]{0,40}?send(?:[ \t]--)?[ \t][\"'](?P<value>[^\"'\\$\n]{6,80})",
        'expect "assword:" { send "·k7Vq%a{8}\\r" }',
        'expect "assword:" { send "$secret\\r" }',
    ),
    _named(
        "session-cookie",
        "cookie: +-b+ --cookie+",
        r"cookie:[ \t]|[ -](?:-b|-cookie) [\"']",
        (
            r"(?:cookie:[ \t]|[ -](?:-b|-cookie) [\"'])[^\n]{0,200}?(?:sess|sid|auth|token"
            r"|jwt)[a-z_.-]{0,16}=(?P<value>(?!\")[a-z0-9%_.:-]{16,400})"
        ),
        "Cookie: ses·sionid=%l{32}",
        "Cookie: sessionid=<session>",
    ),
    _named(
        "call-key",
        "client( init( translator( realtime( login( search( configure( setup( sign( encode( hmac( hmac.new("
        " fernet( aes.new( wallet( \"ac 'ac accounts",
        r"[a-z.]{4,12}\([\"'\n b]|[a-z.]{4,12}\([^\n]{1,80},|[\"']ac[0-9a-f]{32}|accounts[\"']?[ \t]?[:=]",
        (
            r"(?:(?:client|init|translator|realtime|login|search|configure|setup)\(\s{0,8}"
            r"(?:[\"'][a-z0-9_-]{1,60}[\"'],[ \t]{0,4})?"
            r"|(?:sign|encode|createhmac)\([^()\n]{1,80}?,[ \t]?|(?:hmac\.new|fernet|aes\.new|wallet)\(b?"
            r"|[\"']ac[0-9a-f]{32}[\"'],[ \t]?"
            r"|accounts[\"']?[ \t]?[:=][ \t]?\[[ \t]?(?=[\"']0x[0-9a-f]{64}))"
            r"[\"'](?P<value>(?=[^\"']{0,40}[0-9])[a-z0-9_.:+/-]{16,120}={0,2})[\"']"
        ),
        "rollbar.init('·%h{32}')",
        "rollbar.init('name-of-the-access-token')",
    ),
    _named(
        "header-key",
        "key: auth: secret: team: key= team= token=",
        r"[a-z]{3,6}[:=][ \t]?[^\s]{12}",
        (
            r"(?:(?:-h|--header)[ =]?[\"']?|headers=[\"']?|[\"'])[a-z0-9-]{0,40}-"
            r"(?:key|auth|secret|team|token)[:=][ \t]?(?P<value>[a-z0-9_.~+/-]{12,400}={0,2})"
        ),
        "curl -H 'Cdn-Key: ·%a{32}' https://api.example",
        "curl -H 'Cdn-Key: the-key-of-the-service' https://api.example",
    ),
    _named(
        "login-argument",
        "+-u+ -auth+ creds+ bundle+config codecov +login+ +auth+ +install+ ]:587+ ]:465+ ]:25+ influx+",
        r" -u |-auth |creds |bundle config|codecov| (?:login|auth|install) |influx |\]:[0-9]{2,3} ",
        (
            r"(?:[ \t](?:-u|-auth|--[a-z]{0,8}-?(?:auth|creds))[ \t]{1,4}[\"']?[^\s:,\"'/]{1,100}[:,][\"']?"
            r"|\bbundle config[ \t](?:set[ \t])?(?:--[a-z]{1,10}[ \t])?[^\s]{1,80}[ \t][^\s:/]{1,40}:"
            r"|\bcodecov[^\n|]{0,60}[ \t](?:-t|--token)[ \t]|\bstats auth [^\s:]{1,40}:"
            r"|\binflux\b[^\n|]{0,200}?[ \t]-t[ \t]|\]:(?:587|465|25)[ \t]{1,4}[^\s:]{1,80}:"
            r"|[a-z] (?:login|auth|auth init -t|service install) (?:--[a-z]{2,12} )?(?=%w{20})"
            r"|\bredis-cli[^\n|]{0,60} auth )"
            r"(?P<value>[^%n\"'`<>|(){}]{8,400})"
        ),
        "lftp -u app,·k7Vq%a{8} sftp://files.example",
        "lftp -u app,password sftp://files.example",
    ),
    _named(
        "configured-key",
        "config+set config:set configure+set config+--",
        r"config(?:ure)?[ :](?:set|--(?:global|local|user|system|auth))[ ]",
        (
            r"\bconfig(?:ure)?[ :](?:set|--(?:global|local|user|system|auth))[ \t][^\n]{0,60}?"
            r"(?:key|token|secret|passw(?:or)?d|pass|auth|api|pw|credential)[\w.-]{0,40}[ \t=]{1,2}[\"']?"
            r"(?P<value>[^%n\"'`<>$&|;]{12,300})"
        ),
        "scan config set api=·%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "scan config set api=name-of-the-key",
    ),
    _named(
        "network-secret",
        "server+ privilege option+key psk+ psk= passphrase+ wpa_passphrase nickserv keygen",
        r"[a-z_-]{3,14} ?[^\n]{6}",
        (
            r"(?:\b(?:tacacs|radius)[- ]server [^\n]{0,60}?\bkey (?:[07] )?|\bprivilege [0-9]{1,2} secret "
            r"|\bsnmp-server community (?=[^\s]{1,80} (?:ro|rw)\b)"
            r"|\boption key "
            r"|\bwpa-psk |\b(?:set|security)[^\n]{0,40} passphrase |\bwpa_passphrase [^\s]{1,32} "
            r"|\bnickserv identify (?:[^\s]{1,30} )?|\bssh-keygen [^\n|]{0,80}?-n )[\"']?"
            r"(?P<value>(?=[^\s]{0,60}[0-9])[^%n\"'`<>$|;]{8,120})"
        ),
        "radius-server host 192.0.2.4 key ·k7Vq%a{8}",
        "radius-server host 192.0.2.4 key shared",
    ),
    _named(
        "value-and-name",
        "+is+the+ +is+our+ +is+my+ +is+still+",
        r" is (?:still )?(?:the|our|my) [^\n]{0,60}(?:key|token|secret|passw|passphrase)",
        (
            r"(?:[\"'`]|(?<![\w/.:=+-])(?=[\w+/=-]{24,200} ))"
            r"(?P<value>(?=[^\s]{0,60}[0-9][^\s]{0,60}[0-9])[^%n\"'`<>$]{8,200}+)[\"'`]?[ ]is[ ]"
            r"(?:still[ ])?(?:the|our|my)[ ]"
            r"(?:(?!public|primary|cache|partition|foreign|ssh|gpg|sort|object|hash"
            r"|key )[\w'-]{1,20}[ ]){0,3}?(?:key|token|secret|password|passphrase)"
            r"(?=[.,;:)\n]| (?:of|for|to|in|on|at|and|we|that)\b|$)"
        ),
        "`·%a{32}` is the API key of the weather station",
        "`%a{32}` is the public key of the weather station",
    ),
    _named(
        "commented-key",
        "key token secret password",
        (
            r"(?:(?<=real )|(?<=api )|(?<=live )|(?<=actual )|(?<=production )|(?<=prod )|(?<=access ))"
            r"(?:key|token|secret|password)(?![a-z_])"
        ),
        (
            r"[\"'`](?P<value>[a-z0-9+/_.-]{16,400}={0,2})[\"'`][^\n\"'`]{0,24}?(?:#|//|--|/\*)[ ]"
            r"(?:[\w'-]{1,20}[ ]){0,4}?(?:real|api|live|actual|production|prod|access)[ ](?:key|token"
            r"|secret|password)"
        ),
        'headers["X-K"] = "·%h{32}" # real key of the weather station',
        'headers["X-K"] = "%h{32}" # hash of the key',
    ),
    _named(
        "opening-password",
        "opens+with open+with open+it+with unlock unprotect protected +mit+",
        r" ?[a-z]{3,9} ?[^\n]{8}",
        (
            r"(?:\b(?:opens?|opened|open it|unlock(?:s|ed)?(?: it)?|unprotect(?:s|ed)?"
            r"|protected)[ ](?:only[ ])?"
            r"(?:with|by)(?: the (?:word|code|password))?[ ](?P<quote>[\"'`\u00ab\u00bb\u201e\u201c\u201d])"
            r"|\bmit (?P<german>[\"'`\u00ab\u00bb\u201e](?=[^\n]{6,80}?[\"'`\u00ab\u00bb\u201c\u201d] "
            r"(?:\u00f6ffnen|entpacken|entsperren|auf\b))))"
            r"(?P<value>(?=[^\s]{0,40}[0-9][^\s]{0,40}[0-9])(?![^\s]{0,40}(?:aes|rsa|sha|ed25519|pbkdf"
            r"|ctrl|alt|shift|cmd))"
            r"[^%n\"'`<>$(){}=/]{8,60}+)(?=[\"'`\u00ab\u00bb\u201c\u201d])"
        ),
        "the sheet opens with `·Tz-%a{8}`",
        "the sheet opens with `Alt-Shift-F5`",
    ),
    _named(
        "secure-string",
        "securestring",
        r"securestring[ \t]",
        r"convertto-securestring[ \t](?:-string[ \t])?[\"'](?P<value>[^\"'$<>\n]{6,80})[\"']",
        'ConvertTo-SecureString "·k7Vq%a{8}" -AsPlainText',
        'ConvertTo-SecureString "$password" -AsPlainText',
    ),
    _named(
        "personal-number",
        "pin+ pin: pin= puk+ puk: puk= +code",
        r"p[iu][nk]| code",
        (
            r"(?<![a-z-])(?:p(?:in|uk)|(?:door|gate|alarm|safe|entry|keypad|lockbox|unlock) code)"
            r"(?: (?:for|of|to) [^\n:0-9]{1,30})?(?:[ \t]{0,2}[:=]|[ \t]is)?[ \t]{1,2}[\"'`*]{0,2}"
            r"(?P<value>[0-9]{6,12}|(?<=[:s] )(?!19|20)[0-9]{4,5}#?)(?![\w.-]{0,2}\w)"
        ),
        "Door: PIN ·%d{6}",
        "Door: PIN 123456",
    ),
)
"""Formats recognized by a name before the value, on one line and in any case."""

SECRET_RULES: Final = (*TOKENS, *EMBEDDED, *BLOCKS, *NAMED)
