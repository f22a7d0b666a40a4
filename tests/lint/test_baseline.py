"""The baseline of an old store: what it hides, what it never hides, and which entries are obsolete."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lint.test_check import change as replace
from tests.lint.test_check import commit
from tests.lint.test_check import store as anchored
from tests.support.index_support import document, new_store, put
from tests.support.lint_corpus import SECRETS
from thunderus_mem.errors import NotFound, Refused, ThunderusError
from thunderus_mem.lint.lint import (
    NEVER_KNOWN,
    BaselineEntry,
    baseline_text,
    lint,
    may_be_known,
    read_baseline,
    record_baseline,
)
from thunderus_mem.lint.rule import CODES
from thunderus_mem.memory.memory import Memory, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["anchored"]

FILE = "known.jsonl"
LOCK_OUT = {"THUNDERUS_MEM_LINT_IGNORE": "TM5,TM206"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a", "See [[gone]].\n\nSee [[lost]].\n"))
    put(layout, "b.md", document("fact.b", "Fine.\n"))
    return tmp_path


def opened(store: Path, **environ: str) -> Memory:
    return open_memory(str(store), environ=LOCK_OUT | environ)


def change(store: Path, name: str, text: str) -> None:
    put(opened(store).layout, name, text)


def codes(store: Path, **environ: str) -> list[str]:
    return [one.rule for one in lint(opened(store, **environ), baseline=str(store / FILE)).diagnostics]


def test_known_findings_are_hidden_and_new_ones_reported(store: Path) -> None:
    first = record_baseline(opened(store), str(store / FILE))
    assert (first.diagnostics, first.recorded, first.known) == ((), 2, 2)
    change(store, "b.md", document("fact.b", "Now [[missing]].\n"))
    after = lint(opened(store), baseline=str(store / FILE))
    assert [(one.rule, one.doc_id) for one in after.diagnostics] == [("TM201", "fact.b")]
    assert (after.errors, after.known, after.obsolete, after.baseline) == (1, 2, (), FILE)


def test_fixed_findings_are_obsolete_and_pruned(store: Path) -> None:
    record_baseline(opened(store), str(store / FILE))
    change(store, "a.md", document("fact.a", "\n\nSee [[lost]].\n"))
    change(store, "b.md", document("fact.b", "Now [[missing]].\n"))
    report = lint(opened(store), baseline=str(store / FILE))
    assert [entry.rule for entry in report.obsolete] == ["TM201"]
    assert lint(opened(store), fix=True, baseline=str(store / FILE)).obsolete == report.obsolete
    again = lint(opened(store), baseline=str(store / FILE))
    assert (again.known, again.obsolete, len(again.diagnostics)) == (1, (), 1)


def test_partial_lint_reports_nothing_obsolete(store: Path) -> None:
    record_baseline(opened(store), str(store / FILE))
    part = lint(
        opened(store), [str(store / ".thunderus/memory/semantic/FACTS/b.md")], baseline=str(store / FILE)
    )
    assert part.obsolete == ()
    some = lint(opened(store), select=["TM1"], baseline=str(store / FILE))
    assert some.obsolete == ()


def test_entries_of_a_removed_document_are_obsolete(store: Path) -> None:
    record_baseline(opened(store), str(store / FILE))
    os.unlink(store / ".thunderus/memory/semantic/FACTS/a.md")
    assert len(lint(opened(store), baseline=str(store / FILE)).obsolete) == 2


@pytest.mark.parametrize(
    "body",
    [
        f"Deploy with {SECRETS['github']}.\n",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> t\n",
        "rm \u202etxt.exe\n",
        "![](https://pictures.example/p.png?note=x)\n",
    ],
)
def test_unsafe_content_is_never_hidden(store: Path, body: str) -> None:
    change(store, "b.md", document("fact.b", body))
    before = [one.rule for one in lint(opened(store)).diagnostics if one.doc_id == "fact.b"]
    report = record_baseline(opened(store), str(store / FILE))
    assert before
    assert [one.rule for one in report.diagnostics] == before
    assert SECRETS["github"] not in (store / FILE).read_text()


def test_log_damage_is_never_hidden() -> None:
    kept = {code for code in CODES if not may_be_known(code)}
    assert kept >= {"TM012", "TM401", "TM402", "TM403", "TM503", "TM504", "TM507"}
    assert all(any(code.startswith(start) for start in NEVER_KNOWN) for code in kept)


def test_manual_entry_hides_no_secret(store: Path) -> None:
    change(store, "b.md", document("fact.b", f"Deploy with {SECRETS['github']}.\n"))
    (secret,) = [one for one in lint(opened(store)).diagnostics if one.rule == "TM401"]
    (store / FILE).write_text(baseline_text([BaselineEntry(secret.path, "TM201", secret.fingerprint)]))
    assert "TM401" in codes(store)


def test_configured_baseline_applies_to_every_lint(store: Path, run: Run) -> None:
    record_baseline(opened(store), str(store / FILE))
    config = store / ".thunderus/config.toml"
    config.write_text(f'[lint]\nbaseline = "{FILE}"\n')
    assert lint(opened(store)).known == 2
    assert lint(opened(store), baseline="").known == 0
    assert "Next:" not in run("lint", "--write-baseline", FILE).err
    config.write_text('[lint]\nbaseline = "../known.jsonl"\n')
    with pytest.raises(Refused):
        lint(opened(store))
    config.write_text('[lint]\nbaseline = "none.jsonl"\n')
    with pytest.raises(NotFound, match=r"none\.jsonl"):
        lint(opened(store))


def test_baseline_hides_changed_code_until_it_changes_again(anchored: Path, run: Run) -> None:
    def found(*options: str) -> list[str]:
        return [one["rule"] for one in run("lint", "--format", "json", *options).json["diagnostics"]]

    replace(anchored, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(anchored)
    assert found() == ["TM701"]
    assert run("lint", "--write-baseline", FILE).code == 0
    assert found("--baseline", FILE) == []
    replace(anchored, "src/jwt.py", "ttl=60", "ttl=61")
    assert found("--baseline", FILE) == ["TM701"], "changed again"
    assert run("verify", "fact.tokens").code == 0
    replace(anchored, "src/jwt.py", "ttl=61", "ttl=60")
    assert found("--baseline", FILE) == ["TM701"], "verified, then changed to the text in the baseline"


def test_hook_uses_the_baseline(repo: Path, run: Run) -> None:
    run("--quiet", "init")
    path = repo / ".thunderus/memory/semantic/FACTS/a.md"
    path.write_text(document("fact.a", "See [[gone]].\n"))
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    assert run("hooks", "run", "pre-commit").code == 1
    (repo / ".thunderus/config.toml").write_text('[lint]\nbaseline = ".thunderus/known.jsonl"\n')
    assert run("lint", "--write-baseline", ".thunderus/known.jsonl").code == 0
    assert run("hooks", "run", "pre-commit").code == 0
    assert run("lint", "--staged").code == 0
    assert run("lint", "--staged", "--baseline", "").code == 1


def test_command_line_writes_uses_and_prunes_the_baseline(store: Path, run: Run) -> None:
    written = run("lint", "--ignore", "TM5", "--write-baseline", FILE)
    assert written.code == 2
    said = run("lint", "--write-baseline", FILE, env=LOCK_OUT)
    assert (said.code, said.out) == (0, "No findings\n")
    assert "2 findings recorded in known.jsonl" in said.err
    assert "Next: thunderus-mem config set lint.baseline known.jsonl\n" in said.err
    assert json.loads((store / FILE).read_text().splitlines()[0]) == {
        "schema": "thunderus-mem.lint-baseline/1"
    }
    change(store, "a.md", document("fact.a", "See [[lost]].\n"))
    used = run("lint", "--baseline", FILE, "-o", "out/report.txt", env=LOCK_OUT)
    assert (used.code, used.out) == (0, "")
    assert "1 finding hidden by known.jsonl" in used.err
    assert "1 entry in known.jsonl already fixed; remove with --fix" in used.err
    assert (store / "out/report.txt").read_text() == "No findings\n"
    assert (
        run("lint", "--fix", "--baseline", FILE, ".thunderus/memory/semantic/FACTS/b.md", env=LOCK_OUT).code
        == 0
    )
    assert len((store / FILE).read_text().splitlines()) == 3, "not everything was checked"
    pruned = run("lint", "--baseline", FILE, "--fix", env=LOCK_OUT)
    assert (pruned.code, pruned.err.splitlines()[-1]) == (
        0,
        "1 entry removed from known.jsonl: already fixed",
    )
    assert len((store / FILE).read_text().splitlines()) == 2
    assert run("lint", "--fix", "--write-baseline", FILE, env=LOCK_OUT).code == 2
    assert run("lint", "--baseline", "no.jsonl", env=LOCK_OUT).code == 4


def test_format_comes_from_option_environment_and_github(store: Path, run: Run) -> None:
    def first(*options: str, **environ: str) -> str:
        return run("lint", *options, env=LOCK_OUT | environ).out.split("\n")[0][:10]

    assert first(GITHUB_ACTIONS="true").startswith("::error")
    assert first(GITHUB_ACTIONS="true", THUNDERUS_MEM_OUTPUT_FORMAT="junit").startswith("<?xml")
    assert first("--format", "gitlab", THUNDERUS_MEM_OUTPUT_FORMAT="junit") == "["
    wrong = run("lint", env=LOCK_OUT | {"THUNDERUS_MEM_OUTPUT_FORMAT": "xml"})
    assert wrong.code == 2
    assert "THUNDERUS_MEM_OUTPUT_FORMAT" in wrong.err


def test_paths_for_code_hosts_are_relative_to_the_repository(repo: Path, run: Run) -> None:
    (repo / "sub").mkdir()
    run("--quiet", "init", cwd=repo / "sub")
    path = repo / "sub/.thunderus/memory/semantic/FACTS/a.md"
    path.write_text(document("fact.a", "See [[gone]].\n"))
    issues = run("lint", "--format", "gitlab", cwd=repo / "sub").json
    assert issues[0]["location"]["path"] == "sub/.thunderus/memory/semantic/FACTS/a.md"
    assert run("lint", "--format", "concise", cwd=repo / "sub").out.startswith(".thunderus/")


ENTRIES = st.lists(
    st.builds(
        BaselineEntry,
        st.text(max_size=9),
        st.sampled_from(list(CODES)),
        st.from_regex("[0-9a-f]{32}", fullmatch=True),
    ),
    max_size=9,
)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(ENTRIES)
def test_baseline_round_trips_sorted_with_one_entry_per_line(entries: list[BaselineEntry]) -> None:
    text = baseline_text(entries)
    assert read_baseline(text.encode(), FILE) == tuple(sorted(set(entries)))
    assert len(text.splitlines()) == len(set(entries)) + 1
    assert baseline_text(reversed(entries)) == text
    assert read_baseline(text.replace("\n", "\r\n").encode(), FILE) == tuple(sorted(set(entries)))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.binary(max_size=60) | st.sampled_from([b"[" * 5000, b'{"schema": 3}', b"", b"null\n[1]", b"\xff"]))
def test_invalid_baseline_is_rejected_with_a_message(data: bytes) -> None:
    for text in (data, baseline_text([]).encode() + data):
        try:
            read_baseline(text, FILE)
        except ThunderusError as error:
            assert FILE in str(error)  # noqa: PT017
