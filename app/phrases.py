"""Requests, decisions and results in the words the window uses."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, assert_never

from app.parts import dates
from app.parts.amounts import size
from app.parts.text.visible_characters import visible as visible  # one of the phrases that every page uses
from runner.approval.modes import TRUST_RULE
from runner.model.decision import Decider, Verdict
from runner.model.language_support import LANGUAGES
from runner.model.request import PARTS, Isolation, Language, NetworkMode, Tool
from runner.model.result import Outcome
from runner.model.shown import hides
from runner.model.submission import Submission
from runner.model.tool_facts import FACTS
from runner.model.translation import capital, numeral, plural, tr, translated, within

if TYPE_CHECKING:
    from runner.model.decision import Decision
    from runner.model.plan import Plan
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.model.span import Span

REASON_LENGTH = 500
"""Characters of a reason that agents get (spec D3)."""
TITLE_LENGTH = 120
_LONGEST = 80
"""Characters of what is said in short."""
_END = 4096
"""Characters at the end of an error output that are looked at."""
_NAMES_ERROR = re.compile(
    r"(?:Uncaught |Caused by: |Exception in thread \"[^\"]{1,100}\" )?"
    r"(?:[A-Za-z_][A-Za-z0-9_.]{0,100}(?:Error|Exception|Interrupt)\b|Error(?: \[[A-Z_]{1,60}\])?:)"
)
_COMPILER = re.compile(
    r"[A-Za-z0-9_./-]{1,200}\.(?:go|java|rs):[0-9]|error(?:\[E[0-9]{1,8}\])?: (?!aborting|compilation)"
    r"|panic: |fatal error: "
)
"""How the line of a compiler begins that names an error, and that of Go before it says what each goroutine did."""
_BESIDES = re.compile(r"at |Node.js v|note: |\.\.\. [0-9]+ more|For more information about ")
"""Of a runtime or a compiler, beside its error."""
PASSED = {"low-risk": tr("as LOW risk"), TRUST_RULE: tr("because you trusted the agent")}
"""Why a request passed without asking, by the names that Assent itself gives as a rule."""
NO_REASON = "Denied by a person."
"""What agents get where a person gave no reason."""
YOU = "(you)"
"""Who asks where the person does. No agent can have this name: those have no parentheses."""


def span(seconds: float) -> str:
    """Return a duration: `0.4 s`, `24 s`, `3 min`, `2 h`, `5 days`."""
    if seconds < 10:
        return f"{numeral(seconds, '.1f')} s"
    for length, word in ((86_400, tr("days")), (3_600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {word}"
    return f"{int(seconds)} s"


def times(asked: int) -> str:
    """Return how often an agent has sent the same request; empty for once."""
    return tr("asked {asked} times", asked=numeral(asked)) if asked > 1 else ""


def claim(request: Request) -> str:
    """Return what the agent's program says of itself, in quotes: nobody has verified it; empty for nothing."""
    return tr("says it is {program}", program=quoted(request.program)) if request.program else ""


def claims(request: Request) -> tuple[tuple[str, str], ...]:
    """Return what the agent says about why it asks, by name and in quotes: nobody has verified it."""
    return tuple((translated(name), tr("says {words}", words=quoted(text))) for name, text in request.claim.said)


def claimed(request: Request) -> str:
    """Return the same in one line, with its program: `Says: task "Speed up the tests", program "codex 0.91"`."""
    said = [f"{within(translated(name))} {quoted(text)}" for name, text in reversed(request.claim.said)]
    program = [tr("program {program}", program=quoted(request.program))] if request.program else []
    return tr("Says: {join}", join=", ".join([*said, *program])) if said else ""


def quoted(text: str) -> str:
    """Return the words of an agent in quotes, which nothing in them can end."""
    return f'"{visible(text).translate(_NO_QUOTES)}"'


