"""Redact secrets, at no cost for ordinary text.

A short command prints a few lines. Loading the formats of secrets for them would take longer than its work,
so `secrets` is imported only for text that could contain one.
"""

from __future__ import annotations

from thunderus_mem.safety.secret_signs import may_contain_secret


def redacted(text: str) -> str:
    """Apply `secrets.redacted`."""
    if not may_contain_secret(text):
        return text
    from thunderus_mem.safety import secrets

    return secrets.redacted(text)


def has_secret(text: str) -> bool:
    """Whether `secrets.find_secrets` finds something."""
    if not may_contain_secret(text):
        return False
    from thunderus_mem.safety.secrets import find_secrets

    return bool(find_secrets(text))
