"""Does slots of a plan: one invocation or one set of turns, saved before the next one starts."""

from sqlitmus.catalog.plan import Plan
from sqlitmus.run import sets
from sqlitmus.run.agenda import Agenda
from sqlitmus.run.answers import Answers
from sqlitmus.run.attempt import Attempt
from sqlitmus.run.context import Context
from sqlitmus.run.lines import Iterations, Sample
from sqlitmus.run.relay.turns import Turns
from sqlitmus.run.sampling import to_sample, witnesses
from sqlitmus.run.schedule import Slot
from sqlitmus.run.sets import Seating
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary.detail import detail


class Performer:
    """Does slots of `agenda`; `done` counts them, and `idle` has for each runner the shares of the
    processor that it used between its turns."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        context: Context,
        answers: Answers,
        agenda: Agenda,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._context = context
        self._answers = answers
        self._agenda = agenda
        self.done = 0
        self.idle: dict[str, list[float]] = {}

    def perform(self, slots: list[Slot], take: int) -> bool:
        """Do what `Agenda.to_do` gave; False if it was cut off."""
        if self._agenda.counts(slots[0]).rounds:
            return self._set(slots, take)
        return self._invoke(slots[0], take)

    def _set(self, slots: list[Slot], take: int) -> bool:
        """One set of turns, saved whole; False if it was cut off."""
        seatings = [self._seating(slot, take) for slot in slots]
        seed = f"{self._plan.seed}/{slots[0].block}/{take}/{slots[0].unit}"
        turned = sets.play_whole(self._context, seatings, seed)
        if turned is None:
            return False
        lines: list[tuple[Sample, Iterations | None]] = []
        for slot, seating, result in zip(slots, seatings, turned, strict=True):
            lines.append(
                to_sample(slot, take, result.attempt, digest=seating.digest, turned=result)
            )
            self._keep_detail(slot, take, result.attempt)
        self._directory.add_set(lines)
        for slot, (sample, _), result in zip(slots, lines, turned, strict=True):
            self._did(slot, sample)
            if result.idle is not None:
                self.idle.setdefault(slot.runner, []).append(result.idle)
        return True

    def _seating(self, slot: Slot, take: int) -> Seating:
        case = self._agenda.counted(slot)
        return Seating(
            case,
            self._context.installed[slot.runner],
            slot.label,
            Turns.of(self._agenda.counts(slot)),
            self._answers.of(case),
            witnesses(slot, take, case),
        )

    def _invoke(self, slot: Slot, take: int) -> bool:
        """One invocation, saved; False if it was cut off."""
        case = self._agenda.counted(slot)
        digest = witnesses(slot, take, case)
        attempt = self._context.invocations.attempt(
            case,
            self._context.installed[slot.runner],
            "measure",
            self._answers.of(case),
            digest=digest,
        )
        if self._context.stop.requested > 1:
            return False
        sample, iterations = to_sample(slot, take, attempt, digest=digest)
        self._keep_detail(slot, take, attempt)
        self._directory.add_sample(sample, iterations)
        self._did(slot, sample)
        return True

    def _did(self, slot: Slot, sample: Sample) -> None:
        self.done += 1
        self._agenda.note(sample)
        if sample.outcome != "ok":
            self._context.progress.say(
                f"{slot.case}/{slot.runner}: {sample.outcome}: {sample.reason}"
            )

    def _keep_detail(self, slot: Slot, take: int, attempt: Attempt) -> None:
        """Claims show it, and latencies; another run would pay for lines that nobody reads."""
        result = attempt.invocation.result
        if not (result and attempt.outcome == "ok"):
            return
        if self._plan.kind == "claims" or any(worker.latencies for worker in result.workers):
            self._directory.add_detail(
                detail(
                    *(slot.position, take, result, attempt.launch),
                    wal=attempt.wal,
                    resident=attempt.invocation.resident,
                )
            )
