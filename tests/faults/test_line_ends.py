"""P6: with any git line-ending setting, our log ends lines with LF and shards stay intact."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

import report
from tier import points

from tests.support.git_repository import Repository
from tests.support.tree_writer import FACTS, Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring.show import status
from thunderus_mem.diagnostic import Severity
from thunderus_mem.lint.lint import lint

if TYPE_CHECKING:
    from pathlib import Path

AUTOCRLF = ("true", "input", "false")
EOL = ("crlf", "lf", "native")
ATTRIBUTES = {
    "ours": None,
    "none": "",
    "text auto": "* text=auto\n",
    "text": "* text\n",
    "crlf": "* text eol=crlf\n",
    "binary": "* -text\n",
    "shards only": "*.jsonl text eol=crlf\n",
}
OURS = ".thunderus/.gitattributes"


def begun(folder: Path, attributes: str | None, clock: Clock) -> VerbTree:
    """A store with a document, committed with LF everywhere."""
    tree = VerbTree(Repository(folder / "origin", folder / "home").init(), clock)
    tree.begin()
    if attributes is not None:
        (tree.root / OURS).unlink()
        tree.repository.write(".gitattributes", attributes)
    tree.add("first")
    tree.save("Begin")
    return tree


def raw_shards(tree: VerbTree) -> dict[str, bytes]:
    return {shard: (tree.root / shard).read_bytes() for shard in tree.shards()}


def sound(tree: VerbTree) -> None:
    """The log is intact, lint finds no error, and CRLF in a shard is reported as such."""
    tree.check()
    memory = tree.memory()
    found = lint(memory).diagnostics
    assert [one for one in found if one.severity is Severity.ERROR] == []
    converted = [shard for shard, data in raw_shards(tree).items() if b"\r\n" in data]
    notes = [one for one in found if one.rule == "TM508"]
    assert [one.path for one in notes] == sorted(converted)[:1]
    assert all("CRLF" in one.message and "gitattributes" in one.hint for one in notes)
    assert status(memory).unrecorded == ()


def live(folder: Path, autocrlf: str, eol: str, attributes: str | None) -> None:
    """A clone with its own settings writes, commits and merges; then both have everything."""
    clock = Clock()
    origin = begun(folder, attributes, clock)
    settings = ("-c", f"core.autocrlf={autocrlf}", "-c", f"core.eol={eol}", "-c", "core.safecrlf=false")
    if autocrlf == "input" and eol == "crlf":
        settings = settings[:2]  # git refuses the two together
    clone = VerbTree(origin.repository.clone(folder / "clone", *settings), clock, seed=2)
    sound(clone)
    before = raw_shards(clone)
    clone.add("there")
    clone.edit("first", "is so", "is so there")
    clone.edit_by_hand("first", "first is", "first, indeed, is")
    for shard, data in raw_shards(clone).items():
        assert shard not in before or data == before[shard]
        assert shard in before or b"\r" not in data
    sound(clone)
    clone.save("There")
    for shard in clone.shards():
        blob = clone.repository.git("cat-file", "blob", f"HEAD:{shard}")
        assert "\r" not in blob
    origin.add("here")
    origin.save("Here")
    clone.git("pull", "-q", "--no-rebase", "--no-edit", str(origin.root), "main")
    sound(clone)
    clone.git("rm", "-q", "-r", "--cached", ".")
    clone.git("reset", "-q", "--hard")
    sound(clone)
    clone.note("after everything was checked out anew")
    clone.save("More")
    origin.git("pull", "-q", "--no-rebase", "--no-edit", str(clone.root), "main")
    sound(origin)
    assert set(clone.events()) <= set(origin.events())
    assert {path.name for path in (origin.root / FACTS).iterdir()} == {"first.md", "here.md", "there.md"}


def test_every_git_line_ending_setting(tmp_path: Path) -> None:
    cases = list(product(AUTOCRLF, EOL, ATTRIBUTES))
    chosen = cases if len(cases) == points(0, len(cases)) else cases[:: len(cases) // 8][:8]
    slowest, slowest_name = 0.0, ""
    for number, (autocrlf, eol, attributes) in enumerate(chosen):
        begin = time.process_time()
        folder = tmp_path / str(number)
        folder.mkdir()
        live(folder, autocrlf, eol, ATTRIBUTES[attributes])
        slowest, slowest_name = max(
            (slowest, slowest_name),
            (time.process_time() - begin, f"autocrlf={autocrlf} eol={eol} {attributes}"),
        )
    report.add("P6", slowest_name, tried=len(chosen), slowest=slowest)
