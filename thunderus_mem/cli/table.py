"""The table of commands: name, the module that has it, one line of help, and the value it prints.

The top page of help, completion and the "did you mean" need only this table; a command's module is imported
when asked. A group of commands has its help from here.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class CommandEntry(NamedTuple):
    """One command or group of commands.

    What ``pages`` may be longer than a screen, and goes through the pager then. ``completes`` says whose ids
    its arguments are: documents, events or snapshots.
    A ``hidden`` one is for programs to call: neither the top page of help nor a completion offers it.
    """

    name: str
    module: str
    help: str
    completes: str = ""
    pages: bool = False
    hidden: bool = False
    section: str = ""


class GlobalOption(NamedTuple):
    """An option of the program itself: the console's switch it sets, its names, its help."""

    switch: str
    names: tuple[str, ...]
    help: str
    metavar: str | None = None


GLOBAL_OPTIONS: Final = (
    GlobalOption("directory", ("-C",), "Work as if started in DIR.", "DIR"),
    GlobalOption("json", ("--json",), "Print one JSON document."),
    GlobalOption("color", ("--color",), "Colour: auto, always or never.", "WHEN"),
    GlobalOption("plain", ("--plain",), "Print tab-separated fields, one record a line."),
    GlobalOption("quiet", ("-q", "--quiet"), "Say nothing but data and errors."),
    GlobalOption("no_input", ("--no-input",), "Never ask and never open an editor."),
    GlobalOption("no_pager", ("--no-pager",), "Print long output at once."),
    GlobalOption("version", ("--version",), "Print the version."),
)

_SECTIONS: Final[dict[str, tuple[CommandEntry, ...]]] = {
    "Write": (
        CommandEntry("add", "write", "Add a document: a fact, decision, playbook or recap."),
        CommandEntry("anchor", "code", "Tie a document to the code it talks about.", completes="documents"),
        CommandEntry(
            "archive", "write", "Set documents aside; search and list leave them out.", completes="documents"
        ),
        CommandEntry("edit", "write", "Change a document's text or fields.", completes="documents"),
        CommandEntry("link", "write", "Link one document to another.", completes="documents"),
        CommandEntry("note", "write", "Write a note into the log."),
        CommandEntry("record", "write", "Log what was edited by hand."),
        CommandEntry("remove", "write", "Remove a document; the log keeps its text.", completes="documents"),
        CommandEntry(
            "rename", "write", "Give a document another id; what names it follows.", completes="documents"
        ),
        CommandEntry("resolve", "undo", "Settle what a merge left in conflict.", completes="documents"),
        CommandEntry("supersede", "write", "Say that one document replaces another.", completes="documents"),
        CommandEntry("unarchive", "write", "Bring documents back from the archive.", completes="documents"),
        CommandEntry("undo", "undo", "Take back the last change, as a new event.", completes="events"),
        CommandEntry("patch", "review", "Look at what waits for review, and decide.", pages=True),
        CommandEntry(
            "restore", "undo", "Go back to before a run of the gardener.", completes="snapshots", pages=True
        ),
    ),
    "Read": (
        CommandEntry("search", "search", "Find passages by words, phrases and filters.", pages=True),
        CommandEntry("show", "read", "Print a document.", completes="documents", pages=True),
        CommandEntry("list", "read", "List documents.", pages=True),
        CommandEntry("status", "read", "What there is, what is stale, and what to do next."),
        CommandEntry(
            "log",
            "log",
            "What happened to the memory, or to one document.",
            completes="documents",
            pages=True,
        ),
        CommandEntry("why", "log", "Where a document comes from.", completes="documents", pages=True),
        CommandEntry("blame", "log", "Which event or commit last changed each line.", completes="documents"),
        CommandEntry("for", "code", "Which memories govern this code.", pages=True),
        CommandEntry("coverage", "code", "Which code has memories, and which memories no code.", pages=True),
        CommandEntry("events", "log", "Add to the log, read, verify, replay and export it.", pages=True),
    ),
    "Check": (
        CommandEntry(
            "check",
            "code",
            "Tell which memories the code does not support.",
            completes="documents",
            pages=True,
        ),
        CommandEntry(
            "verify", "code", "Confirm that documents are right about the code.", completes="documents"
        ),
        CommandEntry("lint", "lint", "Check documents, manifest and log.", pages=True),
        CommandEntry("rule", "lint", "Explain a lint rule.", pages=True),
        CommandEntry("schema", "lint", "Print the schemas documents and events follow."),
        CommandEntry("doctor", "store", "Check the store and its surroundings."),
    ),
    "Look after": (
        CommandEntry("init", "store", "Make a memory in this folder."),
        CommandEntry("migrate", "store", "Bring an older store up to date."),
        CommandEntry("config", "store", "Show settings and where they come from."),
        CommandEntry("index", "store", "Look after the full-text index."),
        CommandEntry("manifest", "store", "Write or check the manifest."),
        CommandEntry(
            "garden", "garden", "Plan and do the tidying: duplicates, links, tags, archive.", pages=True
        ),
        CommandEntry("recap", "garden", "Write a recap of a day."),
        CommandEntry("completion", "store", "Print the completion script of a shell."),
    ),
    "Bring in and follow": (
        CommandEntry("import", "store", "Bring in an existing folder of Markdown."),
        CommandEntry("hooks", "lint", "Install or remove the git pre-commit hook."),
        CommandEntry("merge-driver", "undo", "Merge one document for git.", hidden=True),
        CommandEntry("watch", "lint", "Keep the index fresh while files change."),
    ),
}
COMMANDS: Final = tuple(
    entry._replace(section=section) for section, entries in _SECTIONS.items() for entry in entries
)

