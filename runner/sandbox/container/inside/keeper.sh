# Starts the interpreter as its child and passes SIGTERM on. When it has ended (SIGUSR1 sees to that), ends all else and
# hands out the files in the workspace: a mark with the status, then what `hand_out` writes (handing.sh, before this).
# Usage: keeper.sh MARK MAIN FILES FILE_BYTES ALL_BYTES COMMAND ...
mark=$1 main=$2 most=$3 largest=$4 left=$5
shift 5
rm -f /tmp/.keeper
# Its word, by standard input: the code can read every command and environment. What follows is for the interpreter.
read -r word || exit 0
trap 'again=1; kill -TERM "$child"' TERM
trap 'again=1; kill -KILL -1' USR1
# Without job control the child would be deaf to SIGINT.
set -m
exec 9>&2 2>/dev/null
begun=${EPOCHREALTIME-}
export -n PWD SHLVL OLDPWD
env -u _ -u SHLVL "$@" 2>&9 9>&- &
child=$!
# Off again: then a child that is stopped has not ended, and `wait -f`, which may miss an end, is not needed.
set +m
exec </dev/null >/dev/null
while again=; wait "$child"; status=$?; [[ $again ]]; do :; done

cd /workspace || exit "$status"
shopt -s dotglob nullglob
files=(*)
((${#files[@]} > 1)) || [[ ${files[0]-$main} != "$main" ]] || exit "$status"
kill -KILL -1
printf '%s%s:C00000003\n%03d' "$mark" "$word" "$status" >&9
hand_out "$main" "$most" "$largest" "$left" 0 "$begun"
exit "$status"
