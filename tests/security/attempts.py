"""Attempts to get out of a sandbox or to take more than its share. Each prints `escaped` only if it worked."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from runner.model.request import Language


@dataclass(frozen=True, slots=True)
class Attempt:
    """`code` prints `escaped` on success and `held` otherwise; `limits` are fields of `Limits`."""

    name: str
    code: str
    language: Language = Language.PYTHON
    limits: dict[str, float] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    """Kind of sandbox -> why it is known to succeed there, without harm."""
    alone: bool = False
    """Whether it uses up what others of the same run need, so that it has a run of its own."""


def _python(body: str) -> str:
    """`body` sets `out` when it gets through; an error of the system means that it was held, any other is a mistake."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    setup = "import ctypes, glob, os, socket, struct, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nout = False\n"
    return f"{setup}try:\n{lines}\nexcept OSError:\n    pass\nprint('escaped' if out else 'held')\n"


def _call(number: int, *arguments: str) -> str:
    """A system call by its number on x86-64; through when it does not fail."""
    return _python(f"out = libc.syscall({number}, {', '.join(arguments) or '0'}) >= 0")


def _shell(test: str) -> str:
    return f"if ( {test} ) >/dev/null 2>&1; then echo escaped; else echo held; fi\n"


def _sh(name: str, test: str, **differs: str) -> Attempt:
    return Attempt(name, _shell(test), Language.SHELL, differs=differs)


def _py(name: str, body: str, **differs: str) -> Attempt:
    return Attempt(name, _python(body), differs=differs)


def in_one_run(attempts: list[Attempt]) -> str:
    """Return a program whose value is what each of these attempts in Python printed last.

    Each is made in a process that is a copy of the first: with all that this one may do, and has open.
    """
    return IN_ONE_RUN.format({one.name: one.code for one in attempts})


def in_one_script(attempts: list[Attempt]) -> str:
    """Return a script that prints the name of each of these attempts in shell, and in the next line what it printed."""
    return "".join(f"echo {shlex.quote(one.name)}\n( {one.code} )\n" for one in attempts)


IN_ONE_RUN = """
import os, sys
result = {{}}
for name, code in {}.items():
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.dup2(writer, 1)
        os.close(reader)
        try:
            exec(compile(code, name, "exec"), {{"__name__": "__main__"}})
        except BaseException as error:
            print(type(error).__name__)
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with open(reader) as file:
        words = file.read().split()
    os.waitpid(child, 0)
    result[name] = words[-1] if words else "nothing"
"""

_AT_E2B = {"e2b": "a call to the kernel of E2B's sandbox, which is its own: that is promised, and not so on loopback"}
_OWN_KERNELS = {
    **dict.fromkeys(("gvisor", "gvisor-direct"), "a call to gVisor's kernel, which is the sandbox's own"),
    **_AT_E2B,
}

