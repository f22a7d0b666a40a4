"""Configuration that was written for Thunderus's own gardener, and what it is called here."""

from __future__ import annotations

from typing import Final

OLDER_NAMES: Final = {
    "hygiene.core_soft_limit": "caps.core_soft",
    "hygiene.core_hard_limit": "caps.core_hard",
    "hygiene.doc_soft_limit": "caps.document_soft",
    "hygiene.doc_hard_limit": "caps.document_hard",
    "hygiene.dedup_strategy": "duplicates.strategy",
    "recap.max_files_listed": "recap.max_files",
}
"""Keys by the names of Thunderus's own gardener; they are read, and `migrate` renames them."""

OLDER_VALUES: Final = {
    "MergeToFirst": "merge_to_first",
    "KeepNewest": "keep_newest",
    "FlagForReview": "flag_for_review",
}
"""Words for values of such keys."""

OF_OTHERS: Final = frozenset(
    (
        *("default_profile", "profiles", "auto_consolidate", "hygiene_on_change", "drift_check_on_start"),
        *("extraction", "drift", "provenance_validation_mode", "hygiene.require_provenance"),
    )
)
"""Sections and keys that only Thunderus reads: they may stand in our files and are passed over."""
