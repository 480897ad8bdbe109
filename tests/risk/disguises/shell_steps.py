"""Ways to write a word in a shell script, and to rewrite a whole script."""

from __future__ import annotations

import base64
import codecs
import gzip
import shlex
from typing import TYPE_CHECKING

from tests.risk.disguises.shell_places import compound, name_step, word_step
from tests.risk.disguises.step import Pattern, all_of, steps

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def backslashes(word: str, maker: Maker) -> str:
    r"""\r\m"""
    return "".join("\\" + one for one in word)


def ansi_escapes(word: str, maker: Maker) -> str:
    r"""$'\x72\x6d'"""
    return "$'" + "".join(f"\\x{ord(one):02x}" for one in word) + "'"


def octal_escapes(word: str, maker: Maker) -> str:
    r"""$'\162\155'"""
    return "$'" + "".join(f"\\{ord(one):03o}" for one in word) + "'"


def grown_in_a_loop(word: str, maker: Maker) -> str:
    """a=; for c in r m; do a+=$c; done; $a"""
    name, turn = maker.name(), maker.name()
    maker.before(f"{name}=\nfor {turn} in {' '.join(word)}; do {name}+=${turn}; done")
    return f"${name}"


def letters_of_an_array(word: str, maker: Maker) -> str:
    """a=(r m); IFS= ; "${a[*]}" without spaces"""
    name, whole = maker.name(), maker.name()
    maker.before(f"{name}=({' '.join(word)})\nprintf -v {whole} %s ${{{name}[@]}}")
    return f"${whole}"


def sliced(word: str, maker: Maker) -> str:
    """a=xxrmyy; ${a:2:2}"""
    name = maker.name()
    maker.before(f"{name}=xx{word}yy")
    return f"${{{name}:2:{len(word)}}}"


def replaced(word: str, maker: Maker) -> str:
    """a=rQm; ${a//Q/}"""
    name = maker.name()
    if not (mark := maker.letter(word)):
        return word
    maker.before(f"{name}={mark.join(word)}")
    return f"${{{name}//{mark}/}}"


def lower_case(word: str, maker: Maker) -> str:
    """a=RM; ${a,,}"""
    name = maker.name()
    maker.before(f"{name}={word.upper()}")
    return f"${{{name},,}}" if word.islower() else word


def echoed(word: str, maker: Maker) -> str:
    """$(echo rm)"""
    return f"$(echo {word})" if word[0] != "-" else word


def back_quoted(word: str, maker: Maker) -> str:
    """`echo rm`"""
    return f"`echo {word}`" if word[0] != "-" and "`" not in maker.code else word


def printed(word: str, maker: Maker) -> str:
    r"""$(printf '\x72\x6d')"""
    return "$(printf '" + "".join(f"\\x{ord(one):02x}" for one in word) + "')"


def printed_octal(word: str, maker: Maker) -> str:
    r"""$(echo -e '\0162\0155')"""
    return "$(echo -e '" + "".join(f"\\0{ord(one):03o}" for one in word) + "')"


def reversed_word(word: str, maker: Maker) -> str:
    """$(echo mr | rev)"""
    return f"$(echo {word[::-1]} | rev)" if "-" not in (word[0], word[-1]) else word


def rotated(word: str, maker: Maker) -> str:
    """$(echo ez | tr a-z n-za-m)"""
    if word[0] == "-":
        return word
    return f"$(echo {codecs.encode(word, 'rot13')} | tr 'A-Za-z' 'N-ZA-Mn-za-m')"


def base64_decoded(word: str, maker: Maker) -> str:
    """$(echo cm0= | base64 -d)"""
    return f"$(echo {base64.b64encode(word.encode()).decode()} | base64 -d)"


def hex_decoded(word: str, maker: Maker) -> str:
    """$(echo 726d | xxd -r -p)"""
    return f"$(echo {word.encode().hex()} | xxd -r -p)"


