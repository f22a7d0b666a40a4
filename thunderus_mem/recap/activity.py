"""What happened, gathered for recaps and consolidation: events of the log, which of them are private, commits
and the files they touched, how texts are read here, what the code says. Reads the log, git and files; writes
nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.authoring.anchor import given_anchors
from thunderus_mem.document.anchors import code_words
from thunderus_mem.document.document import MAX_DOCUMENT
from thunderus_mem.document.secrets import holds_secret
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.errors import InvalidConfig, ThunderusError
from thunderus_mem.git.commits import commits_between, touched_between
from thunderus_mem.index.log import read
from thunderus_mem.lint.injection import find_injections
from thunderus_mem.log.event import private_to
from thunderus_mem.recap.events import EventReading
from thunderus_mem.store.files import read_below, read_file
from thunderus_mem.store.paths import inside, safe_relative
from thunderus_mem.verdicts.code import WorkingTree
from thunderus_mem.verdicts.suggest import propose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.git.commits import Commit
    from thunderus_mem.index.log import EventRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory

# A commit may be rebased for a while after it was made.
_DAYS_OF_REBASE = 7
# Where a repository says how it is built, tested and run.
_SAYING = (
    *("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "package.json"),
    *("pyproject.toml", "tox.ini", "noxfile.py", "Cargo.toml", "Rakefile", ".gitlab-ci.yml", "CLAUDE.md"),
    *("README.md", "README.rst", "README.txt", "README", "CONTRIBUTING.md", "AGENTS.md", "DEVELOPMENT.md"),
)
_WORKFLOWS = ".github/workflows"
_LONGEST_FILE = 256 * 1024
_MOST_ANCHORS = 3
_MOST_DAYS = 3_660


class Activity(NamedTuple):
    """Events in the order of the log; ids of those that are private to this working tree; commits, and the
    files that they ``touched``, by hash. Both may reach beyond what a recap is of.

    ``template`` is the text of a recap template of one's own. ``reading`` says how texts are read.
    ``said_by_code`` gives the files that say how the code is built and run, by path; ``anchors`` the anchors,
    as frontmatter holds them, of what a text names.
    """

    events: tuple[Event, ...] = ()
    private: frozenset[str] = frozenset()
    commits: tuple[Commit, ...] = ()
    touched: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    template: str = ""
    reading: EventReading = EventReading()
    said_by_code: Callable[[], Mapping[str, str]] = dict
    anchors: Callable[[str], list[dict[str, Any]]] = lambda _: []

    @property
    def private_anywhere(self) -> frozenset[str]:
        """The ids of events private to this tree, and of those that some change calls private to another."""
        return self.private | {id for event in self.events for id in private_to(event)}


def happened(memory: Memory, *, day: str = "", since: str = "", naming: str = "") -> Activity:
    """The events of a day, since a `utc_key`, or all; with those that name the document ``naming``."""
    log_index = memory.log_index()
    if day:
        rows = log_index.of_day(day)
    else:
        rows = [row for batch in log_index.in_order(since=since) for row in batch]
    named: list[EventRow] = log_index.naming([naming]) if naming else []
    logged = read(memory.log, [*rows, *named])
    private = frozenset(one.event.id for one in logged if memory.log.is_private(one.shard))
    return Activity(tuple({one.event.id: one.event for one in logged}.values()), private)


def history_of(memory: Memory) -> Activity:
    """Everything that happened, with what recaps and consolidation ask of the code; commits of the days that
    the schedule looks back on."""
    told = happened(memory)._replace(
        reading=reading_here(memory),
        said_by_code=lambda: _said_by_code(memory),
        anchors=lambda body: _anchors(memory, body),
    )
    if not memory.config.recap_schedule:
        return told
    now = memory.now().astimezone(UTC)
    start = now - timedelta(days=min(memory.config.recap_days_back + 1, _MOST_DAYS))
    return for_recap(memory, told, start.isoformat(), now.isoformat())


def for_recap(memory: Memory, told: Activity, first: str, last: str) -> Activity:
    """The activity with what a page needs beside events: the template, how texts are read, and the commits of
    HEAD from one time to another (RFC 3339 or a day), with those made soon after."""
    told = told._replace(template=template_of(memory), reading=reading_here(memory))
    start, end = _moment(first), _moment(last)
    if memory.git is None or start is None or end is None:
        return told
    end += min(timedelta(days=1 + _DAYS_OF_REBASE), datetime.max.replace(tzinfo=UTC) - end)
    since, until = f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{end:%Y-%m-%dT%H:%M:%SZ}"
    commits = tuple(commits_between(memory.git, since, until))
    return told._replace(
        commits=commits, touched=touched_between(memory.git, since, until) if commits else {}
    )


def _moment(text: str) -> datetime | None:
    text = text.rstrip("U~")
    moment = parse_timestamp(text) or parse_timestamp(f"{text[:10]}T00:00:00Z")
    return moment.astimezone(UTC) if moment is not None else None


def reading_here(memory: Memory) -> EventReading:
    """How texts are read: paths of this machine are shortened, and a text that holds a secret or an order to
    its reader is unfit for a page."""
    home = memory.environ.get("HOME", "")
    hide = {memory.root: "."} | ({home: "~"} if len(home) > 1 else {})

    @lru_cache(maxsize=65_536)
    def unfit(text: str) -> bool:
        return holds_secret(text) or bool(find_injections(text))

    return EventReading(hide=hide, unfit=unfit)


def template_of(memory: Memory) -> str:
    """The text of the configured template; "" for the built-in one. Raises as reading a file does, and
    `InvalidConfig` for what is no text."""
    if not memory.config.recap_template:
        return ""
    path = safe_relative(memory.config.recap_template)
    data = read_below(memory.root, path, MAX_DOCUMENT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidConfig(f"{path}, line {line}: this is not UTF-8", hint="save it as UTF-8") from error


def _said_by_code(memory: Memory) -> dict[str, str]:
    """The files that say how the code is built and run, by path; what cannot be read says nothing."""
    names = list(_SAYING)
    with suppress(OSError):
        found = sorted(os.listdir(os.path.join(memory.root, *_WORKFLOWS.split("/"))))
        names += [f"{_WORKFLOWS}/{name}" for name in found if name.endswith((".yml", ".yaml"))]
    texts = {}
    for name in names:
        with suppress(ThunderusError):
            texts[name] = read_file(inside(memory.root, name), _LONGEST_FILE).decode("utf-8", "replace")
    return texts


def _anchors(memory: Memory, body: str) -> list[dict[str, Any]]:
    """Anchors to the code that a text names, with the fingerprints of what is there; the sure ones only."""
    words = code_words(body)
    if not words:
        return []
    found = propose(words, WorkingTree(memory.root, memory.git))
    places = [one.place for one in found.proposals if not one.weak][:_MOST_ANCHORS]
    try:
        return [anchor.item for anchor in sorted(given_anchors(memory, places))]
    except ThunderusError:
        return []
