"""The parts of ``benchmarks/history_replay.py``: what happened to code, told without the product."""
