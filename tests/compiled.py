"""Programs in the languages that are compiled first, alike in each, for several folders of tests."""

from __future__ import annotations

from runner.model.language_support import LANGUAGES, OWN

COMPILED = tuple(one for one in OWN if LANGUAGES[one].toolchain is not None)
LISTS = {
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"io"\n\t"os"\n)\n\nfunc main() {\n\tgiven, _ := io.ReadAll(os.Stdin)\n'
    '\tfmt.Println(string(given), os.Getenv("note"), len(os.Args))\n\tos.WriteFile("left.txt", given, 0o644)\n'
    "\tos.Exit(3)\n}\n",
    "rust": "use std::io::Read;\nfn main() {\n    let mut given = String::new();\n"
    "    std::io::stdin().read_to_string(&mut given).unwrap();\n"
    '    println!("{} {} {}", given, std::env::var("note").unwrap(), std::env::args().count());\n'
    '    std::fs::write("left.txt", &given).unwrap();\n    std::process::exit(3);\n}\n',
    "java": "import java.nio.file.*;\nclass Main {\n  public static void main(String[] given) throws Exception {\n"
    "    String text = new String(System.in.readAllBytes());\n"
    '    System.out.println(text + " " + System.getenv("note") + " " + (given.length + 1));\n'
    '    Files.writeString(Path.of("left.txt"), text);\n    System.exit(3);\n  }\n}\n',
}
"""Prints its input, a variable and the number of its arguments with its own name, leaves a file, and ends with 3."""
WITHOUT_END = {
    "go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("on")\n\tfor {\n\t}\n}\n',
    "rust": 'fn main() {\n    println!("on");\n    loop {}\n}\n',
    "java": 'class Main {\n  public static void main(String[] given) {\n    System.out.println("on");\n'
    "    while (true) {}\n  }\n}\n",
}
"""Prints a word, and computes until it is ended."""


def broken(language: str) -> tuple[str, int]:
    """A program that its compiler refuses, by the name sixTimesSeven, and the line of that."""
    code = LANGUAGES[next(one for one in COMPILED if one == language)].sample[0].replace("6 * 7", "sixTimesSeven()")
    return code, next(at for at, text in enumerate(code.split("\n"), 1) if "sixTimesSeven" in text)
