# Starts the interpreter of one run in a sandbox that is kept; when it has ended, ends all else and takes the code away.
# First of all it says when (in seconds since 1970), as what has not changed since then is no file of this run.
# Usage: once.sh MAIN COMMAND ... ; signals reach every process through the first one (keeping.sh).
main=$1
shift
printf '%s\n' "${EPOCHREALTIME-}" >&2
trap 'again=1' TERM
# Without job control the child would be deaf to SIGINT.
set -m
exec 9>&2 2>/dev/null
export -n PWD SHLVL OLDPWD
env -u _ -u SHLVL "$@" 2>&9 9>&- &
child=$!
# Off again: then a child that is stopped has not ended, and `wait -f`, which may miss an end, is not needed.
set +m
exec </dev/null 9>&-
while again=; wait "$child"; status=$?; [[ $again ]]; do :; done
kill -KILL -1
rm -f -- "$main"
exit "$status"
