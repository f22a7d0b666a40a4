"""P2: folders and files replaced by links that lead out, also in the middle of a command."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, twice
from hands import Hand, Said, hands, together
from tier import points

from tests.conftest import sealed_environment
from thunderus_mem.memory import open_memory
from thunderus_mem.verbs.adding import add

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CANARY = "canarytextfromoutside"
PLACES = (
    FACTS,
    ".thunderus/memory/semantic",
    ".thunderus/memory",
    f"{FACTS}/begun.md",
    ".thunderus/sessions",
)


@pytest.mark.damaged
def test_no_command_follows_a_link_that_appears_under_it(tmp_path: Path, sealed: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / ".thunderus").mkdir(parents=True)
    memory = open_memory(str(root))
    add(memory, "fact", "Begun", body="It begins here.", tags=["one"])
    memory.index.close()
    _make_outside(root, outside)
    kept = _bytes_below(outside)
    wanted = points(60, 1000)
    said: list[Said] = []
    stop = threading.Event()
    swaps: list[str] = []
    plain = {k: v for k, v in sealed_environment(sealed).items() if not k.startswith("THUNDERUS_MEM_")}

    def swap() -> None:
        chance = random.Random(3)
        try:
            while len(swaps) < wanted:
                _swap_once(root, outside, PLACES[len(swaps) % len(PLACES)], chance.random() * 0.03)
                swaps.append("once")
        finally:
            stop.set()

    def work(hand: Hand, name: int) -> Callable[[], None]:
        def commands() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                title = f"Of {name}, turn {turn}"
                told = [
                    hand.run(*arguments)
                    for arguments in (
                        ("add", "fact", title, "--tag", "x", "--body", f"{title} is here."),
                        ("search", CANARY),
                        ("edit", "fact.begun", "--body", f"Edited by {name} in turn {turn}."),
                        ("list",),
                        ("show", "fact.begun"),
                        ("index", "rebuild"),
                        ("lint", "--format", "concise"),
                    )
                ]
                said.extend(told)

        return commands

    with hands(2, str(root), plain) as two:
        together([swap, *(work(hand, name) for name, hand in enumerate(two))])
    followed = [one for one in said if CANARY in one.out or CANARY in one.err.replace(f"'{CANARY}'", "")]
    written = sorted(set(_bytes_below(outside).items()) ^ set(kept.items()))
    report.add("P2", "swaps", tried=len(swaps), lost=len(followed) + len(written))
    assert written == []
    assert followed == []
    assert [one for one in said if "Traceback" in one.err or one.code == 70] == []


def _make_outside(root: Path, outside: Path) -> None:
    """Other people's files, in the shape of a memory."""
    shutil.copytree(root / ".thunderus", outside / "memory-like")
    for path in sorted(outside.rglob("*.md")):
        path.write_text(twice("begun", CANARY))
    (outside / "begun.md").write_text(twice("begun", CANARY))


def _target(outside: Path, place: str) -> Path:
    like = outside / "memory-like" / place.removeprefix(".thunderus/")
    return like if like.exists() else outside / "begun.md"


def _swap_once(root: Path, outside: Path, place: str, pause: float) -> None:
    here, aside = root / place, root / ".thunderus" / "aside"
    os.rename(here, aside)
    os.symlink(_target(outside, place), here)
    time.sleep(pause)
    while True:
        if here.is_symlink():
            here.unlink()
        elif here.exists():
            # A command made the folder anew between two steps of ours: what it wrote there is moved back.
            _merge(here, aside)
        try:
            os.rename(aside, here)
        except OSError:
            continue
        return


def _merge(here: Path, aside: Path) -> None:
    if here.is_file():
        here.unlink()
        return
    for path in sorted(here.rglob("*")):
        if path.is_file():
            target = aside / path.relative_to(here)
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                os.replace(path, target)
    shutil.rmtree(here, ignore_errors=True)


def _bytes_below(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
