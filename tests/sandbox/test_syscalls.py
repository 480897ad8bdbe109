"""The filter of system calls: what it lets through on each kind of machine, and that programs live with it."""

from __future__ import annotations

import asyncio
import ctypes
import ctypes.util
import json
import shutil
import struct
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.sandbox.local import syscalls, trusted
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.local.syscalls import FILTERED
from runner.system import computing
from runner.system.places import resources
from tests.sandbox.conftest import job

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sandbox.conftest import Lab

ALLOWED, KILLED, REFUSED, UNKNOWN, IGNORED = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026, 0x00050000
I386 = 0x40000003
HARMLESS = {
    "cachestat", "futex_requeue", "futex_wait", "futex_wake", "futimesat", "get_mempolicy", "map_shadow_stack",
    "process_madvise",
}  # fmt: skip
"""Calls that the profile for containers does not name, and that the local sandbox lets through."""


def answer(machine: str, number: int, *arguments: int, kernels_name: int = 0) -> int:
    """What the kernel does with a call, by going through the program as it does."""
    program = list(struct.iter_unpack("<HBBI", syscalls.program(machine)))
    named = kernels_name or computing.MACHINES[machine][0]
    call = struct.pack("<IIQ6Q", number, named, 0, *arguments, *[0] * (6 - len(arguments)))
    loaded = at = 0
    while True:
        code, yes, no, operand = program[at]
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", call, operand)[0]
                holds = False
            case 0x06:
                return operand
            case _:
                holds = {0x15: loaded == operand, 0x35: loaded >= operand, 0x45: bool(loaded & operand)}[code]
        at += 1 + (yes if holds else no)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_what_is_let_through(machine: str) -> None:
    column = computing.MACHINES[machine][1]
    table = json.loads((resources() / "seccomp" / "local.json").read_text("utf-8"))
    number = {name: numbers[column] for name, numbers in table["unbounded"].items()}
    clone, clone3, ioctl, personality, socket, setsockopt = (
        numbers[column]
        for numbers in (
            *(computing.CLONE, computing.CLONE3, syscalls.IOCTL, syscalls.PERSONALITY, syscalls.SOCKET),
            syscalls.SETSOCKOPT,
        )
    )
    high = 1 << 32
    """Of these arguments the kernel drops what is above 32 bits: it must not lead the filter astray."""
    said = {
        "a thread": answer(machine, clone, 0x3D0F00),
        "a thread with files of its own": answer(machine, clone, 0x3D0F00 & ~0x400),
        "a process": answer(machine, clone, 0x1200011),
        "closing files": answer(machine, syscalls.CLOSE_RANGE[column], 3, 9, 4),
        "closing files of a thread": answer(machine, syscalls.CLOSE_RANGE[column], 3, 9, high | 2),
        "a user namespace": answer(machine, clone, 0x10000011),
        "a process as libc makes it": answer(machine, clone3),
        "the terminal's size": answer(machine, ioctl, 0, 0x5413),
        "typing into the terminal": answer(machine, ioctl, 0, high | 0x5412),
        "asking for the personality": answer(machine, personality, 0xFFFFFFFF),
        "a fixed layout of memory": answer(machine, personality, 0x0040000),
        "IPv4": answer(machine, socket, 2, 1),
        "ciphers": answer(machine, socket, high | 38, 5),
        "the network's interfaces": answer(machine, socket, 16, 3, 0),
        "netlink's other ends": answer(machine, socket, 16, 3, 9),
        "a call from the future": answer(machine, 457),
        "io_uring": answer(machine, 425),
        "a file in memory": answer(machine, number["memfd_create"]),
        "shared memory by number": answer(machine, number["shmget"]),
        "messages by number": answer(machine, number["msgget"]),
        "the room of a socket": answer(machine, setsockopt, 5, 1, high | 7),
        "another option of a socket": answer(machine, setsockopt, 5, 1, 2),
        "an option of another level": answer(machine, setsockopt, 5, 6, 7),
        "futex_waitv": answer(machine, 449),
    }
    refused = {name for name, what in said.items() if what == REFUSED}
    assert refused == {
        "a user namespace", "typing into the terminal", "a fixed layout of memory", "ciphers", "netlink's other ends",
        "io_uring", "a thread with files of its own", "closing files of a thread",
    }  # fmt: skip
    unknown = {name for name, what in said.items() if what == UNKNOWN}
    assert unknown == {
        "a process as libc makes it", "a call from the future", "a file in memory", "shared memory by number",
        "messages by number",
    }  # fmt: skip
    ignored = {name for name, what in said.items() if what == IGNORED}
    assert ignored == {"the room of a socket"}
    assert {what for name, what in said.items() if name not in refused | unknown | ignored} == {ALLOWED}


