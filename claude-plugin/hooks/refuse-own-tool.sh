#!/bin/sh
# Keeps the own tools of Claude Code from running in a repository with a contract. It needs no server.
# Status 2 keeps the tool from running; the model reads what is on standard error.
. "$(dirname "$0")/is-bound.sh" || exit 2
is_bound || exit 0
echo 'Phaselock: this tool is off in this repository. Use the tools of the MCP server phaselock; begin with claim_task. If they are missing, tell the person: phaselock must be on the PATH (phaselock doctor --agents says what is missing).' >&2
exit 2
