"""Filters over documents as a WHERE clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_HAS_STATUS: Final = (
    "(CASE WHEN doc_id IN (SELECT value FROM json_each(?)) THEN doc_id IN (SELECT value FROM json_each(?)) "
    "ELSE status = ? END OR (? = 'superseded' AND doc_id IN (SELECT e.dst_doc_id FROM doc_edges e "
    "JOIN docs d ON d.doc_id = e.src_doc_id WHERE e.rel = 'supersedes' AND e.src_doc_id <> e.dst_doc_id)))"
)


def filter_clauses(
    *,
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    statuses: Sequence[str] = (),
    paths: Sequence[str] = (),
    since: str | None = None,
    before: str | None = None,
    judged: Mapping[str, str] | None = None,
    archived: bool = True,
) -> tuple[str, list[Any]]:
    """A WHERE clause over ``docs`` for filters; values that begin with ``-`` leave out.

    ``judged`` gives documents another status than their files do; without ``archived`` only documents in use
    pass.
    """
    clauses: list[str] = [] if archived else ["archived = 0"]
    values: list[Any] = []

    def each(given: Sequence[str], clause: str, *, together: str, change: Any = str) -> None:
        wanted = [value for value in given if not value.startswith("-")]
        unwanted = [value[1:] for value in given if value.startswith("-")]
        if wanted:
            clauses.append("(" + together.join([clause] * len(wanted)) + ")")
        clauses.extend([f"NOT ({clause})"] * len(unwanted))
        values.extend(change(value) for value in (*wanted, *unwanted))

    each(kinds, "kind = ?", together=" OR ")
    each(
        tags,
        "EXISTS (SELECT 1 FROM json_each(tags_json) WHERE lower(json_each.value) = ?)",
        together=" AND ",
        change=str.lower,
    )
    each(paths, "lower(path) GLOB ?", together=" OR ", change=_path_pattern)
    _statuses(statuses, judged or {}, clauses, values)
    if since:
        clauses.append("updated_key >= ?")
        values.append(since)
    if before:
        clauses.append("updated_key < ? AND updated_key <> ''")
        values.append(before)
    return " AND ".join(clauses) or "1", values


def _statuses(given: Sequence[str], judged: Mapping[str, str], clauses: list[str], values: list[Any]) -> None:
    """The clauses for statuses: what ``judged`` says of a document goes before what its file says."""
    import json

    known = json.dumps(sorted(judged))

    def clause(status: str) -> str:
        those = json.dumps(sorted(doc_id for doc_id, said in judged.items() if said == status))
        values.extend((known, those, status, status))
        return _HAS_STATUS

    wanted = [clause(status) for status in given if not status.startswith("-")]
    if wanted:
        clauses.append(f"({' OR '.join(wanted)})")
    clauses.extend([f"NOT ({clause(status[1:])})" for status in given if status.startswith("-")])


def _path_pattern(value: str) -> str:
    lowered = value.lower()
    if "*" in lowered:
        return lowered.replace("[", "[[]")
    return f"*{lowered.replace('[', '[[]').replace('?', '[?]')}*"
