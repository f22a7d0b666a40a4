"""Lint apart from its rules: selection, severities, suppressions, edits, the store, the pages."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.index_support import document
from tests.support.lint_corpus import FRONT, SECRETS, ReadCorpus, lint_documents
from thunderus_mem.cli.report import MOST_DETAILED
from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.document.document import read_document
from thunderus_mem.document.markdown import heading_anchor
from thunderus_mem.document.schema import schema_text
from thunderus_mem.errors import NotFound
from thunderus_mem.lint.engine import RULES, apply_edits, lint_reading, lint_store, rule_formats, rule_page
from thunderus_mem.lint.rule import CODES, LintConfig, LintContext, SchemaCopy, StoreState
from thunderus_mem.lint.rules.links import nearest
from thunderus_mem.lint.rules.store import matches
from thunderus_mem.safety.concealed import PLACES
from thunderus_mem.safety.injection_rules import SIGNS
from thunderus_mem.safety.secret_rules import SECRET_RULES
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from tests.support.command_server import Done

PATH = ".thunderus/memory/semantic/FACTS/a.md"
FACT = FRONT.format(id="fact.a", kind="fact")
UNJUDGED = LintConfig(ignore=("TM6",))


def found(text: str, config: LintConfig | None = None) -> list[Diagnostic]:
    return lint_documents({PATH: text.encode()}, config)[PATH]


def codes(text: str, config: LintConfig | None = None) -> list[str]:
    return [one.rule for one in found(text, config)]


def test_ordinary_document_has_no_findings() -> None:
    assert found(FACT + "Run `make test`.\n") == []


def test_linting_an_ordinary_document_loads_no_heavy_library() -> None:
    code = f"""
