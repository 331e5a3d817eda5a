"""Claims of a run: rows, verdicts, reasons, what cannot be tested here, the tables."""

import re
from typing import Any

import pytest

from sqlitmus.render.document import sentences
from sqlitmus.render.document.claims import ends, outcome, same_size
from sqlitmus.results.claims import Claim, Row
from tests.analysis import runs
from tests.analysis.claims import claim_runs
from tests.analysis.claims.claim_runs import claim, group, make, planned, row
from tests.analysis.runs import Times, analyse, change, counts, read, samples, sure
from tests.analysis.runs import ends as both_ends
from tests.refusals import refused
from tests.worded import canary, headline

Json = dict[str, Any]


def of(*claims: Json, **changes: Any) -> Claim:
    return analyse(make(*claims, **changes)).claims[0]


def rows(*claims: Json, **changes: Any) -> list[Row]:
    return [one for found in of(*claims, **changes).groups for one in found.rows]


def single(*claims: Json, **changes: Any) -> Row:
    (found,) = rows(*claims, **changes)
    return found


def value(found: Row) -> float:
    return sure(found.ratio).value


def by_plan(
    planned: Json,
    lines: list[Json] | None = None,
    *,
    time: Times | None = None,
    told: bool = False,
    **more: Any,
) -> Claim:
    """The first claim of a run of that plan."""
    lines = lines or samples(planned, time or claim_runs.times(planned))
    return analyse(claim_runs.run(planned, lines, told=told, **more)).claims[0]


def first_row(*how: Any, **more: Any) -> Row:
    return by_plan(*how, **more).groups[0].rows[0]


# verdicts ----------------------------------------------------------------------------------------


def test_each_row_has_its_verdict_and_why() -> None:
    found = {(row.name, row.runner): (row.verdict, row.reason) for row in rows()}
    assert found == {
        ("same mode", "fast"): ("reproduced", ""),
        ("small mode", "fast"): ("smaller than published", "at most 12 % of the published effect"),
        ("huge mode", "fast"): ("larger than published", "an effect where none was published"),
        ("noisy mode", "fast"): ("smaller than published", "at most 19 % of the published effect"),
        ("turned mode", "fast"): ("reversed", "the difference is the other way round here"),
        ("not published", "fast"): (None, ""),
        ("elsewhere", ""): ("not testable here", "nobody has the hardware"),
        ("equal mode", "fast"): ("reproduced", "no effect, as published"),
        ("slow against fast", "slow, fast"): ("reproduced", ""),
    }


def test_a_row_shows_what_its_word_rests_on() -> None:
    same, small, *_ = rows()
    # the digits of 2.0, and 2 % that count as no difference; a factor of 1.5 for another machine
    assert same.same == small.same == pytest.approx((1.95 / 1.02, 2.05 * 1.02))
    assert same.allowed == pytest.approx((1.95 ** (1 / 1.5), 2.05**1.5), rel=0.05)
    assert (same.allowance, small.allowance) == ("within", "beyond")
    against = sure(same.against)
    assert (against.value, *both_ends(against)) == pytest.approx(
        (value(same) / 2, 1.967 / 2.05, 2 / 1.95), rel=0.01
    )
    assert same.needed is None
    assert both_ends(same.ratio) == pytest.approx(same.judged, rel=0.005)
    bare = rows()[5]
    assert (bare.same, bare.judged) == (None, None)


def test_what_a_wide_interval_needs_is_told_in_blocks() -> None:
    found = single(claim(group(row("same", ends=[1.7, 2.3]))), spread=0.35)
    assert found.verdict == "compatible"
    assert found.needed
    assert re.fullmatch(
        r"an effect, but not precise enough to tell its size; about \d+ blocks would settle it",
        found.reason,
    )


