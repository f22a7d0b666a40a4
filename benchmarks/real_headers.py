"""The frontmatter of other people's files: read as other YAML readers read it, and edited key by key.

``python benchmarks/real_headers.py FOLDER… [--edits N] [--npm-yaml FOLDER]`` walks folders and git
directories that are on this machine and downloads nothing. It prints what was read, by which reader, what is
refused and why, where another YAML 1.2 reader sees something else, and how many edits changed a byte they
should not. The exit code is 1 when two readers disagree or an edit goes astray.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks import yaml_reference  # noqa: E402
from benchmarks.edit_trials import Outcome, Trial, attempt, trials  # noqa: E402
from benchmarks.header_sources import files  # noqa: E402
from thunderus_mem.document.frontmatter.read import (  # noqa: E402
    find_fences,
    read_fast,
    read_full,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.frontmatter.nodes import Mapping

_BATCH = 400
_SHOWN = 20
# Said to be left out in docs/explanation/frontmatter.md; anything else that is refused has to be no YAML.
_SUBSET = frozenset(
    (
        *("anchor", "alias", "tag", "merge-key", "duplicate-key", "key", "depth", "size", "tab"),
        *("control-character", "multi-document", "not-a-mapping"),
    )
)


class File(NamedTuple):
    """A file with fenced frontmatter: its text and the text between the fences."""

    place: str
    path: str
    text: str
    header: str


@dataclass
class Report:
    """Counts, and the first files of each sort that has to be looked at."""

    files: int = 0
    fast: int = 0
    reading: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")
    slowest_edit: tuple[float, str] = (0.0, "")

    def look_at(self, what: str, file: File) -> None:
        """Note a file in which something is wrong."""
        self.bad.append(f"{what}: {file.place}: {file.path}")


def fenced(place: str, report: Report) -> Iterator[File]:
    """The files of one place; those without closed fences, or no text, are only counted."""
    for path, data in files(place):
        report.files += 1
        report.places[place] += 1
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            report.reading["no UTF-8"] += 1
            continue
        fences = find_fences(text)
        if fences is None or not fences.closed:
            report.reading["no fences"] += 1
            continue
        yield File(place, path, text, text[fences.start : fences.end])


def read(file: File, report: Report) -> Mapping | None:
    """Read a header with both readers, the clock running, and with py-yaml12."""
    start = time.process_time()
    root, problems = read_header(file.header)
    took = time.process_time() - start
    report.seconds += took
    report.slowest = max(report.slowest, (took, file.path))
    if root is None:
        report.reading["refused"] += 1
        report.refused[_why_refused(file, problems[0].code, report)] += 1
        return None
    fast = read_fast(file.header)
    report.fast += fast is not None
    if fast is not None and read_full(file.header) != (fast, ()):
        report.look_at("the fast reader differs from the full one", file)
    found, refusal = yaml_reference.typed_reading(file.header)
    same = not refusal and yaml_reference.same_values(root, found)
    _judge(file, root, same, refusal, "py-yaml12", report)
    return root


def _why_refused(file: File, code: str, report: Report) -> str:
    if code != "depth" and yaml_reference.typed_reading(file.header)[1]:
        return f"{code}, and no YAML to py-yaml12 either"
    if code not in _SUBSET:
        report.look_at(f"refused by us alone ({code})", file)
    return f"{code}, outside the subset"


def _judge(file: File, root: Mapping, same: bool, refusal: str, name: str, report: Report) -> None:
    if same:
        report.reading[f"as {name}"] += 1
    elif refusal and yaml_reference.libyaml_texts(file.header) == yaml_reference.texts_of(root):
        report.reading[f"as libyaml, {name} refuses"] += 1
    else:
        report.reading[f"otherwise than {name}"] += 1
        report.look_at(f"read otherwise than by {name} ({refusal[:60]})", file)


def edit(file: File, root: Mapping, most: int, dice: random.Random, report: Report) -> None:
    """Try edits of a file's keys; the results are read by another reader as well."""
    strict = not yaml_reference.typed_reading(file.header)[1]
    for trial in trials(root, dice, most):
        start = time.process_time()
        outcome = attempt(file.text, root, trial)
        took = time.process_time() - start
        report.slowest_edit = max(report.slowest_edit, (took, f"{trial.op} in {file.path}"))
        report.edits["tried"] += 1
        what = fault(outcome, strict=strict)
        if outcome.refused:
            report.edits["refused"] += 1
        if what:
            report.edits["astray"] += 1
            report.look_at(f"{_words(trial)} {what}", file)


