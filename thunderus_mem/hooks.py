"""Git hooks: put our block into a repository's hook, take it out, say how it stands, and run it.

The block runs first; the hook's own text, which may be somebody else's, follows untouched. The hook reads
what is staged and writes nothing. It never fails a commit for a reason of its own: only exit code `BLOCKED`
stops one, which no crash, missing module or shell error produces; without the tool, or when the tool fails or
is slow, the commit goes through with one line. Reads and writes the files of git's hooks folder.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Severity
from thunderus_mem.errors import NotFound, NotWritable, Refused
from thunderus_mem.store.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import Git

BLOCKED: Final = 93
"""Exit code of `hooks run … --hook`: findings stop the commit."""

SECONDS: Final = 5
"""How long the hook may take before the commit goes on without it (THUNDERUS_MEM_HOOK_SECONDS)."""

HOOKS: Final = ("pre-commit",)
VERSION: Final = 2
_BEGIN: Final = (
    f"# >>> thunderus-mem hook {VERSION} >>> (`thunderus-mem hooks uninstall` takes this block out)"
)
_END: Final = "# <<< thunderus-mem hook <<<"
_BLOCK = re.compile(rb"(?m)^# >>> thunderus-mem hook \d+ >>>.*?^# <<< thunderus-mem hook <<<\n?", re.DOTALL)
_OWN_SHEBANG: Final = b"#!/bin/sh\n"
_SHELLS: Final = frozenset([b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash"])
_ASIDE: Final = ".before-thunderus-mem"
_CHAIN: Final = f'[ ! -x "$0{_ASIDE}" ] || exec "$0{_ASIDE}" "$@"\n'
"""The line after our block that runs the hook we set aside."""
_PROGRAM: Final = (sys.executable, "-P", "-m", "thunderus_mem")
"""The command line that starts this tool; ``-P`` keeps a repository from lending us its modules."""
_MAX_HOOK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class HookStatus:
    """How a hook stands. ``state``: ``installed``, ``outdated``, ``absent``, ``foreign`` or ``elsewhere``.

    ``foreign``: a hook without our block; ``elsewhere``: ``core.hooksPath`` sends git to another folder.
    ``changed`` says whether this call wrote anything; ``note`` is for people.
    """

    hook: str
    path: str
    state: str
    changed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class HookRun:
    """What the hook found in the staged text: findings, and whether they stop the commit."""

    hook: str
    diagnostics: tuple[Diagnostic, ...]
    blocked: bool


def install(git: Git, hook: str = "pre-commit", command: Sequence[str] | None = None) -> HookStatus:
    """Put our block into ``hook``; a foreign hook keeps its text and runs after it.

    Raises `Refused` when ``core.hooksPath`` points elsewhere or the hook there is switched off, `NotWritable`
    when the disk says no. Installing again changes nothing.
    """
    path = _own_path(git, hook)
    text = _read(path)
    if text is not None and not os.access(path, os.X_OK) and installed_block(text) is None:
        raise Refused(
            f"{path} is there but git does not run it, since it is not executable.",
            hint=f"Make it executable (`chmod +x {path}`) or remove it, then install again.",
        )
    lines = block(command or _PROGRAM, hook)
    note = ""
    if text is not None and (os.path.islink(path) or not is_shell(text)):
        _set_aside(path, hook)
        text, note = None, f"the hook that was there is kept as {hook}{_ASIDE} and runs after ours"
        lines += _CHAIN
    elif text is not None and installed_block(text) is None:
        note = "the hook that was there keeps its text and runs after ours"
    new = put_in(text, lines)
    if new == text:
        return HookStatus(hook, path, "installed", note="already installed")
    _write(path, new)
    return HookStatus(hook, path, "installed", changed=True, note=note)


def uninstall(git: Git, hook: str = "pre-commit") -> HookStatus:
    """Take our block out; what was there before is again as it was."""
    path = _own_path(git, hook)
    text = _read(path)
    if text is None or installed_block(text) is None:
        return HookStatus(hook, path, _state(path), note="nothing of ours was there")
    aside = path + _ASIDE
    chain = _CHAIN.encode()
    rest = take_out(text.replace(chain, b""))
    with _writable(path):
        if os.path.lexists(aside) and chain in text:
            os.replace(aside, path)
        elif rest is None:
            os.unlink(path)
            return HookStatus(hook, path, "absent", changed=True)
        else:
            _write(path, rest)
    return HookStatus(hook, path, "foreign", changed=True, note="the hook before ours is back")


def status(git: Git, hook: str = "pre-commit") -> HookStatus:
    """Say how ``hook`` stands; changes nothing."""
    elsewhere = _elsewhere(git)
    if elsewhere:
        return HookStatus(hook, os.path.join(elsewhere, hook), "elsewhere", note=_advice(elsewhere, hook)[1])
    path = os.path.join(git.hooks_dir(), hook)
    state = _state(path)
    note = "" if state == "installed" else "run `thunderus-mem hooks install`"
    return HookStatus(hook, path, state, note=note)


def run(hook: str, lint: Callable[[], Iterable[Diagnostic]]) -> HookRun:
    """Run a hook: ``lint`` gives the findings of the staged text; errors among them stop the commit."""
    _refuse_unknown(hook)
    found = tuple(lint())
    return HookRun(hook, found, any(item.severity is Severity.ERROR for item in found))


def _state(path: str) -> str:
    text = _read(path)
    if text is None:
        return "absent"
    found = installed_block(text)
    if found is None:
        return "foreign"
    wanted = block(_PROGRAM, os.path.basename(path)).encode()
    return "installed" if found == wanted and os.access(path, os.X_OK) else "outdated"


def _elsewhere(git: Git) -> str:
    """The folder ``core.hooksPath`` names, when it is not the repository's own."""
    there = os.path.realpath(git.hooks_dir())
    own = os.path.realpath(os.path.join(git.common_dir, "hooks"))
    return "" if there == own else git.hooks_dir()


