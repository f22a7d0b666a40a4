"""The rules in the order of their codes. A new one is a function, lines here and in `rule.CODES`, a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.lint import (
    answers,
    archived,
    code,
    identity,
    limits,
    links,
    origins,
    queue,
    reading,
    safety,
    scalars,
    store,
    structure,
)
from thunderus_mem.lint.rule import CODES, Rule

if TYPE_CHECKING:
    from thunderus_mem.lint.rule import Check, Scope


# What is set aside has to read, to be told apart, and to be safe; nobody works on it or relies on it.
_ARCHIVED: Final = ("TM0", "TM101", "TM102", "TM103", "TM104", "TM109", "TM112", "TM4")


def _rule(code: str, check: Check, scope: Scope = "document", *, passes_on: bool = False) -> Rule:
    name, severity = CODES[code]
    return Rule(code, name, severity, check, scope, passes_on, code.startswith(_ARCHIVED))


RULES: Final[tuple[Rule, ...]] = (
    _rule("TM001", reading.not_utf8, passes_on=True),
    _rule("TM002", reading.nul_or_binary, passes_on=True),
    _rule("TM003", reading.too_large, passes_on=True),
    _rule("TM004", reading.no_frontmatter, passes_on=True),
    _rule("TM005", reading.unclosed_frontmatter, passes_on=True),
    _rule("TM006", reading.header_syntax, passes_on=True),
    _rule("TM007", reading.duplicate_key, passes_on=True),
    _rule("TM008", reading.tab, passes_on=True),
    _rule("TM009", reading.alias_or_anchor_or_tag, passes_on=True),
    _rule("TM010", reading.header_limits, passes_on=True),
    _rule("TM011", reading.missing_identity, passes_on=True),
    _rule("TM012", reading.conflict_markers),
    _rule("TM013", scalars.ambiguous_scalar),
    _rule("TM101", structure.frontmatter_schema),
    _rule("TM102", identity.id_grammar),
    _rule("TM103", identity.duplicate_id),
    _rule("TM104", identity.kind_folder),
    _rule("TM105", limits.file_name),
    _rule("TM106", limits.path_length),
    _rule("TM107", structure.missing_section),
    _rule("TM108", structure.repeated_anchor),
    _rule("TM109", structure.updated_before_created),
    _rule("TM110", structure.empty_body),
    _rule("TM111", identity.adr_number_taken),
    _rule("TM112", identity.names_alike),
    _rule("TM201", links.dead_link),
    _rule("TM202", links.superseded_still_linked),
    _rule("TM203", links.dead_anchor),
    _rule("TM204", links.unknown_relation_target),
    _rule("TM205", links.dead_citation),
    _rule("TM206", origins.unresolved_provenance),
    _rule("TM207", archived.archived_target),
    _rule("TM301", limits.size_soft),
    _rule("TM302", limits.size_hard),
    _rule("TM401", safety.secret),
    _rule("TM402", safety.invisible_unicode),
    _rule("TM403", safety.remote_image_with_query),
    _rule("TM404", safety.planted_instruction),
    _rule("TM405", safety.script_address),
    _rule("TM501", store.schema_drift, "store"),
    _rule("TM502", store.manifest_schema, "store"),
    _rule("TM503", store.shard_schema, "store"),
    _rule("TM504", store.shard_chain, "store"),
    _rule("TM505", store.shard_torn, "store"),
    _rule("TM506", store.tracked_projection, "store"),
    _rule("TM507", store.conflict_in_shard, "store"),
    _rule("TM508", store.shard_line_ends, "store"),
    _rule("TM509", queue.unreadable_proposal, "store"),
    _rule("TM510", queue.expired_proposal, "store"),
    _rule("TM601", answers.answer_without_reason, "answers"),
    _rule("TM602", answers.unused_answer, "answers"),
    _rule("TM603", answers.unknown_code, "answers"),
    _rule("TM604", answers.configured_answers, "store"),
    _rule("TM701", code.code_changed),
    _rule("TM702", code.code_missing),
    _rule("TM703", code.code_moved),
)
