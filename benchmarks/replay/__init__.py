"""The parts of ``benchmarks/history_replay.py``: what happened to code, found without the product's parsers."""
