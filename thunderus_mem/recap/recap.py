"""What happened, gathered for recaps: events of the log, which of them are private, commits, and how texts
are read here.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.document import MAX_DOCUMENT, Document
from thunderus_mem.document.frontmatter.edit import compose
from thunderus_mem.document.secrets import find_secrets, holds_secret
from thunderus_mem.document.timestamp import format_precise, format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import Conflict, InvalidConfig, InvalidDocument, NotFound, Refused, ThunderusError
from thunderus_mem.index.log import read
from thunderus_mem.lint.injection import planted
from thunderus_mem.lint.runner import checked
from thunderus_mem.log.event import changes_of, private_to
from thunderus_mem.memory.journal import Edit
from thunderus_mem.memory.locate import document_at, documents
from thunderus_mem.memory.transaction import Written, open_transaction, settle
from thunderus_mem.recap.events import (
    RECAP_OP,
    Activity,
    EventReading,
    RecapScope,
    day_scope,
    episode_of,
    episode_scope,
    private_anywhere,
    session_scope,
    since_scope,
    thread_of,
)
from thunderus_mem.recap.page import Page, RecapMaterial, recap_page, rollup_page
from thunderus_mem.store.config import configured_caps
from thunderus_mem.store.files import read_below, read_file
from thunderus_mem.store.paths import inside, safe_relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from subprocess import Popen

    from thunderus_mem.git.repository import Commit
    from thunderus_mem.index.log import EventRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction

# A commit may be rebased for a while after it was made.
_DAYS_OF_REBASE = 7


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


class Commits(NamedTuple):
    """Commits, and the files that each of them touched, by its hash."""

    commits: tuple[Commit, ...] = ()
    touched: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def commits_within(memory: Memory, first: str, last: str) -> Commits:
    """The commits of HEAD from one time to another (RFC 3339 or a day), and those made soon after."""
    from thunderus_mem.git.changes import touched_between

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


def reading_here(memory: Memory) -> EventReading:
    """How texts are read: paths of this machine are shortened, and a text that holds a secret or an order to
    its reader is unfit for a page."""
    home = memory.environ.get("HOME", "")
    hide = {memory.root: "."} | ({home: "~"} if len(home) > 1 else {})

    @lru_cache(maxsize=65_536)
    def unfit(text: str) -> bool:
        return holds_secret(text) or bool(planted(text))

    return EventReading(hide=hide, unfit=unfit)


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


def history_of(memory: Memory) -> Activity:
    """Everything that happened, with what recaps and consolidation ask of the code."""

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
    from thunderus_mem.authoring.anchor import given_anchors
    from thunderus_mem.document.anchors import code_words
    from thunderus_mem.verdicts.code import WorkingTree
    from thunderus_mem.verdicts.suggest import propose

    words = code_words(body)
    if not words:
        return []
    found = propose(words, WorkingTree(memory.root, memory.git))
    places = [one.place for one in found.proposals if not one.weak][:_MOST_ANCHORS]
    try:
        return [anchor.item for anchor in sorted(given_anchors(memory, places))]
    except ThunderusError:
        return []


# What somebody wants a recap of, from the words of a command line to a scope with its events.

_AGO = re.compile(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 5


class Wanted(NamedTuple):
    """What a recap is wanted of: ``kind`` is day, session, since, episode, week or month."""

    kind: str
    name: str


def chosen_day(memory: Memory, day: str) -> str:
    """A day in UTC as ``2026-01-21``, from that, ``today`` or ``yesterday``."""
    today = memory.now().astimezone(UTC).date()
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    if day in named:
        return named[day].isoformat()
    try:
        chosen = date.fromisoformat(day)
    except ValueError:
        chosen = None
    if chosen is None or chosen.isoformat() != day:
        raise ThunderusError(
            f'"{day}" is not a day', hint="give it as 2026-01-21, or say `today` or `yesterday`"
        )
    return day


def scope_of(memory: Memory, wanted: Wanted) -> tuple[RecapScope, Activity]:
    """The scope and the events that may belong to it.

    Raises `NotFound` for a session or an episode that no event names, `ThunderusError` for a time that is
    none.
    """
    if wanted.kind == "day":
        scope = day_scope(chosen_day(memory, wanted.name))
        return scope, happened(memory, day=scope.key, naming=scope.doc_id)
    if wanted.kind == "since":
        now = memory.now()
        scope = since_scope(_recap_scopes_moment(memory, wanted.name), utc_key(format_precise(now)) + "~")
        # The index sorts a line behind the lines before it, so all are looked at.
        return scope, happened(memory)
    everything = happened(memory)
    if wanted.kind == "session":
        names = {name for event in everything.events for name in (event.session_id, thread_of(event))}
        session = _named(wanted.name, names, "session")
        own = [event for event in everything.events if session in (event.session_id, thread_of(event))]
        return session_scope(session, own), everything
    own = [event for event in everything.events if episode_of(event) == wanted.name]
    if not own:
        names = {episode_of(event) for event in everything.events} - {""}
        raise NotFound(f"no event names the episode {wanted.name!r}", hint=_some(names, "episodes"))
    return episode_scope(wanted.name, own), everything


def _named(given: str, names: Iterable[str], what: str) -> str:
    """The one of the names that is given whole, or by its beginning or end."""
    listed = sorted(names)
    if given in listed:
        return given
    low = given.lower()
    near = [name for name in listed if low and (name.lower().startswith(low) or name.lower().endswith(low))]
    if len(near) == 1:
        return near[0]
    if near:
        raise ThunderusError(f"{given!r} may be {len(near)} {what}s", hint=_some(near, f"{what}s"))
    raise NotFound(f"no event is of a {what} {given!r}", hint=_some(listed[-_SHOWN:], f"{what}s"))


def _some(names: Iterable[str], what: str) -> str:
    listed = sorted(names)
    return f"{what} are: {', '.join(listed[:_SHOWN])}" if listed else f"there are no {what} yet"


def _recap_scopes_moment(memory: Memory, given: str) -> str:
    """The `utc_key` of a time (RFC 3339), a day, an age (``2d``) or a revision of git."""
    ago = _AGO.fullmatch(given)
    if ago is not None:
        now = memory.now().astimezone(UTC)
        span = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        earliest = datetime.min.replace(tzinfo=UTC)
        moment = now - span if now - earliest > span else earliest
        # Whole days begin at midnight, so that the recap written again in the afternoon is the same one.
        moment = moment if ago[2] == "h" else moment.replace(hour=0, minute=0)
        return utc_key(format_timestamp(moment.replace(second=0, microsecond=0)))
    if key := utc_key(given):
        return key
    if memory.git is not None:
        from thunderus_mem.git.changes import merge_base

        sha = merge_base(memory.git, given)
        commit = memory.git.commit(sha) if sha else None
        if commit is not None:
            return utc_key(commit.date)
    raise ThunderusError(
        f'"{given}" is neither a time nor a revision',
        hint="give 2026-01-21, 2026-01-21T09:00:00Z, 2d, 36h or HEAD~5",
    )


# The verb `recap`: tells of a day, a session, an episode or a while, in a document of its own.


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


def texts_by_us(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Ids and hashes of the texts that `recap` itself has written, or the gardener made of those, as the log
    says; ``events`` in its order."""
    found: set[tuple[str, str]] = set()
    for event in events:
        op = event.body.get("op") if event.kind == "patch" else ""
        for change in changes_of(event) if op in (RECAP_OP, "garden") else ():
            if op == RECAP_OP or (change.doc_id, change.before) in found:
                found.add((change.doc_id, change.after))
    return frozenset(found)


