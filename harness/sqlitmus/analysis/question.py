"""What verdicts on a run are given by."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.catalog.plan import Plan
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.multiplicity import pocock, share
from sqlitmus.stats.verdict import ALPHA
from sqlitmus.vocabulary.terms import Correction


@dataclass(frozen=True, slots=True)
class Question:
    """What verdicts are given by: the margin, the correction of all pairs together, how many
    sessions the blocks are divided into, and the level, lower where a gate has several looks.

    `shares` are per case those of the error that its look may spend, None for all of it. With
    `small_is_nothing` what is shown to be within the margin is equivalent, even if it differs.
    """

    margin: float
    correction: Correction
    sessions: int = 1
    alpha: float = ALPHA
    shares: Array | None = None
    small_is_nothing: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Question":
        """What the plan asks."""
        asked = (plan.margin, plan.correction, plan.sessions)
        if plan.gate is not None or plan.looks == 1:
            return cls(*asked, pocock(plan.looks))
        early = [case.id in plan.ended for case in plan.cases]
        return cls(*asked, shares=np.array([share(plan.looks, early=e) for e in early]))

    def share(self, each: int) -> Array | float:
        """That of each row, where every case has `each`."""
        return 1.0 if self.shares is None else np.repeat(self.shares, each)
