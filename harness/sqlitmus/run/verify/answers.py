"""Verifies each cell against the oracle before anything is timed."""

import io
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from sqlitmus.catalog import compiled
from sqlitmus.catalog.cases import Cells, PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes import launch
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.verify import freshness, prober, proof, stalls
from sqlitmus.run.verify.context import JUDGED_BY, Context, opened
from sqlitmus.run.verify.invocations import Answers, Unanswered, asked
from sqlitmus.run.verify.judge import COMPARED, OracleAnswer
from sqlitmus.run.verify.prober import Probe
from sqlitmus.run.verify.stalls import Stalls
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError
from sqlitmus.vocabulary.figures import Syncs
from sqlitmus.vocabulary.text import counted, file_name
from sqlitmus.vocabulary.verdicts import Outcome


def suspicion(
    records: Sequence[Verified], answer: OracleAnswer, runtimes: Mapping[str, str]
) -> str | None:
    """What is to be said of the `records` of a case in which runners side against the oracle.

    None unless all that answered (at least two, in different runtimes) gave the same other answer.
    `runtimes` are those of the runners, without the oracle's.
    """
    of_runners = [record for record in records if record.runner in runtimes]
    answers = {_answer(r) for r in of_runners if r.outcome in ("ok", "wrong")}
    sides = [r for r in of_runners if r.outcome == "wrong"]
    several = len({runtimes[record.runner] for record in sides}) > 1
    if len(answers) != 1 or not several or _answer(answer) in answers:
        return None
    many = "both" if len(sides) == 2 else f"all {len(sides)}"
    return (
        f"{many} runners agree with each other against the oracle: suspect the oracle, or a "
        "scenario whose answer is not the same everywhere"
    )


def _answer(given: Verified | OracleAnswer) -> tuple[object, ...]:
    """What is compared, but for the number of operations, which a record lacks."""
    return tuple(str(getattr(given, name)) for name in COMPARED if name != "operations")


def oracle_answer(context: Context, case: PlannedCase, answers: Answers) -> OracleAnswer | None:
    """The oracle's answer to `case` with its number of operations; None without steps.

    The oracle is asked only when neither `answers` nor the memory has its answer. Raises
    Unanswered, and says so, when it gives none.
    """
    at = asked(case)
    if at in answers.silences:
        raise answers.silences[at]
    if at not in answers.expected:
        steps = context.catalog.scenarios[case.scenario].steps
        try:
            answers.expected[at] = _recall(context, case) if steps else None
        except Unanswered as silence:
            answers.silences[at] = silence
            if not context.stop.requested:
                context.progress.say(str(silence))
            raise
    return answers.expected[at]


def _recall(context: Context, case: PlannedCase) -> OracleAnswer:
    """The oracle's answer, asked for where no equal question was asked before."""
    question = context.invocations.question_of(case, context.oracle)
    key = f"{question} {context.oracle.fingerprint} {JUDGED_BY}"
    answer = context.memory.get(key, OracleAnswer)
    if answer is None:
        answer = context.invocations.ask_oracle(case, context.oracle)
        context.memory.keep(key, answer)
    return answer


def has_answer(
    context: Context,
    case: PlannedCase,
    names: Sequence[str],
    answers: Answers,
    *,
    digest: bool = False,
) -> bool:
    """Ask the oracle for what `Answers.of` gives for a process with the counts of `case`; cells
    `names` fail where it has no answer."""
    try:
        oracle_answer(context, case.answered(), answers)
        if digest:
            oracle_answer(context, case.witnessed(), answers)
    except Unanswered as silence:
        for name in names:
            failed = record_of(case, name, "failed", silence.reason, silence.log)
            answers.records[case.id, name] = failed
        return False
    return True


def record_of(
    case: PlannedCase, runner: str, outcome: Outcome, reason: str | None, log: str | None
) -> Verified:
    """What is recorded of a cell, with the command that measures it again."""
    command = f"./just run --case '{case.id}' --runner {runner}"
    return Verified(
        case=case.id, runner=runner, outcome=outcome, reason=reason, log=log, command=command
    )


