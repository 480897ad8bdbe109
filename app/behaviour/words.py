"""The behaviour of a run in words, and what came of what had been foreseen: rows of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.parts.text.lines import Summary
from app.parts.text.visible_characters import visible
from runner.model import engine_texts
from runner.model.behaviour import DeedKind
from runner.model.sentence_translation import object_in_words
from runner.model.translation import numeral, plural, to_translate, tr, translated
from runner.model.verdict import Verb
from runner.risk.explain.foreseen import Came

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.model.behaviour import Behaviour, Deed
    from runner.risk.explain.foreseen import ActOutcome

TAB = tr("What it did")
NOT_FORESEEN = tr("not foreseen")
AS_FORESEEN = tr("As foreseen: the sandbox reports nothing that the assessment had not named.")
NOTHING_KNOWN = (tr("Nothing is known"), tr("No code ran, or an earlier version made this record."))
NOT_REPORTED = tr("No report")
NOTHING_DONE = (
    tr("Nothing outside its own process"),
    tr("It started no program, tried no connection, and opened no file for writing."),
)
NOTHING_YET = (
    tr("Nothing yet"),
    tr("Programs, connections and files opened for writing are listed here as they come."),
)
_KINDS = {
    DeedKind.PROGRAM: tr("Started a program"),
    DeedKind.CONNECTION: tr("Tried to connect"),
    DeedKind.RIGHTS: tr("Changed permissions; the sandbox does not report of which file"),
    DeedKind.FILE: tr("Opened a file for writing"),
}
_DONE = frozenset(
    (
        to_translate("started"),
        to_translate("changed"),
        to_translate("written"),
        to_translate("not started"),
        to_translate("not changed"),
        to_translate("not written"),
    )
)
"""What came of an act, where that is only a word."""
_INKS = {Came.DONE: "text", Came.FAILED: "medium", Came.NOT_DONE: "muted", Came.UNKNOWN: "muted"}


def rows(behaviour: Behaviour, outcomes: Iterable[ActOutcome] = ()) -> tuple[Summary, ...]:
    """Return what was not foreseen, then what came of what was, then all else that the run did."""
    unforeseen = {*behaviour.unforeseen}
    odd = [one for one in behaviour.deeds if one.claim and one.claim in unforeseen]
    rest = [one for one in behaviour.deeds if one not in odd]
    return (*_deeds(odd, NOT_FORESEEN), *map(_foreseen, outcomes), *_deeds(rest))


def _deeds(deeds: Iterable[Deed], mark: str = "") -> Iterator[Summary]:
    for one in deeds:
        state = ", ".join(filter(None, (mark, *_came(one))))
        ink = "high" if mark else "medium" if one.failed else "muted"
        yield Summary(
            visible(one.what),
            tr("{kinds}, after {at} s", kinds=_KINDS[one.kind], at=numeral(one.at, ".1f")),
            visible(state),
            ink,
        )


def _came(deed: Deed) -> Iterator[str]:
    """Yield how many times it was done, and how many of them failed and how, as `Deed.came` has it in English."""
    if deed.times > 1:
        yield plural("{count} time", "{count} times", deed.times)
    if deed.failed and deed.failed < deed.times:
        yield tr("{count} of them: {problem}", count=numeral(deed.failed), problem=engine_texts.in_words(deed.problem))
    elif deed.failed:
        yield engine_texts.in_words(deed.problem)


def _foreseen(one: ActOutcome) -> Summary:
    act = one.act
    of = tr(" of") if act.verb is Verb.CHANGES_RIGHTS and act.target else ""
    title = f"{translated(act.verb.value)}{of} {object_in_words(act.target)}".strip()
    line = tr(", line {line}", line=numeral(act.line)) if act.line else ""
    title = visible(title[:1].upper() + title[1:])
    words = translated(one.words) if one.words in _DONE else engine_texts.in_words(one.words)
    return Summary(title, tr("Foreseen by the assessment{line}", line=line), visible(words), _INKS[one.came])


def summary(behaviour: Behaviour) -> tuple[str, str]:
    """Return what stands above the list, and its role: what was not foreseen, and where the list has gaps."""
    parts = []
    if behaviour.unforeseen:
        claims = ", ".join(visible(engine_texts.in_words(one)) for one in behaviour.unforeseen)
        parts.append(tr("Not foreseen: {map}.", map=claims))
    if behaviour.reservation:
        parts.append(visible(engine_texts.in_words(behaviour.reservation)))
    return " ".join(parts), "bad" if behaviour.unforeseen else "warn" if behaviour.gap or behaviour.lost else "muted"


def foreseen(behaviour: Behaviour | None, *, assessed: bool) -> tuple[str, str]:
    """Return whether a run did what was foreseen, and the role of the words; no words where nobody can say.

    `assessed`: what it did was compared with an assessment.
    """
    if behaviour is None or not assessed or (behaviour.absent and not behaviour.unforeseen):
        return "", "muted"
    if behaviour.unforeseen or behaviour.reservation:
        return summary(behaviour)
    return AS_FORESEEN, "ok"


def nothing(behaviour: Behaviour | None, *, running: bool) -> tuple[str, str]:
    """Return heading and sentence for a list that would be empty."""
    if running:
        return NOTHING_YET
    if behaviour is None:
        return NOTHING_KNOWN
    if behaviour.absent or not behaviour.complete:
        return NOT_REPORTED, engine_texts.in_words(behaviour.reservation)
    return NOTHING_DONE


def title(behaviour: Behaviour | None) -> str:
    """Return the words on the tab."""
    count = 0 if behaviour is None else len(behaviour.unforeseen)
    return tr("{tab} ({count} not foreseen)", tab=TAB, count=count) if count else TAB
