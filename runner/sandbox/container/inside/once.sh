main=$1
shift
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&- </dev/null
trap : TERM
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" 2>/dev/null || break
done
kill -KILL -1
rm -f -- "$main"
exit "$code"
