# The first process of a container that has no other one: starts the interpreter as its child, passes SIGTERM on, and
# takes in the processes whose parents have ended. Everything ends with it.
# Usage: first.sh COMMAND ...
trap 'again=1; kill -TERM "$child"' TERM
# Without job control the child would be deaf to SIGINT, and would read nothing.
set -m
exec 9>&2 2>/dev/null
export -n PWD SHLVL OLDPWD
env -u _ -u SHLVL "$@" 2>&9 9>&- &
child=$!
# Off again: then a child that is stopped has not ended, and `wait -f`, which may miss an end, is not needed.
set +m
exec </dev/null >/dev/null 9>&-
while again=; wait "$child"; status=$?; [[ $again ]]; do :; done
exit "$status"
