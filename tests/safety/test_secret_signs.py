"""The quick test for text without secrets is never false where a secret is found."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROJECT
from tests.safety.test_secrets import MENTIONS, VALUES, tokens
from thunderus_mem.safety import secret_signs
from thunderus_mem.safety.secret_mentions import ANCHORS
from thunderus_mem.safety.secret_names import KEYS, PASSWORDS
from thunderus_mem.safety.secret_rules import (
    BLOCKS,
    EMBEDDED,
    NAMED,
    SECRET_RULES,
    TOKENS,
    SecretRule,
    example_text,
)
from thunderus_mem.safety.secret_signs import may_contain_secret
from thunderus_mem.safety.secrets import find_secrets

SECRETS = [
    *(example_text(rule.example) for rule in SECRET_RULES),
    *(text.format(**VALUES) for text in MENTIONS),
    *(text for _, text, _ in tokens(3)),
]
ORDINARY = """\
How long the gardener takes to plan  fact.duplicate-planning-time
.thunderus/memory/semantic/FACTS/duplicate-planning-time.md:31 #how-long-the-gardener-takes  (fact, verified)
    … with the index up to date, measured with `benchmarks/garden_scale.py --documents 4000` on a machine.
    | memory | 2,000 documents | 4,000 documents |
    | tokens | 0.15 s | 0.26 s |

Secrets are in one table and need a name  adr.one-table-holds-the-formats-of-secrets
.thunderus/memory/semantic/DECISIONS/ADR-0042-one-table-holds-the-formats-of-secrets.md:50 #consequence  (adr)
    … the password of a URL, a key block: `find_secrets` in `thunderus_mem/safety/secrets.py`; keys, users.
    aliases: see https://docs.example.org/guides/api-keys/rotation-2026-11.html and commit 5c1d.
