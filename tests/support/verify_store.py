"""An independent reader of a store: standard library only, shares nothing with the package, trusts nothing.

``verify(root)`` returns one sentence for each thing that must never be; an empty list is a whole store.
Run by hand: ``python tests/support/verify_store.py ROOT [--settled]``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from typing import Any

SHARD = "events.jsonl"
TEMPORARY = re.compile(r"(^\.thunderus-mem-.*\.tmp$)|(\.tmp$)|(~$)")
DOCUMENT_FOLDERS = ("core", "semantic", "procedural", "episodic")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def parse_line(line: bytes) -> dict[str, Any]:
    """One event line, strictly: UTF-8, an object, no key twice, no NaN."""
    event = json.loads(line.decode("utf-8"), object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    if not isinstance(event, dict):
        raise ValueError("not an object")  # noqa: TRY004
    return event


def normal_hash(data: bytes) -> str:
    """SHA-256 of a document with LF line ends, bare hex."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).hexdigest()


def shards(root: str) -> list[str]:
    """Every log of the store, private ones and the single-file form included."""
    found = []
    for base in ("sessions", "local"):
        for folder, _, names in os.walk(os.path.join(root, ".thunderus", base)):
            found += [os.path.join(folder, name) for name in names if name == SHARD]
    single = os.path.join(root, ".thunderus", SHARD)
    return sorted(found) + ([single] if os.path.isfile(single) else [])


def _names(line: bytes) -> set[str]:
    return {hashlib.sha256(line).hexdigest(), hashlib.sha256(line + b"\n").hexdigest()}


def _identity(event: dict[str, Any]) -> str:
    return str(event.get("event_id") or event.get("id") or "")


def _same_hand_edit(first: bytes, event: dict[str, Any]) -> bool:
    """Whether both lines record one edit that somebody made by hand: its id is made from what it did."""
    body, other = event.get("body"), parse_line(first).get("body")
    if not isinstance(body, dict) or not isinstance(other, dict):
        return False
    changed = [
        [[change[key] for key in ("doc_id", "path", "before", "after")] for change in one.get("changes", [])]
        for one in (body, other)
    ]
    return body.get("op") == other.get("op") == "hand-edit" and changed[0] == changed[1]


