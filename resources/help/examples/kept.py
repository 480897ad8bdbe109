import asyncio

from runner import SandboxManager


async def main() -> None:
    async with SandboxManager() as manager:
        box = await manager.create_sandbox("python", max_memory_mb=256)
        await manager.write_file(box, "numbers.txt", "1\n2\n3\n")
        result = await manager.execute_code(box, "result = sum(map(int, open('numbers.txt')))")
        listed = await manager.list_files(box)
        print(result.value, *listed.files)
        await manager.destroy_sandbox(box)


asyncio.run(main())
