"""P8: an ASCII locale, another console encoding, output to a file: everything can be printed."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import report
from commands import COMMANDS
from tier import points

from tests.conftest import sealed_environment

if TYPE_CHECKING:
    from tests.support.command_server import Server

TITLE = "Grüße aus 東京 — “naïve” café 🙂 ﬀ Ω"
BODY = f"# {TITLE}\n\nDie Straße … • ─ ▌ → 数据库 🙂\n\n- одно\n- δύο\n\n| ä | β |\n|---|---|\n| ñ | ж |\n"
ENCODINGS = ("cp1252", "ascii", "latin-1", "cp437", "utf-16", "shift_jis")
LOCALES: tuple[dict[str, str], ...] = (
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    {"LANG": "", "LC_ALL": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict"},
    {"LC_ALL": "nowhere.UTF-8", "PYTHONIOENCODING": "cp1252"},
)
READS: tuple[tuple[str, ...], ...] = (
    ("show", "fact.odd"),
    ("show", "--raw", "fact.odd"),
    ("show", "fact.odd", "--color", "always"),
    ("list",),
    ("search", "Straße"),
    ("search", "数据库", "--ids"),
    ("log",),
    ("why", "fact.odd"),
    ("lint",),
    ("status", "--json"),
    ("show", "日本"),
    ("--help",),
    ("add", "fact", "Ünïcode 東", "--tag", "ß", "--body", "füße", "--dry-run"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory, server: Server) -> str:
    root = str(tmp_path_factory.mktemp("odd") / "größe 東")
    COMMANDS[1].build(server, root)
    words = ("add", "fact", TITLE, "--id", "fact.odd", "--tag", "tä", "--body", BODY, "-m", "darüm 東")
    done = server.run(*words, cwd=root, env={"THUNDERUS_MEM_SEED": "5"})
    assert done.code == 0, done
    return root


def test_console_with_another_encoding_gets_displayable_output(store: str, server: Server) -> None:
    wrong, tried = list[str](), 0
    for encoding in ENCODINGS[: points(2, 6)]:
        for arguments in READS:
            plain = server.run(*arguments, cwd=store)
            done = server.run(*arguments, cwd=store, arm={"odd_streams:encode": [encoding]})
            tried += 1
            if done.code != plain.code or "Traceback" in done.err or "a bug in" in done.err:
                wrong.append(f"{encoding} {arguments}: {done.code} {done.err[-300:]}")
            # A stream whose encoding is set later writes no byte order mark.
            shown = done.out.encode("utf-8", "surrogateescape").removeprefix(codecs.BOM_UTF16)
            # Help is written by the library of the command line, in UTF-8 where the console is ASCII.
            expected = plain.out.encode(encoding, "backslashreplace").removeprefix(codecs.BOM_UTF16)
            if shown != expected and not (encoding == "ascii" and arguments == ("--help",)):
                wrong.append(f"{encoding} {arguments}: {shown[:200]!r}")
    report.add("P8", "encodings", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


def test_every_locale_can_print_everything(store: str, sealed) -> None:
    wrong, tried = list[str](), 0
    chosen = [(locale, words) for locale in LOCALES for words in READS]
    for locale, arguments in chosen[:: points(7, 1)]:
        target = os.path.join(store, "out")
        with open(target, "wb") as out:
            ran = subprocess.run(
                [sys.executable, "-m", "thunderus_mem", *(os.fsencode(word) for word in arguments)],
                cwd=store,
                env=sealed_environment(sealed) | locale,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=60,
            )
        with open(target, "rb") as printed:
            text = printed.read()
        os.unlink(target)
        tried += 1
        if ran.returncode not in (0, 1, 4) or b"Traceback" in ran.stderr or b"a bug in" in ran.stderr:
            wrong.append(f"{locale} {arguments}: {ran.returncode} {ran.stderr[-300:]!r}")
        if ran.returncode == 0 and not text:
            wrong.append(f"{locale} {arguments}: nothing printed")
    report.add("P8", "locales", tried=tried)
    assert not wrong, "\n".join(wrong[:20])


def test_text_written_in_an_ascii_locale_is_unchanged(store: str, server: Server, sealed, run) -> None:
    from pathlib import Path

    for number, locale in enumerate(LOCALES[: points(2, 5)]):
        words = (
            "add",
            "fact",
            f"Füße {number}",
            "--tag",
            "ß",
            "--body",
            f"{BODY}{number} мало\n",
            "-m",
            "東",
        )
        done = run(*words, cwd=Path(store), env=locale)
        assert done.code == 0, done
        text = Path(store, f".thunderus/memory/semantic/FACTS/fusse-{number}.md")
        assert BODY in text.read_text(encoding="utf-8")
    report.add("P8", "written", tried=points(2, 5))
