"""The queue of proposals: filed by agents and by the gardener, shown, decided, made anew and expired."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Scene

AGENT = {"THUNDERUS_MEM_ACTOR": "agent"}
FACTS = ".thunderus/memory/semantic/FACTS"


def waiting(scene: Scene) -> list[str]:
    """The ids of all proposals, oldest first."""
    return [line.split("\t")[0] for line in scene("patch list --plain").stdout.decode().splitlines()]


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
    scene.forms("patch list\npatch list --limit 2\nstatus\npatch list --label none --rule none")
    for one in ids:
        scene(f"patch show {one}")
    scene.forms(f"patch show {ids[0]}")
    scene.terminal(f"patch list\npatch show {ids[0]}\npatch show {ids[2]}\nstatus\nlog")
    scene.tree(".thunderus/patches")
    scene(f"patch approve {ids[0]}", env=AGENT)
    scene(f"patch approve {ids[0]} -m 'True since Monday'")
    scene(f"patch approve {ids[0]}")
    scene(f"patch reject {ids[1]}")
    scene(f"patch reject {ids[1]} -m 'Eight by now' --json")
    scene("-q edit fact.tides --add-tag sea")
    scene("-q edit fact.bread --body 'Bread sinks.'")
    scene("lint --format concise")
    for one in ids[2:]:
        scene(f"patch show {one} --json")
        scene(f"patch approve {one}")
    scene(f"patch rebase {ids[5]} {ids[7]}")
    scene(f"patch rebase {ids[5]} --json")
    scene(f"patch rebase {ids[5]} --plain")
    scene.terminal("patch approve --all", keys=[(b"] ", b"n\r")])
    scene.each("patch approve --all --yes\npatch approve --all --yes --rebase --plain")
    scene.each("undo\npatch list\nevents list -k approval --json")
    scene.wait(days=20)
    scene("add fact 'Later' --tag later --body 'Later on.'", env=AGENT)
    scene.wait(days=15)
    scene.forms("patch expire --plan\npatch expire --dry-run --older-than 1d\npatch list")
    scene.each("patch expire -m 'Nobody asked'\npatch expire --older-than 1d --json\npatch expire")
    scene.each("patch approve\npatch reject --all --yes -m none\npatch approve nothing")
    scene.write(".thunderus/patches/patch_00000000000000000000000000.json", "{ not json")
    scene.write(".thunderus/patches/readme.txt", "What is this?\n")
    scene.forms("patch list\nlint\ndoctor\nstatus")
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
    scene.each(
        "garden --check\ngarden --propose\ngarden --propose --json\ngarden --check\ngarden --plan --json"
    )
    ids = waiting(scene)
    for one in ids[:4]:
        scene(f"patch show {one}")
    scene.each(
        """
        patch list --rule duplicates
        patch list --rule tags --json
        patch list --label same
        patch approve --all --rule duplicates -y -m Right
        patch reject --all --rule tags --yes -m "Not now"
        patch reject --all --label nothing --yes -m "Not now"
        garden --plan
        garden --apply
        log
        """
    )
    scene("garden --apply", env={**AGENT, "THUNDERUS_MEM_REVIEW_AGENTS": "propose"})
    scene("patch list", env=AGENT)
    scene("patch approve --all -y", env={**AGENT, "THUNDERUS_MEM_REVIEW_SELF_APPROVAL": "true"})
    scene.tree()
