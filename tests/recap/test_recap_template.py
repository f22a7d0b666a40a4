"""Recap templates: the supported subset, and nothing a hostile repository could use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import InvalidConfig
from thunderus_mem.recap.template import NAMES, SECTIONS, fill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Server

VALUES = {"title": "T", "kind": "day", "name": "N", "day": "2026-01-21"} | {
    name: [f"{name} one", f"{name} two"] for name in SECTIONS
}


def test_built_in_template_shows_every_nonempty_section() -> None:
    page = fill("", "", VALUES)
    places = [page.index(f"{name} one") for name in SECTIONS]
    assert places == sorted(places)
    assert all(f"{name} two" in page for name in SECTIONS)
    empty = {name: [] for name in SECTIONS if name not in ("summary", "provenance")}
    assert fill("", "", VALUES | empty) == (
        "# T\n\n## Summary\n\n- summary one\n- summary two\n\n## Open items\n\nNone found.\n\n"
        "## Provenance\n\n- provenance one\n- provenance two\n"
    )


def test_custom_template_is_rendered_with_provenance() -> None:
    loop = "{% for line in notes %}\n{{ loop.index }}. {{ line }}\n{% else %}\nnone\n{% endfor %}\n"
    template = "# {{ title | upper }}\n" + loop
    page = fill(template, "t.md.j2", VALUES)
    assert page == (
        "# T\n1. notes one\n2. notes two\n\n## Provenance\n\n- provenance one\n- provenance two\n"
    )
    assert fill("{{ provenance | join('; ') }}", "t", VALUES) == "provenance one; provenance two\n"


def test_values_are_never_parsed_as_templates() -> None:
    assert fill("{{ title }}{{ provenance[0] }}", "t", VALUES | {"title": "{{ kind }}{% x"}) == (
        "{{ kind }}{% xprovenance one\n"
    )


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("a\n{{ secret }}", "t, line 2: unknown name 'secret'"),
        ("{% for x in notes %}\n{{ x }", "t, line 2:"),
        ("a\n\n{{ notes.__class__.__mro__ }}", "t, line 3: unknown attribute '__mro__'"),
        ("{{ ''.__class__ }}", "unknown attribute '__class__'"),
        ("{{ notes['append'] }}", "line 1: an index must be a number"),
        ("{% for a in notes %}{{ notes[a] }}{% endfor %}", "an index must be a number"),
        ("{{ title() }}", "a call is not allowed in a recap template"),
        ("{{ range(9) }}", "a call is not allowed in a recap template"),
        ("{{ 'a' * 999999999 }}", "* is not allowed in a recap template"),
        ("{{ 'a' ~ 'b' }}", "~ is not allowed in a recap template"),
        ("{{ 9 ** 999999999 }}", "** is not allowed in a recap template"),
        ("{{ '%999999999d' % 1 }}", "% is not allowed in a recap template"),
        ("{{ '%999999999d' | format(1) }}", "format"),
        ("{{ title | center(999999999) }}", "center"),
        ("{{ [1, 2] }}", "a list is not allowed in a recap template"),
        ("{% set x = 1 %}{{ x }}", "set is not allowed in a recap template"),
        ("{% include '/etc/passwd' %}", "include is not allowed in a recap template"),
        ("{% extends 'x' %}", "extends is not allowed in a recap template"),
        ("{% import 'x' as y %}", "import is not allowed in a recap template"),
        ("{% macro m() %}{% endmacro %}", "macro is not allowed in a recap template"),
        (
            "{% for a in notes recursive %}{{ loop(a) }}{% endfor %}",
            "loops can be nested 2 levels deep at most",
        ),
        (
            "{% for a in notes %}" * 3 + "x" + "{% endfor %}" * 3,
            "loops can be nested 2 levels deep at most",
        ),
        ("{{ title | join | join | join }}", "at most 2 filters"),
        ("{{ notes | join(title | length) }}{{ day / 0 }}", "is not allowed in a recap template"),
        ("{{ 'x' }}" + "a" * 70_000, "exceeds 64 KiB"),
        ("{{ title }}" * 3_000, "more than 2,000 parts"),
        ("{{ title is callable }}", "callable"),
        ("{{ notes[99] }}", "line 1"),
        ("{{ loop.index }}", "unknown name 'loop'"),
        ("{{ self }}", "unknown name 'self'"),
        ("{% for title in notes %}{{ title.upper }}{% endfor %}", "unknown attribute 'upper'"),
    ],
)
def test_unsupported_syntax_is_rejected_with_file_and_line(template: str, says: str) -> None:
    with pytest.raises(InvalidConfig) as error:
        fill(template, "t", VALUES)
    assert says in str(error.value)
    assert str(error.value).startswith("t")
    assert error.value.hint


def test_rendering_is_bounded() -> None:
    loops = "{% for a in notes %}{% for b in notes %}{{ title }}{% endfor %}{% endfor %}"
    with pytest.raises(InvalidConfig, match="more than 1 MiB"):
        fill(loops, "t", VALUES | {"notes": ["x"] * 5_000, "title": "y" * 100})
    with pytest.raises(InvalidConfig, match="exceeds 1 MiB"):
        fill("{{ notes | join('" + "x" * 50_000 + "') | join(',') }}", "t", VALUES | {"notes": ["x"] * 50})


PIECES = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "{%",
            "%}",
            "for",
            "in",
            "if",
            "endif",
            "endfor",
            "notes",
            "title",
            "|",
            "join",
            "(",
            ")",
        ),
        *(
            "'",
            "x",
            "{% for x in notes %}",
            "{{ x }}",
            "{% endfor %}",
            "[0]",
            ".a",
            "{#",
            "#}",
            "-",
            "*",
            "~",
        ),
        *("set", "=", "\n"),
    ]
)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.lists(PIECES, max_size=14).map(" ".join) | st.text(max_size=30))
def test_any_template_renders_or_fails_with_a_line(template: str) -> None:
    said, page = "t, line 1", "\n"
    try:
        page = fill(template, "t", VALUES)
    except InvalidConfig as error:
        said = str(error)
    assert said.startswith("t, line ")
    assert page.endswith("\n")


def test_template_can_use_names_besides_sections() -> None:
    assert set(SECTIONS) < set(NAMES)


def test_template_without_values_is_plain_text() -> None:
    assert fill("# $title costs $5\n", "t", VALUES) == (
        "# $title costs $5\n\n## Provenance\n\n- provenance one\n- provenance two\n"
    )


def test_configured_template_is_used_and_errors_have_a_location(repo: Path, server: Server) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    (repo / ".thunderus/memory/gardener.toml").write_text('[recap]\ntemplate = "docs/recap.md.j2"\n')
    missing = server.run("recap", cwd=str(repo))
    assert (missing.code, "docs/recap.md.j2" in missing.err) == (4, True)
    (repo / "docs").mkdir()
    template = repo / "docs/recap.md.j2"
    template.write_text("# {{ title }}\n\n{{ changs }}\n")
    broken = server.run("recap", cwd=str(repo))
    assert broken.code == 2
    assert "docs/recap.md.j2, line 3: unknown name 'changs'" in broken.err.lower()
    template.write_bytes(b"# {{ title }}\n\xff\n")
    mangled = server.run("recap", cwd=str(repo))
    assert (mangled.code, "docs/recap.md.j2, line 2: invalid UTF-8" in mangled.err) == (2, True)
    assert not list((repo / ".thunderus/memory/episodic").glob("*.md"))
    template.write_text("# My {{ title }}\n")
    made = server.run("recap", cwd=str(repo), env={"THUNDERUS_MEM_SEED": "3"})
    assert made.code == 0, made.err
    text = (repo / ".thunderus/memory/episodic/2026-01-21.md").read_text()
    assert "\n# My Recap of 2026-01-21\n\n## Provenance\n\n- Changes to `core`: `evt_" in text


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "docs/recap.md.j2 is not a regular file"),
        (os.mkdir, "docs/recap.md.j2 is not a regular file"),
        (lambda path: os.symlink("/etc/passwd", path), "is a symbolic link"),
        (lambda path: _sparse(path, 3 << 30), "docs/recap.md.j2 is larger than 1,048,576 bytes"),
    ],
    ids=["fifo", "folder", "link", "huge"],
)
def test_template_that_is_not_a_regular_file_is_rejected(
    make: Callable[[str], None], says: str, repo: Path, server: Server
) -> None:
    assert server.run("init", cwd=str(repo)).code == 0
    settings = '[recap]\ntemplate = "docs/recap.md.j2"\nschedule = ["day"]\n'
    (repo / ".thunderus/memory/gardener.toml").write_text(settings)
    (repo / "docs").mkdir()
    make(str(repo / "docs/recap.md.j2"))
    for words in (("recap",), ("garden",), ("garden", "--apply")):
        done = server.run(*words, cwd=str(repo), timeout=20)
        assert done.code == 5, done
        assert says in done.err
        assert str(repo) not in done.err
    assert not list((repo / ".thunderus/memory/episodic").glob("*.md"))


def _sparse(path: str, size: int) -> None:
    with open(path, "wb") as stream:
        stream.truncate(size)
