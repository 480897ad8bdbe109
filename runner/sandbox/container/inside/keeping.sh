# The first process of a sandbox that is kept: passes signals on to all others and ends with the console's connection.
trap 'kill -TERM -1' USR1
trap 'kill -KILL -1' USR2
printf ready
while read -r _; do :; done
