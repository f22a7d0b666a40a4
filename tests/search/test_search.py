from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.index_support import document, find_hits, new_store, put
from thunderus_mem.index import scan
from thunderus_mem.index.refresh import open_index
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search import snippets
from thunderus_mem.search.query import parse_query
from thunderus_mem.search.search import ANSWER, MOST_CLOSEST, search
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, Layout

if TYPE_CHECKING:
    from thunderus_mem.index.sqlite_index import SqliteIndex
    from thunderus_mem.search.search import Hit

NOTES = {
    "fact.testing": (
        "Testing conventions",
        "# Testing\n\nRun the tests with pytest and xdist. Fixtures live in conftest.\n",
    ),
    "fact.coverage": ("Coverage", "We measure coverage with llvm-cov on every pull request.\n"),
    "fact.parser": ("Frame parser", "The entry is `parse_http2_frame` in src/net/frame.py.\n"),
    "fact.client": ("HTTP client", "Calls parseHTTPFrame() and retries with a backoff.\n"),
    "fact.tokens": (
        "Token cache",
        "# Tokens\n\nIntro.\n\n## Expiry\n\nTokens expire after 30 minutes in the cache.\n",
    ),
    "fact.café": ("Café opening", "x"),
    "fact.street": ("Address", "Die Straße steht vor der Hausnummer.\n"),
    "fact.chinese": ("数据库", "我们使用数据库连接池来处理请求。\n"),
    "fact.release": ("Release day", "We release on Tuesdays from the main branch.\n"),
}


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> tuple[Layout, SqliteIndex]:
    layout = new_store(tmp_path)
    for doc_id, (title, body) in NOTES.items():
        put(layout, f"{doc_id[5:]}.md", document(doc_id, body, title=title))
    for number in range(30):
        put(
            layout,
            f"other{number}.md",
            document(f"fact.other{number}", f"Unrelated matter number {number} in the build.\n"),
        )
    index, _ = open_index(layout)
    return layout, index


def ask(store: tuple[Layout, SqliteIndex], text: str, **options: int) -> list[Hit]:
    return find_hits(store[1], parse_query(text), root=store[0].root, explain=True, **options)


def test_last_of_many_sections_is_found_at_its_line(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    body = "".join(f"## H {number}\n\nline word{number}\n" for number in range(4_200))
    put(layout, "long.md", document("fact.long", body))
    index, _ = open_index(layout)
    for number in (4_000, 4_199):
        (hit,) = find_hits(index, parse_query(f"word{number}"), root=layout.root)
        assert hit.line > 3 * 4_000


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("how do I run the tests?", "fact.testing"),
        ("parse_http2_frame", "fact.parser"),
        ("http2", "fact.parser"),
        ("strasse", "fact.street"),
        ("STRASSE", "fact.street"),
        ("Straße", "fact.street"),
        ("parseHTTPFrame", "fact.client"),
        ("src/net/frame.py", "fact.parser"),
        ("fact.testing", "fact.testing"),
        ("llvm-cov", "fact.coverage"),
        ("cafe", "fact.café"),
        ("数据库", "fact.chinese"),
        ("when do tokens expire", "fact.tokens"),
        ('"main branch"', "fact.release"),
        ("which day do we release", "fact.release"),
    ],
)
def test_intended_document_ranks_first(store: tuple[Layout, SqliteIndex], text: str, best: str) -> None:
    assert ask(store, text)[0].id == best


@pytest.mark.parametrize(
    "text",
    [
        "kubernetes ingress controller",
        "zzz",
        "how do I bake sourdough bread",
        "👍",
        "",
        "quantum matter entanglement physics",
    ],
)
def test_irrelevant_query_has_no_hits(store: tuple[Layout, SqliteIndex], text: str) -> None:
    assert ask(store, text) == []


def test_hit_is_a_passage_with_location_and_highlights(store: tuple[Layout, SqliteIndex]) -> None:
    hit = ask(store, "expire minutes")[0]
    assert (hit.anchor, hit.kind, hit.path) == ("expiry", "fact", f"{DOCUMENT_FOLDERS['fact']}/tokens.md")
    lines = Path(store[0].at(hit.path)).read_text().split("\n")
    assert lines[hit.line - 1].startswith("Tokens expire")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["expire", "minutes"]
    assert {"document_bm25", "passage_bm25", "relevance", "named"} <= hit.explain.keys()


def test_one_passage_per_document(store: tuple[Layout, SqliteIndex]) -> None:
    ids = [hit.id for hit in ask(store, "unrelated matter build")]
    assert len(ids) == len(set(ids)) == 10
    assert len(ask(store, "unrelated matter build", limit=3)) == 3