def recap(
    memory: Memory,
    of: str | Wanted,
    *,
    force: bool = False,
    dry_run: bool = False,
    why: str = "",
    actor: str = "user",
    summarizer: str = "",
    timeout: float = 60.0,
) -> Written:
    """Write or renew the recap of ``of``: a day (``2026-01-21`` in UTC, ``today``, ``yesterday``) or what is
    `Wanted`.

    Nothing is written when nothing has been added since. ``summarizer`` is a command that gets the recap on
    its input and ``timeout`` seconds to answer with a summary, which is kept as a draft. What of the log can
    be read is told; ``damaged`` counts the rest. Raises `NotFound` when nothing happened, `Conflict` when a
    person has edited the recap, or when it was written from private events that are not here, unless
    ``force`` is set; `InvalidConfig` for a template that cannot be used.
    """
    wanted = Wanted("day", of) if isinstance(of, str) else of
    if not dry_run:
        settle(memory, "recap")
    memory.refresh()
    page = _page(memory, wanted)
    if summarizer:
        page = drafted(memory, page, summarizer, timeout)
    if dry_run:
        return _renewed(memory, page, force=force)[1]
    with open_transaction(memory, "recap") as transaction:
        if not summarizer:
            page = _page(memory, wanted)
        edit, written = _renewed(memory, page, force=force)
        if edit is None:
            return written
        said = why or f"recap of {page.header['id'].removeprefix('recap.')}"
        return _commit(transaction, edit, written, page, why=said, actor=actor)


