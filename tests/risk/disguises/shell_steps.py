"""Ways to write a word in a shell script, and to rewrite a whole script."""

from __future__ import annotations

import base64
import codecs
import gzip
import shlex
from typing import TYPE_CHECKING

from tests.risk.disguises.shell_places import compound, name_step, word_step
from tests.risk.disguises.step import all_of, steps

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def empty_quotes(word: str, maker: Maker) -> str:
    """r''m"""
    left, right = maker.cut(word)
    return f"{left}''{right}"


def quoted_letters(word: str, maker: Maker) -> str:
    """ "r"'m'"""
    left, right = maker.cut(word)
    return f"\"{left}\"'{right}'"


def backslashes(word: str, maker: Maker) -> str:
    r"""\r\m"""
    return "".join("\\" + one for one in word)


def ansi_escapes(word: str, maker: Maker) -> str:
    r"""$'\x72\x6d'"""
    return "$'" + "".join(f"\\x{ord(one):02x}" for one in word) + "'"


def octal_escapes(word: str, maker: Maker) -> str:
    r"""$'\162\155'"""
    return "$'" + "".join(f"\\{ord(one):03o}" for one in word) + "'"


def in_a_variable(word: str, maker: Maker) -> str:
    """a=rm; $a"""
    name = maker.name()
    maker.before(f"{name}={word}")
    return f"${name}"


def in_two_variables(word: str, maker: Maker) -> str:
    """a=r b=m; $a$b"""
    left, right = maker.cut(word)
    one, two = maker.name(), maker.name()
    maker.before(f"{one}={left}\n{two}={right}")
    return f"${{{one}}}${{{two}}}"


def grown_variable(word: str, maker: Maker) -> str:
    """a=r; a+=m; $a"""
    left, right = maker.cut(word)
    name = maker.name()
    maker.before(f"{name}={left}\n{name}+={right}")
    return f"${name}"


def grown_in_a_loop(word: str, maker: Maker) -> str:
    """a=; for c in r m; do a+=$c; done; $a"""
    name, turn = maker.name(), maker.name()
    maker.before(f"{name}=\nfor {turn} in {' '.join(word)}; do {name}+=${turn}; done")
    return f"${name}"


def in_an_array(word: str, maker: Maker) -> str:
    """a=(no rm); ${a[1]}"""
    name = maker.name()
    maker.before(f"{name}=(no {word})")
    return f"${{{name}[1]}}"


def in_a_map(word: str, maker: Maker) -> str:
    """declare -A a; a[k]=rm; ${a[k]}"""
    name = maker.name()
    maker.before(f"declare -A {name}\n{name}[k]={word}")
    return f"${{{name}[k]}}"


def letters_of_an_array(word: str, maker: Maker) -> str:
    """a=(r m); IFS= ; "${a[*]}" without spaces"""
    name, whole = maker.name(), maker.name()
    maker.before(f"{name}=({' '.join(word)})\nprintf -v {whole} %s ${{{name}[@]}}")
    return f"${whole}"


def indirect(word: str, maker: Maker) -> str:
    """a=rm; b=a; ${!b}"""
    one, two = maker.name(), maker.name()
    maker.before(f"{one}={word}\n{two}={one}")
    return f"${{!{two}}}"


def by_reference(word: str, maker: Maker) -> str:
    """a=rm; declare -n b=a; $b"""
    one, two = maker.name(), maker.name()
    maker.before(f"{one}={word}\ndeclare -n {two}={one}")
    return f"${two}"


def default_value(word: str, maker: Maker) -> str:
    """${unset:-rm}"""
    return f"${{{maker.name()}:-{word}}}"


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


def prefix_removed(word: str, maker: Maker) -> str:
    """a=xx.rm; ${a#*.}"""
    name = maker.name()
    maker.before(f"{name}=xx={word}")
    return f"${{{name}#*=}}"


def suffix_removed(word: str, maker: Maker) -> str:
    """a=rm=xx; ${a%=*}"""
    name = maker.name()
    maker.before(f"{name}={word}=xx")
    return f"${{{name}%=*}}"


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


def printed_in_pieces(word: str, maker: Maker) -> str:
    """$(printf %s%s r m)"""
    left, right = maker.cut(word)
    return f"$(printf %s%s {left} {right})"


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


def cut_out(word: str, maker: Maker) -> str:
    """$(echo no:rm | cut -d: -f2)"""
    return f"$(echo 'no rm {word}' | cut -d' ' -f3)"


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


