"""Repository memory: Markdown documents beside the code, found, explained and checked.

The public Python surface is small: ``open_memory`` finds a store and gives a ``Memory``; the functions in
``thunderus_mem.verbs`` work on it. Everything is loaded on first use, so importing the package costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
