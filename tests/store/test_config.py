"""Configuration: defaults, both files, the environment, and errors for invalid files."""

from __future__ import annotations

import inspect
import json
import os
import re
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROJECT
from thunderus_mem.errors import InvalidConfig
from thunderus_mem.store.config import Caps, Config, configured_caps
from thunderus_mem.store.config_keys import (
    CONFIG,
    GARDENER,
    KEY_BY_NAME,
    KEYS,
    config_schema,
    default_config_toml,
    default_gardener_toml,
    toml_value,
)
from thunderus_mem.store.config_reader import load, newer_version
from thunderus_mem.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    return Layout(str(tmp_path))


FIELDS = tuple(name for name in Config._fields if name not in ("origins", "retired"))
"""The setting of each key."""


def put(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def test_settings_and_keys_match() -> None:
    assert tuple(key.field for key in KEYS) == FIELDS


def test_every_setting_is_used() -> None:
    package = Path(PROJECT) / "thunderus_mem"
    config_modules = set((package / "store").glob("config*.py"))
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path not in config_modules
    )
    text += inspect.getsource(newer_version) + inspect.getsource(configured_caps)
    assert [name for name in FIELDS if not re.search(rf"\.{name}\b", text)] == []


def test_missing_files_give_defaults(layout: Layout) -> None:
    assert load(layout, {}) == Config()


def test_files_written_by_init_give_defaults(layout: Layout) -> None:
    put(layout.config_file, default_config_toml())
    put(layout.gardener_file, default_gardener_toml())
    assert load(layout, {}) == Config()


def test_uncommented_default_files_give_defaults(layout: Layout) -> None:
    for path, text in (
        (layout.config_file, default_config_toml()),
        (layout.gardener_file, default_gardener_toml()),
    ):
        lines = [
            line[1:] if line.startswith("#") and line[1:2] != " " else line for line in text.splitlines()
        ]
        put(path, "\n".join(lines))
    loaded = load(layout, {})
    assert {name: getattr(loaded, name) for name in FIELDS} == {
        name: getattr(Config(), name) for name in FIELDS
    }
    assert {loaded.origin(key.name) for key in KEYS} == {"file"}


def test_environment_overrides_file_and_origin_is_reported(layout: Layout) -> None:
    put(layout.config_file, "[search]\nlimit = 20\n[write]\nlock_timeout = 3\n")
    config = load(layout, {"THUNDERUS_MEM_SEARCH_LIMIT": "30", "THUNDERUS_MEM_EVENTS_ORIGIN": "no"})
    assert (config.search_limit, config.write_lock_timeout, config.events_origin) == (30, 3.0, False)
    assert [config.origin(name) for name in ("search.limit", "write.lock_timeout", "lint.select")] == [
        "environment",
        "file",
        "default",
    ]


def test_environment_can_set_lists_and_tables(layout: Layout) -> None:
    environ = {"THUNDERUS_MEM_LINT_IGNORE": "TM1, TM201", "THUNDERUS_MEM_LINT_SEVERITY": "TM301=note"}
    config = load(layout, environ)
    assert config.lint_ignore == ("TM1", "TM201")
    assert config.lint_severity == {"TM301": "note"}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[search]\nlimits = 3\n", "unknown key 'search.limits'", "search.limit"),
        ("[search]\nlimit = 0\n", "search.limit must be an integer from 1 to 1000", "0"),
        ("[search]\nlimit = true\n", "search.limit must be an integer", "True"),
        ("[events]\nprivate = ['patches']\n", "events.private must be a list of message", "patches"),
        (
            "[lint.severity]\nTM301 = 'loud'\n",
            "lint.severity.TM301 must be error, warning, note or off",
            "loud",
        ),
        ("[caps]\ncore_soft = 1\n", "belongs in gardener.toml", "gardener.toml"),
        ("search = 3\n", "unknown key 'search' in", ""),
        ("[search\nlimit = 3\n", "not valid TOML", "config schemas config"),
        (f"[search]\nlimit = {'9' * 5000}\n", "not valid TOML", "config schemas config"),
    ],
)
def test_invalid_file_is_reported_with_location_and_hint(
    layout: Layout, text: str, message: str, hint: str
) -> None:
    put(layout.config_file, text)
    with pytest.raises(InvalidConfig) as caught:
        load(layout, {})
    assert message in str(caught.value)
    assert hint in f"{caught.value}\n{caught.value.hint}"


