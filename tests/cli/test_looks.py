"""Listings, hits and provenance at the usual widths of a terminal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thunderus_mem.authoring.show import ListedDocument, Listing, StatusReport
from thunderus_mem.cli.commands.code import check_report
from thunderus_mem.cli.commands.read import listing, state_of_memory
from thunderus_mem.cli.commands.search import search_result
from thunderus_mem.cli.commands.store import checks_report
from thunderus_mem.cli.report import by_file
from thunderus_mem.cli.text import Style, columns, cut_path, unmarked, width
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.doctor.checks import Check, DoctorReport
from thunderus_mem.lint.check import CheckReport, CodeFinding
from thunderus_mem.search.search import Hit, SearchResult

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

DAY = "2026-01-21T09:00:00Z"
DECISIONS = ".thunderus/memory/semantic/DECISIONS"


def terminal(room: int | None, *, colored: bool = False) -> Console:
    return SimpleNamespace(width=room, style=Style(colored=colored))  # type: ignore[return-value]


def listed(
    id: str, title: str, file: str = "", *, verdict: str = "unanchored", state: str = ""
) -> ListedDocument:
    path = f"{DECISIONS}/{file}" if file else ".thunderus/memory/semantic/FACTS/x.md"
    one = ListedDocument(id, id.partition(".")[0], title, path, (), DAY, DAY, "unknown", "", 10)
    number = int(file[4:8]) if file else None
    return one._replace(verdict=verdict, state=state, number=number)


DOCUMENTS = (
    listed("adr.jwt", "Sign tokens", "ADR-0007-jwt.md", verdict="stale", state="proposed"),
    listed("adr.one", "One", "ADR-0002-one.md", state="accepted"),
    listed("adr.two", "Two", "ADR-0002-two.md", verdict="verified", state="superseded"),
    listed("fact." + "slow-" * 12, "The " + "very " * 30 + "long title", verdict="verified"),
)


@pytest.mark.parametrize("room", [80, 100, 140])
def test_list_has_title_short_id_and_note_that_fit(room: int) -> None:
    head, jwt, one, two, slow = unmarked(listing(Listing(DOCUMENTS), terminal(room))).split("\n")
    assert all(width(line) <= room for line in (head, jwt, one, two, slow))
    assert head.split()[:3] == ["TITLE", "ID", "NOTE"]
    assert jwt.split()[:5] == ["Sign", "tokens", "ADR-7", "stale,", "proposed"]
    assert one.split()[:2] == ["One", "adr.one"], "the number is ambiguous"
    assert two.split()[:3] == ["Two", "adr.two", "superseded"]
    assert slow.index("…") >= room * 0.4, "the title has most of the room"
    assert slow[head.index("NOTE") :].split()[0] == "verified"


def test_list_cuts_no_id_beside_short_titles() -> None:
    short = listed("fact." + "x" * 50, "Short")
    assert short.id in unmarked(listing(Listing((short,)), terminal(80)))
    assert short.id not in unmarked(listing(Listing((short, DOCUMENTS[3])), terminal(80)))


def test_list_is_not_cut_without_a_terminal() -> None:
    lines = listing(Listing(DOCUMENTS), terminal(None)).split("\n")
    assert [unmarked(line).split()[0] for line in lines] == [doc.id for doc in DOCUMENTS]
    assert "…" not in "".join(lines)


HIT = Hit(
    id="adr.verdict-by-content",
    title="Verdicts on anchors come from the content of the code; a commit is only a hint",
    kind="adr",
    path=f"{DECISIONS}/ADR-0018-verdict-by-content.md",
    anchor="context",
    line=43,
    snippet="A document becomes stale when its code changes.",
    marks=((19, 24),),
    score=0.79,
    status="unknown",
    superseded_by="",
    explain={},
    verdict="stale",
)


def found(*hits: Hit) -> SearchResult:
    return SearchResult("code", hits, (), (), 2, "")


@pytest.mark.parametrize("room", [40, 80, 100, 140])
def test_hit_fits_and_has_no_score(room: int) -> None:
    drawn = unmarked(search_result(found(HIT, HIT._replace(anchor="long-" * 30)), terminal(room)))
    assert all(width(line) <= room for line in drawn.split("\n")), drawn
    assert drawn.count("(adr, stale)") == drawn.count("md:43 #") == 2
    assert drawn.count(HIT.id) == 2
    assert "0.79" not in drawn
    assert (HIT.path in drawn) is (room > 80)


def test_hit_is_not_cut_without_a_terminal() -> None:
    drawn = search_result(found(HIT._replace(explain={"words": 1.0})), terminal(None))
    assert f"{HIT.path}:43 #context  (adr, " in drawn
    assert "    score 0.79\n" in drawn


@given(st.text(alphabet="ab漢é/", max_size=60), st.integers(1, 40))
def test_cut_path_fits_and_keeps_its_end(path: str, limit: int) -> None:
    short = cut_path(path, limit)
    assert width(short) <= limit
    assert path.endswith(short.removeprefix("…"))


def finding(line: int, message: str, hint: str = "", *, path: str = HIT.path) -> Diagnostic:
    return Diagnostic("TM201", Severity.ERROR, path, line, 6, message, hint=hint)


@pytest.mark.parametrize("room", [80, 100, 140])
def test_findings_are_below_their_file_with_the_severity_first(room: int) -> None:
    ones = [
        finding(19, "Dead link: `missing.md` does not exist. " + "It was removed. " * 9, "Correct the path"),
        *(finding(number, "Dead link") for number in range(20, 45)),
        finding(1, "Dead link", path="other.md"),
    ]
    drawn = unmarked(by_file(reversed(ones), Style(colored=True), room, of=ones, brief=False)).split("\n")
    assert all(width(text) <= room for text in drawn)
    assert [text for text in drawn if text and not text.startswith(" ")] == [
        HIT.path,
        "other.md",
        "27 errors",
    ]
    assert drawn[1].startswith("  error  19:6  TM201 dead-link: Dead link: `missing.md` does")
    assert "               fix: Correct the path" in drawn
    assert "  error        TM201 dead-link: 6 more like this in this file" in drawn
    brief = unmarked(by_file(ones, Style(colored=True), room, of=ones, brief=True))
    assert "fix:" not in brief


@pytest.mark.parametrize("room", [80, 100, 140])
def test_checks_of_doctor_wrap_between_words(room: int) -> None:
    checks = (
        Check("index", "ok", "3 documents, up to date"),
        Check(
            "edits", "warning", "edited by hand", "record them", affects=(HIT.path, f"{HIT.path}-{'x' * 90}")
        ),
    )
    drawn = unmarked(checks_report(DoctorReport(checks), terminal(room))).split("\n")
    assert [text.split()[0] for text in drawn if not text.startswith(" ")] == ["ok", "warning"]
    assert "" not in drawn
    assert all(width(text) <= room or len(text.split()) == 1 for text in drawn)


def test_status_counts_stale_documents_without_naming_them() -> None:
    stale = tuple(f"fact.{number}" for number in range(40))
    value = StatusReport("/store", (), {"fact": 40}, stale, (), (), (), 0, 7, "fresh", "")
    drawn = unmarked(state_of_memory(value, terminal(80)))
    assert "\nstale      40 may be out of date; see: thunderus-mem check\n" in drawn
    assert "fact." not in drawn


def test_colors_can_be_read_on_dark_and_light_terminals() -> None:
    style = Style(colored=True)
    drawn = style.paint(style.name("a") + style.match("b") + style.warning("c") + style.error("d"))
    assert drawn == "\x1b[1ma\x1b[0m\x1b[1;4mb\x1b[0m\x1b[1;35mc\x1b[0m\x1b[1;31md\x1b[0m"


def test_last_column_without_text_takes_no_room() -> None:
    """A log in which no event has a reason shows whole ids."""
    id = "fact." + "a" * 40
    assert columns([("12:00", "edit", id, ""), ("12:01", "add", id, "")], 80).count(id) == 2
    assert columns([("12:00", "edit", id, "a reason"), ("12:01", "add", id, "")], 60).count(id) == 0


def test_check_gives_its_advice_once_and_cuts_paths_to_the_terminal() -> None:
    def finding(id: str, verdict: str = "changed") -> CodeFinding:
        path = f".thunderus/memory/semantic/FACTS/{id}-{'x' * 30}.md"
        reason = "`f` has changed"
        return CodeFinding(
            f"fact.{id}", "A fact", path, 15, "a.py#f", verdict, reason, "", "a.py", "", "", ""
        )

    def lines(*found: CodeFinding) -> list[str]:
        return check_report(CheckReport(found, (), 2, 2), terminal(60)).splitlines()

    several = lines(finding("one"), finding("two"), finding("three", "missing"))
    assert [line for line in several if "thunderus-mem" in line] == [
        "If it is still true, run `thunderus-mem verify ID`;",
        "Anchor other code with `thunderus-mem anchor ID PLACE` and",
    ]
    assert all(width(line) <= 60 for line in several)
    assert "`thunderus-mem verify fact.one`" in "".join(lines(finding("one")))
