"""Whom a run of claims measures twice in each case."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlitmus.catalog.claims import Claim

KEY = 1000  # rows that one key row outweighs


def of_claims(claims: Iterable[Claim], cells: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The runner that runs twice in each case of `cells`, "" for none; empty where no figures are
    published.

    A case's is the one with most key rows, or else with most rows: a figure's noise is that of its
    own runner, and one that is a thousand times faster varies a thousand times as much, above all
    in its longest latencies. Of the cases of a scenario that would repeat the same runner, the one
    with most rows does, and stands for the others.
    """
    weights: dict[str, Counter[str]] = {}
    for claim in claims:
        for group in claim.groups:
            for row in group.rows:
                if row.published is None or row.untestable:
                    continue
                for case, runner in (cell for pair in group.pairs(row) for cell in pair):
                    if runner in cells.get(case, ()):
                        weights.setdefault(case, Counter())[runner] += KEY if row.key else 1
    chosen = dict.fromkeys(cells, "") if weights else {}
    stands: set[tuple[str, str]] = set()
    for case, runners in sorted(weights.items(), key=lambda item: -max(item[1].values())):
        runner = runners.most_common(1)[0][0]
        place = case.partition("@")[0], runner
        if place not in stands:
            stands.add(place)
            chosen[case] = runner
    return chosen
