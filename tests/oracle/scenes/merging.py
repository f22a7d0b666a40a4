"""Branches that edit one document: conflicts as git leaves them, what is settled, and the merge driver."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Scene

FACTS = ".thunderus/memory/semantic/FACTS"
BIG = f"{FACTS}/frames.md"
READS = "status\nlist\nlint --format concise\ncheck\ndoctor\nsearch frame\nresolve --dry-run\nevents verify\ngarden"


def diverge(scene: Scene) -> None:
    """Two branches that edit, remove, rename and add documents."""
    scene.begin()
    for name in ("Frames", "Ports", "Tides", "Owls"):
        scene(
            f"-q add fact {name} --tag one --body 'The first line of {name}.\n\nThe middle stays.\n\nThe last line.'"
        )
    scene.commit("Facts")
    scene.git("switch -q -c topic")
    scene("-q edit fact.frames --tag wire --set author=Tom")
    scene.change(BIG, ("The first line of Frames.", "Theirs, little-endian."))
    scene("-q edit fact.ports --tag theirs")
    scene("-q remove fact.tides -m 'Not needed'")
    scene("-q edit fact.owls --body 'Owls by them.'")
    scene("-q add fact Both --tag both --body 'Text of theirs.'")
    scene.commit("Topic")
    scene.git("switch -q main")
    scene("-q edit fact.frames --tag bytes --set credibility=0.9")
    scene.change(BIG, ("The first line of Frames.", "Ours, big-endian."))
    scene("-q edit fact.ports --tag ours")
    scene("-q edit fact.tides --tag ours")
    scene("-q rename fact.owls fact.birds.owls")
    scene("-q add fact Both --tag both --body 'Text of ours.'")
    scene.commit("Main")


def scene_conflicted(scene: Scene) -> None:
    """A merge that stops: read, resolved by parts, staged, committed."""
    diverge(scene)
    scene.git("merge topic", may_fail=True)
    scene.show(BIG)
    scene.forms(READS)
    scene.terminal(READS)
    scene.each(
        "resolve fact.ports\nresolve fact.ports --json\nresolve nothing\nadd fact New --tag x --body Text."
    )
    scene.each("resolve --json\nresolve --plain\nresolve -m 'Both were right'")
    text = scene.path(BIG).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(("<<<<<<<", "=======", ">>>>>>>"))]
    scene.write(BIG, "\n".join(kept) + "\n")
    scene.each("resolve --stage --dry-run\nresolve --stage\nstatus")
    scene.git("add -A")
    scene.git("commit -qm Merged", may_fail=True)
    scene.each(
        "status\nlog\nlint --format concise\nevents verify\nevents replay --check\nwhy fact.frames --lines\nundo"
    )
    scene.tree()
    scene.index()


def scene_rebased(scene: Scene) -> None:
    """The same in a rebase, a cherry-pick, a revert and a stash."""
    diverge(scene)
    scene.git("tag here")
    for line, back in (
        ("rebase topic", "rebase --abort"),
        ("cherry-pick topic", "cherry-pick --abort"),
        ("revert --no-edit HEAD~1", "revert --abort"),
    ):
        scene.note(f"git {line}")
        scene.git(line, may_fail=True)
        scene.each("status\nresolve --dry-run\nresolve\nresolve --stage")
        scene.git(back, may_fail=True)
        scene.git("reset -q --hard here")
    scene.append(BIG, "\nStashed words.\n")
    scene.git("stash")
    scene.append(BIG, "\nOther words.\n")
    scene.commit("Other words")
    scene.git("stash pop", may_fail=True)
    scene.each("status\nresolve --dry-run --json\nresolve --plain\nresolve")
    scene.tree(".thunderus/memory")


def scene_merge_driver(scene: Scene) -> None:
    """Git calls the program for every document."""
    diverge(scene)
    driver = f"{shlex.quote(scene.command)} merge-driver %O %A %B %P"
    scene.git(f"config merge.thunderus-mem.driver {shlex.quote(driver)}")
    scene.write(".gitattributes", ".thunderus/memory/**/*.md merge=thunderus-mem\n")
    scene.commit("Attributes")
    scene.git_told("merge topic")
    scene.show(BIG, f"{FACTS}/ports.md")
    scene.each("status\nresolve --dry-run")
    base, ours, theirs = (scene.git(f"show {one}:{BIG}") + "\n" for one in ("main~2", "main", "topic"))
    for more in ((), ("--json",), ("--plain",)):
        for name, text in (("o.md", base), ("a.md", ours), ("b.md", theirs)):
            scene.write(name, text)
        scene(["merge-driver", "o.md", "a.md", "b.md", BIG, *more])
    scene.show("a.md")
    scene.write("a.md", b"\xff\xfe not text")
    scene(["merge-driver", "o.md", "a.md", "b.md", BIG])
    scene(["merge-driver", "gone.md", "a.md", "b.md", BIG])
