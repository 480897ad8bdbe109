trap 'kill -TERM -1' USR1
trap 'kill -KILL -1' USR2
printf ready
while read -r _; do :; done