def verify_cells(context: Context, cases: list[PlannedCase], cells: Cells) -> Answers:
    """Verify `cells`; cells that were verified before, with nothing changed, come from memory.

    Cells of a case that the oracle cannot answer fail, and a runner that does not answer from the
    database is right in no cell. Stops early, with the records so far, when the user asks to stop.
    Raises UsageError for SQL that SQLite does not compile.
    """
    compiled.check(context.catalog, cases, context.size)
    answers = Answers({}, {}, {})
    _verify_beside(context, cases, cells)
    total = sum(len(names) for names in cells.values())
    with context.stop.at_once():
        for case in cases:
            for name in cells[case.id]:
                if context.stop.requested:
                    return answers
                done = len(answers.records)
                context.progress.step(f"verify {done}/{total}  {case.id}  {name}")
                if not has_answer(context, case.verified(), cells[case.id], answers):
                    break
                answers.records[case.id, name] = _recorded(context, case, name, answers)
            else:
                _suspect(context, case, cells[case.id], answers)
            context.memory.save()  # what a kill must not cost
        _prove(context, cases, answers)
    return answers


def _recorded(context: Context, case: PlannedCase, name: str, answers: Answers) -> Verified:
    """The verification of a cell that the oracle has answered, from memory where it was right."""
    key = context.key(case, name)
    record = context.memory.get(key, Verified)
    if record is None:
        record = _verify(context, case, name, answers)
        if record.outcome in ("ok", "unsupported"):  # what goes wrong is tried again
            context.memory.keep(key, record)
    if record.outcome == "ok" and proof.writes_files(case, context.catalog):
        record = _with_syncs(context, case, record, answers)
    return record


LEAST_BESIDE = 24  # cells that are not remembered; fewer are verified one after the other
Task = Callable[[Context], None]


def _verify_beside(context: Context, cases: list[PlannedCase], cells: Cells) -> None:
    """Ask the oracle for several cases at once, then verify several runners: nothing is timed. What
    is right is kept; the rest comes again, alone: then it is known who left something running or
    changed a fixture."""
    new = [
        name
        for case in cases
        for name in cells[case.id]
        if not context.memory.get(context.key(case, name), Verified)
    ]
    names = [*dict.fromkeys(new)]
    if len(new) < LEAST_BESIDE or min(len(names), system.usable()) < 2:
        return
    # Each fixture is built in one fork, before another one reads it.
    fixtures = dict.fromkeys(case.fixture for case in cases if case.fixture)
    _at_once(context, cells, [partial(_build, cases, name) for name in fixtures], "fixture")
    _at_once(context, cells, [partial(_ask, case) for case in cases], "case")
    _at_once(context, cells, [partial(_verify_all, cases, cells, name) for name in names], "runner")


def _build(cases: list[PlannedCase], name: str, context: Context) -> None:
    """Build the files of the fixture `name` for all cases on it."""
    for case in (case for case in cases if case.fixture == name):
        with suppress(NotFit):
            context.invocations.fixtures.of(case)


def _ask(case: PlannedCase, context: Context) -> None:
    """Ask the oracle for what verifying `case` asks of it."""
    writes = proof.writes_files(case, context.catalog) and context.invocations.counter.library
    counts = writes and proof.transactions(case, context.catalog)
    with suppress(NotFit):
        for each in [case.verified(), *(proof.counted_cases(case) if counts else ())]:
            oracle_answer(context, each.answered(), Answers({}, {}, {}))


def _verify_all(cases: list[PlannedCase], cells: Cells, name: str, context: Context) -> None:
    answers = Answers({}, {}, {})
    for case in (case for case in cases if name in cells[case.id]):
        if not has_answer(context, case.verified(), [name], answers):
            return
        answers.records[case.id, name] = record = _recorded(context, case, name, answers)
        if record.outcome not in ("ok", "unsupported"):
            return
    _prove(context, cases, answers)


