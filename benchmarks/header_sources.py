"""Files that begin with a line ``---``, out of folders and git repositories on this machine."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT: Final = (
    *(".md", ".mdx", ".markdown", ".mdoc", ".mdc", ".qmd", ".html", ".txt", ".textile"),
    *(".adoc", ".erb", ".njk", ".liquid"),
)
_BOM: Final = b"\xef\xbb\xbf"


def files(place: str) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every file of text below ``place`` that begins with ``---``.

    ``place`` is a folder, or a git directory without a work tree, of which the newest commit is read. Links
    are not followed.
    """
    found = _of_git(place) if _is_git(place) else _of_folder(place)
    for path, data in found:
        if data.removeprefix(_BOM).startswith(b"---"):
            yield path, data


def _is_git(place: str) -> bool:
    return os.path.isfile(os.path.join(place, "HEAD")) and os.path.isdir(os.path.join(place, "objects"))


def _is_text(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(_TEXT) or "." not in name


def _of_folder(place: str) -> Iterator[tuple[str, bytes]]:
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if name != ".git")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if _is_text(name) and os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as stream:
                    yield os.path.relpath(path, place), stream.read()


def _of_git(place: str) -> Iterator[tuple[str, bytes]]:
    git = ["git", f"--git-dir={place}"]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    chosen: list[tuple[bytes, str]] = []
    for row in listed.split(b"\0")[:-1]:
        about, _, raw = row.partition(b"\t")
        mode, kind, sha = about.split()
        path = raw.decode("utf-8", "replace")
        if kind == b"blob" and mode != b"120000" and _is_text(path):
            chosen.append((sha, path))
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = b"".join([sha + b"\n" for sha, _ in chosen])
        threading.Thread(target=_feed, args=(process.stdin, asked), daemon=True).start()
        for _, path in chosen:
            head = process.stdout.readline().split()
            if len(head) == 3:  # a file too large for the copy is "missing"
                yield path, process.stdout.read(int(head[2]))
                process.stdout.read(1)


def _feed(stream: object, data: bytes) -> None:
    stream.write(data)  # type: ignore[attr-defined]
    stream.close()  # type: ignore[attr-defined]
