"""`doctor --fix`: all damage is found, fixed by moving files, and no byte is lost."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_bad_input import FACTS, INDEX, MANIFEST, NOBODY, header
from tests.support.verify_store import shards, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done, Server

pytestmark = pytest.mark.damaged

STORE = ".thunderus"
LOCK = f"{STORE}/.lock"
SCHEMA = f"{STORE}/schemas/events.v1.schema.json"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """A committed store with two facts, and one that is not committed yet."""
    root = tmp_path_factory.mktemp("doctor") / "base"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "--template=", "."], cwd=root, check=True, capture_output=True)
    for number, title in enumerate(("Limits", "Queues")):
        if not number:
            assert run(server, root, "init", at=0).code == 0
        body = f"Words about {title}, and a few more of them."
        assert (
            run(server, root, "add", "fact", title, "--tag", "net", "--body", body, at=number + 1).code == 0
        )
    git(root, "add", "-A")
    git(root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "Begin")
    late = ("add", "fact", "Late", "--tag", "net", "--body", "It came later than the others.")
    assert run(server, root, *late, at=4).code == 0
    return root


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def run(server: Server, root: Path, *words: str, at: int = 30, **more: Any) -> Done:
    env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{at:02d}Z", "THUNDERUS_MEM_SEED": str(at)}
    return server.run(*words, cwd=str(root), env=env | more.pop("env", {}), **more)


def shard_of(root: Path) -> Path:
    """The shard that git does not have yet."""
    return max((Path(path) for path in shards(str(root))), key=lambda path: path.parent.name)


def append(data: bytes) -> Callable[[Path], None]:
    def damage(root: Path) -> None:
        with shard_of(root).open("ab") as stream:
            stream.write(data)

    return damage


def put(path: str, data: bytes, *, age: float = 0) -> Callable[[Path], None]:
    def damage(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        os.utime(root / path, (time.time() - age,) * 2)

    return damage


def instead(path: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Replace a file or folder by something else."""

    def damage(root: Path) -> None:
        place = root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        make(place)

    return damage


def foreign(place: Path) -> None:
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()