ATTEMPTS = (
    # ---- files of the host ----
    _py("reads the host's password hashes", "out = bool(open('/etc/shadow').read())"),
    _py(
        "reads the host's home folders",
        "out = any(map(os.path.isfile, glob.glob('/root/.*') + glob.glob('/home/*/.*')))",
    ),
    _py("reads what identifies the host", "out = len(open('/etc/machine-id').read()) > 8"),
    _sh("writes to the system", "touch /usr/x || touch /etc/x || touch /bin/x || touch /x"),
    _sh("makes the system writable", "mount -o remount,rw / && touch /usr/x"),
    _py("follows the first process to the host's root", "out = os.path.exists('/proc/1/root/root/.bashrc')"),
    _py("opens a file by its handle", "out = libc.syscall(304, -100, b'\\0' * 128, 0) >= 0"),
    _py(
        "opens the engine's socket",
        """
for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(1)
    if s.connect_ex(path) == 0: out = True
    s.close()
""",
    ),
    _py(
        "reads the host's disk",
        "out = any(os.access(d, os.R_OK) for d in glob.glob('/dev/[svx]d*') + glob.glob('/dev/dm*'))",
    ),
    _py(
        "reads the host's memory",
        "out = any(os.access(d, os.R_OK) for d in ('/dev/mem', '/dev/kmem', '/dev/port', '/proc/kcore'))",
    ),
    _py("writes over the program that started it", "out = os.open('/proc/1/exe', os.O_WRONLY) >= 0"),
    # ---- processes of the host ----
    _py(
        "sees the host's processes",
        """
words = [open(f).read() for f in glob.glob("/proc/[0-9]*/cmdline")]
out = any("dockerd" in w or "pytest" in w for w in words)
""",
    ),
    _py(
        "signals everybody else", "out = any(os.kill(p, 0) is None for p in (2, 3) if not os.path.exists(f'/proc/{p}'))"
    ),
    _py(
        "looks into the first process",
        "out = 'HOME=/root' in open('/proc/1/environ').read()",
    ),
    _py("traces the first process", "out = libc.ptrace(16, 1, 0, 0) == 0"),
    _py("reads another process's memory", "out = libc.syscall(310, 1, 0, 0, 0, 0, 0) > 0"),
    # ---- the kernel's switches ----
    _sh("writes a kernel setting", "echo 1 >/proc/sys/kernel/panic"),
    _sh("sets where core dumps go", "echo '|/x' >/proc/sys/kernel/core_pattern"),
    _sh("presses the magic key", "echo h >/proc/sysrq-trigger"),
    _sh("sets a helper of the kernel", "echo /x >/proc/sys/kernel/modprobe || echo /x >/sys/kernel/uevent_helper"),
    _sh(
        "changes a control group's agent",
        "for f in /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/release_agent; do echo /x >$f && exit 0; done; false",
    ),
    _sh(
        "raises its own limits in the control group",
        "for f in memory/memory.limit_in_bytes memory.max; do echo 9999999999 >/sys/fs/cgroup/$f && exit; done; false",
    ),
    _sh("writes to the devices' tree", "for f in /sys/class/*/*/uevent; do echo add >$f && exit 0; done; false"),
    # ---- mounts, namespaces, privileges ----
    _sh("mounts a file system", "mkdir -p m && mount -t tmpfs none m"),
    _py("mounts by system call", "out = libc.mount(b'proc', b'/workspace', b'proc', 0, None) == 0"),
    _py("changes the root", "os.chroot('/workspace'); out = True"),
    _py("makes a user namespace", "out = libc.unshare(0x10000000) == 0", **_OWN_KERNELS),
    _py("makes a network namespace", "out = libc.unshare(0x40000000) == 0"),
    _py(
        "joins the first process's namespace",
        "fd = os.open('/proc/1/ns/mnt', os.O_RDONLY)\nout = libc.setns(fd, 0) == 0",
    ),
    _py("makes a device node", "os.mknod('sda', 0o60600, os.makedev(8, 0)); out = os.open('sda', os.O_RDONLY) >= 0"),
    _py("becomes root", "os.setuid(0); out = True"),
    _py(
        "becomes root by a set-user-id program",
        """
import shutil, subprocess
for name in ("su", "sudo", "mount", "newgrp", "passwd", "chsh"):
    path = shutil.which(name)
    if path and os.stat(path).st_mode & 0o4000:
        done = subprocess.run([path, "-c", "id -u"], capture_output=True, text=True, stdin=0, timeout=5)
        if done.stdout.strip() == "0": out = True
""",
    ),
    _py(
        "gives itself a set-user-id program",
        """
import shutil, subprocess
shutil.copy("/bin/sh", "sh"); os.chmod("sh", 0o4755)
out = subprocess.run(["./sh", "-p", "-c", "id -u"], capture_output=True, text=True).stdout.strip() == "0"
""",
    ),
    _py(
        "gets a capability",
        "out = any(int(line.split()[1], 16) for line in open('/proc/self/status') if line.startswith('CapEff'))",
    ),
    _py("sheds the bar on new privileges", "out = libc.prctl(38, 0, 0, 0, 0) == 0"),
    # ---- system calls that have been doors ----
    Attempt("loads a kernel module", _call(175, "b'x'", "1", "b''")),
    Attempt("loads a kernel by kexec", _call(246, "0", "0", "0", "0")),
    Attempt("uses bpf", _call(321, "0", "b'\\0' * 120", "120")),
    Attempt("uses userfaultfd", _call(323, "1"), differs=_AT_E2B),
    Attempt("uses io_uring", _call(425, "4", "(ctypes.c_char * 120)()"), differs=_AT_E2B),
    Attempt("uses perf", _call(298, "(b'\\x01\\0\\0\\0\\x70' + b'\\0' * 120)", "0", "-1", "-1", "0")),
    Attempt("uses the keyring", _call(250, "0", "-3", "1"), differs=_OWN_KERNELS),
    Attempt("turns swap on", _call(167, "b'/x'", "0")),
    Attempt("restarts the machine", _call(169, "0xFEE1DEAD", "672274793", "0x89ABCDEF", "0")),
    Attempt("sets the clock", _python("import time\ntime.clock_settime(time.CLOCK_REALTIME, 1); out = True")),
    Attempt("names the host again", _call(170, "b'x'", "1")),
    # ---- network ----
    _py("reaches the internet", "socket.create_connection(('1.1.1.1', 53), 1); out = True"),
    _py("resolves a name", "out = bool(socket.getaddrinfo('debian.org', 80))"),
    _py("opens a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); out = True"),
    _py("opens a packet socket", "socket.socket(17, socket.SOCK_RAW, 3); out = True"),
    _py(
        "opens the kernel's own ciphers",
        "socket.socket(38, socket.SOCK_SEQPACKET, 0).bind(('hash', 'sha256')); out = True",
    ),
    _py(
        "opens a socket to the hypervisor",
        "s = socket.socket(40, socket.SOCK_STREAM)\nout = s.connect_ex((2, 22)) == 0",
    ),
    _py("reads the cloud's secrets", "socket.create_connection(('169.254.169.254', 80), 1); out = True"),
    _py(
        "reaches abstract sockets of the host",
        """
names = [line.split("@", 1)[1].strip() for line in open("/proc/net/unix") if "@" in line]
out = bool(names)
""",
    ),
    # ---- more than its share ----
    Attempt(
        "keeps memory above the limit",
        "x = []\ntry:\n    while True: x.append(bytearray(1 << 22))\nexcept MemoryError: print('held')\n",
        limits={"memory_mb": 96},
        alone=True,
    ),
    Attempt(
        "keeps files above the limit",
        "try:\n    with open('b', 'wb') as f:\n        for _ in range(64): f.write(bytes(1 << 20))\n"
        "    print('escaped')\nexcept OSError: print('held')\n",
        limits={"disk_mb": 16},
        alone=True,
    ),
    Attempt(
        "keeps empty files without end",
        "import os\ntry:\n    for n in range(250_000): os.close(os.open(str(n), os.O_CREAT))\n"
        "    print('escaped')\nexcept OSError: print('held')\n",
        # Less memory is full sooner; a busy machine takes long to make so many.
        limits={"memory_mb": 64, "seconds": 60.0},
        differs={"e2b": "they fill the memory of E2B's sandbox, which is of the run alone"},
        alone=True,
    ),
    Attempt(
        "opens files without end",
        "f = []\ntry:\n    while len(f) < 5000: f.append(open('/dev/null'))\n"
        "    print('escaped')\nexcept OSError: print('held')\n",
        alone=True,
    ),
    Attempt(
        "starts processes without end",
        "import os, time\nn = 0\ntry:\n    while n < 300:\n        if os.fork() == 0: time.sleep(3); os._exit(0)\n"
        "        n += 1\n    print('escaped')\nexcept OSError: print('held')\n",
        limits={"processes": 32},
        alone=True,
    ),
)

FLOODS = {
    "prints without end": "import os\nwhile True: os.write(1, b'\\x1b]0;x\\a<b>' * 8192)",
    "prints short lines without end": "import os\nwhile True: os.write(1, b'x\\n'); os.write(2, b'y\\n')",
    "prints one line without end, byte by byte": "import os\nwhile True: os.write(1, b'.')",
    "prints lines of a megabyte without end": "import os\nwhile True: os.write(2, b'#' * (1 << 20) + b'\\n')",
}
"""Programs that write until they are ended."""
