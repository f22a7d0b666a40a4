"""How a foreign record and a document correspond: one declarative table for each format. Pure.

Reading, writing and the schema of a record are derived from a `FieldTable`; ``docs/generate.py`` makes the
matrix of all formats from their tables. Nothing is lost if the format allows it: what a round trip would
change is kept, theirs in the metadata of the document (``metadata.<format>``), ours in the extension field of
the record.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import KINDS
from thunderus_mem.interop.values import ABSENT, HASHES, fits_frontmatter, is_sha256, json_value
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.interop.values import Conversion

BODY: Final = "(body)"
"""The key of the text of a document among its frontmatter keys."""
EDGES: Final = "(edges)"
"""The key of the line ends around the text, if they are not those of a new document."""
EXTENSION: Final = "thunderus_mem"
"""The key of ours in a foreign record: what the format has no field for."""
CLAIMED: Final = "claimed"
"""The key, in the metadata of a document, for what a record claims in our extension without a proof here."""
_STORED: Final = ("imported_from", "imported_sha256", "merged")
_LOCAL: Final = ("provenance", "verification")
_UNVERIFIED: Final = {"last_verified_commit": None, "status": "unknown"}


class As(NamedTuple):
    """The value of another key of ours."""

    key: str


class Field(NamedTuple):
    """One row: a field of theirs, the frontmatter key of ours, and the conversion between them.

    Both may be dotted paths. Of several rows with one field of theirs, the first whose key a document has is
    written; all are read. ``otherwise`` is the value of ours if the field is absent. ``required`` fields are
    written with ``default`` if a document has no value. A field with no key of ours is not stored: ``note``
    says why.
    """

    theirs: str
    ours: str
    by: Conversion
    default: Any = ABSENT
    otherwise: Any = ABSENT
    required: bool = False
    note: str = ""


class FieldTable(NamedTuple):
    """The fields of a format. ``identity`` is the field with the id, made by ``new_id`` from our id and the
    text; ``hash`` is the field with the hash of the text. ``metadata`` is the object for any other value; it
    takes our extension, as JSON text if it holds ``only_texts``. ``least`` and ``most`` are the sizes of a
    text in ``size_of``. ``usage`` are the fields with the number of reads and the time of the last one."""

    name: str
    fields: tuple[Field, ...]
    identity: str
    new_id: Callable[[str, str], str]
    hash: str = ""
    hash_of: Callable[[str], str] = lambda text: ""
    metadata: str = ""
    only_texts: bool = False
    least: int = 0
    most: int = 0
    size_of: Callable[[str], int] = len
    size_unit: str = "characters"
    usage: tuple[str, ...] = ()


class ForeignRecord(NamedTuple):
    """A record as read: frontmatter keys of ours and `BODY`; the id it has there (``key``), and here
    (``own_id``) if it comes from a store. ``kept`` is what ``values`` cannot express;
    ``dropped`` are fields that are not stored."""

    values: dict[str, Any]
    key: str
    own_id: str = ""
    kept: dict[str, Any] | None = None
    dropped: tuple[str, ...] = ()


class WrittenRecord(NamedTuple):
    """A record to export, and the keys of the document that it cannot hold."""

    data: dict[str, Any]
    lost: tuple[str, ...] = ()


def get(data: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, or `ABSENT`."""
    if "." not in path:
        return data.get(path, ABSENT)
    for part in path.split("."):
        if not isinstance(data, dict) or part not in data:
            return ABSENT
        data = data[part]
    return data


