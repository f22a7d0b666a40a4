"""The gardener: golden folders of every rule, planned, applied, proposed, taken back and restored."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from stage import MATERIAL, material

if TYPE_CHECKING:
    from pathlib import Path

    from stage import Scene

FOLDERS = {"FACTS": "semantic/FACTS", "DECISIONS": "semantic/DECISIONS", "PLAYBOOKS": "procedural/PLAYBOOKS"}
GARDENER = ".thunderus/memory/gardener.toml"


def toml_value(value: object) -> str:
    """A value as TOML has it; tables in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {toml_value(one)}' for key, one in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def settings(folder: Path) -> str:
    """What ``about`` of a golden folder says of the settings, as ``gardener.toml``."""
    lines: list[str] = []
    about = folder / "about.toml"
    if about.exists():
        for key, value in tomllib.loads(about.read_text(encoding="utf-8")).get("config", {}).items():
            section, _, name = key.partition("_")
            lines.append(f"{section}.{name} = {toml_value(value)}")
    text = folder / "about.txt"
    if text.exists() and (match := re.search(r"^strategy: (\w+)", text.read_text(encoding="utf-8"))):
        lines.append(f'duplicates.strategy = "{match[1]}"')
    return "".join(f"{line}\n" for line in lines)


def lay_out(scene: Scene, folder: Path) -> None:
    """Put a golden folder in place of the whole memory."""
    for name in (".thunderus/memory", ".thunderus/patches"):
        if scene.path(name).exists():
            scene.remove(name)
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("about."):
            continue
        first, _, rest = path.relative_to(folder).as_posix().partition("/")
        scene.write(f".thunderus/memory/{FOLDERS.get(first, first)}/{rest}", path.read_bytes())
    scene.write(GARDENER, settings(folder))
    scene.lines += ["", "", f"##### {folder.name}"]


def scene_garden_duplicates(scene: Scene) -> None:
    """Equal and nearly equal documents, restatements, contradictions: plan and what is applied."""
    scene.git("init -q")
    for folder in sorted(material("garden").iterdir()):
        lay_out(scene, folder)
        scene("garden --json")
        scene("garden --apply")
        scene.tree(".thunderus/memory")


def scene_garden_order(scene: Scene) -> None:
    """Links, tags, numbers, sizes, archive and orphans: every form of plan, apply, propose, undo."""
    scene.begin()
    scene.now = scene.now.replace(month=8)
    for folder in sorted(material("order").iterdir()):
        lay_out(scene, folder)
        scene("garden --json")
        scene.terminal("garden")
        scene.each("garden --check\ngarden --apply\nundo --why 'Not so'\ngarden --apply --json")
        scene.each(
            "garden --propose --plain\nreview approve --all --yes --rebase\ngarden\nlint --format concise"
        )
        scene.tree(".thunderus/memory")


def scene_garden_pairs(scene: Scene) -> None:
    """Many pairs of documents, compared: what is near, restated, contradicted, contained."""
    scene.git("init -q")
    pairs = re.split(r"^=== ", material("pairs.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for number, pair in enumerate(pairs):
        _, _, text = pair.partition("\n")
        for letter, side in zip("ab", text.split("---\n"), strict=False):
            title, _, body = side.partition("\n")
            name = f"p{number:03}{letter}"
            scene.write(
                f".thunderus/memory/semantic/FACTS/{name}.md",
                f"---\nid: fact.{name}\ntitle: {title!r}\nkind: fact\ntags: [t{number}]\n"
                "created: 2026-01-20T09:00:00Z\nupdated: 2026-01-20T09:00:00Z\n"
                "provenance: {events: [], patches: [], commits: []}\n"
                f"verification: {{last_verified_commit: null, status: unknown}}\n---\n\n{body}",
            )
    scene("garden --limit 0")
    scene("garden --json")
    scene(
        "garden --json",
        env={"THUNDERUS_MEM_DUPLICATES_NEAR": "30", "THUNDERUS_MEM_DUPLICATES_RESTATED": "20"},
    )
    scene("garden --only duplicates,links")
    scene("garden --only tags --only numbers --limit 2")
    scene.caches()
    scene("list")
    scene.terminal("list\ngarden -n 3\nstatus")
    scene.index()
    scene.each("search retries\nsearch 'pause between attempts' --json\nsearch migration --explain")


def scene_garden_runs(scene: Scene) -> None:
    """Runs of the gardener over a whole memory, told, taken back and restored; sessions that teach."""
    scene.begin()
    for name in ("links", "tags", "numbers"):
        scene.bring(f"order/{name}", ".thunderus/memory")
    for name in ("about.toml", "about.txt"):
        if scene.path(f".thunderus/memory/{name}").exists():
            scene.remove(f".thunderus/memory/{name}")
    scene.bring("garden/newest-stays/FACTS", ".thunderus/memory/semantic/FACTS")
    scene("events add", stdin=material("session.jsonl").read_bytes())
    scene.commit("All")
    scene.forms("garden\nstatus\nlint --format concise")
    scene.each("garden --apply\nstatus\nundo --list\nlog -n 5\ngarden\nlint --format concise")
    snapshot = scene("undo --list --plain").stdout.decode().split("\t")[0]
    scene.forms(f"undo {snapshot} --dry-run\nundo --list --limit 1")
    scene.each(
        f"""
        undo {snapshot} --dry-run
        undo {snapshot} -m "Not so"
        undo {snapshot}
        undo
        undo --redo
        garden --apply --only tags
        undo
        undo
        undo --list
        garden --apply
        edit core --tag more
        """
    )
    scene.append(".thunderus/memory/semantic/FACTS/a.md", "\nBy hand.\n")
    scene.forms("undo --list\nundo --list")
    scene.each("undo\ngarden --propose\nreview list")
    scene.terminal("undo --list\ngarden\ngarden --apply\nlog")
    scene.write(GARDENER, "[links]\norphans = true\n")
    scene.each("garden --json\ngarden --check")
    scene.tree()


if not MATERIAL.is_dir():
    raise SystemExit(f"There is no material in {MATERIAL}.")
