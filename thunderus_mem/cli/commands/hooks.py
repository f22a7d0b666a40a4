"""``hooks install|uninstall|status|run`` and ``watch``: the checks that run by themselves, at each commit and
while files change.

`hooks run` reads what is staged, in every store of the repository, and stands in the way of each commit, so
it imports the rest of the program only where it is needed. `watch` keeps the index fresh.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem import hooks
from thunderus_mem.cli.report import report
from thunderus_mem.errors import NoStore, NotFound
from thunderus_mem.git.repository import Git, look_for_git
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.watch import Debounce, WatchedMemory, WatchTurn, watch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.cli.console import Console
    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.hooks import HookRun, HookStatus
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()

# ``hooks``

hooks_app = typer.Typer(no_args_is_help=True)
app.add_typer(hooks_app, name="hooks")

_HOOK = typer.Argument(help="The hook; only pre-commit so far.")
_SAID = {
    "installed": "is installed",
    "outdated": "is installed, by another version or place of this tool",
    "absent": "is not installed",
    "foreign": "is not installed; another hook is there",
    "elsewhere": "is not installed; core.hooksPath sends git elsewhere",
}


@hooks_app.command("install")
def install(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Check staged memory before each commit. A hook that is there already keeps its text and still runs."""
    console: Console = ctx.obj
    console.emit("hooks install", hooks.install(_git(console), hook), _status)


@hooks_app.command("uninstall")
def uninstall(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> None:
    """Take the check out again; what was there before is as it was."""
    console: Console = ctx.obj
    console.emit("hooks uninstall", hooks.uninstall(_git(console), hook), _status)


@hooks_app.command("status")
def status(ctx: typer.Context, hook: Annotated[str, _HOOK] = "pre-commit") -> int:
    """Say whether the hook is installed; exits with 1 when it is not."""
    console: Console = ctx.obj
    value = hooks.status(_git(console), hook)
    console.emit("hooks status", value, _status)
    return int(value.state != "installed")


@hooks_app.command("run")
def run(
    ctx: typer.Context,
    hook: Annotated[str, _HOOK] = "pre-commit",
    from_hook: Annotated[bool, typer.Option("--hook", hidden=True)] = False,
) -> int:
    """Run the check as git would: the staged text. Exits with 1 when an error is found."""
    console: Console = ctx.obj
    value = hooks.run(hook, lambda: _staged_findings(console))
    console.emit("hooks run", value, _run)
    if value.blocked:
        console.say("The commit is stopped. `git commit --no-verify` goes past this check.")
        return hooks.BLOCKED if from_hook else 1
    return 0


def _staged_findings(console: Console) -> Iterable[Diagnostic]:
    """Lint what is staged in every store of the repository, with paths from its top; nothing outside git."""

    from thunderus_mem.lint.lint import lint

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
    from thunderus_mem.lint.check import check_staged, diagnostics

    return diagnostics(memory, check_staged(memory))


def _git(console: Console) -> Git:
    found, reason = look_for_git(console.start, console.environ)
    if found is None:
        raise NotFound(f"There is no git repository here: {reason}.", hint="Run `git init` first.")
    return found


def _status(value: HookStatus, console: Console) -> str:
    line = f"The {value.hook} hook {_SAID[value.state]}: {value.path}"
    return f"{line}\n{value.note}" if value.note else line


def _run(value: HookRun, console: Console) -> str:
    """What stops the commit, and what it makes false, whole; else one line: a hook that talks at every commit
    is soon not read."""
    from thunderus_mem.cli.report import report
    from thunderus_mem.cli.text import counted
    from thunderus_mem.diagnostic import Severity
    from thunderus_mem.lint.check import MADE_FALSE

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
