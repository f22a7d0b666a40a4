"""Runs ``git``: hardened, quiet, with a time limit. Knows no command of its own; starts processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen

_TIMEOUT: Final = 30.0
_NO_ANSWER: Final = f"git did not answer within {_TIMEOUT:.0f} seconds"
# Nothing that a repository's configuration names is started: no monitor, hook, pager, filter of diffs.
_HARDENING: Final = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "diff.external="),
    *("-c", "log.showSignature=false"),
    *("-c", "log.follow=false"),
    *("-c", "submodule.recurse=false"),
)
_NO_HOOKS: Final = ("-c", f"core.hooksPath={os.devnull}")


def find_executable(search_path: str) -> str | None:
    """The absolute path of ``git`` in the absolute folders of a ``PATH``; ``None`` when there is none.

    Relative folders are passed over, so that no program of the working tree is taken for git.
    """
    names = ("git.exe",) if os.name == "nt" else ("git",)
    for folder in search_path.split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None


class Output(NamedTuple):
    """What a git process answered: exit code (-1: not started or timed out), bytes, and its complaint."""

    code: int
    data: bytes
    complaint: str

    @property
    def ok(self) -> bool:
        """Whether git ended with 0."""
        return self.code == 0


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    chosen = (fatal or lines or [""])[0]
    return chosen.removeprefix("fatal: ").removeprefix("error: ")


class GitProcess:
    """Starts git in one folder.

    ``GIT_*`` variables of the caller are not passed on; ``index_file`` is the one a hook was given, when it
    is wanted.
    """

    def __init__(
        self, executable: str, folder: str, environ: Mapping[str, str], index_file: str | None = None
    ) -> None:
        self.executable = executable
        self.folder = folder
        self._hangs = False
        self.environment = {key: value for key, value in environ.items() if not key.startswith("GIT_")}
        self.environment.update(
            LC_ALL="C", GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", GIT_NO_LAZY_FETCH="1"
        )
        if index_file:
            self.environment["GIT_INDEX_FILE"] = index_file

    def disarm_filters(self) -> None:
        """Have git run none of the configured filters: it would, on every changed file it looks at."""
        asked = self.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        for key in asked.data.decode("utf-8", "surrogateescape").split("\0"):
            filter_name, _, setting = key.rpartition(".")
            if setting in ("clean", "process", "required"):
                self._set(f"{filter_name}.{setting}", "false" if setting == "required" else "")

    def _set(self, key: str, value: str) -> None:
        count = int(self.environment.get("GIT_CONFIG_COUNT", "0"))
        self.environment |= {f"GIT_CONFIG_KEY_{count}": key, f"GIT_CONFIG_VALUE_{count}": value}
        self.environment["GIT_CONFIG_COUNT"] = str(count + 1)

    def start(self, *arguments: str) -> Popen[bytes] | None:
        """A git process that is asked through its input, one by one; ``None`` when it cannot start."""
        import subprocess

        try:
            return subprocess.Popen(
                [self.executable, *_HARDENING, *_NO_HOOKS, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=self.environment,
            )
        except OSError:
            return None

    def run(
        self,
        *arguments: str,
        data: bytes | None = None,
        configured_hooks: bool = False,
    ) -> Output:
        """Run one git command; ``data`` goes to its input. Never raises for what git or the system answers.

        ``configured_hooks`` leaves ``core.hooksPath`` as configured, for asking where hooks are.
        """
        import subprocess

        if self._hangs:
            return Output(-1, b"", _NO_ANSWER)
        hooks = () if configured_hooks else _NO_HOOKS
        command = [self.executable, *_HARDENING, *hooks, *arguments]
        try:
            done = subprocess.run(
                command,
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                cwd=self.folder,
                env=self.environment,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._hangs = True
            return Output(-1, b"", _NO_ANSWER)
        except OSError as error:
            return Output(-1, b"", f"git cannot be started: {error.strerror or error}")
        return Output(done.returncode, done.stdout, _complaint(done.stderr))
