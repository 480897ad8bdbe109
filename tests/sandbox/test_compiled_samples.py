"""Samples of what people try first, for each language that is compiled first, in the local sandbox.

Each is also common in Python, JavaScript and Bash: a greeting with the version, the workspace's files, no
network and an allowed host, its limits, and nothing of this machine.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from tests.compiled import COMPILED
from tests.components import require
from tests.contract.web import EVIL, GOOD, outside, reached, refused
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import Result, Usage
    from runner.sandbox.local.session import LocalSession

WORKSPACE = {
    "go": """package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

func main() {
	fmt.Println("Go", runtime.Version())
	fmt.Println("Hello from gVisor sandbox!")
	if _, err := net.DialTimeout("tcp", "example.com:443", 30*time.Second); err != nil {
		fmt.Println("ConnectionError")
	}
	if _, err := os.ReadFile(os.Getenv("secret")); err != nil {
		fmt.Println("No host access")
	}
	if os.WriteFile("/workspace/../outside.txt", nil, 0o644) != nil {
		fmt.Println("No way out")
	}
	given, err := os.ReadFile("/workspace/config.json")
	if err != nil {
		panic(err)
	}
	os.WriteFile("/workspace/output.txt", given, 0o644)
	os.Mkdir("/workspace/data", 0o755)
	os.WriteFile("/workspace/data/results.json", []byte("{}"), 0o644)
	entries, _ := os.ReadDir("/workspace")
	for _, entry := range entries {
		fmt.Println(entry.Name())
	}
}
""",
    "rust": """use std::{env, fs, net::TcpStream};

fn main() {
    println!("Rust {}", env::consts::ARCH);
    println!("Hello from gVisor sandbox!");
    if TcpStream::connect("example.com:443").is_err() {
        println!("ConnectionError");
    }
    if fs::read(env::var("secret").unwrap()).is_err() {
        println!("No host access");
    }
    if fs::write("/workspace/../outside.txt", "").is_err() {
        println!("No way out");
    }
    let given = fs::read("/workspace/config.json").unwrap();
    fs::write("/workspace/output.txt", &given).unwrap();
    fs::create_dir("/workspace/data").unwrap();
    fs::write("/workspace/data/results.json", "{}").unwrap();
    let mut names: Vec<_> = fs::read_dir("/workspace").unwrap().map(|one| one.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        println!("{}", name.to_string_lossy());
    }
}
""",
    "java": """import java.io.*;
import java.net.Socket;
import java.nio.file.*;

public class Main {
    public static void main(String[] given) throws IOException {
        System.out.println("Java " + System.getProperty("java.version"));
        System.out.println("Hello from gVisor sandbox!");
        try (Socket socket = new Socket("example.com", 443)) {
            System.out.println("connected");
        } catch (IOException error) {
            System.out.println("ConnectionError");
        }
        try {
            Files.readString(Path.of(System.getenv("secret")));
        } catch (IOException error) {
            System.out.println("No host access");
        }
        try {
            Files.writeString(Path.of("/workspace/../outside.txt"), "");
        } catch (IOException error) {
            System.out.println("No way out");
        }
        Files.copy(Path.of("/workspace/config.json"), Path.of("/workspace/output.txt"));
        Files.createDirectory(Path.of("/workspace/data"));
        Files.writeString(Path.of("/workspace/data/results.json"), "{}");
        try (var listed = Files.list(Path.of("/workspace"))) {
            listed.map(Path::getFileName).sorted().forEach(System.out::println);
        }
    }
}
""",
}
"""Sections Supported Languages, Network Isolation and Filesystem Isolation."""
FETCHES = {
    "go": """package main

import (
	"fmt"
	"net"
	"os"
)

func main() {
	for _, site := range []string{os.Getenv("good"), os.Getenv("evil")} {
		stream, err := net.Dial("tcp", site+":80")
		if err != nil {
			fmt.Println("ConnectionError")
			continue
		}
		fmt.Fprintf(stream, "GET / HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n", site)
		var version, status string
		fmt.Fscan(stream, &version, &status)
		fmt.Println(status)
	}
}
""",
    "rust": """use std::{env, io::{Read, Write}, net::TcpStream};

fn status(site: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((site, 80))?;
    write!(stream, "GET / HTTP/1.0\\r\\nHost: {}\\r\\n\\r\\n", site)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split(' ').nth(1).unwrap_or("none").to_string())
}

fn main() {
    for name in ["good", "evil"] {
        println!("{}", status(&env::var(name).unwrap()).unwrap_or("ConnectionError".to_string()));
    }
}
""",
    "java": """import java.io.IOException;
import java.net.*;

public class Main {
    public static void main(String[] given) throws IOException {
        for (String name : new String[] {"good", "evil"}) {
            try {
                URL site = new URL("http://" + System.getenv(name) + "/");
                System.out.println(((HttpURLConnection) site.openConnection()).getResponseCode());
            } catch (IOException error) {
                System.out.println("ConnectionError");
            }
        }
    }
}
""",
}
"""Section Optional: Allowlisted Domains."""
LIMITED = {
    "go": """package main