def fault(outcome: Outcome, *, strict: bool) -> str:
    """What is wrong with an edit: refused, astray, or something else to another reader; "" if nothing is.

    Not ``strict``: that reader refuses the file as it was already.
    """
    if outcome.refused or outcome.broken:
        return outcome.broken or outcome.refused
    assert outcome.root is not None
    found, refusal = yaml_reference.typed_reading(outcome.header)
    if refusal:
        return f"is no YAML: {refusal}" if strict else ""
    return "" if yaml_reference.same_values(outcome.root, found) else "is read otherwise"


def _words(trial: Trial) -> str:
    return f"{trial.op} {'.'.join(trial.path)} {trial.argument!r}"


def with_npm(node: yaml_reference.NodeYaml, batch: list[tuple[File, Mapping]], report: Report) -> None:
    """Compare a batch of readings text by text."""
    answers = node.readings([file.header for file, _ in batch])
    for (file, root), (found, refusal) in zip(batch, answers, strict=True):
        same = not refusal and yaml_reference.same_texts(root, found)
        _judge(file, root, same, refusal, "npm yaml", report)


def run(places: Iterable[str], most: int, npm: str, seed: int) -> Report:
    """Everything, over all places."""
    report, dice = Report(), random.Random(seed)
    node = yaml_reference.NodeYaml(npm) if npm else None
    batch: list[tuple[File, Mapping]] = []
    for place in places:
        for file in fenced(place, report):
            root = read(file, report)
            if root is None:
                continue
            edit(file, root, most, dice, report)
            batch.append((file, root))
            if node is not None and len(batch) >= _BATCH:
                with_npm(node, batch, report)
                batch.clear()
    if node is not None:
        with_npm(node, batch, report)
        node.close()
    return report


def table(report: Report) -> str:
    """The report for people."""
    headers = sum(report.reading[name] for name in report.reading if name.startswith("as libyaml, py"))
    headers += report.reading["as py-yaml12"] + report.reading["otherwise than py-yaml12"]
    rows: list[tuple[str, Any]] = [
        ("files that begin with ---", report.files),
        ("places", len(report.places)),
        *((f"  {name}", count) for name, count in sorted(report.reading.items())),
        ("read by the fast reader", f"{report.fast} ({100 * report.fast / max(headers, 1):.1f} %)"),
        *((f"  refused: {name}", count) for name, count in report.refused.most_common()),
        *((f"edits {name}", count) for name, count in sorted(report.edits.items())),
        ("edits that changed a byte elsewhere or read as something else", report.edits["astray"]),
        ("microseconds a header", round(1e6 * report.seconds / max(report.files, 1))),
        ("slowest header", f"{1000 * report.slowest[0]:.1f} ms {report.slowest[1]}"),
        ("slowest edit, checks included", f"{1000 * report.slowest_edit[0]:.1f} ms {report.slowest_edit[1]}"),
    ]
    lines = [f"{name:64} {value}" for name, value in rows]
    return "\n".join([*lines, *report.bad[:_SHOWN]])


def main(arguments: list[str]) -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("places", nargs="+", metavar="FOLDER", help="a folder, or a git directory")
    parser.add_argument("--edits", type=int, default=8, help="edits a file at most; 0: of every key")
    parser.add_argument("--npm-yaml", default="", metavar="FOLDER", help="the npm package yaml, unpacked")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    report = run(options.places, options.edits, options.npm_yaml, options.seed)
    print(table(report))
    return 1 if report.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