def _page(memory: Memory, wanted: Wanted) -> Page:
    if wanted.kind in ("week", "month"):
        private = private_anywhere(happened(memory))
        return rollup_page(wanted.kind, wanted.name, documents(memory), memory.config, private)
    scope, found = scope_of(memory, wanted)
    made = commits_within(memory, scope.since, scope.until)
    material = RecapMaterial(
        found.events,
        documents(memory),
        made.commits,
        found.private,
        template_of(memory),
        memory.config.recap_template,
        reading_here(memory),
        made.touched,
    )
    return recap_page(scope, material, memory.config)


def _commit(
    transaction: Transaction, edit: Edit, planned: Written, page: Page, *, why: str, actor: str
) -> Written:
    event = transaction.commit(RECAP_OP, [edit], private=page.private, why=why, actor=actor)
    return planned._replace(
        event_id=event.id,
        recorded=transaction.recorded,
        published=not transaction.pending,
        dry_run=False,
    )


def _written_by_us(document: Document, events: Iterable[Event]) -> bool:
    return (document.id, document.hash) in texts_by_us(events)


def _renewed(memory: Memory, page: Page, *, force: bool) -> tuple[Edit | None, Written]:
    """The edit that brings the recap up to date (``None`` when it is), and what to say of it."""
    doc_id, text = str(page.header["id"]), page.text
    log_index = memory.log_index()
    row = memory.index.get(doc_id)
    before = document_at(memory, row.path) if row is not None else None
    path = before.path if before else f"{memory.layout.folder_of('recap')}/{doc_id.removeprefix('recap.')}.md"
    if before is not None and before.text == text:
        return None, Written(before.id, path, RECAP_OP, text=text, changed=False, damaged=log_index.damages())
    if before is not None and not force:
        events = [logged.event for logged in read(memory.log, log_index.naming([doc_id]))]
        _see_that_nothing_is_lost(memory, before, events)
    document, warnings = checked(memory, path, text)
    edit = Edit(document.id, path, before.text if before else None, document.text)
    planned = Written(document.id, path, RECAP_OP, text=text, warnings=warnings, dry_run=True)
    return edit, planned._replace(damaged=log_index.damages())


def _see_that_nothing_is_lost(memory: Memory, before: Document, events: list[Event]) -> None:
    """Raise `Conflict` when a new version would lose what a person wrote, or what only another tree knows."""
    if not _written_by_us(before, events):
        raise Conflict(
            f"{before.path} has been edited since it was written, and a new version would lose that",
            hint="keep it as it is, or write it anew with --force",
        )
    private = {id for event in events for id in private_to(event)} & set(before.events)
    if private - memory.log_index().known(private):
        raise Conflict(
            f"{before.path} was written from events private to another working tree, and a new version would "
            "lose what they tell",
            hint="renew it there, or write it anew from what is here with --force",
        )


# `recap --summarizer`: a command's summary of a recap, kept as a draft that says who wrote it.

_HEADING = re.compile(r"(?m)^(#{1,6})([ \t].*)?$")
_RELATIVE = re.compile(r"\]\((?!https?://)")
_PROVENANCE: Final = "\n## Provenance\n"
_LONGEST_TIME: Final = 3_600.0


