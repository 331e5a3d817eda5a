"""Nothing that this process has marked outlives it, should it be killed; on Linux only."""

import os
import select
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache

from bootstrap import guardian

FAREWELL_S = 2.0


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with this process's mark, where the system has a use for it."""
    mark = _mark(os.getpid())
    return {**environment, guardian.VARIABLE: mark} if mark else dict(environment)


@cache
def _mark(_pid: int) -> str | None:
    return guardian.mark() if sys.platform == "linux" else None


@contextmanager
def guarded(*held: int) -> Generator[None]:
    """Should this process be killed inside the block, a guardian ends all that is marked.

    It keeps the descriptors `held` open until that is done.
    """
    mark = _mark(os.getpid())
    if mark is None:
        yield
        return
    watch = subprocess.Popen(
        [sys.executable, "-I", "-S", guardian.__file__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,  # nobody else's, which a reader would wait for; its end is seen
        stderr=subprocess.DEVNULL,
        # with the mark of a process above it would be ended with what it guards
        env={name: text for name, text in os.environ.items() if name != guardian.VARIABLE},
        start_new_session=True,
        pass_fds=held,
        cwd="/",
    )
    watch.wait()
    try:
        yield
    finally:
        _dismiss(watch)


def end_orphans(patience_s: float) -> set[int]:
    """End what carries the mark of a process that is dead, and return the numbers of that."""
    if sys.platform != "linux":
        return set()
    return guardian.end(guardian.is_orphaned, 1, patience_s)


def _dismiss(watch: subprocess.Popen[bytes]) -> None:
    """Send the guardian away, and wait until it holds nothing any more."""
    assert watch.stdin
    assert watch.stdout
    with suppress(BrokenPipeError):
        watch.stdin.write(b".")
        watch.stdin.flush()
    select.select([watch.stdout], [], [], FAREWELL_S)
    with suppress(BrokenPipeError):
        watch.stdin.close()
    watch.stdout.close()