def test_a_ratio_is_base_over_new_and_both_times_stand_beside_it() -> None:
    found = single(claim(group(row("same"))))
    assert value(found) == pytest.approx(2.0, rel=0.02)
    assert sure(found.base_time).value == pytest.approx(1000, rel=0.02)
    assert sure(found.new_time).value == pytest.approx(500, rel=0.02)
    assert (found.base, found.new) == ("read/fast", "read@mode=same/fast")
    assert found.blocks == claim_runs.BLOCKS


def test_a_difference_is_judged_in_its_own_unit() -> None:
    half = 0.0005  # ms that the mode "same" saves
    saved = group(
        row("same", half, name="as published"),
        row("same", 2 * half, name="smaller", ends=[1.9 * half, 2.1 * half]),
        row("same", half / 2, name="larger"),
        row("turned", half, name="turned"),
        row("noisy", half, name="noisy"),
        row("huge", 1e6 * half, name="far smaller"),
        row("huge", half / 1e6, name="far larger"),
        row("same", None, name="not published"),
        compare="difference",
        tolerance=1.1,
    )
    found = {one.name: one for one in rows(claim(saved))}
    assert {name: (one.verdict, one.reason) for name, one in found.items()} == {
        "as published": ("reproduced", ""),
        "smaller": ("smaller than published", "at most 51 % of the published effect"),
        "larger": ("larger than published", "at least 194 % of the published effect"),
        "turned": ("reversed", "the difference is the other way round here"),
        "noisy": ("smaller than published", "at most 32 % of the published effect"),
        "far smaller": ("no effect", "within the margin of 0"),
        "far larger": ("larger than published", "at least 1,776,870 times the published effect"),
        "not published": (None, ""),
    }
    assert all(one.ratio is None for one in found.values())
    difference = sure(found["as published"].difference)
    assert difference.value == pytest.approx(500, rel=0.02)
    low, high = both_ends(difference)
    assert 480 < low < difference.value < high < 520
    assert found["as published"].published == pytest.approx(500)


PUBLISHED: list[tuple[Json, str, str]] = [
    # the mode "small" makes reads 1.11 times as fast, "same" 2 times, "equal" 1.00 times
    ({"mode": "small", "published": 1.2424, "said": "+24.24 ± 1.1 %"}, "smaller", ""),
    ({"mode": "small", "published": 1.12, "said": "+12.0 ± 9.0 %"}, "reproduced", ""),
    ({"mode": "small", "published": 2.0, "kind": "at least"}, "smaller", "at most"),
    ({"mode": "small", "published": 2.0, "kind": "at most"}, "reproduced", "within the published"),
    ({"mode": "same", "published": 1.5, "kind": "at least"}, "reproduced", "within the published"),
    ({"mode": "same", "published": 1.5, "kind": "at most"}, "larger", "beyond the published"),
    ({"mode": "same", "published": 2.1, "kind": "range", "ends": [1.5, 3]}, "reproduced", ""),
    ({"mode": "small", "published": 2.1, "kind": "range", "ends": [1.5, 3]}, "smaller", "2. %"),
    ({"mode": "turned", "published": 0.5, "kind": "at least"}, "smaller", "at most"),
    ({"mode": "turned", "published": 0.9, "kind": "at least"}, "reproduced", "within the"),
]


@pytest.mark.parametrize(("published", "word", "reason"), PUBLISHED)
def test_a_figure_is_as_certain_as_it_was_published(
    published: Json, word: str, reason: str
) -> None:
    asked = {**row(published["mode"], None, said=""), **published}
    del asked["mode"]
    (found,) = rows(claim(group(asked)))
    assert sure(found.verdict).startswith(word)
    assert re.search(reason, found.reason)


def test_what_another_machine_may_change_is_apart_from_the_word() -> None:
    (found,) = rows(claim(group(row("small", 1.16, said="+16.0 ± 0.5 %"), tolerance=2.0)))
    assert (found.verdict, found.allowance) == ("smaller than published", "within")
    assert same_size(found).endswith("1.07 to 1.36: within")


