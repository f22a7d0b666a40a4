"""What stands around the documents, gathered for the rules about the store: schemas, manifest, log, git."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from thunderus_mem.lint.rule import LintStore, SchemaCopy
from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.model.log_check import LogCheck
from thunderus_mem.model.schema import EVENT, SCHEMA_NAMES, schema_text, surely_valid_event
from thunderus_mem.model.schema import check as check_schema
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import INDEXES, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.shard import LoggedEvent

_SCHEMA_LIMIT = 1 << 20
_MANIFEST_LIMIT = 256 << 20
NEVER_TRACKED = (
    INDEXES,
    f"{MEMORY}/core/CORE.local.md",
    ".thunderus/local",
    ".thunderus/.staging",
    ".thunderus/.quarantine",
    ".thunderus/.lock",
)


def survey(memory: Memory, config: LintConfig) -> LintStore:
    """Gather what the store rules look at. Reads only."""
    layout = memory.layout
    return LintStore(
        corpus=memory.index.corpus(),
        config=config,
        schemas={
            name: SchemaCopy(_text(f"{layout.schemas_dir}/{name}", _SCHEMA_LIMIT), wanted)
            for name, wanted in packaged_schemas().items()
        },
        manifest=_text(layout.manifest_file, _MANIFEST_LIMIT),
        log=tuple(log_findings(memory)),
        queue=tuple(queue_findings(memory)),
        tracked=tuple(sorted(memory.git.tracked(NEVER_TRACKED))) if memory.git is not None else (),
    )


def _text(path: str, limit: int) -> str | None:
    try:
        return read_file(path, limit).decode("utf-8", "replace")
    except ThunderusError:
        return None


def log_findings(memory: Memory) -> Iterator[Diagnostic]:
    """Every damage of the log: lines that are no events by the schema, broken chains, torn ends."""
    log, check = memory.log, LogCheck()
    for done, reading in enumerate(log.readings()):
        memory.tell("Checking the log:", done, 0)
        yield from check.take(reading, log.session_of(reading.path))
        for logged in reading.events:
            yield from _by_schema(logged)
    yield from check.close(log.readings)


def queue_findings(memory: Memory) -> Iterator[Diagnostic]:
    """Files of the review queue that are no proposals, and proposals past their time."""
    from thunderus_mem.store.proposals import BadProposal, age, entries

    limit = memory.config.review_expires_days
    for one in entries(memory.layout):
        if isinstance(one, BadProposal):
            yield Diagnostic(
                "TM509",
                Severity.ERROR,
                one.path,
                0,
                0,
                f"This is no proposal: {f'{one.key}: ' if one.key else ''}{one.reason}",
                key=one.key,
                expected="a proposal as this program writes it",
                hint=one.fix,
            )
        elif (days := age(one.path, memory.now()) or 0) > limit:
            yield Diagnostic(
                "TM510",
                Severity.WARNING,
                one.path,
                0,
                0,
                f"This proposal has waited for {days} days; {limit} are allowed.",
                expected="a decision",
                hint=f"decide: thunderus-mem patch show {one.proposal.id}",
            )


def _by_schema(logged: LoggedEvent) -> Iterator[Diagnostic]:
    data = json.loads(logged.event.raw)
    for violation in () if surely_valid_event(data) else check_schema(EVENT, data):
        yield Diagnostic(
            "TM503",
            Severity.ERROR,
            logged.shard,
            logged.line,
            1,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint="bring the line back from git; older lines are never rewritten",
        )


def packaged_schemas() -> dict[str, str]:
    """File names and texts of the schemas that a store keeps copies of."""
    from thunderus_mem.projection.statements import schema_sql

    files = {f"{name}.schema.json": schema_text(name) for name in SCHEMA_NAMES}
    return {**files, "memory_store.sql": schema_sql()}
