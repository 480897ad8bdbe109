"""The table of commands: which function says what a command does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.shell.commands import (
    builtins,
    databases,
    files,
    infrastructure,
    interpreters,
    network,
    packages,
    starters,
    system,
    texts,
)

if TYPE_CHECKING:
    from runner.risk.shell.command import Handler

ROWS: tuple[tuple[str, Handler], ...] = (
    ("sh bash dash zsh ksh mksh pdksh ash csh tcsh fish rbash yash posh", interpreters.shell),
    ("sudo", starters.wrapper("-u -g -h -p -C -r -t -U -D -R -T --user --group --host --prompt")),
    ("doas", starters.wrapper("-u -C")),
    ("env", starters.environment),
    ("which whereis", files.which),
    ("start cmd", starters.start),
    ("dig nslookup host ping drill", network.look_up_name),
    ("nohup setsid command builtin unbuffer catchsegv fakeroot dbus-run-session then do else", starters.wrapper("")),
    ("time", starters.wrapper("-f -o --format --output")),
    ("nice", starters.wrapper("-n --adjustment")),
    ("ionice", starters.wrapper("-c -n -p")),
    ("chrt taskset", starters.wrapper("", 1)),
    ("stdbuf", starters.wrapper("-i -o -e")),
    ("timeout", starters.wrapper("-s -k --signal --kill-after", 1)),
    ("chroot", starters.wrapper("--userspec --groups", 1)),
    ("unshare", starters.wrapper("-R -w -S -G --map-user --map-group")),
    ("nsenter", starters.wrapper("-t --target -S -G")),
    ("strace", starters.wrapper("-e -o -p -s -u -E -a -b -I -O -P -S -X")),
    ("ltrace", starters.wrapper("-e -o -p -s -u")),
    ("proxychains proxychains4", starters.wrapper("-f")),
    ("torsocks", starters.wrapper("")),
    ("runuser su", starters.su),
    ("pkexec", starters.wrapper("-u --user")),
    ("gosu", starters.wrapper("", 1)),
    ("busybox toybox", starters.wrapper("")),
    ("xargs parallel", starters.xargs),
    ("find", starters.find),
    ("fdfind", texts.passes()),
    ("ssh", network.ssh),
    ("script", starters.script_option("-c --command -T", "-c", "--command")),
    ("flock", starters.script_option("-c --command -w -E", "-c", "--command")),
    ("watch", starters.watch),
    ("exec", starters.exec_),
    ("screen tmux systemd-run", starters.start_terminal),
    ("eval", builtins.evaluate),
    ("source .", builtins.source),
    ("trap", builtins.trap),
    ("alias", builtins.alias),
    ("cd pushd chdir", builtins.change_directory),
    ("read mapfile readarray", builtins.read),
    ("set", builtins.set_),
    ("shift", builtins.shift),
    ("echo", texts.echo),
    ("printf", texts.printf),
    ("print", texts.echo),
    (
        "cat head tail tac less more bat nl sort uniq fold column strings wc od hexdump paste expand fmt"
        " pr zcat dos2unix iconv shuf tsort",
        texts.passes(),
    ),
    ("grep egrep fgrep rg ack ag jq zgrep yq", texts.passes(skip=1)),
    ("base64 base32 b64decode gbase64", texts.base64),
    ("xxd", texts.xxd),
    ("openssl", texts.openssl),
    ("gunzip gzip bzip2 bunzip2 xz unxz zstd bzcat xzcat", texts.unpack),
    ("rev", texts.reverse),
    ("tr", texts.translate),
    ("sed gsed", texts.sed),
    ("tee", texts.tee),
    ("awk gawk mawk nawk", texts.awk),
    ("rm unlink shred srm wipe rmdir del erase rimraf trash rd", files.remove),
    ("cp install gcp", files.transfer("copy")),
    ("truncate", files.truncate),
    ("mv", files.transfer("move")),
    ("ln", files.transfer("link")),
    ("chmod", files.change_mode),
    ("chown chgrp", files.change_owner),
    ("dd dcfldd", files.copy_blocks),
    ("tar zip 7z 7za rar gtar bsdtar", files.archive),
    ("curl", network.curl),
    ("wget wget2 aria2c axel fetch lwp-download http https", network.wget),
    ("nc ncat netcat nc.traditional nc.openbsd rcat pwncat cryptcat powercat", network.netcat),
    ("socat", network.socat),
    ("telnet", network.telnet),
    ("scp rsync sftp", network.remote_copy),
    ("mkdir touch", files.make),
    ("mktemp", files.temporary),
    ("mkfifo", files.mkfifo),
    ("mknod", files.make_node),
    ("kill pkill killall taskkill skill xkill", system.kill),
    ("pgrep pidof", system.find_process),
    ("crontab", system.crontab),
    ("docker podman nerdctl", infrastructure.container),
    ("git", infrastructure.repository),
    ("make gmake gdb", starters.settings_that_run),
    ("npx npm pnpm yarn", packages.script_runner),
    ("pip pip3 pipx uv", packages.python_packages),
    ("import xwd", system.recorder("screen", r"root|-w")),
    ("scrot gnome-screenshot maim grim spectacle screencapture", system.recorder("screen")),
    ("pbpaste wl-paste", system.recorder("clipboard")),
    ("xclip xsel", system.recorder("clipboard", r"(^| )-{1,2}o(ut(put)?)?( |$)")),
    ("xinput", system.recorder("keyboard", r"\btest")),
    ("logkeys keysniffer", system.recorder("keyboard")),
    ("ls dir gls", files.listing),
    ("cut", texts.cut),
    ("kubectl oc", infrastructure.cluster),
    ("helm", infrastructure.helm),
    ("terraform tofu terragrunt pulumi cdk", infrastructure.terraform),
    ("aws gcloud az gsutil rclone s3cmd mc doctl heroku flyctl", infrastructure.cloud),
    ("psql", databases.client("-c --command", "-f --file", "-d --dbname -h --host -p -U --username -v --set")),
    ("mysql mariadb", databases.client("-e --execute", "", "-h --host -u --user -P --port -D --database")),
    ("sqlite3 duckdb", databases.client("-cmd", "-init", "-separator -nullvalue", operands=True)),
    ("mongosh mongo redis-cli", databases.document_client),
    ("coproc", starters.wrapper("")),
    ("at batch", system.at_time),
    ("python python2 python3 pypy pypy3 ipython", interpreters.interpreter("python")),
    ("node nodejs bun deno", interpreters.interpreter("javascript")),
    ("perl", interpreters.interpreter("perl")),
    ("ruby jruby irb", interpreters.interpreter("ruby")),
    ("php", interpreters.interpreter("php")),
    ("lua luajit", interpreters.interpreter("lua")),
    ("tclsh wish expect", interpreters.interpreter("tcl")),
    ("powershell pwsh", interpreters.powershell),
)
"""Names and what commands of these names do. Of a name with a pattern in it the first one that matches counts."""

COMMANDS: dict[str, Handler] = {name: handler for names, handler in ROWS for name in names.split()}


def handler_of(name: str) -> Handler | None:
    """Return what the command does; interpreters with a version (`python3.11`) and cmdlets count as well."""
    found = COMMANDS.get(name)
    if found is None and interpreters.CMDLET.fullmatch(name):
        return interpreters.cmdlet
    if found is not None or not name[-1:].isdigit():
        return found
    match = interpreters.INTERPRETER.match(name)
    return interpreters.interpreter(str(match.lastgroup)) if match is not None else None