import sys
from tests.support.lint_corpus import lint_documents
assert lint_documents({{{PATH!r}: {(FACT + "Run it.").encode()!r}}}) == {{{PATH!r}: []}}
heavy = {{"jsonschema", "ruamel", "frontmatter", "git", "rich", "difflib", "sqlite3"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rules_are_selected_and_ignored_by_code_prefix() -> None:
    text = FACT + "## A\n## A\n[[nothing]]\n"
    assert codes(text) == ["TM108", "TM201"]
    assert codes(text, LintConfig(select=("TM2",))) == ["TM201"]
    assert codes(text, LintConfig(ignore=("TM2",))) == ["TM108"]
    assert codes(text, LintConfig(select=("TM1", "TM2"), ignore=("TM108",))) == ["TM201"]


def test_severities_come_from_the_configuration() -> None:
    text = FACT + "[[nothing]]\n"
    changed = found(text, LintConfig(severities={"TM201": Severity.NOTE}))
    assert [one.severity for one in changed] == [Severity.NOTE]
    assert found(text, LintConfig(severities={"TM201": "off"})) == []


def capped(soft: int, hard: int, **kinds: int) -> LintConfig:
    texts = tuple(f"{kind} = {tokens}" for kind, tokens in kinds.items())
    return LintConfig(settings=Config(caps_document_soft=soft, caps_document_hard=hard, caps_kinds=texts))


def test_caps_come_from_the_configuration() -> None:
    small = capped(10, 20)
    assert "TM302" in codes(FACT + "x" * 200 + "\n", small)


def test_cap_of_a_kind_replaces_the_soft_cap_and_raises_the_hard_one() -> None:
    text = FACT + "x" * 400 + "\n"
    tokens = len(text) // 4
    caps = capped(1000, 2000)
    assert codes(text, caps) == []
    assert codes(text, capped(1000, 2000, recap=10, fact=tokens)) == []
    (finding,) = found(text, capped(1000, 2000, fact=tokens - 1))
    assert (finding.rule, finding.expected) == ("TM301", f"at most {tokens - 1} tokens")
    tight = capped(10, 20)
    assert codes(text, tight) == ["TM302"]
    assert codes(text, capped(10, 20, playbook=tokens)) == ["TM302"]
    assert codes(text, capped(10, 20, fact=tokens)) == []
    assert codes(text, capped(10, 20, fact=tokens - 1)) == ["TM302"]


def test_without_a_corpus_other_documents_are_not_checked() -> None:
    reading = read_document(PATH, (FACT + "[[nothing]] [x](none.md)\n").encode())
    assert lint_reading(LintContext(reading, None, LintConfig(), lambda path: False)) == []


@pytest.mark.parametrize(
    "body",
    [
        "[[nothing]] <!-- thunderus-mem: ignore TM201 it is planned -->\n",
        "<!-- thunderus-mem: ignore TM201 -->\n[[nothing]]\n",
        "<!-- thunderus-mem: ignore TM108, TM201 both -->\n\n[[nothing]]\n",
        "<!-- thunderus-mem: ignore TM201 a -->\n<!-- thunderus-mem: ignore TM108 b -->\n[[nothing]]\n",
        "[[nothing]]\n\nlater <!-- thunderus-mem: ignore-file TM201 -->\n",
    ],
)
def test_comment_suppresses_a_finding(body: str) -> None:
    assert codes(FACT + body, UNJUDGED) == []
    assert codes((FACT + body).replace("\n", "\r\n"), UNJUDGED) == []


@pytest.mark.parametrize(
    "body",
    [
        "<!-- thunderus-mem: ignore TM201 -->\nA line.\n[[nothing]]\n",
        "[[nothing]] <!-- thunderus-mem: ignore TM203 -->\n",
        "[[nothing]] thunderus-mem: ignore TM201\n",
        "[[nothing]]\n<!-- thunderus-mem: ignore TM201 -->\nA line.\n",
    ],
)
def test_comment_elsewhere_or_for_another_rule_suppresses_nothing(body: str) -> None:
    assert codes(FACT + body, UNJUDGED) == ["TM201"]


def test_secret_is_suppressed_only_by_its_fingerprint() -> None:
    line = f"Deploy with {SECRETS['github']}."
    mark = find_secrets(line)[0].fingerprint
    assert codes(f"{FACT}{line} <!-- thunderus-mem: ignore TM401 {mark} made up -->\n") == []
    assert codes(f"{FACT}{line} <!-- thunderus-mem: ignore TM401 made up -->\n") == ["TM401", "TM602"]
    assert codes(f"{FACT}{line}\n<!-- thunderus-mem: ignore-file TM401 -->\n", UNJUDGED) == ["TM401"]
    assert SECRETS["github"] not in repr(found(FACT + line))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<!-- thunderus-mem: ignore TM401 x y -->\n", id="each alone on its line"),
        pytest.param("<!-- thunderus-mem: ignore TM401 x y -->", id="on one line"),
        pytest.param("[[gone]] <!-- thunderus-mem: ignore TM201 x y -->\n", id="each used"),
        pytest.param("[[gone]] <!-- thunderus-mem: ignore-file TM201 x y -->\n", id="each for the file"),
    ],
)
def test_work_grows_with_the_comments(body: str) -> None:
    few, many = _steps(FACT + body * 50), _steps(FACT + body * 100)
    assert many < 2.5 * few


