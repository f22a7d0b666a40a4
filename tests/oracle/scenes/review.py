"""The queue of proposals: filed by agents and by the gardener, shown, decided, made anew and expired."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Scene

AGENT = {"THUNDERUS_MEM_ACTOR": "agent"}
FACTS = ".thunderus/memory/semantic/FACTS"


def waiting(scene: Scene) -> list[str]:
    """The ids of all proposals, oldest first."""
    return [line.split("\t")[0] for line in scene("review list --plain").stdout.decode().splitlines()]


def scene_review(scene: Scene) -> None:
    """What agents write is filed; people approve, reject, rebase and let expire."""
    scene.begin()
    scene.write(".thunderus/config.toml", '[review]\nagents = "propose"\n')
    scene.write("src/app.py", "def run(port):\n    return serve(port)\n")
    for name in ("Ports are even", "Frames are small", "Tides turn", "Owls hunt", "Bread rises"):
        scene(f'-q add fact "{name}" --tag one --body "{name}.\n\nThe middle stays.\n\nThe end of {name}."')
    scene.commit("Facts")
    for line in (
        "edit fact.ports --body 'Ports are odd.' -m 'Saw it'",
        "add fact 'Frames are four bytes' --tag protocol --body 'Four bytes.' --json",
        "anchor fact.frames-are-small src/app.py#run",
        "link fact.tides refers_to fact.owls --plain",
        "supersede fact.owls fact.tides -m 'Owls are gone'",
        "remove fact.bread -m 'Not ours'",
        "rename fact.tides fact.sea.tides",
        "edit fact.tides --set 'title=The tide turns'",
        "archive fact.owls",
    ):
        scene(line, env=AGENT)
    ids = waiting(scene)
    scene.forms("review list\nreview list --limit 2\nstatus\nreview list --only none")
    for one in ids:
        scene(f"review show {one}")
    scene.forms(f"review show {ids[0]}")
    scene.terminal(f"review list\nreview show {ids[0]}\nreview show {ids[2]}\nstatus\nlog")
    scene.tree(".thunderus/patches")
    scene(f"review approve {ids[0]}", env=AGENT)
    scene(f"review approve {ids[0]} -m 'True since Monday'")
    scene(f"review approve {ids[0]}")
    scene(f"review reject {ids[1]}")
    scene(f"review reject {ids[1]} -m 'Eight by now' --json")
    scene("-q edit fact.tides --tag sea")
    scene("-q edit fact.bread --body 'Bread sinks.'")
    scene("lint --format concise")
    for one in ids[2:]:
        scene(f"review show {one} --json")
        scene(f"review approve {one}")
    scene(f"review approve --rebase {ids[5]} {ids[7]}")
    scene(f"review approve --rebase {ids[5]} --json")
    scene.terminal("review approve --all", keys=[(b"] ", b"n\r")])
    scene.each("review approve --all --yes\nreview approve --all --yes --rebase --plain")
    scene.each("undo\nreview list\nlog --all -k approval --json")
    scene.wait(days=20)
    scene("add fact 'Later' --tag later --body 'Later on.'", env=AGENT)
    scene.wait(days=15)
    scene.forms("review expire --dry-run\nreview list")
    scene.each("review expire -m 'Nobody asked'\nreview expire --json\nreview expire")
    scene.each("review approve\nreview reject --all --yes -m none\nreview approve nothing")
    scene.write(".thunderus/patches/patch_00000000000000000000000000.json", "{ not json")
    scene.write(".thunderus/patches/readme.txt", "What is this?\n")
    scene.forms("review list\nlint\ndoctor\nstatus")
    scene.tree()


def scene_review_garden(scene: Scene) -> None:
    """Steps of the gardener filed for review, and decided by rule and label."""
    scene.begin()
    body = "The exporter waits thirty seconds for the first page and five for each further one."
    for name in ("one", "two"):
        scene.write(
            f"{FACTS}/{name}.md",
            f"---\nid: fact.{name}\ntitle: About {name}\nkind: fact\ntags: [export]\n"
            "created: 2026-01-20T09:00:00Z\nupdated: 2026-01-20T09:00:00Z\n"
            "provenance: {events: [], patches: [], commits: []}\n"
            f"verification: {{last_verified_commit: null, status: unknown}}\n---\n\n{body}\n",
        )
    scene.bring("order/tags/semantic", ".thunderus/memory/semantic")
    scene.commit("Two that say the same")
    scene.each("garden --check\ngarden --propose\ngarden --propose --json\ngarden --check\ngarden --json")
    ids = waiting(scene)
    for one in ids[:4]:
        scene(f"review show {one}")
    scene.each(
        """
        review list --only duplicates
        review list --only tags --json
        review list --only same
        review approve --all --only duplicates -y -m Right
        review reject --all --only tags --yes -m "Not now"
        review reject --all --only nothing --yes -m "Not now"
        garden
        garden --apply
        log
        """
    )
    scene("garden --apply", env={**AGENT, "THUNDERUS_MEM_REVIEW_AGENTS": "propose"})
    scene("review list", env=AGENT)
    scene("review approve --all -y", env={**AGENT, "THUNDERUS_MEM_REVIEW_SELF_APPROVAL": "true"})
    scene.tree()