def test_caps_per_kind_come_from_file_and_environment(layout: Layout) -> None:
    put(layout.gardener_file, "[caps]\ndocument_hard = 2500\nkinds = ['recap = 3000', ' playbook=1500 ']\n")
    config = load(layout, {})
    assert config.caps_kinds == ("recap = 3000", " playbook=1500 ")
    assert {kind: configured_caps(config, kind) for kind in ("core", "fact", "playbook", "recap")} == {
        "core": Caps(4000, 8000),
        "fact": Caps(2000, 2500),
        "playbook": Caps(1500, 2500),
        "recap": Caps(3000, 3000),
    }
    config = load(layout, {"THUNDERUS_MEM_CAPS_KINDS": "fact = 10, adr=20"})
    assert config.caps_kinds == ("fact = 10", "adr=20")
    assert configured_caps(config, "recap") == Caps(2000, 2500)
    assert configured_caps(config._replace(caps_document_hard=900), "recap") == Caps(900, 900)


WRONG_CAPS = [
    ("['recpa = 3000']", "'recpa = 3000' has an unknown kind", "did you mean recap?"),
    ("['Fact = 3000']", "'Fact = 3000' has an unknown kind", "did you mean fact?"),
    ("['zzz = 3000']", "'zzz = 3000' has an unknown kind", "use one of: fact, adr, playbook, recap"),
    ("['core = 3000']", "'core = 3000' sets a cap for core documents", "caps.core_soft"),
    ("['']", "'' has an unknown kind", "use one of"),
    *(
        (
            f"['adr = 9', 'recap = {tokens}']",
            f"'recap = {tokens}' needs an integer",
            "recap = 3000",
        )
        for tokens in ("0", "000", "-3", "2.5", "many", "", "1_000", "٣", "1" * 10)
    ),
    ("['recap 3000']", "'recap 3000' has an unknown kind", "did you mean recap?"),
    ("['recap']", "'recap' needs an integer", '"recap = 3000"'),
    (f"['fact = {'9' * 5000}']", "needs an integer from 1 to 999,999,999", "fact = 3000"),
    ("['adr = 5', 'adr = 6']", "'adr = 6' repeats a kind", "keep one"),
    ("[3000]", 'must be a list of "kind = tokens"', "[3000]"),
    ("{ recap = 3000 }", 'must be a list of "kind = tokens"', "{'recap': 3000}"),
    ("'recap = 3000'", 'must be a list of "kind = tokens"', "recap = 3000"),
]


@pytest.mark.parametrize(("value", "message", "hint"), WRONG_CAPS)
def test_invalid_cap_of_a_kind_is_reported_with_file_and_key(
    layout: Layout, value: str, message: str, hint: str
) -> None:
    put(layout.gardener_file, f"[caps]\nkinds = {value}\n")
    with pytest.raises(InvalidConfig) as caught:
        load(layout, {})
    assert str(caught.value).startswith(f"{layout.gardener_file}: caps.kinds")
    assert message in str(caught.value)
    assert hint in f"{caught.value}\n{caught.value.hint}"
    assert len(str(caught.value)) < len(layout.gardener_file) + 200


def test_caps_of_a_later_version_are_ignored(layout: Layout) -> None:
    put(layout.gardener_file, "[store]\nversion = 99\n[caps]\nkinds = ['dream = 5']\ncore_soft = 7\n")
    assert load(layout, {}) == Config(caps_core_soft=7, origins=(("caps.core_soft", "file"),))


@pytest.mark.parametrize("data", [b"\xff\xfe", b"# x\n" + b"a" * (1 << 20), b"x = " + b"[" * 5000])
def test_invalid_bytes_are_rejected(layout: Layout, data: bytes) -> None:
    Path(layout.config_file).write_bytes(data)
    with pytest.raises(InvalidConfig):
        load(layout, {})


def test_pipe_in_place_of_the_file_does_not_hang(layout: Layout) -> None:
    os.mkfifo(layout.config_file)
    assert load(layout, {}) == Config()


