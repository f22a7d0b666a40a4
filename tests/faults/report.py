"""The report of the fault tier: points tried, lost, healed and slowest for each row, and its floor.

Each test adds to ``.make/faults/<row>.<process>.jsonl``; ``python tests/faults/report.py`` writes
``.make/faults/report.json`` and fails when a row tried fewer points than its floor, or lost anything. A row
that cannot be run here reports the reason, and is below its floor. ``--clear`` forgets earlier runs.
"""

from __future__ import annotations

import glob
import json
import os
import sys
from typing import Any, NamedTuple

from tier import points

FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ".make", "faults"
)


class Floor(NamedTuple):
    """Points a row must try at least: with every change, and in a whole run at night."""

    each_change: int
    night: int


FLOORS = {
    "C1": Floor(20, 90),
    "C1-cli": Floor(270, 4900),
    "C2": Floor(116, 9000),
    "C3": Floor(440, 440),
    "C3-cli": Floor(390, 1300),
    "C4": Floor(400, 28000),
    "C5": Floor(880, 880),
    "C6": Floor(500, 1600),
    "C7": Floor(28, 540),
    "K1": Floor(1600, 1600),
    "K1-cli": Floor(64, 200),
    "K5": Floor(20, 100),
    "K6": Floor(20, 20),
    "K8": Floor(8, 200),
    "E1": Floor(435, 5600),
    "E1-cli": Floor(14, 1_050),
    "E1-strace": Floor(35, 350),
    "E2": Floor(90, 900),
    "E3": Floor(29, 185),
    "E4": Floor(12, 240),
    "E5": Floor(750, 750),
    "E6": Floor(9, 255),
    "E7": Floor(33, 33),
    "K2": Floor(48, 400),
    "K3": Floor(20, 1500),
    "K4": Floor(250, 10_000),
    "K9": Floor(25, 100),
    "K10": Floor(20, 200),
    "M1": Floor(30, 300),
    "X1": Floor(200, 1000),
    "X1-decay": Floor(30, 200),
    "X2": Floor(60, 700),
    "X3": Floor(50, 50),
    "X4": Floor(17, 27),
    "X5": Floor(120, 1500),
    "X6": Floor(68, 68),
    "X7": Floor(54, 54),
    "F10": Floor(60, 200),
    "P2": Floor(60, 1000),
    "P3": Floor(40, 40),
    "P4": Floor(120, 120),
    "P5": Floor(24, 24),
    "P7": Floor(69, 609),
    "P9": Floor(320, 11_000),
    "P10": Floor(32, 32),
    "F1": Floor(5000, 200000),
    "F2": Floor(90, 90),
    "F3": Floor(75, 75),
    "F4": Floor(2400, 22000),
    "F5": Floor(2060, 20400),
    "F5-kinds": Floor(80, 1600),
    "F6": Floor(470, 470),
    "F9": Floor(2500, 28000),
    "P1": Floor(1800, 1800),
    "P1-cli": Floor(130, 4500),
    "soak": Floor(0, 400),
    "S4": Floor(460, 686),
    "S3": Floor(2000, 10_000),
    "P8": Floor(35, 140),
    "F7": Floor(312, 5_300),
    "C8": Floor(62, 1_700),
    "P6": Floor(8, 63),
    "C9": Floor(84, 840),
    "E8": Floor(51, 636),
    "K11": Floor(33, 97),
    "F3-strays": Floor(681, 6686),
    "X4-newer": Floor(49, 49),
}
"""A harness that stops finding points must not pass. Rows that go on for a time (K3, X2) have
less than what two processors did with other work beside them."""


def floor(row: str) -> int:
    """The points a row must try in the tier that runs now."""
    return points(*FLOORS[row])


def add(row: str, name: str, *, tried: int, lost: int = 0, healed: int = 0, slowest: float = 0.0) -> None:
    """Note what one test of a row did; ``slowest`` in seconds."""
    _note({"row": row, "name": name, "tried": tried, "lost": lost, "healed": healed, "slowest": slowest})


def skip(row: str, reason: str) -> None:
    """Note that a test of a row cannot be run here; the report contains ``reason``."""
    _note({"row": row, "name": "", "tried": 0, "lost": 0, "healed": 0, "slowest": 0.0, "skipped": reason})


def _note(entry: dict[str, Any]) -> None:
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, f"{entry['row']}.{os.getpid()}.jsonl"), "a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def summary() -> dict[str, dict[str, Any]]:
    """The rows summed over all processes since the last ``--clear``."""
    rows: dict[str, dict[str, Any]] = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.jsonl"))):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                entry = json.loads(line)
                empty = {
                    "tried": 0,
                    "lost": 0,
                    "healed": 0,
                    "slowest": 0.0,
                    "slowest_name": "",
                    "skipped": "",
                }
                row = rows.setdefault(entry["row"], empty)
                for key in ("tried", "lost", "healed"):
                    row[key] += entry[key]
                row["skipped"] = row["skipped"] or entry.get("skipped", "")
                if entry["slowest"] > row["slowest"]:
                    row["slowest"], row["slowest_name"] = round(entry["slowest"], 3), entry["name"]
    return rows


def shortfalls(rows: dict[str, dict[str, Any]]) -> list[str]:
    """One sentence for each row that tried too little or lost something."""
    found = []
    for row in FLOORS:
        counted = rows.get(row, {})
        tried = counted.get("tried", 0)
        if not counted.get("skipped") and tried < floor(row):
            found.append(f"{row}: {tried} points tried, {floor(row)} expected")
    found += [f"{row}: has no floor in tests/faults/report.py" for row in rows if row not in FLOORS]
    found += [f"{name}: {row['lost']} acknowledged changes lost" for name, row in rows.items() if row["lost"]]
    return found


def _line(name: str, row: dict[str, Any]) -> str:
    line = (
        f"{name:10} tried {row['tried']:5} (floor {floor(name):5})  lost {row['lost']}  "
        f"healed {row['healed']:5}  slowest {row['slowest']:5.2f} s {row['slowest_name']}"
    ).rstrip()
    return f"{line}  SKIPPED IN PART: {row['skipped']}" if row["skipped"] else line


def main(arguments: list[str]) -> int:
    """Write the report and print it."""
    if "--clear" in arguments:
        for path in glob.glob(os.path.join(FOLDER, "*.json*")):
            os.unlink(path)
        return 0
    rows = summary()
    problems = shortfalls(rows)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "report.json"), "w", encoding="utf-8") as stream:
        json.dump(
            {"rows": rows, "floors": {name: floor(name) for name in FLOORS}, "problems": problems},
            stream,
            indent=1,
        )
    for name in sorted(FLOORS):
        row = rows.get(name)
        if row and row["skipped"] and not row["tried"]:
            print(f"{name:10} SKIPPED: {row['skipped']}")
        elif row:
            print(_line(name, row))
    total = {key: sum(row[key] for row in rows.values()) for key in ("tried", "lost", "healed")}
    print(f"{'all':10} tried {total['tried']}, lost {total['lost']}, healed {total['healed']}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
