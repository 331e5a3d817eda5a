"""Decisions by presets on synthetic runs whose truth is known."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.choices import choices
from sqlitmus.analysis.pairs import Pairs, Question, compare_all, comparisons
from sqlitmus.analysis.ranking import crossing, still_open
from sqlitmus.catalog.presets import OWN, Preset
from sqlitmus.render.document.decision import about, choice_sentences, many, presets_section
from sqlitmus.results.ranking import Change, Contrast
from sqlitmus.results.recommendation import Again, Choice, Weighed, Weighing
from sqlitmus.results.report import Case, Cell, Interval, Measure, Runner
from sqlitmus.stats.estimate import Array, normal
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import sure
from tests.stats.noise import spikes

GROUPS = ["start-up", "reads", "reads", "lists", "writes", "writes", "controls"]
IDS = ("start", "read", "index", "list", "put", "bulk", "scan")
VARIANTS = ("start", "read", "read@index=on", "list", "put", "bulk", "list@shape=array")
NAMES = {
    "start": "process start(s)",
    "read": "point read(s)",
    "list": "list(s) of 100 rows",
    "put": "write(s)",
    "bulk": "transaction(s) of 100 rows",
}
QUESTION = Question(margin=0.02, correction="bh")
REPORTS = 200


def blank_case(**fields: Any) -> Case:
    """A case of which only these fields say anything."""
    texts = dict.fromkeys(["title", "question", "checks"], "")
    return Case(**texts, bound_by="mixed", sql=[], pragmas=[], operations=1, canary=None, **fields)


def text(weighed: Weighed) -> str:
    return " ".join(choice_sentences(weighed.choices[0], weighed))


def preset(**limits: float) -> dict[str, Preset]:
    return {
        name: Preset(title=f"a {name} use", summary="", calls=calls, names=NAMES, **limits)
        for name, calls in {
            "reading": {"read": 600.0, "list": 250.0, "put": 150.0},
            "writing": {"put": 800.0, "bulk": 100.0, "read": 200.0},
            "starting": {"start": 10.0, "read": 1000.0},
        }.items()
    }


@dataclass
class Run:
    """`levels` is cases x runners, in ns; `noise` is the standard deviation of a block's log."""

    levels: Array
    blocks: int = 10
    noise: float = 0.01
    tails: float = 0.0
    seed: int = 0
    sessions: int = 1
    groups: Sequence[str] = field(default_factory=lambda: GROUPS)
    memory: dict[str, float] = field(default_factory=dict[str, float])
    sqlite: dict[str, str] = field(default_factory=dict[str, str])
    ids: Sequence[str] = IDS
    units: dict[str, int] = field(default_factory=dict[str, int])
    warming: Sequence[str] = ()  # cases in which r1 still warms up

    @property
    def names(self) -> list[str]:
        return [f"r{number}" for number in range(self.levels.shape[1])]

    def times(self) -> Array:
        rng = np.random.default_rng(self.seed)
        shape = (*self.levels.shape, self.blocks)
        common = rng.normal(0, 0.05, (shape[0], 1, self.blocks))
        own = rng.normal(0, self.noise, shape)
        if self.tails:
            own += spikes(rng, (shape[0] * shape[1], self.blocks), self.tails).reshape(shape)
        return self.levels[:, :, None] * np.exp(common + own)

    def decided(
        self, presets: dict[str, Preset] | None = None, times: Array | None = None
    ) -> tuple[Weighed, Weighing]:
        times = self.times() if times is None else times
        question = Question(0.02, "bh", self.sessions)
        pairs = compare_all(times, self.names, question)
        runners = [
            Runner(n, n, n, n, "runner", sqlite_version=self.sqlite.get(n, "3.54.1"))
            for n in self.names
        ]
        ok = np.logical_not(np.isnan(times).all(axis=2))
        said, parts = choices(
            preset() if presets is None else presets,
            *(runners, self.cases(times, pairs)),
            [self.units.get(name, 1) for name in self.ids[: len(times)]],
            *(pairs, ok, times, question),
        )
        assert said
        assert parts
        return said, parts

    def cases(self, times: Array, pairs: Pairs) -> list[Case]:
        return [
            blank_case(
                id=self.ids[number],
                scenario=self.ids[number].partition("@")[0],
                group=group, metric="cold" if group == "start-up" else "steady",
                axes={}, unit="row", comparisons=columns,
                cells=[
                    Cell(
                        name, "ok", time=middle(times[number, r]),
                        apart="still warming up"
                        if name == "r1" and self.ids[number] in self.warming else None,
                        figures={"cpu": Measure(5e3),
                                 "peak_rss": Measure(self.memory.get(name, 50.0) * 2**20)},
                    )
                    for r, name in enumerate(self.names)
                ],
            )
            for number, (group, columns) in enumerate(
                zip(self.groups, comparisons(pairs), strict=True)
            )
        ]  # fmt: skip


