# Starts a command in the workspace as an ordinary user that never becomes root again.
# Usage: enter.sh first|keep|later USER PROCESSES NAME=VALUE ... COMMAND ...
# When the command of the first one has ended, it ends all that this user has started. That of a sandbox that is kept
# starts nothing: it waits and passes signals on; it is root, so nothing else ends it.
order=$1 user=$2 processes=$3
shift 3
umask 022
cd /workspace || exit 125
leave=(setpriv "--reuid=$user" "--regid=$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all)
if [[ $order == keep ]]; then
  all() { "${leave[@]}" bash --noprofile --norc -c "kill -$1 -1"; }
  trap 'all TERM' USR1
  trap 'all KILL' USR2
  exec 2>/dev/null
  printf ready
  while read -r _; do :; done
  exit
fi
ulimit -c 0
ulimit -n 1024
ulimit -u "$processes"
[[ $order == first ]] || exec "${leave[@]}" env -i "$@"
trap 'again=1; kill -TERM "$child"' TERM
trap 'again=1; kill -USR1 "$child"' USR1
# Without job control the child would be deaf to SIGINT, and would read nothing.
set -m
exec 9>&2 2>/dev/null
"${leave[@]}" env -i "$@" 2>&9 9>&- &
child=$!
exec </dev/null >/dev/null 9>&-
while again=; wait -f "$child"; status=$?; [[ $again ]]; do :; done
"${leave[@]}" bash --noprofile --norc -c 'kill -KILL -1'
exit "$status"
