"""Hold the installed command against what it was recorded to do: ``make oracle``.

Without options every scene is played and compared; the exit code is 1, with a unified diff for each, when one
differs. ``--record`` writes ``recorded`` anew. ``--record-stores`` writes the archives that stand for stores
an earlier program left behind: only a program that is meant to be read by later ones may write these.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from traceback import format_exc
from typing import NamedTuple

from scenes import SCENES
from scenes.kept_stores import record_stores
from stage import HERE, Scene, command_path

RECORDED = HERE / "recorded"
COMMANDS = HERE.parents[1] / "docs" / "reference" / "cli.md"
BASE_LENGTH = 40
"""Length of the folder all scenes play in, whatever the system's temporary folder: lines fold by it."""


class Played(NamedTuple):
    """A scene that was played: its recording, the command lines it used, and how long it took."""

    name: str
    text: str
    used: list[list[str]]
    seconds: float


def working_folder() -> Path:
    """A new folder for the scenes, of one length everywhere."""
    place = Path(tempfile.mkdtemp(prefix="o-")).resolve()
    missing = BASE_LENGTH - len(str(place)) - 1
    if missing < 1:
        raise SystemExit(f"The temporary folder {place.parent} has too long a name; set TMPDIR.")
    folder = place / ("x" * missing)
    folder.mkdir()
    for one in (place, folder):
        one.chmod(0o755)
    return folder


def play(name: str, base: Path) -> Played:
    """Play one scene."""
    begun = time.monotonic()
    scene = Scene(name, base)
    try:
        SCENES[name](scene)
    except Exception:  # noqa: BLE001 (the other scenes go on)
        scene.lines += ["", "### the scene broke off", *format_exc().splitlines()]
    text = "\n".join(scene.lines).strip("\n") + "\n"
    shutil.rmtree(scene.base, ignore_errors=True)
    return Played(name, text, scene.used, time.monotonic() - begun)


def compared(played: Played) -> list[str]:
    """The difference of a scene from its recording, as a unified diff."""
    path = RECORDED / f"{played.name}.txt"
    wanted = path.read_text(encoding="utf-8") if path.exists() else ""
    if wanted == played.text:
        return []
    return list(
        difflib.unified_diff(
            wanted.splitlines(), played.text.splitlines(), f"recorded/{played.name}.txt", "now", lineterm=""
        )
    )


def wanted_words() -> dict[str, set[str]]:
    """Every command of the reference, and the options of each with all their names."""
    found: dict[str, set[str]] = {"": set()}
    command, listing = "", False
    for line in COMMANDS.read_text(encoding="utf-8").splitlines():
        if line.startswith(("## ", "### ")):
            command = line.lstrip("#").strip()
            found[command] = set()
            listing = False
        elif not line.startswith(" "):
            listing = line == "Options:" or (listing and not line)
        elif listing and (match := re.match(r"  (-\S.*?)(?:  |$)", line)):
            names = [name for name in re.split(r"[ ,/]+", match[1]) if name.startswith("-")]
            found[command].add(" ".join(names))
    return found


def uncovered(used: list[list[str]]) -> list[str]:
    """Commands and options of the reference that no step of any scene has."""
    wanted = wanted_words()
    seen: dict[str, set[str]] = {name: set() for name in wanted}
    ran = set()
    for words in used:
        plain = [word for word in words if not word.startswith("-")]
        names = [" ".join(plain[:count]) for count in (2, 1) if " ".join(plain[:count]) in wanted]
        command = names[0] if names else ""
        ran.add(command)
        options = {word.partition("=")[0] for word in words if word.startswith("-")}
        options |= {
            f"-{letter}" for word in options if re.fullmatch("-[a-zA-Z]{2,}", word) for letter in word[1:]
        }
        seen[command] |= options
        seen[""] |= options
    missing = [f"command {name}" for name in wanted if name and name not in ran]
    for command, options in wanted.items():
        unseen = [option for option in sorted(options) if not set(option.split()) & seen[command]]
        missing += [f"{command or 'thunderus-mem'}: {option}" for option in unseen]
    return missing


def main() -> int:
    """Play the scenes and compare, or record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="write the recordings anew")
    parser.add_argument("--record-stores", action="store_true", help="write the archives of stores anew")
    parser.add_argument("--only", nargs="+", metavar="SCENE", help="only these scenes")
    parser.add_argument("--list", action="store_true", help="print the names of the scenes")
    parser.add_argument("--times", action="store_true", help="print how long each scene took")
    parser.add_argument("-j", "--jobs", type=int, default=2, metavar="N", help="scenes at once (default: 2)")
    options = parser.parse_args()
    names = options.only or list(SCENES)
    if options.list:
        print("\n".join(SCENES))
        return 0
    if strangers := [name for name in names if name not in SCENES]:
        parser.error(f"no such scene: {', '.join(strangers)}")
    if not os.access(command_path(), os.X_OK):
        parser.error(f"there is no command {command_path()}")
    begun = time.monotonic()
    base = working_folder()
    try:
        if options.record_stores:
            record_stores(base)
        with ThreadPoolExecutor(max_workers=options.jobs) as pool:
            done = list(pool.map(lambda name: play(name, base), names))
    finally:
        shutil.rmtree(base.parent, ignore_errors=True)
    return finish(done, options, time.monotonic() - begun)


def finish(done: list[Played], options: argparse.Namespace, seconds: float) -> int:
    """Write or compare what was played, and say how it went."""
    differing = 0
    broken = [played.name for played in done if "### the scene broke off" in played.text]
    for played in done:
        if options.record:
            RECORDED.mkdir(exist_ok=True)
            (RECORDED / f"{played.name}.txt").write_text(played.text, encoding="utf-8")
        elif lines := compared(played):
            differing += 1
            print("\n".join(lines))
        if options.times:
            print(f"{played.seconds:6.1f} s  {len(played.used):4} runs  {played.name}", file=sys.stderr)
    if not options.only:
        for line in uncovered([words for played in done for words in played.used]):
            print(f"not covered: {line}", file=sys.stderr)
    if broken:
        print(f"broke off: {', '.join(broken)}", file=sys.stderr)
    runs = sum(len(played.used) for played in done)
    result = "recorded" if options.record else f"{differing} differ"
    print(f"{len(done)} scenes, {runs} runs, {seconds:.0f} s: {result}.", file=sys.stderr)
    return 1 if differing or broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
