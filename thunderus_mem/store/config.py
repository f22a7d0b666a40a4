"""The settings of a store with their defaults, and the document caps computed from them.

Every command loads this module. The meaning, type and older name of each key are in the table of
``config_keys``, which is loaded only when a key is set or shown. No disk access.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

Origin = Literal["default", "file", "environment"]
FORMAT: Final = 1
"""The format version this program writes; it also reads earlier and later ones."""

KINDS: Final = tuple(DOCUMENT_FOLDERS)


class Config(NamedTuple):
    """All settings with their defaults. The attribute ``search_limit`` is the key ``search.limit``.

    ``retired`` are keys that are set but no longer have an effect.
    """

    store_version: int = FORMAT
    lint_select: tuple[str, ...] = ()
    lint_ignore: tuple[str, ...] = ()
    lint_profiles: tuple[str, ...] = ()
    lint_severity: Mapping[str, str] = MappingProxyType({})
    lint_baseline: str = ""
    lint_per_file: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    lint_path_max: int = 120
    lint_name_max: int = 60
    search_limit: int = 10
    context_passages: int = 5
    context_budget: int = 2000
    context_unreviewed: bool = False
    write_duplicates: bool = True
    write_lock_timeout: float = 10.0
    events_origin: bool = True
    events_private: tuple[str, ...] = ("message", "tool_call", "tool_result")
    review_agents: str = "apply"
    review_kinds: tuple[str, ...] = KINDS
    review_expires_days: int = 30
    review_self_approval: bool = False
    usage_count: bool = False
    watch_quiet_ms: int = 300
    watch_longest_ms: int = 2000
    watch_poll: bool = False
    kinds_allowed: tuple[str, ...] = KINDS
    caps_core_soft: int = 4000
    caps_core_hard: int = 8000
    caps_document_soft: int = 2000
    caps_document_hard: int = 4000
    caps_kinds: tuple[str, ...] = ()
    caps_core_total: int = 8000
    duplicates_strategy: str = "merge_to_first"
    duplicates_kinds: tuple[str, ...] = ("fact", "playbook")
    duplicates_near: int = 50
    recap_include_file_changes: bool = True
    recap_max_files: int = 20
    recap_template: str = ""
    recap_private: bool = True
    recap_quote: bool = False
    recap_schedule: tuple[str, ...] = ()
    recap_days_back: int = 31
    archive_recaps_after_days: int = 180
    archive_superseded_after_days: int = 365
    archive_low_quality_after_days: int = 90
    archive_keep: tuple[str, ...] = ()
    tags_aliases: Mapping[str, str] = MappingProxyType({})
    links_orphans: bool = False
    origins: tuple[tuple[str, Origin], ...] = ()
    retired: tuple[str, ...] = ()

    def origin(self, key: str) -> Origin:
        """Return where the value of a dotted key comes from."""
        return dict(self.origins).get(key, "default")


class Caps(NamedTuple):
    """Size limits of a document in tokens: above ``soft`` a warning, above ``hard`` an error."""

    soft: int
    hard: int


def configured_caps(config: Config, kind: str) -> Caps:
    """Return the caps of a kind from the settings.

    An entry in ``caps.kinds`` replaces ``caps.document_soft`` for its kind, and raises the hard cap if it is
    larger. The soft cap is never above the hard one.
    """
    pairs = (text.partition("=") for text in config.caps_kinds)  # texts such as "recap = 3000"
    kinds = {name.strip(): int(tokens) for name, _, tokens in pairs}
    soft, hard = config.caps_document_soft, config.caps_document_hard
    if kind == "core":
        soft, hard = config.caps_core_soft, config.caps_core_hard
    elif kind in kinds:
        soft, hard = kinds[kind], max(kinds[kind], hard)
    return Caps(min(soft, hard), hard)
