# Says what is in this sandbox, a line each: who starts programs, whether that can be given up, which interpreters there
# are, how large it is, and what it reaches although it should reach nothing.
export LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
say() { printf '%s %s\n' "$1" "$2"; }
say uid "$(id -u)"
setpriv --reuid="$1" --regid="$1" --clear-groups --no-new-privs true 2>/dev/null && say leaves yes
mkdir -p /tmp/.assent-trial && mount -t tmpfs -o size=1m assent /tmp/.assent-trial 2>/dev/null && {
  say mounts yes
  umount /tmp/.assent-trial
}
rmdir /tmp/.assent-trial
say python "$(python3 -I -c 'import platform; print(platform.python_version())' 2>/dev/null)"
say javascript "$(node --version 2>/dev/null)"
say shell "$(bash --noprofile --norc -c 'printf %s "$BASH_VERSION"' 2>/dev/null)"
while read -r name value _; do [ "$name" = MemTotal: ] && say memory_kb "$value"; done </proc/meminfo
say cores "$(nproc 2>/dev/null)"
say kernel "$(uname -r 2>/dev/null)"
reaches() { timeout 3 bash -c "exec 3<>/dev/$1/$2/$3" 2>/dev/null && say reaches "$2:$3"; }
named() { timeout 4 getent ahosts "$1" >/dev/null 2>&1 && say reaches "DNS ($1)"; }
asked() {
  # A question for a name, sent to that server itself; an answer of any kind is a way out.
  timeout 3 bash -c 'exec 3<>"/dev/udp/$1/53" && printf "\22\64\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1" >&3 &&
    IFS= read -r -t 2 -n 1 -u 3 _' asked "$1" 2>/dev/null && say reaches "DNS at $1"
}
reaches tcp 1.1.1.1 443 &
reaches tcp 8.8.8.8 53 &
reaches tcp 169.254.169.254 80 &
asked 8.8.8.8 &
asked 1.1.1.1 &
named example.com &
wait
say done yes
