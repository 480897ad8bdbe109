#!/bin/sh
# Fetches gVisor's program, runsc, from Debian 13 to a file, for systems whose own is missing or too old: in the one of
# 2022, which Debian 12 has, `ls -l` of coreutils 9 fails with "Invalid argument". apt checks Debian's signature.
# Usage: runsc.sh FILE
# The environment may hold MIRROR, the address of a Debian mirror; else it is the one that this machine's apt uses.
# Needs mmdebstrap, and for an ordinary user uidmap.
set -eu
export LC_ALL=C
file=$1
suite=trixie
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' \
    2>/dev/null | head -n 1)}
# What apt does not copy it looks for below the new root.
case $mirror in file:*) mirror=copy:${mirror#file:} ;; esac
mkdir -p -m 700 "${file%/*}"
half=$(mktemp -d "$file.XXXXXX")
trap 'rm -rf "$half"' EXIT
trap 'exit 1' INT TERM
# shellcheck disable=SC2086 # no word at all where there is no mirror
mmdebstrap --variant=extract --skip=check/canmount --include=runsc --format=tar "$suite" - \
    ${mirror:+"deb $mirror $suite main"} >"$half/tar"
tar -xOf "$half/tar" ./usr/bin/runsc >"$half/runsc"
chmod 755 "$half/runsc"
mv -f "$half/runsc" "$file"
