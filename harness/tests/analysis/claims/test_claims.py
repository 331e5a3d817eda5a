"""Claims of a run: rows, verdicts, reasons, what cannot be tested here, the tables."""

from typing import Any

import pytest

from sqlitmus.analysis import analyse, from_records
from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.document import sentences
from sqlitmus.results.claims import Claim, Row
from tests.analysis import runs
from tests.analysis.claims import claim_runs
from tests.analysis.claims.claim_runs import claim, group, make, row
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
    assert found.ratio is not None
    return found.ratio.value


# verdicts ----------------------------------------------------------------------------------------


def test_each_row_has_its_verdict_and_why() -> None:
    found = {(row.name, row.runner): (row.verdict, row.reason) for row in rows()}
    assert found == {
        ("same mode", "fast"): ("reproduced", "1.59 to 2.83 counts as the same"),
        ("small mode", "fast"): (
            "same direction, different size",
            "smaller: 1.59 to 2.83 would count as the same",
        ),
        ("huge mode", "fast"): ("reversed", "an effect where none was published"),
        ("noisy mode", "fast"): ("not resolved", "the interval includes 1"),
        ("turned mode", "fast"): ("reversed", "the difference is the other way round here"),
        ("not published", "fast"): (None, ""),
        ("elsewhere", ""): ("not testable here", "nobody has the hardware"),
        ("equal mode", "fast"): (
            "reproduced",
            "within 0.952 to 1.05, which counts as no effect",
        ),
        ("slow against fast", "slow, fast"): ("reproduced", "1.59 to 2.83 counts as the same"),
    }


def test_a_ratio_is_base_over_new_and_both_times_stand_beside_it() -> None:
    found = single(claim(group(row("same"))))
    assert value(found) == pytest.approx(2.0, rel=0.02)
    assert found.base_time is not None
    assert found.new_time is not None
    assert found.base_time.value == pytest.approx(1000, rel=0.02)
    assert found.new_time.value == pytest.approx(500, rel=0.02)
    assert (found.base, found.new) == ("read/fast", "read@mode=same/fast")
    assert found.blocks == claim_runs.BLOCKS


def test_a_difference_is_judged_in_its_own_unit() -> None:
    half = 0.0005  # ms that the mode "same" saves
    saved = group(
        row("same", half, name="as published"),
        row("same", 2 * half, name="smaller"),
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
        "as published": ("reproduced", "0.000455 to 0.00055 ms counts as the same"),
        "smaller": (
            "same direction, different size",
            "smaller: 0.000909 to 0.0011 ms would count as the same",
        ),
        "larger": (
            "same direction, different size",
            "larger: 0.000227 to 0.000275 ms would count as the same",
        ),
        "turned": ("reversed", "the difference is the other way round here"),
        "noisy": ("not resolved", "the interval includes 0"),
        "far smaller": (
            "same direction, different size",
            "smaller: 455 to 550 ms would count as the same",
        ),
        "far larger": (
            "same direction, different size",
            "larger: 4.55e-10 to 5.5e-10 ms would count as the same",
        ),
        "not published": (None, ""),
    }
    for one in found.values():
        assert (one.ratio, one.rate) == (None, None)
    difference = found["as published"].difference
    assert difference is not None
    assert difference.value == pytest.approx(500, rel=0.02)
    assert difference.low is not None
    assert difference.high is not None
    assert 480 < difference.low < difference.value < difference.high < 520
    assert found["as published"].published == pytest.approx(500)


def test_files_are_compared_to_within_a_page() -> None:
    planned = claim_runs.planned(claim(group(row("same"), row("small"), metric="file")))
    sizes = {"read": 2_048_000, "read@mode=same": 1_024_000, "read@mode=small": 2_048_000}
    for case in planned["cases"]:
        case["database_bytes"] = sizes.get(case["id"], 4096)
    lines = runs.written(runs.samples(planned, claim_runs.times(planned)))
    run = from_records(planned, claim_runs.checked(planned), lines, {})
    half, same = analyse(run).claims[0].groups[0].rows
    assert half.ratio is not None
    assert half.ratio.value == pytest.approx(2)
    assert half.ratio.low == pytest.approx(2 * (1 - 4096 / 1_024_000), rel=1e-4)
    assert half.verdict == "reproduced"
    assert half.base_time is not None
    assert (half.base_time.value, half.rate) == (2_048_000, None)
    assert (same.verdict, same.reason) == ("not resolved", "the interval includes 1")


