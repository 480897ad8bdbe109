#!/bin/sh
# Writes the root file system of one sandbox image to standard output, as a tar archive: Debian packages unpacked
# without their installers, so there is no package manager in it and nothing in it depends on when it was made.
# Usage: rootfs.sh PACKAGE ...
# The environment holds SUITE (the Debian release) and may hold MIRRORS (sources for apt, a line each; else Debian's own),
# REMOVE (patterns of paths to leave out), PREPARE (text for sh that compiles ahead, into the folder $1) and SOURCE_DATE_EPOCH (the time that all files bear).
# On Debian it needs mmdebstrap; elsewhere it is run in a container of Debian, where it installs that first.
set -eu
# Neither what is told nor any order may depend on the language of this machine.
export LC_ALL=C

# Called back by mmdebstrap with the folder in which everything has been unpacked.
if [ "${1:-}" = --finish ]; then
    cd "$2"
    echo "I: finishing" >&2

    # What these hold was asked for at no point, or belongs to installing.
    ls var/cache/apt/archives | sed -n 's/\.deb$//p' | sort >packages
    rm -rf etc/hostname etc/resolv.conf etc/cron* etc/fstab etc/init.d etc/issue* etc/kernel etc/logrotate.d etc/systemd \
        etc/update-motd.d usr/bin/*-config usr/bin/c_rehash usr/bin/debconf* usr/bin/dpkg* usr/bin/openssl \
        usr/bin/py3clean usr/bin/py3compile usr/bin/update-alternatives usr/include usr/lib/*-linux-gnu/gconv \
        usr/lib/binfmt.d usr/lib/mime usr/lib/ssl/misc usr/lib/systemd usr/lib/sysusers.d usr/lib/tmpfiles.d \
        usr/lib/valgrind usr/libexec/dpkg usr/share/applications usr/share/base-files usr/share/bash-completion \
        usr/share/binfmts usr/share/bug usr/share/debconf usr/share/debianutils usr/share/doc-base usr/share/dpkg \
        usr/share/info usr/share/lintian usr/share/locale usr/share/man usr/share/menu usr/share/perl5 \
        usr/share/pixmaps usr/share/polkit-1 usr/share/python3 usr/sbin/*
    # shellcheck disable=SC2086 # a list of patterns is meant
    rm -rf ${REMOVE:-}
    find usr/share/doc -type f ! -name copyright -delete
    find usr/share/doc -depth -type d -empty -delete
    mkdir -p usr/share/assent workspace var/tmp
    mv packages usr/share/assent/packages

    # What the installers would have made.
    cat >etc/passwd <<'END'
root:x:0:0:root:/:/usr/sbin/nologin
sandbox:x:1000:1000:sandbox:/workspace:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
END
    cat >etc/group <<'END'
root:x:0:
sandbox:x:1000:
nogroup:x:65534:
END
    # Where a run has a network, a relay answers for names; elsewhere nothing does. An engine that gives no network writes
    # neither file.
    echo nameserver 127.0.0.1 >etc/resolv.conf
    printf '%s\tlocalhost\n' 127.0.0.1 ::1 >etc/hosts
    rm -f etc/shadow* etc/gshadow* etc/passwd- etc/group-
    chown 1000:1000 workspace
    ln -sf which.debianutils usr/bin/which
    [ ! -e usr/bin/mawk ] || ln -sf mawk usr/bin/awk
    if [ -d usr/share/ca-certificates ]; then
        mkdir -p etc/ssl/certs
        find usr/share/ca-certificates -name '*.crt' | sort | xargs cat >etc/ssl/certs/ca-certificates.crt
        rm -rf usr/share/ca-certificates
    fi
    for provider in usr/lib/*-linux-gnu/blas/libblas.so.3 usr/lib/*-linux-gnu/lapack/liblapack.so.3; do
        [ ! -e "$provider" ] || ln -s "${provider#usr/lib/*-linux-gnu/}" "${provider%/*/*}/${provider##*/}"
    done

    # The root file system is read-only in a sandbox: Python could not keep what it compiles.
    if [ -e usr/bin/python3 ]; then
        echo "I: compiling" >&2
        rm -rf usr/lib/python3*/idlelib usr/lib/python3*/turtledemo usr/lib/python3*/ensurepip usr/lib/python3*/test
        workers=0
        [ -e usr/lib/python3.*/concurrent ] || workers=1 # without all of the library it cannot have several
        chroot . python3 -I -m compileall -q -j "$workers" --invalidation-mode unchecked-hash \
            "/$(echo usr/lib/python3.*)" >&2
    fi

    # The relay's interpreter has one path in every image. Where Python is not what the image is for, there is only a part
    # of its library: code that looks for `python3` is not to find that.
    mkdir -p usr/lib/assent
    if [ -e usr/lib/python3.*/concurrent ]; then
        ln -s ../../bin/python3 usr/lib/assent/python3
    else
        mv "$(echo usr/bin/python3.*)" usr/lib/assent/python3
        rm -f usr/bin/python3
    fi

    # What compilers would do again for each program.
    if [ -n "${PREPARE:-}" ]; then
        echo "I: compiling" >&2
        mkdir -p usr/lib/assent/cache
        chroot . sh -eu -c "$PREPARE" prepare /usr/lib/assent/cache >&2
    fi

    find . -xdev -type f -perm /6000 -exec chmod ug-s {} +
    exit 0
fi

[ $# -gt 0 ] || { echo "Usage: rootfs.sh PACKAGE ..." >&2 && exit 2; }
: "${SUITE:?}"
if ! command -v mmdebstrap >/dev/null; then
    echo "I: installing mmdebstrap" >&2
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends mmdebstrap; } >&2
fi
include=$(echo "$@" | tr ' ' ,)
self=$(realpath "$0")
# Where it may not mount (in a container) it does without: nothing here needs what would be mounted.
set -- --variant=extract --skip=check/canmount --include="$include" --aptopt='Acquire::Languages "none"' \
    --extract-hook="sh '$self' --finish \"\$1\"" --format=tar "$SUITE" -
out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 1' INT TERM
if [ -n "${MIRRORS:-}" ]; then
    printf '%s\n' "$MIRRORS" | mmdebstrap "$@" - >"$out"
else
    mmdebstrap "$@" >"$out"
fi
# mmdebstrap wants these until its end.
mmtarfilter --path-exclude='/dev/*' --path-exclude='/etc/apt*' --path-exclude='/etc/dpkg*' --path-exclude='/var/lib/*' \
    --path-exclude='/var/cache/*' --path-exclude='/var/log/*' <"$out"
