# Four times a second writes what the processes of a user hold, all together: memory in kB, processor time in ticks, how
# many they are, and kB of files in memory. A page that several share counts once.
# Usage: readings.sh USER
user=$1
export LC_ALL=C
exec 2>/dev/null
exec {never}<> <(:)
while :; do
  memory=0 ticks=0 processes=0 files=0
  for each in /proc/[0-9]*; do
    of=
    while read -r name value _; do [[ $name == Uid: ]] && { of=$value; break; }; done <"$each/status"
    [[ $of == "$user" ]] || continue
    read -r line <"$each/stat" || continue
    fields=(${line##*) })
    [[ ${fields[0]} != Z ]] || continue
    ((ticks += fields[11] + fields[12] + fields[13] + fields[14], processes += 1))
    while read -r name value _; do [[ $name == Pss: ]] && { ((memory += value)); break; }; done <"$each/smaps_rollup"
  done
  while read -r kind used; do [[ $kind == tmpfs ]] && ((files += used)); done < <(
    df -k --output=fstype,used /workspace /tmp /dev/shm
  )
  printf '%s %s %s %s\n' "$memory" "$ticks" "$processes" "$files"
  read -r -t 0.2 -u "$never"
done
