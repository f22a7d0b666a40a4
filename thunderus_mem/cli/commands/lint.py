"""``lint hooks watch``: findings and rules.

`lint` runs on demand, `hooks run` at each commit (on the staged text of every store in the repository), and
`watch` while files change; `watch` also refreshes the index.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import Budget, FailOn, Output, PreCommit, checked_limit
from thunderus_mem.cli.report import (
    FOR_PEOPLE,
    FORMATS,
    MOST_DETAILED,
    RuleCount,
    by_file,
    chosen_form,
    each_memory,
    headed,
    report,
    rule_counts,
    seen_from_top,
    summary,
    write_report,
)
from thunderus_mem.cli.text import aligned, columns, counted, hint_line
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.errors import NoStore, NotFound, ThunderusError
from thunderus_mem.git.repository import Git, look_for_git, no_repository
from thunderus_mem.lint.engine import RULES, rule_formats, rule_page
from thunderus_mem.lint.lint import LintReport, LintRequest, answer, checked_paths, lint
from thunderus_mem.lint.rule import LIST_RULES
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.layout import MEMORY, STORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.hooks import HookRun, HookStatus
    from thunderus_mem.lint.rule import Rule
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.watch import WatchTurn

app = Commands()

BRIEF, STATISTICS = "brief", "statistics"
"""One line per finding if there are many, which is the default; and only the number for each rule."""


class RulePage(NamedTuple):
    """A rule's manual page, as Markdown."""

    code: str
    name: str
    severity: str
    summary: str
    page: str


_Form = Annotated[
    str,
    Option("--format", metavar="FORMAT", help="full, concise, json, jsonl, github, gitlab, sarif, junit."),
]
_Baseline = Annotated[
    str | None, Option(metavar="FILE", help="Hide the findings in this baseline; '' for none.")
]
_WriteBaseline = Annotated[
    str, Option("--write-baseline", metavar="FILE", help="Record the current findings as a baseline.")
]
_Explain = Annotated[str, Option("--explain", metavar="CODE", help="Explain a rule; all lists them.")]


@app.command("lint")
def lint_command(
    ctx: Call,
    paths: Annotated[list[str] | None, Argument(metavar="[PATH]...", help="Only these paths.")] = None,
    staged: Annotated[
        bool, Option("--staged", help="Check the staged text; --fix changes the working tree.")
    ] = False,
    fix: Annotated[
        bool, Option("--fix", help="Apply all safe fixes; remove fixed findings from the baseline.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what --fix would change.")] = False,
    select: Annotated[list[str] | None, Option(metavar="CODE", help="Only this rule (repeatable).")] = None,
    ignore: Annotated[list[str] | None, Option(metavar="CODE", help="Skip this rule (repeatable).")] = None,
    profile: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="Also run the rules of shodh or nova (repeatable)."),
    ] = None,
    form: _Form = "",
    output: Output = "",
    baseline: _Baseline = None,
    write_baseline: _WriteBaseline = "",
    explain: _Explain = "",
    statistics: Annotated[bool, Option("--statistics", help="Count the findings of each rule.")] = False,
    budget: Budget = 0,
    fail_on: FailOn = "warning",
    pre_commit: PreCommit = False,
) -> int:
    """Check documents, manifest and log for problems. Exits with 1 on errors or warnings.

    Many findings are printed one per line; --format full prints all details.
    """
    console: Console = ctx.obj
    if explain:
        return _explained(console, explain)
    console.budget = budget
    if statistics and (form or output):
        raise ThunderusError("--statistics, --format and --output are mutually exclusive")
    limit = checked_limit(fail_on)
    named = console.environ.get("THUNDERUS_MEM_OUTPUT_FORMAT", "")
    brief = not (form or named)
    form = chosen_form(console, form, (*FORMATS, "json"), "full", named=named)
    form = STATISTICS if statistics else BRIEF if brief and form == "full" else form
    request = LintRequest(
        paths=tuple(paths or ()),
        staged=staged,
        fix=fix,
        dry_run=dry_run,
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        profiles=tuple(profile or ()),
        baseline=os.path.join(console.start, baseline) if baseline else baseline,
        write_baseline=os.path.join(console.start, write_baseline) if write_baseline else "",
    )
    request.refuse_contradictions()
    if pre_commit and fix:
        return max(_formatted(console, memory, request) for memory in each_memory(console))
    memories = each_memory(console) if pre_commit else [console.memory()]
    return max(
        _linted(console, memory, request, form, output, limit, pre_commit=pre_commit) for memory in memories
    )