def test_a_group_is_measured_on_each_of_its_runners() -> None:
    found = rows(claim(group(row("same"), row("small"), runners=["fast", "slow"])))
    assert [(row.name, row.runner) for row in found] == [
        ("same mode", "fast"),
        ("same mode", "slow"),
        ("small mode", "fast"),
        ("small mode", "slow"),
    ]


def test_rows_of_all_claims_are_corrected_together() -> None:
    def reason(*claims: Json) -> str:
        planned = {**claim_runs.planned(*claims), "canary": None}
        lines = runs.written(runs.samples(planned, claim_runs.times(planned, 0.055)))
        run = from_records(planned, claim_runs.checked(planned), lines, {})
        return analyse(run).claims[0].groups[0].rows[0].reason

    weak = claim(group(row("small", 1.1)), name="weak")
    crowd = claim(group(*[row("noisy", 1.5, name=f"noisy {n}") for n in range(40)]), name="crowd")
    assert "counts as the same" in reason(weak)
    assert reason(weak, crowd) == "not resolved after the correction for all rows of the run"


def test_a_canary_that_differs_from_itself_guards_its_case() -> None:
    planned = claim_runs.planned(claim(group(row("small", 1.1))))
    usual, names = claim_runs.times(planned), [case["id"] for case in planned["cases"]]

    def time(case: int, label: str, block: int) -> float:
        biased = label == "canary" and names[case] == "read@mode=small"
        return usual(case, label, block) * (2 + block % 3 / 100 if biased else 1)

    lines = runs.written(runs.samples(planned, time))
    run = from_records(planned, claim_runs.checked(planned), lines, {})
    (found,) = analyse(run).claims[0].groups[0].rows
    assert (found.verdict, found.reason) == (
        "not resolved",
        "within what the canary did to itself",
    )


def test_a_canary_guards_a_difference_by_as_many_nanoseconds_as_it_differs() -> None:
    saved = group(row("small", 0.0001), row("same", 0.0005), compare="difference", tolerance=1.1)
    planned = claim_runs.planned(claim(saved))
    usual = claim_runs.times(planned)

    def time(case: int, label: str, block: int) -> float:
        return usual(case, label, block) * (1.3 + block % 3 / 100 if label == "canary" else 1)

    lines = runs.written(runs.samples(planned, time))
    run = from_records(planned, claim_runs.checked(planned), lines, {})
    # 30 % of 1000 ns are more than 100 ns and less than 500 ns
    assert [one.reason for one in analyse(run).claims[0].groups[0].rows] == [
        "within what the canary did to itself",
        "0.000455 to 0.00055 ms counts as the same",
    ]


def test_a_case_is_guarded_by_the_runner_that_its_figures_are_about() -> None:
    planned = claim_runs.planned(claim(group(row("same"), runners=["slow"])))
    usual = claim_runs.times(planned)

    def found(canaries: Json) -> tuple[str, str]:
        """The canary of "fast" takes three times its time, that of "slow" does not."""
        own = {**planned, "canaries": canaries}

        def time(case: int, label: str, block: int) -> float:
            times = 1.0 if label != "canary" else 2 if canaries else 3 + block % 3 / 100
            return usual(case, label, block) * times

        lines = runs.written(runs.samples(own, time))
        report = analyse(from_records(own, claim_runs.checked(own), lines, {}))
        whose = canary(report).partition(" against")[0]
        return report.claims[0].groups[0].rows[0].reason, whose

    assert found({}) == ("within what the canary did to itself", "Canary: fast")
    assert found(dict.fromkeys(claim_runs.TIMES, "slow")) == (
        "1.59 to 2.83 counts as the same",
        "Canary: the runner that a case's figures are about",
    )


def test_a_case_without_the_canary_has_the_worst_guard_of_those_with_it() -> None:
    planned = claim_runs.planned(claim(group(row("small", 1.1), runners=["slow"])))
    usual = claim_runs.times(planned)

    def time(case: int, label: str, block: int) -> float:
        return usual(case, label, block) * (3 + block % 3 / 100 if label == "canary" else 1)

    # the reference does only one case, in which its canary differs from it
    kept = [
        line
        for line in runs.samples(planned, time)
        if line.get("runner") != "fast" or line["case"] == "read@workers=8"
    ]
    quiet = [line for line in kept if line.get("label") != "canary"]
    verdicts: list[object] = []
    for lines in (kept, quiet):
        run = from_records(planned, claim_runs.checked(planned), runs.written(lines), {})
        verdicts.append(analyse(run).claims[0].groups[0].rows[0].reason)
    # without any canary nothing speaks against the intervals
    assert verdicts == ["within what the canary did to itself", "1.07 to 1.15 counts as the same"]


