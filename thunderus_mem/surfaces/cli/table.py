"""The table of commands: name, the module that has it, one line of help, and the value it prints.

The top page of help and the "did you mean" need only this table; a command's module is imported when asked.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
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

_WRITTEN = "verbs.written:Written"
_ARCHIVED = "verbs.archiving:Archived"
_DECIDED = "verbs.decision:Decided"
_LINT_REPORT = "verbs.linting:LintReport"
_HOOK_STATUS = "surfaces.hooks:HookStatus"
_REFRESHED = "projection.refresh:Refreshed"

COMMANDS: Final[tuple[Entry, ...]] = (
    Entry(
        "add", "writing", "Add a document: a fact, decision, playbook or recap.", _WRITE, (("", _WRITTEN),)
    ),
    Entry(
        "anchor",
        "evidence",
        "Tie a document to the code it talks about.",
        _WRITE,
        (("", "verbs.anchoring:Anchoring"), ("suggest", "verbs.suggesting:Suggestions")),
    ),
    Entry(
        "archive",
        "archiving",
        "Set documents aside; search and list leave them out.",
        _WRITE,
        (("", _ARCHIVED),),
    ),
    Entry("edit", "writing", "Change a document's text or fields.", _WRITE, (("", _WRITTEN),)),
    Entry("link", "writing", "Link one document to another.", _WRITE, (("", _WRITTEN),)),
    Entry("note", "writing", "Write a note into the log.", _WRITE, (("", "verbs.writing:Noted"),)),
    Entry("record", "recording", "Log what was edited by hand.", _WRITE, (("", "verbs.recording:Recorded"),)),
    Entry("remove", "writing", "Remove a document; the log keeps its text.", _WRITE, (("", _WRITTEN),)),
    Entry(
        "rename",
        "renaming",
        "Give a document another id; what names it follows.",
        _WRITE,
        (("", "verbs.renaming:Renamed"),),
    ),
    Entry(
        "resolve",
        "resolving",
        "Settle what a merge left in conflict.",
        _WRITE,
        (("", "verbs.resolving:Resolved"),),
    ),
    Entry("supersede", "writing", "Say that one document replaces another.", _WRITE, (("", _WRITTEN),)),
    Entry("unarchive", "archiving", "Bring documents back from the archive.", _WRITE, (("", _ARCHIVED),)),
    Entry(
        "undo",
        "undoing",
        "Take back the last change, as a new event.",
        _WRITE,
        (("", "verbs.undoing:Undone"),),
    ),
    Entry(
        "patch",
        "patching",
        "Look at what waits for review, and decide.",
        _WRITE,
        (
            ("list", "verbs.proposing:ProposalListing"),
            ("show", "verbs.proposing:ShownProposal"),
            ("approve", _DECIDED),
            ("reject", _DECIDED),
            ("rebase", "verbs.proposing:Rebasing"),
            ("expire", _DECIDED),
        ),
        pages=True,
    ),
    Entry(
        "restore",
        "restoring",
        "Go back to before a run of the gardener.",
        _WRITE,
        (("", "verbs.undoing:Undone"), ("listed", "verbs.restoring:SnapshotList")),
        pages=True,
    ),
    Entry(
        "search",
        "finding",
        "Find passages by words, phrases and filters.",
        _READ,
        (("", "verbs.finding:SearchResult"),),
        pages=True,
    ),
    Entry("show", "reading", "Print a document.", _READ, (("", "verbs.reading:Shown"),), pages=True),
    Entry("list", "reading", "List documents.", _READ, (("", "verbs.reading:Listing"),), pages=True),
    Entry(
        "status",
        "reading",
        "What there is, what is stale, and what to do next.",
        _READ,
        (("", "verbs.status:StatusReport"),),
    ),
    Entry(
        "log",
        "reading",
        "What happened to the memory, or to one document.",
        _READ,
        (("", "verbs.history:LogListing"),),
        pages=True,
    ),
    Entry(
        "why",
        "tracing",
        "Where a document comes from.",
        _READ,
        (("", "verbs.history:WhyReport"),),
        pages=True,
    ),
    Entry(
        "blame",
        "tracing",
        "Which event or commit last changed each line.",
        _READ,
        (("", "verbs.blaming:BlameReport"),),
    ),
    Entry(
        "for",
        "governing",
        "Which memories govern this code.",
        _READ,
        (("", "verbs.governing:Governed"),),
        pages=True,
    ),
    Entry(
        "coverage",
        "governing",
        "Which code has memories, and which memories no code.",
        _READ,
        (("", "verbs.covering:Coverage"),),
        pages=True,
    ),
    Entry(
        "events",
        "events",
        "Add to the log, read, verify, replay and export it.",
        _READ,
        (
            ("add", "verbs.bringing:AddedEvents"),
            ("list", "verbs.history:LogListing"),
            ("show", "verbs.history:ShownEvent"),
            ("verify", "verbs.history:VerifyReport"),
            ("replay", "verbs.replaying:ReplayReport"),
            ("export", "verbs.exporting:Exported"),
        ),
        pages=True,
    ),
    Entry(
        "check",
        "code_checking",
        "Tell which memories the code does not support.",
        _CHECK,
        (("", "verbs.code_checking:CheckReport"),),
        pages=True,
    ),
    Entry(
        "verify",
        "evidence",
        "Confirm that documents are right about the code.",
        _CHECK,
        (
            ("", "verbs.verifying:Verification"),
            ("check", "verbs.verifying:Drift"),
            ("fix_moved", "verbs.verifying:Moves"),
        ),
    ),
    Entry("lint", "linting", "Check documents, manifest and log.", _CHECK, (("", _LINT_REPORT),), pages=True),
    Entry(
        "rule",
        "linting",
        "Explain a lint rule.",
        _CHECK,
        (("", "surfaces.cli.linting:RulePage"),),
        pages=True,
    ),
    Entry(
        "schema",
        "linting",
        "Print the schemas documents and events follow.",
        _CHECK,
        (("list", "surfaces.cli.linting:SchemaList"), ("update", "verbs.starting:SchemasUpdated")),
    ),
    Entry(
        "doctor",
        "upkeep",
        "Check the store and its surroundings.",
        _CHECK,
        (("", "verbs.health:DoctorReport"), ("fix", "verbs.health:Treatment")),
    ),
    Entry("init", "upkeep", "Make a memory in this folder.", _KEEP, (("", "verbs.starting:Initialised"),)),
    Entry(
        "migrate",
        "migrating",
        "Bring an older store up to date.",
        _KEEP,
        (("", "verbs.migrating:MigrationReport"),),
    ),
    Entry(
        "config",
        "settings",
        "Show settings and where they come from.",
        _KEEP,
        (("show", "surfaces.cli.settings:Settings"),),
    ),
    Entry(
        "index",
        "upkeep",
        "Look after the full-text index.",
        _KEEP,
        (
            ("status", "verbs.upkeep:IndexStatus"),
            ("refresh", _REFRESHED),
            ("rebuild", _REFRESHED),
            ("verify", "verbs.upkeep:IndexProof"),
        ),
    ),
    Entry(
        "manifest", "upkeep", "Write or check the manifest.", _KEEP, (("", "verbs.upkeep:ManifestReport"),)
    ),
    Entry(
        "garden",
        "gardening",
        "Plan and do the tidying: duplicates, links, tags, archive.",
        _KEEP,
        (
            ("", "verbs.gardened:PlanReport"),
            ("apply", "verbs.gardened:Applied"),
            ("propose", "verbs.gardened:Filed"),
            ("undo", "verbs.undoing:Undone"),
        ),
        pages=True,
    ),
    Entry("recap", "recapping", "Write a recap of a day.", _KEEP, (("", _WRITTEN),)),
    Entry("completion", "completion", "Print the completion script of a shell.", _KEEP),
    Entry(
        "import",
        "exchange",
        "Bring in an existing folder of Markdown.",
        _GROW,
        (("markdown", "verbs.exchange:ImportReport"),),
    ),
    Entry(
        "hooks",
        "hooks",
        "Install or remove the git pre-commit hook.",
        _GROW,
        (
            ("install", _HOOK_STATUS),
            ("uninstall", _HOOK_STATUS),
            ("status", _HOOK_STATUS),
            ("run", "surfaces.hooks:HookRun"),
        ),
    ),
    Entry(
        "merge-driver",
        "resolving",
        "Merge one document for git.",
        _GROW,
        (("", "verbs.merge_driver:Driven"),),
        hidden=True,
    ),
    Entry(
        "watch", "watch", "Keep the index fresh while files change.", _GROW, (("", "surfaces.watch:Turn"),)
    ),
)

BY_NAME: Final[dict[str, Entry]] = {entry.name: entry for entry in COMMANDS}