def _at_once(context: Context, cells: Cells, tasks: Sequence[Task], what: str) -> None:
    """Do `tasks` in forks of this process, one a processor, and take over what they remember."""
    if sys.platform != "linux":  # nothing else kills a fork with its parent
        return
    fork = multiprocessing.get_context("fork")
    waiting = [] if context.stop.requested else [*range(len(tasks))]
    lanes: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(min(system.usable(), len(waiting))):
            lane, end = fork.Pipe()
            lanes[lane] = fork.Process(target=_lane, args=(context, cells, tasks, os.getpid(), end))
            lanes[lane].start()
            end.close()
            lane.send(waiting.pop(0))
        while lanes and not context.stop.requested:
            done = f"{len(tasks) - len(waiting) - len(lanes)}/{counted(len(tasks), what)}"
            context.progress.step(f"verify  {done}, {len(lanes)} at once")
            for lane in wait([*lanes], 0.1):
                assert isinstance(lane, Connection)
                try:
                    context.memory.take(lane.recv())
                    lane.send(waiting.pop(0) if waiting else None)
                except (EOFError, OSError):  # it has ended
                    lanes.pop(lane).join()
                context.memory.save()
    finally:
        for process in lanes.values():
            while process.is_alive():  # one that just starts hears the second signal only
                process.terminate()
                process.join(0.2)


def _lane(
    context: Context, cells: Cells, tasks: Sequence[Task], parent: int, pipe: Connection
) -> None:
    """In a fork of `parent`: do the tasks whose places it sends, and send what each remembers."""
    process_tree.die_with(parent)
    session = opened(
        *(context.catalog, context.tools, Progress(io.StringIO(), quiet=True), cells),
        size=context.size,
        timeout_s=context.timeout_s,
        fresh=False,
        remember=False,
    )
    quiet = suppress(SqlitmusError, KeyboardInterrupt, EOFError)
    with quiet, session as apart, apart.stop.at_once():
        sent = context.memory  # of this fork, as its parent has it
        apart.memory.take(sent.entries)
        while (place := pipe.recv()) is not None:
            tasks[place](apart)
            new = {k: e for k, e in apart.memory.entries.items() if e != sent.entries.get(k)}
            pipe.send(new)
            sent.take(new)


class Proven(Model):
    """A runner did well in a probe."""


def _probes(
    context: Context, cases: Sequence[PlannedCase], runner: Installed
) -> Iterator[tuple[Probe, Sequence[PlannedCase]]]:
    """What `runner` is asked for these cases of it, and on which of them that bears."""
    if not cases:
        return
    assert runner.description
    catalog, features = context.catalog, runner.description.features
    manners = freshness.manners_of(cases, catalog)
    for question in freshness.questions(manners, features, runner.spec):
        yield question, cases
    loops = stalls.loops_of(cases, catalog, features.levels, [runner.spec])
    for loop, of_loop in loops.items():
        yield Stalls(loop, runner.spec.engine), of_loop


def _prove(context: Context, cases: Iterable[PlannedCase], answers: Answers) -> None:
    """Probe each runner that has a right answer; records of one that fails become what it is.

    A runner that did well before, with nothing changed, is not asked again.
    """
    records = answers.records
    for name in {name: None for _, name in records}:
        runner = context.installed[name]
        right = [
            c for c in cases if (c.id, name) in records and records[c.id, name].outcome == "ok"
        ]
        for probe, concerned in _probes(context, right, runner):
            key = prober.key(probe, runner)
            if context.memory.get(key, Proven):
                continue
            context.progress.step(f"verify  {name}  {probe.asks}")
            log = context.invocations.logs / f"{probe.name}.{file_name(name)}.log"
            outcome, reason = context.prober.ask(probe, runner, log)
            if outcome == "ok":
                context.memory.keep(key, Proven())
                log.unlink(missing_ok=True)
            elif outcome is None:
                context.progress.insist(f"{name}: {reason}; the next run asks again")
            else:
                for case in concerned:
                    answers.change(case, name, outcome, reason, f"logs/{log.name}")
                if concerned == right:
                    break


