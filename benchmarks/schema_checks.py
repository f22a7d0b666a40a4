"""How long one document takes to be checked by its schema: the quick yes, jsonschema, and jsonschema-rs.

``python benchmarks/schema_checks.py [--count N]`` prints microseconds of the processor for each document, the
best of several rounds. jsonschema-rs is measured when it is installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.make_store import make_store  # noqa: E402
from thunderus_mem.document.document import read_document  # noqa: E402
from thunderus_mem.document.schema import DOCUMENT, check, is_valid_fast, load_schema  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def documents(count: int) -> Iterator[dict[str, Any]]:
    """The frontmatter of made-up documents."""
    with tempfile.TemporaryDirectory() as folder:
        make_store(folder, count)
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(".md"):
                    with open(os.path.join(place, name), "rb") as stream:
                        document = read_document(name, stream.read()).document
                    assert document is not None
                    yield document.data()


def microseconds(test: Callable[[dict[str, Any]], object], data: list[dict[str, Any]], rounds: int) -> float:
    """For one document, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for one in data:
            test(one)
        best = min(best, time.process_time() - start)
    return best / len(data) * 1e6


def main() -> None:
    """Measure, and print a line for each way."""
    parser = argparse.ArgumentParser(description="Time the checks of documents by their schema.")
    parser.add_argument("--count", type=int, default=1_000)
    data = list(documents(parser.parse_args().count))
    assert all(is_valid_fast(DOCUMENT, one) for one in data)
    print(f"quick yes      {microseconds(lambda one: is_valid_fast(DOCUMENT, one), data, 30):8.2f} µs")
    print(f"jsonschema     {microseconds(lambda one: check(DOCUMENT, one), data, 2):8.2f} µs")
    if find_spec("jsonschema_rs") is not None:
        start = time.process_time()
        import jsonschema_rs

        took = (time.process_time() - start) * 1000
        validator = jsonschema_rs.validator_for(load_schema(DOCUMENT), validate_formats=True)
        print(f"jsonschema-rs  {microseconds(validator.is_valid, data, 30):8.2f} µs, import {took:.1f} ms")


if __name__ == "__main__":
    main()