def middle(times: Array) -> Interval | None:
    return None if np.isnan(times).all() else Interval(float(np.nanmedian(times)), None, None)


def equal(runners: int) -> Array:
    return np.full((len(GROUPS), runners), 1000.0)


def ranks(choice: Choice, runners: int) -> bool:
    order = choice.ranking
    return len(order.front) < runners or any(c.verdict.different for c in order.contrasts)


@pytest.mark.parametrize(("runners", "blocks", "noise"), [(2, 30, 0.004), (9, 10, 0.03)])
def test_equal_runners_are_not_ranked_and_catch_up_with_nobody(
    runners: int, blocks: int, noise: float
) -> None:
    """Where no spikes disturb them, `test_selftest` counts it in whole reports."""
    ranked = caught = 0
    for seed in range(REPORTS):
        run = Run(equal(runners), blocks, noise=noise, tails=0.1, seed=seed, ids=VARIANTS)
        said, parts = run.decided()
        ranked += any(ranks(choice, runners) for choice in said.choices)
        caught += bool(parts.catching)
    assert ranked <= 0.05 * REPORTS
    assert caught <= 0.05 * REPORTS


@pytest.mark.parametrize("blocks", [10, 30])
@pytest.mark.parametrize("runners", [2, 9])
def test_a_true_tenth_is_named(runners: int, blocks: int) -> None:
    levels = equal(runners)
    levels[:, 1] /= 1.1
    said, _ = Run(levels, blocks).decided()
    assert [choice.ranking.front for choice in said.choices] == [["r1"]] * 3
    assert all(len(choice.ranking.contrasts) == runners - 1 for choice in said.choices)
    assert text(said).startswith("For a reading use, r1 is fastest: ")
    calls = "600 point reads, 250 lists of 100 rows and 150 writes"
    assert f" Per 1,000 requests: {calls}. " in text(said)
    spent = {cost.runner: cost.time.value for cost in said.choices[0].costs if cost.time}
    assert spent["r1"] == pytest.approx(1e6 / 1.1, rel=0.2)
    assert spent["r0"] / spent["r1"] == pytest.approx(1.1, rel=0.03)


@pytest.mark.parametrize("ratio", [1.2, 1.05, 0.97])
@pytest.mark.parametrize("level", [0.95, 0.9998])
def test_the_blocks_that_would_settle_two_runners_do_in_four_of_five_runs(
    ratio: float, level: float
) -> None:
    blocks, deviation = 10, 0.3
    half = normal(level) * deviation / np.sqrt(blocks)
    row = Contrast(
        *("b", "a"),
        Interval(ratio, ratio * np.exp(-half), ratio * np.exp(half)),
        Verdict.NOT_RESOLVED,
    )
    pair = still_open({("b", "a"): row}, ["a", "b"], blocks, level, 0.02)
    assert pair
    means = np.random.default_rng(1).normal(np.log(ratio), deviation / np.sqrt(pair.blocks), 4000)
    resolved = np.abs(means) > normal(level) * deviation / np.sqrt(pair.blocks)
    assert np.mean(resolved) == pytest.approx(0.8, abs=0.03)


def test_what_would_settle_it_is_told_with_minutes_and_command() -> None:
    levels = equal(2)
    levels[:, 1] /= 1.02
    said, _ = Run(levels, noise=0.05, seed=3).decided()
    pair = said.choices[0].ranking.open
    assert pair
    told = f"About {pair.blocks} blocks would settle {pair.runner} against {pair.reference} with"
    assert told in text(said)
    again = Again("./just run --suite quick", 30.0)
    told = f"minutes, would settle {pair.runner} against {pair.reference} with 80 % power: "
    assert told + f"./just run --suite quick --blocks {pair.blocks}." in text(
        replace(said, again=again)
    )
    asked = replace(said, again=Again("./just run --blocks 20 --size m", None))
    assert f": ./just run --size m --blocks {pair.blocks}." in text(asked)


