"""A memory document: its frontmatter, body and the values the program needs.

The only way from bytes to a `Document`. Nothing here raises: an unreadable file gives findings.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, TypeGuard

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.read import Fences, find_fences, read_header
from thunderus_mem.startup import NamedTuple

MAX_DOCUMENT: Final = 1024 * 1024
KINDS: Final = ("core", "fact", "adr", "playbook", "recap")
STATES: Final = ("proposed", "accepted", "rejected", "deprecated", "superseded")
"""The states of a decision."""
RELATIONS: Final = ("derives_from", "refers_to", "supersedes", "duplicates")


class Link(NamedTuple):
    """A link to another document. ``rel`` is one of `RELATIONS`, ``target`` an id as written."""

    rel: str
    target: str


class Document(NamedTuple):
    """A readable document. ``text`` is the file exactly as decoded, with BOM and CRLF.

    ``header_line`` is the file line of the header's first line, so a node's file line is
    ``header_line + node.line - 1``. ``body_start`` is an offset into ``text``, ``body_line`` its line.
    ``last_verified_commit`` and ``status`` come from ``verification``; ``status`` is "unknown" without one.
    A key of the wrong type counts as missing, a string in place of a list as a list of one; the schema rule
    reports both.
    """

    path: str
    text: str
    header: nodes.Mapping
    header_line: int
    body_start: int
    body_line: int
    id: str
    title: str
    kind: str
    tags: tuple[str, ...]
    created: str
    updated: str
    events: tuple[str, ...]
    patches: tuple[str, ...]
    commits: tuple[str, ...]
    status: str
    last_verified_commit: str | None
    aliases: tuple[str, ...]
    links: tuple[Link, ...]

    @property
    def body(self) -> str:
        """The text after the closing fence line."""
        return self.text[self.body_start :]

    @property
    def hash(self) -> str:
        """`content_hash` of the whole file."""
        return content_hash(self.text)

    @property
    def imported_from(self) -> str:
        """The file the text was imported from (``metadata.imported_from``); "" if it was not imported."""
        return self._metadata("imported_from")

    @property
    def imported_sha256(self) -> str:
        """`source_hash` of the file it was imported from, at the last import; "" if that was not recorded:
        then the links of the text are relative to that file."""
        return self._metadata("imported_sha256")

    @property
    def merged_from(self) -> dict[str, str]:
        """The files that the documents merged into this one were imported from (below ``metadata.merged``),
        each with its `source_hash` at that import."""
        found: dict[str, str] = {}
        waiting = [self.header.at(("metadata", "merged"))]
        while waiting:
            merged = waiting.pop()
            for entry in merged.entries if isinstance(merged, nodes.Mapping) else ():
                metadata = entry.value.get("metadata") if isinstance(entry.value, nodes.Mapping) else None
                if isinstance(metadata, nodes.Mapping):
                    origin = _text(metadata.get("imported_from"))
                    found |= {origin: _text(metadata.get("imported_sha256"))} if origin else {}
                    waiting.append(metadata.get("merged"))
        return found

    def _metadata(self, key: str) -> str:
        metadata = self.header.get("metadata")
        return _text(metadata.get(key)) if isinstance(metadata, nodes.Mapping) else ""

    def label(self, key: str) -> str:
        """A value that labels it, such as ``category``; "" for none."""
        node = self.header.get(key)
        return node.text if _is_given(node) else ""

    @property
    def episode(self) -> tuple[str, int | None] | None:
        """Its ``episode_id`` and ``sequence_number`` (``None`` if missing or invalid); ``None`` for no
        episode."""
        name = self.header.get("episode_id")
        if not _is_given(name) or not name.text:
            return None
        number = _text(self.header.get("sequence_number"))
        return name.text, int(number) if number.isascii() and number.isdigit() and len(number) < 10 else None

    @property
    def confirmed_by(self) -> str:
        """Who verified it last (``verification.by``): user, agent, or "" when not known."""
        verification = self.header.get("verification")
        by = _text(verification.get("by")) if isinstance(verification, nodes.Mapping) else ""
        return by if self.status == "verified" else ""

    @property
    def committed(self) -> str:
        """The proof that the anchored code was in the commit of the verification; "" if there is none."""
        verification = self.header.get("verification")
        return _text(verification.get("committed")) if isinstance(verification, nodes.Mapping) else ""

    def data(self) -> dict[str, Any]:
        """The frontmatter with types. See `typed_data`."""
        return nodes.typed_data(self.header)


class Reading(NamedTuple):
    """The result of reading a file: a document, or the findings that say why not.

    ``text`` is ``None`` when the bytes are not text, ``header`` when it is missing or invalid.
    """

    path: str
    text: str | None
    header: nodes.Mapping | None
    header_line: int
    document: Document | None
    problems: tuple[Diagnostic, ...]


def content_hash(data: bytes | str) -> str:
    """``sha256:`` and the hex digest of the bytes, with CRLF and CR converted to LF."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def same_text(before: str, after: str) -> bool:
    """Whether two texts of a document have the same title and body."""
    one, other = (
        read_document("", text.encode("utf-8", "surrogateescape")).document for text in (before, after)
    )
    return one is not None and other is not None and (one.title, one.body) == (other.title, other.body)


