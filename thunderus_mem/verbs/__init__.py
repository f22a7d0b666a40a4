"""One function a verb, on an open ``Memory``; the CLI, the hooks and the watcher call nothing else."""
