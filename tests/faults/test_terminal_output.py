"""S3: no control sequence reaches a terminal, whichever field or argument contains it.

Each document carries some of the sequences in every field that is printed; commands run with their streams
redirected, on something that says it is a terminal, and on a real one. What they printed must be printable
text, newlines and tabs; on a terminal also our own colours, and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import report
from sequences import SEQUENCES
from tier import NIGHT, points

from tests.conftest import GITCONFIG, sealed_environment
from tests.support.terminal import on_terminal
from thunderus_mem.document.unicode import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.support.command_server import Server

FACTS = ".thunderus/memory/semantic/FACTS"
TOGETHER = points(60, 2)
"""The number of sequences in one field."""

_COLOUR = re.compile(r"\x1b\[(?:0|[1-9]\d?(?:;[1-9]\d?)*)m")
_PROGRESS = re.compile(r"\r(?:[A-Za-z ]+: [\d,]+ of [\d,]+)?\x1b\[K")
_READS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("search", "word", "-n", "500", "--explain"),
    ("log", "-n", "1000"),
    ("log", "--all", "-n", "1000"),
    ("status",),
    ("lint",),
    *(("lint", "--format", form) for form in ("github", "concise", "sarif", "gitlab", "junit", "jsonl")),
    ("events", "replay", "--check"),
    ("migrate", "--dry-run"),
    ("undo", "--dry-run"),
    ("doctor",),
    ("garden",),
    ("recap", "--dry-run"),
    ("config", "show"),
    ("hooks", "run"),
    ("import", "markdown", "notes", "--kind", "adr", "--dry-run"),
)
_ARGUMENTS: tuple[tuple[str, ...], ...] = (
    ("{}",),
    ("--{}",),
    ("--color", "{}"),
    ("-C", "{}", "list"),
    ("show", "{}"),
    ("show", "--{}", "x"),
    ("list", "--kind", "{}"),
    ("list", "since:{}"),
    ("search", "{}"),
    ("search", "kind:{}"),
    ("search", "-n", "{}", "x"),
    ("log", "{}"),
    ("why", "{}"),
    ("events", "show", "{}"),
    ("events", "{}"),
    ("lint", "{}"),
    ("lint", "--select", "{}"),
    ("lint", "--format", "{}"),
    ("lint", "--explain", "{}"),
    ("config", "schemas", "{}"),
    ("config", "show", "{}"),
    ("add", "{}", "T", "--body", "x"),
    ("add", "fact", "T", "--body", "x", "--id", "{}"),
    ("add", "fact", "T", "--body", "x", "--link", "{}"),
    ("add", "fact", "T", "--body", "@{}"),
    ("edit", "core", "--set", "{}"),
    ("link", "core", "{}", "core"),
    ("remove", "{}", "-m", "x"),
    ("recap", "{}"),
    ("import", "markdown", "{}", "--kind", "fact"),
    ("import", "markdown", "notes", "--kind", "{}"),
    ("import", "markdown", "notes", "--kind", "fact", "--map", "{}"),
    ("hooks", "install", "{}"),
    ("completion", "{}"),
)


def _groups() -> Iterator[str]:
    for at in range(0, len(SEQUENCES), TOGETHER):
        yield " ".join(SEQUENCES[at : at + TOGETHER])


def _quoted(text: str) -> str:
    """A YAML scalar whose escapes give the text."""
    return json.dumps(text)


def _document(number: int, text: str) -> str:
    one_line = " ".join(text.split())
    return f"""---
id: fact.bad{number}
title: {_quoted(f"word {one_line}")}
kind: fact
tags: [{_quoted(text)}, plain]
aliases: [{_quoted(text)}]
author: {_quoted(text)}
category: {_quoted(text)}
{_quoted(text)}: {_quoted(text)}
links:
  refers_to: [{_quoted(text)}]
created: 2026-01-20T09:00:00Z
updated: 2026-01-20T09:00:00Z
provenance:
  events: [{_quoted(text)}]
  patches: []
  commits: [{_quoted(text)}]
verification:
  last_verified_commit: null
  status: unknown
