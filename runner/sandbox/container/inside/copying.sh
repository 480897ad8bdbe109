# Usage: copying.sh out MOST_BYTES FOLDER ... | copying.sh in SIZE FOLDER ...
# Writes all that stands in the workspace as a tar archive, or puts an archive of so many bytes in place of all of it;
# the folders named, at the top, are not looked at and stay. One word on standard error says what is wrong. Nothing else
# runs in the sandbox meanwhile.
set -u
export LC_ALL=C
kill -KILL -1 2>/dev/null # nothing may be there
wrong() { printf %s "$1" >&2; exit 3; }
verb=$1 number=$2
shift 2
cd /workspace || wrong denied
case $verb in
  out)
    without=() looked=()
    for each; do without+=("--exclude=./$each") looked+=(-path "./$each" -prune -o); done
    # What is too large is not sent first: that takes longer than a copy may. A file with two names is sent twice.
    size=$(find . "${looked[@]}" -type f -print0 2>/dev/null | du -bcl --files0-from=- 2>/dev/null | tail -n 1)
    ((${size%%[!0-9]*} <= number)) || wrong large
    tar -c --format=gnu --hard-dereference --numeric-owner --sort=name --anchored --no-wildcards \
      "${without[@]}" . 2>/dev/null || wrong denied
    ;;
  in)
    others=(-mindepth 1 -maxdepth 1)
    for each; do others+=(! -name "$each"); done
    # Code may have closed the workspace itself. In one go each: a process for every file would take minutes.
    chmod 755 . || wrong denied
    find . "${others[@]}" -type d -exec chmod -R u+rwX -- {} + || wrong denied
    find . "${others[@]}" -exec rm -rf -- {} + || wrong denied
    head -c "$number" | tar -x --preserve-permissions --no-same-owner 2>/dev/null || wrong room
    ;;
esac
