"""No event holds a secret: what the log has, it has for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.model.event import Event

__all__ = ["refuse_secrets", "secret_in"]


def secret_in(value: Any, key: str = "") -> tuple[str, str] | None:
    """The key and the kind of the first secret in a JSON value (keys joined by dots); ``None`` without."""
    from thunderus_mem.model.secrets import find_secrets

    if isinstance(value, str):
        return next(((key, secret.kind) for secret in find_secrets(value)[:1]), None)
    if isinstance(value, dict):
        for name, item in value.items():
            if secrets := find_secrets(str(name)):
                return f"{key}.*".lstrip("."), secrets[0].kind
            if found := secret_in(item, f"{key}.{name}".lstrip(".")):
                return found
    if isinstance(value, (list, tuple)):
        return next(
            (found for at, item in enumerate(value) if (found := secret_in(item, f"{key}[{at}]"))), None
        )
    return None


def refuse_secrets(event: Event) -> None:
    """Raise `Refused` when any text of the event holds a secret."""
    from thunderus_mem.model.secrets import find_secrets

    for place, value in (("the reason", event.why), ("the event", event.body), ("the event", event.refs)):
        for text in _texts(value):
            for secret in find_secrets(text)[:1]:
                raise Refused(
                    f"{place} holds what looks like a secret ({secret.kind}); nothing was written",
                    hint="name where the secret is kept instead of the secret",
                )


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value but diffs, whose documents were looked at whole."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "diff":
                yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
