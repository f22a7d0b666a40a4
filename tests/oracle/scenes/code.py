"""Documents tied to code: fingerprints in all languages, and code that changes, moves and goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from definitions import LANGUAGES, definitions
from stage import material

if TYPE_CHECKING:
    from stage import Scene

FACTS = ".thunderus/memory/semantic/FACTS"
SUFFIXES = {
    "bash": "sh", "c": "c", "cpp": "cpp", "csharp": "cs", "go": "go", "java": "java", "javascript": "js",
    "kotlin": "kt", "php": "php", "python": "py", "ruby": "rb", "rust": "rs", "swift": "swift", "tsx": "tsx",
    "typescript": "ts",
}  # fmt: skip


def page(name: str, anchors: list[str]) -> str:
    """A document tied to places, before anybody confirmed it."""
    lines = "".join(f'  - "{anchor}"\n' for anchor in anchors)
    return (
        f"---\nid: fact.{name}\ntitle: Code in {name}\nkind: fact\ntags: [code]\n"
        f"created: 2026-01-20T09:00:00Z\nupdated: 2026-01-20T09:00:00Z\nanchors:\n{lines}"
        "provenance: {events: [], patches: [], commits: []}\n"
        f"verification: {{last_verified_commit: null, status: unknown}}\n---\n\nAll of {name}.\n"
    )


def scene_fingerprints_one(scene: Scene) -> None:
    """The first half of about a thousand definitions."""
    fingerprints(scene, dict(list(LANGUAGES.items())[::2]))


def scene_fingerprints_two(scene: Scene) -> None:
    """The second half of about a thousand definitions."""
    fingerprints(scene, dict(list(LANGUAGES.items())[1::2]))


def fingerprints(scene: Scene, languages: dict[str, tuple[str, str]]) -> None:
    """Definitions that the program confirms; then every file gets another beginning and other values."""
    scene.begin()
    for language, (suffix, _) in languages.items():
        text, names = definitions(language)
        path = f"src/{language}/sample.{suffix}"
        scene.write(path, text)
        anchors = [f"{path}#{name}" for name in names] + [f"{path}:3-9", path]
        scene.write(f"{FACTS}/{language}.md", page(language, anchors))
    scene.commit("Code")
    scene("verify --yes -m 'As it is' " + " ".join(f"fact.{language}" for language in languages))
    scene.tree(FACTS)
    scene("check --plain")
    scene("coverage --json")
    for language, (suffix, comment) in languages.items():
        path = f"src/{language}/sample.{suffix}"
        text, _ = definitions(language)
        scene.write(path, f"{comment.format('A new first line.')}\n" + text.replace("41", "43"))
    scene("check --plain")
    scene.fresh_verdicts()
    scene.caches()


def scene_code_cases(scene: Scene) -> None:
    """Pairs of texts that are the same code, or another: one is confirmed, the other put in its place."""
    scene.begin()
    later: dict[str, str] = {}
    for language, suffix in SUFFIXES.items():
        text = material(f"code/{language}.txt").read_text(encoding="utf-8")
        anchors = []
        cases = re.split(r"^===== .*\n", text, flags=re.MULTILINE)[1:]
        for number, case in enumerate(cases):
            before, _, after = case.partition("-----\n")
            path = f"src/{language}/case{number:02}.{suffix}"
            scene.write(path, before)
            later[path] = after
            anchors.append(path)
        scene.write(f"{FACTS}/{language}.md", page(language, anchors))
    scene.commit("Code")
    scene("verify --yes " + " ".join(f"fact.{language}" for language in SUFFIXES))
    scene.tree(FACTS)
    for path, text in later.items():
        scene.write(path, text)
    scene("check --plain")


TOKENS = '''"""Tokens."""
import time


class Token:
    """One token."""

    def issue(self, user, ttl=3600):
        now = int(time.time())
        return {"sub": user, "iat": now, "exp": now + ttl}

    def check(self, token):
        return token["exp"] > time.time()


def sign(token):
    return hash(str(token))
'''
POOL = """package pool

// Size is how many there are.
const Size = 8

type Pool struct{ free []int }

