"""A few processes of each cell before the plan is frozen: counts, lead-ins, and who takes turns."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from pathlib import Path

import numpy as np

from sqlitmus.catalog.cases import Cells, Counts, PlannedCase, PlannedCounts, steps_of
from sqlitmus.catalog.scenario import Mode, RunnerSpec
from sqlitmus.machine import system
from sqlitmus.run.measure import blocks
from sqlitmus.run.measure.agenda import Cell, connected
from sqlitmus.run.measure.blocks import Seating
from sqlitmus.run.plan import counts as allocation
from sqlitmus.run.plan.budget import first_look
from sqlitmus.run.plan.counts import Observed, Pace, PilotProcess, Turning, Work, fitting, pace
from sqlitmus.run.processes import turns as laps
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.run.processes.turns import Settling, Turns, lone
from sqlitmus.run.verify.answers import has_answer
from sqlitmus.run.verify.context import Context
from sqlitmus.run.verify.invocations import Answers
from sqlitmus.stats import power
from sqlitmus.store.folder import check_copies
from sqlitmus.vocabulary.text import listed

WHERE = "in the pilot"
ROUNDS = 4
MOST_COLLECTING = 4
SHARE_OF_MARGIN = 0.25
TRIMMED = 1.15
"""The variance of a 25 % trimmed mean of normal noise, relative to that of its mean."""
AS_OF_THREE = 0.63 / 0.82
"""The geometric means of deviations of three normal values and of `ROUNDS`, relative to the true
one; the forecast mends that of three, which is what other pilots give."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The lead-in of a case in ms, for all of its runners alike, and the deviation of ln time of a
    lap of each from round to round, None where it is unknown; how many times as long as the median
    iteration the mean one of each takes; and in how many rounds everybody who was seen to collect
    garbage does so as often as the mode asks."""

    lead_in_ms: int
    spreads: dict[str, float | None]
    stalls: dict[str, float]
    collecting: int

    @property
    def spread(self) -> float | None:
        """That of all runners together: the root of their mean variance."""
        seen = [spread for spread in self.spreads.values() if spread is not None]
        return float(np.sqrt(np.mean(np.square(seen)))) if seen else None

    def deviations(self, rounds: int) -> dict[str, float | None]:
        """The deviation of ln time of a set of so many `rounds`, as far as laps explain it."""
        share = AS_OF_THREE * sqrt(TRIMMED / rounds)
        return {name: spread and share * spread for name, spread in self.spreads.items()}


def divided(
    turning: dict[str, Turning],
    shown: Mapping[str, Rehearsed],
    counts: Mapping[str, Callable[[Turning | None], dict[str, Counts]]],
    compared: Iterable[tuple[str, str]],
) -> dict[str, Turning]:
    """The same turns, with more rounds for cases whose laps differ more: in the same time; and as
    many more as their collections need, up to `MOST_COLLECTING` times the usual ones.

    Cases that are compared are one set, and have as many rounds; those that were not `shown`, or
    are compared with such a one, keep theirs.
    """
    spreads: list[float] = []
    costs: list[float] = []
    units: list[list[str]] = []
    for unit in connected(turning, compared):
        if not all(case in shown for case in unit):
            continue
        cost = sum(_round_s(counts[case], turning[case]) for case in unit)
        seen = [spread for case in unit if (spread := shown[case].spread) is not None]
        if cost and seen:
            units.append(unit)
            costs.append(cost)
            spreads.append(sqrt(sum(spread**2 for spread in seen) / len(seen)))
    usual = max((turning[case].rounds for case in shown), default=0)
    each = power.rounds(spreads, costs, usual)
    for place, unit in enumerate(units):
        collecting = min(max(shown[case].collecting for case in unit), MOST_COLLECTING * usual)
        each[place] = max(each[place], collecting)
    return turning | {
        case: replace(turning[case], rounds=rounds)
        for unit, rounds in zip(units, each, strict=True)
        for case in unit
    }


def _round_s(counts: Callable[[Turning | None], dict[str, Counts]], how: Turning) -> float:
    """Seconds of a round: by what twice as many take more, of laps that are as long."""
    less, more = (
        sum(each.seconds for each in counts(replace(how, rounds=rounds)).values())
        for rounds in (how.rounds, 2 * how.rounds)
    )
    return max(more - less, 0.0) / how.rounds


def sentence(turning: dict[str, Turning], processor: int | None) -> str:
    """How processes take turns, in a sentence for the terminal; a single thread works on
    `processor`."""
    rounds, lead_ins = (
        " to ".join(dict.fromkeys(f"{end:g}" for end in (min(values), max(values))))
        for values in zip(*((how.rounds, how.lead_in_ms) for how in turning.values()), strict=True)
    )
    lap_ms = next(iter(turning.values())).lap_ms
    where = "" if processor is None else f"; a single thread works on processor {processor}"
    return (
        f"each process takes {rounds} turns of at least {lap_ms:g} ms, after a lead-in of "
        f"{lead_ins} ms{where}"
    )


def _of_all(sizes: Sequence[int]) -> int:
    """Bytes of all processes of a case that are alive at once, a canary among them."""
    return sum(sizes) + max(sizes, default=0)


FIRST_WINDOW_MS = 300
BEYOND = 1.5  # how much longer than a mode's longest warm-up the pilot looks
REFERENCE_PROCESSES = 3  # enough to see how lone processes of one cell differ
LEAST_WARMUP = 4  # iterations: with those timed, what finding its end needs


def as_given(counts: Counts) -> Work:
    """The work of `counts`, for further runners of their case."""
    rounds = counts.rounds or 1
    lap = counts.iterations // rounds - counts.lead_in
    return Work(counts.operations, lap, rounds, counts.lead_in, whole=True, stagger=counts.stagger)


def _needed(observation: Observed, longest_ms: int) -> int:
    """A window that surely shows the last level: twice its start, but at most `longest_ms`."""
    if observation.steadiness is None:
        return 0
    if observation.steady_from_ms is None or observation.steadiness == "slowdown":
        return longest_ms
    return min(int(2 * observation.steady_from_ms), longest_ms)


def _trial(case: PlannedCase, window_ms: int) -> PlannedCase:
    """The case as a pilot's process does it: warmed up by time, or the work that is stated."""
    if not case.stated:
        counts = {
            "warmup_ms": window_ms,
            "warmup_iterations": LEAST_WARMUP,
            "iterations": allocation.TIMED,
        }
        return case.model_copy(update=counts)
    warmup, timed = case.stated
    operations = allocation.looked_at(case, warmup, timed, case.operations)
    counts = {
        "operations": operations,
        "warmup_ms": 0,
        "warmup_iterations": warmup // operations,
        "iterations": timed // operations,
    }
    return case.model_copy(update=counts)


