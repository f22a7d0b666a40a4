"""The text of our git hook, and how it goes into and out of a hook file that may be somebody else's. Pure.

The block runs first; the hook's own text follows, untouched. It never fails a commit for a reason of its own:
only exit code `BLOCKED` stops one, which no crash, missing module or shell error produces.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKED = 93
"""Exit code of `hooks run … --hook`: findings stop the commit."""

SECONDS = 5
"""How long the hook may take before the commit goes on without it (THUNDERUS_MEM_HOOK_SECONDS)."""

VERSION = 2
_BEGIN = f"# >>> thunderus-mem hook {VERSION} >>> (`thunderus-mem hooks uninstall` takes this block out)"
_END = "# <<< thunderus-mem hook <<<"
_BLOCK = re.compile(rb"(?m)^# >>> thunderus-mem hook \d+ >>>.*?^# <<< thunderus-mem hook <<<\n?", re.DOTALL)
_OWN_SHEBANG = b"#!/bin/sh\n"
_SHELLS = frozenset([b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash"])


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
