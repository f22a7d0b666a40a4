"""``lint rule schema hooks watch``: what is wrong, what the rules are, and the schemas behind them.

`lint` answers when it is asked, `hooks run` at each commit (it reads what is staged, in every store of the
repository), `watch` while files change; it keeps the index fresh as well.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem import hooks
from thunderus_mem.authoring.init import update_schemas
from thunderus_mem.cli.output import dumps
from thunderus_mem.cli.params import Output
from thunderus_mem.cli.report import FOR_PEOPLE, FORMATS, chosen_form, hand_over, report, seen_from_top
from thunderus_mem.cli.text import columns, counted
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.schema import INDEX, SCHEMA_NAMES, schema_text
from thunderus_mem.errors import NoStore, NotFound
from thunderus_mem.git.repository import Git, look_for_git
from thunderus_mem.lint.check import MADE_FALSE, check_staged, diagnostics
from thunderus_mem.lint.engine import RULES, rule_page
from thunderus_mem.lint.lint import LintReport, LintRequest, answer, checked_paths, lint
from thunderus_mem.store.config_keys import config_schema
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.watch import Debounce, WatchedMemory, WatchTurn, watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.cli.console import Console
    from thunderus_mem.lint.rule import Rule
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()
schema_app = typer.Typer(no_args_is_help=True)
app.add_typer(schema_app, name="schema")


@dataclass(frozen=True, slots=True)
class RulePage:
    """A rule's manual page, as Markdown."""

    code: str
    name: str
    severity: str
    summary: str
    page: str


@dataclass(frozen=True, slots=True)
class SchemaList:
    """The names ``schema print`` knows."""

    names: tuple[str, ...]


@app.command("lint")
def lint_command(
    ctx: typer.Context,
    paths: Annotated[list[str] | None, typer.Argument(help="Files or folders; all when none.")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="The text git would commit.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended without a question.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would change; write nothing.")
    ] = False,
    select: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Only these rules.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Not these rules.")] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help="full, concise, json, jsonl, github, gitlab, sarif, junit."
        ),
    ] = "",
    output: Output = "",
    baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Do not tell the findings recorded there; '' tells all."),
    ] = None,
    write_baseline: Annotated[
        str, typer.Option("--write-baseline", metavar="FILE", help="Record what is found now.")
    ] = "",
    prune_baseline: Annotated[
        bool, typer.Option("--prune-baseline", help="Take out what is mended by now.")
    ] = False,
) -> int:
    """Check documents, manifest and log. Exits with 1 when an error or a warning is found."""
    console: Console = ctx.obj
    named = console.environ.get("THUNDERUS_MEM_OUTPUT_FORMAT", "")
    form = chosen_form(console, form, FORMATS, "full", named=named)
    request = LintRequest(
        paths=tuple(paths or ()),
        staged=staged,
        fix=fix,
        diff=diff,
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        baseline=os.path.join(console.start, baseline) if baseline else baseline,
        write_baseline=os.path.join(console.start, write_baseline) if write_baseline else "",
        prune_baseline=prune_baseline,
    )
    request.refuse_contradictions()
    memory = console.memory()
    value = answer(memory, request)

    def rendered(value: LintReport, _: Console) -> str:
        return _rendered(memory, value, form, request)

    for_people = form in FOR_PEOPLE or bool(value.diff)
    hand_over(console, "lint", value, rendered, output, drawn=form == "full", for_people=for_people)
    if form == "full" or output:
        for line in _summary(value, memory.config.lint_baseline, pruned=prune_baseline):
            console.say(line)
    return console.published_code(value.published) or int(bool(value.errors or value.warnings))


def _rendered(memory: Memory, value: LintReport, form: str, request: LintRequest) -> str:
    if value.diff:
        return value.diff.rstrip("\n")
    documents = checked_paths(memory, request.paths, staged=request.staged) if form == "junit" else ()
    return report(seen_from_top(memory, value.diagnostics, form), form, documents).rstrip("\n")


