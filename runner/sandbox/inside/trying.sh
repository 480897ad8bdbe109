# Runs a shell script among decoys, with programs that do nothing in place of those that act elsewhere, and records what
# it asks for: the trace of every command with its words, in this shell and those it starts, and what became of the decoys.
# As `trying.py`, which says more. Before this text: m is the mark, c the script, s the seed of the decoys.
work=$PWD top=${TMPDIR:-/tmp}
home=$top/home/user bin=$top/bin
mkdir -p "$home" "$bin"
exec 8>&2
exec 9> >(if command -v awk >/dev/null; then exec awk '!seen[$0]++ && n++ < 400 { print; fflush() }' >&8; else exec cat >&8; fi)
filter=$!

quoted() { # makes a JSON string, in REPLY
    REPLY=${1:0:4000}
    REPLY=${REPLY//\\/\\\\} REPLY=${REPLY//\"/\\\"} REPLY=${REPLY//$'\n'/\\n} REPLY=${REPLY//$'\t'/\\t} REPLY=\"${REPLY//[[:cntrl:]]/ }\"
}

note() {
    local kind target
    quoted "$1" && kind=$REPLY
    quoted "$2" && target=$REPLY
    quoted "${3-}"
    printf '\n%s {"kind":%s,"target":%s,"data":%s,"at":%d}\n' "$m" "$kind" "$target" "$REPLY" "${4:-0}" >&9
}

# Processes are dear in gVisor, so what is laid out takes a few in all: words first, then folders, then files.
declare -A laid secrets
secrets_of() { # the values of decoys, by their names
    local all=$top/secrets name
    local -i number=0
    mkdir "$all"
    for name; do printf '%s %s' "$s" "$name" >"$all/$((1000 + number++))"; done
    number=1
    while read -r REPLY _; do
        secrets[${!number}]=sk-${REPLY:0:32}
        number+=1
    done < <(sha256sum "$all"/*)
    rm -r "$all"
}

lay_out() {
    local name place mine='~/'
    local -a names places=(.ssh/id_rsa .ssh/id_ed25519 .aws/credentials .netrc .npmrc .docker/config.json)
    local -A files folders
    mapfile -t names < <(printf '%s' "$c" | grep -oE '\b[A-Z][A-Z0-9_]{0,60}(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS|DSN|HOOK_URL|(DATABASE|DB|SQL|PG|POSTGRES|MYSQL|MONGO|MONGODB|REDIS|AMQP|BROKER)_UR[IL])\b' | sort -u | head -n 40)
    names=(AWS_SECRET_ACCESS_KEY GITHUB_TOKEN OPENAI_API_KEY "${names[@]}")
    secrets_of "${names[@]}" "${places[@]/#/$mine}"
    for name in "${names[@]}"; do
        export "$name=${secrets[$name]}"
        printf '%s=%s\n' "$name" "${secrets[$name]}" >>.env
        note decoy "$name"
    done
    laid[$work/.env]=$(<.env)
    for place in "${places[@]}"; do files[$home/$place]=${secrets[$mine$place]}; done
    for place in .bashrc .profile .gitconfig Documents/letter.txt Pictures/one.jpg Desktop/notes.txt; do files[$home/$place]=decoy; done
    while IFS= read -r place; do
        files[$work/$place]=decoy
        [[ $place == */* ]] || place=Documents/$place
        files[$home/$place]=${files[$home/$place]-decoy}
    done < <(printf '%s' "$c" | grep -oE '[A-Za-z0-9_][A-Za-z0-9_/-]{0,80}\.(json|csv|txt|md|env|ya?ml|toml|ini|cfg|log|sql|db|html|xml|pem|key|png|jpg|pdf|zip|bak)\b' | sort -u | head -n 60)
    for place in "${!files[@]}"; do folders[${place%/*}]=; done
    mkdir -p -- "${!folders[@]}" 2>/dev/null
    for place in "${!files[@]}"; do
        [[ -e $place ]] || { printf '%s\n' "${files[$place]}" >"$place" && laid[$place]=${files[$place]}; } 2>/dev/null
    done
}

stand_ins() {
    local name
    for name in curl aws az crontab docker gcloud gh git helm kubectl mail mailx mongosh mysql nc npm npx pip pip3 podman \
        psql redis-cli rsync scp sendmail sftp ssh sudo systemctl terraform wget sleep at; do
        printf '#!/bin/sh\ncat >/dev/null 2>&1 </dev/null\nexit 0\n' >"$bin/$name"
    done
    chmod 755 "$bin"/*
    # Scripts for another shell are traced too.
    for name in sh dash zsh; do ln -s "$BASH" "$bin/$name"; done
}

# What a program that is not here would make of its input is not known: it is passed on unchanged.
command_not_found_handle() { [[ ! -p /dev/stdin ]] || cat; }

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
    export HOME=$home USER=user LOGNAME=user PATH=$bin:$PATH BASH_XTRACEFD=9 PS4=$'\n'"$m +\${BASH_SOURCE##*/}:\${LINENO}\${PWD%\"\${PWD#/tmp/tmp.}\"} " SHELLOPTS
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
