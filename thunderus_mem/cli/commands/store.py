"""``init index manifest doctor config completion import migrate``: the store itself, made, checked, set up,
filled and brought up to date.

The commands only parse, call and render; what they call reads and writes the store. `completion` prints a
script, `config` reads the two files of settings.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from thunderus_mem.authoring.init import Initialised, init
from thunderus_mem.cli.complete import SCRIPTS
from thunderus_mem.cli.params import Why
from thunderus_mem.cli.text import Style, aligned, counted, diff_lines, finding_lines, padded, size, width
from thunderus_mem.doctor import checks, upkeep
from thunderus_mem.doctor.fix import FixReport, FixStep, apply_fixes, plan_fixes
from thunderus_mem.document.ids import closest
from thunderus_mem.document.unicode import escaped
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.index import refresh
from thunderus_mem.interop.markdown import ImportReport, import_markdown
from thunderus_mem.interop.thunderus import MigrationReport, migrate
from thunderus_mem.store.config_keys import KEYS, toml_value
from thunderus_mem.store.config_reader import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.interop.fields import ImportedFile

app = typer.Typer()

# ``init index manifest``: a store, and what is worked out from its documents

index_app = typer.Typer(no_args_is_help=True)
app.add_typer(index_app, name="index")


@app.command("init")
def init_command(
    ctx: typer.Context,
    agents: Annotated[
        bool, typer.Option("--agents", help="Also tell agents: a marked block in AGENTS.md and CLAUDE.md.")
    ] = False,
) -> int:
    """Make a memory in this folder. Run again at any time: nothing is overwritten."""
    console: Console = ctx.obj
    root = os.path.abspath(console.start)
    value = init(root, lambda: console.open_at(root), agents=agents)
    console.emit("init", value, initialised)
    return console.published_code(value.published)


@index_app.command("status")
def index_status_command(ctx: typer.Context) -> int:
    """How fresh the index is; judges, refreshes nothing. Exits with 1 when it is behind."""
    console: Console = ctx.obj
    value = upkeep.index_status(console.memory())
    console.emit("index status", value, freshness)
    return int(not value.fresh)


@index_app.command("verify")
def index_verify_command(ctx: typer.Context) -> int:
    """Prove the index: pages, words, and every row against the files. Exits with 1 when it is damaged."""
    console: Console = ctx.obj
    value = upkeep.index_verify(console.memory())
    console.emit("index verify", value, index_proof)
    return int(bool(value.problem))


@index_app.command("refresh")
def index_refresh_command(ctx: typer.Context) -> None:
    """Bring the index up to date with the files."""
    console: Console = ctx.obj
    console.emit("index refresh", console.memory().refresh(), refreshed)


@index_app.command("rebuild")
def index_rebuild_command(ctx: typer.Context) -> None:
    """Make index and manifest anew from the files."""
    console: Console = ctx.obj
    memory = console.memory()
    console.emit("index rebuild", refresh.rebuild(memory.layout, tell=memory.tell), refreshed)


@app.command("manifest")
def manifest_command(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare it with the documents; exit 1 when it differs.")
    ] = False,
) -> int:
    """Write the manifest, the inventory of all documents; or check it."""
    console: Console = ctx.obj
    value = upkeep.manifest(console.memory(), check=check)
    console.emit("manifest", value, manifest_report)
    return int(bool(value.diagnostics))


def initialised(value: Initialised, console: Console) -> str:
    """What init did, and the next step; with ``--quiet`` nothing: a new store has no data to print."""
    if console.quiet:
        return ""
    style = console.style
    rows = [(style.good("made"), name) for name in value.made] + [
        (style.dim("kept"), name) for name in value.kept
    ]
    lines = aligned(rows)
    if value.also:
        lines += ["", f"There is a memory above, in {value.also[0]}: from here downwards this one counts."]
    if value.next_step:
        lines += ["", f"Next: {value.next_step}"]
    return "\n".join(lines)


def freshness(value: upkeep.IndexStatus, console: Console) -> str:
    """How fresh the index is."""
    style = console.style
    state = style.good(value.state) if value.fresh else style.warning(value.state)
    rows = [
        ("index", state),
        ("documents", f"{value.documents:,}"),
        ("unreadable", f"{value.problems:,}" if value.problems else ""),
        ("size", size(value.size)),
        ("generation", value.generation),
        ("path", value.path),
    ]
    lines = aligned([(style.dim(name), text) for name, text in rows if text])
    if not value.fresh:
        lines += ["", "Next: thunderus-mem index refresh"]
    return "\n".join(lines)


def index_proof(value: upkeep.IndexProof, console: Console) -> str:
    """Whole, or what is wrong and what becomes of it."""
    style = console.style
    if value.problem:
        return f"{style.name(value.path)}  {value.problem}; the next command builds it anew"
    return f"{style.name(value.path)}  {counted(value.documents, 'document')}, whole"


def refreshed(value: refresh.Refreshed, console: Console) -> str:
    """What a refresh found; with ``--quiet`` only that files cannot be read: there is no data to print."""
    parts = [("added", value.added), ("modified", value.modified), ("removed", value.removed)]
    changes = ", ".join(f"{number:,} {name}" for name, number in parts if number) or "nothing changed"
    if value.rebuilt:
        console.say(f"Rebuilt: {value.rebuilt}.")
    if value.problems:
        console.talk(f"{counted(value.problems, 'file')} cannot be read; see: thunderus-mem lint")
    return "" if console.quiet else f"{counted(value.total, 'document')}: {changes}"


def manifest_report(value: upkeep.ManifestReport, console: Console) -> str:
    """Findings, or where the manifest is."""
    if value.diagnostics:
        return "\n".join(finding_lines(value.diagnostics, console.style))
    return (
        f"{console.style.name(value.path)}  {counted(value.documents, 'document')}, {value.tokens:,} tokens"
    )


# ``doctor``: what each trouble touches, what is lost, and what to run; with --fix, what was done

_MOST_AFFECTED: Final = 5
_MOST_KEPT: Final = 3


@app.command("doctor")
def doctor_command(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended; what is in the way is set aside.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what --fix would do.")] = False,
) -> int:
    """Check the store and its surroundings; each trouble comes with what to do.

    Exits with 1 when there is any. Works where no other command does. Changes nothing without --fix, which
    deletes nothing and touches no document: what it takes away is in .thunderus/.quarantine, and each step
    says how it comes back.
    """
    console: Console = ctx.obj
    if not fix and not plan:
        report = checks.doctor(console.memory(lenient=True))
        console.emit("doctor", report, checks_report, long=True)
        return int(any(check.is_trouble for check in report.checks))
    value = plan_fixes(console.memory(lenient=True))
    if not plan:
        console.say(announced(value))
        value = apply_fixes(lambda: console.memory(lenient=True))
    console.emit("doctor fix", value, treatment, long=True)
    return int(bool(value.left) or any(step.state != "done" for step in value.steps))


def checks_report(value: checks.DoctorReport, console: Console) -> str:
    """Checks in columns, each trouble with its facts below, then what the quarantine holds."""
    style = console.style
    lines = _checks(value.checks, style)
    if value.kept:
        lines += ["", "In the quarantine:", *_kept(value.kept, style)]
    if value.mends:
        steps = counted(len(value.mends), "step")
        lines += ["", f"Next: {checks.FIX}   ({steps}; --plan shows them)"]
    return "\n".join(lines)


def _checks(found: Sequence[checks.Check], style: Style) -> list[str]:
    paint = {"ok": style.good, "note": style.dim, "warning": style.warning, "error": style.error}
    names = aligned([(paint[check.state](check.state), check.name) for check in found])
    indent = max((width(line) for line in names), default=0) + 2
    lines: list[str] = []
    for check, line in zip(found, names, strict=True):
        lines.append(padded(line, indent) + check.message)
        if check.state != "ok":
            lines += [f"{' ' * indent}{style.dim(name)} {text}" for name, text in _facts(check)]
    return lines


def _facts(check: checks.Check) -> Iterator[tuple[str, str]]:
    """What a person asks next: what to do, what it touches, whether anything is gone, what to type."""
    if check.hint:
        yield "what to do:", check.hint
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
        lines.append(f"  and {len(kept) - _MOST_KEPT:,} more; --json lists them all")
    return lines


def announced(value: FixReport) -> str:
    """The plan in one sentence, before it is carried out."""
    if not value.steps:
        return "There is nothing that can be mended without you."
    lines = [f"{counted(len(value.steps), 'step')} to take:"]
    return "\n".join([*lines, *(f"  {number}. {step.says}" for number, step in enumerate(value.steps, 1))])


def treatment(value: FixReport, console: Console) -> str:
    """Each step: what was done, where the old file is, how to get it back; then what needs a person."""
    style = console.style
    lines = [line for step in value.steps for line in _step(step, style)]
    if value.left:
        head = "For you to decide:" if value.applied else "Not to be mended without you:"
        lines += [*([""] if lines else []), head, *_checks(value.left, style)]
    elif value.applied and lines:
        lines += ["", "Everything is in order now."]
    elif not lines:
        lines = ["Everything is in order."]
    if not value.applied and value.steps:
        lines += ["", f"Next: {checks.FIX}"]
    return "\n".join(lines)


def _step(step: FixStep, style: Style) -> Iterator[str]:
    paint = {"planned": style.dim, "done": style.good, "failed": style.error}
    yield f"{paint[step.state](step.state)}  {step.says}"
    indent = " " * (len(step.state) + 2)
    if step.kept:
        yield f"{indent}{style.dim('it is now')} {style.name(step.kept)}"
    if step.back:
        yield f"{indent}{style.dim('back:')} {step.back}"
    if step.problem:
        yield f"{indent}{step.problem}"


# ``config completion``: settings and where each comes from, and the script a shell loads

config_app = typer.Typer(no_args_is_help=True)
app.add_typer(config_app, name="config")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: its value, where that comes from (default, file, environment), its file and what it does."""

    key: str
    value: Any
    origin: str
    file: str
    variable: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a store."""

    root: str
    settings: tuple[Setting, ...]


@config_app.command("show")
def config_show(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="Only this key, or keys below it.")] = "",
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show every setting and its value; with --origin whether default, file or environment set it."""
    console: Console = ctx.obj
    console.emit("config show", _settings(console, key), lambda value, to: listed(value, to, origin=origin))


