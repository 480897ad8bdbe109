#!/bin/sh
# Makes of the folder TREE the folder OUT that runs on other distributions too: the libraries that not every desktop
# has are copied beside it, and each file that needs one finds it by its own run path, so that no variable that a
# child process would inherit is set. Usage: portable.sh TREE OUT
set -eu
tree=$1
out=$2
# Below the interpreter: of the folder the sandbox shows code that much and no more.
libraries=$out/python/lib/system
LC_ALL=C
export LC_ALL

# Every desktop has these, and drivers and C library must be the system's own.
SYSTEM='^(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libresolv\.|libutil\.|libgcc_s|libstdc|libGL|libEGL|libOpenGL
|libgbm|libdrm|libX11|libXau|libXdmcp|libxcb\.so|libwayland-client|libfontconfig|libfreetype|libglib|libgobject
|libgthread|libgio|libgmodule|libdbus-1|libz\.|libsystemd|libcap\.|libgcrypt|libgpg-error|liblz4|libpcre|libbrotli
|libpng|libmd|libbsd|linux-vdso)'
system=$(printf '%s' "$SYSTEM" | tr -d '\n')

rm -rf "$out"
mkdir -p "$out"
cp -a "$tree/." "$out/"
mkdir "$libraries"

programs() {
    find "$out/app" "$out/python" -type f \( -name '*.so*' -o -path '*/python/bin/*' \)
}

# What the loader finds outside the folder, with all that it needs in turn.
programs | xargs -d '\n' ldd 2>/dev/null | sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) (.*/\1 \2/p' | sort -u | while read -r name path; do
    case $path in "$PWD"/* | "$out"/*) continue ;; esac
    printf '%s\n' "$name" | grep -qE "$system" && continue
    cp -L "$path" "$libraries/$name"
    chmod 644 "$libraries/$name"
    patchelf --set-rpath '$ORIGIN' "$libraries/$name"
done

programs | while read -r file; do
    needed=$(patchelf --print-needed "$file" 2>/dev/null) || continue
    for name in $needed; do
        if [ -e "$libraries/$name" ]; then
            # As many steps up as there are folders between.
            up=$(printf '%s' "${file#"$out/"}" | sed 's,[^/]*$,,; s,[^/]*/,../,g')
            before=$(patchelf --print-rpath "$file")
            patchelf --set-rpath "${before:+$before:}\$ORIGIN/${up}python/lib/system" "$file"
            break
        fi
    done
done
# The two names of the interpreter are one file again.
ln -f "$out/python/bin/python3" "$out/python/bin/assent"
