"""The only door to watchdog: start, stop and ask an observer that listens to a folder and all below."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def new_observer() -> Any:
    """The system's own kind of observer."""
    from watchdog.observers import Observer

    return Observer()


def start(observer: Any, folder: str, heard: Callable[[str, Iterable[str]], None]) -> None:
    """Listen to ``folder``: ``heard`` gets each event's kind and its paths, on another thread.

    Raises ``OSError`` when the system has no watch left.
    """
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        """Passes events on as plain values."""

        def on_any_event(self, event: FileSystemEvent) -> None:
            """Pass one event on: its kind, where it was and where it went."""
            heard(event.event_type, [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path])

    _hush()
    observer.schedule(Handler(), folder, recursive=True)
    observer.start()


def _hush() -> None:
    """Have the library keep its troubles under a storm of renames to itself: we look at the files anyway."""
    import logging
    import warnings

    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
    logging.getLogger("watchdog").addHandler(logging.NullHandler())


def stop(observer: Any) -> None:
    """Stop listening and wait a moment for the thread."""
    observer.unschedule_all()
    if observer.is_alive():
        observer.stop()
        observer.join(timeout=5)


def is_alive(observer: Any) -> bool:
    """Whether the observer and every listener of it still run."""
    return bool(observer.is_alive()) and all(emitter.is_alive() for emitter in observer.emitters)