def test_no_effect_reaches_as_far_as_the_publication_could_tell() -> None:
    def control(said: str) -> Row:
        asked = group(row("small", 0.993, said=said), expects="no effect", tolerance=1.03)
        return single(claim(asked))

    assert control("−0.69 %").verdict == "larger than published"
    assert control("−0.69 ± 16.17 %").verdict == "reproduced"


def test_files_are_compared_to_within_a_page() -> None:
    of = planned(claim(group(row("same"), row("small"), metric="file")))
    sizes = {"read": 2_048_000, "read@mode=same": 1_024_000, "read@mode=small": 2_048_000}
    for case in of["cases"]:
        case["database_bytes"] = sizes.get(case["id"], 4096)
    half, same = by_plan(of).groups[0].rows
    assert value(half) == pytest.approx(2)
    assert both_ends(half.ratio)[0] == pytest.approx(2 * (1 - 4096 / 1_024_000), rel=1e-4)
    assert half.verdict == "reproduced"
    assert sure(half.base_time).value == 2_048_000
    assert (same.verdict, same.reason) == ("no effect", "within the margin of 1")


def test_a_group_is_measured_on_each_of_its_runners() -> None:
    found = rows(claim(group(row("same"), row("small"), runners=["fast", "slow"])))
    assert [(row.name, row.runner) for row in found] == [
        ("same mode", "fast"),
        ("same mode", "slow"),
        ("small mode", "fast"),
        ("small mode", "slow"),
    ]


def test_rows_of_all_claims_are_corrected_together() -> None:
    def first(*claims: Json) -> Row:
        of = {**planned(*claims), "canary": None}
        return first_row(of, time=claim_runs.times(of, 0.12), told=True)

    weak = claim(group(row("same", ends=[1.6, 2.4])), name="weak")
    metrics = ("steady", "loop", "p50", "p99", "p999", "max")
    noisy = [
        group(row("noisy", 1.2), metric=metric, runners=["fast", "slow"]) for metric in metrics
    ]
    again = group(*[row("noisy", 1.2, name=f"again {n}") for n in range(40)])
    alone, beside = first(weak), first(weak, claim(*noisy, name="crowd"))
    assert (alone.verdict, alone.reason, beside.verdict) == ("reproduced", "", "compatible")
    assert re.search(
        r"; reproduced by its own interval, which the correction draws out to "
        r"\[[\d.]+, [\d.]+\]$",
        beside.reason,
    )
    # one measurement more, however many rows show it
    assert first(weak, claim(again, name="again")).judged == pytest.approx(
        first(weak, claim(group(row("noisy", 1.2)), name="once")).judged
    )


@pytest.mark.parametrize("whose", ["fast", "the runner that a case's figures are about"])
def test_the_control_of_a_case_repeats_the_runner_that_its_figures_are_about(whose: str) -> None:
    """The canary of "fast" takes three times its time, that of "slow" does not."""
    canaries = {} if whose == "fast" else dict.fromkeys(claim_runs.TIMES, "slow")
    of = {**planned(claim(group(row("same"), runners=["slow"]))), "canaries": canaries}
    usual = claim_runs.times(of)

    def time(case: int, label: str, block: int) -> float:
        times = 1.0 if label != "canary" else 2 if canaries else 3 + block % 3 / 100
        return usual(case, label, block) * times

    report = analyse(claim_runs.run(of, samples(of, time), told=False))
    # it says how the intervals are, and takes no word away
    assert report.claims[0].groups[0].rows[0].verdict == "reproduced"
    assert canary(report).partition(" against")[0] == f"A/A control: {whose}"