def of_variants(**changes: float) -> Run:
    """r1 takes twice as long as r0 in lists of objects, and as long in those of arrays."""
    levels = equal(2)
    levels[:, 1] *= 1.3
    levels[3, 1], levels[6, 1] = 2000, 1000 * changes.get("array", 1.0)
    groups = [*GROUPS[:6], "lists"]
    return Run(levels, 30, noise=0.004, groups=groups, ids=VARIANTS)


def levels_of(runners: int, *changes: tuple[Any, float]) -> Array:
    """Equal levels, but for those at such places."""
    levels = equal(runners)
    for place, level in changes:
        levels[place] = level
    return levels


def without_lists() -> tuple[Weighed, Weighing]:
    """r1, the fastest, did not complete the lists."""
    run = Run(equal(3) / np.array([1, 1.5, 1]))
    times = run.times()
    times[3, 1] = np.nan
    return run.decided(times=times)


ALL, FAST = slice(None), 500.0
DECIDED: dict[str, Callable[[], tuple[Weighed, Weighing]]] = {
    "r1 catches up in a variant": of_variants().decided,
    "r1 is ahead there": of_variants(array=0.8).decided,
    "r1 stays behind there": of_variants(array=1.2).decided,
    "the fastest exceeds a limit": lambda: Run(
        levels_of(3, ((ALL, 1), FAST), ((ALL, 2), 833.0)), memory={"r1": 200.0}
    ).decided(preset(memory_mib=100.0)),
    "a limit is of the longest start": lambda: Run(levels_of(2, ((0, 0), 2e6))).decided(
        preset(start_ms=1.0)
    ),
    "all exceed a limit": lambda: Run(equal(2)).decided(preset(memory_mib=1.0)),
    "cases were not measured": Run(
        levels_of(2, ((ALL, 1), FAST))[:4], groups=GROUPS[:4]
    ).decided,
    "a runner did not complete a case": without_lists,
    "no part is most of the time": Run(
        levels_of(2, ((ALL, 1), 667.0), ((3, 0), 2000.0), ((3, 1), 1333.0)), noise=0.002
    ).decided,
    "an old engine": Run(levels_of(2, ((ALL, 1), FAST)), sqlite={"r0": "3.35.5"}).decided,
    "an engine that is not old": Run(
        levels_of(2, ((ALL, 1), FAST)), sqlite={"r0": "3.50.5"}
    ).decided,
    "what is not called would change it": Run(
        levels_of(2, ((ALL, 1), 833.0), ((0, 1), 4000.0))
    ).decided,
    "what would tell those in front apart": Run(levels_of(2, ((0, 1), 4000.0))).decided,
    "a call is an operation with all of its units": Run(
        equal(2), noise=0.002, units={"bulk": 100}
    ).decided,
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_decided_and_said(name: str, snapshot: SnapshotAssertion) -> None:
    said, _ = DECIDED[name]()
    assert [
        {
            "front": choice.ranking.front,
            "lacking": choice.lacking,
            "excluded": [(out.runner, out.why, out.cases) for out in choice.ranking.excluded],
            "changes": [(change.case, change.runner) for change in choice.ranking.changes],
            "catching": [(one.after.runner, one.case, one.variant) for one in choice.catching],
            "cost": [
                [f"{value:.3g}" for value in (sure(cost.time).value, sure(cost.cpu))]
                for cost in choice.costs
            ],
            "sentences": choice_sentences(choice, said),
        }
        for choice in said.choices
    ] == snapshot


def test_who_is_settled_is_not_asked_again() -> None:
    levels = equal(2)
    levels[:, 1] /= 1.3
    assert Run(levels).decided()[0].choices[0].ranking.open is None
    alike = Run(equal(2), 40, noise=0.002).decided()[0].choices[0]
    assert alike.ranking.equivalent
    assert alike.ranking.open is None


def test_one_block_ranks_nobody() -> None:
    levels = equal(3)
    levels[:, 1] /= 3
    for blocks in (1, 9):
        said, _ = Run(levels, blocks).decided()
        assert not any(choice.ranking.front for choice in said.choices)
        assert f"too few blocks for a verdict: {blocks} of 10." in text(said)
        *_, costs = presets_section(said)[0].tables()
        assert {row.cells[1].text for row in costs.rows} == {"\u2013"}


def test_a_sum_of_calls_decides_and_not_a_mean_of_ratios() -> None:
    levels = equal(2)
    levels[:, 1] /= 2
    levels[3] = [30_000.0, 33_000.0]
    said, _ = Run(levels, noise=0.002).decided()
    (behind,) = said.choices[0].ranking.contrasts
    assert said.choices[0].ranking.front == ["r0"]
    sums = [750 * 1000 + 250 * 30_000, 750 * 500 + 250 * 33_000]
    assert behind.ratio.value == pytest.approx(sums[1] / sums[0], rel=0.005)
    assert "Most of this time goes to lists of 100 rows: 91 to 96 %." in text(said)


def test_the_calls_at_which_another_is_ahead_are_told() -> None:
    levels = equal(2)
    levels[:, 1] /= 1.2
    levels[4] = [1000.0, 1500.0]
    said, _ = Run(levels, noise=0.002).decided()
    (change,) = said.choices[0].ranking.changes
    # by reads and lists r1 gains a sixth of 850 µs, by a write it loses 500 ns
    assert change.calls == pytest.approx(850 * 1000 / 6 / 500, rel=0.15)
    told = "With more than about 2.0 writes per 1,000 requests, r0 would be ahead of r1: for "
    assert re.search(told + "writes alone, it takes 0.66", text(said))


def test_operations_that_tell_the_same_are_one_sentence() -> None:
    weighed = Run(equal(2)).decided()[0]
    changes = [Change(case, "r0", Interval(0.5, 0.4, 0.6)) for case in ("start", "put", "bulk")]
    order = replace(weighed.choices[0].ranking, front=["r0", "r1"], changes=changes)
    told = " ".join(choice_sentences(replace(weighed.choices[0], ranking=order), weighed))
    each = "For each of process starts, writes and transactions of 100 rows alone"
    assert f"{each}, r0 is ahead of r1." in told


def test_crossings_lie_above_the_present_calls() -> None:
    calls, at = np.array([600.0, 250.0]), np.array([1.0, 10.0])
    assert crossing(at, np.array([2.0, 9.0]), calls, 1) == pytest.approx(600)
    assert crossing(at, np.array([1.1, 9.0]), calls, 1) is None  # the lead is not ahead
    assert crossing(at, np.array([2.0, 11.0]), calls, 1) is None
    assert crossing(np.array([1.0, np.nan]), np.array([2.0, 9.0]), calls, 1) is None


def test_numbers_of_calls_are_told_as_they_are_given() -> None:
    assert [many("point read(s)", number) for number in (1, 1000, 0.5)] == [
        "1 point read",
        "1,000 point reads",
        "0.5 point reads",
    ]
    assert [about(number) for number in (2437, 283.3, 99.6, 1.05, 0.0174)] == [
        "2,400",
        "280",
        "100",
        "1.1",
        "0.017",
    ]


def test_own_calls_are_judged_by_the_intervals_of_the_family() -> None:
    levels = equal(2)
    levels[:, 1] /= 1.02
    run = Run(levels, blocks=14, noise=0.01)
    presets = preset()
    own = presets["reading"].model_copy(update={"title": "your calls"})
    with_own, parts = run.decided({OWN: own, **presets})
    without, same = run.decided(presets)
    assert (parts.level, with_own.choices[1:]) == (same.level, without.choices)
    assert with_own.choices[0].ranking == without.choices[0].ranking


def test_every_preset_stands_beside_the_one_in_front() -> None:
    levels = equal(3)
    levels[:, 1] /= 1.5
    said, _ = Run(levels).decided()
    (one,) = presets_section(said)
    assert [column.id for column in one.blocks[0].columns] == list(preset())  # type: ignore[union-attr]
    assert sum("r1 is fastest" in line for line in one.lead) == 2
    assert choice_sentences(said.choices[1], said)[0].startswith("For a writing use")


def test_sessions_are_combined_and_few_of_them_tell_little() -> None:
    levels = equal(2)
    levels[:, 1] /= 1.5
    said, _ = Run(levels, blocks=126, sessions=9).decided()
    assert said.choices[0].ranking.front == ["r1"]
