"""The authoritative bytes: documents, log, configuration, and the questions we ask of git."""
