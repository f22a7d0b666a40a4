"""What happened, gathered for recaps: events of the log, which of them are private, commits, and how texts
are read here."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.garden.history import History
from thunderus_mem.garden.recaps.day import Reading
from thunderus_mem.lint.planted import planted
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.model.secrets import holds_secret
from thunderus_mem.model.timestamp import parse_timestamp
from thunderus_mem.projection.log_index import read
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.memory import Memory
    from thunderus_mem.projection.log_index import EventRow
    from thunderus_mem.store.git_history import Commit

__all__ = ["Commits", "commits_within", "happened", "history_of", "reading_here"]

# A commit may be rebased for a while after it was made.
_DAYS_OF_REBASE = 7


def happened(memory: Memory, *, day: str = "", since: str = "", naming: str = "") -> History:
    """The events of a day, since a `utc_key`, or all; with those that name the document ``naming``."""
    log_index = memory.log_index()
    if day:
        rows = log_index.of_day(day)
    else:
        rows = [row for batch in log_index.in_order(since=since) for row in batch]
    named: list[EventRow] = log_index.naming([naming]) if naming else []
    logged = read(memory.log, [*rows, *named])
    private = frozenset(one.event.id for one in logged if memory.log.is_private(one.shard))
    return History(tuple({one.event.id: one.event for one in logged}.values()), private)


class Commits(NamedTuple):
    """Commits, and the files that each of them touched, by its hash."""

    commits: tuple[Commit, ...] = ()
    touched: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def commits_within(memory: Memory, first: str, last: str) -> Commits:
    """The commits of HEAD from one time to another (RFC 3339 or a day), and those made soon after."""
    from thunderus_mem.store.git_changes import touched_between

    start, end = _moment(first), _moment(last)
    if memory.git is None or start is None or end is None:
        return Commits()
    most = datetime.max.replace(tzinfo=UTC)
    end += min(timedelta(days=1 + _DAYS_OF_REBASE), most - end)
    since, until = f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{end:%Y-%m-%dT%H:%M:%SZ}"
    found = tuple(memory.git.commits_between(since, until))
    return Commits(found, touched_between(memory.git, since, until) if found else {})


def _moment(text: str) -> datetime | None:
    text = text.rstrip("U~")
    moment = parse_timestamp(text) or parse_timestamp(f"{text[:10]}T00:00:00Z")
    return moment.astimezone(UTC) if moment is not None else None


def reading_here(memory: Memory) -> Reading:
    """How texts are read: paths of this machine are shortened, and a text that holds a secret or an order to
    its reader is unfit for a page."""
    home = memory.environ.get("HOME", "")
    hide = {memory.root: "."} | ({home: "~"} if len(home) > 1 else {})

    @lru_cache(maxsize=65_536)
    def unfit(text: str) -> bool:
        return holds_secret(text) or bool(planted(text))

    return Reading(hide=hide, unfit=unfit)


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


def history_of(memory: Memory) -> History:
    """Everything that happened, with what recaps and consolidation ask of the code."""
    from thunderus_mem.verbs.recapping import template_of

    told = happened(memory)
    now = memory.now().astimezone(UTC)
    start = now - timedelta(days=min(memory.config.recap_days_back + 1, _MOST_DAYS))
    scheduled = memory.config.recap_schedule
    made = commits_within(memory, start.isoformat(), now.isoformat()) if scheduled else Commits()
    return told._replace(
        commits=made.commits,
        touched=made.touched,
        template=template_of(memory) if scheduled else "",
        template_path=memory.config.recap_template,
        reading=reading_here(memory),
        said_by_code=lambda: _said_by_code(memory),
        anchors=lambda body: _anchors(memory, body),
    )


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
    from thunderus_mem.evidence.suggest import propose
    from thunderus_mem.evidence.trees import WorkingTree
    from thunderus_mem.model.code_words import code_words
    from thunderus_mem.verbs.anchoring import given_anchors

    words = code_words(body)
    if not words:
        return []
    found = propose(words, WorkingTree(memory.root, memory.git))
    places = [one.place for one in found.proposals if not one.weak][:_MOST_ANCHORS]
    try:
        return [anchor.item for anchor in sorted(given_anchors(memory, places))]
    except ThunderusError:
        return []
