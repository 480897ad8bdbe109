# Starts a command in the workspace as an ordinary user that never becomes root again.
# Usage: enter.sh first|keep|later USER PROCESSES MEMORY_KB NAME=VALUE ... COMMAND ...
# When the command of the first one has ended, it ends all that this user has started. That of a sandbox that is kept
# starts nothing: it waits; it is root, so nothing that the user starts ends it.
order=$1 user=$2 processes=$3 memory=$4
shift 4
umask 022
cd /workspace || exit 125
leave=(setpriv "--reuid=$user" "--regid=$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all)
if [[ $order == keep ]]; then
  exec 2>/dev/null
  printf ready
  while read -r _; do :; done
  exit
fi
ulimit -c 0
ulimit -n 1024
ulimit -u "$processes"
# What one process may write to; what all hold together is watched (readings.sh).
ulimit -d "$memory"
[[ $order == first ]] || exec "${leave[@]}" env -i "$@"
trap 'again=1; kill -TERM "$child"' TERM
trap 'again=1; kill -USR1 "$child"' USR1
# Without job control the child would be deaf to SIGINT, and would read nothing.
set -m
exec 9>&2 2>/dev/null
"${leave[@]}" env -i "$@" 2>&9 9>&- &
child=$!
# Off again: then a child that is stopped has not ended, and `wait -f`, which may miss an end, is not needed.
set +m
exec </dev/null >/dev/null 9>&-
while again=; wait "$child"; status=$?; [[ $again ]]; do :; done
"${leave[@]}" bash --noprofile --norc -c 'kill -KILL -1'
exit "$status"
