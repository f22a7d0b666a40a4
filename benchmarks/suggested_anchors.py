"""Does ``anchor --suggest`` name the code that a reader would? Statements of public documentation.

``python benchmarks/suggested_anchors.py FOLDER --work FOLDER [--misses] [--large COPIES]`` takes a folder
with git directories ``OWNER+NAME/repo``, which are only read, and checks their files out into ``--work``.
What a reader would anchor is in ``benchmarks/suggest/statements.txt``, written down before any output was
seen; the rules were tuned on one half of its repositories. Recall is the share of required places that were
suggested, precision the share of suggestions that are required or right. ``--large`` asks again in one
repository of that many copies of all files together, for the processor time of a document.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from typing import NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from thunderus_mem.document.anchors import code_words, parse_anchor  # noqa: E402
from thunderus_mem.fingerprint.source import CodeSource  # noqa: E402
from thunderus_mem.git.repository import Git  # noqa: E402
from thunderus_mem.verdicts.code import WorkingTree  # noqa: E402
from thunderus_mem.verdicts.suggest import propose  # noqa: E402

STATEMENTS = os.path.join(PROJECT, "benchmarks", "suggest", "statements.txt")


class Statement(NamedTuple):
    """Lines of a document. Each of ``required`` lists places that are alternatives; ``right`` are places that
    may be suggested too."""

    repository: str
    commit: str
    half: str
    path: str
    first: int
    last: int
    required: list[list[str]]
    right: list[str]

    @property
    def where(self) -> str:
        return f"{self.repository} {self.path}:{self.first}-{self.last}"


class Outcome(NamedTuple):
    """What was suggested for a statement: places, the alternatives that were missed, wrong places, why names
    were skipped, and processor seconds."""

    statement: Statement
    places: list[str]
    missed: list[list[str]]
    wrong: list[str]
    skipped: list[str]
    seconds: float


def read_statements(text: str) -> list[Statement]:
    """Parse the statements; the format is described at the top of the file."""
    found: list[Statement] = []
    about = ["", "", ""]
    for line in text.splitlines():
        if line.startswith("= "):
            about = line[2:].split()
        elif line.startswith("    ~ "):
            found[-1].right.append(line[6:].strip())
        elif line.startswith("    "):
            found[-1].required.append([place.strip() for place in line.split(" | ")])
        elif line and not line.startswith("#"):
            path, _, lines = line.rpartition(" ")
            first, last = map(int, lines.split("-"))
            repository, commit, half = about
            found.append(Statement(repository, commit, half, path, first, last, [], []))
    return found


def is_same(suggested: str, wanted: str) -> bool:
    """Whether a suggestion is a wanted place, whose symbol may be the end of a dotted name."""
    one, other = parse_anchor(suggested), parse_anchor(wanted)
    name = one.symbol.partition("(")[0]
    return (
        one.path == other.path
        and f".{name}".endswith(f".{other.symbol}")
        and bool(name) == bool(other.symbol)
    )


def check_out(source: str, commit: str, root: str) -> None:
    """Write the files of a commit below a root, as a repository of its own; unreadable files are skipped."""
    if os.path.isdir(os.path.join(root, ".git")):
        return
    os.makedirs(root)
    clone = ["clone", "--quiet", "--shared", "--no-checkout", source, root]
    for command in (clone, ["read-tree", commit], ["checkout-index", "--all", "--quiet"]):
        subprocess.run(["git", *command], cwd=root, capture_output=True, check=False)


def text_of(root: str, statement: Statement) -> str:
    with open(os.path.join(root, statement.path), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return "\n".join(lines[statement.first - 1 : statement.last]) + "\n"


def processor_seconds() -> float:
    """The processor time of this process and of its children so far."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def ask(root: str, statement: Statement, text: str) -> Outcome:
    """Suggest anchors for one statement, in a new tree as a command would."""
    before = processor_seconds()
    words = code_words(text, statement.path.rpartition("/")[0])
    found = propose(words, WorkingTree(root, Git.find(root)))
    seconds = processor_seconds() - before
    places = [one.place for one in found.proposals]
    missed = [
        some for some in statement.required if not any(is_same(at, one) for at in places for one in some)
    ]
    known = [one for some in statement.required for one in some] + statement.right
    wrong = [at for at in places if not any(is_same(at, one) for one in known)]
    skipped = [f"{one.code}: {one.why}" for one in found.passed]
    return Outcome(statement, places, missed, wrong, skipped, seconds)


