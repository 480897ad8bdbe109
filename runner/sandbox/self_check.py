"""Check of every promise that a sandbox makes, one trial each: which hold, and what was seen of those that do not.

The suite of tests (`contract_suite`) has one test for each of these, for Assent's own sandboxes and for those that
packages bring. A trial needs no more than the contract: it starts programs and looks at what comes back.
"""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.sandbox.contract import Collect, ImportRule, Job, NotPermitted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.result import Result, Usage
    from runner.sandbox.contract import Readiness, Run, Sandbox

PYTHON, JAVASCRIPT, SHELL = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
HANGS = 60.0
"""Seconds after which what a trial awaits is taken to hang: far more than a busy machine needs."""
MORE = (1, 4, 16)
"""Times a limit, where a machine is too busy to begin within it."""
TRIAL_SECONDS = 300.0
SHOWN = 300
"""Characters of what was seen in place of what was promised."""


class BrokenPromise(Exception):
    """A promise does not hold; the text says what was seen."""


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of the contract."""

    name: str
    words: str
    trial: Callable[[PromiseTrial], Awaitable[None]]
    """Raises BrokenPromise."""
    language: Language
    """In which its programs are written."""


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """What came of one trial."""

    promise: Promise
    problem: str = ""
    """What was seen; '' where the promise holds or was not tried."""
    skipped: str = ""
    """Why it was not tried."""

    @property
    def holds(self) -> bool:
        return not self.problem and not self.skipped

    @property
    def line(self) -> str:
        sign = "BAD " if self.problem else "skip" if self.skipped else "ok  "
        return f"{sign}  {self.promise.words}: {self.problem or self.skipped}".removesuffix(": ")


async def self_check(
    sandbox: Sandbox, reported: Callable[[PromiseCheck], None] | None = None
) -> tuple[PromiseCheck, ...]:
    """Try every promise on `sandbox`, one after the other; `reported` is called after each. Takes a minute or two.

    The last one closes the sandbox, which is not used afterwards. Never raises for what the sandbox does.
    """
    found = []
    for promise in PROMISES:
        found.append(await tried(promise, sandbox))
        if reported is not None:
            reported(found[-1])
    return tuple(found)


async def tried(promise: Promise, sandbox: Sandbox) -> PromiseCheck:
    """Try one promise."""
    try:
        async with asyncio.timeout(TRIAL_SECONDS):
            ready = await sandbox.check()
            if not ready.ready:
                return PromiseCheck(promise, f"the sandbox does not work: {ready.problem}")
            if promise.language not in (ready.images or ready.versions):
                return PromiseCheck(promise, skipped=f"it has no {promise.language}")
            await promise.trial(PromiseTrial(sandbox, ready))
    except BrokenPromise as error:
        return PromiseCheck(promise, str(error))
    except TimeoutError:
        return PromiseCheck(promise, f"nothing came of it in {TRIAL_SECONDS:g} s")
    except Exception as error:
        return PromiseCheck(promise, f"{type(error).__name__}: {error}"[:SHOWN])
    return PromiseCheck(promise)


class PromiseTrial:
    """Runs programs on a sandbox for one promise."""

    def __init__(self, sandbox: Sandbox, ready: Readiness) -> None:
        self.sandbox, self.ready = sandbox, ready
        self.readings: list[Usage] = []

    async def start(self, code: str, language: Language = PYTHON, **changes: Any) -> Run:
        self.readings.clear()
        return await self.sandbox.start(job(code, language, **changes), self.readings.append)

    async def run(self, code: str, language: Language = PYTHON, **changes: Any) -> Result:
        return await (await self.start(code, language, **changes)).finished()

    async def until_it_speaks(self, code: str, language: Language, seconds: float) -> tuple[Result, float]:
        """Run code that its time limit is to end, and return the limit it got: more where it was over before a word."""
        for times in MORE:
            result = await self.run(code, language, seconds=seconds * times)
            if result.stdout:
                break
        return result, seconds * times

    async def prints(self, code: str, language: Language, wanted: str, **changes: Any) -> None:
        """Raises BrokenPromise where it prints something else."""
        result = await self.run(code, language, **changes)
        expect(result.stdout == wanted, result)


def job(code: str, language: Language = PYTHON, **changes: Any) -> Job:
    """Return a job with limits that suit a trial; `changes` are fields of `Limits` or of `Job`."""
    limits: dict[str, Any] = {"seconds": HANGS, "memory_mb": 256, "disk_mb": 64, "processes": 64, "cpu_cores": 2.0}
    limits |= {name: changes.pop(name) for name in list(changes) if name in Limits.__slots__}
    return Job("test", language, code, Limits(**limits), **changes)


def expect(held: bool, seen: Result | str) -> None:
    """Raise BrokenPromise with what was seen, where the promise was not held."""
    if not held:
        if not isinstance(seen, str):
            value = "" if seen.value is None else f", result {seen.value!r}"
            out, err = seen.stdout[-SHOWN // 3 :], seen.stderr[-SHOWN // 3 :]
            seen = f"it was {seen.outcome} ({seen.error or seen.exit_code}), printed {out!r} and {err!r}{value}"
        raise BrokenPromise(seen[:SHOWN])


TOGETHER = """
import os, sys, time
ends = []
for _ in range(3):
    read, write = os.pipe()
    if not os.fork():
        held = b"x" * (100 << 20)
        os.write(write, b"holds")
        time.sleep(60)
    os.close(write)
    ends.append(read)
    print(os.read(read, 5).decode() or "gone", flush=True)