def _steps(text: str) -> int:
    """Lines that run in the modules that read and apply suppressions."""
    ran = 0

    def note(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal ran
        if not frame.f_code.co_filename.endswith(("document/markdown.py", "rules/store.py")):
            return None
        ran += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        found(text)
    finally:
        sys.settrace(before)
    return ran


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("before", ["", "## Other\n\n"])
def test_heading_with_a_secret_is_not_suggested_for_an_anchor(secret: str, before: str) -> None:
    slug = heading_anchor(f"Key {secret}")
    body = f"{before}## Key {secret}\n\n"
    own = f"[the key](#{slug[:-3]}) and [key](#key-x)\n"
    from_other = f"[the key](a.md#{slug[:-3]}) and [key](a.md#key-x)\n"
    other = PATH.replace("/a.md", "/b.md")
    texts = {PATH: FACT + body + own, other: FRONT.format(id="fact.b", kind="fact") + from_other}
    linted = lint_documents({path: text.encode() for path, text in texts.items()})
    dead = [one for ones in linted.values() for one in ones if one.rule == "TM203"]
    assert len(dead) == 4
    assert slug not in repr([(one.expected, one.hint) for one in dead])


def test_edits_fix_their_findings() -> None:
    text = FACT.replace("title: A title", "title: no").replace("updated: 2026-01-21", "updated: 2026-01-20")
    text += "Zero\u200bwidth.\n"
    assert codes(text) == ["TM013", "TM109", "TM402"]
    fixed = apply_edits(text, found(text))
    assert codes(fixed) == []
    assert fixed == FACT.replace("A title", '"no"') + "Zerowidth.\n"


def test_edits_keep_crlf_and_a_byte_order_mark() -> None:
    text = "\ufeff" + FACT.replace("title: A title", "title: no").replace("\n", "\r\n") + "Text.\r\n"
    assert apply_edits(text, found(text)) == text.replace("title: no", 'title: "no"')


def test_overlapping_edits_are_applied_once_and_invalid_ones_never() -> None:
    base = Diagnostic("TM013", Severity.WARNING, "a.md", 1, 1, "x")
    first = base._replace(edits=(TextEdit(0, 3, "A"), TextEdit(5, 6, "B")))
    second = base._replace(column=2, edits=(TextEdit(2, 4, "C"), TextEdit(8, 9, "D")))
    beyond = base._replace(column=3, edits=(TextEdit(90, 91, "E"),))
    assert apply_edits("0123456789", [second, beyond, first]) == "A34B6789"


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            [
                *("---\n", "id: fact.a\n", "title: no\n", "kind: fact\n", "tags: [a, on]\n", "# A\n"),
                *(
                    "links: {refers_to: [x]}\n",
                    "[[x#y]] [a](b.md#c)\n",
                    "<<<<<<< H\n",
                    "=======\n",
                    ">>>>>>> T\n",
                ),
                *("\u200b\u202e\x00", "```\n", "![](https://a.example/?q=1)\n", "text\r\n", "\ufeff", ": ["),
                "<!-- thunderus-mem: ignore TM201 x -->\n",
            ]
        ),
        max_size=14,
    )
)
def test_any_text_has_correct_locations_and_safe_edits(parts: list[str]) -> None:
    text = "".join(parts)
    ones = found(text)
    lines = text.split("\n")
    for one in ones:
        assert one.rule in CODES
        assert 0 <= one.line <= len(lines)
        assert one.line == 0 or 1 <= one.column <= len(lines[one.line - 1]) + 2
        assert one.expected
    fixed = apply_edits(text, ones)
    assert {one.rule for one in found(fixed)} <= {one.rule for one in ones} | {"TM013"}


def test_similar_name_is_found_among_many() -> None:
    names = sorted([*(f"fact.name-{number}" for number in range(3_000)), "fact.testing"])
    assert nearest("fact.testign", names) == "fact.testing"
    assert nearest("fact.testing", names, "fact.testing") == ""
    assert nearest("zzz", names) == ""
    decisions = ["adr.ip-ranges", "adr.use-rds-instead-of-our-own", "adr.use-rds-proxies"]
    assert nearest("adr.use-rds", decisions) == "adr.use-rds-proxies"
    assert nearest("adr.use-sts", decisions[:1]) == ""
    assert nearest("cloning-the-repositories", ["deploy-the-rest-of-the-projects"]) == ""


def test_changed_or_missing_schema_files_are_reported() -> None:
    wanted = schema_text("events.v1")
    for same in (wanted, wanted.replace("\n", "\r\n")):
        assert lint_store(StoreState(schemas={"events.v1.schema.json": SchemaCopy(same, wanted)})) == []
    ones = lint_store(
        StoreState(
            schemas={
                "memory_store.sql": SchemaCopy("CREATE TABLE docs (id);", "CREATE TABLE docs (doc_id);"),
                "events.v1.schema.json": SchemaCopy(None, wanted),
            }
        )
    )
    assert [(one.rule, one.path) for one in ones] == [
        ("TM501", ".thunderus/schemas/events.v1.schema.json"),
        ("TM501", ".thunderus/schemas/memory_store.sql"),
    ]


