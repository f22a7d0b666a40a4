"""The table of commands: name, the module that has it, one line of help, and the value it prints.

The top page of help, completion and the "did you mean" need only this table; a command's module is imported
when asked. A group of commands has its help from here.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class CommandEntry(NamedTuple):
    """One command or group of commands. ``values`` name the types behind ``--json``, by
    subcommand, as a module of this package and a name.

    What ``pages`` may be longer than a screen, and goes through the pager then. ``completes`` says whose ids
    its arguments are: documents, events or snapshots.
    A ``hidden`` one is for programs to call: neither the top page of help nor a completion offers it.
    """

    name: str
    module: str
    help: str
    section: str
    values: tuple[tuple[str, str], ...] = ()
    pages: bool = False
    completes: str = ""
    hidden: bool = False


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
        completes="documents",
    ),
    CommandEntry(
        "archive",
        "write",
        "Set documents aside; search and list leave them out.",
        _WRITE,
        (("", _ARCHIVED),),
        completes="documents",
    ),
    CommandEntry(
        "edit",
        "write",
        "Change a document's text or fields.",
        _WRITE,
        (("", _WRITTEN),),
        completes="documents",
    ),
    CommandEntry(
        "link", "write", "Link one document to another.", _WRITE, (("", _WRITTEN),), completes="documents"
    ),
    CommandEntry("note", "write", "Write a note into the log.", _WRITE, (("", "authoring.edit:Noted"),)),
    CommandEntry(
        "record", "write", "Log what was edited by hand.", _WRITE, (("", "authoring.edit:Recorded"),)
    ),
    CommandEntry(
        "remove",
        "write",
        "Remove a document; the log keeps its text.",
        _WRITE,
        (("", _WRITTEN),),
        completes="documents",
    ),
    CommandEntry(
        "rename",
        "write",
        "Give a document another id; what names it follows.",
        _WRITE,
        (("", "authoring.rename:Renamed"),),
        completes="documents",
    ),
    CommandEntry(
        "resolve",
        "undo",
        "Settle what a merge left in conflict.",
        _WRITE,
        (("", "merge.resolve:Resolved"),),
        completes="documents",
    ),
    CommandEntry(
        "supersede",
        "write",
        "Say that one document replaces another.",
        _WRITE,
        (("", _WRITTEN),),
        completes="documents",
    ),
    CommandEntry(
        "unarchive",
        "write",
        "Bring documents back from the archive.",
        _WRITE,
        (("", _ARCHIVED),),
        completes="documents",
    ),
    CommandEntry(
        "undo",
        "undo",
        "Take back the last change, as a new event.",
        _WRITE,
        (("", "history.undo:Undone"),),
        completes="events",
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
            ("rebase", "review.queue:RebaseReport"),
            ("expire", _DECIDED),
        ),
        pages=True,
    ),
    CommandEntry(
        "restore",
        "undo",
        "Go back to before a run of the gardener.",
        _WRITE,
        (("", "history.undo:Undone"), ("listed", "history.undo:SnapshotList")),
        pages=True,
        completes="snapshots",
    ),
    CommandEntry(
        "search",
        "search",
        "Find passages by words, phrases and filters.",
        _READ,
        (("", "search.search:SearchResult"),),
        pages=True,
    ),
    CommandEntry(
        "show",
        "read",
        "Print a document.",
        _READ,
        (("", "authoring.show:Shown"),),
        pages=True,
        completes="documents",
    ),
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
        "log",
        "What happened to the memory, or to one document.",
        _READ,
        (("", "history.log:LogListing"),),
        pages=True,
        completes="documents",
    ),
    CommandEntry(
        "why",
        "log",
        "Where a document comes from.",
        _READ,
        (("", "history.why:WhyReport"),),
        pages=True,
        completes="documents",
    ),
    CommandEntry(
        "blame",
        "log",
        "Which event or commit last changed each line.",
        _READ,
        (("", "history.blame:BlameReport"),),
        completes="documents",
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
        completes="documents",
    ),
    CommandEntry(
        "verify",
        "code",
        "Confirm that documents are right about the code.",
        _CHECK,
        (
            ("", "authoring.anchor:Verification"),
            ("check", "authoring.anchor:Drift"),
            ("fix_moved", "authoring.anchor:Moves"),
        ),
        completes="documents",
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
        (("", "doctor.context:DoctorReport"), ("fix", "doctor.context:FixReport")),
    ),
    CommandEntry(
        "init", "store", "Make a memory in this folder.", _KEEP, (("", "authoring.init:Initialised"),)
    ),
    CommandEntry(
        "migrate",
        "store",
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
            ("status", "doctor.context:IndexStatus"),
            ("refresh", _REFRESHED),
            ("rebuild", _REFRESHED),
            ("verify", "doctor.context:IndexProof"),
        ),
    ),
    CommandEntry(
        "manifest", "store", "Write or check the manifest.", _KEEP, (("", "doctor.context:ManifestReport"),)
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
        "store",
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
