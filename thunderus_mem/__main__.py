"""The program: ``thunderus-mem`` and ``python -m thunderus_mem``."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A command lives for milliseconds: collecting the garbage of imports costs more than it frees.
    gc.set_threshold(50_000, 20, 100)
    if sys.argv[1:2] == ["--complete"]:
        from thunderus_mem.surfaces.cli.answer import answer

        sys.exit(answer(sys.argv[2:], os.environ))
    try:
        from thunderus_mem.surfaces.cli.run import run
    except KeyboardInterrupt:
        sys.exit(130)
    code = run()
    # Everything is flushed and closed: what the interpreter would still tidy up costs milliseconds.
    os._exit(code)


if __name__ == "__main__":
    main()
