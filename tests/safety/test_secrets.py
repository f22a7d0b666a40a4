"""Secrets are found by their issuers' formats; similar texts are not.

Every token here is made up at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import string
from functools import partial

import pytest

from tests.conftest import PROJECT
from thunderus_mem.safety.secret_rules import SECRET_RULES, TOKENS, SecretRule, example_text, shown_example
from thunderus_mem.safety.secret_signs import may_contain_secret
from thunderus_mem.safety.secrets import MENTIONED, diff_for_log, find_secrets, redacted_data

BASE62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"


def some(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def tokens(seed: int) -> list[tuple[str, str, str]]:
    """Kind, text with a token, the token: one or more of every kind."""
    rng = random.Random(seed)

    def b(count: int) -> str:
        return some(rng, BASE62, count)

    def h(count: int) -> str:
        return some(rng, HEX, count)

    def u(count: int) -> str:
        return some(rng, UPPER, count)

    plain = [
        ("adafruit-key", "aio" + "_" + b(28)),
        ("age-key", "AGE-SECRET" + "-KEY-1" + u(58)),
        ("airtable-token", "pat" + b(14) + "." + h(64)),
        ("anthropic-key", "sk-" + "ant-api03-" + b(93) + "AA"),
        ("artifactory-key", "AK" + "Cp" + b(69)),
        ("atlassian-token", "AT" + "ATT3" + b(180)),
        ("aws-access-key", "AK" + "IA" + some(rng, BASE32, 16)),
        ("aws-access-key", "AS" + "IA" + some(rng, BASE32, 16)),
        ("azure-client-secret", b(3) + "8Q" + "~" + b(34)),
        ("buildkite-token", "bk" + "ua_" + some(rng, string.ascii_lowercase + string.digits, 40)),
        ("contentful-token", "CF" + "PAT-" + b(43)),
        ("databricks-token", "da" + "pi" + h(32)),
        ("digitalocean-token", "dop" + "_v1_" + h(64)),
        ("docker-token", "dckr" + "_pat_" + b(27)),
        ("doppler-token", "dp" + ".pt." + b(43)),
        ("dynatrace-token", "dt0" + "c01." + u(24) + "." + u(64)),
        ("figma-token", "fi" + "gd_" + b(40)),
        ("flyio-token", "fo" + "1_" + b(43)),
        ("github-token", "gh" + "p_" + b(36)),
        ("github-token", "gh" + "s_" + b(36)),
        ("github-token", "gh" + "o_" + b(36)),
        ("github-fine-token", "github" + "_pat_" + b(22) + "_" + b(59)),
        ("gitlab-token", "gl" + "pat-" + b(20)),
        ("gitlab-token", "gl" + "rt-" + b(20)),
        ("google-api-key", "AI" + "za" + b(35)),
        ("google-client-secret", "GO" + "CSPX-" + b(28)),
        ("google-oauth-token", "ya" + "29." + b(80)),
        ("grafana-token", "gl" + "sa_" + b(32) + "_" + h(8)),
        ("groq-key", "gs" + "k_" + b(52)),
        ("heroku-key", "HR" + "KU-" + b(58)),
        ("huggingface-token", "h" + "f_" + b(34)),
        ("json-web-token", "ey" + "J" + b(30) + ".ey" + "J" + b(60) + "." + b(43)),
        ("langsmith-key", "ls" + "v2_pt_" + h(32) + "_" + h(10)),
        ("linear-key", "lin" + "_api_" + b(40)),
        ("mailchimp-key", h(32) + "-us" + "12"),
        ("netlify-token", "n" + "fp_" + b(36)),
        ("newrelic-key", "NR" + "AK-" + u(27)),
        ("notion-token", "nt" + "n_" + b(46)),
        ("npm-token", "np" + "m_" + b(36)),
        ("openai-key", "sk-" + "proj-" + b(74)),
        ("openai-key", "sk-" + b(20) + "T3Blbk" + "FJ" + b(20)),
        ("perplexity-key", "pp" + "lx-" + b(48)),
        ("planetscale-token", "pscale" + "_tkn_" + b(43)),
        ("postman-key", "PM" + "AK-" + h(24) + "-" + h(34)),
        ("pulumi-token", "pu" + "l-" + h(40)),
        ("pypi-token", "py" + "pi-AgE" + b(120)),
        ("replicate-token", "r" + "8_" + b(37)),
        ("rubygems-key", "ruby" + "gems_" + h(48)),
        ("sendgrid-key", "S" + "G." + b(22) + "." + b(43)),
        ("sentry-token", "sn" + "tryu_" + h(64)),
        ("shopify-token", "sh" + "pat_" + h(32)),
        ("slack-token", "xo" + "xb-" + some(rng, string.digits, 12) + "-" + b(24)),
        ("slack-app-token", "xa" + "pp-1-" + u(11) + "-" + some(rng, string.digits, 12) + "-" + h(64)),
        ("square-token", "sq0" + "atp-" + b(22)),
        ("stripe-key", "sk" + "_live_" + b(24)),
        ("stripe-webhook-secret", "wh" + "sec_" + b(32)),
        ("supabase-token", "sb" + "p_" + h(40)),
        ("tailscale-key", "ts" + "key-auth-" + b(12) + "-" + b(32)),
        ("telegram-token", some(rng, "123456789", 10) + ":A" + "A" + b(33)),
        ("terraform-token", b(14) + ".atlas" + "v1." + b(67)),
        ("typeform-token", "tf" + "p_" + b(59)),
        ("vault-token", "hv" + "s." + b(90)),
        ("xai-key", "x" + "ai-" + b(80)),
    ]
    shapes = ["Deploy with {} now.", "TOKEN={}", "`{}`", '{{"token": "{}"}}', "https://example.org/?t={}"]
    made = [(kind, rng.choice(shapes).format(token), token) for kind, token in plain]
    secret, password = b(40), "x" + b(10) + "7" + b(4)
    key = "\n".join(b(64) for _ in range(4))
    hook = u(9) + "/" + u(9) + "/" + b(24)
    return [
        *made,
        ("aws-secret-key", f"aws_secret_access_key = {secret}", secret),
        ("azure-storage-key", "Account" + f"Key={key[:43] + b(43)}==".replace("\n", "q"), ""),
        (
            "webhook-url",
            "https://discord.com/api/" + "webhooks/" + some(rng, string.digits, 18) + "/" + b(68),
            "",
        ),
        ("webhook-url", "https://hooks.slack.com/" + "services/" + hook, ""),
        ("private-key", "-----BEGIN RSA " + f"PRIVATE KEY-----\n{key}\n-----END", ""),
        ("url-password", f"postgres://app:{password}@db.example:5432/x", password),
        ("mailgun-key", f"mailgun: key-{h(32)}", ""),
        ("twilio-key", f"twilio: SK{h(32)}", ""),
    ]


def test_words_after_the_beginning_of_a_token_are_no_finding() -> None:
    for text in ("gl" + "pat-the-token-of-the-mirror", "hv" + "s.example-of-a-token.of-the-vault"):
        assert find_secrets(f"Use {text} here.") == []


def test_at_least_95_of_100_generated_tokens_are_found_with_their_kind() -> None:
    made = [one for seed in range(4) for one in tokens(seed)]
    assert len({kind for kind, _, _ in made}) >= 60
    missed = [kind for kind, text, _ in made if kind not in {one.kind for one in find_secrets(text)}]
    assert len(missed) <= len(made) * 0.05, missed


def test_finding_has_the_position_and_hash_of_the_token() -> None:
    for kind, text, token in tokens(7):
        if token:
            found = [one for one in find_secrets(text) if one.kind == kind]
            assert text[found[0].start : found[0].end] == token, kind
            assert found[0].fingerprint == hashlib.sha256(token.encode()).hexdigest()[:8]
            assert token not in repr(found[0])


def test_token_in_the_middle_of_a_word_is_ignored() -> None:
    spaced = {
        "aws-secret-key",
        "azure-storage-key",
        "webhook-url",
        "private-key",
        "url-password",
    }
    for kind, _, token in tokens(9):
        if token and kind not in spaced:
            assert kind not in {one.kind for one in find_secrets(f"Word{token}")}, kind


def benign(seed: int) -> str:
    rng = random.Random(seed)
    b, h = partial(some, rng, BASE62), partial(some, rng, HEX)
    ulid = some(rng, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)
    uuid = f"{h(8)}-{h(4)}-{h(4)}-{h(4)}-{h(12)}"
    lines = [
        f"Commit {h(40)} fixed it, see also {h(7)} and evt_{ulid}.",
        f"sha256:{h(64)} of the file, md5 {h(32)}, request {uuid}.",
        "Set `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, `SK_LIVE_KEY_" + some(rng, string.ascii_uppercase, 12),
        "sk-learn, task-risk-desk-ask-mask, sk-proj-your-key-here are prose; ghp_" + "x" * 36,
        f"integrity sha512-{b(86)}== in the lock file",
        f"postgres://user:password@localhost/db and https://user:${{TOKEN}}@host/{h(12)}",
        "AKIAIOSFODNN7EXAMPLE and hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa are examples",
        f"image: registry.example/app@sha256:{h(64)}",
        f"src/{some(rng, string.ascii_lowercase, 20)}/{some(rng, string.ascii_lowercase, 30)}.py",
        f"key-{h(32)} is a cache key; SK{h(32)} a name; data:image/png;base64,{b(60)}",
        "-----BEGIN PRIVATE KEY----- goes first, then the key, then -----END PRIVATE KEY-----",
        f"Bearer <token>, xoxb-your-token, npm_config_registry, dp.{h(8)}, s.{b(10)}",
    ]
    return "\n".join(rng.sample(lines, 5))


def test_at_most_one_of_200_benign_texts_is_reported() -> None:
    fired = [(seed, find_secrets(benign(seed))) for seed in range(1_000)]
    assert sum(bool(found) for _, found in fired) <= 5, [one for one in fired if one[1]][:3]


@pytest.mark.parametrize("blank", ["\n", " ", "\t", "\r\n", "\u00a0", "\u2028"])
def test_long_text_has_the_secrets_of_its_parts(blank: str) -> None:
    needy = {rule.kind for rule in SECRET_RULES if rule.near or rule.gate}
    for seed in range(3):
        parts = [text for kind, text, _ in tokens(seed) if kind not in needy]
        parts += [line for n in range(20) for line in benign(n).split("\n")]
        random.Random(seed).shuffle(parts)
        wanted, at = [], 0
        for part in parts:
            found = [one for one in find_secrets(part) if one.kind != MENTIONED]
            wanted += [(one.kind, at + one.start, at + one.end) for one in found]
            at += len(part) + len(blank)
        found = [one for one in find_secrets(blank.join(parts)) if one.kind != MENTIONED]
        assert [(one.kind, one.start, one.end) for one in found] == wanted


@pytest.mark.parametrize("rule", TOKENS, ids=lambda rule: rule.kind)
def test_pattern_searched_in_single_words_has_no_spaces(rule: SecretRule) -> None:
    classes = re.findall(r"\[(?:\\.|[^\]\\])*\]", rule.shape)
    bare = re.sub(r"\[(?:\\.|[^\]\\])*\]|\\[^s]", "", rule.shape)
    assert not [one for one in classes if one.startswith("[^") or r"\s" in one]
    assert not re.search(r"\\s|[. ]", bare)


@pytest.mark.parametrize("rule", SECRET_RULES, ids=lambda rule: rule.kind)
def test_rule_finds_its_example_and_not_its_counter_example(rule: SecretRule) -> None:
    example = example_text(rule.example)
    (found, *_) = find_secrets(f"See {example}\n")
    assert found.kind == rule.kind
    assert find_secrets(f"See {example_text(rule.counter)}\n") == []
    assert find_secrets(shown_example(rule.example)) == []


VALUES = {
    "password": "k7Vq" + "9tRz2m!w",
    "word": "tide.4821" + ".lamp",
    "key": "q7Tx9Lm2RvK0pZ81sWd4" + "Ga6Yb3Hc",
    "plain": "lampa" + "4821mrok",
    "compound": "Quitten-Nebel" + "-93-Orgel",
    "long": "Dcyfdx0V53UXyzwxXuyXEntB" + "CV4HllRHxr2HiIkVyY0B",
    "seed": "orbit cactus velvet ladder thrive mimic walnut sponsor glue harvest panic fiscal",
}
MENTIONS = (
    "The password of the backup account is {password} until May.",
    "Das Kennwort lautet {password}, bitte nicht \u00e4ndern.",
    "Le mot de passe du compte est \u00ab {password} \u00bb.",
    "La contrase\u00f1a de la red es {word}.",
    "\u6570\u636e\u5e93\u7684\u5bc6\u7801\u662f {password}\u3002",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f\u300c{password}\u300d\u3067\u3059\u3002",
    "\u041f\u0430\u0440\u043e\u043b\u044c: {password}, \u043b\u043e\u0433\u0438\u043d root.",
    "| host | user | password |\n|---|---|---|\n| a | b | {word} |",
    "url,username,password\nhttps://a.example,anna,{password}",
    'variable "db_password" {{\n  default = "{password}"\n}}',
    "### API token of the mirror\n\n{key}",
    "gpg --batch --passphrase '{word}' -d a.gpg",
    "requirepass {key}",
    'The repository has the passphrase "velvet anchor copper garlic".',
    "the secret of the client is still {key}",
    "MOT_DE_PASSE_BDD={password}",
    "clave de acceso al servidor: {password}",
    "User `preview`, password `Tide-Lamp-61`.",
    "Unseal Key 1: {key}",
    "The passphrase is: copper violin tuesday 48 harbour lantern. Type it twice.",
    "echo -n '{password}' > ~/.vault_pass",
    "postgres://app%40example:{password}@db.example/x",
    "curl -u ops:'{password}' https://a.example",
    "echo {key} | deploy login --organization acme",
    "sudo -S true <<< '{key}'",
    "rdesktop -u ops -p Tide-Lamp-61 a.example",
    "xfreerdp /v:a.example /u:ops /p:{password}",
    "require('twilio')('AC0a1b2c3d4e5f60718293a4b5c6d7e8f9', '9f8e7d6c5b4a39281706f5e4d3c2b1a0')",
    "| service | integration key |\n|---|---|\n| checkout | {key} |",
    'acl {{ tokens {{ agent = "5441abd7-31f0-42c9-a5d1-f98fd3b912d7" }} }}',
    "Put 9f8e7d6c5b4a39281706f5e4d3c2b1a0 into `config/main.key` and start it.",
    "WIFI:T:WPA;S:guests;P:tulip-harbor-62;;",
    "Recovery codes:\n\n- ~~4f1c2-9ab37~~\n- 558f6-a6afe",
    "Wallet, seed: orbit tunnel velvet lemon cruise panther idle gospel wrist mango fabric shove. Keep it.",
    "accounts: ['0xbdeec6c002f65672fafdf1e56e96168f8e73e736274ad57a8fd3c77d248f633b']",
    "jwt.sign(payload, '{key}')",
    "NetworkSKey: 9b51322ad11dfa3be6332e185731050f",
    "Console: qa@acme.example / {password}",
    "bindpw {password}",
    "rocommunity {password}",
    "enable secret 9 $9$tQaHogAa68o06C$MwziGEuPNnW14yA1LpjQHL4Kmtera7qby1JyyHEKl4F",
    "Door code: 4520#",
    "- Tresor-App: Masterpasswort \u00bb{compound}\u00ab",
    'cle_sauvegarde = "{long}"',
    "Le mdp du routeur est {plain}.",
    "palavra-passe: {plain}",
    "La clave del wifi: {plain}",
    "\u8d26\u53f7 report_ro,\u5bc6\u7801:{password}\u3002\u53ea\u5141\u8bb8",
    "\u521d\u59cb\u5bc6\u7801\u662f{plain},\u7528\u6237\u540d root",
    "\u30d1\u30b9\u30ef\u30fc\u30c9:{password}\u3067\u3059\u3002",
    "\ube44\ubc00\ubc88\ud638\ub294 {plain}\uc785\ub2c8\ub2e4",
    "Test sunucusunun \u015fifresi nL5\u00e7\u0131nar?82 olarak de\u011fi\u015ftirildi.",
    "\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0441\u0435\u0440\u0432\u0435\u0440\u0430: {plain}",
    "Has\u0142o do bazy: {plain}",
    "Heslo k datab\u00e1zi: {plain}",
    "L\u00f6senordet \u00e4r {plain}.",
    "Palvelimen salasana: {plain}",
    "Az admin jelszava {password}",
    "Wachtwoord van de NAS: {plain}",
    "Lozinka: {plain}",
    "m\u1eadt kh\u1ea9u: {plain}",
    "\u05e1\u05d9\u05e1\u05de\u05d4: {plain}",
    "WLAN-Schl\u00fcssel: {plain}",
    "\u043a\u043b\u044e\u0447 API: {key}",
    "API\u5bc6\u94a5:{key}",
    "Words in order: {seed}. PIN as usual.",
    (
        "Recovery sheet: 1. orbit 2. cactus 3. velvet 4. ladder 5. thrive 6. mimic 7. walnut 8. "
        "sponsor 9. glue 10. harvest 11. panic 12. fiscal"
    ),
    "the application password `ZoMw WjgL cH0H k7oe v0st Y0ut` (blanks are allowed)",
    "Google app password: qxvd mwzt plrk hbnc",
    "BitLocker recovery key: 483021-559812-019284-661203-110394-582910-337485-220193",
    "> root pw of the label printer?\n> yep, it's `{plain}`",
    "root pw of the label printer? - it's `{plain}`",
    "Q: What is the password of the NAS?\nA: {password}",
    "weather.key: api {key}, private {long}==",
    "postgres://mill:p%40Ss%23Kt9%21vz@db.mill.lan/mill",
    "composer config --global gitlab-token.git.example {key}",
    "wpa_passphrase Werkstatt {plain}",
    "username ops privilege 15 secret {password}",
    "Die Datei ist alt, sie geht mit \u00bb{plain}\u00ab auf.",
    'client = Weather("{key}") // production key',
    "kinit ops <<< {password}",
    'storePassword "{plain}"',
    "Password (unchanged since 2021): {plain}",
    "the password of the printer, which is {plain}",
)


@pytest.mark.parametrize("text", MENTIONS)
def test_value_soon_after_a_name_is_found(text: str) -> None:
    assert find_secrets(text.format(**VALUES)), text


@pytest.mark.parametrize(
    "text",
    [
        "The admin password is stored in the safe, entry 12 of the list.",
        "Passwords are hashed with argon2id, 64 MiB.",
        "Give the token of the commit 4f2c9a1be0d37765c8bb1e90a2d6f3c4e8a7b512.",
        "password = decode64(read_value(7))",
        "| token | limit |\n|---|---|\n| read | 1500 |",
        "Pass the `maxBuffer` and `timeout2` on.",
        "The password policy asks for 14 characters and PBKDF2.",
        "db_password: ENC[AES256_GCM,data:q7Tx9Lm2RvK0pZ81sWd4,iv:Ga6Yb3HcQ1x8,type:str]",
        '"login.password.hint": "Mindestens12Zeichen"',
        "Tests pass (1.020s), and PASS: the gate blocks low scores",
        "The state is in PostgreSQL: passwords are rotated by PgBouncer.",
        "accessToken = 'pk.eyJ1IjoiYWNtZS1tYXBzIiwiYSI6ImNscGtt.sLck97m6LX5E5iB6TT4y6D'",
        "https://storage.example/index.html?sig=scheduling&test=honor",
        "mnemonic: abandon abandon abandon abandon abandon about",
        "- [[adr.tokens|Use tokens]]: `evt_01KFFWGKG8QQJM2S6R76FQCZ26`",
        "Phase 0.9 PASS \u2014 OVERRIDE-17kQ by the lead, PASS (GateB2-xK)",
        "PASS: LoginDialogRejectsShortNames2\nPASS: TokenRefreshAfter401Retry",
        "PASS: tests/test_end2end/test_move_4_files.py",
        "It improves pass@1 for CodeLlama-13B (+3) and Llama3.1-8B; Pass@256 rose (Qwen3-4B).",
        "[Fix one missing seed node](./How%20to%20fix%201%20missing%20seed%20node.md)",
        "[Find the private key](./Where%20is%20my%20key%20in%202%20steps.md#Step%202)",
        "Kennwort: mindestens zw\u00f6lf Zeichen, keine Namen, keine Jahreszahlen.",
        "aes = AES.new(password, AES.MODE_CFB, iv); secret.getBytes(StandardCharsets.UTF_8)",
        "This story is based on user/kustomize#2825, see login at kubernetes/website#26970.",
        "msiexec /package $pwd\\AcmeService.10.0.1816.exe /log $pwd\\install.1.log",
        "ssl_ciphers ECDHE:!aNULL:!EXPORT:!PSK:!aECDH:!EDH-DSS-DES3-SHA:!KRB5-DES3;",
        "args: ['-e', 'DB_PASSWORD', '-e', 'DB_NAME',\n'-e', 'DB_SPACE=db2-Local', '-e', 'DB_MODE=sta3Dio']",
        "In Athena the same key is identified as `my-app/2022-05-11/17-aB3`.",
        "DB_PASSWORD=s3cr3t-Value12 and password: superSecure1",
        "author=Password: author_id=4815162342",
        "Authorization: Bearer q7Tx9Lm2RvK0pZ81sWd4...",
        "\u5f97\u5230\u5bc6\u7801\u540e \u7b2c0\u5c42\u5df2\u7ecf\u7531Backbone4\u9884\u6d4b",
        "pw = 0x7ff7b86cd7e0, *pw = 10000",
        'default key: kms_key="arn:aws:kms:us-east-1:123456789012:key/1234-aB"',
        '<input type="hidden" name="authenticity_token" value="UHQSKXCaFqy9ao2kLmZ8">',
        "| Active parameters per token | **~3.2B** |",
        "User name but no password ^vXzYs4UE\nPassword spraying ^ssT9qcL2",
        "export TELEGRAM_BOT_TOKEN=123456789:ABCdefGHIjklMNOpqrsTUVwxyz",
        "python build.py -o unix -f shell.zip -p srv/Files2/www/ -d 15",
        "# fix(seed): address code review findings",
        "Updated the wiring to pass the identity, see the token assembly: `src/n8n/nodes/get-user2-x4.js`",
        "'token' => 'required', 'password' => 'required|min:8|confirmed1'",
        "Azure AD PowerShell (AppId: `1b730954-1685-4b74-9bfd-dac224a7b894`)",
        "NGC user key: S-1-5-21-4982361023-1004336348-1177238915-1003",
        "The user can pass boards to `MCTSWrapper2xK`; the device key as password, 401\u2192clear.",
        "| Cross-encoder model | \u2705 PASS | ms-marco-MiniLM-L-6-v2 |",
        "Root / 7th\u3068\u4e0a\u58f0\u3092\u5e83\u304f",
        "X509v3 Authority Key Identifier:\n  keyid:D6:4D:F9:39:60:6C:A4:97:0B:77:B3:1C",
        "Subject Key Identifier: D6:4D:F9:39:60:6C:A4:97:0B:77:B3:1C:99:5A:02",
        "The files had keys that looked like this:\n- `my-app/2022-05-11/17-aB3/3f1c9a77e2`",
        'storedKey : "Ist4cgpEd1vTbnRnQLdobgmOsBA="',
        "spring.datasource.password=ENC(+utSha09xQJ0Ax4NgoqYqnugGFrdvoiSc+2chOSYLB==)",
        "password: '{cipher}AQB2q7Tx9Lm2RvK0pZ81sWd4Ga6Yb3Hc'",
        "password={AES}q7Tx9Lm2RvK0pZ81sWd4Ga6Yb3Hc=",
        "db_password = vault:v1:q7Tx9Lm2RvK0pZ81sWd4Ga6Yb3Hc",
        "db.password = !encrypted:q7Tx9Lm2RvK0pZ81sWd4Ga6Yb3Hc",
        "Password length: minimum12, password policy: NIST800-63B",
        "What is the password policy?\nA: at least 14 characters, see `RFC-4013`.",
        "Is the password stored?\n\nNo, `bcrypt` with cost 12.",
        "\u5bc6\u7801:\u81f3\u5c1112\u4f4d,\u5305\u542b\u5927\u5199\u5b57\u6bcd",
        "\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 8 \u0437\u043d\u0430\u043a\u043e\u0432",
        "\u015fifresi en az 8 karakter, has\u0142o musi mie\u0107 12 znak\u00f3w",
        "Jelsz\u00f3: legal\u00e1bb 12 karakter. L\u00f6senord: minst 12 tecken.",
        "\u015fifreleme: AES256modu",
        "The MDP is CartPole-v1, its state is state10",
        "oauth:token and oauth:login-with-google",
        "scan config set api=$SCAN_TOKEN",
        "The file opens with `#!/bin/bash`, the palette opens with `Ctrl-Shift-F12`.",
        "`sessionKey2` is the key of the session, `user_id_2` is the primary key.",
        'pad = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"  # sha of the public key',
        "Log in as admin with python3.12",
        "user: app, password: Y2hhbmdlbWU=",
        "Wallet words: the list has two thousand words in english and the words are sorted by name",
        "The password that must have four even more words is long.",
        "cl\u00e9 primaire : utilisateur_id_2024, article_cle: version-2024-11",
        "cache-key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0\nidempotency key: 9f8e7d6c5b4a39281706f5e4d3",
    ],
)
def test_words_after_a_name_are_no_finding(text: str) -> None:
    assert find_secrets(text) == []


def web_token(claims: str) -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', claims)
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "KUNEmq5fJp68i1WYsOWO" + "LzRsflLTFET7Jjp2dElpaAf"])


LEAKED = web_token('{"sub":"deployer","role":"owner","exp":1906700000}')
SIGNED = web_token('{"iss":"storage","path":"/88/3011","exp":1706700000}')


@pytest.mark.parametrize(
    "text",
    [
        f"![before](https://images.example/88/3011.png?jwt={LEAKED})",
        f'<img src="https://images.example/88/3011.jpg?w=1&token={LEAKED}" width="40">',
        f"[slides](https://files.example/deck?token={LEAKED})",
        f"[slides](https://short.example/l/{LEAKED}/s/64)",
        f"See https://files.example/object/sign/88/3011?token={SIGNED}",
        "[![coverage](https://cov.example/gh/acme/web/badge.svg?token=7KJ2QWMZ1P)](https://cov.example)",
        "[report](https://reports.example/report?token=050f35f76512b1a7c9d04e)",
        "[post](https://social.example/explore/68dbc161?xsec_token=ABQgeyLaLBR3lK7tQ2x)",
        "https://books.example/books?id=4aAmKFQC&pg=PA11&sig=" + "UYthMOe3gDSLJE8xQ2mZ7",
        "A token is returned: " + web_token('{"iss":"http://localhost:8080/realms/demo"}'),
        "https://jwt.example/#debugger?token=" + web_token('{"sub":"1234567890","name":"John Doe"}'),
    ],
)
def test_link_that_carries_its_own_permission_is_no_finding(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {LEAKED}",
        f"JWT={LEAKED}",
        f'const jwt = "{LEAKED}";',
        f"curl 'https://api.example/v1/me?token={LEAKED}'",
        f"wss://live.example/socket?token={LEAKED}",
        "[console](https://api.example/v1?api_key=050f35f76512b1a7c9d04e)",
    ],
)
def test_web_token_outside_a_link_to_a_file_is_found(text: str) -> None:
    assert find_secrets(text)


def test_kinds_are_unique_and_pages_show_no_value() -> None:
    assert len(SECRET_RULES) >= 140
    assert len({rule.kind for rule in SECRET_RULES}) == len(SECRET_RULES)
    assert all(rule.anchors and all(rule.anchors) for rule in SECRET_RULES)
    for rule in SECRET_RULES:
        assert len(shown_example(rule.example)) < 130, rule.kind


def test_development_cases_are_found() -> None:
    path = os.path.join(PROJECT, "benchmarks", "safety", "development.jsonl")
    with open(path, encoding="utf-8") as lines:
        cases = [one for one in map(json.loads, lines) if one["class"] == "secret"]
    missed = [one["id"] for one in cases if not find_secrets(one["text"].replace("\u27e6\u27e7", ""))]
    assert len(cases) >= 100
    assert len(missed) <= len(cases) * 0.05, missed


@pytest.mark.parametrize(
    "value",
    [
        *(
            "changeme",
            "$DB_PASSWORD",
            "${DB_PASSWORD}",
            "<token>",
            "********",
            "xxxxxxxxxxxx",
            "{{ password }}",
        ),
        *(
            "your-token-1234",
            "secret/data/prod/db1",
            "postgres-credentials-2",
            "/run/secrets/db_1",
            "P@ssw0rd",
        ),
        *("getSecret(name1)", "c2VjcmV0Cg==", "sha256-of-the-file1", "prod-tls-2024"),
    ],
)
def test_placeholder_after_a_name_is_no_finding(value: str) -> None:
    for text in (f"PASSWORD={value}", f"password: {value}", f'"api_key": "{value}"', f"--token {value} x"):
        assert find_secrets(text) == [], text


def test_name_and_value_of_an_object_count_together() -> None:
    value = "k7Vq" + "9tRz2mLw"
    assert value not in json.dumps(redacted_data({"env": [{"DB_PASSWORD": value}]}))
    assert redacted_data({"name": value}) == {"name": value}


@pytest.mark.parametrize("rule", SECRET_RULES, ids=lambda rule: rule.kind)
def test_every_repetition_is_bounded(rule: SecretRule) -> None:
    without_classes = re.sub(r"\[(?:\\.|[^\]\\])*\]|\\.|\}\+", "x", rule.pattern.pattern)
    assert not re.search(r"[*+]|\{[0-9]+,\}", without_classes)


def test_name_inside_an_id_is_no_name() -> None:
    ids = (
        "evt_01KFFWGHPWDRD99FDTGJ8YEPF1",
        "evt_01KFFWGHHRHD99FDTGJ8YEPF02",
        "evt_01KFFWG4PSK7D99FDTGJ8YEPF3",
    )
    assert find_secrets("".join(f"    - {one}\n" for one in (*ids, *ids))) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('RESTIC_PASS\u27e6WORD="mussel-tide-9-lantern"', "mentioned-secret"),
        ("rtsp://viewer:Schwalbe\u27e62west@192.0.2.4/stream", "url-password"),
        ("jdbc:mysql://db.example/shop?user=app&password=Meer\u27e6schaum%2174", "password-parameter"),
        ("//nas.example/:_auth=YXBw\u27e6OlppcmJlLU51dCtGZWRlcjg4", "docker-auth"),
        ("la contrase\u00f1a Moncayo\u27e6Nevado_23", "mentioned-secret"),
        ("Password: Kadakas\u27e6Suits8", "assigned-secret"),
        ("docker login -u ci -p Xy12\u27e6zz98Qw reg", "command-line-password"),
        (
            "openssl enc -aes-256-cbc -pass pass:Lin\u27e6df\u00f6hre-Otter-3 -in a.tar",
            "command-line-password",
        ),
        ("sshpass -p 'seg\u27e6elbaum!' ssh app@192.0.2.4", "command-line-password"),
        ("snmp-server community otter\u27e6bach7 RW", "network-secret"),
        ("    stats auth ops:Fjord\u27e6kaffe.3", "login-argument"),
        ("password \u0421\u043d\u0435\u0433\u27e6\u0438\u0440\u044c_2021", "mentioned-secret"),
        ("La cl\u00e9 partag\u00e9e du site est \u00ab romarin-\u27e6Tilleul-62 \u00bb.", "mentioned-secret"),
        ("Uusi salasana on Met\u27e6s\u00e4_Polku3, vaihda se.", "mentioned-secret"),
        ("parola d'ordine Torta-\u27e6Salata7.", "mentioned-secret"),
        ("senha: caju\u27e62022frito.", "mentioned-secret"),
        ('password = "wind\u27e6rad1953"', "mentioned-secret"),
        ("MARIADB_ROOT_PASSWORD: otter&\u27e6dohle", "mentioned-secret"),
        ("Das Passwort lautet Kuchen\u27e6blech123, Benutzer app.", "mentioned-secret"),
        ("net use Z: \\\\fs02\\cad Karten\u27e6ung2020 /user:CORP\\cad", "command-password"),
        ("wandb login --relogin 49b9cde05b2b50c665ac\u27e683e7e0640c1374a5ef76", "login-argument"),
        ("| System | Passwort |\n|---|---|\n| Zabbix | turm-\u27e6Dohle5 |", "mentioned-secret"),
        ("net use Z: \\\\fs01\\s /user:CORP\\app Papier\u27e6kran2017 /persistent:yes", "command-password"),
        ("[smtp.example]:587 app:BrjBdd1O6DJ9IPFh\u27e6sS6ELVB0W2hEUpCL", "login-argument"),
        ("influx config create -n p -o ops -t YLTHgbcNW7Ir8\u27e6IZH66WDTIO4shWFWrJIs", "login-argument"),
        ("radius server ISE-1 / key Ufer-Otter\u27e6-77 / auth-port 1812", "network-secret"),
        (
            "| key | secret |\n|---|---|\n| 5QH2VJ | 6ZzE3frhHjZSbBuh\u27e6Mo+AfE6k/o865B6a |",
            "mentioned-secret",
        ),
        ("echo 5d1f3342468af208\u27e629c002684fc35284 > config/master.key", "piped-password"),
        ("Authorization: Basic cGltOkxh\u27e6Z2VyaGFsbGUtTm9yZDQ=", "authorization-header"),
        ("ikey=DIABC, skey=q7Tx9Lm2RvK0pZ81\u27e6sWd4Ga6Yb3HcQ1x8Fj5N", "mentioned-secret"),
    ],
)
def test_words_with_a_number_count_where_only_a_password_is(text: str, kind: str) -> None:
    assert [one.kind for one in find_secrets(text.replace("\u27e6", ""))] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        'SHOP_PASSWORD="postgres-credentials-2"',
        "postgres://app:app@db.example/shop, amqp://guest:guest@mq.example",
        "jdbc:mysql://db.example/shop?user=app&password=${DB_PASSWORD}",
        '{"auth": "dXNlcjpwYXNzd29yZA=="}',
        "PASS: NamesAreShort",
        "Pass: reader recovers without cryptic error messages. Fail: it stops.",
        "**Mnemonic**: lvalue reference always wins.",
        "mysql -uroot -p -h192.168.10.11 -P3306",
        "unzip -p bundle-2.42.41.jar META-INF/MANIFEST.MF",
        "tool.exe -l 53375 -p c:\\windows\\system32\\cmd.exe",
        "oauth list --page-token eyJwYWdlIjoxfQ",
        "a random password, as with `tr -dc a-zA-Z0-9`",
        'Citation Key: "petersenWhoLoreEndToEnd3D2025"',
        "\u041f\u0430\u0440\u043e\u043b\u044c: \u0441\u043f\u0440\u043e\u0441\u0438\u0442\u044c",
        "programs can be identified by *inspecting* them",
        "otpauth://totp/Example:a@example.com?secret=JBSWY3DPEHPK3PXP",
        "<password>{2mkP52IeijLBA6XbPU0OW8Lz9lWUxsg/uoiexdIdL6A80ca7NuqsVhSZ}</password>",
        "  password: c3VwZXJzZWNyZXQ=  # supersecret",
        "userPassword: {SSHA}GArp7mX/n1NCwligxLD5zwIV24w/SqNc",
        "Public Minisign key of the releases: RWQigLhksO1hgtIcLd+pEoD0Kz7xOVpTt5COfE2v14",
        "arn:aws:secretsmanager:eu-west-1:515621670543:secret:orders/db-a8Kf3Q",
    ],
)
def test_placeholders_are_no_finding_where_only_a_password_is(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize("value", ["Xk9mQp2vL8wZ4nT7", "blue-Otter-77", "tr0ub4dor&3"])
@pytest.mark.parametrize(
    "text",
    [
        "The password is\n{}",
        "The password is\n{} and changes every month.",
        "The password is:\n{}",
        "The password for the admin is\n`{}`.",
        "- The root password is now\n  {}",
        "The password\nis {}, as agreed.",
        "Das Passwort ist\n{}",
    ],
)
def test_password_is_found_where_the_line_breaks_before_it(text: str, value: str) -> None:
    (found,) = find_secrets(text.format(value))
    assert text.format(value)[found.start : found.end] == value


@pytest.mark.parametrize(
    "text",
    [
        "Our password is\nrotated every month.",
        "The password is\nrequired",
        "The password is:\n\n- at least 12 characters\n- rotated",
        "The password is\nread from `DB_PASSWORD_FILE`.",
        "The password was\nmoved to vault/kv/prod-db-1 on 2026-01-21.",
        "The password for tests is\nset by conftest.py",
    ],
)
def test_prose_about_a_password_may_break_anywhere(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ('"The db pass\\\n  word is Xk9mQp2v\u27e6L8wZ4nT7 now"', "mentioned-secret"),
        ('"gh\\\n  p_a1B2c3D4e5F6g7H8\u27e6i9J0k1L2m3N4o5P6q7R8"', "github-token"),
        ('"ghp_a1B2c3D4e5\\x46\\x36g7H8\u27e6i9J0k1L2m3N4o5P6q7R8"', "github-token"),
    ],
)
def test_value_of_a_header_is_searched_as_it_is_read(title: str, kind: str) -> None:
    written = title.replace("\u27e6", "")
    text = f"---\nid: fact.a\ntitle: {written}\nkind: fact\n---\n\nText.\n"
    (found,) = find_secrets(text)
    assert found.kind == kind
    assert text[found.start : found.end] == written
    assert may_contain_secret(text)
    assert diff_for_log(None, text, "a.md") is None
    assert find_secrets(text.replace("---\n", "", 1)) == []
