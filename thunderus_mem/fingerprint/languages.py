"""Which nodes of a tree are definitions, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.fingerprint.python import PYTHON
from thunderus_mem.fingerprint.script import SCRIPT
from thunderus_mem.fingerprint.systems import GO, OTHERS, RUST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.fingerprint.walk import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Names = Callable[["SgNode", str, Callable[["SgNode"], str]], tuple[str, ...]]


SCOPE: Final = ""
"""The label of a node that names what is in it and is no definition itself."""


def by_field(node: SgNode, _kind: str, text: Callable[[SgNode], str]) -> tuple[str, ...]:
    """The name in the field ``name``."""
    name = node.field("name")
    return (text(name),) if name is not None else ()


def dotted(name: str) -> str:
    """A qualified name with points, without the arguments of its templates."""
    depth, kept = 0, []
    for character in name:
        if character == "<" and not name.startswith("operator"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return ".".join(part.strip() for part in "".join(kept).replace("::", ".").split(".") if part.strip())


def first(node: SgNode, kinds: tuple[str, ...], text: Callable[[SgNode], str]) -> str:
    """The text of the first named child of one of these kinds, "" when there is none."""
    return next((text(child) for child in node.named_children() if child.kind() in kinds), "")


def kinds(label: str, kinds: str, more: Mapping[str, str]) -> dict[str, str]:
    """A table of kinds: many under one label, and some more with labels of their own."""
    return {**dict.fromkeys(kinds.split(), label), **more}


class Table(NamedTuple):
    """The definitions of one language.

    ``kinds`` maps kinds of nodes to what people call them (`SCOPE` for nodes that only qualify names);
    ``names`` gives the names of a node, () when it defines nothing; ``wrappers`` are parents that belong to
    the node, ``before`` are siblings that do when they stand right before it;
    ``clauses`` joins functions of one name that follow each other.
    """

    kinds: Mapping[str, str]
    names: Names = by_field
    wrappers: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    clauses: bool = False


# The definitions of Python, JavaScript, TypeScript, Go and Rust.

if TYPE_CHECKING:
    from collections.abc import Callable

    from ast_grep_py import SgNode

    TokenText = Callable[[SgNode], str]


_FUNCTIONS: Final = frozenset(
    ["function_expression", "arrow_function", "generator_function", "class", "function"]
)
_TOP: Final = ("program", "export_statement", "source_file")


def _python(node: SgNode, kind: str, text: TokenText) -> tuple[str, ...]:
    if kind == "type_alias_statement":
        left = node.field("left")
        return (text(left).partition("[")[0],) if left is not None else ()
    if kind != "assignment":
        return by_field(node, kind, text)
    statement = node.parent()
    block = (
        statement.parent() if statement is not None and statement.kind() == "expression_statement" else None
    )
    if block is None or not _holds_constants(block):
        return ()
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "identifier" else ()


_BRANCHES: Final = (
    "block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause",
    "except_group_clause", "finally_clause", "with_statement",
)  # fmt: skip


def _holds_constants(block: SgNode) -> bool:
    """Whether names assigned here are those of a module or a class, under a condition or not."""
    outer: SgNode | None = block
    while outer is not None and outer.kind() in _BRANCHES:
        outer = outer.parent()
    return outer is not None and outer.kind() in ("module", "class_definition")


PYTHON_TABLE: Final = Table(
    {
        "function_definition": "function",
        "class_definition": "class",
        "assignment": "const",
        "type_alias_statement": "type",
    },
    _python,
    frozenset(["decorated_definition", "expression_statement"]),
)


def _script(node: SgNode, kind: str, text: TokenText) -> tuple[str, ...]:
    if kind == "variable_declarator":
        return _declared(node, text)
    if kind == "assignment_expression":
        return _assigned(node, text)
    if kind == "pair":
        value, key = node.field("value"), node.field("key")
        plain = value is not None and value.kind() in (*_FUNCTIONS, "object")
        return (_plain(text(key)),) if plain and key is not None else ()
    if kind == "export_statement":
        return _exported(node)
    name = node.field("name") or node.field("property")
    return (_plain(text(name)),) if name is not None else ()


def _plain(name: str) -> str:
    """A key without its brackets, quotes and ``#``."""
    return "".join(name.strip("[]# ").translate({ord(mark): None for mark in "'\"`"}).split("\n"))


