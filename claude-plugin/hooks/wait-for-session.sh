#!/bin/sh
# The first message can be sent before the MCP server is there: then the model would have no tools at all.
. "$(dirname "$0")/is-bound.sh"
is_bound || exit 0
tries=0
while [ -z "$PHASELOCK_CANARY" ] && [ "$tries" -lt 40 ] && [ ! -e "$HOME/.local/state/phaselock/.sessions/$CLAUDE_PID.ready" ]; do
  sleep 0.5
  tries=$((tries + 1))
done
exit 0
