"""From sessions to proposals: facts, decisions and playbooks that nobody has written down yet."""
