"""The review queue with invalid, too many or oversized files."""

from __future__ import annotations

import json
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.support.review_support import FACTS, SAME, Store
from thunderus_mem.memory.proposals import MAX_PROPOSAL, Proposal, ProposedEdit, encode
from thunderus_mem.review.queue import review_list

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

PLACE = ".thunderus/patches/patch_01KFFWGHHRHD99FDTGJ8YEPFZX.json"
TOKEN = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def _proposal(**keys: object) -> bytes:
    text = SAME
    made = Proposal(
        os.path.basename(PLACE)[:-5],
        "2026-01-21T09:00:00Z",
        "user",
        "add",
        "why",
        ("fact.a",),
        (ProposedEdit.between(f"{FACTS}/a.md", "fact.a", None, text),),
    )
    return json.dumps({**json.loads(encode(made)), **keys}).encode()


def _bytes(data: bytes):  # type: ignore[no-untyped-def]
    return lambda path: path.write_bytes(data)


def _huge(path: Path) -> None:
    with open(path, "wb") as stream:
        stream.truncate(MAX_PROPOSAL * 1_000)


ODD = {
    "symlink": (lambda path: path.symlink_to("/etc/passwd"), "is a symbolic link"),
    "dangling": (lambda path: path.symlink_to("nowhere"), "is a symbolic link"),
    "fifo": (os.mkfifo, "is not a regular file"),
    "folder": (os.mkdir, "is not a regular file"),
    "huge": (_huge, "is larger than 4,194,304 bytes"),
    "no JSON": (_bytes(b"{" * 100_000), "not valid JSON"),
    "not UTF-8": (_bytes(b"\xff\xfe"), "not UTF-8"),
    "empty": (_bytes(b""), "not valid JSON"),
    "secret": (_bytes(_proposal(why=TOKEN)), "contains a possible secret"),
    "secret in a key": (_bytes(_proposal(key=TOKEN)), "contains a possible secret"),
    "no target": (_bytes(_proposal(targets=[])), "edits[0].doc_id: 'fact.a' is not one of the targets"),
    "other target": (_bytes(_proposal(targets=["fact.a", "fact.b"])), "targets[1]: no edit changes 'fact.b'"),
    "control characters": (_bytes(_proposal(op="\x1b]0;x\x07")), "op: must be one of"),
}
READS = (("review", "list"), ("status",), ("lint",), ("doctor",), ("garden",), ("search", "thirty"))
WRITES = (
    ("review", "show", "patch_0"),
    ("review", "approve", "patch_0"),
    ("review", "reject", "patch_0", "-m", "no"),
    ("review", "approve", "patch_0", "--rebase"),
    ("review", "approve", "--all", "--yes"),
    ("review", "expire"),
    ("garden", "--propose"),
    ("garden", "--apply"),
)


@pytest.mark.parametrize("kind", ODD)
def test_invalid_file_is_reported_and_kept(kind: str, repo: Path, server: Server) -> None:
    make, reason = ODD[kind]
    turn = iter(range(60))

    def run(*words: str) -> Done:
        at = next(turn)
        env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{at:02d}Z", "THUNDERUS_MEM_SEED": str(at)}
        return server.run(*words, cwd=str(repo), env=env, timeout=20)

    assert run("init").code == 0
    assert run("add", "fact", "Twin", "--tag", "x", "--body", SAME).code == 0
    make(repo / PLACE)
    mode = os.lstat(repo / PLACE).st_mode
    listed = run("review", "list")
    assert listed.code == 6, listed
    assert f"{PLACE}: invalid proposal: {reason}" in listed.err
    for words in (*READS, *WRITES):
        done = run(*words)
        assert "Traceback" not in done.err, (words, done)
        assert done.code in (0, 1, 2, 3, 4, 5, 6), (words, done)
        said = done.out + done.err
        leaked = [text for text in (TOKEN, "root:", "\x1b", str(repo / ".thunderus/patches")) if text in said]
        assert leaked == [], (words, done)
        assert os.lstat(repo / PLACE).st_mode == mode, words
    assert run("review", "approve", "patch_0").code in (2, 5)
    assert not (repo / FACTS / "a.md").exists()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path).begin()


def test_long_queue_is_listed_briefly_one_proposal_at_a_time(store: Store) -> None:
    names = [f"fact.a-{number:05}" for number in range(2_000)]
    edits = tuple(ProposedEdit.between(f"{FACTS}/{name[5:]}.md", name, None, "x\n") for name in names)
    for at in range(5):
        ulid = f"01KFFWGHHRHD99FDTGJ8YEPF{at:02}"
        proposal = Proposal(
            f"patch_{ulid}", "2026-01-21T09:00:00Z", "user", "edit", "why " * 20_000, tuple(names), edits
        )
        store.put(f".thunderus/patches/{proposal.id}.json", encode(proposal))
    memory = store.memory()
    tracemalloc.start()
    listed = review_list(memory, limit=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(listed.proposals), listed.left_out) == (2, 3)
    assert all(len(one.targets) == 50 and one.more_targets == 1_950 for one in listed.proposals)
    assert all(len(one.why) < 600 for one in listed.proposals)
    # Reading one of them takes about 4 MB.
    assert most < 16e6