def test_excluded_words_and_filters_limit_the_hits(store: tuple[Layout, SqliteIndex]) -> None:
    assert "fact.parser" not in {hit.id for hit in ask(store, "frame -entry")}
    assert ask(store, "frame kind:adr") == []
    assert [hit.id for hit in ask(store, "path:tokens")] == ["fact.tokens"]
    assert len(ask(store, "tag:ONE", limit=50)) == 39
    assert ask(store, "tag:none") == []
    assert ask(store, "frame before:2025-01-01") == []


def test_snippet_is_never_older_than_the_file(store: tuple[Layout, SqliteIndex]) -> None:
    layout, _ = store
    put(layout, "release.md", document("fact.release", "Something else.\n"))
    assert ask(store, "release tuesdays") == []


def test_file_replaced_during_a_search_is_not_shown(
    store: tuple[Layout, SqliteIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, _ = store
    stamp_of = scan.stamp_of

    def then_exchanged(root: str, path: str) -> object:
        found = stamp_of(root, path)
        put(layout, "new.tmp", document("fact.release", "Something else on tuesdays.\n"))
        os.replace(Path(layout.at(path)).with_name("new.tmp"), layout.at(path))
        return found

    assert [hit.id for hit in ask(store, "release tuesdays")] == ["fact.release"]
    monkeypatch.setattr(snippets, "stamp_of", then_exchanged)
    assert ask(store, "release tuesdays") == []


def test_superseded_document_ranks_below_its_successor(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    for number in range(10):
        put(layout, f"o{number}.md", document(f"fact.o{number}", "Other things.\n"))
    put(
        layout,
        "old.md",
        document("fact.old", "Deploy deploy deploy with the deploy script.\n", title="Deploy"),
    )
    put(
        layout,
        "mid.md",
        document("fact.mid", "Nothing in common.\n", more="links:\n  supersedes: [fact.old]\n"),
    )
    put(
        layout,
        "new.md",
        document("fact.new", "We deploy by hand now.\n", more="links:\n  supersedes: [fact.mid]\n"),
    )
    index, _ = open_index(layout)
    hits = find_hits(index, parse_query("deploy script"), root=layout.root)
    assert [hit.id for hit in hits] == ["fact.new", "fact.mid", "fact.old"]
    assert [hit.superseded_by for hit in hits] == ["", "fact.new", "fact.mid"]
    assert [hit.id for hit in find_hits(index, parse_query("state:superseded"), root=layout.root)] == [
        "fact.mid",
        "fact.old",
    ]


def test_stale_ranks_below_fresh(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    for name, status in (("a", "stale"), ("b", "verified")):
        put(layout, f"{name}.md", document(f"fact.{name}", "The queue retries.\n", status=status))
    for number in range(8):
        put(layout, f"o{number}.md", document(f"fact.o{number}", "Other things.\n"))
    index, _ = open_index(layout)
    assert [hit.id for hit in find_hits(index, parse_query("queue retries"), root=layout.root)] == [
        "fact.b",
        "fact.a",
    ]


def test_aliases_and_path_words_count_as_title(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "x.md", document("fact.x", "Text.\n", more="aliases: [green button]\n"))
    put(layout, "y.md", document("fact.y", "A button among many other words that stand here, some green.\n"))
    put(layout, f"{DOCUMENT_FOLDERS['fact']}/billing/z.md", document("fact.z", "Text.\n"))
    for number in range(8):
        put(layout, f"o{number}.md", document(f"fact.o{number}", "Other things.\n"))
    index, _ = open_index(layout)
    assert find_hits(index, parse_query("green button"), root=layout.root)[0].id == "fact.x"
    assert find_hits(index, parse_query("billing"), root=layout.root)[0].id == "fact.z"


def test_shown_passage_contains_the_match(store: tuple[Layout, SqliteIndex]) -> None:
    layout = store[0]
    body = "# Send mail\n\n## Status\n\nAccepted\n\n## Context\n\n" + "We queue every mail. " * 30 + "\n"
    put(layout, "mail.md", document("fact.mail", body, title="Send mail"))
    found = find_hits(open_index(layout)[0], parse_query("mail"), root=layout.root)
    assert (found[0].id, found[0].anchor) == ("fact.mail", "context")
    put(layout, "bare.md", document("fact.bare", "Intro.\n\n## Status\n\nOpen\n", title="Zebra"))
    found = find_hits(open_index(layout)[0], parse_query("zebra"), root=layout.root)
    assert (found[0].id, found[0].anchor) == ("fact.bare", "")


def test_comments_are_not_searched_and_code_is(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(
        layout,
        "a.md",
        document("fact.a", "# A\n\n<!-- a placeholder\n\nof two paragraphs -->\n\nPlain words.\n"),
    )
    put(layout, "b.md", document("fact.b", "# B\n\n```html\n<!-- sentinel -->\n```\n"))
    index, _ = open_index(layout)

    def ids(text: str) -> list[str]:
        return [hit.id for hit in find_hits(index, parse_query(text), root=layout.root)]

    assert ids("placeholder") == ids("paragraphs") == ids("alone") == []
    assert ids("plain words") == ["fact.a"]
    assert ids("sentinel") == ["fact.b"]


WORDS = st.lists(st.sampled_from(["queue", "retry", "lock", "page", "cache"]), max_size=6)


def _ids(root: str, text: str) -> list[str]:
    return [hit.id for hit in search(open_memory(root), text, limit=50).hits]


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(WORDS, min_size=1, max_size=8))
def test_every_matching_document_is_found_in_the_same_order(texts: list[list[str]]) -> None:
    orders = []
    for turn in (1, -1):
        with TemporaryDirectory() as root:
            layout = new_store(root)
            for number in range(len(texts))[::turn]:
                body = " ".join(texts[number])
                put(layout, f"{number}.md", document(f"fact.d{number}", f"Text {body}.\n"))
                open_memory(root).refresh()
            orders.append(_ids(root, "queue"))
    matching = {f"fact.d{number}" for number, words in enumerate(texts) if "queue" in words}
    assert orders[0] == orders[1]
    assert set(orders[0]) == matching


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=8), st.integers(1, 60))
def test_document_without_a_word_of_the_question_changes_no_order(counts: list[int], length: int) -> None:
    with TemporaryDirectory() as root:
        layout = new_store(root)
        for number, count in enumerate(counts):
            body = "queue " * count + "other " * (9 - count)
            put(layout, f"{number}.md", document(f"fact.d{number}", f"{body}\n"))
        before = _ids(root, "queue")
        put(layout, "more.md", document("fact.more", "unrelated " * length + "\n"))
        assert _ids(root, "queue") == before


def test_question_that_shares_some_words_has_closest_hits_only(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    for number in range(20):
        own = {0: "queue worker", 1: "queue worker", 3: "page"}.get(number, "other")
        put(layout, f"d{number}.md", document(f"fact.d{number}", f"{own} {'build' * (number < 9)}\n"))
    found = search(open_memory(str(tmp_path)), "queue build worker page")
    assert found.hits == ()
    assert len(found.closest) == MOST_CLOSEST
    assert all(0 < hit.score < ANSWER for hit in found.closest)
    nothing = search(open_memory(str(tmp_path)), "build holiday vacation")
    assert nothing.hits == nothing.closest == ()


@pytest.mark.parametrize(
    "text",
    [
        "Use signed worker queue tokens",
        "adr.worker-tokens",
        ".thunderus/memory/semantic/DECISIONS/ADR-0007-worker-tokens.md",
        "ADR-0007-worker-tokens",
        "adr 7",
        "ADR-0007",
        "docs/old/Worker Notes.md",
        "retry_worker_queue",
    ],
)
def test_document_named_by_the_query_is_the_first_answer(tmp_path: Path, text: str) -> None:
    layout = new_store(tmp_path)
    for number in range(9):
        body = "docs adr 7 worker retry queue tokens notes\n" * 3
        put(layout, f"o{number}.md", document(f"fact.o{number}", body, title="Old worker queue notes"))
    put(
        layout,
        f"{DOCUMENT_FOLDERS['adr']}/ADR-0007-worker-tokens.md",
        document(
            "adr.worker-tokens",
            "See `retry_worker_queue`. " + "Many other words follow in this text. " * 30 + "\n",
            title="Use signed worker queue tokens",
            kind="adr",
            more="metadata:\n  imported_from: docs/old/Worker Notes.md\n",
        ),
    )
    hits = search(open_memory(str(tmp_path)), text).hits
    assert (hits[0].id, hits[0].score) == ("adr.worker-tokens", 1.0)
    assert all(later.score <= earlier.score for earlier, later in pairwise(hits))


def test_confirmation_decides_only_between_nearly_equal_documents(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a", "The queue retries.\n"))
    put(layout, "b.md", document("fact.b", "The queue retries.\n", status="verified\n  by: user"))
    put(layout, "c.md", document("fact.c", "The queue retries: the queue, the queue retries.\n"))
    for number in range(8):
        put(layout, f"o{number}.md", document(f"fact.o{number}", "Other things.\n"))
    assert _ids(str(tmp_path), "queue retries") == ["fact.c", "fact.b", "fact.a"]
