"""The facts about each tool: one value a tool, in one table. The work of a tool stands where it is done.

A tool that is new gets a line here. What decides by `match` (arguments, bounds, assessment, the work itself) the type
checker names.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.assessment import Level
from runner.model.request import Tool

ANYTHING = (99, "Execute")


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """One tool. Words are clauses after "it" or the agent's name, but for `kind`, which begins a sentence."""

    kind: str
    """What a request of it is, as the reasons for its level begin: `Listing files for the agent`."""
    does: str
    """What would have been done: `lists files`."""
    wants: str
    """What the agent wants: `wants to list files`."""
    brief: str = ""
    """In place of `does`, where there is room for two words."""
    part: str = "Request"
    """Name of what there is to read."""
    empty: str = ""
    """What is said where there is nothing to read."""
    activity: tuple[int, str] = ANYTHING
    """Number and name of it in OCSF; what runs code is none of those that it has."""
    least: Level = Level.LOW
    """The level that a request has at least."""
    of_client: bool = False
    """Whether the agent's own program has it: what it does happens on the machine itself, in no sandbox of Assent."""
    new_place: bool = False
    """Whether it runs code, or makes a sandbox to run it in later, where none is named."""
    sandbox: bool = False
    """Whether it is always about a sandbox that is kept."""
    files: bool = False
    """Whether it is about files of a sandbox alone, and runs no code."""
    timed: bool = True
    """Whether its time is limited and shown."""
    reads: bool = False
    """Whether it changes nothing, so that it needs no record before it is done."""
    changes: bool = False
    """Whether it changes a kept sandbox that nothing runs in."""
    joins: bool = False
    """Whether the same call twice is one request: two calls that create a sandbox want two."""


FACTS = {
    Tool.CODE_EXECUTE: ToolFacts(
        "Running code",
        "runs code",
        "wants to run code",
        part="Code",
        least=Level.HIGH,
        new_place=True,
        joins=True,
    ),
    Tool.CODE_CREATE_SANDBOX: ToolFacts(
        "Making an empty sandbox",
        "makes a sandbox",
        "wants a sandbox",
        empty="An empty sandbox. No code runs.",
        activity=(1, "Create"),
        new_place=True,
        timed=False,
    ),
    Tool.CODE_WRITE_FILE: ToolFacts(
        "Writing a file",
        "writes a file",
        "wants to write a file",
        part="Content",
        empty="The file would be empty.",
        activity=(3, "Update"),
        sandbox=True,
        files=True,
        timed=False,
        changes=True,
        joins=True,
    ),
    Tool.CODE_READ_FILE: ToolFacts(
        "Handing a file to the agent",
        "reads a file",
        "wants to read a file",
        empty="The agent gets what the file holds. No code runs.",
        activity=(2, "Read"),
        sandbox=True,
        files=True,
        timed=False,
        reads=True,
        joins=True,
    ),
    Tool.CODE_LIST_FILES: ToolFacts(
        "Listing files for the agent",
        "lists files",
        "wants to list files",
        empty="The agent gets the names and sizes of the files. No code runs.",
        activity=(2, "Read"),
        sandbox=True,
        files=True,
        timed=False,
        reads=True,
        joins=True,
    ),
    Tool.CODE_DESTROY_SANDBOX: ToolFacts(
        "Removing the agent's own sandbox",
        "removes its sandbox",
        "wants to remove its sandbox",
        empty="The sandbox and everything in it are removed.",
        activity=(4, "Delete"),
        sandbox=True,
        timed=False,
    ),
    Tool.CODE_SANDBOX_INFO: ToolFacts(
        "Describing the sandbox",
        "asks what the sandbox has",
        "asks what the sandbox has",
        activity=(2, "Read"),
        timed=False,
        reads=True,
    ),
    Tool.CODE_INSTALL_PACKAGE: ToolFacts(
        "Installing packages",
        "installs packages",
        "wants to install packages",
        empty="Packages are unpacked into the sandbox. None of their code runs by that.",
        sandbox=True,
        changes=True,
        joins=True,
    ),
    Tool.CLIENT_SHELL: ToolFacts(
        "Running code",
        "runs a command on your machine",
        "wants to use its own shell",
        brief="its own shell",
        part="Command",
        least=Level.HIGH,
        of_client=True,
    ),
    Tool.CLIENT_EDIT: ToolFacts(
        "Changing a file",
        "changes your files",
        "wants to change your files",
        part="New text",
        empty="The text would be removed: see Replaces.",
        of_client=True,
    ),
    Tool.CLIENT_FETCH: ToolFacts(
        "Reading an address from your machine",
        "fetches an address on your machine",
        "wants to fetch an address",
        brief="fetches an address",
        part="Address",
        of_client=True,
    ),
    Tool.CLIENT_TOOL: ToolFacts(
        "Using a tool that Assent does not know",
        "uses a tool on your machine",
        "wants to use a tool of its own",
        brief="a tool of its own",
        part="Input",
        of_client=True,
    ),
}
"""Every tool that makes a request."""
CLIENT_TOOLS = frozenset(tool for tool, facts in FACTS.items() if facts.of_client)
NEW_PLACE = frozenset(tool for tool, facts in FACTS.items() if facts.new_place)
