"""``search for``: find documents by words, or by the code they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import Budget, OnlyIds
from thunderus_mem.cli.text import (
    GAP,
    LEAST_CELL,
    Style,
    columns,
    counted,
    cut,
    cut_path,
    minute,
    one_line,
    verdict_word,
    width,
    wrapped,
)
from thunderus_mem.errors import ThunderusError
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.cli.console import Console
    from thunderus_mem.search.records import RecordsFound
    from thunderus_mem.search.search import Hit, SearchResult
    from thunderus_mem.verdicts import lookup

app = Commands()

_LEAST_PATH: Final = 32
"""Columns of a path that matter more than a long heading."""
_LONGEST: Final = 200
"""Most characters of a line of a conversation that are printed."""
_BLANKS = lazy_pattern(r"\s+")
_MARGIN = lazy_pattern(r"\s{0,12}(?:(?:[-*+]|[0-9]{1,9}[.)]) )?")


_Limit = Annotated[
    int | None,
    Option(
        "--limit",
        "-n",
        metavar="N",
        min=1,
        max=1000,
        show_default=False,
        help="Show at most N results; default: search.limit, 10.",
    ),
]
_Events = Annotated[
    bool, Option("--events", help="Find conversations and executions of a user instead of documents.")
]
_User = Annotated[
    str | None, Option("--user", metavar="NAME", help="With --events: the user; default: MEMORY_USER_ID.")
]


@app.command("search")
def search_command(
    ctx: Call,
    query: Annotated[
        list[str] | None,
        Argument(metavar="[QUERY]...", help='Words, "a phrase", -excluded, filter:value.'),
    ] = None,
    limit: _Limit = None,
    archived: Annotated[bool, Option("--archived", help="Include archived documents.")] = False,
    ids: OnlyIds = False,
    explain: Annotated[
        bool, Option("--explain", help="Show how each score is computed; in JSON also path and line.")
    ] = False,
    interactive: Annotated[
        bool, Option("--interactive", "-i", help="Choose a document interactively and show it.")
    ] = False,
    lines: Annotated[bool, Option("--choices", hidden=True)] = False,
    events: _Events = False,
    user: _User = None,
    budget: Budget = 0,
) -> int:
    """Find passages, best first. Exits with 0 even if nothing is found.

    Filters: tag: kind: path: state: verdict: status: category: run_id: since: before:.
    Put -- before words that start with a dash.
    -i opens fzf, or a numbered list if fzf is not installed; -i --ids prints the chosen id.
    """
    console: Console = ctx.obj
    console.details, console.budget = explain, budget
    text = " ".join(query or ())
    if events:
        return _events(console, text, user, limit, ids=ids)
    if user is not None:
        raise ThunderusError("--user needs --events")
    if interactive:
        return _chosen(console, text, ids=ids)
    if lines:
        from thunderus_mem.cli.input import choice_lines, choices

        console.data(choice_lines(choices(console.memory(), text)))
        return 0
    if not query:
        raise ThunderusError("missing argument QUERY", hint="run `thunderus-mem search --help`")
    from thunderus_mem.search.search import search

    memory = console.memory()
    most = limit or memory.config.search_limit
    found = search(memory, text, limit=most, explain=explain, archived=archived)
    for remark in found.notes:
        console.say(remark)
    if not found.hits:
        console.say("No answers; the closest documents:" if found.closest and not ids else "No matches")
        console.say_others()
    console.emit("search", found, hit_ids if ids else search_result, long=not ids)
    return 0


def _events(console: Console, text: str, user: str | None, limit: int | None, *, ids: bool) -> int:
    """Show the private conversations and executions of a user: those that match, or the newest."""
    from thunderus_mem.log.records import user_in
    from thunderus_mem.search.records import find_records

    memory = console.memory()
    name = user_in(memory.environ) if user is None else user
    found = find_records(memory, name, text, limit=limit or memory.config.search_limit)
    if not found.hits:
        console.say("No matches")
    console.emit("search events", found, message_ids if ids else records_found, long=not ids)
    return 0


def message_ids(value: RecordsFound, console: Console) -> str:
    """Format only the message ids, best first, each once."""
    return "\n".join(dict.fromkeys(hit.record.message_id for hit in value.hits))


def records_found(value: RecordsFound, console: Console) -> str:
    """Format each record: its first text, kind, time and message id, and outcome."""
    style, room = console.style, (console.width or _LONGEST) - 4
    found = []
    for hit in value.hits:
        record = hit.record
        first, second = (" ".join(text.split()) for text in record.texts)
        remarks = [record.kind]
        lines = [style.bold(cut(first, console.width or _LONGEST)), second]
        if record.kind == "execution":
            lines[1:1] = [", ".join(record.tools)]
            remarks.append("succeeded" if record.success else "failed")
            lines += [f"{error.get('error_type')}: {error.get('error_message')}" for error in record.errors]
        lines = [line for line in lines if line]
        place = f"{style.name(record.message_id)}  {style.dim(minute(record.ts))}  ({', '.join(remarks)})"
        found.append(
            "\n".join([lines[0], place, *(f"    {cut(one_line(line), room)}" for line in lines[1:])])
        )
    return "\n\n".join(found)


def _chosen(console: Console, text: str, *, ids: bool) -> int:
    """Show the chosen document, or print its id with --ids or without a terminal."""
    from thunderus_mem.authoring.show import show
    from thunderus_mem.cli.commands.read import shown
    from thunderus_mem.cli.input import choose

    memory = console.memory()
    document, code = choose(memory, text, console)
    if document and (ids or console.width is None):
        console.data(document)
    elif document:
        console.emit("show", show(memory, document), shown, long=True)
    else:
        console.say("Nothing chosen")
    return code


def search_result(value: SearchResult, console: Console) -> str:
    """Format each answer, else each closest hit: title and id, location, and the passage with matches
    marked."""
    answers = [_hit(hit, console.style, console.width) for hit in value.hits]
    closest = [_hit(hit, console.style, console.width, ("closest",)) for hit in value.closest]
    return "\n\n".join(answers + closest)


def hit_ids(value: SearchResult, console: Console) -> str:
    """Format only the ids of the answers, best first."""
    return "\n".join(hit.id for hit in value.hits)


def _hit(hit: Hit, style: Style, room: int | None, marks: tuple[str, ...] = ()) -> str:
    remarks = [hit.kind, *marks]
    if hit.archived:
        remarks.append("archived")
    if hit.state not in ("", "accepted") and not hit.superseded_by:
        remarks.append(hit.state)
    if hit.verdict in ("verified", "stale"):
        remarks.append(verdict_word(hit.verdict, style))
    lines = [*_headline(hit, style, room), f"{_place(hit, remarks, room)}  ({', '.join(remarks)})"]
    if hit.superseded_by:
        lines.append(style.warning(f"replaced by {hit.superseded_by}"))
    if hit.injection:
        lines.append(style.warning(f"possible prompt injection: {hit.injection}"))
    lines += [f"    {line}" for line in _folded(_marked(hit.snippet, hit.marks, style), room)]
    if hit.explain:
        lines.append(f"    score {hit.score:.2f}")
    lines += [f"    {name} {value}" for name, value in sorted(hit.explain.items())]
    return "\n".join(lines)


def _headline(hit: Hit, style: Style, room: int | None) -> list[str]:
    """Format title and id; the id goes below a title that leaves too little room for it."""
    title = _BLANKS.sub(" ", hit.title)
    titles = wrapped(title, room)
    lines = [style.bold(line) for line in titles]
    if room is None or width(titles[-1]) + GAP + width(hit.id) <= room:
        lines[-1] += " " * GAP + style.name(hit.id)
    else:
        lines.append(style.name(hit.id))
    return lines


def _place(hit: Hit, remarks: list[str], room: int | None) -> str:
    """Format path, line and heading, cut to fit beside the remarks: first the path, from the left."""
    line = f":{hit.line}" if hit.line else ""
    heading = f" #{hit.anchor}" if hit.anchor else ""
    if room is None:
        return hit.path + line + heading
    left = room - width(line) - GAP - width(f"({', '.join(remarks)})")
    heading = cut(heading, max(left - _LEAST_PATH, LEAST_CELL))
    return cut_path(hit.path, left - width(heading)) + line + heading


def _folded(text: str, room: int | None) -> Iterator[str]:
    """Fold the lines of a snippet for the terminal; those of a list item hang below its text."""
    for line in filter(str.strip, text.split("\n")):
        margin = _MARGIN.match(line)
        before = margin[0] if margin else ""
        words = _BLANKS.sub(" ", line[len(before) :]).strip()
        folds = [words] if room is None else wrapped(words, min(room, 100) - 4 - len(before))
        for at, fold in enumerate(folds):
            yield (" " * len(before) if at else before) + fold


def _marked(text: str, marks: tuple[tuple[int, int], ...], style: Style) -> str:
    """Mark the matches in the snippet."""
    parts, at = [], 0
    for start, end in sorted(marks):
        if start >= at:
            parts += [text[at:start], style.match(text[start:end])]
            at = end
    return "".join([*parts, text[at:]])


@app.command("for")
def for_command(
    ctx: Call,
    place: Annotated[
        str, Argument(metavar="PATH[#SYMBOL|:LINE]", help="A file, folder, symbol or line range.")
    ],
    mentions: Annotated[
        bool,
        Option(
            "--mentions",
            help="Also list documents that only mention the file, even if five or more are anchored to it.",
        ),
    ] = False,
    budget: Budget = 0,
) -> None:
    """List the documents about a piece of code, most specific first, with their current verdicts.

    PATH is a file or folder, optionally with a symbol (src/jwt.py#Token.issue) or lines (src/jwt.py:10-20);
    it may have been deleted. Put -- before a path that starts with a dash.
    """
    console: Console = ctx.obj
    console.budget = budget
    from thunderus_mem.verdicts import lookup

    value = lookup.governing(console.memory(), place, mentions=mentions or None, start=console.start)
    if note := governed_note(value):
        console.say(note)
    console.emit("for", value, governed, long=True)


def _verdict(verdict: str, style: Style) -> str:
    """A verdict in its color."""
    if verdict in ("changed", "missing"):
        return style.error(verdict)
    return style.good(verdict) if verdict == "verified" else style.warning(verdict)


def governed(value: lookup.Governed, console: Console) -> str:
    """Format one line per document: id, kind of match, verdict, anchor, title; problems below it."""
    style = console.style
    if not value.documents:
        return ""
    rows = [
        (style.name(one.id), one.how, _verdict_or_status(one, style), one.place, one_line(one.title))
        for one in value.documents
    ]
    head = []
    if console.width is not None:
        head = [tuple(map(style.dim, ("ID", "HOW", "VERDICT", "WHERE", "TITLE")))]
    lines = columns([*head, *rows], console.width, whole=1).split("\n")
    found = lines[: len(head)]
    for line, one in zip(lines[len(head) :], value.documents, strict=True):
        found.append(line)
        found += [f"    {style.dim(remark)}" for remark in _remarks(one)]
    return "\n".join(found)


def _verdict_or_status(one: lookup.Governing, style: Style) -> str:
    if one.superseded_by:
        return style.warning("superseded")
    if one.verdict:
        return _verdict(one.verdict, style)
    return "" if one.status == "unknown" else one.status


def _remarks(one: lookup.Governing) -> list[str]:
    remarks = []
    if one.superseded_by:
        remarks.append(f"replaced by {one.superseded_by}")
    elif one.state not in ("", "accepted"):
        remarks.append(f"this decision is {one.state}")
    if one.verdict not in ("", "verified"):
        remarks.append(f"{one.reason}: {one.now}" if one.now and one.now not in one.reason else one.reason)
    return [one_line(remark) for remark in remarks]


def governed_note(value: lookup.Governed) -> str:
    """Return a note about omitted or missing documents; "" for none."""
    if value.mentions:
        return f"{counted(value.mentions, 'more document')} only mentioning the file; use --mentions"
    if not value.documents:
        where = "" if value.exists else "; no such file"
        return f"No documents about {value.place}{where}"
    return ""
