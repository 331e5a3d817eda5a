"""All invocations of a plan, one after the other, each saved before the next one starts.

Everything that takes time in here happens between invocations, never beside one.
"""

from collections.abc import Collection
from itertools import groupby
from statistics import median

from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import Cells
from sqlitmus.machine import conditions
from sqlitmus.machine.probe import probe
from sqlitmus.run.agenda import Agenda
from sqlitmus.run.answers import Answers
from sqlitmus.run.context import Context
from sqlitmus.run.ended import Ended, exit_of
from sqlitmus.run.lines import Block
from sqlitmus.run.pause import pause
from sqlitmus.run.performer import Performer
from sqlitmus.run.progress import Remaining, clock
from sqlitmus.run.rest import restless
from sqlitmus.run.schedule import Slot
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary.nouns import counted


class Measuring:
    """A run under way: what is planned, what is done, what was given up."""

    def __init__(
        self, plan: Plan, directory: RunDirectory, context: Context, answers: Answers, fit: Cells
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._context = context
        self._answers = answers
        self.agenda = Agenda(plan, directory, answers, fit)
        self._passes = directory.blocks()
        self._performer = Performer(plan, directory, context, answers, self.agenda)
        context.invocations.keep_logs(directory.path / "logs")

    def until(self, blocks: int) -> bool:
        """Go on until `blocks` are whole; False if the user asked to stop before that."""
        planned = self.agenda.until(blocks)
        whole = self.agenda.until(self.agenda.blocks)  # what a look ends is not known before it
        open_ = [slot for slot in whole if not self.agenda.done(slot)]
        pauses = sum(map(self._begins_session, {slot.block for slot in open_}))
        remaining = Remaining(sum(map(self.agenda.seconds, open_)) + pauses * self._plan.pause_s)
        for block, slots in groupby(planned, key=lambda slot: slot.block):
            if self._begins_session(block) and not self._rest(block, remaining):
                return False
            if not self._block(block, list(slots), remaining):
                return False
        if self._performer.done:
            many = counted(self._performer.done, "invocation")
            self._context.progress.say(f"{many} in {clock(remaining.spent())}")
        for runner, share in restless(self._passes).items():
            self._context.progress.insist(
                f"{runner} did not rest between its turns: it used the processor for "
                f"{share:.1%} of the time, which slows the others down"
            )
        self._performer.done = 0
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
        """Mark the run as complete, and say why if nothing was measured."""
        self._directory.finish()
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
        return self._session(block) != self._session(max(block - 1, 0)) and not self.agenda.beyond(
            block
        )

    def _rest(self, block: int, remaining: Remaining) -> bool:
        """The pause before the session that `block` begins; False if asked to stop."""
        what = f"session {self._session(block) + 1} of {self._plan.sessions} begins"
        seconds = self._plan.pause_s
        if not pause(seconds, what, self._context.stop, self._context.progress):
            return False
        remaining.did(seconds)
        self._read_databases()
        return True

    def _read_databases(self) -> None:
        """Let the page cache hold them again, as it did when the first session began."""
        for file in {self._context.invocations.fixtures.of(case) for case in self._plan.cases}:
            if file is not None:
                with file.open("rb") as stream:
                    while stream.read(2**20):
                        pass

    def _block(self, block: int, slots: list[Slot], remaining: Remaining) -> bool:
        """One block, done again if the machine was disturbed and a repeat is left."""
        for take in range(2):
            earlier = next((b for b in self._passes if (b.block, b.take) == (block, take)), None)
            if earlier and earlier.repeated:
                continue
            if earlier:
                return True
            before = self._look()
            self._performer.idle.clear()
            for number, together in enumerate(self.agenda.to_do(slots, take)):
                if self._context.stop.requested:
                    return False
                self._announce(together, remaining, milestone=number == 0)
                if not self._performer.perform(together, take):
                    return False
                remaining.did(sum(map(self.agenda.seconds, together)))
            record = self._judge(Block(
                block=block, take=take, before=before, after=self._look(),
                disturbed=False, repeated=False,
                idle={runner: median(shares) for runner, shares in self._performer.idle.items()},
            ))  # fmt: skip
            self._directory.add_block(record)
            self._passes.append(record)
            if not record.repeated:
                return True
            self._context.progress.say(
                f"block {block + 1} was disturbed (the probe took "
                f"{max(_probes(record)) / 1e6:.0f} ms): it is done again"
            )
            remaining.more(sum(map(self.agenda.seconds, slots)))
        return True

    def _look(self) -> conditions.Conditions:
        """The machine between two blocks."""
        return conditions.read(probe())

    def _judge(self, record: Block) -> Block:
        """Whether a block was disturbed, by the probes of its session up to then alone."""
        import numpy as np

        from sqlitmus.stats.probe import disturbed, repeats_allowed

        session = self._session(record.block)
        before = [b for b in self._passes if self._session(b.block) == session]
        probes = [float(max(_probes(b))) for b in [*before, record]]
        hit = bool(disturbed(np.array(probes))[-1])
        repeats = sum(b.repeated for b in self._passes)
        again = hit and record.take == 0 and repeats < repeats_allowed(self._plan.blocks)
        return record.model_copy(update={"disturbed": hit, "repeated": again})

    def _announce(self, slots: list[Slot], remaining: Remaining, *, milestone: bool) -> None:
        slot = slots[0]
        who = slot.label if len(slots) == 1 else f"{len(slots)} in turns"
        self._context.progress.step(
            f"block {slot.block + 1}/{self.agenda.blocks}  {clock(remaining.left())} left  "
            f"{slot.case}  {who}",
            milestone=milestone,
        )


def _probes(block: Block) -> list[int]:
    return [look.probe_ns or 0 for look in (block.before, block.after)]
