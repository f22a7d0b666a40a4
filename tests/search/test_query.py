# ruff: noqa: E501, PT017
from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import InvalidQuery
from thunderus_mem.index import words
from thunderus_mem.index.words import has_hump, identifier_parts
from thunderus_mem.search.query import MAX_TERMS, exclusion_expression, match_expression, parse_query

TABLE = sqlite3.connect(":memory:")
TABLE.execute(
    "CREATE VIRTUAL TABLE t USING fts5(text, parts, tokenize = 'porter unicode61 remove_diacritics 2')"
)

DEVELOPER_QUERIES = [
    "foo(bar)", "std::vector<int>", "a AND", "OR", "NOT x", "NEAR(a b, 3)", 'say "hello', "'", '"', '""', "*", "a*",
    "^start", "col:val", "title:x", "http://localhost:8080/a?b=c&d=e", "C++", "c#", ".gitignore", "--force", "-",
    "- x", "foo-bar", "{x}", "[tool.ruff]", "x = y;", "$HOME/.config", "@decorator", "a\\b", "%s", "…", "👍",
    "\x00nul\x00", "\ud800", "SELECT * FROM t;", "l'été", "naïve café", "数据库", "のテスト", "테스트", "1.2.3", "v0.28",
    "NULL", "try/except", "a + b", "key: value", "kind:", "tag: x", "(((((", "\u202eabc", "a\tb\nc", "\"a\" \"b\"",
]  # fmt: skip


def sqlite_error(text: str) -> str:
    """What SQLite says of the expressions for a query, "" if they are valid."""
    for unfinished in (False, True):
        query = parse_query(text, unfinished=unfinished)
        for expression in (match_expression(query), exclusion_expression(query)):
            try:
                TABLE.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression or "a",)).fetchall()
            except sqlite3.Error as error:
                return f"{expression}: {error}"
    return ""


@pytest.mark.parametrize("text", DEVELOPER_QUERIES)
def test_developer_queries_are_never_syntax_errors(text: str) -> None:
    assert sqlite_error(text) == ""


@settings(deadline=None, max_examples=400, derandomize=True)
@given(st.text(max_size=60) | st.text(alphabet='ab "*^():+-{}NEARORAND\x00数é_', max_size=40))
def test_any_text_gives_a_safe_expression(text: str) -> None:
    try:
        found = sqlite_error(text)
    except InvalidQuery as error:
        assert error.hint
    else:
        assert found == ""


@settings(deadline=None, max_examples=400, derandomize=True)
@given(st.text(max_size=60) | st.text(alphabet="aBé_-1 数\t\x1c\xa0", max_size=30))
def test_fast_word_reader_agrees_with_the_grammar(text: str) -> None:
    text = text.replace('"', "").replace(":", "").translate(dict.fromkeys(map(ord, "“”„«»")))
    assert parse_query(text).terms == parse_query(f'{text} ""').terms


@settings(deadline=None, max_examples=400, derandomize=True)
@given(st.text(max_size=20) | st.text(alphabet="aBZé1ǅ", max_size=6))
def test_has_hump_agrees_with_the_pattern(text: str) -> None:
    hump = re.search("[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]", text)
    assert has_hump(text) == (hump is not None)


def found(text: str, query: str) -> bool:
    TABLE.execute("DELETE FROM t")
    TABLE.execute("INSERT INTO t VALUES (?, ?)", (text, " ".join(identifier_parts(text))))
    return bool(
        TABLE.execute("SELECT 1 FROM t WHERE t MATCH ?", (match_expression(parse_query(query)),)).fetchall()
    )


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("uses parse_http2_frame here", "parse_http2_frame"),
        ("uses parse_http2_frame here", "http2"),
        ("uses parse_http2_frame here", "parseHttp2Frame"),
        ("calls parseHTTPFrame()", "parseHTTPFrame"),
        ("calls parseHTTPFrame()", "parsehttpframe"),
        ("calls parseHTTPFrame()", "http"),
        ("calls parseHTTPFrame()", "parse_http_frame"),
        ("see src/net/frame.py", "src/net/frame.py"),
        ("see src/net/frame.py", "frame.py"),
        ("the café is open", "cafe"),
        ("the cafe is open", "café"),
        ("我们使用数据库连接池", "数据库"),
        ("我们使用数据库连接池", "池"),
        ("使用Python数据", "python"),
        ("テストを実行する", "実行"),
        ("running the tests", "run test"),
    ],
)
def test_names_match_completely_and_by_part(text: str, query: str) -> None:
    assert found(text, query)


def test_complete_name_is_a_phrase_of_its_parts() -> None:
    assert match_expression(parse_query("parseHTTPFrame")).startswith(
        '("parseHTTPFrame" OR "parse http frame")'
    )


@pytest.mark.parametrize(
    "text",
    [
        "HTTPServer" * 400,
        "http_server_" * 300,
        "数据库连接池" * 200,
        "a.b1." * 700,
        " ".join(["HttpServer"] * 64),
    ],
)
def test_number_of_query_terms_is_limited(text: str) -> None:
    assert match_expression(parse_query(text)).count(" OR ") < 2 * MAX_TERMS
    many = " ".join(f"word{number}Part{number}" for number in range(64))
    expression = match_expression(parse_query(many))
    assert all(f'"word{number}Part{number}"' in expression for number in range(64))