time.sleep(2)  # somebody may look from time to time only
alive = [os.waitpid(-1, os.WNOHANG)[0] == 0 for _ in range(3)]
print("all hold" if all(alive) else "not all", flush=True)
os._exit(0)
"""
"""Three processes, each within the limit of 150 MB, and together beyond it."""


# ---- what runs, and what comes back ----


async def _says_what_it_is(on: PromiseTrial) -> None:
    expect(bool(on.ready.protections), "it names no protection")
    result = await on.run("print('on')")
    expect(result.meta.isolation is on.sandbox.isolation, f"a run says that it was in {result.meta.isolation}")
    expect(result.meta.protections == on.ready.protections, f"a run had {result.meta.protections}")
    expect("python" in result.meta.versions, f"a run names these versions: {result.meta.versions}")


def _output(language: Language, code: str) -> Promise:
    async def trial(on: PromiseTrial) -> None:
        result = await on.run(code, language, context='{"n": 1, "s": "Zoë \\"$(id)"}')
        expect((result.stdout, result.stderr) == ('2 Zoë "$(id)\n', "err\n"), result)
        expect((result.exit_code, result.outcome, result.error) == (7, Outcome.FAILED, "Exit code 7"), result)

    words = f"Code in {language} gets its variables, and output and exit code come back"
    return Promise(f"output-{language}", words, trial, language)


def _input(language: Language, code: str, wanted: str) -> Promise:
    async def trial(on: PromiseTrial) -> None:
        await on.prints(code, language, wanted, stdin="Zoë\nabc")

    return Promise(f"input-{language}", f"Code in {language} gets its standard input", trial, language)


async def _much_input(on: PromiseTrial) -> None:
    await on.prints("cat", SHELL, "x" * 300_000, stdin="x" * 300_000)
    await on.prints("cat", SHELL, "")


async def _result(on: PromiseTrial) -> None:
    result = await on.run("import sys\nprint('{\"value\": 2}', file=sys.stderr)\nresult = {'sum': 3.5, 'none': None}")
    expect(result.value == {"sum": 3.5, "none": None} and result.stderr == '{"value": 2}\n', result)
    odd = await on.run("result = {1, 2}")
    expect(odd.value == "{1, 2}", odd)
    large = await on.run("result = 'x' * 9_000_000")
    expect(large.value is None and "larger than 1 MB" in large.stderr, large)


async def _main_module(on: PromiseTrial) -> None:
    code = "import os, sys\nprint(sys.argv, __file__, sys.path[-1], os.getcwd(), __name__)\nopen('f', 'w').close()"
    await on.prints(code, PYTHON, "['/workspace/main.py'] /workspace/main.py /workspace /workspace __main__\n")


async def _imports(on: PromiseTrial) -> None:
    rule = ImportRule(("math", "json"))
    before = await on.run("import os\nprint('ran')", imports=rule)
    expect((before.stdout, before.outcome, before.meta.blocked_imports) == ("", Outcome.FAILED, ("os",)), before)
    for hidden in ("name = 'o' + 's'\n__import__(name)", "exec('import os')"):
        during = await on.run(hidden, imports=rule)
        expect(during.meta.blocked_imports == ("os",) and "Allowed: math, json." in during.stderr, during)
    allowed = await on.run("import json, math\nresult = json.loads('[1]')", imports=rule)
    expect(allowed.value == [1], allowed)


async def _bad_context(on: PromiseTrial) -> None:
    refused = await on.run("echo ran", SHELL, context='{"LD_PRELOAD": "x"}')
    expect((refused.stdout, refused.outcome) == ("", Outcome.FAILED), refused)
    refused = await on.run("echo ran", SHELL, context="[1]")
    expect("context" in refused.error and not refused.stdout, refused)


async def _long_output(on: PromiseTrial) -> None:
    result = await on.run("for i in range(50000): print(i)", output_bytes=1000)
    whole = result.stdout.startswith("0\n1\n") and result.stdout.endswith("49999\n")
    expect(whole and "output truncated" in result.stdout, result)
    expect(result.meta.truncated and result.meta.dropped_stdout > 200_000, f"it left out {result.meta.dropped_stdout}")


async def _live(on: PromiseTrial) -> None:
    run = await on.start("import time; print('on', flush=True); time.sleep(600)")
    async with asyncio.timeout(HANGS):
        while not run.transcript.total:
            await asyncio.sleep(0.005)
    seen = b"".join(piece.data for piece in run.transcript.since(0).pieces)
    # Stopped from another thread, as a window does.
    threading.Thread(target=run.stop, args=("Seen",)).start()
    result = await run.finished()
    expect(seen == b"on\n", f"while it ran, {seen!r} could be read")
    expect((result.outcome, result.error, result.stderr) == (Outcome.KILLED, "Seen", "Seen.\n"), result)
    expect(result.duration < HANGS, f"it ran for {result.duration:g} s more")
    run.stop("again")  # harmless when over


async def _endless_output(on: PromiseTrial) -> None:
    result = await on.run(f"yes {'x' * 64}", SHELL, output_bytes=1000)
    expect(result.outcome is Outcome.OUTPUT_LIMIT and "too much output" in result.error, result)


async def _collected(on: PromiseTrial) -> None:
    with tempfile.TemporaryDirectory() as folder:
        code = "import os\nos.mkdir('d')\nopen('d/f.txt', 'w').write('made')\nopen('g', 'w').write('x' * 100)"
        result = await on.run(code, collect=Collect(Path(folder)))
        paths = {file.path: file for file in result.files}
        expect(result.outcome is Outcome.OK, result)
        if not paths and result.files_left_out:
            return  # it says that it hands none over
        expect(paths.keys() == {"d/f.txt", "g"}, f"these files came back: {', '.join(paths) or 'none'}")
        kept = Path(folder, paths["d/f.txt"].sha256)
        expect(kept.read_bytes() == b"made", "a file came back with another content")


# ---- limits ----


async def _time_is_up(on: PromiseTrial) -> None:
    code = "trap '' TERM INT HUP; (setsid sleep 61 &); echo on; while :; do sleep 1; done"
    result, given = await on.until_it_speaks(code, SHELL, 0.6)
    expect((result.outcome, result.stdout, result.exit_code) == (Outcome.TIMED_OUT, "on\n", -1), result)
    expect(result.duration < given + HANGS, f"it ran for {result.duration:g} s, with a limit of {given:g} s")
    expect(f"timed out after {given:g} s" in result.stderr and result.meta.timed_out, result)


async def _left_behind(on: PromiseTrial) -> None:
    async with asyncio.timeout(HANGS):
        code = "(setsid sleep 620 >/dev/null 2>&1 &); nohup sleep 620 & echo on"
        result = await on.run(code, SHELL, seconds=2 * HANGS)
    expect(result.outcome is Outcome.OK, result)


def _memory(language: Language, code: str) -> Promise:
    async def trial(on: PromiseTrial) -> None:
        result = await on.run(code, language, memory_mb=150)
        held = (result.outcome, result.error) == (Outcome.OUT_OF_MEMORY, "Ran out of memory (150 MB limit)")
        expect(held and (result.peak_memory or 0) < 400 << 20, result)

    return Promise(f"memory-{language}", f"Code in {language} is held to its memory, and that is said", trial, language)


async def _memory_together(on: PromiseTrial) -> None:
    result = await on.run(TOGETHER, memory_mb=150)
    seen = result.stdout.count("holds")
    expect(
        "all hold" not in result.stdout,
        f"{seen} processes held 100 MB each, and the limit was 150 MB: {result.outcome}",
    )


def _disk(language: Language, code: str) -> Promise:
    async def trial(on: PromiseTrial) -> None:
        result = await on.run(code, language, disk_mb=24)
        expect((result.outcome, result.error) == (Outcome.OUT_OF_DISK, "Ran out of disk space (24 MB limit)"), result)

    words = f"A large file of code in {language} is held to the limit on disk space, and that is said"
    return Promise(f"disk-{language}", words, trial, language)


async def _many_files(on: PromiseTrial) -> None:
    code = "for n in $(seq 100); do head -c 1M /dev/zero > f$n || { echo full; break; }; done 2>/dev/null"
    await on.prints(code, SHELL, "full\n", disk_mb=24)


async def _processes(on: PromiseTrial) -> None:
    bomb = await on.run("bomb() { bomb | bomb & }; bomb; wait; sleep 60", SHELL, processes=32, seconds=1.5)
    said = bomb.error.endswith(("out of processes (32 limit)", "more than 32 processes (limit)"))
    expect(bomb.outcome in (Outcome.TIMED_OUT, Outcome.FAILED) and said, bomb)
    probe = "for n in $(seq 60); do sleep 2 & done; wait"
    for seconds in MORE:
        result = await on.run(probe, SHELL, processes=32, seconds=seconds)
        if "Resource temporarily unavailable" in result.stderr:
            break
    expect("Resource temporarily unavailable" in result.stderr, result)
    await on.prints("echo still here", SHELL, "still here\n")


async def _threads(on: PromiseTrial) -> None:
    thread = "import threading, time\nfor n in range(60): threading.Thread(target=time.sleep, args=(0.3,)).start()"
    result = await on.run(thread, processes=32)
    expect(result.error == "Exit code 1, out of processes (32 limit)", result)


async def _usage(on: PromiseTrial) -> None:
    code = "import time\nend = time.monotonic() + 1.4\nwhile time.monotonic() < end: pass"
    result = await on.run(code)
    expect(len(on.readings) >= 1.4 * 1.5, f"{len(on.readings)} readings came in 1.4 s")
    expect(list(result.curve) == on.readings, "the curve of the result is another than what was reported")


# ---- what is kept apart ----


async def _no_network(on: PromiseTrial) -> None:
    code = """
