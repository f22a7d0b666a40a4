"""Git hooks: install, remove, inspect and run our block in a repository's hook; and what the hooks of the
pre-commit framework check.

The block runs first; the rest of the hook file stays unchanged and runs after it. The hook reads the staged
text and writes nothing. Only exit code `BLOCKED` blocks a commit, which no crash, missing module or shell
error produces; if the tool is missing, fails or is slow, the commit continues with one message. Reads and
writes the files in git's hooks folder.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Severity
from thunderus_mem.errors import NotFound, NotWritable, Refused
from thunderus_mem.git.changes import changes_since
from thunderus_mem.git.commits import base_to_compare
from thunderus_mem.git.repository import look_for_git
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import replace_file
from thunderus_mem.store.layout import MEMORY, STORE
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import Git
    from thunderus_mem.memory.memory import Memory

BLOCKED: Final = 93
"""Exit code of `hooks run … --hook` when errors block the commit."""

SECONDS: Final = 5
"""Time limit of the hook; then the commit continues without it (THUNDERUS_MEM_HOOK_SECONDS)."""

HOOKS: Final = ("pre-commit",)
VERSION: Final = 2
_BEGIN: Final = f"# >>> thunderus-mem hook {VERSION} >>> (to remove: thunderus-mem hooks uninstall)"
_END: Final = "# <<< thunderus-mem hook <<<"
_BLOCK = lazy_pattern(rb"(?m)^# >>> thunderus-mem hook \d+ >>>.*?^# <<< thunderus-mem hook <<<\n?", re.DOTALL)
_OWN_SHEBANG: Final = b"#!/bin/sh\n"
_SHELLS: Final = frozenset([b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash"])
_RENAMED: Final = ".before-thunderus-mem"
_CHAIN: Final = f'[ ! -x "$0{_RENAMED}" ] || exec "$0{_RENAMED}" "$@"\n'
"""The line after our block that runs the renamed hook."""
_CALL: Final = "thunderus-mem hooks run"
"""What runs the hook in a hooks folder of another tool."""
_PROGRAM: Final = (sys.executable, "-P", "-m", "thunderus_mem")
"""The command line of this tool; ``-P`` prevents imports from the repository."""
_MAX_HOOK: Final = 1 << 20


class HookStatus(NamedTuple):
    """The state of a hook: ``installed``, ``outdated``, ``absent``, ``foreign`` or ``elsewhere``.

    ``foreign``: a hook without our block; ``elsewhere``: ``core.hooksPath`` points to another folder.
    ``changed``: this call wrote something; ``note`` is text output.
    """

    hook: str
    path: str
    state: str
    changed: bool = False
    note: str = ""


class HookRun(NamedTuple):
    """The findings in the staged text, and whether they block the commit."""

    hook: str
    diagnostics: tuple[Diagnostic, ...]
    blocked: bool


def install(git: Git, hook: str = "pre-commit", command: Sequence[str] | None = None) -> HookStatus:
    """Add our block to ``hook``; an existing hook keeps its text and runs after the block.

    Raises `Refused` when ``core.hooksPath`` points to another folder, whose hook does not run ours, or the
    existing hook is not executable, `NotWritable` when a file cannot be written. Installing again changes
    nothing.
    """
    if _other_hooks_dir(git) and (there := status(git, hook)).state == "installed":
        return there._replace(note="already installed")
    path = _own_path(git, hook)
    text = _read(path)
    if text is not None and not os.access(path, os.X_OK) and installed_block(text) is None:
        raise Refused(
            f"{path} exists but is not executable, so git ignores it",
            hint=f"make it executable (`chmod +x {path}`) or remove it, then install again",
        )
    lines = block(command or _PROGRAM, hook)
    note = ""
    if text is not None and (os.path.islink(path) or not is_shell(text)):
        _rename_hook(path, hook)
        text, note = None, f"the existing hook was renamed to {hook}{_RENAMED} and runs after this one"
        lines += _CHAIN
    elif text is not None and installed_block(text) is None:
        note = "the existing hook is unchanged and runs after this one"
    new = insert_block(text, lines)
    if new == text:
        return HookStatus(hook, path, "installed", note="already installed")
    _write(path, new)
    return HookStatus(hook, path, "installed", changed=True, note=note)


def uninstall(git: Git, hook: str = "pre-commit") -> HookStatus:
    """Remove our block and restore the hook that existed before."""
    path = _own_path(git, hook)
    text = _read(path)
    if text is None or installed_block(text) is None:
        return HookStatus(hook, path, _state(path), note="not installed")
    renamed = path + _RENAMED
    chain = _CHAIN.encode()
    rest = remove_block(text.replace(chain, b""))
    with _writable(path):
        if os.path.lexists(renamed) and chain in text:
            os.replace(renamed, path)
        elif rest is None:
            os.unlink(path)
            return HookStatus(hook, path, "absent", changed=True)
        else:
            _write(path, rest)
    return HookStatus(hook, path, "foreign", changed=True, note="the previous hook was restored")


def status(git: Git, hook: str = "pre-commit") -> HookStatus:
    """Return the state of ``hook``; changes nothing."""
    elsewhere = _other_hooks_dir(git)
    if elsewhere:
        path = _hook_elsewhere(elsewhere, hook)
        state = "installed" if _CALL.encode() in (_read(path) or b"") else "elsewhere"
        return HookStatus(hook, path, state, note="" if state == "installed" else _advice(elsewhere, hook)[1])
    path = os.path.join(git.hooks_dir(), hook)
    state = _state(path)
    note = "" if state == "installed" else "run `thunderus-mem hooks install`"
    return HookStatus(hook, path, state, note=note)


def run(hook: str, lint: Callable[[], Iterable[Diagnostic]]) -> HookRun:
    """Run a hook: ``lint`` returns the findings in the staged text; errors block the commit."""
    _refuse_unknown(hook)
    found = tuple(lint())
    return HookRun(hook, found, any(item.severity is Severity.ERROR for item in found))


def memory_folders(start: str, environ: Mapping[str, str]) -> list[str]:
    """The folders with the memories that git knows in ``start`` and below; ``start`` if there are none.

    The framework runs its hooks at the top of the repository, which may have a memory for each package.
    """
    git = look_for_git(start, environ, honour_index=True)[0]
    files = git.tracked(["."]) if git else set()
    folders = {path.partition(f"{MEMORY}/")[0] for path in files if f"/{MEMORY}/" in f"/{path}"}
    return [os.path.join(start, folder).rstrip("/") for folder in sorted(folders)] or [start]


class Extent(NamedTuple):
    """What the pre-commit framework asks to check: the changes ``since`` a revision, the ``staged`` ones, or,
    without both, everything. ``paths`` are the changed documents, if only documents have changed."""

    since: str = ""
    staged: bool = False
    paths: tuple[str, ...] = ()


def asked_extent(memory: Memory) -> Extent:
    """What the framework asks to check, from its environment variables and git's.

    It passes a range at a push and with ``--from-ref``. Git names its index to the hooks of a commit; without
    it (``pre-commit run``), staged files decide. Outside a repository it is everything.
    """
    since, git = memory.environ.get("PRE_COMMIT_FROM_REF", ""), memory.git
    if since or git is None:
        return Extent(since)
    staged = "GIT_INDEX_FILE" in memory.environ or git.ask("diff", "--cached", "--quiet").code == 1
    return Extent(staged=staged)


def documents_to_lint(memory: Memory) -> Extent:
    """The changed documents as the framework asks for them.

    Everything, if another file of the store has changed (configuration, schemas, log), if a document was
    removed, or if no file has changed.
    """
    extent = asked_extent(memory)
    git = look_for_git(memory.root, memory.environ, honour_index=True)[0]
    if git is None or extent == Extent():
        return Extent()
    base = base_to_compare(git, extent.since) if extent.since else ""
    changes = changes_since(git, base, ":" if extent.staged else "")
    if changes is None:
        raise NotFound(f"cannot read the changes from git: {git.reason}")
    changed = [path for path in changes.touched if path.startswith(f"{STORE}/")]
    whole = any(path.startswith(f"{STORE}/") for path in changes.gone) or not all(map(kind_of, changed))
    return Extent() if whole or not changed else Extent(extent.since, extent.staged, tuple(changed))


def _state(path: str) -> str:
    text = _read(path)
    if text is None:
        return "absent"
    found = installed_block(text)
    if found is None:
        return "foreign"
    wanted = block(_PROGRAM, os.path.basename(path)).encode()
    return "installed" if found == wanted and os.access(path, os.X_OK) else "outdated"


def _other_hooks_dir(git: Git) -> str:
    """Return the folder set by ``core.hooksPath``, unless it is the repository's own."""
    there = os.path.realpath(git.hooks_dir())
    own = os.path.realpath(os.path.join(git.common_dir, "hooks"))
    return "" if there == own else git.hooks_dir()


