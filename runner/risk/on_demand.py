"""The parts of the classifier that are imported only where code needs them."""

from __future__ import annotations

ON_DEMAND = (
    "runner.model.sent_files",
    "runner.risk.by_calls.reading",
    "runner.risk.by_calls.walker",
    "runner.risk.executing.executing_python",
    "runner.risk.javascript.program",
    "runner.risk.javascript.syntax",
    "runner.risk.inputs.known_files",
    "runner.risk.literals.outline",
    "runner.risk.literals.outline_javascript",
    "runner.risk.literals.outline_python",
    "runner.risk.literals.pictures",
    "runner.risk.context.planned",
    "runner.risk.context.programs",
    "runner.risk.python.program",
    "runner.risk.python.python2",
    "runner.risk.benign_obfuscation",
    "runner.risk.recipes.run_yaml",
    "runner.risk.shell.script",
    "runner.risk.trace.stores",
    "runner.risk.whole.handed_on",
    "runner.risk.whole.handed_on_javascript",
    "runner.risk.whole.of_javascript",
    "runner.risk.whole.of_python",
    "runner.risk.whole.of_shell",
    "runner.risk.whole.reading",
    "runner.system.language_packages",
)
"""Modules that the console and its classifier processes import late, and load before an update could change them."""
