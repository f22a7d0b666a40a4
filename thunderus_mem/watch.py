"""Keep the index fresh while files change, and say what the changed documents have wrong.

The file system's events only say when to look, never what is there. After a quiet moment the document folders
are compared with what they were, and every few seconds besides, since events may fail to come. Every command
works without a watcher. The only door to watchdog, which is loaded when a folder is listened to.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.scan import scan
from thunderus_mem.lint.lint import lint
from thunderus_mem.store.layout import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import Git
    from thunderus_mem.memory.memory import Memory

# Seconds: to wait for quiet, at most after the first event, between looks of polling, between looks anyway.
QUIET: Final = 0.3
LONGEST: Final = 2.0
EVERY: Final = 1.0
SAFETY: Final = 3.0
_SHARE: Final = 50
"""A look takes at most one part in so many of the time."""
_UNWATCHED: Final = ("memory/indexes", "sessions", "local", ".staging", ".quarantine", ".lock")
_IDLE_EVENTS: Final = frozenset(["opened", "closed_no_write"])


@dataclass(frozen=True, slots=True)
class WatchTurn:
    """One look that found something: the paths that came, changed or went, and what is wrong with them."""

    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


class WatchedMemory:
    """What the watcher needs of a memory. ``open_again`` gives a fresh `Memory`: the store may have been
    exchanged since."""

    def __init__(self, open_again: Callable[[], Memory]) -> None:
        self._open = open_again
        memory = open_again()
        self._root, self._git, self.config = memory.root, memory.git, memory.config
        self._folders = FOLDERS

    @property
    def store(self) -> str:
        """The absolute path of ``.thunderus``."""
        return os.path.join(self._root, ".thunderus")

    def under_way(self) -> str:
        """What git is in the middle of in this working tree, empty when nothing is."""
        return git_at_work(self._git, time.time())

    def stamps(self) -> dict[str, object]:
        """Each document's path with what changes when its file does."""
        return dict(scan(self._root, self._folders).files())

    def refresh(self) -> None:
        """Bring the index up to date."""
        memory = self._open()
        memory.refresh()
        memory.index.close()

    def lint(self, paths: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        """The findings of those of these documents that are still there."""
        there = [path for path in (os.path.join(self._root, path) for path in paths) if os.path.lexists(path)]
        if not there:
            return ()
        memory = self._open()
        try:
            return lint(memory, there).diagnostics
        finally:
            memory.index.close()


def git_at_work(git: Git | None, now: float) -> str:
    """What git is in the middle of here (``merge``, ``index.lock``), or ""; a lock of 30 s is a leftover."""
    if git is None:
        return ""
    operation = git.operation()
    if operation and operation != "bisect":
        return operation
    return "index.lock" if git.index_locked(now) else ""


def compare(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
    """Paths added, modified and removed between two looks."""
    added = tuple(sorted(new.keys() - old.keys()))
    removed = tuple(sorted(old.keys() - new.keys()))
    return added, tuple(sorted(path for path in new.keys() & old.keys() if new[path] != old[path])), removed


@dataclass(slots=True)
class Debounce:
    """Waits for ``quiet`` seconds without an event, yet never longer than ``longest`` after the first."""

    quiet: float = QUIET
    longest: float = LONGEST
    first: float | None = None
    last: float = 0.0

    def add(self, now: float) -> None:
        """Note that something happened."""
        if self.first is None:
            self.first = now
        self.last = now

    def wait(self, now: float) -> float | None:
        """Seconds until it is time to look; ``None`` when nothing happened."""
        if self.first is None:
            return None
        return max(min(self.last + self.quiet, self.first + self.longest) - now, 0.0)

    def clear(self) -> None:
        """Forget the events: somebody looks now."""
        self.first = None


def new_observer() -> Any:
    """The system's own kind of observer."""
    from watchdog.observers import Observer

    return Observer()


@dataclass(slots=True)
class _Listener:
    """Calls ``heard`` when files under the store change, on a thread of the observer."""

    store: str
    heard: Callable[[], None]
    observer_factory: Callable[[], Any]
    _observer: Any = field(default=None, init=False)
    _identity: tuple[int, int] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start listening, if the store is there; raises ``OSError`` when the system has no watch left."""
        self.stop()
        identity = _identity(self.store)
        if identity is None:
            return
        from watchdog.events import FileSystemEvent, FileSystemEventHandler

        heard = self._on_event

        class Handler(FileSystemEventHandler):
            """Passes events on as plain values."""

            def on_any_event(self, event: FileSystemEvent) -> None:
                """Pass one event on: its kind, where it was and where it went."""
                heard(
                    event.event_type,
                    [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path],
                )

        # Under a storm of renames the library has troubles; it may keep them: we look at the files anyway.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        observer = self.observer_factory()
        observer.schedule(Handler(), self.store, recursive=True)
        observer.start()
        self._observer, self._identity = observer, identity

    def stop(self) -> None:
        """Stop listening and wait a moment for the thread; harmless when nothing listens."""
        observer, self._observer, self._identity = self._observer, None, None
        if observer is None:
            return
        observer.unschedule_all()
        if observer.is_alive():
            observer.stop()
            observer.join(timeout=5)

    @property
    def broken(self) -> bool:
        """Whether the store is another folder than is listened to, or the observer or a part of it died."""
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
    """Watch until ``stop`` is set: refresh and lint what changed, through ``report``; ``say`` is for news.

    ``debounce`` says how long to wait for a quiet moment. Falls back to looking every ``every`` seconds, with
    one message, when the system cannot watch. While git is in the middle of something (a merge, a rebase, its
    index locked) it waits.
    """
    woken = threading.Event()
    listener = _Listener(memory.store, woken.set, observer_factory or new_observer)
    _Watch(memory, report, say, stop, poll, every, debounce or Debounce(), listener, woken).run()


@dataclass(slots=True)
class _Watch:
    """The loop and what it remembers between two looks."""

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
    look_again: float = 0.0
    known: Mapping[str, object] = field(default_factory=dict)

    def run(self) -> None:
        """Look once, then whenever something happened or the heartbeat finds the folder exchanged."""
        self._listen()
        self.known = self.memory.stamps()
        self.memory.refresh()
        self.say(f"Watching {self.memory.store}{' by looking every second' if self.polling else ''}.")
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
        elif self._may_look():
            self.debounce.clear()
            self._look()
        else:
            self.stop.wait(self.debounce.quiet)

    def _idle(self) -> None:
        """Nothing happened: wait for an event or the next heartbeat, and see whether the listener works."""
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
        elif time.monotonic() > self.look_again:
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
            self.say(f"The system cannot watch this folder ({error}): looking every second instead.")

    def _may_look(self) -> bool:
        """Whether nothing is in the way; what is gets told once."""
        away = _identity(self.memory.store) is None
        hindrance = "the store to come back" if away else self.memory.under_way()
        if hindrance and hindrance not in (self.waited_for, "index.lock"):
            self.say(f"Waiting for {hindrance if away else f'git to end its {hindrance}'}.")
        self.waited_for = hindrance
        return not hindrance

    def _look(self) -> None:
        begun = time.monotonic()
        try:
            new = self.memory.stamps()
            # A look that takes long is had more seldom.
            self.look_again = time.monotonic() + max(SAFETY, _SHARE * (time.monotonic() - begun))
            added, modified, removed = compare(self.known, new)
            if not (added or modified or removed):
                return
            self.memory.refresh()
            found = tuple(self.memory.lint((*added, *modified)))
        except (ThunderusError, OSError) as error:
            self.say(f"Could not look this time: {error}")
            self.debounce.add(time.monotonic())
            self.stop.wait(self.every)
            return
        self.known = new
        self.report(WatchTurn(added, modified, removed, found))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
