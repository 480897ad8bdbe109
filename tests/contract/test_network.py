"""Runs with a network, alike in every sandbox: what is allowed is reached, all else is refused in words."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.network import Destination
from runner.model.request import Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.network.gate import ALL_HOSTS, Gate
from runner.sandbox.container.relay import ABUSED, ENDED
from runner.sandbox.contract import Lasting
from runner.sandbox.networked import PROTECTION
from tests.contract.conftest import alike, job
from tests.contract.web import EVIL, FURTHER_PORT, GOOD, contact, outside, reached, refused
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import Result
    from tests.contract.conftest import Lab
    from tests.contract.web import Outside

BLOCKED = "Blocked by Assent: evil.example:{} is not allowed for this sandbox"
FETCHES = f"""
import urllib.request, urllib.error
print(urllib.request.urlopen("https://{GOOD}/", timeout=60).read().decode(), end="")
print(urllib.request.urlopen("http://{GOOD}/", timeout=60).read().decode(), end="")
for site in "http://{EVIL}/", "https://{EVIL}/":
    try:
        print(urllib.request.urlopen(site, timeout=60).read())
    except urllib.error.URLError as error:
        print(error)
"""
NODE_FETCHES = f"""
for (const name of Object.keys(process.env)) if (/proxy/i.test(name)) delete process.env[name];
(async () => {{
  for (const site of ["https://{GOOD}/", "http://{GOOD}/", "http://{EVIL}/", "https://{EVIL}/"])
    await fetch(site).then(async (r) => console.log(r.status, (await r.text()).split("\\n")[0]),
                           (e) => console.log(e.cause.code));
}})();
"""
WELL = "hello from outside"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    with outside(tmp_path) as found:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        yield found


def run(lab: Lab, gate: Gate | None, code: str, language: Language = Language.PYTHON, **changes: Any) -> Result:
    result = lab.run(code, language, network=NetworkMode.DOMAINS, gate=gate, **changes)
    if gate is not None:
        gate.close()
    return result


def test_programs_that_know_the_proxy_reach_what_is_allowed_and_are_refused_in_words(lab: Lab, web: Outside) -> None:
    gate = web.gate(GOOD, f"{GOOD}:80")
    result = run(lab, gate, FETCHES)
    refusals = (
        f"HTTP Error 403: {BLOCKED.format(80)}\n<urlopen error Tunnel connection failed: 403 {BLOCKED.format(443)}>\n"
    )
    assert (result.outcome, result.stdout) == (Outcome.OK, f"{WELL}\n{WELL}\n{refusals}"), result
    assert (reached(gate), refused(gate)) == ({GOOD, f"{GOOD}:80"}, {EVIL, f"{EVIL}:80"})
    assert set(web.looked_up) == {GOOD}  # a refused name is not even looked up
    assert result.meta is not None and PROTECTION in result.meta.protections
    assert not any(one.startswith("no network") for one in result.meta.protections)


@alike
def test_programs_that_know_no_proxy_reach_the_same_by_another_door(lab: Lab, web: Outside) -> None:
    gate = web.gate(GOOD, f"{GOOD}:80")
    result = run(lab, gate, NODE_FETCHES, Language.JAVASCRIPT)
    lines = [f"200 {WELL}", f"200 {WELL}", f"403 {BLOCKED.format(80)}", "ERR_SSL_TLSV1_ALERT_ACCESS_DENIED"]
    assert (result.outcome, result.stdout.splitlines()) == (Outcome.OK, lines), result
    assert (reached(gate), refused(gate)) == ({GOOD, f"{GOOD}:80"}, {EVIL, f"{EVIL}:80"})


@alike
def test_curl_in_a_shell_goes_both_ways_also_to_further_ports(lab: Lab, web: Outside) -> None:
    code = f"""
    curl -sS https://{GOOD}/; curl -sS --noproxy '*' https://{GOOD}/
    curl -sS http://{GOOD}:{FURTHER_PORT}/; curl -sS --noproxy '*' http://{GOOD}:{FURTHER_PORT}/
    curl -sS http://{EVIL}/ | head -n 1; curl -sS https://{EVIL}/ 2>&1
    """
    gate = web.gate(GOOD, f"{GOOD}:{FURTHER_PORT}")
    result = run(lab, gate, code, Language.SHELL)
    tunnel = "curl: (56) CONNECT tunnel failed, response 403"
    expected = [*[WELL] * 4, BLOCKED.format(80), tunnel]
    assert result.stdout.splitlines() == expected or result.stdout.replace("Received HTTP code 403 from proxy after "
        "CONNECT", "CONNECT tunnel failed, response 403").splitlines() == expected, result  # fmt: skip
    assert refused(gate) == {EVIL, f"{EVIL}:80"}


LATER = f"""
import socket, time
taken = socket.create_server(("127.0.0.1", {FURTHER_PORT + 1}))
def asked():
    with socket.create_connection(("{GOOD}", {FURTHER_PORT}), 60) as one:
        one.sendall(b"GET / HTTP/1.0\\r\\nHost: {GOOD}:{FURTHER_PORT}\\r\\n\\r\\n")
        return one.makefile("rb").read().splitlines()[-1].decode()
