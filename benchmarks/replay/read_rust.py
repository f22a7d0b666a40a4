"""Truth for Rust, from the tree that rustc prints (``-Zunpretty=ast-tree``) before anything is expanded.

The print is Rust's ``{:#?}``: one field, element or bracket a line. It is read into nested lists, spans, ids
and kept tokens are thrown away, parentheses are opened, and a block that holds one expression is that
expression where it is the body of a match arm or a closure.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.replay.symbols import Reading, Symbol, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BLANK: Final = "·"
_LEFT_OUT: Final = frozenset(
    (
        *("id", "span", "tokens", "is_placeholder", "dspan", "inner_span", "fn_decl_span", "fn_arg_span"),
        *("has_where_token", "recovered", "colon_sp", "prev_span", "spans", "use_span", "name_span"),
        *("inject_use_span", "gate_span", "define_opaque", "eii_impls", "open", "close", "kw_span"),
    )
)
_SPAN: Final = re.compile(r"\S*\.rs:(\d+):\d+: (\d+):\d+ \(#\d+\)")
_SPACING: Final = frozenset(["Joint", "JointHidden", "Alone"])
_KINDS: Final = {
    "Fn": "function",
    "Struct": "type",
    "Enum": "type",
    "Union": "type",
    "Trait": "type",
    "TyAlias": "type",
    "Type": "type",
    "Const": "const",
    "Static": "const",
    "Mod": "module",
    "MacroDef": "macro",
}
_NAMED: Final = frozenset((*_KINDS, "ConstItem", "StaticItem"))


class Node(NamedTuple):
    """A struct, tuple or list of the print: its ``name`` ("" for a list) and (key, value) pairs."""

    name: str
    fields: list[tuple[str, Any]]

    def get(self, key: str) -> Any:
        """A named field, or ``None``."""
        return next((value for name, value in self.fields if name == key), None)

    def first(self) -> Any:
        """The first value, or ``None``."""
        return self.fields[0][1] if self.fields else None


def parse(printed: str) -> Node:
    """The print as nested nodes."""
    root = Node("", [])
    stack = [root]
    for raw in printed.split("\n"):
        row = raw.strip()
        if not row:
            continue
        if row[0] in "})]" and row.rstrip(",") in ("}", ")", "]"):
            stack.pop()
            continue
        key, value = _split(row)
        if value and value[-1] in "{([" and not value.startswith('"'):
            inner = Node(value[:-1].strip(), [])
            stack[-1].fields.append((key, inner))
            stack.append(inner)
        else:
            stack[-1].fields.append((key, value.removesuffix(",")))
    return root


def _split(row: str) -> tuple[str, str]:
    """``key: value``, or a value alone."""
    key, colon, value = row.partition(": ")
    return (key, value) if colon and key.isidentifier() else ("", row)


def _is_doc(node: Any) -> bool:
    kind = node.get("kind") if isinstance(node, Node) and node.name == "Attribute" else None
    return isinstance(kind, Node) and kind.name == "DocComment"


def _alone(block: Any) -> Any:
    """The expression that a plain block holds and nothing else; else the block expression itself."""
    if not (isinstance(block, Node) and block.name == "Expr"):
        return block
    kind = block.get("kind")
    if not (isinstance(kind, Node) and kind.name == "Block" and len(kind.fields) == 2):
        return block
    body = kind.first()
    if kind.fields[1][1] != "None" or body.get("rules") != "Default":
        return block
    statements = body.get("stmts")
    if not (isinstance(statements, Node) and len(statements.fields) == 1):
        return block
    inner = statements.first().get("kind")
    return _alone(inner.first()) if isinstance(inner, Node) and inner.name == "Expr" else block


def _opened(value: Any) -> Any:
    """The content of redundant parentheses of an expression, type or pattern."""
    while isinstance(value, Node) and value.name in ("Expr", "Ty", "Pat"):
        kind = value.get("kind")
        if not (isinstance(kind, Node) and kind.name == "Paren"):
            return value
        value = kind.first()
    return value


def _says_nothing(name: str, value: Any) -> bool:
    """Whether a field has positions, docs, spacing, or compiler internals."""
    if isinstance(value, str):
        return name in _LEFT_OUT or (name == "attrs" and value == "[]") or value in _SPACING
    if name == "attrs":
        return all(_is_doc(one) for _, one in value.fields)
    if value.name in ("DelimSpan", "DelimSpacing"):
        return True
    return (name in _LEFT_OUT and value.name != "TokenStream") or _is_doc(value)


def _without_last_comma(stream: Node) -> Node:
    """The tokens of a macro or an attribute; a comma behind the last one is formatting."""
    inner = stream.first()
    if not (isinstance(inner, Node) and inner.fields):
        return stream
    last = inner.fields[-1][1]
    token = last.first() if isinstance(last, Node) and last.name == "Token" else None
    if isinstance(token, Node) and token.get("kind") == "Comma":
        return Node(stream.name, [("", Node("", inner.fields[:-1])), *stream.fields[1:]])
    return stream


def dump(value: Any, own: str = "", *, key: str = "", holder: str = "") -> str:
    """A node as text; ``own`` is blanked where it is the name of a path or of the item itself."""
    value = _opened(value)
    if isinstance(value, str):
        if _SPAN.fullmatch(value):
            return ""
        named = own and value == f"{own}#0" and holder in ("PathSegment", "own")
        return _BLANK if named else value.rsplit("#", 1)[0] if re.fullmatch(r"[\w$]+#\d+", value) else value
    if holder in ("Arm", "Closure") and key == "body":
        value = _some_alone(value)
    if value.name == "TokenStream":
        value = _without_last_comma(value)
    parts = []
    for name, inner in value.fields:
        if _says_nothing(name, inner):
            continue
        own_name = value.name in _NAMED and isinstance(inner, str) and name in ("", "ident")
        parts.append(name + ":" + dump(inner, own, key=name, holder="own" if own_name else value.name))
    return f"{value.name}({' '.join(parts)})"


def _some_alone(value: Node) -> Any:
    if value.name == "Some":
        return Node("Some", [("", _alone(_opened(value.first())))])
    return _alone(_opened(value))


def _lines(item: Node) -> tuple[int, int]:
    spans = [_SPAN.fullmatch(str(item.get("span")))]
    attributes = item.get("attrs")
    for _, one in attributes.fields if isinstance(attributes, Node) else ():
        if not _is_doc(one):
            spans.append(_SPAN.fullmatch(str(one.get("span"))))
    rows = [(int(span[1]), int(span[2])) for span in spans if span]
    return min(row[0] for row in rows), rows[0][1]


def _name_of(kind: Node) -> str:
    named = kind.get("ident")
    body = kind.first()
    if named is None and isinstance(body, Node):
        named = body.get("ident")
    if named is None:
        named = next((value for _, value in kind.fields if isinstance(value, str) and "#" in value), "")
    return str(named).rsplit("#", 1)[0].removeprefix("r#")


def _self_type(kind: Node) -> str:
    """The last name of the type an ``impl`` is for."""
    impl = kind.first() if isinstance(kind.first(), Node) else kind
    found = impl.get("self_ty") or kind.get("self_ty")
    while isinstance(found, Node):
        segments = _find(found, "segments")
        if segments is None or not segments.fields:
            return ""
        return str(segments.fields[-1][1].get("ident")).rsplit("#", 1)[0]
    return ""


def _find(node: Node, key: str) -> Node | None:
    for name, value in node.fields:
        if isinstance(value, Node):
            if name == key:
                return value
            inner = _find(value, key)
            if inner is not None:
                return inner
    return None


def _items(node: Node, prefix: str) -> Iterator[Symbol]:
    for _, item in node.fields:
        if not (isinstance(item, Node) and item.name == "Item"):
            if isinstance(item, Node) and item.name in ("Loaded", "Yes"):
                yield from _items(item, prefix)
            continue
        kind = item.get("kind")
        if not isinstance(kind, Node):
            continue
        if kind.name == "Impl":
            held = _find(kind, "items")
            if held is not None:
                yield from _items(held, prefix + _self_type(kind) + ".")
        elif kind.name in _KINDS:
            name = _name_of(kind)
            first, last = _lines(item)
            text, blank = dump(item), dump(item, name)
            yield Symbol(prefix + name, _KINDS[kind.name], first, last, digest(text), digest(blank))
            yield from _below(kind, prefix + name + ".")


def _below(kind: Node, prefix: str) -> Iterator[Symbol]:
    if kind.name == "Trait":
        held = _find(kind, "items")
        if held is not None:
            yield from _items(held, prefix)
    elif kind.name == "Mod":
        for _, value in kind.fields:
            if isinstance(value, Node) and value.name == "Loaded" and isinstance(value.first(), Node):
                yield from _items(value.first(), prefix)


def _compiled(place: str, edition: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["rustc", "-Zunpretty=ast-tree", "--edition", edition, place],
        env=os.environ | {"RUSTC_BOOTSTRAP": "1"},
        capture_output=True,
        check=False,
    )


class RustReader:
    """One rustc process a file; four at a time."""

    suffixes: tuple[str, ...] = (".rs",)
    made_of = __file__

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading per file; files rejected by this compiler are reported as trouble."""
        with ThreadPoolExecutor(4) as pool, tempfile.TemporaryDirectory() as folder:
            places = [os.path.join(folder, f"{at}.rs") for at in range(len(files))]
            return list(pool.map(self._one, places, [data for _, data in files]))

    def _one(self, place: str, data: bytes) -> Reading:
        with open(place, "wb") as file:
            file.write(data)
        done = _compiled(place, "2021")
        if done.returncode:
            done = _compiled(place, "2024")
        os.unlink(place)
        if done.returncode:
            return Reading((), done.stderr.decode(errors="replace")[:200])
        tree = parse(done.stdout.decode("utf-8", "replace"))
        crate = tree.first()
        items = crate.get("items") if isinstance(crate, Node) else None
        return Reading(tuple(_items(items, "")) if isinstance(items, Node) else ())
