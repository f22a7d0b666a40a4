"""Words that may stand for each other, and words that say the opposite: two tables without a model.

A word that is missing here only means that a pair is not found, or is labelled with less certainty.
"""

from __future__ import annotations

from typing import Final

# Each line: words that may stand for each other. A word stands in one line only.
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

# Either of a pair, at the same place of two sentences that otherwise agree, makes them disagree.
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
