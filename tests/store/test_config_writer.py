"""`config set` and `config unset` change one key; comments and other lines stay."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import Conflict, InvalidConfig
from thunderus_mem.store import config_writer
from thunderus_mem.store.config_keys import (
    CONFIG,
    KEY_BY_NAME,
    KEYS,
    default_config_toml,
    default_gardener_toml,
    toml_value,
)
from thunderus_mem.store.config_writer import with_value
from thunderus_mem.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done
    from thunderus_mem.store.config_keys import Key

LAWS = settings(deadline=None, max_examples=150, derandomize=True)
DEFAULTS = {True: default_config_toml(), False: default_gardener_toml()}


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_any_key_is_set_and_unset_in_the_file_that_init_writes(eol: str) -> None:
    for key in KEYS:
        text = DEFAULTS[key.file == CONFIG].replace("\n", eol)
        changed = with_value(text, key, key.default)
        section, _, name = key.name.partition(".")
        assert tomllib.loads(changed)[section] == {name: tomllib.loads(f"v = {toml_value(key.default)}")["v"]}
        assert len(set(changed.split("\n")) - set(text.split("\n"))) == 1, key.name
        assert with_value(changed, key, None) == text


PATH_MAX = KEY_BY_NAME["lint.path_max"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[lint]\npath_max = 90\n"),
        ("# none", "# none\n\n[lint]\npath_max = 90\n"),
        ("[search]\nlimit = 3\n", "[search]\nlimit = 3\n\n[lint]\npath_max = 90\n"),
        ("[lint] # rules\n[search]\n", "[lint] # rules\npath_max = 90\n[search]\n"),
        ("[lint]\npath_max = 80 # long\nname_max = 9\n", "[lint]\npath_max = 90 # long\nname_max = 9\n"),
        ("lint.path_max = 80\n", "lint.path_max = 90\n"),
        ("[lint]", "[lint]\npath_max = 90\n"),
        ("[ lint ]\nname_max = 9\n", "[ lint ]\nname_max = 9\npath_max = 90\n"),
        ('["lint"]\nname_max = 9\n', '["lint"]\nname_max = 9\npath_max = 90\n'),
        ("lint = {name_max = 9}\n", "lint = {name_max = 9,path_max = 90}\n"),
        (
            '[recap]\ntemplate = """\n[lint]\n"""\n',
            '[recap]\ntemplate = """\n[lint]\n"""\n\n[lint]\npath_max = 90\n',
        ),
    ],
)
def test_value_is_written_into_its_section(before: str, after: str) -> None:
    assert with_value(before, PATH_MAX, 90) == after


def test_value_of_several_lines_is_removed() -> None:
    text = '[lint]\nselect = [\n  "TM1", # one\n]\nignore = []\n'
    assert with_value(text, KEY_BY_NAME["lint.select"], None) == "[lint]\nignore = []\n"
    assert with_value(text, PATH_MAX, None) == text


def test_file_that_is_not_toml_is_reported() -> None:
    with pytest.raises(InvalidConfig, match=r"config\.toml is not valid TOML"):
        with_value("[lint\n", PATH_MAX, 90)


@pytest.mark.parametrize("text", ["lint = 3\n", "[[lint]]\nname_max = 9\n"])
def test_file_whose_section_is_no_table_is_left_alone(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"cannot change `lint\.path_max`"):
        with_value(text, PATH_MAX, 90)


_HEADINGS = st.sampled_from(
    [
        *(
            "[lint]\n",
            "[ lint ]\n",
            '["lint"]\n',
            "lint.name_max = 9\n",
            "lint = {name_max = 9}\n",
            "[[lint]]\n",
        ),
        *("[search]\n", "limit = 3\n", "path_max = 80\n", "# path_max = 2\n", "#path_max = 2\n", "\n"),
        'a = """\n[lint]\npath_max = 1\n"""\n',
    ]
)


@LAWS
@given(st.lists(_HEADINGS, max_size=5).map("".join))
def test_only_the_value_changes_or_the_file_is_left_alone(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        after = with_value(text, PATH_MAX, 90)
    except InvalidConfig:
        return
    lint = before.get("lint", {})
    assert tomllib.loads(after) == before | {"lint": lint | {"path_max": 90}}
    without = tomllib.loads(with_value(after, PATH_MAX, None))
    assert {"lint": {}} | without == {"lint": {}} | before | {
        "lint": {k: v for k, v in lint.items() if k != "path_max"}
    }


def test_file_that_is_not_text_is_left_alone(run: Callable[..., Done], repo: Path) -> None:
    run("init")
    file = repo / ".thunderus" / "config.toml"
    file.write_bytes(b"\xff\n")
    failed = run("config", "set", "context.budget", "100")
    assert (failed.code, "not UTF-8" in failed.err, file.read_bytes()) == (2, True, b"\xff\n")


def test_edit_saved_meanwhile_is_not_overwritten(
    repo: Path, run: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init")
    layout = Layout(str(repo))
    file = repo / ".thunderus" / "config.toml"

    def slow(text: str, key: Key, value: object) -> str:
        file.write_text("[search]\nlimit = 3\n")
        return with_value(text, key, value)

    monkeypatch.setattr(config_writer, "with_value", slow)
    with pytest.raises(Conflict):
        config_writer.set_key(layout, "context.budget", "100")
    assert file.read_text() == "[search]\nlimit = 3\n"


def test_config_set_and_unset(run: Callable[..., Done], repo: Path) -> None:
    run("init")
    file = repo / ".thunderus" / "config.toml"
    before = file.read_text()
    assert run("config", "set", "lint.severity", "TM301=note").code == 0
    assert run("config", "show", "lint.severity").out == 'lint.severity = { TM301 = "note" }  config.toml\n'
    again = run("config", "set", "lint.severity", "TM301=note")
    assert (again.code, again.err) == (0, "Nothing to change\n")
    assert run("config", "unset", "lint.severity").out == "lint.severity (default)  .thunderus/config.toml\n"
    assert file.read_text() == before
    wrong = run("config", "set", "lint.path_max", "5")
    assert (wrong.code, "lint.path_max must be an integer from 40" in wrong.err) == (2, True)
    assert run("config", "set", "lint.path_maxx", "5").code == 4
    assert run("config", "set", "caps.document_soft", "900").code == 0
    assert "document_soft = 900\n" in (repo / ".thunderus" / "memory" / "gardener.toml").read_text()
    (repo / ".thunderus" / "memory" / "gardener.toml").unlink()
    (repo / ".thunderus" / "memory" / "gardener.json").write_text("{}")
    assert "gardener.json" in run("config", "unset", "caps.document_soft").err
    assert file.read_text() == before
