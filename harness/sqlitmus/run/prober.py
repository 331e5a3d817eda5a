"""Asks each runner whether it answers from the database: the harness changes rows beside it."""

import hashlib
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bootstrap.guarded import marked
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree
from sqlitmus.run import freshness, staleness
from sqlitmus.run.finished import Invocation, Timing, collect
from sqlitmus.run.freshness import Question
from sqlitmus.run.judge import Verified
from sqlitmus.run.scratch import file_name
from sqlitmus.vocabulary.terms import Outcome

if TYPE_CHECKING:
    from sqlitmus.run.context import Context


class Prober:
    """Starts a runner whose rows change under it; nothing of it is timed."""

    def __init__(self, scratch: Path) -> None:
        self._folder = scratch / "freshness"
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self, question: Question, runner: Installed, log: Path, timeout_s: float
    ) -> tuple[Outcome, str | None]:
        """The outcome of `runner`, and the reason unless it is ok.

        Its messages go to `log`; job and result are put beside that unless it is ok.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        database, file, output = (self._folder / name for name in ("rows.db", "job", "result"))
        file.write_bytes(question.job(str(database), str(output)).text().encode())
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            # With a write-ahead log, a reader that keeps its statement open blocks no change.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(freshness.TABLE)
            for step in range(len(question.manners)):
                connection.executemany(freshness.REPLACE, question.stored(step, changed=False))
            with log.open("wb", buffering=0) as messages:
                command = [*runner.command, "--job", str(file)]
                invocation = self._converse(
                    question, command, runner, connection, messages, timeout_s
                )
        if invocation.problem is None and invocation.timing:
            invocation = collect(invocation.timing, output)
        outcome, reason = staleness.judged(question, invocation)
        if outcome != "ok":
            for evidence in (file, output):
                if evidence.exists():
                    shutil.copyfile(evidence, log.with_suffix(f".{evidence.name}.json"))
        return outcome, reason

    def kill(self) -> None:
        """Kill the process under way, if any, with all its children."""
        if process := self._process:
            process_tree.kill(process)

    def _converse(
        self,
        question: Question,
        command: list[str],
        runner: Installed,
        connection: sqlite3.Connection,
        messages: BinaryIO,
        timeout_s: float,
    ) -> Invocation:
        """Let the process iterate, and change a step's rows before each iteration but the first."""
        try:
            process = self._process = subprocess.Popen(
                command,
                env=marked({**runner.environment, **runner.spec.steady_environment}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
                creationflags=process_tree.OWN_GROUP,
            )
        except OSError as error:
            return Invocation(None, None, f"{error.filename}: {error.strerror}")
        assert process.stdin
        assert process.stdout
        changed = -1
        with _ended_by(process, timeout_s) as late:
            for line in process.stdout:
                if line.strip() != b"ready":
                    messages.write(line)
                    continue
                if changed >= 0:
                    connection.executemany(
                        freshness.REPLACE, question.stored(changed, changed=True)
                    )
                changed += 1
                with suppress(BrokenPipeError):  # how it ends tells more
                    process.stdin.write(b"go\n")
                    process.stdin.flush()
        self._process = None
        if late.is_set():
            return Invocation(None, None, f"no end within {timeout_s:g} s; killed")
        code = process.returncode
        return Invocation(Timing(0, 0, 0, code if code >= 0 else 128 - code), None, None)


@contextmanager
def _ended_by(process: subprocess.Popen[bytes], timeout_s: float) -> Generator[threading.Event]:
    """Kill `process` after `timeout_s`, which sets the event; when the block ends, it has ended."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        process_tree.kill(process)

    timer = threading.Timer(timeout_s, give_up)
    timer.start()
    try:
        yield late
        process.wait()
    finally:
        timer.cancel()
        process_tree.kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def prove_fresh(
    context: "Context", cases: Iterable[PlannedCase], records: dict[tuple[str, str], Verified]
) -> None:
    """Ask each runner that has a right answer; records of one that fails become what it is.

    A runner that did well before, with nothing changed, is not asked again.
    """
    right = {at for at, record in records.items() if record.outcome == "ok"}
    for name in {name: None for _, name in records}:
        reading = [case for case in cases if (case.id, name) in right]
        runner = context.installed[name]
        assert runner.description or not reading
        integers = runner.description.features.integers if runner.description else []
        manners = freshness.manners_of(reading, context.catalog)
        for question in freshness.questions(manners, integers, runner.spec):
            key = _key(question, runner)
            if context.memory.fresh(key):
                continue
            context.progress.step(f"verify  whether {name} answers from the database")
            log = context.invocations.logs / f"freshness.{file_name(name)}.log"
            outcome, reason = context.prober.ask(question, runner, log, context.timeout_s)
            if context.stop.requested > 1:
                return
            if outcome == "ok":
                context.memory.keep_fresh(key)
                log.unlink(missing_ok=True)
                continue
            fate = {"outcome": outcome, "reason": reason, "log": f"logs/{log.name}"}
            for case in reading:
                records[case.id, name] = records[case.id, name].model_copy(update=fate)
            break


def _key(question: Question, runner: Installed) -> str:
    """The memory's key: all that could change the answer."""
    rows = [question.stored(step, changed=True) for step in range(len(question.manners))]
    parts = [
        question.job("", "").text(),
        repr(rows),
        runner.spec.model_dump_json(),
        runner.fingerprint,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
