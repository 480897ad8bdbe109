# Runs a shell script among decoys, with programs that do nothing in place of those that act elsewhere, and records what
# it asks for: the trace of every command with its words, in this shell and those it starts, and what became of the decoys.
# As `trying.py`, which says more. Before this text: m is the mark, c the script, s the seed of the decoys.
work=$PWD top=${TMPDIR:-/tmp}
home=$top/home/user bin=$top/bin
mkdir -p "$home" "$bin"
exec 8>&2
exec 9> >(if command -v awk >/dev/null; then exec awk '!seen[$0]++ && n++ < 400 { print; fflush() }' >&8; else exec cat >&8; fi)
filter=$!

quoted() { # prints a JSON string
    local text=${1:0:4000}
    text=${text//\\/\\\\} text=${text//\"/\\\"} text=${text//$'\n'/\\n} text=${text//$'\t'/\\t} text=${text//[[:cntrl:]]/ }
    printf '"%s"' "$text"
}

note() { printf '\n%s {"kind":%s,"target":%s,"data":%s,"at":%d}\n' "$m" "$(quoted "$1")" "$(quoted "$2")" "$(quoted "${3-}")" "${4:-0}" >&9; }

secret() { # the value of a decoy, in REPLY
    REPLY=$(printf '%s %s' "$s" "$1" | sha256sum)
    REPLY=sk-${REPLY:0:32}
}

declare -A laid
put() {
    [[ -e $1 ]] && return
    mkdir -p -- "${1%/*}" 2>/dev/null
    printf '%s\n' "$2" >"$1" 2>/dev/null && laid[$1]=$2
}

lay_out() {
    local name place
    for name in AWS_SECRET_ACCESS_KEY GITHUB_TOKEN OPENAI_API_KEY \
        $(printf '%s' "$c" | grep -oE '\b[A-Z][A-Z0-9_]{0,60}(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|DSN|_URL)\b' | sort -u | head -n 40); do
        secret "$name"
        export "$name=$REPLY"
        printf '%s=%s\n' "$name" "$REPLY" >>.env
        note decoy "$name"
    done
    laid[$work/.env]=$(<.env)
    for place in .ssh/id_rsa .ssh/id_ed25519 .aws/credentials .netrc .npmrc .docker/config.json; do
        secret "~/$place"
        put "$home/$place" "$REPLY"
    done
    for place in .bashrc .profile .gitconfig Documents/letter.txt Pictures/one.jpg Desktop/notes.txt; do put "$home/$place" decoy; done
    while IFS= read -r place; do
        put "$work/$place" decoy
        [[ $place == */* ]] || put "$home/Documents/$place" decoy
        [[ $place == */* ]] && put "$home/$place" decoy
    done < <(printf '%s' "$c" | grep -oE '[A-Za-z0-9_][A-Za-z0-9_/-]{0,80}\.(json|csv|txt|md|env|ya?ml|toml|ini|cfg|log|sql|db|html|xml|pem|key|png|jpg|pdf|zip|bak)\b' | sort -u | head -n 60)
}

stand_ins() {
    local name
    printf '#!/bin/sh\ncat >/dev/null 2>&1 </dev/null\nexit 0\n' >"$bin/curl"
    chmod 755 "$bin/curl"
    for name in aws az crontab docker gcloud gh git helm kubectl mail mailx mongosh mysql nc npm npx pip pip3 podman psql \
        redis-cli rsync scp sendmail sftp ssh sudo systemctl terraform wget sleep at; do ln "$bin/curl" "$bin/$name"; done
    # Scripts for another shell are traced too.
    for name in sh dash zsh; do ln -s "$BASH" "$bin/$name"; done
}

command_not_found_handle() { return 0; }

compare() {
    local place folder
    for place in "${!laid[@]}"; do
        if [[ ! -e $place ]]; then
            folder=${place%/*}
            if [[ -d $folder ]]; then note delete "$place"; else note "delete folder" "$folder"; fi
        elif [[ $(<"$place") != "${laid[$place]}" ]]; then
            note overwrite "$place"
        fi
    done 2>/dev/null 9>&8 # not through the filter, whose end many harmless commands may have reached
}

lay_out
stand_ins
note begun "$work" "$home"
printf '%s' "$c" >request.sh
(
    export HOME=$home USER=user LOGNAME=user PATH=$bin:$PATH BASH_XTRACEFD=9 PS4=$'\n'"$m +\${BASH_SOURCE##*/}:\${LINENO} " SHELLOPTS
    export -f command_not_found_handle
    unset m c s
    set -x
    exec "$BASH" --noprofile --norc request.sh 2>&8 8>&-
)
status=$?
compare
((status)) && note ended "exit code $status"
note over ""
exec 9>&-
wait "$filter"
