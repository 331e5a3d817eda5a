"""What an open loop reports of stalls that the harness made."""

from math import ceil

import pytest
from hypothesis import given, strategies as st

from sqlitmus.run.verify.prober import Life
from sqlitmus.run.verify.stalls import OPERATIONS, RATE, Loop, Stalls, least_late, loops_of
from tests.known import KNOWN, case_of
from tests.run.made import ended, histogram

PLANNED_S = (OPERATIONS - 1) / RATE
LIFE = Life(0.0, 1.3, [(n / 5 + 0.1, n / 5 + 0.2) for n in range(6)])
RATED = Loop("rate", None, writer=False, together=False)


def latencies(life: Life, begun: float, *, rate: float = RATE, offset: float = 0.0) -> list[float]:
    """Those of operations planned from `begun` on that take no time, in seconds: what is planned in
    a stop ends with it."""
    planned = [begun + (n + offset) / rate for n in range(ceil(PLANNED_S * rate) + 1)]
    return [max((b - at for a, b in life.stops if a <= at < b), default=0.0) for at in planned]


def judged(
    *workers: list[float] | None,
    life: Life = LIFE,
    loop: Loop = RATED,
    iteration_ns: int = 500_000_000,
) -> tuple[object, str]:
    """The verdict on workers with these latencies, the last one a writer if the loop has any."""
    role = ["worker"] * len(workers)
    if loop.writer:
        role[-1] = "writer"
    counts = {"operations": OPERATIONS, "rows": OPERATIONS, "checksum": 0}
    times = {"iterations_ns": [iteration_ns]}
    each = [
        {"role": of, "latencies": None if seen is None else histogram(*seen), **counts, **times}
        for of, seen in zip(role, workers, strict=True)
    ]
    outcome, reason = Stalls(loop, {}).judged(ended(**times, workers=each), life)
    return outcome, reason or ""


@given(
    gaps=st.lists(st.tuples(st.floats(0.01, 0.3), st.floats(0.0, 0.2)), max_size=6),
    rest_s=st.floats(0.0, 0.5),
    begun=st.floats(0.0, 1.0),
    late_s=st.floats(0.001, 0.15),
    rate=st.floats(100, 2000),
    offset=st.floats(0.0, 1.0),
)
def test_an_honest_loop_is_never_below_what_must_be_late(
    gaps: list[tuple[float, float]],
    rest_s: float,
    begun: float,
    late_s: float,
    rate: float,
    offset: float,
) -> None:
    now, stops = 0.0, list[tuple[float, float]]()
    for running, stopped in gaps:
        stops.append((now + running, now + running + stopped))
        now = stops[-1][1]
    life = Life(0.0, now + PLANNED_S + rest_s, stops)
    at = begun * (life.ended - PLANNED_S)
    late = sum(s >= late_s - 1e-9 for s in latencies(life, at, rate=rate, offset=offset))
    assert late >= least_late(life, PLANNED_S, late_s, rate)


def test_two_stops_of_a_tenth_of_a_second_make_a_hundred_operations_half_as_late() -> None:
    # in 499 ms lie 99 of their 50 ms each, with an operation less in each of 3 and at the begin
    assert least_late(LIFE, PLANNED_S, 0.05, RATE) == 99 - 3 - 1
    assert least_late(Life(0.0, 1.0, []), PLANNED_S, 0.05, RATE) == 0


@pytest.mark.parametrize("begun", [0.0, 0.1, 0.137, 0.3])
def test_latencies_from_planned_times_are_ok(begun: float) -> None:
    assert judged(latencies(LIFE, begun), iteration_ns=495_000_000) == ("ok", "")


@pytest.mark.parametrize(
    ("cap_s", "share", "late_ms"),
    [
        (0.0, 1.0, 10),  # from the actual start
        (0.065, 1.0, 70),
        (1.0, 0.5, 20),
    ],
)
def test_latencies_that_lack_a_stall_are_failed(cap_s: float, share: float, late_ms: int) -> None:
    outcome, reason = judged([min(share * each, cap_s) for each in latencies(LIFE, 0.137)])
    assert outcome == "failed"
    assert reason.startswith("its process was stopped 6 times for 100 ms, so at least ")
    assert f"planned operations came {late_ms} ms late, and its worker 0 reports " in reason
    assert reason.endswith(" of these: is latency counted from the actual start?")


def test_each_planned_thread_is_judged_and_no_other() -> None:
    honest, dishonest = latencies(LIFE, 0.2), [0.0] * OPERATIONS
    both = RATED._replace(writer=True)
    assert judged(honest, honest, loop=both) == ("ok", "")
    assert "its writer 1 reports 0" in judged(honest, dishonest, loop=both)[1]
    alone = both._replace(planned="")
    assert judged(dishonest, honest, loop=alone) == ("ok", "")


def test_what_is_not_reported_or_did_not_wait_is_failed() -> None:
    honest = latencies(LIFE, 0.2)
    words = "its {} reports no latencies, which were asked for"
    assert judged(None) == ("failed", words.format("worker 0"))
    timed = judged(honest, loop=RATED._replace(thread="main"))
    assert timed == ("failed", words.format("timer"))
    assert judged() == ("failed", words.format("result"))
    short = Life(0.0, 0.2, LIFE.stops[:1])
    assert judged([0.0], life=short) == ("failed", "its process lived 0.2 s; 0.5 s were planned")
    asked = "whether its latencies count from planned times (an open loop by a rate)"
    hardly = Life(0.0, 5.0, [(1.0, 1.1)])
    assert judged([0.0] * OPERATIONS, life=hardly) == (
        None,
        f"the machine is too busy to see {asked}",
    )
    outcome, reason = judged(honest, iteration_ns=250_000_000)
    assert outcome == "failed"
    assert reason == (
        "its iteration reports 0.25 s for operations that were planned over 0.499 s: its clock or "
        "its times are wrong"
    )


def test_loops_are_those_of_cases_that_take_no_turns() -> None:
    names = ["service-mixed", "service-event-loop@thread=worker", "writer-and-readers"]
    more = ["service-writers", "get-pk", "startup-noop"]
    cases = [*map(case_of, [*names, *more])]
    loops = loops_of(cases, KNOWN, ["core", "workers", "load"])
    assert {loop: [case.id for case in of] for loop, of in loops.items()} == {
        Loop("rate", None, writer=True, together=False): names[:1],
        Loop("rate", "worker", writer=False, together=False): names[1:2],
        Loop("rate", None, writer=True, together=True): names[2:],
        Loop("rate", None, writer=False, together=True): more[:1],
    }
    assert loops_of(cases, KNOWN, ["core", "workers"]) == {}
