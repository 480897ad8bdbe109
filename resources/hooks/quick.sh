# The first part of a client's hook, without Python: lets tools pass that nobody is asked about, hands on all others.
#
# Use: quick.sh MEMBER CLIENT PROGRAM ARGUMENT...
# MEMBER is what the client calls the name of the tool in the object that it writes to standard input. It stands there
# as "MEMBER":"NAME"; within a text of JSON these quotation marks would have backslashes. Where the word stands twice,
# the second may be the true one, so that `assent hook` reads it. Whatever fails here is a no.
set -u
member=$1 client=$2
shift 2
tools=
while read -r name tools && [ "$name" != "$client:" ]; do :; done < "${0%/*}/unasked"
data=$(timeout 10 cat) || {
    echo "The client did not say what it would use. Nothing was run." >&2
    exit 2
}
# Taking a long text apart takes the shell long.
if [ ${#data} -le 8192 ]; then
    case $data in
    *"$member"*"$member"*) ;;
    *"\"$member\":\""*)
        tool=${data#*"\"$member\":\""}
        tool=${tool%%\"*}
        case $tool in
        '' | *[!A-Za-z_]*) ;;
        *) case " $tools " in *" $tool "*) exit 0 ;; esac ;;
        esac
        ;;
    esac
fi
exec "$@" <<END
$data
END
