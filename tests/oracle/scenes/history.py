"""The log and what is made of it: events brought in, recaps of all scopes, replay, export."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from stage import material

if TYPE_CHECKING:
    from stage import Scene


def scene_events(scene: Scene) -> None:
    """Events added, refused, listed, shown, verified, replayed and exported."""
    scene.begin()
    session = material("session.jsonl").read_bytes()
    scene("events add", stdin=session)
    scene("events add", stdin=session)
    scene("events add --json", stdin=material("recap-session.jsonl").read_bytes())
    scene('events add --kind tool_result --body "make lint" --exit-code 2')
    scene('events add -k note --body "A thought" --actor agent -m "Just so" --plain')
    scene("events add --kind message --body -", stdin="Said on stdin.\n")
    scene("events add", stdin='{"kind": "message", "body": {"txt": 1, "text": 2}}\n')
    scene("events add", stdin="no json\n")
    scene("events add", stdin='{"kind":"note","body":{"text":"AK' + 'IAQ7ZX2MWRT5LPN3VK"}}\n')
    scene("events add", stdin="")
    scene("events add --kind approval --body x")
    scene('-q add fact "Ports are even" --body "Every port is even." --tag net -m why')
    scene("-q edit fact.ports --body 'Nearly every port is even.'")
    scene.forms("log --all\nlog --all --kind note --kind patch\nevents verify\nevents replay")
    listed = scene("log --all --limit 3 --plain").stdout.decode()
    scene.forms(f"events show {listed.split()[0]}")
    scene.each(
        """
        events export
        events export --private
        events export --about fact.ports-are-even --kind patch
        events export --since 2026-01-21
        events export --format prov-json
        events export --format prov-json --output prov.json --json
        events export -o out.jsonl
        events export -o out.jsonl --private --plain
        events replay --check
        """
    )
    scene.show("prov.json", "out.jsonl")
    scene.terminal("log --all\nlog --all -n 2\nevents verify\nevents replay\nlog")
    scene.tree()
    scene.index()


def scene_recaps(scene: Scene) -> None:
    """Recaps of days, sessions, episodes, weeks, months and whiles; edited ones; templates; summarizers."""
    scene.begin()
    scene.write("src/cache.py", "class Cache: ...\n")
    scene("events add", stdin=material("session.jsonl").read_bytes())
    scene("events add", stdin=material("recap-session.jsonl").read_bytes())
    scene(
        "events add",
        stdin='{"kind":"note","session_id":"agent-9","episode_id":"move","body":{"text":"We moved."}}\n',
    )
    scene('-q add fact "Ports are even" --body "Every port is even." --tag net')
    scene.commit("Ports")
    revision = scene.git("rev-parse HEAD~1")
    scene.each(
        """
        recap --dry-run
        recap today
        recap 2026-01-21 --json
        recap yesterday
        recap --session agent-7
        recap --session 2026-01-21-ab --plain
        recap --episode move
        recap --episode nothing
        recap --since 2d --dry-run
        recap --since 2026-01-20 --dry-run
        recap 2026-W04
        recap 2026-01 -m "A month"
        recap 2026-01-21 --session 2026
        list --kind recap
        """
    )
    scene(f"recap --since {revision[:10]} --dry-run")
    scene.append(".thunderus/memory/episodic/2026-01-21.md", "\nAdded by hand.\n")
    scene.each("events add --kind note --body 'One more'\nrecap 2026-01-21\nrecap 2026-01-21 --yes")
    scene.wait(days=1)
    scene.each("recap\nrecap yesterday --dry-run")
    scene.write("sum.sh", "#!/bin/sh\ncat >/dev/null\necho 'A summary.'\n")
    scene.path("sum.sh").chmod(0o755)
    scene.settle()
    scene.each(
        """
        recap 2026-01-21 --summarizer ./sum.sh
        recap 2026-01-21 --summarizer "sh -c 'exit 3'"
        recap 2026-01-21 --summarizer "sleep 30" --timeout 0.2
        """
    )
    scene.write(
        "recap.md.j2",
        "# {{ title }}\n{% for line in problems %}\n- {{ line }}\n{% else %}\nNo problems.\n{% endfor %}\n",
    )
    scene.write(".thunderus/memory/gardener.toml", '[recap]\ntemplate = "recap.md.j2"\n')
    scene.each("recap 2026-01-21 --yes\nrecap 2026-W04 --dry-run")
    scene.write("recap.md.j2", "# {{ title.__class__ }}\n")
    scene("recap today")
    scene.write("recap.md.j2", "# {% if %}\n")
    scene("recap today")
    scene.write(".thunderus/memory/gardener.toml", "[recap]\nprivate = false\nmax_files = 0\n")
    scene("recap 2026-01-21 --yes")
    scene.write(
        ".thunderus/memory/gardener.toml",
        '[recap]\nschedule = ["session", "day", "week", "month"]\n',
    )
    scene.wait(days=40)
    scene.each("garden\ngarden --apply\ngarden --json\nlint --format concise")
    scene.terminal("recap --dry-run\ngarden")
    scene.tree()


def scene_undoing(scene: Scene) -> None:
    """Undo and redo through edits, other trees, runs of the gardener, and what stands in the way."""
    scene.begin()
    for number in range(4):
        scene(
            f'-q add fact "Fact {number}" --body "Line one of {number}.\n\nMiddle.\n\nLast line." --tag t{number}'
        )
    facts = ".thunderus/memory/semantic/FACTS"
    scene("-q edit fact.fact-0 --body 'Line one changed.\n\nMiddle.\n\nLast line.'")
    scene.change(f"{facts}/fact-0.md", ("Last line.", "Last line by hand."))
    scene.each("undo --dry-run\nundo\nshow fact.fact-0\nundo --redo")
    scene("-q edit fact.fact-1 --body 'Other.'")
    scene.change(f"{facts}/fact-1.md", ("Other.", "Other by hand."))
    scene.each(
        "undo\nundo --json\nevents record\nundo\nundo -n 20\nundo -n 3\nundo --redo\nundo --redo\nundo --redo"
    )
    patches = [line.split("\t")[0] for line in scene("log --plain -n 30").stdout.decode().splitlines()]
    for event in (patches[-2], patches[0]):
        scene(f"undo {event} --dry-run")
    scene.commit("More")
    scene("-q add fact Later --body Later. --tag later")
    scene.each("undo -n 2 --dry-run\nundo -n 2\nundo --redo -n 2")
    scene.write(f"{facts}/large.md", scene.path(f"{facts}/fact-2.md").read_text().replace("fact-2", "large"))
    scene.append(f"{facts}/large.md", "A long line of text that is repeated.\n" * 4000)
    scene.each("events record\nremove fact.large -m 'Too long'\nundo\nundo --redo")
    scene.tree()
    scene.terminal("undo --dry-run\nlog")


def scene_watch(scene: Scene) -> None:
    """A look at files while they change."""
    scene.begin()
    scene('-q add fact "Time zones" --body "All is UTC." --tag time')
    page = ".thunderus/memory/semantic/FACTS/time-zones.md"
    for number, (line, begun) in enumerate(
        (
            ("watch --poll --every 0.2", "Watching"),
            ("watch --json --poll --every 0.2", ""),
            ("watch --plain", "Watching"),
        )
    ):
        link = f"\nSee [the old page](gone-{number}.md).\n"
        scene.until(line, begun, lambda link=link: (time.sleep(4), scene.append(page, link)), "TM201")
    scene("watch --no-poll --every 0.01")
