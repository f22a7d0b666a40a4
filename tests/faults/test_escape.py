"""P1: no hostile path, at any entry to the store, opens or changes anything outside the root."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
import report
from payloads import PAYLOADS

from thunderus_mem.errors import Refused, ThunderusError
from thunderus_mem.memory.journal import FileChange, Journal
from thunderus_mem.store.paths import inside, safe_relative
from thunderus_mem.store.quarantine import quarantine

if TYPE_CHECKING:
    from collections.abc import Callable

WATCHED = frozenset(
    [
        "open",
        *(
            f"os.{name}"
            for name in (
                [
                    "rename",
                    "remove",
                    "mkdir",
                    "rmdir",
                    "link",
                    "symlink",
                    "chmod",
                    "truncate",
                    "listdir",
                    "scandir",
                ]
            )
        ),
    ]
)
_outside: list[tuple[str, str]] = []
_roots: list[str] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if not _roots or event not in WATCHED:
        return
    for argument in arguments[:2]:
        if isinstance(argument, str | bytes):
            path = os.path.realpath(os.path.abspath(os.fsdecode(argument)))
            # Modes and flags ("r") come as texts too; only names that could be paths count.
            if (
                os.sep in os.fsdecode(argument)
                and not path.startswith(_roots[0] + os.sep)
                and path != _roots[0]
            ):
                _outside.append((event, path))


sys.addaudithook(_watch)


@pytest.fixture
def store(tmp_path):
    root = tmp_path / "root"
    (root / ".thunderus").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "canary", target_is_directory=True)
    (tmp_path / "canary").mkdir()
    (tmp_path / "canary" / "x").write_text("canary")
    (tmp_path / "x").write_text("canary")
    _outside.clear()
    _roots.append(str(root.resolve()))
    yield str(root.resolve())
    _roots.clear()
    assert (tmp_path / "x").read_text() == "canary"
    assert {path.name for path in tmp_path.iterdir()} == {"root", "canary", "x"}
    assert [path.name for path in (tmp_path / "canary").iterdir()] == ["x"]
    assert (tmp_path / "canary" / "x").read_text() == "canary"
    assert _outside == []


def _journal(root: str) -> Journal:
    return Journal(
        root, os.path.join(root, ".thunderus/.staging"), os.path.join(root, ".thunderus/.quarantine")
    )


def _healed_path(root: str, payload: str, key: str) -> None:
    folder = os.path.join(root, ".thunderus/.staging/evt_1")
    os.makedirs(folder, exist_ok=True)
    operation = {"event": "evt_1", "shard": "log.jsonl", "head": "", "writes": []}
    if key == "shard":
        operation["shard"] = payload
    else:
        operation["writes"] = [{"path": payload, "before": "", "after": "sha256:0"}]
    with open(os.path.join(folder, "op.json"), "w", encoding="utf-8") as stream:
        json.dump(operation, stream)
    with open(os.path.join(folder, "0"), "w", encoding="utf-8") as stream:
        stream.write("x")
    healed = _journal(root).recover(lambda shard, event: True)
    assert [one.action for one in healed] == ["damaged"]
    raise Refused("kept as damaged")


ENTRIES: dict[str, Callable[[str, str], object]] = {
    "safe_relative": lambda root, payload: safe_relative(payload),
    "inside": inside,
    "write": lambda root, payload: _journal(root).commit(
        "evt_1", "log.jsonl", b"{}\n", [FileChange("", payload, None, "x")]
    ),
    "remove": lambda root, payload: _journal(root).commit(
        "evt_1", "log.jsonl", b"{}\n", [FileChange("", payload, "x", None)]
    ),
    "shard": lambda root, payload: _journal(root).commit("evt_1", payload, b"{}\n", []),
    "repair": lambda root, payload: _journal(root).repair(payload),
    "healed write": lambda root, payload: _healed_path(root, payload, "path"),
    "healed shard": lambda root, payload: _healed_path(root, payload, "shard"),
}
LINKED = ("link", "link/x", "link/y", "link/deep/y")


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_path_payload_is_rejected(entry: str, store: str) -> None:
    assert len(PAYLOADS) >= 150
    for payload in PAYLOADS:
        with pytest.raises(Refused):
            ENTRIES[entry](store, payload)
    if entry not in ("safe_relative", "healed write", "healed shard"):
        for payload in LINKED:
            with pytest.raises(Refused):
                ENTRIES[entry](store, payload)
    _roots.clear()
    report.add("P1", entry, tried=len(PAYLOADS))


def test_event_id_never_escapes_the_store(store: str) -> None:
    for payload in PAYLOADS:
        if payload.isascii() and payload.replace("_", "").replace("-", "").isalnum():
            continue
        with pytest.raises(Refused):
            _journal(store).commit(payload, "log.jsonl", b"{}\n", [FileChange("", "a.md", None, "x")])
    _roots.clear()
    report.add("P1", "event id", tried=len(PAYLOADS))


def test_quarantined_files_stay_in_the_quarantine(store: str) -> None:
    folder = os.path.join(store, ".thunderus/.quarantine")
    for payload in PAYLOADS:
        try:
            kept = quarantine(folder, payload, payload.encode("utf-8", "surrogatepass"))
        except ThunderusError as error:
            pytest.fail(f"{payload!r}: {error}")
        assert os.path.dirname(kept) == folder
    _roots.clear()
    report.add("P1", "quarantine", tried=len(PAYLOADS))
