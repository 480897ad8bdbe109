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

# Debian packages. Names that the system's list does not have are left to the person.
missing=""
if command -v dpkg-query >/dev/null 2>&1; then
    for name in "$@"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing="$missing $name"
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
    # shellcheck disable=SC2086 # a list of words is meant
    { $sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends $missing; } \
        >/tmp/assent-apt.$$ 2>&1 || { cat /tmp/assent-apt.$$ >&2; rm -f /tmp/assent-apt.$$; exit 1; }
    rm -f /tmp/assent-apt.$$
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
