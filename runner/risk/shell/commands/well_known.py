"""Programs of which people know what they do with what they are given, though their work is not followed here."""

from __future__ import annotations

from runner.model.expression import expression
from runner.risk.outline_data import words
from runner.risk.running import ANYTHING, AS_WRITTEN, CERTAIN, FIXED_WORDS, RUNNERS, SCRIPTS, SIGNS

OF_SYSTEM = words(
    "id who w last users groups getent finger locale localectl timedatectl loginctl hostnamectl journalctl dmesg "
    "sysctl lsblk blkid lscpu lspci lsusb lsmod lsns free vmstat iostat mpstat sar top htop ps pgrep pidof pstree "
    "pmap uptime ulimit nproc arch uname hostname tty stty tput clear reset locate updatedb whereis which whatis "
    "apropos man info mountpoint findmnt losetup swapon swapoff sync lsof fuser ss netstat ip ifconfig route arp "
    "ping ping6 traceroute tracepath mtr dig host nslookup whois getfacl lsattr namei readelf objdump nm strings "
    "size ldconfig ltrace strace file stat test tree du df ncdu ls ll dir vdir pwd cal ncal date"
)
"""Programs that tell something about the machine."""
OF_TEXTS = words(
    "aspell hunspell ispell look spell wdiff colordiff sdiff diff3 cmp bc dc factor primes units tsort ptx csplit "
    "split rg ag ack fzf bat batcat glow jq yq xq xmllint xsltproc xmlstarlet csvkit csvcut csvgrep csvlook csvstat "
    "csvjoin csvsort in2csv mlr miller xsv qsv datamash recode uconv enca pandoc asciidoctor rst2html markdown "
    "antiword catdoc pdftotext pdfinfo pdftk qpdf pdfunite pdfseparate pdftoppm pdfimages ps2pdf gs dos2unix "
    "unix2dos mac2unix uchardet hexdump hexyl xxd od cksum sum b2sum md5 shasum crc32 uuidgen pwgen zcat zless "
    "zgrep zdiff bzcat xzcat zstdcat lz4cat egrep fgrep pcregrep vimdiff icdiff delta difft rename pygmentize "
    "highlight figlet cowsay toilet lolcat boxes banner column nroff groff troff"
)
"""Programs that show texts, or turn one form of them into another."""
OF_PICTURES = words(
    "convert magick identify mogrify montage composite compare display import ffmpeg ffprobe ffplay sox soxi play "
    "rec lame flac oggenc mediainfo exiftool exiv2 jhead jpegtran cjpeg djpeg cwebp dwebp optipng pngquant pngcrush "
    "gifsicle inkscape rsvg-convert dot neato gnuplot feh eog mpv mplayer vlc espeak say tesseract potrace "
    "ghostscript youtube-dl yt-dlp handbrakecli mkvmerge mkvextract mkvinfo mp4box avconv"
)
OF_ARCHIVES = words(
    "tar bsdtar zip unzip zipinfo gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma 7z 7za 7zr rar unrar ar "
    "cpio pax rpm2cpio dpkg-deb dpkg rpm apt-cache ark mkisofs genisoimage isoinfo squashfs unsquashfs mksquashfs"
)
OF_BUILDING = words(
    "gcc g++ cc c++ clang clang++ tcc ld as ar nm ranlib strip objcopy make cmake ninja meson configure autoconf "
    "automake autoreconf libtool pkg-config javac java jar javadoc kotlinc scalac rustc rustup cargo go gofmt ghc "
    "cabal stack dotnet mcs msbuild xcodebuild swiftc tsc esbuild rollup webpack parcel babel eslint prettier black "
    "ruff flake8 pylint mypy isort pytest tox coverage shellcheck shfmt hadolint clang-format clang-tidy cppcheck "
    "doxygen sphinx-build latex pdflatex xelatex lualatex bibtex biber latexmk protoc flex bison yacc lex ctags "
    "etags cscope cloc tokei scc valgrind gdb lldb perf hyperfine nvcc gfortran arduino-cli platformio qmake moc "
    "uic rustfmt poetry pipenv pipx conda virtualenv venv nvm pyenv rbenv sdk gem bundle composer nuget brew apt "
    "apt-get dnf yum pacman zypper apk snap flatpak a2ensite a2dissite adb fastboot gradle mvn ant nosetests "
    "django-admin flask rails rake jekyll hugo mkdocs"
)
OF_SCREEN = words(
    "vi vim nvim view ex ed nano emacs emacsclient code subl atom gedit kate xdg-open open less more most pg screen "
    "tmux byobu xterm gnome-terminal konsole kitty alacritty xclip xsel pbcopy pbpaste wl-copy wl-paste notify-send "
    "osascript zenity dialog whiptail kdialog xdotool xrandr xset setxkbmap loadkeys startx evince okular xpdf "
    "firefox google-chrome chromium nautilus thunar ranger mc gimp libreoffice soffice"
)
OF_FILES = words(
    "cp mv rm ln mkdir rmdir touch chmod chown chgrp install rsync scp sftp lftp ftp ncftp wget curl aria2c axel "
    "rclone unison dd shred truncate fallocate mkfifo mknod mktemp split rename mmv detox fdupes rdfind jdupes "
    "dirname basename realpath readlink chattr setfacl umount mount sshfs fusermount mkfs fsck e2fsck tune2fs "
    "resize2fs parted fdisk pv inotifywait inotifywatch fswatch entr watchman incron stow trash trash-put "
    "trash-list gio encfs cryptsetup patch diffstat lsdiff filterdiff interdiff quilt git hg svn cvs bzr repo gitk "
    "tig hub gh glab etckeeper restic borg duplicity"
)
OF_SERVERS = words(
    "ssh sshd ssh-keygen ssh-keyscan ssh-copy-id ssh-add ssh-agent mosh telnet nc ncat netcat socat openssl gpg "
    "gpg2 age keytool certutil certbot nginx apache2 apachectl httpd caddy haproxy redis-server mongod mysqld "
    "postgres pg_ctl pg_dump pg_restore initdb mysqldump createdb dropdb systemctl service crontab at atq atrm "
    "docker docker-compose podman kubectl helm minikube kind vagrant virtualbox vboxmanage qemu-img "
    "qemu-system-x86_64 virsh ansible ansible-playbook terraform packer aws gcloud az heroku netlify vercel "
    "firebase doctl pm2 supervisorctl supervisord gunicorn uvicorn celery php-fpm jupyter ipython nmap tcpdump "
    "tshark iptables ufw xinetd sendmail postfix exportfs smbclient smbpasswd useradd usermod userdel groupadd "
    "passwd chpasswd chsh su sudo doas visudo adduser deluser"
)
OF_SHELL = words(
    "! { ( [ [[ test true false : . source echo printf read mapfile set unset export local declare typeset readonly "
    "shift getopts let eval exec exit return break continue trap wait jobs fg bg disown kill killall pkill suspend "
    "times type hash help history fc bind complete compgen compopt shopt enable builtin command alias unalias umask "
    "dirs pushd popd cd logout caller sleep timeout nice renice ionice nohup setsid stdbuf unbuffer script "
    "scriptreplay expect time watch xargs parallel find env printenv sort uniq paste join comm cut tr head tail tac "
    "rev nl fold fmt pr expand unexpand wc tee yes seq shuf expr numfmt base64 base32 iconv sed gsed awk gawk mawk "
    "nawk perl python ruby php lua node bash sh zsh dash ksh fish csh tcsh busybox flock logger wall write mesg lp "
    "lpr lpq lprm cancel chroot chrt taskset numactl crontab batch errno mcookie od lockfile dotlockfile run-parts "
    "start-stop-daemon dialog tset setterm autossh"
)
WELL_KNOWN = (
    OF_SYSTEM | OF_TEXTS | OF_PICTURES | OF_ARCHIVES | OF_BUILDING | OF_SCREEN | OF_FILES | OF_SERVERS | OF_SHELL
)
FAMILIES = expression(
    r"(?:mkfs|fsck)\.\w+|(?:pip|python|perl|ruby|gcc|g\+\+|clang|clang\+\+|php|node|java|lua)-?[\d.]+"
    r"|(?:xz|bz|z|lz|zst)(?:cat|grep|egrep|fgrep|less|more|diff|cmp)|(?:apt|dpkg|systemd|ssh|gpg|docker|update)-[a-z-]+"
    r"|(?:pg_|mysql)(?:dump|dumpall|restore|ctl|basebackup|isready|admin|import|show|check|slap)"
    r"|(?:pdf|ps)(?:2\w+|crop|grep|nup|book|jam|tk)|lp(?:stat|admin|info|options)|ip(?:calc|cs|crm|tables-save)|nmcli"
)
"""Programs of which there are several, by the beginning of their names."""
LISTS = (ANYTHING, FIXED_WORDS, AS_WRITTEN, RUNNERS, SIGNS, CERTAIN, SCRIPTS)


def is_well_known(name: str) -> bool:
    """Return whether a program, or a module that is run as one, is known by its name."""
    plain = name.rstrip("0123456789.") or name
    known = {name, plain, name.lower()} & WELL_KNOWN or any(name in one or plain in one for one in LISTS)
    return bool(known) or FAMILIES.fullmatch(name) is not None
