"""What a bug leaves behind: a report without any text of the memory."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING

from thunderus_mem import __version__
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.store.layout import Layout
from thunderus_mem.store.root import find_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def write_report(
    error: BaseException, arguments: Sequence[str], start: str, environ: Mapping[str, str]
) -> str | None:
    """Write the report into the store's local folder, else into the temp folder; return its path.

    Arguments are named without their values, and messages of exceptions are left out: both may hold text
    that is nobody's business.
    """
    text = _report(error, arguments)
    for folder in _folders(start, environ):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            descriptor, path = tempfile.mkstemp(prefix="crash-", suffix=".log", dir=folder, text=True)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as handle:
                handle.write(text)
        except OSError:
            continue
        return path
    return None


def _folders(start: str, environ: Mapping[str, str]) -> list[str]:
    try:
        return [Layout(find_root(start, environ).root).crash_dir, tempfile.gettempdir()]
    except (ThunderusError, OSError):
        return [tempfile.gettempdir()]


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    names = [part.partition("=")[0] for part in arguments if part.startswith("-")]
    command = next((part for part in arguments if not part.startswith("-")), "")
    lines = [
        f"thunderus-mem {__version__}",
        f"Python {platform.python_version()} on {sys.platform}",
        f"command {command[:40]} {' '.join(names)}".rstrip(),
        "",
    ]
    seen: BaseException | None = error
    while seen is not None:
        lines += [line.rstrip("\n") for line in traceback.format_tb(seen.__traceback__)]
        lines += [type(seen).__name__, ""]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\n".join(lines)
