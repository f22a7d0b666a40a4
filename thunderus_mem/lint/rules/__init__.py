"""The rules, a function for each code with the name of the rule; its docstring is the rule's page.

`structure` (TM0, TM1), `identity` (TM1, TM3), `links` (TM2, TM7), `safety` (TM4), `store` (TM5, and
TM6 about suppressions). None touches the disk.
"""
