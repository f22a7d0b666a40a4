"""The gardening rule `recaps`, and rollups of weeks and months."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command_store import SHARED, CommandStore
from tests.support.events import make_event
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.recaps import plan_recaps
from thunderus_mem.recap.rollup import rollup_page
from thunderus_mem.recap.scope import Activity
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server
    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event

EPISODIC = ".thunderus/memory/episodic"
ALL = ("session", "day", "week", "month")


def ran(number: int, day: str, session: str = "sess_01KFEXKP01000000000000000A", ok: bool = True) -> Event:
    return make_event(
        "tool_result",
        {"tool": "bash", "command": f"make step{number}", "success": ok},
        id=f"evt_{number}",
        ts=f"{day}T10:00:{number:02d}.000Z",
        session_id=session,
        actor="tool",
    )


EVENTS = (
    ran(1, "2026-01-05"),
    ran(2, "2026-01-06", "sess_01KFEXKP01000000000000000B"),
    ran(3, "2026-01-14", "sess_01KFEXKP01000000000000000C", ok=False),
    ran(4, "2026-01-21", "sess_01KFEXKP01000000000000000D"),
    make_event(
        "message", {"text": "hi"}, id="evt_5", ts="2026-01-15T10:00:00Z", session_id="s", actor="user"
    ),
)


def material(
    today: str, documents: tuple[Document, ...] = (), events: tuple[Event, ...] = EVENTS
) -> GardenInput:
    private = frozenset(event.id for event in events)
    return GardenInput.of(documents, today=today, history=lambda: Activity(events, private))


def planned(config: Config, today: str, documents: tuple[Document, ...] = ()) -> list[str]:
    return [step.targets[0] for step in plan_recaps(material(today, documents), config)]


def test_history_is_not_read_without_a_schedule() -> None:
    def forbidden() -> Activity:
        raise AssertionError

    assert plan_recaps(GardenInput.of((), today="2026-01-21", history=forbidden), Config()) == ()


def test_recaps_are_not_planned_where_their_kind_is_not_allowed() -> None:
    config = Config(recap_schedule=("day",))
    assert planned(config, "2026-01-21") != []
    assert planned(config._replace(kinds_allowed=("core", "fact")), "2026-01-21") == []


def test_only_finished_periods_get_recaps() -> None:
    config = Config(recap_schedule=ALL, recap_days_back=60)
    assert planned(config, "2026-01-21") == [
        "recap.2026-01-05-0000000a", "recap.2026-01-06-0000000b", "recap.2026-01-14-0000000c",
        "recap.2026-01-05", "recap.2026-01-06", "recap.2026-01-14", "recap.2026-w02", "recap.2026-w03",
    ]  # fmt: skip
    later = planned(config, "2026-02-01")
    assert later[-4:] == ["recap.2026-w02", "recap.2026-w03", "recap.2026-w04", "recap.2026-01"]


def test_days_back_limits_missing_recaps() -> None:
    config = Config(recap_schedule=("day",), recap_days_back=10)
    assert planned(config, "2026-01-21") == ["recap.2026-01-14"]


def test_recap_plan_is_deterministic_and_empty_after_apply() -> None:
    config = Config(recap_schedule=ALL, recap_days_back=60)
    steps = plan_recaps(material("2026-02-01"), config)
    assert steps == plan_recaps(material("2026-02-01", events=EVENTS[::-1]), config)
    made = []
    for step in steps:
        (edit,) = step.edits
        document = read_document(edit.path, (edit.after_text or "").encode()).document
        assert document is not None
        assert (edit.before, step.reach, step.op) == ("", "apply", "recap")
        assert step.private
        made.append(document)
    assert planned(config, "2026-02-01", tuple(made)) == []


def test_removed_recap_is_not_written_again() -> None:
    config = Config(recap_schedule=("day",), recap_days_back=60)
    change = {"op": "create", "doc_id": "recap.2026-01-14", "path": "x.md", "before": "", "after": "h"}
    once = make_event(
        "patch", {"op": "recap", "changes": [change]}, id="evt_9", ts="2026-01-15T10:00:00Z", session_id="s",
        actor="user", refs={"patch_id": "patch_1"},
    )  # fmt: skip
    steps = plan_recaps(material("2026-01-21", events=(*EVENTS, once)), config)
    assert [step.targets[0] for step in steps] == ["recap.2026-01-05", "recap.2026-01-06"]


def test_recap_with_a_secret_is_reported() -> None:
    """`recap` refuses it, too."""
    key = "AKIA" + "Q3EGRTUOPLSD2WXZ"
    note = make_event(
        "note", {"text": f"The key is {key}."}, id="evt_8", ts="2026-01-16T10:00:00Z", session_id="s",
        actor="user",
    )  # fmt: skip
    activity = Activity((*EVENTS, note))
    days = GardenInput.of((), today="2026-01-21", history=lambda: activity)
    steps = plan_recaps(days, Config(recap_schedule=("day",), recap_days_back=60))
    assert "recap.2026-01-14" in [step.targets[0] for step in steps]
    assert key not in "".join(edit.after_text or "" for step in steps for edit in step.edits)
    (skipped,) = [step for step in steps if step.reach == "report"]
    assert (skipped.action, skipped.targets) == ("skip-recap", ("recap.2026-01-16",))
    assert skipped.why == (
        "no recap of the events on 2026-01-16: it would contain a possible secret; "
        "`thunderus-mem recap` shows where"
    )


def recap(day: str, body: str) -> Document:
    text = (
        f"---\nid: recap.{day}\ntitle: R\nkind: recap\ntags:\n  - recap\nprovenance:\n  events:\n"
        f"    - evt_a{day}\n    - evt_b\n    - evt_c{day}\n---\n\n{body}"
    )
    document = read_document(f"{EPISODIC}/{day}.md", text.encode()).document
    assert document is not None
    return document


def test_week_rollup_copies_sections_with_their_source() -> None:
    monday = recap(
        "2026-01-19",
        "# R\n\n## Summary\n\n- 2 commands run.\n\n## Decisions\n\n- We chose `a`.\n\n"
        "## Changes\n\n- It grew.\n\n## Open items\n\n- Ship it\n\n## Commands\n\n- `x`\n",
    )
    friday = recap("2026-01-23", "# R\n\n## Summary\n\n- 1 note.\n\n## Open ends\n\n- Who owns it?\n")
    other = recap("2026-01-26", "# R\n\n## Open ends\n\n- Not this week\n")
    page = rollup_page("week", "2026-W04", [friday, other, monday], Config(), {"evt_a2026-01-19"})
    assert page.header["links"] == {"derives_from": ["recap.2026-01-19", "recap.2026-01-23"]}
    assert page.private == ("evt_a2026-01-19",)
    assert (
        page.body
        == """# Recap of 2026-W04

