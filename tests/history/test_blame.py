"""Blame: every line has the event or commit that wrote it, whatever git does to the file."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repository import Repository
from tests.support.random_history import NOBODY, PATH, RandomHistory
from tests.support.tree_writer import FACTS, Clock, Writer
from tests.support.verb_tree import VerbTree, begun
from thunderus_mem.authoring import edit
from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.git.repository import Git
from thunderus_mem.history.blame import BlameReport, BlameSource, blame
from thunderus_mem.history.blame import blame_lines as blamed
from thunderus_mem.history.replay import replay_check
from thunderus_mem.log.event import Change
from thunderus_mem.log.reader import EventLog
from thunderus_mem.log.transitions import past_of
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from pathlib import Path

    from thunderus_mem.log.shard import LoggedEvent

# Characters of three bytes: too long a diff to log, but not too long a document to read.
SHORT, LONG, THIRD = (
    "".join(f"{number} of {many} lines {'漢' * 55}.\n" for number in range(100))
    for many in ("many", "other", "third")
)


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    made = begun(tmp_path / "tree")
    made.save("Begin")
    return made


@pytest.fixture
def plain(tmp_path: Path) -> VerbTree:
    """A store outside git."""
    return begun(tmp_path / "plain", git=False)


def sources_of(tree: VerbTree, id: str = "fact.base") -> dict[str, BlameSource]:
    """Text of a line → its source."""
    report = blame(tree.memory(), id)
    sources = {source.id: source for source in report.sources}
    return {line.text: sources[line.source] for line in report.lines}


def older(report: BlameReport) -> list[str]:
    return [line.text for line in report.lines if not line.exact]


def by_hand(tree: VerbTree, old: str, new: str, path: str = PATH) -> None:
    target = tree.root / path
    text = target.read_bytes().decode()
    assert old in text
    target.write_bytes(text.replace(old, new).encode())


@pytest.mark.parametrize("seed", range(8))
def test_lines_of_a_random_history_have_correct_sources(seed: int, tmp_path: Path) -> None:
    history = RandomHistory(tmp_path, seed)
    history.live(18)
    tree = history.tree
    document = read_document(PATH, (tree.root / PATH).read_bytes()).document
    assert document is not None
    events = [logged.event for logged in tree.reader.read_all().events]
    found = blamed(document, past_of(document, events), Git.find(str(tree.root), tree.repository.env))
    names = {
        "event": lambda owner: owner.id,
        "commit": lambda owner: found.commits[owner.id].subject,
        "unrecorded": lambda owner: NOBODY,
    }
    lines = document.text.split("\n")[:-1]
    assert len(lines) == len(found.owners)
    there = {*tree.git("log", "--format=%s").split("\n"), *tree.events(), NOBODY}
    for line, owner in zip(lines, found.owners, strict=True):
        writer = history.writers.get(line, "")
        if writer in there:
            assert names[owner.kind](owner) == writer, line
        elif writer:  # a squashed hand edit: the next commit owns the line
            assert names[owner.kind](owner) == "Squash" or not owner.exact


def test_lines_have_events_with_actor_author_session_and_time(tree: VerbTree) -> None:
    created = tree.add("base", "One.\nTwo.\n")
    tree.save("Add base")
    edited = tree.edit("base", "Two.", "Three.")
    sources = sources_of(tree)
    assert sources["One."].id == created
    three = sources["Three."]
    assert (three.id, three.kind, three.op, three.actor, three.author) == (
        edited, "event", "edit", "user", "Ann Author",
    )  # fmt: skip
    assert three.session_id.startswith("sess_")
    assert three.ts > sources["One."].ts
    assert sources["id: fact.base"].id == created


def test_hand_edits_are_unrecorded_until_committed_or_logged(tree: VerbTree) -> None:
    tree.add("base", "One.\nTwo.\n")
    tree.save("Add base")
    by_hand(tree, "Two.", "By hand.")
    assert sources_of(tree)["By hand."].kind == "unrecorded"
    sha = tree.save("Correct it")
    mine = sources_of(tree)["By hand."]
    assert (mine.kind, mine.id, mine.author, mine.why) == ("commit", sha, "Ann Author", "Correct it")
    event = tree.edit_by_hand("base", "One.", "Recorded.")
    sources = sources_of(tree)
    assert (sources["Recorded."].id, sources["By hand."].id) == (event, sha)


def test_hand_edit_and_events_in_one_commit_are_separate(tree: VerbTree) -> None:
    tree.add("base", "One.\n")
    tree.save("Add base")
    event = tree.edit("base", "One.\n", "One.\nBy the tool.\n\n- and more\n")
    by_hand(tree, "One.\n", "One.\nBy hand.\n")
    sha = tree.save("Both")
    sources = sources_of(tree)
    assert (sources["By the tool."].id, sources["- and more"].id, sources["By hand."].id) == (
        event,
        event,
        sha,
    )


def test_git_revert_owns_the_lines_it_restored(tree: VerbTree) -> None:
    created = tree.add("base", "One.\nTwo.\n")
    tree.save("Add base")
    tree.edit("base", "Two.", "Changed.")
    tree.save("Change")
    tree.git("revert", "--no-edit", "HEAD")
    sources = sources_of(tree)
    assert (sources["One."].id, sources["Two."].kind) == (created, "commit")
    assert sources["Two."].why == 'Revert "Change"'


def test_merge_owns_only_the_lines_it_created(tree: VerbTree) -> None:
    tree.add("base", "".join(f"Line {number}.\n" for number in range(12)))
    tree.save("Add base")
    tree.git("switch", "-q", "-c", "topic")
    theirs = Writer.edit(tree, "base", "Line 0.", "Theirs.")
    Writer.edit(tree, "base", "Line 6.", "Theirs too.")
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    ours = Writer.edit(tree, "base", "Line 11.", "Ours.")
    Writer.edit(tree, "base", "Line 6.", "Ours too.")
    tree.save("Ours")
    assert tree.repository.try_git("merge", "-q", "topic").returncode == 1
    text = [line for line in tree.text("base").split("\n") if not line.startswith(("<<<<", "====", ">>>>"))]
    joined = "\n".join(line for line in text if line != "Theirs too.").replace("Ours too.", "Joined.")
    (tree.root / PATH).write_bytes(joined.encode())
    sha = tree.save("Merge")
    sources = sources_of(tree)
    assert (sources["Theirs."].id, sources["Ours."].id, sources["Joined."].id) == (theirs, ours, sha)


def test_rename_by_the_tool_is_followed(tree: VerbTree) -> None:
    created = tree.add("base", "One.\n")
    tree.save("Add base")
    memory, text, path = tree.memory(), tree.text("base"), f"{FACTS}/moved.md"
    with open_transaction(memory, "rename") as transaction:
        transaction.commit(
            "rename",
            [
                FileChange("fact.base", PATH, text, None, renames=True),
                FileChange("fact.base", path, None, text, renames=True),
            ],
        )
    assert {source.id for source in sources_of(tree).values()} == {created}
    tree.save("Move")
    by_hand(tree, "One.\n", "One.\nTwo.\n", path)
    sources = sources_of(tree)
    assert (sources["One."].id, sources["Two."].kind) == (created, "unrecorded")


def test_id_change_by_the_tool_is_followed(tree: VerbTree) -> None:
    created = tree.add("base", "One.\n")
    tree.save("Add base")
    memory, text, path = tree.memory(), tree.text("base"), f"{FACTS}/other.md"
    renamed = text.replace("id: fact.base\n", "id: fact.other\n").replace(
        "created:", "aliases:\n  - fact.base\ncreated:"
    )
    with open_transaction(memory, "rename") as transaction:
        event = transaction.commit(
            "rename",
            [
                FileChange("fact.base", PATH, text, None, renames=True),
                FileChange("fact.other", path, None, renamed, renames=True),
            ],
        )
    for subject in ("Rename", ""):
        sources = sources_of(tree, "fact.other")
        assert (sources["One."].id, sources["id: fact.other"].id) == (created, event)
        if subject:
            tree.save(subject)


@pytest.mark.parametrize("recorded", [True, False])
def test_file_moved_by_hand_is_followed_by_its_id(tree: VerbTree, recorded: bool) -> None:
    created = tree.add("base", "One.\n")
    tree.save("Add base")
    (tree.root / PATH).rename(tree.root / FACTS / "moved.md")
    by_hand(tree, "One.\n", "One.\nTwo.\n", f"{FACTS}/moved.md")
    if recorded:
        with open_transaction(tree.memory(), "look"):
            pass
    sources = sources_of(tree)
    assert (sources["One."].id, sources["Two."].kind) == (created, "event" if recorded else "unrecorded")
    tree.save("Move")
    sources = sources_of(tree)
    assert (sources["One."].id, sources["Two."].kind) == (created, "event" if recorded else "commit")


def test_git_renames_are_followed_without_a_log(tree: VerbTree) -> None:
    text = "---\nid: fact.base\ntitle: base\nkind: fact\ntags: [a]\n---\n" + "".join(
        f"Line {number}.\n" for number in range(20)
    )
    tree.repository.write(f"{FACTS}/first.md", text)
    first = tree.save("First")
    for number in range(3):
        old, new = ("first", "second", "third", "base")[number : number + 2]
        tree.git("mv", f"{FACTS}/{old}.md", f"{FACTS}/{new}.md")
        by_hand(tree, f"Line {number}.", f"Changed {number}.", f"{FACTS}/{new}.md")
        last = tree.save(f"Move to {new}")
    sources = sources_of(tree)
    assert (sources["Line 9."].id, sources["Changed 2."].id) == (first, last)
    assert sources["Changed 0."].why == "Move to second"


def test_git_rename_is_not_followed_to_another_document(tree: VerbTree) -> None:
    head = "---\nid: fact.{}\ntitle: base\nkind: fact\ntags: [a]\n---\n"
    body = "".join(f"Line {number}.\n" for number in range(20))
    tree.repository.write(f"{FACTS}/old.md", head.format("old") + body)
    tree.save("Old")
    tree.git("rm", "-q", f"{FACTS}/old.md")
    tree.repository.write(PATH, head.format("base") + body)
    sha = tree.save("New")
    assert {source.id for source in sources_of(tree).values()} == {sha}


def test_unlogged_long_text_is_read_from_git(tree: VerbTree) -> None:
    created = tree.add("base", SHORT)
    tree.save("Add base")
    long = tree.edit("base", SHORT, LONG)
    tree.save("Long")
    last = tree.edit("base", "\n7 of other lines", "\nThe last of the lines")
    sources = sources_of(tree)
    other, changed = (f"{words} lines {'漢' * 55}." for words in ("8 of other", "The last of the"))
    assert (sources["base is so."].id, sources[other].id, sources[changed].id) == (created, long, last)
    assert older(blame(tree.memory(), "fact.base")) == []


def test_lines_of_an_unlogged_uncommitted_text_may_be_older(plain: VerbTree) -> None:
    plain.add("base", SHORT)
    long = plain.edit("base", SHORT, LONG)
    last = plain.edit("base", LONG, THIRD)
    report = blame(plain.memory(), "fact.base")
    sources = {line.text: line.source for line in report.lines}
    assert long not in sources.values()
    third = [line for line in THIRD.split("\n") if line]
    assert {sources[line] for line in third} == {last}
    assert set(third) <= set(older(report))
    assert "base is so." not in older(report)


def test_lines_from_before_a_lost_shard_may_be_older(plain: VerbTree) -> None:
    plain.add("base", "One.\nTwo.\n")
    first = next(shard for shard in plain.reader.shards() if "sess_" in shard)
    plain._clock.moment = plain._clock.moment.replace(day=22)
    edited = plain.edit("base", "Two.", "Three.")
    shutil.rmtree((plain.root / first).parent)
    report = blame(plain.memory(), "fact.base")
    assert {line.source for line in report.lines} == {edited}
    assert "One." in older(report)
    assert "Three." not in older(report)


def test_lines_in_a_shallow_clone_may_be_older(tree: VerbTree, tmp_path: Path) -> None:
    tree.repository.write(PATH, "---\nid: fact.base\ntitle: b\nkind: fact\ntags: [a]\n---\nOne.\n")
    tree.save("By hand")
    by_hand(tree, "One.\n", "One.\nTwo.\n")
    sha = tree.save("More")
    tree.git("clone", "-q", "--depth", "1", f"file://{tree.root}", str(tmp_path / "copy"))
    copy = VerbTree(Repository(tmp_path / "copy", tmp_path / "home"), Clock())
    report = blame(copy.memory(), "fact.base")
    assert {line.source for line in report.lines} == {sha}
    assert older(report) == [line.text for line in report.lines]
    assert older(blame(tree.memory(), "fact.base")) == []


def test_windows_line_ends_are_no_change(tree: VerbTree) -> None:
    created = tree.add("base", "One.\nTwo.\n")
    tree.save("Add base")
    path = tree.root / PATH
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert {source.id for source in sources_of(tree).values()} == {created}
    by_hand(tree, "Two.\r\n", "Three.\r\n")
    sources = sources_of(tree)
    assert (sources["One."].id, sources["Three."].kind) == (created, "unrecorded")


def test_log_is_the_only_source_outside_git(plain: VerbTree) -> None:
    created = plain.add("base", "One.\nTwo.\n")
    edited = plain.edit("base", "Two.", "Three.")
    by_hand(plain, "One.\n", "One.\nBy hand.\n")
    sources = sources_of(plain)
    assert [sources[text].id for text in ("---", "One.", "Three.")] == [created, created, edited]
    assert sources["By hand."].kind == "unrecorded"


def test_document_added_again_has_new_sources(tree: VerbTree) -> None:
    tree.add("base", "One.\n")
    tree.save("Add base")
    edit.remove(tree.memory(), "fact.base", why="wrong")
    tree.save("Remove base")
    again = tree.add("base", "One.\n")
    tree.save("Add it again")
    assert {source.id for source in sources_of(tree).values()} == {again}


def test_aborted_change_owns_nothing(tree: VerbTree) -> None:
    created = tree.add("base", "One.\n")
    text = tree.text("base")
    lost = text.replace("One.", "Lost.")
    event = tree._patch("edit", tree._change("base", text, lost), (), tree._ids.new("evt"))
    tree._append(
        lambda common: _aborted(tree, event, common),
    )
    (tree.root / PATH).write_bytes(lost.encode())
    sources = sources_of(tree)
    assert (sources["id: fact.base"].id, sources["Lost."].kind) == (created, "unrecorded")


def _aborted(tree: VerbTree, event_id: str, common: dict[str, object]) -> object:
    from tests.support.events import patch_event

    return patch_event(
        id=tree._ids.new("evt"),
        patch_id=tree._ids.new("patch"),
        op="aborted",
        changes=[Change("aborted", "", PATH, "", "")],
        why=f"{event_id} found other text; ours is in x",
        **common,  # type: ignore[arg-type]
    )


def test_lines_of_a_merged_document_keep_their_event(tree: VerbTree) -> None:
    base = tree.add("base", "One.\n")
    twin = tree.add("twin", "Of the twin.\n")
    text, other = tree.text("base"), tree.text("twin")
    joined = text.replace("tags:", "aliases:\n  - fact.twin\ntags:") + "Of the twin.\nNew.\n"
    with open_transaction(tree.memory(), "garden") as transaction:
        event = transaction.commit(
            "garden",
            [
                FileChange("fact.base", PATH, text, joined),
                FileChange("fact.twin", f"{FACTS}/twin.md", other, None),
            ],
        )
    sources = sources_of(tree)
    assert [sources[line].id for line in ("One.", "Of the twin.", "New.")] == [base, twin, event]


def test_inconsistent_clocks_do_not_matter(plain: VerbTree) -> None:
    created = plain.add("base", "One.\nTwo.\n")
    for day in (25, 23, 24):
        plain._clock.moment = plain._clock.moment.replace(day=day)
        last = plain.edit("base", "Two.", f"Two.\nOn {day}.")
    sources = sources_of(plain)
    assert (sources["One."].id, sources["On 24."].id) == (created, last)
    assert len({sources[f"On {day}."].id for day in (23, 24, 25)}) == 3


def test_only_log_lines_about_the_document_are_read(tree: VerbTree, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("base", "other"):
        tree.add(name)
        tree.note("a remark")
        tree.save(f"Add {name}")
    tree.memory().log_index()
    read: set[tuple[str, int]] = set()
    whole = EventLog.read_lines

    def noted(log: EventLog, shard: str, numbers: set[int]) -> list[LoggedEvent]:
        read.update((shard, number) for number in numbers)
        return whole(log, shard, numbers)

    monkeypatch.setattr(EventLog, "read_lines", noted)
    blame(tree.memory(), "fact.base")
    assert [line for _, line in read] == [1]


def test_line_range_limits_the_output(tree: VerbTree) -> None:
    tree.add("base", "One.\nTwo.\n")
    whole = blame(tree.memory(), "base")
    assert whole.hash == content_hash(tree.text("base"))
    assert [line.number for line in blame(tree.memory(), "base", lines=(2, 3)).lines] == [2, 3]
    assert blame(tree.memory(), "base", lines=(5, 0)).lines == whole.lines[4:]
    with pytest.raises(InvalidQuery):
        blame(tree.memory(), "base", lines=(500, 501))


@pytest.mark.parametrize(
    "path", ["../../outside.md", f"{FACTS}/../../../../x.md", f"{FACTS}/a\0b.md", "/etc/x.md"]
)
def test_forged_path_in_the_log_is_not_followed(tree: VerbTree, path: str) -> None:
    created = tree.add("base", "One.\n")
    tree.save("Add base")
    by_hand(tree, "One.\n", "One.\nBy hand.\n")
    sha = tree.save("By hand")
    change = Change("rename", "fact.base", path, "", tree._change("base", None, "x").after)
    tree._patch("rename", change, (), tree._ids.new("evt"))
    sources = sources_of(tree)
    assert (sources["One."].id, sources["By hand."].id) == (created, sha)


def test_store_below_the_top_of_its_repository(tmp_path: Path) -> None:
    outer = Repository(tmp_path / "outer", tmp_path / "home").init()
    outer.write("code.py", "x = 1\n")
    inner = Repository(tmp_path / "outer" / "sub" / "folder", tmp_path / "home")
    inner.root.mkdir(parents=True)
    tree = VerbTree(inner, Clock())
    tree.begin()
    created = tree.add("base", "One.\n")
    tree.save("Add base")
    by_hand(tree, "One.\n", "One.\nBy hand.\n")
    tree.git("mv", PATH, f"{FACTS}/moved.md")
    sha = tree.save("By hand, and moved")
    sources = sources_of(tree)
    assert (sources["One."].id, sources["By hand."].id) == (created, sha)
    assert replay_check(tree.memory()).unexplained == 0
