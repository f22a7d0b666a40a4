"""`watch`: refresh the index, and lint documents and the anchors on changed code, while files change.

File system events in the store only trigger a scan. After a quiet moment the document folders and the
anchored files are compared with the previous scan, and also every few seconds, because events can get lost
and anchored code is outside the store. No command needs a watcher. Only this module uses watchdog, and
imports it on demand.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.paths import fits
from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.scan import scan
from thunderus_mem.lint.lint import lint
from thunderus_mem.store.layout import FOLDERS
from thunderus_mem.store.paths import kind_of
from thunderus_mem.verdicts.code import WorkingTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import Git
    from thunderus_mem.memory.memory import Memory

# Seconds: quiet time before a scan, maximum delay after the first event, polling interval, scan interval.
QUIET: Final = 0.3
LONGEST: Final = 2.0
EVERY: Final = 1.0
SAFETY: Final = 3.0
_SHARE: Final = 50
"""Scans take at most 1/50 of the time."""
_UNWATCHED: Final = ("memory/indexes", "sessions", "local", ".staging", ".quarantine", ".lock")
_IDLE_EVENTS: Final = frozenset(["opened", "closed_no_write"])


@dataclass(frozen=True, slots=True)
class WatchTurn:
    """A scan with changes: the paths of documents and anchored code added, modified and removed, and the
    findings in the documents, and in those anchored to the code."""

    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


class WatchedMemory:
    """The memory as the watcher uses it. ``open_again`` opens it again, because the store may be replaced."""

    def __init__(self, open_again: Callable[[], Memory]) -> None:
        self._open = open_again
        memory = open_again()
        self._root, self._git, self.config = memory.root, memory.git, memory.config
        self._folders = FOLDERS
        self._index_file = memory.layout.index_file
        self._anchored: frozenset[str] = frozenset()
        self._globs: frozenset[str] = frozenset()

    @property
    def store(self) -> str:
        """The absolute path of ``.thunderus``."""
        return os.path.join(self._root, ".thunderus")

    def git_operation(self) -> str:
        """The git operation in progress in this working tree, "" for none."""
        return git_operation(self._git, time.time())

    def stamps(self) -> dict[str, object]:
        """Map the path of each document and anchored file to a stamp that changes with the file; ``None`` for
        a missing anchored file."""
        files = scan(self._root, self._folders).files()
        return {file.path: file.values for file in files} | self.code_stamps()

    def code_stamps(self) -> dict[str, object]:
        """The stamps of the code that is anchored as of the last refresh, also of new files that match."""
        files = WorkingTree(self._root, self._git).paths() if self._globs else ()
        matching = (path for path in files if any(fits(glob, path) for glob in self._globs))
        paths = self._anchored.union(matching)
        return {path: _stamp(os.path.join(self._root, path)) for path in paths}

    def refresh(self) -> None:
        """Refresh the index, and read the anchors."""
        memory = self._open()
        memory.refresh()
        anchors = {one.anchor for one in memory.index.anchors()}
        self._globs = frozenset(one.path for one in anchors if one.is_glob)
        self._anchored = frozenset(one.path for one in anchors if not one.is_glob)
        memory.index.close()

    def is_indexed(self) -> bool:
        """Whether the index is on disk."""
        return os.path.exists(self._index_file)

    def lint(self, paths: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        """Lint those of the documents that still exist, and the anchors on the code files."""
        there = {path for path in paths if kind_of(path) and os.path.lexists(os.path.join(self._root, path))}
        changed = [path for path in paths if not kind_of(path)]
        memory = self._open()
        try:
            ids = {one.doc_id for one in memory.index.anchors_at(changed)} if changed else set()
            rows = [row for row in map(memory.index.get, sorted(ids)) if row is not None]
            found = self._linted(memory, there)
            return found + self._linted(memory, {row.path for row in rows} - there, select=("TM7",))
        finally:
            memory.index.close()

    def _linted(
        self, memory: Memory, paths: set[str], select: tuple[str, ...] = ()
    ) -> tuple[Diagnostic, ...]:
        absolute = [os.path.join(self._root, path) for path in sorted(paths)]
        return lint(memory, absolute, select=select).diagnostics if absolute else ()


def git_operation(git: Git | None, now: float) -> str:
    """Return the git operation in progress (``merge``, ``index.lock``), or ""; ignore old locks."""
    if git is None:
        return ""
    operation = git.operation()
    if operation and operation != "bisect":
        return operation
    return "index.lock" if git.index_locked(now) else ""


def compare(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
    """Return the paths added, modified and removed between two scans."""
    added = tuple(sorted(new.keys() - old.keys()))
    removed = tuple(sorted(old.keys() - new.keys()))
    return added, tuple(sorted(path for path in new.keys() & old.keys() if new[path] != old[path])), removed


@dataclass(slots=True)
class Debounce:
    """Waits for ``quiet`` seconds without an event, but at most ``longest`` seconds after the first one."""

    quiet: float = QUIET
    longest: float = LONGEST
    first: float | None = None
    last: float = 0.0

    def add(self, now: float) -> None:
        """Record an event."""
        if self.first is None:
            self.first = now
        self.last = now

    def wait(self, now: float) -> float | None:
        """Return the seconds until the next scan; ``None`` without events."""
        if self.first is None:
            return None
        return max(min(self.last + self.quiet, self.first + self.longest) - now, 0.0)

    def clear(self) -> None:
        """Forget the events, before a scan."""
        self.first = None


def new_observer() -> Any:
    """Create the native observer of the system."""
    from watchdog.observers import Observer

    return Observer()


@dataclass(slots=True)
class _Listener:
    """Calls ``heard`` on the observer's thread when files in the store change."""

    store: str
    heard: Callable[[], None]
    observer_factory: Callable[[], Any]
    _observer: Any = field(default=None, init=False)
    _identity: tuple[int, int] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start listening if the store exists. Raises ``OSError`` when the system has no watches left."""
        self.stop()
        identity = _identity(self.store)
        if identity is None:
            return
        from watchdog.events import FileSystemEvent, FileSystemEventHandler

        heard = self._on_event

        class Handler(FileSystemEventHandler):
            """Converts events to plain values."""

            def on_any_event(self, event: FileSystemEvent) -> None:
                """Forward one event: its kind, source and target."""
                heard(
                    event.event_type,
                    [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path],
                )

        # Ignore the library's warnings during many renames; the files are scanned anyway.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        observer = self.observer_factory()
        observer.schedule(Handler(), self.store, recursive=True)
        observer.start()
        self._observer, self._identity = observer, identity

    def stop(self) -> None:
        """Stop listening and wait up to 5 s for the thread; does nothing when not listening."""
        observer, self._observer, self._identity = self._observer, None, None
        if observer is None:
            return
        observer.unschedule_all()
        if observer.is_alive():
            observer.stop()
            observer.join(timeout=5)

    @property
    def broken(self) -> bool:
        """Whether the store was replaced by another folder, or the observer or one of its threads died."""
        if _identity(self.store) != self._identity:
            return True
        observer = self._observer
        if observer is None:
            return False
        return not (observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters))

    def _on_event(self, kind: str, paths: Iterable[str]) -> None:
        if kind not in _IDLE_EVENTS and any(self._matters(path) for path in paths):
            self.heard()

    def _matters(self, path: str) -> bool:
        if not path:
            return False
        inside = os.path.relpath(os.path.realpath(os.path.dirname(path)), os.path.realpath(self.store))
        relative = os.path.normpath(os.path.join(inside, os.path.basename(path))).replace(os.sep, "/")
        return not any(relative == name or relative.startswith(f"{name}/") for name in _UNWATCHED)


def watch(
    memory: WatchedMemory,
    report: Callable[[WatchTurn], None],
    say: Callable[[str], None],
    stop: threading.Event,
    *,
    poll: bool = False,
    every: float = EVERY,
    debounce: Debounce | None = None,
    observer_factory: Callable[[], Any] | None = None,
) -> None:
    """Watch until ``stop`` is set: refresh, lint and ``report`` changes; ``say`` prints messages.

    ``debounce`` sets how long to wait for a quiet moment. If the system cannot watch, fall back to polling
    every ``every`` seconds, with one message. Waits while a git operation (merge, rebase, locked index) is in
    progress.
    """
    woken = threading.Event()
    listener = _Listener(memory.store, woken.set, observer_factory or new_observer)
    _Watch(memory, report, say, stop, poll, every, debounce or Debounce(), listener, woken).run()


@dataclass(slots=True)
class _Watch:
    """The loop and its state between scans."""

    memory: WatchedMemory
    report: Callable[[WatchTurn], None]
    say: Callable[[str], None]
    stop: threading.Event
    polling: bool
    every: float
    debounce: Debounce
    listener: _Listener
    woken: threading.Event
    waited_for: str = ""
    next_scan: float = 0.0
    known: Mapping[str, object] = field(default_factory=dict)
    indexed: bool = False

    def run(self) -> None:
        """Scan once, then after every event, and when the store was replaced."""
        self._listen()
        self.known = self._refreshed(self.memory.stamps())
        self.say(
            f"Watching {self.memory.store}{f' (polling every {self.every:g} s)' if self.polling else ''}"
        )
        try:
            while not self.stop.is_set():
                self._once()
        finally:
            self.listener.stop()

    def _once(self) -> None:
        wait = self.debounce.wait(time.monotonic())
        if wait is None:
            self._idle()
        elif wait > 0:
            if self.woken.wait(wait):
                self._note_event()
        elif self._may_scan():
            self.debounce.clear()
            self._scan()
        else:
            self.stop.wait(self.debounce.quiet)

    def _idle(self) -> None:
        """Wait for an event or the next interval, and restart a broken listener."""
        if self.polling:
            self.stop.wait(self.every)
            self._note_event()
            self.debounce.last = time.monotonic() - self.debounce.quiet
            return
        if self.woken.wait(self.every):
            self._note_event()
        elif self.listener.broken:
            self._listen()
            self._note_event()
        elif time.monotonic() > self.next_scan:
            self._note_event()

    def _note_event(self) -> None:
        self.woken.clear()
        self.debounce.add(time.monotonic())

    def _listen(self) -> None:
        if self.polling:
            return
        try:
            self.listener.start()
        except (OSError, RuntimeError, ImportError) as error:
            self.listener.stop()
            self.polling = True
            self.say(f"warning: cannot watch this folder ({error}); polling every {self.every:g} s")

    def _may_scan(self) -> bool:
        """Whether the store exists and no git operation is in progress; report a reason to wait once."""
        away = _identity(self.memory.store) is None
        hindrance = "the store" if away else self.memory.git_operation()
        if hindrance and hindrance not in (self.waited_for, "index.lock"):
            self.say(
                "The store is missing; waiting" if away else f"Waiting for the git {hindrance} to finish"
            )
        self.waited_for = hindrance
        return not hindrance

    def _refreshed(self, scanned: Mapping[str, object]) -> Mapping[str, object]:
        """Refresh; return the scan with the code that is anchored now: new anchors are not changes."""
        self.memory.refresh()
        self.indexed = self.memory.is_indexed()
        code = {path: scanned.get(path, stamp) for path, stamp in self.memory.code_stamps().items()}
        return {path: stamp for path, stamp in scanned.items() if kind_of(path)} | code

    def _scan(self) -> None:
        begun = time.monotonic()
        try:
            new = self.memory.stamps()
            # Slow scans run less often.
            self.next_scan = time.monotonic() + max(SAFETY, _SHARE * (time.monotonic() - begun))
            added, modified, removed = compare(self.known, new)
            removed += tuple(path for path in modified if new[path] is None)
            modified = tuple(path for path in modified if new[path] is not None)
            if not (added or modified or removed):
                if self.indexed and not self.memory.is_indexed():
                    self.known = self._refreshed(new)
                    self.say("Rebuilt the index, which was deleted")
                return
            known = self._refreshed(new)
            found = tuple(self.memory.lint((*added, *modified, *removed)))
        except (ThunderusError, OSError) as error:
            self.say(f"warning: scan failed, trying again: {error}")
            self.debounce.add(time.monotonic())
            self.stop.wait(self.every)
            return
        self.known = known
        self.report(WatchTurn(added, modified, removed, found))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