def _declared(node: SgNode, text: TokenText) -> tuple[str, ...]:
    name, value = node.field("name"), node.field("value")
    if name is None or name.kind() != "identifier":
        return ()
    if value is not None and value.kind() in _FUNCTIONS:
        return (text(name),)
    outer = node.parent()
    outer = outer.parent() if outer is not None else None
    if outer is not None and outer.kind() == "statement_block":
        outer = outer.parent()
        return (text(name),) if outer is not None and outer.kind() in ("internal_module", "module") else ()
    top = outer is not None and outer.kind() in (*_TOP, "ambient_declaration")
    return (text(name),) if top else ()


def _assigned(node: SgNode, text: TokenText) -> tuple[str, ...]:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or right.kind() not in (*_FUNCTIONS, "object"):
        return ()
    if left.kind() != "member_expression":
        return ()
    parts = [part for part in text(left).split(".") if part not in ("module", "exports", "prototype", "this")]
    return (".".join(parts),) if parts and all(part.isidentifier() for part in parts) else ()


def _exported(node: SgNode) -> tuple[str, ...]:
    """``export default`` of something without a name."""
    value = node.field("value")
    named = value is None or (value.kind() == "identifier") or value.field("name") is not None
    return () if named else ("default",)


_SCRIPT_WRAPPERS: Final = frozenset(["export_statement", "lexical_declaration", "variable_declaration"])
_SCRIPT_KINDS: Final = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
    "variable_declarator": "const",
    "assignment_expression": "function",
    "pair": "method",
    "export_statement": "const",
}

JAVASCRIPT_TABLE: Final = Table(
    {**_SCRIPT_KINDS, "field_definition": "field"}, _script, _SCRIPT_WRAPPERS, frozenset(["decorator"])
)
TYPESCRIPT_TABLE: Final = Table(
    {
        **_SCRIPT_KINDS,
        "function_signature": "function",
        "abstract_class_declaration": "class",
        "method_signature": "method",
        "abstract_method_signature": "method",
        "public_field_definition": "field",
        "property_signature": "field",
        "interface_declaration": "type",
        "type_alias_declaration": "type",
        "enum_declaration": "type",
        "internal_module": "module",
        "module": "module",
    },
    _script,
    _SCRIPT_WRAPPERS | {"ambient_declaration"},
    frozenset(["decorator"]),
)


def _go(node: SgNode, kind: str, text: TokenText) -> tuple[str, ...]:
    if kind in ("const_spec", "var_spec"):
        outer = node.parent()
        outer = outer.parent() if outer is not None and outer.kind() == "var_spec_list" else outer
        outer = outer.parent() if outer is not None else None
        if outer is None or outer.kind() != "source_file":
            return ()
        return tuple(text(name) for name in node.field_children("name") if name.kind() == "identifier")
    name = node.field("name")
    if name is None:
        return ()
    if kind != "method_declaration":
        return (text(name),)
    receiver = node.field("receiver")
    words = text(receiver).strip("()").partition("[")[0].split() if receiver is not None else []
    return (f"{words[-1].strip('*')}.{text(name)}",) if words else (text(name),)


GO_TABLE: Final = Table(
    {
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
        "method_elem": "method",
        "const_spec": "const",
        "var_spec": "var",
    },
    _go,
)
"""Only what is declared is measured, not the keyword before it: it may stand alone or in a group."""


def _rust(node: SgNode, kind: str, text: TokenText) -> tuple[str, ...]:
    if kind != "impl_item":
        return by_field(node, kind, text)
    of = node.field("type")
    return (text(of).partition("<")[0].strip("&* ").rpartition("::")[2],) if of is not None else ()