def sitting(sessions: int, *ratios: float) -> Row:
    """A row of 36 blocks whose ratio is another in each third."""
    of: Json = {**planned(claim(group(row("same"))), blocks=36), "sessions": sessions}
    usual, names = claim_runs.times(of, 0.005), [case["id"] for case in of["cases"]]

    def time(case: int, label: str, block: int) -> float:
        own = usual(case, label, block)
        return own / ratios[block // 12] if names[case] == "read@mode=same" else own

    return first_row(of, time=time)


def test_sessions_that_disagree_leave_a_claim_open() -> None:
    one, three = sitting(1, 0.45, 1.0, 1.4), sitting(3, 0.45, 1.0, 1.4)
    assert (one.verdict, three.verdict) == ("compatible", "not resolved")
    assert "rules out neither 1 nor the published size" in three.reason
    assert three.blocks == 36


def test_sessions_that_agree_settle_a_claim() -> None:
    found = sitting(3, 1.0, 1.0, 1.0)
    assert (found.verdict, value(found)) == ("reproduced", pytest.approx(2.0, rel=0.01))


def test_few_blocks_give_no_verdict() -> None:
    found = single(claim(group(row("same"))), blocks=9)
    assert (found.verdict, found.reason) == (
        "not resolved",
        "fewer than 10 blocks in which both have a value",
    )
    assert found.blocks == 9


# metrics -----------------------------------------------------------------------------------------

METRICS = [
    ("steady", 1000.0, "operation"),
    ("wall", 1000.0 * 100 * 20, "process"),
    ("loop", 1000.0, "operation"),
    ("p50", 1000.0, "operation"),
    ("p99", 2000.0, "operation"),
    ("p999", 4000.0, "operation"),
    ("max", 4000.0, "operation"),
]


@pytest.mark.parametrize(("metric", "base_ns", "unit"), METRICS)
def test_each_metric(metric: str, base_ns: float, unit: str) -> None:
    (found,) = of(claim(group(row("same"), metric=metric))).groups
    assert (found.metric, found.unit) == (metric, unit)
    assert sure(found.rows[0].base_time).value == pytest.approx(base_ns, rel=0.02)
    assert found.rows[0].verdict == "reproduced"


def test_time_per_row_is_of_the_rows_that_were_verified() -> None:
    of = planned(claim(group(row("same"), per="row")))
    checks = change(claim_runs.checked(of), {"rows": 5000}, case="read")
    run = runs.make(of, verify=checks, time=claim_runs.times(of))
    (found,) = analyse(run).claims[0].groups
    assert found.unit == "row"
    assert sure(found.rows[0].base_time).value == pytest.approx(1000 / 50, rel=0.02)
    assert sure(found.rows[0].new_time).value == pytest.approx(500, rel=0.02)


def test_a_quantile_is_never_told_more_finely_than_a_bucket() -> None:
    of = planned(claim(group(row("same"), metric="p99")))
    found = first_row(of, lines=samples(of, lambda c, _, __: 500.0 if c else 1000.0), told=True)
    assert found.verdict == "reproduced"
    expected = (2 * (1 - 1 / 128), 2 * (1 + 1 / 128))
    assert both_ends(found.ratio) == pytest.approx(expected, rel=1e-3)


# not testable here -------------------------------------------------------------------------------

ABSENT: list[tuple[Json, Json, str]] = [
    (group(row("same"), cores=16), {}, "needs 16 cores; this machine has 4"),
    (group(row("broken")), {}, "fast in read@mode=broken: unsupported: there is no such mode"),
    (group(row("unknown")), {}, "read@mode=unknown is not part of this run"),
    (group(row("same"), runners=["other"]), {}, "other is not part of this run"),
    (
        group(row("broken"), runners=["slow"]),
        {},
        "slow in read@mode=broken: missing: not selected for this run",
    ),
    (group(row("same"), metric="p99"), {"told": False}, "fast in read: p99 was not recorded"),
    (group(row("same", untestable="there is no such build")), {}, "there is no such build"),
]


@pytest.mark.parametrize(("asked", "changes", "reason"), ABSENT)
def test_what_cannot_be_tested_here_says_why(asked: Json, changes: Json, reason: str) -> None:
    found = single(claim(asked), **changes)
    assert (found.verdict, found.reason, found.ratio) == ("not testable here", reason, None)


def test_a_block_in_which_a_clock_stood_still_has_no_ratio() -> None:
    of = planned(claim(group(row("same"), metric="loop")))
    lines = samples(of, claim_runs.times(of))
    for line in lines[:2]:
        line["iteration_median_ns"] = 0
    found = first_row(of, lines, told=True)
    assert found.ratio
    assert 0 < found.blocks < claim_runs.BLOCKS


@pytest.mark.parametrize(
    ("of_one", "told"),
    [
        ({"iterations": 1}, "different numbers of operations"),
        ({"iterations": 2, "warmup_iterations": 1}, "different numbers of operations"),
        ({"iterations": 2, "warmup_ms": 60}, "warms up by time"),
    ],
)
def test_processes_that_did_different_work_are_not_compared(of_one: Json, told: str) -> None:
    fewer = {"read": {"fast": counts(50, **{"warmup_iterations": 0, **of_one})}}
    found = first_row({**planned(claim(group(row("same"), metric="wall"))), "counts": fewer})
    assert found.verdict == "not testable here"
    assert told in found.reason


def test_a_side_that_still_became_faster_is_not_compared() -> None:
    of = planned(claim(group(row("same")), group(row("same"), metric="cpu time")))

    def drift(line: Json) -> Json:
        warms = (line["case"], line["label"]) == ("read@mode=same", "fast")
        return {"drift": (0.9 if warms else 1.0) + line["block"] % 3 / 1000}

    lines = change(samples(of, claim_runs.times(of)), drift)
    timed, cpu = (group.rows[0] for group in by_plan(of, lines).groups)
    assert timed.verdict == "not testable here"
    told = "fast in read@mode=same was still warming up: its second half took 9.9 % less time"
    assert told in timed.reason
    assert cpu.verdict != "not testable here"


def iterating(
    base: int, new: int, case: str = "read@mode=same", *, writes: bool = True, **changes: Any
) -> Row:
    """A row of two cells with those operations in an iteration."""
    asked = group({"name": "a row", "published": 2.0}, new={"case": case}, **changes)
    of = planned(claim(asked))
    of["cases"] = [{**case, "writes": writes} for case in of["cases"]]
    of["counts"] = {name: {"fast": counts(n)} for name, n in (("read", base), (case, new))}
    return first_row(of, told=True)


@pytest.mark.parametrize("metric", ["steady", "loop", "p99", "max"])
def test_cells_that_did_other_numbers_of_operations_are_not_compared(metric: str) -> None:
    found = iterating(8000, 4000, metric=metric)
    assert (found.verdict, found.reason) == (
        "not testable here",
        "the two were given different numbers of operations in an iteration",
    )
    assert iterating(4000, 4000, metric=metric).ratio
    # what only reads leaves nothing behind
    assert iterating(8000, 4000, metric=metric, writes=False).ratio


def test_threads_that_each_do_the_same_are_compared() -> None:
    assert iterating(100, 200, "read@workers=2").ratio
    assert iterating(100, 300, "read@workers=2").verdict == "not testable here"


# the whole of a claim ----------------------------------------------------------------------------


def test_key_rows_decide() -> None:
    found = of(claim(group(row("same", key=True), row("turned"))))
    assert found.counts == {"reproduced": 1}
    assert sentences.outcome(found.counts) == "reproduced"
    assert found.lessons == [("reproduced", "Take the new one.")]


def test_without_key_rows_all_decide_and_each_word_has_its_lesson() -> None:
    beside = [row("small", None), row("small", None, untestable="nobody has the hardware")]
    found = of(claim(group(row("same"), row("noisy", 1.2), row("turned"), *beside)))
    assert found.decisive.name == "turned mode"
    assert sentences.outcome(found.counts) == "1 reproduced, 1 reversed, 1 not resolved"
    assert found.lessons == [
        ("reproduced", "Take the new one."),
        ("reversed", "Keep the old one."),
        ("not resolved", "It is unknown."),
    ]


def test_an_effect_has_its_lesson_by_its_size() -> None:
    none = group(row("huge", 1.0), expects="no effect", tolerance=1.05)
    larger = {**claim_runs.LESSONS, "larger": "Take it at once."}
    taught = [
        of(claim(group(row("huge")))),
        of(claim(group(row("huge")), lessons=larger)),
        of(claim(none, lessons=larger)),
        of(claim(group(row("equal", 1.5)))),
    ]
    assert [one.lessons for one in taught] == [
        [("larger than published", "Take the new one, for less.")],
        [("larger than published", "Take it at once.")],
        [("larger than published", "Keep the old one.")],
        [("no effect", "Keep the old one.")],
    ]


def test_a_measurement_that_two_rows_show_decides_once() -> None:
    twice = [row("same"), row("same", name="again"), row("same", name="key", key=True)]
    found = of(claim(group(*twice), group(row("same", name="there"), title="Elsewhere")))
    assert found.counts == {"reproduced": 1}
    key = "Reads: times as fast in the mode: key"
    assert [one.repeats for part in found.groups for one in part.rows] == [key, key, "", key]
    # by another metric it is another measurement
    other = group(row("same"), metric="p99")
    assert of(claim(group(row("same")), other)).counts == {"reproduced": 2}


def test_the_headline_counts_the_rows_that_decide() -> None:
    second = claim(group(row("turned")), name="second", title="Another")
    report = analyse(make(claim(group(row("same"))), second))
    assert report.kind == "claims"
    assert headline(report) == ["2 figures decide 2 published claims: 1 reproduced, 1 reversed."]
    first = report.claims[0].decisive
    assert (first.name, first.published) == ("same mode", 2.0)


def test_a_row_that_refutes_decides_before_those_that_agree() -> None:
    def decisive(*modes: str) -> str:
        return of(claim(group(*map(row, modes)))).decisive.name

    assert decisive("same", "small") == decisive("small", "same") == "small mode"
    assert decisive("small", "huge", "turned") == "turned mode"
    assert decisive("broken", "same") == "same mode"
    untestable = of(claim(group(row("same"), cores=16)))
    assert untestable.decisive.published == 2.0
    assert outcome(untestable) == (
        "same mode (Reads): not testable here: needs 16 cores; this machine has 4."
    )
    several = claim(group(row("small"), row("same")), group(row("huge"), cores=16, title="More"))
    assert outcome(of(several)) == (
        "small mode (Reads), fast: smaller than published: 1.103\u00d7 [1.093, 1.113] here, "
        "published 2.00\u00d7. Of 3 rows that decide: 1 reproduced, 1 smaller, 1 "
        "not testable. Not testable: needs 16 cores; this machine has 4."
    )


def test_this_machine_and_the_runners_of_the_claim_are_named() -> None:
    assert of(claim(group(row("same")))).here == [
        "4 cores, A processor, A system",
        "fast: fast 1.0, fast-sqlite 2.0, SQLite 3.51.0",
    ]


# tables ------------------------------------------------------------------------------------------


def test_a_ranking_is_fastest_first_and_names_what_is_missing() -> None:
    (found,) = of().rankings
    assert [(p.label, p.runner) for p in found.places] == [
        ("mode=same", "fast"),
        ("mode=none", "fast"),
        ("mode=same", "slow"),
        ("mode=none", "slow"),
    ]
    assert ends(found) == (
        "Least time end to end: mode=same on fast (1.00\u202fms); most: mode=none on "
        "slow (3.99\u202fms), so the least is 75 % less. These are medians; their order has no "
        "verdict."
    )
    assert found.problems == [
        "fast in read@mode=broken: unsupported: there is no such mode",
        "slow in read@mode=broken: missing: not selected for this run",
    ]
    first = found.places[0]
    assert (first.cpus, first.spread, first.skew) == ({"0": 0.9, "1": 0.5}, 1.25, 50_000)
    assert (first.busy, first.pacing) == (None, None)


def test_cpu_time_and_context_switches_are_of_an_operation_of_all_iterations() -> None:
    of = planned(claim_runs.EVERYTHING)
    # 4 iterations of 100 operations
    of["counts"] = {name: {"fast": counts(100, iterations=4)} for name in claim_runs.TIMES}
    # of an iteration
    switches = {"switches_voluntary": 200, "switches_involuntary": 5}
    lines = change(samples(of, claim_runs.times(of)), lambda _: switches)
    found = by_plan(of, lines, told=True)
    place, point = found.rankings[0].places[1], found.threads[0].lines[0].points[1]
    assert (place.label, point.threads) == ("mode=none", 2)
    assert place.load.cpu == pytest.approx(1000, rel=0.02)
    assert point.load.cpu == pytest.approx(520, rel=0.02)
    for load in (place.load, point.load):
        assert (load.voluntary, load.involuntary) == pytest.approx((2.0, 0.05))


def test_a_writer_and_its_pace_stand_in_a_ranking() -> None:
    of = planned(claim_runs.EVERYTHING)
    lines = samples(of, claim_runs.times(of))
    for number, line in enumerate(lines):
        busy = 0.3 if number % 12 == 0 else 0.0
        line |= {"writer_p99_ns": 7, "busy": busy, "pacing_ns": 900}
    places = by_plan(of, lines, told=True).rankings[0].places
    assert {sure(place.writer_p99).value for place in places} == {7}
    assert {place.pacing for place in places} == {900}
    # what befell few blocks is not lost in a median
    assert max(sure(place.busy) for place in places) > 0


def test_points_beyond_the_cores_are_marked() -> None:
    (found,) = of().threads
    assert found.rates
    assert [line.label for line in found.lines] == ["fast", "slow"]
    assert [(p.threads, p.over) for p in found.lines[0].points] == [
        (1, False),
        (2, False),
        (4, False),
        (8, True),
    ]
    assert found.lines[0].points[0].value.value == pytest.approx(1e6, rel=0.02)


def test_threads_are_those_of_all_processes() -> None:
    table = {"title": "T", "metric": "p99", "kind": "scaling", "runners": ["fast"]}
    tables = [{**table, "cases": ["read", "read@workers=2"]}]
    of = planned(claim(group(row("same")), tables=tables))
    of["cases"] = [{**case, "processes": 2} for case in of["cases"]]
    (found,) = by_plan(of, told=True, machine={"cores": "2"}).threads
    assert [(p.threads, p.over) for p in found.lines[0].points] == [(2, False), (4, True)]
    assert not found.rates
    assert found.lines[0].points[0].value.value == pytest.approx(2000, rel=0.02)


def test_histograms_hold_every_operation_of_the_cell() -> None:
    plain, steps = of().histograms
    assert [cell.label for cell in plain.cells] == ["mode=none", "mode=huge"]
    assert plain.step is None
    assert steps.step == 500
    assert [sum(n for *_, n in c.buckets) for c in plain.cells] == [12_000, 12_000]
    low, high, _ = plain.cells[0].buckets[0]
    assert 900 < low <= high < 1000
    without = of(told=False).histograms[0]
    assert not without.cells
    assert without.problems[0] == "fast in read: latencies were not recorded"


def test_a_record_that_is_no_detail_is_named() -> None:
    of, db = runs.plan(["node", "bun"]), runs.empty()
    details = [{"position": 1, "latencies": [(5, 1)]}]
    run = runs.filled(db, of, runs.checks(of), samples(of, runs.noisy()), {}, details=details)
    db.execute("UPDATE detail SET record = '{\"launch\": {}}'")
    with refused(r"detail of sample 2: \$\.launch\.processes: Field"):
        read(db, run, {})
