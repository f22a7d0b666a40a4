"""The log as PROV-JSON (W3C member submission, 24 April 2013): texts, events and who acted, for other tools.

Each text of a document is an entity, named by document and hash, each event an activity, each writer an
agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.model.event import Change, Event

__all__ = ["NAMESPACE", "prov_document"]

NAMESPACE: Final = "urn:thunderus-mem:"
_SOFTWARE: Final = "prov:SoftwareAgent"


class _Prov:
    """A PROV document that grows; names are told once, relations are numbered."""

    def __init__(self) -> None:
        self.data: dict[str, dict[str, Any]] = {"prefix": {"mem": NAMESPACE}}

    def tell(self, section: str, name: str, attributes: dict[str, Any]) -> str:
        """Add a named thing, if it is new; returns its name."""
        self.data.setdefault(section, {}).setdefault(name, attributes)
        return name

    def relate(self, section: str, **ends: str) -> None:
        """Add a relation between named things; ``prov:`` is put before each end."""
        relations = self.data.setdefault(section, {})
        relations[f"_:{section}{len(relations) + 1}"] = {f"prov:{end}": name for end, name in ends.items()}


def prov_document(events: Iterable[Event]) -> dict[str, Any]:
    """Events in order as one PROV-JSON document."""
    prov = _Prov()
    for event in events:
        activity = prov.tell("activity", _name(event.id), _activity(event))
        prov.relate("wasAssociatedWith", activity=activity, agent=_agent(prov, event))
        for change in changes_of(event):
            if change.op != "aborted" and change.doc_id:
                _tell_change(prov, activity, event.ts, change)
    return prov.data


def _name(*parts: str) -> str:
    # Letters, digits, "-", "_", "." and %XX make a local name; quote() would leave the tilde.
    return "mem:" + ".".join(quote(part, safe="").replace("~", "%7E") for part in parts)


def _activity(event: Event) -> dict[str, Any]:
    op = event.body.get("op")
    told = {
        "prov:startTime": event.ts,
        "prov:endTime": event.ts,
        "mem:kind": event.kind,
        "mem:op": op if isinstance(op, str) else "",
        "mem:why": event.why,
        "mem:session": event.session_id,
    }
    return {key: value for key, value in told.items() if value}


def _agent(prov: _Prov, event: Event) -> str:
    author = event.origin.get("author")
    who = author if isinstance(author, str) and author else event.actor
    kind = "prov:Person" if event.actor == "user" else _SOFTWARE
    told = {"prov:type": {"$": kind, "type": "prov:QUALIFIED_NAME"}, "prov:label": who}
    return prov.tell("agent", _name("agent", event.actor, who), told)


def _text(prov: _Prov, change: Change, hash: str) -> str:
    document = prov.tell("entity", _name("document", change.doc_id), {"prov:label": change.doc_id})
    name = _name("text", change.doc_id, hash.removeprefix("sha256:"))
    if name not in prov.data["entity"]:
        told = {"prov:label": change.doc_id, "mem:path": change.path, "mem:hash": hash}
        prov.tell("entity", name, told)
        prov.relate("specializationOf", specificEntity=name, generalEntity=document)
    return name


def _tell_change(prov: _Prov, activity: str, ts: str, change: Change) -> None:
    before = _text(prov, change, change.before) if change.before else ""
    after = _text(prov, change, change.after) if change.after else ""
    if before:
        prov.relate("used", activity=activity, entity=before)
    if after:
        prov.relate("wasGeneratedBy", entity=after, activity=activity, time=ts)
    if before and after:
        prov.relate("wasDerivedFrom", generatedEntity=after, usedEntity=before, activity=activity)
    elif before:
        prov.relate("wasInvalidatedBy", entity=before, activity=activity, time=ts)
