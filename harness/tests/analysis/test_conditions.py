"""What a report shows of the machine around a block."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.provenance import block_seconds, passed
from sqlitmus.machine.conditions import Conditions
from sqlitmus.render.document.parts import in_words
from sqlitmus.render.document.sentences import definition
from sqlitmus.results.report import Block, Report, Taken
from sqlitmus.store.file import Block as Recorded
from tests import worded
from tests.analysis import runs


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
    looks = {
        "probe_ns": (30, 40),
        "load_average": (0.5, 1.5),
        "cpu_pressure_us": (1_000_000, 3_000_000),
        "io_pressure_us": (500, 500),
        "cpu_ticks": (1000, 3000),
        "steal_ticks": (10, 110),
        "throttle_count": (3, 4),
    }
    before, after = ({name: pair[n] for name, pair in looks.items()} for n in (0, 1))
    shares = {"steal": 0.05, "cpu_pressure": 0.2, "io_pressure": 0.0}
    assert passed(recorded(before, after)) == Block(4, 40, load=1.5, throttled=True, **shares)


def test_the_slower_of_the_two_probes_counts_and_one_is_enough() -> None:
    assert passed(recorded({"probe_ns": 50}, {"probe_ns": 40})).probe_ns == 50
    assert passed(recorded({"probe_ns": 50}, {})) == Block(4, 50, None, None, None, None, None)
    assert passed(recorded({}, {})).probe_ns is None


def test_a_block_takes_as_long_as_one_that_had_all_cases() -> None:
    lasted = {0: 20, 1: 25, 2: 90, 3: 2, 4: 2, 5: 2, 6: 2}
    blocks = [
        recorded({}, {}, block=number).model_copy(
            update={"after": Conditions(monotonic_ns=(5 + seconds) * 10**9)}
        )
        for number, seconds in lasted.items()
    ]
    short = runs.make(runs.plan(blocks=7)).plan.model_copy(update={"ended": {"get-pk": 3}})
    assert block_seconds(blocks, short) == 25
    assert block_seconds(blocks[:3], short.model_copy(update={"ended": {}})) == 25
    assert block_seconds(blocks[3:], short) is None


def turned(**changes: Any) -> runs.RunData:
    """A run of three runners in which others took 1, 2, 3 or 40 % of a process and, in one set of
    four, a fifth of the rounds."""
    of = runs.plan(blocks=4, canary=None, cases=[runs.case("read")], **changes)
    lost, left_out = [0.01, 0.02, 0.03, 0.4], [0.0, 0.0, 0.0, 0.2]
    lines = runs.change(
        runs.samples(of, runs.noisy()),
        lambda line: {"lost": lost[line["block"]], "left_out": left_out[line["block"]]},
    )
    return runs.make(of, lines=lines)


def test_what_others_took_is_told_of_all_processes_and_sets() -> None:
    report = runs.analyse(turned())
    assert report.taken == Taken(median=0.025, most=0.4, left_out=0.05)
    assert definition(report).endswith(
        "Only what other programs took from a thread in turns is left out: 2.5 % of the median "
        "process, 40.0 % at most, and 5.0 % of rounds as a whole."
    )
    figures = report.cases[0].cells[1].figures
    assert [figures[name].value for name in ("lost", "left_out")] == pytest.approx([0.115, 0.05])


def test_a_time_is_defined_where_all_of_it_counts_whatever_is_known_of_others() -> None:
    unknown = runs.analyse(runs.make(runs.plan()))
    assert unknown.taken is None
    assert definition(unknown).startswith("The time per operation is all time of steady work over")
    assert definition(unknown).endswith("from a thread in turns is left out.")
    # that of a whole process is no such time
    assert (
        definition(runs.analyse(runs.make(runs.plan(cases=[runs.case("start", metric="cold")]))))
        == ""
    )


FULL = [["journal_mode", "WAL"], ["synchronous", "FULL"]]
NODE, BUN = "node", "bun"


def counted(
    profile: str, *, of: int = 10, ids: tuple[str, ...] = ("insert",), **calls: int
) -> Report:
    """A report of writes in which `of` transactions of a runner made so many calls of fsync."""
    pragmas = {"durable": FULL, "shipped": [], "normalised": [["synchronous", "NORMAL"]]}[profile]
    planned = runs.plan(
        cases=[runs.case(i, axes={"profile": profile}, pragmas=pragmas) for i in ids]
    )
    verify = runs.checks(planned)
    for runner, fsync in calls.items():
        syncs: runs.Json = {"transactions": of, "fsync": fsync, "fdatasync": 0, "bytes": 41_000}
        verify = runs.change(verify, {"syncs": syncs}, runner=runner.replace("_", "-"))
    return runs.analyse(runs.make(planned, verify=verify))


def facts(report: Report) -> list[tuple[str, dict[str, str], bool]]:
    return [
        (fact.group, fact.values, fact.differs)
        for fact in report.provenance
        if fact.name == "syncs per transaction"
    ]


COUNTED: dict[str, Callable[[], Report]] = {
    "durable, all equal": partial(counted, "durable", node=10, bun=10, rust_ffi=10),
    "shipped, all equal": partial(counted, "shipped", node=40, bun=40, rust_ffi=40),
    "durable, less than the floor": partial(counted, "durable", node=10, bun=40, rust_ffi=40),
    "durable, none, without the floor": partial(counted, "durable", node=9, bun=10),
    "durable, a floor that does not sync": partial(counted, "durable", node=10, rust_ffi=0),
    "checkpoints beside the commits": partial(counted, "durable", of=100, node=100, rust_ffi=106),
    "what promises no sync": partial(counted, "normalised", node=0, bun=3, rust_ffi=3),
    "shipped, none": partial(counted, "shipped", node=0, bun=40, rust_ffi=40),
    "shipped, fewer": partial(counted, "shipped", node=39, bun=40, rust_ffi=40),
    "shipped, more": partial(counted, "shipped", node=41, bun=40, rust_ffi=40),
    "two cases alike": partial(counted, "durable", ids=("insert", "update"), node=0, rust_ffi=10),
    "beside the profile": partial(counted, "shipped", node=40, rust_ffi=40),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_told_of_syncs(name: str, snapshot: SnapshotAssertion) -> None:
    report = COUNTED[name]()
    assert (worded.notices(report), facts(report)) == snapshot


def test_a_cell_without_a_time_is_not_told() -> None:
    planned = runs.plan(cases=[runs.case("insert", axes={"profile": "durable"}, pragmas=FULL)])
    syncs: runs.Json = {"transactions": 10, "fsync": 0, "fdatasync": 0, "bytes": 41_000}
    verify = runs.change(runs.checks(planned), {"syncs": syncs, "outcome": "wrong"}, runner=NODE)
    assert worded.notices(runs.analyse(runs.make(planned, verify=verify))) == []


def test_why_it_was_not_counted_is_told() -> None:
    planned = runs.plan(cases=[runs.case("insert", axes={"profile": "durable"}, pragmas=FULL)])
    verify = runs.change(runs.checks(planned), {"uncounted": "no C compiler found"}, runner=BUN)
    report = runs.analyse(runs.make(planned, verify=verify))
    assert in_words(report.cases[0]) == "not counted: no C compiler found: bun"
    assert facts(report) == [("Pragmas, profile durable", {BUN: "not counted"}, False)]
    assert worded.notices(report) == []


def test_runs_from_before_it_was_counted_say_nothing() -> None:
    report = runs.analyse(runs.make())
    assert facts(report) == []
    assert [in_words(one) for one in report.cases] == ["", ""]
