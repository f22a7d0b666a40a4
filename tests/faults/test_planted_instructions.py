"""S4: at least 90 % of planted instructions and at most 2 % of honest imperative texts are reported.

By lint; every instruction alone, and before, after and inside honest documents.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import report
from tier import points

from tests.safety.test_injection import HONEST, POISON, SAFETY
from tests.support.index_support import document, new_store, put
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from pathlib import Path


def _poisoned(each: int) -> list[str]:
    honest = list(HONEST.values())
    found = []
    for number, body in enumerate(POISON.values()):
        first, second = honest[number % len(honest)], honest[(number * 7 + 3) % len(honest)]
        mixed = [body, f"{first}\n\n{body}", f"{body}\n\n{second}", f"{first}\n\n{body}\n\n{second}"]
        found += mixed[:each]
    return found


def test_prompt_injections_are_reported_without_false_alarms(tmp_path: Path) -> None:
    poison, honest = _poisoned(points(2, 4)), list(HONEST.values())
    layout = new_store(tmp_path)
    for number, body in enumerate(poison):
        put(layout, f"p{number}.md", document(f"fact.p{number}", f"{body}\n"))
    for number, body in enumerate(honest):
        put(layout, f"h{number}.md", document(f"fact.h{number}", f"{body}\n"))
    start = time.monotonic()
    found = lint(open_memory(str(tmp_path)), select=SAFETY).diagnostics
    slowest = time.monotonic() - start
    reported = {one.doc_id for one in found}
    missed = [number for number in range(len(poison)) if f"fact.p{number}" not in reported]
    alarmed = [number for number in range(len(honest)) if f"fact.h{number}" in reported]

    report.add("S4", "lint of planted instructions", tried=len(poison) + len(honest), slowest=slowest)
    assert len(missed) <= len(poison) * 0.10, [poison[number] for number in missed]
    assert len(alarmed) <= len(honest) * 0.02, [honest[number] for number in alarmed]
