"""``init doctor index manifest``: making a store and keeping it well."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.cli.text import aligned, counted, finding_lines, size, width
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.authoring.init import Initialised
    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.text import Style
    from thunderus_mem.doctor.context import Check, DoctorReport, FixStep, KeptFile, Treatment
    from thunderus_mem.doctor.upkeep import IndexProof, IndexStatus, ManifestReport
    from thunderus_mem.index.refresh import Refreshed

app = typer.Typer()
index_app = typer.Typer(help="Look after the full-text index.", no_args_is_help=True)
app.add_typer(index_app, name="index")


@app.command("init")
def init(
    ctx: typer.Context,
    agents: Annotated[
        bool, typer.Option("--agents", help="Also tell agents: a marked block in AGENTS.md and CLAUDE.md.")
    ] = False,
) -> int:
    """Make a memory in this folder. Run again at any time: nothing is overwritten."""
    import os

    from thunderus_mem.authoring import init as init_module
    from thunderus_mem.cli.render import published_code

    console: Console = ctx.obj
    root = os.path.abspath(console.start)
    value = init_module.init(root, lambda: console.open_at(root), agents=agents)
    console.emit("init", value, initialised)
    return published_code(console, published=value.published)


@app.command("doctor")
def doctor(
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
    from thunderus_mem.doctor import checks
    from thunderus_mem.doctor import fix as fix_module

    console: Console = ctx.obj
    if not fix and not plan:
        report = checks.doctor(console.memory(lenient=True))
        console.emit("doctor", report, doctor_report, long=True)
        return int(any(check.is_trouble for check in report.checks))
    value = fix_module.planned(console.memory(lenient=True))
    if not plan:
        console.say(announced(value))
        value = fix_module.treat(lambda: console.memory(lenient=True))
    console.emit("doctor fix", value, treatment, long=True)
    return int(bool(value.left) or any(step.state != "done" for step in value.steps))


@index_app.command("status")
def index_status(ctx: typer.Context) -> int:
    """How fresh the index is; judges, refreshes nothing. Exits with 1 when it is behind."""
    from thunderus_mem.doctor import upkeep

    console: Console = ctx.obj
    value = upkeep.index_status(console.memory())
    console.emit("index status", value, status_of_index)
    return int(not value.fresh)


@index_app.command("verify")
def index_verify(ctx: typer.Context) -> int:
    """Prove the index: pages, words, and every row against the files. Exits with 1 when it is damaged."""
    from thunderus_mem.doctor import upkeep

    console: Console = ctx.obj
    value = upkeep.index_verify(console.memory())
    console.emit("index verify", value, index_proof)
    return int(bool(value.problem))


@index_app.command("refresh")
def index_refresh(ctx: typer.Context) -> None:
    """Bring the index up to date with the files."""
    from thunderus_mem.doctor import upkeep

    console: Console = ctx.obj
    console.emit("index refresh", upkeep.index_refresh(console.memory()), refreshed)


@index_app.command("rebuild")
def index_rebuild(ctx: typer.Context) -> None:
    """Make index and manifest anew from the files."""
    from thunderus_mem.doctor import upkeep

    console: Console = ctx.obj
    console.emit("index rebuild", upkeep.index_rebuild(console.memory()), refreshed)


@app.command("manifest")
def manifest(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare it with the documents; exit 1 when it differs.")
    ] = False,
) -> int:
    """Write the manifest, the inventory of all documents; or check it."""
    from thunderus_mem.doctor import upkeep

    console: Console = ctx.obj
    value = upkeep.manifest(console.memory(), check=check)
    console.emit("manifest", value, manifest_report)
    return int(bool(value.diagnostics))


# Values for people: calm, aligned, readable without colour.
#
# Every function takes a value and the console it is for, and returns text; the console prints it.


def settings(value: Settings, console: Console, *, origin: bool) -> str:
    """Settings as ``key = value``, and where each value comes from."""
    from thunderus_mem.store.config_keys import toml_value

    style = console.style
    rows = []
    for item in value.settings:
        text = f"{style.name(item.key)} = {toml_value(item.value)}"
        place = {"default": "default", "file": item.file, "environment": item.variable}[item.origin]
        rows.append((text, style.dim(place)) if origin else (text,))
    return "\n".join(aligned(rows))


# Upkeep for people.


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


def status_of_index(value: IndexStatus, console: Console) -> str:
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


def index_proof(value: IndexProof, console: Console) -> str:
    """Whole, or what is wrong and what becomes of it."""
    style = console.style
    if value.problem:
        return f"{style.name(value.path)}  {value.problem}; the next command builds it anew"
    return f"{style.name(value.path)}  {counted(value.documents, 'document')}, whole"


def refreshed(value: Refreshed, console: Console) -> str:
    """What a refresh found; with ``--quiet`` only that files cannot be read: there is no data to print."""
    parts = [("added", value.added), ("modified", value.modified), ("removed", value.removed)]
    changes = ", ".join(f"{number:,} {name}" for name, number in parts if number) or "nothing changed"
    if value.rebuilt:
        console.say(f"Rebuilt: {value.rebuilt}.")
    if value.problems:
        console.talk(f"{counted(value.problems, 'file')} cannot be read; see: thunderus-mem lint")
    return "" if console.quiet else f"{counted(value.total, 'document')}: {changes}"


def manifest_report(value: ManifestReport, console: Console) -> str:
    """Findings, or where the manifest is."""
    if value.diagnostics:
        return "\n".join(finding_lines(value.diagnostics, console.style))
    return (
        f"{console.style.name(value.path)}  {counted(value.documents, 'document')}, {value.tokens:,} tokens"
    )


# What `doctor` found and did, for people: what each trouble touches, what is lost, and what to run.

_FEW, _SHOWN = 5, 3
_FIX = "thunderus-mem doctor --fix"


def doctor_report(value: DoctorReport, console: Console) -> str:
    """Checks in columns, each trouble with its facts below, then what the quarantine holds."""
    style = console.style
    lines = _checks(value.checks, style)
    if value.kept:
        lines += ["", "In the quarantine:", *_kept(value.kept, style)]
    if value.mends:
        steps = counted(len(value.mends), "step")
        lines += ["", f"Next: {_FIX}   ({steps}; --plan shows them)"]
    return "\n".join(lines)


def _checks(checks: Sequence[Check], style: Style) -> list[str]:
    paint = {"ok": style.good, "note": style.dim, "warning": style.warning, "error": style.error}
    names = aligned([(paint[check.state](check.state), check.name) for check in checks])
    indent = max((width(line) for line in names), default=0) + 2
    lines: list[str] = []
    for check, line in zip(checks, names, strict=True):
        lines.append(f"{line}{' ' * (indent - width(line))}{check.message}")
        if check.state != "ok":
            lines += [f"{' ' * indent}{style.dim(name)} {text}" for name, text in _facts(check)]
    return lines


def _facts(check: Check) -> Iterator[tuple[str, str]]:
    """What a person asks next: what to do, what it touches, whether anything is gone, what to type."""
    if check.hint:
        yield "what to do:", check.hint
    if check.affects:
        more = len(check.affects) - _FEW
        shown = ", ".join(check.affects[:_FEW])
        yield "affects:", f"{shown} and {more:,} more" if more > 0 else shown
    if check.lost:
        yield "lost:", check.lost
    if check.command:
        yield "run:", check.command


def _kept(kept: Sequence[KeptFile], style: Style) -> list[str]:
    lines = []
    for one in kept[:_SHOWN]:
        lines += [f"  {style.name(one.path)}  {size(one.size)}, {one.time[:10]}, {one.what}"]
        lines += [f"    {style.dim('run:')} {one.back}"]
    if len(kept) > _SHOWN:
        lines.append(f"  and {len(kept) - _SHOWN:,} more; --json lists them all")
    return lines


def announced(value: Treatment) -> str:
    """The plan in one sentence, before it is carried out."""
    if not value.steps:
        return "There is nothing that can be mended without you."
    lines = [f"{counted(len(value.steps), 'step')} to take:"]
    return "\n".join([*lines, *(f"  {number}. {step.says}" for number, step in enumerate(value.steps, 1))])


def treatment(value: Treatment, console: Console) -> str:
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
        lines += ["", f"Next: {_FIX}"]
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


# ``config``: settings, and where each comes from.

config_app = typer.Typer(help="Show settings and where they come from.", no_args_is_help=True)
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
def show(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="Only this key, or keys below it.")] = "",
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show every setting and its value; with --origin whether default, file or environment set it."""

    console: Console = ctx.obj
    console.emit("config show", _settings(console, key), lambda value, to: settings(value, to, origin=origin))