def drafted(memory: Memory, page: Page, command: str, timeout: float) -> Page:
    """The recap ``page`` with the answer of ``command`` (given the page as Markdown) in place of its text;
    where it is from stays ours.

    Raises `ThunderusError` for a command that cannot be read or fails, `Refused` for an answer that holds a
    secret or gives its reader orders, `InvalidDocument` for one that makes the document too long.
    """

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ThunderusError(f"the summarizer cannot be read as a command: {error}") from error
    if not words:
        raise ThunderusError(
            "the summarizer is empty", hint="give a command, as --summarizer 'my-model --short'"
        )
    if not 0 < timeout <= _LONGEST_TIME:
        raise ThunderusError(f"a summarizer gets more than 0 and at most {_LONGEST_TIME:g} seconds")
    answer = answer_of(words, page.body, timeout=timeout, folder=memory.root, environ=memory.environ)
    name = visible(os.path.basename(words[0]))[:100] or "summarizer"
    _refuse(answer, name)
    own = page.body.rpartition(_PROVENANCE)[2].strip("\n")
    # Headings of the answer stand below ours, so that none of them can pass for our provenance.
    text = _HEADING.sub(lambda found: f"{'#' * min(len(found[1]) + 2, 6)}{found[2] or ''}", visible(answer))
    text = _RELATIVE.sub(r"]\\(", text.replace("<!--", "&lt;!--"))
    header = {
        **page.header,
        "tags": sorted({*page.header["tags"], "draft"}),
        "author": name,
        "agent": name,
        "source": "summarizer",
    }
    title = page.header["title"]
    body = (
        f"# {title}\n\n## Summary\n\nA draft that `{name.replace('`', '')}` wrote; nobody has checked it.\n\n"
        f"{text}\n{_PROVENANCE}\n{own}\n"
    )
    if len(compose(header, "\n" + body)) > 4 * configured_caps(memory.config, "recap").hard:
        raise InvalidDocument(
            f"the answer of {name} makes the recap longer than a document may be", hint="have it be shorter"
        )
    return Page(header, body, page.private)


def _refuse(answer: str, name: str) -> None:
    for secret in find_secrets(answer)[:1]:
        raise Refused(
            f"the answer of {name} holds what looks like a secret ({secret.kind}); nothing was written"
        )
    for one in planted(answer)[:1]:
        line = answer.count("\n", 0, one.start) + 1
        raise Refused(f"line {line} of the answer of {name} {one.says}; nothing was written")


# A command of a person's own that is asked once: text in, text out, within a time and a size.

MOST_ANSWER: Final = 64 * 1024
"""Bytes of the longest answer."""
_CHUNK: Final = 8_192


def answer_of(
    command: Sequence[str], text: str, *, timeout: float, folder: str, environ: Mapping[str, str]
) -> str:
    """What ``command`` prints when it is given ``text`` on its input; no shell is in between.

    Raises `NotFound` when it cannot be started, `ThunderusError` when it fails, answers nothing, too much or
    no UTF-8, or takes more than ``timeout`` seconds: it is ended then, with what it started.
    """
    import subprocess
    import tempfile

    name = command[0]
    with tempfile.TemporaryFile() as given:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=subprocess.PIPE,
                cwd=folder,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise NotFound(
                f"{name} cannot be started: {error.strerror or error}",
                hint="give the command as a shell would",
            ) from error
    data = _read(process, name, timeout)
    if process.returncode:
        raise ThunderusError(f"{name} ended with {process.returncode}; nothing was written")
    try:
        answer = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ThunderusError(f"{name} answered something that is not UTF-8") from error
    if not answer:
        raise ThunderusError(f"{name} answered nothing")
    return answer


def _read(process: Popen[bytes], name: str, timeout: float) -> bytes:
    """All it prints, up to the end; the process is gone afterwards."""
    import selectors
    import time

    assert process.stdout is not None
    until, data = time.monotonic() + timeout, b""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _late(name, timeout)
                piece = os.read(process.stdout.fileno(), _CHUNK)
                if not piece:
                    break
                data += piece
                if len(data) > MOST_ANSWER:
                    raise ThunderusError(
                        f"{name} answered more than {MOST_ANSWER // 1024} KiB", hint="have it be shorter"
                    )
        _wait(process, name, max(until - time.monotonic(), 0.1), timeout)
    finally:
        _end(process)
    return data


def _wait(process: Popen[bytes], name: str, left: float, timeout: float) -> None:
    from subprocess import TimeoutExpired

    try:
        process.wait(left)
    except TimeoutExpired as error:
        raise _late(name, timeout) from error


def _late(name: str, timeout: float) -> ThunderusError:
    return ThunderusError(f"{name} took more than {timeout:g} seconds", hint="--timeout gives it longer")


def _end(process: Popen[bytes]) -> None:
    """End the process and what it started, also where it has ended itself and that goes on; one that was
    waited for is left as it is."""
    # Until it is waited for its number is its own, so that the group cannot be another one.
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
