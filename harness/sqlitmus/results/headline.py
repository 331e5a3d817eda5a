"""What a report says first, as data: a sentence each, what went wrong first; renderers word it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from sqlitmus.results.advice import Advice
from sqlitmus.results.ranking import Ranking
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.results.weighed import Weighed
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.terms import HoldsWord
from sqlitmus.vocabulary.verdicts import Side


@dataclass(frozen=True, slots=True)
class Broken:
    """`runner` answered wrongly or failed in these `cases`, of as many as `of`."""

    runner: str
    outcome: Literal["wrong", "failed"]
    cases: list[str]
    of: int
    kind: Literal["broken"] = "broken"


@dataclass(frozen=True, slots=True)
class Missing:
    """`runner` is not on this machine, for that reason."""

    runner: str
    reason: str
    kind: Literal["missing"] = "missing"


@dataclass(frozen=True, slots=True)
class FewBlocks:
    """Too few `blocks` for a verdict, which needs `least`."""

    blocks: int
    least: int
    kind: Literal["few blocks"] = "few blocks"


@dataclass(frozen=True, slots=True)
class Group:
    """The order of the runners over the `cases` of a group."""

    group: str
    cases: int
    ranking: Ranking
    kind: Literal["group"] = "group"


@dataclass(frozen=True, slots=True)
class NoOrder:
    """Nothing orders the runners: `measured` were controls only, or nothing at all."""

    measured: bool
    kind: Literal["no order"] = "no order"


@dataclass(frozen=True, slots=True)
class ClaimOutcomes:
    """How many claims have which word."""

    counts: dict[ClaimWord, int]
    kind: Literal["claims"] = "claims"


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Two runs were compared that shared no blocks; `controls` are the runners in both that did not
    change."""

    controls: list[str]
    kind: Literal["unpaired"] = "unpaired"


@dataclass(frozen=True, slots=True)
class Holding:
    """How many of `of` comparisons with `reference` have which word over the machines."""

    reference: str
    of: int
    counts: dict[HoldsWord, int]
    kind: Literal["holding"] = "holding"


@dataclass(frozen=True, slots=True)
class Agreed:
    """Of a group's `cases`, in how many each runner is on which side on all or most machines."""

    group: str
    cases: int
    sides: dict[str, dict[Side, int]]
    kind: Literal["agreed"] = "agreed"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """(runner, case) of the comparisons on which machines contradict each other."""

    pairs: list[tuple[str, str]]
    kind: Literal["contradicted"] = "contradicted"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A sentence that the run itself recorded, such as what its gate came to."""

    text: str
    kind: Literal["recorded"] = "recorded"


Statement = Annotated[
    Broken
    | Missing
    | FewBlocks
    | Group
    | NoOrder
    | ClaimOutcomes
    | Unpaired
    | Holding
    | Agreed
    | Contradicted
    | Recorded
    | Recommendation
    | Weighed
    | Advice,
    Field(discriminator="kind"),
]
