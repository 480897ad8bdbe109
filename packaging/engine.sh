#!/bin/sh
# A Docker engine of our own with gVisor, for the tests and for machines that have none: every file of it lies in
# one folder, it touches neither the firewall nor another engine, and stopping it removes all it made.
# Usage: engine.sh install | start [FOLDER] | stop [FOLDER] | status [FOLDER]
# `start` prints DOCKER_HOST; `status` prints it too, and fails where no engine runs. Needs root.
# FOLDER has to be the caller's own with mode 700, or not there yet: root follows what it finds in it.
set -eu
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
PACKAGES="docker.io mmdebstrap debian-archive-keyring iproute2"
# Only root can make this one; it is not below /run, which is memory and too small for images.
FOLDER=/var/lib/assent-engine
# Where it was before, and may still run until it is stopped.
FORMER=${TMPDIR:-/tmp}/assent-engine
# Earlier ones are not taken by Assent either.
GVISOR_YEAR=2024
START_SECONDS=60
STOP_SECONDS=20

verb=${1:-}
kept=${XDG_CACHE_HOME:-$HOME/.cache}/assent/runsc

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Not a link, the caller's, and closed to everybody else: nobody else can have put anything into it.
private() {
    [ "$(LC_ALL=C stat -c '%F %u %a' "$1" 2>/dev/null)" = "directory $(id -u) 700" ]
}

check_private() {
    private "$folder" || fail "$folder is not used: it has to be a directory of your own with mode 700."
}

locate() {
    folder=${1%/}
    host=unix://$folder/docker.sock
    # One name per folder: two engines must not share a control group.
    group=assent-engine-$(printf '%s' "$folder" | cksum | cut -d' ' -f1)
}

running() {
    pid=$(cat "$folder/docker.pid" 2>/dev/null) || return 1
    tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "--pidfile=$folder/docker.pid"
}

answers() {
    timeout 5 docker --host "$host" version >/dev/null 2>&1
}

gvisor() {
    for each in "$(command -v runsc)" "$kept"; do
        year=$("$each" --version 2>/dev/null | sed -n '1s/.*[^0-9]\(20[0-9][0-9]\)[0-9]*\..*/\1/p')
        [ "${year:-0}" -lt "$GVISOR_YEAR" ] || { echo "$each" && return; }
    done
    return 1
}

engine() {
    command -v dockerd >/dev/null && command -v docker >/dev/null && command -v mmdebstrap >/dev/null
}

# From Debian 13 on the client is a package of its own.
packages() {
    [ -z "$(apt-cache pkgnames docker-cli 2>/dev/null | grep -x docker-cli)" ] || PACKAGES="$PACKAGES docker-cli"
    echo "$PACKAGES"
}

install() {
    engine && gvisor >/dev/null && return
    command -v apt-get >/dev/null || fail "A container engine for the tests can be installed on Debian only."
    [ "$(id -u)" = 0 ] || fail "A container engine for the tests can be installed and started by root only." \
        "It needs these system packages, and gVisor: $(packages)" "Install all of it with:" "    sudo $0 install"
    told=$(mktemp)
    trap 'rm -f "$told"' EXIT
    if ! engine; then
        apt-get update -q >"$told" 2>&1 || { cat "$told" >&2 && exit 1; }
        needed=$(packages)
        echo "Installing system packages: $needed" >&2
        # shellcheck disable=SC2086 # a list of words is meant
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $needed >"$told" 2>&1 || {
            cat "$told" >&2 && exit 1
        }
    fi
    if ! gvisor >/dev/null; then
        echo "Fetching gVisor" >&2
        "$(dirname "$0")/../images/runsc.sh" "$kept" >"$told" 2>&1 || { cat "$told" >&2 && exit 1; }
    fi
}

# The runtimes: gVisor without any network, which starts on every kernel, and with that of the container's namespace;
# and three that report what code does, to a console of this account, and to programs that listen in the folder.
configure() {
    runsc=$(gvisor)
    state=${ASSENT_HOME:+$ASSENT_HOME/state}
    state=${state:-${XDG_STATE_HOME:-$HOME/.local/state}/assent}
    rm -f "$folder/daemon.json" "$folder/log"
    # Never written through a link.
    set -C
    cat >"$folder/daemon.json" <<END
{
    "data-root": "$folder/data",
    "exec-root": "$folder/exec",
    "hosts": ["$host"],
    "bridge": "none",
    "iptables": false,
    "ip6tables": false,
    "ip-forward": false,
    "cgroup-parent": "/$group",
    "runtimes": {
        "runsc": {"path": "$runsc", "runtimeArgs": ["--network=none"]},
        "runsc-net": {"path": "$runsc", "runtimeArgs": ["--network=host"]},
        "runsc-feed": {"path": "$runsc", "runtimeArgs": ["--network=none", "--pod-init-config=$state/feed/1/trace.json"]},
        "runsc-feed-1": {
            "path": "$runsc", "runtimeArgs": ["--network=none", "--pod-init-config=$folder/feed/1/trace.json"]
        },
        "runsc-feed-2": {
            "path": "$runsc", "runtimeArgs": ["--network=none", "--pod-init-config=$folder/feed/2/trace.json"]
        }
    }
}
END
}