def flipped(root: Path) -> None:
    data = bytearray((root / INDEX).read_bytes())
    data[len(data) // 2] ^= 0xFF
    (root / INDEX).write_bytes(data)


def spoil_line(root: Path) -> None:
    lines = shard_of(root).read_bytes().splitlines(keepends=True)
    shard_of(root).write_bytes(lines[0][:40] + b"\n" + b"".join(lines))


def spoil_committed(root: Path) -> None:
    path = Path(min(shards(str(root)), key=lambda path: Path(path).parent.name))
    data = path.read_bytes()
    path.write_bytes(b"x" + data[1:])


def lines_out(path: str, word: str) -> Callable[[Path], None]:
    def damage(root: Path) -> None:
        text = (root / path).read_text()
        (root / path).write_text("mine/\n" + "".join(f"{x}\n" for x in text.splitlines() if word not in x))

    return damage


def negated(root: Path) -> None:
    with (root / STORE / ".gitignore").open("a") as stream:
        stream.write("!memory/indexes/\n")


def killed(server: Server, root: Path) -> None:
    env = {"FAILPOINT": "after-sync-log:kill"}
    assert run(server, root, "edit", "fact.queues", "--body", "New words.", at=20, env=env).code == 137


@dataclass(frozen=True, slots=True)
class Damage:
    """``name`` and ``state`` of the check that finds it; ``steps`` are the actions that fix it.

    ``left``: it needs manual action. ``lost``: the start of the reported loss.
    """

    make: Callable[[Path], None]
    name: str
    state: str
    steps: tuple[str, ...] = ()
    left: bool = False
    lost: str = "nothing"


ASIDE = "set-aside"
DAMAGES: dict[str, Damage] = {
    "index-empty": Damage(put(INDEX, b""), "index", "note", (ASIDE, ASIDE, "rebuild")),
    # Not a database: opening it removes the seal at once.
    "index-text": Damage(put(INDEX, b"words\n" * 900), "index", "note", (ASIDE, "rebuild")),
    "index-foreign": Damage(instead(INDEX, foreign), "index", "note", (ASIDE, ASIDE, "rebuild")),
    "index-flipped": Damage(flipped, "index", "note", (ASIDE, ASIDE, "rebuild")),
    "index-folder": Damage(instead(INDEX, Path.mkdir), "index", "note", (ASIDE, ASIDE, "rebuild")),
    "index-pipe": Damage(instead(INDEX, os.mkfifo), "index", "note", (ASIDE, ASIDE, "rebuild")),
    "index-link": Damage(
        instead(INDEX, lambda place: place.symlink_to("/etc/hosts")),
        "index",
        "note",
        (ASIDE, ASIDE, "rebuild"),
    ),
    "index-missing": Damage(lambda root: (root / INDEX).unlink(), "index", "note"),
    "manifest-half": Damage(put(MANIFEST, b'{"docs": ['), "manifest", "note", (ASIDE, "rebuild")),
    "manifest-edited": Damage(
        lambda root: (root / MANIFEST).write_text((root / MANIFEST).read_text().replace("Limits", "Lies")),
        "manifest",
        "note",
        (ASIDE, "rebuild"),
    ),
    "manifest-folder": Damage(instead(MANIFEST, Path.mkdir), "manifest", "note", (ASIDE, "rebuild")),
    "manifest-missing": Damage(lambda root: (root / MANIFEST).unlink(), "manifest", "note"),
    "temporary": Damage(
        put(f"{FACTS}/.thunderus-mem-0011.tmp", b"half", age=90), "leftovers", "note", (ASIDE,)
    ),
    "temporary-index": Damage(
        put(f"{INDEX}.0123456789ab.tmp", b"half an index", age=90), "leftovers", "note", (ASIDE,)
    ),
    "old-index-folder": Damage(put(f"{INDEX}.set-aside-123/file", b"x"), "leftovers", "note", (ASIDE,)),
    "staged-file": Damage(put(f"{STORE}/.staging/evt_1", b"x"), "writes", "note", (ASIDE,)),
    "staged-strange": Damage(put(f"{STORE}/.staging/a b/c", b"x"), "writes", "note", (ASIDE,)),
    "staged-folder": Damage(put(f"{STORE}/.staging/evt_1/sub/file", b"x"), "writes", "warning", ("recover",)),
    "staged-damaged": Damage(put(f"{STORE}/.staging/evt_1/op.json", b"{"), "writes", "warning", ("recover",)),
    "torn": Damage(append(b'{"v":1,"id":"evt_01'), "log", "warning", ("end",), lost="nothing; the line"),
    "torn-blocks": Damage(append(b'{"v":1,\0\0\0}\n'), "log", "warning", ("end",), lost="nothing; the line"),
    "schema-drift": Damage(put(SCHEMA, b"{}\n"), "schemas", "warning", ("write",)),
    "schema-missing": Damage(lambda root: (root / SCHEMA).unlink(), "schemas", "warning", ("write",)),
    "schema-folder": Damage(instead(SCHEMA, Path.mkdir), "schemas", "warning", ("write",)),
    "schema-link": Damage(
        instead(SCHEMA, lambda place: place.symlink_to("/etc/hosts")), "places", "error", (ASIDE, "write")
    ),
    "gitignore-line": Damage(lines_out(f"{STORE}/.gitignore", "local/"), "git", "warning", ("write",)),
    "gitignore-negated": Damage(negated, "git", "warning", ("write",)),
    "gitignore-missing": Damage(
        lambda root: (root / STORE / ".gitignore").unlink(), "git", "warning", ("write",)
    ),
    "gitattributes-line": Damage(
        lines_out(f"{STORE}/.gitattributes", "sessions"), "git", "warning", ("write",)
    ),
    "lock-folder": Damage(instead(LOCK, Path.mkdir), "places", "error", (ASIDE,)),
    "lock-link": Damage(
        instead(LOCK, lambda place: place.symlink_to("/tmp/elsewhere")), "places", "error", (ASIDE,)
    ),
    "local-link": Damage(
        instead(f"{STORE}/local", lambda place: place.symlink_to("../away")), "places", "error", (ASIDE,)
    ),
    "indexes-link": Damage(
        instead(f"{STORE}/memory/indexes", lambda place: place.symlink_to("../away")),
        "places",
        "error",
        (ASIDE,),
    ),
    "staging-file": Damage(
        instead(f"{STORE}/.staging", lambda place: place.write_bytes(b"x")), "places", "error", (ASIDE,)
    ),
    "session-pipe": Damage(instead(f"{STORE}/local/session.json", os.mkfifo), "places", "error", (ASIDE,)),
    # Damage that needs manual action.
    "line-damaged": Damage(spoil_line, "log", "error", left=True, lost="the events on these lines"),
    "line-damaged-committed": Damage(
        spoil_committed, "log", "error", left=True, lost="the events on these lines"
    ),
    "duplicate-id": Damage(
        put(f"{FACTS}/again.md", header("limits").encode() + b"x\n"), "documents", "warning", left=True
    ),
    "no-document": Damage(put(f"{FACTS}/odd.md", b"\xff"), "documents", "warning", left=True),
    "tracked": Damage(lambda root: git(root, "add", "-f", MANIFEST), "git", "warning", left=True),
    "config": Damage(put(f"{STORE}/config.toml", b"[lint\nx"), "config", "error", left=True),
    "config-unknown": Damage(
        put(f"{STORE}/config.toml", b"[lint]\nselekt = []\n"), "config", "error", left=True
    ),
    "facts-link": Damage(
        instead(FACTS, lambda place: place.symlink_to("../../../../away")), "places", "error", left=True
    ),
    "facts-file": Damage(instead(FACTS, lambda place: place.write_bytes(b"x")), "places", "error", left=True),
    "quarantine-file": Damage(put(f"{STORE}/.quarantine", b"x"), "places", "error", left=True),
    "quarantine-link": Damage(
        instead(f"{STORE}/.quarantine", lambda place: place.symlink_to("../away")),
        "places",
        "error",
        left=True,
    ),
}


def contents(root: Path) -> dict[str, str]:
    """The hash of every regular file by path, except files of git and files that are rebuilt."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode) and name not in (".lock", "lock-owner.json"):
                found[str(path.relative_to(root))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def judged(root: Path, damage: Damage) -> dict[str, str]:
    """Files that a check leaves unchanged: all, but an intact index may add the log's newest lines."""
    index: tuple[str, ...] = (INDEX, f"{INDEX}.seal") if damage.name not in ("index", "manifest") else ()
    if damage.name == "index":
        index = (f"{INDEX}.seal",)  # an index in which damage shows loses it, whoever looks
    return {path: digest for path, digest in contents(root).items() if path not in index}


def is_document(path: str) -> bool:
    return path.endswith(".md") and path.startswith(f"{STORE}/memory/")


def whole(base: Path, place: Path, server: Server) -> Path:
    """A copy with a fresh index, and another folder beside it."""
    root = Path(shutil.copytree(base, place, symlinks=True))
    (root.parent / "away").mkdir(exist_ok=True)
    (root.parent / "away" / "precious").write_text("somebody's")
    assert run(server, root, "index", "refresh").code == 0
    return root


def prepared(base: Path, tmp_path: Path, server: Server, name: str) -> Path:
    """A damaged copy whose index was intact before."""
    root = whole(base, tmp_path / "store", server)
    DAMAGES[name].make(root)
    return root


def expect_reported(damage: Damage, root: Path, server: Server) -> None:
    """`doctor` reports the damage, and changes nothing."""
    before = judged(root, damage)
    done = run(server, root, "--json", "doctor")
    assert judged(root, damage) == before
    found = [check for check in done.json["checks"] if check["state"] != "ok"]
    assert done.code == int(any(check["state"] != "note" for check in found)), done
    (check,) = [check for check in found if check["name"] == damage.name and check["state"] == damage.state]
    assert check["lost"].startswith(damage.lost), check
    if damage.state != "note":
        assert check["command"], check
        assert check["affects"], check
    assert bool(check["mends"]) == (bool(damage.steps)), check


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_reported_and_fixed_and_no_byte_is_lost(
    name: str, base: Path, tmp_path: Path, server: Server
) -> None:
    damage, root = DAMAGES[name], prepared(base, tmp_path, server, name)
    expect_reported(damage, root, server)
    before, away = contents(root), contents(tmp_path / "away")
    looked = judged(root, damage)
    plan = run(server, root, "--json", "doctor", "--dry-run")
    assert judged(root, damage) == looked
    assert [step["action"] for step in plan.json["steps"]] == list(damage.steps), plan
    done = run(server, root, "--json", "doctor", "--fix")
    assert done.code == int(damage.left), done
    value = done.json
    assert [step["state"] for step in value["steps"]] == ["done"] * len(value["steps"]), value
    assert {step["action"] for step in value["steps"]} >= set(damage.steps), value
    assert bool(value["left"]) == damage.left, value
    after = contents(root)
    kept = set(after.values())
    for path, digest in before.items():
        made_anew = path.startswith(f"{STORE}/memory/indexes/") and not (
            (damage.name == "index" and not path.endswith(".seal"))
            or (damage.name == "manifest" and path == MANIFEST)
        )
        if path.endswith("events.jsonl") and damage.name == "log" and not damage.left:
            continue  # split: the lines stay, the end is in quarantine
        assert digest in kept or made_anew or path.endswith("session.json"), (path, value)
        if is_document(path):
            assert after[path] == digest, path
    assert contents(tmp_path / "away") == away
    if not damage.left:
        again = run(server, root, "--json", "doctor", "--fix")
        assert (again.code, again.json["steps"], again.json["left"]) == (0, [], []), again
        assert run(server, root, "events", "add", "--kind", "note", "--body", "on we go", at=40).code == 0
        assert verify(str(root), settled=True) == []
        assert "fact.late" in run(server, root, "search", "later than the others", "--ids").out
    expect_restored(root, value["steps"])


def expect_restored(root: Path, steps: list[dict[str, Any]]) -> None:
    """The command of each step restores the file that it moved."""
    for step in steps:
        if step["back"]:
            place = root / step["path"]
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            subprocess.run(["bash", "-c", f"rm -f {step['path']!r}; {step['back']}"], cwd=root, check=True)
            assert os.path.lexists(place), step
            assert not os.path.lexists(root / step["kept"]), step


def test_interrupted_write_is_recovered(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    killed(server, root)
    done = run(server, root, "doctor")
    assert "1 interrupted write" in done.out
    done = run(server, root, "doctor", "--fix")
    assert done.code == 0, done
    assert "finished the interrupted write of .thunderus/memory/semantic/FACTS/queues.md" in done.out
    assert "New words." in (root / FACTS / "queues.md").read_text()
    assert verify(str(root), settled=True) == []


def test_torn_shard_committed_to_git_is_not_fixed(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    append(b'{"v":1,"id":"evt_01')(root)
    git(root, "add", "-A")
    before = shard_of(root).read_bytes()
    done = run(server, root, "--json", "doctor", "--fix")
    assert done.code == 1, done
    assert [check["name"] for check in done.json["left"]] == ["log"], done
    assert shard_of(root).read_bytes() == before


def test_damaged_shard_is_restored_from_git_only_if_complete(
    base: Path, tmp_path: Path, server: Server
) -> None:
    root = whole(base, tmp_path / "store", server)
    spoil_committed(root)
    (check,) = [one for one in run(server, root, "--json", "doctor").json["checks"] if one["name"] == "log"]
    assert check["command"].startswith("git checkout HEAD -- .thunderus/sessions/")
    subprocess.run(["bash", "-c", check["command"]], cwd=root, check=True, capture_output=True)
    assert run(server, root, "doctor").code == 0
    spoil_line(root)
    (check,) = [one for one in run(server, root, "--json", "doctor").json["checks"] if one["name"] == "log"]
    assert check["command"].startswith("less .thunderus/sessions/")


def test_quarantine_is_listed_with_restore_commands(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    for name in ("torn", "schema-drift"):
        DAMAGES[name].make(root)
    env = {"FAILPOINT": "after-sync-log:kill"}
    assert run(server, root, "edit", "fact.late", "--body", "Ours.", at=20, env=env).code == 137
    (root / FACTS / "late.md").write_text(header("late") + "Theirs.\n")
    done = run(server, root, "doctor", "--fix")
    assert done.code == 0, done.out
    kept = run(server, root, "--json", "doctor").json["kept"]
    backs = {one["what"]: one["back"].split()[0] for one in kept}
    assert backs == {
        "moved by doctor --fix": "mv",
        "incomplete last line of a log": "cat",
        "text of an interrupted write; the file was changed since": "diff",
    }
    for one in kept:
        done = subprocess.run(["bash", "-c", one["back"]], cwd=root, check=False, capture_output=True)
        assert done.returncode in (0, 1), (one, done)
        assert done.stderr == b"", (one, done)


def test_fix_waits_for_the_lock_and_plan_needs_none(base: Path, tmp_path: Path, server: Server) -> None:
    from thunderus_mem.store.lock import held

    root = whole(base, tmp_path / "store", server)
    DAMAGES["schema-drift"].make(root)
    with held(str(root / LOCK), command="garden"):
        assert run(server, root, "doctor", "--dry-run").code == 1
        done = run(server, root, "doctor", "--fix", env={"THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "0.05"})
    assert done.code == 75, done
    assert "garden" in done.err


def test_recent_temporary_file_is_kept_until_it_is_unused(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    put(f"{FACTS}/.thunderus-mem-0011.tmp", b"half")(root)
    assert run(server, root, "--json", "doctor", "--dry-run").json["steps"] == []
    # Under the lock no other process writes.
    (step,) = run(server, root, "--json", "doctor", "--fix").json["steps"]
    assert step["path"].endswith(".thunderus-mem-0011.tmp")


def test_failed_step_does_not_stop_others(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    DAMAGES["temporary"].make(root)
    DAMAGES["schema-drift"].make(root)
    put(f"{STORE}/.quarantine", b"in the way")(root)
    done = run(server, root, "--json", "doctor", "--fix")
    assert done.code == 1, done
    assert {step["state"] for step in done.json["steps"]} == {"failed"}
    assert all("folder" in step["problem"] for step in done.json["steps"]), done
    assert (root / SCHEMA).read_bytes() == b"{}\n"
    (root / STORE / ".quarantine").unlink()
    assert run(server, root, "doctor", "--fix").code == 0


def test_retired_keys_are_a_note(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    put(f"{STORE}/memory/gardener.toml", b"[consolidate]\nmax_per_session = 0\n")(root)
    done = run(server, root, "--json", "doctor")
    (check,) = [one for one in done.json["checks"] if one["name"] == "config"]
    assert (done.code, check["state"]) == (0, "note"), done
    assert check["message"] == "keys without effect: consolidate.max_per_session"


def test_read_only_store_is_checked_and_not_fixed(tmp_path: Path, base: Path, server: Server) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        os.chmod(folder, 0o755)
        root = whole(base, Path(folder, "store"), server)
        DAMAGES["schema-drift"].make(root)
        for place, _, names in os.walk(root):
            for name in names:
                os.chmod(os.path.join(place, name), 0o444)
            os.chmod(place, 0o555)
        uid = NOBODY if os.geteuid() == 0 else None
        before = contents(root)
        done = run(server, root, "doctor", uid=uid)
        assert done.code == 1, done
        assert "the store is read-only" in done.out
        done = run(server, root, "doctor", "--fix", uid=uid)
        assert done.code == 4, done
        assert contents(root) == before
        for place, _, _ in os.walk(root):
            os.chmod(place, 0o755)


def test_unreadable_files_are_reported_with_a_command(tmp_path: Path, base: Path, server: Server) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        os.chmod(folder, 0o755)
        root = whole(base, Path(folder, "store"), server)
        if os.geteuid() == 0:
            for place, _, names in os.walk(root):
                for path in (place, *(os.path.join(place, name) for name in names)):
                    os.chown(path, NOBODY, NOBODY)
        uid = NOBODY if os.geteuid() == 0 else None
        assert run(server, root, "index", "refresh", uid=uid).code == 0
        os.chmod(root / FACTS / "limits.md", 0o000)
        os.chmod(root / STORE / "sessions", 0o000)
        done = run(server, root, "--json", "doctor", uid=uid)
        assert done.code == 1, done
        (check,) = [one for one in done.json["checks"] if one["name"] == "rights"]
        assert set(check["affects"]) == {f"{FACTS}/limits.md", f"{STORE}/sessions"}
        assert check["command"].startswith("chmod u+rwX ")
        done = subprocess.run(["bash", "-c", check["command"]], cwd=root, check=True, capture_output=True)
        assert run(server, root, "doctor", uid=uid).code == 0
        os.chmod(root / STORE / "sessions", 0o755)


def test_plan_is_printed_before_it_is_executed(base: Path, tmp_path: Path, server: Server) -> None:
    root = whole(base, tmp_path / "store", server)
    DAMAGES["schema-drift"].make(root)
    done = run(server, root, "doctor", "--fix")
    assert done.err.splitlines()[:2] == [
        "Applying 1 fix:",
        f"  1. write {SCHEMA}, keeping any old text in quarantine",
    ]
    assert "All problems fixed" in done.out
    done = run(server, root, "doctor", "--fix")
    assert (done.code, done.out) == (0, "No problems found\n")


LEFT_OUT: dict[str, tuple[Callable[[Path], object], str]] = {
    "no-frontmatter": (lambda path: path.write_text("# Notes\n"), "The file has no frontmatter"),
    "broken": (lambda path: path.write_text("---\nid: [\n---\n"), "not valid YAML"),
    "same-id": (
        lambda path: path.write_bytes((path.parent / "testing.md").read_bytes()),
        f"Not in the manifest: {FACTS}/testing.md has the same id `fact.testing`",
    ),
    "link": (lambda path: path.symlink_to("testing.md"), "Not a regular file"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_manifest_check_reports_files_that_are_not_in_it(
    repo: Path, run: Callable[..., Any], name: str
) -> None:
    harm, message = LEFT_OUT[name]
    run("init")
    run("add", "fact", "Testing", "--tag", "x", "--body", "Tests run with pytest.")
    assert run("index", "manifest", "--check").code == 0
    harm(repo / FACTS / "zone.md")
    assert run("index", "rebuild").code == 0
    assert run("index", "manifest").code == 0
    result = run("index", "manifest", "--check", "--json")
    assert result.code == 1
    (finding,) = result.json["diagnostics"]
    assert (finding["rule"], finding["severity"]) == ("TM502", "error")
    assert message in finding["message"]
    assert finding["path"] == f"{FACTS}/zone.md"
