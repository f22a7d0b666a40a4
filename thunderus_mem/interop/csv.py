"""Documents as a table in CSV (RFC 4180), with the names of the frontmatter as columns.

Cells are strings. Numbers, lists and objects are JSON; an empty cell is a missing value. ``tags`` may also be
separated by commas.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
from typing import IO, TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.jsonl import flat_table
from thunderus_mem.interop.values import json_value, shortened
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LONGEST_CELL: Final = 16 << 20
_IN_MEMORY: Final = 1 << 20
_JSON: Final = frozenset(
    (
        *("tags", "metadata", "credibility", "quality_score", "emotional_valence", "emotional_arousal"),
        "sequence_number",
    )
)

TABLE: Final = flat_table("csv")
_COLUMNS: Final = (TABLE.identity, *dict.fromkeys(row.theirs for row in TABLE.fields), TABLE.metadata)


class Rows(NamedTuple):
    """A CSV file: a header, and a row for each record. Columns that no record has are not written."""

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the records. A line that is not valid CSV is refused alone."""
        for _, record in self._read(file):
            yield record

    def lines(self, file: IO[bytes]) -> Iterator[int]:
        """Yield the first line of each record, from 1."""
        for line, _ in self._read(file):
            yield line

    def _read(self, file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
        file.seek(0)
        csv.field_size_limit(_LONGEST_CELL)
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        line = 1
        try:
            rows = csv.reader(text, strict=True)
            names = next(rows, [])
            _check_columns(names)
            while True:
                line = rows.line_num + 1
                try:
                    cells = next(rows, None)
                except csv.Error as error:
                    # Further down, the quote may have begun in any of the lines.
                    if rows.line_num > line or "unexpected end" in str(error):
                        raise
                    yield line, ValueError(f"is not valid CSV: {error}")
                    continue
                if cells is None:
                    return
                if cells:
                    yield line, _record(names, cells)
        except UnicodeDecodeError:
            raise InvalidDocument("the file is not valid UTF-8", hint="save it as UTF-8") from None
        except csv.Error as error:
            hint = f"look for a quote that is not closed, or not doubled, from line {line} on"
            raise InvalidDocument(
                f"the record that begins in line {line} is not valid CSV: {error}", hint=hint
            ) from None
        finally:
            text.detach()

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of a file. The records are read twice, the first time for their columns."""
        seen: dict[str, None] = {}
        with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8") as kept:
            for record in records:
                seen |= dict.fromkeys(record)
                kept.write(json.dumps(record) + "\n")
            kept.seek(0)
            order = {name: at for at, name in enumerate(_COLUMNS)}
            columns = sorted(seen, key=lambda name: order.get(name, len(order)))
            yield _line(columns or _COLUMNS)
            for line in kept:
                record = json.loads(line)
                yield _line([_cell(name, record.get(name)) for name in columns])


FILE: Final = Rows()


def _check_columns(names: Sequence[str]) -> None:
    """Raise `InvalidDocument` if columns cannot be told apart."""
    if not all(map(str.strip, names)):
        raise InvalidDocument("a column has no name", hint="name it in the first line, or remove it")
    for name in names:
        if names.count(name) > 1:
            raise InvalidDocument(f"two columns are named `{shortened(name)}`", hint="rename one of them")


def _line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and _value(name, value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _record(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any] | ValueError:
    if len(cells) > len(names):
        return ValueError("has more cells than the header")
    return {name: _value(name, cell) for name, cell in zip(names, cells, strict=False) if cell}


def _value(name: str, cell: str) -> Any:
    if name not in _JSON:
        return cell
    try:
        return json_value(cell)
    except ValueError:
        return cell
