"""``completion``: the script a shell loads, and the answers it asks for.

The script calls ``thunderus-mem completion --answer WORD…``. ``run`` hands that call to ``answer`` before the
command tree is built: only a command's options need that tree, ids come straight from the index.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("completion")
def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", show_default="$SHELL")] = "",
) -> None:
    """Print the completion script of a shell.

    bash: eval "$(thunderus-mem completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc after compinit;
    fish: thunderus-mem completion fish > ~/.config/fish/completions/thunderus-mem.fish
    """
    from thunderus_mem.surfaces.cli.answer import SCRIPTS

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
