"""Render a recap from its template, in a safe subset of Jinja: a template comes with the repository and may
be hostile.

The subset has text, values, conditions, loops over the given lists (two levels) and a few filters. It has no
calls, assignments, includes or files, so that a template can reach nothing else, and its running time is
bounded by its size and the values.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidConfig
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jinja2 import Template, nodes

SECTIONS: Final = (
    "requests", "summary", "documents", "notes", "decisions", "changes", "commits", "problems", "open_ends",
    "files", "provenance",
)  # fmt: skip
"""Lists of lines, in the order of the built-in page."""
NAMES: Final = ("title", "kind", "name", "day", *SECTIONS)
"""The names available in a template."""
_NAMES_HINT: Final = f"available names: {', '.join(NAMES)}"

_BUILT_IN: Final = os.path.join(os.path.dirname(__file__), "templates", "recap.md.j2")
_LARGEST: Final = 64 * 1024
_LARGEST_PAGE: Final = 1 << 20
_DEEPEST: Final = 2
_NODES: Final = frozenset(
    (
        *("Template", "Output", "TemplateData", "Name", "Const", "For", "If", "CondExpr", "Compare"),
        *("Operand", "And", "Or", "Not", "Filter", "Test", "Getattr", "Getitem", "Slice"),
    )
)
_TESTS: Final = frozenset(("defined", "none"))
_LOOP: Final = frozenset(("index", "index0", "first", "last", "length"))
PROVENANCE: Final = "\n## Provenance\n"
"""The heading of the section that every page ends with."""
_PROVENANCE: Final = """
{% if provenance %}

## Provenance

{% for line in provenance %}
- {{ line }}
{% endfor %}
{% endif %}
"""
_BLANK_LINES = lazy_pattern(r"\n{3,}")
_MOST_NODES: Final = 2_000


def fill(template: str, path: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Render ``template``, or the built-in one if it is "".

    ``path`` is the template's file, for messages. Every page has its provenance: the section is appended if
    the template does not use it. Raises `InvalidConfig` with file, line and a hint.
    """
    if not template:
        path = _BUILT_IN
        with open(path, encoding="utf-8") as file:
            template = file.read()
    return _BLANK_LINES.sub("\n\n", _rendered(template, path, values)).strip("\n") + "\n"


@lru_cache(maxsize=2)
def _compiled(template: str, path: str) -> Template:
    """The compiled template; cached, because it is rendered many times to find the page that fits."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=None,
        finalize=lambda value: "" if value is None else value,
    )
    environment.globals = {}
    environment.filters = dict(_FILTERS)
    environment.tests = {name: environment.tests[name] for name in _TESTS} | {"eq": environment.tests["eq"]}
    if not _check(environment.parse(template), path):
        template += _PROVENANCE
    return environment.from_string(template)


def _rendered(template: str, path: str, values: Mapping[str, str | Sequence[str]]) -> str:
    from jinja2 import TemplateError, TemplateSyntaxError

    if len(template) > _LARGEST:
        raise InvalidConfig(f"{path} exceeds {_LARGEST // 1024} KiB", hint="shorten the template")
    try:
        pieces: list[str] = []
        size = 0
        for piece in _compiled(template, path).generate(dict(values)):
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST_PAGE:
                raise InvalidConfig(f"{path} renders to more than 1 MiB", hint="shorten the template")
    except TemplateSyntaxError as error:
        raise InvalidConfig(
            f"{path}, line {error.lineno}: {error.message}",
            hint="fix the line; see `recap.template` in the configuration reference",
        ) from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        line = _line_of(error)
        where = f", line {line}" if line else ""
        raise InvalidConfig(f"{path}{where}: {error}", hint=_NAMES_HINT) from error
    return "".join(pieces)


def _line_of(error: BaseException) -> int:
    """The line of the template that raised an error; 0 if unknown."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _check(tree: nodes.Template, path: str) -> bool:
    """Whether the template uses the provenance. Raises for anything outside the subset."""
    named = False
    for number, (node, depth, bound) in enumerate(_walk(tree, 0, frozenset())):
        kind = type(node).__name__
        trouble = ""
        if number > _MOST_NODES:
            trouble = f"the template has more than {_MOST_NODES:,} parts"
        elif kind not in _NODES:
            trouble = f"{_SYNTAX_NAMES.get(kind, kind)} is not allowed in a recap template"
        elif kind == "For" and (depth >= _DEEPEST or getattr(node, "recursive", False)):
            trouble = f"loops can be nested {_DEEPEST} levels deep at most"
        elif kind == "Filter" and node.name not in _FILTERS:
            trouble = f"unknown filter {node.name!r}; available: {', '.join(sorted(_FILTERS))}"
        elif kind == "Filter" and _filter_depth(node) > _DEEPEST:
            trouble = f"at most {_DEEPEST} filters can be chained"
        elif kind == "Test" and node.name not in _TESTS:
            trouble = f"unknown test {node.name!r}; available: {', '.join(sorted(_TESTS))}"
        elif kind == "Getattr" and not (getattr(node.node, "name", "") == "loop" and node.attr in _LOOP):
            trouble = f"unknown attribute {node.attr!r}; `loop` has {', '.join(sorted(_LOOP))}"
        elif kind == "Getitem" and not _is_number(node.arg):
            trouble = "an index must be a number or a slice of numbers, e.g. [0] or [:3]"
        elif kind == "Name" and node.ctx == "load" and node.name not in bound and node.name not in NAMES:
            trouble = f"unknown name {node.name!r}"
        if trouble:
            raise InvalidConfig(f"{path}, line {node.lineno}: {trouble}", hint=_NAMES_HINT)
        named = named or (kind == "Name" and node.name == "provenance")
    return named


