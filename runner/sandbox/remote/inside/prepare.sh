# Makes a sandbox what it is to be, before anything of a user runs in it. Says `prepared` where that has worked.
# Usage: prepare.sh USER DISK_MB TEMPORARY_MB SHARED_MB
user=$1
set -e
umask 022
room() {
  mkdir -p "$1"
  mount -t tmpfs -o "nosuid,nodev,mode=$2,size=$3m,uid=$user,gid=$user" assent "$1"
}
room /workspace 0755 "$2"
room /tmp 1777 "$3"
room /dev/shm 1777 "$4"
# For the doors of the relay: names are asked for there, and programs that know no proxy find the web there.
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
rm -f /etc/resolv.conf
echo nameserver 127.0.0.1 >/etc/resolv.conf
echo prepared
