"""P2: folders and files replaced by symlinks to the outside, also while a command runs."""

from __future__ import annotations

import ctypes
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
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.memory.memory import open_memory

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
_HERE = -100
"""``AT_FDCWD``"""
_EXCHANGE = 2
"""``RENAME_EXCHANGE``"""


@pytest.mark.damaged
def test_no_command_follows_a_symlink_swapped_in(tmp_path: Path, sealed: Path) -> None:
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        report.skip("P2", "two names cannot change places here")
        pytest.skip("two names cannot change places here")
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / ".thunderus").mkdir(parents=True)
    memory = open_memory(str(root))
    add(memory, NewDocument("fact", "Begun", body="It begins here.", tags=["one"]))
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
                results = [
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
                said.extend(results)

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
    os.symlink(_target(outside, place), aside)
    _exchange(here, aside)
    time.sleep(pause)
    try:
        _exchange(here, aside)
    except FileNotFoundError:  # a command took the link away
        os.rename(aside, here)
        return
    if aside.is_symlink():
        aside.unlink()
    else:
        # A command put its own in the place of the link: what it wrote there is moved back.
        _merge(aside, here)


def _exchange(one: Path, other: Path) -> None:
    """Let two names change places in one step: at no time is either of them absent."""
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    if renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(one), None, str(other))


def _merge(written: Path, kept: Path) -> None:
    if written.is_file():
        written.unlink()
        return
    for path in sorted(written.rglob("*")):
        if path.is_file():
            target = kept / path.relative_to(written)
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                os.replace(path, target)
    shutil.rmtree(written, ignore_errors=True)


def _bytes_below(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
