"""The report of the fault tier: points tried, lost, healed and slowest for each row, and its floor.

Each test adds to ``.make/faults/<row>.<process>.jsonl``; ``python tests/faults/report.py`` writes
``.make/faults/report.json`` and fails when a row tried fewer points than its floor, or lost anything.
``--clear`` forgets earlier runs.
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
    "C1": Floor(55, 55),
    "C3": Floor(440, 440),
    "C3-cli": Floor(700, 700),
    "C5": Floor(880, 880),
    "K1": Floor(1600, 1600),
    "K1-cli": Floor(200, 200),
    "K5": Floor(20, 20),
    "K6": Floor(20, 20),
    "E1": Floor(1450, 1450),
    "E1-cli": Floor(70, 70),
    "E1-strace": Floor(55, 55),
    "F1": Floor(5000, 200000),
    "F2": Floor(90, 90),
    "F3": Floor(75, 75),
    "F4": Floor(2400, 22000),
    "F5": Floor(2060, 20400),
    "F6": Floor(470, 470),
    "F9": Floor(2500, 28000),
    "P1": Floor(1800, 1800),
    "P1-cli": Floor(400, 400),
}
"""A harness that stops finding points must not pass."""

NEEDS_STRACE = frozenset({"C1", "E1-strace"})


def floor(row: str) -> int:
    """The points a row must try in the tier that runs now."""
    return points(*FLOORS[row])


def add(row: str, name: str, *, tried: int, lost: int = 0, healed: int = 0, slowest: float = 0.0) -> None:
    """Note what one test of a row did; ``slowest`` in seconds."""
    os.makedirs(FOLDER, exist_ok=True)
    entry = {"row": row, "name": name, "tried": tried, "lost": lost, "healed": healed, "slowest": slowest}
    with open(os.path.join(FOLDER, f"{row}.{os.getpid()}.jsonl"), "a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def summary() -> dict[str, dict[str, Any]]:
    """The rows summed over all processes since the last ``--clear``."""
    rows: dict[str, dict[str, Any]] = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.jsonl"))):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                entry = json.loads(line)
                row = rows.setdefault(
                    entry["row"], {"tried": 0, "lost": 0, "healed": 0, "slowest": 0.0, "slowest_name": ""}
                )
                for key in ("tried", "lost", "healed"):
                    row[key] += entry[key]
                if entry["slowest"] > row["slowest"]:
                    row["slowest"], row["slowest_name"] = round(entry["slowest"], 3), entry["name"]
    return rows


def shortfalls(rows: dict[str, dict[str, Any]], skipped: tuple[str, ...] = ()) -> list[str]:
    """One sentence for each row that tried too little or lost something."""
    found = []
    for row in FLOORS:
        tried = rows.get(row, {}).get("tried", 0)
        if row not in skipped and tried < floor(row):
            found.append(f"{row}: {tried} points tried, {floor(row)} expected")
    found += [f"{row}: has no floor in tests/faults/report.py" for row in rows if row not in FLOORS]
    found += [f"{name}: {row['lost']} acknowledged changes lost" for name, row in rows.items() if row["lost"]]
    return found


def main(arguments: list[str]) -> int:
    """Write the report and print it."""
    if "--clear" in arguments:
        for path in glob.glob(os.path.join(FOLDER, "*.json*")):
            os.unlink(path)
        return 0
    import shutil

    skipped = () if shutil.which("strace") else tuple(sorted(NEEDS_STRACE))
    rows = summary()
    problems = shortfalls(rows, skipped)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "report.json"), "w", encoding="utf-8") as stream:
        json.dump(
            {
                "rows": rows,
                "floors": {name: floor(name) for name in FLOORS},
                "skipped": skipped,
                "problems": problems,
            },
            stream,
            indent=1,
        )
    for name in sorted(FLOORS):
        row = rows.get(name)
        if name in skipped:
            print(f"{name:10} SKIPPED: strace is not here")
        elif row:
            print(
                f"{name:10} tried {row['tried']:5} (floor {floor(name)})  lost {row['lost']}  "
                f"healed {row['healed']:4}  slowest {row['slowest']:.2f} s {row['slowest_name']}"
            )
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
