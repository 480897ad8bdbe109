"""The settings of Assent, each declared once: type, default, sentence, names, bounds (spec O1)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache

from runner.model.languages import SYNONYMS
from runner.settings.declaration import Declared, draft_of, setting

PACKAGES = "Network and packages"
RUN, LIMITS, CODE, APPROVAL, AGENTS = "Where code runs", "Limits of a run", "Code", "Approval", "Agents"
HISTORY, WINDOW, SECRETS, CONTAINER = "History", "Window", "Secrets", "Containers"
REMOTE = "E2B"
PREFIX = "plugin:"
"""Begins the name of a sandbox or a language that an installed package brings."""

_LANGUAGES = "python javascript shell go rust java"
"""Those of Assent; not the names that packages may have added since."""
_ISOLATIONS = "process local docker gvisor-direct gvisor e2b"
RUNTIMES = (("runsc", "gvisor"), ("runc", "docker"), ("cloud", "e2b"))
"""`runsc` is a given name for gVisor (spec E3)."""
_E2B = (("cloud", "e2b"), ("runsc", "gvisor"))


# One row per group of arguments reads better here than one per argument.
# fmt: off
@dataclass(frozen=True, slots=True)
class Settings:
    """The settings. Besides the variables named here, `ASSENT_` and the field's name in capitals sets a field."""

    # ---- where code runs ----
    enabled: bool = setting(
        True, "Whether code may run at all. Off denies every request to run code.",
        group=RUN, yaml="security.sandbox.enabled",
    )
    sandbox_type: str = setting(
        "auto", "Which sandbox runs code; automatic takes the strongest one that works here. Only E2B sends code "
        "elsewhere, and perhaps what an installed package brings: plugin: and its name.",
        group=RUN, env="SANDBOX_TYPE", yaml="security.sandbox.runtime security.sandbox.type",
        choices="auto local docker gvisor-direct gvisor e2b", synonyms=RUNTIMES, named=PREFIX, restart=True,
    )
    sandbox_fallback: bool = setting(
        False, "Whether code may run in another sandbox where the one named does not work; in the Python API also "
        "where the security level asks for a container.",
        group=RUN, yaml="security.sandbox.fallback", restart=True,
    )
    plugin_counts_as: str = setting(
        "process", "Which sandbox of this machine one of an installed package is as good as, for the minimum "
        "sandboxes: what it protects is promised by the package, and not checked by Assent.",
        group=RUN, yaml="plugin.counts_as", choices="process local docker gvisor-direct gvisor",
    )
    security_level: str = setting(
        "standard", "Preset for limits, allowed modules and isolation. Individual settings override it.",
        group=RUN, env="SANDBOX_SECURITY_LEVEL", yaml="security.level", choices="permissive standard strict",
    )
    supported_languages: tuple[str, ...] = setting(
        ("python", "javascript", "shell"), "Languages that may run; code in any other is denied. Go, Rust and Java "
        "need their compilers, or images of their own; plugin: and a name is one of an installed package.",
        group=RUN, env="SANDBOX_SUPPORTED_LANGUAGES", yaml="security.sandbox.supported_languages",
        choices=_LANGUAGES, synonyms=tuple(SYNONYMS.items()), named=PREFIX,
    )
    python: str = setting(
        "", "Path of the Python (3.11 or later) that runs code in the local sandbox; empty finds one.",
        group=RUN, yaml="security.sandbox.languages.python.interpreter", restart=True,
    )
    node: str = setting(
        "", "Path of the Node.js (20 or later) that runs code in the local sandbox; empty finds one.",
        group=RUN, yaml="security.sandbox.languages.javascript.interpreter", restart=True,
    )
    bash: str = setting(
        "", "Path of the Bash that runs code in the local sandbox; empty finds one.",
        group=RUN, yaml="security.sandbox.languages.shell.interpreter", restart=True,
    )
    seccomp_profile: str = setting(
        "", "Path of a seccomp profile in Docker's JSON form: which system calls code in the local sandbox and in "
        "Docker may not make, besides those that Assent's own filter forbids. With one that does not count nothing is "
        "run there.",
        group=RUN, yaml="security.sandbox.seccomp", restart=True,
    )
    seccomp_allows: tuple[str, ...] = setting(
        (), "System calls that Assent's own filter forbids and that this profile may allow, each by its name.",
        group=RUN, yaml="security.sandbox.seccomp_allows", restart=True,
    )
    # ---- limits ----
    timeout_seconds: float = setting(
        30.0, "How long a run may take unless the agent asks for another time.",
        group=LIMITS, env="SANDBOX_TIMEOUT_SEC", yaml="security.sandbox.limits.max_execution_time",
        unit="s", at_least=0.1, at_most=86_400,
    )
    memory_mb: int = setting(
        512, "Memory of a run unless the agent asks for another amount. Files in containers count too.",
        group=LIMITS, yaml="security.sandbox.limits.max_memory_mb", unit="MB", at_least=16, at_most=1_048_576,
    )
    cpu_cores: float = setting(
        0.5, "Share of the processor, in cores. The local sandbox cannot hold code to it.",
        group=LIMITS, yaml="security.sandbox.limits.max_cpu_cores", unit="cores", at_least=0.05, at_most=1024,
    )
    disk_mb: int = setting(
        1024, "Disk space of a run's workspace (/tmp, /dev/shm: at most 64 MB each); in containers at most its memory.",
        group=LIMITS, yaml="security.sandbox.limits.max_disk_mb", unit="MB", at_least=1, at_most=1_048_576,
    )
    processes: int = setting(
        64, "How many processes and threads a run may have at once.",
        group=LIMITS, yaml="security.sandbox.limits.max_processes", at_least=1, at_most=32_768,
    )
    max_output_bytes: int = setting(
        1_048_576, "How much of each output stream is kept, its beginning and its end.",
        group=LIMITS, yaml="security.sandbox.limits.max_output_bytes", unit="bytes",
        at_least=1024, at_most=16_777_216,
    )
    max_output_kb: int = setting(
        10, "How much output the text that an agent gets back may hold.",
        group=LIMITS, env="SANDBOX_MAX_OUTPUT_KB", yaml="security.sandbox.limits.max_output_kb",
        unit="KB", at_least=1, at_most=10_240,
    )
    max_timeout_seconds: float = setting(
        3600.0, "The longest time an agent may ask for.",
        group=LIMITS, yaml="security.sandbox.ceilings.execution_time", unit="s", at_least=0.1, at_most=86_400,
    )
    max_memory_mb: int = setting(
        8192, "The most memory an agent may ask for.",
        group=LIMITS, yaml="security.sandbox.ceilings.memory_mb", unit="MB", at_least=16, at_most=1_048_576,
    )
    max_disk_mb: int = setting(
        10_240, "The most disk space an agent may ask for.",
        group=LIMITS, yaml="security.sandbox.ceilings.disk_mb", unit="MB", at_least=1, at_most=1_048_576,
    )
    max_output_limit_bytes: int = setting(
        8_388_608, "The most output an agent may ask to be kept.",
        group=LIMITS, yaml="security.sandbox.ceilings.output_bytes", unit="bytes",
        at_least=1024, at_most=16_777_216,
    )
    history_output_bytes: int = setting(
        1_048_576,
        "How much of each output stream, and of a result, the history and the artifact record: beginning and end."
        " Of what is longer the history has size and SHA-256.",
        group=LIMITS, yaml="security.sandbox.limits.history_output_bytes", unit="bytes",
        at_least=4096, at_most=16_777_216,
    )
    # ---- code ----
    enforce_allowed_modules: bool = setting(
        False, "Whether Python code may import only the allowed modules. The strict level always holds to them.",
        group=CODE, yaml="security.sandbox.imports.enforce_allowed",
    )
    allowed_modules: tuple[str, ...] = setting(
        (), "Modules that Python code may import; none named means the list of the security level.",
        group=CODE, yaml="security.sandbox.imports.allowed",
    )
    block_dangerous_imports: bool = setting(
        False, "Whether Python code that imports a blocked module is stopped before it runs.",
        group=CODE, env="SANDBOX_BLOCK_DANGEROUS_IMPORTS", yaml="security.sandbox.imports.block_dangerous",
    )
    blocked_modules: tuple[str, ...] = setting(
        ("os", "subprocess", "shutil", "socket"), "The modules that blocking is about.",
        group=CODE, yaml="security.sandbox.imports.blocked",
    )
    store_code: str = setting(
        "on_error", "Which runs are kept as files, with what they created; the history has all of them in any case.",
        group=CODE, env="SANDBOX_STORE_CODE", yaml="security.sandbox.store_code", choices="always on_error never",
    )
    collect_files: bool = setting(
        True, "Whether files that a run created are collected after its end, to be looked at and saved.",
        group=CODE, yaml="security.sandbox.files.collect",
    )
    collect_most: int = setting(
        100, "How many files of a run are collected.",
        group=CODE, yaml="security.sandbox.files.most", at_least=1, at_most=1000,
    )
    collect_file_mb: int = setting(
        16, "The largest file that is collected.",
        group=CODE, yaml="security.sandbox.files.max_file_mb", unit="MB", at_least=1, at_most=256,
    )
    collect_all_mb: int = setting(
        64, "How much is collected of a run, all files together.",
        group=CODE, yaml="security.sandbox.files.max_all_mb", unit="MB", at_least=1, at_most=1024,
    )
    max_code_kb: int = setting(
        1024, "The most code a request may hold; as much again in its input, and in its variables.",
        group=CODE, yaml="security.sandbox.limits.max_code_kb", unit="KB", at_least=1, at_most=16_384,
    )
    # ---- approval ----
    auto_approve_low: bool = setting(
        True, "Whether low-risk requests pass without asking; they are recorded in any case.",
        group=APPROVAL, yaml="security.sandbox.hitl.auto_approve_low_risk",
    )
    window_critical: float = setting(
        30.0, "How long a critical request waits for you before it expires.",
        group=APPROVAL, yaml="security.sandbox.hitl.windows.critical", unit="s", at_least=5, at_most=86_400,
    )
    window_high: float = setting(
        60.0, "How long a high-risk request waits for you before it expires.",
        group=APPROVAL, yaml="security.sandbox.hitl.windows.high", unit="s", at_least=5, at_most=86_400,
    )
    window_medium: float = setting(
        120.0, "How long a request of medium or low risk waits for you before it expires.",
        group=APPROVAL, yaml="security.sandbox.hitl.windows.medium", unit="s", at_least=5, at_most=86_400,
    )
    weakest_isolation_critical: str = setting(
        "docker", "The weakest sandbox on which a critical request may be approved.",
        group=APPROVAL, yaml="security.sandbox.hitl.isolation.critical", choices=_ISOLATIONS, synonyms=_E2B,
    )
    weakest_isolation_high: str = setting(
        "local", "The weakest sandbox on which a high-risk request may be approved.",
        group=APPROVAL, yaml="security.sandbox.hitl.isolation.high", choices=_ISOLATIONS, synonyms=_E2B,
    )
    weakest_isolation_medium: str = setting(
        "local", "The weakest sandbox on which a request of medium or low risk may be approved.",
        group=APPROVAL, yaml="security.sandbox.hitl.isolation.medium", choices=_ISOLATIONS, synonyms=_E2B,
    )
    hold_at_work: str = setting(
        "critical", "Which commands of a program at work (assent work) are held until you answer: only CRITICAL ones, "
        "HIGH ones too, or none. Counts from the next command, also of programs that are at work already.",
        group=APPROVAL, yaml="work.hold", choices="critical high none", synonyms=(("off", "none"), ("never", "none")),
    )
    # ---- agents ----
    port: int = setting(
        17317, "Port on 127.0.0.1 where agents reach Assent; 0, or one that is taken, means any free one.",
        group=AGENTS, yaml="gateway.port", at_least=0, at_most=65_535, restart=True,
    )
    hold_seconds: float = setting(
        50.0, "How long a call is held open before its agent gets `pending` and fetches the answer later.",
        group=AGENTS, yaml="gateway.hold_seconds", unit="s", at_least=1, at_most=3600, restart=True,
    )
    rate_per_minute: int = setting(
        60, "How many calls one agent may make in a minute.",
        group=AGENTS, yaml="gateway.rate_per_minute", at_least=1, at_most=100_000, restart=True,
    )
    burst: int = setting(
        20, "How many calls one agent may make at once; above it the next ones wait a few seconds for their turn.",
        group=AGENTS, yaml="gateway.burst", at_least=1, at_most=100_000, restart=True,
    )
    max_pending: int = setting(
        20, "How many requests of one agent may be waiting or running.",
        group=AGENTS, yaml="gateway.max_pending", at_least=1, at_most=10_000, restart=True,
    )
    mb_per_minute: int = setting(
        10, "How much one agent may send in a minute, and twice that at once: what it asks stays in the history.",
        group=AGENTS, yaml="gateway.mb_per_minute", unit="MB", at_least=1, at_most=10_000, restart=True,
    )

    sandboxes_per_agent: int = setting(
        3, "How many sandboxes one agent may keep at once; 0 turns this off.",
        group=AGENTS, yaml="security.sandbox.kept.per_agent", at_least=0, at_most=100,
    )
    sandboxes: int = setting(
        8, "How many sandboxes may be kept at once, all agents together.",
        group=AGENTS, yaml="security.sandbox.kept.most", at_least=0, at_most=1000,
    )
    sandbox_unused_seconds: float = setting(
        1800.0, "How long a sandbox is kept that nobody uses.",
        group=AGENTS, yaml="security.sandbox.kept.unused_seconds", unit="s", at_least=1, at_most=604_800,
    )
    sandbox_lifetime_seconds: float = setting(
        28_800.0, "How long a sandbox is kept at the most, used or not.",
        group=AGENTS, yaml="security.sandbox.kept.lifetime_seconds", unit="s", at_least=1, at_most=2_592_000,
    )
    # ---- history ----
    history_keep_days: int = setting(
        0, "Code, output and files of older requests are removed, once a day or so; entries stay. 0 removes nothing.",
        group=HISTORY, yaml="history.keep_days", unit="days", at_least=0, at_most=36_500,
    )
    history_keep_mb: int = setting(
        0, "Content beyond this size is removed, the oldest first, and none of the last 7 days. 0 removes nothing.",
        group=HISTORY, yaml="history.keep_mb", unit="MB", at_least=0, at_most=1_048_576,
    )
    history_anchor_file: str = setting(
        "", "File, best on another disk, that gets each signed head of the history as a line; Verify compares with it.",
        group=HISTORY, yaml="history.anchor.file", restart=True,
    )
    history_anchor_git: str = setting(
        "", "Folder of a git repository that gets a commit for each signed head. Verify compares with it.",
        group=HISTORY, yaml="history.anchor.git", restart=True,
    )
    history_anchor_tsa: str = setting(
        "", "Address of a time stamping service (RFC 3161) that gets the hash of a signed head, at most once an hour.",
        group=HISTORY, yaml="history.anchor.tsa", restart=True,
    )
    history_anchor_tsa_ca: str = setting(
        "", "File of certificates (PEM) by which Verify trusts them.", group=HISTORY, yaml="history.anchor.tsa_ca",
        restart=True,
    )
    history_opentelemetry: str = setting(
        "", "Address of an OpenTelemetry collector (OTLP over HTTP) that gets entries, without code, output or titles.",
        group=HISTORY, yaml="history.opentelemetry.endpoint", restart=True,
    )
    # ---- window and secrets ----
    theme: str = setting(
        "system", "Colors of the window.", group=WINDOW, yaml="window.theme", choices="system light dark",
    )
    language: str = setting(
        "system", "Language of the window. What agents get, the history and the terminal are English.",
        group=WINDOW, yaml="window.language", choices="system en de", restart=True,
    )
    text_size: str = setting(
        "100", "Size of all text in percent of the usual one; the window scrolls where that leaves too little room.",
        group=WINDOW, yaml="window.text_size", choices="100 125 150 175 200", restart=True,
    )
    motion: str = setting(
        "system", "Whether things move; reduced draws countdowns in steps, opens menus at once and stops the cursor's "
        "blinking.",
        group=WINDOW, yaml="window.motion", choices="system reduced",
    )
    compact_prompt: bool = setting(
        True, "Whether a request comes up as a small card above all windows while Assent is not in front.",
        group=WINDOW, yaml="window.compact_prompt",
    )
    notice_sound: bool = setting(
        False, "Whether there is a sound when half of the time to answer has passed and the window is not in front.",
        group=WINDOW, yaml="window.notice_sound",
    )
    away_after: int = setting(
        0, "Minutes without a key or a press in Assent after which requests wait as they do while you are away, until "
        "you do something here again. 0: only when you say that you are away.",
        group=WINDOW, yaml="window.away_after", unit="min", at_least=0, at_most=240,
    )
    approve_by: str = setting(
        "key", "What approves a request: its key or the mouse; the mouse only; or, for HIGH and CRITICAL, a word shown "
        "beside the button and typed by hand, or your PIN. Remember, Trust, a weaker sandbox and settings ask for the "
        "same. With the mouse only, nothing can be approved on the terminal.",
        group=WINDOW, yaml="window.approve_by", choices="key mouse word pin",
    )
    approve_after_trial: bool = setting(
        False, "Whether Approve waits while the code of a request is being tried among decoys: 5 s at most, and half "
        "of the time that is left to answer. The question itself never waits.",
        group=WINDOW, yaml="window.approve_after_trial",
    )
    start_at_login: bool = setting(
        False, "Whether your desktop starts Assent when you log in.", group=WINDOW, yaml="window.start_at_login",
    )
    start_minimized: bool = setting(
        False, "Whether the window starts minimized when your desktop starts Assent.",
        group=WINDOW, yaml="window.start_minimized",
    )
    secrets_file: bool = setting(
        False, "Whether secrets go to a file that only you can read where this system has no keyring.",
        group=SECRETS, yaml="secrets.file",
    )
    # ---- containers ----
    docker_image: str = setting(
        "", "Image that runs code in containers; empty takes Assent's own.",
        group=CONTAINER, env="DOCKER_IMAGE", yaml="security.sandbox.image", restart=True,
    )
    docker_context: str = setting(
        "", "Docker context whose engine carries containers; empty takes the one that Docker's own tools would.",
        group=CONTAINER, yaml="security.sandbox.docker.context", restart=True,
    )
    warm_containers: int = setting(
        1, "How many containers are kept started for each language, so that runs begin at once; 0 keeps none.",
        group=CONTAINER, yaml="security.sandbox.pool.size", at_least=0, at_most=16,
    )
    warm_languages: tuple[str, ...] = setting(
        ("python",), "The languages for which containers are kept started.",
        group=CONTAINER, yaml="security.sandbox.pool.languages",
        choices=_LANGUAGES, synonyms=tuple(SYNONYMS.items()),
    )
    docker_memory_mb: int = setting(
        0, "Memory of a container; 0 takes the limit of the run.",
        group=CONTAINER, env="DOCKER_MEMORY_LIMIT", yaml="security.sandbox.docker.memory_limit",
        unit="MB", at_least=0, at_most=1_048_576,
    )
    docker_cpu_cores: float = setting(
        0.0, "Share of the processor of a container, in cores; 0 takes the limit of the run.",
        group=CONTAINER, env="DOCKER_CPU_LIMIT", yaml="security.sandbox.docker.cpu_limit",
        unit="cores", at_least=0, at_most=1024,
    )
    python_image: str = setting("", "Image for Python; empty takes Assent's own.",
        group=CONTAINER, yaml="security.sandbox.languages.python.image", restart=True,
    )
    javascript_image: str = setting("", "Image for JavaScript; empty takes Assent's own.",
        group=CONTAINER, yaml="security.sandbox.languages.javascript.image", restart=True,
    )
    shell_image: str = setting("", "Image for shell; empty takes Assent's own.",
        group=CONTAINER, yaml="security.sandbox.languages.shell.image", restart=True,
    )
    apparmor_profile: str = setting(
        "", "Name of an AppArmor profile for containers of Docker, loaded on the engine's machine; empty leaves it to "
        "the engine. Nothing is run in Docker where the engine cannot enforce it.",
        group=CONTAINER, yaml="security.sandbox.apparmor", restart=True,
    )
    # ---- E2B ----
    e2b_domain: str = setting(
        "e2b.app", "Domain of the service that speaks E2B's API. Code is sent there where the sandbox is E2B.",
        group=REMOTE, env="E2B_DOMAIN", yaml="e2b.domain", restart=True,
    )
    e2b_api_url: str = setting(
        "", "Address of its API; empty takes the name “api” below the domain. The key is sent to this host alone.",
        group=REMOTE, env="E2B_API_URL", yaml="e2b.api_url", restart=True,
    )
    e2b_sandbox_url: str = setting(
        "", "Address of its sandboxes, where all have one; empty takes a name below the domain for each.",
        group=REMOTE, env="E2B_SANDBOX_URL", yaml="e2b.sandbox_url", restart=True,
    )
    e2b_template: str = setting(
        "base", "Template that sandboxes at E2B start from; which languages it has is asked.",
        group=REMOTE, yaml="e2b.template", restart=True,
    )
    e2b_counts_as: str = setting(
        "local", "Which sandbox of this machine E2B is as good as, for the minimum sandboxes: what it protects is "
        "promised, not found.",
        group=REMOTE, yaml="e2b.counts_as", choices="process local docker gvisor-direct gvisor",
    )
    e2b_sandboxes_per_agent: int = setting(
        3, "How many sandboxes one agent may have at E2B at once, kept ones included.",
        group=REMOTE, yaml="e2b.sandboxes_per_agent", at_least=1, at_most=1000, restart=True,
    )
    e2b_minutes_a_day: int = setting(
        60, "How many minutes of sandboxes at E2B one agent may use in a day; above that nothing more is started.",
        group=REMOTE, yaml="e2b.minutes_a_day", unit="min", at_least=1, at_most=1_000_000, restart=True,
    )
    python_packages: tuple[str, ...] = setting(
        (), "Packages that every Python sandbox starts with. They are shown each time; the risk is at least HIGH.",
        group=PACKAGES, yaml="security.sandbox.languages.python.default_packages",
    )
    javascript_packages: tuple[str, ...] = setting(
        (), "Packages that every JavaScript sandbox starts with. They are shown each time; the risk is at least HIGH.",
        group=PACKAGES, yaml="security.sandbox.languages.javascript.default_packages",
    )
    shell_packages: tuple[str, ...] = setting(
        (), "Packages for shell sandboxes. There are none: packages come from PyPI and npm.",
        group=PACKAGES, yaml="security.sandbox.languages.shell.default_packages", idle="there are none for Bash",
    )
    package_file_mb: int = setting(
        64, "Largest file of a package that is fetched.",
        group=PACKAGES, yaml="security.sandbox.packages.max_file_mb", at_least=1, at_most=1024, unit="MB",
    )
    package_plan_mb: int = setting(
        256, "Most that all files of one request for packages may have together.",
        group=PACKAGES, yaml="security.sandbox.packages.max_plan_mb", at_least=1, at_most=4096, unit="MB",
    )
    package_cache_mb: int = setting(
        1024, "Most that fetched packages may take on disk; those not used for longest go first.",
        group=PACKAGES, yaml="security.sandbox.packages.cache_mb", at_least=1, at_most=65_536, unit="MB", restart=True,
    )
    package_build_seconds: float = setting(
        300.0, "Longest time that the build of one package, or its install scripts, may take.",
        group=PACKAGES, yaml="security.sandbox.packages.build_seconds", at_least=1, at_most=3600, unit="s",
    )
    network_by_default: bool = setting(
        False, "Whether containers reach the package registries, and nothing else, without the agent asking for it. "
        "Every run with network access is CRITICAL, so each is asked, but for those that a Python program runs itself.",
        group=PACKAGES, env="DOCKER_NETWORK_ENABLED", yaml="security.sandbox.network.enabled_by_default",
    )
    pypi_registries: tuple[str, ...] = setting(
        (), "Hosts from which Python packages may come, besides those pip is configured with.",
        group=PACKAGES, yaml="security.sandbox.network.allowed_registries.pypi", hosts=True,
    )
    npm_registries: tuple[str, ...] = setting(
        (), "Hosts from which Node.js packages may come, besides those npm is configured with.",
        group=PACKAGES, yaml="security.sandbox.network.allowed_registries.npm", hosts=True,
    )
    network_sent_mb: int = setting(
        256, "How much a run with network access may send to all hosts together.",
        group=PACKAGES, yaml="security.sandbox.network.max_sent_mb", unit="MB", at_least=1, at_most=1_048_576,
    )
    network_received_mb: int = setting(
        2048, "How much a run with network access may receive from all hosts together.",
        group=PACKAGES, yaml="security.sandbox.network.max_received_mb", unit="MB", at_least=1, at_most=1_048_576,
    )
    network_connections: int = setting(
        64, "How many connections to other hosts a run with network access may have open at once.",
        group=PACKAGES, yaml="security.sandbox.network.max_connections", at_least=1, at_most=1024,
    )
# fmt: on

    @property
    def languages(self) -> tuple[str, ...]:
        """The names of the languages that may run, as agents use them."""
        return tuple(name.removeprefix(PREFIX) for name in self.supported_languages)


@cache
def declared() -> tuple[Declared, ...]:
    """Return all declarations, in the order of the dialog."""
    return tuple(
        replace(draft, name=field.name, environment=(*draft.environment, f"ASSENT_{field.name.upper()}"))
        for field in fields(Settings)
        for draft in (draft_of(field.metadata),)
    )
