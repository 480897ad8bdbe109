#!/bin/sh
# Builds the package twice, as this version and as a later one, and installs both in bare systems (tests/package).
# DIST keeps what `make package` has made as it is. SUITES names the releases of Debian; "bookworm trixie" before a release.
# What waits for the network, or keeps one processor busy alone, is done beside the rest.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
architecture=$(dpkg --print-architecture)
later=$version.1
FAST=1
: "${SUITES:=bookworm}"
export FAST SUITES
checked=build/package-test
rm -rf "$checked"
mkdir -p "$checked"
deb=$checked/assent_${version}_$architecture.deb

# Waits for what was begun beside, shows what it wrote, and fails as it did.
joined() {
    status=0
    wait "$1" || status=$?
    cat "$checked/$2.log"
    [ $status = 0 ] || exit $status
}

[ "$(id -u)" = 0 ] || {
    echo "Bare systems can be made by root only: sudo make package-test" >&2
    exit 1
}
# shellcheck disable=SC2086 # one word a release
.venv/bin/python -m tests.package.bare_root $SUITES >"$checked/roots.log" 2>&1 &
roots=$!
DIST=$checked packaging/linux/package.sh >/dev/null
# The later version: the same files under another number.
dpkg-deb -R "$deb" "$checked/later"
sed -i "s/^Version: .*/Version: $later/" "$checked/later/DEBIAN/control"
echo "$later" >"$checked/later/usr/lib/assent/VERSION"
mv "$checked/later/usr/lib/assent/app/assent-$version.dist-info" "$checked/later/usr/lib/assent/app/assent-$later.dist-info"
sed -i "s/^Version: .*/Version: $later/" "$checked/later/usr/lib/assent/app/assent-$later.dist-info/METADATA"
(cd "$checked/later" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -Zgzip -z1 --build "$checked/later" "$checked/assent_${later}_$architecture.deb" >/dev/null
rm -rf "$checked/later"
unpacked="$checked/a folder with blanks/assent-$version"
mkdir -p "${unpacked%/*}"
packaging/linux/portable.sh build/package/assent "$unpacked"
desktop-file-validate packaging/linux/assent.desktop
appstreamcli validate --no-net build/package/metainfo.xml
joined $roots roots
(
    lintian --fail-on error,warning --tag-display-limit 0 "$deb"
    # In another folder: nothing that is packed may depend on where it was made.
    mkdir -p "$checked/elsewhere/build/package"
    git ls-files -z | xargs -0 cp -a --parents -t "$checked/elsewhere"
    cp -a build/package/debs "$checked/elsewhere/build/package/"
    ln -s "$PWD/.venv" "$checked/elsewhere/.venv"
    DIST=again "$checked/elsewhere/packaging/linux/package.sh" >/dev/null
    cmp "$deb" "$checked/elsewhere/again/${deb##*/}"
    echo "Two builds are the same."
) >"$checked/build.log" 2>&1 &
build=$!
ASSENT_PACKAGES=$deb:$checked/assent_${later}_$architecture.deb ASSENT_SHOTS=$checked ASSENT_PORTABLE=$unpacked \
    .venv/bin/python -m pytest tests/package "$@" || tested=$?
joined $build build
exit "${tested:-0}"
