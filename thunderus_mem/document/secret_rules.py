"""The formats of secrets, one row each: kind, anchors, pattern, example and counter-example.

Sources: the formats their issuers publish. Every row is tested by its own examples, and the page of TM401
lists the rows.

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

from thunderus_mem.document.secret_positions import POSITIONS
from thunderus_mem.document.secret_tokens import MORE_EMBEDDED, MORE_TOKENS
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


TOKENS: Final = (
    _row(
        "1password-key",
        "A3-",
        r"A3-%u{6}-%u{6,11}(?:-%u{5}){3,4}$",
        "A·3-%u{6}-%u{6}-%u{5}-%u{5}-%u{5}",
        "A3-%u{6}",
    ),
    _row("adafruit-key", "aio_", r"aio_%a{28}$", "a·io_%a{28}", "aio_%a{8}"),
    _row("adobe-client-secret", "p8e-", r"p8e-%w{32}$", "p·8e-%w{32}", "p8e-client"),
    _row(
        "age-key",
        "AGE-SECRET-KEY-1",
        r"AGE-SECRET-KEY-1%u{58}$",
        "AGE-SECRET·-KEY-1%u{58}",
        "AGE-SECRET-KEY-1%u{8}",
    ),
    _row("airtable-token", "pat", r"pat%a{14}\.%h{64}$", "p·at%a{14}.%h{64}", "path%a{14}.md"),
    _row("alibaba-key", "LTAI", r"LTAI%a{17,21}$", "LT·AI%a{20}", "LTAI%a{4}"),
    _row(
        "amazon-mws-token",
        "amzn.mws.",
        r"amzn\.mws\.%h{8}(?:-%h{4}){3}-%h{12}$",
        "amzn·.mws.%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "amzn.mws.example",
    ),
    _row(
        "amazon-oauth-secret",
        "amzn1.oa2-cs",
        r"amzn1\.oa2-cs\.v1\.%h{64}$",
        "amzn1·.oa2-cs.v1.%h{64}",
        "amzn1.oa2-cs.v1",
    ),
    _row(
        "anthropic-key",
        "sk-ant-",
        r"sk-ant-[a-z]{3,8}%d{2}-%w{24,120}$",
        "sk·-ant-api03-%w{93}AA",
        "sk-ant-api03",
    ),
    _row("artifactory-key", "AKCp", r"AKCp%a{69}$", "AK·Cp%a{69}", "AKCp%a{8}"),
    _row("artifactory-token", "cmVmd", r"cmVmd%a{59}$", "cm·Vmd%a{59}", "cmVmdA"),
    _row("asana-token", "1/ 2/", r"[12]/%d{15,17}(?:/%d{15,17})?:%h{32}$", "1/%d{16}·:%h{32}", "1/%d{16}"),
    _row(
        "atlassian-token",
        "ATATT3 ATCTT3 ATBB",
        r"(?:AT[AC]TT3[%w=]{50,250}|ATBB%a{28,32})$",
        "AT·ATT3%w{180}",
        "ATATT3",
    ),
    _row(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA",
        r"(?:AKIA|ASIA|ABIA|ACCA)%t{16}$",
        "AK·IA%t{16}",
        "AKIAIOSFODNN7EXAMPLE",
    ),
    _row("aws-bedrock-key", "ABSK", r"ABSK%b{100,270}={0,2}$=", "AB·SK%b{120}", "ABSK"),
    _row(
        "azure-client-secret",
        "7Q~ 8Q~ 9Q~",
        r"[A-Za-z0-9_~.]{3}[7-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
        "Aa0·8Q~%a{34}",
        "8Q~",
    ),
    _row("azure-devops-token", "AZDO", r"%a{76}AZDO%a{4}$", "%a{76}·AZDO%a{4}", "AZDO_TOKEN"),
    _row(
        "baidu-key",
        "bce-v3/",
        r"bce-v3/ALTAK-%a{15,25}/%h{40}$",
        "bce·-v3/ALTAK-%a{21}/%h{40}",
        "bce-v3/ALTAK",
    ),
    _row(
        "bitwarden-token",
        "0.",
        r"0\.%h{8}-%h{4}-%h{4}-%h{4}-%h{12}\.%a{30}:%b{22}==",
        "0·.%h{8}-%h{4}-%h{4}-%h{4}-%h{12}.%a{30}:%b{22}==",
        "0.%h{8}",
    ),
    _row("buildkite-token", "bkua_", r"bkua_%l{40}$", "bk·ua_%l{40}", "bkua_token"),
    _row("cerebras-key", "csk-", r"csk-%l{40,60}$", "cs·k-%l{48}", "csk-%l{8}"),
    _row(
        "circleci-token",
        "CCIPAT_ CCIPRJ_",
        r"CCIP(?:AT|RJ)_%a{16,30}_%h{40}$",
        "CCI·PAT_%a{22}_%h{40}",
        "CCIPAT_TOKEN",
    ),
    _row("clojars-token", "CLOJARS_", r"CLOJARS_%l{60}$", "CLO·JARS_%l{60}", "CLOJARS_USERNAME"),
    _row("cloudflare-origin-key", "v1.0-", r"v1\.0-%h{24}-%h{146}$", "v1·.0-%h{24}-%h{146}", "v1.0-%h{8}"),
    _row("contentful-token", "CFPAT-", r"CFPAT-%w{43}$", "CF·PAT-%w{43}", "CFPAT-token"),
    _row("crates-token", "cio", r"cio(?=[A-Za-z]{0,31}%d)%a{32}$", "c·io%a{32}", "ciopfs"),
    _row("databricks-token", "dapi", r"dapi%h{32}(?:-%d)?$", "da·pi%h{32}", "dapi%h{8}"),
    _row("deno-token", "ddp_", r"ddp_%a{36,40}$", "d·dp_%a{36}", "ddp_token"),
    _row(
        "digitalocean-token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"do[opr]_v1_%h{64}$",
        "do·p_v1_%h{64}",
        "dop_v1_token",
    ),
    _row(
        "discord-token",
        ".",
        r"[MNO]%w{23,25}\.%w{6}\.%w{27,38}$",
        "M%w{23}·.%w{6}.%w{27}· discord",
        "Mm.Nn.Oo discord",
        near="discord",
    ),
    _row("docker-token", "dckr_", r"dckr_(?:pat|oat)_%w{27,32}$", "dc·kr_pat_%w{27}", "dckr_pat_"),
    _row(
        "doppler-token",
        "dp.",
        r"dp\.(?:pt|ct|sa|scim|audit|st(?:\.%w{2,35})?)\.%a{40,44}$",
        "d·p.pt.%a{43}",
        "dp.st.dev",
    ),
    _row("dropbox-token", "sl.", r"sl\.(?:u\.)?%w{100,1500}$", "s·l.%w{135}", "sl.u.readme"),
    _row("duffel-token", "duffel_", r"duffel_(?:live|test)_%w{43}$", "duf·fel_live_%w{43}", "duffel_live_"),
    _row(
        "dynatrace-token", "dt0", r"dt0[a-z]%d{2}\.%u{24}\.%u{64}$", "dt·0c01.%u{24}.%u{64}", "dt0c01.%u{24}"
    ),
    _row("easypost-key", "EZAK EZTK", r"EZ[AT]K%a{54}$", "EZ·AK%a{54}", "EZAK"),
    _row(
        "firebase-server-key",
        ":APA91b",
        r"AAAA%w{7}:(?P<value>APA91b%w{100,200})$",
        "AAAA%w{7}·:APA91b%w{134}",
        "AAAA:APA91b",
    ),
    _row("facebook-token", "EAA", r"EAA[A-Z]%a{80,250}$", "EA·ACB%a{150}", "EAAC"),
    _row("figma-token", "figd_ figu_", r"fig[du]_%w{40,60}$", "fi·gd_%w{40}", "figd_token"),
    _row("fireworks-key", "fw_", r"fw_%a{22,24}$", "f·w_%a{24}", "fw_setenv"),
    _row("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-%l{32}-X$", "FLW·SECK-%l{32}-X", "FLWSECK_TEST"),
    _row(
        "flyio-token",
        "fo1_ fm1 fm2_",
        r"(?:fo1_%w{43}|fm(?:1[ar]|2)_%b{100,2000}={0,3})$",
        "fo·1_%w{43}",
        "fo1_token",
    ),
    _row("frameio-token", "fio-u-", r"fio-u-%w{64}$", "f·io-u-%w{64}", "fio-u-"),
    _row(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_%a{36,251}$",
        "g·hp_%a{36}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    _row(
        "github-fine-token",
        "github_pat_",
        r"github_pat_%a{22}_%a{59}$",
        "github·_pat_%a{22}_%a{59}",
        "github_pat_token",
    ),
    _row("gitlab-runner-token", "GR1348941", r"GR1348941%w{20}$", "GR·1348941%w{20}", "GR1348941"),
    _row(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glffct- glimt- glagent- gloas-",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|ff?c?t|imt|agent|oas)-[A-Za-z0-9_.-]{20,300}$",
        "gl·pat-%a{20}",
        "glpat-token",
    ),
    _row(
        "gocardless-token",
        "live_",
        r"live_%w{40}$",
        "li·ve_%w{40} gocardless",
        "live_%w{10} gocardless",
        near="gocardless",
    ),
    _row("google-api-key", "AIza", r"AIza%w{35}$", "AI·za%w{35}", "AIza%w{5}"),
    _row("google-client-secret", "GOCSPX-", r"GOCSPX-%w{28}$", "GO·CSPX-%w{28}", "GOCSPX-secret"),
    _row("google-oauth-token", "ya29.", r"ya29\.%w{40,400}$", "ya·29.%w{80}", "ya29.token"),
    _row("google-refresh-token", "1//0", r"1//0%w{40,120}$", "1·//0%w{60}", "1//0 1//1"),
    _row("google-storage-key", "GOOG1", r"GOOG1[A-Z0-9]{20,60}$", "GO·OG1E%u{56}", "GOOG1E"),
    _row("grafana-token", "glsa_", r"glsa_%a{32}_[0-9a-fA-F]{8}$", "gl·sa_%a{32}_%h{8}", "glsa_token"),
    _row("grafana-cloud-token", "glc_", r"glc_eyJ%b{32,400}={0,2}$=", "gl·c_eyJ%b{80}", "glc_eyJ"),
    _row("grafana-key", "eyJrIjoi", r"eyJrIjoi%a{60,400}={0,2}$=", "ey·JrIjoi%a{80}", "eyJrIjoi"),
    _row("groq-key", "gsk_", r"gsk_%a{48,56}$", "gs·k_%a{52}", "gsk_token"),
    _row(
        "harness-token",
        "pat. sat.",
        r"[ps]at\.%w{22}\.%a{24}\.%a{20}$",
        "pa·t.%w{22}.%a{24}.%a{20}",
        "pat.account.id",
    ),
    _row("heroku-key", "HRKU-", r"HRKU-%w{36,64}$", "HR·KU-%w{58}", "HRKU-key"),
    _row(
        "honeycomb-key",
        "hcaik_ hcxik_ hcbik_ hcalk_ hcxlk_",
        r"hc[axb][il]k_%a{50,70}$",
        "hc·aik_%a{58}",
        "hcaik_key",
    ),
    _row(
        "hubspot-token",
        "pat-",
        r"pat-(?:na|eu|ap)%d-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}$",
        "pa·t-na1-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "pat-na1",
    ),
    _row("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_%a{34}$", "h·f_%a{34}", "hf_token"),
    _row("infracost-key", "ico-", r"ico-%a{32}$", "ic·o-%a{32}", "ico-home"),
    _row(
        "json-web-token",
        "eyJ",
        r"eyJ%w{15,1000}\.eyJ%w{15,4000}\.%w{30,1000}$",
        "ey·J%w{30}.ey·J%w{60}.%w{43}",
        "eyJ%w{30}",
    ),
    _row(
        "jetbrains-token",
        "perm: perm-",
        r"perm[:-][A-Za-z0-9+/=]{8,80}\.[A-Za-z0-9+/=]{4,40}\.%a{30,60}$",
        "pe·rm:%b{16}.%b{8}.%a{36}",
        "perm:read.write",
    ),
    _row(
        "langfuse-key",
        "sk-lf-",
        r"sk-lf-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}$",
        "sk·-lf-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "sk-lf-",
    ),
    _row("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_%h{32}_%h{10}$", "ls·v2_pt_%h{32}_%h{10}", "lsv2_pt"),
    _row(
        "launchdarkly-key",
        "sdk- mob-",
        r"(?:sdk|mob)-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}$",
        "sd·k-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "sdk-go",
    ),
    _row("lichess-token", "lip_", r"lip_%a{20}$", "l·ip_%a{20}", "lip_token"),
    _row(
        "linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_%a{40,64}$", "li·n_api_%a{40}", "lin_api_key"
    ),
    _row("llamaindex-key", "llx-", r"llx-%a{40,60}$", "ll·x-%a{48}", "llx-key"),
    _row("lob-key", "live_ test_", r"(?:live|test)_%h{35}$", "li·ve_%h{35}", "live_%h{8}"),
    _row("mailchimp-key", "-us", r"%h{32}-us%d{1,2}$", "%h{32}·-us12", "%h{8}-us12"),
    _row("mailersend-token", "mlsn.", r"mlsn\.%h{64}$", "ml·sn.%h{64}", "mlsn.com"),
    _row("mailgun-key", "key-", r"key-%h{32}$", "ke·y-%h{32} mailgun", "key-%h{32}", near="mailgun"),
    _row("mapbox-token", "sk.eyJ", r"sk\.eyJ%w{40,200}\.%w{20,40}$", "sk·.eyJ%w{80}.%w{22}", "sk.eyJ"),
    _row("matrix-token", "syt_", r"syt_%w{4,80}_%a{20}_%a{6}$", "sy·t_%a{8}_%a{20}_%a{6}", "syt_token"),
    _row("maxmind-key", "_mmk", r"%a{6}_%a{29}_mmk$", "%a{6}_%a{29}·_mmk", "%a{6}_mmk"),
    _row("netlify-token", "nfp_", r"nfp_%a{36,40}$", "n·fp_%a{36}", "nfp_token"),
    _row(
        "newrelic-key",
        "NRAK- NRII- NRJS- NRAL",
        r"(?:NRAK-%u{27}|NRII-%w{32}|NRJS-%h{19}|%h{36}NRAL)$",
        "NR·AK-%u{27}",
        "NRAK-key",
    ),
    _row("neon-key", "napi_", r"napi_%l{40,80}$", "na·pi_%l{64}", "napi_schedule_prep"),
    _row(
        "notion-token", "ntn_ secret_", r"(?:ntn_%a{40,50}|secret_%a{43})$", "nt·n_%a{46}", "secret_key_base"
    ),
    _row("npm-token", "npm_", r"npm_%a{36}$", "np·m_%a{36}", "npm_config_registry"),
    _row("nuget-key", "oy2", r"oy2%l{43}$", "o·y2%l{43}", "oy2%l{4}"),
    _row("nvidia-key", "nvapi-", r"nvapi-%w{60,70}$", "nv·api-%w{64}", "nvapi-key"),
    _row("octopus-key", "API-", r"API-%u{25,36}$", "AP·I-%u{26}", "API-DOCUMENTATION"),
    _row("onepassword-token", "ops_eyJ", r"ops_eyJ%b{100,2000}={0,2}$=", "op·s_eyJ%b{250}", "ops_eyJ"),
    _row("onesignal-key", "os_v2_", r"os_v2_(?:app|org)_%l{90,120}$", "os·_v2_app_%l{103}", "os_v2_app"),
    _row(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-%w{40,200}|%a{20}T3BlbkFJ%a{20}|%a{48})$",
        "sk·-proj-%w{74}",
        "sk-proj-your-key-here",
    ),
    _row("openrouter-key", "sk-or-", r"sk-or-v1-%h{64}$", "sk·-or-v1-%h{64}", "sk-or-v1"),
    _row("openshift-token", "sha256~", r"sha256~%w{43}$", "sha·256~%w{43}", "sha256~token"),
    _row(
        "packagist-token",
        "packagist_",
        r"packagist_[ou][ru]t_%h{66,70}$",
        "pack·agist_ort_%h{68}",
        "packagist_ort",
    ),
    _row(
        "paypal-token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$%l{16}\$%h{32}$",
        "access·_token$production$%l{16}$%h{32}",
        "access_token$production",
    ),
    _row("perplexity-key", "pplx-", r"pplx-%a{48,56}$", "pp·lx-%a{48}", "pplx-api"),
    _row("pinecone-key", "pcsk_", r"pcsk_%a{4,8}_%a{50,70}$", "pc·sk_%a{6}_%a{63}", "pcsk_key"),
    _row(
        "plaid-token",
        "access-",
        r"access-(?:production|development|sandbox)-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}$",
        "acc·ess-production-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "access-production",
    ),
    _row(
        "planetscale-token",
        "pscale_",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}$",
        "pscale·_tkn_%w{43}",
        "pscale_tkn_",
    ),
    _row("postman-key", "PMAK-", r"PMAK-%h{24}-%h{34}$", "PM·AK-%h{24}-%h{34}", "PMAK-key"),
    _row("posthog-key", "phx_", r"phx_%a{40,60}$", "ph·x_%a{43}", "phx_new"),
    _row("prefect-key", "pnu_ pnb_", r"pn[ub]_%a{36}$", "pn·u_%a{36}", "pnu_key"),
    _row("pulumi-token", "pul-", r"pul-%h{40}$", "pu·l-%h{40}", "pul-token"),
    _row(
        "pypi-token",
        "pypi-AgE",
        r"pypi-AgE%w{50,400}$",
        "py·pi-AgEIcHlwaS5vcmc%w{120}",
        "pypi-AgEIcHlwaS5vcmc",
    ),
    _row("razorpay-key", "rzp_live_", r"rzp_live_%a{14,24}$", "rz·p_live_%a{14}", "rzp_live_key"),
    _row("readme-key", "rdme_", r"rdme_%l{70}$", "rd·me_%l{70}", "rdme_key"),
    _row("render-key", "rnd_", r"rnd_%a{26,36}$", "rn·d_%a{32}", "rnd_number"),
    _row("replicate-token", "r8_", r"r8_%a{37}$", "r·8_%a{37}", "r8_token"),
    _row("resend-key", "re_", r"re_%a{8}_%a{22,26}$", "re·_%a{8}_%a{24}", "re_compile"),
    _row("rubygems-key", "rubygems_", r"rubygems_%h{48}$", "ruby·gems_%h{48}", "rubygems_version"),
    _row("scalingo-token", "tk-us- tk-eu-", r"tk-(?:us|eu)-%w{48}$", "tk·-us-%w{48}", "tk-us-"),
    _row("sendgrid-key", "SG.", r"SG\.%w{20,24}\.%w{39,50}$", "S·G.%w{22}.%w{43}", "SG.mail"),
    _row(
        "sendinblue-key",
        "xkeysib- xsmtpsib-",
        r"x(?:key|smtp)sib-%h{64}-%a{16}$",
        "xk·eysib-%h{64}-%a{16}",
        "xkeysib-key",
    ),
    _row(
        "sentry-token",
        "sntrys_ sntryu_ sntrya_",
        r"sntry(?:[ua]_%h{64}|s_eyJ[%w+/=]{80,400})(?![A-Za-z0-9])",
        "sn·tryu_%h{64}",
        "sntryu_",
    ),
    _row("shippo-token", "shippo_", r"shippo_(?:live|test)_%h{40}$", "ship·po_live_%h{40}", "shippo_live_"),
    _row(
        "shopify-token",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}$",
        "sh·pat_%h{32}",
        "shpat_token",
    ),
    _row(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xoxc- xoxd-",
        r"xox(?:[abcdeprs]|e\.xox[bp])-[%w]{24,250}$",
        "xo·xb-%d{12}-%d{12}-%a{24}",
        "xoxb-your-token",
    ),
    _row(
        "slack-app-token",
        "xapp-",
        r"xapp-%d-%u{8,14}-%d{10,14}-%a{32,64}$",
        "xa·pp-1-A%u{10}-%d{12}-%h{64}",
        "xapp-1-A",
    ),
    _row("snyk-token", "snyk_", r"snyk_[us]at\.%h{8}\.[%w.]{40,200}$", "sn·yk_uat.%h{8}.%a{60}", "snyk_uat"),
    _row("sonarqube-token", "squ_ sqp_ sqa_", r"sq[upa]_%h{40}$", "sq·u_%h{40}", "squ_token"),
    _row("sourcegraph-token", "sgp_", r"sgp_(?:(?:%h{16}|local)_)?%h{40}$", "sg·p_%h{40}", "sgp_token"),
    _row(
        "square-token",
        "sq0 EAAA",
        r"(?:sq0(?:atp-%w{22}|csp-%w{43})|EAAA%w{60})$",
        "sq·0atp-%w{22}",
        "sq0atp",
    ),
    _row(
        "stripe-key",
        "sk_live_ rk_live_ sk_test_ rk_test_",
        r"[rs]k_(?:live|test)_%a{24,120}$",
        "s·k_live_%a{24}",
        "sk_live_key",
    ),
    _row("stripe-webhook-secret", "whsec_", r"whsec_%b{32,64}={0,2}$=", "wh·sec_%b{32}", "whsec_key"),
    _row(
        "supabase-token",
        "sbp_ sb_secret_",
        r"(?:sbp_%h{40}|sb_secret_%w{20,40}(?:_%a{8})?)$",
        "sb·p_%h{40}",
        "sbp_token",
    ),
    _row(
        "tailscale-key",
        "tskey-",
        r"tskey-[a-z]{3,10}-%a{8,24}-%a{20,48}$",
        "ts·key-auth-%a{12}-%a{32}",
        "tskey-auth",
    ),
    _row("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?%a{32}$", "tv·ly-%a{32}", "tvly-key"),
    _row("telegram-token", ":AA", r"%d{8,10}:AA%w{33}$", "%d{10}·:AA%w{33}", "%d{10}:AA"),
    _row("tencent-key", "AKID", r"AKID%a{32}$", "AK·ID%a{32}", "AKIDEXAMPLE"),
    _row(
        "terraform-token",
        ".atlasv1.",
        r"%a{14}\.atlasv1\.[%w=]{60,80}$",
        "%a{14}·.atlasv1.%w{67}",
        "app.atlasv1.io",
    ),
    _row("twilio-key", "SK", r"SK%h{32}$", "S·K%h{32} twilio", "SK%h{32}", near="twilio"),
    _row(
        "twitter-token",
        "AAAAAAAAAAAAAAAAAAAAA",
        r"A{21}(?P<value>[%a%]{60,100})$",
        "A·AAAAAAAAAAAAAAAAAAAA%a{80}",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ),
    _row("typeform-token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{44,64}$", "tf·p_%w{59}", "tfp_token"),
    _row("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.%w{24,300}$", "hv·s.%w{90}", "hvs.token"),
    _row("volcengine-key", "AKLT", r"AKLT%w{40,60}$", "AK·LT%w{43}", "AKLT"),
    _row("xai-key", "xai-", r"xai-%a{70,90}$", "x·ai-%a{80}", "xai-key"),
    _row("xata-key", "xau_", r"xau_%a{36}$", "xa·u_%a{36}", "xau_key"),
    _row("yandex-key", "AQVN YCAJE YCP", r"(?:AQVN%w{35,38}|YC[AP]%w{22,38})$", "AQ·VN%w{36}", "AQVN"),
    *(_row(*row) for row in MORE_TOKENS),
)
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
        r"://[^\s/:@\"'`<>\[\](){}$?#]{0,64}:(?P<value>[^%n/:@\"'`<>\[\](){}$*?#]{3,128})@[A-Za-z0-9\[]",
        "postgres://app:·k7Vq%a{8}@db.example:5432/x",
        "postgres://user:password@localhost/x",
    ),
    *(_free(*row) for row in MORE_EMBEDDED),
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
        r"(?:ecovery"
        r"|ackup) codes?[^\n]{0,80}(?:\n{1,2}|: )[ \t>*+`-]{0,12}(?P<value>(?=%w{0,10}%d)%l{4,6}-%l{4,6})\b",
        "Recovery codes:\n- %l{5}-·x7w9k",
        "Recovery codes:\n- kept in the safe",
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
_WORD: Final = r"(?:passw(?:or)?d|passphrase|pass|token|secret|api-?key|(?:access|auth|secret|account)-key)"
_NAME: Final = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|(?<![a-z])(?:pass|psk|pw)|(?<!hashed_)(?<!:)secret"
    r"|(?<!publickey)(?<![?&])(?<![cx]srf)(?<!next)(?<!page)(?<!search)(?<![?&]ss)(?<![cx]srf-)token"
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
        "auth",
        r"authorization[\"'`\\]{0,3}[ \t]{0,4}[:=,\"']",
        r"authorization(?:\\?[\"'`]){0,2}[ \t]{0,4}(?:[:=,]|(?=[\"']))[ \t]{0,4}[\"'`]{0,2}"
        r"(?:(?:bearer|basic|token|apikey|api-key|key|ssws|splunk|bot|genie-?key)[ \t]{1,4})?"
        r"(?P<value>[A-Za-z0-9_.~+/=:-]{10,2000}+)(?!\()",
        "Author·ization: Bearer %a{40}",
        "Authorization: Bearer <token>",
    ),
    _named(
        "command-line-password",
        "+-p +-u +-a +-w +-x +--user +--proxy-user +--pass htpasswd",
        r" -(?:[upawx][^a-z]|p[^\s]|-(?:user|proxy-user|pass)|pass)|htpasswd",
        r"(?:\b(?:curl|wget|http)\b[^\n|]{0,300}?[ \t](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,100}"
        r":[\"']?"
        r"|\bsshpass[ \t]{1,4}-p[ \t]{0,2}[\"']?"
        r"|\b(?:mysql|mariadb)[a-z-]{0,12}\b[^\n|]{0,200}?[ \t]-p[\"']?"
        r"|\bredis-cli\b[^\n|]{0,100}?[ \t](?:-a|--pass)[ \t]{1,4}[\"']?"
        r"|\b(?:7za?|7zz|rar|unrar)\b[^\n|]{0,100}?[ \t]-p"
        r"|\b(?:zip|unzip|mosquitto_[a-z]{3}|ipmitool|radclient|cqlsh|smbmap|crackmapexec|netexec"
        r"|evil-winrm)\b[^\n|]{0,200}?[ \t]-p[ \t]{1,4}[\"']?"
        r"|\bsnmp[a-z]{3,10}\b[^\n|]{0,200}?[ \t]-[ax][ \t]{1,4}(?!sha|md5|aes|des)[\"']?"
        r"|\bhttps?[ \t]{1,4}[^\n|]{0,100}?-a[ \t]{1,4}[\"']?[^\s:\"']{1,64}:"
        r"|\b(?:docker|podman|helm|az|oc|skopeo|buildah|nerdctl|mongo[a-z]{0,8}|rabbitmqadmin"
        r"|sqlcmd)\b[^\n|]{0,200}?"
        r"[ \t]-p[ \t]{1,4}[\"']?"
        r"|\bldap[a-z]{3,8}\b[^\n|]{0,200}?[ \t]-w[ \t]{1,4}[\"']?"
        r"|\bsmbclient\b[^\n|]{0,200}?[ \t]-u[ \t]{1,4}[\"']?[^\s%\"']{1,64}%"
        r"|\bhtpasswd\b[ \t]{1,4}-[a-z]{0,6}b[a-z]{0,6}[ \t]{1,4}(?:[^\s]{1,100} )?[^\s]{1,64} [\"']?"
        r"|-pass(?:in|out)?[ \t]{1,4}[\"']?pass:)"
        r"(?P<value>[^%n\"'`<>|]{6,200}+)",
        "mysql·dump -u app -pk7Vq%a{8} shop",
        "mysqldump -u app -p shop",
    ),
    _named(
        "secret-option",
        "pass secret token key",
        r"(?<=-)[a-z-]{3,12}[ \t]",
        r"--(?:[a-z]{1,12}-){0,3}" + _WORD + r"[ \t]{1,4}[\"']?(?P<value>[^%n\"'`<>|,;(){}\[\]]{8,300}+)",
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
    *(_named(*row) for row in POSITIONS),
)
"""Formats recognized by a name before the value, on one line and in any case."""

SECRET_RULES: Final = (*TOKENS, *EMBEDDED, *BLOCKS, *NAMED)