def _advice(folder: str, hook: str) -> tuple[str, str]:
    return (
        f"core.hooksPath sends git to {folder}, which belongs to another tool or to all your repositories.",
        (
            f"Add the line `thunderus-mem hooks run {hook} || exit 1` to {os.path.join(folder, hook)}, "
            "or run `git config --unset core.hooksPath` and install again."
        ),
    )


def _refuse_unknown(hook: str) -> None:
    if hook not in HOOKS:
        raise NotFound(f"There is no hook {hook} here.", hint=f"Known: {', '.join(HOOKS)}.")


def _own_path(git: Git, hook: str) -> str:
    _refuse_unknown(hook)
    elsewhere = _elsewhere(git)
    if elsewhere:
        message, hint = _advice(elsewhere, hook)
        raise Refused(message, hint=hint)
    return os.path.join(git.hooks_dir(), hook)


def _read(path: str) -> bytes | None:
    if os.path.isdir(path):
        raise Refused(f"{path} is a folder, where git wants a hook.", hint="Move it away, then try again.")
    with _writable(path):
        try:
            with open(path, "rb") as file:
                return file.read(_MAX_HOOK)
        except FileNotFoundError:
            return b"" if os.path.islink(path) else None


def _set_aside(path: str, hook: str) -> None:
    """Move a hook that cannot hold our lines out of the way, to be called after them."""
    aside = path + _ASIDE
    if os.path.lexists(aside):
        raise Refused(
            f"Both {hook} and {hook}{_ASIDE} are there.", hint=f"Remove the one you do not need from {path}."
        )
    with _writable(path):
        os.replace(path, aside)


def _write(path: str, data: bytes) -> None:
    with _writable(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data)
        mode = stat.S_IMODE(os.stat(path).st_mode)
        # Who may read it may run it.
        os.chmod(path, mode | ((mode & 0o444) >> 2) | stat.S_IXUSR)


@contextmanager
def _writable(path: str) -> Iterator[None]:
    """Raises `NotWritable` where the disk refuses."""
    try:
        yield
    except OSError as error:
        hint = "Check the permissions of the hooks folder."
        raise NotWritable(f"{path}: {error.strerror or error}.", hint=hint) from error


def block(program: Sequence[str], name: str = "pre-commit") -> str:
    """The marked lines for hook ``name``; ``program`` is the command line that starts this tool."""
    command = " ".join(shlex.quote(part) for part in program)
    return f"""{_BEGIN}
thunderus_mem_hook() {{
  git --no-optional-locks diff --cached --quiet --no-ext-diff --ignore-submodules -- \\
    ':(top,glob)**/.thunderus/**' 2>/dev/null &&
    ! git --no-optional-locks grep --cached --quiet -e '^anchors:' -- \\
      ':(top,glob)**/.thunderus/memory/**' 2>/dev/null && return 0
  set --
  command -v timeout >/dev/null 2>&1 && set -- timeout "${{THUNDERUS_MEM_HOOK_SECONDS:-{SECONDS}}}"
  if [ -x {shlex.quote(program[0])} ]; then
    thunderus_mem_says=$(
      exec 2>&1 </dev/null
      "$@" {command} hooks run {name} --hook
      exit $?
    )
  else
    thunderus_mem_says=$(
      exec 2>&1 </dev/null
      "$@" thunderus-mem hooks run {name} --hook
      exit $?
    )
  fi
  thunderus_mem_code=$?
  case $thunderus_mem_code in
    0) [ -z "$thunderus_mem_says" ] || printf '%s\\n' "$thunderus_mem_says" >&2 ;;
    {BLOCKED}) printf '%s\\n' "$thunderus_mem_says" >&2; return 1 ;;
    124 | 143) echo "thunderus-mem: too slow, memory not checked; the commit goes on" >&2 ;;
    127) echo "thunderus-mem: not found, memory not checked; the commit goes on" >&2 ;;
    *) echo "thunderus-mem: failed (exit $thunderus_mem_code), memory not checked; the commit goes on" >&2 ;;
  esac
  return 0
}}
thunderus_mem_hook || exit 1
{_END}
"""


def is_shell(text: bytes) -> bool:
    """Whether a hook is a shell script, so that our lines can stand in it."""
    first = text.split(b"\n", 1)[0].strip()
    if not first.startswith(b"#!"):
        return False
    words = first[2:].replace(b"/", b" ").split()
    names = [word for word in words if not word.startswith(b"-")]
    return bool(names) and names[-1].removesuffix(b".exe") in _SHELLS and b"\r\n" not in text


def installed_block(text: bytes) -> bytes | None:
    """Our block in a hook file, or ``None``."""
    match = _BLOCK.search(text)
    return match.group() if match else None


def put_in(text: bytes | None, lines: str) -> bytes:
    """The hook file with our block after its first line; the block it had is replaced."""
    if text is None:
        return _OWN_SHEBANG + lines.encode()
    rest = take_out(text) or _OWN_SHEBANG
    first, newline, after = rest.partition(b"\n")
    return first + (newline or b"\n") + lines.encode() + after


def take_out(text: bytes) -> bytes | None:
    """The hook file without our block; ``None`` when nothing else was in it."""
    rest = _BLOCK.sub(b"", text)
    return None if rest.strip() in (b"", _OWN_SHEBANG.strip()) and rest != text else rest
