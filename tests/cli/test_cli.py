"""The command line: usage, streams, exit codes, crashes, interrupts; in real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import sealed_environment
from thunderus_mem import __version__
from thunderus_mem.cli.group import load_command
from thunderus_mem.cli.table import BY_NAME, COMMANDS, FIRST_PAGE, REMOVED, SYNONYMS, VALUES, meant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    return tmp_path


def test_version_as_text_and_json(run: Run) -> None:
    assert run("--version").out == f"thunderus-mem {__version__}\n"
    for arguments in (("--version", "--json"), ("--json", "--version")):
        answer = run(*arguments).json
        assert answer["schema"] == "thunderus-mem.version/2"
        assert answer["version"] == __version__


def test_help_lists_every_command_on_stdout(run: Run) -> None:
    for arguments in (("--all",), ("--help", "--all"), ("--all", "-h")):
        ran = run(*arguments)
        assert (ran.code, ran.err) == (0, "")
        for entry in COMMANDS:
            assert (f"  {entry.name} " in ran.out) is not entry.hidden


def test_first_help_page_has_few_commands(run: Run) -> None:
    first = [entry.name for entry in COMMANDS if entry.section in FIRST_PAGE]
    assert len(first) <= 15
    for arguments in ((), ("--help",), ("-h",)):
        ran = run(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert len(ran.out.splitlines()) <= 30
        assert re.findall(r"^  ([a-z]+)  +[A-Z]", ran.out, re.MULTILINE) == first
        assert "--help --all" in ran.out


@pytest.mark.parametrize(("words", "new"), REMOVED.items())
def test_removed_names_are_answered_with_the_new_one(run: Run, words: str, new: str) -> None:
    ran = run(*(["undo"] if words.startswith("--") else []), *words.split())
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {words!r} is now `{new}`\n")


def test_new_names_exist() -> None:
    for old, new in REMOVED.items():
        if old.startswith("-"):
            continue  # an option of several commands
        path = old.split() if new.startswith("-") else new.split()
        command = load_command(BY_NAME[path[0]])
        subcommand = getattr(command, "commands", {}).get(path[1]) if len(path) > 1 else None
        options = {name for one in (subcommand or command).params for name in one.opts}
        assert old not in BY_NAME
        assert {word for word in new.split() if word.startswith("-")} <= options, new


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_in_the_table_loads_and_has_help(entry: object) -> None:
    from thunderus_mem.cli.table import CommandEntry
    from thunderus_mem.interop.formats import NAMES

    assert isinstance(entry, CommandEntry)
    command = load_command(entry)
    assert command.name == entry.name
    assert command.help
    parts = {*getattr(command, "commands", {}), *(parameter.name for parameter in command.params)}
    parts |= {name.lstrip("-").replace("-", "_") for parameter in command.params for name in parameter.opts}
    parts |= {*NAMES} if entry.name == "import" else set()  # values of its argument
    below = {name.split()[1] for name in VALUES if name.startswith(f"{entry.name} ")}
    assert below <= parts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("search", "--kind", "adr", "x"), "kind:…"),
        (("search", "x", "--since=2026"), "since:…"),
        (("edit", "core", "--title", "x"), "--set title="),
        (("list", "--nope"), "thunderus-mem list --help"),
    ],
)
def test_commonly_tried_options_get_a_hint(run: Run, words: tuple[str, ...], said: str) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert said in ran.err.partition("hint:")[2]


def test_unknown_command_suggests_the_nearest(run: Run) -> None:
    ran = run("serch", "words")
    assert (ran.code, ran.out) == (2, "")
    assert "unknown command 'serch'; did you mean 'search'?" in ran.err
    assert "unknown command 'nonsense'\n" in run("nonsense").err


@pytest.mark.parametrize(
    ("word", "command"),
    [
        *[
            ("delete", "remove"),
            ("rm", "remove"),
            ("approve", "review approve"),
            ("proposals", "review list"),
        ],
        *[("history", "log"), ("find", "search"), ("new", "add"), ("open", "show"), ("help", "--help")],
        *[("lnit", "lint"), ("statsu", "status"), ("grpc", ""), ("remvoe", ""), ("move", "rename")],
    ],
)
def test_other_words_for_a_command_lead_to_it(word: str, command: str) -> None:
    assert meant(word) == command


def test_every_other_word_names_an_existing_command() -> None:
    assert not SYNONYMS.keys() & BY_NAME.keys()
    for command in SYNONYMS.values():
        first, _, second = command.partition(" ")
        assert first == "--help" or not second or second in load_command(BY_NAME[first]).commands  # type: ignore[attr-defined]


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet="remov-dlt", max_size=12) | st.text(max_size=12))
def test_no_other_word_suggests_a_command_that_removes(word: str) -> None:
    assert meant(word) != "remove" or word in ("delete", "rm")


def test_help_of_a_group_has_whole_descriptions_and_the_first_page_names_export(run: Run) -> None:
    shown = " ".join(run("hooks", "--help").out.split())
    assert "lints staged documents before a commit; an existing hook" in shown
    assert "..." not in shown.partition("Commands:")[2]
    assert "export" in run("--help").out


def test_near_duplicate_of_one_word_names_no_share(repo: Path, run: Run) -> None:
    run("init")
    for title, shown in (("One", ""), ("Two", "Near-duplicate of fact.one (the same words)")):
        assert shown in run("add", "fact", title, "--tag", "x", "--body", "Redis!").err


def test_usage_error_exits_with_2_and_points_to_help(run: Run) -> None:
    ran = run("remove")
    assert ran.code == 2
    assert "thunderus-mem remove --help" in ran.err
    assert "hint:  pass -m WHY: the reason, recorded in the log\n" in run("remove", "core").err
    assert run("config", "show", "--nonsense").code == 2
    assert run("--color", "loud", "config", "show").code == 2


def test_missing_store_suggests_init(run: Run) -> None:
    ran = run("config", "show")
    assert (ran.code, ran.out) == (4, "")
    assert "thunderus-mem init" in ran.err


def test_error_with_json_is_an_object_on_stderr(run: Run) -> None:
    for arguments in (("--json", "config", "show"), ("config", "show", "--json")):
        ran = run(*arguments)
        failure = json.loads(ran.err)
        assert ran.out == ""
        assert (ran.code, failure["code"], failure["error"]) == (4, 4, "NoStore")
        assert failure["schema"] == "thunderus-mem.error/2"


def test_json_is_accepted_before_or_after_the_command(run: Run, store: Path) -> None:
    before, after = run("--json", "config", "show"), run("config", "show", "--json")
    assert before.out == after.out
    assert before.json["schema"] == "thunderus-mem.config-show/2"
    assert before.json["root"] == str(store)


def test_config_shows_the_origin_of_each_value(run: Run, store: Path) -> None:
    (store / ".thunderus" / "config.toml").write_text("[search]\nlimit = 3\n")
    ran = run("config", "show", "search", env={"THUNDERUS_MEM_LINT_PATH_MAX": "90"})
    assert ran.out == "search.limit = 3  config.toml\n"
    ran = run("config", "show", "lint.path_max", env={"THUNDERUS_MEM_LINT_PATH_MAX": "90"})
    assert ran.out == "lint.path_max = 90  THUNDERUS_MEM_LINT_PATH_MAX\n"


def test_unknown_setting_suggests_the_nearest(run: Run, store: Path) -> None:
    ran = run("config", "show", "serch.limit")
    assert ran.code == 4
    assert "did you mean 'search.limit'?" in ran.err


def test_store_is_found_from_a_subfolder_and_with_c(run: Run, store: Path, tmp_path: Path) -> None:
    below = store / "src" / "deep"
    below.mkdir(parents=True)
    expected = run("config", "path").out
    assert run("config", "path", cwd=below).out == expected
    assert run("-C", str(below), "config", "path", cwd=tmp_path.parent).out == expected


def test_schemas_print_as_json(run: Run) -> None:
    for name in run("config", "schemas").out.split():
        if name != "memory_store":
            printed = json.loads(run("config", "schemas", name).out)
            draft = "draft-07/schema#" if name.startswith("memoryos/") else "draft/2020-12/schema"
            assert printed["$schema"].endswith(f"://json-schema.org/{draft}")
    assert run("config", "schemas", "nothing").code == 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(run: Run, shell: str) -> None:
    assert "--complete" in run("completion", shell).out
    assert run("completion", env={"SHELL": f"/bin/{shell}"}).out == run("completion", shell).out


def test_completion_offers_commands_subcommands_and_options(run: Run) -> None:
    assert run("--complete", "sea").out.startswith("search\t")
    assert [line.split("\t")[0] for line in run("--complete", "index", "re").out.splitlines()] == [
        "refresh",
        "rebuild",
    ]
    assert run("--complete", "config", "sc").out.startswith("schemas\t")
    assert run("--complete", "undo", "").out == ""
    assert run("--complete", "garden", "").out == ""
    assert "--dry-run\t" in run("--complete", "add", "fact", "--dr").out
    assert run("--complete", "add", "pl").out == "playbook\t\n"
    assert run("--complete", "-C", "/tmp", "stat").out.startswith("status\t")


def test_completion_prints_no_errors(run: Run) -> None:
    for words in ((), ("show", "x"), ("nothing", "--x"), ("-C",), ("show", "\x1b")):
        assert run("--complete", *words).err == ""


def test_bash_loads_the_completion_script(run: Run, sealed: Path) -> None:
    script = run("completion", "bash").out + (
        "COMP_WORDS=(thunderus-mem sta); COMP_CWORD=1\n"
        f'thunderus-mem() {{ {sys.executable} -m thunderus_mem "$@"; }}\n'
        "_thunderus_mem; echo ${COMPREPLY[@]}\n"
    )
    done = subprocess.run(
        ["bash", "-c", script], env=sealed_environment(sealed), capture_output=True, text=True, check=True
    )
    assert done.stdout == "status\n"


def test_closed_pipe_is_not_an_error(store: Path, sealed: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m thunderus_mem config show | true"],
        cwd=store,
        env=sealed_environment(sealed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_on_output_is_reported(store: Path, sealed: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "thunderus_mem", "config", "show"],
            cwd=store,
            env=sealed_environment(sealed),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert "cannot write the output" in done.stderr


BROKEN = """
import sys
import thunderus_mem.cli.commands.store as settings
def broken(*_):
    {body}
