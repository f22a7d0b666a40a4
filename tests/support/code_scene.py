"""A code repository with one anchor, verified as the program does, one line per step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.git_repository import Repository
from thunderus_mem.authoring.anchor import fingerprinted
from thunderus_mem.document.anchors import Anchor, parse_anchor
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.git.repository import Git
from thunderus_mem.verdicts.code import CodePast, CommitTree, WorkingTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import NoHistory, Verdict

if TYPE_CHECKING:
    from pathlib import Path

ISSUE = """\
def issue(user, ttl=3600):
    now = int(time.time())
    payload = {"sub": user.id, "iat": now, "exp": now + ttl, "aud": "api", "iss": "me"}
    return sign(payload, key=KEY, algorithm="HS256", headers={"typ": "JWT"})
"""
SMALL = "def small():\n    return 1\n"
BOX = "class Box:\n    def put(self, one):\n        self.one = one\n"
JWT = f'"""Tokens."""\n\nimport time\n\n\n{ISSUE}\n\n{SMALL}\n\n{BOX}'


class Scene:
    """The files below a root, in git or not."""

    def __init__(self, root: Path, *, git: bool = True) -> None:
        self.repository = Repository(root, root.parent / "home")
        root.mkdir(parents=True, exist_ok=True)
        if git:
            self.repository.init()
        self.root = root

    def git(self) -> Git | None:
        return Git.find(str(self.root))

    def write(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def commit(self, message: str = "Next") -> str:
        return self.repository.commit(message)

    def anchor(self, place: str) -> Anchor:
        return fingerprinted(parse_anchor(place), WorkingTree(str(self.root), self.git()))

    def verdict(self, anchor: Anchor, since: str = "") -> Verdict:
        git = self.git()
        if git is None:
            return evaluate(anchor, WorkingTree(str(self.root), None), NoHistory())
        with ObjectReader(git) as reader:
            return evaluate(anchor, WorkingTree(str(self.root), git), CodePast(git, reader).of(anchor, since))

    def verdict_in(self, revision: str, anchor: Anchor, since: str = "") -> Verdict:
        git = self.git()
        assert git is not None
        with ObjectReader(git) as reader:
            past = CodePast(git, reader, revision)
            return evaluate(anchor, CommitTree(git, reader, revision), past.of(anchor, since))