_NO_QUOTES = str.maketrans(
    dict.fromkeys(
        '"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{DOUBLE LOW-9 QUOTATION MARK}'
        "\N{DOUBLE HIGH-REVERSED-9 QUOTATION MARK}\N{DOUBLE PRIME}\N{FULLWIDTH QUOTATION MARK}",
        "'",
    )
)


def sender(request: Request, several: bool = False) -> str:
    """Return the agent, and which of its sessions or programs where `several` are to be distinguished."""
    agent = visible(request.agent)
    if several and request.program and not request.session:
        return tr("{agent} as {program}", agent=agent, program=quoted(request.program))
    return (
        tr("session {session} of {agent}", session=numeral(request.session), agent=agent)
        if several and request.session
        else agent
    )


def ago(seconds: float) -> str:
    """Return how long ago: `now`, `24 s ago`, `3 min ago`."""
    return (
        tr("now")
        if seconds < 2
        else tr("{seconds} ago", seconds=span(int(seconds)))
        if seconds >= 10
        else tr("{seconds} s ago", seconds=int(seconds))
    )


def when(epoch: float) -> str:
    """Return a moment in local time: `14:03:22` today, else `2025-11-21 14:03`."""
    moment, today = time.localtime(epoch), time.localtime()
    same = moment[:3] == today[:3]
    return time.strftime("%H:%M:%S" if same else "%Y-%m-%d %H:%M", moment)


def clock(epoch: float) -> str:
    """Return the time of day of a moment in local time: `14:03`."""
    return time.strftime("%H:%M", time.localtime(epoch))


def day(epoch: float) -> str:
    """Return the day of a moment in local time: `Today`, `Yesterday`, else `Friday, 21 November 2025`."""
    moment = time.localtime(epoch)
    named = {
        time.localtime(time.time() - ago * 86_400)[:3]: name for ago, name in ((1, tr("Yesterday")), (0, tr("Today")))
    }
    return named.get(moment[:3]) or dates.written(moment, dates.DAY)


def part_name(name: str) -> str:
    """Return the name of a part of a request; a file and a program of a package have names that others chose."""
    if name in PARTS:
        return translated(name)
    path = name.removeprefix("File ")
    return tr("File {path}", path=path) if path != name else name


def title(request: Request) -> str:
    """Return what the agent called it, or else the packages it installs or the first line of code that says something.

    What an installation is called is worked out, and not what the agent says.
    """
    if request.plan is not None and not request.code:
        return installs(request.plan)
    return title_of(request.title, request.code, request.tool)


def quoted_title(request: Request) -> str:
    """Return the title in quotes where it is the agent's, as a line of its code is: its claim, nothing found out."""
    if (request.plan is not None and not request.code) or not (request.title or request.code.strip()):
        return title(request)
    return in_quotes(title(request))


def in_quotes(title: str) -> str:
    """Return what an agent calls a request, in quotes that nothing in it can end."""
    words = title.translate(_NO_QUOTES)
    return f"\N{LEFT DOUBLE QUOTATION MARK}{words}\N{RIGHT DOUBLE QUOTATION MARK}"


def claim_of(request: Request, several: bool = False) -> str:
    """Return what the agent calls a request, in quotes, and who asks: the second line below a headline."""
    return f"{quoted_title(request)} \N{MIDDLE DOT} {sender(request, several)}"


def installs(plan: Plan) -> str:
    """Return what a plan installs: `Install requests 2.32.3 and 4 others`."""
    named = [one for one in plan.packages if not one.wanted_by] or list(plan.packages)
    if not named:
        return tr("Install nothing: all of it is there already")
    first = f"{visible(named[0].name)} {visible(named[0].version)}"
    others = len(plan.packages) - 1
    return tr("Install {first}", first=first) + (
        plural(" and {count} other", " and {count} others", others) if others else ""
    )


def title_of(given: str, code: str, tool: Tool) -> str:
    """Return the title `given`, or the first line of `code` that says something, or the name of the tool."""
    if given:
        return visible(given)
    for line in code.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith(("#", "//", "/*", "*", "'use strict'", '"use strict"', '"""', "'''")):
            return visible(stripped[:TITLE_LENGTH])
    return visible(code.strip()[:TITLE_LENGTH]) or translated(tool.value.replace("_", " "))


