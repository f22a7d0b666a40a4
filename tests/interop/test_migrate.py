"""`migrate`: stores of older and looser shapes, kept as plain files in ``cases/migrate``, become today's.

``REWRITE_CASES=1`` writes what comes out into ``after``; look at the difference before you keep it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.log_findings import log_findings
from tests.support.undo_support import FACTS, Store
from thunderus_mem.authoring import add, init, show
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.diagnostic import Severity
from thunderus_mem.doctor import checks
from thunderus_mem.document.document import read_document
from thunderus_mem.document.schema import DOCUMENT, check
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.errors import NotWritable, Refused
from thunderus_mem.interop.migrate import (
    MIGRATIONS,
    MigrationReport,
    OlderDocument,
    convert_timestamp,
    kind_of_word,
    list_of_id,
    migrate,
    migrated,
    migrated_rules,
    status_of_word,
)
from thunderus_mem.lint import lint
from thunderus_mem.search.search import search
from thunderus_mem.store.config import FORMAT
from thunderus_mem.store.config_reader import load
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Server

CASES = Path(__file__).parent.parent / "cases" / "migrate"
NAMES = sorted(path.name for path in CASES.iterdir())
NOT_COMPARED = ("indexes", "local", "sessions", "schemas", ".staging", ".quarantine")


def files(root: Path) -> dict[str, bytes]:
    """Every file of the user: documents and the files next to them."""
    found = {}
    for path in (root / ".thunderus").rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not any(f"/{part}/" in name for part in NOT_COMPARED) and "/.lock" not in name:
            found[name] = path.read_bytes()
    return found


def put(case: str, root: Path) -> Store:
    """The store of a case, in ``root``."""
    shutil.copytree(CASES / case / "before", root, dirs_exist_ok=True)
    return Store(root)


def run(store: Store, **options: bool) -> MigrationReport:
    return migrate(store.memory(), **options)


@pytest.mark.parametrize("case", NAMES)
def test_old_store_is_migrated_and_restored_by_undo(case: str, tmp_path: Path) -> None:
    store = put(case, tmp_path)
    before = files(tmp_path)
    shown = run(store)
    assert files(tmp_path) == before
    assert (shown.version, shown.present, shown.due, shown.applied) == (0, FORMAT, True, False)
    done = run(store, apply=True)
    assert [one[:3] for one in done.changes] == [one[:3] for one in shown.changes]
    assert (done.left, done.files, done.applied) == (shown.left, shown.files, True)
    after = files(tmp_path)
    made = {name for name in done.files if name not in before}
    _compare(case, {name: data for name, data in after.items() if name not in made})
    again = run(store)
    assert not again.due
    assert again.version == FORMAT
    assert run(store, apply=True).changes == ()
    assert files(tmp_path) == after
    errors = [
        one for one in lint.lint(store.memory()).diagnostics
        if one.severity is Severity.ERROR and one.path not in {left.path for left in done.left}
    ]  # fmt: skip
    assert errors == []
    store.undo()
    assert {name: data for name, data in files(tmp_path).items() if name not in made} == before
    store.undo(redo=True)
    assert files(tmp_path) == after


def _compare(case: str, after: dict[str, bytes]) -> None:
    wanted = CASES / case / "after"
    if os.environ.get("REWRITE_CASES") == "1":
        shutil.rmtree(wanted, ignore_errors=True)
        for name, data in after.items():
            (wanted / name).parent.mkdir(parents=True, exist_ok=True)
            (wanted / name).write_bytes(data)
    assert after == files(wanted)


@pytest.mark.parametrize("case", NAMES)
def test_old_store_is_readable(case: str, tmp_path: Path) -> None:
    store = put(case, tmp_path)
    before = files(tmp_path)
    memory = store.memory()
    read = [path for path in before if path.endswith(".md") and kind_of(path)]
    listed = show.list_documents(memory).documents
    assert len(listed) >= len(read) - 1 - sum(b"\nid:" not in before[path] for path in read)
    for row in listed:
        assert search(store.memory(), row.title.split()[0]).hits is not None
        assert show.show(store.memory(), row.id).text.encode() == before[row.path]
    assert checks.doctor(store.memory()).checks
    assert files(tmp_path) == before


def test_old_log_is_a_prefix_of_the_new_log(tmp_path: Path) -> None:
    store = put("seed-minimal", tmp_path)
    legacy = (tmp_path / ".thunderus" / "events.jsonl").read_bytes()
    run(store, apply=True)
    assert (tmp_path / ".thunderus" / "events.jsonl").read_bytes() == legacy
    assert store.ops()[-1] == "migrate"
    assert [one.severity for one in log_findings(store.memory().log)] == [Severity.NOTE]


# --- the steps ---------------------------------------------------------------------------------------

SHAPES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["fact.a", "", "null"]),
        "title": st.sampled_from(["A title", '"quoted: title"', "", "on"]),
        "kind": st.sampled_from(["fact", "Fact", "decision", "odd", ""]),
        "tags": st.sampled_from(["a, b", "[a, on]", "[]", "one two", "", "{x: 1}", "\n  - 2025\n  - x"]),
        "created": st.sampled_from(["2026-01-21", "2026-01-21T09:00:00Z", "2026-01-21 9:00", "soon", ""]),
        "updated": st.sampled_from(["2026-01-22", '"2026-01-22T09:00:00+01:00"', ""]),
        "provenance": st.sampled_from(
            [
                "",
                "[evt_1, patch_2, 0a1b2c3]",
                "evt_1",
                "by hand",
                "\n  events: evt_1",
                "\nevents: [evt_1]\npatches: []",
            ]
        ),
        "verification": st.sampled_from(
            ["", "verified", "yes", "[x]", "\n  status: fresh", "\nlast_verified_commit: 12e4567\nstatus: no"]
        ),
        "links": st.sampled_from(["fact.b", "[fact.b, fact.c]", "\n  supersedes: fact.b", "{}", ""]),
        "extra": st.sampled_from(["no  # mine", "{a: 012}", "'it''s'", "[~, 1:30]"]),
    },
)
ENDS = st.sampled_from(["\n", "\r\n"])


def text_of(shape: dict[str, str], ends: str, mark: str) -> str:
    lines = [f"{key}:{'' if value.startswith(chr(10)) else ' '}{value}" for key, value in shape.items()]
    text = "---\n" + "\n".join([*lines, "# a remark", "x-y: 'kept'  # so"]) + "\n---\n\nBody  text.\n\n  End"
    return mark + text.replace("\n", ends)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(SHAPES, ENDS, st.sampled_from(["", "\ufeff"]))
def test_every_old_shape_is_read_and_migrated_once(shape: dict[str, str], ends: str, mark: str) -> None:
    source = OlderDocument(f"{FACTS}/a-b.md", "fact", text_of(shape, ends, mark))
    text, steps = migrated(source)
    assert migrated(source._replace(text=text)) == (text, ())
    assert (text != source.text) is bool(steps)
    after = source._replace(text=text)
    assert after.body == source.body
    assert text.startswith(mark)
    assert text.count("\r\n") == (text.count("\n") if ends == "\r\n" else 0)
    assert f"{ends}# a remark{ends}" in text
    assert f"{ends}x-y: 'kept'  # so{ends}" in text
    document = read_document(source.path, text.encode()).document
    assert document is not None
    if not {"odd", "soon", "by hand", "[x]", "{x: 1}"} & set(shape.values()):
        violations = [one.message for one in check(DOCUMENT, document.data())]
        assert [one for one in violations if "created" not in one and "updated" not in one] == []
    for name in ("id", "title"):
        given_text = shape.get(name, "").strip("\"'")
        if given_text not in ("", "null"):
            assert getattr(document, name) == given_text


def test_blank_lines_before_the_frontmatter_are_removed() -> None:
    text = "\ufeff\r\n  \r\n---\r\nid: fact.a\r\n---\r\nBody\r\n"
    after, steps = migrated(OlderDocument("a.md", "fact", text))
    assert after.startswith("\ufeff---\r\nid: fact.a\r\n")
    assert steps[0] == "header-first"
    for other in ("", "\n\nNo frontmatter.\n", "\n---\nnever closed", "\n---\n---\n", "---\nid: [a\n---\n"):
        assert migrated(OlderDocument("a.md", "fact", other)) == (other, ())


@pytest.mark.parametrize(
    ("name", "kind", "id"),
    [
        ("fact_testing_coverage", "fact", "fact.testing.coverage"),
        ("testing.coverage", "fact", "fact.testing.coverage"),
        ("fact.testing", "fact", "fact.testing"),
        ("ADR-0007-use-jwt", "adr", "adr.use-jwt"),
        ("ADR-0007", "adr", "adr.0007"),
        ("CORE", "core", "core"),
        ("2026-01-21", "recap", "recap.2026-01-21"),
    ],
)
def test_id_comes_from_the_file_name(name: str, kind: str, id: str) -> None:
    text, _ = migrated(OlderDocument(f"x/{name}.md", kind, "---\ntitle: T\n---\n"))
    assert f"\nid: {id}\n" in text


@pytest.mark.parametrize(
    ("older", "present"),
    [
        ("2026-01-21", "2026-01-21T00:00:00Z"),
        ("2026-01-21 9:05", "2026-01-21T09:05:00Z"),
        ("2026-01-21T09:05:06", "2026-01-21T09:05:06Z"),
        ("2026-01-21 09:05:06.25 +0200", "2026-01-21T09:05:06.25+02:00"),
        ("2026-01-21 09:05:06 +02", "2026-01-21T09:05:06+02:00"),
        ("2026-01-21 09:05 UTC", "2026-01-21T09:05:00Z"),
        ("2026-01-21T09:05:06Z", "2026-01-21T09:05:06Z"),
        ("2026-02-30", ""),
        ("21.1.2026", ""),
        ("2026-01-21 25:00", ""),
        ("", ""),
    ],
)
def test_older_times_are_converted(older: str, present: str) -> None:
    assert convert_timestamp(older) == present
    assert not present or parse_timestamp(present) is not None


def test_older_values_are_converted() -> None:
    assert [kind_of_word(word, "adr") for word in ("Decision", "semantic", "", "odd", "Runbook")] == [
        *("adr", "adr", "adr", "odd", "playbook")
    ]
    assert [status_of_word(word) for word in ("Yes", "outdated", "none", "perhaps")] == [
        *("verified", "stale", "unknown", "")
    ]
    ids = ("evt_1", "2026-01-21T09-00-00Z_3", "patch_a", "mem_000", "0a1b2c3", "somebody")
    assert [list_of_id(id) for id in ids] == ["events", "events", "patches", "patches", "commits", ""]


def test_every_step_has_a_description() -> None:
    assert len({step.name for step in MIGRATIONS}) == len(MIGRATIONS)
    assert all(step.page.endswith(".") for step in MIGRATIONS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[caps]\ncore_soft = 3\n",
        "hygiene = { core_soft_limit = 3 }\n",
        "hygiene.core_soft_limit = 3\n",
        "[hygiene]\ncore_soft_limit = [\n  3,\n]\n",
        "[hygiene]\ncore_soft_limit = 3\n[caps]\ncore_soft = 4\n",
        "not toml",
    ],
)
def test_rules_that_cannot_be_rewritten_are_kept(text: str) -> None:
    assert migrated_rules(text) == text


def test_rewritten_rules_have_the_same_meaning(tmp_path: Path) -> None:
    store = put("thunderus", tmp_path)
    layout = store.memory().layout
    config = load(layout, {})
    assert (config.caps_core_soft, config.duplicates_strategy, config.recap_max_files) == (
        *(3000, "keep_newest"),
        12,
    )
    run(store, apply=True)
    assert load(layout, {})._replace(origins=()) == config._replace(origins=())
    crlf = "[hygiene]\r\ncore_soft_limit = 3 # so"
    assert migrated_rules(crlf) == "[caps]\r\ncore_soft = 3 # so\r\n"


# --- manual steps ------------------------------------------------------------------------------------


def test_manual_steps_are_reported_and_not_done(tmp_path: Path) -> None:
    store = put("missing-keys", tmp_path)
    store.put("secret.md", "---\ntitle: S\n---\ntoken gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\n")
    store.put("labels.zpl.md", "---\ntitle: Another\n---\nText.\n")
    store.put(".thunderus/memory/core/CORE.local.md", "---\ntitle: Mine\n---\nText.\n")
    store.put("a.b.md", "---\nid: fact.b\ntitle: B\n---\nText.\n")
    store.put("b.md", "---\ntitle: B\n---\nText.\n")
    left = {one.path.rpartition("/")[2]: one.reason for one in run(store, apply=True).left}
    assert sorted(left) == ["CORE.local.md", "b.md", "labels.zpl.md", "plain.md", "secret.md"]
    assert "possible secret" in left["secret.md"]
    assert "no frontmatter" in left["plain.md"]
    assert "file already exists" in left["labels.zpl.md"]
    assert "personal" in left["CORE.local.md"]
    assert left["b.md"] == "has no id, and 'fact.b' is taken; choose one"


def test_document_without_dates_gets_those_of_git(repo: Path, tmp_path: Path) -> None:
    import subprocess

    store = put("missing-keys", repo)
    path = store.put(".thunderus/memory/CORE.md", "---\ntitle: Core\n---\nText.\n")
    for words in (["add", "-A"], ["commit", "-qm", "Begin"]):
        dates = {"GIT_AUTHOR_DATE": "2026-01-21T09:00:00Z"}
        subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, env=os.environ | dates)
    run(store, apply=True)
    assert not path.exists()
    assert b'created: "2026-01-21T09:00:00Z"' in store.read(".thunderus/memory/core/CORE.md")


# --- newer stores ------------------------------------------------------------------------------------


@pytest.fixture
def newer(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    init.init(str(tmp_path), store.memory)
    add.add(store.memory(), NewDocument("fact", "Ports", body="It is 8080.", tags=("net",)))
    return store


def _schemas(store: Store) -> None:
    path = store.root / ".thunderus/schemas/memory_doc.frontmatter.schema.json"
    path.write_text(path.read_text().replace("memory-doc:1", "memory-doc:2"))


def _config(store: Store) -> None:
    text = "[store]\nversion = 2\nshape = 'new'\n[search]\nlimit = 'many'\n[write]\nlock_timeout = 3\n"
    (store.root / ".thunderus/config.toml").write_text(text)


@pytest.mark.parametrize("newer_by", [_schemas, _config])
def test_newer_store_is_read_and_never_written(newer: Store, newer_by: Callable[[Store], None]) -> None:
    newer_by(newer)
    before = files(newer.root), newer.shards()
    writes: list[Callable[[], object]] = [
        lambda: add.add(newer.memory(), NewDocument("fact", "Hosts", body="One.", tags=("net",))),
        lambda: run(newer),
        lambda: run(newer, apply=True),
        lambda: newer.undo(),
        lambda: init.init(str(newer.root), newer.memory),
    ]
    for write in writes:
        with pytest.raises(Refused, match="has format version 2, this program can only write version 1"):
            write()
    assert (files(newer.root), newer.shards()) == before
    assert show.show(newer.memory(), "fact.ports").body.strip() == "It is 8080."
    assert search(newer.memory(), "8080").hits[0].id == "fact.ports"
    (formats,) = (one for one in checks.doctor(newer.memory()).checks if one.name == "formats")
    assert (formats.state, formats.hint) == ("warning", "upgrade thunderus-mem to write")


def test_schemas_have_the_version_of_this_program(newer: Store) -> None:
    from thunderus_mem.store.config_reader import version_of_schemas

    assert version_of_schemas(newer.memory().layout) == FORMAT
    assert not run(newer).due


# --- the command -------------------------------------------------------------------------------------


def test_command_plans_and_migrates(tmp_path: Path, server: Server) -> None:
    put("yaml-1-1", tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        done = server.run(*words, cwd=str(tmp_path))
        return done.code, done.out, done.err

    code, out, err = call("migrate")
    assert code == 0
    assert "-tags: [on, 3.10, ci, no]" in out
    assert '+tags: ["on", "3.10", ci, "no"]' in out
    assert "Next: thunderus-mem migrate --apply" in err
    code, out, _ = call("migrate", "--check")
    assert (code, "-tags" in out, "quotes" in out) == (1, False, True)
    done = server.run("--json", "migrate", cwd=str(tmp_path)).json
    assert done["schema"] == "thunderus-mem.migrate/2"
    assert (done["version"], done["present"], done["applied"]) == (0, FORMAT, False)
    code, _, err = call("migrate", "--apply")
    assert code == 0
    assert "thunderus-mem undo" in err
    assert call("migrate", "--check")[0] == 0
    assert call("migrate")[2] == f"Already up to date (version {FORMAT})\n"
    assert call("migrate", "--apply", "--check")[0] == 2


def test_unreadable_folder_is_reported_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from thunderus_mem.index import scan

    store = put("yaml-1-1", tmp_path)
    before = files(tmp_path)
    looked = scan._list_folder

    def shut(root: str, folder: str, *found: list[object]) -> list[str]:
        if folder.endswith("FACTS"):
            raise PermissionError(13, "Permission denied")
        return looked(root, folder, *found)  # type: ignore[arg-type]

    monkeypatch.setattr(scan, "_list_folder", shut)
    for apply in (False, True):
        with pytest.raises(NotWritable, match=r"cannot read the folder .*FACTS"):
            run(store, apply=apply)
    monkeypatch.undo()
    assert files(tmp_path) == before
    assert run(store, apply=True).applied
