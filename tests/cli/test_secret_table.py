"""Every command that takes text refuses, or reports, each format of the one table of secrets."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.lint_corpus import FRONT, lint_documents
from thunderus_mem.log.line import secret_in
from thunderus_mem.safety.secret_rules import SECRET_RULES, SecretRule, example_text
from thunderus_mem.safety.secrets import find_secrets, holds_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

PATH = ".thunderus/memory/semantic/FACTS/a.md"


@pytest.mark.parametrize("rule", SECRET_RULES, ids=lambda rule: rule.kind)
def test_row_counts_in_documents_lint_and_events(rule: SecretRule) -> None:
    text = f"Words.\n\n{example_text(rule.example)}\n"
    assert holds_secret(text)
    assert secret_in({"text": text}, "body") == ("body.text", rule.kind)
    found = lint_documents({PATH: (FRONT.format(id="fact.a", kind="fact") + text).encode()})[PATH]
    assert f"Possible secret: {rule.kind}" in {one.message.partition(" (")[0] for one in found}


def test_commands_refuse_rows_that_earlier_versions_accepted(repo: Path, run: Run) -> None:
    values = {
        "github": "gh" + "p_abcdefghijklmnopqrstuvwxyz0123456789",
        "url": "see https://anna:s3" + "same@files.example/",
        "assigned": "DB_PASS" + "WORD=k7Vq9tRz2mLw",
        "header": "Author" + "ization: Bearer q7Tx9Lm2RvK0pZ81sWd4",
        "command": "mysql" + "dump -u app -pk7Vq9tRz2mLw shop",
    }
    assert run("init").code == 0
    assert run("add", "fact", "Plain", "--tag", "t", "--id", "fact.plain", "--body", "plain").code == 0
    folder = repo / "in"
    folder.mkdir()
    (folder / "a.md").write_text(f"# A\n\n{values['assigned']}\n")
    refused = [
        run("add", "fact", "T", "--tag", "t", "--body", values["github"]),
        run("add", "fact", "T", "--tag", "t", "--body", values["url"]),
        run("edit", "fact.plain", "--body", values["header"]),
        run("import", "markdown", "in", "--kind", "fact"),
        run("events", "add", "--kind", "note", "--body", values["command"]),
    ]
    assert [ran.code for ran in refused] == [5, 5, 5, 1, 5]
    assert "possible secret" in refused[3].out + refused[3].err
    (repo / PATH).parent.mkdir(parents=True, exist_ok=True)
    (repo / PATH).write_text(FRONT.format(id="fact.a", kind="fact") + values["header"] + "\n")
    ran = run("lint", "--format", "json")
    assert [one["rule"] for one in json.loads(ran.out)["diagnostics"] if one["rule"] == "TM401"] == ["TM401"]
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    staged = run("hooks", "run", "pre-commit")
    assert (staged.code, "TM401" in staged.out + staged.err) == (1, True)
    secrets = [find_secrets(value)[0] for value in values.values()]
    shown = "".join(one.out + one.err for one in (*refused, ran, staged))
    assert not [
        text for text, one in zip(values.values(), secrets, strict=True) if text[one.start :] in shown
    ]
