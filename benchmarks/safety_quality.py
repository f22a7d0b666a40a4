"""How many secrets and planted instructions lint finds, and how many honest documents it reports.

``python benchmarks/safety_quality.py CASES.jsonl… --honest FOLDER…`` reads cases, one JSON object a line:
``id``, ``text`` and ``class`` (``secret``, ``instruction-structure``, ``instruction-wording``, ``honest``,
``honest-imperative`` or ``honest-secret``).
The pieces of a secret may be joined with U+27E6 U+27E7. Folders may be git directories without a work tree.
Prints a table for docs/explanation/safety-measured.md with one column for each file of cases, and the first
false positives, without the values of secrets. ``development.jsonl`` is the default.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from tests.support.lint_corpus import FRONT, lint_documents  # noqa: E402
from thunderus_mem.safety.injection import find_injections  # noqa: E402
from thunderus_mem.safety.secrets import find_secrets, redacted  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEVELOPMENT = os.path.join(PROJECT, "benchmarks", "safety", "development.jsonl")
JOINT = "\u27e6\u27e7"
SUFFIXES = (".md", ".mdx", ".mdc", ".markdown")
PATH = ".thunderus/memory/semantic/FACTS/a.md"
CLASSES = {
    "secret": frozenset(("TM401",)),
    "instruction-structure": frozenset(("TM402", "TM403", "TM404", "TM405")),
    "instruction-wording": frozenset(("TM402", "TM403", "TM404", "TM405")),
    "honest": frozenset(("TM401", "TM404")),
    "honest-imperative": frozenset(("TM404",)),
    "honest-secret": frozenset(("TM401",)),
}
GOALS = {"secret": 0.95, "instruction-structure": 0.9, "instruction-wording": 0.6}
EXAMPLES = 10
SHOWN = 100


class Case(NamedTuple):
    """A text that must be reported, or an honest one."""

    id: str
    kind: str
    text: str


def cases(path: str) -> list[Case]:
    """The cases of a file, with the pieces of secrets joined."""
    with open(path, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines if line.strip()]
    return [Case(one["id"], one["class"], one["text"].replace(JOINT, "")) for one in found]


def reported(case: Case) -> bool:
    """Whether lint has a finding of the rules for the class of a case."""
    text = FRONT.format(id="fact.a", kind="fact") + f"\n{case.text}\n"
    found = lint_documents({PATH: text.encode("utf-8", "surrogatepass")})[PATH]
    return any(one.rule in CLASSES[case.kind] for one in found)


def documents(folder: str) -> Iterator[tuple[str, str]]:
    """Name and text of the Markdown files below a folder or in a git directory."""
    if os.path.isfile(os.path.join(folder, "HEAD")):
        yield from _committed(folder)
        return
    for top, _, names in os.walk(folder):
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES):
                path = os.path.join(top, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield os.path.relpath(path, folder), file.read()


def _committed(folder: str) -> Iterator[tuple[str, str]]:
    git = ["git", "--git-dir", folder]
    listed = subprocess.run([*git, "ls-tree", "-rz", "HEAD"], capture_output=True, check=True).stdout
    blobs = {}
    for entry in listed.decode("utf-8", "replace").split("\0"):
        mode, _, name = entry.partition("\t")
        if name.lower().endswith(SUFFIXES) and mode.split()[1] == "blob" and mode.split()[0] != "120000":
            blobs[name] = mode.split()[2]
    wanted = "\n".join(blobs.values()).encode()
    data = subprocess.run([*git, "cat-file", "--batch"], input=wanted, capture_output=True, check=True).stdout
    at = 0
    for name in blobs:
        line = data.index(b"\n", at)
        about = data[at:line].split()
        if len(about) < 3:  # the file is not in a partial clone
            at = line + 1
            continue
        size = int(about[2])
        yield name, data[line + 1 : line + 1 + size].decode("utf-8", "replace")
        at = line + size + 2


class Tally(NamedTuple):
    """Documents of a folder, and the first reported ones of each class with an excerpt."""

    count: int
    flagged: dict[str, list[str]]
    microseconds: dict[str, float]


def tally(folder: str) -> Tally:
    """Search every document of a folder for secrets and for instructions."""
    flagged: dict[str, list[str]] = defaultdict(list)
    spent: Counter[str] = Counter()
    count = characters = 0
    for name, text in documents(folder):
        count, characters = count + 1, characters + len(text)
        started = time.process_time()
        secrets = find_secrets(text)
        between = time.process_time()
        injections = find_injections(text)
        spent["secrets"] += between - started
        spent["instructions"] += time.process_time() - between
        if secrets:
            first = secrets[0]
            before = redacted(text[max(first.start - 40, 0) : first.start])
            flagged["secrets"].append(f"{name}: {first.kind} after {' '.join(before.split())!r}")
        if injections:
            start = injections[0].start
            excerpt = " ".join(redacted(text[start : start + SHOWN]).split())
            flagged["instructions"].append(f"{name}: {injections[0].says}: {excerpt!r}")
    each = {what: seconds * 1e6 / max(characters / 1024, 1) for what, seconds in spent.items()}
    return Tally(count, flagged, each)


def share(found: int, count: int) -> str:
    """A share as text: ``96.7 % (29/30)``."""
    return f"{100 * found / count:.1f} % ({found}/{count})" if count else "\u2013"


def recall_table(files: Sequence[str]) -> list[str]:
    """Rows of recall by class, one column for each file, and the ids that were missed."""
    rows: dict[str, list[str]] = defaultdict(list)
    missed = []
    for path in files:
        known = cases(path)
        for kind in CLASSES:
            ones = [one for one in known if one.kind == kind]
            found = [one for one in ones if reported(one)]
            rows[kind].append(share(len(found), len(ones)))
            wrong = found if kind.startswith("honest") else [one for one in ones if one not in found]
            missed += [f"  {os.path.basename(path)}: {kind}: {one.id}" for one in wrong]
    names = [os.path.basename(path).removesuffix(".jsonl") for path in files]
    lines = [f"| class | goal | {' | '.join(names)} |", "|---" * (2 + len(files)) + "|"]
    for kind, columns in rows.items():
        goal = f"\u2265 {100 * GOALS[kind]:.0f} %" if kind in GOALS else "\u2264 2 %"
        lines.append(f"| {kind} | {goal} | {' | '.join(columns)} |")
    return [*lines, "", "Missed, or wrongly reported:", *missed]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Measure the safety rules of lint.")
    parser.add_argument("cases", nargs="*", default=[DEVELOPMENT], metavar="CASES.jsonl")
    parser.add_argument("--honest", nargs="*", default=[], metavar="FOLDER")
    options = parser.parse_args()
    print("\n".join(recall_table(options.cases)))
    if options.honest:
        print(
            "\n| documents | count | secrets | instructions | \u00b5s/KB: secrets | instructions |\n"
            + "|---" * 6
            + "|"
        )
    examples: dict[str, list[str]] = defaultdict(list)
    total: Counter[str] = Counter()
    for folder in options.honest:
        one = tally(folder)
        name = folder.rstrip("/").removesuffix("/repo").rpartition("/")[2].replace("+", "/")
        marks = [share(len(one.flagged[what]), one.count) for what in ("secrets", "instructions")]
        times = [f"{one.microseconds.get(what, 0):.1f}" for what in ("secrets", "instructions")]
        print(f"| {name} | {one.count} | {' | '.join([*marks, *times])} |")
        total["count"] += one.count
        for what, lines in one.flagged.items():
            total[what] += len(lines)
            examples[what] += [f"  {name}/{line}" for line in lines[:EXAMPLES]]
    if options.honest:
        marks = [share(total[what], total["count"]) for what in ("secrets", "instructions")]
        print(f"| all | {total['count']} | {' | '.join(marks)} | | |")
    for what, lines in examples.items():
        print(f"\nHonest documents reported for {what}:")
        print("\n".join(lines[: EXAMPLES * max(len(options.honest), 1)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