RUST_TABLE: Final = Table(
    {
        "function_item": "function",
        "function_signature_item": "function",
        "struct_item": "type",
        "enum_item": "type",
        "union_item": "type",
        "trait_item": "type",
        "type_item": "type",
        "associated_type": "type",
        "const_item": "const",
        "static_item": "const",
        "enum_variant": "const",
        "macro_definition": "macro",
        "mod_item": "module",
        "impl_item": SCOPE,
    },
    _rust,
    before=frozenset(["attribute_item"]),
)


# The definitions of Ruby, shells, Lua, Elixir and Haskell.

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    TablesScriptTokenText = Callable[[SgNode], str]


_DEEPEST: Final = 20
_DEFINING: Final = {
    "def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro", "defguard": "macro",
    "defmodule": "module", "defprotocol": "type", "defimpl": "module",
}  # fmt: skip


def _ruby(node: SgNode, kind: str, text: TablesScriptTokenText) -> tuple[str, ...]:
    if kind != "assignment":
        return tuple(dotted(name) for name in by_field(node, kind, text))
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "constant" else ()


def _bash(node: SgNode, kind: str, text: TablesScriptTokenText) -> tuple[str, ...]:
    if kind == "variable_assignment":
        outer = node.parent()
        outer = outer.parent() if outer is not None and outer.kind() == "declaration_command" else outer
        if outer is None or outer.kind() != "program":
            return ()
    return by_field(node, kind, text)


def _lua(node: SgNode, kind: str, text: TablesScriptTokenText) -> tuple[str, ...]:
    if kind == "function_declaration":
        return tuple(name.replace(":", ".") for name in by_field(node, kind, text))
    parts = node.named_children()
    if kind == "field":
        is_function = any(part.kind() == "function_definition" for part in parts)
        return by_field(node, kind, text) if is_function else ()
    values = [value.kind() for value in parts[-1].named_children()] if parts else []
    outer = node.parent()
    outer = outer.parent() if outer is not None and outer.kind() == "variable_declaration" else outer
    if values[:1] != ["function_definition"] and (outer is None or outer.kind() != "chunk"):
        return ()
    return (text(parts[0].named_children()[0]),) if parts and parts[0].named_children() else ()


def _elixir(node: SgNode, _kind: str, text: TablesScriptTokenText) -> tuple[str, ...]:
    target = node.field("target")
    if target is None or text(target) not in _DEFINING:
        return ()
    arguments = next((child for child in node.named_children() if child.kind() == "arguments"), None)
    head = arguments.child(0) if arguments is not None else None
    for _ in range(_DEEPEST):
        if head is None or head.kind() in ("identifier", "alias"):
            break
        head = head.child(0)
    return (text(head),) if head is not None else ()


SCRIPT_TABLES: Final[Mapping[str, Table]] = {
    "ruby": Table(
        {
            "module": "module",
            "class": "class",
            "method": "function",
            "singleton_method": "method",
            "assignment": "const",
        },
        _ruby,
    ),
    "bash": Table(
        {"function_definition": "function", "variable_assignment": "const"},
        _bash,
        frozenset(["declaration_command"]),
    ),
    "lua": Table(
        {"function_declaration": "function", "assignment_statement": "const", "field": "method"},
        _lua,
        frozenset(["variable_declaration"]),
    ),
    "elixir": Table({"call": "function"}, _elixir, clauses=True),
    "haskell": Table(
        kinds(
            "type",
            "data_type newtype type_synonym class",
            {"function": "function", "bind": "const", "signature": "signature"},
        ),
        clauses=True,
    ),
}


# The definitions of languages whose members stand in classes: Java, C#, Kotlin, Swift, PHP and others.

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    TablesTypesTokenText = Callable[[SgNode], str]


