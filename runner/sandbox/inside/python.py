"""Starts Python code inside a sandbox: gives it its variables, keeps its import rule, hands `result` out.

Runs under the sandbox's interpreter with `-I -S`, so it imports next to nothing: each import here is
paid by every run. `site` is not run (its start-up hooks are the host's), only its builtins are given.
"""

import builtins
import marshal
import posix
import sys

TYPE_CHECKING = False  # importing typing would cost more than all the rest
if TYPE_CHECKING:
    from types import ModuleType, TracebackType
    from typing import Any

START_PID = posix.getpid()
FRAMES = "assent/frames"  # as `runner.library.frames` has it
FULL = 3  # as `unpacking` has it
NO_SPACE = (27, 28, 122)  # EFBIG, ENOSPC, EDQUOT


def start(orders: "dict[str, Any]") -> None:
    """Prepare the interpreter as `orders` say and run the file; what it raises is shown as Python shows it."""
    if orders["identity"] is not None:
        _become(orders["identity"])
    posix.set_inheritable(orders["report"], False)
    report: dict[str, Any] = {}
    if orders["bundle"] is not None and (status := _unpacked(orders)):
        report["fault"] = "disk" if status == FULL else ""
        _hand_out(orders, {}, report)
        sys.exit(status)
    main = _main_module(orders)
    if orders["allowed"] is not None or orders["blocked"]:
        _guard_imports(orders, report)
    try:
        exec(_compiled(orders["main"]), main.__dict__)  # noqa: S102 - what all of this is for
    except SystemExit:
        raise
    except BaseException as error:
        _show(error)
        report["fault"] = _fault(error)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    finally:
        if posix.getpid() == START_PID:  # a forked child that falls off the end has nothing to report
            _hand_out(orders, main.__dict__, report)


def _become(identity: int) -> None:
    """Give up root for a user that owns nothing."""
    posix.setgroups([])
    posix.setresgid(identity, identity, identity)
    posix.setresuid(identity, identity, identity)


def _unpacked(orders: "dict[str, Any]") -> int:
    """Unpack packages in a process of its own, whose modules and memory the code gets nothing of."""
    bundle = orders["bundle"]
    if not (child := posix.fork()):
        status = 1
        try:
            namespace: dict[str, Any] = {"__name__": "unpacking"}
            exec(compile(orders["unpacking"], "<assent>", "exec"), namespace)  # noqa: S102 - a file of ours
            status = namespace["main"](bundle, orders["workspace"], bundle["source"])
        finally:
            posix._exit(status)
    posix.close(bundle["source"])
    while True:
        try:
            _, ended = posix.waitpid(child, 0)
        except InterruptedError:
            continue
        return ended if ended < 256 else ended >> 8


def _offer_installed(orders: "dict[str, Any]") -> None:
    namespace: dict[str, Any] = {"__name__": "installed"}
    exec(compile(orders["installed"], "<assent>", "exec"), namespace)  # noqa: S102 - a file of ours
    namespace["offer"](orders["packages"], orders["hashes"])


def _main_module(orders: "dict[str, Any]") -> "ModuleType":
    sys.argv[:] = [orders["main"]]
    # Last, so that no file of the code takes the place of a module of the interpreter or of its packages.
    sys.path[:] = [*orders["path"], orders["workspace"]] if orders["own_modules"] else orders["path"]
    if orders["hashes"] is not None:
        _offer_installed(orders)
    if orders["modules"]:
        sys.meta_path.insert(0, _Known(orders["modules"], orders["workspace"]))
    sys.prefix = sys.exec_prefix = orders["prefix"]
    if posix.access(orders["executable"], posix.X_OK):
        sys.executable = orders["executable"]
    stream: Any
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    _give_site_builtins()
    main = type(sys)("__main__")
    if orders.get("tables"):
        main.__dict__.update(_frames(orders))
    main.__dict__.update(orders["context"], __builtins__=builtins, __file__=orders["main"])
    sys.modules["__main__"] = main
    return main


def _frames(orders: "dict[str, Any]") -> "dict[str, Any]":
    """Return the tables that the caller of the Python API hands in, and keep the program that writes one again."""
    try:
        pandas = __import__("pandas")
    except ModuleNotFoundError:  # the caller has it, and here perhaps nobody
        sys.exit("There is no pandas in this sandbox. For containers, set the image of Python to assent-python-data:1.")
    program: dict[str, Any] = {"__name__": "tables"}
    exec(compile(orders["tables"], "<assent>", "exec"), program)  # noqa: S102 - a file of ours
    orders["encode"] = lambda value: program["encode"](pandas, value) if _is_table(pandas, value) else None
    return {name: program["decode"](pandas, one) for name, one in orders["context"].pop(FRAMES).items()}


def _is_table(pandas: "Any", value: object) -> bool:
    return isinstance(value, (pandas.DataFrame, pandas.Series))


