"""Parse a query as typed into a `Query`, and that into a safe FTS5 expression. Words never cause an error.

Grammar: words; ``"a phrase"``; ``-word`` or ``-"a phrase"`` excludes; filters ``kind: tag: path: state:
verdict: status: category: run_id: since: before:`` (``-kind:recap`` excludes). Everything else, including FTS5
operators, is a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import InvalidQuery
from thunderus_mem.index.words import (
    grams,
    has_hump,
    has_word,
    is_cjk,
    latin_parts,
    scripts,
    words_of,
)
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

MAX_TERMS: Final = 64
MAX_BYTES: Final = 4096
_SHARP: Final = 4
_MAX_PIECES: Final = 16
_MISSPELLED: Final = 0.75
"""Similarity of a misspelled name of a filter."""

# ruff: noqa: SIM905, E501 – a word list is most readable as text
STOP_WORDS: Final = frozenset(
    (
        "a about an and are as at be been being but by can could did do does doing done for from get gets got had "
        "has have having he her here him his how i if in into is it its just many me might much must my no nor not of off on or our out "
        "over own please shall she should so some such than that the their them then there these they this those to too "
        "under up us was we were what when where which while who whom whose why will with would you your"
    ).split()
)

_KINDS: Final = {
    "core": "core", "fact": "fact", "facts": "fact", "adr": "adr", "adrs": "adr", "decision": "adr",
    "decisions": "adr", "playbook": "playbook", "playbooks": "playbook", "recap": "recap", "recaps": "recap",
}  # fmt: skip
FILTERS: Final = (
    "kind",
    "tag",
    "path",
    "state",
    "verdict",
    "status",
    "category",
    "run_id",
    "since",
    "before",
)

_UNPRINTABLE: Final = lazy_pattern(r"[\x00-\x1f\x7f\ud800-\udfff]")
_TOKEN: Final = lazy_pattern(
    r"""(?i)(?P<minus>-?)(?:(?P<key>kind|tag|path|state|verdict|status|category|run_id|since|before):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))"""
    r"""|"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)|")"""
)
_FILTER_NAME: Final = lazy_pattern(rf"(?i)(?<!\S)(-?(?:{'|'.join(FILTERS)})):(?=\S)")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


class Term(NamedTuple):
    """A word or identifier as typed, or a phrase: to find, or to exclude.

    An ``open`` word is still being typed: it also matches as a prefix.
    """

    text: str
    phrase: bool
    excluded: bool
    open: bool = False


class Query(NamedTuple):
    """A parsed query. Filter values starting with ``-`` exclude; ``since`` ≤ updated < ``before``.

    ``notes`` describe what was truncated or ignored.
    """

    text: str
    terms: tuple[Term, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    since: str | None = None
    before: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[Term, ...]:
        """The terms to find."""
        return tuple(term for term in self.terms if not term.excluded)

    @property
    def unwanted(self) -> tuple[Term, ...]:
        """The terms to exclude."""
        return tuple(term for term in self.terms if term.excluded)

    @property
    def filtered(self) -> bool:
        """Whether there is any filter."""
        fields = (self.kinds, self.tags, self.paths, self.statuses, self.verdicts, self.states)
        return any(fields) or bool(self.categories or self.runs) or bool(self.since or self.before)


def parse_query(text: str, *, unfinished: bool = False, now: Callable[[], datetime] | None = None) -> Query:
    """Parse a query as typed; with ``unfinished`` the last word is still being typed.

    ``now`` is needed for ages such as ``since:2d``. Raises ``InvalidQuery`` only for an invalid filter value.
    """
    notes: list[str] = []
    printable = text if text.isprintable() else _UNPRINTABLE.sub(" ", text)
    if not printable.isascii():
        from unicodedata import normalize

        printable = normalize("NFC", printable)
    clean = _within_bytes(printable.translate(_QUOTES), notes)
    terms: list[Term] = []
    filters: dict[str, list[str]] = {key: [] for key in FILTERS}
    for minus, key, given in _tokens(clean):
        if key == "word":
            if given.endswith(":") and given[:-1].lower() in FILTERS:
                notes.append(
                    f"{given!r} is searched as a word: write the value of a filter directly after the colon"
                )
            elif meant := meant_filter(given):
                notes.append(f"{given!r} is searched as words; did you mean `{meant}`?")
            _add_word(terms, given, minus)
        elif key == "phrase":
            _add_phrase(terms, given, minus)
        else:
            value = filter_value(key, given, now)
            filters[key].append(f"-{value}" if minus and key not in ("since", "before") else value)
    if unfinished and terms and clean.endswith(terms[-1].text) and not terms[-1].phrase:
        terms[-1] = terms[-1]._replace(open=True)
    # Search a repeated word once: every term costs time in every row.
    terms = _drop_stop_words(list(dict.fromkeys(terms)))
    if len(terms) > MAX_TERMS:
        notes.append(f"used only the first {MAX_TERMS} of {len(terms)} search terms")
        terms = terms[:MAX_TERMS]
    return Query(
        text=text,
        terms=tuple(terms),
        kinds=tuple(filters["kind"]),
        tags=tuple(filters["tag"]),
        paths=tuple(filters["path"]),
        statuses=tuple(filters["status"]),
        verdicts=tuple(filters["verdict"]),
        states=tuple(filters["state"]),
        categories=tuple(filters["category"]),
        runs=tuple(filters["run_id"]),
        since=max(filters["since"], default=None),
        before=min(filters["before"], default=None),
        notes=tuple(notes),
    )


def meant_filter(word: str) -> str:
    """Return the filter with which a word such as ``verdct:stale`` probably should start, "" if none."""
    key, colon, value = word.partition(":")
    if not (colon and value):
        return ""
    from difflib import get_close_matches

    return next((f"{name}:" for name in get_close_matches(key.lower(), FILTERS, 1, _MISSPELLED)), "")


def task_query(text: str) -> Query:
    """Parse a task in words: quotation marks, dashes and names of filters in it are words too."""
    plain = text.translate(dict.fromkeys([ord('"'), *_QUOTES], " "))
    query = parse_query(_FILTER_NAME.sub(r"\1 ", plain))
    return query._replace(terms=query.wanted)


def _tokens(text: str) -> Iterator[tuple[bool, str, str]]:
    """Yield ``(minus, key, text)`` of each token; the key is "word", "phrase" or a filter."""
    if '"' not in text and ":" not in text:
        for word in text.split():
            minus = word[0] == "-" and len(word) > 1
            yield minus, "word", word[minus:]
        return
    for match in _TOKEN.finditer(text):
        minus = match["minus"] == "-"
        if match["key"] is not None:
            given = match["quoted"] if match["quoted"] is not None else match["value"]
            yield minus, match["key"].lower(), given
        elif match["phrase"] is not None:
            yield minus, "phrase", match["phrase"]
        elif match["word"] is not None:
            yield minus, "word", match["word"]


def match_expression(query: Query) -> str:
    """Return the FTS5 expression for the wanted terms, quoted and joined by OR; "" if there are none.

    If there are too many, terms are preferred to parts of terms: each costs time in every row.
    """
    given = [term_expressions(term) for term in query.wanted]
    room = MAX_TERMS - len(given)
    kept: list[str] = []
    for whole, *parts in given:
        kept += [whole, *parts[:room]]
        room -= min(room, len(parts))
    return " OR ".join(kept)


def exclusion_expression(query: Query) -> str:
    """Return the FTS5 expression for excluded terms, "" if there are none."""
    return " OR ".join(whole_expression(term) for term in query.unwanted)


def whole_expression(term: Term) -> str:
    """Return the expression for a whole term: a phrase of its tokens; for a camel-case name, the name or the
    phrase of its parts."""
    end = "*" if term.open else ""
    if not term.phrase and has_hump(term.text) and len(parts := latin_parts(term.text)) > 1:
        return f"({_quoted(_shortened(term.text))}{end} OR {_quoted(' '.join(parts[:MAX_TERMS]))}{end})"
    runs = [run for run in scripts(term.text) if has_word(run)]
    pieces = list(dict.fromkeys([*map(_whole_piece, runs[:-1]), _whole_piece(runs[-1], end)]))
    pieces = pieces[:_MAX_PIECES]
    return pieces[0] if len(pieces) == 1 else f"({' AND '.join(pieces)})"


def atoms(term: Term) -> list[str]:
    """Return the parts that also match a term, as expressions; none for a phrase or a plain word."""
    if term.phrase:
        return []
    parts = []
    for piece in scripts(term.text):
        if is_cjk(piece):
            parts += [_quoted(gram) for gram in grams(piece)] if len(piece) > 1 else [f"{_quoted(piece)}*"]
        else:
            parts += [_spelled(part) for part in latin_parts(piece)]
    return list(dict.fromkeys(parts))[:MAX_TERMS] if len(parts) > 1 else []


def term_expressions(term: Term) -> list[str]:
    """Return the expressions of a term: the whole term, then its parts except stop words."""
    return [whole_expression(term), *(atom for atom in atoms(term) if atom.strip('"') not in STOP_WORDS)]


def _within_bytes(text: str, notes: list[str]) -> str:
    data = text.encode("utf-8")
    if len(data) <= MAX_BYTES:
        return text
    notes.append(f"used only the first {MAX_BYTES:,} bytes of the query")
    return data[:MAX_BYTES].decode("utf-8", "ignore")


def filter_value(key: str, given: str, now: Callable[[], datetime] | None = None) -> str:
    """Normalise a filter value for the index; ``now`` is needed for ages such as 2d.

    Raises `InvalidQuery` if it is invalid.
    """
    value = given.strip()
    if key == "kind":
        if value.lower() not in _KINDS:
            raise InvalidQuery(f"unknown kind {given!r}", hint="use one of: core, fact, adr, playbook, recap")
        return _KINDS[value.lower()]
    if key in ("state", "verdict", "status"):
        return _word_of(key, value.lower(), given)
    if key in ("since", "before"):
        from thunderus_mem.document.timestamp import MOMENTS, read_moment

        moment = read_moment(value, now() if now is not None else None)
        if not moment:
            raise InvalidQuery(f"invalid date {given!r}", hint=f"use {MOMENTS}")
        return moment
    return value


def _word_of(key: str, value: str, given: str) -> str:
    from thunderus_mem.document.document import STATES
    from thunderus_mem.document.templates import STATUSES
    from thunderus_mem.index.questions import VERDICTS

    known = {"state": STATES, "verdict": VERDICTS, "status": STATUSES}
    if value in known[key]:
        return value
    other = next((name for name, words in known.items() if value in words), "")
    more = f"; {value!r} is a {other}: use `{other}:{value}`" if other else ""
    raise InvalidQuery(f"unknown {key} {given!r}", hint=f"use one of: {', '.join(known[key])}{more}")


def _add_phrase(terms: list[Term], text: str, excluded: bool) -> None:
    words = words_of(text)
    if words:
        # A single quoted word is a plain word: quoting must not change what it finds.
        plain = len(words) == 1
        terms.append(Term(text.strip() if not plain else words[0], not plain, excluded))


def _add_word(terms: list[Term], text: str, excluded: bool) -> None:
    if text.startswith("-"):  # "--force" is an option to search for, not a word to exclude
        excluded = False
    if has_word(text):
        terms.append(Term(text.strip("-.,;:!?()[]{}<>'`*^|&"), False, excluded))


def _drop_stop_words(terms: list[Term]) -> list[Term]:
    kept = [
        term
        for term in terms
        if term.phrase or term.excluded or term.open or term.text.lower() not in STOP_WORDS
    ]
    return kept if any(not term.excluded for term in kept) else terms


def _quoted(text: str) -> str:
    return '"' + text.replace('"', " ") + '"'


def _shortened(text: str) -> str:
    """Limit the length of a phrase: a very long one is slow to match in a repetitive text."""
    return text if len(text) < 2 * MAX_TERMS else " ".join(words_of(text)[:MAX_TERMS])


def _spelled(text: str, end: str = "") -> str:
    """Quote the text in each spelling: people write ß as ss, but the tokenizer distinguishes them."""
    text = _shortened(text)
    found = [text]
    small = text.lower()
    if "ß" in small:
        found.append(small.replace("ß", "ss"))
    elif "ss" in small and all(char.isalpha() or char == " " for char in small):
        places = [at for at in range(len(small)) if small.startswith("ss", at)][:_SHARP]
        found += [f"{small[:at]}ß{small[at + 2 :]}" for at in places]
    quoted = [f"{_quoted(one)}{end}" for one in found]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _whole_piece(piece: str, end: str = "") -> str:
    if not is_cjk(piece):
        return _spelled(piece, end)
    return _quoted(" ".join(grams(piece)[:MAX_TERMS])) if len(piece) > 1 else f"{_quoted(piece)}*"
