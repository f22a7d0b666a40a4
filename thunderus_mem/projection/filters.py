"""Filters over documents as a WHERE clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def filter_clauses(
    *,
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    statuses: Sequence[str] = (),
    paths: Sequence[str] = (),
    since: str | None = None,
    before: str | None = None,
) -> tuple[str, list[Any]]:
    """A WHERE clause over ``docs`` for filters; values that begin with ``-`` leave out."""
    clauses: list[str] = []
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
    each(
        statuses,
        "? IN (status, CASE WHEN doc_id IN (SELECT e.dst_doc_id FROM doc_edges e "
        "JOIN docs d ON d.doc_id = e.src_doc_id WHERE e.rel = 'supersedes' AND e.src_doc_id <> e.dst_doc_id) "
        "THEN 'superseded' END)",
        together=" OR ",
    )
    if since:
        clauses.append("updated_key >= ?")
        values.append(since)
    if before:
        clauses.append("updated_key < ? AND updated_key <> ''")
        values.append(before)
    return " AND ".join(clauses) or "1", values


def _path_pattern(value: str) -> str:
    lowered = value.lower()
    if "*" in lowered:
        return lowered.replace("[", "[[]")
    return f"*{lowered.replace('[', '[[]').replace('?', '[?]')}*"
