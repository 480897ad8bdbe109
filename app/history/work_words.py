"""The words of the history for programs at work and their working copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.model import work_entries
from runner.model.work_entries import BY_ITSELF, UNCHANGED, WorkDeed

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEDS = {
    **{deed.wanted: f"to be {words}" for deed, words in ((WorkDeed.APPLY, "applied"), (WorkDeed.UNDO, "undone"))},
    WorkDeed.APPLY.done: "applied",
    WorkDeed.APPLY.not_done: "not applied",
    WorkDeed.UNDO.done: "undone",
    WorkDeed.UNDO.not_done: "not undone",
    WorkDeed.DISCARD.wanted: "to be discarded",
    WorkDeed.DISCARD.done: "discarded",
    WorkDeed.DISCARD.not_done: "not discarded",
    work_entries.UNKNOWN: "applied or not: that cannot be found out any more",
}
_PLAIN = {
    work_entries.END: "Program at work ended by a person",
    work_entries.NOT_AS_IT_GOES: "Apply as it goes not switched on after all",
}
_BY_ITSELF = (work_entries.STARTED, work_entries.ENDED)


def work_words(kind: str, body: dict[str, Any], said: Callable[[str], str]) -> tuple[str, bool]:
    """Return what happened, with the project's folder, and whether a person did it; `said` gives a text of the body."""
    project = said("project") or said("name")
    host = f"{said('host')}:{said('port')}"
    later = " (recorded later)" if body.get("later") is True else ""
    match kind:
        case work_entries.STARTED:
            words = body.get("program")
            program = " ".join(map(str, words)) if isinstance(words, list) else ""
            what = f"At work: {program}"
        case work_entries.ENDED:
            what = f"Work ended with {said('code')}"
        case work_entries.OPEN:
            what = f"Host opened: {host}{', always' if body.get('always') is True else ''}"
        case work_entries.NOT_OPENED:
            what = f"Host not opened after all: {host}"
        case work_entries.FORGOTTEN:
            what = f"Host no longer open: {host}"
        case work_entries.ANSWER:
            what = f"Held command {said('number')} {'let run' if body.get('run') is True else 'refused'}"
        case work_entries.NOT_ANSWERED:
            what = f"Answer did not reach command {said('number')}"
        case work_entries.CARRIED:
            what = f"Port {said('port')} carried to {said('address')}"
        case work_entries.SENT:
            what = f"Sent to {said('sandbox')}: {said('sends')}"
        case work_entries.AS_IT_GOES:
            what = f"Apply as it goes switched {'on' if body.get('on') is True else 'off'}"
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
        return f"Working copy {_DEEDS.get(kind, kind)}: nothing had changed"
    number = said("changes") or said("paths")
    what = f"Changes {_DEEDS.get(kind, kind)}{f' ({number})' if number else ''}"
    what += " as it goes" if body.get("by") == BY_ITSELF else ""
    left = body.get("kept_count")
    return f"{what}, {left:,} left, changed since" if isinstance(left, int) else what