import (
	"fmt"
	"os"
)

func main() {
	held := [][]byte{}
	file, _ := os.Create("large")
	for number := 0; number < 20000; number++ {
		switch os.Getenv("what") {
		case "memory":
			more := make([]byte, 1<<20)
			for at := range more {
				more[at] = 1
			}
			held = append(held, more)
		case "disk":
			if _, err := file.Write(make([]byte, 1<<20)); err != nil {
				panic(err)
			}
		default:
			fmt.Println("Line", number)
		}
	}
}
""",
    "rust": """use std::{env, fs::File, io::Write};

fn main() {
    let what = env::var("what").unwrap();
    let mut held = Vec::new();
    let mut file = File::create("large").unwrap();
    for number in 0..20000 {
        match what.as_str() {
            "memory" => held.push(vec![1u8; 1 << 20]),
            "disk" => file.write_all(&[0; 1 << 20]).unwrap(),
            _ => println!("Line {}", number),
        }
    }
    println!("{}", held.len());
}
""",
    "java": """import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] given) throws IOException {
        List<byte[]> held = new ArrayList<>();
        try (OutputStream file = new FileOutputStream("large")) {
            for (int number = 0; number < 20000; number++) {
                switch (System.getenv("what")) {
                    case "memory" -> held.add(new byte[1 << 20]);
                    case "disk" -> file.write(new byte[1 << 20]);
                    default -> System.out.println("Line " + number);
                }
            }
        }
    }
}
""",
}
"""Section Enforcement."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSandbox]:
    require("bubblewrap")
    made = LocalSandbox(tmp_path_factory.mktemp("runs"))
    yield made
    asyncio.run(made.close())


def wanted(language: Language, code: str, context: str, **changes: Any) -> Job:
    limits: dict[str, Any] = {"seconds": HANGS, "memory_mb": 1024, "disk_mb": 256, "processes": 256, "cpu_cores": 2.0}
    limits |= {name: changes.pop(name) for name in list(changes) if name in Limits.__slots__}
    return Job("test", language, code, Limits(**limits), context=context, **changes)


async def ran(place: LocalSandbox | LocalSession, job: Job) -> Result:
    readings: list[Usage] = []
    return await (await place.start(job, readings.append)).finished()


@pytest.mark.parametrize("language", COMPILED)
def test_files_of_the_workspace_and_nothing_of_this_machine(
    sandbox: LocalSandbox, language: Language, tmp_path: Path
) -> None:
    require(language.value)
    secret = tmp_path / "secret"
    secret.write_text("of this machine")
    job = wanted(language, WORKSPACE[language], f'{{"secret": "{secret}"}}')

    async def body() -> None:
        session = await sandbox.open(language, job.limits, "")
        try:
            await session.write("config.json", b'{"a": 1}', executable=False)
            found = await ran(session, job)
            version, *lines = found.stdout.splitlines()
            assert version.startswith(("Go go1.", "Rust ", "Java ")), found
            said = ["Hello from gVisor sandbox!", "ConnectionError", "No host access", "No way out"]
            names = ["config.json", "data", "output.txt"]
            # The code itself is there as well, in a file whose name begins with a point.
            shown = [line for line in lines if not line.startswith(".")]
            assert shown == [*said, *names] and found.outcome is Outcome.OK, found
            assert (await session.read("output.txt", 0, 100)).data == b'{"a": 1}'
            assert (await session.files("data")).entries[0].name == "results.json"
        finally:
            await session.close()

    asyncio.run(body())


@pytest.mark.parametrize("language", COMPILED)
def test_an_allowed_host_is_reached_and_no_other(sandbox: LocalSandbox, language: Language, tmp_path: Path) -> None:
    require(language.value)
    with outside(tmp_path) as web:
        gate = web.gate(f"{GOOD}:80")
        context = f'{{"good": "{GOOD}", "evil": "{EVIL}"}}'
        job = wanted(language, FETCHES[language], context, network=NetworkMode.DOMAINS, gate=gate)
        found = asyncio.run(ran(sandbox, job))
        gate.close()
    assert (found.stdout, found.outcome) == ("200\n403\n", Outcome.OK), found
    assert (reached(gate), refused(gate)) == ({f"{GOOD}:80"}, {f"{EVIL}:80"})


@pytest.mark.parametrize("language", COMPILED)
def test_memory_disk_and_output_are_bound(sandbox: LocalSandbox, language: Language) -> None:
    require(language.value)

    def run(what: str, **limits: int) -> Result:
        return asyncio.run(ran(sandbox, wanted(language, LIMITED[language], f'{{"what": "{what}"}}', **limits)))

    memory = run("memory", memory_mb=384)
    assert (memory.outcome, memory.error) == (Outcome.OUT_OF_MEMORY, "Ran out of memory (384 MB limit)"), memory
    disk = run("disk", disk_mb=128)
    assert (disk.outcome, disk.error) == (Outcome.OUT_OF_DISK, "Ran out of disk space (128 MB limit)"), disk
    output = run("output", output_bytes=10_000)
    assert output.meta.truncated and "output truncated" in output.stdout and output.outcome is Outcome.OK, output
