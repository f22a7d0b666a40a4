"""Who belongs together: names joined two by two, and the families that come of it."""

from __future__ import annotations


class Families:
    """Grows pair by pair; what it says depends on the pairs alone, not on their order."""

    def __init__(self) -> None:
        self._leads: dict[str, str] = {}

    def _lead(self, name: str) -> str:
        leads = self._leads
        while leads.setdefault(name, name) != name:
            leads[name] = leads[leads[name]]
            name = leads[name]
        return name

    def join(self, one: str, other: str) -> bool:
        """Put two names into one family; false when they were in one already."""
        first, second = sorted((self._lead(one), self._lead(other)))
        self._leads[second] = first
        return first != second

    def all(self) -> list[list[str]]:
        """The families, each in order, by their first name."""
        found: dict[str, list[str]] = {}
        for name in sorted(self._leads):
            found.setdefault(self._lead(name), []).append(name)
        return sorted(found.values())
