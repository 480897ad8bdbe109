"""A filter of system calls of the person's own: what counts, what it comes to, what is said of one that does not."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import struct
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.request import Language
from runner.sandbox import programs
from runner.sandbox.local import bubblewrap, syscalls
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.seccomp import libseccomp, narrowed, own, profile
from runner.sandbox.seccomp.own import OwnProfile, check
from runner.system import computing
from tests.sandbox.conftest import job

if TYPE_CHECKING:
    from pathlib import Path

ALLOW, ERRNO, KILL = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL_PROCESS"
OWN = json.loads(programs.seccomp("sandbox.json"))
ALLOWED = sorted({name for rule in OWN["syscalls"] if rule["action"] == ALLOW for name in rule["names"]})
"""The calls that Assent's own filter lets through, some of them under conditions."""
NUMBERS = libseccomp.CallNumbers()

pytestmark = pytest.mark.skipif(libseccomp._library() is None, reason="libseccomp is not installed")


def put(folder: Path, said: object, name: str = "own.json") -> Path:
    """A file with a profile, that nobody else can change."""
    path = folder / name
    path.write_text(said if isinstance(said, str) else json.dumps(said), "utf-8")
    path.chmod(0o600)
    return path


def forbidding(*names: str, **more: Any) -> dict[str, Any]:
    """A profile that forbids these calls, and says nothing of all others."""
    return {"defaultAction": ALLOW, "syscalls": [{"names": list(names), "action": ERRNO, "errnoRet": 13, **more}]}


