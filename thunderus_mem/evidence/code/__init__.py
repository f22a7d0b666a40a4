"""Code as it is cited: files read to definitions and fingerprints that formatting does not change."""

from thunderus_mem.evidence.code.source import Definition, Source

__all__ = ["Definition", "Source"]
