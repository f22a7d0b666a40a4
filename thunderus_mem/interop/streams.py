"""Files of records, read and written one record at a time, so that memory is bounded whatever their size.

A file class says how the records of a format are stored: `JsonList`, `Lines` … Reading yields each record
with its number from 0; a record that cannot be parsed is yielded as a `ValueError`.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_LINE: Final = 64 << 20


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
        """Yield the records; the whole file is checked for syntax before the first."""
        prefix = self._prefix(file)
        for record in parsed(file, prefix):
            yield record if isinstance(record, dict) else ValueError("is not an object")

    def _prefix(self, file: IO[bytes]) -> str:
        envelope = read_envelope(file, self.key)
        if isinstance(envelope, list):
            if self.strict:
                raise InvalidDocument(f"the file is a list, not an object with `{self.key}`")
            return "item"
        if self.key in envelope:
            return f"{self.key}.item"
        if self.strict:
            raise InvalidDocument(f"the file has no list `{self.key}`")
        return ""

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
        count = 0
        for _ in parsed(file, f"{self.key}", several=True):  # checks the syntax of the whole file
            count += 1
        if not count:
            raise InvalidDocument(f"the file has no list `{self.key}`")
        for record in parsed(file, f"{self.key}.item", several=True):
            yield record if isinstance(record, dict) else ValueError("is not an object")

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
    """The object without the members of its list ``key``; ``[]`` for a file that is a list."""
    import ijson
    from ijson.common import ObjectBuilder

    builder, depth, skipped = ObjectBuilder(), 0, 0
    found: dict[str, Any] | list[Any] = {}
    try:
        for event, value in ijson.basic_parse(file, use_float=True):
            opens, closes = event.startswith("start_"), event.startswith("end_")
            if depth == 0 and event == "start_array":
                found = []
            depth += opens - closes
            if isinstance(found, list):
                continue
            if skipped:
                skipped = 0 if depth < skipped else skipped
                if skipped:
                    continue
            builder.event(event, value)
            if depth == 2 and event == "start_array" and _last_key(builder) == key:
                skipped = depth
    except ijson.JSONError as error:
        raise InvalidDocument(f"the file is not valid JSON: {_reason(error)}") from None
    if isinstance(found, list):
        return found
    if not isinstance(builder.value, dict):
        raise InvalidDocument("the file is not a JSON object or list")
    return builder.value


def _last_key(builder: Any) -> str:
    return next(reversed(builder.value), "") if isinstance(builder.value, dict) else ""


def parsed(file: IO[bytes], prefix: str, *, several: bool = False) -> Iterator[Any]:
    """The values below a prefix of `ijson` in a file, which may have ``several`` documents."""
    import ijson

    file.seek(0)
    try:
        yield from ijson.items(file, prefix, use_float=True, multiple_values=several)
    except ijson.JSONError as error:
        raise InvalidDocument(f"the file is not valid JSON: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return str(error.args[0] if error.args else error).strip().partition("\n")[0]


class Lines(NamedTuple):
    """JSON Lines: one record a line; blank lines are ignored."""

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the records."""
        for line in file:
            if line.strip():
                yield parsed_line(line)

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield one line a record."""
        for record in records:
            yield json.dumps(record, ensure_ascii=False) + "\n"


def parsed_line(line: bytes) -> dict[str, Any] | ValueError:
    """The object in a line, or the reason why there is none."""
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"), parse_constant=_no_number)
        if b"\\ud" in line.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ValueError("has half of a surrogate pair, which is no character")
    except (ValueError, RecursionError) as error:
        return ValueError(f"is not valid JSON: {error}")
    return value if isinstance(value, dict) else ValueError("is not an object")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


_LARGEST_YAML: Final = 32 << 20


def read_yaml(file: IO[bytes]) -> Any:
    """The value of a YAML 1.2 file without aliases; times stay strings. Such a file is read as a whole."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import AliasEvent

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
        if any(isinstance(event, AliasEvent) for event in YAML(typ="safe", pure=True).parse(data)):
            raise InvalidDocument("the file has YAML aliases", hint="write the values out")
        return reader.load(data)
    except (YAMLError, ValueError, RecursionError) as error:
        raise InvalidDocument(f"the file is not valid YAML: {_reason(error)}") from None
