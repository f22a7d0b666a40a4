"""A small real writer on the durable modules alone: a process that faults can be aimed at.

``python writer.py ROOT COMMAND [ARGUMENT …]``. Documents are ``.thunderus/memory/semantic/FACTS/<name>.md``,
the log is one shard. Exit codes are the package's own; 0 and ``acked <event id>`` mean: it is on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING

from thunderus_mem.errors import NotFound, ThunderusError, explain
from thunderus_mem.memory.journal import FileChange, Journal
from thunderus_mem.store.files import ABSENT, file_hash, read_file, remove_file, replace_file, sweep
from thunderus_mem.store.lock import held

if TYPE_CHECKING:
    from thunderus_mem.memory.journal import RecoveredFile

SHARD = ".thunderus/sessions/sess_01JZZZZZZZZZZZZZZZZZZZZZZZ/events.jsonl"
PAD = "Ein Satz mit Umlauten: äöü – und mehr davon.\n"


class Writer:
    """One store; each method is called under the lock, after recovery."""

    def __init__(self, root: str) -> None:
        self.root = root
        store = os.path.join(root, ".thunderus")
        os.makedirs(store, exist_ok=True)
        self.lock = os.path.join(store, ".lock")
        self.log = os.path.join(root, *SHARD.split("/"))
        self.journal = Journal(root, os.path.join(store, ".staging"), os.path.join(store, ".quarantine"))

    def lines(self) -> list[bytes]:
        """The terminated lines of the log."""
        try:
            return read_file(self.log, 1 << 30).split(b"\n")[:-1]
        except NotFound:
            return []

    def contains(self, shard: str, event_id: str) -> bool:
        """Whether the log has the event."""
        return any(json.loads(line)["event_id"] == event_id for line in self.lines())

    def new_id(self) -> str:
        """An id that grows with the log."""
        return f"evt_{self.size():09d}_{os.getpid():07d}"

    def size(self) -> int:
        """How long the log is; a system that will not say is not an empty log."""
        try:
            return os.stat(self.log).st_size
        except FileNotFoundError:
            return 0

    def last_line(self) -> bytes | None:
        """The newest line, read from the end."""
        if not self.size():
            return None
        with open(self.log, "rb") as stream:
            stream.seek(max(self.size() - 100_000, 0))
            return stream.read().split(b"\n")[-2]

    def notes(self, texts: list[str]) -> None:
        """Several notes in one write."""
        ids, lines = [f"{self.new_id()}_{number}" for number in range(len(texts))], list[bytes]()
        for number, text in enumerate(texts):
            lines.append(self.line(ids[number], [], text, after=lines[-1][:-1] if lines else None))
        self.journal.append(ids[0], SHARD, lines)
        print("\n".join(f"acked {event_id}" for event_id in ids), flush=True)

    def line(
        self, event_id: str, changes: list[dict[str, str]], text: str = "", after: bytes | None = None
    ) -> bytes:
        """The next line of the log, naming the one before it."""
        last = after or self.last_line()
        event = {
            "event_id": event_id,
            "ts": f"2026-01-01T00:00:00.{self.size():09d}Z",
            "kind": "patch" if changes else "note",
            "body": {"changes": changes, "text": text},
            "prev": "sha256:" + hashlib.sha256(last).hexdigest() if last is not None else None,
        }
        return json.dumps(event, ensure_ascii=False).encode() + b"\n"

    def aborted(self, healed: RecoveredFile) -> None:
        """Record that a file kept other text; recorded twice it is one event."""
        event_id = f"evt_aborted_{healed.event_id[-20:]}"
        if not self.contains(SHARD, event_id):
            change = {"path": healed.path, "op": "aborted", "before": self.hash_of(healed.path), "after": ""}
            change["after"] = change["before"]
            self.journal.commit(event_id, SHARD, self.line(event_id, [change]), [])

    def hash_of(self, path: str) -> str:
        """The hash of a document, by its path below the root."""
        return file_hash(os.path.join(self.root, *path.split("/")))

    def text_of(self, path: str) -> str | None:
        """The text of a document, by its path below the root; ``None`` when there is none."""
        try:
            return read_file(os.path.join(self.root, *path.split("/")), 1 << 30).decode()
        except NotFound:
            return None

    def heal(self) -> None:
        """What every command does first."""
        for healed in self.journal.recover(self.contains, shards=[SHARD], on_abort=self.aborted):
            print(f"healed {healed.action} {healed.path} {healed.event_id}")
        sweep(os.path.join(self.root, ".thunderus", "memory"))

    def change(self, event_id: str, texts: dict[str, str | None], head: str = "") -> int:
        """Commit new texts (None: remove) of named documents as one event."""
        files = [
            FileChange("", path := f".thunderus/memory/semantic/FACTS/{name}.md", self.text_of(path), text)
            for name, text in texts.items()
        ]
        changes = [
            {"path": file.path, "op": "change", "before": file.hash_before, "after": file.hash_after}
            for file in files
        ]
        done = self.journal.commit(event_id, SHARD, self.line(event_id, changes), files, head=head)
        print(f"acked {event_id}", flush=True)
        if done.aborted or not done.published:
            print(done.problem or "aborted", file=sys.stderr)
            return 3 if done.aborted else 6
        return 0


def _texts(arguments: list[str]) -> dict[str, str | None]:
    """``name=text`` writes, ``name`` removes; ``*n`` at the end of a text makes it n sentences long."""
    texts: dict[str, str | None] = {}
    for argument in arguments:
        name, has_text, text = argument.partition("=")
        words, _, times = text.partition("*")
        texts[name] = f"---\nid: fact.{name}\n---\n{words}\n{PAD * int(times or 0)}" if has_text else None
    return texts


def _under_lock(writer: Writer, command: str, arguments: list[str]) -> int:
    writer.heal()
    if command == "change":
        return writer.change(writer.new_id(), _texts(arguments))
    if command == "note":
        event_id = writer.new_id()
        writer.journal.commit(event_id, SHARD, writer.line(event_id, [], " ".join(arguments)), [])
        print(f"acked {event_id}", flush=True)
    if command == "notes":
        writer.notes(arguments)
    if command == "put":
        replace_file(os.path.join(writer.root, arguments[0]), arguments[1].encode())
    if command == "forget":
        path = os.path.join(writer.root, arguments[0])
        if (found := file_hash(path)) != ABSENT:
            remove_file(path, expecting=found)
    return 0


def burst(root: str, worker: str, count: int) -> int:
    """``count`` notes of mixed sizes, each under its own hold of the lock; every fifth with a document."""
    writer = Writer(root)
    for number in range(count):
        event_id = f"evt_{worker}_{number:04d}"
        text = "x" * (200 + (number * 7919 + int(worker) * 104729) % 59_800)
        with held(writer.lock, command="burst", timeout=120):
            writer.heal()
            if number % 5:
                writer.journal.commit(event_id, SHARD, writer.line(event_id, [], text), [])
                print(f"acked {event_id}", flush=True)
            else:
                writer.change(event_id, {"shared": f"{worker} {number}", f"own-{worker}": str(number)})
    return 0


def main(arguments: list[str]) -> int:
    """Run one command; an error of ours is one line and its exit code."""
    root, command, *rest = arguments
    try:
        if command == "burst":
            return burst(root, rest[0], int(rest[1]))
        writer = Writer(root)
        with held(writer.lock, command=command):
            return _under_lock(writer, command, rest)
    except ThunderusError as error:
        print(f"{error} {error.hint or ''}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(explain(error, str(error.filename)), file=sys.stderr)
        return explain(error, "").exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
