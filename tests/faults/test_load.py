"""X2: eight processes, some interrupted: a busy index is never taken for a damaged one."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from typing import TYPE_CHECKING

import report
from hands import Hand, Said, hands, together
from tier import points

from tests.conftest import sealed_environment
from tests.support.verify_store import verify
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.doctor.upkeep import index_verify
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAP = 0.25


def test_healthy_index_is_never_quarantined(repo: Path, sealed: Path) -> None:
    seconds = points(5, 60)
    (repo / ".thunderus").mkdir()
    memory = open_memory(str(repo))
    for number in range(30):
        add(memory, NewDocument("fact", f"Begun {number}", body=f"Port {number} is open.", tags=["net"]))
    memory.index.close()
    index = str(repo / ".thunderus/memory/indexes/memory.db")
    built = os.stat(index).st_ino
    plain = {k: v for k, v in sealed_environment(sealed).items() if not k.startswith("THUNDERUS_MEM_")}
    said: list[Said] = []
    others: set[int] = set()
    until = time.monotonic() + seconds

    def work(hand: Hand, name: int) -> Callable[[], None]:
        chance = random.Random(name)

        def commands() -> None:
            turn = 0
            while time.monotonic() < until:
                turn += 1
                title = f"Of {name}, turn {turn}"
                said.append(
                    hand.run(
                        *chance.choice(
                            [
                                ("search", f"port {chance.randrange(30)}"),
                                ("list", "--ids"),
                                ("index", "refresh", "--json"),
                                ("add", "fact", title, "--tag", "net", "--body", f"{title} has words."),
                            ]
                        )
                    )
                )
                others.add(os.stat(index).st_ino)

        return commands

    with hands(8, str(repo), plain | {"THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "60"}) as eight:
        stop = threading.Event()
        sleeper = threading.Thread(target=_stop_some, args=([hand.pid for hand in eight], stop))
        sleeper.start()
        try:
            together([work(hand, name) for name, hand in enumerate(eight)])
        finally:
            stop.set()
            sleeper.join()
    bad = [one for one in said if one.code != 0 or "Traceback" in one.err]
    set_aside = len(others - {built})
    report.add("X2", "eight at work", tried=len(said), lost=set_aside)
    assert bad == []
    assert others == {built}
    assert index_verify(open_memory(str(repo))).problem == ""
    assert verify(str(repo), settled=True) == []


def _stop_some(pids: list[int], stop: threading.Event) -> None:
    """Take the processor away from one after another, wherever it is."""
    chance = random.Random(9)
    while not stop.wait(0.02):
        pid = chance.choice(pids)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(NAP)
        os.kill(pid, signal.SIGCONT)
