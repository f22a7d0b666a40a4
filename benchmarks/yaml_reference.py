"""YAML 1.2 readers of other people, and whether they read a header as ours does.

py-yaml12 (a reader in Rust) gives scalars types and no places; the npm package ``yaml`` gives every scalar
its text. libyaml is asked only where both refuse what ours takes.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.nodes import Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

_NULLS: Final = frozenset(["", "~", "null", "Null", "NULL"])


def typed_reading(text: str) -> tuple[Any, str]:
    """What py-yaml12 reads, and "" or why it refuses."""
    import yaml12  # type: ignore[import-not-found, import-untyped, unused-ignore]

    try:
        return yaml12.parse_yaml(text), ""
    except ValueError as error:
        return None, str(error)


def differs(text: str, root: Mapping) -> str:
    """What py-yaml12 sees in a header instead; "" when it sees the same or refuses the header.

    Two faults of its release 0.2 are known and not held against us where libyaml reads as we do: any Unicode
    blank is one to it, and a literal text without lines at the very end gets one.
    """
    found, refusal = typed_reading(text)
    if refusal or same_values(root, found):
        return ""
    known = any(char.isspace() and char not in " \t\r\n" for char in text) or _ends_in_mark(text)
    return "" if known and libyaml_texts(text) == texts_of(root) else repr(found)


def _ends_in_mark(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and re.search(r"[|>][-+0-9]*[ \t\r]*(?:#.*)?$", lines[-1]) is not None


def same_values(node: Node, found: Any) -> bool:
    """Whether values that got types are those a header holds as texts, in the same order."""
    if isinstance(node, Scalar):
        return _same_scalar(node, found)
    if isinstance(node, Sequence):
        return (
            isinstance(found, list)
            and len(found) == len(node.items)
            and all(map(same_values, node.items, found))
        )
    if not node.entries:
        return found is None or found == {}
    return (
        isinstance(found, dict)
        and len(found) == len(node.entries)
        and all(
            _same_scalar(entry.key, key) and same_values(entry.value, value)
            for entry, (key, value) in zip(node.entries, found.items(), strict=True)
        )
    )


def _same_scalar(node: Scalar, found: Any) -> bool:
    text = node.text
    if isinstance(found, str):
        return text == found
    if not node.plain:
        return False
    if found is None:
        return text in _NULLS
    if isinstance(found, bool):
        return text in (str(found), str(found).lower(), str(found).upper())
    if isinstance(found, int):
        return (int(text, 0) if text[:2] in ("0o", "0x") else int(text)) == found
    if isinstance(found, float):
        value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return value == found or value != value != found
    return False


def texts_of(node: Node) -> Any:
    """A header as the worker below writes it: lists, and pairs in their order."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return {"items": [texts_of(item) for item in node.items]}
    return {"pairs": [[entry.key.text, texts_of(entry.value)] for entry in node.entries]}


def libyaml_texts(text: str) -> Any:
    """The same from libyaml, whose base loader keeps scalars as text; ``None`` if it rejects the input."""
    import yaml

    try:
        return _as_texts(yaml.compose(text, Loader=yaml.CBaseLoader))
    except yaml.YAMLError:
        return None


def _as_texts(node: Any) -> Any:
    if isinstance(node.value, str):
        return node.value
    if node.value and isinstance(node.value[0], tuple):
        return {"pairs": [[_as_texts(key), _as_texts(value)] for key, value in node.value]}
    name = "pairs" if node.id == "mapping" else "items"
    return {name: [_as_texts(item) for item in node.value]}


_WORKER: Final = """
const YAML = require(process.argv[1]);
const walk = (node) => {
  if (node === null || node === undefined) return '';
  if (YAML.isScalar(node)) return node.value === null ? '' : String(node.value);
  if (YAML.isSeq(node)) return {items: node.items.map(walk)};
  if (YAML.isMap(node)) return {pairs: node.items.map((pair) => [walk(pair.key), walk(pair.value)])};
  return {other: String(node)};
};
const read = (text) => {
  const options = {schema: 'failsafe', version: '1.2', uniqueKeys: false, logLevel: 'silent'};
  const found = YAML.parseAllDocuments(text, options);
  if (found.empty) return [''];
  const errors = found.flatMap((one) => one.errors);
  if (errors.length) return [null, errors[0].code];
  return found.length > 1 ? [null, 'MORE_DOCUMENTS'] : [walk(found[0].contents)];
};
require('readline').createInterface({input: process.stdin, crlfDelay: Infinity}).on('line', (line) => {
  let answer;
  try { answer = read(JSON.parse(line)); } catch (error) { answer = [null, String(error).slice(0, 80)]; }
  process.stdout.write(JSON.stringify(answer) + '\\n');
});
"""


class NodeYaml:
    """The npm package ``yaml``, unpacked in a folder, run by node in a process of its own."""

    def __init__(self, folder: str) -> None:
        self._process = subprocess.Popen(
            ["node", "-e", _WORKER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def readings(self, texts: Iterable[str]) -> list[tuple[Any, str]]:
        """For each text what was read, and "" or why it is refused."""
        lines = [json.dumps(text).encode() + b"\n" for text in texts]
        writer = threading.Thread(target=self._write, args=(lines,))
        writer.start()
        assert self._process.stdout is not None
        answers = [json.loads(self._process.stdout.readline()) for _ in lines]
        writer.join()
        return [(answer[0], answer[1] if len(answer) > 1 else "") for answer in answers]

    def _write(self, lines: list[bytes]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(lines)
        self._process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def same_texts(root: Mapping, found: Any) -> bool:
    """Whether another reader's texts are ours; a header without a key is nothing to it."""
    return texts_of(root) == found or (not root.entries and found == "")
