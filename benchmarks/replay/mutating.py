"""Python functions with one token changed, so that ``ast`` reads something else: all must be noticed."""

from __future__ import annotations

import io
import keyword
import tokenize
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.judging import found, given
from benchmarks.replay.planting import plant
from benchmarks.replay.read_python import PythonReader
from thunderus_mem.fingerprint.source import CodeSource
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.verdicts.code import CommitTree, PatchedTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import NoHistory

if TYPE_CHECKING:
    from random import Random

    from benchmarks.replay.scoring import Given
    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Library

_OTHER: Final = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/",
    "/": "*", "//": "/", "%": "*", "and": "or", "or": "and", "True": "False", "False": "True",
    "None": "0", "is": "==", "in": "is", "not": "", "+=": "-=", "-=": "+=", "|": "&", "&": "|",
    "**": "*", "await": "", "async": "", "return": "yield", "break": "continue", "continue": "break",
    "[": "(", "for": "async for", "=": "+=", ":": "", ",": "", ".": ",", "(": "((", "*args": "args",
    "@": "", "yield": "return", "lambda": "", "raise": "return", "if": "while", "while": "if",
    "pass": "...", "del": "assert", "assert": "del",
}  # fmt: skip


class Mutation(NamedTuple):
    """One changed token, before and after, and the verdict on its function."""

    path: str
    symbol: str
    line: int
    old: str
    new: str
    given: Given
    renamed: bool

    @property
    def missed(self) -> bool:
        """Whether the change went unnoticed. A new name for the whole function may be followed."""
        return not self.given.stale and not (self.renamed and self.given.status == "moved")


def mutate(library: Library, at: str, dice: Random, count: int) -> list[Mutation]:
    """``count`` functions of a commit, each with one token changed in turn."""
    clone = library.clone
    tree = clone.tree(at)
    pool = [
        (path, symbol)
        for path, reading in library.read({p: b for p, b in tree.items() if p.endswith(".py")}).items()
        for symbol in reading.symbols
        if symbol.kind in ("function", "class") and len(reading.named(symbol.name)) == 1
    ]
    if not pool:
        return []
    git = found(clone.root)
    done: list[Mutation] = []
    with ObjectReader(git) as reader:
        whole = CommitTree(git, reader, at)
        for _ in range(20 * count):
            if len(done) == count:
                break
            path, symbol = dice.choice(pool)
            data = clone.blob(tree[path])
            edit = _mutated(data, symbol, dice)
            planted = plant(CodeSource(path, data), path, symbol, changing=True) if edit else None
            if edit is None or planted is None:
                continue
            new, row, old, token = edit
            verdict = evaluate(planted.anchor, PatchedTree(whole, {path: new}), NoHistory())
            renamed = old == symbol.name.rpartition(".")[2]
            done.append(Mutation(path, planted.anchor.symbol, row, old, token, given(verdict), renamed))
    return done


def _mutated(data: bytes, symbol: Symbol, dice: Random) -> tuple[bytes, int, str, str] | None:
    """The file with one token of the symbol changed, its line, old and new token; ``None``: no real edit."""
    try:
        text = data.decode("utf-8")
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (UnicodeDecodeError, tokenize.TokenError, SyntaxError):
        return None
    inside = [one for one in tokens if symbol.first <= one.start[0] <= one.end[0] <= symbol.last]
    usable = [one for one in inside if one.type in (1, tokenize.NUMBER, tokenize.STRING, tokenize.OP)]
    if not usable:
        return None
    token = dice.choice(usable)
    new = _replaced(token)
    if new is None:
        return None
    lines = text.splitlines(keepends=True)
    if token.start[0] != token.end[0]:
        return None
    row = token.start[0] - 1
    lines[row] = lines[row][: token.start[1]] + new + lines[row][token.end[1] :]
    changed = "".join(lines).encode()
    reading = PythonReader().read([("m.py", changed)])[0]
    if reading.trouble or any(one.content == symbol.content for one in reading.named(symbol.name)):
        return None
    return changed, token.start[0], token.string, new


def _replaced(token: tokenize.TokenInfo) -> str | None:
    text = token.string
    if text in _OTHER:
        return _OTHER[text]
    if token.type == tokenize.NUMBER:
        return text + "1" if text[-1:].isdigit() else None
    if token.type == tokenize.STRING:
        return (
            text[:-1] + "~" + text[-1] if not text.endswith(('"""', "'''")) else text[:-3] + "~" + text[-3:]
        )
    if token.type == tokenize.NAME and not keyword.iskeyword(text):
        return text + "_"
    return None
