"""Differences that make a paraphrase a possible contradiction, and pairs that are not reported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.garden.test_similar import made, memories
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.garden.similar.compare import (
    compare,
    disagreement,
    opposite_order,
    orders,
    read,
    scopes_apart,
    subjects_differ,
    titles_differ,
)
from thunderus_mem.garden.similar.pairs import Families, find_similar
from thunderus_mem.garden.similar.profile import Sentence, sentences_of

law = settings(deadline=None, max_examples=80, derandomize=True)
DEPLOY = (
    "Every deployment of the shop goes through the release script. It prints the pending migrations and "
    "waits for a confirmation. The old pods are drained one at a time. The dashboard shows the progress."
)


def said(text: str) -> Sentence:
    return Sentence(text, 1, "")


def about(one: str, other: str) -> str:
    told = frozenset[str]()
    found = disagreement(said(one), said(other), (told, told))
    return found.about if found else ""


def linked(document: Document, relation: str, target: str) -> Document:
    links = f"links:\n  {relation}:\n    - {target}\nprovenance:"
    text = document.text.replace("provenance:", links, 1)
    found = read_document(document.path, text.encode()).document
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Upgrade the readers before the writers.", "Upgrade the writers before the readers."),
        ("Linting runs after the tests.", "The tests run after linting."),
        ("Before the tests, linting runs.", "Linting runs after the tests."),
        ("Warm the cache, then switch traffic.", "Switch traffic, then warm the cache."),
        ("Never migrate before the backup.", "Migrate before the backup."),
        ("Do not drain the queue until workers stop.", "Drain the queue before workers stop."),
    ],
)
def test_reversed_order_is_a_difference(one: str, other: str) -> None:
    assert opposite_order(said(one), said(other))
    assert opposite_order(said(other), said(one))
    assert about(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Upgrade the readers before the writers.", "The writers are upgraded after the readers."),
        ("Before the writers are upgraded, upgrade the readers.", "Upgrade readers before writers."),
        ("After the backup, migrate.", "Migrate after the backup."),
        ("Warm the cache, then switch traffic.", "Warm the cache before switching traffic."),
        ("Never migrate before the backup.", "Migrate after the backup."),
        ("Wait before anything else.", "Wait until it answers."),
    ],
)
def test_same_order_in_other_words_is_no_difference(one: str, other: str) -> None:
    assert not opposite_order(said(one), said(other))
    assert about(one, other) in ("", "negation")


@law
@given(st.lists(st.sampled_from(["before", "after", "then", "until", "not", "a", "cache", "queue", ","])))
def test_sentence_does_not_contradict_its_own_order(words: list[str]) -> None:
    sentence = said(" ".join(words))
    told = orders(sentence)
    assert all(not one.earlier & one.later and one.earlier and one.later for one in told)
    if len(told) == 1:
        assert opposite_order(sentence, sentence) is None


@law
@given(st.text(max_size=200), st.text(max_size=200))
def test_order_and_scope_are_symmetric(one: str, other: str) -> None:
    mine, theirs = said(one), said(other)
    assert bool(opposite_order(mine, theirs)) == bool(opposite_order(theirs, mine))
    here, there = (scopes_apart(*two, in_place=True) for two in ((mine, theirs), (theirs, mine)))
    assert bool(here) == bool(there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Backups run on every shard.", "Backups run on the first shard only."),
        ("Mails go to all customers.", "Mails go to some customers."),
        ("Every service may write to it.", "Not every service may write to it."),
        ("Admins may delete projects.", "Only admins may delete projects."),
        ("Any error is retried.", "Errors are not retried, except timeouts."),
    ],
)
def test_different_scope_is_a_difference(one: str, other: str) -> None:
    assert scopes_apart(said(one), said(other), in_place=True)
    assert about(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Backups run every 6 hours.", "Backups only run at night."),
        ("Backups run on every shard.", "Backups run on all shards."),
        ("The only copy is kept for all time zones.", "All time zones share the one copy."),
        ("It takes some 20 minutes for all hosts.", "It takes about 20 minutes for all hosts."),
    ],
)
def test_non_limiting_word_is_no_difference(one: str, other: str) -> None:
    assert scopes_apart(said(one), said(other), in_place=True) is None


def test_order_of_steps_matters_in_playbooks_but_not_in_facts() -> None:
    steps = ["Stop the importer.", "Promote the replica in the console.", "Point the alias to it."]
    for kind, expected in (("playbook", ["order", "order"]), ("fact", [])):
        one, other = (
            read(made(f"{kind}.{name}", "Failover", " ".join(order), kind=kind))
            for name, order in (("a", steps), ("b", [steps[2], steps[1], steps[0]]))
        )
        assert [difference.about for difference in compare(one, other).differences] == expected
        assert compare(one, one).differences == ()


def test_statement_before_a_list_is_not_a_key() -> None:
    assert [one.slot for one in sentences_of("Backups cannot be restored: the key is lost.")] == [""]
    assert [one.slot for one in sentences_of("Restored by: the operator")] == ["/restored by"]


def test_different_version_in_other_words_is_a_difference() -> None:
    one = read(made("fact.a", "Oldest system", "The client supports Android 9 and later."))
    other = read(made("fact.b", "Our target", "We build for Android 12. What is newer is guarded."))
    assert [difference.about for difference in compare(one, other).differences] == ["number"]


def test_almost_identical_text_is_never_a_form() -> None:
    rest = "".join(f"\n\n## {name}\n\n" for name in ("Status", "Context", "Decision", "Links"))
    known = [
        made(f"fact.{number}", f"{number}. How we deploy", f"{DEPLOY} {word} watches it.{rest}")
        for number, word in (("4", "Somebody"), ("3", "Nobody"))
    ]
    (pair,) = find_similar(known)
    assert pair.proposed


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("relation", ["refers_to", "derives_from"])
def test_linked_documents_are_not_reported_as_paraphrases(relation: str, *, reverse: bool) -> None:
    one = made(
        "fact.a",
        "Cache of prices",
        "Prices are kept in Redis for a quarter of an hour, per shop and coin.",
    )
    other = made("fact.b", "Price cache", "For each shop and coin, Redis keeps the price for 15 minutes.")
    assert [pair.tier for pair in find_similar([one, other])] == ["paraphrase"]
    if reverse:
        assert find_similar([one, linked(other, relation, "fact.a")]) == ()
    else:
        assert find_similar([linked(one, relation, "fact.b"), other]) == ()


def test_parallel_pages_have_different_subjects() -> None:
    words = "Open the page with {0}. Keep tests of {0} short. Never share state between two tests."
    one, other, claim, denial = (
        read(made(f"fact.{at}", title, words.format(name)))
        for at, (title, name) in enumerate(
            [
                ("Rules for Cypress", "Cypress"),
                ("Rules for Playwright", "Playwright"),
                ("The tool is Cypress", "Cypress"),
                ("The tool is Playwright", "Playwright"),
            ]
        )
    )
    assert subjects_differ(one, other)
    assert not subjects_differ(one, one)
    assert not subjects_differ(claim, denial)


def test_bare_number_in_a_title_is_ignored() -> None:
    one, other = (read(made(f"fact.{n}", f"{n}. How we deploy", DEPLOY)) for n in ("4", "3"))
    assert titles_differ(one, other)
    assert not titles_differ(one, other, numbers=False)


def test_similar_documents_are_reported_with_their_nearest() -> None:
    names = ["Mars", "Venus", "Saturn", "Pluto", "Jupiter", "Neptune"]
    known = [made(f"fact.{name.lower()}", f"{name} deploys", f"{DEPLOY} Ask {name}.") for name in names]
    asked = [pair for pair in find_similar(known) if pair.proposed]
    together = Families()
    assert len(asked) < len(names) * (len(names) - 1) / 2
    for pair in asked:
        together.join(pair.first, pair.second)
    assert together.all() in ([], [sorted(one.id for one in known)])


@law
@given(memories())
def test_every_similar_document_is_reported(known: list[Document]) -> None:
    """Omitting pairs omits no document: if one of two similar documents is removed, the other is still
    reported."""
    for pair in find_similar(known):
        two = [one for one in known if one.id in (pair.first, pair.second)]
        if pair.tier == "near" and pair.proposed:
            assert find_similar(two)
