"""Secrets by their published format: known prefixes, fixed lengths, never in the middle of a word.

A finding has the kind, the position and a fingerprint, never the value. Every pattern is bounded and runs in
linear time, and is only tried when its literal prefix is in the text. The formats are those the issuers
publish.
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
    """One kind of secret: literals, one of which must be in the text, and the whole pattern.

    A group named ``value`` marks the secret inside the pattern. ``near`` is a word that must be somewhere in
    the text, for patterns that are not distinctive enough. ``spaced`` patterns contain spaces; ``free`` ones
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
        """The shape as a pattern that never begins inside a word; compiled on first use."""
        return _compiled(self.shape if self.free else f"(?<![A-Za-z0-9_-]){self.shape}")


@lru_cache(maxsize=256)
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.ASCII)


_END = {"$": "(?![A-Za-z0-9_-])", "$=": "(?![A-Za-z0-9_+/-])"}
_TABLE = r"""
adafruit-key           aio_                      aio_[A-Za-z0-9]{28}$
age-key                AGE-SECRET-KEY-1          AGE-SECRET-KEY-1[0-9A-Z]{58}$
airtable-token         pat                       pat[A-Za-z0-9]{14}\.[0-9a-f]{64}$
anthropic-key          sk-ant-                   sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{80,120}$
artifactory-key        AKCp                      AKCp[A-Za-z0-9]{69}$
atlassian-token        ATATT3,ATCTT3             AT[AC]TT3[A-Za-z0-9_=-]{50,250}
aws-access-key         AKIA,ASIA,ABIA,ACCA       (?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}$
azure-client-secret    8Q~                       [A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{34}(?![A-Za-z0-9_~.-])
buildkite-token        bkua_                     bkua_[a-z0-9]{40}$
cloudflare-origin-key  v1.0-                     v1\.0-[0-9a-f]{24}-[0-9a-f]{146}$
contentful-token       CFPAT-                    CFPAT-[A-Za-z0-9_-]{43}$
crates-token           cio                       cio(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}$
databricks-token       dapi                      dapi[0-9a-f]{32}(?:-[0-9])?$
digitalocean-token     dop_v1_,doo_v1_,dor_v1_   do[opr]_v1_[0-9a-f]{64}$
discord-token . [MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}$ discord
docker-token           dckr_                     dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,32}$
doppler-token dp. dp\.(?:pt|ct|sa|scim|audit|st(?:\.[A-Za-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44}$
dynatrace-token        dt0                       dt0[a-zA-Z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}$
figma-token            figd_                     figd_[A-Za-z0-9_-]{40,60}$
flyio-token            fo1_                      fo1_[A-Za-z0-9_-]{43}$
github-token           ghp_,gho_,ghu_,ghs_,ghr_  gh[pousr]_[A-Za-z0-9]{36,251}$
github-fine-token      github_pat_               github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}$
google-api-key         AIza                      AIza[A-Za-z0-9_-]{35}$
google-client-secret   GOCSPX-                   GOCSPX-[A-Za-z0-9_-]{28}$
google-oauth-token     ya29.                     ya29\.[A-Za-z0-9_-]{40,400}$
grafana-token          glsa_                     glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}$
grafana-cloud-token    glc_                      glc_eyJ[A-Za-z0-9+/]{32,400}={0,2}$=
groq-key               gsk_                      gsk_[A-Za-z0-9]{52}$
heroku-key             HRKU-                     HRKU-[A-Za-z0-9_-]{36,64}$
huggingface-token      hf_                       hf_[A-Za-z0-9]{34}$
json-web-token eyJ eyJ[A-Za-z0-9_-]{15,1000}\.eyJ[A-Za-z0-9_-]{15,4000}\.[A-Za-z0-9_-]{30,1000}$
langsmith-key          lsv2_                     lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}$
linear-key             lin_api_,lin_oauth_       lin_(?:api|oauth)_[A-Za-z0-9]{40,64}$
mailchimp-key          -us                       [0-9a-f]{32}-us[0-9]{1,2}$
mailgun-key            key-                      key-[0-9a-f]{32}$ mailgun
netlify-token          nfp_                      nfp_[A-Za-z0-9]{36,40}$
newrelic-key           NRAK-                     NRAK-[A-Z0-9]{27}$
notion-token           ntn_,secret_              (?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})$
npm-token              npm_                      npm_[A-Za-z0-9]{36}$
onepassword-token      ops_eyJ                   ops_eyJ[A-Za-z0-9+/]{250,2000}={0,2}$=
perplexity-key         pplx-                     pplx-[A-Za-z0-9]{48,56}$
planetscale-token      pscale_                   pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}$
postman-key            PMAK-                     PMAK-[0-9a-f]{24}-[0-9a-f]{34}$
pulumi-token           pul-                      pul-[0-9a-f]{40}$
pypi-token             pypi-AgE                  pypi-AgE[A-Za-z0-9_-]{60,400}$
replicate-token        r8_                       r8_[A-Za-z0-9]{37}$
rubygems-key           rubygems_                 rubygems_[0-9a-f]{48}$
sendgrid-key           SG.                       SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$
sentry-token           sntrys_,sntryu_           sntry(?:u_[0-9a-f]{64}|s_eyJ[\w+/=]{80,400})(?![A-Za-z0-9])
shopify-token          shpat_,shpca_,shppa_,shpss_ shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}$
slack-token            xoxb-,xoxp-,xoxa-,xoxr-,xoxs-,xoxe-,xoxc-,xoxd- xox[abcdeprs]-[A-Za-z0-9-]{24,250}$
slack-app-token        xapp-                     xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{10,14}-[A-Za-z0-9]{32,64}$
square-token           sq0                       sq0(?:atp-[A-Za-z0-9_-]{22}|csp-[A-Za-z0-9_-]{43})$
stripe-key             sk_live_,rk_live_         [rs]k_live_[A-Za-z0-9]{24,120}$
stripe-webhook-secret  whsec_                    whsec_[A-Za-z0-9+/]{32,64}={0,2}$=
supabase-token         sbp_                      sbp_[0-9a-f]{40}$
tailscale-key          tskey-                    tskey-[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48}$
telegram-token         :AA                       [0-9]{8,10}:AA[A-Za-z0-9_-]{33}$
terraform-token        .atlasv1.                 [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}$
twilio-key             SK                        SK[0-9a-f]{32}$ twilio
typeform-token         tfp_                      tfp_[A-Za-z0-9_.=-]{44,64}$
vault-token            hvs.,hvb.,hvr.            hv[sbr]\.[A-Za-z0-9_-]{24,300}$
xai-key                xai-                      xai-[A-Za-z0-9]{80}$
"""
"""Kind, literals, shape and, if needed, the word near it. ``$`` ends a word, ``$=`` a word in base 64."""


