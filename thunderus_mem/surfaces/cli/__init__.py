"""The command line: the only place that knows typer, exit codes and the environment."""
