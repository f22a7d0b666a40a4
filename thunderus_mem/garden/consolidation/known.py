"""What need not be learned: what documents say, what the code says, and what came out of the memory. Pure."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.garden.recaps.runs import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event

__all__ = ["Known", "Recalled", "command_stands"]

_WORD = re.compile(r"[^\W_]+")
_SHINGLE: Final = 4
_REPEATED: Final = 0.5
"""Share of a text's word runs that stand in the memory, from which on it is a repetition."""
_NEAR: Final = 0.8
"""Share of a text's telling words that one document has, from which on it says the same."""
_FEWEST: Final = 4
_PASSAGE: Final = 6
"""Word runs that a tool's answer shares with the memory, from which on it came out of it."""
_LONGEST: Final = 200_000
_TARGET = re.compile(r"(?m)^([A-Za-z0-9_.-]+)[ \t]*:(?!=)")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}


def _telling(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if len(word) > 3 or word.isdigit())


class Known:
    """What the documents say, looked up by word runs and by words."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)

    @cached_property
    def texts(self) -> list[str]:
        """Every document's title and body with single spaces."""
        return [" ".join(f"{document.title}\n{document.body}".split()) for document in self._documents]

    @cached_property
    def runs(self) -> set[tuple[str, ...]]:
        """The word runs of all documents."""
        return {run for text in self.texts for run in _runs(_words(text))}

    @cached_property
    def _having(self) -> dict[str, list[int]]:
        having: dict[str, list[int]] = {}
        for at, text in enumerate(self.texts):
            for word in _telling(_words(text)):
                having.setdefault(word, []).append(at)
        return having

    def names_command(self, command: str) -> bool:
        """Whether a document has the command as it is."""
        return any(_has(text, command) for text in self.texts)

    def says(self, text: str) -> bool:
        """Whether the documents repeat most of a text, or one of them has most of its telling words."""
        words = _words(text)
        if _share(_runs(words), self.runs) >= _REPEATED:
            return True
        telling = _telling(words)
        if len(telling) < _FEWEST:
            return False
        hits: dict[int, int] = {}
        for word in telling:
            for at in self._having.get(word, ()):
                hits[at] = hits.get(at, 0) + 1
        return max(hits.values(), default=0) >= _NEAR * len(telling)


class Recalled:
    """What came out of the memory in one session, told event by event.

    A tool that serves the memory gives nothing but that; any other answer or message counts when it repeats a
    passage of a document.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._runs: set[tuple[str, ...]] = set()
        self._passages: list[frozenset[str]] = []

    def hear(self, event: Event) -> None:
        """Take notice of an event."""
        if event.kind == "tool_result":
            text = "\n".join(_texts(event.body))[:_LONGEST]
        elif event.kind == "message":
            text = said(event)[:_LONGEST]
        else:
            return
        runs = _runs(_words(text))
        if not runs:
            return
        from_memory = event.kind == "tool_result" and _is_memory(event.body)
        if from_memory or len(runs & self._known.runs) >= _PASSAGE:
            for passage in text.splitlines():
                words = _words(passage)
                own = _runs(words)
                if from_memory or _share(own, self._known.runs) >= _REPEATED:
                    self._runs |= own
                    self._passages.append(_telling(words))

    def has(self, text: str) -> bool:
        """Whether the text repeats, or has the telling words of, something that was recalled."""
        words = _words(text)
        if _share(_runs(words), self._runs) >= _REPEATED:
            return True
        telling = _telling(words)
        return len(telling) >= _FEWEST and any(
            len(telling & passage) >= _NEAR * len(telling) for passage in self._passages
        )


def _share(part: set[tuple[str, ...]], whole: set[tuple[str, ...]]) -> float:
    return len(part & whole) / len(part) if part else 0.0


def _is_memory(body: Mapping[str, Any]) -> bool:
    arguments = body.get("arguments")
    asked = [body.get("tool"), body.get("command")]
    asked += [arguments.get("command")] if isinstance(arguments, dict) else []
    result = body.get("result")
    asked += [result.get("cmd"), result.get("command")] if isinstance(result, dict) else []
    return any(isinstance(text, str) and ("thunderus" in text or "memory" in text) for text in asked)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _has(text: str, command: str) -> bool:
    """Whether a command stands in a text, not as part of a longer word."""
    at = text.find(command)
    while at >= 0:
        end = at + len(command)
        if not _goes_on(text[at - 1 : at] if at else "") and not _goes_on(text[end : end + 1]):
            return True
        at = text.find(command, at + 1)
    return False


def _goes_on(char: str) -> bool:
    return char.isalnum() or char in ("-", "_", "/", ":")


def command_stands(command: str, files: Mapping[str, str]) -> bool:
    """Whether the files that say how the code is built and run have the command: as it is, as a target of
    make, or as a script of package.json."""
    words = command.split()
    if words[:1] == ["make"] and len(words) > 1:
        makefiles = [text for path, text in files.items() if path.lower().endswith("makefile")]
        targets = {name for text in makefiles for name in _TARGET.findall(text)}
        if all(word in targets or word.startswith("-") or "=" in word for word in words[1:]):
            return True
    if words[:1] and words[0] in ("npm", "pnpm", "yarn", "bun"):
        plain = [word for word in words[1:] if word != "run" and not word.startswith("-")]
        if plain[:1] and plain[0] in _scripts(files.get("package.json", "")):
            return True
    return any(_has(" ".join(text.split()), command) for text in files.values())


def _scripts(text: str) -> frozenset[str]:
    from json import loads

    try:
        data = loads(text) if text else {}
    except (ValueError, RecursionError):
        return frozenset()
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()
