"""F1 in a process of its own: headers by mutation and grammar, read with a clock and a look at memory.

``python tests/faults/header_fuzz.py COUNT SEED`` prints what came of it as JSON. A process, because memory is
judged by how much it ever held, and because the other reader is native code.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(os.path.dirname(HERE))]

from header_seeds import SEEDS, composed, mutated  # noqa: E402
from pace import pace  # noqa: E402

from benchmarks import yaml_reference  # noqa: E402
from thunderus_mem.document.document import read_document  # noqa: E402
from thunderus_mem.document.frontmatter.nodes import Mapping, typed_data  # noqa: E402
from thunderus_mem.document.frontmatter.read import (  # noqa: E402
    read_fast,
    read_full,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW = 0.150
"""Seconds of the processor a header of 32 KiB may take."""


class Failed(Exception):
    """A header that was not read as it should be."""


def check(text: str) -> tuple[float, str]:
    """Read one header every way; seconds of the ordinary way, and "fast", "full" or the code of a problem."""
    start = time.process_time()
    root, problems = read_header(text)
    took = time.process_time() - start
    if (root is None) != bool(problems):
        raise Failed("neither a mapping nor a problem, or both")
    for problem in problems:
        if not (1 <= problem.line <= text.count("\n") + 1 and problem.column >= 1):
            raise Failed(f"a problem in line {problem.line}, column {problem.column}")
    if root is None:
        return took, problems[0].code
    json.dumps(typed_data(root)).encode("utf-8")
    fast = read_fast(text)
    if fast is not None and read_full(text) != (fast, ()):
        raise Failed("the two readers disagree")
    _agree(text, root)
    return took, "full" if fast is None else "fast"


def _agree(text: str, root: Mapping) -> None:
    """Where py-yaml12 reads it as well, it reads the same."""
    other = yaml_reference.differs(text, root) if text.endswith("\n") else ""
    if other:
        raise Failed(f"another reader sees {other[:300]}")


def check_bytes(text: str, dice: random.Random) -> None:
    """The same header as a file, some bytes changed: a reading or a finding, never an exception."""
    data = bytearray(f"---\n{text}---\nBody.\n".encode("utf-8", "surrogatepass"))
    for _ in range(dice.randrange(4)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    reading = read_document("a.md", bytes(data))
    if (reading.document is None) != bool(reading.problems):
        raise Failed("neither a document nor a finding, or both")


def again(text: str) -> float:
    """The best of three: a neighbour on the machine can only slow a reading down."""
    return min(check(text)[0] for _ in range(3))


def peak(texts: list[str]) -> int:
    """Bytes allocated at most while one of these headers is read."""
    highest = 0
    for text in texts:
        tracemalloc.start()
        read_header(text)
        highest = max(highest, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return highest


def run(count: int, seed: int) -> dict[str, Any]:
    """Read ``count`` headers; the seeds themselves come first."""
    dice = random.Random(seed)
    makers: tuple[Callable[[random.Random], str], ...] = (mutated, mutated, composed)
    summary: dict[str, Any] = {"tried": 0, "failed": [], "codes": {}, "slowest": 0.0, "slow": []}
    heaviest: list[tuple[float, str]] = []
    check(SEEDS[2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        text = SEEDS[number] if number < len(SEEDS) else dice.choice(makers)(dice)
        if not text.endswith("\n") and dice.random() < 0.9:
            text += "\n"  # as before a closing fence
        try:
            took, code = check(text)
            check_bytes(text, dice)
        except Exception as error:  # noqa: BLE001  (any exception is what is looked for)
            summary["failed"].append(f"{type(error).__name__}: {error}: {text[:300]!r}")
            continue
        finally:
            summary["tried"] += 1
        summary["codes"][code] = summary["codes"].get(code, 0) + 1
        if took > SLOW * pace():
            took = again(text)
            summary["slow"] += [text[:300]] * (took > SLOW * pace())
        summary["slowest"] = max(summary["slowest"], took)
        heaviest = sorted([*heaviest, (took, text)], reverse=True)[:5]
    summary["grown"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    summary["peak"] = peak([text for _, text in heaviest])
    return summary


if __name__ == "__main__":
    json.dump(run(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
