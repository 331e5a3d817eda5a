"""How often a report of equal runners says something false, and where it says it.

Every runner is the same program, so whoever is called faster or slower is called so falsely. A run
is laid over the noise as the product lays it (`experiments`). The real functions then judge it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from benchmarks.experiments import Shape, own_noise, replayed, runs
from sqlitmus.analysis.choices import decide as by_calls, operations
from sqlitmus.analysis.pairs import (
    CANARY,
    TWIN,
    Question,
    compare_all,
    compare_canary,
    comparisons,
)
from sqlitmus.analysis.ranking import canary_summary, group_order, standings
from sqlitmus.render.document.ranking import say
from sqlitmus.results.ranking import Ranking
from sqlitmus.results.report import Case, Runner
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.expectation import Expectation, hold
from sqlitmus.stats.verdict import group_means
from sqlitmus.vocabulary.verdicts import Correction, Verdict

MARGIN = 0.02
GROUPS = (2, 2, 1, 1, 2, 2)  # cases of each group, as in the suite `quick`
FROM_ONE = ("within", "apart", "beyond", "opposite")
NO_CASES: Sequence[Case] = ()
PLACES = ("headline", "summary", "canary", "any", "calls", "claims", "table", "plain")
# Calls of the first cases of the groups, as presets have them.
PRESETS = ((600, 250, 150), (800, 200), (10, 1000, 200))


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one report of equal runners says: its sentences on groups, and where it errs: in the
    places of `PLACES`; `any` is any of the three before it, `calls` any comparison by presets or
    by an operation alone, of which recommendations are made, `plain` what would be said of groups
    by plain intervals against the runner of the least mean."""

    orders: list[str]
    errs: dict[str, bool]


def spoken(times: Array, groups: Sequence[str], correction: Correction) -> Spoken:
    """What a report says of equal runners; the last of `times` (cases x labels x blocks) is the
    canary of the first."""
    names = [f"r{number}" for number in range(times.shape[1] - 1)]
    question = Question(MARGIN, correction)
    twin = compare_canary(times, [0] * len(times), question)
    pairs = compare_all(times[:, :-1], names, question)
    ok = np.ones((len(times), len(names)), dtype=np.bool_)
    places = list(dict.fromkeys(groups))
    table = standings(pairs, ok, list(groups), places, question, times[:, :-1])
    runners = [Runner(name, name, name, name, "runner") for name in names]
    said = [
        order.ranking
        for group in places
        if (
            order := group_order(
                *(group, runners, NO_CASES, [s for s in table if s.group == group], "r0", MARGIN)
            )
        )
    ]
    canaries = [one.of(CANARY, TWIN) for one in comparisons(twin)]
    errs = {
        "headline": any(map(false, said)),
        "summary": any(s.contrast is not None and s.contrast.verdict.different for s in table),
        "canary": canary_summary("r0", canaries).many,
        "table": bool(pairs.verdicts.are(*(v for v in Verdict if v.different)).any()),
        "claims": any_claim(pairs.logs, len(times), correction),
    }
    cases = [(group, list(groups).index(group)) for group in places]
    called = operations(cases, pairs, ok, names, times[:, :-1], [1] * len(times), question)
    sets = [np.pad(preset, (0, len(places)))[: len(places)] for preset in PRESETS]
    tables = by_calls(called, [*(one.astype(np.float64) for one in sets), *np.eye(len(places))])
    errs["calls"] = any(s.verdict.different for table in tables.tables for s in table.values())
    errs["plain"] = any(plain(times[np.array(groups) == group, :-1]) for group in places)
    errs["any"] = errs["headline"] or errs["summary"] or errs["canary"]
    return Spoken([" ".join(say(order)) for order in said], errs)


def false(order: Ranking) -> bool:
    """Whether an order puts any two equal runners apart."""
    told = any(c.verdict.different and not c.ratio.within(order.margin) for c in order.contrasts)
    return told or len(order.front) < len(order.contrasts) + 1


def plain(times: Array) -> bool:
    """Whether a plain 95 % interval of a group puts anyone behind the runner of the least mean."""
    logs = np.log(times)
    least = int(np.argmin(logs.mean(axis=(0, 2))))
    rivals = np.delete(logs, least, axis=1) - logs[:, least : least + 1]
    return bool((group_means(rivals).interval()[0] > 0).any())


def any_claim(logs: TrimmedMeans, cases: int, correction: Correction) -> bool:
    """Whether any claim of an effect of 1.5 gets a word that tells its row from 1; a row per
    case."""
    first = slice(None, None, len(logs.mean) // cases)
    expected = [Expectation.of_effect(log(1.5), 1.5)] * cases
    findings = hold(logs.rows(first), expected, MARGIN, correction)
    return any(finding.position in FROM_ONE for finding in findings)


def rates(
    logs: Array | None, runners: int, blocks: int, count: int, cases: Sequence[int] = GROUPS
) -> dict[str, float]:
    """Per place the share of `count` reports that say something false there; without `logs`, of
    runners each of which has noise of its own (`own_noise`)."""
    groups = [f"group {number}" for number, size in enumerate(cases) for _ in range(size)]
    correction: Correction = "holm" if runners == 2 else "bh"
    shape = Shape(len(groups), runners, blocks)
    series = own_noise(shape, count) if logs is None else runs(replayed(logs), shape, count, 1)
    reports = [spoken(np.exp(times), groups, correction).errs for times in series]
    return {place: float(np.mean([errs[place] for errs in reports])) for place in PLACES}
