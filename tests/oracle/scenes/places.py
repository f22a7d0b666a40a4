"""Where a memory stands: inside another one, in a worktree, without git, read-only, of an older shape."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from stage import material

if TYPE_CHECKING:
    from stage import Scene

READS = "status\nlist\nsearch even\nlog\nlint\ncheck\ndoctor\ngarden\nwhy fact.ports\nindex manifest --check\nindex status"
FACTS = ".thunderus/memory/semantic/FACTS"


def scene_nested(scene: Scene) -> None:
    """A memory inside a memory, folders below, a worktree, and the ways to name the folder."""
    scene.begin()
    scene('-q add fact "Ports are even" --tag net --body "Outer."')
    scene.write("inner/src/a.py", "x = 1\n")
    scene.write("sub/deep/b.py", "y = 2\n")
    scene("init", cwd="inner")
    scene('add fact "Ports are odd" --tag net --body "Inner." --anchor src/a.py', cwd="inner/src")
    scene.commit("Both")
    for folder in ("sub/deep", "inner", "inner/src", ".thunderus/memory"):
        scene.each("status\nlist --plain\nconfig path\nshow fact.ports", cwd=folder)
    scene.each(
        "for b.py\nanchor fact.ports b.py\nlint ../../inner\nimport markdown .. --kind fact -n",
        cwd="sub/deep",
    )
    scene.each("-C inner list\n-C sub/deep status\n-C .. status\nlint --format concise")
    scene("list", env={"THUNDERUS_MEM_ROOT": str(scene.path("inner"))})
    scene("list", env={"THUNDERUS_MEM_ROOT": "/no/such/folder"})
    scene.git("worktree add -q ../tree -b other")
    tree = "../tree"
    scene.each('status\nlist\nadd fact "In the tree" --tag t --body Text.\nlog\nundo --dry-run', cwd=tree)
    scene.each("log\nundo --dry-run")
    scene.tree()


def scene_without_git(scene: Scene) -> None:
    """No repository, and no git at all."""
    scene("init")
    scene('-q add fact "Ports are even" --tag net --body "All of them." -m why')
    scene.write("src/a.py", "def f():\n    return 1\n")
    scene("anchor fact.ports src/a.py#f")
    scene.each("edit fact.ports --tag more\nevents add --kind note --body 'A note'\nrecap today")
    scene.change("src/a.py", ("return 1", "return 2"))
    scene.forms(READS)
    scene.each(
        "verify fact.ports --yes\nundo\nwhy fact.ports --lines\nevents replay --check\nresolve\ncheck --staged"
    )
    scene.each("check --since HEAD\nlint --staged\nhooks install\nhooks run\ncheck --diff gone.diff")
    scene.wait(days=1)
    scene.each(
        "events add --kind note --body 'Another day'\nlog\nrecap --since 1d --dry-run\nimport markdown src --kind fact"
    )
    scene.note("no git in PATH")
    bare = {"PATH": str(scene.home)}
    scene.each(READS, env=bare)
    scene("add fact 'Still works' --tag x --body Text.", env=bare)
    scene.tree()


def scene_read_only(scene: Scene) -> None:
    """A store whose files and folders cannot be written, or not be read."""
    scene.begin()
    scene('-q add fact "Ports are even" --tag net --body "All of them."')
    scene.commit("Facts")
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise AssertionError("read-only needs setpriv when it is run by root")
        scene.wrapper = [setpriv, "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    writes = "add fact New --tag x --body Text.\nedit fact.ports --tag y\nevents add --kind note --body Hello\nevents record\nundo\ngarden --apply"
    upkeep = "index rebuild\nindex refresh\nindex manifest\nmigrate --apply\ninit\ndoctor --fix --dry-run\nhooks install"
    for fresh in (True, False):
        if not fresh:
            scene.append(f"{FACTS}/ports-are-even.md", "\nMore by hand.\n")
        closed(scene, 0o555, 0o444)
        scene.each(READS + "\nlist --json\nstatus --json\ndoctor --json")
        scene.each(f"{writes}\n{upkeep}")
        closed(scene, 0o755, 0o644)
    scene.each("index refresh")
    page = scene.path(f"{FACTS}/ports-are-even.md")
    page.chmod(0)
    scene.each("list\nlint\ndoctor\nshow fact.ports\nstatus\nedit fact.ports --tag z")
    page.chmod(0o644)
    folder = scene.path(FACTS)
    folder.chmod(0)
    scene.each("list\nlint\ndoctor\nstatus\nadd fact New --tag x --body Text.")
    folder.chmod(0o755)
    scene.each("list\nstatus\nadd fact New --tag x --body Text.")


def closed(scene: Scene, folder_mode: int, file_mode: int) -> None:
    """Give every file and folder of the store a mode."""
    for folder, _, names in os.walk(scene.path(".thunderus"), topdown=False):
        for name in names:
            os.chmod(os.path.join(folder, name), file_mode)
        os.chmod(folder, folder_mode)
    scene.settle()


def scene_migrate(scene: Scene) -> None:
    """Stores of older and looser shapes: read as they are, shown, brought up to date, taken back."""
    scene.git("init -q")
    for case in sorted(material("migrate").iterdir()):
        scene.lines += ["", "", f"##### {case.name}"]
        if scene.path(".thunderus").exists():
            scene.remove(".thunderus")
        scene.bring(f"migrate/{case.name}")
        scene.commit(case.name)
        scene.each("status\nlist\nlint --format concise\ndoctor\nsearch test\nconfig show --plain")
        scene.forms("migrate\nmigrate --check")
        scene.terminal("migrate\nlist")
        scene.each(
            "migrate --apply -m 'Up to date'\nmigrate\nmigrate --check\nlint --format concise\nlist --json"
        )
        scene.tree()
        scene.each("undo\nmigrate --check\nundo --redo\nmigrate --apply --json")
        scene.index()
    scene.remove(".thunderus")
    scene("-q init")
    scene.each("migrate\nmigrate --json\nmigrate --check")
    scene.write(".thunderus/config.toml", "[store]\nversion = 99\n")
    scene.each(
        "status\nlist\nadd fact New --tag x --body Text.\nmigrate\nmigrate --apply\ndoctor\ndoctor --fix"
    )
