"""The command `recap`: write the recap of a day, a session, an episode or another period.

Reads the log, the documents, git and the template; writes one document through a transaction. With
`--summarizer` the output of a command becomes a draft attributed to that command: it is run once, without a
shell, with the recap on standard input and limits on time and output size.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, Refused, ThunderusError
from thunderus_mem.git.repository import unusable_repository
from thunderus_mem.index.log import read
from thunderus_mem.lint.draft import validate
from thunderus_mem.log.event import private_to
from thunderus_mem.log.new_event import PatchLinks
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import document_at, documents
from thunderus_mem.memory.transaction import Written, open_transaction, settle
from thunderus_mem.recap.events import RECAP_OP, generated_texts
from thunderus_mem.recap.page import Page, by_name, has_events, longest_page, masked, recap_page
from thunderus_mem.recap.rollup import days_without_recap, rollup_page
from thunderus_mem.recap.scope import Wanted, day_scope, for_recap, happened, reading_here, scope_of
from thunderus_mem.recap.stories import few_of
from thunderus_mem.recap.template import PROVENANCE, escape_links
from thunderus_mem.safety.injection import find_injections
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory


TIME_LIMIT: Final = 300.0
"""The seconds that a summarizer may take."""

_MOST_DAYS: Final = 7


def recap(
    memory: Memory,
    of: str | Wanted,
    *,
    force: bool = False,
    dry_run: bool = False,
    why: str = "",
    summarizer: str = "",
    timeout: float = TIME_LIMIT,
) -> Written:
    """Write or update the recap of ``of``: a day (``2026-01-21`` in UTC, ``today``, ``yesterday``) or a
    `Wanted`.

    Nothing is written if the recap is up to date. ``summarizer`` is a command that reads the recap on its
    standard input and has ``timeout`` seconds to print a summary, which is stored as a draft. Unreadable
    lines of the log are skipped and counted as ``damaged``. Raises `NotFound` if there are no events and no
    commits, `Conflict` if the recap was edited, or was written from private events that are not here, unless
    ``force`` is set; `InvalidConfig` for an invalid template.
    """
    wanted = Wanted("day", of) if isinstance(of, str) else of
    if not dry_run:
        settle(memory, "recap")
    memory.refresh()
    page = _page(memory, wanted)
    if summarizer:
        page = draft_page(memory, page, summarizer, timeout)
    if dry_run:
        return _renewed(memory, page, force=force)[1]
    with open_transaction(memory, "recap") as transaction:
        if not summarizer:
            page = _page(memory, wanted)
        edit, written = _renewed(memory, page, force=force)
        if edit is None:
            return written
        said = why or f"recap of {page.header['id'].removeprefix('recap.')}"
        links = PatchLinks(private=page.private)
        transaction.commit(RECAP_OP, [edit], links=links, why=said)
        return written._replace(dry_run=False, **transaction.outcome._asdict())


def _page(memory: Memory, wanted: Wanted) -> Page:
    if wanted.kind in ("week", "month"):
        return _rollup(memory, wanted)
    scope, activity = scope_of(memory, wanted)
    activity = for_recap(memory, activity, scope.since, scope.until)
    problem = unusable_repository(memory.root, memory.environ) if memory.git is None else None
    try:
        page = recap_page(scope, activity, by_name(documents(memory)), memory.config)
    except NotFound as error:
        if problem is None:
            raise
        raise NotFound(f"{error} (commits cannot be read: {problem})", hint=problem.hint) from error
    return _warned(page, f"Commits are omitted: {problem}", problem.hint or "") if problem else page


def _rollup(memory: Memory, wanted: Wanted) -> Page:
    kind, name = wanted
    recaps = documents(memory, prefix="recap.", archived=True)
    activity = happened(memory)._replace(reading=reading_here(memory))
    days = days_without_recap(kind, name, recaps)
    omitted = [day for day in days if has_events(day_scope(day), activity, memory.config)]
    try:
        page = rollup_page(kind, name, recaps, memory.config, activity.private_anywhere)
    except NotFound as error:
        none = f"no events in {name}; `thunderus-mem log --all` lists events by day"
        hint = f"write them first: `thunderus-mem recap {omitted[0]}`" if omitted else none
        raise NotFound(str(error), hint=hint) from error
    page = masked(page, activity.reading.unfit)
    if not omitted:
        return page
    listed = few_of(omitted[:_MOST_DAYS], len(omitted))
    hint = f"Run `thunderus-mem recap {omitted[0]}`, then this command again"
    return _warned(page, f"Days with events but without a recap are omitted: {listed}", hint)


def _warned(page: Page, message: str, hint: str) -> Page:
    return page._replace(warnings=(Diagnostic("", Severity.WARNING, "", 0, 0, message, hint=hint),))


def _renewed(memory: Memory, page: Page, *, force: bool) -> tuple[FileChange | None, Written]:
    """The edit that updates the recap (``None`` if it is up to date), and the result to report."""
    doc_id, text = str(page.header["id"]), page.text
    log_index = memory.log_index()
    row = memory.index.get(doc_id)
    before = document_at(memory, row.path) if row is not None else None
    path = before.path if before else f"{DOCUMENT_FOLDERS['recap']}/{doc_id.removeprefix('recap.')}.md"
    if before is not None and before.text == text:
        same = Written(before.id, path, RECAP_OP, text=text, warnings=page.warnings, changed=False)
        return None, same._replace(damaged=log_index.damages())
    if before is not None and not force:
        events = [logged.event for logged in read(memory.log, log_index.naming([doc_id]))]
        _check_nothing_is_lost(memory, before, events)
    document, warnings = validate(memory, path, text)
    edit = FileChange(document.id, path, before.text if before else None, document.text)
    warnings = (*warnings, *page.warnings)
    planned = Written(document.id, path, RECAP_OP, text=text, warnings=warnings, dry_run=True)
    return edit, planned._replace(damaged=log_index.damages())


def _check_nothing_is_lost(memory: Memory, before: Document, events: list[Event]) -> None:
    """Raise `Conflict` if a new version would lose hand edits, or events that only another tree has."""
    if (before.id, before.hash) not in generated_texts(events):
        raise Conflict(
            f"{before.path} was edited since it was written",
            hint="use --yes to overwrite the edits",
        )
    private = {id for event in events for id in private_to(event)} & set(before.events)
    if private - memory.log_index().known(private):
        raise Conflict(
            f"{before.path} was written from events private to another working tree",
            hint="update it there, or use --yes to write it from the events in this tree",
        )


# A summary by a command

_HEADING = lazy_pattern(r"(?m)^(#{1,6})([ \t].*)?$")
MAX_OUTPUT: Final = 64 * 1024
"""The limit on the output of a summarizer, in bytes."""
_CHUNK: Final = 8_192


def draft_page(memory: Memory, page: Page, command: str, timeout: float) -> Page:
    """The recap ``page`` with its text replaced by the output of ``command`` (which reads the page as
    Markdown); the section Provenance is kept.

    Raises `ThunderusError` for a command that cannot be parsed or fails, `Refused` for output with a possible
    secret or prompt injection, `InvalidDocument` if the document gets too long.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ThunderusError(f"invalid summarizer command: {error}") from error
    if not words:
        raise ThunderusError(
            "empty summarizer command", hint="pass a command, e.g. --summarizer 'my-model --short'"
        )
    answer = run_summarizer(words, page.body, timeout=timeout, folder=memory.root, environ=memory.environ)
    name = visible(os.path.basename(words[0]))[:100] or "summarizer"
    _refuse(answer, name)
    own = page.body.rpartition(PROVENANCE)[2].strip("\n")
    # Headings of the answer are demoted below ours, so that none of them is taken for our Provenance.
    text = _HEADING.sub(lambda found: f"{'#' * min(len(found[1]) + 2, 6)}{found[2] or ''}", visible(answer))
    text = escape_links(text)
    header = {
        **page.header,
        "tags": sorted({*page.header["tags"], "draft"}),
        "author": name,
        "agent": name,
        "source": "summarizer",
    }
    title = page.header["title"]
    body = (
        f"# {title}\n\n## Summary\n\nDraft by `{name.replace('`', '')}`, not reviewed.\n\n"
        f"{text}\n{PROVENANCE}\n{own}\n"
    )
    if len(compose(header, "\n" + body)) > longest_page(memory.config):
        raise InvalidDocument(
            f"the output of {name} makes the recap too long", hint="ask for a shorter summary"
        )
    return Page(header, body, page.private)


