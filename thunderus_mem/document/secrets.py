"""Secrets by the shape their issuers gave them: anchored prefixes, fixed lengths, never the middle of a word.

A finding holds kind, place and fingerprint, never the value. Every pattern is bounded and runs in linear
time, and is only tried when its literal prefix stands in the text. The shapes are those the issuers publish.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

_FINGERPRINT = 8
_FEW_CHARACTERS = 7
_RUN = 8
_SHORTEST = 18


class Secret(NamedTuple):
    """A secret's kind (``github-token``), its offsets in the text and 8 hex characters of its SHA-256."""

    kind: str
    start: int
    end: int
    fingerprint: str


class SecretRule(NamedTuple):
    """One kind of secret: literals of which one must stand in the text, and the whole shape.

    A group named ``value`` marks the secret inside the shape. ``near`` is a word that must stand somewhere
    in the text, for shapes that are not telling enough alone. ``spaced`` shapes hold blanks; ``free`` ones
    may begin inside a word.
    """

    kind: str
    literals: tuple[str, ...]
    shape: str
    near: str = ""
    spaced: bool = False
    free: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The shape as a pattern that never begins inside a word; compiled when first asked for."""
        return _compiled(self.shape if self.free else f"(?<![A-Za-z0-9_-]){self.shape}")


@lru_cache(maxsize=256)
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.ASCII)


_W = "[A-Za-z0-9_-]"
_END = "(?![A-Za-z0-9_-])"
_END_B64 = "(?![A-Za-z0-9_+/-])"


def _rule(kind: str, literals: str, shape: str, near: str = "", *, free: bool = False) -> SecretRule:
    return SecretRule(kind, tuple(literals.split()), shape, near, free=free)


SECRET_RULES: Final[tuple[SecretRule, ...]] = (
    _rule("adafruit-key", "aio_", rf"aio_[A-Za-z0-9]{{28}}{_END}"),
    _rule("age-key", "AGE-SECRET-KEY-1", rf"AGE-SECRET-KEY-1[0-9A-Z]{{58}}{_END}"),
    _rule("airtable-token", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}"),
    _rule("anthropic-key", "sk-ant-", rf"sk-ant-[a-z]{{3,8}}[0-9]{{2}}-[A-Za-z0-9_-]{{80,120}}{_END}"),
    _rule("artifactory-key", "AKCp", rf"AKCp[A-Za-z0-9]{{69}}{_END}"),
    _rule("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{50,250}"),
    _rule("aws-access-key", "AKIA ASIA ABIA ACCA", rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}"),
    SecretRule(
        "aws-secret-key",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY)[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?"
        rf"(?P<value>[A-Za-z0-9/+]{{40}}){_END_B64}",
        spaced=True,
        free=True,
    ),
    _rule("azure-client-secret", "8Q~", r"[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{34}(?![A-Za-z0-9_~.-])"),
    _rule("azure-storage-key", "AccountKey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{86}==)", free=True),
    _rule("buildkite-token", "bkua_", rf"bkua_[a-z0-9]{{40}}{_END}"),
    _rule("cloudflare-origin-key", "v1.0-", rf"v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}{_END}"),
    _rule("contentful-token", "CFPAT-", rf"CFPAT-[A-Za-z0-9_-]{{43}}{_END}"),
    _rule("crates-token", "cio", rf"cio(?=[A-Za-z]{{0,31}}[0-9])[A-Za-z0-9]{{32}}{_END}"),
    _rule("databricks-token", "dapi", rf"dapi[0-9a-f]{{32}}(?:-[0-9])?{_END}"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"do[opr]_v1_[0-9a-f]{{64}}{_END}"),
    _rule("discord-token", ".", rf"[MNO]{_W}{{23,25}}\.{_W}{{6}}\.{_W}{{27,38}}{_END}", "discord"),
    _rule(
        "discord-webhook",
        "/api/webhooks/",
        rf"discord(?:app)?\.com/api/webhooks/[0-9]{{17,20}}/[A-Za-z0-9_-]{{60,80}}{_END}",
        free=True,
    ),
    _rule("docker-token", "dckr_", rf"dckr_(?:pat|oat)_[A-Za-z0-9_-]{{27,32}}{_END}"),
    _rule(
        "doppler-token",
        "dp.",
        rf"dp\.(?:pt|ct|sa|scim|audit|st(?:\.{_W}{{2,35}})?)\.[A-Za-z0-9]{{40,44}}{_END}",
    ),
    _rule("dynatrace-token", "dt0", rf"dt0[a-zA-Z][0-9]{{2}}\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}{_END}"),
    _rule("figma-token", "figd_", rf"figd_[A-Za-z0-9_-]{{40,60}}{_END}"),
    _rule("flyio-token", "fo1_", rf"fo1_[A-Za-z0-9_-]{{43}}{_END}"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"gh[pousr]_[A-Za-z0-9]{{36,251}}{_END}"),
    _rule("github-fine-token", "github_pat_", rf"github_pat_[A-Za-z0-9]{{22}}_[A-Za-z0-9]{{59}}{_END}"),
    _rule(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- gloas-",
        rf"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{{20,64}}{_END}",
    ),
    _rule("google-api-key", "AIza", rf"AIza[A-Za-z0-9_-]{{35}}{_END}"),
    _rule("google-client-secret", "GOCSPX-", rf"GOCSPX-[A-Za-z0-9_-]{{28}}{_END}"),
    _rule("google-oauth-token", "ya29.", rf"ya29\.[A-Za-z0-9_-]{{40,400}}{_END}"),
    _rule("grafana-token", "glsa_", rf"glsa_[A-Za-z0-9]{{32}}_[0-9a-fA-F]{{8}}{_END}"),
    _rule("grafana-cloud-token", "glc_", rf"glc_eyJ[A-Za-z0-9+/]{{32,400}}={{0,2}}{_END_B64}"),
    _rule("groq-key", "gsk_", rf"gsk_[A-Za-z0-9]{{52}}{_END}"),
    _rule("heroku-key", "HRKU-", rf"HRKU-[A-Za-z0-9_-]{{36,64}}{_END}"),
    _rule("huggingface-token", "hf_", rf"hf_[A-Za-z0-9]{{34}}{_END}"),
    _rule("json-web-token", "eyJ", rf"eyJ{_W}{{15,1000}}\.eyJ{_W}{{15,4000}}\.{_W}{{30,1000}}{_END}"),
    _rule("langsmith-key", "lsv2_", rf"lsv2_(?:pt|sk)_[0-9a-f]{{32}}_[0-9a-f]{{10}}{_END}"),
    _rule("linear-key", "lin_api_ lin_oauth_", rf"lin_(?:api|oauth)_[A-Za-z0-9]{{40,64}}{_END}"),
    _rule("mailchimp-key", "-us", rf"[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}"),
    _rule("mailgun-key", "key-", rf"key-[0-9a-f]{{32}}{_END}", "mailgun"),
    _rule("netlify-token", "nfp_", rf"nfp_[A-Za-z0-9]{{36,40}}{_END}"),
    _rule("newrelic-key", "NRAK-", rf"NRAK-[A-Z0-9]{{27}}{_END}"),
    _rule("notion-token", "ntn_ secret_", rf"(?:ntn_[A-Za-z0-9]{{40,50}}|secret_[A-Za-z0-9]{{43}}){_END}"),
    _rule("npm-token", "npm_", rf"npm_[A-Za-z0-9]{{36}}{_END}"),
    _rule("onepassword-token", "ops_eyJ", rf"ops_eyJ[A-Za-z0-9+/]{{250,2000}}={{0,2}}{_END_B64}"),
    _rule(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})"
        + _END,
    ),
    _rule("perplexity-key", "pplx-", rf"pplx-[A-Za-z0-9]{{48,56}}{_END}"),
    _rule("planetscale-token", "pscale_", rf"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{{32,64}}{_END}"),
    _rule("postman-key", "PMAK-", rf"PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}{_END}"),
    SecretRule(
        "private-key",
        ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"),
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s|\\[nr]|[+-]){1,8}(?:[A-Za-z-]{2,20}: [^\n]{0,200}\n[+-]?\s{0,3}){0,4}"
        r"(?P<value>[A-Za-z0-9+/=]{40,8000})",
        spaced=True,
        free=True,
    ),
    _rule("pulumi-token", "pul-", rf"pul-[0-9a-f]{{40}}{_END}"),
    _rule("pypi-token", "pypi-AgE", rf"pypi-AgE[A-Za-z0-9_-]{{60,400}}{_END}"),
    _rule("replicate-token", "r8_", rf"r8_[A-Za-z0-9]{{37}}{_END}"),
    _rule("rubygems-key", "rubygems_", rf"rubygems_[0-9a-f]{{48}}{_END}"),
    _rule("sendgrid-key", "SG.", rf"SG\.[A-Za-z0-9_-]{{22}}\.[A-Za-z0-9_-]{{43}}{_END}"),
    _rule("sentry-token", "sntrys_ sntryu_", r"sntry(?:u_[0-9a-f]{64}|s_eyJ[\w+/=]{80,400})(?![A-Za-z0-9])"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", rf"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_END}"),
    _rule(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd-",
        rf"xox[abcdeprs]-[A-Za-z0-9-]{{24,250}}{_END}",
    ),
    _rule(
        "slack-app-token", "xapp-", rf"xapp-[0-9]-[A-Z0-9]{{8,14}}-[0-9]{{10,14}}-[A-Za-z0-9]{{32,64}}{_END}"
    ),
    _rule(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)"
        rf"/[A-Z0-9]{{8,14}}/[A-Za-z0-9]{{8,20}}/[A-Za-z0-9]{{20,64}}{_END}",
        free=True,
    ),
    _rule("square-token", "sq0", rf"sq0(?:atp-[A-Za-z0-9_-]{{22}}|csp-[A-Za-z0-9_-]{{43}}){_END}"),
    _rule("stripe-key", "sk_live_ rk_live_", rf"[rs]k_live_[A-Za-z0-9]{{24,120}}{_END}"),
    _rule("stripe-webhook-secret", "whsec_", rf"whsec_[A-Za-z0-9+/]{{32,64}}={{0,2}}{_END_B64}"),
    _rule("supabase-token", "sbp_", rf"sbp_[0-9a-f]{{40}}{_END}"),
    _rule("tailscale-key", "tskey-", rf"tskey-[a-z]{{3,10}}-[A-Za-z0-9]{{8,24}}-[A-Za-z0-9]{{20,48}}{_END}"),
    _rule("telegram-token", ":AA", rf"[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}{_END}"),
    _rule("terraform-token", ".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,80}}{_END}"),
    _rule("twilio-key", "SK", rf"SK[0-9a-f]{{32}}{_END}", "twilio"),
    _rule("typeform-token", "tfp_", rf"tfp_[A-Za-z0-9_.=-]{{44,64}}{_END}"),
    _rule(
        "url-password",
        "://",
        r"://[^\s/:@\"'`<>\[\](){}$%]{1,64}:(?P<value>[^\s/:@\"'`<>\[\](){}$%*]{12,128})@[A-Za-z0-9\[]",
        free=True,
    ),
    _rule("vault-token", "hvs. hvb. hvr.", rf"hv[sbr]\.[A-Za-z0-9_-]{{24,300}}{_END}"),
    _rule("xai-key", "xai-", rf"xai-[A-Za-z0-9]{{80}}{_END}"),
)

_BY_LITERAL = [(literal, rule) for rule in SECRET_RULES if not rule.spaced for literal in rule.literals]
_BY_SPACED_LITERAL = [(literal, rule) for rule in SECRET_RULES if rule.spaced for literal in rule.literals]

_PLACEHOLDER = (
    r"example|sample|placeholder|redacted|dummy|changeme|change_me|xxxx|your[_-]|yourtoken|notreal|not-real|"
    r"fake|foobar|deadbeef|\.\.\.|\*\*\*|[_-]here\b|insert|(.)\1{5}"
)
# The claims of the tutorial token that documentation repeats everywhere ("sub": "1234567890").
_TUTORIAL_JWT = "eyJzdWIiOiIxMjM0NTY3ODkwIi"


def _has_run(value: str) -> bool:
    """Whether eight characters in a row count up (``12345678``, ``abcdefgh``), as in made-up values."""
    length = 1
    for before, after in pairwise(value):
        length = length + 1 if ord(after) == ord(before) + 1 else 1
        if length >= _RUN:
            return True
    return False


def _is_weak_password(value: str) -> bool:
    return not (re.search("[0-9]", value) and re.search("[A-Za-z]", value)) or "pass" in value.lower()


def _is_placeholder(kind: str, value: str) -> bool:
    if len(set(value)) < _FEW_CHARACTERS or re.search(_PLACEHOLDER, value, re.IGNORECASE) or _has_run(value):
        return kind != "private-key" or len(set(value)) < _FEW_CHARACTERS
    if kind == "json-web-token":
        return _TUTORIAL_JWT in value
    return kind == "url-password" and _is_weak_password(value)


def find_secrets(text: str) -> list[Secret]:
    """Every secret in ``text``, by place; of overlapping ones the first and longest.

    Placeholders (``sk-xxxx``, ``AKIA…EXAMPLE``, counting characters, few different characters) do not fire.
    """
    # No secret is shorter than this, and few words of prose are as long: look for the literals in those only.
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    if not words:
        return []
    long_words = "\n".join(words)
    candidates = [rule for literal, rule in _BY_LITERAL if literal in long_words]
    candidates += [rule for literal, rule in _BY_SPACED_LITERAL if literal in text]
    found: list[Secret] = []
    for rule in dict.fromkeys(candidates):
        # A shape that asks what stands before it is slow in a long text: look at the words that may hold it.
        if not (rule.free or rule.spaced or _in_a_word(rule, words)):
            continue
        if rule.near and rule.near not in text.lower():
            continue
        group = "value" if "value" in rule.pattern.groupindex else 0
        for match in rule.pattern.finditer(text):
            value = match.group(group)
            if not _is_placeholder(rule.kind, value):
                found.append(Secret(rule.kind, match.start(group), match.end(group), _fingerprint(value)))
    return _without_overlaps(found)


def _in_a_word(rule: SecretRule, words: list[str]) -> bool:
    """Whether the shape stands in one of the words; a shape that is not ``spaced`` holds no blank."""
    search = rule.pattern.search
    return any(search(word) for literal in rule.literals for word in words if literal in word)


def _fingerprint(value: str) -> str:
    from hashlib import sha256

    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:_FINGERPRINT]


def holds_secret(text: str) -> bool:
    """Whether a secret stands in the text that the text itself does not excuse (``ignore TM401`` with its
    fingerprint)."""
    return any(f"ignore TM401 {one.fingerprint}" not in text for one in find_secrets(text))


def redacted(text: str) -> str:
    """The text with every secret replaced by its kind and fingerprint: ``<github-token 1a2b3c4d>``."""
    pieces, at = [], 0
    for one in find_secrets(text):
        pieces += [text[at : one.start], f"<{one.kind} {one.fingerprint}>"]
        at = one.end
    return "".join([*pieces, text[at:]]) if pieces else text


def redacted_data(value: Any) -> Any:
    """A JSON value with every text in it, keys included, `redacted`."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {redacted(key): redacted_data(item) for key, item in value.items()}
    return [redacted_data(item) for item in value] if isinstance(value, list) else value


def _without_overlaps(found: list[Secret]) -> list[Secret]:
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end, one.kind)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept
