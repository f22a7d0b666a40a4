"""Sample code with many definitions, the same at every run: for fingerprints in all languages.

The shapes of definitions stand in ``material/shapes.txt``; numbers make their names different, and values
vary what is in them. Nobody runs this code.
"""

from __future__ import annotations

import re
from itertools import cycle, islice
from pathlib import Path

COUNT = 36
"""Definitions a language."""

LANGUAGES: dict[str, tuple[str, str]] = {
    "python": ("py", "# {}"), "javascript": ("js", "// {}"), "typescript": ("ts", "// {}"),
    "tsx": ("tsx", "// {}"), "go": ("go", "// {}"), "rust": ("rs", "// {}"), "java": ("java", "// {}"),
    "c": ("c", "/* {} */"), "cpp": ("cpp", "// {}"), "csharp": ("cs", "// {}"), "ruby": ("rb", "# {}"),
    "kotlin": ("kt", "// {}"), "swift": ("swift", "// {}"), "php": ("php", "<?php // {} ?>"),
    "scala": ("scala", "// {}"), "bash": ("sh", "# {}"), "lua": ("lua", "-- {}"), "elixir": ("ex", "# {}"),
    "haskell": ("hs", "-- {}"), "css": ("css", "/* {} */"), "json": ("json", ""), "yaml": ("yaml", "# {}"),
    "html": ("html", "<!-- {} -->"), "markdown": ("md", "{}"), "hcl": ("tf", "# {}"), "nix": ("nix", "# {}"),
    "solidity": ("sol", "// {}"), "dart": ("dart", "// {}"), "zig": ("zig", "// {}"), "perl": ("pl", "# {}"),
    "toml": ("toml", "# {}"), "sql": ("sql", "-- {}"), "erlang": ("erl", "% {}"), "text": ("txt", "{}"),
}  # fmt: skip
"""Language → the suffix of its files, and how a comment is written."""

_HEADS = {
    "python": '"""A module."""\nimport os\n\n', "go": 'package sample\n\nimport "fmt"\n\n', "php": "<?php\n",
    "java": "package sample;\n\n", "bash": "#!/bin/bash\nset -e\n\n", "c": "#include <stdio.h>\n\n",
    "cpp": "#include <vector>\nnamespace sample {\n\n", "csharp": "namespace Sample {\n",
    "haskell": "module Sample where\n\n", "json": '{\n"first": 1\n', "nix": "{\n",
}  # fmt: skip
_TAILS = {"cpp": "}\n", "csharp": "}\n", "json": "}\n", "nix": "}\n"}
_WHOLE = ("html", "nix", "perl", "sql", "erlang", "text")
"""Languages whose definitions have no names: their files and lines are anchored."""
_VALUES = ("41", "1000", "0", "7", "255", "12")


def _shapes() -> dict[str, list[tuple[str, str]]]:
    """Language → names and texts, as the file of shapes has them."""
    text = (Path(__file__).parent / "material" / "shapes.txt").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str]]] = {}
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        language, _, name = head.partition(" ")
        found.setdefault(language, []).append((name, body))
    return found


def definitions(language: str) -> tuple[str, list[str]]:
    """A file of code in that language, and the names of its definitions."""
    names, parts = [], []
    for number, (name, shape) in enumerate(islice(cycle(_shapes()[language]), COUNT)):
        value = _VALUES[(number * 5) % len(_VALUES)]
        names.append(name.replace("@N@", str(number)))
        parts.append(shape.replace("@N@", str(number)).replace("@V@", value))
    blank = "" if language == "json" else "\n"
    if language in _WHOLE:
        names = []
    return _HEADS.get(language, "") + blank.join(parts) + _TAILS.get(language, ""), names
