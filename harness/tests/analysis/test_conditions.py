"""What a report shows of the machine around a block."""

from typing import Any

import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.provenance import block_seconds, passed
from sqlitmus.machine.conditions import Conditions
from sqlitmus.render.document.sentences import definition
from sqlitmus.results.notices import Block, Taken
from sqlitmus.store.file import Block as Recorded
from tests.analysis.runs import case, checks, from_records, make, noisy, plan, samples


def recorded(before: dict[str, Any], after: dict[str, Any], **changes: Any) -> Recorded:
    """Block 4, ten seconds long."""
    return Recorded.model_validate(
        {
            "block": 4,
            "before": Conditions(monotonic_ns=5_000_000_000, **before),
            "after": Conditions(monotonic_ns=15_000_000_000, **after),
            **changes,
        }
    )


def test_a_block_is_told_in_shares_of_its_time() -> None:
    before = {
        "probe_ns": 30,
        "load_average": 0.5,
        "cpu_pressure_us": 1_000_000,
        "io_pressure_us": 500,
        "cpu_ticks": 1000,
        "steal_ticks": 10,
        "throttle_count": 3,
    }
    after = {
        "probe_ns": 40,
        "load_average": 1.5,
        "cpu_pressure_us": 3_000_000,
        "io_pressure_us": 500,
        "cpu_ticks": 3000,
        "steal_ticks": 110,
        "throttle_count": 4,
    }
    assert passed(recorded(before, after)) == Block(
        number=4,
        probe_ns=40,
        steal=0.05,
        cpu_pressure=0.2,
        io_pressure=0.0,
        load=1.5,
        throttled=True,
    )


def test_the_slower_of_the_two_probes_counts_and_one_is_enough() -> None:
    assert passed(recorded({"probe_ns": 50}, {"probe_ns": 40})).probe_ns == 50
    assert passed(recorded({"probe_ns": 50}, {})).probe_ns == 50


def test_a_system_that_tells_nothing_is_told_as_that() -> None:
    found = passed(recorded({}, {}))
    assert found == Block(4, None, None, None, None, None, None)


def test_a_block_takes_as_long_as_one_that_had_all_cases() -> None:
    lasted = {0: 20, 1: 25, 2: 90, 3: 2, 4: 2, 5: 2, 6: 2}
    blocks = [
        recorded({}, {}, block=number).model_copy(
            update={"after": Conditions(monotonic_ns=(5 + seconds) * 10**9)}
        )
        for number, seconds in lasted.items()
    ]
    short = make(plan(blocks=7)).plan.model_copy(update={"ended": {"get-pk": 3}})
    assert block_seconds(blocks, short) == 25
    assert block_seconds(blocks[:3], short.model_copy(update={"ended": {}})) == 25
    assert block_seconds(blocks[3:], short) is None


def turned(**changes: Any) -> RunData:
    """A run of three runners in which others took 1, 2, 3 or 40 % of a process and, in one set of
    four, a fifth of the rounds."""
    of = plan(blocks=4, canary=None, cases=[case("read")], **changes)
    lines = samples(of, noisy())
    for line in lines:
        if "block" in line:
            line["lost"] = [0.01, 0.02, 0.03, 0.4][line["block"]]
            line["left_out"] = 0.2 if line["block"] == 3 else 0.0
    return from_records(of, checks(of), lines, {})


def test_what_others_took_is_told_of_all_processes_and_sets() -> None:
    report = analyse(turned())
    assert report.taken == Taken(median=0.025, most=0.4, left_out=0.05)
    assert definition(report).endswith(
        "Only what other programs took from a thread in turns is left out: 2.50 % of the median "
        "process, 40.0 % at most, and 5.00 % of rounds as a whole."
    )
    figures = report.cases[0].cells[1].figures
    assert [figures[name].value for name in ("lost", "left_out")] == pytest.approx([0.115, 0.05])


def test_a_time_is_defined_where_all_of_it_counts_whatever_is_known_of_others() -> None:
    unknown = analyse(make(plan()))
    assert unknown.taken is None
    assert definition(unknown).startswith("The time per operation is all time of steady work over")
    assert definition(unknown).endswith("from a thread in turns is left out.")
    # that of a whole process is no such time
    assert definition(analyse(make(plan(cases=[case("start", metric="cold")])))) == ""
