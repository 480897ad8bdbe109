"""Turns an assessment into a decision by rule, or into a question for a person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import Assessment, Level
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.network import Destination, UnusableHost
from runner.model.request import Isolation, NetworkMode, Tool
from runner.model.tool_facts import NEW_PLACE
from runner.policy.rules import Action
from runner.policy.unread_code import runs_unread

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import ClientTool, Request
    from runner.policy.rules import Rule, Rules
    from runner.settings.loading import Settings


MOST_UNASKED = 100_000
"""Characters of code above which a person is always asked (spec P8)."""


WITH_GATE = (Isolation.LOCAL, Isolation.DOCKER, Isolation.GVISOR_DIRECT, Isolation.GVISOR, Isolation.E2B)
"""Sandboxes in which a run with network reaches the hosts of its request and no others."""
NO_GATE = {
    Isolation.PROCESS: "Plain processes are without any wall, so their network cannot be held to the hosts that were "
    "asked for.",
    Isolation.PLUGIN: "Sandboxes of installed packages get no network: nobody here has seen that they hold code to the "
    "hosts that were asked for.",
}
NETWORK_FOUND = "request.network"
"""The finding that a request asks for network at all."""
WEAKEST = {
    Level.CRITICAL: "Minimum sandbox for CRITICAL",
    Level.HIGH: "Minimum sandbox for HIGH",
    Level.MEDIUM: "Minimum sandbox for MEDIUM and LOW",
    Level.LOW: "Minimum sandbox for MEDIUM and LOW",
}
"""Names of the settings as the dialog has them."""


class Policy:
    """The policy in force: levels, windows and isolation of spec R1, R4, R5 and R7, from settings and rules."""

    def __init__(
        self,
        settings: Settings,
        rules: Rules,
        *,
        ask_everything: bool = False,
        weaker: Callable[[Isolation], str] | None = None,
    ) -> None:
        """`ask_everything` is set while a settings or rules file cannot be read, as it might forbid something.

        `weaker` returns in words that a sandbox is weaker than that of last time, '' where it is not: nothing is
        approved for a weaker one without asking.
        """
        self._settings = settings
        self._rules = rules
        self._ask_everything = ask_everything
        self._weaker = weaker

    @property
    def asks_everything(self) -> bool:
        """Whether a settings or rules file, or the grants, cannot be read."""
        return self._ask_everything

    def rule(self, request: Request) -> Rule | None:
        """Return the rule that applies to `request`, None where none does."""
        return self._rules.match(request.agent, request.tool.value, parameters(request))

    def weigh(self, request: Request, assessment: Assessment) -> Assessment:
        """Return the assessment with the level that the rules raise it to. Nothing lowers a level (spec R4).

        Where the sandbox is weaker than last time, the reasons say so.
        """
        if (weaker := self.weaker(request)) and weaker not in assessment.reasons:
            assessment = replace(assessment, reasons=(*assessment.reasons, weaker))
        level, reason = self.raised(request)
        if level is None or level <= assessment.level:
            return assessment
        return replace(assessment, level=level, reasons=(reason, *assessment.reasons))

    def raised(self, request: Request) -> tuple[Level | None, str]:
        """Return the level that a rule raises `request` to, and that it does, in a sentence; None where none does."""
        rule = self.rule(request)
        if rule is None or rule.level is None:
            return None, ""
        return rule.level, f"Your rule {rule.name} sets {rule.level.name}."

    def denied(self, request: Request) -> str:
        """Return why a rule denies `request`; '' where none does."""
        rule = self.rule(request)
        if rule is None or rule.action is not Action.DENY:
            return ""
        return rule.description or f"Denied by your rule {rule.name}."

    def decide(self, request: Request, assessment: Assessment) -> Decision | Ask:
        """Return the decision by rule, or the question for a person; `assessment` is the result of `weigh`.

        The rules may have been changed since: the level that they set now counts too.
        """
        rule = self.rule(request)
        level = _raised(rule, assessment.level)
        if rule is not None and (why := self.denied(request)):
            return _ruled(Verdict.DENIED, request, rule.name, why)
        if self._may_pass(request, rule, level):
            name = rule.name if rule is not None and rule.action is Action.ALLOW else "low-risk"
            return _ruled(Verdict.APPROVED, request, name, "Approved by rule, without asking.")
        window = rule.window if rule is not None and rule.window else self.window(level)
        blocked = self.blocked(request, level)
        accepts = self._accepts(request, assessment, rule) if blocked else ""
        if accepts and (unread := runs_unread(request, assessment)):
            blocked, accepts = f"It cannot be allowed for this request alone: {unread} {blocked}", ""
        return Ask(window, rule.name if rule is not None else "", blocked, accepts=accepts)

    def window(self, level: Level) -> float:
        """Return the attention window in seconds (spec R1)."""
        match level:
            case Level.CRITICAL:
                return self._settings.window_critical
            case Level.HIGH:
                return self._settings.window_high
            case Level.MEDIUM | Level.LOW:
                return self._settings.window_medium

    def blocked(self, request: Request, level: Level) -> str:
        """Return why this may not be approved where it would run (spec R7); empty when it may."""
        # First what no setting changes.
        if why := refused_network(request):
            return f"{why} Deny it and ask the agent to do without, or set up a sandbox: the Doctor says how."
        networked = request.network is not NetworkMode.NONE
        if request.plan is not None and request.isolation is Isolation.PLUGIN:
            return f"{NO_PACKAGES} Deny it and ask the agent to do without."
        if request.builds and request.isolation not in WITH_GATE:
            return f"{NO_BUILDS} Deny it and ask for other packages, or set up a sandbox: the Doctor says how."
        if request.tool is not Tool.CODE_EXECUTE and not request.builds:
            return ""
        if weakest := self.stronger(level, request.isolation):
            why = "Network access is always CRITICAL. " if networked and level is Level.CRITICAL else ""
            if request.isolation.is_promised:
                counted = counts_as(request.isolation, self._settings)
                why += f"{request.brought_by or 'E2B'} counts as {counted.value} there ({COUNTS[request.isolation]}). "
            return (
                f"{level.name} may not run on the {request.isolation.value} sandbox: your policy asks for "
                f"{weakest.value} or stronger. {why}Deny it, or change "
                f'"{WEAKEST[level]}" in Settings.'
            )
        return ""

    def _accepts(self, request: Request, assessment: Assessment, rule: Rule | None) -> str:
        """Return the sandbox that a person may accept for this request below the minimum; empty for none.

        That is so where nothing but its network makes it CRITICAL, and without network it could run there: the hosts
        are named and no others are reached, and nothing in it was found to be as grave.
        """
        worst = max((one.level for one in assessment.findings if one.id != NETWORK_FOUND), default=Level.LOW)
        ruled = rule is not None and rule.level is Level.CRITICAL
        if request.network is NetworkMode.NONE or request.isolation not in WITH_GATE or request.builds:
            return ""
        if worst is Level.CRITICAL or ruled or self._ask_everything or request.tool is not Tool.CODE_EXECUTE:
            return ""
        return "" if self.stronger(Level.HIGH, request.isolation) else request.isolation.value

    def stronger(self, level: Level, isolation: Isolation) -> Isolation | None:
        """Return the weakest sandbox that the settings allow for `level`; None where `isolation` is strong enough."""
        weakest = self._weakest(level)
        return None if meets(isolation, weakest, self._settings) else weakest

    def weaker(self, request: Request) -> str:
        """Return in words that this would run in a weaker sandbox than last time; empty where it would not."""
        if self._weaker is None or request.tool not in NEW_PLACE:
            return ""
        return self._weaker(request.isolation)

    def closed_to_grants(self, request: Request, level: Level) -> str:
        """Return why no grant applies to this request; empty where one may."""
        level = _raised(self.rule(request), level)
        if self._ask_everything:
            return "Nothing remembered counts while a settings, rules or grants file cannot be read."
        if weaker := self.weaker(request):
            return f"{weaker} Nothing remembered counts until you have accepted that."
        if level is Level.CRITICAL:
            return "CRITICAL requests are asked every time."
        if len(request.code) > MOST_UNASKED:
            return f"Code of more than {MOST_UNASKED:,} characters is asked every time."
        if request.sends is not None:
            return "Files of a project leave this machine once a person has seen which: nothing remembered counts."
        if self.blocked(request, level):
            return "Nothing remembered counts where it may not be approved."
        return ""

    def _may_pass(self, request: Request, rule: Rule | None, level: Level) -> bool:
        if self._ask_everything or self.weaker(request) or self.blocked(request, level):
            return False
        if request.sends is not None:
            return False  # files of a project leave this machine once a person has seen which
        if rule is not None:
            # A condition on a path holds for one of several files that a patch changes, not for each.
            return rule.action is Action.ALLOW and level <= Level.MEDIUM and len(request.files) <= 1
        return level is Level.LOW and self._settings.auto_approve_low

    def _weakest(self, level: Level) -> Isolation:
        settings = self._settings
        match level:
            case Level.CRITICAL:
                return Isolation(settings.weakest_isolation_critical)
            case Level.HIGH:
                return Isolation(settings.weakest_isolation_high)
            case Level.MEDIUM | Level.LOW:
                return Isolation(settings.weakest_isolation_medium)


def meets(isolation: Isolation, weakest: Isolation, settings: Settings) -> bool:
    """Return whether a sandbox is as strong as the `weakest` that is asked for.

    What is promised is worth what the person says: nobody here has found it.
    """
    return isolation is weakest or counts_as(isolation, settings).strength >= weakest.strength


COUNTS = {Isolation.E2B: "e2b.counts_as", Isolation.PLUGIN: "plugin.counts_as"}
"""The settings that say which sandbox of this machine one of others is as good as."""


def counts_as(isolation: Isolation, settings: Settings) -> Isolation:
    """Return what a sandbox is as good as: itself, or what the person says where others promise what it protects."""
    if isolation is Isolation.E2B:
        return Isolation(settings.e2b_counts_as)
    return Isolation(settings.plugin_counts_as) if isolation is Isolation.PLUGIN else isolation


NO_PACKAGES = "Sandboxes of installed packages get no packages of Python or Node.js from Assent."
NO_BUILDS = "Programs of these packages would run while they are installed, and plain processes confine nothing."


def refused_network(request: Request) -> str:
    """Return why the sandbox of a request cannot give it the network that it asks for; empty where it can."""
    if request.network is NetworkMode.NONE or request.isolation in WITH_GATE:
        return ""
    return NO_GATE.get(request.isolation, "This sandbox has no network to give.")


def _raised(rule: Rule | None, level: Level) -> Level:
    """Return the level that `rule` raises `level` to."""
    return level if rule is None or rule.level is None else max(level, rule.level)


def parameters(request: Request) -> dict[str, object]:
    """Return the parameters of a request by the names that rules use, those of the tools' arguments.

    Some have two names: `path` is `file_path`, `domain` is `allowed_domains` and `package` is `packages`. What is
    written to a file is `content`, and `code` as well. A condition on a list, as on known files, holds where it holds
    for one of its entries. A file of a client's tool goes by where it is, below the folder and from the root, and not
    by what the client wrote.
    """
    path: str | list[str] = "".join(request.files) if request.client is None else _paths(request, request.client)
    domains = [_destination(one) for one in request.domains]
    return {
        "tool": request.tool.value,
        "agent": request.agent,
        "client_tool": "" if request.client is None else request.client.name,
        "folder": "" if request.client is None else request.client.folder,
        "language": request.language.value if request.language else "",
        "code": request.code,
        "stdin": request.stdin,
        "context": request.context,
        "file_path": path,
        "path": path,
        "content": request.code if request.tool in (Tool.CODE_WRITE_FILE, Tool.CLIENT_EDIT) else "",
        "executable": request.executable,
        "offset": request.offset,
        "max_bytes": request.most_bytes,
        "sandbox_id": request.sandbox,
        "known_files": [one.path for one in request.known],
        "known_content": [one.text for one in request.known],
        "isolation": request.isolation.value,
        "max_memory_mb": request.limits.memory_mb,
        "max_disk_mb": request.limits.disk_mb,
        "max_output_bytes": request.limits.output_bytes,
        "timeout": request.limits.seconds,
        "network_enabled": request.network is not NetworkMode.NONE,
        "allowed_domains": domains,
        "domain": domains,
        "packages": _packages(request),
        "package": _packages(request),
        "registry": "" if request.plan is None else request.plan.registry.value,
    }


def _paths(request: Request, tool: ClientTool) -> list[str]:
    both = ((tool.below(path), tool.absolute(path)) for path in request.files)
    return [path for pair in both for path in pair if path]


def _destination(text: str) -> Destination | str:
    """Return the host of a request as such; requests of earlier versions may have what names none."""
    try:
        return Destination.parse(text)
    except UnusableHost:
        return text


def _packages(request: Request) -> list[str]:
    """Return the packages as they were asked for, and by name and by `name==version` each that the plan has."""
    planned = () if request.plan is None else request.plan.packages
    each = [text for one in planned for text in (one.name, f"{one.name}=={one.version}")]
    return list(dict.fromkeys((*request.packages, *each)))


def _ruled(verdict: Verdict, request: Request, rule: str, reason: str) -> Decision:
    return Decision(verdict, Decider.RULE, reason, rule=rule, digest=request.digest)