def edited(word: str, maker: Maker) -> str:
    """$(echo rQm | sed s/Q//g)"""
    if not (mark := maker.letter(word)):
        return word
    return f"$(echo {mark.join(word)} | sed 's/{mark}//g')"


def letters_deleted(word: str, maker: Maker) -> str:
    """$(echo rQm | tr -d Q)"""
    if not (mark := maker.letter(word)):
        return word
    return f"$(echo {mark.join(word)} | tr -d {mark})"


def by_printing_function(word: str, maker: Maker) -> str:
    """f() { echo rm; }; $(f)"""
    if word[0] == "-":
        return word
    name = maker.name()
    maker.before(f"{name}() {{ echo {word}; }}")
    return f"$({name})"


WORD_STEPS = all_of(
    (
        Pattern("empty quotes", "LEFT''RIGHT"),
        Pattern("quoted letters", "\"LEFT\"'RIGHT'"),
        backslashes,
        ansi_escapes,
        octal_escapes,
        Pattern("in a variable", "$NAME", before="NAME=IT"),
        Pattern("in two variables", "${NAME}${OTHER}", before="NAME=LEFT\nOTHER=RIGHT"),
        Pattern("grown variable", "$NAME", before="NAME=LEFT\nNAME+=RIGHT"),
        grown_in_a_loop,
        Pattern("in an array", "${NAME[1]}", before="NAME=(no IT)"),
        Pattern("in a map", "${NAME[k]}", before="declare -A NAME\nNAME[k]=IT"),
        letters_of_an_array,
        Pattern("indirect", "${!OTHER}", before="NAME=IT\nOTHER=NAME"),
        Pattern("by reference", "$OTHER", before="NAME=IT\ndeclare -n OTHER=NAME"),
        Pattern("default value", "${NAME:-IT}"),
        sliced,
        replaced,
        Pattern("prefix removed", "${NAME#*=}", before="NAME=xx=IT"),
        Pattern("suffix removed", "${NAME%=*}", before="NAME=IT=xx"),
        lower_case,
        echoed,
        back_quoted,
        printed,
        Pattern("printed in pieces", "$(printf %s%s LEFT RIGHT)"),
        printed_octal,
        reversed_word,
        rotated,
        base64_decoded,
        hex_decoded,
        Pattern("cut out", "$(echo 'no rm IT' | cut -d' ' -f3)"),
        edited,
        letters_deleted,
        Pattern("printed by awk", "$(awk 'BEGIN{print \"IT\"}')"),
        Pattern("printed by python", "$(python3 -c 'print(\"IT\")')"),
        Pattern("read from a string", "$NAME", before="read -r NAME <<< IT"),
        Pattern("read from a document", "$NAME", before="NAME=$(cat <<'END'\nIT\nEND\n)"),
        Pattern("printed into a variable", "$NAME", before="printf -v NAME %s IT"),
        by_printing_function,
        Pattern("line continued", "LEFT\\\nRIGHT"),
    ),
    word_step,
)


def by_environment(word: str, maker: Maker) -> str:
    """env A=b rm"""
    return f"env {maker.name()}=1 {word}" if word not in BUILTIN else word


def by_nice(word: str, maker: Maker) -> str:
    """nice -n 1 rm"""
    return f"nice -n 1 {word}" if word not in BUILTIN else word


def by_timeout(word: str, maker: Maker) -> str:
    """timeout 60 rm"""
    return f"timeout 60 {word}" if word not in BUILTIN else word


def by_eval(word: str, maker: Maker) -> str:
    """eval rm"""
    return f"eval {word}"


BUILTIN = frozenset(["echo", "history", "cd", "source", "eval", "true", "command", "exec", "builtin", "trap", "type"])
NAME_STEPS = all_of(
    (
        Pattern("by command", "command IT"),
        by_environment,
        by_nice,
        by_timeout,
        Pattern("by function", "NAME", before='NAME() { command IT "$@"; }'),
        Pattern("by shifting function", "NAME IT", before='NAME() { local c=$1; shift; "$c" "$@"; }'),
        Pattern("by calling function", "NAME IT", before='NAME() { "$@"; }'),
        Pattern("by alias", "NAME", before="shopt -s expand_aliases\nalias NAME=IT"),
    ),
    name_step,
)


