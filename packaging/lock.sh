#!/bin/sh
# Writes the lock files again: every package with its hashes, no address of where it comes from.
set -eu
cd "$(dirname "$0")/.."
# Local finds and mirrors of this machine must not decide which hashes are locked.
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL UV_FIND_LINKS UV_EXTRA_INDEX_URL
lock() {
    .venv/bin/uv pip compile --no-config --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header --quiet "$@"
}
lock --extra checkout pyproject.toml -o packaging/requirements/run.txt
lock --extra checkout --extra dev -c packaging/requirements/run.txt pyproject.toml -o packaging/requirements/dev.txt
lock packaging/agents/libraries.in -o packaging/requirements/agents.txt
