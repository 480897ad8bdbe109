#!/bin/sh
# Brings a checkout into working order: system packages where missing, virtual environment, locked dependencies.
# Usage: setup.sh run|dev [Debian package ...]
# Does nothing when all is there already. What it may not install itself it names, with the command to type.
set -eu
cd "$(dirname "$0")/.."
kind=$1
shift

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Debian packages. Where the system is not Debian's kind the person has to know what to install.
has() {
    # Since the change of time_t some names end in t64.
    dpkg-query -W -f '${Status}\n' "$1" "$1t64" 2>/dev/null | grep -q 'ok installed'
}
missing=""
if command -v dpkg-query >/dev/null 2>&1; then
    for name in "$@"; do
        has "$name" || missing="$missing $name"
    done
fi
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo="sudo"
    else
        fail "These system packages are missing:$missing" "Install them, then run this again:" \
            "    sudo apt-get install --no-install-recommends$missing"
    fi
    echo "Installing system packages:$missing"
    told=$(mktemp)
    # shellcheck disable=SC2086 # a list of words is meant
    if ! { $sudo apt-get update -q && $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $missing; } >"$told" 2>&1; then
        cat "$told" >&2
        rm -f "$told"
        exit 1
    fi
    rm -f "$told"
fi

# The first Python that is new enough.
python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || fail "Assent needs Python 3.11 or newer with its venv module." \
    "Install it, then run this again:" "    sudo apt-get install python3 python3-venv"

lock=packaging/requirements/$kind.txt
stamp=.venv/assent-$kind
sum=$(cat "$lock" pyproject.toml | sha256sum | cut -d' ' -f1)
[ "$(cat "$stamp" 2>/dev/null || true)" = "$sum" ] && exit 0
[ -x .venv/bin/python ] || { echo "Creating the virtual environment .venv"; "$python" -m venv .venv; }
echo "Installing the locked dependencies ($lock)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
echo "$sum" >"$stamp"
