"""All slots of a plan in their order: an invocation, a set of turns or an author's own program,
saved before the next one starts.
"""

import os
import random
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean, median

from sqlitmus.catalog import fixture, runners
from sqlitmus.catalog.cases import MINIMUM_BLOCKS, Cells, PlannedCase
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.published import Claim, Evidence, Program
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import conditions
from sqlitmus.machine.conditions import probe
from sqlitmus.run.measure.agenda import CANARY, Agenda, Slot
from sqlitmus.run.processes.process import Hyperfine, how_it_ended, output
from sqlitmus.run.processes.progress import Progress, Remaining, Stop, clock
from sqlitmus.run.processes.relay import Abandoned, Entry, Relay
from sqlitmus.run.processes.turns import Turns, lone
from sqlitmus.run.verify.context import Context
from sqlitmus.run.verify.invocations import Answers, Attempt, Invocations
from sqlitmus.run.verify.judge import OracleAnswer
from sqlitmus.store.file import STEADY, Authored, Block, Record, Sample, restless
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary import figures, paths
from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError
from sqlitmus.vocabulary.figures import detail
from sqlitmus.vocabulary.text import counted, ending
from sqlitmus.vocabulary.verdicts import Outcome

# Of an author's program: what it inherits, and when it is ended.
INHERITED = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT")
TIMEOUT_S = 600.0