def verify_at_once(
    context: Context, cases: list[PlannedCase], cells: Cells, answers: Answers
) -> None:
    """Run the cells with right answers that have several workers or processes once as they are
    measured: verification proper has one connection. Those that go wrong get records that say so.
    """
    for case in cases:
        if not case.together:
            continue
        for name in answers.fit(cells)[case.id]:
            if context.stop.requested:
                return
            if name == context.oracle.spec.name:
                continue
            context.progress.step(f"verify {case.id}  {name}  with {case.workers} workers")
            if not has_answer(context, case, cells[case.id], answers):
                break
            runner = context.installed[name]
            attempt = context.invocations.attempt(case, runner, "measure", answers.of(case))
            answers.result_of(case, name, attempt, f"with {case.workers} workers")


def _suspect(context: Context, case: PlannedCase, names: Sequence[str], answers: Answers) -> None:
    """Say so in the records of `case` if runners agree with each other against the oracle."""
    answer = answers.expected.get(asked(case.verified()))
    records = [answers.records[case.id, name] for name in names]
    specs = [context.catalog.runners[name] for name in names]
    runtimes = {spec.name: spec.runtime for spec in specs if spec.role != "oracle"}
    words = answer and suspicion(records, answer, runtimes)
    if not words:
        return
    context.progress.say(f"{case.id}: {words}")
    for record in records:
        if record.outcome == "wrong":
            changes = {"reason": f"{record.reason}; {words}", "against_oracle": True}
            answers.records[case.id, record.runner] = record.model_copy(update=changes)


def _verify(context: Context, case: PlannedCase, name: str, answers: Answers) -> Verified:
    if case.processes and (reason := launch.unsupported()):
        return Verified(case=case.id, runner=name, outcome="unsupported", reason=reason)
    verified, runner = case.verified(), context.installed[name]
    attempt = context.invocations.attempt(verified, runner, "verify", answers.of(verified))
    reason = attempt.reason
    own_data = case.fixture and context.catalog.fixtures[case.fixture].content
    if attempt.outcome == "wrong" and own_data:  # whose values are not shown
        types = context.invocations.types(verified, runner, context.oracle)
        reason = "; ".join(filter(None, [reason, types]))
    record = record_of(case, name, attempt.outcome, reason, attempt.log)
    result = attempt.invocation.result
    if result is None:
        return record
    fields = {name: getattr(result, name) for name in (*COMPARED, "plans")}
    of_connection = {"pragmas": result.effective.pragmas, "engine": result.effective.engine}
    return record.model_copy(update={**fields, **of_connection})


def _with_syncs(
    context: Context, case: PlannedCase, record: Verified, answers: Answers
) -> Verified:
    """`record` with what its transactions did to the file, counted or from memory."""
    key = f"{context.key(case, record.runner)} {context.invocations.counter.library}"
    counted = context.memory.get(key, Syncs) or _count(context, case, record.runner, answers)
    if isinstance(counted, str):
        return record.model_copy(update={"syncs": None, "uncounted": counted})
    context.memory.keep(key, counted)
    return record.model_copy(update={"syncs": counted, "uncounted": None})


def _count(context: Context, case: PlannedCase, name: str, answers: Answers) -> Syncs | str:
    """What the transactions of a cell do to its file, or why that cannot be counted."""
    counter = context.invocations.counter
    if not counter.library:
        return counter.missing
    more = proof.transactions(case, context.catalog)
    if not more:
        return "how many transactions there are does not follow from its operations"
    counts: list[proof.Counts] = []
    changes = False
    for each in proof.counted_cases(case):
        try:
            answer = oracle_answer(context, each.answered(), answers)
        except NotFit as error:
            return str(error)
        runner = context.installed[name]
        attempt = context.invocations.attempt(each, runner, "measure", answer, counted=True)
        if attempt.outcome != "ok":
            return f"{attempt.outcome} while it was counted: {attempt.reason}"
        counts.append(counter.counts())
        operations = answer.answers if answer else []
        changes = all(affected for _, affected, _ in operations) and more == case.operations
    return proof.difference(counts[0], counts[1], more, proof.marks(case, changes=changes))