def _is_husky(folder: str) -> bool:
    """Whether husky (9) wrote this folder; its hooks run the file of the same name in the folder above."""
    return os.path.basename(folder) == "_" and os.path.isfile(os.path.join(folder, "h"))


def _hook_elsewhere(folder: str, hook: str) -> str:
    return os.path.join(os.path.dirname(folder) if _is_husky(folder) else folder, hook)


def _advice(folder: str, hook: str) -> tuple[str, str]:
    owner = "husky" if _is_husky(folder) else "another tool or to all your repositories"
    # Those without the tool can still commit.
    line = f"if command -v thunderus-mem >/dev/null; then {_CALL} {hook} || exit 1; fi"
    unset = "" if _is_husky(folder) else ", or run `git config --unset core.hooksPath` and install again"
    return (
        f"core.hooksPath is {folder}, which belongs to {owner}",
        f"add the line `{line}` to {_hook_elsewhere(folder, hook)}{unset}",
    )


def _refuse_unknown(hook: str) -> None:
    if hook not in HOOKS:
        raise NotFound(f"unsupported hook {hook!r}", hint=f"use one of: {', '.join(HOOKS)}")


def _own_path(git: Git, hook: str) -> str:
    _refuse_unknown(hook)
    elsewhere = _other_hooks_dir(git)
    if elsewhere:
        message, hint = _advice(elsewhere, hook)
        raise Refused(message, hint=hint)
    return os.path.join(git.hooks_dir(), hook)