def test_migrate_updates_schemas_that_differ(repo: Path, run: Callable[..., Any]) -> None:
    run("init", cwd=repo)
    drifted = repo / ".thunderus/schemas/memory_store.sql"
    drifted.write_text("-- old\n")

    assert run("lint", cwd=repo).code == 1
    assert "memory_store.sql" in run("migrate", "--apply", cwd=repo).out
    assert run("lint", cwd=repo).code == 0
    assert run("migrate", "--check", cwd=repo).code == 0


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[" * 100_000, '{"version": NaN}', "[]", '{"version": 1, "docs": []}', "{}"]
)
def test_broken_manifest_is_reported(text: str) -> None:
    ones = lint_store(StoreState(manifest=text))
    assert ones
    assert {one.rule for one in ones} == {"TM502"}


def test_empty_manifest_is_valid() -> None:
    text = (
        '{"version": 1, "generated_at": "2026-01-21T09:00:00Z", "docs": [], '
        '"stats": {"total_docs": 0, "by_kind": {}, "total_tokens_approx": 0}}'
    )
    assert lint_store(StoreState(manifest=text)) == []


def test_wrong_entry_of_the_manifest_names_the_document_to_correct(
    repo: Path, run: Callable[..., Any]
) -> None:
    run("init", cwd=repo)
    run("add", "fact", "Testing", "--tag", "x", "--body", "Tests run with pytest.", cwd=repo)
    path = ".thunderus/memory/semantic/FACTS/testing.md"
    text = (repo / path).read_text(encoding="utf-8")
    (repo / path).write_text(re.sub(r"(?m)^updated:.*\n", "", text), encoding="utf-8")
    out = run("lint", "--json", cwd=repo).json["diagnostics"]
    assert [(one["rule"], one["path"], one["hint"]) for one in out] == [
        ("TM502", ".thunderus/memory/indexes/manifest.json", f"Correct the frontmatter of {path}"),
        ("TM101", path, "Add the key `updated`"),
    ]


@pytest.mark.parametrize("code", ["TM503", "TM504", "TM505", "TM507", "TM508"])
def test_log_findings_are_reported_under_their_rule(code: str) -> None:
    one = Diagnostic(code, CODES[code][1], ".thunderus/sessions/s/events.jsonl", 3, 1, "Damage.")
    assert [found._replace(fingerprint="") for found in lint_store(StoreState(reported=(one,)))] == [one]
    assert lint_store(StoreState(reported=(one,), config=LintConfig(ignore=(code,)))) == []


def test_tracked_derived_files_are_reported() -> None:
    ones = lint_store(StoreState(tracked=(".thunderus/memory/indexes/memory.db",)))
    assert [one.rule for one in ones] == ["TM506"]
    assert "git rm --cached" in ones[0].hint


def test_rules_are_the_codes_in_order() -> None:
    assert [rule.code for rule in RULES] == list(CODES)
    assert [rule.code for rule in RULES] == sorted(CODES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_complete_page(rule: object) -> None:
    code = rule.code  # type: ignore[attr-defined]
    page = rule_page(code)
    assert page.startswith(f"{code} {CODES[code][0]} (")
    for part in ("\nWhy: ", "\nBad:\n", "\nGood:\n", "\nFix: "):
        assert part in page, part
    assert "``" not in page + rule.summary  # type: ignore[attr-defined]
    assert page == rule_page(CODES[code][0])
    assert re.search(r"[.]$", page.split("\n")[2])


def test_page_lists_every_format_with_shortened_examples() -> None:
    formats = rule_formats("TM401")
    assert rule_formats("TM101") == ""
    assert find_secrets(formats) == []
    assert formats.count("finds: ") == len(SECRET_RULES)
    assert rule_formats("TM404").count("finds: ") == len(SIGNS) + len(PLACES)


def test_unknown_code_gets_a_suggestion() -> None:
    with pytest.raises(NotFound) as error:
        rule_page("dead-lnk")
    assert error.value.hint is not None
    assert "dead-link" in error.value.hint


ENTRY = {"semantic/**": {"TM201": "links are written ahead"}}


def test_configured_suppression_applies_to_its_files() -> None:
    config = LintConfig(per_file=ENTRY)
    needed: set[tuple[str, str]] = set()
    reading = read_document(PATH, (FACT + "[[nothing]]\n").encode())
    context = LintContext(reading, ReadCorpus([reading]), config, lambda path: True)
    assert lint_reading(context, needed=needed) == []
    assert needed == {("semantic/**", "TM201")}
    assert codes(FACT + "[[nothing]]\n", LintConfig(per_file={"episodic/**": ENTRY["semantic/**"]})) == [
        "TM201"
    ]


def test_configured_suppression_hides_only_the_named_secret() -> None:
    text = f"{FACT}Deploy with {SECRETS['github']}.\n"
    mark = find_secrets(text)[0].fingerprint
    assert codes(text, LintConfig(per_file={"**": {"TM401": "made up"}})) == ["TM401"]
    assert codes(text, LintConfig(per_file={"**": {"TM401": f"{mark} made up"}})) == []


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        (PATH, True),
        ("semantic/FACTS/a.md", True),
        ("semantic/FACTS/*.md", True),
        ("semantic/*.md", False),
        ("semantic/**/*.md", True),
        ("**/a.md", True),
        ("**", True),
        ("semantic/**/**/FACTS/**/a.md", True),
        ("semantic", False),
        (".thunderus/**/b.md", False),
        ("SEMANTIC/**", False),
        ("**/" * 90 + "x", False),
        ("*a" * 120, False),
    ],
)
def test_globs_match_from_the_root_and_from_the_memory(glob: str, fits: bool) -> None:
    assert matches(glob, PATH) is fits


