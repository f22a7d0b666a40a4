"""The tools: their names, parameters and descriptions, and what each returns.

A client loads the whole table into the context of its model at each start, so a test limits its size. Each
tool calls the function of the command with its name, and returns text in the frame of `search.frame`. There
are no output schemas: clients show structured output to the model instead of the text, without the frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.document import KINDS
from thunderus_mem.errors import ThunderusError
from thunderus_mem.log.event import changes_of
from thunderus_mem.search.frame import Quote, clean, framed, head, line, quoted
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.lint.check import CodeFinding
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.search.search import Hit
    from thunderus_mem.verdicts.lookup import Governing

SMALL, LARGE = 2000, 4000
"""Tokens of a list of passages or documents, and of one document."""
_MOST_BUDGET: Final = 20_000
_MOST_ITEMS: Final = 50
_TYPES: Final[dict[str, tuple[Any, str]]] = {
    "string": (str, "a string"),
    "integer": (int, "an integer"),
    "boolean": (bool, "true or false"),
    "array": (list, 'a list of strings, e.g. ["one"]'),
}
_CONTROLS: Final = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROLS_AND_LINES: Final = lazy_pattern("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Parameter(NamedTuple):
    """A parameter of a tool: its JSON type, description, and limits.

    ``most`` is the largest number, or the largest number of characters of a text or of each item of a list.
    """

    type: str
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 300
    lines: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema; texts have no limit in it, since the error says it when it matters."""
        found: dict[str, Any] = {"type": self.type}
        if self.type == "array":
            found["items"] = {"type": "string"}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.type == "integer":
            found |= {"minimum": self.least, "maximum": self.most}
        return {**found, "description": self.description} if self.description else found

    def checked(self, name: str, value: Any) -> Any:
        """Return a valid value. Raises `ThunderusError`, which says what is valid."""
        kind, meaning = _TYPES[self.type]
        if type(value) is not kind:
            raise _invalid(name, meaning)
        if kind is int and not self.least <= value <= self.most:
            raise _invalid(name, f"an integer from {self.least} to {self.most}")
        if kind is list and len(value) > _MOST_ITEMS:
            raise _invalid(name, f"at most {_MOST_ITEMS} strings")
        if kind is list:
            return tuple(self._text(name, item) for item in value)
        return self._text(name, value) if kind is str else value

    def _text(self, name: str, text: Any) -> str:
        if not isinstance(text, str):
            raise _invalid(name, _TYPES[self.type][1])
        if len(text) > self.most:
            raise _invalid(name, f"at most {self.most:,} characters")
        if self.choices and text not in self.choices:
            raise _invalid(name, f"one of: {', '.join(self.choices)}")
        if (_CONTROLS if self.lines else _CONTROLS_AND_LINES).search(text):
            raise _invalid(
                name, "text without control characters" + ("" if self.lines else " and line breaks")
            )
        if self.required and not text.strip():
            raise _invalid(name, "text that is not empty")
        return text


def _invalid(name: str, what: str) -> ThunderusError:
    return ThunderusError(f"invalid value for `{name}`", hint=f"pass {what}")


class Tool(NamedTuple):
    """A tool: ``run`` gets the open memory and the valid arguments, and returns the text of the reply."""

    name: str
    title: str
    description: str
    parameters: Mapping[str, Parameter]
    run: Callable[[Memory, Mapping[str, Any]], str]
    writes: bool = False

    @property
    def wire(self) -> dict[str, Any]:
        """The tool as the protocol lists it."""
        schema = {
            "type": "object",
            "properties": {name: one.schema for name, one in self.parameters.items()},
            "required": [name for name, one in self.parameters.items() if one.required],
            "additionalProperties": False,
        }
        hints = {"readOnlyHint": False, "destructiveHint": False} if self.writes else {"readOnlyHint": True}
        return {
            "name": self.name, "title": self.title, "description": self.description, "inputSchema": schema,
            "annotations": {**hints, "openWorldHint": False},
        }  # fmt: skip

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the valid arguments, without those that are null. Raises `ThunderusError`."""
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in given:
            if name not in self.parameters:
                what = f"use: {', '.join(self.parameters)}"
                raise ThunderusError(f"{self.name} has no argument {name[:40]!r}", hint=what)
        for name, one in self.parameters.items():
            if one.required and name not in given:
                raise ThunderusError(
                    f"missing argument `{name}`", hint=f"pass `{name}`, {_TYPES[one.type][1]}"
                )
        return {name: self.parameters[name].checked(name, value) for name, value in given.items()}


def marks(memory: Memory, ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each document whether a user reviewed its text, who wrote it, and with what."""
    from thunderus_mem.memory.reviewed import authors

    rows = [row for row in map(memory.index.get, dict.fromkeys(ids)) if row is not None]
    known = authors(memory, [(row.id, row.path, row.hash) for row in rows])
    origins: dict[str, str] = {}
    for event in memory.events_about((), known):
        by = [event.origin.get(name) for name in ("author", "client", "model")]
        origin = ", ".join(text for text in by if isinstance(text, str) and text)
        origins |= {change.doc_id: origin for change in changes_of(event) if not change.text_kept}
    trusts = {id: "reviewed" if one.reviewed else "unreviewed" for id, one in known.items()}
    actors = {id: one.actor or "git" for id, one in known.items()}
    return {id: {"trust": trusts[id], "actor": actors[id], "origin": origins.get(id, "")} for id in known}


