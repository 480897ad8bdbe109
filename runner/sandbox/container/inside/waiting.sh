printf '%sR%08x\n%s' "$1" "${#BASH_VERSION}" "$BASH_VERSION" >&2
read -r memory variables code stdin || exit 0
ulimit -d "$memory"
eval "$(head -c "$variables")"
head -c "$code" >"$2"
head -c "$stdin" >/tmp/.stdin
exec </tmp/.stdin
rm /tmp/.stdin
unset memory variables code stdin
exec "$BASH" --noprofile --norc "$2"