def test_other_interfaces_of_the_kernel_are_closed() -> None:
    assert answer("x86_64", 1, kernels_name=I386) == KILLED
    assert answer("x86_64", syscalls.X32 | 1) == KILLED
    assert answer("aarch64", 64, kernels_name=0x40000028) == KILLED
    assert syscalls.program("riscv64") == b""


def test_the_list_is_what_containers_are_denied() -> None:
    """Names and numbers, against the library that runc itself asks."""
    if (found := ctypes.util.find_library("seccomp")) is None:
        pytest.skip("libseccomp is not installed")
    name_of = ctypes.CDLL(found).seccomp_syscall_resolve_num_arch
    name_of.restype = ctypes.c_char_p
    profile = json.loads((resources() / "seccomp" / "sandbox.json").read_text("utf-8"))
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    told = json.loads((resources() / "seccomp" / "local.json").read_text("utf-8"))
    for kernels_name, column in computing.MACHINES.values():
        known = {number: name_of(kernels_name, number) for number in range(told["newest"] + 1)}
        expected = {name.decode(): number for number, name in known.items() if name}
        listed = {name: numbers[column] for name, numbers in told["denied"].items() if numbers[column] is not None}
        unbounded = {name: numbers[column] for name, numbers in told["unbounded"].items()}
        assert unbounded == {name: expected[name] for name in unbounded}
        assert listed == {name: expected[name] for name in expected.keys() - allowed - HARMLESS}
        for name, numbers in (("clone", computing.CLONE), ("ioctl", syscalls.IOCTL), ("socket", syscalls.SOCKET),
                              ("clone3", computing.CLONE3), ("personality", syscalls.PERSONALITY),
                              ("setsockopt", syscalls.SETSOCKOPT)):  # fmt: skip
            assert numbers[column] == expected[name]


ORDINARY = {
    Language.PYTHON: """
import asyncio, concurrent.futures as pools, os, socket, subprocess, threading
print(list(pools.ThreadPoolExecutor(2).map(abs, [-1])))
print(list(pools.ProcessPoolExecutor(2).map(abs, [-2])))
print(subprocess.run(["sh", "-c", "echo 3 | cat"], capture_output=True, text=True).stdout.strip())
async def body():
    child = await asyncio.create_subprocess_exec("echo", "4", stdout=-1)
    print((await child.communicate())[0].decode().strip(), [name for _, name in socket.if_nameindex()])
asyncio.run(body())
""",
    Language.JAVASCRIPT: """
const { Worker } = require('worker_threads'); const { execFile } = require('child_process'); const fs = require('fs');
new Worker("require('worker_threads').parentPort.postMessage([-1])", { eval: true }).on('message', (m) => {
  execFile('sh', ['-c', 'echo 2 | cat'], async (_e, out) => {
    await fs.promises.writeFile('f', '3'); console.log(m[0], out.trim(), await fs.promises.readFile('f', 'utf8'));
  });
});
""",
    Language.SHELL: """
x=$(echo 1 | cat); (echo $x; sleep 0 & wait) > f; read y < <(cat f)
echo "$y" "$(uname)"; ulimit -n
""",
}
PRINTED = {
    Language.PYTHON: "[1]\n[2]\n3\n4 ['lo']\n",
    Language.JAVASCRIPT: "-1 2 3\n",
    Language.SHELL: "1 Linux\n1024\n",
}


@pytest.mark.parametrize("language", list(ORDINARY))
def test_programs_live_with_it(bwrap: Lab, language: Language) -> None:
    assert FILTERED in asyncio.run(bwrap.sandbox.check()).protections
    code = ORDINARY[language] + ("print(open('/proc/self/status').read())" if language is Language.PYTHON else "")
    result = bwrap.run(code, language)
    printed, _, status = result.stdout.partition("Name:")
    assert (printed, result.stderr) == (PRINTED[language], "")
    if language is Language.PYTHON:
        assert "Seccomp:\t2\n" in status


def test_a_filter_that_is_refused_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then code runs behind its other protections, and the one that is missing is named with the reason."""
    real = shutil.which("bwrap")
    stand_in = tmp_path / "bwrap"
    stand_in.write_text(
        '#!/bin/sh\nfor word; do [ "$word" != --seccomp ] || { echo no filters here >&2; exit 1; }; done\n'
        f'exec {real} "$@"\n'
    )
    stand_in.chmod(0o755)
    find = trusted.find
    monkeypatch.setattr(trusted, "find", lambda *names: str(stand_in) if "bwrap" in names else find(*names))
    sandbox = LocalSandbox(tmp_path / "runs")

    async def body() -> None:
        ready = await sandbox.check()
        assert ready.ready
        assert FILTERED not in ready.protections
        assert f"{FILTERED}: bubblewrap failed: no filters here" in ready.missing
        run = await sandbox.start(job("print('on')"), lambda _usage: None)
        result = await run.finished()
        assert (result.stdout, FILTERED in result.meta.protections) == ("on\n", False)
        await sandbox.close()

    asyncio.run(body())
