"""Everyday work: an empty store, the demo, documents written, found, changed, set aside and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Scene

READS = """
list
search carrier
status
log
lint
check
garden
doctor
coverage
log --all
events verify
events replay
review list
undo --list
index status
index manifest --check
recap --dry-run
"""
FACTS = ".thunderus/memory/semantic/FACTS"


def scene_empty(scene: Scene) -> None:
    """No store, then one with nothing in it."""
    scene.git("init -q")
    scene.each(READS)
    scene.each("list --json\ndoctor --json\nadd fact Nowhere --body x\nshow core\nundo\nevents record")
    scene("init")
    scene.tree(whole=True)
    scene.each("init\ninit --json\ninit --plain")
    scene.forms(READS)
    scene.terminal(READS)
    scene.each("init --agents\ninit --agents --json\nundo\nundo --redo\nundo")
    scene.show("AGENTS.md", "CLAUDE.md")
    scene.index()


def scene_demo(scene: Scene) -> None:
    """The corpus of the demonstration, brought in and worked with."""
    scene.bring("demo")
    scene.git("init -q")
    scene.commit("Waybill, a service that follows parcels")
    scene.each(
        """
        --quiet init
        import markdown docs/adr --kind adr --dry-run
        import markdown docs/adr --kind adr
        import markdown docs/runbooks --kind playbook --json
        import markdown notes --kind fact --tag noted --plain
        import markdown docs/adr -k adr
        """
    )
    scene(
        ["add", "fact", "Carrier test accounts reset at midnight", "--tag", "carriers", "--tag", "testing", "--body",
         "Parcels made with a test account are gone after 00:00 UTC; `src/waybill/carriers.py` names the accounts.",
         "-m", "Cost us a morning"]
    )  # fmt: skip
    scene.forms(READS)
    scene.terminal(READS)
    scene.forms(
        """
        search "how long do we wait for a carrier?"
        search polling kind:adr --limit 2
        search tag:carriers --explain
        search -- -carrier parcel
        search '"exponential backoff"'
        search parcel -carrier
        search since:2025-01-01 before:2026-12-31 carrier
        search path:notes label
        why fact.carrier-test
        why adr.retry-carriers
        why fact.carrier-test:18-30
        why fact.carrier-test --lines
        show fact.carrier-test
        show adr.retry
        log fact.carrier-test
        list --kind fact --tag carriers
        list path:DECISIONS
        list status:unknown
        for src/waybill/carriers.py
        coverage src
        """
    )
    scene.each(
        """
        search carrier --ids
        list --ids
        show adr.retry --raw
        why fact.carrier-test --format dot
        search nothingofthekind
        search nothingofthekind --json
        search ""
        list --since 2025-06-01 --before 2026-01-01
        list --archived
        search carrier --archived
        list --color always
        search carrier --color always
        search carrier --quiet
        search carrier --no-input --no-pager
        """
    )
    scene.change(f"{FACTS}/label-printers.md", ("(zpl-cheat-sheet.md)", ""))
    scene.each(
        """
        lint
        anchor adr.retry-carriers src/waybill/carriers.py#pauses
        """
    )
    scene.change("src/waybill/carriers.py", ("FIRST_PAUSE * 2**attempt", "(FIRST_PAUSE*(2 ** attempt))"))
    scene("check")
    scene.change("src/waybill/carriers.py", ("2 ** attempt", "3 ** attempt"))
    scene("check --patch")
    scene.git("checkout -q -- src")
    scene.forms("for src/waybill/carriers.py\ngarden")
    scene.each("garden --apply\nhooks install")
    scene.git("add -A")
    scene.git_told("commit -qm 'Keep a memory'")
    scene.write(
        f"{FACTS}/broken.md", "---\nid: fact.broken\ntitle: No tags, no times\nkind: fact\n---\n\nText.\n"
    )
    scene.git("add -A")
    scene.git_told("commit -qm 'Break it'")
    scene.git(f"rm -qf --cached {FACTS}/broken.md")
    scene.remove(f"{FACTS}/broken.md")
    scene.each("recap today\nstatus\nindex manifest\nindex rebuild\nindex verify")
    scene.tree()
    scene.index()
    scene.fresh_verdicts()
    scene.caches()


def scene_writing(scene: Scene) -> None:
    """Every command that writes documents, its options and refusals, and undo of each."""
    scene.begin()
    scene.write("src/app.py", "def run(port):\n    return serve(port)\n")
    scene.write("body.txt", "A body from a file.\n\nWith two paragraphs.\n")
    scene.commit("Code")
    scene.each(
        """
        add fact "Ports are even" --body "Every port we listen on is even." -t net -m "Said so"
        add fact "Frames are four bytes" --body @body.txt --tag protocol --id fact.frames --alias "Frame size" --json
        add adr "Use SQLite" --body "One file." --tag storage --state accepted --set author=Ada --plain
        add adr "Use Postgres" --body "One server." --tag storage --link supersedes:adr.use-sqlite
        add playbook "Release" --body "1. Tag\\n2. Push" --tag release --anchor src/app.py#run
        add recap "The first week" --body "Much was done." --tag weekly
        add core "Who we are" --body "A team." --tag team --dry-run
        add fact "Ports are even" --body "Every port we listen on is even." --tag net
        add fact "All ports are even" --body "Every port we listen on is even." --tag net
        add fact "Nearly the same" --body "Every port that we listen on is even, always." --tag net
        add fact "Dry" --body "Nothing." --tag x --dry-run --json
        add fact "No tag at all" --body "Text."
        add fact "Bad field" --body "Text." --set nonsense
        add fact "Bad link" --body "Text." --link likes:core
        add fact "Bad anchor" --body "Text." --anchor gone.py --tag x
        add fact "Übergröße – ein ß" --body "Umlaute." --tag wörter
        add fact "漢字" --body "探索 の 文字" --tag cjk
        """
    )
    scene("add fact 'From stdin' --tag piped", stdin="It came through a pipe.\n")
    scene("add fact 'From stdin too' --tag piped --body -", stdin="It came through\r\na pipe.\r\n")
    scene("add fact 'No body' --tag piped --no-input", stdin="")
    scene(
        ["add", "fact", "A secret", "--tag", "x", "--body", "The key is AK" + "IAQ7ZX2MWRT5LPN3VK, keep it."]
    )
    editor = scene.base / "editor.sh"
    editor.write_text("#!/bin/sh\nprintf 'Written in the editor.\\n' >> \"$1\"\n", encoding="utf-8")
    editor.chmod(0o755)
    scene("add fact 'By editor' --tag edited --body Begun.", env={"EDITOR": str(editor)})
    scene("edit fact.by-editor", env={"VISUAL": str(editor)})
    scene.terminal("add fact 'On a terminal' --tag edited", env={"EDITOR": str(editor)})
    scene.each(
        """
        edit fact.ports --set "title=Nearly all ports are even" --tag ports -m Seen
        edit fact.ports --remove-tag net --body "All but 8081 are even." --json
        edit fact.ports --set metadata.owner=Ada --set credibility=0.5 --plain
        edit fact.frames --anchor src/app.py:1-2
        edit fact.frames --expecting sha256:00 --body Other
        edit fact.frames --body @body.txt
        edit fact.frames
        edit fact.frames --set kind=adr
        edit nothing --tag x
        edit fact --tag x
        link fact.frames refers_to fact.ports -m "They belong together"
        link fact.frames refers_to fact.ports
        link adr.use-sqlite derives_from fact.frames --json
        link fact.frames duplicates fact.frames
        supersede fact.from-stdin fact.from-stdin-too -m "Said twice"
        supersede adr.use-sqlite adr.use-postgres -m Again --plain
        supersede fact.frames fact.ports
        events add --kind note --body "Who tells operations?" --about fact.ports
        events add --kind note --body @body.txt --json
        events add --kind note --body -
        remove fact.by-editor
        remove fact.by-editor -m "Only a trial"
        remove fact.by-editor -m "Once more"
        remove fact.ports -m "It is linked" --json
        undo
        undo --redo
        undo -n 2 --dry-run
        undo -n 2 --dry-run --json
        undo -n 2 -m "Rather not" --plain
        undo --redo --dry-run
        undo evt_0
        undo --dry-run
        rename fact.frames fact.wire.frames --dry-run
        rename fact.frames fact.wire.frames -m Clearer
        rename adr.use-postgres adr.postgres --json
        rename fact.wire.frames fact.ports
        rename fact.wire.frames "fact.Not an id"
        rename fact.wire.frames fact.frames --plain
        archive recap.the-first-week -m Old
        archive fact.frames adr.use-sqlite --json
        list
        list --archived --plain
        search frame
        search frame --archived
        show fact.frames
        archive --undo fact.frames --plain
        archive --undo fact.frames
        archive --undo adr.use-sqlite recap.the-first-week -m Needed
        archive core
        """
    )
    scene("events add --kind note --body -", stdin="Piped in.\n")
    scene.append(f"{FACTS}/from-stdin.md", "\nBy hand.\n")
    scene.write(
        f"{FACTS}/hand.md",
        "---\nid: fact.hand\ntitle: By hand\nkind: fact\ntags: [hand]\ncreated: 2026-01-21T09:00:00Z\n"
        "updated: 2026-01-21T09:00:00Z\nprovenance: {events: [], patches: [], commits: []}\n"
        "verification: {last_verified_commit: null, status: unknown}\n---\n\nMade by hand.\n",
    )
    scene.each("status\nevents record -m 'By hand'\nevents record\nevents record --json\nlog -n 5\nundo")
    scene.remove(f"{FACTS}/from-stdin.md")
    scene.each("status\nevents record --plain --yes\nwhy fact.frames --lines\nwhy fact.frames:1-5 --json")
    scene.forms("log\nstatus\nlist\nwhy fact.frames\nlint")
    scene.terminal(
        "log\nlist\nshow fact.frames\nwhy fact.frames\nwhy fact.frames --lines\nundo --dry-run\nlint"
    )
    scene.each(
        "events replay --check\nevents verify\nindex rebuild --json\nindex manifest --check\nindex manifest --json"
    )
    scene.tree()
    scene.index()


def scene_imports(scene: Scene) -> None:
    """Decisions in the dialects of other tools, with dates from git and without."""
    scene.git("init -q")
    scene.bring("import", "docs")
    scene.commit("Decisions")
    scene("-q init")
    for dialect in ("adr-tools", "madr-2", "madr-3", "log4brains"):
        scene(f"import markdown docs/{dialect} --kind adr --dry-run --json")
        scene(f"import markdown docs/{dialect} --kind adr -m 'From {dialect}'")
    scene.write("docs/plain/one.md", "---\ndeciders: Tom\nlabels: a, b\n---\n# One\n\nText of one.\n")
    scene.write("docs/plain/two.md", "No heading here.\n")
    scene.write("docs/plain/bad.md", b"# Not UTF-8 \xff\xfe\n")
    scene.write("docs/plain/empty.md", "")
    scene.write("docs/plain/crlf.md", b"\xef\xbb\xbf# With a mark\r\n\r\nAnd Windows ends.\r\n")
    scene.each(
        """
        import markdown docs/plain --kind fact -n --plain
        import markdown docs/plain --kind fact --tag imported --map deciders=author --map labels=tags
        import markdown docs/plain --kind fact
        import markdown docs/plain/two.md --kind playbook --json
        lint --format concise
        list
        garden
        """
    )
    scene.terminal("list\nlint\nimport markdown docs/plain --kind fact -n")
    scene.tree()


def scene_interactive(scene: Scene) -> None:
    """Questions on a terminal, a pager, colours, and choosing from a list."""
    scene.begin()
    for number, word in enumerate(
        ("tide", "bread", "owl", "glacier", "printer", "harbour", "ember", "quarry")
    ):
        scene(f'-q add fact "About the {word}" --tag nature --body "The {word} is number {number} of eight."')
    pager = scene.base / "pager.sh"
    pager.write_text("#!/bin/sh\necho PAGER BEGINS\ncat\necho PAGER ENDS\n", encoding="utf-8")
    pager.chmod(0o755)
    scene.terminal("events export\nlog\nlist\nconfig show\nconfig show --no-pager", env={"PAGER": str(pager)})
    scene.terminal("config show", env={"THUNDERUS_MEM_PAGER": ""})
    scene.terminal("search number -i", keys=[(b"quit): ", b"2\r")])
    scene.terminal("search number --interactive --ids", keys=[(b"quit): ", b"bread\r"), (b"quit): ", b"1\r")])
    scene("search number -i", stdin="1\n")
    scene.terminal("list\nsearch tide\nlint", env={"NO_COLOR": "1"})
    scene.terminal("list\nsearch tide\nlint", env={"TERM": "dumb"})
    scene("search tide", env={"FORCE_COLOR": "1"})
    scene("search tide", env={"FORCE_COLOR": "1", "CLICOLOR": "0"})
    scene.terminal("--color never search tide\n--plain search tide\n--json search tide\n--quiet search tide")
    scene.each("--color always list\n--color always status\n--color always lint\n--color always log")
    scene("search tide", env={"COLUMNS": "40"})
    scene("search tide", env={"COLUMNS": "200"})
    scene("status", env={"LC_ALL": "C", "LANG": "C"})