func (p *Pool) Take() int {
\tn := p.free[0]
\tp.free = p.free[1:]
\treturn n
}
"""
SHOP = """export class Shop {
  open(hour: number): boolean {
    return hour >= 8 && hour < 20;
  }
}
export const close = (hour: number) => hour > 20;
"""
READS = """
check
verify --update-status --dry-run
for src/tokens.py
for src/pool.go
for src/tokens.py#Token.issue
for src/tokens.py:8-9
coverage
why fact.tokens
list verdict:stale
status
lint
"""


def scene_anchored(scene: Scene) -> None:
    """Code that is laid out anew, changed, moved, renamed and deleted; staged and committed."""
    scene.begin()
    scene.write("src/tokens.py", TOKENS)
    scene.write("src/pool.go", POOL)
    scene.write("src/shop.ts", SHOP)
    scene.write("src/notes.txt", "\n".join(f"line {number}" for number in range(30)) + "\n")
    scene.commit("Code")
    scene.each(
        """
        add fact "Tokens live an hour" --tag auth --body "See `src/tokens.py`" --anchor src/tokens.py#Token.issue
        add fact "The pool is small" --tag pool --body "`Size` in `src/pool.go` is 8." --anchor src/pool.go#Pool.Take
        add fact "The shop closes" --tag shop --body "At eight, see `Shop` and `close`."
        add adr "Notes stay text" --tag notes --body "Ten lines are enough." --anchor src/notes.txt:10-20
        add fact "All of it" --tag all --body "Everything below src." --anchor "src/*.py"
        add fact "Loose" --tag loose --body "Names `src/shop.ts` and `sign`."
        anchor fact.the-shop --suggest
        anchor fact.the-shop --suggest --json
        anchor fact.the-shop --suggest --plain
        anchor fact.the-shop --suggest --apply -m "As proposed"
        anchor fact.loose --suggest
        anchor fact.loose src/tokens.py#sign --json
        anchor fact.loose src/tokens.py:3 --plain
        anchor fact.loose --remove src/tokens.py:3
        anchor fact.loose src/tokens.py#Tokn.issue
        anchor fact.loose src/tokens.py:900
        anchor fact.loose
        """
    )
    scene.commit("Memory")
    scene.git("tag start")
    scene.forms(READS)
    scene.terminal(READS)
    scene.change("src/tokens.py", ("int(time.time())", "int( time.time() )  # seconds"), ('"sub"', "'sub'"))
    scene.change("src/notes.txt", ("line 3\n", "line 3\nline 3 and a half\n"))
    scene.forms("check\nverify --update-status --dry-run")
    scene.change("src/tokens.py", ("ttl=3600", "ttl=600"))
    scene.change("src/pool.go", ("p.free[0]", "p.free[len(p.free)-1]"))
    scene.forms(READS)
    scene.terminal("check\ncheck -p\nwhy fact.tokens -p\nstatus")
    scene.each(
        """
        check --patch
        check fact.tokens -p --json
        check
        why fact.tokens --patch
        why fact.tokens --lines -p
        verify fact.pool --no-input
        verify fact.tokens --yes -m "Measured" --actor agent
        verify --update-status
        verify --update-status --json
        """
    )
    scene.git("add src/tokens.py")
    for form in ("text", "json", "jsonl", "github", "gitlab", "sarif", "junit"):
        scene(f"check --format {form}")
        scene(f"check --staged --format {form}")
    scene("check -o report.sarif --format sarif --fail-on never")
    scene("check --staged -p", env={"GITHUB_ACTIONS": "true"})
    scene.show("report.sarif")
    scene.remove("report.sarif")  # it names the folder, which differs from run to run
    scene.commit("Other tokens")
    diff = scene.git("diff start HEAD") + "\n"
    scene.write("change.diff", diff)
    scene("check --diff -", stdin=diff)
    scene.forms("check --since start\ncheck --diff change.diff\ncheck --since start fact.tokens")
    scene("check --since nothing")
    scene("check --diff README.md")
    scene.git("mv src/tokens.py src/auth.py")
    scene.change("src/auth.py", ("def sign", "def seal"))
    scene.git("mv src/shop.ts src/store.ts")
    scene.forms("check\nverify --update-status --dry-run")
    scene.git("add -A")
    scene.each(
        "check --staged\nverify --fix-moved --json\ncheck\nverify --all-moved --yes --plain\ncheck --json"
    )
    scene.commit("Moved")
    scene.remove("src/pool.go")
    scene.remove("src/notes.txt")
    scene.each(READS)
    scene.each("verify fact.the-pool --yes\nverify adr.notes --yes\nverify nothing\nlint --format sarif")
    scene.terminal("verify fact.tokens", keys=[(b"] ", b"y\r")])
    scene.terminal("check\nfor src/auth.py\ncoverage")
    scene.each("for src/auth.py --mentions\nfor src\nfor src/gone.py\nfor .")
    scene.commit("Gone")
    scene.each("check\nhooks run\nundo\nundo --redo")
    scene.tree()
    scene.index()
    scene.fresh_verdicts()
    scene.caches()
