"""Law 9 for the keys of one document: which changes of two branches git merges, key by key."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.git_repository import Repository
from thunderus_mem.document.frontmatter.edit import (
    insert_item,
    remove_item,
    remove_key,
    replace_body,
    set_key,
)
from thunderus_mem.document.frontmatter.nodes import NUMBER_KEYS
from thunderus_mem.document.frontmatter.write import KEY_ORDER, REQUIRED, compose, order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Edit = Callable[[str], str]

LISTS = {
    "aliases": ("aliases",),
    "anchors": ("anchors",),
    **{f"links.{name}": ("links", name) for name in order_of("links")},
}
OPTIONAL = (*(key for key in KEY_ORDER if key not in REQUIRED and key not in ("links", *LISTS)), *LISTS)
"""Every optional key that a new value can be set for; the relations of `links` are keys of their own."""


def value_of(name: str) -> Any:
    if name == "anchors":
        return [{"path": "a.py"}]
    if name in LISTS:
        return ["fact.m"]
    if name == "metadata":
        return {"owner": "ada"}
    return 1 if name in NUMBER_KEYS else "new"


def key_of(name: str) -> tuple[str, ...]:
    return LISTS.get(name, (name,))


def document(**more: Any) -> str:
    header = {
        "id": "fact.a",
        "title": "A title",
        "kind": "fact",
        "tags": ["m", "n"],
        "created": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T00:00:00Z",
        "provenance": {"events": ["evt_m"], "patches": ["patch_m"]},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }
    return compose(header | more, "One line.\n\nAnother.\n")


def adds(name: str) -> Edit:
    """Set an optional key that the document does not have."""
    return lambda text: set_key(text, key_of(name), value_of(name))


def grows(key: tuple[str, ...], item: Any) -> Edit:
    return lambda text: insert_item(text, key, item)


def edit_body(text: str) -> str:
    return set_key(
        replace_body(text, "\nOne line, edited.\n\nAnother.\n"), ("updated",), "2026-01-02T00:00:00Z"
    )


def verify(text: str) -> str:
    text = set_key(text, ("verification", "last_verified_commit"), "2222222")
    return set_key(text, ("verification", "status"), "verified")


ALWAYS: dict[str, Edit] = {
    "first tag": grows(("tags",), "a"),
    "last tag": grows(("tags",), "z"),
    "without first tag": lambda text: remove_item(text, ("tags",), "m"),
    "without last tag": lambda text: remove_item(text, ("tags",), "n"),
    "last event": grows(("provenance", "events"), "evt_z"),
    "first patch": grows(("provenance", "patches"), "patch_a"),
    "last patch": grows(("provenance", "patches"), "patch_z"),
    "body": edit_body,
    "verify": verify,
    "id": lambda text: set_key(text, ("id",), "fact.b"),
    "title": lambda text: set_key(edit_body(text), ("title",), "Another title"),
}
"""Edits of keys that every document has."""


def grown(name: str) -> dict[str, Edit]:
    """Edits of a list that the document has already."""
    key = key_of(name)
    if name == "anchors":
        return {f"{place} of {name}": grows(key, {"path": f"{place}.py"}) for place in ("0", "z")}
    return {f"{place} of {name}": grows(key, f"fact.{place}") for place in ("a", "z")}


def conflicts(folder: Path, cases: Iterable[tuple[str, str, Edit, Edit]]) -> set[str]:
    """The cases (name, base, ours, theirs; a file each) that one real merge leaves in conflict, by name."""
    repository = Repository(folder / "tree", folder / "home").init()
    listed = list(cases)
    assert len({name for name, *_ in listed}) == len(listed)

    def write(texts: Iterable[str]) -> None:
        for at, text in enumerate(texts):
            repository.write(f"{at}.md", text)
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", "Write")

    write(base for _, base, _, _ in listed)
    repository.git("switch", "-q", "-c", "topic")
    write(theirs(base) for _, base, _, theirs in listed)
    repository.git("switch", "-q", "-")
    write(ours(base) for _, base, ours, _ in listed)
    repository.try_git("merge", "-q", "--no-edit", "topic")
    left = repository.git("diff", "--name-only", "--diff-filter=U").split()
    return {listed[int(name.removesuffix(".md"))][0] for name in left}


def with_keys(names: Iterable[str]) -> str:
    """A document that got keys one by one."""
    text = document()
    for name in names:
        text = adds(name)(text)
    return text


def rich(name: str, *, composed: bool) -> str:
    """A document with every optional key but one, composed as a whole or grown key by key."""
    others = [other for other in OPTIONAL if other != name]
    if not composed:
        return with_keys(others)
    nested = {other.partition(".")[2]: value_of(other) for other in others if other.startswith("links.")}
    flat = {other: value_of(other) for other in others if not other.startswith("links.")}
    return document(links=nested, **flat)


@pytest.mark.parametrize("made", ["least", "grown", "composed"])
def test_new_key_merges_with_every_edit_of_another(tmp_path: Path, made: str) -> None:
    cases = []
    for new in OPTIONAL:
        base = document() if made == "least" else rich(new, composed=made == "composed")
        edits = dict(ALWAYS)
        for name in LISTS:
            if name != new:
                edits |= grown(name)
        for title, edit in edits.items():
            having = base
            name = title.rpartition(" of ")[2]
            if made == "least" and name in LISTS:
                having = with_keys([name])
            cases.append((f"{title} + {new}", having, edit, adds(new)))
    below_patches = next(slot for slot in slots() if "anchors" in slot)
    # The place of `aliases` is below the title. Only the gardener adds patches to a document.
    assert conflicts(tmp_path, cases) == {
        "title + aliases",
        *(f"last patch + {key}" for key in below_patches),
    }


def slots() -> list[set[str]]:
    """The optional keys that a document without any gets in one place."""
    by_line: dict[str, set[str]] = {}
    for name in OPTIONAL:
        lines = document().splitlines()
        new = adds(name)(document()).splitlines()
        at = next(at for at, line in enumerate(new) if line != lines[at])
        by_line.setdefault(lines[at - 1], set()).add(name)
    return list(by_line.values())


def test_new_keys_of_two_branches_conflict_only_in_one_place(tmp_path: Path) -> None:
    pairs = list(combinations(OPTIONAL, 2))
    cases = [(f"{one} + {two}", document(), adds(one), adds(two)) for one, two in pairs]
    together = {f"{one} + {two}" for one, two in pairs if any({one, two} <= slot for slot in slots())}
    assert conflicts(tmp_path, cases) == together
    assert "author + credibility" not in together
    assert "anchors + links.refers_to" not in together
    assert len(slots()) == 3


def test_every_place_of_a_new_key_is_below_a_required_one() -> None:
    """Existing documents keep their order; only the new key's own lines are added."""
    old = "---\nid: fact.a\nkind: fact\ntags:\n  - m\nmine: 1\ntitle: A\nprovenance:\n---\n"
    for name in OPTIONAL:
        new = adds(name)(old)
        assert remove_key(new, key_of(name)[:1]) == old
        lines = new.splitlines()
        at = next(at for at, line in enumerate(lines) if line.startswith(key_of(name)[0] + ":"))
        assert lines[at - 1].partition(":")[0] in ("title", "kind", "provenance")
