"""The parts of ``benchmarks/history_replay.py``: ground truth computed without the product."""
