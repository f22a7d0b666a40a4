"""The stage of a scene: a sealed folder, the installed command, and what is written down of each run.

Nothing of the program is imported. A scene is a list of steps; a step is a command line with what it printed,
how it ended and which files it changed. What no recording can hold still is taken out here (``told``).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from store_dump import index_lines, similar_lines, verdict_lines
from terminal_run import on_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).resolve().parent
MATERIAL = HERE / "material"
STORES = HERE / "stores"
START = datetime(2026, 1, 21, 9, tzinfo=UTC)
LONG_LINE = 300
REST = 5
"""Seconds after which the program takes a file for one at rest."""
LARGE_FILE = 48 * 1024

GITCONFIG = """[user]
    name = Ada Example
    email = ada@example.invalid
[init]
    defaultBranch = main
    templateDir =
[core]
    autocrlf = false
[commit]
    gpgSign = false
[gc]
    auto = 0
[maintenance]
    auto = false
[merge]
    conflictStyle = merge
[safe]
    directory = *
"""

UNSTEADY = re.compile(
    r"\.thunderus/(?:\.lock|local/(?:lock-owner|session)\.json"
    r"|memory/indexes/(?:memory\.db.*|verdicts\.json|similar\.bin|.*\.tmp))$"
)
"""Files that hold times, process numbers or places: shown by ``index`` and ``caches``, never as bytes."""

VERSIONS = (
    (re.compile(r"SQLite \d+\.\d+(?:\.\d+)?"), "SQLite <version>"),
    (re.compile(r"git(?: version)? \d+\.\d+(?:\.\d+)*"), "git <version>"),
    (re.compile(r"Python \d+\.\d+(?:\.\d+)*"), "Python <version>"),
    (re.compile(r'("time": ?)"\d{4}-[-\d]+T[:\d]+Z"'), r'\1"<time>"'),
    (re.compile(r"(quarantine +\d+ files?, [^\n]*since )\d{4}-\d\d-\d\d"), r"\1<today>"),
    (re.compile(r"(\d (?:B|KiB|MiB)), \d{4}-\d\d-\d\d, "), r"\1, <today>, "),
    (re.compile(r"\bpid \d+"), "pid <pid>"),
    (re.compile(r", for \d+ s\b"), ", for <n> s"),
    (re.compile(r"\.set-aside-\d+"), ".set-aside-<time>"),
)
PROGRESS = re.compile(r"\r(?:[^\r\n]*)\x1b\[K")


def command_path() -> str:
    """The command the oracle looks at: ``ORACLE_COMMAND``, or that of this checkout."""
    return os.environ.get("ORACLE_COMMAND") or str(HERE.parents[1] / ".venv" / "bin" / "thunderus-mem")


def material(name: str) -> Path:
    """A file or folder of the material."""
    return MATERIAL / name


class Scene:
    """One scene while it plays: its folder, its clock, and the lines recorded so far."""

    def __init__(self, name: str, base: Path) -> None:
        self.name = name
        self.base = base / name
        self.root = self.base / "repo"
        self.home = self.base / "home"
        self.root.mkdir(parents=True)
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
        self.command = command_path()
        self.now = START
        self.turn = 0
        self.extra: dict[str, str] = {}
        self.wrapper: list[str] = []
        self.lines: list[str] = []
        self.used: list[list[str]] = []
        self.before: dict[str, str] = {}

    # --- surroundings -------------------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """What a process sees: fixed clock, ids, size and home, and no setting of whoever runs this."""
        stamp = self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "TMPDIR": str(self.base),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "COLUMNS": "80",
            "EDITOR": "false",
            "PAGER": "cat",
            "SHELL": "/bin/bash",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_DATE": stamp,
            "THUNDERUS_MEM_ACTOR": "user",
            "THUNDERUS_MEM_TEST": "1",
            "THUNDERUS_MEM_NOW": stamp,
            "THUNDERUS_MEM_SEED": str(self.turn),
            "THUNDERUS_MEM_HOOK_SECONDS": "120",
            **self.extra,
        }

    def wait(self, **distance: float) -> None:
        """Let the clock go on, as ``wait(days=40)``."""
        self.now += timedelta(**distance)

    def path(self, name: str) -> Path:
        """A path below the repository of the scene."""
        return self.root / name

    # --- the command --------------------------------------------------------------------------------------

    def __call__(
        self,
        line: str | Sequence[str],
        *,
        stdin: str | bytes = b"",
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command line without a terminal and record it."""
        words = self._words(line)
        given = self._next(env)
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*self.wrapper, self.command, *words],
            cwd=self.root / cwd,
            env=given,
            input=data,
            capture_output=True,
            check=False,
            timeout=300,
        )
        self._head(words, cwd, env)
        if data:
            self.lines += self._block("< ", data)
        self.lines += self._block("| ", done.stdout)
        self.lines += self._block("! ", done.stderr)
        self.lines.append(f"= {done.returncode}")
        self._changes()
        return done

    def each(self, lines: str, **options: object) -> None:
        """Run one command line after the other."""
        for line in filter(None, map(str.strip, lines.splitlines())):
            self(line, **options)  # type: ignore[arg-type]

    def forms(self, lines: str, **options: object) -> None:
        """Run each command line as text, with ``--json`` and with ``--plain``."""
        for line in filter(None, map(str.strip, lines.splitlines())):
            for more in ((), ("--json",), ("--plain",)):
                self([*shlex.split(line), *more], **options)  # type: ignore[arg-type]

    def terminal(
        self,
        lines: str,
        *,
        keys: Sequence[tuple[bytes, bytes]] = (),
        env: Mapping[str, str] | None = None,
        cwd: str = ".",
    ) -> None:
        """Run each command line on a terminal of 80 columns and 24 lines."""
        for line in filter(None, map(str.strip, lines.splitlines())):
            words = self._words(line)
            given = self._next(env)
            given["TERM"] = (env or {}).get("TERM", "xterm-256color")
            given.pop("COLUMNS")
            code, data = on_terminal(
                [*self.wrapper, self.command, *words], cwd=self.root / cwd, env=given, keys=keys
            )
            self._head(words, cwd, env, "  (on a terminal)")
            self.lines += self._block(
                "> ", PROGRESS.sub("", data.decode("utf-8", "backslashreplace")).encode()
            )
            self.lines.append(f"= {code}")
            self._changes()

    def until(
        self, line: str, wanted: str, deed: object, then: str, *, signal_number: int = signal.SIGINT
    ) -> None:
        """Run a command that goes on: wait for ``wanted``, do ``deed``, wait for ``then``, end it."""
        words = self._words(line)
        out = self.base / "until.txt"
        with open(out, "wb") as stream:
            process = subprocess.Popen(
                [self.command, *words],
                cwd=self.root,
                env=self._next(None),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        try:
            self._await(out, wanted, process)
            deed()  # type: ignore[operator]
            self._await(out, then, process)
            process.send_signal(signal_number)
            code = process.wait(30)
        finally:
            process.kill()
            process.wait()
        self._head(words, ".", None, "  (until a signal)")
        self.lines += self._block("| ", out.read_bytes())
        self.lines.append(f"= {code}")
        self._changes()

    def _await(self, out: Path, wanted: str, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + 60
        while wanted.encode() not in out.read_bytes():
            if time.monotonic() > until or process.poll() is not None:
                raise AssertionError(f"{self.name}: no {wanted!r} in {out.read_bytes()[-2000:]!r}")
            time.sleep(0.05)

    def _words(self, line: str | Sequence[str]) -> list[str]:
        return shlex.split(line) if isinstance(line, str) else list(line)

    def _next(self, env: Mapping[str, str] | None) -> dict[str, str]:
        self.turn += 1
        self.now += timedelta(minutes=1)
        return {**self.environment(), **(env or {})}

    def _head(self, words: list[str], cwd: str, env: Mapping[str, str] | None, note: str = "") -> None:
        self.used.append(words)
        place = "" if cwd == "." else f"cd {cwd}; "
        said = "".join(f"{key}={shlex.quote(value)} " for key, value in sorted((env or {}).items()))
        text = f"$ {place}{said}thunderus-mem {shlex.join(words)}{note}"
        if len(text) > 2000:
            digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
            text = f"{text[:2000]}… (sha256 {digest})"
        self.lines += ["", *self.told(text).split("\n")]

    # --- what is written down -----------------------------------------------------------------------------

    def told(self, text: str) -> str:
        """A text without what differs from run to run: places and versions."""
        checkout = str(Path(self.command).parents[2])
        for place, name in ((str(self.base), "<dir>"), (checkout, "<checkout>")):
            text = text.replace(place, name)
        for pattern, name in VERSIONS:
            text = pattern.sub(name, text)
        return text

    def _block(self, mark: str, data: bytes) -> list[str]:
        if not data:
            return []
        text = self.told(data.decode("utf-8", "backslashreplace"))
        lines = text.split("\n")
        last = lines.pop()
        found = []
        for line in [*lines, *([last] if last else [])]:
            if len(line) > LONG_LINE and line[0] in "{[":
                found += self._unfolded(mark, line)
            else:
                found.append(f"{mark}{visible(line)}".rstrip(" ") if line else mark.rstrip())
                if line.endswith(" "):
                    found[-1] = f"{mark}{visible(line)}␠"
        if last:
            found.append("\\ no newline at the end")
        return found

    def _unfolded(self, mark: str, line: str) -> list[str]:
        """A long line of JSON over several lines, after the digest of how it stood."""
        try:
            value = json.loads(line)
        except ValueError:
            return [mark + visible(line)]
        digest = hashlib.sha256(line.encode("utf-8", "surrogateescape")).hexdigest()
        shown = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
        return [f"{mark}(one line, sha256 {digest})", *(mark + visible(one) for one in shown)]

    def note(self, text: str) -> None:
        """A remark between the steps."""
        self.lines += ["", f"# {text}"]

    def _files(self) -> dict[str, str]:
        found = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in names:
                path = os.path.join(folder, name)
                short = os.path.relpath(path, self.root)
                if UNSTEADY.search(short):
                    continue
                found[self.told(short.encode("utf-8", "backslashreplace").decode())] = digest_of(self, path)
        return found

    def _changes(self) -> None:
        after = self._files()
        for name in sorted({*self.before, *after}):
            was, now = self.before.get(name), after.get(name)
            if was != now:
                sign = "+" if was is None else "-" if now is None else "~"
                self.lines.append(f"{sign} {visible(name)}  {now or ''}".rstrip())
        self.before = after

    def settle(self) -> None:
        """Take the files as they are: what the scene itself wrote is not told as a change."""
        self.before = self._files()

    def show(self, *names: str) -> None:
        """Record the text of files."""
        for name in names:
            self.lines += ["", f"--- {self.told(name)}"]
            path = self.root / name
            self.lines += self._block("  ", path.read_bytes()) if path.exists() else ["(not there)"]

    def tree(self, folder: str = ".thunderus", *, whole: bool = False) -> None:
        """Record every file below a folder: its text, or its digest where nobody reads it.

        ``whole`` shows the schemas and the settings with all their comments too.
        """
        self.lines += ["", f"=== {folder}"]
        for name, digest in sorted(self._files().items()):
            if not name.startswith(f"{folder}/") and folder != ".":
                continue
            self.lines += ["", f"--- {visible(name)}  {digest}"]
            path = self.root / name
            known = name.endswith(("config.toml", "gardener.toml", ".gitignore", ".gitattributes"))
            if not whole and ("/schemas/" in name or known):
                continue
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGE_FILE:
                self.lines += self._block("  ", path.read_bytes())

    def index(self, root: str = ".") -> None:
        """Record what the index holds, without the stamps of files."""
        self.lines += ["", f"=== index of {root}"]
        lines = index_lines(self.root / root / ".thunderus/memory/indexes/memory.db")
        self.lines += [self.told(visible(line)) for line in lines]

    def fresh_verdicts(self) -> None:
        """Have all verdicts kept anew, of files that have rested: those of young files are not kept."""
        kept = self.root / ".thunderus/memory/indexes/verdicts.json"
        if kept.exists():
            kept.unlink()
        time.sleep(REST)
        self("check --quiet")

    def caches(self) -> None:
        """Record the kept verdicts and the kept comparisons, without the stamps of files."""
        folder = self.root / ".thunderus/memory/indexes"
        self.lines += ["", "=== caches"]
        self.lines += [self.told(visible(line)) for line in verdict_lines(folder / "verdicts.json")]
        self.lines += similar_lines(folder / "similar.bin")

    # --- what a scene does besides ------------------------------------------------------------------------

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file as a person would."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        stamp = START.timestamp()
        os.utime(path, (stamp, stamp))
        self.settle()

    def change(self, name: str, *pairs: tuple[str, str]) -> None:
        """Replace texts in a file."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        for old, new in pairs:
            if old not in text:
                raise AssertionError(f"{self.name}: {old!r} is not in {name}")
            text = text.replace(old, new)
        self.write(name, text)

    def append(self, name: str, text: str | bytes) -> None:
        """Add to the end of a file."""
        path = self.root / name
        self.write(name, path.read_bytes() + (text.encode() if isinstance(text, str) else text))

    def remove(self, name: str) -> None:
        """Delete a file or a folder."""
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        self.settle()

    def bring(self, name: str, to: str = ".") -> None:
        """Copy material into the repository."""
        source, target = material(name), self.root / to
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        stamp = START.timestamp()
        for folder, _, names in os.walk(self.root):
            if "/.git" not in folder:
                for one in names:
                    os.utime(os.path.join(folder, one), (stamp, stamp), follow_symlinks=False)
        self.settle()

    def unpack(self, name: str) -> None:
        """Begin with a store that an earlier program wrote: an archive in ``stores``."""
        with tarfile.open(STORES / f"{name}.tar.xz") as archive:
            archive.extractall(self.root, filter="fully_trusted")
        self.settle()

    def git(self, line: str, *, cwd: str = ".", may_fail: bool = False) -> str:
        """Run git; not recorded."""
        self.now += timedelta(seconds=1)
        done = subprocess.run(
            ["git", *shlex.split(line)],
            cwd=self.root / cwd,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode and not may_fail:
            raise AssertionError(f"{self.name}: git {line}\n{done.stdout}{done.stderr}")
        self.settle()
        return done.stdout.strip()

    def git_told(self, line: str, *, cwd: str = ".") -> None:
        """Run git and record what it printed: for hooks and merges that call the program."""
        self.turn += 1
        self.now += timedelta(minutes=1)
        done = subprocess.run(
            ["git", *shlex.split(line)],
            cwd=self.root / cwd,
            env=self.environment(),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        self.lines += ["", f"$ git {self.told(line)}"]
        self.lines += self._block("| ", done.stdout) + self._block("! ", done.stderr)
        self.lines.append(f"= {done.returncode}")
        self._changes()

    def commit(self, message: str = "Go on") -> None:
        """Commit everything there is."""
        self.git("add -A")
        self.git(f"commit -q --no-verify --allow-empty -m {shlex.quote(message)}")

    def begin(self) -> None:
        """A git repository with an empty memory in its first commit."""
        self.git("init -q")
        self.write("README.md", "# Sample\n")
        self("--quiet init")
        self.commit("Begin")


def digest_of(scene: Scene, path: str) -> str:
    """What stands for a file: the beginning of its SHA-256, its mode where unusual, or where a link leads."""
    if os.path.islink(path):
        return f"-> {scene.told(os.readlink(path))}"
    info = os.lstat(path)
    if not os.path.isfile(path):
        return "(special)"
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return "(closed)"
    with suppress(UnicodeDecodeError):
        data = scene.told(data.decode()).encode()
    mode = info.st_mode & 0o777
    return hashlib.sha256(data).hexdigest()[:20] + ("" if mode == 0o644 else f" {mode:o}")


def visible(line: str) -> str:
    """A line whose control characters can be seen."""
    return "".join(
        char if char.isprintable() or char == "\t" else char.encode("unicode_escape").decode()
        for char in line
    )


if sys.platform == "win32":
    raise SystemExit("The oracle needs a POSIX system.")