def _rule(kind: str, literals: str, shape: str, near: str = "") -> SecretRule:
    for mark, end in _END.items():
        if shape.endswith(mark):
            shape = shape.removesuffix(mark) + end
    return SecretRule(kind, tuple(literals.split(",")), shape, near)


SECRET_RULES: Final[tuple[SecretRule, ...]] = (
    *(_rule(*row.split()) for row in _TABLE.strip().splitlines()),
    _rule(
        "gitlab-token",
        "glpat-,gldt-,glrt-,glptt-,glcbt-,glsoat-,glft-,glimt-,glagent-,gloas-",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,64}$",
    ),
    _rule(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}"
        r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})$",
    ),
    SecretRule(
        "aws-secret-key",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY)[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?"
        rf"(?P<value>[A-Za-z0-9/+]{{40}}){_END['$=']}",
        spaced=True,
        free=True,
    ),
    SecretRule(
        "azure-storage-key", ("AccountKey=",), r"AccountKey=(?P<value>[A-Za-z0-9+/]{86}==)", free=True
    ),
    SecretRule(
        "discord-webhook",
        ("/api/webhooks/",),
        rf"discord(?:app)?\.com/api/webhooks/[0-9]{{17,20}}/[A-Za-z0-9_-]{{60,80}}{_END['$']}",
        free=True,
    ),
    SecretRule(
        "private-key",
        ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"),
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s|\\[nr]|[+-]){1,8}(?:[A-Za-z-]{2,20}: [^\n]{0,200}\n[+-]?\s{0,3}){0,4}"
        r"(?P<value>[A-Za-z0-9+/=]{40,8000})",
        spaced=True,
        free=True,
    ),
    SecretRule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)"
        rf"/[A-Z0-9]{{8,14}}/[A-Za-z0-9]{{8,20}}/[A-Za-z0-9]{{20,64}}{_END['$']}",
        free=True,
    ),
    SecretRule(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'`<>\[\](){}$%]{1,64}:(?P<value>[^\s/:@\"'`<>\[\](){}$%*]{12,128})@[A-Za-z0-9\[]",
        free=True,
    ),
)

_BY_LITERAL = [(literal, rule) for rule in SECRET_RULES if not rule.spaced for literal in rule.literals]
_BY_SPACED_LITERAL = [(literal, rule) for rule in SECRET_RULES if rule.spaced for literal in rule.literals]

_PLACEHOLDER = (
    r"example|sample|placeholder|redacted|dummy|changeme|change_me|xxxx|your[_-]|yourtoken|notreal|not-real|"
    r"fake|foobar|deadbeef|\.\.\.|\*\*\*|[_-]here\b|insert|(.)\1{5}"
)
# The claims of the jwt.io example token found in much documentation ("sub": "1234567890").
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
    """Every secret in ``text``, by position; of overlapping ones the first and longest.

    Placeholders (``sk-xxxx``, ``AKIA…EXAMPLE``, counting characters, few distinct characters) do not count.
    """
    # No secret is shorter than this, and few words of prose are as long: search only those for the literals.
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    if not words:
        return []
    long_words = "\n".join(words)
    candidates = [rule for literal, rule in _BY_LITERAL if literal in long_words]
    candidates += [rule for literal, rule in _BY_SPACED_LITERAL if literal in text]
    found: list[Secret] = []
    for rule in dict.fromkeys(candidates):
        # A pattern with a lookbehind is slow in a long text: try it on the candidate words first.
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
    """Whether the pattern matches in one of the words; a pattern that is not ``spaced`` has no spaces."""
    search = rule.pattern.search
    return any(search(word) for literal in rule.literals for word in words if literal in word)


def _fingerprint(value: str) -> str:
    from hashlib import sha256

    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:_FINGERPRINT]


def holds_secret(text: str) -> bool:
    """Whether the text contains a secret without a suppression (``ignore TM401`` with its fingerprint)."""
    return any(f"ignore TM401 {one.fingerprint}" not in text for one in find_secrets(text))


def redacted(text: str) -> str:
    """The text with every secret replaced by its kind and fingerprint: ``<github-token 1a2b3c4d>``."""
    pieces, at = [], 0
    for one in find_secrets(text):
        pieces += [text[at : one.start], f"<{one.kind} {one.fingerprint}>"]
        at = one.end
    return "".join([*pieces, text[at:]]) if pieces else text


def redacted_data(value: Any) -> Any:
    """A JSON value with every string in it, including keys, `redacted`."""
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