def _check_shard(path: str, seen: dict[str, bytes], problems: list[str]) -> list[dict[str, Any]]:
    if os.path.islink(path) or not os.path.isfile(path):
        problems.append(f"{path}: no regular file")
        return []
    with open(path, "rb") as stream:
        data = stream.read()
    if data and not data.endswith(b"\n"):
        problems.append(f"{path}: the last line has no end")
    events: list[dict[str, Any]] = []
    previous: bytes | None = None
    in_this_file: set[bytes] = set()
    # The lines of another program may have no chain.
    free = b'"prev":' not in data
    # A checkout may have made the line ends CRLF; a line is what it is without them.
    for number, line in enumerate(data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        if not line.strip() or line in in_this_file:
            continue
        in_this_file.add(line)
        try:
            event = parse_line(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}:{number}: not an event: {error}")
            continue
        identity = _identity(event)
        if not identity:
            problems.append(f"{path}:{number}: no id")
        elif (first := seen.setdefault(identity, line)) != line and not _same_hand_edit(first, event):
            problems.append(f"{path}:{number}: {identity} is in the log twice with different bytes")
        named = str(event.get("prev") or "").removeprefix("sha256:")
        if previous is not None and not free and named not in _names(previous):
            problems.append(f"{path}:{number}: does not name the line before it")
        previous = line
        events.append(event)
    return events


def changes_of(event: dict[str, Any]) -> list[dict[str, Any]]:
    """What a ``patch`` event says it did to files."""
    body = event.get("body")
    changes = body.get("changes") if isinstance(body, dict) else None
    return [change for change in changes or [] if isinstance(change, dict) and change.get("path")]


def _hash_at(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, *path.split("/")), "rb") as stream:
            return normal_hash(stream.read())
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _in_order(shards_read: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The events of all shards by time; those of one shard keep their order, whatever the clock said."""
    timed: list[tuple[str, dict[str, Any]]] = []
    for events in shards_read:
        latest = ""
        for event in events:
            latest = max(latest, str(event.get("ts", "")))
            timed.append((latest, event))
    return [event for _, event in sorted(timed, key=lambda one: one[0])]


def _check_documents(root: str, events: list[dict[str, Any]], problems: list[str]) -> None:
    known: dict[str, set[str]] = {}
    last: dict[str, str] = {}
    aborted = {
        (str(event.get("why") or "").partition(" ")[0], change["path"])
        for event in events
        for change in changes_of(event)
        if change.get("op") == "aborted"
    }
    for event in events:
        for change in changes_of(event):
            path = str(change["path"])
            before, after = (
                str(change.get(key) or "").removeprefix("sha256:") for key in ("before", "after")
            )
            known.setdefault(path, set()).update((before, after))
            if change.get("op") != "aborted" and (_identity(event), path) not in aborted:
                last[path] = after
    for path, hashes in sorted(known.items()):
        found = _hash_at(root, path)
        if found not in hashes:
            problems.append(f"{path}: neither an old nor a new text of it")
        elif found != last.get(path, found):
            problems.append(f"{path}: not the text its last event names")


def _check_leftovers(root: str, problems: list[str], *, settled: bool) -> None:
    store = os.path.join(root, ".thunderus")
    for folder, folders, names in os.walk(store):
        if os.path.basename(folder) == ".quarantine":
            folders.clear()
        # What a killed rebuild left of an index goes with the next one, and is doctor's to name until then.
        folders[:] = [name for name in folders if name != "indexes"]
        problems.extend(
            f"{os.path.join(folder, name)}: a temporary file was left"
            for name in names
            if TEMPORARY.search(name)
        )
    staging = os.path.join(store, ".staging")
    if settled and os.path.isdir(staging) and os.listdir(staging):
        problems.append(f"{staging}: a change is still staged")
    for name in DOCUMENT_FOLDERS:
        for folder, _, names in os.walk(os.path.join(store, "memory", name)):
            for document in names:
                path = os.path.join(folder, document)
                if document.endswith(".md") and os.path.isfile(path) and os.path.getsize(path) == 0:
                    problems.append(f"{path}: empty, as no writer leaves it")


def _check_proposals(root: str, events: list[dict[str, Any]], problems: list[str]) -> None:
    """Each proposal is whole, and none waits whose change is in the log."""
    folder = os.path.join(root, ".thunderus", "patches")
    applied = {event.get("refs", {}).get("patch_id") for event in events if event.get("kind") == "patch"}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as stream:
                proposal = parse_line(stream.read())
        except (ValueError, RecursionError, OSError) as error:
            problems.append(f"{path}: not a proposal: {error}")
            continue
        if f"{proposal.get('id')}.json" != name:
            problems.append(f"{path}: is called after another proposal")
        if proposal.get("id") in applied:
            problems.append(f"{path}: waits, and its change is in the log")


def verify(root: str, *, settled: bool = False) -> list[str]:
    """Everything that is wrong with the store at ``root``.

    ``settled``: nothing was edited by hand and the last command succeeded; each document must then have the
    text that its last event names, and nothing may be staged.
    """
    problems: list[str] = []
    seen: dict[str, bytes] = {}
    events = _in_order([_check_shard(path, seen, problems) for path in shards(root)])
    if settled:
        _check_documents(root, events, problems)
        _check_proposals(root, events, problems)
    _check_leftovers(root, problems, settled=settled)
    return problems


def verify_below(folder: str) -> list[str]:
    """``verify`` for every store that ``init`` made below a folder: what a fixture runs after a test."""
    return [
        problem
        for path, folders, _ in os.walk(folder)
        if ".thunderus" in folders
        and not os.path.islink(os.path.join(path, ".thunderus"))
        and os.path.isfile(os.path.join(path, ".thunderus", "config.toml"))
        for problem in verify(path)
    ]


if __name__ == "__main__":
    found = verify(sys.argv[1], settled="--settled" in sys.argv)
    print("\n".join(found) or "whole")
    sys.exit(1 if found else 0)