def at_the_end(code: str, maker: Maker) -> str:
    """f() { ... }; trap f EXIT"""
    name = maker.name()
    return f"{name}() {{\n{code}\n}}\ntrap {name} EXIT" if "trap" not in code else code


def in_a_document(code: str, maker: Maker) -> str:
    """bash <<'E' ... E"""
    return f"bash <<'{maker.name().upper()}'\n{code}\n{maker.code.split()[-1].upper()}"


def encoded(code: str, maker: Maker) -> str:
    """echo ... | base64 -d | bash"""
    return f"echo {base64.b64encode(code.encode()).decode()} | base64 -d | bash"


def evaluated_encoded(code: str, maker: Maker) -> str:
    """eval "$(echo ... | base64 -d)" """
    return f'eval "$(echo {base64.b64encode(code.encode()).decode()} | base64 -d)"'


def packed(code: str, maker: Maker) -> str:
    """echo ... | base64 -d | gunzip | bash"""
    data = base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()
    return f"echo {data} | base64 -d | gunzip | bash"


def by_awk(code: str, maker: Maker) -> str:
    """awk 'BEGIN { system("...") }'"""
    if set(code) & set("'\\\"\n"):
        return code
    return f"awk 'BEGIN {{ system(\"{code}\") }}'"


def in_python(code: str, maker: Maker) -> str:
    """python3 -c 'import subprocess; subprocess.run(["bash", "-c", "..."])'"""
    script = f"import subprocess\nsubprocess.run(['bash', '-c', {code!r}])"
    return f"python3 -c {shlex.quote(script)}"


def in_node(code: str, maker: Maker) -> str:
    """node -e 'require("child_process").spawnSync("bash", ["-c", "..."])'"""
    text = '"' + code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    script = f"require('child_process').spawnSync('bash', ['-c', {text}], {{ stdio: 'inherit' }})"
    return f"node -e {shlex.quote(script)}"


PROGRAM_STEPS = (
    *compound(
        Pattern("in a function", "NAME() {\nIT\n}\nNAME"),
        Pattern("in a subshell", "(\nIT\n)"),
        Pattern("in a group", "{\nIT\n}"),
        Pattern("in a branch", "if [ -n x ]; then\nIT\nfi"),
        Pattern("in a case", "case x in\nx)\nIT\n;;\nesac"),
        Pattern("in a loop", "for NAME in 1; do\nIT\ndone"),
        Pattern("in an endless loop", "while :; do\nIT\nbreak\ndone"),
        Pattern("in a negated list", "false || {\nIT\n}"),
        Pattern("in the background", "{\nIT\n} &\nwait"),
        at_the_end,
        Pattern("in a process substitution", "cat <(\nIT\n)"),
        Pattern("in a command substitution", "NAME=$(\nIT\n)\nprintf '%s\\n' \"$NAME\""),
    ),
    *steps(
        Pattern("evaluated", "eval IT", write=shlex.quote),
        Pattern("evaluated variable", 'NAME=IT\neval "$NAME"', write=shlex.quote),
        Pattern("in another shell", "bash -c IT", write=shlex.quote),
        in_a_document,
        Pattern("in a string", "bash <<< IT", write=shlex.quote),
        Pattern("piped", "printf %s IT | bash", write=shlex.quote),
        Pattern("sourced", "source <(printf '%s\\n' IT)", write=shlex.quote),
        Pattern("sourced from a string", ". /dev/stdin <<< IT", write=shlex.quote),
        encoded,
        evaluated_encoded,
        packed,
        Pattern("by xargs", "echo x | xargs -I@@ bash -c IT", write=shlex.quote),
        Pattern("by find", "find / -maxdepth 0 -exec bash -c IT \\;", write=shlex.quote),
        by_awk,
        in_python,
        in_node,
        hides=True,
    ),
)
