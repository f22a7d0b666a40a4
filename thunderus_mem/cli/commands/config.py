"""``config completion``: settings and where each comes from, and the script a shell loads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.cli.complete import SCRIPTS
from thunderus_mem.cli.text import aligned
from thunderus_mem.document.ids import closest
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.store.config_keys import KEYS, toml_value
from thunderus_mem.store.config_reader import load

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()
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
