"""Details of a request: its class, what was found, what it can touch and where it would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot

from app import phrases
from app.class_reasons.section import WhySection
from app.network import words
from app.network.reach import ReachSection
from app.parts.column import ScrollColumn
from app.parts.sections import Listed, Pairs, Section, wrapped_label
from app.review.findings import FindingsList
from app.review.narrowing import Narrowing
from app.state import attention
from runner.model import engine_texts
from runner.model.request import NetworkMode
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QWidget

    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from app.state.cards import Card
    from runner.model.assessment import Finding, Touch
    from runner.model.kept_sandbox import Kept
    from runner.model.request import ClientTool, Request

REASONS_SHOWN = 4
IMAGE_LENGTH = 19
"""Characters of an image's id that are shown; the history has all of it."""


class Facts(ScrollColumn):
    """A column of headings, sentences and pairs. Everything in it is plain text."""

    line_picked = Signal(int)

    def __init__(self, look: Look, keeping: CaseKeeping | None = None, parent: QWidget | None = None) -> None:
        """`keeping` as in `WhySection`."""
        super().__init__(tr("Details of this request"), parent)
        self._look = look
        self._why = Section(look, tr("Why"))
        self._reasons = wrapped_label(look)
        self.reasons = WhySection(look, keeping)
        self.reasons.line_picked.connect(self.line_picked)
        self.findings = FindingsList(look)
        self.findings.picked.connect(self.line_picked)
        self.narrowing = Narrowing()
        self.narrowing.changed.connect(self._narrow)
        self._found: tuple[Finding, ...] = ()
        self._why.add(self._reasons)
        self._why.add(self.reasons)
        self._why.add(self.narrowing)
        self._why.add(self.findings)
        self.reach = ReachSection(look)
        self._touch = Pairs(look, tr("What it can touch"))
        self._where = Pairs(look, tr("Where it will run"))
        self._protections = Listed(look, tr("Protected by"))
        self._missing = Listed(look, tr("Not protected by"))
        self._who = Pairs(look, tr("Who asks"))
        self.column.setContentsMargins(look.px(12), look.px(10), look.px(8), look.px(12))
        self.column.setSpacing(look.px(14))
        sections = (self._why, self.reach, self._touch, self._who, self._where, self._protections, self._missing)
        for section in sections:
            self.column.addWidget(section)

    def show_card(self, card: Card, sandbox: Mapping[str, object], kept: tuple[Kept, ...] = ()) -> None:
        """Show the facts of a request; `sandbox` is what is known of the sandbox here and may be empty.

        `kept` are the sandboxes that agents keep.
        """
        assessment = card.assessment
        self._why.rename(attention.class_words(card) or tr("Not assessed yet"))
        self._reasons.setText("\n".join(map(phrases.visible, _reasons(card))))
        self._reasons.setVisible(bool(self._reasons.text()))
        self.reasons.show_subject(card.request, assessment)
        self._found = assessment.findings if assessment else ()
        self.narrowing.offer(self._found, card.id)
        self._narrow()
        self.findings.setVisible(bool(self._found))
        self.reach.show_request(card.request, kept)
        self._touch.show_pairs(_touched(assessment.touch, card.request) if assessment else ())
        here = sandbox if _is_for(card, sandbox) else {}
        chosen = [(tr("Chosen"), str(here["chosen"]))] if here.get("chosen") else []
        self._where.show_pairs([*_where(card), *chosen])
        self._protections.show_lines(card.protections or card.request.protections or _texts(here.get("protections")))
        self._missing.show_lines(_texts(here.get("missing")))
        claim = phrases.claim(card.request)
        self._who.show_pairs([*([(tr("Program"), claim)] if claim else []), *phrases.claims(card.request)])

    @Slot()
    def _narrow(self) -> None:
        self.findings.set_findings(self.narrowing.picked(self._found))


def _is_for(card: Card, sandbox: Mapping[str, object]) -> bool:
    """Return whether `sandbox`, where new runs start, is the one that the request would run in.

    A sandbox that is kept may be of another kind, and has protections of its own; so may be one that was replaced,
    and so has a run over a working copy.
    """
    request = card.request
    return not request.has_files and request.client is None and sandbox.get("isolation") == request.isolation.value


def _reasons(card: Card) -> list[str]:
    """Return the reasons that the list of findings does not already give."""
    own = phrases.own_tool(card.request)
    if card.assessment is None:
        return [own] if own else []
    said = {finding.reason for finding in card.assessment.findings}
    reasons = [own] if own else []
    reasons += [tr("Not read whole: {one}", one=one) for one in card.assessment.unread or ()]
    reasons += [engine_texts.in_words(reason) for reason in card.assessment.reasons if reason not in said]
    if not card.assessment.findings:
        reasons.append(tr("No findings."))
    return reasons[:REASONS_SHOWN]


def _touched(touch: Touch, request: Request) -> list[tuple[str, str]]:
    named = (
        (tr("Files"), touch.files),
        (tr("Hosts"), words.named(request, touch.hosts)),
        (tr("Programs"), touch.processes),
        (tr("Credentials"), touch.credentials),
        (tr("Packages"), touch.packages),
    )
    return [(name, _listed(values)) for name, values in named if values]


def _listed(values: tuple[str, ...], most: int = 8) -> str:
    shown = [phrases.visible(value) for value in values[:most]]
    return "\n".join([*shown, tr("and {count} more", count=len(values) - most)] if len(values) > most else shown)


def _where(card: Card) -> list[tuple[str, str]]:
    request = card.request
    if request.client is not None:
        return _on_the_machine(request, request.client)
    pairs = [(tr("Sandbox"), phrases.isolation_first(request.isolation))]
    if request.network is NetworkMode.NONE:
        pairs.append((tr("Network"), phrases.network(request)))
    if request.image:
        pairs.append((tr("Image"), phrases.visible(request.image[:IMAGE_LENGTH])))
    if request.sandbox:
        agent = phrases.visible(request.agent)
        pairs.append((tr("Kept as"), tr("{sandbox}, {agent}'s own kept sandbox", sandbox=request.sandbox, agent=agent)))
    if request.work is not None:
        name, project = map(phrases.visible, (request.work.name, request.work.project))
        pairs.append(
            (
                tr("Workspace"),
                tr("{project}, as its program at work sees it: the working copy {name}", project=project, name=name),
            )
        )
    if request.files:
        pairs.append((tr("Files"), _listed(request.files)))
    if request.executable:
        pairs.append((tr("Executable"), tr("May be started as a program")))
    if request.packages and request.plan is None:
        pairs.append((tr("Packages"), _listed(request.packages)))
    if request.plan is not None:
        pairs.append(
            (
                tr("Packages"),
                plural("{count} package, see Packages", "{count} packages, see Packages", len(request.plan.packages)),
            )
        )
    return pairs


def _on_the_machine(request: Request, tool: ClientTool) -> list[tuple[str, str]]:
    """Return where a tool of the agent's own program does its work."""
    pairs = [
        (tr("Sandbox"), tr("None: on your machine itself")),
        (
            tr("Run by"),
            tr("{agent}, with its {name}", agent=phrases.visible(request.agent), name=phrases.visible(tool.name)),
        ),
        (tr("Network"), tr("Yours")),
    ]
    if tool.folder:
        pairs.append((tr("Folder"), phrases.visible(tool.folder)))
    if request.files:
        pairs.append((tr("Files"), _listed(request.files)))
    if tool.links:
        pairs.append((tr("Links"), _listed(tool.links)))
    return pairs


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, (list, tuple)) else ()
