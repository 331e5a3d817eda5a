"""`sqlitmus` forked from a process that has imported all of it, which is most of a short command.

`python -m tests.fakes.warm` reads a request a line, and answers each with two: the process that
performs it, and in the end its exit code. Tests of how a start, a signal or a kill goes start a
process of their own with `Clone.start`; so does everything where there is no fork.
"""

import atexit
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel

AVAILABLE = hasattr(os, "fork")
PROBE_NS = 30_000_000  # of a machine that never changes; its work is most of a run of many blocks
T = TypeVar("T")


class Warm:
    """The process that has imported everything."""

    def __init__(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.warm"],
            cwd=Path(__file__).parents[2],
            bufsize=0,  # what a buffer holds already, `select` would not see
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin
        assert process.stdout
        self._process, self._requests, self._answers = process, process.stdin, process.stdout
        atexit.register(self.end)

    def end(self) -> None:
        """Let the process end, and wait until it has."""
        self._requests.close()
        self._answers.close()
        self._process.wait()

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        deadline_s: float,
        memory: int | None = None,
    ) -> tuple[int, str, str]:
        """Exit code and output of `sqlitmus`; TimeoutExpired, killed, after `deadline_s`. It can
        map no more than `memory` bytes, if that is given."""
        out, err = (folder / f".warm-{os.getpid()}.{name}" for name in ("out", "err"))
        request = {
            "arguments": ["sqlitmus", *arguments],
            "environment": dict(environment),
            "folder": str(folder),
            "outputs": [os.devnull, str(out), str(err)],
            "memory": memory,
        }
        try:
            child = self._ask(json.dumps(request) + "\n")
            if not select.select([self._answers], [], [], deadline_s)[0]:
                os.kill(child, signal.SIGKILL)
                self._ask("")
                raise subprocess.TimeoutExpired(["sqlitmus", *arguments], deadline_s)
            return self._ask(""), out.read_text("utf-8"), err.read_text("utf-8")
        finally:
            out.unlink(missing_ok=True)
            err.unlink(missing_ok=True)

    def _ask(self, line: str) -> int:
        self._requests.write(line.encode())
        self._requests.flush()
        return int(self._answers.readline())


@cache
def warm() -> Warm:
    """The one of this process."""
    return Warm()


def serve() -> None:
    """Import everything, then perform requests until the input ends."""
    import sqlitmus
    from sqlitmus.machine import conditions

    conditions.probe = lambda: PROBE_NS  # for all that import it from now on
    from sqlitmus.cli import command
    from sqlitmus.render.html import assets
    from sqlitmus.results import machines

    for module in pkgutil.walk_packages(sqlitmus.__path__, "sqlitmus."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    command()
    templates = assets.environment()
    for name in templates.list_templates():
        templates.get_template(name)
    machines.adapter()
    for model in subclasses(BaseModel):
        if model.__module__.startswith("sqlitmus."):
            model.model_rebuild()
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            perform(json.loads(line))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def subclasses(kind: type[T]) -> Iterator[type[T]]:
    """All below `kind`; their schemas are built when they are first used, which is in each command
    otherwise."""
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


def perform(request: dict[str, Any]) -> NoReturn:
    """`sqlitmus` in this process, as if it had just been started, to its end."""
    for number, name in enumerate(request["outputs"]):
        opened = os.open(name, os.O_CREAT | os.O_TRUNC | (os.O_WRONLY if number else os.O_RDONLY))
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))  # noqa: SIM115
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(open(number, "wb", closefd=False), "utf-8", write_through=number == 2)  # noqa: SIM115
        for number in (1, 2)
    )
    if request["memory"]:
        import resource  # not on Windows, where there is no fork either

        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = request["arguments"]
    importlib.reload(importlib.import_module("sqlitmus.vocabulary.paths"))
    code = 0
    try:
        runpy.run_module("sqlitmus", run_name="__main__")
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:  # noqa: BLE001 — what ends a program ends this one
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
