"""The clients that `assent work` knows, each with what was seen of the program itself at work in the rings.

Every value was tried with the version that the tests drive. Hosts are those that a program asked for where a name
server wrote down each name, and those of the log-in in the program itself.
"""

from __future__ import annotations

from runner.clients import own_shell
from runner.clients.known import CLAUDE, CODEX, GEMINI
from runner.work.facts import PROJECT, SLUG, CredentialFile, MergedFile, StatePlace, WorkFacts

ANTHROPIC, OPENAI, GOOGLE = "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"
GITHUB = ("github.com", "api.github.com", "raw.githubusercontent.com")
"""From where clients fetch plug-ins, models' names and news of versions."""
KEYS = {
    "ANTHROPIC_API_KEY": ANTHROPIC,
    "OPENAI_API_KEY": OPENAI,
    "GEMINI_API_KEY": GOOGLE,
    "GOOGLE_API_KEY": GOOGLE,
    "OPENROUTER_API_KEY": "openrouter.ai",
    "GROQ_API_KEY": "api.groq.com",
    "MISTRAL_API_KEY": "api.mistral.ai",
    "DEEPSEEK_API_KEY": "api.deepseek.com",
    "XAI_API_KEY": "api.x.ai",
}
"""Of the services that a client of many models may be used with."""
OAUTH = ("access_token", "refresh_token", "id_token", "expiry_date", "expires_in", "expires_at", "last_refresh")

