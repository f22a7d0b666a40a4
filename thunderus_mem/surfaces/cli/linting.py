"""``lint rule schema``: what is wrong, what the rules are, and the schemas behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.model.errors import NotFound, ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
schema_app = typer.Typer(help="Print the schemas documents and events follow.", no_args_is_help=True)
app.add_typer(schema_app, name="schema")

_FORMATS = ("full", "concise", "json", "github")


@dataclass(frozen=True, slots=True)
class RulePage:
    """A rule's manual page, as Markdown."""

    code: str
    name: str
    severity: str
    summary: str
    page: str


@dataclass(frozen=True, slots=True)
class SchemaList:
    """The names ``schema print`` knows."""

    names: tuple[str, ...]


@app.command("lint")
def lint(
    ctx: typer.Context,
    paths: Annotated[list[str] | None, typer.Argument(help="Files or folders; all when none.")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="The text git would commit.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended without a question.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would change; write nothing.")
    ] = False,
    select: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Only these rules.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Not these rules.")] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="full, concise, json, github.")
    ] = "",
) -> int:
    """Check documents, manifest and log. Exits with 1 when an error or a warning is found."""
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.verbs import linting

    console: Console = ctx.obj
    form = form or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else "full")
    if form not in _FORMATS:
        raise ThunderusError(f"There is no format {form}.", hint=f"Formats: {', '.join(_FORMATS)}")
    value = linting.lint(
        console.memory(),
        tuple(paths or ()),
        staged=staged,
        fix=fix and not diff,
        select=_codes(select),
        ignore=_codes(ignore),
        diff=diff,
    )
    console.emit("lint", value, lambda report, to: _rendered(report, to, form))
    if not console.json and form == "full":
        console.say(_summary(value))
    return published_code(console, published=value.published) or int(bool(value.errors or value.warnings))


def _rendered(value: Any, console: Console, form: str) -> str:
    from thunderus_mem.surfaces.report import report

    if value.diff:
        return str(value.diff).rstrip("\n")
    return str(report(value.diagnostics, form)).rstrip("\n")


def _summary(value: Any) -> str:
    from thunderus_mem.surfaces.text import counted

    fixed = f" {counted(len(value.fixed), 'document')} mended." if value.fixed else ""
    return f"{counted(value.checked, 'document')} checked.{fixed}"


def _codes(given: list[str] | None) -> tuple[str, ...]:
    return tuple(code.strip() for item in given or () for code in item.split(",") if code.strip())


@app.command("rule")
def rule(
    ctx: typer.Context,
    code: Annotated[str, typer.Argument(help="A code, as TM201; all rules when none is given.")] = "",
) -> None:
    """Explain a rule: what it checks, why, an example, and how to fix it."""
    from thunderus_mem.lint.rules import RULES
    from thunderus_mem.surfaces.render import columns

    console: Console = ctx.obj
    if not code:
        pages = tuple(RulePage(rule.code, rule.name, str(rule.severity), rule.summary, "") for rule in RULES)
        console.emit(
            "rule",
            pages,
            lambda value, to: columns(
                [(to.style.name(page.code), page.name, page.severity, page.summary) for page in value], to
            ),
        )
        return
    console.emit("rule", _page(code.upper()), lambda value, _: value.page)


def _page(code: str) -> RulePage:
    from thunderus_mem.lint.pages import rule_page
    from thunderus_mem.lint.rules import RULES

    for known in RULES:
        if code in (known.code, known.name.upper()):
            page = rule_page(known.code).rstrip("\n")
            return RulePage(known.code, known.name, str(known.severity), known.summary, page)
    raise NotFound(f"There is no rule {code}.", hint="All rules: thunderus-mem rule")


@schema_app.command("list")
def schema_list(ctx: typer.Context) -> None:
    """The names of all schemas."""
    console: Console = ctx.obj
    console.emit("schema list", SchemaList(tuple(_schema_names())), lambda value, _: "\n".join(value.names))


@schema_app.command("update")
def schema_update(ctx: typer.Context) -> None:
    """Write the copies in .thunderus/schemas as this version has them."""
    from thunderus_mem.verbs import starting

    console: Console = ctx.obj
    value = starting.update_schemas(console.memory())
    if not value.written:
        console.say("Every schema is as this version has it.")
    console.emit("schema update", value, lambda updated, _: "\n".join(updated.written))


@schema_app.command("print")
def schema_print(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A name from: thunderus-mem schema list")],
) -> None:
    """Print a JSON Schema (2020-12), or the SQL schema of the index."""
    console: Console = ctx.obj
    console.data(_schema_text(name).rstrip("\n"))


def _schema_names() -> list[str]:
    from thunderus_mem.model.schema import SCHEMA_NAMES

    return [*SCHEMA_NAMES, "memory_store", "config", "gardener"]


def _schema_text(name: str) -> str:
    from thunderus_mem.model.schema import schema_text
    from thunderus_mem.store.config_text import config_schema
    from thunderus_mem.surfaces.output import dumps

    names = _schema_names()
    bare = name.removesuffix(".schema.json").removesuffix(".toml").removesuffix(".sql")
    for known in names:
        if bare in (known, known.partition(".")[0]):
            if known in ("config", "gardener"):
                return dumps(config_schema(f"{known}.toml"))
            return _index_schema() if known == "memory_store" else schema_text(known)
    raise NotFound(f"There is no schema {name}.", hint=f"Schemas: {', '.join(names)}")


def _index_schema() -> str:
    from thunderus_mem.projection.statements import schema_sql

    return schema_sql()