def sitting(sessions: int, *ratios: float) -> Row:
    """A row of 36 blocks whose ratio is another in each third."""
    planned: Json = claim_runs.planned(claim(group(row("same"))), blocks=36)
    planned["sessions"] = sessions
    usual, names = claim_runs.times(planned, 0.005), [case["id"] for case in planned["cases"]]

    def time(case: int, label: str, block: int) -> float:
        own = usual(case, label, block)
        return own / ratios[block // 12] if names[case] == "read@mode=same" else own

    lines = runs.written(runs.samples(planned, time))
    run = from_records(planned, claim_runs.checked(planned), lines, {})
    return analyse(run).claims[0].groups[0].rows[0]


def test_sessions_that_disagree_leave_a_claim_open() -> None:
    one, three = sitting(1, 0.45, 1.0, 1.4), sitting(3, 0.45, 1.0, 1.4)
    assert (one.verdict, three.verdict) == ("reproduced", "not resolved")
    assert three.reason == "the interval includes 1"
    assert three.blocks == 36


def test_sessions_that_agree_settle_a_claim() -> None:
    found = sitting(3, 1.0, 1.0, 1.0)
    assert found.verdict == "reproduced"
    assert value(found) == pytest.approx(2.0, rel=0.01)


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
    ("average", 1000.0, "operation"),
    ("p50", 1000.0, "operation"),
    ("p99", 2000.0, "operation"),
    ("p999", 4000.0, "operation"),
    ("max", 4000.0, "operation"),
]


@pytest.mark.parametrize(("metric", "base_ns", "unit"), METRICS)
def test_each_metric(metric: str, base_ns: float, unit: str) -> None:
    (found,) = of(claim(group(row("same"), metric=metric))).groups
    assert (found.metric, found.unit) == (metric, unit)
    base = found.rows[0].base_time
    assert base is not None
    assert base.value == pytest.approx(base_ns, rel=0.02)
    assert found.rows[0].verdict == "reproduced"


def test_time_per_row_is_of_the_rows_that_were_verified() -> None:
    planned = claim_runs.planned(claim(group(row("same"), per="row")))
    checks = [
        {**one, "rows": 5000 if one["case"] == "read" else 100}
        for one in claim_runs.checked(planned)
    ]
    lines = runs.written(runs.samples(planned, claim_runs.times(planned)))
    (found,) = analyse(from_records(planned, checks, lines, {})).claims[0].groups
    assert found.unit == "row"
    base, new = found.rows[0].base_time, found.rows[0].new_time
    assert base is not None
    assert new is not None
    assert base.value == pytest.approx(1000 / 50, rel=0.02)
    assert new.value == pytest.approx(500, rel=0.02)


def test_a_quantile_is_never_told_more_finely_than_a_bucket() -> None:
    planned = claim_runs.planned(claim(group(row("same"), metric="p99")))
    lines = runs.samples(planned, lambda c, _label, _block: 500.0 if c else 1000.0)
    details = claim_runs.details(lines)
    run = from_records(
        planned, claim_runs.checked(planned), runs.written(lines), {}, details=details
    )
    (found,) = analyse(run).claims[0].groups[0].rows
    assert found.verdict == "reproduced"
    assert found.ratio is not None
    assert found.ratio.low == pytest.approx(2 * (1 - 1 / 128), rel=1e-3)
    assert found.ratio.high == pytest.approx(2 * (1 + 1 / 128), rel=1e-3)


# not testable here -------------------------------------------------------------------------------

