"""The rules, a function for each code with the name of the rule; its docstring is the rule's page.

`structure` reads and checks the file (TM0, and of TM1 the content: schema, sections, times, body); `identity`
has the rest of TM1 (id, kind, number, file name) and sizes (TM3); `links` has TM2 and verdicts (TM7);
`safety` TM4 (secrets, invisible characters, prompt injection); `store` TM5, TM6 about suppressions, and the
suppressions of all rules; `profiles` TM8, off by default. None touches the disk.
"""
