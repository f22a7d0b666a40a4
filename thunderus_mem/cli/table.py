"""The table of commands: name, module, one line of help, and the value it prints.

The top-level help, completion and "did you mean" need only this table; a command's module is imported when
the command is used. The help line of a command group is here too.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.startup import NamedTuple

_ANYWHERE: Final = ("json", "pretty", "color", "quiet", "no_input")


class CommandEntry(NamedTuple):
    """One command or group of commands.

    ``pages``: the output may be longer than a screen and then goes through the pager. ``completes``: which
    ids its arguments are (documents, or changes: patches and snapshots). ``acts``: it logs who acted.
    ``hidden``: called by other programs, so omitted from help and completion.
    """

    name: str
    module: str
    help: str
    completes: str = ""
    pages: bool = False
    acts: bool = False
    hidden: bool = False
    section: str = ""

    @property
    def switches(self) -> tuple[str, ...]:
        """The global options that are accepted after the command too, where people and agents put them."""
        return (*_ANYWHERE, *(["no_pager"] if self.pages else []), *(["actor"] if self.acts else []))


class GlobalOption(NamedTuple):
    """A global option: the `Console` attribute it sets, its names, its help."""

    switch: str
    names: tuple[str, ...]
    help: str
    metavar: str | None = None


GLOBAL_OPTIONS: Final = (
    GlobalOption("directory", ("-C",), "Run as if started in DIR.", "DIR"),
    GlobalOption("json", ("--json",), "Print the result as JSON."),
    GlobalOption("pretty", ("--pretty",), "Print the result as indented JSON."),
    GlobalOption("color", ("--color",), "When to use color: auto, always or never.", "WHEN"),
    GlobalOption("quiet", ("-q", "--quiet"), "Print only data and errors."),
    GlobalOption("no_input", ("--no-input",), "Never open a prompt, an editor or a pager."),
    GlobalOption("no_pager", ("--no-pager",), "Do not use a pager."),
    GlobalOption(
        "actor",
        ("--actor",),
        "Who acts: user, agent or tool; default: THUNDERUS_MEM_ACTOR, or detected.",
        "WHO",
    ),
    GlobalOption("everything", ("--all",), "With --help, show all commands and options."),
    GlobalOption("version", ("--version",), "Print the version."),
)

EVERY_DAY, BEGIN, LOOK_BACK = "Every day", "Begin", "Look back"
FIRST_PAGE: Final = (EVERY_DAY, BEGIN, LOOK_BACK)
"""The sections of the first help page; ``--help --all`` shows the others too."""

_SECTIONS: Final[dict[str, tuple[CommandEntry, ...]]] = {
    EVERY_DAY: (
        CommandEntry("search", "search", "Find passages by words, phrases and filters.", pages=True),
        CommandEntry("show", "read", "Print a document.", completes="documents", pages=True),
        CommandEntry("list", "read", "List documents.", pages=True),
        CommandEntry("for", "search", "List the documents about a piece of code.", pages=True),
        CommandEntry("add", "write", "Add a document: core, fact, adr, playbook or recap.", acts=True),
        CommandEntry(
            "edit", "write", "Change a document's text or fields.", completes="documents", acts=True
        ),
        CommandEntry(
            "check", "code", "List documents that may be out of date.", completes="documents", pages=True
        ),
        CommandEntry(
            "verify",
            "code",
            "Confirm that documents match the current code.",
            completes="documents",
            acts=True,
        ),
    ),
    BEGIN: (
        CommandEntry("init", "store", "Create a memory in this folder.", acts=True),
        CommandEntry("import", "exchange", "Import Markdown, or the memory of another program.", acts=True),
        CommandEntry(
            "hooks", "lint", "Lint staged documents before each commit: install or run the git hook."
        ),
    ),
    LOOK_BACK: (
        CommandEntry("status", "read", "Show counts, problems and the next step."),
        CommandEntry(
            "log",
            "log",
            "Show the history of the memory, or of one document.",
            completes="documents",
            pages=True,
        ),
        CommandEntry(
            "why",
            "log",
            "Show where a document, or each of its lines, comes from.",
            completes="documents",
            pages=True,
        ),
        CommandEntry(
            "undo", "undo", "Undo a change or a gardener run.", completes="changes", pages=True, acts=True
        ),
    ),
    "For agents": (CommandEntry("context", "context", "Print the passages that help with a task."),),
    "Change documents": (
        CommandEntry(
            "anchor",
            "code",
            "Anchor a document to the code it describes.",
            completes="documents",
            acts=True,
        ),
        CommandEntry("link", "write", "Link one document to another.", completes="documents", acts=True),
        CommandEntry(
            "supersede",
            "write",
            "Mark a document as replaced by another.",
            completes="documents",
            acts=True,
        ),
        CommandEntry(
            "rename",
            "write",
            "Change a document's id and update references to it.",
            completes="documents",
            acts=True,
        ),
        CommandEntry(
            "archive",
            "write",
            "Archive documents, so that search and list omit them, or undo that.",
            completes="documents",
            acts=True,
        ),
        CommandEntry(
            "remove",
            "write",
            "Remove a document; the log keeps its text.",
            completes="documents",
            acts=True,
        ),
        CommandEntry(
            "resolve", "undo", "Resolve merge conflicts in documents.", completes="documents", acts=True
        ),
    ),
    "Maintain": (
        CommandEntry(
            "garden",
            "garden",
            "Plan or apply cleanup: duplicates, links, tags, archive.",
            pages=True,
            acts=True,
        ),
        CommandEntry(
            "review", "review", "Review proposals: list, show, approve or reject.", pages=True, acts=True
        ),
        CommandEntry("recap", "garden", "Write a recap of a day, session or other period.", acts=True),
        CommandEntry("tag", "tag", "List the tags and how often they are used."),
        CommandEntry("coverage", "code", "Show which code has documents, and which has none.", pages=True),
    ),
    "Check the store": (
        CommandEntry(
            "lint", "lint", "Check documents, manifest and log for problems.", pages=True, acts=True
        ),
        CommandEntry("doctor", "store", "Diagnose and fix problems with the store."),
        CommandEntry("events", "log", "Add, verify, replay and export log events.", pages=True, acts=True),
        CommandEntry("index", "store", "Inspect, refresh or rebuild index and manifest."),
    ),
    "Other programs": (
        CommandEntry("export", "exchange", "Export documents in the format of another program."),
        CommandEntry("validate", "exchange", "Check a file in the format of another program."),
        CommandEntry("formats", "exchange", "List the formats for import and export."),
    ),
    "Set up": (
        CommandEntry("config", "store", "Show and change settings; print the schemas."),
        CommandEntry("watch", "lint", "Refresh the index and lint files as they change."),
        CommandEntry("migrate", "store", "Upgrade an older store to the current format.", acts=True),
        CommandEntry("completion", "store", "Print a shell completion script."),
        CommandEntry("mcp", "mcp", "Serve the memory to coding agents over MCP."),
        CommandEntry("merge-driver", "undo", "Merge one document for git.", hidden=True, acts=True),
    ),
}
COMMANDS: Final = tuple(
    entry._replace(section=section) for section, entries in _SECTIONS.items() for entry in entries
)

BY_NAME: Final[dict[str, CommandEntry]] = {entry.name: entry for entry in COMMANDS}

SYNONYMS: Final[dict[str, str]] = {
    **dict.fromkeys(("find", "grep", "query", "ask"), "search"),
    **dict.fromkeys(("open", "view", "cat", "get", "read"), "show"),
    **dict.fromkeys(("new", "create", "write"), "add"),
    **dict.fromkeys(("change", "update", "set"), "edit"),
    **dict.fromkeys(("delete", "rm"), "remove"),
    **dict.fromkeys(("mv", "move"), "rename"),
    **dict.fromkeys(("replace", "deprecate"), "supersede"),
    "proposals": "review list",
    **dict.fromkeys(("accept", "approve"), "review approve"),
    **dict.fromkeys(("revert", "rollback"), "undo"),
    "confirm": "verify",
    **dict.fromkeys(("tidy", "clean", "gc"), "garden"),
    **dict.fromkeys(("merge", "conflicts"), "resolve"),
    **dict.fromkeys(("stale", "drift"), "check"),
    **dict.fromkeys(("install", "setup"), "init"),
    "ls": "list",
    "history": "log",
    "reject": "review reject",
    "summary": "recap",
    "reindex": "index rebuild",
    "help": "--help",
}
"""Words that people try → the command for them."""

REMOVED: Final[dict[str, str]] = {
    "unarchive": "archive --undo ID",
    "restore": "undo SNAPSHOT",
    "note": "events add --kind note --body TEXT",
    "record": "events record",
    "manifest": "index manifest",
    "rule": "lint --explain CODE",
    "schema": "config schemas",
    "blame": "why ID --lines",
    "patch": "review",
    "events list": "log --all",
    "garden --undo": "undo",
    "garden --plan": "garden",
    "lint --diff": "lint --dry-run",
    "import -n": "--dry-run",
    "events export --document": "--about",
    "check --all": "check",
    "verify --check": "verify --update-status --dry-run",
    "why --format": "why --json",
    "why -L": "why ID:10-20",
    "undo --any": "undo EVENT",
    "undo --number": "-n",
    "events replay --all": "events replay",
    "events add --exit-code": "events add",
    "review rebase": "review approve --rebase",
    "review expire --older-than": "config set review.expires_days DAYS",
    "--label": "--only",
    "--rule": "--only",
    "watch --poll": "config set watch.poll true",
    "watch --every": "watch",
    "coverage --depth": "coverage PATH",
    "config show --origin": "config show",
    "recap --day": "recap DAY",
    "recap --week": "recap 2026-W04",
    "recap --month": "recap 2026-01",
    "recap --force": "recap --yes",
    "recap --timeout": "recap",
    "for --no-mentions": "for",
    "edit --add-tag": "--tag",
    "lint --prune-baseline": "lint --fix",
    "add --edit": "edit",
    "config schemas --update": "migrate --apply",
    "--plain": "--json",
    "--plan": "--dry-run",
    "--field": "--set",
    "--note": "-m",
}
"""Former commands and options → what replaces them."""


def instead_of(command: str, option: str = "") -> str:
    """Return the new name of a removed command, or of an option of a command, as a message; else ""."""
    for name in (f"{command} {option}".strip(), option):
        if name in REMOVED:
            return f"{name!r} is now `{REMOVED[name]}`"
    return ""


_REMOVES: Final = "remove"
_SIMILAR: Final = 0.6


def meant(word: str) -> str:
    """Return the command that an unknown one probably means, or "".

    Only a word for removing leads to a command that removes: a suggestion may be run without a look.
    """
    from difflib import get_close_matches

    if word in SYNONYMS:
        return SYNONYMS[word]
    known = [entry.name for entry in COMMANDS if not entry.hidden]
    near = get_close_matches(word, known, n=3, cutoff=_SIMILAR)
    near.sort(key=lambda name: sorted(name) != sorted(word))  # swapped letters are the best match
    return near[0] if near and near[0] != _REMOVES else ""


VALUES: Final[dict[str, str]] = {
    "add": "memory.transaction:Written",
    "anchor": "authoring.anchor:Anchoring",
    "anchor suggest": "verdicts.suggest:Suggestions",
    "anchor suggest_all": "verdicts.suggest:AllSuggestions",
    "archive": "authoring.edit:Archived",
    "edit": "memory.transaction:Written",
    "link": "memory.transaction:Written",
    "remove": "memory.transaction:Written",
    "rename": "authoring.rename:Renamed",
    "resolve": "merge.resolve:Resolved",
    "supersede": "memory.transaction:Written",
    "undo": "history.undo:Undone",
    "undo list": "history.undo:SnapshotList",
    "review list": "review.queue:ProposalListing",
    "review show": "review.queue:ShownProposal",
    "review approve": "review.decisions:Decided",
    "review reject": "review.decisions:Decided",
    "review expire": "review.decisions:Decided",
    "search": "search.search:SearchResult",
    "search events": "search.records:RecordsFound",
    "context": "search.context:Context",
    "show": "authoring.show:Shown",
    "list": "authoring.show:Listing",
    "status": "authoring.show:StatusReport",
    "tag list": "authoring.show:TagList",
    "log": "history.log:LogListing",
    "why": "history.why:WhyReport",
    "why lines": "history.blame:BlameReport",
    "for": "verdicts.lookup:Governed",
    "coverage": "verdicts.lookup:Coverage",
    "events add": "interop.events:AddedEvents",
    "events record": "authoring.edit:Recorded",
    "events show": "history.log:ShownEvent",
    "events verify": "history.log:VerifyReport",
    "events replay": "history.replay:ReplayReport",
    "events export": "interop.events:Exported",
    "check": "lint.check:CheckReport",
    "verify": "authoring.anchor:Verification",
    "verify update_status": "authoring.anchor:Drift",
    "verify fix_moved": "authoring.anchor:Moves",
    "verify restamp": "authoring.anchor:Restamping",
    "lint": "lint.lint:LintReport",
    "lint statistics": "cli.report:RuleCount",
    "lint explain": "cli.commands.lint:RulePage",
    "doctor": "doctor.checks:DoctorReport",
    "doctor fix": "doctor.fix:FixReport",
    "init": "authoring.init:Initialised",
    "migrate": "interop.migrate:MigrationReport",
    "config show": "cli.commands.store:Settings",
    "config set": "store.config_writer:ChangedSetting",
    "config unset": "store.config_writer:ChangedSetting",
    "config schemas": "cli.commands.store:SchemaList",
    "index status": "doctor.upkeep:IndexStatus",
    "index refresh": "index.refresh:Refreshed",
    "index rebuild": "index.refresh:Refreshed",
    "index verify": "doctor.upkeep:IndexProof",
    "index manifest": "doctor.upkeep:ManifestReport",
    "garden": "garden.apply:PlanReport",
    "garden apply": "garden.apply:Applied",
    "garden propose": "garden.apply:Filed",
    "recap": "memory.transaction:Written",
    "import": "interop.transfer:TransferReport",
    "import markdown": "interop.markdown:ImportReport",
    "export": "interop.export:ExportReport",
    "validate": "interop.export:ValidationReport",
    "formats": "interop.formats:FormatList",
    "hooks install": "hooks:HookStatus",
    "hooks uninstall": "hooks:HookStatus",
    "hooks status": "hooks:HookStatus",
    "hooks run": "hooks:HookRun",
    "merge-driver": "merge.resolve:Driven",
    "watch": "watch:WatchTurn",
}
"""Command (or group and command) → the type behind ``--json``, as module and class name."""
