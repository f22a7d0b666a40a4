"""Derived and disposable: the search index and the manifest. Delete them at any time."""