def declared(fields: str) -> Callable[[SgNode, str, TablesTypesTokenText], tuple[str, ...]]:
    """The names of declarations that hold several, each in a node of the kind ``fields``."""

    def names(node: SgNode, kind: str, text: TablesTypesTokenText) -> tuple[str, ...]:
        if node.field("name") is not None:
            return by_field(node, kind, text)
        inner = node.named_children()
        inner += [
            child
            for part in inner
            if part.kind() == "variable_declaration"
            for child in part.named_children()
        ]
        found = [child.field("name") or child.child(0) for child in inner if child.kind() == fields]
        return tuple(text(name) for name in found if name is not None)

    return names


def _kotlin(node: SgNode, kind: str, text: TablesTypesTokenText) -> tuple[str, ...]:
    if kind == "secondary_constructor":
        return ("constructor",)
    if kind == "property_declaration":
        outer = node.parent()
        if outer is None or outer.kind() not in ("class_body", "source_file", "enum_class_body"):
            return ()
        inner = next(
            (child for child in node.named_children() if child.kind() == "variable_declaration"), None
        )
        name = first(inner, ("simple_identifier",), text) if inner is not None else ""
    else:
        name = first(node, ("type_identifier", "simple_identifier"), text)
    return (name,) if name else ()


def _swift(node: SgNode, kind: str, text: TablesTypesTokenText) -> tuple[str, ...]:
    name = node.field("name")
    if name is None:
        return ()
    outer = node.parent()
    if kind == "property_declaration" and (
        outer is None or outer.kind() not in ("class_body", "source_file")
    ):
        return ()
    return (text(name).partition("<")[0].strip(),)


def _php(node: SgNode, kind: str, text: TablesTypesTokenText) -> tuple[str, ...]:
    if kind == "const_element":
        return (first(node, ("name",), text),)
    return tuple(name.lstrip("$") for name in by_field(node, kind, text))


def _scala(node: SgNode, kind: str, text: TablesTypesTokenText) -> tuple[str, ...]:
    if kind not in ("val_definition", "var_definition"):
        return by_field(node, kind, text)
    outer, pattern = node.parent(), node.field("pattern")
    if outer is None or pattern is None or outer.kind() not in ("template_body", "compilation_unit"):
        return ()
    return (text(pattern),) if pattern.kind() == "identifier" else ()