def printed_by_awk(word: str, maker: Maker) -> str:
    """$(awk 'BEGIN{print "rm"}')"""
    return f"$(awk 'BEGIN{{print \"{word}\"}}')"


def printed_by_python(word: str, maker: Maker) -> str:
    """$(python3 -c 'print("rm")')"""
    return f"$(python3 -c 'print(\"{word}\")')"


def read_from_a_string(word: str, maker: Maker) -> str:
    """read a <<< rm; $a"""
    name = maker.name()
    maker.before(f"read -r {name} <<< {word}")
    return f"${name}"


def read_from_a_document(word: str, maker: Maker) -> str:
    """a=$(cat <<E ... E)"""
    name = maker.name()
    maker.before(f"{name}=$(cat <<'END'\n{word}\nEND\n)")
    return f"${name}"


def printed_into_a_variable(word: str, maker: Maker) -> str:
    """printf -v a %s rm; $a"""
    name = maker.name()
    maker.before(f"printf -v {name} %s {word}")
    return f"${name}"


def by_printing_function(word: str, maker: Maker) -> str:
    """f() { echo rm; }; $(f)"""
    if word[0] == "-":
        return word
    name = maker.name()
    maker.before(f"{name}() {{ echo {word}; }}")
    return f"$({name})"


def line_continued(word: str, maker: Maker) -> str:
    """r\\ and m on the next line"""
    left, right = maker.cut(word)
    return f"{left}\\\n{right}"


WORD_STEPS = all_of(
    (
        empty_quotes,
        quoted_letters,
        backslashes,
        ansi_escapes,
        octal_escapes,
        in_a_variable,
        in_two_variables,
        grown_variable,
        grown_in_a_loop,
        in_an_array,
        in_a_map,
        letters_of_an_array,
        indirect,
        by_reference,
        default_value,
        sliced,
        replaced,
        prefix_removed,
        suffix_removed,
        lower_case,
        echoed,
        back_quoted,
        printed,
        printed_in_pieces,
        printed_octal,
        reversed_word,
        rotated,
        base64_decoded,
        hex_decoded,
        cut_out,
        edited,
        letters_deleted,
        printed_by_awk,
        printed_by_python,
        read_from_a_string,
        read_from_a_document,
        printed_into_a_variable,
        by_printing_function,
        line_continued,
    ),
    word_step,
)


def by_command(word: str, maker: Maker) -> str:
    """command rm"""
    return f"command {word}"


def by_environment(word: str, maker: Maker) -> str:
    """env A=b rm"""
    return f"env {maker.name()}=1 {word}" if word not in BUILTIN else word


def by_nice(word: str, maker: Maker) -> str:
    """nice -n 1 rm"""
    return f"nice -n 1 {word}" if word not in BUILTIN else word


def by_timeout(word: str, maker: Maker) -> str:
    """timeout 60 rm"""
    return f"timeout 60 {word}" if word not in BUILTIN else word


def by_function(word: str, maker: Maker) -> str:
    """f() { command rm "$@"; }; f"""
    name = maker.name()
    maker.before(f'{name}() {{ command {word} "$@"; }}')
    return name


def by_shifting_function(word: str, maker: Maker) -> str:
    """f() { local c=$1; shift; "$c" "$@"; }; f rm"""
    name = maker.name()
    maker.before(f'{name}() {{ local c=$1; shift; "$c" "$@"; }}')
    return f"{name} {word}"


def by_calling_function(word: str, maker: Maker) -> str:
    """f() { "$@"; }; f rm"""
    name = maker.name()
    maker.before(f'{name}() {{ "$@"; }}')
    return f"{name} {word}"


def by_alias(word: str, maker: Maker) -> str:
    """alias a=rm; a"""
    name = maker.name()
    maker.before(f"shopt -s expand_aliases\nalias {name}={word}")
    return name


def by_eval(word: str, maker: Maker) -> str:
    """eval rm"""
    return f"eval {word}"


BUILTIN = frozenset(["echo", "history", "cd", "source", "eval", "true", "command", "exec", "builtin", "trap", "type"])
NAME_STEPS = all_of(
    (
        by_command,
        by_environment,
        by_nice,
        by_timeout,
        by_function,
        by_shifting_function,
        by_calling_function,
        by_alias,
    ),
    name_step,
)


