"""The plan of an import as one value per file: its report and the text of its document."""

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
