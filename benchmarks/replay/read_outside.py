"""Truth from other languages' own parsers: a program that answers one line of JSON for each line of JSON.

It is asked ``{"path": …, "text": …}`` and answers ``{"symbols": [[name, kind, first, last, content, shape,
bodied]…], "trouble": ""}``: two hashes, and whether the definition has a body. The programs are in
``readers/``; what they need is said there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from benchmarks.replay.symbols import Reading, Symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

READERS: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers")
_JAVAC: Final = "jdk.compiler/com.sun.tools.javac"


class OutsideReader:
    """One program, started when the first file is read and kept."""

    def __init__(
        self,
        suffixes: tuple[str, ...],
        made_of: str,
        command: Sequence[str],
        env: dict[str, str] | None = None,
    ) -> None:
        self.suffixes = suffixes
        self.made_of = os.path.join(READERS, made_of)
        self._command = list(command)
        self._env = os.environ | (env or {})
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every file; a file that is not UTF-8 is trouble."""
        return [self._one(path, data) for path, data in files]

    def _one(self, path: str, data: bytes) -> Reading:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return Reading((), "not UTF-8")
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._env
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"path": path, "text": text}).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise OSError(f"{self._command[0]} ended at {path}")
        found = json.loads(answer)
        return Reading(tuple(Symbol(*row) for row in found["symbols"]), found["trouble"])

    def close(self) -> None:
        """End the program."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def outside_readers(node_modules: str, work: str) -> list[OutsideReader]:
    """The readers whose programs are on this machine; ``node_modules`` holds the package typescript."""
    found = []
    if shutil.which("node") and os.path.isdir(os.path.join(node_modules, "typescript")):
        suffixes = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
        script = os.path.join(READERS, "typescript.cjs")
        modules = {"NODE_PATH": node_modules}
        found.append(OutsideReader(suffixes, "typescript.cjs", ["node", script], modules))
    if shutil.which("node") and os.path.isdir(os.path.join(node_modules, "@ruby", "prism")):
        command = ["node", "--no-warnings", os.path.join(READERS, "ruby.mjs")]
        found.append(
            OutsideReader((".rb", ".rake", ".gemspec"), "ruby.mjs", command, {"NODE_PATH": node_modules})
        )
    if shutil.which("php") and os.path.isdir("/usr/share/php/PhpParser"):
        command = ["php", "-d", "display_errors=stderr", os.path.join(READERS, "reader.php")]
        found.append(OutsideReader((".php",), "reader.php", command))
    compiler = os.path.join(node_modules, "kotlin-compiler", "lib")
    if shutil.which("java") and os.path.isdir(compiler):
        command = ["java", "-cp", os.path.join(compiler, "*"), os.path.join(READERS, "KotlinReader.java")]
        found.append(OutsideReader((".kt", ".kts"), "KotlinReader.java", command))
    if shutil.which("go"):
        program = os.path.join(work, "go-reader")
        subprocess.run(["go", "build", "-o", program, os.path.join(READERS, "reader.go")], check=True)
        found.append(OutsideReader((".go",), "reader.go", [program]))
    if shutil.which("javac"):
        opened = [f"--add-exports={_JAVAC}.{part}=ALL-UNNAMED" for part in ("tree", "util", "api", "code")]
        command = ["java", *opened, os.path.join(READERS, "Reader.java")]
        found.append(OutsideReader((".java",), "Reader.java", command))
    return found
