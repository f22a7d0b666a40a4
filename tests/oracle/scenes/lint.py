"""Every lint rule, in every format; baselines, answers, mending, and the text that git would commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stage import material

if TYPE_CHECKING:
    from stage import Scene

FRONT = """---
id: {id}
title: A title
kind: {kind}
tags:
  - testing
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---
"""
# Put together here so that no file of the repository holds what looks like a secret.
SECRETS = {
    "github": "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3",
    "aws": "AK" + "IA" + "Q7ZX2MWRT5LPN3VK",
}
FORMATS = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit")
FACTS = ".thunderus/memory/semantic/FACTS"


def expanded(text: str) -> bytes:
    """The bytes that a case of a rule stands for."""
    text = re.sub(r"\{\{front (\w+) (\S+?)\}\}\n", lambda m: FRONT.format(kind=m[1], id=m[2]), text)
    text = re.sub(
        r"\{\{imported (\S+) (\S+?)\}\}\n",
        lambda m: FRONT.format(kind="fact", id=m[1])[:-4] + f"metadata:\n  imported_from: {m[2]}\n---\n",
        text,
    )
    text = re.sub(r"\{\{U\+([0-9A-F]+)\}\}", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\{\{secret (\w+)\}\}", lambda m: SECRETS[m[1]], text)
    text = re.sub(r"\{\{repeat (\d+) (.*?)\}\}", lambda m: m[2] * int(m[1]), text)
    return re.sub(rb"\{\{byte ([0-9A-F]{2})\}\}", lambda m: bytes([int(m[1], 16)]), text.encode())


def lay_out(scene: Scene, name: str) -> None:
    """The documents of a case, in place of all others."""
    if scene.path(".thunderus/memory").exists():
        scene.remove(".thunderus/memory")
    text = material(f"lint/{name}").read_text(encoding="utf-8")
    for part in re.split(r"^=====> ", text, flags=re.MULTILINE)[1:]:
        head, _, content = part.partition("\n")
        if head != "findings":
            scene.write(head.partition(": ")[2], expanded(content))


def scene_lint_rules(scene: Scene) -> None:
    """Every rule about documents: found, mended, read all the same."""
    scene.git("init -q")
    scene.write("src/main.py", "x = 1\n")
    scene.write("docs/guide.md", "# Guide\n")
    for path in sorted(material("lint").iterdir()):
        lay_out(scene, path.name)
        scene.lines += ["", "", f"##### {path.stem}"]
        scene(f"lint --ignore TM501 --format {FORMATS[int(path.name[2:5]) % len(FORMATS)]}")
        scene("lint --fix --ignore TM501 --format concise")
        scene.tree(".thunderus/memory/semantic")


def mixed(scene: Scene) -> None:
    """A memory with findings of many rules."""
    for name in ("TM201-dead-link", "TM205-dead-citation", "TM013-ambiguous-scalar", "TM110-empty-body"):
        text = material(f"lint/{name}.md").read_text(encoding="utf-8")
        for part in re.split(r"^=====> ", text, flags=re.MULTILINE)[1:]:
            head, _, content = part.partition("\n")
            if head != "findings":
                path = head.partition(": ")[2]
                stem = f"{name[:5].lower()}-{path.rpartition('/')[2]}"
                data = expanded(content)
                scene.write(
                    f"{path.rpartition('/')[0]}/{stem}",
                    data.replace(b"id: fact.", f"id: fact.{name[2:5]}".encode()),
                )
    scene.write(
        f"{FACTS}/ä [ö] %20.md", FRONT.format(kind="fact", id="fact.odd") + "See [it](gone.md) & <b>.\n"
    )
    scene.write(f"{FACTS}/broken.md", "no frontmatter\n")


def scene_lint_forms(scene: Scene) -> None:
    """Formats, selections, baselines, answers in settings and comments, staged text, mending."""
    scene.begin()
    mixed(scene)
    for form in FORMATS:
        scene(f"lint --format {form}")
        scene(
            f"hooks run --format {form}" if form == "nothing" else f"lint --format {form} --output report.txt"
        )
        scene.show("report.txt")
    scene.remove("report.txt")
    scene.each(
        """
        lint --json
        lint --plain
        lint --quiet
        lint --color always
        lint --no-pager --no-input
        lint --select TM2
        lint --select TM201 --select TM0 --ignore TM205
        lint --ignore TM
        lint .thunderus/memory/semantic/FACTS/broken.md
        lint .thunderus/memory/core
        lint README.md
        lint no/such/file.md
        lint --write-baseline base.json
        lint --baseline base.json
        lint --baseline base.json --json
        lint --baseline ""
        lint --baseline gone.json
        """
    )
    scene.show("base.json")
    scene("lint", env={"THUNDERUS_MEM_OUTPUT_FORMAT": "jsonl"})
    scene("lint", env={"GITHUB_ACTIONS": "true"})
    scene("lint", env={"THUNDERUS_MEM_LINT_BASELINE": "base.json"})
    scene("lint", env={"THUNDERUS_MEM_OUTPUT_FORMAT": "nonsense"})
    scene.remove(f"{FACTS}/broken.md")
    scene.write(f"{FACTS}/new.md", FRONT.format(kind="fact", id="fact.new") + "See [it](lost.md).\n")
    scene.each("lint --baseline base.json\nlint --baseline base.json --fix\nlint --baseline base.json --json")
    scene.show("base.json")
    scene.write("base.json", "{ broken")
    scene("lint --baseline base.json")
    scene.append(f"{FACTS}/new.md", "<!-- thunderus-mem: ignore TM201 it comes later -->\nSee [b](b.md).\n")
    scene.write(
        ".thunderus/config.toml",
        '[lint]\nignore = ["TM110"]\n[lint.severity]\nTM205 = "error"\nTM013 = "off"\n'
        '[lint.per_file]\n"semantic/FACTS/tm2*" = { TM201 = "files come and go" }\n',
    )
    scene.each("lint\nlint --format concise\nlint --format sarif")
    scene.terminal("lint\nlint --format concise\nlint --dry-run\nlint --explain TM013")
    scene.git("add -A")
    scene.write(f"{FACTS}/unstaged.md", "no frontmatter\n")
    scene.each(
        "lint --staged\nlint --staged --json\nlint --staged --fix\nlint --dry-run\nlint --fix\nlint --fix --json\nundo"
    )
    scene.forms("hooks run")
    scene.tree()


def scene_planted(scene: Scene) -> None:
    """Texts that order whoever reads them about, and texts that only look so."""
    scene.git("init -q")
    for number, part in enumerate(
        re.split(r"^=====> ", material("poison.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    ):
        name, _, text = part.partition("\n")
        scene.write(
            f"{FACTS}/p{number:03}.md", FRONT.format(kind="fact", id=f"fact.p{number:03}") + f"{name}\n{text}"
        )
    scene("lint --select TM4 --plain")
    scene("lint --select TM4 --format sarif")
    scene("search instructions --json")


def scene_hooks(scene: Scene) -> None:
    """The hook: installed, beside another one, run by git, taken out; the script's bytes."""
    scene("hooks status")
    scene.begin()
    scene.forms("hooks status")
    scene.each("hooks install\nhooks install --json\nhooks status\nhooks status --plain")
    scene.lines += ["", *scene._block("  ", scene.path(".git/hooks/pre-commit").read_bytes())]
    scene.each("hooks uninstall\nhooks uninstall --json\nhooks uninstall --plain\nhooks run")
    scene.path(".git/hooks").mkdir(exist_ok=True)
    scene.path(".git/hooks/pre-commit").write_text("#!/bin/sh\necho theirs\n", encoding="utf-8")
    scene.path(".git/hooks/pre-commit").chmod(0o755)
    scene.each("hooks status\nhooks install --plain\nhooks status --json")
    scene.lines += ["", *scene._block("  ", scene.path(".git/hooks/pre-commit").read_bytes())]
    scene("-q add fact 'Ports are even' --tag net --body 'All of them.'")
    scene.git("add -A")
    scene.git_told("commit -m Good")
    scene.write(f"{FACTS}/broken.md", "no frontmatter\n")
    scene.git("add -A")
    scene.forms("hooks run\nhooks run pre-commit\nlint --staged")
    scene.git_told("commit -m Bad")
    scene.remove(f"{FACTS}/broken.md")
    scene.git("add -A")
    scene.each("hooks uninstall\nhooks status")
    scene.lines += ["", *scene._block("  ", scene.path(".git/hooks/pre-commit").read_bytes())]
    scene.terminal("hooks install\nhooks status\nhooks run\nhooks uninstall")
    scene.git("config core.hooksPath elsewhere")
    scene.each("hooks install\nhooks status\nhooks uninstall")
