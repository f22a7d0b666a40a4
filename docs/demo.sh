#!/usr/bin/env bash
# The whole loop on a small repository in a temporary folder: make demo
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }

git init -q
git config user.name "${GIT_AUTHOR_NAME:-Ada Example}"
git config user.email "${GIT_AUTHOR_EMAIL:-ada@example.invalid}"
mkdir -p src docs/adr
printf 'def parse_frame(data):\n    return data[:4]\n' > src/frame.py
printf '# Use HTTP/2 for the gateway\n\nDate: 2026-01-10\n\n## Status\n\nAccepted\n\n## Context\n\nMany small requests.\n\n## Decision\n\nThe gateway speaks HTTP/2.\n\n## Consequences\n\nProxies must not buffer.\n' > docs/adr/0001-use-http2.md
git add -A && git commit -qm "Begin"

say "Make a memory"
run thunderus-mem init

say "Remember something"
run thunderus-mem add fact "Frames are four bytes" --tag protocol \
  --body "A frame begins with four bytes; \`src/frame.py\` reads them." -m "Asked twice in review"
run thunderus-mem add playbook "Release" --tag release \
  --body $'## Preconditions\n\nThe tests are green.\n\n## Steps\n\n1. Tag the commit.\n\n## Verification\n\nThe tag is there.'

say "Bring in the decisions that were there"
run thunderus-mem import markdown docs/adr --kind adr --tag gateway

say "Find it again"
run thunderus-mem search "four bytes frame"
run thunderus-mem search "HTTP/2 kind:adr"

say "Where does it come from?"
run thunderus-mem why fact.frames-are-four-bytes

say "Somebody copies a file: the gardener sees it"
facts=.thunderus/memory/semantic/FACTS
sed -e 's/frames-are-four-bytes/frame-header/' \
  "$facts/frames-are-four-bytes.md" >"$facts/frame-header.md"
run thunderus-mem garden --plan
run thunderus-mem garden --apply

say "Check it, and let git check it"
run thunderus-mem hooks install
run thunderus-mem lint
git add -A
run git commit -qm "Remember"
run thunderus-mem status