try:
    print(asked(), flush=True)
except ConnectionRefusedError:
    print("refused", flush=True)
for attempt in range(1000):
    try:
        print(asked())
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
"""


@alike
def test_a_port_allowed_while_the_run_is_active_is_opened_for_programs_that_know_no_proxy(
    lab: Lab, web: Outside
) -> None:
    gate = web.gate(GOOD)

    def allow(_run: object) -> None:
        for port in (FURTHER_PORT + 1, FURTHER_PORT):  # the first one is taken by the code itself
            gate.allow(Destination(GOOD, port))

    result = lab.during(LATER, allow, network=NetworkMode.DOMAINS, gate=gate)
    gate.close()
    assert (result.outcome, result.stdout) == (Outcome.OK, f"refused\n{WELL}\n"), result
    assert reached(gate) == {f"{GOOD}:{FURTHER_PORT}"}


NOTHING_ELSE = """
import errno, json, socket, sys
def tried(work):
    try:
        return repr(work())
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
def connected(host, port):
    with socket.create_connection((host, port), 10) as one:
        return one.getpeername()
def raw(family, kind, number):
    socket.socket(family, kind, number).close()
def datagram(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect((host, 53))
        one.send(b"x")
seen = {
    "metadata": tried(lambda: connected("169.254.169.254", 80)),
    "address": tried(lambda: connected("93.184.216.34", 443)),
    "bridge": tried(lambda: connected("172.17.0.1", 22)),
    "six": tried(lambda: connected("2606:2800:220:1:248:1893:25c8:1946", 443)),
    "host": tried(lambda: connected("127.0.0.1", HOST_PORT)),
    "name servers": tried(lambda: datagram("8.8.8.8")),
    "raw": tried(lambda: raw(socket.AF_INET, socket.SOCK_RAW, 1)),
    "packet": tried(lambda: raw(socket.AF_PACKET, socket.SOCK_RAW, 768)),
    "names": sorted({one[4][0].rpartition(".")[0].rpartition(".")[0] for one in socket.getaddrinfo("x.example", 443)}),
    "own": socket.gethostbyname("localhost"),
    "interfaces": [name for _, name in socket.if_nameindex()],
}
print(json.dumps(seen))
"""
UNREACHABLE = {"ENETUNREACH", "EHOSTUNREACH"}


def test_there_is_no_other_way_out(lab: Lab, web: Outside) -> None:
    gate = web.gate(GOOD)
    result = run(lab, gate, NOTHING_ELSE.replace("HOST_PORT", str(web.plain)))
    assert result.outcome is Outcome.OK, result
    seen = json.loads(result.stdout)
    assert {seen[one] for one in ("metadata", "address", "bridge", "name servers")} <= UNREACHABLE, seen
    assert seen["six"] in {*UNREACHABLE, "EADDRNOTAVAIL", "EAFNOSUPPORT"}, seen
    assert seen["host"] == "ECONNREFUSED", seen  # that port is the sandbox's own, not the host's
    assert {seen["raw"], seen["packet"]} <= {"EPERM", "EACCES", "EAFNOSUPPORT"}, seen
    assert (seen["names"], seen["own"], seen["interfaces"]) == (["127.66"], "127.0.0.1", ["lo"]), seen
    assert web.looked_up == []  # DNS carries nothing out


@alike
def test_a_host_of_this_machine_is_reached_only_where_the_gate_has_it(lab: Lab, web: Outside) -> None:
    """With the gate's own dialer, as for a registry that this machine is configured with."""
    here = Destination("localhost", web.plain)
    code = f"""
import os, urllib.request
os.environ["NO_PROXY"] = os.environ["no_proxy"] = ""
print(urllib.request.urlopen("http://localhost:{web.plain}/", timeout=60).read().decode(), end="")
"""
    assert run(lab, Gate([here], private=[here]), code).stdout == f"{WELL}\n"
    result = run(lab, Gate([here]), code)
    assert result.outcome is Outcome.FAILED and "leads to a private address" in result.stderr


@alike
def test_much_goes_both_ways_unchanged_while_others_wait(lab: Lab, web: Outside) -> None:
    size = 8_000_000
    code = f"""
import concurrent.futures, hashlib, os, urllib.request
data = os.urandom({size})
def sent(_): return urllib.request.urlopen("https://{GOOD}/", data, timeout=60).read().decode()
def got(_): return len(urllib.request.urlopen("https://{GOOD}/{size}", timeout=60).read())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    hashes, sizes = pool.map(sent, range(4)), pool.map(got, range(4))
    print({{*hashes}} == {{hashlib.sha256(data).hexdigest()}}, {{*sizes}})
"""
    gate = web.gate(GOOD)
    # gVisor holds Python to what it reserves, and each thread reserves much.
    result = run(lab, gate, code, seconds=60.0, memory_mb=1024)
    assert result.stdout == f"True {{{size}}}\n", result
    assert {one.host for one in gate.contacts} == {GOOD}  # the relay ended with the run: no news
    assert contact(gate, GOOD).times == 8 and gate.sent > 4 * size < gate.received


@alike
def test_more_connections_than_there_may_be_wait_for_others(lab: Lab, web: Outside) -> None:
    code = f"""
import socket, urllib.request
held = [socket.create_connection(("127.0.0.1", 3128), 60) for _ in range(130)]
for one in held: one.close()
print(*{{urllib.request.urlopen("https://{GOOD}/", timeout=60).status for _ in range(5)}})
"""
    result = run(lab, web.gate(GOOD), code)
    assert result.stdout == "200\n", result


def test_a_run_is_stopped_in_the_middle_of_a_transfer(lab: Lab, web: Outside) -> None:
    gate = web.gate(GOOD)
    code = f"""
import urllib.request
answer = urllib.request.urlopen("https://{GOOD}/50000000", timeout=60)
print(len(answer.read(1000)), flush=True)
while True: pass
"""
    result = lab.during(code, lambda run: run.stop("enough"), network=NetworkMode.DOMAINS, gate=gate)
    assert (result.outcome, result.stdout) == (Outcome.KILLED, "1000\n")
    gate.close()
    assert gate.connections == 0


FINDS = """
import os, urllib.request
def reaches():
    try:
        return urllib.request.urlopen("https://good.example/", timeout=60).status
    except OSError as error:
        return getattr(error.reason, "errno", None) or str(error)
def relays():
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if b"RELAY_MARK" in file.read():
                    yield int(number)
        except OSError:
            pass
"""
FINDS = FINDS.replace("RELAY_MARK", "carries its connections to the console")


@pytest.mark.parametrize("act", ["os.kill(pid, 9)", "open(f'/proc/{pid}/fd/1', 'wb').write(os.urandom(100000))"])
def test_code_that_ends_its_relay_or_writes_in_its_place_loses_the_network_alone(
    lab: Lab, web: Outside, act: str
) -> None:
    # Behind E2B's API the relay's pipe belongs to root: code cannot write to it at all.
    tries = 3 if lab.kind == "e2b" and "open" in act else 1000
    code = f"""{FINDS}
print(reaches())
found = list(relays())
for pid in found:
    try:
        {act}
    except OSError: pass
print(len(found), flush=True)
import time
last = 0
for _ in range({tries} if found else 3):
    if (last := reaches()) != 200: break
    time.sleep(0.05)
print("lost" if last != 200 else "there", flush=True)
if found: time.sleep(2.5)  # as a run that continues
"""
    gate = web.gate(GOOD)
    result = run(lab, gate, code, seconds=60.0)
    assert result.outcome is Outcome.OK, result
    said = [one.why for one in gate.contacts if one.host == ALL_HOSTS]
    first, count, last = result.stdout.split()
    # A local sandbox has none; what gVisor gives to write to is another's copy.
    assert (first, count) == ("200", "0" if lab.kind == "local" else "1"), result
    if lab.kind == "local":
        assert (last, said) == ("there", [])
    elif "kill" in act:
        assert (last, said) == ("lost", [ENDED])
    elif lab.kind == "docker":
        assert (last, said) == ("lost", [ABUSED])
    elif lab.kind == "e2b":
        assert (last, said) == ("there", [])
    assert run(lab, web.gate(GOOD), FINDS + "print(reaches())").stdout == "200\n"


def test_without_a_gate_nothing_of_it_is_there(lab: Lab, web: Outside) -> None:
    code = """
import os, socket
print([name for name in os.environ if "PROXY" in name.upper() or "CERT" in name])
for port in (3128, 80, 443):
    try: print(socket.create_connection(("127.0.0.1", port), 5))
    except ConnectionRefusedError: print("refused")
print(os.path.exists("/tmp/.certificates.pem") or os.path.exists("/run/assent/certificates.pem"))
"""
    result = lab.run(code)
    assert result.stdout == "[]\nrefused\nrefused\nrefused\nFalse\n", result
    assert result.meta is not None and PROTECTION not in result.meta.protections
    with pytest.raises(KnownError, match="no gate"):
        run(lab, None, code)


def test_runs_of_a_kept_sandbox_have_each_a_network_of_their_own(lab: Lab, web: Outside) -> None:
    code = FINDS + "print(reaches())"

    async def body() -> list[str]:
        assert isinstance(lab.sandbox, Lasting)
        session = await lab.sandbox.open(Language.PYTHON, Limits(memory_mb=128, disk_mb=32, cpu_cores=2.0), "")
        said = []
        try:
            for allowed in ([GOOD], [EVIL], None, [GOOD]):
                gate = None if allowed is None else web.gate(*allowed)
                mode = NetworkMode.NONE if gate is None else NetworkMode.DOMAINS
                run = await session.start(job(code, network=mode, gate=gate), lambda _usage: None)
                result = await run.finished()
                said.append(result.stdout.strip() or result.stderr)
                if gate is not None:
                    gate.close()
        finally:
            await session.close()
        return said

    first, other, none, last = asyncio.run(body())
    assert (first, last) == ("200", "200")
    assert "403 Blocked by Assent: good.example:443" in other
    assert "name resolution" in none or "-3" in none or none in ("-2", "-3", "111"), none


@alike
def test_a_host_that_sends_faster_than_the_code_reads_is_made_to_wait(lab: Lab, web: Outside) -> None:
    """What the code does not read must not pile up in this process."""
    sent, closed = [0], threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_pour, args=(server, sent, closed))
        thread.start()
        here = Destination("localhost", server.getsockname()[1])
        code = f"""
import socket
one = socket.create_connection(("127.0.0.1", 3128))
one.sendall(b"CONNECT localhost:{here.port} HTTP/1.1\\r\\nHost: localhost:{here.port}\\r\\n\\r\\n")
one.recv(100)
import time
time.sleep(1)
print("done")
"""
        gate = Gate([here], private=[here])
        assert run(lab, gate, code).stdout == "done\n"
        closed.wait(HANGS)
        thread.join()
    assert gate.received < 24 << 20, gate.received


