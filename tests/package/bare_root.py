"""A bare Debian of its own, in a folder with namespaces, in which a package is installed and used."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assent" / "bare"
"""Where made roots wait for the next time, each as an archive."""
PERSON = "1000"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MAKE_SECONDS = 600
STEP_SECONDS = 600
AGAIN = 'Acquire::Retries "5";'
"""For apt: a mirror that stumbles once must not cost the whole run."""
# A root file system of its own and not a chroot: in one of those no sandbox can be made.
ENTER = r"""
set -e
root=$1
mount --bind "$root" "$root"
cd "$root"
mkdir -p old
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
pivot_root . old
umount -l /old
rmdir /old
echo ready
exec sleep infinity
"""


class BareRoot:
    """A Debian `suite` with nothing in it but what the distribution calls essential, and apt."""

    def __init__(self, suite: str, folder: Path) -> None:
        """Unpack it into `folder` and enter it. Raises CalledProcessError where that is not possible."""
        self.suite = suite
        self.folder = folder
        folder.mkdir(parents=True)
        subprocess.run(["tar", "-xpf", made(suite), "-C", folder], check=True)
        self._holder = subprocess.Popen(
            ["unshare", "-m", "-p", "-i", "--fork", "--kill-child", "--propagation", "private", "bash", "-c", ENTER,
             "enter", folder],
            stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n", "the root cannot be entered"
        (child,) = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()
        self._first = child
        (folder / "etc/apt/apt.conf.d/80-again").write_text(AGAIN)
        self.run("useradd", "--create-home", "--uid", PERSON, "--shell", "/bin/bash", "person")

    def command(self, *words: str, user: str = "root", environment: dict[str, str] | None = None) -> list[str]:
        """Return the command of this machine that runs `words` in it, with an environment of its own."""
        inside = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/root" if user == "root" else "/home/person"}
        given = [f"{name}={value}" for name, value in (inside | (environment or {})).items()]
        change = [] if user == "root" else ["setpriv", "--reuid", PERSON, "--regid", PERSON, "--init-groups"]
        return ["nsenter", "-t", self._first, "-m", "-p", "-i", "--", "env", "-i", *given, *change, *words]

    def run(
        self, *words: str, user: str = "root", environment: dict[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run `words` in it to their end. With `check`, fails with their output where they do."""
        done = subprocess.run(
            self.command(*words, user=user, environment=environment),
            capture_output=True, text=True, timeout=STEP_SECONDS, stdin=subprocess.DEVNULL, cwd="/", check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def install(self, package: Path, *more: str) -> None:
        """Install `package` as a person would: apt brings what it depends on, and nothing else."""
        shutil.copy(package, self.folder / "tmp" / package.name)
        self.apt("install", f"/tmp/{package.name}", *more)

    def apt(self, verb: str, *words: str) -> None:
        environment = {"DEBIAN_FRONTEND": "noninteractive"}
        self.run("apt-get", verb, "-q", "-y", "--no-install-recommends", *words, environment=environment)

    def kill(self, mark: str) -> None:
        """End the processes in it whose command line holds `mark`, as they are ended when a session ends."""
        line = "$(tr '\\0' ' ' <$p/cmdline)"
        each = f"[ $p = /proc/$$ ] || case {line} in *'{mark}'*) kill ${{p#/proc/}};; esac"
        look = f"for p in /proc/[0-9]*; do {each}; done"
        self.run("sh", "-c", look, check=False)

    def close(self) -> None:
        """End everything in it and remove the folder."""
        self._holder.kill()
        self._holder.wait()
        if self._holder.stdout is not None:
            self._holder.stdout.close()
        for _ in range(50):
            with contextlib.suppress(OSError):
                shutil.rmtree(self.folder)
            if not self.folder.exists():
                return
            time.sleep(0.1)  # until the kernel has let go of the last mount


def made(suite: str) -> Path:
    """Return the archive of a bare `suite`; it is made once, from where this machine's packages come from."""
    archive = KEPT / f"{suite}.tar"
    if not archive.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        new = archive.with_suffix(".new.tar")
        mirror = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
             "Label: Debian"],
            capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip
        source = [f"deb {mirror[0]} {suite} main"] if mirror else []
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--aptopt={AGAIN}", suite, new, *source],
            check=True, timeout=MAKE_SECONDS,
        )  # fmt: skip
        new.rename(archive)
    return archive


if __name__ == "__main__":
    for name in sys.argv[1:]:
        made(name)
