"""The rule tags: which spelling of a tag is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.garden.test_similar import made
from thunderus_mem.document.document import Document, content_hash, read_document
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.names import plan_tags
from thunderus_mem.store.config import Config

USUAL = dict.fromkeys(
    ["unit-test", "code-review", "pull-request", "merge-queue", "dead-link", "shell-script", "build-step"], 1
)
"""Other tags, in lower case and with hyphens."""


def tagged(doc_id: str, tag: str, *, text: str = "", source: str = "") -> Document:
    more = f"metadata:\n  imported_from: '{source}'" if source else ""
    made_text = made(doc_id, doc_id, text or f"Text of {doc_id}.", more=more).text
    document = read_document(
        f"{doc_id}.md", made_text.replace("tags: []", f"tags: [{tag}]").encode()
    ).document
    assert document is not None
    return document


def renamed(uses: dict[str, int], *others: Document) -> dict[str, str]:
    """The new spellings in a memory that uses each tag as often as ``uses`` says, always with `common`."""
    known = [
        tagged(f"fact.{tag}.{at}".replace(" ", "."), f"{tag}, common")
        for tag, n in uses.items()
        for at in range(n)
    ]
    steps = plan_tags(GardenInput.of([*known, *others]), Config())
    assert len({new for step in steps for _, new in step.texts}) == len(steps)
    return {old.removeprefix("tag "): new for step in steps for old, new in step.texts}


@pytest.mark.parametrize(
    ("uses", "new"),
    [
        ({"LLM": 1, "llm": 10}, {"LLM": "llm"}),
        ({"Agents": 1, "agents": 10}, {"Agents": "agents"}),
        ({"code_style": 1, "code-style": 2}, {"code_style": "code-style"}),
        ({"Claude Code": 12, "Claude-Code": 1}, {"Claude-Code": "Claude Code"}),
        ({"Code style": 1, "code style": 9}, {"Code style": "code style"}),
        ({"Code-Style": 2, "code_style": 1}, {"code_style": "Code-Style"}),
        ({"code style": 1, "code-style": 3}, {"code style": "code-style"}),
        ({"Code Style": 1, "code-style": 2}, {"Code Style": "code-style"}),
        (
            {"code style": 1, "code_style": 1, "code-style": 2},
            {"code style": "code-style", "code_style": "code-style"},
        ),
    ],
)
def test_tag_gets_the_usual_form(uses: dict[str, int], new: dict[str, str]) -> None:
    assert renamed(USUAL | uses) == new


@pytest.mark.parametrize(
    "uses",
    [
        {"CAD": 4, "cad": 2},  # most documents have it in another form
        {"code_style": 2, "code-style": 1},
        {"code style": 2, "code_style": 1},  # neither has the usual form
        {"Code-Style": 1, "code_style": 1},
        {"Ryzen AI": 1, "ryzen-ai": 1},  # nothing says which one is right
        {"Agents": 1, "agents": 1},
        {"Linux": 10, "linux": 1},
        {"Claude Code": 9, "claude-code": 1},  # no clear majority against the usual form
        {"Codex": 46, "CODEX": 1},  # a program, and a method of microscopy
        {"ReAct": 1, "react": 2},  # a capital inside a word: a name
    ],
)
def test_tag_in_another_form_is_kept_where_the_usual_one_is_rarer_or_missing(uses: dict[str, int]) -> None:
    assert renamed(USUAL | uses) == {}


def test_usual_separator_is_that_of_the_memory() -> None:
    uses = {"unit_test": 1, "code_review": 1, "pull_request": 1, "merge_queue": 1}
    assert renamed(uses | {"code-style": 1, "code_style": 2}) == {"code-style": "code_style"}
    with_blanks = {tag.replace("_", " "): 1 for tag in uses}
    uses = with_blanks | {"code style": 2, "code-style": 1}
    assert renamed(uses) == {"code-style": "code style"}


def test_tags_are_kept_without_a_usual_form() -> None:
    mixed = {"Bash": 1, "Java": 1, "git": 1, "a_b": 1, "c-d": 1, "Unit test": 1}
    assert renamed(mixed | {"Python": 9, "python": 1}) == {}
    assert renamed(mixed | {"Code_Style": 1, "code-style": 1}) == {}
    assert renamed(mixed | {"Code_Style": 1, "code-style": 2}) == {"Code_Style": "code-style"}


def test_one_word_changes_case_only_where_nearly_all_documents_agree() -> None:
    """A word with a capital may be of another language, and one in capitals a name."""
    assert renamed(USUAL | {"Workflow": 1, "workflow": 9}) == {}
    assert renamed(USUAL | {"PARA": 2, "para": 19}) == {}
    assert renamed(USUAL | {"Workflow": 1, "workflow": 10}) == {"Workflow": "workflow"}


def test_mark_before_a_tag_and_blanks_around_it_are_no_spelling_to_prefer() -> None:
    assert renamed(USUAL | {"_shared": 1, "shared": 12}) == {}
    padded = [tagged(f"fact.{at}", '"unit test ", common') for at in range(5)]
    assert renamed(USUAL | {"unit test": 1}, *padded) == {}


def test_links_as_tags_are_kept() -> None:
    known = [tagged(f"fact.{at}", f'"{tag}", common') for at, tag in enumerate(["[[Pass-the-Hash]]"] * 9)]
    assert renamed(USUAL, *known, tagged("fact.x", '"[[Pass the Hash]]", common')) == {}


def tags_of(*known: str) -> dict[str, str]:
    """The new spellings in a memory with documents of these tags besides the usual ones."""
    documents = [tagged(f"fact.{at}", tags) for at, tags in enumerate(known)]
    return renamed(USUAL, *documents)


def test_case_of_one_word_changes_only_between_documents_with_another_tag_in_common() -> None:
    """`DM` is the data mask of a memory chip, `dm` a driver model."""
    assert tags_of("DM, ddr", *["dm, u-boot"] * 20) == {}
    assert tags_of("DM, ddr", *["dm, ddr"] * 10) == {"DM": "dm"}
    assert tags_of("DM, ddr", "dm, ddr, u-boot", *["dm, u-boot"] * 9) == {"DM": "dm"}
    assert tags_of("DM", "dm", "dm") == {}
    assert tags_of("Code_Style, ddr", *["code-style, u-boot"] * 2) == {"Code_Style": "code-style"}


def test_tags_of_one_document_are_two() -> None:
    """`web_fetch` is the name of a tool."""
    assert tags_of("web-fetch, web_fetch", *["web-fetch"] * 9) == {}
    assert tags_of("web-fetch", "web-fetch", "web_fetch") == {"web_fetch": "web-fetch"}


def test_form_that_becomes_usual_counts() -> None:
    """After `Code_Style` has changed, four of five tags are in lower case."""
    others = dict.fromkeys(["a-b", "c-d", "e-f", "g-h", "i", "Bash"], 1)
    uses = {"Code_Style": 1, "code-style": 2, "LLM": 1, "llm": 10}
    assert renamed(others | uses) == {"Code_Style": "code-style", "LLM": "llm"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("```dataview\nTABLE year FROM #LLM\n```", True),
        ("See (#LLM) and #other.", True),
        ("#LLM", True),
        ("The heading [LLM](models.md#LLM) and a number, #1.", False),
        ("#LLMs", False),
    ],
)
def test_tag_that_a_text_uses_as_hashtag_is_kept(text: str, kept: bool) -> None:
    other = tagged("fact.query", "query", text=text)
    assert renamed(USUAL | {"LLM": 1, "llm": 10}, other) == ({} if kept else {"LLM": "llm"})


def test_hashtag_in_the_usual_form_keeps_no_other_spelling() -> None:
    assert renamed(USUAL | {"LLM": 1, "llm": 10}, tagged("fact.query", "query", text="#llm")) == {
        "LLM": "llm"
    }


def test_tags_of_copies_do_not_count_and_stay_as_they_are() -> None:
    copies = [tagged(f"fact.{at}", "LLM, common", source=f"backup/{at}.md") for at in "bcd"]
    assert renamed(USUAL | {"llm": 1}, *copies) == {}
    live = tagged("fact.e", "LLM, common", source="docs/e.md")
    assert renamed(USUAL | {"llm": 10}, *copies, live) == {"LLM": "llm"}


def test_tag_made_from_a_folder_by_an_import_says_nothing_about_the_spelling() -> None:
    made_tags = [tagged(f"fact.{at}", "big-engine", source=f"notes/Big Engine/{at}.md") for at in "abc"]
    written = [tagged(f"fact.{at}", "Big_Engine, other", source=f"notes/{at}.md") for at in "de"]
    assert renamed(USUAL, *made_tags, *written) == {}
    assert renamed({}, *made_tags, *written) == {"big-engine": "Big_Engine"}
    own = [tagged(f"fact.{at}", "big-engine, one", source=f"notes/{at}.md") for at in "fgh"]
    assert renamed(USUAL, *made_tags, *written, *own) == {"Big_Engine": "big-engine"}


def test_one_step_changes_all_documents_of_a_tag_and_builds_on_the_steps_before() -> None:
    both = tagged("fact.a", "Code_Style, Unit_Test")
    known = [
        tagged("fact.b", "Code_Style"),
        tagged("fact.c", "code-style, unit-test"),
        tagged("fact.d", "code-style"),
        tagged("fact.e", "code-style"),
    ]
    usual = [tagged(f"fact.u{at}", tag) for at, tag in enumerate(USUAL)]
    material = GardenInput.of([both, *known, *usual])
    steps = plan_tags(material, Config())
    assert [(step.why, step.targets) for step in steps] == [
        ("`Unit_Test` becomes `unit-test` in `fact.a`", ("fact.a",)),
        ("`Code_Style` becomes `code-style` in 2 documents", ("fact.a", "fact.b")),
    ]
    first, second = (step.edits[0] for step in steps)
    assert first.after_text is not None
    assert (first.before, second.before) == (both.hash, content_hash(first.after_text))
    assert "[code-style, unit-test]" in (second.after_text or "")
    apart = plan_tags(replace(material, going=lambda _: ()), Config())
    assert [step.edits[0].before for step in apart] == [both.hash, both.hash]
    assert [step.key for step in apart] == [step.key for step in steps]


def test_step_has_at_most_500_documents() -> None:
    usual = [tagged(f"fact.u{at}", tag) for at, tag in enumerate(USUAL)]
    one = tagged("fact.x", "Code_Style")
    many = [one._replace(id=f"fact.{at}", path=f"{at}.md") for at in range(501)]
    material = GardenInput.of([*usual, *many, *[tagged(f"fact.y{at}", "code-style") for at in range(51)]])
    aliases = Config(tags_aliases={"Code_Style": "code-style"})
    assert [len(step.edits) for step in plan_tags(material, aliases)] == [500, 1]
