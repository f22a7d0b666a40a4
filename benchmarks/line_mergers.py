"""How often the pure three-way merge of lines and ``git merge-file`` come to the same, and where they do not.

``python benchmarks/line_mergers.py [--count N] [--seed S] [--show K]`` merges made-up triples of texts both
ways: a few lines out of a small alphabet (the same line stands at many places) or numbered lines (each stands
once), some with CRLF, some without a last line end. It counts the outcomes and prints examples of each kind
of difference. Each triple costs a process of git, some 5 ms.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from thunderus_mem.document.diff import three_way  # noqa: E402
from thunderus_mem.git.repository import GitProcess, find_executable  # noqa: E402
from thunderus_mem.merge.resolve import merge_lines  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.git.repository import Output

LABELS = ("ours", "theirs")
ALPHABET = ("a", "b", "", "# c", "- d")


class Triple(NamedTuple):
    """Three texts, and how they were made."""

    kind: str
    base: str
    ours: str
    theirs: str


def _edited(lines: list[str], words: tuple[str, ...], random: random.Random) -> list[str]:
    lines = list(lines)
    for _ in range(random.randint(1, 3)):
        at = random.randint(0, len(lines))
        match random.choice(("add", "change", "remove")):
            case "add":
                lines[at:at] = [random.choice(words) for _ in range(random.randint(1, 2))]
            case "change" if at < len(lines):
                lines[at] = random.choice(words)
            case "remove":
                del lines[at : at + random.randint(1, 2)]
            case _:
                pass
    return lines


def _text(lines: list[str], end: str, last: bool) -> str:
    return end.join(lines) + (end if last and lines else "")


def triples(count: int, seed: int) -> Iterator[Triple]:
    """The same for the same numbers."""
    source = random.Random(seed)
    for number in range(count):
        repeated = number % 2 == 0
        size = source.randint(0, 10)
        words = ALPHABET if repeated else tuple(f"new {n}" for n in range(8))
        base = [source.choice(ALPHABET) if repeated else f"line {n}" for n in range(size)]
        sides = [base, _edited(base, words, source), _edited(base, words, source)]
        ending = source.choices(("LF", "CRLF", "CRLF on one side", "last line open"), (6, 1, 1, 2))[0]
        ends = ["\r\n" if ending == "CRLF" else "\n"] * 3
        if ending == "CRLF on one side":
            ends[source.randint(1, 2)] = "\r\n"
        lasts = [ending != "last line open" or source.random() < 0.5 for _ in sides]
        kind = f"{'repeated' if repeated else 'distinct'} lines, {ending}"
        yield Triple(kind, *map(_text, sides, ends, lasts))


def compared(triple: Triple, process: GitProcess) -> tuple[str, str | None, str]:
    """What the two say of each other, the pure merger's text (``None``: conflict), and git's."""
    codes: list[int] = []

    def run(*arguments: str) -> Output:
        output = process.run(*arguments)
        codes.append(output.code)
        return output

    pure = three_way(triple.base, triple.ours, triple.theirs)
    git = merge_lines(run, triple.base, triple.ours, triple.theirs, LABELS)
    if pure is None:
        return ("both conflict" if codes[0] else "only git merges"), pure, git
    if codes[0]:
        return "only the pure one merges", pure, git
    if pure == git:
        return "same text", pure, git
    alike = pure.replace("\r\n", "\n") == git.replace("\r\n", "\n")
    return ("same but for line ends" if alike else "other text"), pure, git


def main() -> None:
    """Compare, and print a table of kinds and outcomes, then examples."""
    parser = argparse.ArgumentParser(description="Compare two ways to merge lines.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    given = parser.parse_args()
    executable = find_executable(os.environ.get("PATH", os.defpath))
    assert executable is not None
    process = GitProcess(executable, PROJECT, os.environ)
    made = list(triples(given.count, given.seed))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda one: compared(one, process), made))
    table = Counter((outcome, triple.kind) for triple, (outcome, _, _) in zip(made, results, strict=True))
    for (outcome, kind), count in sorted(table.items()):
        print(f"{outcome:26} {kind:34} {count:6}")
    for outcome, count in Counter(outcome for outcome, _, _ in results).most_common():
        print(f"{outcome:26} {count:6} = {100 * count / len(results):.1f} %")
    for outcome in ("only git merges", "only the pure one merges", "other text", "same but for line ends"):
        found = [(one, said) for one, said in zip(made, results, strict=True) if said[0] == outcome]
        for triple, (_, pure, git) in sorted(found, key=lambda pair: len("".join(pair[0][1:])))[: given.show]:
            print(f"{outcome}\n  base {triple.base!r}\n  ours {triple.ours!r}\n  theirs {triple.theirs!r}")
            print(f"  pure {pure!r}\n  git  {git!r}")


if __name__ == "__main__":
    main()