def line(span: Span) -> str:
    """Return the line of the code where `span` begins, within a line; '' where it belongs to none."""
    return within(tr("Line {line}", line=numeral(span.line))) if span.place else ""


def cleaned(reason: str) -> str:
    """Return a reason as agents get it: one line, no control or format characters, at most 500 characters."""
    return " ".join("".join(one for one in reason if one.isspace() or not hides(one)).split())[:REASON_LENGTH]


def language(value: Language | None) -> str:
    return "" if value is None else LANGUAGES[value].title


def asks_for(request: Request) -> str:
    """Return the language of the code that would run, or what is wanted in place of running code."""
    match request.tool:
        case Tool.CODE_EXECUTE:
            return language(request.language)
        case Tool.CODE_WRITE_FILE:
            return tr("writes a program") if request.executable else tr("writes a file")
        case Tool.CODE_CREATE_SANDBOX:
            return tr("makes a sandbox for {language}", language=language(request.language))
        case other:
            return translated(FACTS[other].brief or FACTS[other].does)


def does(request: Request) -> str:
    """Return what a request would have done, as a verb with its object."""
    return translated(FACTS[request.tool].does)


def isolation(value: Isolation) -> str:
    match value:
        case Isolation.PROCESS:
            return tr("local sandbox without bubblewrap")
        case Isolation.LOCAL:
            return tr("local sandbox")
        case Isolation.DOCKER:
            return tr("Docker container")
        case Isolation.GVISOR_DIRECT:
            return tr("gVisor sandbox without Docker")
        case Isolation.GVISOR:
            return tr("gVisor container")
        case Isolation.E2B:
            return tr("sandbox at E2B")
        case Isolation.PLUGIN:
            return tr("sandbox of a package")
        case _:
            assert_never(value)


def place(request: Request) -> str:
    """Return where a request would be carried out, at the beginning of a line."""
    return (
        tr("On your machine itself, no sandbox") if request.client is not None else isolation_first(request.isolation)
    )


def own_tool(request: Request) -> str:
    """Return what is to be known of a tool of the agent's own program; '' for what Assent does itself."""
    if request.client is None:
        return ""
    agent, name = visible(request.agent), visible(request.client.name)
    return tr(
        "The program of {agent} runs this itself ({name}), on your machine and not in Assent's sandbox.",
        agent=agent,
        name=name,
    )


def isolation_first(value: Isolation) -> str:
    """Return the same at the beginning of a line; gVisor writes itself small there too."""
    words = isolation(value)
    return words if words.startswith("gVisor") else words[:1].upper() + words[1:]


def network(request: Request) -> str:
    """Return which hosts may be reached."""
    hosts = _hosts(request)
    match request.network:
        case NetworkMode.NONE:
            return tr("none")
        case NetworkMode.REGISTRIES:
            return tr("registries ({hosts})", hosts=hosts) if hosts else tr("registries, of which none is set up here")
        case NetworkMode.DOMAINS:
            return tr("listed hosts: {hosts}", hosts=hosts) if hosts else tr("no host named")
        case _:
            assert_never(request.network)


def _hosts(request: Request) -> str:
    marked = (
        tr("{one} (by your grant)", one=visible(one)) if one in request.granted else visible(one)
        for one in request.domains
    )
    return ", ".join(marked)


def verdict(value: Verdict) -> str:
    match value:
        case Verdict.APPROVED:
            return tr("approved")
        case Verdict.DENIED:
            return tr("denied")
        case Verdict.EXPIRED:
            return tr("expired")
        case Verdict.WITHDRAWN:
            return tr("withdrawn")
        case _:
            assert_never(value)