def _refuse(answer: str, name: str) -> None:
    for secret in find_secrets(answer)[:1]:
        raise Refused(f"the output of {name} contains a possible secret ({secret.kind}); nothing was written")
    for one in find_injections(answer)[:1]:
        line = answer.count("\n", 0, one.start) + 1
        raise Refused(f"line {line} of the output of {name} {one.says}; nothing was written")


def run_summarizer(
    command: Sequence[str], text: str, *, timeout: float, folder: str, environ: Mapping[str, str]
) -> str:
    """The output of ``command``, run without a shell, with ``text`` on standard input.

    Raises `NotFound` if it cannot be started, `ThunderusError` if it fails, prints nothing, too much or
    invalid UTF-8, or takes more than ``timeout`` seconds: then its process group is killed.
    """
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
                f"cannot run {name}: {error.strerror or error}",
                hint="check the command passed to --summarizer",
            ) from error
    data = _read(process, name, timeout)
    if process.returncode:
        raise ThunderusError(
            f"the summarizer {name!r} exited with {process.returncode}; nothing was written",
            hint="run it by hand to see why",
        )
    try:
        answer = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ThunderusError(f"the output of {name} is not valid UTF-8") from error
    if not answer:
        raise ThunderusError(
            f"the summarizer {name!r} printed no summary; nothing was written",
            hint="it must print the summary on standard output",
        )
    return answer


def _read(process: subprocess.Popen[bytes], name: str, timeout: float) -> bytes:
    """Read all its output; the process has ended afterwards."""
    assert process.stdout is not None
    until, data = time.monotonic() + timeout, b""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _timed_out(name, timeout)
                piece = os.read(process.stdout.fileno(), _CHUNK)
                if not piece:
                    break
                data += piece
                if len(data) > MAX_OUTPUT:
                    raise ThunderusError(
                        f"the output of {name} exceeds {MAX_OUTPUT // 1024} KiB",
                        hint="ask for a shorter summary",
                    )
        process.wait(max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired as error:
        raise _timed_out(name, timeout) from error
    finally:
        _end(process)
    return data


def _timed_out(name: str, timeout: float) -> ThunderusError:
    return ThunderusError(f"{name} timed out after {timeout:g} seconds", hint="run it by hand to see why")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group, even if only its children are still running; do nothing if it was
    already waited for."""
    # Before the wait its pid cannot be reused, so the group is certainly its own.
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
