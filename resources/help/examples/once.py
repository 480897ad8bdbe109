from runner import Outcome, execute

result = execute(
    "import sys\nresult = sum(numbers)\nprint(sys.stdin.read())",
    timeout=10,
    max_memory_mb=256,
    context={"numbers": [1, 2, 3]},
    stdin="from the caller",
)
assert result.outcome is Outcome.OK
print(result.value, result.stdout.strip())
