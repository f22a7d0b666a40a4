"""A made-up repository of code in three languages with documents anchored to it, in git."""

from __future__ import annotations

import os
import random
import subprocess

from thunderus_mem.authoring.anchor import fingerprinted
from thunderus_mem.document.anchors import Anchor
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.verdicts.code import WorkingTree

__all__ = ["change_code", "make_anchored_store"]

_FUNCTIONS = 10
_PYTHON = '''\
def {name}(request, limit={number}):
    """What {name} does."""
    found = []
    for entry in request.entries[:limit]:
        if entry.size > {number} and entry.kind != "{kind}":
            found.append((entry.name, entry.size * {number}))
    return sorted(found, key=lambda pair: pair[1])


'''
_TYPESCRIPT = """\
export function {name}(request: Request, limit = {number}): Pair[] {{
  const found: Pair[] = [];
  for (const entry of request.entries.slice(0, limit)) {{
    if (entry.size > {number} && entry.kind !== "{kind}") {{
      found.push([entry.name, entry.size * {number}]);
    }}
  }}
  return found.sort((a, b) => a[1] - b[1]);
}}

"""
_GO = """\
func {name}(request *Request, limit int) []Pair {{
	found := make([]Pair, 0, limit+{number})
	for _, entry := range request.Entries {{
		if entry.Size > {number} && entry.Kind != "{kind}" {{
			found = append(found, Pair{{entry.Name, entry.Size * {number}}})
		}}
	}}
	return found
}}

"""
_KINDS = (
    ("py", "", _PYTHON),
    ("ts", 'import {{ Pair }} from "./pair";\n\n', _TYPESCRIPT),
    ("go", "package a\n\n", _GO),
)


def _code(number: int, chance: random.Random) -> tuple[str, str, str]:
    """Path and text of a file, and a definition in it."""
    ending, head, one = _KINDS[number % len(_KINDS)]
    names = [f"part{number}x{n}" for n in range(_FUNCTIONS)]
    text = head.replace("{{", "{").replace("}}", "}") + "".join(
        one.format(name=name, number=chance.randrange(1000), kind=f"k{chance.randrange(90)}")
        for name in names
    )
    return f"src/d{number % 97}/f{number}.{ending}", text, chance.choice(names)


def make_anchored_store(root: str, files: int, documents: int, anchors: int) -> list[str]:
    """Fill an empty folder: ``files`` of code, ``documents`` with ``anchors`` each, committed. Gives the
    paths of the code that documents talk about."""
    chance = random.Random(files)
    places = []
    for number in range(files):
        path, text, name = _code(number, chance)
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
        places.append((path, name))
    tree = WorkingTree(root, None)
    folder = os.path.join(root, ".thunderus/memory/semantic/FACTS")
    os.makedirs(folder)
    cited = []
    for number in range(documents):
        chosen = chance.sample(places, anchors)
        cited += [path for path, _ in chosen]
        items = [fingerprinted(Anchor(path, name), tree).item for path, name in sorted(chosen)]
        with open(os.path.join(folder, f"d{number}.md"), "w", encoding="utf-8") as file:
            file.write(_document(number, items))
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return cited


def _document(number: int, items: list[dict[str, str]]) -> str:
    moment = "2026-01-21T09:00:00Z"
    header = {
        "id": f"fact.d{number}",
        "title": f"What part {number} does",
        "kind": "fact",
        "tags": ["bench"],
        "created": moment,
        "updated": moment,
        "anchors": items,
        "provenance": {"events": [], "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }
    return compose(header, f"Part {number} takes entries and sorts them by size.\n")


def change_code(root: str, paths: list[str]) -> None:
    """Change one number in each file, and stage that."""
    for path in paths:
        place = os.path.join(root, path)
        with open(place, encoding="utf-8") as file:
            text = file.read()
        with open(place, "w", encoding="utf-8") as file:
            file.write(
                text.replace("entry.size > ", "entry.size > 1").replace("entry.Size > ", "entry.Size > 1")
            )
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