## Summary

- 2 recaps from 2026-01-19 to 2026-01-25.

## Decisions

- We chose `a`. (2026-01-19)

## Changes

- It grew. (2026-01-19)

## Open items

- Ship it (as of 2026-01-19)
- Who owns it? (as of 2026-01-23)

## Provenance

- From `recap.2026-01-19`: `evt_a2026-01-19`, `evt_c2026-01-19`, 1 more
- From `recap.2026-01-23`: `evt_a2026-01-23`, `evt_c2026-01-23`, 1 more
"""
    )


def test_week_rollup_has_one_line_for_a_document_and_no_line_twice() -> None:
    long = "because " * 90
    monday = recap(
        "2026-01-19",
        f"# R\n\n## Decisions\n\n- [[adr.a|A]] added. Reason: {long}.\n\n## Open items\n\n- Ship it\n",
    )
    tuesday = recap(
        "2026-01-20",
        "# R\n\n## Changes\n\n- [[adr.a|A]] verified. Reason: done.\n- [[fact.b|B]] added.\n- and 1 more\n\n"
        '## Commits\n\n- `aaaaaaa` "Ship" (Ines)\n\n## Open items\n\n- Ship it\n',
    )
    week = rollup_page("week", "2026-W04", [monday, tuesday], Config()).body
    assert (
        f"- [[adr.a|A]] added. Reason: {long}. (2026-01-19) Then verified. Reason: done. (2026-01-20)\n"
        in week
    )
    assert "## Changes\n\n- [[fact.b|B]] added. (2026-01-20)\n\n" in week
    assert '## Commits\n\n- `aaaaaaa` "Ship" (Ines) (2026-01-20)\n\n' in week
    assert "## Open items\n\n- Ship it (as of 2026-01-20)\n\n" in week
    assert "## Commits" not in rollup_page("month", "2026-01", [monday, tuesday], Config()).body


def test_month_rollup_fits_into_a_document() -> None:
    long = "".join(f"- We decided on number {n} because of reasons, {'and more ' * 20}\n" for n in range(60))
    recaps = [recap(f"2026-01-{day:02d}", f"# R\n\n## Decisions\n\n{long}") for day in range(1, 32)]
    page = rollup_page("month", "2026-01", recaps, Config())
    assert len(page.text) <= 4 * Config().caps_document_hard


@pytest.mark.parametrize(
    ("kind", "name"), [("week", "2026-W54"), ("week", "x"), ("month", "2026-13"), ("month", "9999-12")]
)
def test_invalid_week_or_month_is_rejected(kind: str, name: str) -> None:
    with pytest.raises(ThunderusError, match=f"invalid {kind}"):
        rollup_page(kind, name, [], Config())


def test_week_without_recaps_is_not_found() -> None:
    with pytest.raises(NotFound, match="no recaps of days or sessions in 2026-W04"):
        rollup_page("week", "2026-w4", [], Config())


def test_gardener_writes_recaps_that_lint_accepts(repo: Path, server: Server) -> None:
    store = CommandStore(repo, server)
    (repo / ".thunderus/memory/gardener.toml").write_text('[recap]\nschedule = ["session", "day", "week"]\n')
    lines = b"".join(
        json.dumps(
            {"kind": "tool_result", "ts": f"2026-01-{day}T10:00:00Z", "session_id": f"agent-{day}",
             "body": {"tool": "bash", "command": "make all", "exit_code": 0}}
        ).encode() + b"\n"
        for day in (12, 13)
    )  # fmt: skip
    assert store.run("events", "add", stdin=lines).code == 0
    before = sorted(path.name for path in repo.rglob("*.md"))
    assert store.run("garden").code == 0
    assert sorted(path.name for path in repo.rglob("*.md")) == before
    applied = store.run("garden", "--apply", "--json")
    assert applied.code == 0, applied.err
    names = sorted(path.name for path in (repo / EPISODIC).glob("*.md"))
    assert [name for name in names if len(name) < 14] == ["2026-01-12.md", "2026-01-13.md", "2026-w03.md"]
    assert len(names) == 5
    assert store.run("lint").code == 0
    assert store.run("garden").out == ""
    written: list[dict[str, Any]] = [one for one in store.events(SHARED) if one["body"].get("op") == "recap"]
    assert len(written) == 5
    assert all(one["body"]["private"] for one in written)
    again = store.run("recap", "2026-01-12")
    assert again.code == 0, again.err
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    assert not subprocess.run(
        ["git", "ls-files", ".thunderus/local"], cwd=repo, check=True, capture_output=True
    ).stdout