import socket
for family, address in ((socket.AF_INET, ("1.1.1.1", 53)), (socket.AF_INET, ("172.17.0.1", 80))):
    try: socket.create_connection(address, 1); print("through")
    except OSError: print("refused")
"""
    await on.prints(code, PYTHON, "refused\nrefused\n")
    with socket.create_server(("127.0.0.1", 0)) as here:  # nor what listens on this machine alone
        port = here.getsockname()[1]
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}), 1); print('through')\n"
        await on.prints(f"{code}except OSError: print('refused')", PYTHON, "refused\n")


async def _no_gate(on: PromiseTrial) -> None:
    try:
        run = await on.start("pass", network=NetworkMode.REGISTRIES)
    except KnownError:
        return
    run.stop("no gate")
    await run.finished()
    raise BrokenPromise("a run with network and without a gate was started")


async def _ordinary_user(on: PromiseTrial) -> None:
    code = "id -u; grep -E '^CapEff' /proc/self/status; touch /usr/x /etc/x 2>&1 | wc -l"
    result = await on.run(code, SHELL)
    words = result.stdout.split()
    expect(len(words) == 4 and int(words[0]) >= 1000, result)
    expect(words[2] == "0" * 16, f"it has privileges: {words[2]}")
    expect(words[3] == "2", "it can write to /usr or /etc")


async def _nothing_of_this_machine(on: PromiseTrial) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-check-") as folder:
        file = Path(folder, "private")
        file.write_text("a secret", "utf-8")
        os.chmod(folder, 0o755)
        os.chmod(file, 0o644)
        os.environ["ASSENT_SELF_CHECK"] = "a secret"
        try:
            code = f"import os\nprint(os.path.exists({str(file)!r}), os.environ.get('ASSENT_SELF_CHECK'))"
            await on.prints(code, PYTHON, "False None\n")
        finally:
            del os.environ["ASSENT_SELF_CHECK"]


async def _fresh(on: PromiseTrial) -> None:
    code = "import os\nprint(sorted(set(os.listdir()) - {'main.py'}), os.listdir('/tmp'), os.listdir('/dev/shm'))\n"
    code += "for path in ('left', '/tmp/left', '/dev/shm/left'): open(path, 'w').close()"
    for _ in range(2):
        await on.prints(code, PYTHON, "[] [] []\n")


async def _at_once(on: PromiseTrial) -> None:
    code = "import os, time\nopen('mine', 'w').write(str(n)); time.sleep(0.3); print(open('mine').read(), n)"

    async def one(number: int) -> str:
        run = await on.sandbox.start(job(code, context=f'{{"n": {number}}}'), lambda _usage: None)
        return (await run.finished()).stdout

    # Three, as one agent may have that many at E2B where nothing else is set.
    printed = await asyncio.gather(*map(one, range(3)))
    expect(printed == [f"{number} {number}\n" for number in range(3)], f"three at once printed {printed}")


async def _permit(on: PromiseTrial) -> None:
    def refuse() -> None:
        raise NotPermitted("Not any more.")

    try:
        run = await on.start("print('ran')", permit=refuse)
    except NotPermitted:
        return
    result = await run.finished()
    held = (result.outcome, result.error, result.stdout) == (Outcome.KILLED, "Not any more.", "")
    expect(held and result.duration == 0, result)


async def _close(on: PromiseTrial) -> None:
    runs = [await on.start("import time; time.sleep(60)") for _ in range(2)]
    await on.sandbox.close()
    for run in runs:
        result = await run.finished()
        expect(result.outcome in (Outcome.KILLED, Outcome.ENGINE_LOST), result)
    await on.sandbox.sweep()


PROMISES = (
    Promise("says-what-it-is", "It says what protects, and each run says the same", _says_what_it_is, PYTHON),
    _output(PYTHON, "import sys\nprint(n + 1, s)\nprint('err', file=sys.stderr)\nsys.exit(7)"),
    _output(JAVASCRIPT, "console.log(n + 1, s); console.error('err'); process.exit(7)"),
    _output(SHELL, 'echo $((n + 1)) "$s"; echo err >&2; exit 7'),
    _input(PYTHON, "import sys; print(sys.stdin.read()[::-1], end='')", "cba\nëoZ"),
    _input(JAVASCRIPT, "console.log([...require('fs').readFileSync(0, 'utf8')].reverse().join(''))", "cba\nëoZ\n"),
    _input(SHELL, "tr a-z A-Z", "ZOë\nABC"),
    Promise("much-input", "Input may be long, or none", _much_input, SHELL),
    Promise("result", "What Python code leaves in `result` comes back, within bounds", _result, PYTHON),
    Promise("main-module", "Code is the main module in /workspace, where it may write", _main_module, PYTHON),
    Promise("imports", "Imports that are not allowed are refused, before and while code runs", _imports, PYTHON),
    Promise("bad-context", "Variables that cannot be given are refused, and nothing runs", _bad_context, SHELL),
    Promise("long-output", "Of long output the head and the tail come back", _long_output, PYTHON),
    Promise("live-and-stop", "Output can be read while code runs, and Stop ends it", _live, PYTHON),
    Promise("endless-output", "Output without end is ended", _endless_output, SHELL),
    Promise("files", "Files that a run made come back, or it says that they do not", _collected, PYTHON),
    Promise("time", "What does not want to end is ended when its time is up", _time_is_up, SHELL),
    Promise("left-behind", "What code leaves running ends with it", _left_behind, SHELL),
    _memory(PYTHON, "x = []\nwhile True: x.append(bytearray(1 << 22))"),
    _memory(JAVASCRIPT, "const x = []; while (true) x.push(Buffer.alloc(1 << 22, 1))"),
    _memory(SHELL, 'x=aaaaaaaa; while :; do x="$x$x"; done'),
    Promise("memory-together", "What several processes hold together is held to it, too", _memory_together, PYTHON),
    _disk(PYTHON, "with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"),
    _disk(SHELL, "cat /dev/zero > big"),
    Promise("many-files", "Many files together are held to it, too", _many_files, SHELL),
    Promise("processes", "Processes are held to their limit, and the machine is well afterwards", _processes, SHELL),
    Promise("threads", "Threads are held to it, too, and that is said", _threads, PYTHON),
    Promise("usage", "What a run uses is reported while it runs", _usage, PYTHON),
    Promise("no-network", "There is no network", _no_network, PYTHON),
    Promise("no-gate", "A run that is to have network and has no gate does not start", _no_gate, PYTHON),
    Promise("ordinary-user", "Code has no privileges and cannot change the system", _ordinary_user, SHELL),
    Promise("nothing-of-yours", "Code sees no file and no variable of this machine", _nothing_of_this_machine, PYTHON),
    Promise("fresh", "Each run begins with an empty workspace and an empty /tmp", _fresh, PYTHON),
    Promise("at-once", "Several at once have a workspace each", _at_once, PYTHON),
    Promise("permit", "Nothing starts whose approval is withdrawn at the last moment", _permit, PYTHON),
    Promise("close", "Closing it stops every run", _close, PYTHON),
)
"""All of them, in the order in which they are tried; the last closes the sandbox."""
