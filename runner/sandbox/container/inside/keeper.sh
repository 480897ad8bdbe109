# Starts the interpreter as its child and passes SIGTERM on. When it has ended (SIGUSR1 sees to that), ends all else and
# hands out the files in the workspace: a mark with the status, then a record for each, an empty one, and the contents.
# Usage: keeper.sh MARK MAIN FILES FILE_BYTES ALL_BYTES COMMAND ...
mark=$1 main=$2 most=$3 largest=$4 left=$5
shift 5
rm -f /tmp/.keeper
# Its word, by standard input: the code can read every command and environment. What follows is for the interpreter.
read -r word || exit 0
LOOKED_AT=1000 DEEPEST=40 LONGEST=4000 NAMES=400000
trap 'again=1; kill -TERM "$child"' TERM
trap 'again=1; kill -KILL -1' USR1
# Without job control the child would be deaf to SIGINT.
set -m
exec 9>&2 2>/dev/null
export -n PWD SHLVL OLDPWD
env -u _ -u SHLVL "$@" 2>&9 9>&- &
child=$!
exec </dev/null >/dev/null
while again=; wait -f "$child"; status=$?; [[ $again ]]; do :; done

cd /workspace || exit "$status"
shopt -s dotglob nullglob
files=(*)
((${#files[@]} > 1)) || [[ ${files[0]-$main} != "$main" ]] || exit "$status"
kill -KILL -1
export LC_ALL=C
printf '%s%s:C00000003\n%03d' "$mark" "$word" "$status" >&9
# A line break in a name becomes two slashes, which no path has; reading up to a NUL would take a call for each byte.
set -f
IFS=$'\n'
found=($(
  find . -mindepth 1 -maxdepth $((DEEPEST + 1)) ! -path "./$main" \
    \( \( -path ./.packages -o -path ./node_modules \) -type d -prune -printf 'k 0 %P\0' \) -o ! -path "./$main" \
    \( -type f ! -readable -printf 'c 0 %P\0' -o -printf '%y %s %P\0' \) |
    sed -zn "s|\n|//|g; s|\$|\n|; p; $((LOOKED_AT + 1))q"
))
chosen=()
names=0
{
  for each in "${found[@]:0:LOOKED_AT}"; do
    kind=${each%% *} rest=${each#* }
    size=${rest%% *} path=${rest#* }
    path=${path//\/\//$'\n'}
    case $kind in
      f)
        if ((size > largest)); then kind=b
        elif ((${#path} > LONGEST)); then kind=d
        elif ((${#chosen[@]} >= most)); then kind=m
        elif ((size > left)); then kind=t
        elif (((names += ${#path}) > NAMES)); then kind=r
        else
          chosen+=("./$path")
          ((left -= size))
        fi
        ;;
      d)
        above=${path//[!\/]/}
        ((${#above} >= DEEPEST)) || continue
        ;;
      l | c | k) ;;
      *) kind=s ;;
    esac
    printf '%s%s %s\0' "$kind" "$size" "$path"
  done
  ((${#found[@]} <= LOOKED_AT)) || printf 'r0 \0'
  printf '\0'
  ((${#chosen[@]} == 0)) || cat -- "${chosen[@]}"
} >&9
exit "$status"
