# hand_out MAIN FILES FILE_BYTES ALL_BYTES SINCE BEGUN: writes the files in the current folder to descriptor 9, without
# MAIN and what has not changed since SINCE: a record with BEGUN, one for each file with when it was changed, an empty
# one, and the contents. Times are in seconds since 1970. Nothing else runs in the container meanwhile.
hand_out() {
  local main=$1 most=$2 largest=$3 left=$4 since=$5 begun=$6
  local LOOKED_AT=1000 DEEPEST=40 LONGEST=4000 NAMES=400000
  local chosen=() names=0 found each kind rest size at path above
  export LC_ALL=C
  # A line break in a name becomes two slashes, which no path has; reading up to a NUL would take a call for each byte.
  set -f
  IFS=$'\n'
  found=($(
    find . -mindepth 1 -maxdepth $((DEEPEST + 1)) ! -path "./$main" \
      \( \( -path ./.packages -o -path ./node_modules \) -type d -prune -printf 'k 0 %P\0' \) \
      -o ! -path "./$main" \( -type d -o -newerct "@$since" \) \
      \( -type f ! -readable -printf 'c 0 %P\0' -o -printf '%y %s@%C@ %P\0' \) |
      sed -zn "s|\n|//|g; s|\$|\n|; p; $((LOOKED_AT + 1))q"
  ))
  {
    printf 'o0 %s\0' "$begun"
    for each in "${found[@]:0:LOOKED_AT}"; do
      kind=${each%% *} rest=${each#* }
      size=${rest%% *} path=${rest#* }
      at=${size#*@} size=${size%@*}
      path=${path//\/\//$'\n'}
      case $kind in
        f)
          if ((size > largest)); then kind=b
          elif ((${#path} > LONGEST)); then kind=d
          elif ((${#chosen[@]} >= most)); then kind=m
          elif ((size > left)); then kind=t
          elif (((names += ${#path}) > NAMES)); then kind=r
          else
            chosen+=("./$path")
            ((left -= size))
          fi
          ;;
        d)
          above=${path//[!\/]/}
          ((${#above} >= DEEPEST)) || continue
          ;;
        l | c | k) ;;
        *) kind=s ;;
      esac
      printf '%s%s@%s %s\0' "$kind" "$size" "$at" "$path"
    done
    ((${#found[@]} <= LOOKED_AT)) || printf 'r0 \0'
    printf '\0'
    ((${#chosen[@]} == 0)) || cat -- "${chosen[@]}"
  } >&9
}
