"""Decisions by presets on synthetic runs whose truth is known."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.ranking import crossing, still_open
from sqlitmus.render.document.decision import about, choice_sentences, many, presets_section
from tests.analysis import runs
from tests.stats.noise import spikes

GROUPS = {
    "start": "start-up", "read": "reads", "index": "reads", "read@index=on": "reads",
    "list": "lists", "put": "writes", "bulk": "writes", "list@shape=array": "lists",
    "scan": "controls",
}  # fmt: skip
IDS = ("start", "read", "index", "list", "put", "bulk", "scan")
VARIANTS = ("start", "read", "read@index=on", "list", "put", "bulk", "list@shape=array")
NAMES = {
    "start": "process start(s)",
    "read": "point read(s)",
    "list": "list(s) of 100 rows",
    "put": "write(s)",
    "bulk": "transaction(s) of 100 rows",
}
CALLS = {
    "reading": {"read": 600.0, "list": 250.0, "put": 150.0},
    "writing": {"put": 800.0, "bulk": 100.0, "read": 200.0},
    "starting": {"start": 10.0, "read": 1000.0},
}


def presets(**limits: float) -> runs.Json:
    return {
        name: {"title": f"a {name} use", "summary": "", "calls": of, "names": NAMES, **limits}
        for name, of in CALLS.items()
    }


def made(
    levels: Mapping[str, float] | None = None,
    *,
    runners: int = 2,
    blocks: int = 10,
    ids: Sequence[str] = IDS,
    spread: float = 0.01,
    units: Mapping[str, int] | None = None,
    sqlite: Mapping[str, str] | None = None,
    limits: Mapping[str, float] | None = None,
    of: runs.Json | None = None,
    seen: Sequence[runs.Json] = (),
    **how: Any,
) -> dict[str, Any]:
    """A run of the runners r0, r1 and so on, decided by the three presets."""
    cases = [
        runs.case(
            name,
            group=GROUPS[name],
            metric="cold" if name == "start" else "steady",
            operations=0 if name == "start" else 100,
            per_operation=(units or {}).get(name, 1),
        )
        for name in ids
    ]
    names = [f"r{number}" for number in range(runners)]
    engines = [
        runs.runner(n, description=runs.description(n, sqlite=(sqlite or {}).get(n, "3.54.1")))
        for n in names
    ]
    planned = {"correction": "bh", "canary": None, "blocks": blocks, **(of or {})}
    return {
        "of": runs.plan(names, cases=cases, runners=engines, **planned),
        "time": runs.levels(ids, levels, spread=spread),
        "presets": presets(**(limits or {})),
        "blocks": seen,
        **how,
    }


def weighed(levels: Mapping[str, float] | None = None, **how: Any) -> Any:
    """How the run is decided."""
    return runs.statement(runs.report(**made(levels, **how)), "weighed")


def text(said: Any) -> str:
    return " ".join(choice_sentences(said.choices[0], said))


def equal(runners: int) -> NDArray[np.float64]:
    return np.full((len(IDS), runners), 1000.0)


def preset() -> Any:
    return runs.of_presets(presets())


@dataclass
class Run:
    """`levels` is cases x runners, in ns; `noise` is the standard deviation of a block's log."""

    levels: Any
    blocks: int = 10
    noise: float = 0.01
    tails: float = 0.0
    seed: int = 0
    sessions: int = 1
    sqlite: Mapping[str, str] = field(default_factory=dict[str, str])
    ids: Sequence[str] = IDS
    warming: Sequence[str] = ()  # cases in which r1 still warms up

    @property
    def names(self) -> list[str]:
        return [f"r{number}" for number in range(self.levels.shape[1])]

    def times(self) -> Any:
        rng = np.random.default_rng(self.seed)
        common = rng.normal(0, 0.05, (len(self.ids), 1, self.blocks))
        own = rng.normal(0, self.noise, (*self.levels.shape, self.blocks))
        rows = own.reshape(-1, self.blocks)
        rows += spikes(rng, rows.shape, self.tails)
        return self.levels[:, :, None] * np.exp(common + own)

    @cached_property
    def run(self) -> runs.RunData:
        warm = [
            ({"case": case, "runner": "r1"}, runs.by_block(drift=[0.89, 0.88, 0.9]))
            for case in self.warming
        ]
        shape: Any = {"runners": len(self.names), "blocks": self.blocks, "ids": self.ids}
        of = {"sessions": self.sessions}
        return runs.make(**made(**shape, sqlite=self.sqlite, of=of, sampled=warm))

    def decided(self, given: Any = None, times: Any = None) -> tuple[Any, Any]:
        """The decision by these presets, and what other calls' are made of."""
        times = self.times() if times is None else times
        for case in self.warming:  # such a time is compared with nothing
            times[self.ids.index(case), 1] = 1000.0
        report = runs.retimed(replace(self.run, presets=given or preset()), times)
        return runs.statement(report, "weighed"), report.weighing


