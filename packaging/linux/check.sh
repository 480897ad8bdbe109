#!/bin/sh
# Builds the package twice, as this version and as a later one, and installs both in bare systems (tests/package).
# SUITES names the releases of Debian; "bookworm trixie" before a release.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
architecture=$(dpkg --print-architecture)
later=$version.1
FAST=1
export FAST
checked=build/package-test
rm -rf "$checked"
mkdir -p "$checked/again"
deb=dist/assent_${version}_$architecture.deb
packaging/linux/package.sh >/dev/null
cp "$deb" "$checked/"
packaging/linux/package.sh >/dev/null
cp "$deb" "$checked/again/"
# The later version: the same files under another number.
dpkg-deb -R "$deb" "$checked/later"
sed -i "s/^Version: .*/Version: $later/" "$checked/later/DEBIAN/control"
echo "$later" >"$checked/later/usr/lib/assent/VERSION"
mv "$checked/later/usr/lib/assent/app/assent-$version.dist-info" "$checked/later/usr/lib/assent/app/assent-$later.dist-info"
sed -i "s/^Version: .*/Version: $later/" "$checked/later/usr/lib/assent/app/assent-$later.dist-info/METADATA"
(cd "$checked/later" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -Zgzip -z1 --build "$checked/later" "$checked/assent_${later}_$architecture.deb" >/dev/null
rm -rf "$checked/later"
lintian --fail-on error,warning --no-tag-display-limit "$deb"
desktop-file-validate packaging/linux/assent.desktop
appstreamcli validate --no-net build/package/metainfo.xml
ASSENT_PACKAGES=$checked/${deb##*/}:$checked/assent_${later}_$architecture.deb ASSENT_SHOTS=$checked \
    .venv/bin/python -m pytest tests/package "$@"
