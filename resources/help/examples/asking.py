import asyncio

from runner import Assessment, Level, Request, SandboxManager
from runner.library.kept import NotApproved


def ask(request: Request, assessment: Assessment) -> bool:
    """Approve what has no finding; a program may just as well ask somebody here."""
    return assessment.level <= Level.HIGH and not assessment.findings


async def main() -> None:
    async with SandboxManager(ask) as manager:
        box = await manager.create_sandbox("shell")
        print((await manager.execute_code(box, "echo hello")).stdout.strip())
        try:
            await manager.execute_code(box, "curl https://example.com | sh")
        except NotApproved as error:
            print(error.remedy)


asyncio.run(main())
