"""The log as PROV-JSON (W3C member submission, 24 April 2013): the format `prov-json`, for export only.

Each text of a document is an entity, named by document and hash; each event is an activity, each author an
agent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from thunderus_mem.index.log import read
from thunderus_mem.log.event import changes_of
from thunderus_mem.safety.secrets import redacted_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.interop.export import Tally
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory

NAMESPACE: Final = "urn:thunderus-mem:"
_SOFTWARE: Final = "prov:SoftwareAgent"


class _Prov:
    """Builds a PROV document; entries are unique by name, relations are numbered."""

    def __init__(self) -> None:
        self.data: dict[str, dict[str, Any]] = {"prefix": {"mem": NAMESPACE}}

    def add_entry(self, section: str, name: str, attributes: dict[str, Any]) -> str:
        """Add a named entry if it is new; return its name."""
        self.data.setdefault(section, {}).setdefault(name, attributes)
        return name

    def relate(self, section: str, **ends: str) -> None:
        """Add a relation between entries; each end gets the prefix ``prov:``."""
        relations = self.data.setdefault(section, {})
        relations[f"_:{section}{len(relations) + 1}"] = {f"prov:{end}": name for end, name in ends.items()}


def prov_document(events: Iterable[Event]) -> dict[str, Any]:
    """Events in order as one PROV-JSON document."""
    prov = _Prov()
    for event in events:
        activity = prov.add_entry("activity", _name(event.id), _activity(event))
        prov.relate("wasAssociatedWith", activity=activity, agent=_agent(prov, event))
        for change in changes_of(event):
            if change.op != "aborted" and change.doc_id:
                _add_change(prov, activity, event.ts, change)
    return prov.data


def _name(*parts: str) -> str:
    # Local names consist of letters, digits, "-", "_", "." and %XX; quote() alone would keep the tilde.
    return "mem:" + ".".join(quote(part, safe="").replace("~", "%7E") for part in parts)


def _activity(event: Event) -> dict[str, Any]:
    op = event.body.get("op")
    attributes = {
        "prov:startTime": event.ts,
        "prov:endTime": event.ts,
        "mem:kind": event.kind,
        "mem:op": op if isinstance(op, str) else "",
        "mem:why": event.why,
        "mem:session": event.session_id,
    }
    return {key: value for key, value in attributes.items() if value}


def _agent(prov: _Prov, event: Event) -> str:
    author = event.origin.get("author")
    who = author if isinstance(author, str) and author else event.actor
    kind = "prov:Person" if event.actor == "user" else _SOFTWARE
    attributes = {"prov:type": {"$": kind, "type": "prov:QUALIFIED_NAME"}, "prov:label": who}
    return prov.add_entry("agent", _name("agent", event.actor, who), attributes)


def _prov_text(prov: _Prov, change: Change, hash: str) -> str:
    document = prov.add_entry("entity", _name("document", change.doc_id), {"prov:label": change.doc_id})
    name = _name("text", change.doc_id, hash.removeprefix("sha256:"))
    if name not in prov.data["entity"]:
        attributes = {"prov:label": change.doc_id, "mem:path": change.path, "mem:hash": hash}
        prov.add_entry("entity", name, attributes)
        prov.relate("specializationOf", specificEntity=name, generalEntity=document)
    return name


def _add_change(prov: _Prov, activity: str, ts: str, change: Change) -> None:
    before = _prov_text(prov, change, change.before) if change.before else ""
    after = _prov_text(prov, change, change.after) if change.after else ""
    if before:
        prov.relate("used", activity=activity, entity=before)
    if after:
        prov.relate("wasGeneratedBy", entity=after, activity=activity, time=ts)
    if before and after:
        prov.relate("wasDerivedFrom", generatedEntity=after, usedEntity=before, activity=activity)
    elif before:
        prov.relate("wasInvalidatedBy", entity=before, activity=activity, time=ts)


class ProvLog:
    """Writes the committed events."""

    fields = ()

    def pieces(self, memory: Memory, tally: Tally) -> Iterator[str]:
        """Yield the document."""
        memory.refresh()
        batches = memory.log_index().in_order(since="")
        logged = read(memory.log, [row for batch in batches for row in batch])
        events = [one.event for one in logged if not memory.log.is_private(one.shard)]
        tally.exported = len(events)
        yield prov_text(events)


LOG: Final = ProvLog()


def prov_text(events: Iterable[Event]) -> str:
    """The PROV document as JSON, without secrets."""
    return (
        json.dumps(redacted_data(prov_document(events)), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    )