start() {
    if private "$folder" && running && answers; then
        echo "$host"
        return
    fi
    { [ ! -e "$folder" ] && [ ! -L "$folder" ]; } || check_private
    [ "$(id -u)" = 0 ] || fail "A container engine can be started by root only."
    if ! engine || ! gvisor >/dev/null; then
        fail "There is no container engine here: dockerd, mmdebstrap and a gVisor of $GVISOR_YEAR or later are needed." \
            "Install them with: packaging/engine.sh install"
    fi
    mkdir -m 700 "$folder" 2>/dev/null || check_private
    configure
    # Without a session of its own it would die with the terminal. Closed: what it inherits would stay open for ever.
    setsid dockerd --config-file="$folder/daemon.json" --pidfile="$folder/docker.pid" \
        >"$folder/log" 2>&1 </dev/null 3>&- 4>&- &
    tries=$((START_SECONDS * 10))
    until answers; do
        tries=$((tries - 1))
        if [ "$tries" = 0 ] || { [ "$tries" -lt $((START_SECONDS * 10 - 20)) ] && ! running; }; then
            tail -n 5 "$folder/log" >&2
            fail "The container engine did not start."
        fi
        sleep 0.1
    done
    echo "$host"
}

members() {
    # In the engine's control group: what runs in containers. By name: containerd, its shims, gVisor's own processes.
    find /sys/fs/cgroup -path "*/$group/*" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    # Listed before grep starts, which would find itself.
    commands=$(echo /proc/[0-9]*/cmdline)
    # shellcheck disable=SC2086 # a list of paths without blanks
    grep -l -a -F -e "$folder/exec/" -e "$folder/daemon.json" $commands 2>/dev/null | cut -d/ -f3
}

# Everything goes, so nothing has to end in good order.
stop() {
    [ -e "$folder" ] || [ -L "$folder" ] || return 0
    check_private
    # The only files outside: sockets that containerd's shims leave when they are killed.
    sockets=$(find "$folder/exec" -type f -name address \
        -exec sed -n 's,^unix://\(/run/containerd/[A-Za-z0-9/._-]*\)$,\1,p' {} + 2>/dev/null | grep -v -F .. || true)
    if running; then
        kill -KILL "$pid" || true
    fi
    tries=$((STOP_SECONDS * 10))
    while left=$(members | sort -u) && [ -n "$left" ]; do
        tries=$((tries - 1))
        # shellcheck disable=SC2086 # a list of process ids
        [ "$tries" -gt 0 ] || fail "These processes of the container engine do not end:" $left
        # shellcheck disable=SC2086
        kill -KILL $left 2>/dev/null || true
        sleep 0.1
    done
    # shellcheck disable=SC2086 # a list of paths without blanks
    rm -f $sockets
    for each in /sys/class/net/br-*; do
        bridge=${each##*/}
        if [ -d "$each" ] && grep -q -a -F -e "${bridge#br-}" "$folder"/data/network/files/* 2>/dev/null; then
            ip link delete "$bridge"
        fi
    done
    cut -d' ' -f5 /proc/self/mountinfo | grep -F "$folder/" | sort -r | while read -r mounted; do
        umount -l "$mounted" || true
    done
    find /sys/fs/cgroup -depth -type d \( -name "$group" -o -path "*/$group/*" \) -exec rmdir {} + 2>/dev/null || true
    rm -rf "$folder"
}

if [ -n "${2:-}" ]; then
    locate "$2"
else
    locate "$FORMER"
    { private "$folder" && running; } || locate "$FOLDER"
fi
case $verb in
install) install ;;
start) start ;;
stop) stop ;;
status)
    if ! private "$folder" || ! running || ! answers; then
        fail "No container engine runs in $folder."
    fi
    echo "$host"
    ;;
*) fail "Usage: engine.sh install | start [FOLDER] | stop [FOLDER] | status [FOLDER]" ;;
esac
