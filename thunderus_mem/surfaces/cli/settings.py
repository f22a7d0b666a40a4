"""``config``: settings, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
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
    from thunderus_mem.surfaces.render import settings as render

    console: Console = ctx.obj
    console.emit("config show", _settings(console, key), lambda value, to: render(value, to, origin=origin))


@config_app.command("path")
def path(ctx: typer.Context) -> None:
    """Print the paths of config.toml and gardener.toml."""
    console: Console = ctx.obj
    layout = console.layout()
    files = {"config": layout.config_file, "gardener": layout.gardener_file}
    console.emit("config path", files, lambda value, _: "\n".join(value.values()))


def _settings(console: Console, only: str) -> Settings:
    from thunderus_mem.model.errors import NotFound
    from thunderus_mem.store.config import load
    from thunderus_mem.store.config_keys import KEYS

    layout = console.layout()
    config = load(layout, console.environ)
    asked = [key for key in KEYS if not only or key.name == only or key.name.startswith(only + ".")]
    if not asked:
        from thunderus_mem.model.ids import closest

        near = closest(only, [key.name for key in KEYS], 1)
        hint = f"Did you mean {near[0]}?" if near else "All keys: thunderus-mem config show"
        raise NotFound(f"There is no setting {only}.", hint=hint)
    return Settings(
        layout.root,
        tuple(
            Setting(
                key.name,
                config.get(key.name),
                config.origin(key.name),
                key.file,
                key.variable,
                key.explanation,
            )
            for key in asked
        ),
    )