@pytest.mark.parametrize("name", [CONFIG, GARDENER])
def test_schema_accepts_the_defaults_and_rejects_unknown_keys(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = config_schema(name)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    data: dict[str, Any] = {}
    for key in (key for key in KEYS if key.file == name):
        head, _, rest = key.name.partition(".")
        data.setdefault(head, {})[rest] = tomllib.loads(f"x = {toml_value(key.default)}")["x"]
    assert list(validator.iter_errors(data)) == []
    data["surprise"] = 1
    assert list(validator.iter_errors(data)) != []


def test_schema_and_reader_agree_on_caps_of_kinds(layout: Layout) -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(config_schema(GARDENER))
    right = ["['recap = 3000', 'playbook=2500']", "[' fact =  007 ']", "[]"]
    twice = "['adr = 5', 'adr = 6']"  # a pattern sees one text at a time
    for value in (*right, *(value for value, _, _ in WRONG_CAPS if value != twice)):
        text = f"[caps]\nkinds = {value}\n"
        assert validator.is_valid(tomllib.loads(text)) == (value in right), value
    for value in right:
        put(layout.gardener_file, f"[caps]\nkinds = {value}\n")
        assert load(layout, {}).origin("caps.kinds") == "file"


def test_retired_keys_are_accepted_without_effect(layout: Layout) -> None:
    from jsonschema import Draft202012Validator

    text = "[consolidate]\nkeywords = ['chose']\nmax_per_session = 0\n"
    put(layout.gardener_file, text)
    assert load(layout, {}) == Config(retired=("consolidate.keywords", "consolidate.max_per_session"))
    assert Draft202012Validator(config_schema(GARDENER)).is_valid(tomllib.loads(text))
    put(layout.gardener_file, "[consolidate]\nother = 1\n")
    with pytest.raises(InvalidConfig, match=r"consolidate\.other"):
        load(layout, {})


GARDENER_JSON = ".thunderus/memory/gardener.json"


def as_json(layout: Layout, text: str) -> None:
    put(layout.gardener_json_file, text)


def test_gardener_json_is_read_like_gardener_toml(layout: Layout) -> None:
    settings = {
        "caps": {"core_soft": 100, "kinds": ["recap = 3000"]},
        "kinds": {"allowed": ["core", "fact"]},
        "tags": {"aliases": {"testing": "tests"}},
        "hygiene": {"dedup_strategy": "KeepNewest"},
    }
    as_json(layout, json.dumps(settings))
    found = load(layout, {})
    os.unlink(layout.gardener_json_file)
    put(
        layout.gardener_file,
        '[caps]\ncore_soft = 100\nkinds = ["recap = 3000"]\n[kinds]\nallowed = ["core", "fact"]\n'
        '[tags.aliases]\ntesting = "tests"\n[hygiene]\ndedup_strategy = "KeepNewest"\n',
    )
    assert found == load(layout, {})
    assert (found.caps_core_soft, found.duplicates_strategy) == (100, "keep_newest")


@given(st.fixed_dictionaries({}, optional={key.name: st.just(key.default) for key in KEYS}))
@settings(max_examples=50, deadline=None)
def test_json_and_toml_with_the_same_settings_are_equal(chosen: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        layout = Layout(folder)
        os.makedirs(layout.memory_dir)
        mine = {name: value for name, value in chosen.items() if KEY_BY_NAME[name].file == GARDENER}
        put(layout.gardener_file, "".join(f"{name} = {toml_value(value)}\n" for name, value in mine.items()))
        wanted = load(layout, {})
        os.unlink(layout.gardener_file)
        sections: dict[str, dict[str, Any]] = {}
        for name, value in mine.items():
            section, _, key = name.partition(".")
            sections.setdefault(section, {})[key] = dict(value) if hasattr(value, "items") else value
        as_json(layout, json.dumps(sections))
        assert load(layout, {}) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", f"{GARDENER_JSON} is not valid JSON"),
        ("", f"{GARDENER_JSON} is not valid JSON"),
        ("[]", f"{GARDENER_JSON} is not a JSON object"),
        ("[" * 100_000, f"{GARDENER_JSON} is not valid JSON"),
        ('{"caps": {"core_soft": NaN}}', f"{GARDENER_JSON} is not valid JSON"),
        ('{"caps": {"core_soft": 1, "core_soft": 2}}', "duplicate key 'core_soft'"),
        ('{"caps": {"core_sift": 1}}', "unknown key 'caps.core_sift'"),
        ('{"caps": {"core_soft": "much"}}', f"{GARDENER_JSON}: caps.core_soft must be"),
        ('{"search": {"limit": 3}}', "belongs in config.toml"),
        ("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n", f"{GARDENER_JSON} is not valid JSON"),
    ],
)
def test_wrong_gardener_json_is_reported(layout: Layout, text: str, message: str) -> None:
    as_json(layout, text)
    with pytest.raises(InvalidConfig) as caught:
        load(layout, {})
    assert message in str(caught.value).replace(layout.root + "/", "")
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", default_gardener_toml(), "[caps]\ncore_soft = 1\n"])
def test_two_gardener_files_are_an_error_that_names_both(layout: Layout, text: str) -> None:
    put(layout.gardener_file, text)
    as_json(layout, "{}")
    with pytest.raises(InvalidConfig) as caught:
        load(layout, {})
    assert layout.gardener_file in str(caught.value)
    assert layout.gardener_json_file in str(caught.value)


def test_init_keeps_gardener_json(repo: Path, run: Callable[..., Any]) -> None:
    (repo / ".thunderus/memory").mkdir(parents=True)
    (repo / GARDENER_JSON).write_text('{"caps": {"core_soft": 7}}')
    assert run("init").code == 0
    assert not (repo / ".thunderus/memory/gardener.toml").exists()
    assert run("config", "show", "caps.core_soft").out == "caps.core_soft = 7  gardener.json\n"
    assert run("config", "path").out.splitlines()[1] == str(repo / GARDENER_JSON)
    assert run("doctor").code == 0
    (repo / ".thunderus/memory/gardener.toml").write_text("")
    refused = run("search", "x")
    assert refused.code == 2
    assert "gardener.toml" in refused.err
    assert "gardener.json" in refused.err
    assert run("doctor").code == 1