def unknown_places(root: str, statement: Statement) -> list[str]:
    """Places of a statement that do not exist: mistakes in the file of statements."""
    wrong = []
    for place in [one for some in statement.required for one in some] + statement.right:
        anchor = parse_anchor(place)
        try:
            with open(os.path.join(root, anchor.path), "rb") as file:
                source = CodeSource(anchor.path, file.read())
        except OSError:
            wrong.append(place)
            continue
        if anchor.symbol and not source.find(anchor.symbol):
            wrong.append(place)
    return wrong


def summary(title: str, outcomes: list[Outcome]) -> str:
    required = sum(len(one.statement.required) for one in outcomes)
    missed = sum(len(one.missed) for one in outcomes)
    places = sum(len(one.places) for one in outcomes)
    wrong = sum(len(one.wrong) for one in outcomes)
    recall = f"recall {_share(required - missed, required)}"
    precision = f"precision {_share(places - wrong, places)}"
    return f"{title:<22} {len(outcomes):>4} statements  {recall}  {precision}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:6.1%} ({part} of {whole})" if whole else "n/a"


def print_misses(outcomes: list[Outcome]) -> None:
    for one in outcomes:
        if one.missed or one.wrong:
            print(f"\n{one.statement.where}")
            for some in one.missed:
                print(f"  missed {' | '.join(some)}")
            for place in one.wrong:
                print(f"  wrong  {place}")
            for line in one.skipped:
                print(f"  skipped {line}")


def all_together(work: str, names: list[str], copies: int) -> str:
    """One repository of several copies of all files."""
    root = os.path.join(work, f"together-{copies}")
    if not os.path.isdir(root):
        for copy in range(copies):
            for name in names:
                target = os.path.join(root, f"copy{copy}", name)
                os.makedirs(target)
                source = os.path.join(work, name)
                subprocess.run(
                    f"tar c --exclude=.git . | tar x -C '{target}'", shell=True, cwd=source, check=True
                )
        for command in (["init", "-q", "."], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=root, check=True)
    return root


def measure_large(work: str, statements: list[Statement], copies: int) -> None:
    """Print the processor time of a document in a large repository."""
    names = sorted({one.repository.partition("/")[2] for one in statements})
    root = all_together(work, names, copies)
    files = len(WorkingTree(root, Git.find(root)).paths())
    texts = [text_of(os.path.join(work, one.repository.partition("/")[2]), one) for one in statements]
    seconds = sorted(ask(root, one, text).seconds for one, text in zip(statements, texts, strict=True))
    middle, most = seconds[len(seconds) // 2], seconds[-1]
    print(f"{files:,} files: {middle:.2f} s a statement, at most {most:.2f} s")
    documents: dict[tuple[str, str], Statement] = {}
    for one in statements:
        documents.setdefault((one.repository, one.path), one._replace(first=1, last=1 << 20))
    slowest = ("", 0.0)
    for (name, path), one in documents.items():
        spent = ask(root, one, text_of(os.path.join(work, name.partition("/")[2]), one)).seconds
        slowest = max(slowest, (f"{name} {path}", spent), key=lambda pair: pair[1])
    print(f"{len(documents)} whole documents: at most {slowest[1]:.2f} s ({slowest[0]})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("clones", metavar="FOLDER")
    parser.add_argument("--work", metavar="FOLDER", required=True)
    parser.add_argument(
        "--misses", action="store_true", help="List what was missed or wrong (half `tune` only)."
    )
    parser.add_argument("--large", metavar="COPIES", type=int, default=0)
    options = parser.parse_args()
    with open(STATEMENTS, encoding="utf-8") as file:
        statements = read_statements(file.read())
    outcomes: list[Outcome] = []
    began = time.monotonic()
    for one in statements:
        root = os.path.join(os.path.abspath(options.work), one.repository.partition("/")[2])
        check_out(
            os.path.join(os.path.abspath(options.clones), one.repository.replace("/", "+"), "repo"),
            one.commit,
            root,
        )
        for place in unknown_places(root, one):
            print(f"{one.where}: no such place: {place}")
        outcomes.append(ask(root, one, text_of(root, one)))
    if options.misses:
        print_misses([one for one in outcomes if one.statement.half == "tune"])
    for name in dict.fromkeys(one.repository for one in statements):
        print(summary(name, [one for one in outcomes if one.statement.repository == name]))
    for half in ("tune", "report"):
        print(summary(half, [one for one in outcomes if one.statement.half == half]))
    print(summary("all", outcomes), f"({time.monotonic() - began:.0f} s)")
    if options.large:
        measure_large(os.path.abspath(options.work), statements, options.large)
    return 0


if __name__ == "__main__":
    sys.exit(main())
