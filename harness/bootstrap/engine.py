"""Brings steps to their end state: what is there stays, the rest is made side by side."""

import contextlib
import os
import signal
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import FrameType
from typing import Never

from bootstrap.commands import Commands, InterruptedStepError, StepError, complaint, tail
from bootstrap.context import Context
from bootstrap.filelock import exclusive
from bootstrap.guarded import end_orphans, guarded
from bootstrap.progress import Progress
from bootstrap.step import State, Step, look, make

PATIENCE_S = 2.0  # for processes to end that were killed


def ensure(steps: Sequence[Step], context: Context, progress: Progress) -> dict[str, State]:
    """Every step by name, ready or missing with its reason.

    Raises `KeyboardInterrupt`, after ending all children, on Ctrl-C, SIGTERM and SIGHUP.
    """
    states = {step.name: look(step, context) for step in steps}
    for state in states.values():
        if state.missing is not None:
            progress.missing(state.step.name, state.missing)
    if not any(state.to_make for state in states.values()):
        return states
    context.logs.mkdir(parents=True, exist_ok=True)

    def waiting(holder: str) -> None:
        progress.say(f"waiting for another set-up in {context.toolchain} (process {holder})")

    started = time.monotonic()
    with (
        _ended_by_signals(),
        exclusive(context.toolchain / "lock", waiting) as lock,
        guarded(lock),  # what it starts must not go on in folders that the next set-up makes anew
    ):
        if orphans := end_orphans(PATIENCE_S):
            progress.say(f"ended what a killed run or set-up had left running: {len(orphans)}")
        # another set-up may have made some of it meanwhile
        todo = [look(state.step, context) for state in states.values() if not state.missing]
        states |= {state.step.name: state for state in todo}
        states |= _make_all([state for state in todo if not state.ready], context, progress)
    progress.say(f"set-up took {time.monotonic() - started:.1f} s; logs: {context.logs}")
    return states


def _make_all(todo: Sequence[State], context: Context, progress: Progress) -> dict[str, State]:
    commands = Commands()
    workers = max(1, os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: dict[str, Future[State]] = {}

        def begin(state: State, before: Sequence[Future[State]]) -> State:
            wait(before)  # each was begun before this one, so a worker has it
            return _make_one(state, context, commands, progress)

        try:
            for state in todo:
                before = [futures[name] for name in state.step.after if name in futures]
                futures[state.step.name] = pool.submit(begin, state, before)
            return {name: future.result() for name, future in futures.items()}
        except BaseException:
            commands.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _make_one(state: State, context: Context, commands: Commands, progress: Progress) -> State:
    name = state.step.name
    log = log_of(context, name)
    log.write_bytes(b"")
    progress.start(name, state.step.title)
    started = time.monotonic()
    try:
        made = make(state, context, commands)
    except InterruptedStepError as error:
        return State(state.step, state.folder, missing=str(error))
    except (StepError, OSError) as error:
        progress.failed(name, str(error), log, tail(log))
        last = complaint(log)
        why = f"{error}: {last}" if last else f"{error}"
        return State(state.step, state.folder, missing=f"set-up failed: {why}; see {log}")
    progress.done(name, time.monotonic() - started)
    return made


def log_of(context: Context, step: str) -> Path:
    """The log of a step's last run."""
    return context.logs / f"{step}.log"


@contextlib.contextmanager
def _ended_by_signals() -> Generator[None]:
    """Ends like Ctrl-C on SIGTERM and SIGHUP too, so that no compiler is left behind."""

    def interrupt(_number: int, _frame: FrameType | None) -> Never:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), interrupt) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