metadata:
  imported_from: {_quoted(text)}
---

# word {text}

word {text} word `{text}` [{text}]({text}) and src/{text}/x.py

- {text}

| {text} | b |
|---|---|
| c | {text} |

```{text}
word {text}
```

> {text}

## {text}
"""


def _raw(number: int, text: str) -> str:
    """A document with the bytes themselves in its header: most are refused, and the finding tells where."""
    return f"---\nid: fact.raw{number}\ntitle: word {text}\nkind: {text}\n{text}: {text}\n---\nword {text}\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory, server: Server) -> str:
    """A repository with every sequence in every field: documents, file names, events, authors, settings."""
    root = tmp_path_factory.mktemp("steering")
    environment = sealed_environment(root)
    (root / ".gitconfig").write_text(GITCONFIG)
    for words in (["init", "-q"], ["config", "user.name", f"Ada {SEQUENCES[0]}\x1b]0;x\x07\x9b31m\u202e"]):
        subprocess.run(["git", *words], cwd=root, env=environment, check=True)
    assert server.run("init", cwd=str(root)).code == 0
    for number, text in enumerate(_groups()):
        clean = text.replace("\0", "")
        for place, made in ((f"bad{number}", _document(number, text)), (f"raw{number}", _raw(number, text))):
            (root / FACTS / f"{place}.md").write_bytes(made.encode("utf-8", "surrogatepass"))
        name = clean.replace("/", "").encode()[:100].decode("utf-8", "ignore")
        (root / FACTS / f"{name}{number}.md").write_text("no header\n")
        (root / "notes").mkdir(exist_ok=True)
        (root / "notes" / f"{number}{name}.md").write_text(
            f"---\n{clean}: {clean}\nstatus: {clean}\n---\n# {clean}\n"
        )
        now = f"2026-01-21T10:{number // 60:02d}:{number % 60:02d}Z"
        server.run(
            "note", clean, cwd=str(root), env={"THUNDERUS_MEM_NOW": now, "THUNDERUS_MEM_SEED": f"{number}"}
        )
    title = " ".join(SEQUENCES[:40])
    told = ("add", "fact", f"Told {title}", "--tag", "t", "--body", "word", "-m", title)
    refused = server.run(*told, cwd=str(root), env={"THUNDERUS_MEM_NOW": "2026-01-21T11:00:00Z"})
    assert (refused.code, "TM402" in refused.err) == (2, True)
    subprocess.run(["git", "add", "-A"], cwd=root, env=environment, check=True)
    return str(root)


def _wrong(text: str, *, terminal: bool) -> str:
    """What of a text may not be printed; "" when all of it may."""
    bare = text
    if terminal:
        bare = _COLOUR.sub("", _PROGRESS.sub("", text))
    safe = visible(bare)
    if safe == bare:
        return ""
    at = next(at for at, (one, other) in enumerate(zip(bare, safe, strict=False)) if one != other)
    return repr(bare[max(at - 60, 0) : at + 20])


def _check(name: str, text: str, wrong: list[str], *, terminal: bool = False) -> None:
    if found := _wrong(text, terminal=terminal):
        wrong.append(f"{name}: {found}")


def _commands(ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from _READS
    for one in ids:
        yield from (("show", one), ("why", one), ("log", one), ("why", one, "--lines"))


def test_no_field_emits_control_sequences(store: str, server: Server) -> None:
    ids = server.run("list", "--ids", cwd=store).out.split()
    assert len(ids) >= len(SEQUENCES) // TOGETHER // 2
    wrong, tried = list[str](), 0
    forms: tuple[tuple[str, ...], ...] = ((), ("--json",), ("--color", "always"))
    for arguments in _commands(ids):
        every = NIGHT or arguments[0] in ("list", "lint", "search")
        for form in forms if every else (forms[0], forms[2]) if arguments[0] == "show" else forms[:1]:
            done = server.run(*arguments, *form, cwd=store, env={"COLUMNS": "90"})
            assert done.code in (0, 1, 2), (arguments, done.err[-500:])
            name = " ".join((*arguments, *form))
            _check(name, done.out, wrong, terminal="always" in form)
            _check(f"{name} (stderr)", done.err, wrong, terminal="always" in form)
            tried += TOGETHER
    report.add("S3", "fields", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


def test_no_argument_emits_control_sequences(store: str, server: Server) -> None:
    wrong, tried = list[str](), 0
    kept = [sequence for sequence in SEQUENCES if "\0" not in sequence]
    for position, words in enumerate(_ARGUMENTS):
        step = points(len(_ARGUMENTS) * 5, 4)
        for sequence in kept[position % step :: step]:
            arguments = [word.replace("{}", sequence) for word in words]
            # Some write: of one seed they would all draw the same ids.
            seed = {"THUNDERUS_MEM_SEED": f"{100_000 + tried}"}
            done = server.run(*arguments, cwd=store, env=seed)
            _check(repr(arguments), done.out, wrong)
            _check(f"{arguments!r} (stderr)", done.err, wrong)
            assert "Traceback" not in done.err, done
            assert done.code in (0, 1, 2, 4, 5), (arguments, done)
            tried += 1
    report.add("S3", "arguments", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


def test_no_setting_emits_control_sequences(store: str, server: Server, tmp_path: Path) -> None:
    wrong, tried = list[str](), 0
    for text in _groups():
        root = shutil.copytree(store, tmp_path / "store", symlinks=True, dirs_exist_ok=True)
        clean = json.dumps(text.replace("\x7f", ""))  # TOML has DEL as an escape only
        for line in (f"{clean} = {clean}\n", f"[lint]\nselect = [{clean}]\n", f"[search]\nlimit = {clean}\n"):
            (root / ".thunderus/config.toml").write_text(line)
            for arguments in (("list",), ("config", "show"), ("lint",), ("doctor",)):
                done = server.run(*arguments, cwd=str(root))
                _check(" ".join(arguments), done.out + done.err, wrong)
                tried += TOGETHER
        if not NIGHT:
            break
    report.add("S3", "settings", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("pager", ["less", "keeps", *(["cat"] if NIGHT else [])])
def test_no_field_controls_a_real_terminal(
    store: str, server: Server, pager: str, sealed, tmp_path: Path
) -> None:
    if pager == "less" and shutil.which("less") is None:
        pytest.skip("less is not here")
    given = tmp_path / "given"
    keeps = tmp_path / "keeps"
    keeps.write_text(f'#!/bin/sh\ncat > "{given}"\n')
    keeps.chmod(0o755)
    environment = sealed_environment(sealed) | {
        "TERM": "xterm",
        "PAGER": {"keeps": str(keeps)}.get(pager, pager),
    }
    ids = server.run("list", "--ids", cwd=store).out.split()
    some = ids[:: max(1, len(ids) // points(2, 60))]
    reads = [
        *_READS[:3],
        ("lint",),
        *(("show", one) for one in some),
        *(("show", "--raw", one) for one in some[:2]),
    ]
    wrong, tried = list[str](), 0
    for arguments in reads if pager != "less" or NIGHT else reads[:2]:
        keys = [(b":", b"q"), (b"(END)", b"q")] if pager == "less" else []
        seen = on_terminal(arguments, cwd=store, env=environment, keys=keys[:1])
        assert seen.code in (0, 1), seen
        if pager != "less":  # less moves the cursor, as it should
            _check(" ".join(arguments), seen.text, wrong, terminal=True)
        if given.exists():
            _check(f"{arguments} in the pager", given.read_bytes().decode(), wrong, terminal=True)
        tried += TOGETHER
    report.add("S3", f"terminal {pager}", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


def test_enough_sequences_and_the_check_detects_them() -> None:
    assert len(SEQUENCES) >= 150
    assert sum(bool(_wrong(sequence, terminal=True)) for sequence in SEQUENCES) >= 150
    assert _wrong("\x1b[1;36ma\x1b[0m", terminal=True) == ""
    assert _wrong("\x1b[1;36ma\x1b[0m", terminal=False)
    assert os.linesep == "\n"
