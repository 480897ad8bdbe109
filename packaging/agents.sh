#!/bin/sh
# Installs the real clients that the tests drive into build/agents: 2 GB, so only where somebody asks for it.
# Does nothing when the locked versions are there already.
set -eu
cd "$(dirname "$0")/.."
there=build/agents
locks="packaging/agents/package-lock.json packaging/requirements/agents.txt"
cat $locks | cmp -s - "$there/complete" && exit 0
mkdir -p "$there"
rm -f "$there/complete"
cp packaging/agents/package.json packaging/agents/package-lock.json "$there/"
echo "Installing Claude Code, Codex, Gemini CLI, further clients, SDKs and the conformance suite into $there"
# No scripts of packages are run, but for the one that puts Claude Code's own program in its place.
npm ci --prefix "$there" --ignore-scripts --no-audit --no-fund --loglevel error
node "$there/node_modules/@anthropic-ai/claude-code/install.cjs"
echo "Installing LangChain, OpenAI Agents and FastMCP into $there/python"
# In an environment of their own: they need another version of the protocol's library than Assent.
.venv/bin/uv venv --quiet --clear --python .venv/bin/python "$there/python"
.venv/bin/uv pip sync --quiet --require-hashes --python "$there/python/bin/python" packaging/requirements/agents.txt
cat $locks > "$there/complete"
