#!/usr/bin/env bash
# Show the main commands on a small repository with real documents, in a temporary folder: make demo
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
watching=
trap '[ -z "$watching" ] || kill "$watching" 2>/dev/null || true; rm -rf "$folder"' EXIT
cp -R "$here/tests/repos/demo/." "$folder"
cd "$folder"

bold=$'\033[1m' dim=$'\033[2m' off=$'\033[0m'
if [ ! -t 1 ] || [ -n "${NO_COLOR:-}" ]; then bold='' dim='' off=''; fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$off"; }
run() { printf '%s$ %s%s\n' "$dim" "$*" "$off"; "$@"; }
may_fail() { run "$@" || printf '%s(exit %s)%s\n' "$dim" "$?" "$off"; }

git init -q
git config user.name "${GIT_AUTHOR_NAME:-Ada Example}"
git config user.email "${GIT_AUTHOR_EMAIL:-ada@example.invalid}"
git add -A
git commit -qm "Waybill, a service that follows parcels"

say "Create a memory and import the repository's documents"
run thunderus-mem --quiet init
run thunderus-mem import markdown docs/adr --kind adr
run thunderus-mem import markdown docs/runbooks --kind playbook
run thunderus-mem import markdown notes --kind fact

say "Add a fact"
run thunderus-mem add fact "Carrier test accounts reset at midnight" --tag carriers --tag testing \
  --body 'Parcels made with a test account are gone after 00:00 UTC; `src/waybill/carriers.py` names the accounts.' \
  -m "Cost us a morning"

say "Search, in your own words or by a name in the code"
run thunderus-mem search "how long do we wait for a carrier?"
run thunderus-mem search 'polling kind:adr' --limit 2

say "Where does it come from?"
run thunderus-mem why fact.carrier-test
run thunderus-mem why fact.carrier-test:18-30

say "Lint; one imported document has a dead link"
may_fail thunderus-mem lint
sed -i.bak 's/\[\([^]]*\)\](zpl-cheat-sheet.md)/\1/' .thunderus/memory/semantic/FACTS/label-printers.md
rm .thunderus/memory/semantic/FACTS/label-printers.md.bak
run thunderus-mem lint

say "Anchor a decision to code; reformatting is ignored, a different formula is reported"
run thunderus-mem anchor adr.retry-carriers src/waybill/carriers.py#pauses
sed -i.bak 's/FIRST_PAUSE \* 2\*\*attempt/(FIRST_PAUSE*(2 ** attempt))/' src/waybill/carriers.py
run thunderus-mem check
sed -i.bak 's/2 \*\* attempt/3 ** attempt/' src/waybill/carriers.py
may_fail thunderus-mem check --patch
rm src/waybill/carriers.py.bak
git checkout -q -- src
run thunderus-mem for src/waybill/carriers.py

say "Two notes are duplicates: review the plan, then apply it"
run thunderus-mem garden
run thunderus-mem garden --apply

say "Git hook: a good commit passes, a broken document is rejected"
run thunderus-mem hooks install
git add -A
run git commit -qm "Keep a memory"
printf -- '---\nid: fact.broken\ntitle: No tags, no times\nkind: fact\n---\n\nText.\n' \
  > .thunderus/memory/semantic/FACTS/broken.md
git add -A
may_fail git commit -qm "Break it"
git rm -qf --cached .thunderus/memory/semantic/FACTS/broken.md
rm .thunderus/memory/semantic/FACTS/broken.md

say "Watch: keep the index up to date and report problems while you edit"
thunderus-mem watch > watch.txt 2>&1 &
watching=$!
for _ in $(seq 50); do [ -s watch.txt ] && break; sleep 0.1; done
printf '\nSee [the old page](gone.md).\n' >> .thunderus/memory/semantic/FACTS/time-zones.md
for _ in $(seq 50); do grep -q TM201 watch.txt && break; sleep 0.1; done
kill "$watching" && wait "$watching" 2>/dev/null || true
watching=
run cat watch.txt
rm watch.txt
git checkout -q -- .thunderus

say "Summarise the day in one document, and show the status"
run thunderus-mem recap today
run thunderus-mem status
