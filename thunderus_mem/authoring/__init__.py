"""What people and agents do with documents, a function for each command.

``init`` makes a store; ``add``, ``edit`` (with remove, link, supersede, archive, note, record) and ``rename``
write documents; ``anchor`` ties one to code, and verifies it; ``show`` reads: show, list, status. All is
written through ``memory.transaction``, but for the files of the store, which init writes.
"""
