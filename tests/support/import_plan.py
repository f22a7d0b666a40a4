"""An import's plan as one value a file: what is told of it, and its document's text."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thunderus_mem.interop.markdown import ImportPlan


def planned(plan: ImportPlan) -> list[Any]:
    return [
        SimpleNamespace(**asdict(file) | {"links": file.links}, text=plan.texts.get(file.source, ""))
        for file in plan.files
    ]
