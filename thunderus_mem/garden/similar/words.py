"""Word tables for technical English: stop words, negations, synonyms, opposites, numbers and units; and the
normal form of words for comparison. No model. Pure.

A word missing in a table only means that a pair is not found, or is labelled less precisely.
"""

from __future__ import annotations

import struct
import unicodedata
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Final
from zlib import crc32

from thunderus_mem.index.words import grams, has_hump, is_cjk, latin_parts, scripts
from thunderus_mem.startup import lazy_pattern

_STOP_WORDS: Final = """
a about above across actually after again all almost along already also although always am among an and
another any anything are around as at away be became because become been before behind being below between
both but by can cannot come could did do does doing done down due during each either else ever every
everything exactly few first for from further get gets give given goes going got had has have having he
hence her here hers him his how however i if in instead into is it its itself just keep kept last least
less let like made make makes many may maybe me might mine more most much must my near need needs neither
never next no nor not nothing now of off often on once one only onto or other others otherwise our ours
out over own per perhaps please quite rather really regarding same she should since so some something soon
still such take takes than that the their theirs them then there therefore these they thing things this
those though through thus to together too toward towards under unless until up upon us use used uses using
usually very via was way we well went were what whatever when whenever where wherever whether which while
who whole whom whose why will with within without won would yes yet you your yours
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words too common to distinguish documents."""

NEGATIONS: Final = frozenset(
    (
        *("not", "no", "never", "none", "nothing", "nobody", "nowhere", "neither"),
        *("nor", "without", "cannot", "avoid", "forbid", "prohibit"),
    )
)
"""Words that negate a sentence; the ending ``n't`` does too."""

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

