"""The parts of ``search_quality.py``: collections, engines and measures."""