def _linted(
    console: Console,
    memory: Memory,
    request: LintRequest,
    form: str,
    output: str,
    limit: str,
    *,
    pre_commit: bool,
) -> int:
    if pre_commit:
        request = _changed_documents(memory, request)
    value = answer(memory, request)
    if form == STATISTICS:
        console.emit("lint statistics", rule_counts(value.diagnostics), _statistics, long=True)
    else:
        if form == BRIEF and len(value.diagnostics) <= MOST_DETAILED:
            form = "full"
        _report(console, memory, value, form, request, output)
    failed = any(one.severity.reaches(limit) for one in value.diagnostics)
    return console.published_code(value.published) or int(failed)


def _report(
    console: Console, memory: Memory, value: LintReport, form: str, request: LintRequest, output: str
) -> None:
    drawn = form in ("full", BRIEF)

    def rendered(part: LintReport, console: Console) -> str:
        if form == "json":
            return console.envelope("lint", part)
        if drawn and console.width is not None and not (output or value.diff):
            text = by_file(
                part.diagnostics, console.style, console.width, of=value.diagnostics, brief=form == BRIEF
            )
        else:
            text = _rendered(memory, part, value, form, request)
        return headed(console, memory, text)

    for_people = drawn or form in FOR_PEOPLE or bool(value.diff)
    write_report(console, "lint", value, rendered, output, drawn=drawn, for_people=for_people)
    if form == BRIEF:
        console.say("For details: thunderus-mem lint --format full; for counts: --statistics")
    if drawn or output:
        for line in _summary(value, memory.config.lint_baseline, pruned=request.fix):
            console.say(line)


def _statistics(value: Sequence[RuleCount], console: Console) -> str:
    """Format the number of findings of each rule, with the rule, most first; * marks fixable findings."""
    style = console.style
    widest = max((len(f"{one.findings:,}") for one in value), default=0)
    rows = [
        (
            f"{one.findings:,}".rjust(widest),
            style.name(one.code),
            one.name,
            str(one.severity),
            f"{one.fixable:,} fixable with --fix" if one.fixable else "",
        )
        for one in value
    ]
    return "\n".join(line.rstrip() for line in aligned(rows)) or "No findings"


def _formatted(console: Console, memory: Memory, request: LintRequest) -> int:
    """Fix those of the paths that are in this memory, and list only the fixed files: the other hooks report
    the findings."""
    store = os.path.join(os.path.abspath(memory.root), STORE, "")
    paths = list(map(os.path.abspath, request.paths))
    inside = tuple(path for path in paths if path.startswith(store))
    if paths and not inside:
        return 0
    value = answer(memory, request._replace(paths=inside))
    text = "\n".join(f"Fixed {path}" for path in value.fixed)
    console.emit("lint", value, lambda _, console: headed(console, memory, text))
    return console.published_code(value.published)


def _changed_documents(memory: Memory, request: LintRequest) -> LintRequest:
    from thunderus_mem.hooks import documents_to_lint

    extent = documents_to_lint(memory)
    if extent.staged:
        return request._replace(staged=True)
    return request._replace(paths=tuple(os.path.join(memory.root, path) for path in extent.paths))


def _rendered(memory: Memory, part: LintReport, value: LintReport, form: str, request: LintRequest) -> str:
    """Format the findings that fit the budget, and the summary of all."""
    if value.diff:
        return value.diff.rstrip("\n")
    if form == BRIEF:
        return f"{report(part.diagnostics, 'concise')}{summary(value.diagnostics)}"
    documents = checked_paths(memory, request.paths, staged=request.staged) if form == "junit" else ()
    found = seen_from_top(memory, part.diagnostics, form)
    return report(found, form, documents, of=value.diagnostics).rstrip("\n")


def _summary(value: LintReport, named: str, *, pruned: bool) -> Iterator[str]:
    fixed = f", {len(value.fixed):,} fixed" if value.fixed else ""
    yield f"{counted(value.checked, 'document')} checked{fixed}"
    if value.recorded:
        yield f"{counted(value.recorded, 'finding')} recorded in {value.baseline}"
        if value.baseline != named and not os.path.isabs(value.baseline):
            yield f"Next: thunderus-mem config set lint.baseline {shlex.quote(value.baseline)}"
    elif value.known:
        yield f"{counted(value.known, 'finding')} hidden by {value.baseline}"
    gone = counted(len(value.obsolete), "entry", "entries")
    if value.obsolete and pruned:
        yield f"{gone} removed from {value.baseline}: already fixed"
    elif value.obsolete:
        yield f"{gone} in {value.baseline} already fixed; remove with --fix"


