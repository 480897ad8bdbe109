"""The names of settings and their choices on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.settings.declared import PREFIX

if TYPE_CHECKING:
    from runner.settings.loading import Loaded


def on_off(on: bool) -> str:
    """Return what stands beside a box."""
    return "On" if on else "Off"


TITLES = {
    "enabled": "Run code",
    "sandbox_type": "Sandbox",
    "sandbox_fallback": "Use another if it does not work",
    "supported_languages": "Languages",
    "python": "Python interpreter",
    "node": "Node.js interpreter",
    "bash": "Bash interpreter",
    "timeout_seconds": "Time",
    "memory_mb": "Memory",
    "cpu_cores": "Processor",
    "disk_mb": "Disk space",
    "max_output_bytes": "Output kept",
    "max_output_kb": "Output sent to the agent",
    "max_timeout_seconds": "Most time",
    "max_memory_mb": "Most memory",
    "max_disk_mb": "Most disk space",
    "max_output_limit_bytes": "Most output kept",
    "history_output_bytes": "Output in the history",
    "enforce_allowed_modules": "Only allowed modules",
    "block_dangerous_imports": "Block modules",
    "store_code": "Keep artifacts",
    "max_code_kb": "Most code",
    "auto_approve_low": "Pass low risk unasked",
    "window_critical": "Waiting time, critical",
    "window_high": "Waiting time, high",
    "window_medium": "Waiting time, medium and low",
    "weakest_isolation_critical": "Minimum sandbox for CRITICAL",
    "weakest_isolation_high": "Minimum sandbox for HIGH",
    "weakest_isolation_medium": "Minimum sandbox for MEDIUM and LOW",
    "hold_at_work": "Hold commands at work",
    "hold_seconds": "Hold a call open",
    "rate_per_minute": "Calls per minute",
    "burst": "Calls at once",
    "max_pending": "Open requests per agent",
    "mb_per_minute": "Data per minute",
    "docker_image": "Image",
    "docker_context": "Docker context",
    "warm_containers": "Warm containers",
    "warm_languages": "Keep warm for",
    "docker_memory_mb": "Memory",
    "docker_cpu_cores": "Processor",
    "python_image": "Image for Python",
    "javascript_image": "Image for JavaScript",
    "shell_image": "Image for Bash",
    "network_by_default": "Registries unasked for",
    "pypi_registries": "Hosts of Python packages",
    "npm_registries": "Hosts of Node.js packages",
    "network_sent_mb": "Most sent by a run",
    "network_received_mb": "Most received by a run",
    "network_connections": "Connections of a run",
    "approve_by": "Approve with",
    "approve_after_trial": "Approve waits for the trial",
    "seccomp_profile": "Seccomp profile",
    "seccomp_allows": "The profile may allow",
    "apparmor_profile": "AppArmor profile",
    "e2b_domain": "Domain of E2B",
    "e2b_api_url": "Address of its API",
    "e2b_sandbox_url": "Address of its sandboxes",
    "e2b_template": "Template",
    "e2b_counts_as": "Counts as",
    "plugin_counts_as": "A package's sandbox counts as",
    "e2b_sandboxes_per_agent": "Sandboxes of an agent",
    "e2b_minutes_a_day": "Minutes of an agent a day",
    "away_after": "Away by itself after",
    "secrets_file": "Secrets in a file",
}
"""Names that say more than the field's own."""

CHOICES = {
    "auto": "Automatic",
    "docker": "Docker container",
    "gvisor": "gVisor container",
    "gvisor-direct": "gVisor without Docker",
    "e2b": "E2B, elsewhere",
    "local": "Local sandbox",
    "process": "Local sandbox without bubblewrap",
    "javascript": "JavaScript",
    "shell": "Bash",
    "on_error": "Only of failed runs",
    "always": "Of every run",
    "system": "Like the desktop",
    "key": "A key or the mouse",
    "mouse": "The mouse only",
    "word": "A word that is typed",
    "pin": "A PIN",
    "critical": "CRITICAL only",
    "high": "HIGH and CRITICAL",
    "none": "None",
    "100": "100 %",
    "125": "125 %",
    "150": "150 %",
    "175": "175 %",
    "200": "200 %",
}


def title_of(name: str) -> str:
    """Return the name of a setting for people."""
    return TITLES.get(name) or name.replace("_", " ").capitalize()


def choice(value: str) -> str:
    """Return one of several values, in words."""
    if value.startswith(PREFIX):
        return f"{value.removeprefix(PREFIX)}, of an installed package"
    return CHOICES.get(value) or value.capitalize()


SHOWN_PROBLEMS = 5


def problems_of(loaded: Loaded) -> str:
    """Return what is wrong in the files, a line each; '' for nothing."""
    if not loaded.problems:
        return ""
    shown = list(loaded.problems[:SHOWN_PROBLEMS])
    if more := len(loaded.problems) - len(shown):
        shown.append(f"And {more} more.")
    return "\n".join([*shown, "Until this is corrected, every request asks you."])
