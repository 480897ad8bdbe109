# Waits in a container for a program in a language that is known by values alone (runner/sandbox/toolchain.py).
# Usage: compiling.sh MARK MAIN START CACHE PROGRAM ASKS ...
mark=$1 main=$2 start=$3 CACHE=$4
shift 4
[[ -d $CACHE ]] || CACHE=
program=$(type -P -- "$1") || { printf 'the image has no `%s`' "$1" >&2; exit 127; }
# In the workspace, which is its home, it might leave files.
version=$(HOME=/nonexistent "$@" 2>&1 </dev/null)
[[ $version =~ [0-9]+\.[0-9]+(\.[0-9]+)? ]]
version=${BASH_REMATCH[0]-}
read -r word || exit 0
printf '%s%s:R%08x\n%s' "$mark" "$word" "${#version}" "$version" >&2
unset word mark
read -r memory variables code stdin || exit 0
eval "$(head -c "$variables")"
head -c "$code" >"$main"
head -c "$stdin" >/tmp/.stdin
exec </tmp/.stdin
rm /tmp/.stdin
# In a sandbox that is kept an earlier run has left its own.
rm -rf /tmp/.build && mkdir -m 700 /tmp/.build || exit
set -- "$program" "$main" /tmp/.build "$((memory >> 10))"
unset memory variables code stdin program main version BASH_REMATCH
eval "unset start; $start"
