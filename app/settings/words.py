"""The names of settings and their choices on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.translation import tr, translated
from runner.settings.declaration import Kind
from runner.settings.declared import PREFIX

if TYPE_CHECKING:
    from runner.settings.declaration import Declared, Value
    from runner.settings.loading import Loaded


def on_off(on: bool) -> str:
    """Return what stands beside a box."""
    return tr("On") if on else tr("Off")


TITLES = {
    "language": tr("Language"),
    "enabled": tr("Run code"),
    "sandbox_type": tr("Sandbox"),
    "sandbox_fallback": tr("Use another if it does not work"),
    "supported_languages": tr("Languages"),
    "python": tr("Python interpreter"),
    "node": tr("Node.js interpreter"),
    "bash": tr("Bash interpreter"),
    "timeout_seconds": tr("Time"),
    "memory_mb": tr("Memory"),
    "cpu_cores": tr("Processor"),
    "disk_mb": tr("Disk space"),
    "max_output_bytes": tr("Output kept"),
    "max_output_kb": tr("Output sent to the agent"),
    "max_timeout_seconds": tr("Most time"),
    "max_memory_mb": tr("Most memory"),
    "max_disk_mb": tr("Most disk space"),
    "max_output_limit_bytes": tr("Most output kept"),
    "history_output_bytes": tr("Output in the history"),
    "enforce_allowed_modules": tr("Only allowed modules"),
    "block_dangerous_imports": tr("Block modules"),
    "store_code": tr("Keep artifacts"),
    "max_code_kb": tr("Most code"),
    "auto_approve_low": tr("Pass low risk unasked"),
    "window_critical": tr("Waiting time, critical"),
    "window_high": tr("Waiting time, high"),
    "window_medium": tr("Waiting time, medium and low"),
    "weakest_isolation_critical": tr("Minimum sandbox for CRITICAL"),
    "weakest_isolation_high": tr("Minimum sandbox for HIGH"),
    "weakest_isolation_medium": tr("Minimum sandbox for MEDIUM and LOW"),
    "hold_at_work": tr("Hold commands at work"),
    "hold_seconds": tr("Hold a call open"),
    "rate_per_minute": tr("Calls per minute"),
    "burst": tr("Calls at once"),
    "max_pending": tr("Open requests per agent"),
    "mb_per_minute": tr("Data per minute"),
    "docker_image": tr("Image"),
    "docker_context": tr("Docker context"),
    "warm_containers": tr("Warm containers"),
    "warm_languages": tr("Keep warm for"),
    "docker_memory_mb": tr("Memory"),
    "docker_cpu_cores": tr("Processor"),
    "python_image": tr("Image for Python"),
    "javascript_image": tr("Image for JavaScript"),
    "shell_image": tr("Image for Bash"),
    "network_by_default": tr("Registries unasked for"),
    "pypi_registries": tr("Hosts of Python packages"),
    "npm_registries": tr("Hosts of Node.js packages"),
    "network_sent_mb": tr("Most sent by a run"),
    "network_received_mb": tr("Most received by a run"),
    "network_connections": tr("Connections of a run"),
    "approve_by": tr("Approve with"),
    "approve_after_trial": tr("Approve waits for the trial"),
    "e2b_domain": tr("Domain of E2B"),
    "e2b_api_url": tr("Address of its API"),
    "e2b_sandbox_url": tr("Address of its sandboxes"),
    "e2b_template": tr("Template"),
    "e2b_counts_as": tr("Counts as"),
    "plugin_counts_as": tr("A package's sandbox counts as"),
    "e2b_sandboxes_per_agent": tr("Sandboxes of an agent"),
    "e2b_minutes_a_day": tr("Minutes of an agent a day"),
    "away_after": tr("Away by itself after"),
    "secrets_file": tr("Secrets in a file"),
    "seccomp_profile": tr("Seccomp profile"),
    "seccomp_allows": tr("The profile may allow"),
    "apparmor_profile": tr("AppArmor profile"),
}
"""Names that say more than the field's own."""

CHOICES = {
    "auto": tr("Automatic"),
    "docker": tr("Docker container"),
    "gvisor": tr("gVisor container"),
    "gvisor-direct": tr("gVisor without Docker"),
    "e2b": tr("E2B, elsewhere"),
    "local": tr("Local sandbox"),
    "process": tr("Local sandbox without bubblewrap"),
    "javascript": "JavaScript",
    "shell": "Bash",
    "on_error": tr("Only of failed runs"),
    "always": tr("Of every run"),
    "system": tr("Like the desktop"),
    "en": "English",
    "de": "Deutsch",
    "key": tr("A key or the mouse"),
    "mouse": tr("The mouse only"),
    "word": tr("A word that is typed"),
    "pin": tr("A PIN"),
    "critical": tr("CRITICAL only"),
    "high": tr("HIGH and CRITICAL"),
    "none": tr("None"),
    "100": "100 %",
    "125": "125 %",
    "150": "150 %",
    "175": "175 %",
    "200": "200 %",
}


def title_of(name: str) -> str:
    """Return the name of a setting for people."""
    return TITLES.get(name) or translated(name.replace("_", " ").capitalize())


def choice(value: str) -> str:
    """Return one of several values, in words."""
    if value.startswith(PREFIX):
        return tr("{removeprefix}, of an installed package", removeprefix=value.removeprefix(PREFIX))
    return CHOICES.get(value) or translated(value.capitalize())


def shown_value(one: Declared, value: Value) -> str:
    """Return the value of a setting with its unit, in words."""
    match value:
        case bool():
            return on_off(value)
        case ():
            return tr("none")
        case "":
            return tr("not set")
        case str() if one.kind is Kind.CHOICE:
            return choice(value)
        case _:
            return one.shown(value)


SHOWN_PROBLEMS = 5


def problems_of(loaded: Loaded) -> str:
    """Return what is wrong in the files, a line each; '' for nothing."""
    if not loaded.problems:
        return ""
    shown = list(loaded.problems[:SHOWN_PROBLEMS])
    if more := len(loaded.problems) - len(shown):
        shown.append(tr("And {more} more.", more=more))
    return "\n".join([*shown, tr("Until this is corrected, every request asks you.")])