@config_app.command("path")
def config_path(ctx: typer.Context) -> None:
    """Print the paths of config.toml and gardener.toml."""
    console: Console = ctx.obj
    layout = console.layout()
    files = {"config": layout.config_file, "gardener": layout.gardener_file}
    console.emit("config path", files, lambda value, _: "\n".join(value.values()))


def _settings(console: Console, only: str) -> Settings:
    layout = console.layout()
    config = load(layout, console.environ)
    asked = [key for key in KEYS if not only or key.name == only or key.name.startswith(only + ".")]
    if not asked:
        near = closest(only, [key.name for key in KEYS], 1)
        hint = f"Did you mean {near[0]}?" if near else "All keys: thunderus-mem config show"
        raise NotFound(f"There is no setting {only}.", hint=hint)
    return Settings(
        layout.root,
        tuple(
            Setting(
                key.name,
                getattr(config, key.field),
                config.origin(key.name),
                key.file,
                key.variable,
                key.explanation,
            )
            for key in asked
        ),
    )


def listed(value: Settings, console: Console, *, origin: bool) -> str:
    """Settings as ``key = value``, and where each value comes from."""
    style = console.style
    rows = []
    for item in value.settings:
        text = f"{style.name(item.key)} = {toml_value(item.value)}"
        place = {"default": "default", "file": item.file, "environment": item.variable}[item.origin]
        rows.append((text, style.dim(place)) if origin else (text,))
    return "\n".join(aligned(rows))


