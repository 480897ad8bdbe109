"""The `assent` command: alone it opens the console, with a word it does that without loading any of Qt."""

from __future__ import annotations

import sys

from runner.system.private import close_to_others


def main() -> int:
    """Return the exit code of whatever the arguments ask for."""
    close_to_others()
    arguments = sys.argv[1:]
    if not arguments or arguments == ["--minimized"]:
        # Before what has the texts of the window is loaded.
        from app.start.language import speak

        speak()
        from app.start.opening import main as console

        return console(minimized=bool(arguments))
    if arguments[0] == "demo":
        from app.demo.show import main as demo

        return demo(arguments[1:])
    if arguments[0] == "self-test" and not arguments[1:]:
        from app.start.selftest import main as self_test

        return self_test()
    from runner.commands.cli import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main())
