from runner import SandboxConfig, SecurityLevel, create_runner

print(SandboxConfig.for_level(SecurityLevel.STRICT))
with create_runner(SecurityLevel.STANDARD) as runner:
    result = runner.execute("import statistics\nresult = statistics.mean(xs)", {"xs": [1, 2, 6]})
    print(result.success, result.result)
    print(runner.execute("import socket").error)
