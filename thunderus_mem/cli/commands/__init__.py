"""The commands, a module for each family: their options, one call, and how its value reads for people.

``cli/table.py`` says which command is in which module. A module is imported when one of its commands is asked
for (by name, for its help, or to complete its options), so its imports stand at its top; `search`, which is
felt at every start, imports the rest where it is needed.
"""