TYPE_TABLES: Final[Mapping[str, Table]] = {
    "java": Table(
        kinds(
            "class",
            "class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration",
            {
                **dict.fromkeys(
                    ["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
                    "method",
                ),
                "annotation_type_element_declaration": "method",
                "enum_constant": "const",
                "field_declaration": "field",
            },
        ),
        declared("variable_declarator"),
    ),
    "csharp": Table(
        kinds(
            "class",
            "class_declaration struct_declaration interface_declaration enum_declaration record_declaration",
            {
                **dict.fromkeys(
                    ["method_declaration", "constructor_declaration", "local_function_statement"], "method"
                ),
                **dict.fromkeys(
                    ["property_declaration", "field_declaration", "event_field_declaration"], "field"
                ),
                "delegate_declaration": "type",
                "enum_member_declaration": "const",
            },
        ),
        declared("variable_declarator"),
    ),
    "kotlin": Table(
        {
            "class_declaration": "class",
            "object_declaration": "class",
            "function_declaration": "function",
            "secondary_constructor": "method",
            "property_declaration": "field",
            "type_alias": "type",
            "enum_entry": "const",
        },
        _kotlin,
    ),
    "swift": Table(
        {
            "class_declaration": "class",
            "protocol_declaration": "type",
            "function_declaration": "function",
            "protocol_function_declaration": "method",
            "init_declaration": "method",
            "property_declaration": "field",
            "typealias_declaration": "type",
            "enum_entry": "const",
        },
        _swift,
    ),
    "php": Table(
        kinds(
            "class",
            "class_declaration interface_declaration trait_declaration enum_declaration",
            {
                "method_declaration": "method",
                "function_definition": "function",
                "const_element": "const",
                "property_element": "field",
                "enum_case": "const",
            },
        ),
        _php,
        frozenset(["const_declaration", "property_declaration"]),
    ),
    "scala": Table(
        kinds(
            "class",
            "object_definition class_definition trait_definition enum_definition",
            {
                **dict.fromkeys(["function_definition", "function_declaration"], "function"),
                **dict.fromkeys(["val_definition", "var_definition", "given_definition"], "const"),
                **dict.fromkeys(["simple_enum_case", "full_enum_case"], "const"),
                "type_definition": "type",
            },
        ),
        _scala,
    ),
    "solidity": Table(
        kinds(
            "function",
            "function_definition modifier_definition event_definition",
            {"contract_declaration": "class", "struct_declaration": "type", "enum_declaration": "type"},
        ),
    ),
    "dart": Table({"class_declaration": "class", "function_signature": "function"}),
    "zig": Table({"function_declaration": "function"}),
}


# The definitions of C and C++.

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    TablesCTokenText = Callable[[SgNode], str]


_LEAVES: Final = (
    "identifier",
    "field_identifier",
    "type_identifier",
    "operator_name",
    "destructor_name",
    "operator_cast",
)
_BODIED: Final = ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier")


_C_TOP: Final = (
    "translation_unit",
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif",
    "declaration_list",
)


def _declarator(node: SgNode, text: TablesCTokenText) -> tuple[str, bool]:
    """The name that a declarator of C declares, and whether it is a function."""
    function = False
    for _ in range(_DEEPEST):
        kind = node.kind()
        if kind == "qualified_identifier":
            return dotted(text(node)), function
        if kind in _LEAVES:
            return " ".join(text(node).partition("(")[0].split()), function
        function |= kind == "function_declarator"
        inner = node.field("declarator")
        if inner is None:
            named = [
                child
                for child in node.named_children()
                if "identifier" in child.kind() or "declarator" in child.kind()
            ]
            if not named:
                return "", function
            inner = named[0]
        node = inner
    return "", function


def _c(node: SgNode, kind: str, text: TablesCTokenText) -> tuple[str, ...]:
    if kind in _BODIED:
        return by_field(node, kind, text) if node.field("body") is not None else ()
    if kind not in ("function_definition", "declaration", "field_declaration", "type_definition"):
        return by_field(node, kind, text)
    outer = node.parent()
    where = outer.kind() if outer is not None else ""
    if kind == "declaration" and where not in (*_C_TOP, "field_declaration_list", "template_declaration"):
        return ()
    found = [_declarator(child, text) for child in node.field_children("declarator")]
    return tuple(name for name, function in found if name and (function or kind != "field_declaration"))


_C_KINDS: Final = {
    "function_definition": "function",
    "declaration": "const",
    "struct_specifier": "type",
    "union_specifier": "type",
    "enum_specifier": "type",
    "type_definition": "type",
    "enumerator": "const",
    "preproc_def": "macro",
    "preproc_function_def": "macro",
}


C_TABLES: Final[Mapping[str, Table]] = {
    "c": Table(_C_KINDS, _c),
    "cpp": Table(
        {
            **_C_KINDS,
            "class_specifier": "class",
            "field_declaration": "method",
            "alias_declaration": "type",
            "concept_definition": "type",
        },
        _c,
        frozenset(["template_declaration"]),
    ),
}


# The definitions of formats that hold data, settings and text.

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    TablesDataTokenText = Callable[[SgNode], str]


def _css(node: SgNode, kind: str, text: TablesDataTokenText) -> tuple[str, ...]:
    name = node.child(1 if kind == "keyframes_statement" else 0)
    return (" ".join(text(name).split()),) if name is not None else ()


def _key(node: SgNode, _kind: str, text: TablesDataTokenText) -> tuple[str, ...]:
    key = node.field("key")
    return (text(key).strip("'\""),) if key is not None else ()


def _section(node: SgNode, _kind: str, text: TablesDataTokenText) -> tuple[str, ...]:
    heading = node.child(0)
    if heading is None or "heading" not in heading.kind():
        return ()
    return (" ".join(text(heading).strip("#=- \n\t").split()),)


def _hcl(node: SgNode, kind: str, text: TablesDataTokenText) -> tuple[str, ...]:
    if kind == "attribute":
        return (first(node, ("identifier",), text),)
    labels = [
        text(child).strip('"')
        for child in node.named_children()
        if child.kind() in ("identifier", "string_lit")
    ]
    return (".".join(labels),)


DATA_TABLES: Final[Mapping[str, Table]] = {
    "css": Table({"rule_set": "rule", "keyframes_statement": "rule"}, _css),
    "json": Table({"pair": "key"}, _key),
    "yaml": Table({"block_mapping_pair": "key"}, _key),
    "html": Table({}),
    "markdown": Table({"section": "heading"}, _section),
    "hcl": Table({"block": "block", "attribute": "key"}, _hcl),
    "nix": Table({}),
}


# Which language a file is written in, by its name or its first line, and how that language is read.


class Language(NamedTuple):
    """A language with a grammar: the rules of its tokens and the table of its definitions."""

    rules: Rules
    table: Table


_TABLES: Final = {**C_TABLES, **TYPE_TABLES, **SCRIPT_TABLES, **DATA_TABLES}

LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language(PYTHON, PYTHON_TABLE),
    "javascript": Language(SCRIPT, JAVASCRIPT_TABLE),
    "typescript": Language(SCRIPT, TYPESCRIPT_TABLE),
    "tsx": Language(SCRIPT, TYPESCRIPT_TABLE),
    "go": Language(GO, GO_TABLE),
    "rust": Language(RUST, RUST_TABLE),
    **{name: Language(rules, _TABLES[name]) for name, rules in OTHERS.items()},
}