def of_variants() -> Run:
    """r1 takes twice as long as r0 in lists of objects, and as long in those of arrays."""
    levels = equal(2)
    levels[:, 1] *= 1.3
    levels[3, 1], levels[6, 1] = 2000, 1000
    return Run(levels, 30, noise=0.004, ids=VARIANTS)


@pytest.mark.parametrize(("runners", "blocks", "noise"), [(2, 30, 0.004), (9, 10, 0.03)])
@pytest.mark.simulation
def test_equal_runners_are_not_ranked_and_catch_up_with_nobody(
    runners: int, blocks: int, noise: float
) -> None:
    """Where no spikes disturb them, `test_selftest` counts it in whole reports."""
    of = Run(equal(runners), blocks, noise, tails=0.1, ids=VARIANTS)
    ranked = caught = 0
    for seed in range(100):
        said, weighing = of.decided(times=replace(of, seed=seed).times())
        ranked += any(
            len(order.front) < runners or any(c.verdict.different for c in order.contrasts)
            for order in (choice.ranking for choice in said.choices)
        )
        caught += bool(weighing.catching)
    assert ranked <= 5
    assert caught <= 5


@pytest.mark.parametrize(("runners", "blocks"), [(2, 30), (9, 10)])
def test_a_true_tenth_is_named(runners: int, blocks: int) -> None:
    said = weighed({"r1": 1 / 1.1}, runners=runners, blocks=blocks)
    assert [choice.ranking.front for choice in said.choices] == [["r1"]] * 3
    assert all(len(choice.ranking.contrasts) == runners - 1 for choice in said.choices)
    spent = {cost.runner: cost.time.value for cost in said.choices[0].costs}
    assert spent["r1"] == pytest.approx(1e6 / 1.1, rel=0.05)
    assert spent["r0"] / spent["r1"] == pytest.approx(1.1, rel=0.03)


@pytest.mark.parametrize("ratio", [1.2, 1.05, 0.97])
@pytest.mark.parametrize("level", [0.95, 0.9998])
def test_the_blocks_that_would_settle_two_runners_do_in_four_of_five_runs(
    ratio: float, level: float
) -> None:
    blocks, deviation, far = 10, 0.3, NormalDist().inv_cdf((1 + level) / 2)
    ends = [ratio * np.exp(sign * far * deviation / np.sqrt(blocks)) for sign in (-1, 1)]
    row = runs.Contrast("b", "a", runs.Interval(ratio, *ends), runs.Verdict.NOT_RESOLVED)
    pair = runs.sure(still_open({("b", "a"): row}, ["a", "b"], blocks, level, 0.02))
    error = deviation / np.sqrt(pair.blocks)
    means = np.random.default_rng(1).normal(np.log(ratio), error, 4000)
    assert np.mean(np.abs(means) > far * error) == pytest.approx(0.8, abs=0.03)


