#!/bin/sh
# What most tests want of test-agent.mjs, in a tenth of its time: one TODO is worked on and ticked. Everything else is
# left to that; $1 is the Node to run it with.
set -eu
program=${0%/*}/test-agent.mjs
[ "$PRLOOM_STAGE ${BEHAVIOUR:-work} ${ORDER:-}" = "worker work " ] || exec "$1" "$program"
[ -z "${PRLOOM_CONFLICTS:-}" ] || exec "$1" "$program"
case $PRLOOM_TODO in "["*) exec "$1" "$program" ;; esac
cat > "$PRLOOM_RUN_DIR/prompt.txt"
cat /proc/$$/environ > "$PRLOOM_RUN_DIR/environment"
printf '%s\n' "$PRLOOM_TODO" >> "$PRLOOM_WORKTREE/work.txt"
printf 'did: %s\n' "$PRLOOM_TODO"
tick='BEGIN { seen = -1 } /^[-*] \[[ xb]\]/ { seen += 1; if (seen == n) sub(/\[[ xb]\]/, "[x]") } { print }'
ticked=$(awk -v n="$PRLOOM_TODO_INDEX" "$tick" "$PRLOOM_PLAN_FILE" && printf .)
printf %s "${ticked%.}" > "$PRLOOM_PLAN_FILE"
