"""Import and export of records with a real store: idempotent, in batches, undone as one, resumed."""

from __future__ import annotations

import io
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.git_repository import Repository
from tests.support.tree_writer import Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring.anchor import confirm
from thunderus_mem.authoring.edit import DocumentEdits, edit, remove
from thunderus_mem.authoring.show import document_rows, list_documents
from thunderus_mem.errors import InvalidDocument, ThunderusError
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import undo
from thunderus_mem.index.questions import Filter
from thunderus_mem.interop import batches, formats, transfer
from thunderus_mem.interop.export import RecordExport
from thunderus_mem.interop.markdown import stored_documents
from thunderus_mem.interop.values import raw_hash
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory import transaction
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SHODH = formats.load("shodh")


def memories(count: int, **more: Any) -> list[dict[str, Any]]:
    found = [
        {
            "id": f"550e8400-e29b-41d4-a716-{number:012d}",
            "content": f"Memory {number} is about topic {number % 7}.",
            "type": "Decision" if number % 3 == 0 else "Learning",
            "tags": ["auth"],
            "created_at": "2024-12-30T10:00:00Z",
            **more,
        }
        for number in range(count)
    ]
    return [{**one, "content_hash": raw_hash(one["content"])} for one in found]


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    made = VerbTree(Repository(tmp_path / "tree", tmp_path / "home").init(), Clock())
    made.begin()
    return made


def load(tree: VerbTree, records: object, **options: Any) -> transfer.TransferReport:
    file = io.BytesIO(json.dumps(records).encode())
    return transfer.import_records(tree.memory(), SHODH, file, "m.json", transfer.ImportOptions(**options))


def counts(report: transfer.TransferReport) -> tuple[int, int, int, int, int]:
    skipped, refused = len(report.skipped), len(report.refused)
    return report.imported, report.updated, report.unchanged, skipped, refused


def import_events(tree: VerbTree) -> list[dict[str, Any]]:
    shards = (tree.root / ".thunderus" / "sessions").glob("*/events.jsonl")
    events = [json.loads(line) for shard in shards for line in shard.read_text("utf-8").splitlines()]
    return [event for event in events if event["body"].get("op") == "import"]


def documents(tree: VerbTree) -> dict[str, bytes]:
    found = (tree.root / ".thunderus" / "memory").rglob("*.md")
    return {str(path.relative_to(tree.root)): path.read_bytes() for path in found}


def export(tree: VerbTree) -> list[dict[str, Any]]:
    made = RecordExport(tree.memory(), SHODH, Filter())
    found: list[dict[str, Any]] = json.loads("".join(made.pieces()))["memories"]
    return found


def test_importing_again_changes_nothing_and_an_export_has_the_same_records(tree: VerbTree) -> None:
    given = memories(4)
    assert counts(load(tree, given)) == (4, 0, 0, 0, 0)
    before = documents(tree)
    again = load(tree, given)
    assert counts(again) == (0, 0, 4, 0, 0)
    assert (again.events, again.patch) == (0, "")
    assert documents(tree) == before
    assert sorted(export(tree), key=lambda one: one["id"]) == given


def test_the_last_record_of_an_id_updates_its_document_once(tree: VerbTree) -> None:
    kept, other = memories(2)
    first, second, third = ({**kept, "content": f"Text {number}.", "content_hash": None} for number in "123")
    given = [first, other, second, third]
    preview = load(tree, given, on_conflict="update", dry_run=True)
    report = load(tree, given, on_conflict="update")
    assert counts(preview) == counts(report) == (2, 0, 0, 2, 0)
    later = "record 3 has the same id, and comes later"
    assert [(one.number, one.id, one.reason) for one in report.skipped] == [
        (0, kept["id"], later),
        (2, kept["id"], later),
    ]
    before = documents(tree)
    assert sum(b"Text 3." in text for text in before.values()) == 1
    again = load(tree, given, on_conflict="update")
    assert (counts(again), again.events) == ((0, 0, 2, 2, 0), 0)
    assert documents(tree) == before


