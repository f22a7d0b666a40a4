"""Values and pure functions: no disk, no clock, no terminal (package data excepted)."""
