"""``anchor verify check for coverage``: documents and the code they describe.

`anchor` connects a document to code, `verify` confirms its text, `check` lists documents that may be out of
date, overall or because of one change; `for` and `coverage` find the documents about code. The commands
parse, call and render; only `anchor` and `verify` write documents.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated, Final

from thunderus_mem.authoring import anchor
from thunderus_mem.cli.commands.write import filed
from thunderus_mem.cli.input import read_stdin
from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import Budget, FailOn, Output, Patch, PreCommit, Why, Yes, checked_limit
from thunderus_mem.cli.report import (
    REPOSITORY_PATHS,
    chosen_form,
    each_memory,
    headed,
    markdown_text,
    report,
    seen_from_top,
    write_report,
)
from thunderus_mem.cli.text import (
    Style,
    aligned,
    columns,
    counted,
    cut_path,
    diff_line,
    one_line,
    table,
    verdict_word,
    wrapped,
)
from thunderus_mem.errors import ThunderusError, explain
from thunderus_mem.lint import check
from thunderus_mem.memory.transaction import settle
from thunderus_mem.verdicts import lookup, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory

app = Commands()

# ``anchor verify``

_MOST_NAMES: Final = 12
"""Maximum number of skipped names listed per reason."""


@app.command("anchor")
def anchor_command(
    ctx: Call,
    document: Annotated[
        str, Argument(metavar="ID", help="Document id, or a unique prefix of it.", show_default=False)
    ] = "",
    places: Annotated[
        list[str] | None,
        Argument(metavar="[PLACE]...", help="PATH, PATH#SYMBOL, PATH:10-20 or a glob."),
    ] = None,
    remove: Annotated[bool, Option("--remove", help="Remove the given anchors.")] = False,
    suggest: Annotated[
        bool, Option("--suggest", help="Suggest anchors for code that the text mentions.")
    ] = False,
    apply: Annotated[bool, Option("--apply", help="With --suggest: add the strong suggestions.")] = False,
    suggest_all: Annotated[
        bool, Option("--all", help="With --suggest: for all documents without anchors.")
    ] = False,
    why: Why = "",
) -> int:
    """Anchor a document to the code it describes, and store a fingerprint of that code."""
    console: Console = ctx.obj
    if apply and not suggest:
        raise ThunderusError("--apply needs --suggest")
    if suggest_all:
        return _suggest_all(console, alone=suggest and not (document or apply or remove))
    if not document:
        raise ThunderusError("missing argument ID", hint="pass a document id, or --suggest --all")
    if suggest:
        if places or remove:
            raise ThunderusError("--suggest and PLACE or --remove are mutually exclusive")
        places = _suggested_places(console, document, apply=apply)
        if not places:
            return 0
    if not places:
        hint = "pass PATH, PATH#SYMBOL or PATH:10-20"
        if remove:
            hint = f"pass the anchor to remove; `thunderus-mem show {document}` shows them"
        raise ThunderusError("missing argument PLACE", hint=hint)
    value = anchor.anchor(console.memory(), document, tuple(places), remove=remove, why=why)
    console.emit("anchor", value, anchoring)
    console.say_others()
    return console.published_code(value.written.published)


def _suggest_all(console: Console, *, alone: bool) -> int:
    """Print suggestions for all documents without anchors."""
    if not alone:
        raise ThunderusError("--all needs --suggest, without ID, --apply or --remove")
    value = suggest.suggest_all(console.memory())
    console.emit("anchor suggest_all", value, all_suggestions, long=True)
    documents = len({one.id for one in value.proposals})
    console.say(f"Suggestions for {documents} of {counted(value.documents, 'document')} without anchors")
    return 0


def _suggested_places(console: Console, document: str, *, apply: bool) -> list[str]:
    """Print suggestions; with ``apply`` return the strong ones instead."""
    value = suggest.suggest(console.memory(), document)
    if apply and value.strong:
        return list(value.strong)
    console.emit("anchor suggest", value, suggestions, long=True)
    if value.strong:
        command = console.style.name(f"thunderus-mem anchor --suggest {value.id} --apply")
        console.say(f"To add the strong suggestions: {command}")
    elif value.proposals:
        console.say("No strong suggestions; run a command above to add a weak one")
    else:
        console.say(f"No suggestions; to add an anchor: thunderus-mem anchor {value.id} PATH#SYMBOL")
    return []


@app.command("verify")
def verify_command(
    ctx: Call,
    documents: Annotated[
        list[str] | None,
        Argument(metavar="[ID]...", help="Documents that you have read and found correct."),
    ] = None,
    all_moved: Annotated[
        bool, Option("--all-moved", help="Verify all documents whose code only moved.")
    ] = False,
    fix_moved: Annotated[
        bool, Option("--fix-moved", help="Update anchors whose code only moved, without verifying.")
    ] = False,
    status: Annotated[
        bool, Option("--update-status", help="Write the current status into the files.")
    ] = False,
    restamp: Annotated[
        bool,
        Option("--restamp", help="Replace fingerprints by older rules, without verifying."),
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="With --update-status: only show them; exit with 1 if any.")
    ] = False,
    yes: Yes = False,
    why: Why = "",
) -> int:
    """Confirm that documents match the current code.

    Writes fingerprints, commit, status and verifier into the documents, and an approval to the log.
    """
    console: Console = ctx.obj
    memory = console.memory()
    ids = tuple(documents or ())
    if dry_run and not status:
        raise ThunderusError("--dry-run needs --update-status")
    if sum((all_moved, fix_moved, status, restamp)) > 1 or (all_moved and ids):
        raise ThunderusError(
            "ID, --all-moved, --fix-moved, --update-status and --restamp are mutually exclusive"
        )
    if status:
        return _statuses(console, memory, ids, why, write=not dry_run)
    if restamp:
        return _restamp(console, memory, ids, why)
    if all_moved or (fix_moved and yes):
        settle(memory, "verify")
    if fix_moved:
        return _fix_moved(console, memory, ids, why, yes=yes)
    if all_moved:
        ids = tuple(anchor.moved_documents(memory))
        if not ids:
            console.say("No anchored code has moved")
            return 0
    if not ids:
        raise ThunderusError("missing argument ID", hint="pass document ids, or --all-moved")
    return _confirm(console, memory, ids, why)


def _statuses(console: Console, memory: Memory, ids: Sequence[str], why: str, *, write: bool) -> int:
    if not write:
        found = anchor.drifted(memory, ids or None)
        console.emit("verify update_status", tuple(found), drifts)
        console.say("Next: thunderus-mem verify --update-status" if found else "Every status is up to date")
        return int(bool(found))
    found, event_id = anchor.update_status(memory, ids or None, why=why)
    console.emit("verify update_status", tuple(found), updated)
    console.say(f"Updated ({event_id})" if event_id else "Already up to date")
    return 0


def _restamp(console: Console, memory: Memory, ids: Sequence[str], why: str) -> int:
    value = anchor.restamp(memory, ids or None, why=why)
    console.emit("verify restamp", value, restamped)
    console.say(f"Updated ({value.event_id})" if value.event_id else "Nothing to update")
    return console.published_code(value.published)


def _confirm(console: Console, memory: Memory, ids: Sequence[str], why: str) -> int:
    value = anchor.confirm(memory, ids, note=why)
    console.emit("verify", value, confirmed)
    console.say_others()
    return console.published_code(value.published) or int(bool(value.refused))


def _fix_moved(console: Console, memory: Memory, ids: Sequence[str], why: str, *, yes: bool) -> int:
    planned = anchor.planned_moves(memory, ids or None)
    if not planned.moves:
        console.emit("verify fix_moved", planned, moves)
        console.say("No anchored code has moved")
        return 0
    if not yes:
        console.emit("verify fix_moved", planned, moves)
        if not console.interactive:
            console.say("Nothing written; use --yes to update these anchors")
            return 0
        if not console.confirm("Update these anchors?"):
            console.say("Nothing written")
            return 1
    value = anchor.reanchor(memory, planned, why=why)
    if yes:
        console.emit("verify fix_moved", value, moves)
    console.say(f"Updated ({value.event_id})" if value.event_id else "Nothing to do")
    return console.published_code(value.published)


def suggestions(value: suggest.Suggestions, console: Console) -> str:
    """List a command per suggestion; reasons and skipped names are shell comments."""
    style = console.style
    lines = [line for one in value.proposals for line in _suggestion(value.id, one, style)]
    if value.passed:
        lines += [*([""] if lines else []), style.dim("# Skipped:")]
        lines += [style.dim(f"#   {line}") for line in _passed(value.passed)]
    return "\n".join(lines)


def all_suggestions(value: suggest.AllSuggestions, console: Console) -> str:
    """List a command per suggestion, by document; reasons are shell comments."""
    return "\n".join(line for one in value.proposals for line in _suggestion(one.id, one, console.style))


def _suggestion(id: str, one: suggest.SuggestedAnchor | suggest.SuggestedFor, style: Style) -> list[str]:
    return [style.dim(f"# {one_line(one.reason)}{'; weak' if one.weak else ''}"), _command(id, one.place)]


def _passed(passed: Sequence[suggest.Passed]) -> list[str]:
    """Group the skipped names by reason."""
    reasons: dict[str, list[str]] = {}
    for one in passed:
        reasons.setdefault(one_line(one.why), []).append(one_line(one.code))
    lines = []
    for why, codes in reasons.items():
        left = len(codes) - _MOST_NAMES
        more = f" and {left:,} more" if left > 0 else ""
        lines.append(f"{why}: {', '.join(codes[:_MOST_NAMES])}{more}")
    return lines


def _command(id: str, place: str) -> str:
    dashes = " --" if place.startswith("-") else ""
    return f"thunderus-mem anchor{dashes} {id} {shlex.quote(place)}"


def anchoring(value: anchor.Anchoring, console: Console) -> str:
    """Format the document and its anchors."""
    written = value.written
    console.say_recorded(written.recorded)
    if written.proposed:
        return filed(written.proposed, written.id, written.path, console)
    if not written.changed:
        console.say("Nothing to change")
    for note in value.notes:
        console.say(f"note: {note}")
    for one in value.repeated:
        console.say(
            f"note: {one.place} covers {len(one.choices)} definitions; to choose one, anchor "
            f"{' or '.join(shlex.quote(choice) for choice in one.choices)}"
        )
    return "\n".join(
        [f"{console.style.name(written.id)}  {written.path}", *(f"  {place}" for place in value.anchors)]
    )


def confirmed(value: anchor.Verification, console: Console) -> str:
    """List each document with the previous verdicts of its anchors, or why it was refused."""
    style = console.style
    lines = []
    for one in value.documents:
        if one.refused:
            lines.append(f"{style.error('refused')}   {style.name(one.id)}  {one.refused}")
            continue
        lines.append(f"{style.good('verified')}  {style.name(one.id)}  {one.path}")
        lines += [
            f"  {place} ({'already verified' if verdict == 'verified' else f'was: {verdict}'})"
            for place, verdict in one.places
        ]
    if any(not one.refused for one in value.documents):
        console.say_done(f"Verified by {value.by}", value.published)
    return "\n".join(lines)


def drifts(value: Sequence[anchor.Drift], console: Console, *, before: str = "frontmatter says") -> str:
    """List documents whose stored status is outdated, with the reasons."""
    style = console.style
    lines = []
    for one in value:
        said = f"{before} {one.written}"
        lines.append(f"{verdict_word(one.status, style)}  {style.name(one.id)}  ({said})")
        lines += [f"    {reason}" for reason in one.reasons]
    return "\n".join(lines)


def updated(value: Sequence[anchor.Drift], console: Console) -> str:
    """List documents whose stored status was updated, with the previous one."""
    return drifts(value, console, before="was:")


def moves(value: anchor.Moves, console: Console) -> str:
    """List the old and new location of each anchor."""
    style = console.style
    return "\n".join(aligned([(style.name(id), before, "→", after) for id, before, after in value.moves]))


def restamped(value: anchor.Restamping, console: Console) -> str:
    """List each anchor with a fingerprint by other rules, and why it was skipped."""
    style = console.style
    words = [
        (style.good("updated") if not one.reason else style.dim("skipped"), one) for one in value.anchors
    ]
    return "\n".join(
        aligned([(word, style.name(one.id), f"{one.place}  {one.reason}".rstrip()) for word, one in words])
    )


# ``check``

FORMATS: Final = ("text", "markdown", "json", "jsonl", "github", "gitlab", "sarif", "junit")
_MOST_UNKNOWN: Final = 10

Format = Annotated[str, Option("--format", metavar="FORMAT", help=f"{', '.join(FORMATS)}.")]


@app.command("check")
def check_command(
    ctx: Call,
    documents: Annotated[list[str] | None, Argument(metavar="[ID]...", help="Only these documents.")] = None,
    since: Annotated[
        str,
        Option(
            "--since",
            metavar="REV",
            help="Check what this branch changes since REV, e.g. origin/main for a pull request.",
        ),
    ] = "",
    staged: Annotated[bool, Option("--staged", help="Check the staged changes.")] = False,
    diff: Annotated[
        str, Option("--diff", metavar="FILE|-", help="Check the changes in a unified diff; - is stdin.")
    ] = "",
    form: Format = "",
    patch: Patch = False,
    budget: Budget = 0,
    output: Output = "",
    fail_on: FailOn = "warning",
    pre_commit: PreCommit = False,
) -> int:
    """List documents that may be out of date because their anchored code has changed.

    Exits with 1 if there are any. With --since, --staged or --diff, list only the documents affected by that
    change, hunk by hunk. --since compares the working tree with the merge base of HEAD and REV.
    """
    console: Console = ctx.obj
    console.details, console.budget = patch, budget
    if sum((bool(documents), bool(since), staged, bool(diff))) > 1:
        raise ThunderusError("ID, --since, --staged and --diff are mutually exclusive")
    form = chosen_form(console, form, FORMATS, "text")
    limit = checked_limit(fail_on)

    def checked(memory: Memory, since: str, staged: bool) -> int:
        value = _checked(console, memory, documents or (), since=since, staged=staged, diff=diff)
        changed = bool(since or staged or diff)
        text = _rendered(memory, value, form, patch=patch, changed=changed)
        _write_check(console, memory, value, form, text, output, changed=changed)
        return int(any(one.severity.reaches(limit) for one in check.diagnostics(memory, value)))

    if not pre_commit:
        return checked(console.memory(), since, staged)
    from thunderus_mem.hooks import asked_extent

    asked = [(memory, asked_extent(memory)) for memory in each_memory(console)]
    return max(checked(memory, extent.since, extent.staged) for memory, extent in asked)


def _write_check(
    console: Console,
    memory: Memory,
    value: check.CheckReport,
    form: str,
    text: Callable[[check.CheckReport, Console], str],
    output: str,
    *,
    changed: bool,
) -> None:
    write_report(
        console,
        "check",
        value,
        text,
        output,
        drawn=form == "text",
        for_people=form in ("text", "markdown", "github"),
    )
    for line in summary(memory, value, changed=changed) if form == "text" else ():
        console.say(line)
    console.say_others()


def _checked(
    console: Console, memory: Memory, ids: Sequence[str], *, since: str, staged: bool, diff: str
) -> check.CheckReport:
    if not (since or staged or diff):
        return check.check(memory, tuple(ids))
    if staged:
        return check.check_staged(memory)
    if since:
        return check.check_since(memory, since)
    return check.check_diff(memory, _diff_text(console, diff))


def _diff_text(console: Console, given: str) -> str:
    if given == "-":
        return read_stdin(console, -1, "a diff").decode("utf-8", "surrogateescape")
    path = os.path.join(console.start, given)
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise explain(error, given) from error


def _rendered(
    memory: Memory, value: check.CheckReport, form: str, *, patch: bool, changed: bool
) -> Callable[[check.CheckReport, Console], str]:
    """Return the function that formats the report."""
    if form == "json":
        return lambda value, console: console.envelope("check", value)
    if form == "text":
        return lambda value, console: headed(console, memory, check_report(value, console, patch=patch))
    if form == "markdown":
        return lambda part, _: check_summary(memory, part, value, changed=changed)
    return lambda value, _: _for_programs(memory, value, form).rstrip("\n")


def _for_programs(memory: Memory, value: check.CheckReport, form: str) -> str:
    """Format the findings, at the changed code in formats whose reader shows them in a diff."""
    if form not in REPOSITORY_PATHS:
        return report(check.diagnostics(memory, value), form, command="check")
    pairs = check.at_changed_code(memory, value)
    found = seen_from_top(memory, [one for one, _ in pairs], form)
    documents = seen_from_top(memory, [document for one, document in pairs if one is not document], form)
    return report(found, form, related={one.fingerprint: one for one in documents})


def check_report(value: check.CheckReport, console: Console, *, patch: bool = False) -> str:
    """Format each document that may be out of date with its anchors, then the unknown anchors."""
    documents = _by_document(value.findings)
    blocks = ["\n".join(_document(ones, console, patch)) for ones in documents]
    id = documents[0][0].doc_id if len(documents) == 1 else "ID"
    steps = [check.next_step(verdict, id) for verdict in sorted({one.verdict for one in value.findings})]
    blocks += ["\n".join(wrapped(step, console.width)) for step in steps]
    if value.unknown:
        blocks.append("\n".join(_unknown(value, console.style)))
    return "\n\n".join(blocks)


def _by_document(findings: Sequence[check.CodeFinding]) -> list[list[check.CodeFinding]]:
    found: dict[str, list[check.CodeFinding]] = {}
    for one in findings:
        found.setdefault(one.doc_id, []).append(one)
    return list(found.values())


def _document(ones: Sequence[check.CodeFinding], console: Console, patch: bool) -> Iterator[str]:
    first, style = ones[0], console.style
    yield f"{style.bold(one_line(first.title))}  {style.name(first.doc_id)}"
    for one in ones:
        line = f":{one.line}"
        room = console.width
        yield style.dim((one.path if room is None else cut_path(one.path, room - len(line))) + line)
        yield f"  {verdict_word(one.verdict, style)}  {one.place}: {one.reason}"
        if one.hunk:
            yield f"    by {one.file} {one.hunk}"
        elif one.commit:
            yield f"    by {one.commit[:12]} {one_line(one.subject)}"
        if patch and one.diff:
            yield from (f"    {diff_line(line, style)}" for line in one.diff.splitlines())


def _unknown(value: check.CheckReport, style: Style) -> Iterator[str]:
    yield style.dim(f"{counted(len(value.unknown), 'anchor')} could not be checked:")
    rows = [(f"  {one.doc_id}", one.place, one.reason) for one in value.unknown[:_MOST_UNKNOWN]]
    yield from aligned(rows)
    if len(value.unknown) > _MOST_UNKNOWN:
        yield f"  … and {len(value.unknown) - _MOST_UNKNOWN} more"


def summary(memory: Memory, value: check.CheckReport, *, changed: bool) -> Iterator[str]:
    """Summarize the report in a few lines."""
    checked = f"{counted(value.anchors, 'anchor')} in {counted(value.documents, 'document')}"
    if changed:
        affected = len({one.doc_id for one in value.findings})
        yield f"{counted(affected, 'document')} affected ({checked} checked)"
        return
    counts = [
        (len(value.findings), "changed or missing"),
        (value.moved, "moved"),
        (len(value.unknown), "could not be checked"),
    ]
    parts = [f"{number} {what}" for number, what in counts if number]
    yield f"{checked}: {', '.join(parts) or 'up to date'}"
    if value.moved:
        yield "To update anchors whose code only moved: thunderus-mem verify --fix-moved"
    without_cause = any(not (one.commit or one.diff) for one in value.findings)
    if without_cause and memory.git is not None and memory.git.is_shallow():
        yield "This shallow clone may not contain the commits that changed the code"


def check_summary(memory: Memory, part: check.CheckReport, value: check.CheckReport, *, changed: bool) -> str:
    """Format Markdown for the summary of a pull request: a table of documents, code and reasons, with the
    findings that fit the budget, and the counts of all."""
    top = memory.git.prefix if memory.git is not None else ""
    what = "affected by this change" if changed else "that may be out of date"
    lines = [f"### Documents {what}", ""]
    if part.findings:
        lines += ["| Document | Code | Reason |", "|---|---|---|"]
        lines += [_row(one, top) for one in part.findings]
        commands = dict.fromkeys(f"    thunderus-mem verify {one.doc_id}" for one in part.findings)
        advice = "Read each document again. If it is still true, verify it; otherwise edit or supersede it."
        lines += ["", advice, "", *commands, ""]
    return "\n".join([*lines, *map(markdown_text, summary(memory, value, changed=changed))])


def _row(one: check.CodeFinding, top: str) -> str:
    where = f"{one.file}:{one.file_line}" if one.file_line else one.place
    document = f"**{markdown_text(one.title)}**<br>{markdown_text(f'{top}{one.path}:{one.line}')}"
    return f"| {document} | {markdown_text(top + where)} | {markdown_text(one.reason)} |"


# ``for coverage``


@app.command("coverage")
def coverage_command(
    ctx: Call,
    path: Annotated[str, Argument(metavar="[PATH]", help="Only this folder.", show_default=False)] = "",
    limit: Annotated[
        int,
        Option("--limit", "-n", metavar="N", min=0, help="Documents of each kind to list; 0 for all."),
    ] = 10,
    budget: Budget = 0,
) -> None:
    """Show how much code in each folder has documents, and which documents have no anchor or a weak one.

    Folders are listed two levels deep, below PATH; deeper files count toward their folder's row.
    """
    console: Console = ctx.obj
    console.budget = budget
    value = lookup.coverage(console.memory(), path, limit=limit, start=console.start)
    if not value.folders:
        console.say("No code files found")
    console.emit("coverage", value, coverage_report, long=True)


def coverage_report(value: lookup.Coverage, console: Console) -> str:
    """Format one line per folder and a total, then documents without an anchor or with a weak one."""
    style = console.style
    head = ("FOLDER", "CODE FILES", "WITH ANCHORS", "BY PATTERN", "ANCHORS", "STALE")
    rows = [tuple(map(style.dim, head)), *(_counts(one, style) for one in value.folders)]
    if len(value.folders) > 1:
        rows.append(_counts(value.total._replace(path="all"), style))
    lines = table(rows)
    if value.without_anchor:
        names = [(style.name(one.id), one_line(one.title)) for one in value.unanchored]
        lines += ["", f"{counted(value.without_anchor, 'document')} without an anchor:"]
        lines += _indented(columns(names, console.width, whole=1), value.without_anchor - len(names))
        lines += [f"Next: {one.next_step}" for one in value.unanchored[:1]]
    whole = [one for one in value.weak if one.files]
    if whole:
        places = [(style.name(one.id), one.place, counted(one.files, "file")) for one in whole]
        lines += ["", "Anchored to whole files (any edit there marks the document stale):"]
        lines += _indented(columns(places, console.width, whole=1), value.whole_files - len(whole))
        lines.append(f"Next: {whole[0].next_step}")
    if less := [one for one in value.weak if not one.files]:
        places = [(style.name(one.id), one.place, one.reason) for one in less]
        lines += ["", "Anchored to code with weak support:"]
        lines += _indented(columns(places, console.width, whole=1), value.weak_code - len(less))
    return "\n".join(lines)


def _counts(one: lookup.FolderCoverage, style: Style) -> tuple[str, ...]:
    stale = style.warning(f"{one.stale:,}") if one.stale else "0"
    numbers = (one.files, one.anchored, one.by_pattern, one.anchors)
    return (style.name(one.path), *(f"{number:,}" for number in numbers), stale)


def _indented(text: str, omitted: int) -> list[str]:
    more = [f"    … and {omitted:,} more; use -n 0 to list all"] if omitted else []
    return [*(f"    {line}" for line in text.splitlines()), *more]
