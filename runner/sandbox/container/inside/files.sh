# Usage: files.sh read PATH OFFSET MOST | write PATH BYTES MODE | list PATH MOST; one word on standard error says what
# is wrong. Nothing else runs in the sandbox meanwhile, so what was looked at stays as it is.
set -u
umask 022
export LC_ALL=C
wrong() { printf %s "$1" >&2; exit 3; }

enter() {
  [[ -L $1 ]] && wrong folder-link
  [[ -e $1 || $making != yes ]] || mkdir -- "$1" 2>/dev/null || wrong room
  [[ -e $1 ]] || wrong missing
  [[ -d $1 ]] || wrong no-folder
  cd -P -- "$1" 2>/dev/null || wrong denied
}

walk() {
  cd /workspace || wrong denied
  name=$1
  while [[ $name == */* ]]; do
    enter "./${name%%/*}"
    name=${name#*/}
  done
}

ordinary() {
  [[ -L ./$name ]] && wrong link
  [[ -e ./$name ]] || { [[ $making == yes ]] && return; wrong missing; }
  [[ -d ./$name ]] && wrong folder
  [[ -f ./$name ]] || wrong special
}

verb=$1
making=no
case $verb in
  read)
    walk "$2"
    ordinary
    { exec 3<"./$name"; } 2>/dev/null || wrong denied
    stat -L -c %s /proc/self/fd/3 >&2
    tail -c "+$(($3 + 1))" <&3 | head -c "$4"
    ;;
  write)
    making=yes
    walk "$2"
    ordinary
    new=$(mktemp ./.XXXXXXXXXXXXXXXX 2>/dev/null) || wrong room
    head -c "$3" >"$new" 2>/dev/null && [[ $(stat -c %s "$new") == "$3" ]] || { rm -f "$new"; wrong room; }
    chmod "$4" "$new"
    mv -fT -- "$new" "./$name" 2>/dev/null || { rm -f "$new"; wrong denied; }
    ;;
  list)
    walk "$2/"
    [[ -r . ]] || wrong denied
    find . -mindepth 1 -maxdepth 1 -printf '%P/%y/%s\0' | sort -z | head -z -n "$3"
    find . -mindepth 1 -maxdepth 1 -printf . | wc -c >&2
    ;;
esac
