"""Every command on every damaged store: a documented exit code, no traceback, a clear message.

The commands are the real ones, each in a process of its own; the damages are put into a copy of one store.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.verify_store import parse_line, shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.command_server import Done, Server

FACTS = ".thunderus/memory/semantic/FACTS"
INDEX = ".thunderus/memory/indexes/memory.db"
MANIFEST = ".thunderus/memory/indexes/manifest.json"
CODES = {0, 1, 2, 3, 4, 5, 6, 75}
NOBODY = 65534
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"

READS: tuple[tuple[str, ...], ...] = (
    ("search", "page rows"),
    ("list", "--ids"),
    ("show", "fact.limits"),
    ("status",),
    ("log",),
    ("why", "fact.limits"),
    ("log", "--all"),
    ("events", "verify"),
    ("lint", "--format", "concise"),
    ("garden",),
    ("recap", "2026-01-21", "--dry-run"),
    ("doctor",),
    ("index", "status"),
    ("index", "manifest", "--check"),
    ("config", "show"),
)
REBUILDS: tuple[tuple[str, ...], ...] = (("index", "refresh"), ("index", "rebuild"), ("index", "manifest"))
WRITES: tuple[tuple[str, ...], ...] = (
    ("add", "fact", "Ports", "--tag", "net", "--body", "It listens on 8080."),
    ("edit", "fact.limits", "--tag", "seen"),
    ("link", "fact.limits", "refers_to", "fact.queues"),
    ("supersede", "fact.queues", "fact.limits", "-m", "newer"),
    ("events", "add", "--kind", "note", "--body", "Looked at it."),
    ("lint", "--fix"),
    ("garden", "--apply"),
    ("recap", "2026-01-21"),
    ("import", "markdown", "notes", "--kind", "fact", "--tag", "old"),
    ("remove", "fact.queues", "-m", "gone"),
    ("init",),
)


def header(name: str, more: str = "") -> str:
    """A complete header of a fact."""
    return (
        f"---\nid: fact.{name}\ntitle: {name}\nkind: fact\ntags:\n  - odd\ncreated: 2026-01-20T09:00:00Z\n"
        f"updated: 2026-01-20T09:00:00Z\nprovenance:\n  events: []\n  patches: []\n  commits: []\n"
        f"verification:\n  last_verified_commit: null\n  status: unknown\n{more}---\n"
    )


def write(root: Path, path: str, data: bytes | str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data if isinstance(data, bytes) else data.encode())


def odd(data: bytes | str) -> Callable[[Path], None]:
    """Damage: add a fact with these bytes."""
    return lambda root: write(root, f"{FACTS}/odd.md", data)


def sparse(root: Path) -> None:
    write(root, f"{FACTS}/odd.md", header("odd"))
    os.truncate(root / FACTS / "odd.md", 50 << 20)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda root: (root / FACTS / "odd.md").symlink_to(target)


def outside_link(root: Path) -> None:
    write(root.parent, "outside.md", header("outside") + "Words from outside.\n")
    link_to("../../../../../outside.md")(root)


def foreign_index(root: Path) -> None:
    (root / INDEX).unlink()
    with sqlite3.connect(root / INDEX) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()


def corrupt_index(root: Path) -> None:
    data = bytearray((root / INDEX).read_bytes())
    for at in range(4096, len(data), 97):
        data[at] ^= 0xFF
    (root / INDEX).write_bytes(data)


def index_folder(root: Path) -> None:
    (root / INDEX).unlink()
    (root / INDEX).mkdir()


def half(path: str) -> Callable[[Path], None]:
    def cut(root: Path) -> None:
        os.truncate(root / path, (root / path).stat().st_size // 2)

    return cut


def shard_of(root: Path) -> Path:
    return Path(shards(str(root))[0])


def torn_shard(root: Path) -> None:
    with shard_of(root).open("ab") as stream:
        stream.write(b'{"id":"evt_01","ts":"2026-')


def marked_shard(root: Path) -> None:
    lines = shard_of(root).read_bytes().splitlines(keepends=True)
    lines[1:1] = [b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> topic\n"]
    shard_of(root).write_bytes(b"".join(lines))


def no_git(root: Path) -> None:
    shutil.rmtree(root / ".git")


def detached(root: Path) -> None:
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=root, check=True, capture_output=True)


def unborn(root: Path) -> None:
    no_git(root)
    subprocess.run(["git", "init", "-q", "--template=", "."], cwd=root, check=True, capture_output=True)


def bare(root: Path) -> None:
    shutil.rmtree(root / ".thunderus")
    (root / ".thunderus").mkdir()


def config(text: str | bytes) -> Callable[[Path], None]:
    return lambda root: write(root, ".thunderus/config.toml", text)


pytestmark = pytest.mark.damaged


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage to a store.

    ``finds`` is what `lint` has to name (a rule or a file); ``codes`` the codes a read may end with,
    ``write`` those of a write; ``lost`` documents are the damaged ones, all others must be served.
    """

    make: Callable[[Path], None]
    finds: str = ""
    codes: frozenset[int] = frozenset({0, 1})
    write: frozenset[int] = frozenset({0, 1})
    served: bool = True