_SYNTAX_NAMES: Final = {
    "Call": "a call", "Assign": "set", "AssignBlock": "set", "Include": "include", "Import": "import",
    "FromImport": "import", "Extends": "extends", "Macro": "macro", "Block": "block", "Mul": "*", "Add": "+",
    "Concat": "~", "Pow": "**", "Mod": "%", "List": "a list", "Dict": "a dictionary", "FilterBlock": "filter",
    "With": "with", "Sub": "-", "Div": "/", "FloorDiv": "//", "CallBlock": "call", "Tuple": "a tuple",
}  # fmt: skip


def _walk(node: Any, depth: int, bound: frozenset[str]) -> Iterator[tuple[Any, int, frozenset[str]]]:
    """Every node of a template, its loop depth, and the names bound by those loops."""
    yield node, depth, bound
    inside = type(node).__name__ == "For"
    if inside:
        target = getattr(node.target, "name", "")
        bound = bound | {target, "loop"}
    for child in node.iter_child_nodes():
        yield from _walk(child, depth + inside, bound)


def _is_number(node: Any) -> bool:
    if type(node).__name__ == "Slice":
        return all(part is None or _is_number(part) for part in (node.start, node.stop, node.step))
    return type(node).__name__ == "Const" and type(node.value) is int


def _filter_depth(node: Any) -> int:
    depth = 0
    while type(node).__name__ == "Filter":
        depth, node = depth + 1, node.node
    return depth


def _join(value: Any, separator: str = "") -> str:
    items = [str(item) for item in value]
    if sum(map(len, items)) + len(items) * len(str(separator)) > _LARGEST_PAGE:
        raise ValueError("the joined text exceeds 1 MiB")
    return str(separator).join(items)


_FILTERS: Final[dict[str, Any]] = {
    "capitalize": lambda value: str(value).capitalize(),
    "first": lambda value: value[0] if value else "",
    "join": _join,
    "last": lambda value: value[-1] if value else "",
    "length": len,
    "lower": lambda value: str(value).lower(),
    "trim": lambda value: str(value).strip(),
    "upper": lambda value: str(value).upper(),
}


OMITTED: Final = "(omitted: possible secret or prompt injection)"
"""What a recap shows instead of a text that may not be in it."""
LONGEST: Final = 300
"""The limit on text quoted from private events, in characters."""

_RELATIVE = lazy_pattern(r"\]\((?!https?://)")
_MARKUP = lazy_pattern(r"<(?=[A-Za-z/!?])")


def one_line(text: str) -> str:
    """Free text as one line of a list, escaped so that it cannot open a comment, an HTML element or a code
    span.

    Relative links are escaped too: they do not work from this folder, and lint would reject the page.
    """
    line = " ".join(text.split())
    if line.count("`") % 2:
        line = line.replace("`", "'")
    parts = line.split("`")
    parts[::2] = [_MARKUP.sub("&lt;", part) for part in parts[::2]]
    # Links and comments are escaped inside code spans too, because lint finds them there.
    return escape_links("`".join(parts))


def escape_links(text: str) -> str:
    """The text with relative links and the start of comments escaped."""
    return _RELATIVE.sub(r"]\\(", text.replace("<!--", "&lt;!--"))


def cut(text: str, most: int = LONGEST) -> str:
    """The text, cut at a word and ended with an ellipsis if it is longer than ``most``."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:") + "…"


def closed(line: str) -> str:
    """A line that was cut within a code span or a link, without what remains of that span or link."""
    line = line if line.count("`") % 2 == 0 else line.replace("`", "'")
    return line if line.rfind("[[") <= line.rfind("]]") else line[: line.rfind("[[")].rstrip() + "…"


def span(text: str) -> str:
    """The text as a code span, with a fence long enough for its backticks."""
    line = " ".join(text.split()).replace("<!--", "< !--").replace("](", "] (")
    if "`" not in line:
        return f"`{line}`"
    longest = max(len(run) for run in re.findall(r"`+", line))
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def spans(names: Iterable[str]) -> str:
    """Names as code spans, separated by commas."""
    return ", ".join(span(name) for name in names)


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``3 events``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