BY_NAME: Final[dict[str, CommandEntry]] = {entry.name: entry for entry in COMMANDS}

VALUES: Final[dict[str, str]] = {
    "add": "memory.transaction:Written",
    "anchor": "authoring.anchor:Anchoring",
    "anchor suggest": "verdicts.suggest:Suggestions",
    "archive": "authoring.edit:Archived",
    "edit": "memory.transaction:Written",
    "link": "memory.transaction:Written",
    "note": "authoring.edit:Noted",
    "record": "authoring.edit:Recorded",
    "remove": "memory.transaction:Written",
    "rename": "authoring.rename:Renamed",
    "resolve": "merge.resolve:Resolved",
    "supersede": "memory.transaction:Written",
    "unarchive": "authoring.edit:Archived",
    "undo": "history.undo:Undone",
    "patch list": "review.queue:ProposalListing",
    "patch show": "review.queue:ShownProposal",
    "patch approve": "review.decisions:Decided",
    "patch reject": "review.decisions:Decided",
    "patch rebase": "review.queue:RebaseReport",
    "patch expire": "review.decisions:Decided",
    "restore": "history.undo:Undone",
    "restore listed": "history.undo:SnapshotList",
    "search": "search.search:SearchResult",
    "show": "authoring.show:Shown",
    "list": "authoring.show:Listing",
    "status": "authoring.show:StatusReport",
    "log": "history.log:LogListing",
    "why": "history.why:WhyReport",
    "blame": "history.blame:BlameReport",
    "for": "verdicts.lookup:Governed",
    "coverage": "verdicts.lookup:Coverage",
    "events add": "interop.events:AddedEvents",
    "events list": "history.log:LogListing",
    "events show": "history.log:ShownEvent",
    "events verify": "history.log:VerifyReport",
    "events replay": "history.replay:ReplayReport",
    "events export": "interop.events:Exported",
    "check": "lint.check:CheckReport",
    "verify": "authoring.anchor:Verification",
    "verify check": "authoring.anchor:Drift",
    "verify fix_moved": "authoring.anchor:Moves",
    "lint": "lint.lint:LintReport",
    "rule": "cli.commands.lint:RulePage",
    "schema list": "cli.commands.lint:SchemaList",
    "schema update": "authoring.init:SchemasUpdated",
    "doctor": "doctor.checks:DoctorReport",
    "doctor fix": "doctor.fix:FixReport",
    "init": "authoring.init:Initialised",
    "migrate": "interop.thunderus:MigrationReport",
    "config show": "cli.commands.store:Settings",
    "index status": "doctor.upkeep:IndexStatus",
    "index refresh": "index.refresh:Refreshed",
    "index rebuild": "index.refresh:Refreshed",
    "index verify": "doctor.upkeep:IndexProof",
    "manifest": "doctor.upkeep:ManifestReport",
    "garden": "garden.apply:PlanReport",
    "garden apply": "garden.apply:Applied",
    "garden propose": "garden.apply:Filed",
    "garden undo": "history.undo:Undone",
    "recap": "memory.transaction:Written",
    "import markdown": "interop.markdown:ImportReport",
    "hooks install": "hooks:HookStatus",
    "hooks uninstall": "hooks:HookStatus",
    "hooks status": "hooks:HookStatus",
    "hooks run": "hooks:HookRun",
    "merge-driver": "merge.resolve:Driven",
    "watch": "watch:WatchTurn",
}
"""Command, or group and command → the type behind ``--json``, as a module of this package and a name."""
