# Lies over the system's shells in the outer ring: says what is to run, waits for the word, and runs it in the inner one.
# The command stays a child of its caller: descriptors, process group, signals and exit code are its own.
d=/run/assent/commands
exec 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
if ! { "MKFIFO" -m 600 "$d/$$" && exec 3<>"$d/$$"; } 2>/dev/null; then
    echo "assent: the command cannot be handed over" >&2
    exit 126
fi
printf '%s\0' "$PWD" "$0" "$@" >"$d/$$.asked"
echo "$$" >"$d/all"
read -r said <&3
case "$said" in
"waits "*)
    printf '%s\n' "${said#waits }" >&2
    read -r said <&3
    ;;
esac
exec 3>&-
if [ "$said" != run ]; then
    printf '%s\n' "$said" >&2
    exit 126
fi
read -r ring <"$d/ring"
unset said d SECRET
exec "NSENTER" -t "$ring" -U --preserve-credentials -m -n -i -u -p -- GIVEN "ENV" -C "$PWD" -- "$0" "$@"