def _explained(console: Console, code: str) -> int:
    """Print the page of a rule, or a list of all rules."""
    if code == "all":
        pages = tuple(_page(rule, "") for rule in RULES)
        console.emit("lint explain", pages, _rule_list, long=True)
        return 0
    rule = next((rule for rule in RULES if code.upper() in (rule.code, rule.name.upper())), None)
    if rule is None:
        raise NotFound(f"unknown rule {code!r}", hint=LIST_RULES)
    page = f"{rule_page(rule.code)}\n{rule_formats(rule.code)}".rstrip("\n")
    console.emit("lint explain", (_page(rule, page),), lambda value, to: _shown_page(value[0], to), long=True)
    return 0


def _rule_list(value: Sequence[RulePage], console: Console) -> str:
    """List the rules, one per line."""
    rows = [(console.style.name(page.code), page.name, page.severity, page.summary) for page in value]
    return columns(rows, console.width)


def _shown_page(value: RulePage, console: Console) -> str:
    """Return the page, rendered on a capable terminal."""
    if console.room is None:
        return value.page
    from thunderus_mem.cli.drawing import markdown

    return markdown(console.clean(value.page), console, console.room)


def _page(rule: Rule, page: str) -> RulePage:
    return RulePage(rule.code, rule.name, str(rule.severity), rule.summary, page)


# ``hooks``

hooks_app = app.group("hooks")

_HOOK = Argument(metavar="[HOOK]", help="Only pre-commit is supported.")
_HOOK_STATES = {
    "installed": "is installed",
    "outdated": "is installed by another version or location of this tool",
    "absent": "is not installed",
    "foreign": "is not installed; another hook exists",
    "elsewhere": "is not installed; core.hooksPath points to another folder",
}


