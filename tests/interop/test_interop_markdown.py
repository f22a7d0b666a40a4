"""Import of foreign Markdown: texts and foreign lines are kept, our lines are added."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.import_plan import planned
from thunderus_mem.document.document import Document, read_document, source_hash
from thunderus_mem.document.schema import check
from thunderus_mem.interop.fields import Dates, Imported, Options, Taken, import_document
from thunderus_mem.interop.markdown import SourceFile, plan_folder

FACTS = ".thunderus/memory/semantic/FACTS"
DECISIONS = ".thunderus/memory/semantic/DECISIONS"
NOW = "2026-01-21T09:00:00Z"
GIT = Dates("2020-05-06T07:08:09Z", "2021-05-06T07:08:09Z")


def options(kind: str = "fact", **more: object) -> Options:
    folder = DECISIONS if kind == "adr" else FACTS
    return Options(folder=folder, now=NOW, **more)  # type: ignore[arg-type]


def bring(text: str | bytes, path: str = "a.md", kind: str = "fact", **more: object) -> Any:
    data = text.encode() if isinstance(text, str) else text
    taken = more.pop("taken", Taken())
    dates = more.pop("dates", Dates())
    found = import_document(path, data, kind, dates, taken, options=options(kind, **more))  # type: ignore[arg-type]
    assert isinstance(found, Imported), found
    made = SimpleNamespace(**asdict(found.file), **found._asdict())
    assert check("memory_doc.frontmatter", document(made).data()) == []
    return made


def document(found: Any) -> Document:
    made = read_document(found.path, found.text.encode()).document
    assert made is not None
    return made


def keeps_lines(text: str, lines: str) -> bool:
    """Whether ``text`` contains every line in the same order."""
    there = iter(text.splitlines(keepends=True))
    return all(line in there for line in lines.splitlines(keepends=True))


def kept_out(data: bytes, path: str = "a.md") -> str:
    found = import_document(path, data, "fact", Dates(), Taken(), options=options())
    assert isinstance(found, str)
    return found


def test_plain_file_gets_a_header_and_keeps_its_text() -> None:
    text = "# Tests run with pytest\n\nUse `-n 2`.  \n\n\n"
    found = bring(text, dates=GIT)
    made = document(found)
    assert made.body == text
    assert (made.id, made.title, made.kind) == ("fact.tests-run-with-pytest", "Tests run with pytest", "fact")
    assert found.path == f"{FACTS}/tests-run-with-pytest.md"
    assert made.tags == ()
    assert (made.created, made.updated) == (GIT.created, GIT.updated)
    assert made.status == "unknown"
    assert made.data()["metadata"] == {"imported_from": "a.md", "imported_sha256": source_hash(text.encode())}
    assert made.aliases == ("a",)


def test_foreign_lines_are_unchanged() -> None:
    head = "# a comment\nparent:   Decisions   # kept\nnav_order: 007\n\n'quoted': \"x\"\nlist: [a,   b]\n"
    found = bring(f"---\n{head}---\n# Title\n")
    assert keeps_lines(found.text, head)
    assert document(found).body == "# Title\n"


def test_windows_line_ends_and_byte_order_mark_are_kept() -> None:
    plain = bring(b"\xef\xbb\xbf# Title\r\n\r\ntext\r\n")
    assert plain.text.startswith("\ufeff---\r\n")
    assert document(plain).body == "# Title\r\n\r\ntext\r\n"
    assert any("byte order mark" in note for note in plain.notes)
    headed = bring(b"\xef\xbb\xbf---\r\nlayout: post\r\n---\r\n# Title\r\n")
    assert "layout: post\r\n" in headed.text
    assert "\n" not in headed.text.replace("\r\n", "")


_VERIFIED = {"last_verified_commit": "abc1234", "status": "verified"}


@pytest.mark.parametrize(
    ("line", "key", "original"),
    [
        ("id: Use_JWT!", "id", "Use_JWT!"),
        ("id: ADR 0007", "id", "ADR 0007"),
        ("kind: Post", "kind", "Post"),
        ("tags: a, b", "tags", "a, b"),
        ("created: 2020-01-02", "created", "2020-01-02"),
        ("provenance: the wiki", "provenance", "the wiki"),
        ("verification: done", "verification", "done"),
        ("verification: {status: verified, last_verified_commit: abc1234}", "verification", _VERIFIED),
        ("links: [https://example.org]", "links", ["https://example.org"]),
        ("author: [Ann, Bob]", "author", ["Ann", "Bob"]),
        ("credibility: high", "credibility", "high"),
        ("metadata: text", "metadata", "text"),
    ],
)
def test_conflicting_value_is_moved_to_metadata_with_a_note(line: str, key: str, original: object) -> None:
    found = bring(f"---\nlayout: post\n{line}\n---\n# Title\n")
    assert str(document(found).data()["metadata"][key]) == str(original)
    assert any(note.startswith(key) for note in found.notes)
    assert "layout: post\n" in found.text


_DONE = "{status: verified, last_verified_commit: abc1234}"


def test_keys_of_the_file_that_the_import_writes_too_are_kept() -> None:
    head = "metadata:\n  imported_from: wiki/a\n  imported_sha256: theirs\n  author: Eve\n"
    found = bring(f"---\n{head}author: [Ann]\n---\n# A\n")
    metadata = document(found).data()["metadata"]
    assert metadata["imported_from"] == "a.md"
    assert metadata["original_imported_from"] == "wiki/a"
    assert metadata["original_imported_sha256"] == "theirs"
    assert (metadata["author"], metadata["original_author"]) == ("Eve", ["Ann"])
    used = "because metadata.imported_from is used"
    assert f"imported_from: kept as metadata.original_imported_from, {used}" in found.notes


def test_notes_have_values_as_in_the_frontmatter() -> None:
    found = bring(f"---\ntags: people\nverification: {_DONE}\n---\n# A\n")
    why = "original kept under metadata"
    assert "tags: changed to [people] (tags must be a list of words); " + why in found.notes
    assert any("changed to {last_verified_commit: null, status: unknown} (" in note for note in found.notes)


def test_valid_values_are_unchanged() -> None:
    head = (
        "id: fact.mine\ntitle: Mine\nkind: fact\ntags: [x, y]\n"
        "created: 2020-01-02T03:04:05+02:00\nupdated: 2020-02-02T03:04:05Z\nstatus: done\ndate: 2019-01-01\n"
    )
    found = bring(f"---\n{head}---\nText.\n", dates=GIT)
    assert keeps_lines(found.text, head)
    assert found.notes == ()
    assert document(found).id == "fact.mine"


def test_tags_in_a_string_become_a_list() -> None:
    assert document(bring("---\ntags: '#go #rust'\n---\nText.\n")).tags == ("go", "rust")
    assert document(bring("---\ntags: [x]\n---\nText.\n", tags=("y", "x"))).tags == ("x", "y")


def test_folder_becomes_the_tag_of_a_file_without_tags() -> None:
    assert document(bring("Text.\n", path="How To/a.md")).tags == ("how-to",)
    assert document(bring("Text.\n", path="How To/a.md", tags=("How_To",))).tags == ("How_To",)
    assert document(bring("Text.\n", path="a.md", tags=("x",))).tags == ("x",)


def test_equal_files_with_a_role_in_their_folders_are_all_imported() -> None:
    paths = [f"projects/{name}/capture.md" for name in "abc"]
    made = plan(dict.fromkeys([*paths, "copy.md", "other/copy.md"], "# Capture\n\nText.\n"), kind="fact")
    assert [path for path, one in made.items() if one.imported] == ["copy.md", *paths]
    assert made["other/copy.md"].reason == "duplicate of fact.capture"
    stored = [document(made[path]) for path in paths]
    again = plan(dict.fromkeys(paths, "# Capture\n\nText.\n"), kind="fact", documents=stored)
    assert all(one.reason.startswith("already imported as") for one in again.values())


def test_tag_of_a_folder_is_spelled_as_in_other_documents() -> None:
    files = {
        "How To/a.md": "# A\n",
        "b.md": "---\ntags: [How_To]\n---\n# B\n",
        "c.md": "---\ntags: [how to, How_To]\n---\n# C\n",
    }
    made = plan(files, kind="fact")
    assert document(made["How To/a.md"]).tags == ("How_To",)
    later = plan({"How To/d.md": "# D\n"}, kind="fact", documents=[document(made["b.md"])])
    assert document(later["How To/d.md"]).tags == ("How_To",)


def test_title_without_a_heading_comes_from_the_file_name() -> None:
    found = bring("Only text.\n", path="deep/how_to-deploy.md")
    assert found.title == "How to deploy"
    assert bring("Only text.\n", path="deploying/README.md").title == "Deploying"


def test_title_from_a_long_line_is_cut() -> None:
    found = bring(f"# {'word ' * 10_000}\n")
    assert found.title == f"{'word ' * 39}word…"
    assert document(found).title == found.title


def test_second_header_is_no_heading() -> None:
    found = bring("---\na: 1\n---\n---\ncreated: 2026-05-06\ntype: entity\n---\n\n# Mamba\n\nText.\n")
    assert (found.title, found.id) == ("Mamba", "fact.mamba")
    assert bring("---\na: 1\n---\nFirst\n---\n\n### Mamba\n").title == "First"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("## Definition\n\nX.\n\n## References\n", "Sprint Review of a T-shirt"),
        ("## Definition\n\nX.\n\n# Sprint\n", "Sprint Review of a T-shirt"),
        ("Text.\n\n## Definition\n\nX.\n\n### References\n", "Definition"),
        ("# Definition\n\nX.\n\n# References\n", "Definition"),
    ],
)
def test_heading_of_a_section_is_no_title(body: str, title: str) -> None:
    made = plan({"notes/Sprint Review of a T-shirt.md": body}, kind="fact")
    assert [one.title for one in made.values()] == [title]


def test_link_to_a_heading_is_no_relation_to_a_decision() -> None:
    body = "# 2. Second\n\n## Status\n\nSuperseded by [the next](#next)\n\nRelates to [x](#%s)\n"
    for target in ("why", "12", "9" * 5000):
        made = plan({"0001-first.md": "# 1. First\n\nText.\n", "0002-second.md": body % target}, kind="adr")
        assert [one.imported for one in made.values()] == [True, True]


def test_nothing_links_to_a_file_that_is_refused() -> None:
    key = "AKIA" + "Q4ZX7LMN2BVC5RTY"
    first = f"# 1. First\n\n## Status\n\nAccepted\n\nThe key is {key}.\n"
    second = "# 2. Second\n\n## Status\n\nAccepted\n\nSupersedes [1](0001-first.md)\n"
    made = plan({"0001-first.md": first, "0002-second.md": second}, kind="adr")
    assert (made["0001-first.md"].refused, made["0002-second.md"].links) == (True, ())


def test_file_that_cannot_be_converted_is_reported_and_others_are_imported() -> None:
    header = "".join(f"key{at}: {'x' * 60}\n" for at in range(480))
    made = plan({"a.md": f"---\n{header}---\n# A\n", "b.md": "# B\n"}, kind="fact")
    assert (made["a.md"].refused, made["b.md"].imported) == (True, True)
    assert "larger than 32 KiB" in made["a.md"].reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe# T", "UTF-8"),
        (b"# T\x00", "NUL"),
        (b"", "empty"),
        (b"---\na: 1\n---\n\n", "empty"),
        (b"---\na: &x 1\nb: *x\n---\n# T\n", "invalid frontmatter"),
        (b"---\na: 1\na: 2\n---\n# T\n", "line 3"),
        (b"x" * (1 << 20) + b"x", "at most 1 MiB"),
    ],
)
def test_invalid_files_are_skipped_with_a_reason(data: bytes, reason: str) -> None:
    assert reason in kept_out(data)


def test_file_name_that_is_not_utf8_is_skipped_with_a_reason() -> None:
    assert kept_out(b"# A\n\nb\n", "caf\udce9.md") == "the file name is not UTF-8"


def test_horizontal_rule_at_the_start_is_text() -> None:
    for text in ("---\n\nJust a line above.\n", "---\nProse\n---\nMore.\n"):
        found = bring(text)
        assert document(found).body == text
        assert any("kept as text" in note for note in found.notes)
    found = bring("+++\ntitle = 'Frames'\nweight = 3\n+++\n# T\n")
    assert (found.file.title, document(found).body) == ("Frames", "# T\n")
    assert document(found).data()["weight"] == 3
    assert any("+++" in note for note in bring("+++\ntitle = \n+++\n# T\n").notes)


def test_used_id_gives_another_id_from_the_path() -> None:
    taken = Taken(ids={"fact.setup", "fact.linux-a"})
    assert document(bring("# Setup\n", path="linux/a.md", taken=taken)).id == "fact.linux-a-2"
    again = bring("---\nid: fact.setup\n---\n# Setup\n", taken=taken)
    assert document(again).data()["metadata"]["id"] == "fact.setup"


@pytest.mark.parametrize(
    ("path", "heading", "number", "title"),
    [
        ("0007-use-jwt.md", "# 7. Use JWT", 7, "Use JWT"),
        ("adr-007.md", "# ADR-007: Use JWT", 7, "Use JWT"),
        ("use-jwt.md", "# ADR 7 - Use JWT", 7, "Use JWT"),
        ("0007-use-jwt.md", "# 0007 Use JWT", 7, "Use JWT"),
        ("0007-use-jwt.md", "# 3. Use JWT", 7, "Use JWT"),
        ("use-jwt.md", "# 3 reasons for JWT", 1, "3 reasons for JWT"),
        ("20200924-use-jwt.md", "# Use [JWT](https://jwt.io) and `x`", 1, "Use JWT and x"),
        ("adr-007.md", "# Architecture Decision Record: Use JWT", 7, "Use JWT"),
        ("0007-use-jwt.md", "Use JWT\n==========", 7, "Use JWT"),
        ("0007-wifi.md", "# 802.11 radios", 7, "802.11 radios"),
        ("0007-wifi.md", "# 7. 802.11 radios", 7, "802.11 radios"),
        ("0007-wifi.md", "# ADR-7: 802.11 radios", 7, "802.11 radios"),
        ("12.04-lts.md", "# 12.04 on all servers", 1, "12.04 on all servers"),
    ],
)
def test_number_and_title_of_a_decision_are_parsed(path: str, heading: str, number: int, title: str) -> None:
    found = bring(f"{heading}\n\n## Status\n\nAccepted\n", path=path, kind="adr")
    assert (found.number, found.title) == (number, title)
    assert found.path.startswith(f"{DECISIONS}/ADR-{number:04d}-")
    assert found.decision.status == "Accepted"


@pytest.mark.parametrize("title", ["802.11ac", "802.11 Wireless", "7. Use JWT", "ADR-007: Use JWT"])
def test_only_a_decision_loses_the_number_in_its_title(title: str) -> None:
    assert bring(f"# {title}\n\nText.\n", kind="fact").title == title


@pytest.mark.parametrize(
    "text",
    [
        "# 1. T\n\nDate: 2016-02-12\n\n## Status\n\nAccepted\n",
        "# T\n\n- Status: accepted\n- Date: 2016-02-12\n\n## Context\n",
        "# T\n\n* **Status**: accepted\n* **Date**: 2016-02-12\n",
        "---\nstatus: accepted\ndate: 2016-02-12\n---\n# T\n\ntext\n",
    ],
)
def test_status_and_date_of_a_decision_are_parsed_in_common_formats(text: str) -> None:
    found = bring(text, kind="adr", dates=GIT)
    assert found.decision.status.lower() == "accepted"
    assert document(found).created == "2016-02-12T00:00:00Z"
    assert document(found).updated == GIT.updated


def test_long_decision_name_is_limited_to_sixty_characters() -> None:
    found = bring(f"# 12. {'very long words ' * 12}\n", kind="adr", path="0012-x.md")
    assert len(found.path.rpartition("/")[2].removesuffix(".md")) <= 60


def plan(files: dict[str, str], kind: str = "adr", documents: tuple[Document, ...] = ()) -> dict[str, Any]:
    sources = [SourceFile(path, text.encode(), GIT) for path, text in files.items()]
    return {item.source: item for item in planned(plan_folder(sources, kind, documents, options(kind)))}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Superseded by [2. New](0002-new.md)", "Accepted"),
        ("Superceded by [2. New](0002-new.md)", "Accepted\n\nSupercedes [1. Old](0001-old.md)"),
        ("superseded by ADR-0002", "accepted"),
        ("Deprecated", "Accepted. Supersedes ADR 1."),
        ("Superseded: 2019-12-19 by [ADR 2](./0002-new.md)", "x"),
    ],
)
def test_supersession_becomes_a_link_in_the_newer_document(old: str, new: str) -> None:
    items = plan(
        {
            "0001-old.md": f"# 1. Old\n\n## Status\n\n{old}\n\n## Context\n",
            "0002-new.md": f"# 2. New\n\n## Status\n\n{new}\n\n## Context\n",
        }
    )
    links = document(items["0002-new.md"]).links
    assert [(link.rel, link.target) for link in links] == [("supersedes", "adr.old")]
    assert document(items["0001-old.md"]).links == ()


def test_partial_or_unresolved_supersession_is_a_note() -> None:
    items = plan(
        {
            "0001-a.md": "# A\n\n## Status\n\nPartly superseded by [B](0002-b.md)\n",
            "0002-b.md": "# B\n\n## Status\n\nSuperseded by [C](0009-c.md)\n",
        }
    )
    assert document(items["0001-a.md"]).links == document(items["0002-b.md"]).links == ()
    assert any("no link made" in note for note in items["0001-a.md"].notes)
    assert any("0009-c.md" in note and "by hand" in note for note in items["0002-b.md"].notes)


def test_line_of_status_choices_is_ignored() -> None:
    line = "- Status: [proposed | accepted | superseded by [ADR-0002](0002-b.md)]"
    items = plan({"0001-a.md": f"# A\n\n{line}\n", "0002-b.md": "# B\n\ntext\n"})
    assert document(items["0002-b.md"]).links == ()


def test_indexes_and_templates_are_skipped() -> None:
    items = plan(
        {"README.md": "# All\n", "template.md": "# {T}\n", "0001-a.md": "# A\n", "b/index.md": "# B\n"}
    )
    assert {path for path, item in items.items() if item.imported} == {"0001-a.md", "b/index.md"}
    assert all(item.imported for item in plan({"README.md": "# All\n", "a.md": "# A\n"}, "fact").values())


def test_relative_links_are_rewritten() -> None:
    items = plan({"in/a.md": "# A\n\nSee [b](b.md) and ![x](../img/x.png).\n", "in/b.md": "# B\n"}, "fact")
    links = "See [b](../../../../in/b.md) and ![x](../../../../img/x.png).\n"
    assert items["in/a.md"].text.endswith(f"---\n# A\n\n{links}")


def test_importing_again_adds_nothing_and_reports_changed_files() -> None:
    files = {"0001-a.md": "# A\n\nx\n", "0002-b.md": "---\nx: 1\n---\n# B\r\n"}
    stored = tuple(document(item) for item in plan(files).values())
    again = plan(files, documents=stored)
    assert [item.reason for item in again.values()] == [
        "already imported as adr.a",
        "already imported as adr.b",
    ]
    copies = plan({f"copy/{path}": text for path, text in files.items()}, documents=stored)
    assert [item.reason for item in copies.values()] == ["duplicate of adr.a", "duplicate of adr.b"]
    changed = plan({"0001-a.md": "# A\n\ny\n"}, documents=stored)
    reason = "already imported as adr.a, and changed since; use --on-conflict update"
    assert changed["0001-a.md"].reason == reason


def test_name_of_the_file_is_an_alias_if_it_is_free() -> None:
    given = "---\naliases: [mine]\n---\n# A\n"
    files = {"db-restore.md": given, "x/README.md": "# X\n", "y/db-restore.md": "# Y\n", "Z.md": "# Z\n"}
    items = plan(files, "fact")
    assert [document(items[path]).aliases for path in files] == [("mine", "db-restore"), (), (), ()]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("assignee: [@codex, 'b']", {"assignee": ["@codex", "b"]}),
        ("assignee: @codex  # x", {"assignee": "@codex"}),
        ("assignee:\n  - @codex\n  - @bob", {"assignee": ["@codex", "@bob"]}),
        ("labels: [a, c: d, *e]", {"labels": ["a", "c: d", "*e"]}),
        ('title: BACK-1: say "hi"', {"title": 'BACK-1: say "hi"'}),
        ("title: [WIP] `x`", {"title": "[WIP] `x`"}),
        ("ref: `x`", {"ref": "`x`"}),
        ("done: %50", {"done": "%50"}),
    ],
)
def test_strings_that_are_not_valid_yaml_are_quoted(header: str, value: dict[str, object]) -> None:
    found = bring(f"---\nlayout: post\n{header}\n---\n# Title\n")
    assert value.items() <= document(found).data().items()
    assert "quoted, because the value is not valid YAML" in found.notes[0]


@pytest.mark.parametrize(
    "header", ["a: &x 1", "a: !x 1", "a: [b, c", "a: [b,\n  @c]", "a: {@b: c}", "a: 'it's'", "a: | x"]
)
def test_other_invalid_values_are_not_guessed(header: str) -> None:
    assert "invalid frontmatter" in kept_out(f"---\n{header}\n---\n# Title\n".encode())


def test_existing_numbers_and_names_are_not_reused() -> None:
    stored = (document(plan({"0001-a.md": "# A\n"})["0001-a.md"]),)
    item = plan({"x/0001-other.md": "# A\n\nother\n"}, documents=stored)["x/0001-other.md"]
    assert item.path == f"{DECISIONS}/ADR-0002-x-other.md"
    assert any("number 1 is taken" in note for note in item.notes)


_WORDS = st.text(alphabet="ab: #-'\"[]{},|>&*!%@`\t0159éあ\u200b", max_size=24)
_LINES = st.lists(_WORDS, max_size=6).map("\n".join)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(head=_LINES, body=st.text(max_size=80), ends=st.sampled_from(["\n", "\r\n"]), headed=st.booleans())
def test_any_file_is_imported_or_skipped_with_a_reason(head: str, body: str, ends: str, headed: bool) -> None:
    text = f"---\nlayout: x\n{head}\n---\n{body}" if headed else body
    data = text.replace("\n", ends).encode("utf-8", "surrogatepass")
    found = import_document("a.md", data, "fact", GIT, Taken(), options=options())
    if isinstance(found, str):
        assert found
        return
    made = read_document(found.file.path, found.text.encode()).document
    assert made is not None
    assert data.removeprefix(b"\xef\xbb\xbf").endswith(made.body.encode())
    assert check("memory_doc.frontmatter", made.data()) == []
    assert found == import_document("a.md", data, "fact", GIT, Taken(), options=options())
