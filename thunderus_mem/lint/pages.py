"""The manual page of a rule, from the docstring of its function."""

from __future__ import annotations

import inspect
import re

from thunderus_mem.lint.rules import RULES
from thunderus_mem.model.errors import NotFound


def rule_page(code: str) -> str:
    """The page of the rule with this code or name, as text that ends in a newline.

    Raises `NotFound`, with the nearest codes, when there is none.
    """
    wanted = code.strip()
    for rule in RULES:
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            looks_at = "store" if rule.scope == "store" else "document"
            head = f"{rule.code} {rule.name} ({rule.severity}, {looks_at})"
            return f"{head}\n\n{_as_markdown(inspect.cleandoc(rule.check.__doc__ or ''))}\n"
    from thunderus_mem.model.ids import closest

    near = closest(wanted, [name for rule in RULES for name in (rule.code, rule.name)])
    hint = f"Did you mean {' or '.join(near)}?" if near else "`thunderus-mem rule` lists them all."
    raise NotFound(f"There is no rule {wanted}.", hint=hint)


def _as_markdown(text: str) -> str:
    """A docstring as people read it: one backtick for two, one colon before an example."""
    return re.sub(r"(?m)^(\w+)::$", r"\1:", text.replace("``", "`"))