def _summary(value: LintReport, named: str, *, pruned: bool) -> Iterator[str]:
    fixed = f" {counted(len(value.fixed), 'document')} mended." if value.fixed else ""
    yield f"{counted(value.checked, 'document')} checked.{fixed}"
    if value.recorded:
        yield f"{counted(value.recorded, 'finding')} recorded in {value.baseline}."
        if value.baseline != named and not os.path.isabs(value.baseline):
            yield f'Next: in .thunderus/config.toml, below [lint]: baseline = "{value.baseline}"'
    elif value.known:
        yield f"{counted(value.known, 'finding')} known from {value.baseline} not told."
    gone = counted(len(value.obsolete), "entry", "entries")
    if value.obsolete and pruned:
        yield f"{gone} of {value.baseline} taken out: mended."
    elif value.obsolete:
        yield f"{gone} of {value.baseline} mended by now; --prune-baseline takes them out."


@app.command("rule")
def rule_command(
    ctx: typer.Context,
    code: Annotated[str, typer.Argument(help="A code, as TM201; all rules when none is given.")] = "",
) -> None:
    """Explain a rule: what it checks, why, an example, and how to fix it."""
    console: Console = ctx.obj
    if not code:
        pages = tuple(_page(rule, "") for rule in RULES)
        console.emit(
            "rule",
            pages,
            lambda value, to: columns(
                [(to.style.name(page.code), page.name, page.severity, page.summary) for page in value],
                to.width,
            ),
            long=True,
        )
        return
    rule = next((rule for rule in RULES if code.upper() in (rule.code, rule.name.upper())), None)
    if rule is None:
        raise NotFound(f"There is no rule {code.upper()}.", hint="All rules: thunderus-mem rule")
    console.emit("rule", _page(rule, rule_page(rule.code).rstrip("\n")), _shown_page, long=True)


def _shown_page(value: RulePage, console: Console) -> str:
    """The page, drawn where that can be."""
    if console.room is None:
        return value.page
    from thunderus_mem.cli.drawing import markdown

    return markdown(console.clean(value.page), console, console.room)


def _page(rule: Rule, page: str) -> RulePage:
    return RulePage(rule.code, rule.name, str(rule.severity), rule.summary, page)


@schema_app.command("list")
def schema_list(ctx: typer.Context) -> None:
    """The names of all schemas."""
    console: Console = ctx.obj
    console.emit("schema list", SchemaList(tuple(_schema_names())), lambda value, _: "\n".join(value.names))


@schema_app.command("update")
def schema_update(ctx: typer.Context) -> None:
    """Write the copies in .thunderus/schemas as this version has them."""
    console: Console = ctx.obj
    value = update_schemas(console.memory())
    if not value.written:
        console.say("Every schema is as this version has it.")
    console.emit("schema update", value, lambda updated, _: "\n".join(updated.written))


@schema_app.command("print")
def schema_print(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A name from: thunderus-mem schema list")],
) -> None:
    """Print a JSON Schema (2020-12), or the SQL schema of the index."""
    console: Console = ctx.obj
    console.data(_schema_text(name).rstrip("\n"))


def _schema_names() -> list[str]:
    return [*SCHEMA_NAMES, INDEX, "config", "gardener"]


def _schema_text(name: str) -> str:
    names = _schema_names()
    bare = name.removesuffix(".schema.json").removesuffix(".toml").removesuffix(".sql")
    for known in names:
        if bare in (known, known.partition(".")[0]):
            if known in ("config", "gardener"):
                return dumps(config_schema(f"{known}.toml"))
            return schema_text(known)
    raise NotFound(f"There is no schema {name}.", hint=f"Schemas: {', '.join(names)}")


# ``hooks``

hooks_app = typer.Typer(no_args_is_help=True)
app.add_typer(hooks_app, name="hooks")

_HOOK = typer.Argument(help="The hook; only pre-commit so far.")
_HOOK_STATES = {
    "installed": "is installed",
    "outdated": "is installed, by another version or place of this tool",
    "absent": "is not installed",
    "foreign": "is not installed; another hook is there",
    "elsewhere": "is not installed; core.hooksPath sends git elsewhere",
}