_CLAUDE = WorkFacts(
    CLAUDE,
    state=(
        StatePlace(
            ".claude",
            "CLAUDE_CONFIG_DIR",
            fresh=(
                "settings.json",
                "CLAUDE.md",
                "keybindings.json",
                "agents",
                "commands",
                "hooks",
                "output-styles",
                "plugins",
                "rules",
                "skills",
                "themes",
            ),
            kept=("history.jsonl", f"projects/{SLUG}/*.jsonl", "file-history", "plans", "tasks", "todos"),
            credentials=(
                CredentialFile(
                    ".credentials.json", ("accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt")
                ),
            ),
            shell=("shell-snapshots",),
        ),
        StatePlace(
            ".claude.json",
            "CLAUDE_CONFIG_DIR",
            ".claude.json",
            merged=(
                MergedFile(
                    "",
                    kept=(
                        *((key,) for key in ("userID", "machineID", "firstStartTime", "oauthAccount", "theme")),
                        *((key,) for key in ("hasCompletedOnboarding", "lastOnboardingVersion", "tipsHistory")),
                        ("projects", PROJECT, "lastSessionId"),
                        ("projects", PROJECT, "hasCompletedProjectOnboarding"),
                        ("projects", PROJECT, "projectOnboardingSeenCount"),
                    ),
                    by_project="projects",
                ),
            ),
        ),
    ),
    hosts=(ANTHROPIC, "platform.claude.com", "claude.ai"),
    quiet=(*GITHUB, "downloads.claude.ai", "storage.googleapis.com", "http-intake.logs.us5.datadoghq.com"),
    keys={"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "", "CLAUDE_CODE_OAUTH_TOKEN": ""},
    addresses=("ANTHROPIC_BASE_URL",),
    settings=(".claude/settings.json",),
    passed=(
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "ANTHROPIC_DEFAULT_SONNET_MODEL",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "MAX_THINKING_TOKENS",
        "API_TIMEOUT_MS",
    ),
    variables={
        # Without it, it refuses the argument to root.
        "IS_SANDBOX": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    },
    # The second leaves out its dialog about the first.
    arguments=("--dangerously-skip-permissions", "--settings", '{"skipDangerousModePermissionPrompt":true}'),
    unless=("--permission-mode", "--dangerously-skip-permissions"),
    shell_tools=("Bash",),
    unwrapped=own_shell.claude_code,
    prepares=own_shell.claude_code_prepares,
)
_CODEX = WorkFacts(
    CODEX,
    state=(
        StatePlace(
            ".codex",
            "CODEX_HOME",
            fresh=("config.toml", "*.config.toml", "AGENTS.md", "prompts", "rules", "skills", "plugins"),
            kept=(
                "sessions",
                "archived_sessions",
                "history.jsonl",
                "installation_id",
                "state_*.sqlite*",
                "thread_history_*.sqlite*",
                "queue_*.sqlite*",
                "goals_*.sqlite*",
            ),
            credentials=(CredentialFile("auth.json", OAUTH),),
            shared=("packages",),
            shell=("shell_snapshots",),
        ),
    ),
    hosts=(OPENAI, "auth.openai.com", "chatgpt.com"),
    quiet=(*GITHUB, "codeload.github.com", "ab.chatgpt.com"),
    keys={"OPENAI_API_KEY": "", "CODEX_API_KEY": "", "CODEX_ACCESS_TOKEN": ""},
    addresses=("OPENAI_BASE_URL", "base_url", "openai_base_url", "chatgpt_base_url"),
    settings=(".codex/config.toml",),
    passed=("CODEX_CA_CERTIFICATE",),
    arguments=(
        # Its own sandbox cannot start inside another one.
        "--dangerously-bypass-approvals-and-sandbox",
        *("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false"),
    ),
    unless=("--dangerously-bypass-approvals-and-sandbox", "--approve-for-me", "-a", "--ask-for-approval"),
    shell_tools=("shell", "exec_command"),
    unwrapped=own_shell.codex,
    prepares=own_shell.codex_prepares,
)
_GEMINI = WorkFacts(
    GEMINI,
    state=(
        StatePlace(
            ".gemini",
            fresh=(
                "settings.json",
                "trustedFolders.json",
                "GEMINI.md",
                ".env",
                "commands",
                "extensions",
                "policies",
                "skills",
                # Encrypted with the name of the machine: nothing that could be looked at and written back.
                "gemini-credentials.json",
            ),
            kept=("projects.json", "state.json", "history", "tmp", "installation_id", "google_account_id"),
            credentials=(CredentialFile("oauth_creds.json", OAUTH), CredentialFile("google_accounts.json", ())),
        ),
    ),
    hosts=(
        GOOGLE,
        "cloudcode-pa.googleapis.com",
        "oauth2.googleapis.com",
        "accounts.google.com",
        "www.googleapis.com",
    ),
    quiet=("play.googleapis.com", *GITHUB),
    keys={"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "GOOGLE_CLOUD_ACCESS_TOKEN": ""},
    addresses=("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"),
    settings=(".gemini/settings.json",),
    passed=(
        "GEMINI_MODEL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
    ),
    variables={"GEMINI_SANDBOX": "false", "GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_NO_RELAUNCH": "true"},
    arguments=("--approval-mode=yolo",),
    unless=("--approval-mode", "-y", "--yolo"),
    commands=("mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"),
    shell_tools=("run_shell_command",),
    unwrapped=own_shell.gemini_cli,
)
_QWEN = WorkFacts(
    "qwen-code",
    state=(
        StatePlace(
            ".qwen",
            "QWEN_HOME",
            fresh=(
                "settings.json",
                "trustedFolders.json",
                "QWEN.md",
                ".env",
                "commands",
                "extensions",
                "agents",
                "skills",
            ),
            kept=("projects.json", f"projects/{SLUG}/chats", "tmp", "installation_id", "output-language.md"),
            credentials=(CredentialFile("oauth_creds.json", OAUTH),),
        ),
    ),
    hosts=("chat.qwen.ai", "dashscope.aliyuncs.com"),
    quiet=(
        "gb4w8c3ygj-default-sea.rum.aliyuncs.com",
        "qwen-code-assets.oss-cn-hangzhou.aliyuncs.com",
        *GITHUB,
    ),
    keys={**KEYS, "DASHSCOPE_API_KEY": "", "BAILIAN_CODING_PLAN_API_KEY": "coding.dashscope.aliyuncs.com"},
    addresses=("OPENAI_BASE_URL", "DASHSCOPE_PROXY_BASE_URL", "ANTHROPIC_BASE_URL", "baseUrl"),
    settings=(".qwen/settings.json",),
    passed=("OPENAI_MODEL", "QWEN_MODEL", "QWEN_CODE_MODEL"),
    names_shell=True,
    variables={"QWEN_SANDBOX": "false", "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1", "QWEN_CODE_NO_RELAUNCH": "true"},
    arguments=("--approval-mode=yolo",),
    unless=("--approval-mode", "-y", "--yolo"),
    commands=(
        "auth",
        "board",
        "channel",
        "extensions",
        "hooks",
        "mcp",
        "review",
        "sandbox",
        "serve",
        "sessions",
        "update",
    ),
    shell_tools=("run_shell_command",),
)
_GOOSE = WorkFacts(
    "goose",
    state=(
        StatePlace(
            ".config/goose",
            "XDG_CONFIG_HOME",
            "goose",
            fresh=(
                "config.yaml",
                "secrets.yaml",
                "permission.yaml",
                ".goosehints",
                "custom_providers",
                "recipes",
                "skills",
                "prompts",
            ),
            credentials=(
                CredentialFile("chatgpt_codex/tokens.json", OAUTH),
                CredentialFile("gemini_oauth/tokens.json", OAUTH),
            ),
        ),
        StatePlace(".local/share/goose", "XDG_DATA_HOME", "goose", kept=("sessions", "projects.json")),
        StatePlace(".local/state/goose", "XDG_STATE_HOME", "goose", kept=("history.txt",)),
    ),
    quiet=("us.i.posthog.com", *GITHUB),
    keys=KEYS,
    addresses=("OPENAI_HOST", "OPENAI_BASE_URL", "ANTHROPIC_HOST", "GOOGLE_HOST", "OLLAMA_HOST", "base_url"),
    settings=(".config/goose/config.yaml",),
    passed=("GOOSE_PROVIDER", "GOOSE_MODEL", "GOOSE_PLANNER_PROVIDER", "GOOSE_PLANNER_MODEL", "GOOSE_CONTEXT_LIMIT"),
    names_shell=True,
    # The keyring is not there in the rings.
    variables={"GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_OFF": "1"},
    shell_tools=("developer__shell",),
)
_COPILOT = WorkFacts(
    "copilot-cli",
    state=(
        StatePlace(
            ".copilot",
            "COPILOT_HOME",
            fresh=(
                "config.json",
                "settings.json",
                "mcp-config.json",
                "copilot-instructions.md",
                "agents",
                "hooks",
                "installed-plugins",
                "skills",
            ),
            kept=("session-state", "session-store.db*", "history-session-state", "command-history-state.json"),
        ),
        StatePlace(".cache/copilot", "COPILOT_CACHE_HOME", shared=("pkg",)),
    ),
    # The log-in is at github.com, where a token could also push: that one is asked.
    hosts=("api.github.com", "*.githubcopilot.com"),
    quiet=("raw.githubusercontent.com",),
    keys={
        **dict.fromkeys(("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"), ""),
        "COPILOT_PROVIDER_BEARER_TOKEN": "",
    },
    addresses=("COPILOT_PROVIDER_BASE_URL", "COPILOT_API_URL"),
    passed=(
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_GH_HOST",
    ),
    variables={"COPILOT_AUTO_UPDATE": "false"},
    arguments=("--allow-all-tools",),
    unless=("--allow-all-tools", "--allow-all", "--yolo"),
    shell_tools=("bash",),
)
_OPENCODE = WorkFacts(
    "opencode",
    state=(
        StatePlace(
            ".config/opencode",
            "XDG_CONFIG_HOME",
            "opencode",
            fresh=(
                "opencode.json",
                "opencode.jsonc",
                "tui.json",
                "AGENTS.md",
                "agent",
                "agents",
                "command",
                "commands",
                "mode",
                "plugin",
                "plugins",
                "skill",
                "skills",
                "themes",
            ),
        ),
        StatePlace(
            ".local/share/opencode",
            "XDG_DATA_HOME",
            "opencode",
            kept=("opencode.db*", "storage", "tool-output"),
            credentials=(CredentialFile("auth.json", ("access", "refresh", "expires")),),
        ),
        StatePlace(
            ".local/state/opencode",
            "XDG_STATE_HOME",
            "opencode",
            kept=("kv.json", "model.json", "prompt-history.jsonl", "frecency.jsonl"),
        ),
        StatePlace(".cache/opencode", "XDG_CACHE_HOME", "opencode", shared=("node_modules", "packages")),
    ),
    hosts=("opencode.ai", "models.opencode.ai"),
    quiet=GITHUB,
    keys={**KEYS, "OPENCODE_API_KEY": ""},
    addresses=("baseURL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"),
    settings=(".config/opencode/opencode.json",),
    passed=("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_MODELS_URL"),
    variables={"OPENCODE_PERMISSION": '{"*":"allow"}', "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    shell_tools=("bash",),
)
_CLINE = WorkFacts(
    "cline",
    state=(
        StatePlace(
            ".cline",
            "CLINE_DIR",
            fresh=("data/settings", "rules", "skills", "workflows", "hooks", "plugins", "agents"),
            kept=("data/sessions", "data/db", "data/tasks", "data/state"),
        ),
    ),
    hosts=("api.cline.bot", "app.cline.bot"),
    quiet=("otel.cline.bot", "data.cline.bot", "us.i.posthog.com", *GITHUB),
    keys={**KEYS, "CLINE_API_KEY": ""},
    addresses=("baseUrl", "OPENAI_BASE_URL"),
    settings=(".cline/data/settings/providers.json",),
    passed=("CLINE_PROVIDER", "CLINE_MODEL"),
    variables={"CLINE_NO_AUTO_UPDATE": "1"},
)
AT_WORK: dict[str, WorkFacts] = {
    facts.client: facts for facts in (_CLAUDE, _CODEX, _GEMINI, _GOOSE, _QWEN, _COPILOT, _OPENCODE, _CLINE)
}
