"""recap."""