@dataclass(frozen=True, slots=True)
class Pilot:
    """A few processes of each of the `cells`, whose answers were right, before the plan is frozen.

    Cells with `given` counts are not tried. What is observed is remembered, and tried again only
    where something changed. A cell that goes wrong has a record in `answers` with the reason.
    """

    context: Context
    cells: Cells
    answers: Answers
    mode: Mode
    reference: str
    given: PlannedCounts

    def counts(
        self,
        cases: list[PlannedCase],
        *,
        margin: float,
        alike: bool = False,
        compared: Iterable[tuple[Cell, Cell]] = (),
        leaves_out: Callable[[str], bool] = lambda _: False,
    ) -> PlannedCounts:
        """Counts of each cell: those given, otherwise from new or remembered observations.

        A case that is left out, which is asked when its turn comes, is not tried and gets none.

        All runners of a case do the same operations, those of a case that has given counts; so do
        cases that have cells `compared` with each other, but those of fixed counts. `alike` gives
        the new runners of a case the same counts throughout. A cell that goes wrong gets none.
        Where processes take turns, their lead-in leaves a bias of at most a quarter of the
        `margin`.
        """
        observed = self.observe(cases, leaves_out)
        by_id = {case.id: case for case in cases if case.id in observed}
        pairs = [(base, new) for (base, _), (new, _) in compared if {base, new} <= by_id.keys()]
        turning = self._turns([*by_id.values()], pairs, observed)
        check_copies(self._copies(by_id.values(), turning, observed))
        piloted = {c for c, case in by_id.items() if case.metric == "steady" and not case.fixed}
        alike_pairs = [(a, b) for a, b in pairs if {a, b} <= piloted]
        planned: PlannedCounts = {}
        shown: dict[str, Rehearsed] = {}
        allocated: dict[str, Callable[[Turning | None], dict[str, Counts]]] = {}
        # What writes has no lead-in to be found; how noisy it is the other cases tell, too.
        writing = {case.id for case in by_id.values() if case.stated}
        unrehearsed = set[str]() if turning.keys() <= writing else writing
        stated: set[str] = set()  # cases whose stated work decides the number of rounds
        for unit in connected(by_id, alike_pairs):
            members = [by_id[case_id] for case_id in unit]
            seen = [each for case in members for each in observed[case.id].values()]
            stated |= {case.id for case in members if any(each.stated for each in members)}
            together = any(case.threads > 1 for case in members)
            for case in members:
                planned[case.id] = ready = self._given(case)
                seen_of = observed[case.id]
                counts_of = allocated[case.id] = partial(
                    *(self._allocated, case, seen), seen_of=seen_of, together=together, alike=alike
                )
                if not (how := turning.get(case.id)):
                    continue
                if self.mode.pilot:  # cases that are compared take their turns in one set
                    rounds = fitting(members, how.rounds, seen, self.mode.lap_ms)
                    how = turning[case.id] = replace(how, rounds=rounds)
                if (counts := counts_of(how)) and not ready and case.id not in unrehearsed:
                    seen_in_turns = shown[case.id] = self._rehearse(case, counts, margin)
                    turning[case.id] = replace(how, lead_in_ms=seen_in_turns.lead_in_ms)
                    stalls = seen_in_turns.stalls
                    stalling = {
                        n: o and o.also_stalling(stalls.get(n, 1)) for n, o in seen_of.items()
                    }
                    allocated[case.id] = partial(counts_of, seen_of=stalling)
            turning |= allocation.led_in_alike(
                {case: turning[case] for case in unit if case in turning}
            )
        free = {case_id: each for case_id, each in shown.items() if case_id not in stated}
        turning = divided(turning, free, allocated, pairs)
        turning |= {  # laps that add up to whole walks through the pools
            case_id: replace(how, rounds=fitting([by_id[case_id]], how.rounds))
            for case_id, how in turning.items()
            if self.mode.pilot and case_id not in stated
        }
        for case_id, of in planned.items():
            counts = allocated[case_id](turning.get(case_id))
            if case_id in shown:
                deviations = shown[case_id].deviations(turning[case_id].rounds)
                counts = {
                    name: c.model_copy(update={"deviation": deviations.get(name)})
                    for name, c in counts.items()
                }
            planned[case_id] = of | {n: c for n, c in counts.items() if self._right(case_id, n)}
        if turning and self.context.relay and self.context.starts:
            self.context.progress.say(sentence(turning, self.context.relay.processor))
        return planned

    def observe(
        self,
        cases: Iterable[PlannedCase],
        leaves_out: Callable[[str], bool] = lambda _: False,
    ) -> dict[str, dict[str, Observed | None]]:
        """The observations of all cases but those that are left out, those of the first preset
        first; says what they come to."""
        context, by_id = self.context, {case.id: case for case in cases}
        new = any(name not in self.given.get(c, {}) for c in by_id for name in self.cells[c])
        now = pace() if self.mode.pilot and new and context.starts else None
        presets = context.catalog.presets.values()
        # without a reference, runners are not what is compared
        whole = (p for p in presets if self.reference and p.calls.keys() <= by_id.keys())
        preset = next(whole, None)
        calls = preset.calls if preset else {}
        observed: dict[str, dict[str, Observed | None]] = {}
        for case_id in sorted(by_id, key=lambda case: case not in calls):
            if leaves_out(case_id):
                continue
            observed[case_id] = self._observed_of(by_id[case_id], now)
            context.memory.save()
            if preset and observed.keys() == calls.keys():
                choices = [n for n, each in context.installed.items() if each.spec.role == "runner"]
                for line in first_look(preset, observed, choices):
                    context.progress.say(line)
        return observed

    def _given(self, case: PlannedCase) -> dict[str, Counts]:
        given = self.given.get(case.id, {})
        return {name: counts for name, counts in given.items() if name in self.cells[case.id]}

    def _allocated(
        self,
        case: PlannedCase,
        seen: list[Observed | None],
        how: Turning | None,
        *,
        seen_of: Mapping[str, Observed | None],
        together: bool,
        alike: bool,
    ) -> dict[str, Counts]:
        """Counts of the cells of `case`, which are as they were `seen_of`; `seen` are those of all
        cases that do the same work."""
        mode, first = self.mode, next(iter(self._given(case).values()), None)
        todo = (
            as_given(first) if first else allocation.work(case, seen, mode, how, together=together)
        )
        least_ms = {name: self._least_warmup_ms(case, name) for name in seen_of}
        return allocation.allocate(case, seen_of, mode, least_ms, todo, how, alike=alike)

    def _right(self, case: str, name: str) -> bool:
        return self.answers.records[case, name].outcome == "ok"

    def _specs(self, case: PlannedCase) -> list[RunnerSpec]:
        return [self.context.installed[name].spec for name in self.cells[case.id]]

    def _least_warmup_ms(self, case: PlannedCase, name: str) -> int:
        steps = steps_of(self.context.catalog.scenarios[case.scenario], case.axes)
        return self.context.installed[name].spec.least_warmup_ms(steps)

    def _observed_of(self, case: PlannedCase, now: Pace | None) -> dict[str, Observed | None]:
        """The observations of the cells of `case` that have no counts yet and went well."""
        # the deviations of a case whose processes take turns come from its rehearsal
        spec, turns = self.context.catalog.scenarios[case.scenario], self.mode.scheme == "relay"
        in_turns = (
            turns and self.context.relay is not None and not lone(case, spec, self._specs(case))
        )
        observed: dict[str, Observed | None] = {}
        for name in self.cells[case.id]:
            if name in self.given.get(case.id, {}):
                continue
            target = self.mode.pilot
            if target and name == self.reference and not in_turns:
                target = max(target, REFERENCE_PROCESSES)
            observation = self._observed(case, name, target, now)
            if self._right(case.id, name):
                observed[name] = observation
        return observed

    def _observed(
        self, case: PlannedCase, name: str, target: int, now: Pace | None
    ) -> Observed | None:
        """The observation of a cell over `target` processes; None if one of them went wrong.

        A remembered one is taken only if the machine's pace is still what it was.
        """
        context = self.context
        key = context.key(case, name)
        least_ms = self._least_warmup_ms(case, name)
        longest_ms = int(BEYOND * max(least_ms, self.mode.warmup_ms[1]))
        # where a least is given, the last level may come so late that all before it looks flat
        window_ms = longest_ms if least_ms else min(FIRST_WINDOW_MS, longest_ms)
        remembered = context.memory.get(key, Observed)
        enough = (
            remembered
            and remembered.processes >= target
            and (now is None or (remembered.pace is not None and now.agrees(remembered.pace)))
            and remembered.window_ms >= _needed(remembered, longest_ms)
        )
        if enough or not target or not context.starts:
            return remembered
        processes: list[PilotProcess] = []
        observation: Observed | None = None
        for number in range(target):
            if context.stop.requested:
                return observation
            context.progress.step(f"pilot  {case.id}  {name}  {number + 1}/{target}")
            process = self._process(case, name, window_ms)
            if process is None:
                return None
            processes.append(process)
            longest = max((p.file_bytes for p in processes if p.file_bytes), default=None)
            more = {"pace": now, "file_bytes": longest}
            observation = allocation.observe(processes, case, window_ms).model_copy(update=more)
            window_ms = max(window_ms, _needed(observation, longest_ms))
        if observation:
            context.memory.keep(key, observation)
        return observation

    def _process(self, case: PlannedCase, name: str, window_ms: int) -> PilotProcess | None:
        """One process of the cell, warmed up for `window_ms`; records a failure and returns
        None."""
        context, trial = self.context, case
        if case.metric == "steady" and not case.fixed:
            trial = _trial(case, window_ms)
        if not has_answer(context, trial, [name], self.answers):
            return None
        runner, answer = context.installed[name], self.answers.of(trial)
        begin = time.monotonic()
        attempt = context.invocations.attempt(trial, runner, "measure", answer)
        seconds = time.monotonic() - begin
        result = self.answers.result_of(case, name, attempt, WHERE, context.progress.say)
        if result is None:
            return None
        iterations = [*result.warmup_ns, *result.iterations_ns]
        sizes = attempt.invocation.peak_bytes or None, attempt.held and attempt.held.bytes
        return PilotProcess(seconds, iterations, trial.operations, *sizes)

    def _turns(
        self,
        cases: list[PlannedCase],
        compared: Iterable[tuple[str, str]],
        observed: Mapping[str, Mapping[str, Observed | None]],
    ) -> dict[str, Turning]:
        """How the processes of each case take turns; none of a case whose processes do not.

        Cases that are compared do all or none; cells with given counts decide for those of their
        case. Processes that do not fit into memory together are measured one after the other.
        """
        context, mode = self.context, self.mode
        if context.relay is None:
            if mode.scheme == "relay":
                reason = unsupported()
                say = context.progress.say
                say(f"processes are measured one after the other, no turns: {reason}")
            return {}
        rounds = {case: max(c.rounds for c in of.values()) for case, of in self.given.items() if of}
        usual = mode.rounds if mode.scheme == "relay" else 0
        for case in cases:
            if lone(case, context.catalog.scenarios[case.scenario], self._specs(case)):
                rounds[case.id] = 0
        turns: dict[str, Turning] = {}
        for unit in connected([case.id for case in cases], compared):
            many = next((rounds[case] for case in unit if rounds.get(case)), usual)
            if all(rounds.get(case, many) for case in unit) and self._room(unit, observed):
                for case in unit:
                    turns[case] = Turning(many, mode.lead_in_ms[1], mode.lap_ms, system.usable())
        return turns

    def _room(self, unit: list[str], observed: Mapping[str, Mapping[str, Observed | None]]) -> bool:
        """Whether the processes of the cases in `unit` fit into memory together; says so if not."""
        seen = [each for case in unit for each in observed.get(case, {}).values() if each]
        needed = _of_all([each.peak_bytes or 0 for each in seen])
        free = system.free_memory()
        if free is None or needed <= free:
            return True
        self.context.progress.insist(
            f"the processes of {listed(unit)} are measured one after the other: alive at once they "
            f"need {needed / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free"
        )
        return False

    def _copies(
        self,
        cases: Iterable[PlannedCase],
        turning: Collection[str],
        observed: Mapping[str, Mapping[str, Observed | None]],
    ) -> dict[Path, tuple[int, str]]:
        """Per fixture the case that writes most into its copies, and how long all that exist at
        once become, as the pilot's processes left theirs; cases have the same ones in turn."""
        most: dict[Path, tuple[int, str]] = {}
        for case in cases:
            sizes = [each.file_bytes or 0 for each in observed[case.id].values() if each]
            if any(sizes) and (file := self.context.invocations.fixtures.of(case)):
                size = _of_all(sizes) if case.id in turning else max(sizes)
                most[file] = max(most.get(file, (0, "")), (size, case.id))
        return most

    def _rehearse(
        self, case: PlannedCase, counts: Mapping[str, Counts], margin: float
    ) -> Rehearsed:
        """What a short set of `case` shows; `counts` are as for the longest lead-in.

        After the lead-in a lap is slower than later ones by at most a quarter of the `margin`. A
        runner that goes wrong gets a record that says so.
        """
        context, mode = self.context, self.mode
        # who gives a digest tells of its collections, too
        digest = bool(mode.collections) and case.witnesses
        keys = {name: context.key(case, name) + " digest" * digest for name in counts}
        seen = {name: context.memory.get(key, Settling) for name, key in keys.items()}
        if mode.pilot and context.starts and not all(seen.values()):
            seen = self._played(case, counts, digest=digest)
            for name, cell in seen.items():
                if cell:
                    context.memory.keep(keys[name], cell)
            context.memory.save()
        limit = SHARE_OF_MARGIN * margin
        settled = {name: cell for name, cell in seen.items() if cell}
        least = laps.lead_in_ms(list(settled.values()), limit, mode.lap_ms, mode.lead_in_ms)
        return Rehearsed(
            least,
            {name: cell.spread for name, cell in settled.items()},
            {name: cell.stalled for name, cell in settled.items()},
            max(
                (ceil(mode.collections / c.collections) for c in settled.values() if c.collections),
                default=0,
            ),
        )

    def _played(
        self, case: PlannedCase, counts: Mapping[str, Counts], *, digest: bool
    ) -> dict[str, Settling | None]:
        """What a set shows of each cell; nothing where it was not played."""
        context, answers = self.context, self.answers
        seatings: list[Seating] = []
        # a process alone would have the caches to itself, so an only runner sits there twice
        for name, planned in [*counts.items()] * (2 if len(counts) == 1 else 1):
            per_turn = planned.iterations // planned.rounds
            rounds = planned.rounds if case.writes else ROUNDS  # what is stated is done as a whole
            fewer = planned.model_copy(update={"rounds": rounds, "iterations": rounds * per_turn})
            counted = fewer.of(case)
            if not has_answer(context, counted, [], answers, digest=digest):
                return {}  # who fails is told when the plan is asked for
            runner, turns = context.installed[name], Turns.of(fewer)
            label = f"{name} again" if seatings and len(counts) == 1 else name
            answer = answers.of(counted, digest=digest)
            seatings.append(Seating(counted, runner, label, turns, answer, digest))
        context.progress.step(f"pilot  {case.id}  {len(seatings)} in turns")
        attempts = blocks.play_whole(context, seatings, case.id)
        if attempts is None:
            return {}
        seen: dict[str, Settling | None] = {}
        table: list[laps.Array] = []
        for seating, attempt in zip(seatings, attempts, strict=True):
            name = seating.runner.spec.name
            if result := answers.result_of(case, name, attempt, WHERE, context.progress.say):
                collections = result.collections
                seen[seating.label] = laps.settling(
                    result.iterations_ns, seating.turns, collections
                )
                table.append(laps.laps(laps.timed(result.iterations_ns, seating.turns)))
        for name, spread in zip(seen, laps.spreads(np.array(table)), strict=True):
            seen[name] = (cell := seen[name]) and cell.model_copy(update={"spread": spread})
        return {name: cell for name, cell in seen.items() if name in counts}
