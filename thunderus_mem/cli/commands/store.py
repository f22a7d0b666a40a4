"""``init index doctor config completion migrate``: create, check, configure and fill a store.

The commands only parse, call and render. `completion` prints a script, `config` reads the two configuration
files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Final

from thunderus_mem.authoring.init import Initialised, init
from thunderus_mem.cli.complete import SCRIPTS
from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.output import OUTPUT, dumps, output_schema
from thunderus_mem.cli.params import Why
from thunderus_mem.cli.text import (
    Style,
    aligned,
    counted,
    diff_lines,
    finding_lines,
    flowing,
    found_lines,
    size,
)
from thunderus_mem.doctor import checks, upkeep
from thunderus_mem.doctor.fix import FixReport, FixStep, apply_fixes, plan_fixes
from thunderus_mem.document.ids import closest
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.index import refresh
from thunderus_mem.interop.migrate import MigrationReport, migrate
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store import config_writer
from thunderus_mem.store.config_keys import GARDENER, KEYS, config_schema, toml_value
from thunderus_mem.store.config_reader import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.store.layout import Layout

app = Commands()

# ``init index``

index_app = app.group("index")


@app.command("init")
def init_command(
    ctx: Call,
    agents: Annotated[
        bool, Option("--agents", help="Also add a section for agents to AGENTS.md and CLAUDE.md.")
    ] = False,
) -> int:
    """Create a memory in this folder. Running it again is safe: existing files are kept."""
    console: Console = ctx.obj
    root = os.path.abspath(console.start)
    value = init(root, lambda: console.open_at(root), agents=agents)
    console.emit("init", value, initialised)
    return console.published_code(value.published)


@index_app.command("status")
def index_status_command(ctx: Call) -> int:
    """Show whether the index is up to date, without refreshing it. Exits with 1 if it is not."""
    console: Console = ctx.obj
    value = upkeep.index_status(console.memory())
    console.emit("index status", value, index_state)
    return int(not value.fresh)


@index_app.command("verify")
def index_verify_command(ctx: Call) -> int:
    """Verify that the index is undamaged and matches the files. Exits with 1 if it is damaged."""
    console: Console = ctx.obj
    value = upkeep.index_verify(console.memory())
    console.emit("index verify", value, index_verification)
    return int(bool(value.problem))


@index_app.command("refresh")
def index_refresh_command(ctx: Call) -> None:
    """Update the index with changed files."""
    console: Console = ctx.obj
    console.emit("index refresh", console.memory().refresh(), refreshed)


@index_app.command("rebuild")
def index_rebuild_command(ctx: Call) -> None:
    """Rebuild index and manifest from the files."""
    console: Console = ctx.obj
    memory = console.memory()
    console.emit("index rebuild", refresh.rebuild(memory.layout, tell=memory.tell), refreshed)


@index_app.command("manifest")
def index_manifest_command(
    ctx: Call,
    check: Annotated[
        bool,
        Option(
            "--check", help="Compare it with the documents; exit with 1 if it differs or a file is not in it."
        ),
    ] = False,
) -> int:
    """Write or check the manifest, the list of all documents."""
    console: Console = ctx.obj
    value = upkeep.manifest(console.memory(), check=check)
    console.emit("index manifest", value, manifest_report)
    return int(bool(value.diagnostics))


def initialised(value: Initialised, console: Console) -> str:
    """List what init created, and the next step; nothing with ``--quiet``."""
    if console.quiet:
        return ""
    style = console.style
    files = ((style.good("created"), value.made), (style.good("changed"), value.changed))
    kept = (style.dim("kept"), value.kept)
    lines = aligned([(word, name) for word, names in (*files, kept) for name in names])
    lines += [f"{style.dim('skipped')}  {reason}" for reason in value.skipped]
    if value.also:
        lines += ["", f"note: this memory shadows the one in {value.also[0]}"]
    lines += found_lines(value.found)
    if value.next_step:
        lines += ["", f"Next: {value.next_step}"]
    return "\n".join(lines)


_IN_MEMORY: Final = "commands index the files in memory, which is slower"


def index_state(value: upkeep.IndexStatus, console: Console) -> str:
    """Format the state of the index."""
    style = console.style
    words = {"fresh": "up to date", "behind": "out of date", "newer": "written by a newer version"}
    word = words.get(value.state, value.state)
    state = style.good(word) if value.fresh else style.warning(word)
    rows = [
        ("index", state),
        ("documents", f"{value.documents:,}"),
        ("invalid", f"{value.problems:,}" if value.problems else ""),
        ("size", size(value.size)),
        ("generation", value.generation),
        ("path", value.path),
    ]
    lines = aligned([(style.dim(name), text) for name, text in rows if text])
    if value.state == "newer":
        lines += ["", f"Next: upgrade thunderus-mem; until then {_IN_MEMORY}"]
    elif not value.fresh:
        lines += ["", "Next: thunderus-mem index refresh"]
    return "\n".join(lines)


def index_verification(value: upkeep.IndexProof, console: Console) -> str:
    """Format the result of verifying the index."""
    style = console.style
    if value.problem:
        follows = _IN_MEMORY if value.kept else "the next command rebuilds it"
        return f"{style.name(value.path)}  {value.problem}; {follows}"
    return f"{style.name(value.path)}  {counted(value.documents, 'document')}, intact"


def refreshed(value: refresh.Refreshed, console: Console) -> str:
    """Format what a refresh changed; with ``--quiet`` only warn about unreadable files."""
    parts = [("added", value.added), ("modified", value.modified), ("removed", value.removed)]
    changes = ", ".join(f"{number:,} {name}" for name, number in parts if number) or "nothing changed"
    if value.in_memory:
        console.say(f"The index file was not changed: {value.rebuilt}; {_IN_MEMORY}")
    elif value.rebuilt:
        reason = "" if value.rebuilt == "requested" else f": {value.rebuilt}"
        console.say(f"Rebuilt the index{reason}")
    if value.problems:
        console.talk(f"warning: {counted(value.problems, 'invalid file')}; see: thunderus-mem lint")
    return "" if console.quiet else f"{counted(value.total, 'document')}: {changes}"


def manifest_report(value: upkeep.ManifestReport, console: Console) -> str:
    """Format the findings, or the path of the manifest."""
    if value.diagnostics:
        return "\n".join(finding_lines(value.diagnostics, console.style))
    console.say("The manifest is up to date:")
    return (
        f"{console.style.name(value.path)}  {counted(value.documents, 'document')}, {value.tokens:,} tokens"
    )


# ``doctor``

_MOST_AFFECTED: Final = 5
_MOST_KEPT: Final = 3


@app.command("doctor")
def doctor_command(
    ctx: Call,
    fix: Annotated[
        bool, Option("--fix", help="Apply all safe fixes; damaged files go to quarantine.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what --fix would do.")] = False,
) -> int:
    """Diagnose problems with the store, and suggest how to fix each one. Exits with 1 if there are any.

    Works even when no other command does, and changes nothing without --fix. --fix deletes nothing and
    changes no document: it moves files to .thunderus/.quarantine and prints how to restore each one.
    """
    console: Console = ctx.obj
    if not fix and not dry_run:
        report = checks.doctor(console.memory(lenient=True))
        console.emit("doctor", report, checks_report, long=True)
        return int(any(check.is_trouble for check in report.checks))
    value = plan_fixes(console.memory(lenient=True))
    if not dry_run:
        console.say(announced(value))
        value = apply_fixes(lambda: console.memory(lenient=True))
    console.emit("doctor fix", value, fix_report, long=True)
    return int(bool(value.left) or any(step.state != "done" for step in value.steps))


def checks_report(value: checks.DoctorReport, console: Console) -> str:
    """Format the checks in columns, with details below each problem, then the quarantined files."""
    style = console.style
    lines = _checks(value.checks, style, console.width)
    if value.kept:
        lines += ["", "Quarantine:", *_kept(value.kept, style)]
    if value.fixes:
        steps = counted(len(value.fixes), "step")
        lines += ["", f"Next: {checks.FIX}   ({steps}; --dry-run shows them)"]
    return "\n".join(lines)


def _checks(found: Sequence[checks.Check], style: Style, room: int | None) -> list[str]:
    paint = {"ok": style.good, "note": style.dim, "warning": style.warning, "error": style.error}
    rows: list[tuple[str, str, str]] = []
    for check in found:
        rows.append((paint[check.state](check.state), check.name, check.message))
        if check.state != "ok":
            rows += [("", "", f"{style.dim(name)} {text}") for name, text in _facts(check)]
    return flowing(rows, room)


def _facts(check: checks.Check) -> Iterator[tuple[str, str]]:
    """Yield the details of a check: hint, affected files, loss, command."""
    if check.hint:
        yield "hint:", check.hint
    if check.affects:
        more = len(check.affects) - _MOST_AFFECTED
        shown = ", ".join(check.affects[:_MOST_AFFECTED])
        yield "affects:", f"{shown} and {more:,} more" if more > 0 else shown
    if check.lost:
        yield "lost:", check.lost
    if check.command:
        yield "run:", check.command


def _kept(kept: Sequence[upkeep.KeptFile], style: Style) -> list[str]:
    lines = []
    for one in kept[:_MOST_KEPT]:
        lines += [f"  {style.name(one.path)}  {size(one.size)}, {one.time[:10]}, {one.what}"]
        lines += [f"    {style.dim('run:')} {one.back}"]
    if len(kept) > _MOST_KEPT:
        lines.append(f"  … and {len(kept) - _MOST_KEPT:,} more; use --json to list all")
    return lines


def announced(value: FixReport) -> str:
    """Format the plan before it is executed."""
    if not value.steps:
        return "Nothing to fix automatically"
    lines = [f"Applying {counted(len(value.steps), 'fix', 'fixes')}:"]
    return "\n".join([*lines, *(f"  {number}. {step.says}" for number, step in enumerate(value.steps, 1))])


def fix_report(value: FixReport, console: Console) -> str:
    """Format each step with the new location of the old file, then the remaining problems."""
    style = console.style
    lines = [line for step in value.steps for line in _step(step, style)]
    if value.left:
        head = "Needs manual action:"
        lines += [*([""] if lines else []), head, *_checks(value.left, style, console.width)]
    elif value.applied and lines:
        lines += ["", "All problems fixed"]
    elif not lines:
        lines = ["No problems found"]
    if not value.applied and value.steps:
        lines += ["", f"Next: {checks.FIX}"]
    return "\n".join(lines)


def _step(step: FixStep, style: Style) -> Iterator[str]:
    paint = {"planned": style.dim, "done": style.good, "failed": style.error}
    yield f"{paint[step.state](step.state)}  {step.says}"
    indent = " " * (len(step.state) + 2)
    if step.kept:
        yield f"{indent}{style.dim('moved to:')} {style.name(step.kept)}"
    if step.back:
        yield f"{indent}{style.dim('restore:')} {step.back}"
    if step.problem:
        yield f"{indent}{step.problem}"


# ``config completion``

config_app = app.group("config")


class Setting(NamedTuple):
    """One key: value, origin (default, file or environment), file, variable and explanation."""

    key: str
    value: Any
    origin: str
    file: str
    variable: str
    explanation: str


class Settings(NamedTuple):
    """All settings of a store."""

    root: str
    settings: tuple[Setting, ...]


class SchemaList(NamedTuple):
    """The names of the schemas."""

    names: tuple[str, ...]


@config_app.command("show")
def config_show(
    ctx: Call,
    key: Annotated[str, Argument(metavar="[KEY]", help="Only this key, or the keys below it.")] = "",
) -> None:
    """Show all settings and their values, and where each value comes from."""
    console: Console = ctx.obj
    console.emit("config show", _settings(console, key), listed)


_Key = Annotated[str, Argument(metavar="KEY", help="A key, e.g. search.limit.")]


@config_app.command("set")
def config_set(
    ctx: Call,
    key: _Key,
    value: Annotated[str, Argument(metavar="VALUE", help="The value; items of a list with commas.")],
) -> None:
    """Set a key in config.toml or gardener.toml. Other lines and comments stay."""
    console: Console = ctx.obj
    console.emit("config set", config_writer.set_key(console.layout(), key, value), changed_setting)


@config_app.command("unset")
def config_unset(ctx: Call, key: _Key) -> None:
    """Remove a key from its file, so that its default applies."""
    console: Console = ctx.obj
    console.emit("config unset", config_writer.unset_key(console.layout(), key), changed_setting)


def changed_setting(value: config_writer.ChangedSetting, console: Console) -> str:
    """Format the key with its value, and its file."""
    if not value.changed:
        console.say("Nothing to change")
    shown = "(default)" if value.value is None else f"= {toml_value(value.value)}"
    return f"{console.style.name(value.key)} {shown}  {console.style.dim(value.file)}"


@config_app.command("path")
def config_path(ctx: Call) -> None:
    """Print the paths of config.toml and gardener.toml (or gardener.json)."""
    console: Console = ctx.obj
    layout = console.layout()
    files = {"config": layout.config_file, "gardener": _gardener_file(layout)}
    console.emit("config path", files, lambda value, _: "\n".join(value.values()))


def _gardener_file(layout: Layout) -> str:
    as_json = os.path.lexists(layout.gardener_json_file)
    return layout.gardener_json_file if as_json else layout.gardener_file


def _settings(console: Console, only: str) -> Settings:
    layout = console.layout()
    config = load(layout, console.environ)
    files = {GARDENER: os.path.basename(_gardener_file(layout))}
    asked = [key for key in KEYS if not only or key.name == only or key.name.startswith(only + ".")]
    if not asked:
        near = closest(only, [key.name for key in KEYS], 1)
        hint = (
            f"did you mean {near[0]!r}?" if near else "run `thunderus-mem config show` to list all settings"
        )
        raise NotFound(f"unknown setting {only!r}", hint=hint)
    return Settings(
        layout.root,
        tuple(
            Setting(
                key.name,
                getattr(config, key.field),
                config.origin(key.name),
                files.get(key.file, key.file),
                key.variable,
                key.explanation,
            )
            for key in asked
        ),
    )


def listed(value: Settings, console: Console) -> str:
    """Format settings as ``key = value``, and where each value comes from."""
    style = console.style
    rows = []
    for item in value.settings:
        text = f"{style.name(item.key)} = {toml_value(item.value)}"
        place = {"default": "default", "file": item.file, "environment": item.variable}[item.origin]
        rows.append((text, style.dim(place)))
    return "\n".join(aligned(rows))


@config_app.command("schemas")
def config_schemas(
    ctx: Call,
    name: Annotated[str, Argument(metavar="[NAME]", help="Print this schema.")] = "",
) -> None:
    """List the schemas, or print one: a JSON Schema, or the SQL schema of the index."""
    console: Console = ctx.obj
    if name:
        console.data(_schema_text(name).rstrip("\n"))
    else:
        names = SchemaList(tuple(_schema_names()))
        console.emit("config schemas", names, lambda value, _: "\n".join(value.names))


def _schema_names() -> list[str]:
    from thunderus_mem.document.schema import INDEX, MEMORYOS_SCHEMAS, SCHEMA_NAMES

    return [*SCHEMA_NAMES, INDEX, "config", "gardener", OUTPUT, *MEMORYOS_SCHEMAS]


def _schema_text(name: str) -> str:
    from thunderus_mem.document.schema import schema_text

    names = _schema_names()
    bare = name.removesuffix(".json").removesuffix(".schema").removesuffix(".toml").removesuffix(".sql")
    for known in names:
        if bare in (known, known.partition(".")[0]):
            if known in ("config", "gardener"):
                return dumps(config_schema(f"{known}.toml"), indent=2)
            if known == OUTPUT:
                return output_schema()
            return schema_text(known)
    raise NotFound(f"unknown schema {name!r}", hint=f"use one of: {', '.join(names)}")


@app.command("completion")
def completion(
    ctx: Call,
    shell: Annotated[
        str,
        Argument(metavar="[SHELL]", help="bash, zsh or fish; default: from $SHELL.", show_default=False),
    ] = "",
) -> None:
    """Print a shell completion script.

    bash: add eval "$(thunderus-mem completion bash)" to ~/.bashrc; zsh: the same in ~/.zshrc, after compinit;
    fish: thunderus-mem completion fish > ~/.config/fish/completions/thunderus-mem.fish
    """
    console: Console = ctx.obj
    name = shell or os.path.basename(console.environ.get("SHELL", ""))
    script = SCRIPTS.get(name)
    if script is None:
        raise ThunderusError(
            f"no completion script for the shell {name!r}" if name else "missing argument SHELL",
            hint="choose bash, zsh or fish",
        )
    console.emit(
        "completion", {"shell": name, "script": script}, lambda value, _: value["script"].rstrip("\n")
    )


# ``migrate``


@app.command("migrate")
def migrate_command(
    ctx: Call,
    apply: Annotated[
        bool, Option("--apply", help="Write the changes; without it they are only shown.")
    ] = False,
    check: Annotated[
        bool, Option("--check", help="List the files to migrate; exit with 1 if there are any.")
    ] = False,
    why: Why = "",
) -> int:
    """Show the changes that upgrade an older store to the current format, as a diff; --apply writes them.

    Only fields in an older format change. Texts, comments and unknown fields stay the same, and old log lines
    are never rewritten. `undo` reverts the documents.
    """
    if apply and check:
        raise ThunderusError("--apply and --check are mutually exclusive")
    console: Console = ctx.obj
    value = migrate(console.memory(), apply=apply, why=why)
    console.details = not (apply or check)
    console.emit("migrate", value, migration if console.details else migration_names)
    if check:
        return int(value.due)
    return console.published_code(value.published)


def migration(value: MigrationReport, console: Console) -> str:
    """Format the diff; print a summary on stderr."""
    _say_migration(value, console)
    style = console.style
    lines: list[str] = []
    for one in value.changes:
        lines.append(style.dim(f"# {one.path}: {', '.join(one.steps)}"))
        lines += diff_lines(one.path, "update", one.diff, one.moved_from, style)
    return "\n".join([*lines, *(f"write {path}" for path in value.files)])


def migration_names(value: MigrationReport, console: Console) -> str:
    """List the files to migrate, or migrated, with their steps."""
    _say_migration(value, console)
    rows = [(console.style.name(change.path), ", ".join(change.steps)) for change in value.changes]
    rows += [(console.style.name(path), "store file") for path in value.files]
    return "\n".join(aligned(rows))


def _say_migration(value: MigrationReport, console: Console) -> None:
    for file in value.left:
        console.say(f"{console.style.warning('skipped')} {file.path}: {file.reason}")
    console.say_recorded(value.recorded)
    if not value.due:
        console.say(f"Already up to date (version {value.present})")
        return
    parts = [counted(len(value.changes), "document")] if value.changes else []
    parts += [counted(len(value.files), "store file")] if value.files else []
    what = " and ".join(parts)
    if not value.applied:
        console.say(f"Would migrate {what} to version {value.present}\nNext: thunderus-mem migrate --apply")
        return
    console.say(f"Migrated {what} to version {value.present}")
    if value.changes:
        console.say("To undo the changes to documents: thunderus-mem undo")
