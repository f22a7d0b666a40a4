"""Plan (pure), then apply: duplicates and recaps."""