def configured(
    answered: frozenset[tuple[str, str]] | None = frozenset(), **config: Any
) -> list[tuple[str, str]]:
    ones = lint_store(StoreState(config=LintConfig(**config), needed=answered))
    return [(one.key, one.hint or one.message) for one in ones]


def test_unused_configured_suppression_is_reported() -> None:
    used = frozenset({("semantic/**", "TM201")})
    assert configured(used, per_file=ENTRY) == []
    assert configured(None, per_file=ENTRY) == []
    (unused,) = lint_store(StoreState(config=LintConfig(per_file=ENTRY), needed=frozenset()))
    assert "Unused suppression" in unused.message
    assert configured(per_file=ENTRY, ignore=("TM2",)) == []
    assert configured(used, per_file={"semantic/**": {"TM201": " "}}) == [
        ("lint.per_file.semantic/**.TM201", "Write why these findings are suppressed")
    ]
    near = "Did you mean TM012 or TM102 or TM201?"
    assert configured(per_file={"**": {"TM021": "x"}}) == [("lint.per_file.**.TM021", near)]
    assert configured(ignore=("TM9",))[0][0] == "lint.ignore"
    assert configured(severities={"TM3O1": Severity.NOTE}) == [("lint.severity", "Did you mean TM301?")]


def test_many_findings_are_printed_one_per_line_and_counted(run: Callable[..., Done], repo: Path) -> None:
    run("init")
    facts = repo / ".thunderus" / "memory" / "semantic" / "FACTS"
    for number in range(MOST_DETAILED + 1):
        text = document(f"fact.n{number}", f"See [x](gone{number}.md).\n")
        (facts / f"n{number}.md").write_text(text)
    few = run("lint", ".thunderus/memory/semantic/FACTS/n1.md").out
    assert "    fix: " in few
    ran = run("lint", "--select", "TM201")
    lines = ran.out.splitlines()
    assert (ran.code, len(lines)) == (1, MOST_DETAILED + 2)
    assert all(" error TM201 dead-link: " in line for line in lines[:-1])
    assert lines[-1] == f"{MOST_DETAILED + 1} errors"
    assert "lint --format full" in ran.err
    assert run("lint", "--select", "TM201", "--format", "full").out.count("    fix: ") == MOST_DETAILED + 1
    counted = run("lint", "--select", "TM201", "--statistics")
    assert (counted.code, counted.out) == (1, f"{MOST_DETAILED + 1}  TM201  dead-link  error\n")
    (one,) = run("lint", "--select", "TM201", "--statistics", "--json").json["items"]
    assert (one["code"], one["findings"], one.get("fixable", 0)) == ("TM201", MOST_DETAILED + 1, 0)