def _search(memory: Memory, given: Mapping[str, Any]) -> str:
    from thunderus_mem.search.search import search

    query = given["query"]
    found = search(memory, query, limit=given.get("limit", 5), archived=given.get("archived", False))
    first = [line(note) for note in found.notes]
    if not found.hits and not found.closest:
        return "\n".join([f"No matches in {found.total_documents:,} documents", *first])
    if not found.hits:
        first.insert(0, "No document answers this; the closest ones:")
    hits = found.hits or found.closest
    known = marks(memory, [hit.id for hit in hits])
    # Another process may have removed a document since the search.
    shown = [_hit(hit, known[hit.id]) for hit in hits if hit.id in known]
    return framed(shown, SMALL, first=first, cut="use a smaller `limit`")


def _hit(hit: Hit, known: dict[str, str]) -> Quote:
    place = hit.path + (f":{hit.line}" if hit.line else "") + (f"#{hit.anchor}" if hit.anchor else "")
    about = head(
        hit.id, kind=hit.kind, path=place, score=f"{hit.score:.2f}",
        verdict="archived" if hit.archived else hit.verdict, state=hit.state,
        replaced_by=hit.superseded_by, injection=hit.injection, **known,
    )  # fmt: skip
    return Quote(about, line(hit.title), clean(hit.snippet))


def _show(memory: Memory, given: Mapping[str, Any]) -> str:
    budget = given.get("budget", LARGE)
    return shown(memory, given["id"], budget, "pass a larger `budget` for the rest")


def shown(memory: Memory, id: str, budget: int, cut: str) -> str:
    """Return a whole document in its frame, with anchors and links in its head line."""
    from thunderus_mem.authoring.show import show

    document = show(memory, id)
    links = [f"{'' if one.incoming else 'to '}{one.rel} {one.target}" for one in document.links]
    about = head(
        document.id, kind=document.kind, path=document.path, verdict=document.verdict,
        state=document.state, updated=document.updated, replaced_by=document.superseded_by,
        confirmed_by=document.confirmed_by, tags=",".join(document.tags),
        anchors="; ".join(f"{one.place} {one.verdict}" for one in document.anchors),
        links="; ".join(links), injection=document.injection,
        **marks(memory, [document.id])[document.id],
    )  # fmt: skip
    return framed([Quote(about, line(document.title), clean(document.body.strip()))], budget, cut=cut)


def _add(memory: Memory, given: Mapping[str, Any]) -> str:
    from thunderus_mem.authoring.add import NewDocument, add

    given = dict(given)
    why = given.pop("why", "")
    links = [(rel, target) for rel, _, target in (item.partition(":") for item in given.get("links", ()))]
    if not all(target for _, target in links):
        raise ThunderusError("a link is not REL:ID", hint='pass e.g. ["refers_to:fact.cache"]')
    written = add(memory, NewDocument(**{**given, "links": links}), why=why)
    named = head(written.id, path=written.path)
    done = [f"Added {named} event={written.event_id}"]
    if written.proposed:
        show = f"A person decides with `thunderus-mem review show {written.proposed}`; do not add it again"
        done = [f"Filed for review as {written.proposed}, not added yet: {named}", show]
    if not written.published:
        done.append("The change is in the log, but its file could not be written; the next write retries")
    for one in written.warnings:
        done.append(quoted(line(f"{one.severity}: {one.message}" + (f"; {one.hint}" if one.hint else ""))))
    return "\n".join(done)


def _context(memory: Memory, given: Mapping[str, Any]) -> str:
    from thunderus_mem.search.context import ContextRequest, context, render

    found = context(memory, ContextRequest(**given, start=memory.root))
    return render(found) or "Nothing in the memory is relevant to this task"


def _check(memory: Memory, given: Mapping[str, Any]) -> str:
    from thunderus_mem.lint.check import check, check_since

    if given.get("since") and given.get("ids"):
        raise ThunderusError("`ids` and `since` are mutually exclusive", hint="pass one of them")
    since = given.get("since", "")
    report = check_since(memory, since) if since else check(memory, given.get("ids", ()))
    counts = len(report.findings), report.documents, len(report.unknown)
    text = "{} of {} anchored documents may be out of date, {} anchors could not be checked"
    unknown = [
        head(one.doc_id, anchor=one.place, verdict="unknown", reason=one.reason) for one in report.unknown
    ]
    first = [text.format(*counts), *unknown[:5]]
    if not report.findings:
        return "\n".join(first)
    known = marks(memory, [one.doc_id for one in report.findings])
    blocks = [_finding(one, known[one.doc_id]) for one in report.findings]
    return framed(blocks, SMALL, first=first, cut="pass some `ids`")