def decided(decision: Decision) -> str:
    """Return who decided and how quickly, in one sentence."""
    match decision.by:
        case Decider.PERSON:
            who = tr(
                "{verdict} by you after {after_seconds}.",
                verdict=capital(verdict(decision.verdict)),
                after_seconds=span(decision.after_seconds),
            )
        case Decider.RULE if decision.verdict is Verdict.APPROVED and decision.rule in PASSED:
            who = tr("Passed {passed}.", passed=PASSED[decision.rule])
        case Decider.RULE:
            who = tr("{verb} by rule {rule}.", verb=_verb(decision), rule=visible(decision.rule))
        case Decider.GRANT:
            who = tr("{verb} by what you remembered as {rule}.", verb=_verb(decision), rule=visible(decision.rule))
        case Decider.ENGINE:
            who = tr("{verdict} by Assent.", verdict=capital(verdict(decision.verdict)))
        case Decider.AGENT:
            who = tr("Withdrawn by the agent.")
        case _:
            assert_never(decision.by)
    if decision.accepted:
        where = next((isolation(one) for one in Isolation if one == decision.accepted), visible(decision.accepted))
        return tr("{who} For this request you accepted the {where}, below your minimum.", who=who, where=where)
    return who


def nothing_ran(rehearsed: bool) -> str:
    """Return whether anything ran of a request that was not approved: nothing, or its rehearsal."""
    return tr("It was tried only; the agent gets nothing of that.") if rehearsed else tr("Nothing was run.")


def _verb(decision: Decision) -> str:
    """Return what a rule or a grant did: what it approves passes without anybody looking at it."""
    return tr("Passed") if decision.verdict is Verdict.APPROVED else capital(verdict(decision.verdict))


def ended(result: Result) -> str:
    """Return how a run ended, in words."""
    limits = result.meta.limits
    match result.outcome:
        case Outcome.OK:
            return tr("Ended after {duration}.", duration=span(result.duration))
        case Outcome.FAILED:
            return tr(
                "Failed after {duration} with exit code {exit_code}.",
                duration=span(result.duration),
                exit_code=result.exit_code,
            )
        case Outcome.TIMED_OUT:
            return tr("Stopped after {seconds} s (time limit).", seconds=numeral(limits.seconds, "g"))
        case Outcome.OUT_OF_MEMORY:
            return tr("Stopped: used more than {memory_mb} MB of memory (limit).", memory_mb=limits.memory_mb)
        case Outcome.OUT_OF_DISK:
            return (
                f"{visible(result.error)}."
                if result.error
                else tr("Stopped: wrote more than {disk_mb} MB (limit).", disk_mb=limits.disk_mb)
            )
        case Outcome.OUTPUT_LIMIT:
            return tr("Stopped: printed more than {size} (limit).", size=size(limits.output_bytes))
        case Outcome.KILLED:
            return tr(
                "Stopped after {duration}: {error}",
                duration=span(result.duration),
                error=visible(result.error) or tr("by a person."),
            )
        case Outcome.ENGINE_LOST:
            return visible(result.error) or tr("Assent stopped while it ran; its output is lost.")
        case _:
            assert_never(result.outcome)


def error_line(stderr: str) -> str:
    """Return the line of an error output that says what went wrong; empty where there is none.

    That is the first of a compiler, else the last that names an error; else the last at all, but for the place in the
    code, notes and Node's version.
    """
    lines = [line.strip() for line in stderr[-_END:].splitlines() if line.strip()]
    first = [line for line in lines if _COMPILER.match(line)][:1]
    named = [line for line in lines if _NAMES_ERROR.match(line)]
    rest = [line for line in lines if not _BESIDES.match(line)]
    return short((first or named or rest or lines or [""])[-1])


def short(text: str) -> str:
    """Return the beginning of a text on one line."""
    shown = visible(text[: 4 * _LONGEST])
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def test_request(agent: str) -> Submission:
    """Return the first request of a new agent: harmless, and it says where it comes from."""
    code = 'print("Assent works: this was shown to you before it ran.")\n'
    return Submission(agent, Tool.CODE_EXECUTE, Language.PYTHON, code, "Test request, sent from this window")
