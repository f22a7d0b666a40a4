"""The table of commands: name, the module that has it, one line of help, and the value it prints.

The top page of help and the "did you mean" need only this table; a command's module is imported when asked.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command_from_info, get_group_from_info

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

    from thunderus_mem.cli.console import Console


class CommandEntry(NamedTuple):
    """One command or group of commands. ``values`` name the types behind ``--json``, by
    subcommand, as a module of this package and a name.

    What ``pages`` may be longer than a screen, and goes through the pager then.
    A ``hidden`` one is for programs to call: neither the top page of help nor a completion offers it.
    """

    name: str
    module: str
    help: str
    section: str
    values: tuple[tuple[str, str], ...] = ()
    pages: bool = False
    hidden: bool = False


_WRITE, _READ, _CHECK, _KEEP, _GROW = "Write", "Read", "Check", "Look after", "Bring in and follow"

_WRITTEN = "memory.transaction:Written"
_ARCHIVED = "authoring.edit:Archived"
_DECIDED = "review.decisions:Decided"
_LINT_REPORT = "lint.lint:LintReport"
_HOOK_STATUS = "hooks:HookStatus"
_REFRESHED = "index.refresh:Refreshed"

COMMANDS: Final[tuple[CommandEntry, ...]] = (
    CommandEntry(
        "add", "write", "Add a document: a fact, decision, playbook or recap.", _WRITE, (("", _WRITTEN),)
    ),
    CommandEntry(
        "anchor",
        "code",
        "Tie a document to the code it talks about.",
        _WRITE,
        (("", "authoring.anchor:Anchoring"), ("suggest", "verdicts.suggest:Suggestions")),
    ),
    CommandEntry(
        "archive",
        "write",
        "Set documents aside; search and list leave them out.",
        _WRITE,
        (("", _ARCHIVED),),
    ),
    CommandEntry("edit", "write", "Change a document's text or fields.", _WRITE, (("", _WRITTEN),)),
    CommandEntry("link", "write", "Link one document to another.", _WRITE, (("", _WRITTEN),)),
    CommandEntry("note", "write", "Write a note into the log.", _WRITE, (("", "authoring.edit:Noted"),)),
    CommandEntry(
        "record", "write", "Log what was edited by hand.", _WRITE, (("", "authoring.edit:Recorded"),)
    ),
    CommandEntry("remove", "write", "Remove a document; the log keeps its text.", _WRITE, (("", _WRITTEN),)),
    CommandEntry(
        "rename",
        "write",
        "Give a document another id; what names it follows.",
        _WRITE,
        (("", "authoring.rename:Renamed"),),
    ),
    CommandEntry(
        "resolve",
        "undo",
        "Settle what a merge left in conflict.",
        _WRITE,
        (("", "merge.resolve:Resolved"),),
    ),
    CommandEntry("supersede", "write", "Say that one document replaces another.", _WRITE, (("", _WRITTEN),)),
    CommandEntry("unarchive", "write", "Bring documents back from the archive.", _WRITE, (("", _ARCHIVED),)),
    CommandEntry(
        "undo",
        "undo",
        "Take back the last change, as a new event.",
        _WRITE,
        (("", "history.undo:Undone"),),
    ),
    CommandEntry(
        "patch",
        "review",
        "Look at what waits for review, and decide.",
        _WRITE,
        (
            ("list", "review.queue:ProposalListing"),
            ("show", "review.queue:ShownProposal"),
            ("approve", _DECIDED),
            ("reject", _DECIDED),
            ("rebase", "review.queue:Rebasing"),
            ("expire", _DECIDED),
        ),
        pages=True,
    ),
    CommandEntry(
        "restore",
        "garden",
        "Go back to before a run of the gardener.",
        _WRITE,
        (("", "history.undo:Undone"), ("listed", "history.undo:SnapshotList")),
        pages=True,
    ),
    CommandEntry(
        "search",
        "search",
        "Find passages by words, phrases and filters.",
        _READ,
        (("", "search.search:SearchResult"),),
        pages=True,
    ),
    CommandEntry("show", "read", "Print a document.", _READ, (("", "authoring.show:Shown"),), pages=True),
    CommandEntry("list", "read", "List documents.", _READ, (("", "authoring.show:Listing"),), pages=True),
    CommandEntry(
        "status",
        "read",
        "What there is, what is stale, and what to do next.",
        _READ,
        (("", "authoring.show:StatusReport"),),
    ),
    CommandEntry(
        "log",
        "read",
        "What happened to the memory, or to one document.",
        _READ,
        (("", "history.log:LogListing"),),
        pages=True,
    ),
    CommandEntry(
        "why",
        "why",
        "Where a document comes from.",
        _READ,
        (("", "history.log:WhyReport"),),
        pages=True,
    ),
    CommandEntry(
        "blame",
        "why",
        "Which event or commit last changed each line.",
        _READ,
        (("", "history.blame:BlameReport"),),
    ),
    CommandEntry(
        "for",
        "code",
        "Which memories govern this code.",
        _READ,
        (("", "verdicts.lookup:Governed"),),
        pages=True,
    ),
    CommandEntry(
        "coverage",
        "code",
        "Which code has memories, and which memories no code.",
        _READ,
        (("", "verdicts.lookup:Coverage"),),
        pages=True,
    ),
    CommandEntry(
        "events",
        "log",
        "Add to the log, read, verify, replay and export it.",
        _READ,
        (
            ("add", "interop.events:AddedEvents"),
            ("list", "history.log:LogListing"),
            ("show", "history.log:ShownEvent"),
            ("verify", "history.log:VerifyReport"),
            ("replay", "history.replay:ReplayReport"),
            ("export", "interop.events:Exported"),
        ),
        pages=True,
    ),
    CommandEntry(
        "check",
        "code",
        "Tell which memories the code does not support.",
        _CHECK,
        (("", "lint.check:CheckReport"),),
        pages=True,
    ),
    CommandEntry(
        "verify",
        "code",
        "Confirm that documents are right about the code.",
        _CHECK,
        (
            ("", "authoring.verify:Verification"),
            ("check", "authoring.verify:Drift"),
            ("fix_moved", "authoring.verify:Moves"),
        ),
    ),
    CommandEntry(
        "lint", "lint", "Check documents, manifest and log.", _CHECK, (("", _LINT_REPORT),), pages=True
    ),
    CommandEntry(
        "rule",
        "lint",
        "Explain a lint rule.",
        _CHECK,
        (("", "cli.commands.lint:RulePage"),),
        pages=True,
    ),
    CommandEntry(
        "schema",
        "lint",
        "Print the schemas documents and events follow.",
        _CHECK,
        (("list", "cli.commands.lint:SchemaList"), ("update", "authoring.init:SchemasUpdated")),
    ),
    CommandEntry(
        "doctor",
        "store",
        "Check the store and its surroundings.",
        _CHECK,
        (("", "doctor.context:DoctorReport"), ("fix", "doctor.context:Treatment")),
    ),
    CommandEntry(
        "init", "store", "Make a memory in this folder.", _KEEP, (("", "authoring.init:Initialised"),)
    ),
    CommandEntry(
        "migrate",
        "interop",
        "Bring an older store up to date.",
        _KEEP,
        (("", "interop.thunderus:MigrationReport"),),
    ),
    CommandEntry(
        "config",
        "store",
        "Show settings and where they come from.",
        _KEEP,
        (("show", "cli.commands.store:Settings"),),
    ),
    CommandEntry(
        "index",
        "store",
        "Look after the full-text index.",
        _KEEP,
        (
            ("status", "doctor.upkeep:IndexStatus"),
            ("refresh", _REFRESHED),
            ("rebuild", _REFRESHED),
            ("verify", "doctor.upkeep:IndexProof"),
        ),
    ),
    CommandEntry(
        "manifest", "store", "Write or check the manifest.", _KEEP, (("", "doctor.upkeep:ManifestReport"),)
    ),
    CommandEntry(
        "garden",
        "garden",
        "Plan and do the tidying: duplicates, links, tags, archive.",
        _KEEP,
        (
            ("", "garden.apply:PlanReport"),
            ("apply", "garden.apply:Applied"),
            ("propose", "garden.apply:Filed"),
            ("undo", "history.undo:Undone"),
        ),
        pages=True,
    ),
    CommandEntry("recap", "garden", "Write a recap of a day.", _KEEP, (("", _WRITTEN),)),
    CommandEntry("completion", "store", "Print the completion script of a shell.", _KEEP),
    CommandEntry(
        "import",
        "interop",
        "Bring in an existing folder of Markdown.",
        _GROW,
        (("markdown", "interop.markdown:ImportReport"),),
    ),
    CommandEntry(
        "hooks",
        "hooks",
        "Install or remove the git pre-commit hook.",
        _GROW,
        (
            ("install", _HOOK_STATUS),
            ("uninstall", _HOOK_STATUS),
            ("status", _HOOK_STATUS),
            ("run", "hooks:HookRun"),
        ),
    ),
    CommandEntry(
        "merge-driver",
        "undo",
        "Merge one document for git.",
        _GROW,
        (("", "merge.resolve:Driven"),),
        hidden=True,
    ),
    CommandEntry(
        "watch", "hooks", "Keep the index fresh while files change.", _GROW, (("", "watch:WatchTurn"),)
    ),
)

BY_NAME: Final[dict[str, CommandEntry]] = {entry.name: entry for entry in COMMANDS}


# The tree of commands, grown only as far as the asked command needs.
#
# A command family is a module with ``app = typer.Typer()``, commands registered on it by name
# (``@app.command("add")``) and groups added by name (``app.add_typer(…, name="index")``).

_PACKAGE = "thunderus_mem.cli.commands"


class LazyGroup(TyperGroup):
    """The top group: knows names and one-line helps, loads one command's module when it is asked."""

    def list_commands(self, ctx: Context) -> list[str]:
        """All command names, in the order of the table."""
        return [entry.name for entry in COMMANDS if not entry.hidden]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command of that name, converted now; ``None`` when there is none."""
        entry = BY_NAME.get(cmd_name)
        return load_command(entry) if entry else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; a wrong name gets the nearest right one."""
        name = args[0]
        if name not in BY_NAME and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), n=3, cutoff=0.5)
            near.sort(key=lambda known: sorted(known) != sorted(name))  # letters swapped: surely that one
            ctx.fail(f"There is no command {name}." + (f" Did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The commands in their sections, without importing any of them."""
        shown = [entry for entry in COMMANDS if not entry.hidden]
        width = max(len(entry.name) for entry in shown)
        for section in dict.fromkeys(entry.section for entry in shown):
            with formatter.section(section):
                rows = [(e.name.ljust(width), e.help) for e in shown if e.section == section]
                formatter.write_dl(rows)


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and convert that command alone."""
    module = importlib.import_module(f"{_PACKAGE}.{entry.module}")
    app: typer.Typer = module.app
    for info in app.registered_commands:
        if info.name == entry.name:
            return _with_globals(
                get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None), entry
            )
    for group in app.registered_groups:
        if group.name == entry.name:
            made = get_group_from_info(
                group, pretty_exceptions_short=False, rich_markup_mode=None, suggest_commands=True
            )
            made.commands = {name: _with_globals(command, entry) for name, command in made.commands.items()}
            return cast("Command", made)
    raise LookupError(f"{entry.module} has no command {entry.name}")


_FLAGS = (
    ("json", ("--json",), "Print one JSON document."),
    ("plain", ("--plain",), "Print tab-separated fields, one record a line."),
    ("color", ("--color",), "Colour: auto, always or never."),
    ("quiet", ("-q", "--quiet"), "Say nothing but data and errors."),
    ("no_input", ("--no-input",), "Never ask and never open an editor."),
)
_NO_PAGER = ("no_pager", ("--no-pager",), "Print long output at once.")


def _with_globals(command: Command, entry: CommandEntry) -> Command:
    """Let the global switches stand after the command too, where people and agents put them."""
    taken = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    for field, names, text in (*_FLAGS, _NO_PAGER) if entry.pages else _FLAGS:
        free = [name for name in names if name not in taken]
        if free and free[-1].startswith("--"):
            command.params.append(cast("Any", _switch(field, free, text)))
    return command


def _switch(field: str, names: list[str], text: str) -> TyperOption:
    def take(ctx: Context, parameter: object, value: bool | str | None) -> None:
        if value:
            ctx.obj.switch(field, value)

    flag = field != "color"
    return TyperOption(
        param_decls=[*names],
        is_flag=flag,
        default=False if flag else None,
        metavar=None if flag else "WHEN",
        expose_value=False,
        callback=take,
        help=text,
    )


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="COMMAND …",
)


@app.callback(invoke_without_command=True)
def top(
    ctx: typer.Context,
    directory: Annotated[
        str, typer.Option("-C", metavar="DIR", help="Work as if started in DIR.", show_default=False)
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    color: Annotated[
        str, typer.Option("--color", metavar="WHEN", help="Colour: auto, always or never.")
    ] = "auto",
    plain: Annotated[
        bool, typer.Option("--plain", help="Print tab-separated fields, one record a line.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but data and errors.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Never ask and never open an editor.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Print long output at once.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Repository memory: Markdown beside the code, found in milliseconds, with provenance."""
    console: Console = ctx.obj
    console.configure(
        directory=directory,
        color=color,
        json=json or console.json,
        plain=plain,
        quiet=quiet,
        no_input=no_input,
        no_pager=no_pager,
    )
    if version:
        console.version()
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        console.data(ctx.get_help())


def root() -> TyperGroup:
    """The top group, ready to parse."""
    return typer.main.get_group(app)
