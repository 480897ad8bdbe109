read -r word || exit 0
printf '%s%s:R%08x\n%s' "$1" "$word" "${#BASH_VERSION}" "$BASH_VERSION" >&2
unset word
read -r memory variables code stdin || exit 0
ulimit -d "$memory"
eval "$(head -c "$variables")"
head -c "$code" >"$2"
head -c "$stdin" >/tmp/.stdin
exec </tmp/.stdin
rm /tmp/.stdin
unset memory variables code stdin
exec "$BASH" --noprofile --norc "$2"
