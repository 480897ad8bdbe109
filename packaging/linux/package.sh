#!/bin/sh
# Makes what people install, in dist: a Debian package, an archive that runs from any folder, the list of what both
# hold (SBOM) and the checksums. Two builds of one commit are the same, byte for byte.
# FAST=1 compresses quickly and leaves the archive out, for tests. DIST names another folder for what is made.
set -eu
cd "$(dirname "$0")/../.."
here=packaging/linux
LC_ALL=C.UTF-8
TZ=UTC
umask 022
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y pyproject.toml)}"
export LC_ALL TZ SOURCE_DATE_EPOCH
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
dist=${DIST:-dist}
maintainer="The Assent developers <assent@example.org>"
architecture=$(dpkg --print-architecture)
tree=build/package/assent
pages=build/package/pages
root=build/package/deb
deb=$dist/assent_${version}_$architecture.deb
archive=$dist/assent-$version-linux-$(uname -m).tar.xz
# The whole processor in the usual case; the same bytes whatever the number of threads.
xz="--threads=0 --block-size=24MiB -9"

put() {
    install -D -m "${3:-644}" "$1" "$root/$2"
}

dated() {
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

files() {
    "$here/tree.sh"
    rm -rf "$pages"
    .venv/bin/python "$here/pages.py" "$pages"
    .venv/bin/python -W ignore "$here/sbom.py" "$tree" build/package/sbom.cdx.json
    .venv/bin/python "$here/copyright.py" "$tree" build/package/copyright
}

system() {
    rm -rf "$root"
    mkdir -p "$root/usr/lib" "$root/usr/bin"
    cp -a "$tree" "$root/usr/lib/assent"
    ln -s ../lib/assent/assent "$root/usr/bin/assent"
    # The licences stand in one file, as Debian wants it.
    rm -rf "$root/usr/lib/assent/python/licenses"
    put "$here/assent.desktop" usr/share/applications/assent.desktop
    sed -e "s/@VERSION@/$version/" -e "s/@DATE@/$(date -d "@$SOURCE_DATE_EPOCH" +%F)/" \
        "$here/io.github.assent.assent.metainfo.xml" >build/package/metainfo.xml
    put build/package/metainfo.xml usr/share/metainfo/io.github.assent.assent.metainfo.xml
    mkdir -p "$root/usr/share/icons/hicolor"
    cp -a "$pages/icons/." "$root/usr/share/icons/hicolor/"
    put resources/icons/assent.svg usr/share/icons/hicolor/scalable/apps/assent.svg
    put "$here/assent-symbolic.svg" usr/share/icons/hicolor/symbolic/apps/assent-symbolic.svg
    put "$here/apparmor" usr/share/assent/apparmor
    put build/package/copyright usr/share/doc/assent/copyright
    put build/package/sbom.cdx.json usr/share/doc/assent/sbom.cdx.json
    put "$pages/completions/assent.bash" usr/share/bash-completion/completions/assent
    put "$pages/completions/_assent" usr/share/zsh/vendor-completions/_assent
    put "$pages/completions/assent.fish" usr/share/fish/vendor_completions.d/assent.fish
    mkdir -p "$root/usr/share/man/man1"
    gzip -9nc "$pages/assent.1" >"$root/usr/share/man/man1/assent.1.gz"
    gzip -9nc CHANGELOG.md >"$root/usr/share/doc/assent/CHANGELOG.md.gz"
    printf 'assent (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" "$maintainer" \
        "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$root/usr/share/doc/assent/changelog.gz"
    put "$here/lintian-overrides" usr/share/lintian/overrides/assent
}

# What the folder's programs and libraries need of the system: by their own words, never by hand.
depends() {
    rm -rf build/package/shlibs
    mkdir -p build/package/shlibs/debian
    printf 'Source: assent\nPackage: assent\nArchitecture: any\n' >build/package/shlibs/debian/control
    find "$PWD/$tree" -type f \( -name '*.so*' -o -path '*/python/bin/*' \) >build/package/shlibs/files
    (
        cd build/package/shlibs
        # shellcheck disable=SC2046 # one word a file; none has a blank in its name
        dpkg-shlibdeps -O --ignore-missing-info $(sed 's/^/-e/' files) \
            -l"$PWD/../assent/app/PySide6/Qt/lib" -l"$PWD/../assent/app/PySide6" -l"$PWD/../assent/app/shiboken6" \
            2>warnings | sed -n 's/^shlibs:Depends=//p'
    ) || {
        cat build/package/shlibs/warnings >&2
        exit 1
    }
}

control() {
    mkdir "$root/DEBIAN"
    for script in postinst prerm postrm; do
        install -m 755 "$here/$script" "$root/DEBIAN/$script"
    done
    # Of gVisor no version that Assent does not take: Debian 12 has one, and there `assent images --gvisor` gets another.
    cat >"$root/DEBIAN/control" <<END
Package: assent
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(find "$root/usr" -type f -printf '%s\n' | awk '{ all += int(($1 + 1023) / 1024) } END { print all }')
Section: devel
Priority: optional
Depends: $(depends), bubblewrap, libseccomp2
Recommends: gnome-keyring | kwalletmanager | keepassxc, xdg-utils, runsc (>= 0.0~2024), mmdebstrap, uidmap, python3-pip-whl
Suggests: nodejs (>= 20), npm, docker.io
Description: console to approve the code that local AI agents want to run
 Local AI agents ask over MCP to run code. Assent shows exactly what would run,
 how risky it is and why; a person approves or denies; what is approved runs in
 a sandbox and lands in a history that cannot be altered unnoticed.
END
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
}

debian() {
    system
    control
    dated "$root"
    compression="-Zxz -z9"
    [ -z "${FAST:-}" ] || compression="-Zgzip -z1"
    # shellcheck disable=SC2086 # two words are meant
    dpkg-deb --root-owner-group $compression --build "$root" "$deb" >/dev/null
}

portable() {
    "$here/portable.sh" "$tree" build/package/portable
    cp "$root/usr/share/man/man1/assent.1.gz" build/package/portable/
    cp -a "$pages/completions" build/package/sbom.cdx.json build/package/copyright build/package/portable/
    cp "$here/assent.desktop" resources/icons/assent.svg build/package/portable/
    dated build/package/portable
    # shellcheck disable=SC2086 # several words are meant
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=posix \
        --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime \
        --transform="s,^portable,assent-$version," --directory=build/package portable | xz $xz >"$archive"
}

mkdir -p "$dist"
rm -f "$dist/assent"[_-]"$version"* "$dist/SHA256SUMS"
files
debian
[ -n "${FAST:-}" ] || portable
cp build/package/sbom.cdx.json "$dist/assent-$version.cdx.json"
cd "$dist"
sha256sum assent[_-]"$version"* >SHA256SUMS
# What was made: bytes, checksum, name.
while read -r sum name; do
    printf '%9d  %s  %s\n' "$(stat -c %s "$name")" "$sum" "$dist/$name"
done <SHA256SUMS