class Authors:
    """The programs that rows of `claims` name, of the claims that have a folder in `sources`, in
    copies below `scratch`.

    Raises NotFit where a folder no longer holds what its claim pins, a tool is missing, or the
    set-up of a copy fails.
    """

    def __init__(
        self,
        claims: list[Claim],
        sources: Mapping[str, str],
        tools: paths.Tools,
        executor: Hyperfine,
        scratch: Path,
    ) -> None:
        self._tools, self._executor, self._scratch = tools, executor, scratch
        self._programs: dict[str, tuple[Program, Path, dict[str, str]]] = {}
        for claim in claims:
            if claim.evidence and claim.name in sources:
                named = {program for row in claim.rows for program in row.theirs or ()}
                self._prepare(claim.name, claim.evidence, named, Path(sources[claim.name]))

    def _prepare(self, name: str, evidence: Evidence, named: set[str], source: Path) -> None:
        if wrong := [*evidence.differences(source)]:
            raise NotFit(f"{source}, the source of the claim {name}: {'; '.join(wrong)}")
        here = self._scratch / f"authors-{name}"
        for file in evidence.files:
            (here / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, here / file)
        modules = paths.RUNNERS / "node_modules"
        for folder, package in evidence.packages.items():
            (here / folder).mkdir(parents=True, exist_ok=True)
            for entry in (modules / package).iterdir():
                if not (here / folder / entry.name).exists():
                    (here / folder / entry.name).symlink_to(entry.resolve())
        found_in = os.pathsep.join(map(str, (source / "node_modules", modules.resolve())))
        inherited = {key: os.environ[key] for key in INHERITED if key in os.environ}
        environment = {**inherited, "LANG": "C.UTF-8", "NODE_PATH": found_in}
        for step in filter(self._has_tools, evidence.setup):
            made = self._run(step, here, environment)
            if made.problem:
                raise NotFit(f"the authors' program for the claim {name}: set-up: {made.problem}")
        for program, each in evidence.programs.items():
            if program in named and self._has_tools(each):
                self._programs[f"{name}/{program}"] = each, here, environment

    def block(self, number: int, seed: int) -> dict[str, Authored]:
        """Each program once, in random order, which every second block mirrors; what came of them
        by `claim/program`. One that went wrong is not run again."""
        names = sorted(self._programs)
        order = random.Random(f"{seed}/authors/{number // 2}").sample(names, len(names))
        came = {
            name: self._run(*self._programs[name])
            for name in (order[::-1] if number % 2 else order)
        }
        for name in [name for name, each in came.items() if each.problem]:
            del self._programs[name]
        return came

    def _has_tools(self, program: Program) -> bool:
        """Whether this run has the tools that it needs, such as a build of a user."""
        try:
            runners.expand(program.command, self._tools)
        except UsageError:
            return False
        return True

    def _run(self, program: Program, here: Path, environment: dict[str, str]) -> Authored:
        log = self._scratch / "author.log"
        command = runners.expand(program.command, self._tools)
        fixture.into_page_cache(here)
        try:
            timing = self._executor.execute(
                command, environment, log, TIMEOUT_S, here / program.folder
            )
            text = output(log)
            if timing.exit_code != 0:
                how = f"{how_it_ended(timing.exit_code)}: {ending(text, 'its output')}"
                return Authored(problem=how)
            printed = program.figure(text)
        except (TimeoutError, RuntimeError, ValueError, OSError) as error:
            return Authored(problem=str(error))
        cpu_ns = timing.user_ns + timing.system_ns
        return Authored(wall_ns=timing.wall_ns, cpu_ns=cpu_ns, printed_ns=printed)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended, and where its results are (None when it did not get that far).

    `findings` are what the gate of a comparison came to, in words.
    """

    exit: Exit
    directory: Path | None
    findings: Sequence[str] = ()


def exit_of(outcomes: Collection[Outcome]) -> Exit:
    """The exit code of a run whose cells ended so: wrong answers weigh more than failures.

    A run that has cells, and none of them ok, has measured nothing, which is a failure, too.
    """
    if "wrong" in outcomes:
        return Exit.WRONG_ANSWERS
    nothing = outcomes and "ok" not in outcomes
    return Exit.CELLS_FAILED if nothing or "failed" in outcomes else Exit.DONE


TICK_S = 1.0


def pause(seconds: float, what: str, stop: Stop, progress: Progress) -> bool:
    """Wait `seconds` while announcing `what`; False if the user asked to stop meanwhile."""
    end = time.monotonic() + seconds
    milestone = True
    while (left := end - time.monotonic()) > 0 and not stop.requested:
        progress.step(f"{what} in {clock(left)}", milestone=milestone)
        milestone = False
        time.sleep(min(left, TICK_S))
    return not stop.requested


TRIES = 5  # of a set that is given up whenever the machine stands by


@dataclass(frozen=True, slots=True)
class Seating:
    """A cell in a set; `label` tells two processes of one runner apart."""

    case: PlannedCase
    runner: Installed
    label: str
    turns: Turns
    answer: OracleAnswer | None
    digest: bool = False


def play(
    invocations: Invocations,
    relay: Relay,
    seatings: Sequence[Seating],
    seed: str,
    stopped: Callable[[], bool],
) -> list[Attempt]:
    """One set of `seatings`, in their order. Raises Abandoned as `Relay.play` does."""
    several = len({seating.case.id for seating in seatings}) > 1
    begun = [
        invocations.begin(
            *(seating.case, seating.runner, "measure"),
            digest=seating.digest,
            seat=seating.label,
            several=several,
        )
        for seating in seatings
    ]
    entries = [
        Entry(
            *(run.command, run.environment, seating.turns, run.ready.output, run.log),
            # who connects while another one recovers the log gets SQLITE_BUSY_RECOVERY at once
            patient=seating.case.journal_mode != "wal"
            or any(name == "busy_timeout" for name, _ in seating.case.pragmas),
            never_waits=run.ready.how.never_waits,
            database=run.ready.target,
        )
        for run, seating in zip(begun, seatings, strict=True)
    ]
    try:
        played = relay.play(entries, seed, stopped)
    finally:
        left = invocations.leftovers.end()
    of_nobody = set(left).difference(*(invocation.left for invocation in played))
    attempts: list[Attempt] = []
    for run, seating, invocation in zip(begun, seatings, played, strict=True):
        its_own = of_nobody.union(invocation.left)
        names = [name for pid, name in left.items() if pid in its_own]
        attempts.append(invocations.judged(run, invocation, seating.answer, names))
    return attempts


def play_whole(
    context: Context, seatings: Sequence[Seating], seed: str, spared: int = 0
) -> list[Attempt] | None:
    """One set of `seatings`, played again where the machine stood by; None if asked to stop, which
    it is not for the first `spared` requests.

    Raises NotFit when it stood by each time.
    """
    assert context.relay
    case = seatings[0].case.id
    for _ in range(TRIES):
        try:
            return play(
                *(context.invocations, context.relay, seatings, seed),
                lambda: context.stop.requested > spared,
            )
        except Abandoned as abandoned:
            if context.stop.requested:
                return None
            context.progress.say(f"{case}: {abandoned}; the set is played again")
    raise NotFit(f"{case}: each of {TRIES} sets was given up; start again later")


def record_of(slot: Slot, attempt: Attempt, *, digest: bool = False) -> Record:
    """What is kept of an invocation.

    A process that gave a digest did more than the others of its cell: it has no figures of the
    whole process. The wall time of one that took turns is that of the others, too.
    """
    invocation = attempt.invocation
    timing, result, laps = invocation.timing, invocation.result, invocation.laps
    sample = Sample(
        block=slot.block,
        position=slot.position,
        case=slot.case,
        runner=slot.runner,
        label=slot.label,
        outcome=attempt.outcome,
        reason=attempt.reason,
        log=attempt.log,
    )
    # A wrong or failed invocation has no figures: they must never look like a result.
    if attempt.outcome != "ok" or result is None or timing is None:
        return Record(sample)
    iterations = result.iterations_ns
    measured = {
        figure.name: figure.measured(invocation, len(iterations))
        for figure in figures.FIGURES
        if not (digest and figure.per == "process")
        if not (laps and figure.primary)
    }
    if iterations:
        measured[STEADY] = laps.steady_ns if laps else fmean(iterations)
    return Record(
        sample,
        measured,
        result.warmup_ns,
        iterations,
        laps.lost_ns if laps else [],
        laps.counted if laps else [],
        detail(result, attempt.launch, wal=attempt.wal, resident=invocation.resident),
    )


# of a budget's seconds, by which the last block may end later, and the tenth of a verdict
LATE, FOR_VERDICT = 0.05, 0.25
SEEN = 2  # blocks that tell the pace; the first is slower, since it gives digests


class Measuring:
    """A run under way: what is planned, what is done, what was given up; `late` when there is no
    time for another block."""

    def __init__(
        self, plan: Plan, directory: RunDirectory, context: Context, answers: Answers, fit: Cells
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._context = context
        self._answers = answers
        self.agenda = Agenda(plan, directory, answers.records.values(), fit)
        self._passes = directory.blocks()
        self.late = self._warned = False
        self._done = 0  # slots since a sentence told how many
        self._idle: dict[str, list[float]] = {}  # of the block under way, by runner
        self._authors = Authors(
            *(plan.claims, plan.sources, context.tools),
            *(context.invocations.executor, context.scratch),
        )
        context.invocations.keep_logs(directory.path / "logs")

    def until(self, blocks: int) -> bool:
        """Go on until `blocks` are whole, or it is `late`; False if the user asked to stop."""
        planned = self.agenda.until(blocks)
        whole = self.agenda.until(self.agenda.blocks)  # what a look ends is not known before it
        open_ = [slot for slot in whole if not self.agenda.done(slot)]
        pauses = sum(map(self._begins_session, {slot.block for slot in open_}))
        remaining = Remaining(sum(map(self.agenda.seconds, open_)) + pauses * self._plan.pause_s)
        for block, slots in groupby(planned, key=lambda slot: slot.block):
            if self._is_late(block):
                break
            if self._begins_session(block) and not self._rest(block, remaining):
                return False
            if not self._block(block, list(slots), remaining):
                return False
        if self._done:
            many = counted(self._done, "invocation")
            self._context.progress.say(f"{many} in {clock(remaining.spent())}")
        busy = restless(self._passes) if self._plan.actual_scheme() == "relay" else {}
        for runner, share in busy.items():
            self._context.progress.insist(
                f"{runner} did not rest between its turns: it used the processor for "
                f"{share:.1%} of the time, which slows the others down"
            )
        self._done = 0
        return True

    def look(self, blocks: int, settled: Collection[str]) -> None:
        """End the cases `settled` after so many blocks; the others get their time."""
        look = self.agenda.look(blocks, settled)
        self._directory.add_look(look)
        if settled:
            many = counted(len(settled), "case")
            more = f"; the others get {look.until - blocks} more" if look.until > blocks else ""
            self._context.progress.say(
                f"{many} settled at the planned look after {blocks} blocks{more}"
            )

    def end(self) -> Ended:
        """Mark the run as complete, and say why if not all, or nothing, was measured."""
        plan = self._plan
        if self.late:
            plan = plan.shortened(len(self._passes), self.agenda.blocks)
            self._context.progress.insist(
                f"{plan.blocks} of {plan.foreseen} blocks: they took longer than the pilot "
                "foretold, and there is no time for another one"
            )
        self._directory.finish(plan)
        if "ok" not in self.agenda.outcomes:
            reasons = {
                f"{record.runner} ({record.outcome}: {record.reason})": None
                for record in self._answers.records.values()
            }
            self._context.progress.insist(f"nothing was measured: {', '.join(reasons)}")
        return Ended(exit_of(self.agenda.outcomes), self._directory.path)

    def _session(self, block: int) -> int:
        return block * self._plan.sessions // self._plan.blocks

    def _begins_session(self, block: int) -> bool:
        """Whether `block` begins a session after the first, and nothing of it is measured yet."""
        another = self._session(block) != self._session(max(block - 1, 0))
        return another and not self.agenda.beyond(block)

    def _is_late(self, block: int) -> bool:
        """Whether `block`, or the session that it begins, would end beyond the time budget by the
        pace of all blocks so far. Warns once where there is no time for a verdict."""
        plan, budget, before = self._plan, self._plan.budget, len(self._passes)
        each = plan.blocks // plan.sessions if plan.sessions > 1 else 1
        if budget is None or block < max(budget.least, before) or block % each or self.late:
            return self.late
        ahead = [slot for slot in self.agenda.until(block + each) if slot.block >= block]
        foretold_s = sum(map(self.agenda.seconds, self.agenda.until(block)))
        ahead_s = sum(map(self.agenda.seconds, ahead))
        if not foretold_s or not ahead_s:  # all are given up
            return False
        spent_s = sum(of.seconds for of in self._passes)
        next_s = ahead_s * spent_s / foretold_s
        last_s = (1 + LATE) * budget.seconds
        tenth_s = spent_s + (MINIMUM_BLOCKS - before) * next_s / each
        if before < MINIMUM_BLOCKS <= plan.blocks and tenth_s <= (1 + FOR_VERDICT) * budget.seconds:
            last_s = max(last_s, tenth_s)
        more = int((last_s - spent_s) / next_s + 1e-9)
        fit = before + more * each
        if not self._warned and before >= SEEN and fit < MINIMUM_BLOCKS <= plan.blocks:
            self._warned = True
            self._context.progress.insist(
                "blocks take longer than the pilot foretold: the time budget has room for about "
                f"{fit}, and fewer than {MINIMUM_BLOCKS} give figures but no verdicts"
            )
        self.late = more < 1
        return self.late

    def _rest(self, block: int, remaining: Remaining) -> bool:
        """The pause before the session that `block` begins; False if asked to stop."""
        what = f"session {self._session(block) + 1} of {self._plan.sessions} begins"
        seconds = self._plan.pause_s
        if not pause(seconds, what, self._context.stop, self._context.progress):
            return False
        remaining.did(seconds)
        return True

    def _block(self, block: int, slots: list[Slot], remaining: Remaining) -> bool:
        """One block, with the machine before and after it; False if asked to stop."""
        if any(each.block == block for each in self._passes):
            return True
        before = conditions.read(probe())
        self._idle.clear()
        for number, together in enumerate(self.agenda.to_do(slots)):
            if self._context.stop.requested:
                return False
            self._announce(together, remaining, milestone=number == 0)
            if not self.perform(together):
                return False
            remaining.did(sum(map(self.agenda.seconds, together)))
        authors = self._authors.block(block, self._plan.seed)
        if authors and self._context.stop.requested > 1:
            return False
        for name, each in authors.items():
            if each.problem:
                self._context.progress.insist(f"the authors' program {name}: {each.problem}")
        idle = {runner: median(shares) for runner, shares in self._idle.items()}
        after = conditions.read(probe())
        record = Block(block=block, before=before, after=after, idle=idle, authors=authors)
        self._directory.add_block(record)
        self._passes.append(record)
        if block + 1 < self.agenda.blocks:  # the last one's page is the report
            self._context.progress.block_ended(self._directory.path, remaining)
        return True

    def perform(self, slots: list[Slot]) -> bool:
        """Do what `Agenda.to_do` gave, one invocation or one set of turns, and save it whole; False
        if it was cut off."""
        seatings = [*map(self._seating, slots)]
        attempts = self._attempts(slots[0], seatings)
        if attempts is None:
            return False
        records = [
            record_of(slot, attempt, digest=seating.digest)
            for slot, seating, attempt in zip(slots, seatings, attempts, strict=True)
        ]
        self._directory.add(records)
        for slot, record, attempt in zip(slots, records, attempts, strict=True):
            self._done += 1
            self.agenda.note(record.sample)
            if attempt.outcome != "ok":
                words = f"{slot.case}/{slot.runner}: {attempt.outcome}: {attempt.reason}"
                self._context.progress.say(words)
            if (idle := attempt.invocation.idle) is not None:
                self._idle.setdefault(slot.runner, []).append(idle)
        return True

    def _attempts(self, slot: Slot, seatings: Sequence[Seating]) -> list[Attempt] | None:
        """Those of the `seatings`, of which `slot` is the first; None if they were cut off.

        One that could take turns, and does not, is a set of its own: so its clock is seen, too.
        """
        counts, stop = self.agenda.counts(slot), self._context.stop
        seed = f"{self._plan.seed}/{slot.block}/{slot.unit}"
        if counts.rounds:
            return play_whole(self._context, seatings, seed)
        (seat,) = seatings
        spec = self._context.catalog.scenarios[seat.case.scenario]
        if self._context.relay and not (
            counts.warmup_ms or lone(seat.case, spec, [seat.runner.spec])
        ):
            attempts = play_whole(self._context, seatings, seed, spared=1) or []
            attempts = [replace(a, invocation=replace(a.invocation, laps=None)) for a in attempts]
        else:
            given = (seat.case, seat.runner, "measure", seat.answer)
            attempts = [self._context.invocations.attempt(*given, digest=seat.digest)]
        return attempts if stop.requested < 2 else None

    def _seating(self, slot: Slot) -> Seating:
        """Its place in a set; the first process of each cell that iterates gives a digest, too."""
        case, turns = self.agenda.counted(slot), Turns.of(self.agenda.counts(slot))
        digest = slot.block == 0 and slot.label == slot.runner and case.witnesses
        answer = self._answers.of(self.agenda.asked(slot), digest=digest)
        runner = self._context.installed[slot.runner]
        return Seating(case, runner, slot.label, turns, answer, digest)

    def _announce(self, slots: list[Slot], remaining: Remaining, *, milestone: bool) -> None:
        slot = slots[0]
        lone = "A/A control" if slot.label == CANARY else slot.label
        who = lone if len(slots) == 1 else f"{len(slots)} in turns"
        self._context.progress.step(
            f"block {slot.block + 1}/{self.agenda.blocks}  {clock(remaining.left())} left  "
            f"{slot.case}  {who}",
            milestone=milestone,
        )