def put(data: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path; an outer value that is no object is replaced."""
    if "." not in path:
        data[path] = value
        return
    *outer, last = path.split(".")
    for part in outer:
        if not isinstance(data.get(part), dict):
            data[part] = {}
        data = data[part]
    data[last] = value


def remove(data: dict[str, Any], path: str) -> None:
    """Remove the value at a dotted path, and objects that are empty then."""
    if "." not in path:
        data.pop(path, None)
        return
    first, _, rest = path.partition(".")
    if rest and isinstance(data.get(first), dict):
        remove(data[first], rest)
        if data[first]:
            return
    data.pop(first, None)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal with their types: 1, 1.0 and true differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def read_record(table: FieldTable, record: Mapping[str, Any]) -> ForeignRecord:
    """Convert a record. Raises `ValueError` with the reason if it cannot be stored."""
    given = _without_extension(table, record)
    values = _read_fields(table, given.data)
    own_id = _apply_extension(table, values, given)
    text = values[BODY]
    _check_hash(table, record, text)
    plain = _plain(table, values)
    fields, absent = _differences(table, given.data, plain)
    fields |= _own_identity(table, record)
    other = _rest(table, given.data)
    metadata = other.pop(table.metadata, {})
    parts = (("fields", fields), ("absent", absent), ("other", other))
    kept: dict[str, Any] = {name: part for name, part in parts if part}
    _keep_metadata(table, values, given.data, metadata, kept)
    dropped = tuple(
        row.theirs for row in table.fields if not row.ours and get(record, row.theirs) not in (ABSENT, None)
    )
    given_id = record.get(table.identity)
    key = ("" if given_id is None else str(given_id)) or table.new_id("", text)
    return ForeignRecord(values, key, own_id, kept or None, dropped)


class _Given(NamedTuple):
    """A record without our extension, and the extension."""

    data: dict[str, Any]
    extension: dict[str, Any]


def _without_extension(table: FieldTable, record: Mapping[str, Any]) -> _Given:
    data = dict(record)
    path = f"{table.metadata}.{EXTENSION}"
    found = get(data, path) if table.metadata else ABSENT
    if found is ABSENT:
        return _Given(data, {})
    if isinstance(found, str):
        try:
            found = json_value(found)
        except ValueError:
            found = None
    if not isinstance(found, dict):
        return _Given(data, {})
    data[table.metadata] = dict(data[table.metadata])
    remove(data, path)
    return _Given(data, found)


def _read_fields(table: FieldTable, record: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for row in table.fields:
        if not row.ours:
            continue
        value = get(record, row.theirs)
        if value is not ABSENT and value is not None:
            try:
                value = row.by.read(value)
            except ValueError as reason:
                raise ValueError(f"`{row.theirs}` {reason}") from None
        if value is ABSENT or value is None:
            value = values.get(row.otherwise.key, ABSENT) if isinstance(row.otherwise, As) else row.otherwise
        if value is not ABSENT and get(values, row.ours) is ABSENT:
            put(values, row.ours, value)
    if not isinstance(text := values.get(BODY), str) or not text.strip():
        raise ValueError(f"`{text_field(table)}` is missing or empty; --map KEY=text reads another field")
    return values


def text_field(table: FieldTable) -> str:
    """The field with the text."""
    return next(row.theirs for row in table.fields if row.ours == BODY)


def with_text_field(table: FieldTable, name: str) -> FieldTable:
    """The table of records whose text is in the field ``name``."""
    usual = text_field(table)
    return table._replace(
        fields=tuple(row._replace(theirs=name) if row.theirs == usual else row for row in table.fields)
    )


def _apply_extension(table: FieldTable, values: dict[str, Any], given: _Given) -> str:
    """Set our own values, except those of fields that were changed there since; return our id."""
    if not given.extension:
        return ""
    extension = _checked_extension(given.extension)
    own_id = extension.pop("id", "")
    absent = extension.pop("absent", [])
    changes = {**extension, **dict.fromkeys(absent, ABSENT)}
    candidate = {**values, **changes}
    written = _plain(table, {key: value for key, value in candidate.items() if value is not ABSENT})
    for key, value in changes.items():
        theirs = [row.theirs for row in table.fields if row.ours.partition(".")[0] == key]
        if all(same(get(written, one), get(given.data, one)) for one in theirs):
            if value is ABSENT:
                values.pop(key, None)
            else:
                values[key] = value
    return str(own_id)


_TEXT_KEYS: Final = frozenset(("id", "title", "kind", "created", "updated"))
_LIST_KEYS: Final = frozenset(("absent", "tags", EDGES))


def _checked_extension(extension: Mapping[str, Any]) -> dict[str, Any]:
    """An extension that an export could have written. Raises `ValueError` for any other: it is as foreign as
    the rest of the file, and must not bring text that the record does not have, or a verification."""
    for key, value in extension.items():
        texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        wrong = (
            (key in _TEXT_KEYS and not isinstance(value, str))
            or (key in _LIST_KEYS and not texts)
            or (key == "kind" and value not in KINDS)
            or (key == EDGES and (len(value) != 2 or any(one.strip() for one in value)))
            or (key == "metadata" and not isinstance(value, dict))
            or (key == "absent" and BODY in value)
            or key == BODY
        )
        if wrong:
            raise ValueError(f"`{EXTENSION}.{key}` is not what an export writes")
    found = dict(extension)
    state = found.get("verification")
    if state is not None and not (isinstance(state, dict) and state.get("last_verified_commit")):
        found.pop("verification")
    return found


def _check_hash(table: FieldTable, record: Mapping[str, Any], text: str) -> None:
    given = record.get(table.hash) if table.hash else None
    if is_sha256(given) and str(given).lower() not in [of(text) for of in HASHES]:
        raise ValueError(f"`{table.hash}` does not match the text; if the text is right, remove the hash")


def _plain(table: FieldTable, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record for these values, without id, metadata and extension."""
    out: dict[str, Any] = {}
    for row in table.fields:
        if not row.ours or get(out, row.theirs) is not ABSENT:
            continue
        value = get(values, row.ours)
        written = row.by.write(value) if value is not ABSENT and value is not None else ABSENT
        if written is not ABSENT:
            put(out, row.theirs, written)
    for row in table.fields:
        if row.required and get(out, row.theirs) is ABSENT and row.default is not ABSENT:
            put(out, row.theirs, row.default)
    if table.hash:
        out[table.hash] = table.hash_of(values[BODY])
    return out


def _claimed(table: FieldTable) -> list[str]:
    return [table.identity, *([table.hash] if table.hash else []), *(row.theirs for row in table.fields)]


def _rest(table: FieldTable, record: Mapping[str, Any]) -> dict[str, Any]:
    """What no row reads, with the remaining metadata object."""
    rest = {key: dict(value) if isinstance(value, dict) else value for key, value in record.items()}
    for path in _claimed(table):
        remove(rest, path)
    return rest | {key: {} for key, value in record.items() if value == {} and key != table.metadata}


def _differences(
    table: FieldTable, given: Mapping[str, Any], plain: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The fields that writing would change, with their values, and those that writing would add."""
    stored = [row.theirs for row in table.fields if row.ours] + ([table.hash] if table.hash else [])
    fields, absent = {}, []
    for path in dict.fromkeys(stored):
        was, now = get(given, path), get(plain, path)
        if was is ABSENT and now is not ABSENT:
            absent.append(path)
        elif not same(was, now):
            fields[path] = was
    return fields, absent


def _own_identity(table: FieldTable, record: Mapping[str, Any]) -> dict[str, Any]:
    """An id that is a number: documents have texts. Raises `ValueError` for an id of another type."""
    found = record.get(table.identity)
    if isinstance(found, str | None):
        return {}
    if type(found) is not int:
        raise ValueError(f"`{table.identity}` is not a string")
    return {table.identity: found}


def _keep_metadata(
    table: FieldTable, values: dict[str, Any], given: Mapping[str, Any], found: Any, kept: dict[str, Any]
) -> None:
    """Move the rest ``found`` of their metadata to ours, except what a frontmatter cannot hold unchanged."""
    if not table.metadata or table.metadata not in given:
        return
    if not isinstance(found, dict) or not found:
        if not _plain(table, values).get(table.metadata) and not found:
            kept["metadata"] = given[table.metadata]
        elif found:
            kept["metadata"] = found
        return
    reserved = {*_STORED, table.name}
    ours = {k: v for k, v in found.items() if k not in reserved and fits_frontmatter(k, v)}
    theirs = {key: value for key, value in found.items() if key not in ours}
    if ours:
        values["metadata"] = {**ours, **(values.get("metadata") or {})}
    if theirs:
        kept["metadata"] = theirs


def stored_key(table: FieldTable, values: Mapping[str, Any]) -> str:
    """The id that a document has in the other program, "" if it was not imported from there."""
    origin, digest = (get(values, f"metadata.{key}") for key in ("imported_from", "imported_sha256"))
    name, _, key = origin.partition(":") if isinstance(origin, str) else ("", "", "")
    is_copy = isinstance(digest, str) and digest != "" and key.endswith(copy_mark(digest))
    return key if name == table.name and not is_copy else ""


def copy_mark(digest: str) -> str:
    """The suffix of the id in the origin of a document, if another was imported from the same id before."""
    return f"?{digest[:12]}"


def write_record(table: FieldTable, values: Mapping[str, Any], derived: Iterable[str] = ()) -> WrittenRecord:
    """Convert the frontmatter and text of a document. ``derived`` are the ids that importing the record
    would give. Raises `ValueError` if the format cannot hold the text."""
    text = values[BODY]
    _check_size(table, text)
    key = stored_key(table, values)
    kept = kept_of(table, values)
    ours = _transported(table, values)
    out = {table.identity: key or table.new_id(str(values["id"]), text), **_plain(table, ours)}
    _restore(table, out, ours, kept)
    metadata = dict(ours.get("metadata") or {}) | _kept_metadata(kept)
    if table.metadata and metadata and not table.only_texts:
        out[table.metadata] = {**metadata, **(out.get(table.metadata) or {})}
    elif table.metadata and metadata:
        texts = {name: one for name, one in metadata.items() if isinstance(one, str)}
        out[table.metadata] = {**texts, **(out.get(table.metadata) or {})}
    elif isinstance(kept.get("metadata"), dict | None) and "metadata" in kept and table.metadata not in out:
        out[table.metadata] = kept["metadata"]
    lost = _lost(table, out, ours)
    if values["id"] not in (derived if key else ()):
        lost["id"] = values["id"]
    lost |= _records(values, kept, is_ours=not key)
    if not lost:
        return WrittenRecord(out)
    if not table.metadata:
        return WrittenRecord(out, tuple(sorted(set(lost) - {"absent"} | set(lost.get("absent", ())))))
    held = json.dumps(lost, ensure_ascii=False) if table.only_texts else lost
    out[table.metadata] = {**(out.get(table.metadata) or {}), EXTENSION: held}
    return WrittenRecord(out)


def _records(values: Mapping[str, Any], kept: Mapping[str, Any], *, is_ours: bool) -> dict[str, Any]:
    """The provenance and verification to export: what the record said, then what was added here."""
    found = kept.get(CLAIMED)
    records = dict(found) if isinstance(found, dict) else {}
    if is_ours and values.get("provenance"):
        records["provenance"] = _joined(records.get("provenance"), values["provenance"])
    if values.get("verification", _UNVERIFIED) != _UNVERIFIED:
        records["verification"] = values["verification"]
    return records


def _joined(theirs: Any, ours: Mapping[str, Any]) -> dict[str, Any]:
    """A provenance with the lists of both."""
    if not isinstance(theirs, dict):
        return dict(ours)
    first = {key: value for key, value in theirs.items() if isinstance(value, list)}
    return {key: [*first.get(key, ()), *ours.get(key, ())] for key in {**first, **ours}}


def _check_size(table: FieldTable, text: str) -> None:
    size = table.size_of(text)
    if size < table.least:
        raise ValueError(f"the text has {size} {table.size_unit}, and {table.name} needs {table.least}")
    if table.most and size > table.most:
        raise ValueError(f"the text has {size:,} {table.size_unit}, and {table.name} takes {table.most:,}")


def stored_kept(kept: dict[str, Any]) -> dict[str, Any] | str:
    """What a record keeps, as it is in the metadata: as JSON text if a frontmatter could change it."""
    return kept if fits_frontmatter("kept", kept, 3) else json.dumps(kept)


def kept_of(table: FieldTable, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a document keeps of its record because no value of its own can express it."""
    found = get(values, f"metadata.{table.name}")
    try:
        found = json.loads(found) if isinstance(found, str) else found
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _kept_metadata(kept: Mapping[str, Any]) -> dict[str, Any]:
    found = kept.get("metadata")
    return found if isinstance(found, dict) else {}


def _transported(table: FieldTable, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without what an import adds."""
    ours = {key: value for key, value in values.items() if key not in ("id", *_LOCAL)}
    own = {table.name, *(_STORED if stored_key(table, values) else ())}
    if own & (found := ours.get("metadata") or {}).keys():
        metadata = {key: value for key, value in found.items() if key not in own}
        ours.pop("metadata")
        ours |= {"metadata": metadata} if metadata else {}
    return ours


def _restore(
    table: FieldTable, out: dict[str, Any], ours: Mapping[str, Any], kept: Mapping[str, Any]
) -> None:
    """Write fields as they were in the other program, where the document still has the same value."""

    def reads_as(path: str, was: Any) -> bool:
        return all(_reads_as(row, was, ours) for row in table.fields if row.ours and row.theirs == path)

    for path, was in kept.get("fields", {}).items():
        if path == table.identity and str(was) != out[path]:
            continue
        if path == table.hash and is_sha256(was) and was.lower() not in [of(ours[BODY]) for of in HASHES]:
            continue
        if reads_as(path, was):
            put(out, path, was)
    for path in kept.get("absent", ()):
        if reads_as(path, ABSENT):
            remove(out, path)
    for name, value in kept.get("other", {}).items():
        now = out.setdefault(name, value)
        if isinstance(now, dict) and isinstance(value, dict):
            out[name] = {**value, **now}


def _reads_as(row: Field, was: Any, ours: Mapping[str, Any]) -> bool:
    now = get(ours, row.ours)
    if was is ABSENT or was is None:
        wanted = ours.get(row.otherwise.key, ABSENT) if isinstance(row.otherwise, As) else row.otherwise
    else:
        try:
            wanted = row.by.read(was)
        except ValueError:
            return False
    return same(wanted, now)


def _lost(table: FieldTable, out: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a document that reading the record would not give."""
    back = _read_fields(table, out)
    kept: dict[str, Any] = {}
    _keep_metadata(table, back, out, _rest(table, out).get(table.metadata, {}), kept)
    lost = {key: value for key, value in ours.items() if not same(value, back.get(key, ABSENT))}
    absent = sorted(back.keys() - ours.keys())
    return {**lost, **({"absent": absent} if absent else {})}