def _finding(one: CodeFinding, known: dict[str, str]) -> Quote:
    from thunderus_mem.lint.check import next_step

    about = head(
        one.doc_id, path=f"{one.path}:{one.line}", anchor=one.place, verdict=one.verdict,
        reason=one.reason, now=one.now if one.now != one.place else "", commit=one.commit[:12],
        fix=next_step(one.verdict, one.doc_id), **known,
    )  # fmt: skip
    return Quote(about, line(one.title))


def _for(memory: Memory, given: Mapping[str, Any]) -> str:
    from thunderus_mem.verdicts.lookup import governing

    found = governing(memory, given["path"], mentions=given.get("mentions"), start=memory.root)
    if not found.documents:
        return f"No documents about {line(found.place)}" + ("" if found.exists else "; no such file")
    more = found.mentions
    first = [f"{more} more documents only mention it; pass `mentions` to list them"] if more else []
    known = marks(memory, [one.id for one in found.documents])
    blocks = [_governing(one, known[one.id]) for one in found.documents]
    return framed(blocks, SMALL, first=first, cut="ask for a smaller place")


def _governing(one: Governing, known: dict[str, str]) -> Quote:
    about = head(
        one.id, kind=one.kind, path=f"{one.path}:{one.line}", how=one.how, anchor=one.place,
        verdict=one.verdict or one.status, state=one.state,
        reason=one.reason if one.verdict != "verified" else "", now=one.now,
        replaced_by=one.superseded_by, **known,
    )  # fmt: skip
    return Quote(about, line(one.title))


_BUDGET: Final = Parameter("integer", "Most tokens to return.", least=64, most=_MOST_BUDGET)

TOOLS: Final = (
    Tool(
        "memory_search",
        "Search memory",
        "Search the repository's memory (facts, decisions, playbooks, recaps) before you answer or change "
        'code. Returns passages, best first. Query: words, "a phrase", -excluded, kind:adr, tag:x, path:x.',
        {
            "query": Parameter("string", required=True, most=2000),
            "limit": Parameter("integer", least=1, most=50),
            "archived": Parameter("boolean"),
        },
        _search,
    ),
    Tool(
        "memory_show",
        "Show a document",
        "Show one document.",
        {"id": Parameter("string", "Id, alias or path.", required=True), "budget": _BUDGET},
        _show,
    ),
    Tool(
        "memory_context",
        "Context for a task",
        "Passages that help with a task, best first, or nothing. Documents about `paths` come first.",
        {
            "task": Parameter("string", "The task in words.", required=True, most=4000, lines=True),
            "paths": Parameter("array", "Files the task is about."),
            "kinds": Parameter("array", ", ".join(KINDS)),
            "budget": _BUDGET,
        },
        _context,
    ),
    Tool(
        "memory_for",
        "Documents about code",
        "Documents about a piece of code, with verdicts. Call it before you change the code.",
        {
            "path": Parameter("string", "PATH, PATH#SYMBOL or PATH:10-20.", required=True, most=1000),
            "mentions": Parameter("boolean", "Also those that only mention the file."),
        },
        _for,
    ),
    Tool(
        "memory_check",
        "Check against the code",
        "Documents that may be out of date because their code changed: all, some, or since a revision.",
        {"ids": Parameter("array"), "since": Parameter("string", "Git revision, e.g. main.")},
        _check,
    ),
    Tool(
        "memory_add",
        "Add a document",
        "Add one fact, decision, playbook or recap that a later session needs. Search first. It may be filed "
        "for review instead.",
        {
            "kind": Parameter("string", required=True, choices=KINDS),
            "title": Parameter("string", "One line that states it.", required=True),
            "body": Parameter("string", "Markdown.", required=True, most=200_000, lines=True),
            "tags": Parameter("array"),
            "aliases": Parameter("array", "Questions it answers."),
            "anchors": Parameter("array", "Code it describes: PATH#SYMBOL."),
            "links": Parameter("array", "REL:ID; REL: refers_to, derives_from, supersedes."),
            "why": Parameter("string", "The reason, for the log.", most=1000),
            "id": Parameter("string"),
        },
        _add,
        writes=True,
    ),
)


def run(memory: Memory, name: str, arguments: Mapping[str, Any]) -> str:
    """Check the arguments of a tool and run it. Raises `ThunderusError` for an unknown name."""
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        names = ", ".join(one.name for one in TOOLS)
        raise ThunderusError(f"no tool {name[:80]!r}", hint=f"use one of: {names}")
    return tool.run(memory, tool.checked(arguments))