def test_the_last_record_of_a_text_updates_its_document_once(tree: VerbTree) -> None:
    form = formats.load("jsonl")
    lines = b'{"text": "One.", "tags": ["a"]}\n{"text": "One.", "tags": ["b"]}\n'
    options = transfer.ImportOptions(on_conflict="update")
    reports = [
        transfer.import_records(tree.memory(), form, io.BytesIO(lines), "x", options) for _ in range(2)
    ]
    assert [counts(one) for one in reports] == [(1, 0, 0, 1, 0), (0, 0, 1, 1, 0)]


def test_a_large_import_is_several_events_and_one_undo(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_DOCUMENTS", 3)
    before = documents(tree)
    report = load(tree, memories(7))
    events = import_events(tree)
    assert [len(event["body"]["changes"]) for event in events] == [3, 3, 1]
    assert {event["origin"]["import"] for event in events} == {report.import_id}
    assert {event["refs"]["patch_id"] for event in events} == {report.patch}
    undo(tree.memory())
    assert documents(tree) == before


def test_exported_documents_of_one_text_keep_their_own_ids(tree: VerbTree) -> None:
    tree.add("base")
    memory = tree.memory()
    copy = documents(tree)[".thunderus/memory/semantic/FACTS/base.md"].replace(b"fact.base", b"fact.copy")
    tree.repository.write(".thunderus/memory/semantic/FACTS/copy.md", copy.decode())
    given = [one for one in export(tree) if "base" in str(one) or "copy" in str(one)]
    for id in ("fact.base", "fact.copy"):
        remove(memory, id, why="to import them again")
    assert counts(load(tree, given)) == (2, 0, 0, 0, 0)
    assert {"fact.base", "fact.copy"} <= set(headers(tree))


def test_a_report_lists_as_many_documents_as_asked_for(tree: VerbTree) -> None:
    report = load(tree, memories(5), listed=2)
    assert (report.imported, len(report.documents)) == (5, 2)


def test_a_write_of_very_many_files_is_indexed_without_their_list(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_DOCUMENTS", 3)
    monkeypatch.setattr(transaction, "_MOST_LISTED", 4)
    memory, file = tree.memory(), io.BytesIO(json.dumps(memories(8)).encode())
    transfer.import_records(memory, SHODH, file, "m.json", transfer.ImportOptions())
    assert memory.index.count() == 9
    assert not memory.refresh().changed


def test_an_interrupted_import_resumes_and_is_still_one_undo(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_DOCUMENTS", 3)
    before, given = documents(tree), memories(8)

    original = transfer._Planner._import

    def interrupted(self: transfer._Planner, index: int, *rest: Any) -> None:
        if index == 7:
            raise KeyboardInterrupt
        original(self, index, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(transfer._Planner, "_import", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load(tree, given)
    assert len(import_events(tree)) == 2
    tree.add("between")
    resumed = load(tree, given)
    assert counts(resumed) == (2, 0, 6, 0, 0)
    assert len({event["refs"]["patch_id"] for event in import_events(tree)}) == 1
    undo(tree.memory())
    left = {path for path in documents(tree) if path not in before}
    assert left == {".thunderus/memory/semantic/FACTS/between.md"}


def test_an_import_that_was_interrupted_at_its_end_can_be_undone(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = documents(tree)

    def interrupted(path: str, *, expecting: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(batches, "remove_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load(tree, memories(2))
    resumed = load(tree, memories(2))
    assert counts(resumed) == (0, 0, 2, 0, 0)
    undo(tree.memory(), UndoChoice(resumed.patch))
    assert documents(tree) == before


def test_an_interrupted_update_is_still_one_undo(tree: VerbTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "MOST_DOCUMENTS", 2)
    load(tree, memories(3))
    before = documents(tree)
    given = [{**one, "type": "Error"} for one in memories(3)]

    original = transfer._Planner._import

    def interrupted(self: transfer._Planner, index: int, *rest: Any) -> None:
        if index == 2:
            raise KeyboardInterrupt
        original(self, index, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(transfer._Planner, "_import", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load(tree, given, on_conflict="update")
    resumed = load(tree, given, on_conflict="update")
    assert counts(resumed) == (0, 1, 2, 0, 0)
    undo(tree.memory(), UndoChoice(resumed.patch))
    assert documents(tree) == before


def test_repeating_a_finished_import_is_undone_alone(tree: VerbTree) -> None:
    given = memories(3)
    load(tree, given)
    before = documents(tree)
    removed = next(path for path, data in before.items() if given[1]["id"].encode() in data)
    (tree.root / removed).unlink()
    again = load(tree, given)
    assert counts(again) == (1, 0, 2, 0, 0)
    undo(tree.memory(), UndoChoice(again.patch))
    assert documents(tree).keys() == before.keys() - {removed}


def test_documents_that_another_process_wrote_before_the_lock_are_known(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = transfer.open_transaction

    def late(*given: Any) -> Any:
        monkeypatch.setattr(transfer, "open_transaction", original)
        load(tree, memories(2))
        return original(*given)

    monkeypatch.setattr(transfer, "open_transaction", late)
    assert counts(load(tree, memories(3))) == (1, 0, 2, 0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_import_goes_on_when_it_is_repeated(tree: VerbTree) -> None:
    given = memories(8)
    child = os.fork()
    if not child:
        try:
            _kill_at_document(3)
            load(tree, given)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 137
    assert sum(counts(load(tree, given))[::2]) == 8
    assert counts(load(tree, given)) == (0, 0, 8, 0, 0)


def _kill_at_document(number: int) -> None:
    """Make this process die when it is about to publish that document."""
    published = itertools.count(1)

    def wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*given: Any, **more: Any) -> Any:
            document = any(isinstance(one, str) and one.endswith(".md") for one in given)
            if document and next(published) == number:
                os._exit(137)
            return original(*given, **more)

        return operation

    disk.rename, disk.link = wrapped(disk.rename), wrapped(disk.link)  # type: ignore[assignment]


def test_bad_records_are_reported_and_the_others_imported(tree: VerbTree) -> None:
    secret = f"the token is {TOKEN}"
    mark = find_secrets(secret)[0].fingerprint
    suppressed = f"{secret} <!-- thunderus-mem: ignore TM401 {mark} made up -->"
    given = [*memories(2), {"id": "x", "content": " "}, 5, {"content": secret}, {"content": suppressed}]
    report = load(tree, given)
    assert counts(report) == (2, 0, 0, 0, 4)
    assert [one.number for one in report.refused] == [2, 3, 4, 5]
    assert all("secret" in one.reason for one in report.refused[2:])
    assert TOKEN not in repr(report)


@pytest.mark.parametrize(
    "extension",
    [
        {"(edges)": ["Read this first.\n", "\n"]},
        {"(edges)": 5},
        {"(body)": 5},
        {"absent": [["x"]]},
        {"absent": ["(body)"]},
        {"kind": "zzz"},
        {"kind": []},
        {"tags": 5},
        {"title": 5},
        {"created": 5},
        {"metadata": "x"},
    ],
    ids=str,
)
def test_an_extension_that_no_export_writes_is_refused(tree: VerbTree, extension: dict[str, Any]) -> None:
    bad, good = memories(2)
    report = load(tree, [{**bad, "metadata": {"thunderus_mem": extension}}, good])
    assert counts(report) == (1, 0, 0, 0, 1)
    assert "is not what an export writes" in report.refused[0].reason


def test_an_extension_cannot_say_that_a_document_was_verified(tree: VerbTree) -> None:
    state = {"last_verified_commit": None, "status": "verified"}
    load(tree, memories(1, metadata={"thunderus_mem": {"verification": state}}))
    assert {one.status for one in tree.memory().index.documents(Filter())} == {"unknown"}


def extended(**extension: Any) -> list[dict[str, Any]]:
    return memories(1, metadata={"thunderus_mem": extension})


def headers(tree: VerbTree) -> dict[str, dict[str, Any]]:
    """The frontmatter of the documents, by id."""
    return {one.id: one.data() for one in stored_documents(tree.memory())}


def foreign_claims(commit: str, event: str) -> list[dict[str, Any]]:
    """Records that say they have a past here, in every place."""
    claim = {
        "provenance": {"events": [event], "patches": ["patch_1"], "commits": [commit]},
        "verification": {"last_verified_commit": commit, "status": "verified", "by": "user"},
    }
    named = {"id": "fact.base", "kind": "adr", "created": "2001-01-01T00:00:00Z"}
    metadata = [
        {**claim, **named},
        {"thunderus_mem": claim},
        {"thunderus_mem": {**claim, **named}},
        {"thunderus_mem": {"metadata": {**claim, **named}}},
    ]
    records = [one | {"metadata": more} for one, more in zip(memories(4), metadata, strict=True)]
    top = memories(5)[4] | claim | {"kind": "adr"}
    return [*records, top]


def test_a_foreign_provenance_or_verification_is_only_kept_for_the_export(tree: VerbTree) -> None:
    tree.repository.write("a.txt", "a")
    commit = tree.repository.commit("a", "a.txt")
    tree.add("base")
    event = tree.memory().log.read_all().events[-1].event.id
    before = headers(tree)
    given = foreign_claims(commit, event)
    report = load(tree, given)
    assert counts(report) == (5, 0, 0, 0, 0)
    made = {id: data for id, data in headers(tree).items() if id not in before}
    assert len(made) == 5
    for data in made.values():
        assert set(data["provenance"]["patches"]) == {report.patch}
        assert event not in data["provenance"]["events"]
        assert data["verification"]["status"] == "unknown"
    tree_records = {one["id"]: one for one in export(tree)}
    back = [tree_records[one["id"]] for one in given]
    for name in ("id", "created"):  # the record itself has others
        del given[2]["metadata"]["thunderus_mem"][name]
    given[3]["metadata"] = given[3]["metadata"]["thunderus_mem"]["metadata"]
    assert back == given
    assert counts(load(tree, back)) == (0, 0, 5, 0, 0)


def test_a_document_of_this_memory_comes_back_with_its_provenance_and_verification(tree: VerbTree) -> None:
    tree.repository.write("a.txt", "a")
    commit = tree.repository.commit("a", "a.txt")
    tree.add("base")
    confirm(tree.memory(), ["fact.base"])
    before, records = headers(tree)["fact.base"], export(tree)
    remove(tree.memory(), "fact.base", why="by mistake")
    report = load(tree, records)
    assert counts(report) == (1, 0, 0, 0, 0)
    back = headers(tree)["fact.base"]
    assert back["verification"] == before["verification"]
    assert back["verification"]["last_verified_commit"] == commit
    assert back["provenance"]["patches"] == [*before["provenance"]["patches"], report.patch]


def test_links_and_aliases_that_concern_other_documents_are_reported(tree: VerbTree) -> None:
    tree.add("deploy-rule")
    given = extended(links={"supersedes": ["fact.deploy-rule"]}, aliases=["core", "Own name"])
    for dry_run in (True, False):
        report = load(tree, given, dry_run=dry_run)
        assert counts(report) == (1, 0, 0, 0, 0)
        assert [one.text for one in report.notes] == [
            "supersedes fact.deploy-rule",
            "has the alias 'core', which names another document",
        ]


def test_an_anchor_outside_the_repository_is_refused(tree: VerbTree) -> None:
    (refused,) = load(tree, extended(anchors=[{"path": "/etc/passwd"}])).refused
    assert "outside the repository" in refused.reason


def test_an_extension_does_not_choose_the_document_to_update(tree: VerbTree) -> None:
    tree.add("deploy-rule")
    before = documents(tree)
    report = load(tree, extended(id="fact.deploy-rule"), on_conflict="update")
    assert counts(report) == (1, 0, 0, 0, 0)
    assert before.items() <= documents(tree).items()
    assert counts(load(tree, extended(id="fact.deploy-rule"), on_conflict="update")) == (0, 0, 1, 0, 0)


def test_a_record_that_is_nested_too_deeply_is_refused(tree: VerbTree) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = {"a": deep}
    assert counts(load(tree, memories(1, metadata=deep) + memories(2)[1:])) == (1, 0, 0, 0, 1)


def test_an_update_of_an_edited_document_is_noted(tree: VerbTree) -> None:
    report = load(tree, memories(1))
    id = report.documents[0].id
    later = [memories(1, content=f"It is about topic {number}.") for number in (8, 9)]
    edit(tree.memory(), id, DocumentEdits(body="Edited here."))
    report = load(tree, later[0], on_conflict="update", dry_run=True)
    assert report.notes == load(tree, later[0], on_conflict="update").notes
    assert [one.text for one in report.notes] == [
        f"{id} was edited here since it was imported; its text is in the log"
    ]
    assert load(tree, later[1], on_conflict="update").notes == ()


def test_a_dry_run_writes_nothing(tree: VerbTree) -> None:
    before = documents(tree)
    report = load(tree, memories(2), dry_run=True)
    assert counts(report) == (2, 0, 0, 0, 0)
    titles = ["Memory 0 is about topic 0.", "Memory 1 is about topic 1."]
    assert [(one.op, one.title) for one in report.documents] == [("import", title) for title in titles]
    assert (documents(tree), import_events(tree)) == (before, [])


def test_a_file_that_is_not_json_is_refused_before_anything_is_written(tree: VerbTree) -> None:
    broken = io.BytesIO(json.dumps(memories(2)).encode()[:-9])
    with pytest.raises(InvalidDocument, match="not valid JSON"):
        transfer.import_records(tree.memory(), SHODH, broken, "m.json", transfer.ImportOptions())
    assert import_events(tree) == []


def test_a_changed_record_is_skipped_updated_or_added(tree: VerbTree) -> None:
    load(tree, memories(1))
    changed = memories(1, content="It is about another topic.", quality_score=0.5)
    assert counts(load(tree, changed)) == (0, 0, 0, 1, 0)
    before = documents(tree)
    assert counts(load(tree, changed, on_conflict="update")) == (0, 1, 0, 0, 0)
    assert counts(load(tree, changed, on_conflict="update")) == (0, 0, 1, 0, 0)
    (exported,) = export(tree)
    assert exported.items() >= changed[0].items()
    undo(tree.memory())
    assert documents(tree) == before
    assert counts(load(tree, changed, on_conflict="new")) == (1, 0, 0, 0, 0)
    assert counts(load(tree, changed, on_conflict="new")) == (0, 0, 1, 0, 0)
    assert {one["content"] for one in export(tree)} == {memories(1)[0]["content"], changed[0]["content"]}
    (copy,) = [one for one in export(tree) if one["id"] != changed[0]["id"]]
    copy |= {"content": "It was changed there.", "content_hash": raw_hash("It was changed there.")}
    assert counts(load(tree, [copy], on_conflict="update")) == (0, 1, 0, 0, 0)
    assert {one["id"] for one in export(tree)} == {changed[0]["id"], copy["id"]}


@pytest.mark.parametrize("name", ["jsonl", "nova", "mcp-memory-service"])
def test_a_changed_record_without_times_updates_the_document(tree: VerbTree, name: str) -> None:
    form = formats.load(name)
    text = {row.ours: row.theirs for row in form.table.fields}["(body)"]

    def given(body: str) -> io.BytesIO:
        record = json.dumps({form.table.identity: "c1", text: body})
        lists = {"nova": '{"items": [%s]}', "mcp-memory-service": '{"export_metadata": {}, "memories": [%s]}'}
        return io.BytesIO((lists.get(name, "%s") % record).encode())

    options = transfer.ImportOptions(on_conflict="update")
    transfer.import_records(tree.memory(), form, given("One text."), "f", options)
    report = transfer.import_records(tree.memory(), form, given("Another text."), "f", options)
    assert (counts(report), report.refused) == ((0, 1, 0, 0, 0), ())


@pytest.mark.parametrize("value", ['"\\ud83d"', "NaN", "-Infinity"])
def test_a_value_that_json_cannot_hold_is_refused(tree: VerbTree, value: str) -> None:
    odd = f'{{"id": "a", "text": "One.", "metadata": {{"x": {value}}}}}'
    lines = odd + '\n{"id": "b", "text": "\\ud83d\\ude00"}\n'
    form = formats.load("jsonl")
    file = io.BytesIO(lines.encode())
    report = transfer.import_records(tree.memory(), form, file, "f", transfer.ImportOptions())
    assert counts(report) == (1, 0, 0, 0, 1)


def test_an_update_keeps_what_was_changed_here(tree: VerbTree) -> None:
    load(tree, memories(1))
    id = "adr.memory-0-is-about-topic-0"
    edit(tree.memory(), id, DocumentEdits({"title": "Own title", "author": "Ada"}))
    load(tree, memories(1, content="New text."), on_conflict="update")
    text = next(data for path, data in documents(tree).items() if "memory-0" in path).decode()
    assert "title: Own title" in text
    assert "author: Ada" in text
    assert "New text." in text


def test_our_own_documents_come_back_unchanged_into_this_store_and_a_new_one(
    tree: VerbTree, tmp_path: Path
) -> None:
    tree.add("base", "One.\n---\nTwo.\n")
    edit(tree.memory(), "fact.base", DocumentEdits({"author": "Ada", "quality_score": "0"}))
    records = export(tree)
    assert counts(load(tree, records)) == (0, 0, 1, 0, 0)
    bare = [{key: value for key, value in one.items() if key != "metadata"} for one in records]
    assert counts(load(tree, bare)) == (0, 0, 1, 0, 0)  # found by its UUID
    other = VerbTree(Repository(tmp_path / "other", tmp_path / "home").init(), Clock(), seed=2)
    other.begin()
    assert counts(load(other, records)) == (1, 0, 0, 0, 0)
    (back,) = export(other)
    event, patch = (back["metadata"]["thunderus_mem"]["provenance"][key] for key in ("events", "patches"))
    assert (len(event), len(patch)) == (2, 2)
    del event[1], patch[1]
    assert [back] == records


def test_options_of_the_command_line(tree: VerbTree) -> None:
    report = load(tree, memories(1), kind="fact", tags=("moved",), mapping=(("metadata.team", "author"),))
    assert counts(report) == (1, 0, 0, 0, 0)
    given = memories(1, id="b", content="Mapped.", metadata={"team": "core"})
    load(tree, given, mapping=(("metadata.team", "author"),), tags=("moved",))
    texts = [data.decode() for path, data in documents(tree).items() if "CORE" not in path]
    assert all("- moved\n" in text for text in texts)
    assert any("author: core\n" in text for text in texts)
    assert any(one.get("metadata", {}).get("team") == "core" for one in export(tree))
    for options in ({"kind": "x"}, {"on_conflict": "x"}, {"mapping": (("a", "id"),)}):
        with pytest.raises(ThunderusError):
            load(tree, [], **options)


def test_an_imported_store_has_no_findings(tree: VerbTree) -> None:
    load(tree, memories(4, metadata={"project": "x", "depth": {"a": {"b": {"c": {"d": 1}}}}}))
    assert lint(tree.memory()).errors + lint(tree.memory()).warnings == 0


def test_the_commands(run: Callable[..., Done], tmp_path: Path) -> None:
    run("init")
    (tmp_path / "m.json").write_text(json.dumps(memories(2)), encoding="utf-8")
    planned = run("import", "shodh", "m.json", "--dry-run")
    assert "import adr.memory-0-is-about-topic-0  Memory 0 is about topic 0.\n" in planned.out
    assert "2 records would be imported" in planned.err
    done = run("import", "shodh", "-", stdin=(tmp_path / "m.json").read_bytes())
    assert (done.code, done.err.partition("\n")[0]) == (0, "2 records imported")
    assert run("export", "shodh", "--kind", "adr", "-o", "out.json").code == 0
    assert [one["type"] for one in json.loads((tmp_path / "out.json").read_bytes())["memories"]] == [
        "Decision"
    ]
    whole = run("export", "shodh", "--json")
    assert (whole.json["exported"], whole.json["skipped"][0]["id"]) == (2, "core")
    assert "skip   core: nothing filled in\n" in run("export", "shodh").err
    assert run("validate", "shodh", "out.json").code == 0
    (tmp_path / "bad.json").write_text(json.dumps([{"id": "x", "content": "a", "type": "Xyz"}]), "utf-8")
    bad = run("validate", "shodh", "bad.json")
    assert (bad.code, bad.err) == (1, "1 record, 3 problems\n")
    assert ["shodh", "import", "export"] in [line.split()[:3] for line in run("formats").out.splitlines()]
    assert "embedding" in run("formats", "shodh").out
    shipped = json.loads((Path(transfer.__file__).parent / "shodh.schema.json").read_bytes())
    assert json.loads(run("formats", "shodh", "--schema").out) == shipped
    assert run("formats", "--schema").code == 2
    (tmp_path / "bad.json").write_text(json.dumps([5] * 25), "utf-8")
    listed = run("import", "shodh", "bad.json").out.splitlines()
    assert (len(listed), listed[-1]) == (4, "refuse 22 more for the same reason; --json lists them all")
    assert run("import", "x", "m.json").code == run("export", "markdown").code == 2
    assert run("import", "markdown", ".").code == run("validate", "markdown", "x").code == 2
    assert run("import", "shodh", os.devnull).code == 2
    assert "import markdown . --kind fact" in run("import", "shodh", ".").err
    (tmp_path / "notes").mkdir()
    assert "import markdown notes --kind fact" in run("import", "notes").err
    assert "missing argument 'PATH'" in run("import", "shodh").err
    assert "the file is one JSON value" in run("import", "jsonl", "bad.json").err
    many = "\n".join(json.dumps({"text": f"Text {number}."}) for number in range(25))
    ran = run("import", "jsonl", "-", stdin=many.encode())
    assert ran.out.splitlines()[20:] == ["and 5 more; --json lists them all"]


def test_long_values_of_a_file_are_not_printed_whole(run: Callable[..., Done], tmp_path: Path) -> None:
    filler = "x" * 9_000
    lines = [
        {"id": filler, "text": 5},
        {"id": "a", "text": "One.", filler: 1},
        {"id": "b", "text": "Two.", "kind": filler},
    ]
    run("init")
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for command in (["validate", "jsonl", "m.jsonl"], ["import", "jsonl", "m.jsonl"]):
        ran = run(*command)
        assert (ran.code, len(ran.out + ran.err) < 800) == (1, True)


def test_an_export_has_the_order_of_the_list(tree: VerbTree) -> None:
    parts = [{"episode_id": "e", "sequence_number": 9 - number} for number in range(5)]
    load(tree, [one | part for one, part in zip(memories(5), parts, strict=True)])
    for wanted in (Filter(), Filter(episode="e"), Filter(kinds=("adr",))):
        listed = [(one.id, one.path) for one in list_documents(tree.memory(), wanted).documents]
        rows = document_rows(tree.memory(), wanted)
        found = tree.memory().index.summaries(rows=rows)
        assert [(found[row].id, found[row].path) for row in rows] == listed
        assert len(listed) > 1
