"""The words of the history for programs at work and their working copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.model import work_entries
from runner.model.translation import numeral, tr
from runner.model.work_entries import BY_ITSELF, UNCHANGED, WorkDeed

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEDS = {
    **{
        deed.wanted: tr("to be {words}", words=words)
        for deed, words in ((WorkDeed.APPLY, tr("applied")), (WorkDeed.UNDO, tr("undone")))
    },
    WorkDeed.APPLY.done: tr("applied"),
    WorkDeed.APPLY.not_done: tr("not applied"),
    WorkDeed.UNDO.done: tr("undone"),
    WorkDeed.UNDO.not_done: tr("not undone"),
    WorkDeed.DISCARD.wanted: tr("to be discarded"),
    WorkDeed.DISCARD.done: tr("discarded"),
    WorkDeed.DISCARD.not_done: tr("not discarded"),
    work_entries.UNKNOWN: tr("applied or not: that cannot be found out any more"),
}
_PLAIN = {
    work_entries.END: tr("Program at work ended by a person"),
    work_entries.NOT_AS_IT_GOES: tr("Apply as it goes not switched on after all"),
}
_BY_ITSELF = (work_entries.STARTED, work_entries.ENDED)


def work_words(kind: str, body: dict[str, Any], said: Callable[[str], str]) -> tuple[str, bool]:
    """Return what happened, with the project's folder, and whether a person did it; `said` gives a text of the body."""
    project = said("project") or said("name")
    host = f"{said('host')}:{said('port')}"
    later = tr(" (recorded later)") if body.get("later") is True else ""
    match kind:
        case work_entries.STARTED:
            words = body.get("program")
            program = " ".join(map(str, words)) if isinstance(words, list) else ""
            what = tr("At work: {program}", program=program)
        case work_entries.ENDED:
            what = tr("Work ended with {said}", said=said("code"))
        case work_entries.OPEN:
            what = tr("Host opened: {host}{rest}", host=host, rest=tr(", always") if body.get("always") is True else "")
        case work_entries.NOT_OPENED:
            what = tr("Host not opened after all: {host}", host=host)
        case work_entries.FORGOTTEN:
            what = tr("Host no longer open: {host}", host=host)
        case work_entries.ANSWER:
            what = tr(
                "Held command {said} {rest}",
                said=said("number"),
                rest=tr("let run") if body.get("run") is True else tr("refused"),
            )
        case work_entries.NOT_ANSWERED:
            what = tr("Answer did not reach command {said}", said=said("number"))
        case work_entries.CARRIED:
            what = tr("Port {said} carried to {said_2}", said=said("port"), said_2=said("address"))
        case work_entries.SENT:
            what = tr("To be sent to {place}: {files}", place=said("sandbox"), files=said("sends"))
        case work_entries.AS_IT_GOES:
            what = tr("Apply as it goes switched {rest}", rest=tr("on") if body.get("on") is True else tr("off"))
        case _ if kind in _PLAIN:
            what = _PLAIN[kind]
        case _:
            what = _deed(kind, body, said)
    parts = [f"{what}{later}", project, said("why")]
    by_itself = kind in _BY_ITSELF or body.get("by") == BY_ITSELF or body.get(UNCHANGED) is True
    return " \N{MIDDLE DOT} ".join(filter(None, parts)), not by_itself


def _deed(kind: str, body: dict[str, Any], said: Callable[[str], str]) -> str:
    """Return what is to be done with changes, or was."""
    if body.get(UNCHANGED) is True:
        return tr("Working copy {get}: nothing had changed", get=_DEEDS.get(kind, kind))
    number = said("changes") or said("paths")
    what = tr("Changes {get}{rest}", get=_DEEDS.get(kind, kind), rest=f" ({number})" if number else "")
    what += tr(" as it goes") if body.get("by") == BY_ITSELF else ""
    left = body.get("kept_count")
    return tr("{what}, {left} left, changed since", what=what, left=numeral(left)) if isinstance(left, int) else what