WEEKDAYS: Final = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
MONTHS: Final = frozenset(
    (
        *("january", "february", "march", "april", "june", "july", "august"),
        *("september", "october", "november", "december"),
    )
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
"""Unit → what it measures, and its factor to the base unit."""


# Each line is a set of synonyms. A word is in one line only.
_SAME: Final = """
add append attach insert include
affect impact influence
allow permit enable let
alter amend change modify edit adjust mutate
approve accept confirm ack acknowledge
argument parameter param
ask query request question
automatic automatically auto
backup dump
begin start launch boot startup bootstrap initiate
branch fork
break crash die abort
broken faulty corrupt damaged corrupted
bug defect flaw
build compile
call invoke
cause reason root
check verify validate validation inspect ensure assert
choose pick select decide opt
clean clear cleanup tidy wipe
cluster fleet
code source
command cmd
commit checkin
complete finish end conclude done
concurrent parallel simultaneous simultaneously concurrently
config configuration configure setting settings option preference
connect connection link
container pod docker
contain hold comprise
copy duplicate clone replicate
correct right proper
create make generate produce
credential secret password token
customer client user consumer
data record
database db datastore
daily nightly night day
decrease reduce lower shrink diminish
default standard
delay wait pause sleep backoff
delete remove erase purge drop discard evict rid
dependency library package lib dep
deploy deployment release ship rollout publish
describe explain document documentation doc docs
directory folder dir
display show print render
email mail
empty blank
engineer developer dev programmer
environment env
error failure exception fault fail
event message
example sample instance
execute run perform
expire expiry ttl lapse lifetime valid
fast quick rapid speedy quickly
fetch retrieve obtain load download pull
field column attribute property
file files
find locate discover search lookup
fix repair mend resolve solve patch
flag switch toggle
function method routine procedure
guide tutorial howto manual
handle process treat
hash digest checksum
host server machine node
identifier id key
ignore skip omit
image picture
important critical crucial essential vital
improve enhance optimize optimise
increase raise grow bump
information info detail
install setup
interval period frequency
issue ticket
job task
large big huge
limit cap maximum bound ceiling quota max
list enumerate
log logging
login signin authenticate authentication auth session
main primary master trunk principal
metric measurement measure
minimum min floor
monitor observe watch
move migrate migration transfer relocate
name title label
new fresh
notify alert notification inform page
old outdated obsolete stale
output result
owner maintainer responsible own
people person team staff
place location position
port socket
prefer favour favor
prevent block stop halt
problem trouble
prod production live
protect guard secure
proxy gateway
quarterly quarter
queue backlog
read parse
rebuild regenerate recreate
refactor restructure rewrite
refer reference mention cite
reject deny decline
rename relabel
replace substitute swap supersede
repo repository
require requirement demand mandatory need necessary
reset restart reboot
restore recover recovery
restrict constrain
return yield
retry attempt try reattempt
review inspection
revert rollback undo
rotate renew rotation renewal
rule policy
save store persist keep write retain
schedule cron timer
script tool utility
send emit post submit dispatch
separate distinct split
service microservice app application
share common
size length
slow sluggish
small tiny little
stage staging
status state
supply provide offer give
support
sync synchronize synchronise synchronous
table relation
temporary temp tmp
test spec testing
throw
throughput rate
trigger fire
truncate cut trim
twice double
type kind
unique
update upgrade refresh
version revision
weekly week
worker thread
wrap enclose
"""

# Two corresponding sentences disagree if they differ in such a pair.
_OPPOSITE: Final = """
above below
accept reject
active inactive
add remove
after before
all none
allow deny
always never
ascending descending
async sync
asynchronous synchronous
asynchronously synchronously
automatic manual
automatically manually
backward forward
begin end
best worst
cheap expensive
client server
committed ignored
compatible incompatible
connect disconnect
create delete
decrease increase
dynamic static
eager lazy
eagerly lazily
earlier later
earliest latest
empty full
enable disable
encrypted plaintext
even odd
every no
exclude include
explicit implicit
external internal
fail pass
fail succeed
failure success
fast slow
few many
first last
fixed variable
fixed random
forbidden allowed
front back
global local
grow shrink
high low
higher lower
horizontal vertical
import export
inbound outbound
incoming outgoing
inside outside
keep drop
keep delete
known unknown
large small
left right
less more
load unload
lock unlock
long short
longer shorter
lossless lossy
major minor
mandatory optional
maximum minimum
merge rebase
merge squash
most least
must may
mutable immutable
new old
newest oldest
north south
offline online
on off
once twice
open close
opt-in opt-out
parallel sequential
parallel serial
permanent temporary
persistent ephemeral
positive negative
present absent
private public
prod staging
pull push
raise lower
read write
readable unreadable
recommended discouraged
relative absolute
required optional
rich poor
safe unsafe
same different
sensitive insensitive
separate shared
signed unsigned
single multiple
singular plural
sorted unsorted
stable unstable
start stop
stateful stateless
strict lenient
strong weak
supported unsupported
tabs spaces
true false
unique shared
up down
upper lower
upgrade downgrade
uppercase lowercase
valid invalid
visible hidden
warm cold
with without
yes no
"""

SAME: Final = tuple(tuple(line.split()) for line in _SAME.strip().splitlines())
OPPOSITE: Final = tuple((one, other) for one, other in map(str.split, _OPPOSITE.strip().splitlines()))


_RUN: Final = lazy_pattern(r"\w+")
_VOWELS: Final = frozenset("aeiouy")
_SHORTEST_STEM = 3
_LONGEST_WORD = 64
_SUFFIXES: Final = (
    *("ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ments", "ment", "ings", "ing"),
    *("ed", "ly"),
)


def runs(text: str) -> list[str]:
    """The runs of letters, digits and underscores of a text, as written."""
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFC", text))


def _has_vowel(word: str) -> bool:
    return not _VOWELS.isdisjoint(word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its endings: deploys, deployed, deploying, deployment → deploy. Lower case only."""
    if not word.isascii() or not word.isalpha() or len(word) <= _SHORTEST_STEM:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in _SUFFIXES:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) >= _SHORTEST_STEM and _has_vowel(rest):
            word = rest
            if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    if len(word) > _SHORTEST_STEM and word.endswith("e"):
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word.endswith("i"):
        word = word[:-1] + "y"
    return word


@cache
def _same() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in SAME:
        for word in line:
            table.setdefault(stem(word), stem(line[0]))
    return table


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Stem → the stems with the opposite meaning."""
    table: dict[str, set[str]] = {}
    for one, other in OPPOSITE:
        table.setdefault(stem(one), set()).add(stem(other))
        table.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in table.items()}


@lru_cache(maxsize=65536)
def concepts(run: str) -> tuple[str, ...]:
    """The concepts of a run of `runs`: none (a stop word), a stem, or a name with its parts."""
    if run in STOP_WORDS or len(run) > _LONGEST_WORD or not run.strip("_"):
        return ()
    if run.isascii() and "_" not in run:
        if len(run) == 1 and not run.isdigit():
            return ()
        stemmed = stem(run)
        return (_same().get(stemmed, stemmed),)
    parts = [part for part in run.split("_") if part]
    if len(parts) > 1:
        found = [one for part in parts for one in concepts(part)]
        return (run, *(one for one in found if one != run))
    return tuple(one for piece in scripts(parts[0]) for one in (grams(piece) if is_cjk(piece) else (piece,)))


@lru_cache(maxsize=65536)
def _meant(name: str) -> tuple[str, ...]:
    """The `concepts` of a run as written, with the parts of a camel-case name."""
    found = concepts(name.lower())
    if not name.islower() and not name.istitle() and has_hump(name):
        found += tuple(one for part in latin_parts(name) for one in concepts(part))
    return found


def concepts_of(text: str) -> set[str]:
    """All concepts of a text."""
    return set().union(*map(_meant, set(runs(text))))


@lru_cache(maxsize=1 << 18)
def number_of(concept: str) -> int:
    """A 32-bit hash of a text, the same in every process and on every machine."""
    return crc32(concept.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1 << 18)
def numbers_meant(name: str) -> tuple[int, ...]:
    """The hashes of the concepts of a run as written."""
    return tuple(map(number_of, _meant(name)))


@lru_cache(maxsize=1 << 18)
def spread(name: str) -> tuple[int, int, int]:
    """Three 64-bit hashes of a run, ignoring case: one for each position in a three-word run."""
    digest = blake2b(name.lower().encode("utf-8", "surrogatepass"), digest_size=24).digest()
    return struct.unpack("<3Q", digest)
