"""A recap's page from its template: Jinja, cut down to what a page needs, since a template comes with the
repository and may be hostile.

Of the language only texts, values, tests, loops over given lists (two deep) and a few filters are taken.
There is no call, no assignment, no inclusion, no file, so nothing can be reached, and the work is bounded by
the template's size and the values given.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jinja2 import Template, nodes

SECTIONS: Final = (
    "summary", "decisions", "problems", "commands", "changes", "commits", "notes", "open_ends", "files",
    "provenance",
)  # fmt: skip
"""Lists of lines, in the order of the built-in page."""
NAMES: Final = ("title", "kind", "name", "day", *SECTIONS)
"""What a template may name."""

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
_PROVENANCE: Final = """
{% if provenance %}

## Provenance

{% for line in provenance %}
- {{ line }}
{% endfor %}
{% endif %}
"""
_BLANK_LINES = re.compile(r"\n{3,}")
_MOST_NODES: Final = 2_000


def fill(template: str, path: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """The page: ``template`` with its values, or the built-in one when it is "".

    ``path`` is the template's file, for messages. A page always ends in its provenance: a template that does
    not name it gets the section. Raises `InvalidConfig` with file, line and a way out.
    """
    if not template:
        path = _BUILT_IN
        with open(path, encoding="utf-8") as file:
            template = file.read()
    return _BLANK_LINES.sub("\n\n", _rendered(template, path, values)).strip("\n") + "\n"


@lru_cache(maxsize=2)
def _compiled(template: str, path: str) -> Template:
    """The template ready to be filled: finding the page that fits fills one many times."""
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
        raise InvalidConfig(f"{path} is longer than {_LARGEST // 1024} KiB", hint="shorten the template")
    try:
        pieces: list[str] = []
        size = 0
        for piece in _compiled(template, path).generate(dict(values)):
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST_PAGE:
                raise InvalidConfig(f"{path} makes a page of more than 1 MiB", hint="shorten the template")
    except TemplateSyntaxError as error:
        raise InvalidConfig(
            f"{path}, line {error.lineno}: {error.message}",
            hint="mend the line; the built-in template shows how",
        ) from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        line = _line_of(error)
        where = f", line {line}" if line else ""
        raise InvalidConfig(
            f"{path}{where}: {error}", hint=f"a template may name {', '.join(NAMES)}"
        ) from error
    return "".join(pieces)


def _line_of(error: BaseException) -> int:
    """The template's line on which an error arose; 0 when it cannot be told."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _check(tree: nodes.Template, path: str) -> bool:
    """Whether the template names the provenance. Raises for anything a page has no use for."""
    named = False
    for number, (node, depth, bound) in enumerate(_walk(tree, 0, frozenset())):
        kind = type(node).__name__
        trouble = ""
        if number > _MOST_NODES:
            trouble = f"the template has more than {_MOST_NODES:,} parts"
        elif kind not in _NODES:
            trouble = f"{_SPOKEN.get(kind, kind)} cannot be used here"
        elif kind == "For" and (depth >= _DEEPEST or getattr(node, "recursive", False)):
            trouble = f"loops may stand {_DEEPEST} deep"
        elif kind == "Filter" and (node.name not in _FILTERS or _filter_depth(node) > _DEEPEST):
            trouble = f"the filter {node.name} cannot be used here; there are {', '.join(sorted(_FILTERS))}"
        elif kind == "Test" and node.name not in _TESTS:
            trouble = f"the test {node.name} cannot be used here"
        elif kind == "Getattr" and not (getattr(node.node, "name", "") == "loop" and node.attr in _LOOP):
            trouble = f"there is no {node.attr}; of a loop there are {', '.join(sorted(_LOOP))}"
        elif kind == "Getitem" and not _is_number(node.arg):
            trouble = "an item is taken by its number, as [0] or [:3]"
        elif kind == "Name" and node.ctx == "load" and node.name not in bound and node.name not in NAMES:
            trouble = f"there is no {node.name}"
        if trouble:
            raise InvalidConfig(
                f"{path}, line {node.lineno}: {trouble}", hint=f"a template may name {', '.join(NAMES)}"
            )
        named = named or (kind == "Name" and node.name == "provenance")
    return named


_SPOKEN: Final = {
    "Call": "a call", "Assign": "set", "AssignBlock": "set", "Include": "include", "Import": "import",
    "FromImport": "import", "Extends": "extends", "Macro": "macro", "Block": "block", "Mul": "*", "Add": "+",
    "Concat": "~", "Pow": "**", "Mod": "%", "List": "a list", "Dict": "a dictionary", "FilterBlock": "filter",
    "With": "with", "Sub": "-", "Div": "/", "FloorDiv": "//", "CallBlock": "call", "Tuple": "a tuple",
}  # fmt: skip


def _walk(node: Any, depth: int, bound: frozenset[str]) -> Iterator[tuple[Any, int, frozenset[str]]]:
    """Every part of a template, how many loops it stands in, and the names those loops give."""
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
        raise ValueError("a joined text is longer than 1 MiB")
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


LONGEST: Final = 300
"""Characters of a text of somebody's private events that a page repeats."""

_RELATIVE = re.compile(r"\]\((?!https?://)")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")


def one_line(text: str) -> str:
    """Free text as one list line that cannot open a comment, an element or a code span over the rest of the
    page.

    Neither is a relative link one from here: the page would be refused for it.
    """
    line = " ".join(text.split())
    if line.count("`") % 2:
        line = line.replace("`", "'")
    parts = line.split("`")
    parts[::2] = [_MARKUP.sub("&lt;", part) for part in parts[::2]]
    # A link is one wherever its bracket stands; the comment mark hides text even inside a code span.
    return _RELATIVE.sub(r"]\\(", "`".join(parts)).replace("<!--", "&lt;!--")


def cut(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning up to a word and an ellipsis."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:") + "…"


def span(text: str) -> str:
    """The text as a code span, whatever backticks it holds."""
    line = " ".join(text.split()).replace("<!--", "< !--").replace("](", "] (")
    if "`" not in line:
        return f"`{line}`"
    longest = max(len(run) for run in re.findall(r"`+", line))
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def spans(names: Iterable[str]) -> str:
    """Names as code spans, joined by commas."""
    return ", ".join(span(name) for name in names)


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``3 events``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
