"""English as engineers write it: words that carry little, words that turn a sentence, numbers and units."""

from __future__ import annotations

from typing import Final

# ruff: noqa: SIM905 – word lists read best as text

STOP_WORDS: Final = frozenset(
    (
        "a about above across actually after again all almost along already also although always am among "
        "an and another any anything are around as at away be became because become been before behind "
        "being below between both but by can cannot come could did do does doing done down due during each "
        "either else ever every everything exactly few first for from further get gets give given goes "
        "going got had has have having he hence her here hers him his how however i if in instead into is "
        "it its itself just keep kept last least less let like made make makes many may maybe me might mine "
        "more most much must my near need needs neither never next no nor not nothing now of off often on "
        "once one only onto or other others otherwise our ours out over own per perhaps please quite rather "
        "really regarding same she should since so some something soon still such take takes than that the "
        "their theirs them then there therefore these they thing things this those though through thus to "
        "together too toward towards under unless until up upon us use used uses using usually very via was "
        "way we well went were what whatever when whenever where wherever whether which while who whole "
        "whom whose why will with within without won would yes yet you your yours"
    ).split()
)
"""Words that tell no two documents apart."""

NEGATIONS: Final = frozenset(
    "not no never none nothing nobody nowhere neither nor without cannot avoid forbid prohibit".split()
)
"""Words that turn what a sentence says; ``n't`` does so at the end of any word."""

_BELOW_TWENTY: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: Final = (
    {word: str(at) for at, word in enumerate(_BELOW_TWENTY.split())}
    | {word: str(20 + 10 * at) for at, word in enumerate(_TENS.split())}
    | {"once": "1", "twice": "2", "thrice": "3", "half": "0.5"}
    | {"dozen": "12", "hundred": "100", "thousand": "1000", "million": "1000000"}
)
"""Numbers in words."""

WEEKDAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MONTHS: Final = frozenset(
    "january february march april june july august september october november december".split()
)

_UNIT_LINES: Final = """
time 0.001 ms millisecond milliseconds
time 1 s sec secs second seconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours hourly
time 86400 d day days daily
time 604800 week weeks weekly
time 2592000 month months monthly
time 31536000 year years yearly
bytes 1 byte bytes
bytes 1024 kb kib kilobyte kilobytes
bytes 1048576 mb mib megabyte megabytes
bytes 1073741824 gb gib gigabyte gigabytes
bytes 1099511627776 tb tib terabyte terabytes
share 1 % percent
"""
UNITS: Final = {
    name: (parts[0], float(parts[1]))
    for parts in map(str.split, _UNIT_LINES.strip().splitlines())
    for name in parts[2:]
}
"""Unit → what it measures, and how many of the smallest it is."""