@hooks_app.command("install")
def hooks_install(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Check staged memory before each commit. A hook that is there already keeps its text and still runs."""
    console: Console = ctx.obj
    console.emit("hooks install", hooks.install(_git(console), hook), _hook_status)


@hooks_app.command("uninstall")
def hooks_uninstall(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Take the check out again; what was there before is as it was."""
    console: Console = ctx.obj
    console.emit("hooks uninstall", hooks.uninstall(_git(console), hook), _hook_status)


@hooks_app.command("status")
def hooks_status(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> int:
    """Say whether the hook is installed; exits with 1 when it is not."""
    console: Console = ctx.obj
    value = hooks.status(_git(console), hook)
    console.emit("hooks status", value, _hook_status)
    return int(value.state != "installed")


@hooks_app.command("run")
def hooks_run(
    ctx: typer.Context,
    hook: Annotated[str, _HOOK] = "pre-commit",
    from_hook: Annotated[bool, typer.Option("--hook", hidden=True)] = False,
) -> int:
    """Run the check as git would: the staged text. Exits with 1 when an error is found."""
    console: Console = ctx.obj
    value = hooks.run(hook, lambda: _staged_findings(console))
    console.emit("hooks run", value, _hook_run)
    if value.blocked:
        console.say("The commit is stopped. `git commit --no-verify` goes past this check.")
        return hooks.BLOCKED if from_hook else 1
    return 0


def _staged_findings(console: Console) -> Iterable[Diagnostic]:
    """Lint what is staged in every store of the repository, with paths from its top; nothing outside git."""
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
            for found in lint(memory, staged=True).diagnostics:
                yield found._replace(path=folder + found.path)
            for found in _made_false(memory):
                yield found._replace(path=folder + found.path)


def _stores_above(toplevel: str, staged: Iterable[str]) -> set[str]:
    """The folders of memories that may talk about staged files: those that hold them."""
    folders = {"", *(path[:at] for path in staged for at, char in enumerate(path, 1) if char == "/")}
    return {folder for folder in folders if os.path.isdir(os.path.join(toplevel, folder, MEMORY))}


def _made_false(memory: Memory) -> Iterable[Diagnostic]:
    """What the staged change of the code makes false."""
    memory.refresh()
    if not memory.index.has_anchors():
        return ()
    return diagnostics(memory, check_staged(memory))


def _git(console: Console) -> Git:
    found, reason = look_for_git(console.start, console.environ)
    if found is None:
        raise NotFound(f"There is no git repository here: {reason}.", hint="Run `git init` first.")
    return found


def _hook_status(value: hooks.HookStatus, console: Console) -> str:
    line = f"The {value.hook} hook {_HOOK_STATES[value.state]}: {value.path}"
    return f"{line}\n{value.note}" if value.note else line


def _hook_run(value: hooks.HookRun, console: Console) -> str:
    """What stops the commit, and what it makes false, whole; else one line: a hook that talks at every commit
    is soon not read."""
    errors = [one for one in value.diagnostics if one.severity is Severity.ERROR]
    false = [one for one in value.diagnostics if one.rule in MADE_FALSE and one not in errors]
    rest = [one for one in value.diagnostics if one not in errors and one not in false]
    warnings = sum(one.severity is Severity.WARNING for one in rest)
    notes = len(rest) - warnings
    others = [counted(warnings, "warning") if warnings else "", counted(notes, "note") if notes else ""]
    told = " and ".join(filter(None, others))
    lines = [f"{told}; to read: thunderus-mem lint --staged"] if told and (warnings or errors) else []
    if false:
        lines.append("The code changes under what these say; to look: thunderus-mem check --staged -p")
    return "\n".join([*report([*errors, *false], "concise").splitlines(), *lines])


# ``watch``


@app.command("watch")
def watch_command(
    ctx: typer.Context,
    poll: Annotated[
        bool | None,
        typer.Option("--poll/--no-poll", help="Look at intervals (network folders); see `watch.poll`."),
    ] = None,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.1, help="How often to look with --poll.")
    ] = 1.0,
) -> None:
    """Keep the index fresh while files change, and print what the changed documents have wrong.

    Ctrl-C ends it. With --json every look that found something prints one JSON document.
    """
    console: Console = ctx.obj

    def tell(turn: WatchTurn) -> None:
        console.emit("watch", turn, _turn)
        console.flush()

    def say(text: str) -> None:
        console.say(text)
        console.flush()

    memory = WatchedMemory(console.memory)
    config = memory.config
    watch(
        memory,
        tell,
        say,
        threading.Event(),
        poll=config.watch_poll if poll is None else poll,
        every=every,
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
    return "\n".join(lines)
