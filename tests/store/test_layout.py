"""Layout: names inside the store, kinds of paths, and finding the store from any folder."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.errors import NoStore
from thunderus_mem.store.layout import FoundStore, Layout, find_root
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from pathlib import Path


def store(folder: Path) -> Path:
    (folder / ".thunderus").mkdir(parents=True)
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".thunderus/memory/core/CORE.md", "core"),
        (".thunderus/memory/core/CORE.local.md", "core"),
        (".thunderus/memory/semantic/FACTS/testing.md", "fact"),
        (".thunderus/memory/semantic/DECISIONS/ADR-0001-x.md", "adr"),
        (".thunderus/memory/procedural/PLAYBOOKS/release.md", "playbook"),
        (".thunderus/memory/episodic/2026-01/s.md", "recap"),
        (".thunderus/memory/semantic/notes.md", None),
        (".thunderus/memory/semantic/FACTS/.hidden.md", None),
        (".thunderus/memory/semantic/FACTS/data.txt", None),
        ("README.md", None),
    ],
)
def test_folder_determines_the_kind(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind


def test_every_path_is_inside_the_store(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    names = [name for name in dir(Layout) if isinstance(getattr(Layout, name), property)]
    assert len(names) > 15
    for name in names:
        assert layout.relative(getattr(layout, name)).split("/")[0] == ".thunderus", name


def test_relative_rejects_paths_outside(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="outside"):
        Layout(str(tmp_path / "a")).relative(str(tmp_path / "b"))


def test_nearest_parent_store_is_found(tmp_path: Path) -> None:
    root = store(tmp_path / "project")
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_root(str(deep), {}) == FoundStore(str(root))


def test_package_store_wins_and_the_outer_store_is_reported(tmp_path: Path) -> None:
    outer = store(repository(tmp_path / "mono"))
    inner = store(outer / "packages" / "a")
    assert find_root(str(inner), {}) == FoundStore(str(inner), (str(outer),))


def test_search_ends_at_the_top_of_the_working_tree(tmp_path: Path) -> None:
    store(tmp_path)
    inner = repository(tmp_path / "inner")
    with pytest.raises(NoStore) as caught:
        find_root(str(inner), {})
    assert "thunderus-mem init" in (caught.value.hint or "")


def test_error_names_the_stores_below(tmp_path: Path) -> None:
    root = repository(tmp_path / "mono")
    for name in ("svc/b", "svc/a", "svc/a/inner", "node_modules/x", ".cache/y", "1/2/3/4/5"):
        store(root / name)
    (root / "link").symlink_to(store(tmp_path / "elsewhere"))
    with pytest.raises(NoStore) as caught:
        find_root(str(root), {})
    assert caught.value.hint == "use one of those below with `thunderus-mem -C DIR`: svc/a, svc/b"
    for name in "cdefg":
        store(root / "svc" / name)
    with pytest.raises(NoStore) as caught:
        find_root(str(root / "svc"), {})
    assert caught.value.hint == "use one of those below with `thunderus-mem -C DIR`: a, b, c, d, e, …"


def test_linked_worktree_without_a_store_uses_the_main_one(tmp_path: Path) -> None:
    main = store(repository(tmp_path / "main"))
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert find_root(str(tmp_path / "linked"), {}) == FoundStore(str(main))
    store(tmp_path / "linked")
    assert find_root(str(tmp_path / "linked"), {}) == FoundStore(str(tmp_path / "linked"))


def test_submodule_uses_the_store_of_the_outer_repository(tmp_path: Path) -> None:
    part = repository(tmp_path / "part")
    outer = store(repository(tmp_path / "outer"))
    git(outer, "submodule", "add", "-q", str(part), "part")
    assert find_root(str(outer / "part"), {}) == FoundStore(str(outer))


def test_environment_can_set_the_root(tmp_path: Path) -> None:
    root = store(tmp_path / "elsewhere")
    assert find_root(str(tmp_path), {"THUNDERUS_MEM_ROOT": "elsewhere"}) == FoundStore(str(root))
    with pytest.raises(NoStore, match="THUNDERUS_MEM_ROOT"):
        find_root(str(tmp_path), {"THUNDERUS_MEM_ROOT": str(tmp_path / "nothing")})


@pytest.mark.parametrize("text", ["", "nonsense", "gitdir: ", "gitdir: ../nowhere"])
def test_invalid_git_file_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    with pytest.raises(NoStore):
        find_root(str(tmp_path), {})
