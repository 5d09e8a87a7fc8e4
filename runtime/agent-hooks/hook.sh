#!/bin/sh
# Asks Phaselock about a hook of an agent CLI that only starts commands, and prints the answer. Nothing runs unless
# Phaselock answers: every failure ends with status 2, which keeps the tool from running.
#
# Usage: hook.sh CLI [open]
# `open` is for events that run no tool (the end of a turn, a call that was made): there a failure is let go, because a
# turn that is kept from ending would begin again for ever.
#
# Beside this file: `address` with the URL of the API, `headers` with the Authorization header. They are files because
# some agent CLIs clean the environment of their hooks, and arguments are visible to every process. A session that
# Phaselock opened has $PHASELOCK_HOOKS and $PHASELOCK_SESSION instead: no file that its agent could change.
mode=$2
fail() {
  echo "Phaselock did not answer ($1). Nothing is allowed until it does: start it with 'phaselock up'." >&2
  [ "$mode" = open ] && exit 0
  exit 2
}
if [ -n "$PHASELOCK_HOOKS" ]; then
  address=$PHASELOCK_HOOKS
  headers=/dev/fd/3
  exec 3<<END
Authorization: Bearer $PHASELOCK_SESSION
END
else
  folder=$(dirname "$0")
  headers=$folder/headers
  [ -r "$folder/address" ] && [ -r "$headers" ] || fail 'its address is missing'
  address=$(cat "$folder/address")
fi
answer=$(curl --silent --show-error --noproxy '*' --max-time 20 --max-filesize 1000000 --write-out '\n%{http_code}' \
  --header 'Content-Type: application/json' --header "@$headers" \
  --data-binary @- "$address/hooks/$1" 2>&1) || fail 'no connection'
case $answer in
'{'*'}
200') printf '%s\n' "${answer%?200}" ;;
*) fail 'what answers there is not Phaselock' ;;
esac