def _read(path: str) -> bytes | None:
    if os.path.isdir(path):
        raise Refused(f"{path} is a folder, not a hook", hint="move it away, then try again")
    with _writable(path):
        try:
            with open(path, "rb") as file:
                return file.read(_MAX_HOOK)
        except FileNotFoundError:
            return b"" if os.path.islink(path) else None


def _rename_hook(path: str, hook: str) -> None:
    """Rename a hook that cannot contain our block; the block's last line runs it."""
    renamed = path + _RENAMED
    if os.path.lexists(renamed):
        raise Refused(
            f"both {hook} and {hook}{_RENAMED} exist",
            hint=f"remove the one you do not need in {os.path.dirname(path)}",
        )
    with _writable(path):
        os.replace(path, renamed)


def _write(path: str, data: bytes) -> None:
    with _writable(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data)
        mode = stat.S_IMODE(os.stat(path).st_mode)
        # Everyone who can read it can also run it.
        os.chmod(path, mode | ((mode & 0o444) >> 2) | stat.S_IXUSR)


@contextmanager
def _writable(path: str) -> Iterator[None]:
    """Convert `OSError` to `NotWritable`."""
    try:
        yield
    except OSError as error:
        hint = "check the permissions of the hooks folder"
        raise NotWritable(f"cannot access {path}: {error.strerror or error}", hint=hint) from error


def block(program: Sequence[str], name: str = "pre-commit") -> str:
    """Return our block for hook ``name``; ``program`` is the command line of this tool."""
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
    thunderus_mem_output=$(
      exec 2>&1 </dev/null
      "$@" {command} hooks run {name} --hook
      exit $?
    )
  else
    thunderus_mem_output=$(
      exec 2>&1 </dev/null
      "$@" thunderus-mem hooks run {name} --hook
      exit $?
    )
  fi
  thunderus_mem_code=$?
  case $thunderus_mem_code in
    0) [ -z "$thunderus_mem_output" ] || printf '%s\\n' "$thunderus_mem_output" >&2 ;;
    {BLOCKED}) printf '%s\\n' "$thunderus_mem_output" >&2; return 1 ;;
    124 | 143) echo "thunderus-mem: timed out; memory not checked, commit continues" >&2 ;;
    127) echo "thunderus-mem: not found; memory not checked, commit continues" >&2 ;;
    *) echo "thunderus-mem: failed (exit $thunderus_mem_code), see: thunderus-mem hooks run;" \\
      "memory not checked, commit continues" >&2 ;;
  esac
  return 0
}}
thunderus_mem_hook || exit 1
{_END}
"""


def is_shell(text: bytes) -> bool:
    """Whether a hook is a shell script that can contain our block."""
    first = text.split(b"\n", 1)[0].strip()
    if not first.startswith(b"#!"):
        return False
    words = first[2:].replace(b"/", b" ").split()
    names = [word for word in words if not word.startswith(b"-")]
    return bool(names) and names[-1].removesuffix(b".exe") in _SHELLS and b"\r\n" not in text


def installed_block(text: bytes) -> bytes | None:
    """Return our block in a hook file, or ``None``."""
    match = _BLOCK.search(text)
    return match.group() if match else None


def insert_block(text: bytes | None, lines: str) -> bytes:
    """Insert our block after the first line of a hook file, replacing an older block."""
    if text is None:
        return _OWN_SHEBANG + lines.encode()
    rest = remove_block(text) or _OWN_SHEBANG
    first, newline, after = rest.partition(b"\n")
    return first + (newline or b"\n") + lines.encode() + after


def remove_block(text: bytes) -> bytes | None:
    """Remove our block from a hook file; ``None`` when nothing else is in it."""
    rest = _BLOCK.sub(b"", text)
    return None if rest.strip() in (b"", _OWN_SHEBANG.strip()) and rest != text else rest
