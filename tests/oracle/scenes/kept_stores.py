"""Stores that an earlier program left behind: indexes, caches, interrupted commands, texts for undo.

The archives were written once, by the program as it was before it was taken apart. A later program must read
them as that one did; so nothing here may be recorded anew by a later one.
"""

from __future__ import annotations

import io
import os
import tarfile
from typing import TYPE_CHECKING

from stage import STORES, Scene, material

if TYPE_CHECKING:
    from pathlib import Path

FACTS = ".thunderus/memory/semantic/FACTS"
POINTS = ("stage.begun", "stage.done", "append.half-written", "commit.after", "publish.each", "drop.each")
"""Where commands were killed; each left an archive ``killed-<point>``."""

AFTER = """
search even
check
status
doctor
garden
list
log
events verify
undo --dry-run
undo
status
undo --redo
index verify
"""


FIRST = (
    "doctor --json",
    "doctor --fix --dry-run",
    "doctor --fix",
    "status",
    "add fact New --tag x --body Text.",
    "list --plain",
    "events record",
    "lint --format concise",
    "index rebuild",
    "events verify",
)
"""Commands that come first after the interruption."""


def build(scene: Scene) -> None:
    """A memory with code, a run of the gardener, an import, edits and something to undo."""
    scene.begin()
    scene.write("src/app.py", "def run(port):\n    return serve(port)\n\n\nclass App:\n    size = 3\n")
    scene.bring("order/tags/semantic", ".thunderus/memory/semantic")
    scene.bring("garden/newest-stays/FACTS", FACTS)
    scene("events add", stdin=material("session.jsonl").read_bytes())
    scene('-q add fact "Ports are even" --tag net --body "Every port is even." --anchor src/app.py#run')
    scene('-q add fact "Sizes" --tag net --body "The size is three." --anchor src/app.py#App')
    scene("-q edit fact.ports --tag more")
    scene("garden --apply")
    scene(
        "edit fact.sizes --body 'The size is four.'",
        env={"THUNDERUS_MEM_ACTOR": "agent", "THUNDERUS_MEM_REVIEW_AGENTS": "propose"},
    )
    scene("remove fact.ports -m 'For a while'")
    scene("undo")
    scene.commit("All")
    scene.change("src/app.py", ("size = 3", "size = 4"))
    scene.each("check\ngarden\nsearch even\nstatus")


def record_stores(base: Path) -> None:
    """Write the archives. Only for the program whose stores are to be kept."""
    STORES.mkdir(exist_ok=True)
    for old in STORES.glob("*.tar.xz"):
        old.unlink()
    scene = Scene("building", base)
    build(scene)
    pack(scene, "settled")
    for point in POINTS:
        one = Scene(f"building-{point}", base)
        one.unpack("settled")
        one.extra = {"THUNDERUS_MEM_FAILPOINTS": "1", "FAILPOINT": f"{point}:kill"}
        one.turn, one.now = scene.turn + 100, scene.now
        one("rename fact.ports fact.net.ports -m 'To be killed'")
        if "= 137" not in one.lines:
            raise AssertionError(f"{point} was not passed: {one.lines[-3:]}")
        pack(one, f"killed-{point}")
    loose = Scene("building-loose", base)
    loose.unpack("settled")
    loose.turn, loose.now = scene.turn + 100, scene.now
    for number in range(3):
        path = f"{FACTS}/ports-are-even.md"
        loose.append(path, f"\nBy hand, {number}.\n")
        loose.append(path, "A line that is long enough to be left out of a diff.\n" * 3000)
        loose("events record")
        loose(f"edit fact.ports --body 'Short again, {number}.'")
    loose.extra = {"THUNDERUS_MEM_FAILPOINTS": "1", "FAILPOINT": "commit.after:kill"}
    loose("undo")
    pack(loose, "kept-texts")


def pack(scene: Scene, name: str) -> None:
    """The whole repository of a scene as an archive with nothing in it that changes from run to run."""
    with tarfile.open(STORES / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for folder, folders, names in os.walk(scene.root):
            folders.sort()
            for one in sorted([*folders, *names]):
                path = os.path.join(folder, one)
                info = archive.gettarinfo(path, os.path.relpath(path, scene.root))
                info.mtime, info.uid, info.gid, info.uname, info.gname = 1_768_986_000, 0, 0, "", ""
                if info.isfile():
                    with open(path, "rb") as stream:
                        archive.addfile(info, io.BytesIO(stream.read()))
                else:
                    archive.addfile(info)


def after(scene: Scene, name: str) -> None:
    """What the program makes of such a store."""
    scene.unpack(name)
    scene.turn, scene.now = 500, scene.now.replace(day=22)
    scene.each(AFTER)


def scene_kept_settled(scene: Scene) -> None:
    """A store at rest, with its index and caches."""
    scene.unpack("settled")
    scene.turn, scene.now = 500, scene.now.replace(day=22)
    scene.index()
    scene.caches()
    scene.each("index status\ncheck\ngarden")
    scene.each(AFTER)
    scene.each(
        "review list\nreview approve --all --yes\nundo --list\nundo --dry-run\nwhy fact.ports\nwhy fact.ports --lines"
    )
    scene.each("index refresh\nindex manifest --check\nundo\nevents replay --check\nrecap 2026-01-21")
    scene.index()
    scene.tree()


def scene_kept_texts(scene: Scene) -> None:
    """Texts that only undo keeps, and a run of undo that was killed."""
    after(scene, "kept-texts")
    scene.each("undo -n 3\nundo -n 2\nundo --redo\ndoctor --fix")
    scene.tree()


def scene_interrupted(scene: Scene) -> None:
    """Commands that were killed at several points: the store is healed, forwards or backwards."""
    for point in POINTS:
        scene.lines += ["", "", f"##### {point}"]
        scene.remove(".")
        scene.root.mkdir()
        after(scene, f"killed-{point}")
        scene.tree(FACTS)


def scene_interrupted_first(scene: Scene) -> None:
    """What each kind of command makes of a store that it finds interrupted."""
    for line in FIRST:
        for point in ("publish.each", "stage.done"):
            scene.remove(".")
            scene.root.mkdir()
            scene.unpack(f"killed-{point}")
            scene.turn, scene.now = 500, scene.now.replace(day=22)
            scene.note(f"killed at {point}")
            scene(line)