settings._settings = broken
sys.argv = ["thunderus-mem", "config", "show", "search"]
from thunderus_mem.__main__ import main
main()
"""


def broken_command(store: Path, home: Path, body: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BROKEN.format(body=body)],
        cwd=store,
        env=sealed_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_internal_error_exits_with_70_and_writes_a_report(store: Path, sealed: Path) -> None:
    process = broken_command(store, sealed, "raise KeyError('a secret word')")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (70, "")
    assert "Traceback" not in err
    (report,) = (store / ".thunderus" / "local" / "crashes").iterdir()
    assert str(report) in err
    text = report.read_text()
    assert "KeyError" in text
    assert "in broken" in text
    assert "a secret word" not in text


@pytest.mark.parametrize(
    "body",
    [
        "bytearray(1 << 62)",
        "raise OSError(12, 'Cannot allocate memory')",
        "raise ImportError('a.so: failed to map segment from shared object')",
        "raise SystemError('error return without exception set')",
    ],
)
def test_out_of_memory_is_not_reported_as_a_bug(store: Path, sealed: Path, body: str) -> None:
    process = broken_command(store, sealed, body)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (4, "")
    message, hint = err.splitlines()
    assert message.startswith("error: ")
    assert message.endswith("out of memory")
    assert hint == "hint:  free some memory, or raise its limit (`ulimit -v`), then run the command again"
    assert not (store / ".thunderus" / "local" / "crashes").exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_interrupt_exits_quietly(store: Path, sealed: Path, number: signal.Signals, code: int) -> None:
    process = broken_command(
        store, sealed, "sys.stdout.write('ready\\n'); sys.stdout.flush(); import time; time.sleep(30)"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err


def test_color_follows_option_then_no_color_then_terminal(run: Run, store: Path) -> None:
    assert "\x1b[" not in run("config", "show").out
    assert "\x1b[1m" in run("--color", "always", "config", "show").out
    assert "\x1b[" in run("config", "show", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[" not in run("config", "show", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    assert "\x1b[" not in run("--color", "never", "config", "show", env={"FORCE_COLOR": "1"}).out


def test_escapes_in_output_are_made_visible(run: Run, store: Path) -> None:
    text = '[recap]\ntemplate = "a\\u001b[31mb\\u202ec"\n'
    (store / ".thunderus" / "memory" / "gardener.toml").write_text(text)
    out = run("--color", "always", "config", "show", "recap.template").out
    assert "\x1b[31m" not in out
    assert "\u202e" not in out
    assert "\u202e" not in run("config", "show", "--json").out


def test_global_options_are_accepted_after_the_command(run: Run, repo: Path) -> None:
    run("init")
    quiet = run("add", "fact", "One", "--tag", "x", "--body", "A text of its own.", "-q")
    assert (quiet.code, quiet.err) == (0, "")
    asked = run("add", "fact", "Two", "--tag", "x", "--no-input", "--json", stdin=b"")
    assert asked.code == 2
    assert "--body" in json.loads(asked.err)["hint"]
    assert run("list", "--quiet", "--json").json["documents"]


def test_quiet_init_prints_nothing(run: Run, repo: Path) -> None:
    quiet = run("-q", "init")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert (repo / ".thunderus" / "config.toml").is_file()
    assert run("-q", "init").out == ""
    assert run("init", "-q", "--json").json["kept"]


@pytest.mark.parametrize("word", ["refresh", "rebuild"])
def test_quiet_refresh_reports_only_unreadable_files(word: str, run: Run, repo: Path) -> None:
    run("init")
    assert run("index", word).out
    quiet = run("-q", "index", word)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert run("index", word, "-q", "--json").json["total"] == 1
    assert run("index", word, "-q", "--json").json["total"] == 1
    (repo / ".thunderus" / "memory" / "semantic" / "FACTS" / "bad.md").write_bytes(b"---\nid: [\n---\n")
    told = "warning: 1 invalid file; see: thunderus-mem lint\n"
    quiet = run("-q", "index", word)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", told)
    assert run("index", word).err.endswith(told)


def test_supersede_prints_both_documents(run: Run, repo: Path) -> None:
    run("init")
    for name in ("old", "new"):
        run("add", "fact", name, "--tag", "x", "--body", f"The {name} text.")
    done = run("supersede", "old", "new", "-m", "newer")
    assert (done.code, done.err) == (0, "Superseded fact.old by fact.new:\n")
    assert done.out.startswith("fact.new  ")
    assert "fact.old" not in done.out
    again = run("supersede", "old", "new", "-m", "newer")
    assert (again.code, again.err) == (0, "Nothing to change\n")


def test_log_lists_a_supersession_under_both_documents(run: Run, repo: Path) -> None:
    run("init")
    for name in ("old", "new"):
        run("add", "fact", name, "--tag", "x", "--body", f"The {name} text.")
    run("supersede", "old", "new", "-m", "newer")
    for id in ("fact.old", "fact.new"):
        last = run("--json", "log", id).json["events"][0]
        assert (last["op"], last["doc_ids"]) == ("supersede", ["fact.new", "fact.old"])
    run("undo")
    assert [one["op"] for one in run("--json", "log", "fact.old").json["events"]] == [
        "undo",
        "supersede",
        "add",
    ]


def test_list_omits_the_verdict_of_unanchored_documents(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "One", "--tag", "x", "--body", "A text of its own.")
    assert "fact.one  fact  2026-01-21  One\n" in run("list").out
    assert "verdict  unanchored" in run("show", "fact.one").out
    (repo / "notes.txt").write_text("one\n")
    run("add", "fact", "Two", "--tag", "x", "--body", "Another text.", "--anchor", "notes.txt")
    listed = run("list").out
    assert re.search(r"fact\.one +fact +2026-01-21 +One\n", listed)
    assert re.search(r"fact\.two +fact +2026-01-21 +verified +Two\n", listed)
    assert [doc["verdict"] for doc in run("list", "--json").json["documents"]] == [
        "unanchored",
        "unanchored",
        "verified",
    ]
    shown = run("show", "fact.two").out
    assert "\nverdict  verified (code unchanged since it was anchored; not confirmed)\n" in shown
    assert run("verify", "fact.two").code == 0
    assert "\nverdict  verified by a person\n" in run("show", "fact.two").out
    assert run("list", "verdict:unanchored", "--ids").out == "core\nfact.one\n"
    assert run("list", "status:unknown", "--ids").out == "core\nfact.one\n"
    run("archive", "fact.one")
    assert run("list", "verdict:archived", "--ids").out == "fact.one\n"


def test_non_utf8_file_name_is_reported_with_a_fix(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "One", "--tag", "x", "--body", "A text of its own.")
    facts = repo / ".thunderus" / "memory" / "semantic" / "FACTS"
    odd = os.fsencode(facts) + b"/caf\xe9.md"
    text = (facts / "one.md").read_bytes().replace(b"fact.one", b"fact.cafe")
    with open(odd, "wb") as file:
        file.write(text)
    found = run("lint")
    assert found.code == 1
    assert "caf\\xe9.md: error TM002 nul-or-binary: File name is not valid UTF-8" in found.out
    assert "mv .thunderus/memory/semantic/FACTS/caf?.md NEW-NAME" in found.out
    for words in (("status",), ("list",), ("doctor",), ("garden",), ("index", "rebuild"), ("lint", "--fix")):
        ran = run(*words)
        assert ran.code in (0, 1), ran.err
        assert "Traceback" not in ran.err
    with open(odd, "rb") as file:
        assert file.read() == text
    os.rename(odd, os.fsencode(facts / "cafe.md"))
    assert run("show", "fact.cafe").code == 0


def test_completion_offers_kinds_relations_and_rules(run: Run) -> None:
    def words(*typed: str) -> list[str]:
        return [line.partition("\t")[0] for line in run("--complete", *typed).out.splitlines()]

    assert words("import", "markdown", "docs", "--kind", "a") == ["adr"]
    assert words("add", "pl") == ["playbook"]
    assert words("link", "fact.a", "re") == ["refers_to"]
    assert words("lint", "--format", "s") == ["sarif"]
    assert words("add", "adr", "--state", "r") == ["rejected"]
    assert words("lint", "--explain", "tm20") == [
        "TM201",
        "TM202",
        "TM203",
        "TM204",
        "TM205",
        "TM206",
        "TM207",
        "TM208",
    ]


def test_error_messages_follow_the_house_style(run: Run, repo: Path) -> None:
    run("init")
    assert run("show", "nope").err.startswith("error: no document has the id 'nope'\nhint:  ")
    run("add", "fact", "One", "--tag", "x", "--body", "A text of its own.")
    taken = run("add", "fact", "One", "--tag", "x", "--body", "Another text.")
    assert taken.err.startswith(
        "error: 'fact.one' already exists in .thunderus/memory/semantic/FACTS/one.md\n"
    )


def test_tag_defaults_to_the_kind(run: Run, repo: Path) -> None:
    run("init")
    assert run("add", "fact", "One", "--body", "A text of its own.").code == 0
    assert run("show", "fact.one", "--json").json["tags"] == ["fact"]
    assert run("edit", "fact.one", "--remove-tag", "fact").code == 0
    assert run("show", "fact.one", "--json").json["tags"] == []
    assert run("lint").code == 0, "an empty list of tags is valid"


def test_unknown_field_is_reported_with_the_nearest_name(run: Run, repo: Path) -> None:
    run("init")
    added = run("add", "fact", "One", "--body", "A text of its own.", "--set", "autor=Me")
    assert "warning Unknown field `autor`\n    Did you mean `author`?" in added.err
    changed = run("edit", "fact.one", "--set", "tittle=Two", "--json").json
    assert [(one["severity"], one["key"]) for one in changed["warnings"]] == [("warning", "tittle")]
    assert "Unknown" not in run("edit", "fact.one", "--set", "tittle=Three").err, "reported when it is new"
    assert "note Unknown field `owner`" in run("edit", "fact.one", "--set", "owner=me").err
    known = ("--set", "metadata.owner=me", "--set", "author=Me", "--set", "session=s")
    assert "Unknown" not in run("edit", "fact.one", *known).err


def test_refusal_suggests_an_alternative(run: Run) -> None:
    assert "above" not in run("init").out
    run("add", "fact", "One", "--tag", "x", "--body", "A text of its own.")
    assert "use `rename` to change the id" in run("edit", "one", "--set", "id=fact.two").err
    token = "gh" + "p_" + "aB3dE5fG7h" * 3 + "J9kL1m"
    assert (
        "possible secret in body.text (github-token)"
        in run("events", "add", "--kind", "note", "--body", token).err
    )


def test_nested_memory_is_reported_where_it_matters(run: Run, repo: Path) -> None:
    inner = repo / "packages" / "a"
    below = inner / "src"
    below.mkdir(parents=True)
    assert run("init").code == 0
    assert f"note: this memory shadows the one in {repo}" in run("init", cwd=inner).out
    said = f"note: used the memory in {inner}; there is another in {repo}"
    add = ("add", "fact", "--tag", "t", "--body", "words")
    assert said in run(*add, "One", cwd=below).err
    assert said in run("search", "nothing", cwd=below).err
    for quiet in (("list",), ("search", "words"), ("lint",), ("show", "fact.one")):
        assert str(repo) not in run(*quiet, cwd=below).err
    assert said not in run(*add, "Two", cwd=inner).err, "whoever stands in its folder is not surprised"
    assert f"parent     {repo}\n" in run("status", cwd=below).out


def test_unreadable_document_is_not_reported_as_removed(tmp_path: Path, run: Run) -> None:
    run("init")
    run("add", "fact", "Port", "--tag", "net", "--body", "8080")
    path = ".thunderus/memory/semantic/FACTS/port.md"
    text = (tmp_path / path).read_text()
    (tmp_path / path).write_text(text.replace("kind: fact", "kind: [fact"))
    asked = run("show", "fact.port")
    assert (asked.code, "removed" in asked.err) == (4, False)
    assert f"thunderus-mem lint {path}" in asked.err
    (tmp_path / path).unlink()
    assert "was removed" in run("show", "fact.port").err


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("search x", "--path", "path:…"),
        ("list", "--verdict", "verdict:…"),
        ("list", "--run-id", "run_id:…"),
        ("export nova", "--category", "category:…"),
    ],
)
def test_option_with_the_name_of_a_filter_is_answered_with_the_filter(
    run: Run, command: str, option: str, hint: str
) -> None:
    ran = run(*command.split(), option, "x")
    assert (ran.code, f"hint:  use the filter `{hint}`" in ran.err) == (2, True)