@app.command("completion")
def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", show_default="$SHELL")] = "",
) -> None:
    """Print the completion script of a shell.

    bash: eval "$(thunderus-mem completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc after compinit;
    fish: thunderus-mem completion fish > ~/.config/fish/completions/thunderus-mem.fish
    """
    console: Console = ctx.obj
    name = shell or os.path.basename(console.environ.get("SHELL", ""))
    script = SCRIPTS.get(name)
    if script is None:
        raise ThunderusError(
            f"There is no completion for the shell {name or '(none given)'}.",
            hint="Choose bash, zsh or fish.",
        )
    console.emit(
        "completion", {"shell": name, "script": script}, lambda value, _: value["script"].rstrip("\n")
    )


# ``import migrate``: bring in an existing folder, or an older store up to date

import_app = typer.Typer(no_args_is_help=True)
app.add_typer(import_app, name="import")


@import_app.command("markdown")
def import_markdown_command(
    ctx: typer.Context,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A folder of Markdown, or one file.")],
    kind: Annotated[str, typer.Option("--kind", "-k", help="core, fact, adr, playbook or recap.")],
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag for all; repeatable.")] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="THEIRS=OURS", help="Take a field of ours from one of theirs; repeat."),
    ] = None,
    why: Annotated[str, typer.Option("--why", "-m", help="The reason, for the log.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be done.")] = False,
) -> int:
    """Import Markdown files as documents: texts byte for byte, unknown keys kept, dates from git.

    The files themselves stay where they are. Importing again adds only what is new. Decisions of adr-tools,
    MADR and log4brains keep number and date; what they say of each other becomes links. --map deciders=author
    takes our author from their deciders, a key of the frontmatter or a line under the title. Exits with 1
    when a file cannot be taken as it is.
    """
    console: Console = ctx.obj
    value = import_markdown(
        console.memory(),
        os.path.join(console.start, directory),
        kind,
        tags=tuple(tag or ()),
        mapping=tuple(mapping or ()),
        dry_run=dry_run,
        why=why,
    )
    console.emit("import markdown", value, _report)
    console.say(_summary(value))
    return console.published_code(value.published) or int(bool(value.refused))


