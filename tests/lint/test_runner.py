"""The rules over many documents in several processes: the same findings even if a process fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.index_support import FACTS, document, new_store, put
from thunderus_mem.index import refresh
from thunderus_mem.index.database import IndexMoved
from thunderus_mem.index.log import LogIndex
from thunderus_mem.lint import runner
from thunderus_mem.lint.context import lint_config
from thunderus_mem.lint.lint import lint
from thunderus_mem.lint.runner import lint_stored
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.store import parallel
from thunderus_mem.store.layout import Layout
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from thunderus_mem.lint.lint import LintReport

PARENT = os.getpid()
COUNT = 23


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Documents with findings of most groups: links, citations, anchors, suppressions, unreadable files."""
    layout = new_store(tmp_path)
    for number in range(20):
        anchor = f"anchors: [src/gone_{number}.py]\n" if number % 5 == 0 else ""
        text = f"See [[fact.n{number + 1}]], [here](#nowhere-{number}) and `src/gone_{number}.py`.\n"
        put(layout, f"n{number}.md", document(f"fact.n{number}", text, more=anchor))
    put(layout, "twice.md", document("fact.n3"))
    put(layout, "broken.md", b"\xff\xfe")
    os.mkdir(tmp_path / "src")
    os.symlink("n1.md", layout.at(f"{FACTS}/linked.md"))
    (tmp_path / ".thunderus/config.toml").write_text(
        '[lint.per_file]\n"semantic/FACTS/n19.md" = { TM203 = "ahead", TM401 = "never" }\n'
    )
    return layout


@pytest.fixture
def in_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_MANY", 2)
    monkeypatch.setattr(parallel, "processors", lambda: 3)


def checked(layout: Layout) -> LintReport:
    return lint(open_memory(layout.root))


def test_many_processes_have_the_findings_of_one(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = checked(layout)
    assert alone.checked == COUNT
    assert {"TM001", "TM002", "TM103", "TM201", "TM203", "TM205", "TM702", "TM604"} <= {
        one.rule for one in alone.diagnostics
    }
    monkeypatch.setattr(runner, "_MANY", 2)
    for processes in (1, 2, 3, 30):
        monkeypatch.setattr(parallel, "processors", lambda processes=processes: processes)
        assert checked(layout) == alone


@pytest.mark.usefixtures("in_three")
def test_each_share_has_its_own_process(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress of this process counts for all, because the others report none."""
    progress: list[tuple[int, int]] = []
    memory = open_memory(layout.root)
    memory.refresh()
    memory.tell = lambda what, done, total: progress.append((done, total))
    files = [path for path, _, _ in memory.index.files()]

    found = lint_stored(memory, files, lint_config(memory))

    for path, one in zip(files, found, strict=True):
        assert {finding.path for finding in one.findings} <= {path}
    assert progress == [(done * COUNT // 8, COUNT) for done in range(8)]


@pytest.mark.usefixtures("in_three")
@pytest.mark.parametrize("trouble", ["killed", "another index", "no index"])
def test_work_of_a_failed_process_is_done_by_the_caller(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    opened = refresh.reopened

    def reopened(layout: Layout, generation: str) -> object:
        assert os.getpid() != PARENT
        if trouble == "killed":
            os.kill(os.getpid(), 9)
        if trouble == "no index":
            layout = Layout(layout.root + "/elsewhere")
        return opened(layout, generation + ("0" if trouble == "another index" else ""))

    monkeypatch.setattr("thunderus_mem.memory.memory.reopened", reopened)
    here: list[Memory] = []
    lint_files = runner.lint_files

    def counted(memory: Memory, *others: object) -> object:
        here.append(memory)
        return lint_files(memory, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "lint_files", counted)
    found = checked(layout)
    assert len(here) == 2, "this process's own share, and what the others left"
    monkeypatch.setattr(runner, "_MANY", 1000)
    assert checked(layout) == found


def test_index_is_opened_again_while_the_log_is_read(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process replaced or updated it: the rules must not use the connection that is closed now."""
    alone = checked(layout)
    current = LogIndex.refresh
    failures = [IndexMoved("updated meanwhile")]

    def refresh(self: LogIndex, *others: Any) -> None:
        if failures:
            raise failures.pop()
        current(self, *others)

    monkeypatch.setattr(LogIndex, "refresh", refresh)
    assert checked(layout) == alone
    assert not failures


@pytest.mark.usefixtures("in_three")
def test_index_in_memory_is_not_shared_with_processes(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index on disk would be another one, and other processes would use that."""

    def starts_none(*_: object) -> None:
        raise AssertionError

    alone = checked(layout)
    monkeypatch.setattr(parallel, "spread", starts_none)
    memory = open_memory(layout.root)
    memory.judge()
    assert lint(memory) == alone


def test_verdicts_are_computed_together_only_if_a_rule_needs_them(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, in_three: None
) -> None:
    asked: list[int] = []
    judged: Callable[..., object] = Judge.all

    def counted(judge: Judge, anchors: object) -> object:
        found = judged(judge, anchors)
        asked.append(len(found))  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(Judge, "all", counted)
    lint(open_memory(layout.root), select=["TM2"])
    assert asked == []
    lint(open_memory(layout.root), select=["TM702"])
    assert asked[0] == 4
