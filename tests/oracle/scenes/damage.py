"""Damaged stores: documents, settings, the log, the queue, the index and the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stage import material

if TYPE_CHECKING:
    from stage import Scene

FACTS = ".thunderus/memory/semantic/FACTS"
INDEX = ".thunderus/memory/indexes/memory.db"
MANIFEST = ".thunderus/memory/indexes/manifest.json"
READS = "status\nlist\nsearch even\nlog\nlint --format concise\ncheck\ndoctor\ngarden\nevents verify"


def begin(scene: Scene) -> None:
    """A small memory with a log of some length."""
    scene.begin()
    for name in ("Ports are even", "Frames are small", "Tides turn"):
        scene(f'-q add fact "{name}" --tag one --body "{name}, even now."')
    scene("-q edit fact.ports --tag two")
    scene.commit("Facts")


def scene_damaged_documents(scene: Scene) -> None:
    """Broken frontmatter of many kinds, bytes that are no text, line ends, links and folders."""
    begin(scene)
    good = scene.path(f"{FACTS}/tides-turn.md").read_bytes()
    broken = {
        "empty": b"",
        "no-frontmatter": b"Only text.\n",
        "unclosed": b"---\nid: fact.unclosed\ntitle: Unclosed\n",
        "no-mapping": b"---\n- a\n- b\n---\nText.\n",
        "tab": b"---\nid: fact.tab\n\ttitle: x\n---\nText.\n",
        "colon": b"---\nid: fact.colon\ntitle: a: b: c\nkind: fact\n---\nText.\n",
        "duplicate-key": b"---\nid: fact.d\nid: fact.e\ntitle: x\nkind: fact\n---\nText.\n",
        "alias": b"---\nid: &a fact.alias\ntitle: *a\nkind: fact\n---\nText.\n",
        "tag": b"---\nid: !!python/object fact.tag\ntitle: x\n---\nText.\n",
        "deep": b"---\nid: fact.deep\ntitle: " + b"[" * 200 + b"\n---\nText.\n",
        "nul": b"---\nid: fact.nul\ntitle: N\x00L\nkind: fact\n---\nText.\n",
        "latin": b"---\nid: fact.latin\ntitle: Gr\xf6\xdfe\nkind: fact\n---\nText.\n",
        "utf16": "---\nid: fact.wide\ntitle: Wide\n---\nText.\n".encode("utf-16"),
        "crlf": b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n").replace(b"fact.tides-turn", b"fact.crlf"),
        "cr": good.replace(b"\n", b"\r").replace(b"fact.tides-turn", b"fact.cr"),
        "same-id": good,
        "wrong-kind": good.replace(b"kind: fact", b"kind: thing").replace(b"fact.tides-turn", b"fact.thing"),
        "wrong-types": good.replace(b"kind: fact", b"kind: 7").replace(b"title: Tides turn", b"title: [1]"),
        "binary": bytes(range(256)) * 4,
        "conflict": good.replace(b"Tides turn,", b"<<<<<<< HEAD\nA\n=======\nB\n>>>>>>> topic\n"),
        "huge": good.replace(b"fact.tides-turn", b"fact.huge") + b"x" * (1024 * 1024 + 10),
    }
    for name, data in broken.items():
        scene.write(f"{FACTS}/x-{name}.md", data)
    scene.path(f"{FACTS}/x-link.md").symlink_to("tides-turn.md")
    scene.path(f"{FACTS}/x-gone.md").symlink_to("/no/such/file.md")
    scene.path(f"{FACTS}/x-folder.md").mkdir()
    scene.settle()
    scene.forms(READS)
    scene.terminal("status\nlint\ndoctor\nlist")
    for name in ("crlf", "cr", "huge", "colon", "thing", "d", "latin"):
        scene(f"show fact.{name} --json")
    scene.each(
        "edit fact.crlf --tag more\nedit fact.colon --tag x\nrename fact.crlf fact.windows\nevents record --json"
    )
    scene.each(
        "lint --fix\nlint --json\nindex rebuild\nindex verify\nindex manifest\nevents replay --check\narchive fact.crlf"
    )
    scene.tree()
    scene.index()


def scene_damaged_settings(scene: Scene) -> None:
    """Settings that are no TOML, have unknown keys or values of a wrong type, or are no file."""
    begin(scene)
    config, gardener = ".thunderus/config.toml", ".thunderus/memory/gardener.toml"
    for name, text in (
        (config, "not toml ["),
        (config, "[serch]\nlimit = 3\n"),
        (config, "[search]\nlmit = 3\n"),
        (config, '[search]\nlimit = "many"\n'),
        (config, "[search]\nlimit = 5000\n"),
        (config, '[review]\nagents = "perhaps"\n'),
        (config, '[lint]\nselect = ["TM999"]\n'),
        (gardener, "also not toml ="),
        (gardener, "[caps]\ncore_soft = -1\n"),
        (gardener, '[caps]\nkinds = ["recap 3000"]\n'),
        (gardener, "[hygiene]\ncore_soft_limit = 3000\n"),
    ):
        old = scene.path(name).read_bytes()
        scene.note(f"{name}: {text!r}")
        scene.write(name, text)
        scene.each("list\nlint --format concise\nconfig show search\ngarden\ndoctor\nstatus --json")
        scene.write(name, old)
    scene.remove(config)
    scene.path(config).mkdir()
    scene.each("list\ndoctor\nconfig show")
    scene.remove(config)
    scene.write(config, b"\xff\xfe")
    scene.each("list\ndoctor\ndoctor --fix")


def scene_damaged_log(scene: Scene) -> None:
    """Torn ends, edited and foreign lines, shards that are gone or no files."""
    begin(scene)
    shard = next(scene.path(".thunderus/sessions").glob("*/events.jsonl")).relative_to(scene.root).as_posix()
    whole = scene.path(shard).read_bytes()
    lines = whole.splitlines(keepends=True)
    for name, data in (
        ("torn", whole + b'{"v": 1, "id": "evt_x", "bo\xc3'),
        ("cut", whole[:-1]),
        ("half", whole[:-40]),
        ("edited", whole.replace(b"Frames are small", b"Frames are large")),
        ("foreign", whole + b"hello\n" + lines[0].replace(b'"v":1', b'"v":9').replace(b'"v": 1', b'"v": 9')),
        ("twice", whole + lines[-1]),
        ("order", b"".join(reversed(lines))),
        ("empty", b""),
        ("nul", whole + b"\x00" * 100 + b"\n"),
        ("marker", lines[0] + b"<<<<<<< HEAD\n" + b"".join(lines[1:]) + b">>>>>>> topic\n"),
    ):
        scene.note(name)
        scene.write(shard, data)
        scene.each("events verify\nlog --plain\nlint --format concise\ndoctor\nstatus")
        if name in ("torn", "cut", "half", "foreign"):
            scene.each(
                "events add --kind note --body 'After the damage'\nevents verify --json\ndoctor --fix\nlog -n 3"
            )
            scene.show(shard)
        scene.git("checkout -q -- .thunderus")
    scene.remove(shard)
    scene.each("status\nlog\nevents replay --check\nlint --format concise\nundo\ndoctor --json")
    scene.path(shard).mkdir()
    scene.each("status\nlog\nevents add --kind note --body x\ndoctor\ndoctor --fix --dry-run\ndoctor --fix")
    scene.write(".thunderus/events.jsonl", b"".join(lines) + b"torn")
    scene.each("log\nevents verify --plain\ndoctor")
    scene.tree()


def scene_damaged_index(scene: Scene) -> None:
    """An index that is gone, cut, overwritten, foreign or a folder; the manifest the same; caches too."""
    begin(scene)
    scene("search even")
    whole = scene.path(INDEX).read_bytes()
    flipped = bytearray(whole)
    for place in range(5000, len(flipped), 997):
        flipped[place] ^= 0xFF
    for name, data in (
        ("cut", whole[: len(whole) // 2]),
        ("empty", b""),
        ("text", b"This is no database.\n" * 100),
        ("flipped", bytes(flipped)),
        ("header", b"\x00" * 100 + whole[100:]),
    ):
        scene.note(name)
        scene.write(INDEX, data)
        scene.each("index status\ndoctor\nsearch even\nlist --plain\nindex verify\nindex refresh --plain")
    scene.remove(INDEX)
    scene.path(INDEX).mkdir()
    scene.each("index status\nlist\ndoctor\nindex rebuild\ndoctor --fix --dry-run\ndoctor --fix\nlist")
    scene.index()
    scene.note("the manifest")
    for data in (b"", b"{ broken", b'{"docs": []}', b"\xff\xfe"):
        scene.write(MANIFEST, data)
        scene.each("index manifest --check\nlint --format concise\ndoctor\nindex manifest --plain")
    scene.remove(MANIFEST)
    scene.each(
        "index manifest --check\nstatus\nindex manifest --check --json\nindex rebuild --plain\nindex manifest --check"
    )
    scene.show(MANIFEST)
    scene.note("the caches")
    scene.write(".thunderus/memory/indexes/verdicts.json", "{ broken")
    scene.write(".thunderus/memory/indexes/similar.bin", b"nothing")
    scene.each("check\ngarden\ndoctor")
    scene.remove(".thunderus/memory/indexes")
    scene.each("list --plain\nsearch even --plain\nindex status --json")
    scene.forms("index refresh\nindex verify\nindex rebuild")
    scene.terminal("index rebuild\nindex status\nindex verify")


def scene_damaged_store(scene: Scene) -> None:
    """Things where they do not belong: what the doctor says and mends."""
    begin(scene)
    for name, data in (
        (".thunderus/patches/patch_01KFFWGKG8QQJM2S6R76FQCZ26.json", "{}"),
        (".thunderus/patches/notes.json", "[1, 2]"),
        (".thunderus/patches/patch_x.json", b"\xff\x00"),
        (".thunderus/.staging/stray/file", "left over\n"),
        (".thunderus/.quarantine/old", "set aside\n"),
        (".thunderus/local/undo/stray", "text\n"),
        (".thunderus/local/session.json", "{ broken"),
        (f"{FACTS}/.thunderus-mem-0000.tmp", "half a text"),
        (".thunderus/memory/semantic/FACTS.md", "Beside the folder.\n"),
        (".thunderus/memory/stray.txt", "A stray file.\n"),
        (".thunderus/schemas/extra.json", "{}"),
    ):
        scene.write(name, data)
    scene.forms("doctor\nstatus\nreview list\nlint")
    scene.forms("doctor --fix --dry-run")
    scene.each(
        "add fact New --tag x --body Text.\ndoctor --fix\ndoctor --fix --json\ndoctor\nreview list --json"
    )
    scene.remove(".thunderus/schemas")
    scene.remove(".thunderus/.gitignore")
    scene.each("doctor\ndoctor --fix\ninit\ndoctor --plain")
    scene.terminal("doctor\nstatus\nreview list")
    for name in (".thunderus/sessions", ".thunderus/local", ".thunderus/memory/semantic/FACTS"):
        scene.note(f"{name} is a file")
        scene.remove(name)
        scene.write(name, "no folder\n")
        scene.each(
            "list\nstatus\nevents add --kind note --body x\ndoctor\nadd fact Newer --tag x --body Text.\ndoctor --fix --plain"
        )
    scene.tree()


def scene_lost_documents(scene: Scene) -> None:
    """Many documents gone at once, and files changed while nobody looked."""
    scene.begin()
    scene("events add", stdin=material("session.jsonl").read_bytes())
    for number in range(30):
        scene.write(
            f"{FACTS}/n{number:02}.md",
            f"---\nid: fact.n{number:02}\ntitle: Number {number}\nkind: fact\ntags: [n]\n"
            "created: 2026-01-20T09:00:00Z\nupdated: 2026-01-20T09:00:00Z\n"
            "provenance: {events: [], patches: [], commits: []}\n"
            f"verification: {{last_verified_commit: null, status: unknown}}\n---\n\nText of number {number * 7919}.\n",
        )
    scene.each("events record -m 'By hand'\nstatus")
    scene.commit("Numbers")
    for number in range(25):
        scene.path(f"{FACTS}/n{number:02}.md").unlink()
    scene.settle()
    scene.each(
        "status\nevents record\nadd fact New --tag x --body Text.\ndoctor\nlint --format concise\nevents record --json"
    )
    scene.each(
        "events record --yes -m 'All of them'\nundo --dry-run --plain\nundo\nlist --ids\nevents replay --check"
    )
