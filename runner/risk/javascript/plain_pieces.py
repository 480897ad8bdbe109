"""Pieces of Python that expressions of JavaScript become."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBER = expression(r"(?:0|[1-9][\d_]*)(?:\.\d+)?(?:[eE]\d{1,2})?", re.ASCII)


def unknown(*parts: ast.expr) -> ast.expr:
    """Return an expression of which nothing is said but what it is made of."""
    return ast.Call(ast.Name("print", ast.Load()), list(parts), [])


def negated(value: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), value)


def is_in(value: ast.expr, collection: ast.expr) -> ast.expr:
    return ast.Compare(value, [ast.In()], [collection])


def call(name: str, *given: ast.expr) -> ast.Call:
    module, *attributes = name.split(".")
    function: ast.expr = ast.Name(module, ast.Load())
    for attribute in attributes:
        function = ast.Attribute(function, attribute, ast.Load())
    return ast.Call(function, list(given), [])


def milliseconds(status: ast.expr) -> ast.expr:
    """Return when the file of a status was changed."""
    return ast.BinOp(ast.Attribute(status, "st_mtime", ast.Load()), ast.Mult(), ast.Constant(1000))


def moment_now() -> ast.expr:
    return ast.BinOp(call("time.time"), ast.Mult(), ast.Constant(1000))


def number(written: str) -> ast.expr:
    return ast.Constant(float(written.replace("_", ""))) if NUMBER.fullmatch(written) else unknown()


def plain_folder(path: ast.expr) -> ast.expr:
    """Return a folder as it is written without what does not matter."""
    match path:
        case ast.Constant(value=str(known)) if known.strip("/"):
            known = known.rstrip("/")
            while known.startswith("./"):
                known = known[2:].lstrip("/")
            return ast.Constant(known or ".")
        case _:
            return path


def joined(parts: Sequence[str | ast.expr]) -> ast.expr:
    """Return a path that is put together of texts."""
    match [one for one in parts if one != ""]:
        case [ast.expr() as whole]:
            return whole
        case [ast.expr() as folder, "/", ast.expr() as leaf]:
            return call("os.path.join", folder, leaf)
        case [str(begun), ast.expr() as leaf] if begun.endswith("/"):
            return call("os.path.join", plain_folder(ast.Constant(begun)), leaf)
        case found:
            return unknown(*(one for one in found if isinstance(one, ast.expr)))