_SUFFIXES: Final = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl cu",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "kotlin": "kt kts",
    "swift": "swift",
    "php": "php phtml",
    "scala": "scala sc sbt",
    "bash": "sh bash zsh bats",
    "lua": "lua",
    "elixir": "ex exs",
    "haskell": "hs",
    "css": "css",
    "json": "json",
    "yaml": "yaml yml",
    "html": "html htm",
    "markdown": "md markdown",
    "hcl": "hcl tf tfvars",
    "nix": "nix",
    "solidity": "sol",
    "dart": "dart",
    "zig": "zig",
}
_BY_SUFFIX: Final = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_PROGRAM: Final = {
    "python": "python", "node": "javascript", "deno": "typescript", "bun": "typescript", "sh": "bash",
    "bash": "bash", "zsh": "bash", "dash": "bash", "ruby": "ruby", "lua": "lua", "php": "php",
    "elixir": "elixir",
}  # fmt: skip
_BY_NAME: Final = {
    "Rakefile": "ruby",
    "Gemfile": "ruby",
    "Vagrantfile": "ruby",
    "Podfile": "ruby",
    "PKGBUILD": "bash",
}
_CPP_WORDS: Final = (b"\nclass ", b"\nnamespace ", b"\ntemplate", b"public:", b"std::")
"""What makes a ``.h`` one of C++."""


def language_of(path: str, data: bytes) -> str:
    """The name of the language, "" when there is no grammar for it."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    stem, dot, suffix = name.rpartition(".")
    if dot and stem:
        if suffix == "h" and any(word in data for word in _CPP_WORDS):
            return "cpp"
        return _BY_SUFFIX.get(suffix.lower(), "")
    if not data.startswith(b"#!"):
        return ""
    words = data[2:200].split(b"\n")[0].decode("latin-1").split()
    program = words[0].rpartition("/")[2] if words else ""
    if program == "env":
        program = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    return _BY_PROGRAM.get(program.rpartition("/")[2].rstrip("0123456789."), "")
