"""Are verdicts true? Replays the histories of public repositories and asks other parsers.

``python benchmarks/history_replay.py CLONE… --work FOLDER [--node-modules FOLDER] [--tools FOLDER…]`` takes
git directories that are on this machine and downloads nothing; scratch clones that borrow their objects go
into ``--work``, the given ones are only read. Anchors are planted on random symbols of a commit A and judged
at commits further on; truth comes from ``ast``, tsc, go/parser, javac, rustc, Ruby's prism, nikic's parser
of PHP and the Kotlin compiler, as far as they are installed, from readers of our own for C and C#, and from
git's renames. It prints tables; the false verdicts, each with both texts, are in the work folder. The exit
code is 1 when a verdict was false.

For at most two minutes a repository: ``--starts 2 --anchors 40 --log-lines 0 --moves 1 --changes 6``.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import sys
from typing import TYPE_CHECKING, Any

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.replay.changing import check_changes  # noqa: E402
from benchmarks.replay.clone import Clone  # noqa: E402
from benchmarks.replay.judging import SITUATIONS  # noqa: E402
from benchmarks.replay.moving import moves  # noqa: E402
from benchmarks.replay.mutating import mutate  # noqa: E402
from benchmarks.replay.read_c import CReader  # noqa: E402
from benchmarks.replay.read_csharp import CSharpReader  # noqa: E402
from benchmarks.replay.read_outside import outside_readers  # noqa: E402
from benchmarks.replay.read_python import PythonReader  # noqa: E402
from benchmarks.replay.read_rust import RustReader  # noqa: E402
from benchmarks.replay.reformatting import formatters, reformat  # noqa: E402
from benchmarks.replay.reporting import About, Findings, as_data, markdown  # noqa: E402
from benchmarks.replay.scoring import NO_ANSWER  # noqa: E402
from benchmarks.replay.truth import Library  # noqa: E402
from benchmarks.replay.walking import Seen, Walk, walk  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.replay.symbols import Reader


def name_of(source: str) -> str:
    """What to call a clone: the last part of its path that says something."""
    parts = [part for part in os.path.abspath(source).split(os.sep) if part not in ("repo", ".git")]
    return parts[-1].replace("+", "/").removesuffix(".git")


def readers(options: argparse.Namespace) -> list[Reader]:
    """The parsers of this machine."""
    found: list[Reader] = [
        PythonReader(),
        CReader(),
        CSharpReader(),
        *outside_readers(options.node_modules, options.work),
    ]
    if shutil.which("rustc"):
        found.append(RustReader())
    return found


def gather(library: Library, options: argparse.Namespace) -> Findings:
    """Everything that one repository has to say."""
    findings = Findings([], [], [], [], [])
    clone, dice = library.clone, random.Random(f"{options.seed} {library.clone.name}")
    steps = 0

    def take(what: str, seen: Seen) -> None:
        findings.cases.extend(seen.cases)
        findings.not_seen.extend((clone.name, path, symbol) for path, symbol in seen.not_seen)
        print(f"{what}: {len(seen.cases)} cases, {len(seen.not_seen)} not seen", file=sys.stderr, flush=True)
        library.save()

    situations = tuple(options.situations)
    plan = Walk(tuple(options.distances), options.starts, options.anchors, options.log_lines, situations)
    for what, seen in walk(library, plan, dice):
        take(what, seen)
        steps += 1
    line = clone.line()
    for _ in range(options.moves):
        at = dice.choice(line[len(line) // 2 :])
        take(f"{clone.name} moves", moves(library, at, dice, options.anchors, situations))
    if options.reformat:
        for formatter in formatters(options.tools):
            take(f"{clone.name} {formatter.name}", reformat(library, clone.tip, formatter))
    if options.mutations:
        done = mutate(library, clone.tip, dice, options.mutations)
        findings.mutations.extend((clone.name, one) for one in done)
    if options.changes:
        findings.checked.extend(check_changes(library, dice, options.changes, options.anchors))
        library.save()
    findings.abouts.append(About(clone.name, clone.count(), clone.date(clone.tip), steps))
    return findings


def _gathered(library: Library, options: argparse.Namespace, kept: str) -> Findings:
    if options.resume and os.path.exists(kept):
        with open(kept, "rb") as file:
            return pickle.load(file)  # type: ignore[no-any-return]
    found = gather(library, options)
    with open(kept, "wb") as file:
        pickle.dump(found, file)
    return found


def texts(library: Library, wrong: dict[str, Any]) -> str:
    """A wrong verdict for review: ground truth, our verdict, and the code."""
    clone, shown = library.clone, []
    rows = [("A", wrong["a"], wrong["path"], wrong["symbol"])]
    places = wrong["places"] or [(wrong["path"], wrong["symbol"])]
    rows += [("B", wrong["b"], path, symbol) for path, symbol in places]
    for side, revision, path, symbol in rows:
        tree = clone.tree(revision)
        if path not in tree:
            shown.append(f"{side}: no {path}")
            continue
        data = clone.blob(tree[path]).decode("utf-8", "replace").splitlines()
        own = symbol.rpartition(".")[2]
        for one in library.one(path, tree[path]).symbols:
            if one.name == symbol or (one.name.rpartition(".")[2] == own and symbol not in one.name):
                text = "\n".join(data[one.first - 1 : one.last][:120])
                shown.append(f"{side}: {path}#{one.name} line {one.first}\n{text}")
    head = json.dumps({key: value for key, value in wrong.items() if key != "texts"}, ensure_ascii=False)
    return "\n".join([f"### {head}", *shown, ""])


def write(findings: Findings, libraries: dict[str, Library], work: str) -> dict[str, Any]:
    """Write the report to the work folder; returns the counts."""
    data = as_data(findings)
    with open(os.path.join(work, "false_verdicts.txt"), "w", encoding="utf-8") as file:
        wrong = data["false_verdicts"]
        file.writelines(texts(libraries[one["repository"]], one) + "\n" for one in wrong)
        for name, one in findings.mutations:
            if one.missed:
                file.write(f"### unnoticed {name} {one}\n")
        file.writelines(f"### change check {one}\n" for one in findings.checked if not one.equal)
    with open(os.path.join(work, "replay.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, ensure_ascii=False)
    with open(os.path.join(work, "not_seen.txt"), "w", encoding="utf-8") as file:
        file.writelines(
            f"{name} {path}:{symbol.first} {symbol.kind} {symbol.name}\n"
            for name, path, symbol in findings.not_seen
        )
    with open(os.path.join(work, "replay.md"), "w", encoding="utf-8") as file:
        file.write(markdown(findings))
    return data


def options_of(arguments: list[str]) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("clones", nargs="+", metavar="CLONE", help="a git directory")
    parser.add_argument("--work", required=True, metavar="FOLDER", help="for scratch clones and reports")
    parser.add_argument(
        "--node-modules",
        default="",
        metavar="FOLDER",
        help="holds the npm packages typescript, @ruby/prism and kotlin-compiler@2.1.0",
    )
    parser.add_argument("--tools", nargs="*", default=[], metavar="FOLDER", help="where formatters are")
    parser.add_argument("--distances", nargs="*", type=int, default=[20, 100, 400, 1000])
    parser.add_argument("--starts", type=int, default=5, help="commits A for each distance")
    parser.add_argument("--anchors", type=int, default=60, help="anchors for each A")
    parser.add_argument("--log-lines", type=int, default=10, help="anchors for each A put to git log -L")
    parser.add_argument("--moves", type=int, default=3, help="commits with planted renames and moves")
    parser.add_argument("--reformat", action="store_true", help="run the formatters over the newest commit")
    parser.add_argument("--mutations", type=int, default=0, help="one-token edits in Python, a repository")
    parser.add_argument("--changes", type=int, default=0, help="commits whose change check is compared")
    parser.add_argument("--situations", nargs="*", default=list(SITUATIONS), choices=SITUATIONS)
    parser.add_argument(
        "--resume", action="store_true", help="take what an earlier run found in a repository"
    )
    parser.add_argument("--seed", default="1")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print and write."""
    options = options_of(arguments)
    os.makedirs(options.work, exist_ok=True)
    findings, libraries = Findings([], [], [], [], []), {}
    known = readers(options)
    for source in options.clones:
        name = name_of(source)
        place = os.path.join(options.work, name.replace("/", "-"))
        clone = Clone(source, place, name)
        libraries[name] = Library(clone, known, f"{place}-truth.pickle")
        for gathered, new in zip(
            findings, _gathered(libraries[name], options, f"{place}-found.pickle"), strict=True
        ):
            gathered.extend(new)  # type: ignore[attr-defined]
    data = write(findings, libraries, options.work)
    print(markdown(findings))
    wrong = data["false_verdicts"]
    return 1 if any(one["how"] != NO_ANSWER for one in wrong) or data["mutations"][1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
