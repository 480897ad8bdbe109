#!/bin/sh
# Installs the real agent programs that tests/path drives into build/agents: 760 MB, so only where somebody asks for it.
# Does nothing when the locked versions are there already.
set -eu
cd "$(dirname "$0")/.."
there=build/agents
cmp -s packaging/agents/package-lock.json "$there/package-lock.json" && [ -f "$there/complete" ] && exit 0
mkdir -p "$there"
rm -f "$there/complete"
cp packaging/agents/package.json packaging/agents/package-lock.json "$there/"
echo "Installing Claude Code and Codex into $there"
# No scripts of packages are run, but for the one that puts Claude Code's own program in its place.
npm ci --prefix "$there" --ignore-scripts --no-audit --no-fund --loglevel error
node "$there/node_modules/@anthropic-ai/claude-code/install.cjs"
touch "$there/complete"