replaced by adr.tokens-of-sessions-are-private (2026-11-23)
"""


@pytest.mark.parametrize("rule", SECRET_RULES, ids=lambda rule: rule.kind)
def test_example_of_each_rule_may_be_a_secret(rule: SecretRule) -> None:
    assert may_contain_secret(f"See {example_text(rule.example)}\n")
    if not may_contain_secret(f"See {example_text(rule.counter)}\n"):
        assert find_secrets(f"See {example_text(rule.counter)}\n") == []


def test_ordinary_output_needs_no_formats() -> None:
    assert not may_contain_secret(ORDINARY)
    assert not may_contain_secret("No matches")


def test_anchors_of_formats_are_in_the_table_of_the_quick_test() -> None:
    for rule in (*TOKENS, *EMBEDDED):
        if rule.near:
            assert rule.near in secret_signs.NEAR, rule.kind
            continue
        shortest = shortest_match(rule)
        known = [
            anchor
            for length, anchors in secret_signs.IN_WORDS.items()
            if length <= max(shortest, 16)
            for anchor in anchors.split()
        ]
        for anchor in rule.anchors:
            special = anchor == "://" or rule.kind == "asana-token"
            assert special or any(one in anchor for one in known), (rule.kind, anchor)
    for rule in BLOCKS:
        assert (
            all(any(one in anchor.lower() for one in secret_signs.IN_BLOCKS) for anchor in rule.anchors)
            or rule.near in secret_signs.IN_BLOCKS
        ), rule.kind
    for anchor in (*ANCHORS, *(anchor for rule in NAMED for anchor in rule.anchors)):
        assert any(one in anchor for one in (*secret_signs.OF_KEYS, *secret_signs.OF_PASSWORDS)), anchor


def shortest_match(rule: SecretRule) -> int:
    pattern = rule.pattern
    return int(re._parser.parse(pattern.pattern, pattern.flags).getwidth()[0])  # type: ignore[attr-defined]


def test_development_cases_with_secrets_pass_the_quick_test() -> None:
    path = os.path.join(PROJECT, "benchmarks", "safety", "development.jsonl")
    with open(path, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"].replace("\u27e6\u27e7", "") for line in lines]
    found = [text for text in texts if find_secrets(text)]
    assert len(found) >= 100
    assert [text for text in found if not may_contain_secret(text)] == []


@given(
    before=st.text("aA0 -_\n|,:=.\"'\u00e9\u00df", max_size=12),
    secret=st.sampled_from(SECRETS),
    cut=st.integers(0, 60),
    after=st.text("aA0 -_\n|,:=.\"'\u00e9\u00df", max_size=12),
    line=st.sampled_from(["\n", "\r\n", " ", "\t", "\u00a0", "\u2028", "\x1c", "\f"]),
)
def test_text_with_a_secret_never_fails_the_quick_test(
    before: str, secret: str, cut: int, after: str, line: str
) -> None:
    text = line.join(ORDINARY.split("\n")[:3]) + line + before + secret[cut:] + after
    if find_secrets(text):
        assert may_contain_secret(text)
    text = before + secret + after + line + ORDINARY
    if find_secrets(text):
        assert may_contain_secret(text)


NAMES = {
    "kennw": ("Kennw\u00f6rter", "Kennwert"),
    "codewort": ("Codewort", "Codewortliste"),
    "gangscode": ("Zugangscode", "Zugangscoder"),
    "schaltcode": ("Freischaltcode", "Freischaltcoder"),
    "access code": ("access code", "access coder"),
    "code d'acc": ("code d'acc\u00e8s", "code d'accueil"),
    "digo de acc": ("c\u00f3digo de acceso", "c\u00f3digo de acci\u00f3n"),
    "wlan": ("WLAN-Schl\u00fcssel", "WLAN-Kanal"),
    "wifi": ("wifi key", "wifi channel"),
    "wi-fi": ("Wi-Fi code", "Wi-Fi channel"),
    "code wi": ("code wifi", "code windows"),
    "cl\u00e9 p": ("cl\u00e9 pr\u00e9-partag\u00e9e", "cl\u00e9 par"),
    "cl\u00e9 w": ("cl\u00e9 wifi", "cl\u00e9 wagon"),
    "passord": ("Passordet", "passordre"),
    "adgangskode": ("adgangskoden", "adgangsklode"),
    "kodeord": ("kodeordet", "kodeark"),
    "senord": ("l\u00f6senordet", "rosenord"),
    "lykilor": ("lykilor\u00f0i\u00f0", "lykilorka"),
    "wachtwoord": ("wachtwoorden", "wachtrij"),
    "mdp": ("mdp", "mdpi"),
    "passe": ("mot de passe", "passenger"),
    "contrase": ("contrase\u00f1as", "contraseed"),
    "clave": ("clave", "enclave"),
    "contrasinal": ("contrasinal", "contrasigno"),
    "pasahitz": ("pasahitza", "pasahizt"),
    "senha": ("senhas", "resenha"),
    "parola": ("parolas\u0131", "parolemo"),
    "ifre": ("\u015fifresi", "\u015fifreleme"),
    "has\u0142": ("has\u0142em", "has\u0142owy"),
    "haslo": ("haslo", "haslop"),
    "hesl": ("heslem", "thesle"),
    "gesl": ("geslo", "geslte"),
    "lozink": ("lozinka", "lozing"),
    "\u043b\u043e\u0437\u0438\u043d\u043a": (
        "\u043b\u043e\u0437\u0438\u043d\u043a\u0430",
        "\u043b\u043e\u0437\u0438\u043d\u0433",
    ),
    "\u043f\u0430\u0440\u043e\u043b": (
        "\u043f\u0430\u0440\u043e\u043b\u044f",
        "\u043f\u0430\u0440\u043e\u0434",
    ),
    "slapta": ("slapta\u017eodis", "slaptas"),
    "parool": ("parooli", "paroo"),
    "salasan": ("salasanalla", "salasaari"),
    "jelsz": ("jelszava", "jelszint"),
    "\u03ba\u03c9\u03b4\u03b9\u03ba": (
        "\u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2",
        "\u03ba\u03c9\u03b4\u03b9\u03ba\u03b1",
    ),
    "kh\u1ea9u": ("m\u1eadt kh\u1ea9u", "nh\u1eadp kh\u1ea9u"),
    "sandi": ("kata sandi", "sandia"),
    "\u0643\u0644\u0645\u0629": (
        "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631",
        "\u0643\u0644\u0645\u0629 \u0648\u0627\u062d\u062f\u0629",
    ),
    "\u0631\u0645\u0632": (
        "\u0631\u0645\u0632 \u0639\u0628\u0648\u0631",
        "\u0631\u0645\u0632 \u0648\u0631\u0648\u062f",
    ),
    "\u05e1\u05d9\u05e1\u05de": ("\u05e1\u05d9\u05e1\u05de\u05d4", "\u05e1\u05d9\u05e1\u05de\u05df"),
    "\u092a\u093e\u0938\u0935\u0930\u094d\u0921": (
        "\u092a\u093e\u0938\u0935\u0930\u094d\u0921",
        "\u092a\u093e\u0938\u092a\u094b\u0930\u094d\u091f",
    ),
    "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19": (
        "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19",
        "\u0e23\u0e2b\u0e31\u0e2a\u0e2a\u0e34\u0e19\u0e04\u0e49\u0e32",
    ),
    "\u5bc6\u7801": ("\u5bc6\u7801", "\u5bc6\u4ef6"),
    "\u5bc6\u78bc": ("\u5bc6\u78bc", "\u5bc6\u4ef6"),
    "\u53e3\u4ee4": ("\u53e3\u4ee4", "\u53e3\u53f7"),
    "\u30d1\u30b9\u30ef\u30fc\u30c9": ("\u30d1\u30b9\u30ef\u30fc\u30c9", "\u30d1\u30b9\u30dd\u30fc\u30c8"),
    "\u30d1\u30b9\u30d5\u30ec\u30fc\u30ba": (
        "\u30d1\u30b9\u30d5\u30ec\u30fc\u30ba",
        "\u30d5\u30ec\u30fc\u30ba",
    ),
    "\u6697\u8a3c\u756a\u53f7": ("\u6697\u8a3c\u756a\u53f7", "\u756a\u53f7"),
    "\ube44\ubc00\ubc88\ud638": ("\ube44\ubc00\ubc88\ud638", "\ubc88\ud638"),
    "\ube44\ubc88": ("\ube44\ubc88", "\ube44\ubc88\ud638\ud310"),
    "\uc554\ud638": ("\uc554\ud638", "\uc554\ud638\ud654"),
    "\ud328\uc2a4\uc6cc\ub4dc": ("\ud328\uc2a4\uc6cc\ub4dc", "\ud328\uc2a4"),
    "cl\u00e9": ("cl\u00e9", "cl\u00e9ment"),
    "cle_": ("cle_", "article_"),
    "_cle": ("ma_cle", "ma_clementine"),
    "jeton": ("jeton", "bujeton"),
    "schl": ("Schl\u00fcssel", "Schl\u00fcsselwort"),
    "sleutel": ("sleutel", "sleutjes"),
    "n\u00f8": ("N\u00f8gle", "n\u00f8d"),
    "nyckel": ("nyckeln", "nyckfull"),
    "chave": ("chave", "achaves"),
    "chiave": ("chiave", "chiaverina"),
    "llave": ("llave", "llavero"),
    "klucz": ("klucza", "wykluczone"),
    "kl\u00ed\u010d": ("kl\u00ed\u010de", "kl\u00edn"),
    "anahtar": ("anahtar\u0131", "anahat"),
    "kulcs": ("kulcsa", "kulcx"),
    "\u043a\u043b\u044e\u0447": ("\u043a\u043b\u044e\u0447\u0438", "\u043a\u043b\u044e\u0432"),
    "\u0442\u043e\u043a\u0435\u043d": (
        "\u0442\u043e\u043a\u0435\u043d\u0430",
        "\u0436\u0435\u0442\u043e\u043d",
    ),
    "\u5bc6\u94a5": ("\u5bc6\u94a5", "\u5bc6\u4ef6"),
    "\u5bc6\u9470": ("\u5bc6\u9470", "\u5bc6\u4ef6"),
    "\u4ee4\u724c": ("\u4ee4\u724c", "\u4ee4"),
    "\u30c8\u30fc\u30af\u30f3": ("\u30c8\u30fc\u30af\u30f3", "\u30c8\u30fc\u30af"),
    "\u79d8\u5bc6\u9375": ("\u79d8\u5bc6\u9375", "\u79d8\u5bc6"),
    "\u30ad\u30fc": ("API\u30ad\u30fc", "\u30ad"),
    "\ud0a4": ("api \ud0a4", "api \uce74"),
    "\ud1a0\ud070": ("\ud1a0\ud070", "\ud1a0"),
    "\ube44\ubc00\ud0a4": ("\ube44\ubc00\ud0a4", "\ube44\ubc00"),
}
"""By anchor: a form of the name, and a word that only resembles it."""


@pytest.mark.parametrize(
    ("anchor", "value"),
    [
        *((anchor, VALUES["plain"]) for anchor, _ in PASSWORDS),
        *((anchor, VALUES["key"]) for anchor, _ in KEYS),
    ],
)
def test_name_of_each_language_is_known_and_similar_words_are_not(anchor: str, value: str) -> None:
    name, similar = NAMES[anchor]
    assert find_secrets(f"{name}: {value}\n")
    assert may_contain_secret(f"{name}: {value}\n")
    assert find_secrets(f"{similar}: {value}\n") == []