ABSENT: list[tuple[Json, Json, str]] = [
    (group(row("same"), cores=16), {}, "needs 16 cores; this machine has 4"),
    (
        group(row("broken")),
        {},
        "fast in read@mode=broken: unsupported: there is no such mode",
    ),
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
    planned = claim_runs.planned(claim(group(row("same"), metric="loop")))
    lines = runs.samples(planned, claim_runs.times(planned))
    details = [
        {**one, "loop_ns": 0} if n < 2 else one for n, one in enumerate(claim_runs.details(lines))
    ]
    run = from_records(
        planned, claim_runs.checked(planned), runs.written(lines), {}, details=details
    )
    (found,) = analyse(run).claims[0].groups[0].rows
    assert found.ratio is not None
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
    planned = claim_runs.planned(claim(group(row("same"), metric="wall")))
    planned["counts"] = {"read": {"fast": {"operations": 50, **of_one}}}
    lines = runs.written(runs.samples(planned, claim_runs.times(planned)))
    run = from_records(planned, claim_runs.checked(planned), lines, {})
    (found,) = analyse(run).claims[0].groups[0].rows
    assert found.verdict == "not testable here"
    assert told in found.reason


# the whole of a claim ----------------------------------------------------------------------------


def test_key_rows_decide() -> None:
    found = of(claim(group(row("same", key=True), row("turned"))))
    assert found.counts == {"reproduced": 1}
    assert sentences.outcome(found.counts) == "reproduced"
    assert found.lessons == [("reproduced", "Take the new one.")]


def test_without_key_rows_all_decide_and_each_word_has_its_lesson() -> None:
    beside = [row("small", None), row("small", None, untestable="nobody has the hardware")]
    found = of(claim(group(row("same"), row("noisy"), row("turned"), *beside)))
    assert sentences.outcome(found.counts) == "1 reproduced, 1 not resolved, 1 reversed"
    assert found.lessons == [
        ("reproduced", "Take the new one."),
        ("not resolved", "It cannot be told."),
        ("reversed", "Keep the old one."),
    ]


def test_the_headline_has_a_sentence_per_claim() -> None:
    second = claim(group(row("turned")), name="second", title="Another")
    report = analyse(make(claim(group(row("same"))), second))
    assert report.kind == "claims"
    assert headline(report) == ["A mode makes reads faster: reproduced.", "Another: reversed."]


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
    assert claimwords.ends(found) == (
        "Least time end to end: mode=same on fast (1.00\u202fms); most: mode=none on "
        "slow (3.99\u202fms), so the least is 75 % less. These are medians; their order has no "
        "verdict."
    )
    assert found.problems == [
        "fast in read@mode=broken: unsupported: there is no such mode",
        "slow in read@mode=broken: missing: not selected for this run",
    ]
    first = found.places[0]
    assert (first.cpus, first.cpu, first.spread, first.skew) == (
        {"0": 0.9, "1": 0.5},
        pytest.approx(1.4),
        1.25,
        50_000,
    )
    assert (first.busy, first.writer_busy, first.pacing) == (None, None, None)


def test_cpu_time_and_context_switches_are_of_an_operation_of_all_iterations() -> None:
    planned = claim_runs.planned(claim_runs.EVERYTHING)
    # 4 iterations of 100 operations
    planned["counts"] = {
        name: {"fast": {"operations": 100, "iterations": 4}} for name in claim_runs.TIMES
    }
    lines = runs.samples(planned, claim_runs.times(planned))
    details = claim_runs.details(lines)
    # of an iteration
    switches = {"switches_voluntary": 200, "switches_involuntary": 5}
    lines = runs.written({**line, **switches} if "case" in line else line for line in lines)
    run = from_records(planned, claim_runs.checked(planned), lines, {"cores": "4"}, details=details)
    (found,) = analyse(run).claims
    place, point = found.rankings[0].places[1], found.threads[0].lines[0].points[1]
    assert (place.label, point.threads) == ("mode=none", 2)
    assert place.load.cpu == pytest.approx(1000, rel=0.02)
    assert point.load.cpu == pytest.approx(520, rel=0.02)
    for load in (place.load, point.load):
        assert (load.voluntary, load.involuntary) == pytest.approx((2.0, 0.05))


def test_a_writer_and_its_pace_stand_in_a_ranking() -> None:
    planned = claim_runs.planned(claim_runs.EVERYTHING)
    lines = runs.samples(planned, claim_runs.times(planned))
    writer = {"mean": 5, "p50": 6, "p99": 7, "p999": 8, "max": 9, "buckets": [[5, 1]]}
    details = [
        {**one, "writer": writer, "busy": 3 if n % 12 == 0 else 0, "pacing_p99_ns": 900}
        for n, one in enumerate(claim_runs.details(lines))
    ]
    run = from_records(
        planned, claim_runs.checked(planned), runs.written(lines), {}, details=details
    )
    places = analyse(run).claims[0].rankings[0].places
    assert {place.writer_p99 and place.writer_p99.value for place in places} == {7}
    assert {(place.pacing, place.writer_busy) for place in places} == {(900, 0)}
    # what befell few blocks is not lost in a median
    assert max(place.busy or 0 for place in places) > 0
    assert None not in {place.busy for place in places}


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
    table = {
        "title": "T",
        "metric": "p99",
        "kind": "scaling",
        "cases": ["read", "read@workers=2"],
        "runners": ["fast"],
    }
    planned = claim_runs.planned(claim(group(row("same")), tables=[table]))
    for one in planned["cases"]:
        one["processes"] = 2
    lines = runs.samples(planned, claim_runs.times(planned))
    details = claim_runs.details(lines)
    run = from_records(
        planned,
        claim_runs.checked(planned),
        runs.written(lines),
        {"cores": "2"},
        details=details,
    )
    (found,) = analyse(run).claims[0].threads
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
