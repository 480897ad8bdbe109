#!/bin/sh
# Makes build/package/assent: Debian's CPython, the locked wheels and Assent in one folder that runs from anywhere.
# Nothing in it is frozen: every file is the file that the tests have seen (README of this folder says why).
# Needs Debian or a relative of it, binutils (readelf, strip) and the network for what apt and pip have not fetched yet.
set -eu
cd "$(dirname "$0")/../.."
LC_ALL=C.UTF-8
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE
work=build/package
tree=$work/assent
python=$tree/python/bin/python3
debs=$work/debs
list=packaging/linux/keep.txt

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "The package is made on Debian: its interpreter comes from there."

# The paths of one kind in keep.txt.
kept() {
    sed -n "s/^$1 \([^ ]*\).*/\1/p" "$list"
}

interpreter() {
    # The distribution's own: patched by it, and built for the oldest libc that the package wants to run on.
    version=$(apt-cache depends python3-minimal | sed -n 's/^ *[A-Za-z|]*Depends: \(python3\.[0-9]*\)-minimal$/\1/p' | head -n 1)
    [ -n "$version" ] || fail "apt does not know Debian's Python. Try: apt-get update"
    mkdir -p "$debs"
    for name in "$version-minimal" "lib$version-minimal" "lib$version-stdlib"; do
        [ -e "$debs/$name.deb" ] && continue
        (cd "$debs" && apt-get download -qq "$name" && mv "${name}"_*.deb "$name.deb") || fail "apt cannot fetch $name."
    done
    rm -rf "$work/root"
    for each in "$debs"/*.deb; do
        dpkg-deb -x "$each" "$work/root"
    done
    mkdir -p "$tree/python/bin" "$tree/python/lib" "$tree/python/licenses"
    cp "$work/root/usr/bin/$version" "$python"
    # A name of its own: `ps` says assent, and the profile of AppArmor is not that of the interpreter that runs code.
    ln "$python" "$tree/python/bin/assent"
    cp -a "$work/root/usr/lib/$version" "$tree/python/lib/"
    cp "$work/root/usr/share/doc/$version-minimal/copyright" "$tree/python/licenses/python"
    dpkg-deb -f "$debs/$version-minimal.deb" Version >"$tree/python/licenses/python.version"
    (
        cd "$tree/python/lib/$version"
        rm -rf sitecustomize.py ensurepip idlelib lib2to3 tkinter turtledemo pydoc_data distutils EXTERNALLY-MANAGED \
            config-3.* test turtle.py LICENSE.txt lib-dynload/xx* lib-dynload/_xx* lib-dynload/_test* lib-dynload/nis.*
    )
}

wheels() {
    # By the shipped interpreter, so that pip chooses what fits it.
    .venv/bin/python -m pip --version >/dev/null
    pip=$(.venv/bin/python -c 'import pip, pathlib; print(pathlib.Path(pip.__file__).parent.parent)')
    sed '/^# for a checkout only$/,$d' packaging/requirements/run.txt >"$work/requirements.txt"
    PYTHONPATH=$pip "$python" -S -m pip install -q -q --root-user-action ignore --disable-pip-version-check --no-warn-script-location \
        --no-compile --only-binary :all: --require-hashes --target "$tree/app" -r "$work/requirements.txt"
    rm -rf "$tree/app/bin" "$tree/app/share"
    # Lists of files with their hashes, which are no longer true, and name this folder's path in those of the programs.
    rm -f "$tree"/app/*.dist-info/RECORD
    # What a checkout alone needs: the builder that installs it in place.
    for each in hatchling pathspec pluggy trove_classifiers editables; do
        rm -rf "$tree/app/$each" "$tree/app/$each"-*
    done
    rm -rf "$tree/app/trove"
}

assent() {
    cp -a runner app images "$tree/app/"
    mkdir "$tree/app/resources"
    for each in resources/*; do
        [ "$each" = resources/readme ] || cp -a "$each" "$tree/app/resources/"
    done
    # What `importlib.metadata` finds: the version, from pyproject.toml alone.
    meta=$tree/app/assent-$version_of_assent.dist-info
    mkdir "$meta"
    printf 'Metadata-Version: 2.1\nName: assent\nVersion: %s\nLicense: Apache-2.0\n' "$version_of_assent" >"$meta/METADATA"
    cp LICENSE "$meta/LICENSE"
    cp packaging/linux/start.py "$tree/start.py"
    cp packaging/linux/assent "$tree/assent"
    chmod 755 "$tree/assent"
}

# Names of the libraries that a file needs.
needs() {
    readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

trim_qt() {
    qt=$tree/app/PySide6
    mv "$qt" "$work/qt"
    mkdir -p "$qt/Qt/lib" "$qt/Qt/plugins"
    for name in $(kept module); do
        cp -a "$work/qt/$name" "$qt/"
    done
    for name in $(kept plugin); do
        mkdir -p "$qt/Qt/plugins/$(dirname "$name")"
        cp -a "$work/qt/Qt/plugins/$name" "$qt/Qt/plugins/$name"
    done
    mkdir "$qt/Qt/translations"
    for name in $(kept translation); do
        cp -a "$work/qt/Qt/translations/$name" "$qt/Qt/translations/"
    done
    # Every library of Qt's that one of these needs, and what those need.
    found=$(find "$qt" "$tree/app/shiboken6" -name '*.so*' -type f)
    while [ -n "$found" ]; do
        next=""
        for file in $found; do
            for name in $(needs "$file"); do
                for from in "$work/qt/Qt/lib/$name" "$work/qt/$name"; do
                    to=$qt${from#"$work/qt"}
                    if [ -e "$from" ] && [ ! -e "$to" ]; then
                        cp -a "$from" "$to"
                        next="$next $to"
                    fi
                done
            done
        done
        found=$next
    done
    rm -rf "$work/qt"
}

trim_lexers() {
    lexers=$tree/app/pygments/lexers
    mv "$lexers" "$work/lexers"
    mkdir "$lexers"
    for name in $(kept lexer); do
        cp -a "$work/lexers/$name" "$lexers/"
    done
    rm -rf "$work/lexers"
}

finish() {
    find "$tree" -name __pycache__ -prune -exec rm -rf {} +
    find "$tree/app" -name '*.pyi' -delete
    find "$tree/app" -type d \( -name tests -o -name testing \) -prune -exec rm -rf {} +
    find "$tree" -name '*.so*' -type f -exec strip --strip-unneeded {} + 2>/dev/null
    # Programs of wheels are modules here: nothing starts them by a first line of another machine.
    find "$tree/app" "$tree/python/lib" -name '*.py' -exec sed -i '1{/^#!/d}' {} +
    # By content and not by time: two builds are the same, and an update of the files is noticed.
    SOURCE_DATE_EPOCH=0 "$python" -B -I -S -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        "$tree/app" "$tree/python/lib" "$tree/start.py"
    echo "$version_of_assent" >"$tree/VERSION"
    find "$tree" -type d -exec chmod 755 {} +
    find "$tree" -type f -exec chmod 644 {} +
    chmod 755 "$tree/assent" "$tree"/python/bin/* "$tree"/app/images/*.sh
}

version_of_assent=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
rm -rf "$tree" "$work/qt" "$work/lexers"
mkdir -p "$work"
interpreter
wheels
assent
trim_qt
trim_lexers
finish