def in_a_function(code: str, maker: Maker) -> str:
    """f() { ... }; f"""
    name = maker.name()
    return f"{name}() {{\n{code}\n}}\n{name}"


def in_a_subshell(code: str, maker: Maker) -> str:
    """( ... )"""
    return f"(\n{code}\n)"


def in_a_group(code: str, maker: Maker) -> str:
    """{ ...; }"""
    return f"{{\n{code}\n}}"


def in_a_branch(code: str, maker: Maker) -> str:
    """if true; then ...; fi"""
    return f"if [ -n x ]; then\n{code}\nfi"


def in_a_case(code: str, maker: Maker) -> str:
    """case x in x) ... ;; esac"""
    return f"case x in\nx)\n{code}\n;;\nesac"


def in_a_loop(code: str, maker: Maker) -> str:
    """for i in 1; do ...; done"""
    return f"for {maker.name()} in 1; do\n{code}\ndone"


def in_an_endless_loop(code: str, maker: Maker) -> str:
    """while :; do ...; break; done"""
    return f"while :; do\n{code}\nbreak\ndone"


def in_a_negated_list(code: str, maker: Maker) -> str:
    """false || { ...; }"""
    return f"false || {{\n{code}\n}}"


def in_the_background(code: str, maker: Maker) -> str:
    """{ ...; } & wait"""
    return f"{{\n{code}\n}} &\nwait"


def at_the_end(code: str, maker: Maker) -> str:
    """f() { ... }; trap f EXIT"""
    name = maker.name()
    return f"{name}() {{\n{code}\n}}\ntrap {name} EXIT" if "trap" not in code else code


def in_a_process_substitution(code: str, maker: Maker) -> str:
    """cat <( ... )"""
    return f"cat <(\n{code}\n)"


def in_a_command_substitution(code: str, maker: Maker) -> str:
    """a=$( ... ); echo "$a" """
    name = maker.name()
    return f"{name}=$(\n{code}\n)\nprintf '%s\\n' \"${name}\""


def evaluated(code: str, maker: Maker) -> str:
    """eval '...'"""
    return f"eval {shlex.quote(code)}"


def evaluated_variable(code: str, maker: Maker) -> str:
    """a='...'; eval "$a" """
    name = maker.name()
    return f'{name}={shlex.quote(code)}\neval "${name}"'


def in_another_shell(code: str, maker: Maker) -> str:
    """bash -c '...'"""
    return f"bash -c {shlex.quote(code)}"


def in_a_document(code: str, maker: Maker) -> str:
    """bash <<'E' ... E"""
    return f"bash <<'{maker.name().upper()}'\n{code}\n{maker.code.split()[-1].upper()}"


def in_a_string(code: str, maker: Maker) -> str:
    """bash <<< '...'"""
    return f"bash <<< {shlex.quote(code)}"


def piped(code: str, maker: Maker) -> str:
    """printf %s '...' | bash"""
    return f"printf %s {shlex.quote(code)} | bash"


def sourced(code: str, maker: Maker) -> str:
    """source <(printf %s '...')"""
    return f"source <(printf '%s\\n' {shlex.quote(code)})"


def sourced_from_a_string(code: str, maker: Maker) -> str:
    """. /dev/stdin <<< '...'"""
    return f". /dev/stdin <<< {shlex.quote(code)}"


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


def by_xargs(code: str, maker: Maker) -> str:
    """echo x | xargs -I_ bash -c '...'"""
    return f"echo x | xargs -I@@ bash -c {shlex.quote(code)}"


def by_find(code: str, maker: Maker) -> str:
    """find / -maxdepth 0 -exec bash -c '...' ;"""
    return f"find / -maxdepth 0 -exec bash -c {shlex.quote(code)} \\;"


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
        in_a_function,
        in_a_subshell,
        in_a_group,
        in_a_branch,
        in_a_case,
        in_a_loop,
        in_an_endless_loop,
        in_a_negated_list,
        in_the_background,
        at_the_end,
        in_a_process_substitution,
        in_a_command_substitution,
    ),
    *steps(
        evaluated,
        evaluated_variable,
        in_another_shell,
        in_a_document,
        in_a_string,
        piped,
        sourced,
        sourced_from_a_string,
        encoded,
        evaluated_encoded,
        packed,
        by_xargs,
        by_find,
        by_awk,
        in_python,
        in_node,
        hides=True,
    ),
)
