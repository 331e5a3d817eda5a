"""What a report shows of the machine around a block, and of the syncs that were counted."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document.parts import in_words
from sqlitmus.render.document.sentences import definition
from tests import worded
from tests.analysis import runs

SECOND = 10**9


def looked(block: int = 4, seconds: int = 10, **looks: tuple[Any, Any]) -> runs.Json:
    """A block, and what a look before it and one after it saw."""
    before, after = ({k: v[n] for k, v in looks.items() if v[n] is not None} for n in (0, 1))
    return {
        "block": block,
        "before": {"monotonic_ns": 5 * SECOND, **before},
        "after": {"monotonic_ns": (5 + seconds) * SECOND, **after},
    }


def test_a_block_is_told_in_shares_of_its_time_and_by_the_slower_probe() -> None:
    blocks = [
        looked(
            probe_ns=(30, 40),
            load_average=(0.5, 1.5),
            cpu_pressure_us=(1_000_000, 3_000_000),
            io_pressure_us=(500, 500),
            cpu_ticks=(1000, 3000),
            steal_ticks=(10, 110),
            throttle_count=(3, 4),
        ),
        looked(5, probe_ns=(50, 40)),
        looked(6, probe_ns=(50, None)),
        looked(7),
    ]
    first, *others = map(asdict, runs.report(blocks=blocks).blocks)
    shares = {"steal": 0.05, "cpu_pressure": 0.2, "io_pressure": 0.0}
    assert first == {"number": 4, "probe_ns": 40, "load": 1.5, "throttled": True, **shares}
    none = dict.fromkeys(["load", "throttled", *shares])
    assert others == [
        {"number": number, "probe_ns": probe, **none}
        for number, probe in ((5, 50), (6, 50), (7, None))
    ]


@pytest.mark.parametrize(
    ("settled", "seen", "seconds"),
    [(3, range(7), 25.0), (None, range(3), 25.0), (3, range(3, 7), None)],
)
def test_a_block_takes_as_long_as_one_that_had_all_cases(
    settled: int | None, seen: range, seconds: float | None
) -> None:
    lasted = [20, 25, 90, 2, 2, 2, 2]
    ended = [{"blocks": settled, "settled": ["get-pk"], "until": 7}] if settled else []
    preset = {"title": "", "summary": "", "calls": {"get-pk": 1}}
    report = runs.report(
        runs.plan(blocks=7, looks=2),
        blocks=[looked(number, lasted[number]) for number in seen],
        looks=ended,
        presets={"reads": preset},
    )
    (again,) = (each.again for each in report.headline if each.kind == "weighed")
    assert again.block_s == seconds


def test_what_others_took_is_told_of_all_processes_and_sets() -> None:
    """Others took 1, 2, 3 or 40 % of a process and, in one set of four, a fifth of the rounds."""
    lost, left_out = [0.01, 0.02, 0.03, 0.4], [0.0, 0.0, 0.0, 0.2]
    report = runs.report(
        runs.plan(blocks=4, canary=None, cases=[runs.case("read")]),
        sampled=[({}, runs.by_block(lost=lost, left_out=left_out))],
    )
    assert definition(report).endswith(
        "Only what other programs took from a thread in turns is left out: 2.5 % of the median "
        "process, 40.0 % at most, and 5.0 % of rounds as a whole."
    )
    figures = report.cases[0].cells[1].figures
    assert [figures[name].value for name in ("lost", "left_out")] == pytest.approx([0.115, 0.05])


def test_a_time_is_defined_where_all_of_it_counts_whatever_is_known_of_others() -> None:
    unknown = definition(runs.report())
    assert unknown.startswith("The time per operation is all time of steady work over")
    assert unknown.endswith("from a thread in turns is left out.")
    # that of a whole process is no such time
    assert definition(runs.report(runs.plan(cases=[runs.case("start", metric="cold")]))) == ""


FULL = [["journal_mode", "WAL"], ["synchronous", "FULL"]]
PRAGMAS = {"durable": FULL, "shipped": [], "normalised": [["synchronous", "NORMAL"]]}


def counted(
    profile: str,
    *,
    of: int = 10,
    ids: tuple[str, ...] = ("insert",),
    also: runs.Json | None = None,
    **calls: int,
) -> runs.Report:
    """A report of writes in which `of` transactions of a runner made so many calls of fsync."""
    case = {"axes": {"profile": profile}, "pragmas": PRAGMAS[profile]}
    syncs: runs.Json = {"transactions": of, "fdatasync": 0, "bytes": 41_000}
    checked: runs.Changes = [
        ({"runner": runner.replace("_", "-")}, {"syncs": {**syncs, "fsync": fsync}, **(also or {})})
        for runner, fsync in calls.items()
    ]
    return runs.report(runs.plan(cases=[runs.case(i, **case) for i in ids]), checked=checked)


UNCOUNTED = {"syncs": None, "uncounted": "no C compiler found"}
COUNTED: dict[str, Callable[[], runs.Report]] = {
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
    "a cell without a time": partial(counted, "durable", node=0, also={"outcome": "wrong"}),
    "not counted": partial(counted, "durable", bun=0, also=UNCOUNTED),
    "from before it was counted": partial(counted, "durable"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_told_of_syncs(name: str, snapshot: SnapshotAssertion) -> None:
    report = COUNTED[name]()
    facts = [
        f"{'≠' if fact.differs else '='} {fact.group}: {fact.values}"
        for fact in report.provenance
        if fact.name == "syncs per transaction"
    ]
    assert [*facts, in_words(report.cases[0]), *worded.notices(report)] == snapshot