def allowing(*names: str, more: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """A profile that allows these calls alone, and `more`."""
    return {"defaultAction": ERRNO, "syscalls": [{"names": list(names), "action": ALLOW}, *more]}


def rule(name: str, index: int, op: str, value: int, two: int = 0, action: str = ALLOW) -> dict[str, Any]:
    args = [{"index": index, "value": value, "valueTwo": two, "op": f"SCMP_CMP_{op}"}]
    return {"names": [name], "action": action, "args": args}


def answer(program: bytes, name: str, *arguments: int, number: int | None = None) -> int:
    """What the kernel does with a call on this machine, by going through the program as it does."""
    steps = list(struct.iter_unpack("<HBBI", program))
    machine = computing.MACHINES[os.uname().machine][0]
    number = libseccomp._number(name) if number is None else number
    call = struct.pack("<IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    loaded = at = 0
    while True:
        code, yes, no, operand = steps[at]
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", call, operand)[0]
                holds = False
            case 0x54:
                loaded &= operand
                holds = False
            case 0x06:
                return int(operand)
            case 0x05:
                at += operand
                holds = False
            case _:
                compared = {0x15: loaded == operand, 0x25: loaded > operand, 0x35: loaded >= operand}
                holds = (compared | {0x45: bool(loaded & operand)})[code]
        at += 1 + (0 if code in (0x20, 0x54, 0x05) else yes if holds else no)


def program(folder: Path, said: object, agreed: tuple[str, ...] = ()) -> bytes:
    return libseccomp.compiled(check(put(folder, said), agreed).filter)


LET, REFUSED, KILLED = 0x7FFF0000, 0x00050001, 0x80000000


# ---- what it comes to ----


def test_what_it_forbids_is_refused_as_it_says_and_the_rest_is_as_before(tmp_path: Path) -> None:
    made = program(tmp_path, forbidding("mkdir", "mkdirat"))
    assert answer(made, "mkdirat") == 0x0005000D
    assert answer(made, "openat") == LET
    assert answer(made, "ptrace") == answer(made, "bpf") == REFUSED, "a default that allows widens nothing"
    assert answer(made, "clone3") == 0x00050026, "libc takes clone at this error only"


def test_a_list_of_what_is_allowed_refuses_all_others_as_it_says(tmp_path: Path) -> None:
    said = {**allowing(*(set(ALLOWED) - {"mkdirat"})), "defaultAction": KILL}
    made = program(tmp_path, said)
    assert answer(made, "mkdirat") == answer(made, "ptrace") == KILLED
    assert answer(made, "read") == LET
    assert answer(made, "clone3") == 0x00050026


def test_newer_calls_are_answered_as_before_so_that_libraries_take_older_ones(tmp_path: Path) -> None:
    ours = syscalls.program()
    other = syscalls.leaving_newer(program(tmp_path, {**allowing(*ALLOWED), "defaultAction": KILL}))
    for number in (457, 500, 0x3FFFFFFF):
        assert answer(ours, "", number=number) == 0x00050026
        assert answer(other, "", number=number) == LET
    assert answer(other, "ptrace") == KILLED and answer(other, "read") == LET


def test_conditions_of_both_hold(tmp_path: Path) -> None:
    """What Assent's own looks at stays looked at, whatever a profile says of it."""
    without = tuple(name for name in ALLOWED if name not in ("socket", "mmap", "personality"))
    anything = program(tmp_path, allowing(*without, "socket", "mmap"))
    assert answer(anything, "socket", 2) == LET
    assert answer(anything, "socket", 38) == answer(anything, "socket", 16, 3, 9) == REFUSED
    assert answer(anything, "clone", 0x10000011) == REFUSED, "no namespaces"
    few = program(tmp_path, allowing(*without, "mmap", more=(rule("socket", 0, "LT", 12),)))
    assert answer(few, "socket", 2) == answer(few, "socket", 1) == LET
    assert answer(few, "socket", 3) == answer(few, "socket", 16, 3, 0) == REFUSED
    streams = program(tmp_path, allowing(*without, "mmap", more=(rule("socket", 1, "EQ", 1),)))
    assert answer(streams, "socket", 2, 1) == LET
    assert answer(streams, "socket", 2, 2) == answer(streams, "socket", 38, 1) == REFUSED


def test_arguments_are_compared_with_all_their_bits(tmp_path: Path) -> None:
    without = tuple(name for name in ALLOWED if name != "lseek")
    high = 5 << 32
    for op, value, two, inside, outside in (
        ("EQ", high | 7, 0, high | 7, 7),
        ("NE", high | 7, 0, 7, high | 7),
        ("LT", high, 0, high - 1, high),
        ("LE", high, 0, high, high + 1),
        ("GT", high, 0, high + 1, high),
        ("GE", high, 0, high, high - 1),
        ("MASKED_EQ", high | 0xFF, high | 1, high | 0x501, high | 2),
    ):
        made = program(tmp_path, allowing(*without, more=(rule("lseek", 1, op, value, two),)))
        assert (answer(made, "lseek", 0, inside), answer(made, "lseek", 0, outside)) == (LET, REFUSED), op


def test_what_allows_more_is_named_call_by_call_and_counts_only_once_agreed_to(tmp_path: Path) -> None:
    said = allowing(*ALLOWED, "ptrace", "bpf", "chown32", "newer_than_all")
    for agreed in ((), ("bpf",), ("clone", "ptrace")):
        with pytest.raises(narrowed.WiderProfile) as refused:
            check(put(tmp_path, said), agreed)
        assert set(refused.value.calls) == {"bpf", "ptrace"} - set(agreed)
        assert all(name in refused.value.what for name in refused.value.calls)
    made = check(put(tmp_path, said), ("bpf", "ptrace", "mount"))
    assert made.widened == ("bpf", "ptrace")
    assert made.unknown == ("newer_than_all",)
    compiled = libseccomp.compiled(made.filter)
    assert answer(compiled, "ptrace") == answer(compiled, "bpf") == LET
    assert answer(compiled, "mount") == REFUSED, "agreed to, but the profile does not allow it"
    ours = syscalls.program(without=frozenset(made.widened))
    assert answer(ours, "ptrace") == LET
    assert answer(ours, "mount") == REFUSED


def test_the_words_bind_content_and_what_is_allowed_beyond(tmp_path: Path) -> None:
    path = put(tmp_path, forbidding("mkdir"))
    narrow = check(path, ())
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    assert narrow.protections("ours") == ("ours", f"system calls also filtered by your profile own.json, SHA-256 {sha}")
    wide = check(
        put(
            tmp_path,
            {
                **forbidding("mkdir"),
                "syscalls": [{"names": ["ptrace"], "action": ALLOW}, *forbidding("mkdir")["syscalls"]],
            },
        ),
        ("ptrace",),
    )
    (said,) = wide.protections("ours")
    assert wide.sha256 in said and said.endswith("which allows more than Assent's own: ptrace")
    assert FILTERED not in wide.protections(FILTERED), "nothing that was remembered for the filter counts then"


def test_what_the_engine_gets_opens_no_other_interface_of_the_kernel(tmp_path: Path) -> None:
    said = forbidding("mkdir") | {
        "archMap": [
            {"architecture": f"SCMP_ARCH_{one}", "subArchitectures": ["SCMP_ARCH_X86"]} for one in ("X86_64", "AARCH64")
        ]
    }
    text = json.loads(check(put(tmp_path, said), ()).text)
    assert [one["subArchitectures"] for one in text["archMap"]] == [[], []]
    assert text["defaultAction"] == ERRNO
    named = {name for each in text["syscalls"] if each["action"] == ALLOW for name in each["names"]}
    assert named == set(ALLOWED) - {"mkdir"}


def test_what_is_said_for_capabilities_other_machines_and_kernels(tmp_path: Path) -> None:
    """As Docker takes it, for a container without capabilities."""
    go = profile.MACHINES[os.uname().machine][0]

    def forbids(**filters: Any) -> bool:
        said = forbidding("mkdirat", **filters)
        said["syscalls"].append({"names": ["chroot"], "action": ERRNO})
        return answer(program(tmp_path, said), "mkdirat") != LET

    assert forbids(includes={"arches": [go, "s390x"]}) and not forbids(includes={"arches": ["s390x"]})
    assert forbids(excludes={"arches": ["s390x"]}) and not forbids(excludes={"arches": [go]})
    assert not forbids(includes={"caps": ["CAP_SYS_ADMIN"]}) and forbids(excludes={"caps": ["CAP_SYS_ADMIN"]})
    assert forbids(includes={"minKernel": "4.8"}) and not forbids(includes={"minKernel": "999.0"})


# ---- bad input ----


def first_call(said: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**said, "syscalls": [{**said["syscalls"][0], **changes}]}


ARGS = {"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}
BAD: dict[str, tuple[object, str]] = {
    "empty": ("", "not JSON"),
    "no JSON": ("{", "not JSON"),
    "not text": ("\x00", "not JSON"),
    "a list": ([], "it is no seccomp profile"),
    "no profile": ({}, "no defaultAction"),
    "another file": ({"name": "x", "version": 1}, "'name', which Assent does not know"),
    "a name spelled wrong": ({"defaultAction": ALLOW, "syscals": []}, "'syscals', which Assent does not know"),
    "a listener": ({**forbidding("mkdir"), "listenerPath": "/x"}, "listenerPath"),
    "flags": ({**forbidding("mkdir"), "flags": ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"]}, "sets flags"),
    "allows everything": ({"defaultAction": ALLOW}, "forbids nothing"),
    "allows each": ({"defaultAction": ALLOW, "syscalls": [{"names": ["read"], "action": ALLOW}]}, "forbids nothing"),
    "forbids everything": ({"defaultAction": ERRNO}, "forbids execve"),
    "forbids execve": (forbidding("execve"), "forbids execve"),
    "kills execve": (allowing(*(set(ALLOWED) - {"execve"})), "forbids execve"),
    "execve by its arguments": (
        allowing(*(set(ALLOWED) - {"execve"}), more=(rule("execve", 0, "EQ", 1),)), "forbids execve",
    ),
    "an unknown call": (forbidding("mkdir", "mkdr"), "it forbids mkdr, and no system call is known by that name here"),
    "no name of a call": (forbidding("mk dir"), "the name of no system call"),
    "a name that is no text": (forbidding(7), "the name of no system call"),  # type: ignore[arg-type]
    "no names": (forbidding(), "needs names"),
    "name and names": (forbidding("mkdir", name="rmdir"), "needs names, or one name"),
    "twice the same name": ('{"defaultAction": "SCMP_ACT_ALLOW", "defaultAction": "SCMP_ACT_ERRNO"}', "twice"),
    "two things of one call": (
        {**forbidding("mkdir"), "syscalls": [*forbidding("mkdir")["syscalls"], {"names": ["mkdir"], "action": ALLOW}]},
        "two things of mkdir",
    ),
    "two errors of one call": (
        {**forbidding("mkdir"), "syscalls": [*forbidding("mkdir")["syscalls"], {"names": ["mkdir"], "action": KILL}]},
        "two things of mkdir",
    ),
    "both by arguments": (
        allowing(*ALLOWED, more=(rule("lseek", 1, "EQ", 1, action=KILL),)), "both allows and forbids lseek",
    ),
    "forbidden by arguments": (forbidding("lseek", args=[ARGS]), "forbids lseek by its arguments"),
    "allowed by arguments for nothing": (
        {"defaultAction": ALLOW, "syscalls": [rule("lseek", 1, "EQ", 1)]}, "and every call in any case",
    ),
    "not to be joined": (
        allowing(*(set(ALLOWED) - {"clone"}), more=(rule("clone", 0, "MASKED_EQ", 1, 1),)), "cannot be joined",
    ),
    "no action": (first_call(forbidding("mkdir"), action="SCMP_ACT_SMILE"), "is no action"),
    "a list as action": (first_call(forbidding("mkdir"), action=[]), "is no action"),
    "a supervisor": (first_call(forbidding("mkdir"), action="SCMP_ACT_NOTIFY"), "there is none"),
    "a tracer": (first_call(forbidding("mkdir"), action="SCMP_ACT_TRACE"), "there is none"),
    "an error above all": (forbidding("mkdir") | {"defaultErrnoRet": 1 << 16, "defaultAction": ERRNO}, "4,095"),
    "an error that is true": (first_call(forbidding("mkdir"), errnoRet=True), "between 0 and 4,095"),
    "a seventh argument": (first_call(allowing("read"), args=[ARGS | {"index": 6}]), "between 0 and 5"),
    "a value above 64 bits": (first_call(allowing("read"), args=[ARGS | {"value": 1 << 64}]), "is not between"),
    "a value below 0": (first_call(allowing("read"), args=[ARGS | {"value": -1}]), "is not between"),
    "two conditions of one argument": (first_call(allowing("read"), args=[ARGS, ARGS]), "two conditions"),
    "no comparison": (first_call(allowing("read"), args=[ARGS | {"op": "SCMP_CMP_ALMOST"}]), "no comparison"),
    "a strange filter": (forbidding("mkdir", includes={"users": ["me"]}), "'users', which Assent does not know"),
    "a strange kernel": (forbidding("mkdir", includes={"minKernel": "new"}), "no version of a kernel"),
    "another machine": (forbidding("mkdir") | {"architectures": ["SCMP_ARCH_S390X"]}, "nothing for this machine"),
    "rules that are no list": ({"defaultAction": ALLOW, "syscalls": {}}, "must be a list"),
    "a rule that is no object": ({"defaultAction": ALLOW, "syscalls": ["mkdir"]}, "must be an object"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "a huge number": (f'{{"defaultErrnoRet": {"9" * 5000}}}', "too large"),
    "no number": ('{"defaultErrnoRet": NaN}', "NaN is no number"),
    "too many rules": (
        {"defaultAction": ALLOW, "syscalls": [{"names": ["mkdir"] * 6000, "action": ERRNO}]}, "more than 5,000 rules",
    ),
    "10 MB": (" " * (10 << 20), "more than 256 KB"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_profile_that_does_not_count_is_one_sentence(tmp_path: Path, what: str) -> None:
    said, words = BAD[what]
    with pytest.raises(KnownError) as refused:
        check(put(tmp_path, said), ())
    assert words in refused.value.what, refused.value.what
    assert refused.value.what.startswith("The seccomp profile ") and refused.value.what.endswith(".")
    assert len(refused.value.what) < 400 and refused.value.remedy


def test_a_profile_of_other_bytes_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(b"\xff\xfe{")
    (tmp_path / "own.json").chmod(0o600)
    with pytest.raises(KnownError, match="not UTF-8"):
        check(tmp_path / "own.json", ())


def test_one_that_is_too_long_for_the_kernel_is_said(tmp_path: Path) -> None:
    without = tuple(name for name in ALLOWED if name != "lseek")
    many = tuple(rule("lseek", 1, "EQ", (number << 32) | number) for number in range(1500))
    with pytest.raises(KnownError, match="too long for the kernel"):
        program(tmp_path, allowing(*without, more=many))


def test_only_a_plain_file_that_nobody_else_can_change_is_read(tmp_path: Path) -> None:
    good = put(tmp_path, forbidding("mkdir"))
    (tmp_path / "link.json").symlink_to(good)
    os.mkfifo(tmp_path / "pipe.json", 0o600)
    open_to_all = put(tmp_path, forbidding("mkdir"), "open.json")
    open_to_all.chmod(0o622)
    for name, words in (
        ("link.json", "symbolic link"),
        ("pipe.json", "not a file"),
        ("open.json", "other accounts can change it"),
        ("gone.json", "No such file"),
        (".", "not a file"),
    ):
        with pytest.raises(KnownError, match=words):
            check(tmp_path / name, ())
    with pytest.raises(KnownError, match="not named from the root"):
        OwnProfile("own.json").checked()
    if os.geteuid():
        good.chmod(0)
        with pytest.raises(KnownError, match="Permission denied"):
            check(good, ())


# ---- the file changes ----


def test_what_was_checked_stays_whatever_becomes_of_the_file(tmp_path: Path) -> None:
    path = put(tmp_path, forbidding("mkdir"))
    held = OwnProfile(str(path))
    assert held.news() == "", "nothing was checked yet"
    first = held.checked()
    assert held.news() == ""
    for change, words in (
        (lambda: put(tmp_path, forbidding("rmdir")), "it has changed since it was checked"),
        (lambda: put(tmp_path, "{"), "it has changed since it was checked"),
        (path.unlink, "No such file"),
        (lambda: os.mkfifo(path), "not a file"),
    ):
        change()
        assert words in held.news() and "until then the one that was checked" in held.news()
        assert held.checked() is first
    path.unlink()
    put(tmp_path, forbidding("mkdir"))
    assert held.news() == "", "the same content again"


# ---- at work ----

TRIES = """
import os, socket
for act in (lambda: os.mkdir("d"), lambda: socket.socket(), lambda: open("f", "w").close()):
    try:
        act()
        print("done")
    except OSError as error:
        print(error.errno)
"""


def test_code_of_the_local_sandbox_is_held_to_it(tmp_path: Path) -> None:
    path = put(tmp_path, forbidding("mkdir", "mkdirat", "socket"))

    async def body() -> None:
        sandbox = LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path)))
        ready = await sandbox.check()
        assert ready.ready, ready
        sha = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"{own.PROFILE}own.json, SHA-256 {sha}" in ready.protections and FILTERED in ready.protections
        run = await sandbox.start(job(TRIES), lambda _usage: None)
        result = await run.finished()
        assert (result.stdout, result.stderr) == ("13\n13\ndone\n", "")
        assert result.meta.protections == ready.protections
        path.unlink()
        again = await sandbox.check()
        assert again.protections == ready.protections and "No such file" in again.missing[0]
        result = await (await sandbox.start(job(TRIES), lambda _usage: None)).finished()
        assert result.stdout == "13\n13\ndone\n"
        session = await sandbox.open(Language.PYTHON, job("").limits, "")
        result = await (await session.start(job(TRIES), lambda _usage: None)).finished()
        assert result.stdout == "13\n13\ndone\n"
        assert f"{own.PROFILE}own.json, SHA-256 {sha}" in session.protections
        await sandbox.close()

    asyncio.run(body())


def test_a_call_that_was_agreed_to_is_let_through(tmp_path: Path) -> None:
    code = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.ptrace(0, 0, 0, 0), ctypes.get_errno())"
    said = forbidding("mkdir")
    said["syscalls"].append({"names": ["ptrace"], "action": ALLOW})
    path = put(tmp_path, said)

    async def printed(sandbox: LocalSandbox) -> str:
        assert (await sandbox.check()).ready
        result = await (await sandbox.start(job(code), lambda _usage: None)).finished()
        await sandbox.close()
        return result.stdout

    assert asyncio.run(printed(LocalSandbox(tmp_path / "runs"))) == "-1 1\n"
    profiled = LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path), ("ptrace",)))
    assert asyncio.run(printed(profiled)) == "0 0\n"


def test_nothing_is_run_with_a_profile_that_does_not_count(tmp_path: Path) -> None:
    """Also not without it, and not as plain processes: it was named to protect."""
    path = put(tmp_path, forbidding("execve"))

    async def body() -> None:
        sandbox = LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path)))
        ready = await sandbox.check()
        assert not ready.ready and "forbids execve" in ready.problem
        with pytest.raises(KnownError, match="forbids execve"):
            await sandbox.start(job(TRIES), lambda _usage: None)
        put(tmp_path, forbidding("mkdir"))
        assert (await sandbox.check()).ready, "it was corrected"
        await sandbox.close()
        plain = LocalSandbox(tmp_path / "runs", bubblewrap=False, profile=OwnProfile(str(path)))
        assert not (await plain.check()).ready

    asyncio.run(body())


def test_one_with_which_nothing_starts_is_said_to_be_the_cause(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        forbidding("wait4", "waitid", "write", "dup2")
        | {"syscalls": [{"names": ["brk", "close", "fstat", "newfstatat"], "action": KILL}]},
    )
    ready = asyncio.run(LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path))).check())
    assert not ready.ready and ready.problem.startswith("With your seccomp profile own.json a trial run does not work")


def test_a_filter_that_is_not_loaded_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "_filters", lambda _profile: (syscalls.program(),))
    path = put(tmp_path, forbidding("mkdir"))
    ready = asyncio.run(LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path))).check())
    assert not ready.ready and "without this protection: system calls also filtered" in ready.problem


def test_without_the_library_nothing_is_run_here_and_every_call_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libseccomp, "_library", lambda: None)
    path = put(tmp_path, forbidding("mkdir"))
    ready = asyncio.run(LocalSandbox(tmp_path / "runs", profile=OwnProfile(str(path))).check())
    assert not ready.ready and "libseccomp.so.2 only" in ready.problem
    with pytest.raises(narrowed.WiderProfile, match="chown32"):
        check(put(tmp_path, allowing(*ALLOWED, "chown32")), ())
