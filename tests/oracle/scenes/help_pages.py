"""What the command says of itself: help, versions, usage errors, completion, the pages of the reference."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Scene

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = (
    *(f"reference/{name}.md" for name in ("cli", "rules", "config", "schemas", "errors", "events")),
    "man/thunderus-mem.1",
)


def commands() -> list[str]:
    """Every command and subcommand of the reference."""
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    return re.findall(r"^###? (.+)$", text, re.MULTILINE)


def scene_reference(scene: Scene) -> None:
    """The generated pages, as they stand in the repository."""
    for name in PAGES:
        scene.lines += ["", f"--- docs/{name}", *(DOCS / name).read_text(encoding="utf-8").split("\n")]


def scene_help(scene: Scene) -> None:
    """``--help`` of everything, and what stands in for it."""
    scene.each("--help\n-h\n--version\n--version --json\n--json --help")
    scene([])
    for command in commands():
        scene(f"{command} --help")
    scene.each("add -h\nhelp\nhelp add\nreview\nevents\nconfig\nconfig schemas\nindex\nimport\nhooks")
    scene.terminal("--help\nsearch --help\nreview --help\n--color never --help")
    scene("--help", env={"COLUMNS": "40"})
    scene("lint --help", env={"COLUMNS": "160"})


def scene_usage_errors(scene: Scene) -> None:
    """A wrong option and a missing argument of every command, and near misses."""
    scene.begin()
    for command in commands():
        scene(f"{command} --no-such-option")
    for command in commands():
        scene(command if command != "watch" else "watch --every 0")
    scene.each(
        """
        serch words
        list --knd fact
        stauts
        review aprove
        lint --format xml
        check --format xml
        why core --format svg
        search x --limit 5000
        search x --limit many
        list --since yesterday-ish
        list --kind nothing
        add nothing Title
        add fact
        link core likes core
        recap 2026-13-01
        recap 2026-99
        recap 2026-13
        recap --session nobody
        recap --timeout soon
        undo --number 0
        log --limit 0
        why core:9999
        lint --select TM999
        lint --explain TM999
        lint --explain nonsense
        config schemas nothing
        completion tcsh
        config show no.such.key
        events show evt_0
        review show patch_0
        undo snap_0
        garden --only nothing
        garden --apply --propose
        for ../outside
        for nothing/here.py
        anchor core nothing/here.py
        anchor core ../outside.py
        search tag:
        search kind:nothing
        search since:never
        show cor
        show nothing --json
        status extra words
        --color sometimes list
        -C /no/such/folder list
        --json serch
        --plain lint --format json
        merge-driver a b c d
        hooks install post-commit
        import markdown /no/such/folder --kind fact
        import markdown README.md --kind nothing
        import markdown README.md --kind fact --map nonsense
        """
    )
    scene.terminal("serch words\nlist --knd fact\nshow cor\nadd fact")


def scene_completion(scene: Scene) -> None:
    """The scripts of all shells, and what they are answered."""
    scene.begin()
    scene('-q add fact "Ports are even" --tag net --tag docs --body "Every port is even."')
    scene('-q add adr "Use SQLite" --tag storage --body "One file." --state accepted')
    scene.each("completion bash\ncompletion zsh\ncompletion fish\ncompletion\ncompletion bash --json")
    for words in (
        [""], ["s"], ["pat", ""], ["review", ""], ["review", "a"], ["show", ""], ["show", "fact."], ["show", "ports"],
        ["edit", "adr"], ["link", "core", ""], ["link", "core", "refers_to", ""], ["list", "--"], ["list", "--k"],
        ["list", "--kind", ""], ["list", "--tag", ""], ["list", "--status", ""], ["lint", "--format", ""],
        ["lint", "--select", "TM1"], ["lint", "--explain", "TM2"], ["add", ""], ["log", "--all", "--kind", ""],
        ["config", "schemas", ""], ["config", "show", "rec"], ["search", "tag:"], ["search", "kind:"],
        ["garden", "--only", ""], ["anchor", "core", ""], ["merge"], ["-C", "", "show", ""], ["check", "f"],
        ["completion", ""], ["why", "core", "--format", ""], ["--color", ""],
    ):  # fmt: skip
        scene(["--complete", *words])


def scene_schemas(scene: Scene) -> None:
    """Schemas, rules and settings, as they are printed."""
    scene.git("init -q")
    scene.forms("config schemas\nlint --explain all\nconfig show\nconfig path")
    scene("init")
    names = scene("config schemas --plain").stdout.decode().split()
    for name in names:
        scene(["config", "schemas", name])
    scene.each(
        "lint --explain TM201 --json\nlint --explain TM201\nlint --explain dead-link\nconfig schemas events --json"
    )
    scene.forms("config show\nconfig show recap\nconfig path")
    scene.write(".thunderus/config.toml", '[search]\nlimit = 3\n[lint.severity]\nTM301 = "note"\n')
    scene("config show", env={"THUNDERUS_MEM_RECAP_MAX_FILES": "7"})
    scene("config show search.limit")
    scene.write(".thunderus/schemas/memory_store.sql", "-- an old copy\n")
    scene.each("doctor\nmigrate --apply\nmigrate --apply --json")
    scene.terminal("lint --explain TM201\nconfig schemas\nconfig show lint\nlint --explain all")
    scene("config show", env={"THUNDERUS_MEM_SEARCH_LIMIT": "many"})


ARGUMENTS = {
    "add": "fact Common --tag x --body 'A common text.'",
    "anchor": "core README.md",
    "archive": "fact.common",
    "edit": "core --tag y",
    "link": "fact.ports refers_to core",
    "remove": "fact.frames -m Why",
    "rename": "fact.ports fact.ports.all",
    "supersede": "fact.ports.all core -m Why",
    "review show": "patch_0",
    "review approve": "--all --only nothing --yes",
    "review reject": "--all --only nothing --yes -m Why",
    "undo": "--list",
    "search": "even",
    "show": "core",
    "why": "core",
    "for": "README.md",
    "events add": "--kind note --body Said",
    "events show": "evt_0",
    "config schemas": "events",
    "completion": "bash",
    "import markdown": "README.md --kind fact",
    "merge-driver": "a.md a.md a.md a.md",
    "verify": "core",
}
"""What a command needs besides options."""


def scene_common_options(scene: Scene) -> None:
    """The options that every command has, with every command."""
    scene.begin()
    scene('-q add fact "Ports are even" --tag net --body "Every port is even."')
    scene('-q add fact "Frames are small" --tag net --body "Four bytes."')
    scene.write("a.md", "Text.\n")
    pages = pages_of_commands()
    for command in commands():
        if command in ("review", "events", "tag", "config", "index", "import", "hooks", "watch"):
            continue
        for more in ("--color always --no-input --quiet --no-pager", "--json", "--plain"):
            if "--no-pager" in more and "--no-pager" not in pages[command]:
                more = more.removesuffix(" --no-pager")
            if more in ("--json", "--plain") and command.split()[0] not in SHAPES:
                continue
            scene(f"{command} {ARGUMENTS.get(command, '')} {more}")
    scene("watch --every 0.01 --color always --no-input --quiet --poll")


SHAPES = ("archive", "supersede", "remove", "review", "tag", "completion")
"""Commands whose ``--json`` and ``--plain`` other scenes do not show."""


def pages_of_commands() -> dict[str, str]:
    """The help of every command, as the reference has it."""
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    parts = re.split(r"^###? (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))