def source_hash(data: bytes) -> str:
    """The value of ``metadata.imported_sha256``: the digest of `content_hash`."""
    return content_hash(data).removeprefix("sha256:")


def read_document(path: str, data: bytes) -> Reading:
    """Read the bytes of the file at ``path`` (root-relative, used only in findings). Never raises."""
    decoded = _decode(path, data)
    if isinstance(decoded, Diagnostic):
        return Reading(path, None, None, 0, None, (decoded,))
    fences = find_fences(decoded)
    if fences is None or not fences.closed:
        return Reading(path, decoded, None, 0, None, (_no_fences(path, decoded, fences),))
    header, problems = read_header(decoded[fences.start : fences.end])
    if header is None:
        found = tuple(_header_finding(path, fences.line, problem) for problem in problems)
        return Reading(path, decoded, None, fences.line, None, found)
    missing = _missing_identity(path, header, fences.line)
    document = None if missing else _document(path, decoded, header, fences)
    return Reading(path, decoded, header, fences.line, document, missing)


def _error(rule: str, path: str, line: int, column: int, message: str, **more: str) -> Diagnostic:
    return Diagnostic(rule, Severity.ERROR, path, line, column, message, **more)  # type: ignore[arg-type]


def _decode(path: str, data: bytes) -> str | Diagnostic:
    if len(data) > MAX_DOCUMENT:
        message = f"The file has {len(data):,} bytes"
        hint = "Split or shorten the document"
        return _error("TM003", path, 0, 0, message, expected="at most 1 MiB", hint=hint)
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        hint = "Delete the byte, or move the file out of the memory folders if it is not text"
        return _error("TM002", path, line, 1, "The file contains a NUL byte", expected="text", hint=hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        before = data[data.rfind(b"\n", 0, error.start) + 1 : error.start]
        column = len(before.decode("utf-8", "replace")) + 1
        message = f"The byte 0x{data[error.start]:02x} is not valid UTF-8"
        hint = "Save the file as UTF-8"
        return _error("TM001", path, line, column, message, expected="UTF-8 text", hint=hint)


def _no_fences(path: str, text: str, fences: Fences | None) -> Diagnostic:
    if fences is not None:
        hint = "End the frontmatter with a `---` line"
        return _error(
            "TM005", path, 1, 1, "The frontmatter is not closed", expected="a closing ---", hint=hint
        )
    message = "The file has no frontmatter"
    hint = (
        "Start the file with a `---` line, then id, title and kind, then another `---` line; or move it "
        "elsewhere and import it: `thunderus-mem import markdown FILE --kind fact`"
    )
    if text.lstrip("\ufeff \t\r\n").startswith("---"):
        message = "The frontmatter does not begin on the first line, or its first line is not just ---"
        hint = "Start the file with a `---` line, then id, title and kind, then another `---` line"
    return _error("TM004", path, 1, 1, message, expected="--- on the first line", hint=hint)


_RULE_OF: Final = {
    "duplicate-key": "TM007",
    "tab": "TM008",
    "alias": "TM009",
    "anchor": "TM009",
    "tag": "TM009",
    "merge-key": "TM009",
    "depth": "TM010",
    "size": "TM010",
}
_EXPECTED_OF: Final = {
    "TM006": "YAML keys and values",
    "TM007": "each key once",
    "TM008": "spaces",
    "TM009": "plain values, without anchors, aliases, tags and merge keys",
    "TM010": "at most 32 KiB, 6 levels and 2,500 values",
}


def _header_finding(path: str, first_line: int, problem: nodes.HeaderProblem) -> Diagnostic:
    rule = _RULE_OF.get(problem.code, "TM006")
    first = f" (first on line {first_line + problem.first - 1})" if problem.first else ""
    return _error(
        rule,
        path,
        first_line + problem.line - 1,
        problem.column,
        f"{problem.message}{first}",
        key=problem.key,
        expected=_EXPECTED_OF[rule],
        hint=problem.hint,
    )


def _missing_identity(path: str, header: nodes.Mapping, first_line: int) -> tuple[Diagnostic, ...]:
    found = []
    for key in ("id", "title", "kind"):
        node = header.get(key)
        if isinstance(node, nodes.Scalar) and node.text.strip():
            continue
        if node is None:
            line, column, message = first_line, 1, f"The frontmatter has no {key}"
        else:
            line, column = first_line + node.line - 1, node.column
            message = f"The {key} is {'empty' if isinstance(node, nodes.Scalar) else 'not a string'}"
        hint = f"Add a line '{key}: …'" if node is None else f"Write a {key} after '{key}:'"
        found.append(_error("TM011", path, line, column, message, key=key, expected="a string", hint=hint))
    return tuple(found)


def _document(path: str, text: str, header: nodes.Mapping, fences: Fences) -> Document:
    found: dict[str, nodes.Node] = {entry.key.text: entry.value for entry in header.entries}
    provenance = _children(found.get("provenance"))
    verification = _children(found.get("verification"))
    commit = verification.get("last_verified_commit")
    return Document(
        path,
        text,
        header,
        fences.line,
        fences.body_start,
        fences.body_line,
        _text(found.get("id")),
        _text(found.get("title")),
        _text(found.get("kind")),
        _tags(found.get("tags")),
        _text(found.get("created")),
        _text(found.get("updated")),
        _texts(provenance.get("events")),
        _texts(provenance.get("patches")),
        _texts(provenance.get("commits")),
        _text(verification.get("status")) or "unknown",
        None if nodes.is_null(commit) else _text(commit) or None,
        _texts(found.get("aliases")),
        _links(found.get("links")),
    )


def _children(node: nodes.Node | None) -> dict[str, nodes.Node]:
    return {entry.key.text: entry.value for entry in node.entries} if isinstance(node, nodes.Mapping) else {}


def _text(node: nodes.Node | None) -> str:
    return node.text if isinstance(node, nodes.Scalar) else ""


def tag_words(text: str) -> tuple[str, ...]:
    """The tags in a single string, as in older documents: separated by commas or spaces."""
    words = text.split(",") if "," in text else text.split()
    return tuple(dict.fromkeys(tag for word in words if (tag := word.strip().lstrip("#"))))


def _tags(node: nodes.Node | None) -> tuple[str, ...]:
    return tag_words(node.text) if _is_given(node) else _texts(node)


def _is_given(node: nodes.Node | None) -> TypeGuard[nodes.Scalar]:
    return isinstance(node, nodes.Scalar) and not nodes.is_null(node)


def _texts(node: nodes.Node | None) -> tuple[str, ...]:
    if not isinstance(node, nodes.Sequence):
        return (node.text,) if _is_given(node) and node.text else ()
    return tuple([item.text for item in node.items if isinstance(item, nodes.Scalar) and item.text])


def _links(node: nodes.Node | None) -> tuple[Link, ...]:
    if node is None:
        return ()
    children = _children(node)
    return tuple([Link(rel, target) for rel in RELATIONS for target in _texts(children.get(rel))])
