"""Sentences of the engine about faults and about this machine, in another language.

The engine writes whole sentences. Here they are found again by the templates of which they are made. A text is
translated where each of its sentences is known; else it stays as it is, whole.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from runner.model.translation import chosen, known, to_translate, translated

LONGEST = 1000
"""Characters of a text that is looked at."""
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z`\"'])")
_PART = re.compile(r"\\\{(\w+)\\\}")

TEMPLATES = (
    to_translate("Nothing was run."),
    to_translate("Free disk space."),
    to_translate("Free some space."),
    to_translate("Choose another one."),
    to_translate("Choose another name."),
    to_translate("Choose a shorter one."),
    to_translate("Try again later."),
    to_translate("Look at it again."),
    to_translate("Look at the changes again."),
    to_translate("Set one under Settings."),
    to_translate("The fault log has more."),
    to_translate("It cannot be undone."),
    to_translate("See the message in the window."),
    to_translate("Give yourself the right to write there."),
    to_translate("Free disk space or give yourself the right to write there."),
    to_translate("Free disk space or give yourself the right to write there, then try again."),
    to_translate("Revoke it first, or choose another name."),
    to_translate("Use up to 40 letters, digits, dots, hyphens and underscores."),
    to_translate("Choose again if you still want to."),
    to_translate("What was on screen is not this request."),
    to_translate("A trust window lasts at most 60 minutes."),
    to_translate("The mode was changed meanwhile, and that counts."),
    to_translate("There is no such request in the history."),
    to_translate("There is an agent called {name} already."),
    to_translate("There is no agent called {name}."),
    to_translate("{name} cannot be an agent's name."),
    to_translate("The list of agents could not be written to {file}: {error}."),
    to_translate("The history is not open."),
    to_translate("The console is closing."),
    to_translate("There is no sandbox to run in."),
    to_translate("Open Doctor for what is missing."),
    to_translate("The sandbox has changed meanwhile."),
    to_translate("Look at what is in use now."),
    to_translate("This could not be remembered: {error}."),
    to_translate("What an earlier run left could not be removed."),
    to_translate("This run was already undone, or is too old."),
    to_translate("Look again at what would be restored."),
    to_translate("The sandbox it was approved for is gone."),
    to_translate("Create a new one and ask again."),
    to_translate("The sandbox is gone already."),
    to_translate("Nothing is left to do."),
    to_translate("What protected the machine when this was asked is gone: {what}."),
    to_translate("No change was chosen."),
    to_translate("Changes that conflict with the project cannot be applied."),
    to_translate("A program is still running in {name}."),
    to_translate("It cannot be allowed: its port is not a number from 1 to 65535."),
    to_translate("Another folder stands where the project was, as the program at work sees it."),
    to_translate("This PIN is wrong."),
    to_translate("{wrong} wrong PINs in a row."),
    to_translate("PINs are taken again in {time}."),
    to_translate("No PIN is set."),
    to_translate("No PIN is set, so nothing can be approved with one."),
    to_translate("A PIN has {least} to {most} digits."),
    to_translate("A PIN is set."),
    to_translate("Secrets are kept in the keyring ({name})."),
    to_translate("What is stored of the PIN cannot be read, so nothing can be approved with it."),
    to_translate("Remove it where secrets are stored, then set another one under Settings."),
    to_translate("The file with the secrets, {file}, cannot be read ({error})."),
    to_translate("Move it away; its contents are created again."),
    to_translate("Secrets could not be written to {file}: {error}."),
    to_translate(
        "Unlock or set up the keyring of your desktop (GNOME Keyring, KWallet, KeePassXC), then start Assent again."
    ),
    to_translate("Weaker than last time: {isolation} instead of {expected}."),
    to_translate("Strongest available here."),
    to_translate("Named in the settings."),
    to_translate("Docker daemon not available."),
    to_translate("gVisor is not available here."),
    to_translate("Until you accept that, every request to run code asks you, whatever was remembered."),
    to_translate("Start the container engine to get the stronger one back."),
    to_translate("Run Verify in History to find out whether more is damaged."),
    to_translate("Nothing of it will run."),
    to_translate("It was not found."),
    to_translate("They can be read."),
    to_translate("Everything in them is understood."),
    to_translate("Correct it; until then everything is asked."),
    to_translate("The history is in {data}, settings are in {config}."),
    to_translate("Free some: without space for the history nothing can be approved."),
    to_translate("{size} GB are free."),
    to_translate("Only {size} MB are free for the history."),
    to_translate("Code runs in the strongest sandbox of this machine instead."),
    to_translate("It is the one that is worth most; code runs in a weaker sandbox meanwhile."),
    to_translate("Requests to run code fail."),
    to_translate("Active: {protections}."),
    to_translate("Missing: {names}."),
    to_translate("Out of date: {names}."),
    to_translate("Version {version}."),
    to_translate("Registered: {names}."),
    to_translate("None is registered yet."),
    to_translate("Switched off in the settings."),
    to_translate("Not used, as the settings have it."),
    to_translate("Not needed without a container engine."),
    to_translate("All there, made from the present recipes."),
    to_translate("It is installed and not connected."),
    to_translate("It is not open, so agents cannot reach it."),
    to_translate("Agents reach it at http://{host}:{port}/mcp."),
    to_translate("Package registries: {hosts}."),
    to_translate("There is no package registry."),
    to_translate("A window can be opened."),
    to_translate("There is none yet; it begins with the first start."),
    to_translate("It can be read ({kept})."),
    to_translate("`assent verify` checks every entry."),
    to_translate("Assent cannot write below {folder}."),
    to_translate("Other accounts can look into {folder}."),
    to_translate("No rule of yours matches."),
    to_translate("Nothing that you remembered covers it."),
    to_translate("You are asked, with {seconds} s to answer."),
    to_translate("Approve or deny it then."),
    to_translate("Your rule {name} denies it."),
    to_translate("Your rule {name} allows it, up to MEDIUM."),
    to_translate("Your rule {name} asks."),
    to_translate("Some rule or setting cannot be read, so everything is asked."),
    to_translate("Approved by what you remembered."),
    to_translate("is not allowed for this sandbox"),
    to_translate("This file is no longer there."),
    to_translate("Which files are kept says Keep artifacts, under Code in Settings."),
    to_translate("This file was altered after it was collected."),
    to_translate("It is not shown."),
    to_translate("Run the code again for a new one."),
    to_translate("The file cannot be read: {error}."),
    to_translate("Check the folder of artifacts."),
    to_translate("Another program is using the ledger {file}."),
    to_translate("Close it and try again."),
    to_translate("The ledger {file} is damaged."),
    to_translate("The ledger {file} is damaged ({error})."),
    to_translate("The ledger {file} is not a database: its beginning was overwritten."),
    to_translate("The ledger {file} cannot be opened ({error})."),
    to_translate("Make sure that you may read and write the folder {folder}."),
    to_translate("What was remembered cannot be read from {file} ({kind}: {error})."),
    to_translate("Nothing is remembered."),
    to_translate("It runs programs of its own while it is installed: {names}."),
    to_translate("The name looks like {known}, a much used package."),
    to_translate("Is {name} really meant?"),
    to_translate("Its authors withdrew this version: {why}."),
    to_translate("Its authors advise against it: {why}."),
    to_translate("Has install scripts ({names})."),
    to_translate("They are not run, so it may not work."),
    to_translate("The registry does not say when this version was released."),
    to_translate("{value} is not a number"),
    to_translate("{value} is not a whole number"),
    to_translate("{value} is not between {low} and {high}"),
    to_translate("{value} is none of {choices}"),
    to_translate("not reported by the sandbox"),
    to_translate("nothing that was there before is gone"),
    to_translate("incomplete report"),
    to_translate("not tried"),
    to_translate("refused"),
    to_translate("refused {count} times"),
    to_translate("could not be reached"),
    to_translate("tried, and there is no network"),
    to_translate("tried: {problem}"),
    to_translate("reached, {sent} bytes sent, {received} received"),
    to_translate("written, {count} bytes"),
    to_translate("started {name}"),
    to_translate("asked for a host"),
    to_translate("asked for {host}"),
)
"""The sentences, with the names of what differs. A test finds each in the engine."""


def in_words(text: str) -> str:
    """Return a text of the engine in the chosen language; as it is where that does not have all of it."""
    return _translated(chosen(), text) if len(text) <= LONGEST else text


@lru_cache(512)
def _translated(_language: str, text: str) -> str:
    if whole := _sentence(text):
        return whole
    said = [_sentence(one) for one in _SENTENCES.split(text)]
    return " ".join(said) if all(said) else text


def _sentence(text: str) -> str:
    """Return one sentence in the chosen language; '' where it is not known."""
    if (found := known(text)) and "{" not in text:
        return found
    for template, pattern in _patterns():
        if (parts := pattern.fullmatch(text)) and known(template):
            return translated(template, **parts.groupdict())
    return ""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the templates with parts, each with what matches it. A part is within one line and ends no sentence."""
    named = ((one, _PART.sub(r"(?P<\1>(?:(?![.!?] [A-Z])[^\n])+?)", re.escape(one))) for one in TEMPLATES if "{" in one)
    return tuple((one, re.compile(pattern)) for one, pattern in named)
