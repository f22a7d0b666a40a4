"""The quick test for text without secrets is never false where a secret is found."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROJECT
from tests.document.test_secrets import MENTIONS, VALUES, tokens
from thunderus_mem.document import secret_signs
from thunderus_mem.document.secret_mentions import ANCHORS
from thunderus_mem.document.secret_rules import (
    BLOCKS,
    EMBEDDED,
    NAMED,
    SECRET_RULES,
    TOKENS,
    SecretRule,
    example_text,
)
from thunderus_mem.document.secret_signs import may_contain_secret
from thunderus_mem.document.secrets import find_secrets

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
    … the password of a URL, a key block: `find_secrets` in `thunderus_mem/document/secrets.py`; keys, users.
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
