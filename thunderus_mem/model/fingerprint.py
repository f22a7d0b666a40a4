"""What a piece of code measures to: one line of text that formatting does not change and meaning does."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "NO_SHAPE",
    "RULES",
    "Fingerprint",
    "digest",
    "measure",
    "parse_fingerprint",
    "same_measure",
]

RULES: Final = 1
"""Version of our own rules: raised whenever the same code may measure differently than before."""
NO_SHAPE: Final = "-"
"""The shape of code that has no name of its own."""
_HASH_DIGITS: Final = 20
_DOC_DIGITS: Final = 8
_WRITTEN: Final = re.compile(
    r"([a-z][a-z0-9+#_.-]{0,39})@([0-9][0-9.]{0,15})?/([0-9]{1,6})"
    r":([0-9a-f]{20}):([0-9a-f]{20}|-):([0-9]{1,9})(?::([0-9a-f]{8}))?"
)


class Fingerprint(NamedTuple):
    """The measure of one piece of code; ``str()`` of it is what is written into a file.

    ``scheme`` is what was read: the name of a language (its syntax tree), ``text-<lexer>`` (tokens of
    Pygments), ``lines`` (lines without the space around them), ``bytes`` (a file that cannot be read as
    text) or ``files`` (many files). ``grammar`` is the version of the library that read it ("" when none
    did), ``rules`` the version of our own rules. ``hash`` stands for the code, ``shape`` for the same code
    whatever its name is ("-" when it has none), ``size`` is the number of its tokens, and ``doc`` stands for
    its docstrings ("" when it has none).
    """

    scheme: str
    grammar: str
    rules: int
    hash: str
    shape: str
    doc: str
    size: int

    def __str__(self) -> str:
        doc = f":{self.doc}" if self.doc else ""
        return f"{self.scheme}@{self.grammar}/{self.rules}:{self.hash}:{self.shape}:{self.size}{doc}"


def parse_fingerprint(text: str) -> Fingerprint | None:
    """The fingerprint written as this text; ``None`` when it is not one of ours."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    scheme, grammar, rules, code, shape, size, doc = found.groups()
    return Fingerprint(scheme, grammar or "", int(rules), code, shape, doc or "", int(size))


def same_measure(a: Fingerprint, b: Fingerprint) -> bool:
    """Whether both were measured in the same way, so that different hashes mean different code."""
    return (a.scheme, a.grammar, a.rules) == (b.scheme, b.grammar, b.rules)


def digest(parts: Iterable[str], digits: int = _HASH_DIGITS) -> str:
    """Hex digits that stand for these texts in this order; lone surrogates are allowed in them."""
    # No part holds NUL: files with one are not read as text, and strings by value escape theirs.
    joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:digits]


def measure(
    scheme: str,
    grammar: str,
    tokens: Iterable[str],
    size: int,
    shape: Iterable[str] | None = None,
    docs: Iterable[str] = (),
) -> Fingerprint:
    """The fingerprint of a stream of tokens, of that stream without the code's own name, of docstrings."""
    texts = list(docs)
    return Fingerprint(
        scheme,
        grammar,
        RULES,
        digest(tokens),
        NO_SHAPE if shape is None else digest(shape),
        digest(texts, _DOC_DIGITS) if texts else "",
        size,
    )
