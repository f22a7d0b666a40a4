"""The value of a secret is in no output, event, report or message, wherever it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from thunderus_mem.cli.output import dumps
from thunderus_mem.safety.secrets import find_secrets, holds_secret, redacted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

# Assembled here, so that secret scanners do not report this file.
TOKEN = "gh" + "p_" + "A7dk29fLmQ0xZpR4sT8uVw1yBn6cEj3HgKa5"
LINES = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDL9sT2",
    "Zq8r5Wc1VnXk3uJt7Yp0Lm4Gd6Hs2Fb9QaRe+Ox/CiUvBwNzKyPjTlSh",
]
KEY_BEGIN = "-----BEGIN RSA PRIV" + "ATE KEY-----"
FACT = ".thunderus/memory/semantic/FACTS/plain.md"


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:
    """A store with two facts."""

    def make() -> None:
        assert run("init").code == 0
        for name in ("plain", "other"):
            body = f"{name} words for the key of the gate"
            assert run("add", "fact", name, "--tag", "t", "--id", f"fact.{name}", "--body", body).code == 0

    once(make)
    return repo


def _holders(store: Path, value: str = TOKEN) -> list[str]:
    """Files that contain the value, except documents and files derived from them."""
    return [
        str(path.relative_to(store))
        for path in store.rglob("*")
        if path.is_file()
        and ".git/" not in str(path)
        and "/indexes/" not in str(path)
        and path.suffix != ".md"
        and value.encode() in path.read_bytes()
    ]


GIVEN = [
    ("add", "fact", "T {}", "--tag", "t", "--body", "new text"),
    ("add", "fact", "T", "--tag", "{}", "--alias", "{}", "--body", "new text", "--set", "source={}"),
    ("add", "fact", "T", "--tag", "t", "--body", "new text", "-m", "as {} says"),
    ("add", "fact", "T", "--tag", "t", "--body", "new text", "--link", "refers_to:{}"),
    ("add", "fact", "T", "--tag", "t", "--body", "new text", "--id", "fact.{}"),
    ("--json", "add", "{}", "T", "--tag", "t", "--body", "new text"),
    ("edit", "fact.plain", "--tag", "z", "-m", "{}"),
    ("remove", "fact.plain", "-m", "{}"),
    ("link", "fact.plain", "refers_to", "fact.other", "-m", "{}"),
    ("events", "add", "--kind", "note", "--body", "the key is {}"),
    ("show", "{}"),
    ("--json", "log", "{}"),
    ("{}",),
]


@pytest.mark.parametrize("command", GIVEN, ids=lambda command: " ".join(command[:3]))
def test_secret_in_an_argument_is_refused_and_never_printed(
    store: Path, run: Run, command: tuple[str, ...]
) -> None:
    ran = run(*(word.format(TOKEN) for word in command))
    assert ran.code in (2, 4, 5)
    assert TOKEN not in ran.out + ran.err
    assert not _holders(store)


def test_hand_written_secret_is_in_no_event(store: Path, run: Run) -> None:
    path = store / FACT
    text = path.read_text()
    path.write_text(f"{text}\nthe key is {TOKEN}\n")
    for command in (
        ("events", "add", "--kind", "note", "--body", "hello"),
        ("lint",),
        ("search", "key gate"),
        ("--json", "search", "key gate"),
    ):
        ran = run(*command)
        assert ran.code in (0, 1)
        assert TOKEN not in ran.out + ran.err
    assert run("edit", "fact.plain", "--body", "clean words").code == 0
    path.write_text(f"{path.read_text()}\nagain {TOKEN}\n")
    assert run("remove", "fact.plain", "-m", "gone").code == 0
    assert not _holders(store)
    assert run("events", "verify").code == 0


def test_middle_of_a_private_key_is_not_logged_in_a_hunk(store: Path, run: Run) -> None:
    lines = [*(f"{number:02d}{LINES[0][2:]}" for number in range(20)), LINES[1]]
    path = store / FACT
    text = path.read_text()
    path.write_text("\n".join([text, KEY_BEGIN, *lines]) + "\n")
    assert run("events", "add", "--kind", "note", "--body", "hello").code == 0
    path.write_text("\n".join([text, KEY_BEGIN, *lines[:-1], "last"]) + "\n")
    assert run("events", "add", "--kind", "note", "--body", "hello again").code == 0
    assert not _holders(store, LINES[1])
    assert not _holders(store, lines[3])


def test_file_with_a_secret_in_its_name_fails_in_junit(store: Path, run: Run) -> None:
    key = "AK" + "IA" + "Q3EGX7PLBC5NW2RT"
    path = store / FACT
    (path.parent / f"{key}.md").write_text(path.read_text().replace("fact.plain", "fact.named"))
    ran = run("lint", "--format", "junit")
    assert key not in ran.out + ran.err
    (suite,) = ET.fromstring(ran.out)
    assert suite.attrib["tests"] == "4"
    (failed,) = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert "aws" in failed.attrib["name"]


@pytest.mark.parametrize("key", ["id", "kind", "title", "updated"])
def test_secret_in_a_hand_written_field_is_never_printed(store: Path, run: Run, key: str) -> None:
    path = store / FACT
    lines = [line for line in path.read_text().split("\n") if not line.startswith(f"{key}:")]
    path.write_text("\n".join([lines[0], f"{key}: fact.{TOKEN}", *lines[1:]]))
    for command in (
        ("events", "add", "--kind", "note", "--body", "x"),
        ("lint", "--format", "json"),
        ("--json", "list"),
        ("list",),
        ("doctor",),
    ):
        ran = run(*command)
        assert ran.code in (0, 1)
        assert TOKEN not in ran.out + ran.err, command
    run("remove", "fact.plain", "-m", "gone")
    assert not _holders(store)


def test_secret_in_a_file_name_is_found_and_never_printed(store: Path, run: Run) -> None:
    (store / FACT).rename(store / FACT.replace("plain", TOKEN))
    for command in (
        ("events", "add", "--kind", "note", "--body", "x"),
        ("lint",),
        ("search", "words"),
        ("lint", "--format", "github"),
    ):
        ran = run(*command)
        assert TOKEN not in ran.out + ran.err, command
    assert "file name" in run("lint").out
    assert not _holders(store)


def test_secret_in_the_environment_is_not_logged(store: Path, run: Run) -> None:
    environment = {"THUNDERUS_MEM_MODEL": TOKEN, "GIT_AUTHOR_NAME": TOKEN, "THUNDERUS_MEM_CLIENT": TOKEN}
    assert run("events", "add", "--kind", "note", "--body", "hello", env=environment).code == 0
    assert not _holders(store)


def test_import_prints_no_secret_of_a_text_or_name(store: Path, run: Run) -> None:
    folder = store / "in"
    folder.mkdir()
    (folder / "a.md").write_text(f"# A\n\nkey {TOKEN}\n")
    (folder / f"{TOKEN}.md").write_text("# B\n\nplain\n")
    ran = run("import", "markdown", "in", "--kind", "fact")
    assert TOKEN not in ran.out + ran.err
    folder.joinpath("good.md").write_text("# Good\n\nplain good words\n")
    assert run("import", "markdown", "in", "--kind", "fact", "-m", TOKEN).code == 5
    assert not _holders(store)


def test_redacting_removes_only_the_secret() -> None:
    fingerprint = find_secrets(TOKEN)[0].fingerprint
    assert (
        redacted(f"a {TOKEN} b {TOKEN}.") == f"a <github-token {fingerprint}> b <github-token {fingerprint}>."
    )
    assert redacted("nothing here") == "nothing here"
    assert holds_secret(f"x {TOKEN}")
    assert not holds_secret(f"x {TOKEN} <!-- thunderus-mem: ignore TM401 {fingerprint} made up -->")


def test_json_redacts_an_escaped_secret() -> None:
    assert TOKEN not in dumps({"text": f"line\n{TOKEN}\n", TOKEN: [TOKEN]})
    assert TOKEN in dumps({"text": TOKEN}, whole=True)


def test_json_redacts_a_secret_in_quotation_marks() -> None:
    phrase = "velvet anchor copper garlic"
    printed = dumps({"hits": [{"snippet": f'The repository has the passphrase "{phrase}".'}]})
    assert phrase not in printed
    assert "<mentioned-secret" in printed


@pytest.mark.parametrize("between", ["\n", "\\n", "\r\n", "\n+", "\n-"])
def test_private_key_is_found_with_any_line_ending_and_in_a_diff(between: str) -> None:
    found = find_secrets(between.join(["", KEY_BEGIN, *LINES]))
    assert [one.kind for one in found] == ["private-key"]
