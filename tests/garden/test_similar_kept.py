"""The cache of profiles: it can be deleted at any time and never changes a result."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import sealed_environment
from tests.garden.test_gardening import FACTS, Clock, clock, opened, root
from thunderus_mem.garden.apply import garden_plan
from thunderus_mem.index.caches import SignatureCache

if TYPE_CHECKING:
    from pathlib import Path

    from thunderus_mem.garden.plan import Plan

__all__ = ["clock", "root"]
KEPT = ".thunderus/memory/indexes/similar.bin"
BODY = "The exporter waits {} seconds for the first page and five for each further one, then it gives up."


@pytest.fixture
def store(root: Path) -> Path:
    text = (root / FACTS / "cache.md").read_text(encoding="utf-8").partition("\n\n")[0]
    for name, seconds, day in (("wait", 30, 1), ("waits", 60, 2)):
        head = text.replace("fact.cache", f"fact.{name}").replace(
            "updated: ", f"updated: 2026-01-0{day}T00:00:00Z #"
        )
        (root / FACTS / f"{name}.md").write_text(f"{head}\n\n{BODY.format(seconds)}\n", encoding="utf-8")
    return root


def planned(store: Path, clock: Clock) -> Plan:
    return garden_plan(opened(store, clock))


def test_plan_is_the_same_with_and_without_cache(store: Path, clock: Clock) -> None:
    first = planned(store, clock)
    assert [step.rule for step in first.proposals] == ["similar"]
    kept = (store / KEPT).read_bytes()
    assert planned(store, clock) == first
    assert (store / KEPT).read_bytes() == kept
    (store / KEPT).unlink()
    assert planned(store, clock) == first
    assert (store / KEPT).read_bytes() == kept


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:100] + b"\x00" + data[101:],
        lambda data: data.replace(b"similar 1", b"similar 0"),
        lambda data: os.urandom(len(data)),
        lambda data: data + data,
    ],
    ids=["empty", "half", "short", "one byte", "other rules", "noise", "twice"],
)
def test_damaged_cache_counts_as_empty(store: Path, clock: Clock, damage: object) -> None:
    first = planned(store, clock)
    kept = (store / KEPT).read_bytes()
    (store / KEPT).write_bytes(damage(kept))  # type: ignore[operator]
    assert planned(store, clock) == first
    assert (store / KEPT).read_bytes() == kept


def test_folder_in_place_of_the_cache_is_tolerated(store: Path, clock: Clock) -> None:
    first = planned(store, clock)
    (store / KEPT).unlink()
    (store / KEPT).mkdir()
    assert planned(store, clock) == first


def test_cache_keeps_only_current_documents(store: Path, clock: Clock) -> None:
    planned(store, clock)
    before = (store / KEPT).stat().st_size
    (store / FACTS / "waits.md").unlink()
    planned(store, clock)
    assert (store / KEPT).stat().st_size < before


keys = st.binary(min_size=32, max_size=32).map(bytes.hex)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.dictionaries(keys, st.binary(max_size=60), max_size=8), st.data())
def test_saved_cache_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, known: dict[str, bytes], data: st.DataObject
) -> None:
    path = str(tmp_path_factory.mktemp("kept") / "similar.bin")
    needed = data.draw(st.sets(st.sampled_from(sorted(known)))) if known else set()
    SignatureCache(path, "m").save(known, needed)
    assert SignatureCache(path, "m").read() == {key: known[key] for key in needed}
    assert SignatureCache(path, "other").read() == {}


@pytest.mark.parametrize(
    "command",
    [("search", "words"), ("add", "fact", "A title", "--tag", "jobs", "--body", "It holds 512 jobs.")],
)
def test_search_and_add_do_not_load_the_cache(store: Path, sealed: Path, command: tuple[str, ...]) -> None:
    code = (
        "import sys; from thunderus_mem.cli.app import run; code = run(sys.argv[1:]);"
        "ours = [name for name in sys.modules if '.garden.' in name and not name.endswith('.filing')];"
        "found = [*ours, *(name for name in sys.modules if name == 'rensa')];"
        "sys.exit(code or ' '.join(found) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=store,
        env=sealed_environment(sealed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
