"""Findings as text and for programs, a module for each family of formats: the same findings, the same bytes.

`report` chooses the format and hands the report over; `text` writes full and concise ones, `json` JSON, JSON
lines and SARIF, `ci` GitHub, GitLab and JUnit. Text that people see passes `visible`; what programs read is
ASCII. Only `report` writes a file, the one that ``--output`` names.
"""