HALF = {"r1": 0.5}
TWICE = {"r1": 1.3, "list/r1": 2.0}  # in lists of objects, not in those of arrays
OPEN = {"levels": {"r1": 1 / 1.02}, "spread": 0.05}
STEP = {"before": {"monotonic_ns": 0}, "after": {"monotonic_ns": 30 * 10**9}}
DECIDED: dict[str, dict[str, Any]] = {
    **{
        f"r1 takes {array} of r0 in a variant": {
            "levels": {**TWICE, "list@shape=array/r1": array},
            "blocks": 30, "spread": 0.004, "ids": VARIANTS,
        }
        for array in (1.0, 0.8, 1.2)
    },
    "the fastest exceeds a limit": {
        "levels": {"r1": 0.5, "r2": 0.833}, "runners": 3, "limits": {"memory_mib": 100.0},
        "sampled": [({"runner": "r1"}, {"peak_rss_bytes": 200 * 2**20})],
    },
    "a limit is of the longest start": {
        "levels": {"start/r0": 2e3}, "limits": {"start_ms": 1.0}
    },
    "all exceed a limit": {"limits": {"memory_mib": 1.0}},
    "cases were not measured": {"levels": HALF, "ids": IDS[:4]},
    "the fastest did not complete a case": {
        "levels": {"r1": 1 / 1.5}, "runners": 3,
        "checked": [({"runner": "r1", "case": "list"}, {"outcome": "unsupported"})],
    },
    "no part is most of the time": {
        "levels": {"r1": 0.667, "list/r0": 2.0, "list/r1": 1.333}, "spread": 0.002
    },
    "an old engine": {"levels": HALF, "sqlite": {"r0": "3.35.5"}},
    "an engine that is not old": {"levels": HALF, "sqlite": {"r0": "3.50.5"}},
    "what is not called would change it": {"levels": {"r1": 0.833, "start/r1": 4.0}},
    "what would tell those in front apart": {"levels": {"start/r1": 4.0}},
    "a call is an operation with all of its units": {"spread": 0.002, "units": {"bulk": 100}},
    "what would settle it": OPEN,
    "what would settle it, with minutes and command": {
        **OPEN, "of": {"rerun": "./just run --suite quick"},
        "seen": [{"block": n, **STEP} for n in range(10)],
    },
    "what would settle it, with a command that has blocks": {
        **OPEN, "of": {"rerun": "./just run --blocks 20 --size m"}
    },
    "one block": {"levels": {"r1": 1 / 3}, "blocks": 1},
    "nine blocks": {"levels": {"r1": 1 / 3}, "blocks": 9},
    "few sessions tell little": {
        "levels": {"r1": 1 / 1.5}, "blocks": 36, "of": {"sessions": 9}
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_decided_and_said(name: str, snapshot: SnapshotAssertion) -> None:
    said = weighed(**DECIDED[name])
    lines: list[str] = []
    for choice in said.choices:
        order = choice.ranking
        spent = ", ".join(f"{c.runner} {c.time.value:.3g} and {c.cpu:.3g}" for c in choice.costs)
        lines += [
            f"{choice.preset}: in front {order.front}; lacking {choice.lacking}; costs: {spent}",
            *(f"  excluded {out.runner}: {out.why} {out.cases}" for out in order.excluded),
            *(f"  changed by {change.case}: {change.runner}" for change in order.changes),
            *(f"  {one.after.runner} catches up in {one.variant}" for one in choice.catching),
            *(f"  {sentence}" for sentence in choice_sentences(choice, said)),
        ]
    (section,) = presets_section(said)
    presets, *_, costs = section.tables()
    lines += [*section.lead, " | ".join(column.id for column in presets.columns)]
    assert [
        *lines,
        *(" | ".join(cell.text for cell in row.cells) for row in costs.rows),
    ] == snapshot


def test_a_sum_of_calls_decides_and_not_a_mean_of_ratios() -> None:
    said = weighed({"r1": 0.5, "list/r0": 30.0, "list/r1": 33.0}, spread=0.002)
    (behind,) = said.choices[0].ranking.contrasts
    assert said.choices[0].ranking.front == ["r0"]
    sums = [750 * 1000 + 250 * 30_000, 750 * 500 + 250 * 33_000]
    assert behind.ratio.value == pytest.approx(sums[1] / sums[0], rel=0.005)
    assert "Most of this time goes to lists of 100 rows: 91 to 96 %." in text(said)


def test_the_calls_at_which_another_is_ahead_are_told() -> None:
    said = weighed({"r1": 1 / 1.2, "put/r1": 1.5}, spread=0.002)
    (change,) = said.choices[0].ranking.changes
    # by reads and lists r1 gains a sixth of 850 µs, by a write it loses 500 ns
    assert change.calls == pytest.approx(850 * 1000 / 6 / 500, rel=0.15)
    told = r"With more than about \d+ writes per 1,000 requests, r0 would be ahead of r1: for "
    assert re.search(told + "writes alone, it takes 0.66", text(said))
    # operations that tell the same are one sentence
    changes = [replace(change, case=case, calls=None) for case in ("start", "put", "bulk")]
    order = replace(said.choices[0].ranking, front=["r0", "r1"], changes=changes)
    told = " ".join(choice_sentences(replace(said.choices[0], ranking=order), said))
    each = "For each of process starts, writes and transactions of 100 rows alone"
    assert f"{each}, r0 is ahead of r1." in told


def test_crossings_lie_above_the_present_calls() -> None:
    calls, at = np.array([600.0, 250.0]), np.array([1.0, 10.0])
    assert crossing(at, np.array([2.0, 9.0]), calls, 1) == pytest.approx(600)
    assert crossing(at, np.array([1.1, 9.0]), calls, 1) is None  # the lead is not ahead
    assert crossing(at, np.array([2.0, 11.0]), calls, 1) is None
    assert crossing(np.array([1.0, np.nan]), np.array([2.0, 9.0]), calls, 1) is None


def test_numbers_of_calls_are_told_as_they_are_given() -> None:
    told = [many("point read(s)", number) for number in (1, 1000, 0.5)]
    assert told == ["1 point read", "1,000 point reads", "0.5 point reads"]
    rounded = [about(number) for number in (2437, 283.3, 99.6, 1.05, 0.0174)]
    assert rounded == ["2,400", "280", "100", "1.1", "0.017"]


def test_own_calls_are_judged_by_the_intervals_of_the_family() -> None:
    how = made({"r1": 1 / 1.02}, blocks=14)
    reports = [runs.report(**how, weights=own) for own in ("read=600,list=250,put=150", None)]
    with_own, without = (runs.statement(report, "weighed").choices for report in reports)
    assert with_own[1:] == without
    assert with_own[0].ranking == without[0].ranking
    levels = {runs.sure(report.weighing).level for report in reports}
    assert len(levels) == 1