class _Known:
    """Finds the modules that were approved with the code, and loads the texts that were approved, not their files."""

    def __init__(self, modules: "dict[str, tuple[str, bool, str]]", workspace: str) -> None:
        self._modules = modules
        self._workspace = workspace

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name not in self._modules:
            return None
        from _frozen_importlib import spec_from_loader  # importlib itself would cost more

        loader: Any = self
        file, is_package, _ = self._modules[name]
        spec: Any = spec_from_loader(name, loader, origin=f"{self._workspace}/{file}", is_package=is_package)
        spec.has_location = True
        return spec

    def create_module(self, spec: "Any") -> None:
        return None

    def exec_module(self, module: "ModuleType") -> None:
        text = self._modules[module.__name__][2]
        exec(compile(text, str(module.__file__), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - as `start`

    def get_source(self, name: str) -> str:
        return self._modules[name][2]


def _give_site_builtins() -> None:
    from _sitebuiltins import Quitter, _Helper

    builtins.quit = Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.exit = Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.help = _Helper()


def _compiled(path: str) -> "Any":
    with open(path, "rb") as file:
        source = file.read()
    try:
        # As text: what runs is what was shown, whatever encoding the code says it has.
        return compile(source.decode("utf-8-sig"), path, "exec", dont_inherit=True)
    except ValueError as error:  # NUL bytes: a ValueError until Python 3.12, although the fault is in the text
        raise SyntaxError(str(error)) from None


def _show(error: BaseException) -> None:
    """Let Python print the error without the frames of this file."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == _show.__code__.co_filename:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)


def _fault(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return "disk"
    return ""


def _guard_imports(orders: "dict[str, Any]", report: "dict[str, Any]") -> None:
    """Refuse imports that the user's own code makes and the rule does not allow.

    What is imported by code below the interpreter's own folders is that code's affair. This keeps honest
    code to its list; it is no protection against code that sets out to get around it.
    """
    import importlib

    allowed, blocked, own = orders["allowed"], orders["blocked"], (*orders["trusted"], start.__code__.co_filename)
    refused = report["blocked"] = []
    original, original_module = builtins.__import__, importlib.import_module

    def check(name: str, importer: str) -> None:
        if importer.startswith(own) or importer.startswith("<frozen "):
            return
        if not _permitted(name, allowed, blocked):
            refused.append(name)
            raise ImportError(f"import of {name!r} is not allowed here. {orders['hint']}", name=name)

    def guarded_import(
        name: str, globals: "Any" = None, locals: "Any" = None, fromlist: "Any" = (), level: int = 0
    ) -> "ModuleType":
        if level == 0:
            check(name, sys._getframe(1).f_code.co_filename)
        return original(name, globals, locals, fromlist, level)

    def guarded_import_module(name: str, package: "str | None" = None) -> "ModuleType":
        if not name.startswith("."):
            check(name, sys._getframe(1).f_code.co_filename)
        return original_module(name, package)

    builtins.__import__ = importlib.__import__ = guarded_import
    importlib.import_module = guarded_import_module


def _permitted(name: str, allowed: "list[str] | None", blocked: "list[str]") -> bool:
    parts = name.split(".")
    names = {".".join(parts[: count + 1]) for count in range(len(parts))}
    if names & set(blocked):
        return False
    return allowed is None or parts[0] == "__future__" or bool(names & set(allowed))


def _hand_out(orders: "dict[str, Any]", namespace: "dict[str, Any]", report: "dict[str, Any]") -> None:
    """Write the report as JSON. A closed descriptor or a full limit is caused by the code and not reported.

    Where it goes the way of the output, a mark and its length tell it apart.
    """
    report["peak"] = _peak()
    if "result" in namespace:
        table = _table(orders, namespace["result"]) if "encode" in orders else None
        if table is None:
            _add_value(report, namespace["result"])
        else:
            report["value"], lost = table
            report["note"] = "; ".join(lost)
    try:
        data, limit = _encoded(report), orders["limit"]
        if len(data) > limit:
            note = f"result is larger than {limit >> 20} MB and was not handed out."
            data = _encoded({"peak": report["peak"], "note": note})
        if mark := orders.get("mark"):
            data = mark + b"E%08x\n" % len(data) + data
        left = memoryview(data)
        while left:
            left = left[posix.write(orders["report"], left) :]
    except Exception:
        return


def _table(orders: "dict[str, Any]", value: "Any") -> "tuple[Any, list[str]] | None":
    """Return a table as data, for a caller that handed one in, and what of it is text; None for all else."""
    try:
        found = orders["encode"](value)
        if found is None:
            return None
        table, lost = found
        # A Series is handed out as a table of one column.
        return {"assent/frame": {**table, "series": False}}, lost
    except Exception:
        return None


def _encoded(report: "dict[str, Any]") -> bytes:
    if report.keys() <= {"peak", "fault"}:  # spares the import, for which there may be no memory left
        return b'{"peak": %d, "fault": "%s"}' % (report["peak"], report.get("fault", "").encode())
    import json

    return json.dumps(report).encode("ascii")


def _add_value(report: "dict[str, Any]", value: object) -> None:
    try:
        import json

        report["value"] = json.loads(json.dumps(value, allow_nan=False, default=_of_numpy))
    except Exception:
        try:
            report["value"] = repr(value)[:100_000]
        except Exception as error:
            report["value"] = f"<{type(value).__name__}, whose repr fails: {type(error).__name__}>"
        report["note"] = f"result is of type {type(value).__name__}, which JSON cannot carry; its repr is given."


def _of_numpy(value: "Any") -> object:
    """Return the numbers of numpy, alone or in arrays, as those of Python."""
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "O") in "biuf":
        return value.tolist()
    raise TypeError(type(value).__name__)


def _peak() -> int:
    """Most memory this process held, in bytes; 0 where /proc cannot be read."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as orders_file:
        start(marshal.load(orders_file))
