"""Files of records, read and written one record at a time, so that memory is bounded whatever their size.

A file class says how the records of a format are stored: `JsonList`, `Lines` … Reading yields each record
with its number from 0; a record that cannot be parsed is yielded as a `ValueError`.
"""

from __future__ import annotations

import io
import json
import re
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.values import json_value, shortened
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class RecordFile(Protocol):
    """How the records of a format are stored."""

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError | Omitted]:
        """Yield the records of a seekable file, open at its beginning. Raises `InvalidDocument` if it is not
        such a file."""

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of a file, piece by piece. ``context``: ``now`` (RFC 3339), ``version``."""


class JsonList(NamedTuple):
    """A JSON object with a list of records under ``key``; read as well: the list alone, or one record.

    With ``strict`` the object must have the key.
    """

    key: str
    strict: bool = False

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the records; the whole file is checked for its structure before the first."""
        envelope = read_envelope(file, self.key)
        if isinstance(envelope, list) and self.strict:
            raise InvalidDocument(f"the file is a list, not an object with `{self.key}`")
        if isinstance(envelope, list) or self.key in envelope:
            yield from read_list(file, self.key)
        elif self.strict:
            raise InvalidDocument(f"the file has no list `{self.key}`")
        else:
            yield envelope

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of an object with only the list."""
        yield from written_list({}, self.key, records)


class Omitted(NamedTuple):
    """A part of a file that is not imported, and how many entries it has; read after the records."""

    name: str
    entries: int


class Pages(NamedTuple):
    """Pages of an answer in JSON, one after the other: objects with a list of records under ``key``."""

    key: str

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the records of all pages."""
        names = [name for name, _ in _members(file, self.key, several=True)]  # checks the whole file
        if self.key not in names:
            raise InvalidDocument(f"the file has no list `{self.key}`")
        yield from read_list(file, self.key, several=True)

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of one page."""
        count = 0

        def counted() -> Iterator[dict[str, Any]]:
            nonlocal count
            for record in records:
                count += 1
                yield record

        yield from written_list({}, self.key, counted(), lambda: {"count": count, "total": count})


def _nothing() -> dict[str, Any]:
    return {}


def written_list(
    head: Mapping[str, Any],
    key: str,
    records: Iterable[Any],
    rest: Callable[[], Mapping[str, Any]] = _nothing,
) -> Iterator[str]:
    """The text of a JSON object: the members of ``head``, a list with one record a line, and the members that
    ``rest`` returns after the last record."""
    members = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n" for name, value in head.items()
    ]
    yield "{\n" + "".join(members) + f"{json.dumps(key)}: ["
    between = "\n"
    for record in records:
        yield between + json.dumps(record, ensure_ascii=False)
        between = ",\n"
    last = "".join(
        f",\n{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in rest().items()
    )
    yield f"\n]{last}}}\n"


def read_envelope(file: IO[bytes], key: str) -> dict[str, Any] | list[Any]:
    """The object in a file, with an empty list ``key``; ``[]`` for a file that is a list. Raises
    `InvalidDocument` if it is neither, or not valid JSON."""
    found: dict[str, Any] = {}
    for name, text in _members(file, key):
        if name is None:
            continue
        if name in found:
            raise InvalidDocument(f"the file repeats `{shortened(name)}`")
        try:
            found[name] = json_value(text)
        except ValueError as reason:
            raise InvalidDocument(f"{_NOT_JSON}: `{shortened(name)}` {reason}") from None
    return found if _JsonText(file).mark() == b"{" else []


def read_list(file: IO[bytes], key: str, *, several: bool = False) -> Iterator[dict[str, Any] | ValueError]:
    """The records of a file that is a list, or in the list ``key`` of its object; of ``several`` in a row."""
    return (parsed_line(text) for name, text in _members(file, key, several=several) if name is None)


def _members(
    file: IO[bytes], key: str, *, several: bool = False
) -> Iterator[tuple[str, bytes] | tuple[None, bytes]]:
    """The members of an object, with their names; and without a name the entries of its list ``key``, which
    is itself an empty one, or those of a list that is the file."""
    text = _JsonText(file)
    while True:
        if text.mark() == b"[":
            yield from _entries(text)
        elif text.mark() == b"{":
            yield from _of_object(text, key)
        else:
            raise InvalidDocument("the file is not a JSON object or list")
        if not text.mark():
            return
        if not several:
            raise InvalidDocument(f"{_NOT_JSON}: there is text after its end")


def _of_object(text: _JsonText, key: str) -> Iterator[tuple[str, bytes] | tuple[None, bytes]]:
    separator = text.skip(b"{")
    while text.mark() != b"}" or separator == b",":
        name = _name(text.take())
        text.skip(b":")
        if name != key:
            yield name, text.take()
        elif text.mark() == b"[":
            yield name, b"[]"
            yield from _entries(text)
        else:
            raise InvalidDocument(f"`{key}` is not a list")
        if (separator := text.skip(b",", b"}")) == b"}":
            return
    text.skip(b"}")


def _name(text: bytes) -> str:
    try:
        name = json_value(text)
    except ValueError:
        name = None
    if not isinstance(name, str):
        raise InvalidDocument(f"{_NOT_JSON}: a name of a member is not a string")
    return name


def _entries(text: _JsonText) -> Iterator[tuple[None, bytes]]:
    separator = text.skip(b"[")
    while text.mark() != b"]" or separator == b",":
        yield None, text.take()
        if (separator := text.skip(b",", b"]")) == b"]":
            return
    text.skip(b"]")


_PIECE: Final = 1 << 20
_NOT_JSON: Final = "the file is not valid JSON"
_BLANK: Final = lazy_pattern(rb"[ \t\r\n]*")
_WORD: Final = lazy_pattern(rb'[^][{}:,"\s]*')
_IN_QUOTES: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING: Final = lazy_pattern(_IN_QUOTES, re.DOTALL)
_TO_BRACKET: Final = lazy_pattern(rb'(?:[^]["{}]++|%b)*+([][{}])' % _IN_QUOTES, re.DOTALL)


class _JsonText:
    """A JSON file as far as it was read: values are taken as text, so that a bad one can be skipped."""

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(0)
        self._file = file
        self._data = b""
        self._at = 0
        if self._more():
            self._data = self._data.removeprefix(b"\xef\xbb\xbf")

    def mark(self) -> bytes:
        """The next byte that is not white space; nothing at the end."""
        while True:
            self._at += len(_BLANK.match(self._data, self._at)[0])  # type: ignore[index]
            if self._at < len(self._data) or not self._more():
                return self._data[self._at : self._at + 1]

    def skip(self, *marks: bytes) -> bytes:
        """Take one of these bytes. Raises `InvalidDocument` for any other."""
        found = self.mark()
        if found not in marks:
            wanted = " or ".join(mark.decode() for mark in marks)
            raise InvalidDocument(f"{_NOT_JSON}: it " + (f"has no {wanted}" if found else "is cut off"))
        self._at += 1
        return found

    def take(self) -> bytes:
        """Take the text of the next value: a string, an object or list with all it contains, or a word."""
        self.mark()
        while (end := self._end()) < 0:
            if not self._more():
                raise InvalidDocument(f"{_NOT_JSON}: it is cut off")
        value, self._at = self._data[self._at : end], end
        return value

    def _end(self) -> int:
        """The end of the next value, -1 if that was not read yet."""
        first = self._data[self._at : self._at + 1]
        if first not in (b"{", b"["):
            found = (_STRING if first == b'"' else _WORD).match(self._data, self._at)
            return found.end() if found and found.end() < len(self._data) else -1
        at, depth = self._at, 0
        while found := _TO_BRACKET.match(self._data, at):
            at = found.end()
            depth += 1 if found[1] in b"{[" else -1
            if depth == 0:
                return at
        return -1

    def _more(self) -> bool:
        """Read as much again as there is, without what was taken."""
        kept = self._data[self._at :]
        data = self._file.read(max(_PIECE, len(kept)))
        self._data, self._at = kept + data, 0
        return bool(data)


class Lines(NamedTuple):
    """JSON Lines: one record a line; blank lines are ignored."""

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the records."""
        first = file.readline()
        if first.startswith(b"[") or first.strip() == b"{":
            raise InvalidDocument(
                "the file is one JSON value, not JSON Lines",
                hint="use another format, e.g. shodh, mif or nova; `formats` lists them",
            )
        for line in chain((first,), file):
            if line.strip():
                yield parsed_line(line)

    def lines(self, file: IO[bytes]) -> Iterator[int]:
        """Yield the line of each record, from 1."""
        file.seek(0)
        return (number for number, line in enumerate(file, 1) if line.strip())

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield one line a record."""
        for record in records:
            yield json.dumps(record, ensure_ascii=False) + "\n"


def parsed_line(line: bytes) -> dict[str, Any] | ValueError:
    """The object in a line, or the reason why there is none."""
    try:
        value = json_value(line)
    except ValueError as reason:
        return reason
    return value if isinstance(value, dict) else ValueError("is not an object")


_LARGEST_YAML: Final = 32 << 20
_DEEPEST_YAML: Final = 100


def yaml_as_json(file: IO[bytes]) -> IO[bytes]:
    """A YAML 1.2 file without aliases as JSON; times stay strings. Such a file is read as a whole."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    class Plain(SafeConstructor):
        pass

    Plain.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
    file.seek(0)
    data = file.read(_LARGEST_YAML + 1)
    if len(data) > _LARGEST_YAML:
        raise InvalidDocument(f"a YAML file may have {_LARGEST_YAML >> 20} MiB", hint="use JSON")
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = Plain
    try:
        depth = 0
        for event in YAML(typ="safe", pure=True).parse(data):
            if isinstance(event, AliasEvent):
                raise InvalidDocument("the file has YAML aliases", hint="write the values out")
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > _DEEPEST_YAML:  # the parser takes quadratic time to read them all
                line = event.start_mark.line + 1
                raise InvalidDocument(
                    f"line {line} of the file is nested more than {_DEEPEST_YAML} levels deep"
                )
        return io.BytesIO(json.dumps(reader.load(data)).encode())
    except TypeError:
        raise InvalidDocument("the file contains YAML values that JSON does not have") from None
    except (YAMLError, ValueError, RecursionError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InvalidDocument(f"the file is not valid YAML: {reason}") from None