FAILS = frozenset({2})
DAMAGES: dict[str, Damage] = {
    "not-utf8": Damage(odd(b"---\nid: fact.odd\n---\n\xff\xfe\x80\n"), "TM001"),
    "nul": Damage(odd(header("odd") + "a\0b\n"), "TM002"),
    "bom": Damage(odd("\ufeff" + header("odd") + "Odd text.\n")),
    "crlf": Damage(odd((header("odd") + "Odd text.\n").replace("\n", "\r\n"))),
    "two-megabytes": Damage(odd(header("odd") + "word " * (400 << 10)), "TM003"),
    "fifty-megabytes-sparse": Damage(sparse, "TM003"),
    "no-closing-fence": Damage(odd("---\nid: fact.odd\ntitle: odd\n"), "TM005"),
    "yaml-bomb": Damage(odd(header("odd", BOMB) + "x\n"), "TM009"),
    "duplicate-keys": Damage(odd(header("odd", "title: again\n") + "x\n"), "TM007"),
    "wrong-types": Damage(odd("---\nid: [1]\ntitle: {a: b}\nkind: 7\ntags: no\n---\nx\n"), "TM011"),
    "folder-named-md": Damage(lambda root: (root / FACTS / "odd.md").mkdir()),
    "link-out": Damage(outside_link, "odd.md"),
    "dangling-link": Damage(link_to("nowhere.md"), "odd.md"),
    "fifo": Damage(lambda root: os.mkfifo(root / FACTS / "odd.md"), "odd.md"),
    "index-corrupt": Damage(corrupt_index),
    "index-foreign": Damage(foreign_index),
    "index-empty": Damage(lambda root: (root / INDEX).write_bytes(b"")),
    "index-folder": Damage(index_folder),
    "manifest-half": Damage(half(MANIFEST)),
    "shard-torn": Damage(torn_shard, "TM505"),
    "shard-markers": Damage(marked_shard, "TM507", codes=frozenset({0, 1, 6}), write=frozenset({0, 1, 6})),
    "no-git": Damage(no_git),
    "detached-head": Damage(detached),
    "empty-repository": Damage(unborn),
    "bare-store": Damage(bare, codes=frozenset({0, 1, 4}), write=frozenset({0, 1, 4}), served=False),
    "config-broken": Damage(config("[lint\nx"), codes=FAILS, write=FAILS, served=False),
    "config-not-utf8": Damage(config(b"x = '\xff'"), codes=FAILS, write=FAILS, served=False),
    "config-unknown-key": Damage(config("[lint]\nselekt = []\n"), codes=FAILS, write=FAILS, served=False),
    "config-folder": Damage(
        lambda root: (os.unlink(root / ".thunderus/config.toml"), os.mkdir(root / ".thunderus/config.toml"))[
            0
        ],
        codes=FAILS,
        write=FAILS,
        served=False,
    ),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """A committed store with three documents."""
    root = tmp_path_factory.mktemp("bad") / "base"
    root.mkdir()
    write(root, "notes/caches.md", "# Caches\n\nThey live an hour.\n")
    subprocess.run(["git", "init", "-q", "--template=", "."], cwd=root, check=True, capture_output=True)
    for number, words in enumerate(
        (
            ("init",),
            ("add", "fact", "Limits", "--tag", "net", "--body", "A page holds 100 rows."),
            ("add", "fact", "Queues", "--tag", "net", "--body", "There are two queues."),
        )
    ):
        assert command(server, root, words, number).code == 0
    for arguments in (["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "Begin"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


def command(server: Server, root: Path, words: tuple[str, ...], number: int = 40, **more: object) -> Done:
    env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{number:02d}Z", "THUNDERUS_MEM_SEED": str(number + 1)}
    return server.run(*words, cwd=str(root), env=env | more.pop("env", {}), timeout=20, **more)  # type: ignore[dict-item, arg-type]


def copied(base: Path, place: Path) -> Path:
    shutil.copytree(base, place, symlinks=True)
    return place


def snapshot(root: Path) -> dict[str, bytes]:
    """All readable documents and shards."""
    found = {}
    for folder, _, names in os.walk(root / ".thunderus"):
        for name in names:
            path = Path(folder, name)
            kept = name == "events.jsonl" or (name.endswith(".md") and "/memory/" in folder + "/")
            if kept and stat.S_ISREG(path.lstat().st_mode):
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def plain(done: Done, words: tuple[str, ...]) -> None:
    """Check for a documented exit code, no traceback, and an error message with a hint."""
    assert done.code in CODES, (words, done)
    assert "Traceback" not in done.out + done.err, (words, done)
    if done.code == 6:
        assert "unreadable" in done.err, (words, done)
    elif done.code > 1:
        assert done.err.startswith("error: ") or "\nerror: " in done.err, (words, done)
        assert "hint:" in done.err or len(done.err) > 30, (words, done)


@pytest.mark.parametrize("name", DAMAGES)
def test_reading_a_damaged_store(name: str, base: Path, tmp_path: Path, server: Server) -> None:
    damage = DAMAGES[name]
    root = copied(base, tmp_path / "store")
    damage.make(root)
    before = snapshot(root)
    for words in (*READS, *REBUILDS):
        done = command(server, root, words)
        plain(done, words)
        if words == ("doctor",):  # works where no other command does
            assert done.code in damage.codes | {1}, done
        elif words != ("config", "show"):
            assert done.code in damage.codes, (words, done)
        if damage.served:
            expect_served(words, done)
        if words[0] == "lint" and damage.finds:
            assert damage.finds in done.out, done
        assert "Words from outside" not in done.out, done
    assert snapshot(root) == before


def expect_served(words: tuple[str, ...], done: Done) -> None:
    if words in (("search", "page rows"), ("list", "--ids")):
        assert "fact.limits" in done.out, (words, done)
    if words == ("show", "fact.limits"):
        assert "100 rows" in done.out, done


@pytest.mark.parametrize("name", DAMAGES)
def test_writing_to_a_damaged_store(name: str, base: Path, tmp_path: Path, server: Server) -> None:
    damage = DAMAGES[name]
    root = copied(base, tmp_path / "store")
    damage.make(root)
    before = snapshot(root)
    for number, words in enumerate(WRITES, 41):
        done = command(server, root, words, number)
        plain(done, words)
        assert done.code in damage.write, (words, done)
        if done.code in (2, 4):
            assert ".thunderus" in done.err or "id" in done.err, (words, done)
    after = snapshot(root)
    for path, data in before.items():
        if path.endswith(".jsonl"):
            kept = data if not name.startswith("shard-torn") else data[: data.rfind(b"\n") + 1]
            assert after[path].startswith(kept), path
        elif "odd" in path:
            assert odd_text_kept(root, data, after.get(path)), path
    if damage.served:
        assert "8080" in command(server, root, ("show", "fact.ports"), 55).out
        new = b"".join(after[path][len(before.get(path, b"")) :] for path in after if path.endswith(".jsonl"))
        ids = [parse_line(line)["id"] for line in new.splitlines() if line.startswith(b"{")]
        assert len(ids) == len(set(ids))


def odd_text_kept(root: Path, before: bytes, after: bytes | None) -> bool:
    """Documents that were not named are unchanged, except by `lint --fix`."""
    return after is not None and (after == before or len(after) >= len(before) - 40)


def test_missing_store_is_reported(tmp_path: Path, server: Server) -> None:
    for words in (*READS, *REBUILDS, *WRITES[:-1]):
        done = command(server, tmp_path, words)
        plain(done, words)
        assert done.code == 4, (words, done)
        assert "init" in done.err, done


def test_init_in_a_read_only_folder_is_reported(open_folder: Path, tmp_path: Path, server: Server) -> None:
    os.chmod(open_folder, 0o555)
    done = command(server, open_folder, ("init",), uid=NOBODY if os.geteuid() == 0 else None)
    plain(done, ("init",))
    assert done.code == 4, done
    assert ".thunderus" in done.err
    (tmp_path / ".thunderus").write_text("a file\n")
    done = command(server, tmp_path, ("init",))
    plain(done, ("init",))
    assert done.code in (4, 5), done
    assert (tmp_path / ".thunderus").read_text() == "a file\n"


def test_held_lock_exits_with_75_and_writes_nothing(base: Path, tmp_path: Path, server: Server) -> None:
    from thunderus_mem.store.lock import held

    root = copied(base, tmp_path / "store")
    with held(str(root / ".thunderus/.lock"), command="garden"):
        before = snapshot(root)
        fixable = root / FACTS / "odd.md"
        fixable.write_text(header("odd").replace("updated: 2026-01-20", "updated: 2026-01-19") + "x\n")
        for words in WRITES:
            if words == ("garden", "--apply"):
                continue  # there is nothing to do, and that needs no lock
            done = command(server, root, words, env={"THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "0.05"})
            plain(done, words)
            assert done.code == 75, (words, done)
            assert "garden" in done.err
        fixable.unlink()
        assert snapshot(root) == before
        for words in READS:
            done = command(server, root, words)
            plain(done, words)
            assert done.code in (0, 1), (words, done)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can read."""
    folder = tempfile.mkdtemp(prefix="bad-")
    os.chmod(folder, 0o755)
    yield Path(folder)
    for place, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(place, name), 0o755)
    shutil.rmtree(folder)


def test_read_only_store(base: Path, open_folder: Path, server: Server) -> None:
    root = copied(base, open_folder / "store")
    before = snapshot(root)
    for place, _, names in os.walk(root):
        for name in names:
            os.chmod(os.path.join(place, name), 0o444)
        os.chmod(place, 0o555)
    uid = NOBODY if os.geteuid() == 0 else None
    for words in READS:
        done = command(server, root, words, uid=uid)
        plain(done, words)
        assert done.code in (0, 1), (words, done)
        expect_served(words, done)
    for words in WRITES:
        done = command(server, root, words, uid=uid)
        plain(done, words)
        if words not in (("garden", "--apply"), ("lint", "--fix"), ("init",)):
            assert done.code == 4, (words, done)
    assert snapshot(root) == before
