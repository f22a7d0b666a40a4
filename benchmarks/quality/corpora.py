"""Markdown pages of git repositories, with earlier versions of them. The only module here that asks git."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.quality.documents import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

FEWEST_WORDS: Final = 20
MOST_WORDS: Final = 1500
SMALLEST, LARGEST = 0.01, 0.20
"""How much of a text must have changed, in words, for two versions to count as near duplicates."""

_VERSIONS_LOOKED_AT: Final = 12
_MARKDOWN: Final = (".md", ".mdc")
_VERSIONED = re.compile(r"(?:[\w-]+/)?versioned_docs/version-([^/]+)/(.+)")
_HEADER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?:\n|$)", re.DOTALL)
_TITLE_KEY = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)


class Version(NamedTuple):
    """An earlier text of a page. ``change`` is the share of words that differ; ``source`` names it."""

    origin: str
    source: str
    title: str
    body: str
    change: float


class Page(NamedTuple):
    """One Markdown file of the newest commit, its own header taken off; ``earlier`` is a text near it."""

    corpus: str
    path: str
    title: str
    body: str
    earlier: Version | None

    @property
    def id(self) -> str:
        """The id of a document made from it."""
        return f"fact.{slug(self.corpus)}.{slug(self.path.rpartition('.')[0])}"


def corpus_name(repository: str) -> str:
    """What to call a repository: the last part of its path that says something."""
    parts = [part for part in os.path.abspath(repository).split(os.sep) if part not in ("repo", ".git")]
    return parts[-1].replace("+", "/").removesuffix(".git")


def _git(repository: str, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "-c", "core.quotePath=false", "-C", repository, *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def _newest(repository: str) -> dict[str, str]:
    """Path → blob of every Markdown file of the newest commit."""
    found = {}
    for line in _git(repository, "ls-tree", "-r", "-z", "HEAD").decode("utf-8", "replace").split("\0"):
        meta, _, path = line.partition("\t")
        if path.endswith(_MARKDOWN) and meta.split()[1] == "blob":
            found[path] = meta.split()[2]
    return found


def _history(repository: str) -> dict[str, list[str]]:
    """Path → the blobs it has had, newest first."""
    patterns = [f"*{ending}" for ending in _MARKDOWN]
    log = _git(
        repository, "log", "--format=", "--raw", "--no-abbrev", "--no-renames", "HEAD", "--", *patterns
    )
    found: dict[str, list[str]] = {}
    for line in log.decode("utf-8", "replace").splitlines():
        meta, _, path = line.partition("\t")
        parts = meta.split()
        if len(parts) == 5 and parts[4] in ("A", "M"):
            found.setdefault(path, []).append(parts[3])
    return found


def _texts(repository: str, blobs: Iterable[str]) -> dict[str, str]:
    """Blob → text, for those that are there and are UTF-8."""
    wanted = sorted(set(blobs))
    data = _git(repository, "cat-file", "--batch", given="".join(f"{one}\n" for one in wanted).encode())
    found, at = {}, 0
    for _ in wanted:
        end = data.index(b"\n", at)
        head = data[at:end].split()
        at = end + 1
        if len(head) == 3:
            size = int(head[2])
            with contextlib.suppress(UnicodeDecodeError):
                found[head[0].decode()] = data[at : at + size].decode().replace("\r\n", "\n")
            at += size + 1
    return found


def _read(text: str, path: str) -> tuple[str, str]:
    """Title and body of a file: its header is taken off, its title is that of the header or first heading."""
    header = _HEADER.match(text)
    body = text[header.end() :] if header else text
    named = _TITLE_KEY.search(header[0]) if header else None
    heading = _HEADING.search(body)
    title = named[1].strip().strip("\"'") if named else heading[1].strip("# ") if heading else ""
    return " ".join(title.split()) or os.path.basename(path).rpartition(".")[0], body.strip("\n")


def word_change(one: str, other: str) -> float:
    """The share of words, 0 to 1, that two texts do not have in common and in order."""
    left, right = one.split(), other.split()
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    if matcher.real_quick_ratio() < 1 - LARGEST or matcher.quick_ratio() < 1 - LARGEST:
        return 1.0
    return 1 - matcher.ratio()


def _earlier(
    body: str, path: str, candidates: Sequence[tuple[str, str, str]], texts: dict[str, str]
) -> Version | None:
    """The first candidate (origin, source, blob) that is near the text, but not nearly the same."""
    for origin, source, blob in candidates:
        if blob not in texts:
            continue
        title, older = _read(texts[blob], path)
        change = word_change(body, older)
        if SMALLEST <= change <= LARGEST:
            return Version(origin, source, title, older, change)
    return None


def pages(repository: str, dice: Random, most: int) -> list[Page]:
    """At most ``most`` pages of a repository, each text once, in the order of their paths.

    Left out are pages of fewer than 20 or more than 1,500 words beside their headings, and the folders of
    versioned documentation, whose pages are earlier versions of others.
    """
    corpus, newest, history = corpus_name(repository), _newest(repository), _history(repository)
    current = {path: blob for path, blob in newest.items() if not _VERSIONED.fullmatch(path)}
    released: dict[str, list[tuple[str, str, str]]] = {}
    for path, blob in newest.items():
        if versioned := _VERSIONED.fullmatch(path):
            released.setdefault(versioned[2], []).append(("version", versioned[1], blob))
    texts = _texts(repository, current.values())
    read: dict[str, tuple[str, str]] = {}
    seen: set[str] = set()
    for path in sorted(path for path, blob in current.items() if blob in texts):
        title, body = _read(texts[current[path]], path)
        words = " ".join(body.split())
        said = len(_HEADING.sub("", body).split())
        if FEWEST_WORDS <= said <= MOST_WORDS and words not in seen:
            seen.add(words)
            read[path] = (title, body)
    chosen = sorted(dice.sample(sorted(read), min(most, len(read))))
    candidates: dict[str, list[tuple[str, str, str]]] = {}
    for path in chosen:
        blobs = [blob for blob in dict.fromkeys(history.get(path, ())) if blob != current[path]]
        own = [("revision", blob[:10], blob) for blob in blobs]
        # Documentation with released versions is asked about those, not about each revision.
        own = released.get(path.partition("docs/")[2], own)
        candidates[path] = dice.sample(own, min(_VERSIONS_LOOKED_AT, len(own)))
    texts |= _texts(repository, (blob for each in candidates.values() for _, _, blob in each))
    return [
        Page(corpus, path, *read[path], _earlier(read[path][1], path, candidates[path], texts))
        for path in chosen
    ]
