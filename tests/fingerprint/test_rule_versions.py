"""The version of the fingerprint rules belongs to a scheme, so one language can change without the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.fingerprint import languages
from thunderus_mem.fingerprint.source import CodeSource

if TYPE_CHECKING:
    import pytest


def test_each_scheme_has_a_version_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    go = languages.LANGUAGES["go"]
    raised = go._replace(rules=go.rules._replace(version=7))
    monkeypatch.setitem(languages.LANGUAGES, "go", raised)
    monkeypatch.setitem(languages._VERSIONS, "text-sql", 3)
    found = {path: CodeSource(path, b"a\n").whole().rules for path in ("a.go", "a.py", "a.sql", "a.txt")}
    assert found == {"a.go": 7, "a.py": 1, "a.sql": 3, "a.txt": 1}
    assert [languages.version_of(scheme) for scheme in ("go+many", "go-tokens", "text-sql")] == [7, 7, 3]
    assert {"go=7", "text-sql=3"} <= set(languages.versions().split())