@hooks_app.command("install")
def hooks_install(ctx: Call, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Install the hook, which lints staged documents before a commit; an existing hook still runs.

    It stops the commit on errors, e.g. an invalid document or a secret.
    """
    from thunderus_mem import hooks

    console: Console = ctx.obj
    console.emit("hooks install", hooks.install(_git(console), hook), _hook_status)


@hooks_app.command("uninstall")
def hooks_uninstall(ctx: Call, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Remove the hook; other commands in the hook file stay."""
    from thunderus_mem import hooks

    console: Console = ctx.obj
    console.emit("hooks uninstall", hooks.uninstall(_git(console), hook), _hook_removed)


@hooks_app.command("status")
def hooks_status(ctx: Call, hook: Annotated[str, _HOOK] = "pre-commit") -> int:
    """Show whether the hook is installed. Exits with 1 if it is not."""
    from thunderus_mem import hooks

    console: Console = ctx.obj
    value = hooks.status(_git(console), hook)
    console.emit("hooks status", value, _hook_state)
    return int(value.state != "installed")


@hooks_app.command("run")
def hooks_run(
    ctx: Call,
    hook: Annotated[str, _HOOK] = "pre-commit",
    from_hook: Annotated[bool, Option("--hook", hidden=True)] = False,
) -> int:
    """Run the hook now, on the staged text. Exits with 1 on errors, e.g. an invalid document or a secret."""
    from thunderus_mem import hooks

    console: Console = ctx.obj
    value = hooks.run(hook, lambda: _staged_findings(console))
    console.emit("hooks run", value, _hook_run)
    if not value.diagnostics and not from_hook:
        console.say("No findings in the staged documents")
    if value.blocked:
        console.say("Commit blocked; `git commit --no-verify` skips this check")
        return hooks.BLOCKED if from_hook else 1
    return 0


_MOST_WARNINGS = 3
"""Warnings that the hook lists."""

_ABOUT_CODE = ("TM7",)
"""Rules that the hook leaves to `check`, which judges the staged code."""


def _staged_findings(console: Console) -> Iterable[Diagnostic]:
    """Lint the staged text in every store of the repository, with paths from its top; nothing without git."""
    here, _ = look_for_git(console.start, console.environ)
    git = look_for_git(here.toplevel, console.environ, honour_index=True)[0] if here else None
    staged = git.staged_files("") if git else []
    stores = {path.partition(f"{MEMORY}/")[0] for path in staged if f"/{MEMORY}/" in f"/{path}"}
    stores |= _stores_above(git.toplevel, staged) if git else set()
    for folder in sorted(stores):
        root = os.path.join(git.toplevel if git else "", folder)
        try:
            memory = console.open_at(root)
        except NoStore:
            continue
        if os.path.realpath(memory.root) == os.path.realpath(root):
            for found in lint(memory, staged=True, ignore=_ABOUT_CODE).diagnostics:
                yield found._replace(path=folder + found.path)
            for found in _outdated_documents(memory):
                yield found._replace(path=folder + found.path)


def _stores_above(toplevel: str, staged: Iterable[str]) -> set[str]:
    """Find the memories in parent folders of staged files, which may describe them."""
    folders = {"", *(path[:at] for path in staged for at, char in enumerate(path, 1) if char == "/")}
    return {folder for folder in folders if os.path.isdir(os.path.join(toplevel, folder, MEMORY))}


def _outdated_documents(memory: Memory) -> Iterable[Diagnostic]:
    """Find documents affected by the staged code changes, and staged ones whose code had changed before."""
    from thunderus_mem.lint.check import check_staged, diagnostics

    memory.refresh()
    if not memory.index.has_anchors():
        return ()
    return diagnostics(memory, check_staged(memory))


def _git(console: Console) -> Git:
    found, reason = look_for_git(console.start, console.environ)
    if found is None:
        hint = "run `git init` first" if reason.startswith("not inside") else None
        raise no_repository(console.start, console.environ, hint=hint)
    return found


def _hook_status(value: HookStatus, console: Console) -> str:
    line = f"The {value.hook} hook {_HOOK_STATES[value.state]}: {value.path}"
    return f"{line}\n{value.note}" if value.note else line


def _hook_removed(value: HookStatus, console: Console) -> str:
    if not value.changed:
        return f"No thunderus-mem {value.hook} hook to remove: {value.path}"
    line = f"Removed the {value.hook} hook: {value.path}"
    return f"{line}\n{value.note}" if value.note else line


def _hook_state(value: HookStatus, console: Console) -> str:
    if value.note:
        console.talk(hint_line(value.note, console.style))
    return f"The {value.hook} hook {_HOOK_STATES[value.state]}: {value.path}"


def _hook_run(value: HookRun, console: Console) -> str:
    """List errors, affected documents and the first warnings, to keep the hook quiet.

    The commands it names work before the commit and after it, when nothing is staged anymore.
    """
    from thunderus_mem.lint.check import ANCHOR_RULES

    errors = [one for one in value.diagnostics if one.severity is Severity.ERROR]
    affected = [one for one in value.diagnostics if one.rule in ANCHOR_RULES and one not in errors]
    warnings = [one for one in value.diagnostics if one.severity is Severity.WARNING and one not in affected]
    lines = report([*errors, *affected, *warnings[:_MOST_WARNINGS]], "concise").splitlines()
    if len(warnings) > _MOST_WARNINGS:
        more = counted(len(warnings) - _MOST_WARNINGS, "more warning")
        lines.append(f"{more}; see: thunderus-mem lint")
    if affected:
        lines.append("These documents may be out of date; see: thunderus-mem check")
    return "\n".join(lines)


# ``watch``


@app.command("watch")
def watch_command(ctx: Call) -> None:
    """Watch documents and anchored code: refresh the index and lint changes.

    When anchored code changes, list the documents that may be out of date. Stop it with Ctrl-C. With --json,
    print one line of JSON for each set of changes. For network folders, set watch.poll.
    """
    import threading

    from thunderus_mem.watch import Debounce, WatchedMemory, watch

    console: Console = ctx.obj

    def show(turn: WatchTurn) -> None:
        console.emit("watch", turn, _turn)
        console.flush()

    def say(text: str) -> None:
        console.say(text)
        console.flush()

    memory = WatchedMemory(console.memory)
    config = memory.config
    watch(
        memory,
        show,
        say,
        threading.Event(),
        poll=config.watch_poll,
        debounce=Debounce(config.watch_quiet_ms / 1000, config.watch_longest_ms / 1000),
    )


def _turn(value: WatchTurn, console: Console) -> str:
    lines = [
        f"{mark} {path}"
        for mark, paths in (("+", value.added), ("~", value.modified), ("-", value.removed))
        for path in paths
    ]
    if value.diagnostics:
        lines.append(report(value.diagnostics, "concise").rstrip("\n"))
    return "\n".join([*lines, summary(value.diagnostics)])
