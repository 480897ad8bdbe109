"""`make images`, `assent images`: builds images that are missing, a line per step: image, percent, what is done."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.gvisor.fetch import fetch, next_step
from runner.sandbox.image_stores import builder
from runner.sandbox.images.build import ImageState
from runner.sandbox.images.recipe import names, recipe
from runner.settings.loading import load
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="assent images", description="Build the images that sandboxes start from.")
    add_arguments(parser)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.gvisor:
            asyncio.run(_fetch(chosen.mirror))
        elif chosen.list:
            _list(chosen.names or names())
        else:
            asyncio.run(_build(chosen.names or _wanted(), chosen.mirror, chosen.again))
    except KnownError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _wanted() -> list[str]:
    """Return the images of the languages that may run."""
    languages = load(Places.standard(), os.environ).settings.languages
    return [name for name in names() if recipe(name).language in languages]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to a parser, which may be one of a sub-command."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="IMAGE",
        help=f"which ones: {', '.join(names())} (those of the languages that are on)",
    )
    parser.add_argument("--mirror", default="", metavar="URL", help="a Debian mirror; file:///... for one on a disk")
    parser.add_argument("--list", action="store_true", help="say what is in which image, and build nothing")
    parser.add_argument("--gvisor", action="store_true", help="get gVisor's program from Debian 13, and build nothing")
    parser.add_argument("--again", action="store_true", help="build also what is there, for newer packages")


async def _build(chosen: Sequence[str], mirror: str, again: bool) -> None:
    recipes = [recipe(name) for name in chosen]
    maker = await builder(load(Places.standard(), os.environ).settings, mirror)
    for each in recipes:
        if not again and await maker.state(each) is ImageState.READY:
            _say(each.name, 1.0, "ready")
            continue
        async for step in maker.build(each):
            _say(step.image, step.part, step.doing)


async def _fetch(mirror: str) -> None:
    async with aclosing(fetch(mirror)) as lines:
        async for line in lines:
            sys.stdout.write(f"{line}\n")
    file = Places.standard().runsc
    step = next_step(file)
    sys.stdout.write(f"gVisor's program is in {file}.\n")
    if step:
        sys.stdout.write(f"Assent takes it where only root can replace it. Next: {step}\n")


def _list(chosen: Sequence[str]) -> None:
    sys.stdout.writelines(f"{each.tag}\t{each.title}\n" for each in map(recipe, chosen))


def _say(name: str, part: float, doing: str) -> None:
    sys.stdout.write(f"{name}\t{part * 100:.0f}\t{doing}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
