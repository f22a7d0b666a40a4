"""Ids of documents in any case: their grammar, their file names, and finding them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thunderus_mem.document.ids import file_name, fold_key, is_document_id, resolve_prefix


def test_ids_of_any_case_are_valid_and_give_file_names_in_lower_case() -> None:
    for id in (
        "ADR-0001",
        "fact.Testing",
        "recap.2026-01-15T10-00-00Z",
        "0E3C9A1B-55AA-4D6F-9C1E-0A1B2C3D4E5F",
    ):
        assert is_document_id(id)
    assert file_name("Fact.Testing.LLVM-cov", "fact", []) == "testing.llvm-cov.md"
    assert file_name("ADR-0001", "adr", []) == "ADR-0001-adr-0001.md"
    assert not is_document_id("NUL")


@given(st.lists(st.from_regex(r"\A[A-Za-z]{1,3}(\.[A-Za-z]{1,3})?\Z"), unique_by=fold_key, max_size=6))
def test_an_id_is_found_in_any_case(ids: list[str]) -> None:
    for id in ids:
        assert resolve_prefix(id, ids) == [id]
        assert resolve_prefix(id.swapcase(), ids) == [id]