def _report(value: ImportReport, console: Console) -> str:
    return "\n".join(line for item in value.files for line in _lines(item))


def _lines(item: ImportedFile) -> list[str]:
    source = escaped(item.source)  # a file's name may hold a line end
    if not item.imported:
        return [f"skip {source}: {item.reason}"]
    kept = [f"kept: {', '.join(item.kept)}"] if item.kept else []
    return [f"add  {source} → {item.id}", *(f"       {note}" for note in (*kept, *item.notes))]


def _summary(value: ImportReport) -> str:
    if not value.files:
        return f"There is no Markdown in {value.directory}."
    done = "would be imported" if value.dry_run else "imported"
    skipped = f", {value.skipped} skipped" if value.skipped else ""
    following = "" if value.dry_run or not value.imported else " Next: thunderus-mem lint"
    return f"{counted(value.imported, 'file')} {done}{skipped}.{following}"


@app.command("migrate")
def migrate_command(
    ctx: typer.Context,
    apply: Annotated[bool, typer.Option("--apply", help="Write it; without, it is only shown.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only name what is to migrate; exit with 1 if anything is.")
    ] = False,
    why: Why = "",
) -> int:
    """Show what brings an older store up to date, as a diff; with --apply do it.

    Only lines of fields that have an older shape change; texts, comments and unknown fields stay as they are,
    and the log's old lines are never rewritten. `undo` takes all of it back.
    """
    if apply and check:
        raise ThunderusError("--apply and --check exclude each other.")
    console: Console = ctx.obj
    value = migrate(console.memory(), apply=apply, why=why)
    console.emit("migrate", value, migration_names if apply or check else migration)
    if check:
        return int(value.due)
    return console.published_code(value.published)


def migration(value: MigrationReport, console: Console) -> str:
    """The diff of what would be migrated; what it is on stderr."""
    _say_migration(value, console)
    style = console.style
    lines: list[str] = []
    for one in value.changes:
        lines.append(style.dim(f"# {one.path}: {', '.join(one.steps)}"))
        lines += diff_lines(one.path, "update", one.diff, one.moved_from, style)
    return "\n".join([*lines, *(f"write {path}" for path in value.files)])


def migration_names(value: MigrationReport, console: Console) -> str:
    """What is to migrate, or was: each file and the steps it takes."""
    _say_migration(value, console)
    rows = [(console.style.name(change.path), ", ".join(change.steps)) for change in value.changes]
    rows += [(console.style.name(path), "file of the store") for path in value.files]
    return "\n".join(aligned(rows))


def _say_migration(value: MigrationReport, console: Console) -> None:
    for file in value.left:
        console.say(f"{console.style.warning('left')} {file.path}: {file.reason}")
    console.say_recorded(value.recorded)
    if not value.due:
        console.say(f"Everything has its present shape (version {value.present}).")
        return
    parts = [counted(len(value.changes), "document")] if value.changes else []
    parts += [counted(len(value.files), "file") + " beside them"] if value.files else []
    what = " and ".join(parts)
    if not value.applied:
        console.say(f"To migrate to version {value.present}: {what}. Only --apply writes.")
        return
    console.say(f"Migrated to version {value.present}: {what}.")
    if value.changes:
        console.say("To take the documents back: thunderus-mem undo")
