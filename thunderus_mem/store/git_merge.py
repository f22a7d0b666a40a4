"""Merges three texts line by line, as git does: ``git merge-file``, in one process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import NotWritable

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.store.git_process import Output

__all__ = ["merge_lines"]

_SIDES: Final = ("ours", "base", "theirs")
_MOST_CONFLICTS: Final = 127


def merge_lines(
    run: Callable[..., Output], base: str, ours: str, theirs: str, labels: tuple[str, str]
) -> str:
    """The three texts merged; git's markers, in the style it is configured for, stand around conflicts.

    ``run`` starts git. Raises `NotWritable` when git cannot do it.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="thunderus-mem-") as folder:
        paths = [os.path.join(folder, name) for name in _SIDES]
        for path, text in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as stream:
                stream.write(text.encode("utf-8", "surrogatepass"))
        names = [word for label in (labels[0], "base", labels[1]) for word in ("-L", label)]
        done = run("merge-file", "-p", *names, *paths)
    if not 0 <= done.code <= _MOST_CONFLICTS:
        raise NotWritable(f"git could not merge the text: {done.complaint or 'it does not say why'}.")
    return done.data.decode("utf-8", "surrogatepass")
