"""What would change a decision by weights: the shares of groups at which others come out equal."""

from collections.abc import Iterator, Sequence

from sqlitmus.analysis.ahead import Table
from sqlitmus.analysis.weighing import Groups
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.recommendation import Change
from sqlitmus.stats.estimate import Array


def changes_in(
    groups: Groups,
    preset: Preset,
    mean: Array,
    alone: tuple[Sequence[Table], Array],
    lead: str,
    fit: Sequence[str],
) -> Iterator[Change]:
    """For each group that others are shown to be ahead in: who needs the least weight of it."""
    for place, group in enumerate(groups.order):
        share, table = preset.shares.get(group, 0.0), alone[0][place]
        nearest: Change | None = None
        for k, pair in enumerate(groups.pairs):
            if lead not in pair or not set(pair) <= set(fit):
                continue
            (other,) = set(pair) - {lead}
            if (other, lead) not in table or table[other, lead].verdict.side != "faster":
                continue
            sign = 1 if pair[0] == other else -1
            at = crossing(sign * float(mean[k]), sign * float(alone[1][place, k]), share)
            if at and (nearest is None or at < (nearest.share or 1)):
                nearest = Change(group, other, table[other, lead].ratio, at)
        if nearest:
            yield nearest


def telling(groups: Groups, alone: Sequence[Table], front: Sequence[str]) -> Iterator[Change]:
    """Each group by which one of `front` is shown to be ahead of all others in front."""
    for group, table in zip(groups.order, alone, strict=True):
        for name in front:
            over = [table.get((name, other)) for other in front if other != name]
            if all(each and each.verdict.side == "faster" for each in over):
                nearest = max((each.ratio for each in over if each), key=lambda ratio: ratio.value)
                yield Change(group, name, nearest)


def crossing(whole: float, part: float, share: float) -> float | None:
    """The share of a group at which two runners come out equal, the other groups keeping their
    proportions; None where that is not above its present `share`.

    `whole` is the log ratio by the present shares, `part` that of the group alone.
    """
    if share >= 1:
        return None
    rest = (whole - share * part) / (1 - share)
    at = rest / (rest - part) if rest > part else float("nan")
    return at if share < at < 1 else None