def test_filters_are_parsed_and_words_kept() -> None:
    query = parse_query(
        'kind:fact TAG:ci -tag:old path:"a b" status:stale verdict:unanchored state:Accepted '
        'category:risk_rule -run_id:"r 1" '
        "since:2026-01-01 before:2026-02-01 word"
    )
    assert (query.kinds, query.tags, query.paths) == (("fact",), ("ci", "-old"), ("a b",))
    assert (query.statuses, query.verdicts, query.states) == (("stale",), ("unanchored",), ("accepted",))
    assert (query.categories, query.runs, query.filtered) == (("risk_rule",), ("-r 1",), True)
    assert query.since is not None
    assert query.before is not None
    assert query.since < query.before
    assert [term.text for term in query.terms] == ["word"]


@pytest.mark.parametrize(
    "text",
    [
        "kind:poem",
        "since:yesterday",
        "before:2026-13-01",
        "before:2026-13",
        "since:20261",
        "status:good",
        "status:accepted",
    ],
)
def test_invalid_filter_value_is_rejected_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        parse_query(text)
    assert caught.value.hint


def test_stop_words_are_dropped_unless_alone() -> None:
    assert [term.text for term in parse_query("how do we run the tests").terms] == ["run", "tests"]
    assert [term.text for term in parse_query("to be or not to be").terms] == ["to", "be", "or", "not"]


def test_quoting_single_words_changes_nothing() -> None:
    assert parse_query('"cache" "token"').terms == parse_query("cache token").terms


def test_excluded_words_and_phrases() -> None:
    query = parse_query('cache -redis -"old way"')
    assert match_expression(query) == '"cache"'
    assert exclusion_expression(query) == '"redis" OR "old way"'


def test_option_name_is_searched() -> None:
    assert match_expression(parse_query("--force")) == '"force"'


def test_long_query_is_truncated_with_a_note() -> None:
    query = parse_query(" ".join(f"word{number}" for number in range(MAX_TERMS + 9)))
    assert len(query.terms) == MAX_TERMS
    assert len(query.notes) == 1
    assert parse_query("x" * 10_000).notes


@pytest.mark.parametrize(("given", "day"), [("2026", "2026-01-01"), ("2026-03", "2026-03-01")])
def test_year_and_month_start_on_their_first_day(given: str, day: str) -> None:
    assert parse_query(f"since:{given}").since == parse_query(f"since:{day}").since
    assert parse_query(f"before:{given}").before == parse_query(f"before:{day}").before


def test_filter_without_a_value_is_a_word_with_a_note() -> None:
    query = parse_query("status: superseded")
    assert [term.text for term in query.terms] == ["status", "superseded"]
    assert query.notes == (
        "'status:' is searched as a word: write the value of a filter directly after the colon",
    )
    assert not parse_query('key: value "kind: x" kind:"adr" https://a std::move f(a: b) note:x').notes


def test_misspelled_filter_is_searched_as_words_with_a_note() -> None:
    query = parse_query("deploy verdct:stale")
    assert [term.text for term in query.terms] == ["deploy", "verdct:stale"]
    assert query.notes == ("'verdct:stale' is searched as words; did you mean `verdict:`?",)


def test_repeated_word_is_searched_once() -> None:
    query = parse_query('redis -old "a b" redis Redis "a b" -old ' + "redis " * MAX_TERMS)
    assert [term.text for term in query.terms] == ["redis", "old", "a b", "Redis"]
    assert not query.notes
    assert match_expression(parse_query("cache cache")) == '"cache"'


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("strasse", '("strasse" OR "straße")'),
        ("Straße", '("Straße" OR "strasse")'),
        ("Massstab", '("Massstab" OR "maßstab" OR "masßtab")'),
        ('"die strasse"', '("die strasse" OR "die straße")'),
        ("session_id", '"session_id"'),
    ],
)
def test_sharp_s_equals_double_s(text: str, expression: str) -> None:
    assert match_expression(parse_query(text)).partition(' OR "session"')[0].startswith(expression)


def test_last_word_is_a_prefix_while_typing() -> None:
    assert match_expression(parse_query("retry han", unfinished=True)) == '"retry" OR "han"*'
    assert match_expression(parse_query("retry han ", unfinished=True)) == '"retry" OR "han"'
    assert match_expression(parse_query("thes", unfinished=True)) == '"thes"*'
    assert match_expression(parse_query('"retry han', unfinished=True)) == '"retry" OR "han"*'
    assert match_expression(parse_query("the", unfinished=True)) == '"the"*'


@settings(deadline=None, max_examples=400, derandomize=True)
@given(st.text(max_size=40) | st.text(alphabet="aBC1_ -é漢ǅ\ud800", max_size=30))
def test_camel_words_agree_with_the_pattern(text: str) -> None:
    mixed = " ".join(word for word in text.split() if not (word.islower() or word.istitle()))
    word = r"\b(?=[A-Za-z0-9_]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]))[A-Za-z0-9_]+"
    assert words._camel_words(text) == re.findall(word, mixed)