@config_app.command("path")
def path(ctx: typer.Context) -> None:
    """Print the paths of config.toml and gardener.toml."""
    console: Console = ctx.obj
    layout = console.layout()
    files = {"config": layout.config_file, "gardener": layout.gardener_file}
    console.emit("config path", files, lambda value, _: "\n".join(value.values()))


def _settings(console: Console, only: str) -> Settings:
    from thunderus_mem.errors import NotFound
    from thunderus_mem.store.config_keys import KEYS
    from thunderus_mem.store.config_reader import load

    layout = console.layout()
    config = load(layout, console.environ)
    asked = [key for key in KEYS if not only or key.name == only or key.name.startswith(only + ".")]
    if not asked:
        from thunderus_mem.document.ids import closest

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


# ``completion``: the script a shell loads, and the answers it asks for.
#
# The script calls ``thunderus-mem completion --answer WORD…``. ``run`` hands that call to ``answer`` before
# the command tree is built: only a command's options need that tree, ids come straight from the index.


@app.command("completion")
def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", show_default="$SHELL")] = "",
) -> None:
    """Print the completion script of a shell.

    bash: eval "$(thunderus-mem completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc after compinit;
    fish: thunderus-mem completion fish > ~/.config/fish/completions/thunderus-mem.fish
    """
    from thunderus_mem.cli.complete import SCRIPTS

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
