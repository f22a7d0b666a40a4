"""Verdicts cached by the stamps of their files: used only while nothing changed."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.lint.test_check import change, store
from tests.support.code_scene import JWT
from tests.support.stepped_clock import run
from thunderus_mem.fingerprint import languages
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["run", "store"]


def judged(root: Path) -> list[str]:
    memory = open_memory(str(root))
    memory.refresh()
    with Judge(memory) as judge:
        return [one.verdict.status for one in judge.all(memory.index.anchors())]


def settle(root: Path) -> None:
    """Make every code file old enough for its stamp to be reliable."""
    old = time.time() - 60
    for folder, _, names in os.walk(root / "src"):
        for name in names:
            os.utime(os.path.join(folder, name), (old, old))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the files that are parsed from now on."""
    from thunderus_mem.fingerprint import definitions

    seen: list[str] = []
    parse = definitions.parse

    def watched(text: str, language: str, *rest: object) -> object:
        seen.append(text[:40])
        return parse(text, language, *rest)

    monkeypatch.setattr(definitions, "parse", watched)
    return seen


def test_cached_verdict_avoids_parsing(store: Path, parsed: list[str]) -> None:
    remembered = store / ".thunderus/memory/indexes/verdicts.json"
    settle(store)
    time.sleep(2.2)  # until stamps are reliable
    assert judged(store) == ["verified", "verified"]
    assert remembered.exists()
    parsed.clear()
    assert judged(store) == ["verified", "verified"]
    assert parsed == []
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    assert judged(store) == ["verified", "changed"]
    assert len(parsed) == 1
    (store / "src/jwt.py").write_text(JWT)
    assert judged(store) == ["verified", "verified"]


@pytest.mark.parametrize(
    "content", ["", "nonsense", "[]", '{"measure": 1}', '{"measure": "x", "verdicts": []}', "[" * 50_000]
)
def test_damaged_verdict_cache_is_ignored(store: Path, content: str) -> None:
    remembered = store / ".thunderus/memory/indexes/verdicts.json"
    assert judged(store) == ["verified", "verified"]
    remembered.write_text(content)
    assert judged(store) == ["verified", "verified"]
    remembered.unlink()
    remembered.mkdir()
    assert judged(store) == ["verified", "verified"]


def test_malformed_cache_entries_are_skipped(store: Path) -> None:
    time.sleep(2.2)
    assert judged(store) == ["verified", "verified"]
    remembered = store / ".thunderus/memory/indexes/verdicts.json"
    kept = json.loads(remembered.read_text())
    for wrong in (None, 7, [], [[], 1], [[["src/jwt.py"]], ["verified"]], [[7], {}], [[[]], [1, 2, 3, 4, 5]]):
        kept["verdicts"] = dict.fromkeys(kept["verdicts"], wrong)
        remembered.write_text(json.dumps(kept))
        assert judged(store) == ["verified", "verified"]


def raise_version(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Give the rules of a language their next version."""
    language = languages.LANGUAGES[name]
    rules = language.rules._replace(version=language.rules.version + 1)
    monkeypatch.setitem(languages.LANGUAGES, name, language._replace(rules=rules))


@pytest.fixture
def two_languages(store: Path, run: Run) -> Path:
    (store / "src/limits.go").write_text("package limits\n\nfunc Limit() int { return 100 }\n")
    assert run("anchor", "fact.tokens", "src/limits.go#Limit").code == 0
    settle(store)
    time.sleep(2.2)
    assert judged(store) == ["verified"] * 3
    return store


def test_new_rules_of_one_language_keep_the_verdicts_of_others(
    two_languages: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed.clear()
    raise_version(monkeypatch, "go")
    assert sorted(judged(two_languages)) == ["unknown", "verified", "verified"]
    assert [text[:14] for text in parsed] == ["package limits"]


def test_cached_location_with_a_fingerprint_by_old_rules_is_computed_again(
    two_languages: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = two_languages / ".thunderus/memory/semantic/FACTS/tokens.md"
    lines = document.read_text().split("\n")
    at = next(at for at, line in enumerate(lines) if "go@" in line)
    document.write_text("\n".join([*lines[:at], *lines[at + 1 :]]))
    assert sorted(judged(two_languages)) == ["unknown", "verified", "verified"]
    raise_version(monkeypatch, "go")
    memory = open_memory(str(two_languages))
    memory.refresh()
    with Judge(memory) as judge:
        found = [one.verdict.found for one in judge.all(memory.index.anchors())]
    assert [one.fingerprint[:9] for one in found if one is not None and one.symbol == "Limit"] == [
        "go@0.51/2"
    ]