def _pour(server: socket.socket, sent: list[int], closed: threading.Event) -> None:
    connection, _ = server.accept()
    with connection:
        try:
            while True:
                sent[0] += connection.send(bytes(1 << 16))
        except OSError:
            closed.set()


@alike
def test_bytes_are_the_same_in_both_directions_of_one_connection(lab: Lab, web: Outside) -> None:
    """A tunnel carries everything as it is, also when one direction ends before the other."""
    expected = hashlib.sha256(bytes(range(256)) * 4096).hexdigest()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_half, args=(server,))
        thread.start()
        here = Destination("localhost", server.getsockname()[1])
        code = f"""
import hashlib, socket
one = socket.create_connection(("127.0.0.1", 3128), 60)
one.sendall(b"CONNECT localhost:{here.port} HTTP/1.1\\r\\nHost: localhost:{here.port}\\r\\n\\r\\n")
head = b""
while not head.endswith(b"\\r\\n\\r\\n"): head += one.recv(1)
one.sendall(bytes(range(256)) * 4096)
one.shutdown(socket.SHUT_WR)
data = b""
while more := one.recv(65536): data += more
print(data.decode())
"""
        result = run(lab, Gate([here], private=[here]), code)
        thread.join()
    assert result.stdout == f"{expected}\n", result


def _half(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        data = b""
        while more := connection.recv(65536):
            data += more
        connection.sendall(hashlib.sha256(data).hexdigest().encode())
