"""The verb `lint` over many documents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document, new_store, put
from thunderus_mem.lint import context
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.locate import IndexCorpus
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.store.safe_open import open_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done
    from thunderus_mem.index.sqlite_index import SqliteIndex

    Run = Callable[..., Done]

FACTS = ".thunderus/memory/semantic/FACTS"


def test_other_documents_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = new_store(tmp_path)
    for number in range(20):
        put(layout, f"n{number}.md", document(f"fact.n{number}", f"See [[fact.n{number + 1}]].\n"))
    asked: list[SqliteIndex] = []

    def counted(index: SqliteIndex) -> IndexCorpus:
        asked.append(index)
        return IndexCorpus(index)

    monkeypatch.setattr(context, "IndexCorpus", counted)

    report = lint(open_memory(str(tmp_path)), ["."])

    assert report.checked == 20
    assert [finding.doc_id for finding in report.diagnostics if finding.rule == "TM201"] == ["fact.n19"]
    assert len(asked) == 1


def test_decision_numbers_are_listed_once_for_all_documents(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    corpus = IndexCorpus(open_memory(str(tmp_path)).index)
    assert corpus.adr_numbers() is corpus.adr_numbers()


@pytest.mark.parametrize(
    ("select", "expected"),
    [('"NOPE"', ["TM604"]), ('"TM201", "NOPE"', ["TM201", "TM604"]), ('"TM201"', ["TM201"])],
)
def test_unknown_selected_rule_is_always_reported(tmp_path: Path, select: str, expected: list[str]) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a", "See [[gone]].\n"))
    (tmp_path / ".thunderus/config.toml").write_text(f"[lint]\nselect = [{select}]\n")
    assert sorted(one.rule for one in lint(open_memory(str(tmp_path))).diagnostics) == expected


@pytest.mark.parametrize("paths", [[], ["."], [".thunderus/memory/semantic"], [FACTS]])
def test_unreadable_folder_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str]
) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a", "See [[gone]].\n"))
    monkeypatch.chdir(tmp_path)
    before = lint(open_memory(str(tmp_path)), paths)
    assert [one.path for one in before.diagnostics if one.path == FACTS] == []

    def refused(path: str) -> int:
        if path.endswith("FACTS"):
            raise PermissionError(path)
        return open_folder(path)

    monkeypatch.setattr("thunderus_mem.index.scan.open_folder", refused)
    found = lint(open_memory(str(tmp_path)), paths)
    assert ("TM002", FACTS) in [(one.rule, one.path) for one in found.diagnostics]
    assert found.checked == before.checked  # the index still knows its documents
    os.unlink(layout.index_file)
    again = lint(open_memory(str(tmp_path)))
    assert ("TM002", FACTS) in [(one.rule, one.path) for one in again.diagnostics]


def test_configured_suppressions_apply_and_are_reported_if_unused(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a", "See [[gone]].\n"))
    (tmp_path / ".thunderus/config.toml").write_text(
        "[lint.per_file]\n"
        '"semantic/FACTS/a.md" = { TM201 = "written ahead", TM203 = "never there" }\n'
        '"episodic/*" = { TM205 = "" }\n'
    )
    memory = open_memory(str(tmp_path), environ={"THUNDERUS_MEM_LINT_IGNORE": "TM5,TM206"})

    assert sorted((one.rule, one.key) for one in lint(memory).diagnostics) == [
        ("TM604", "lint.per_file.episodic/*.TM205"),
        ("TM604", "lint.per_file.episodic/*.TM205"),
        ("TM604", "lint.per_file.semantic/FACTS/a.md.TM203"),
    ]
    assert lint(memory, ["."]).diagnostics == ()
    some = {one.key for one in lint(memory, select=["TM20", "TM6"]).diagnostics}
    assert some == {"lint.per_file.episodic/*.TM205", "lint.per_file.semantic/FACTS/a.md.TM203"}


def test_unknown_code_is_rejected_on_the_command_line(tmp_path: Path, run: Run) -> None:
    new_store(tmp_path)
    for option in ("--select", "--ignore"):
        refused = run("lint", option, "TM2,TM9")
        assert refused.code == 2
        assert "unknown rule 'TM9'" in refused.err


def test_names_equal_on_some_systems_are_reported(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "caf\u00e9.md", document("fact.a", "Text.\n"))
    put(layout, "cafe\u0301.md", document("fact.b", "Text.\n"))
    put(layout, "Notes.md", document("fact.c", "Text.\n"))
    put(layout, "notes.md", document("fact.d", "Text.\n"))
    put(layout, "STRASSE.md", document("fact.e", "Text.\n"))
    put(layout, "stra\u00dfe.md", document("fact.f", "Text.\n"))
    memory = open_memory(str(tmp_path))

    found = lint(memory, select=["TM112"]).diagnostics

    assert sorted(one.doc_id for one in found) == [f"fact.{name}" for name in "abcdef"]


def test_configured_caps_of_kinds_are_used_by_the_rules(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    text = document("fact.a", "A line. " * 100)
    put(layout, "a.md", text)
    file = tmp_path / ".thunderus/memory/gardener.toml"
    limits = []
    for caps in ("", "[caps]\nkinds = ['fact = 90']\n", "[caps]\nkinds = ['playbook = 90']\n"):
        file.write_text(caps)
        found = lint(open_memory(str(tmp_path))).diagnostics
        limits.append([one.expected for one in found if one.rule in ("TM301", "TM302")])
    assert limits == [[], ["at most 90 tokens"], []]


ALLOWED = '[kinds]\nallowed = ["core", "adr"]\n'


def test_kinds_allowed_limits_new_documents(repo: Path, run: Run) -> None:
    facts = repo / ".thunderus/memory/semantic/FACTS"
    run("init")
    run("add", "fact", "Early", "--tag", "x", "--body", "It came before the limit.")
    run("events", "add", "--kind", "note", "--body", '{"text": "We chose SQLite."}')
    (repo / "notes").mkdir()
    (repo / "notes/late.md").write_text("# Late\n\nIt came after the limit.\n")
    (repo / ".thunderus/memory/gardener.toml").write_text(f'{ALLOWED}[recap]\nschedule = ["day"]\n')
    before = sorted(path.name for path in facts.parent.parent.rglob("*.md"))
    for words in (
        ("add", "fact", "Late", "--tag", "x", "--body", "It came after the limit."),
        ("import", "markdown", "notes", "--kind", "fact"),
        ("import", "markdown", "notes", "--kind", "fact", "--dry-run"),
        ("recap",),
    ):
        refused = run(*words)
        assert refused.code == 2, words
        assert "not allowed in this memory" in refused.err
    assert run("add", "adr", "Chosen", "--tag", "x", "--body", "We chose it.").code == 0
    found = run("lint", "--select", "TM113", "--json")
    assert [one["path"] for one in found.json["diagnostics"]] == [".thunderus/memory/semantic/FACTS/early.md"]
    assert run("edit", "fact.early", "--tag", "y").code == 0
    later = {"THUNDERUS_MEM_NOW": "2026-01-25T09:00:00Z"}
    assert run("garden", "--json", env=later).json["steps"] == []
    now = sorted(path.name for path in facts.parent.parent.rglob("*.md"))
    assert now == sorted([*before, "ADR-0001-chosen.md"])


@pytest.mark.parametrize(
    ("profiles", "rules"),
    [
        ((), []),
        (("shodh",), ["TM802", "TM802", "TM803", "TM804"]),
        (("nova",), ["TM802", "TM805", "TM806"]),
        (("nova", "shodh"), ["TM802", "TM802", "TM803", "TM804", "TM805", "TM806"]),
    ],
)
def test_rules_of_other_programs_run_only_with_their_profile(
    run: Run, repo: Path, profiles: tuple[str, ...], rules: list[str]
) -> None:
    """Profile nova allows tags without hyphens."""
    run("init")
    fields = ("--set", "episode_id=one", "--set", "source=docs/a.md")
    added = run("add", "fact", "A", "--body", "B.", "--tag", "Upper", "--tag", "under_score", *fields)
    assert added.code == 0
    paths = (".thunderus/memory/semantic",)
    named = [word for name in profiles for word in ("--profile", name)]
    ran = run("lint", *paths, *named, "--json")
    found = [one["rule"] for one in ran.json["diagnostics"]]
    assert (sorted(found), ran.code) == (rules, int("nova" in profiles))
    run("config", "set", "lint.profiles", ",".join(profiles))
    assert run("lint", *paths, "--json").out == ran.out


def test_unknown_profile_is_an_error(run: Run, repo: Path) -> None:
    run("init")
    ran = run("lint", "--profile", "mem0")
    assert (ran.code, "use one of: shodh, nova" in ran.err) == (2, True)


def test_counts_of_reads_are_removed_from_files(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "A", "--body", "B.", "--set", "access_count=5", "--set", "last_accessed_at=2026-01-21")
    path = repo / FACTS / "a.md"
    before = path.read_text(encoding="utf-8")
    assert run("lint", "--fix").code == 0
    removed = set(before.splitlines()) - set(path.read_text(encoding="utf-8").splitlines())
    assert {line.partition(":")[0] for line in removed} == {"access_count", "last_accessed_at"}


def test_hidden_characters_in_a_header_are_refused_even_as_escapes(repo: Path, run: Run) -> None:
    assert run("init").code == 0
    refused = run("add", "fact", "a\u202eb", "--body", "Text.", "--tag", "x")
    assert refused.code == 2, refused
    assert "TM402" in refused.err
    assert run("add", "fact", "Plain", "--body", "Text.", "--tag", "x").code == 0
    assert run("edit", "fact.plain", "--set", "author=a\u200bb").code == 2
    assert "\\u" not in (repo / ".thunderus/memory/semantic/FACTS/plain.md").read_text()
