"""Conditions at the ends of a block, and rates between them."""

import os
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machine import conditions
from sqlitmus.machine.conditions import Conditions, Rates, difference
from tests.machine.linux import LAPTOP, build


def test_one_look_at_a_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 0.0, 0.0))
    battery = Plugged(power_plugged=False)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    now = conditions.read(31_000_000, build(tmp_path, LAPTOP))
    assert now.model_dump(exclude={"monotonic_ns"}) == {
        "probe_ns": 31_000_000,
        "load_average": 1.5,
        "cpu_pressure_us": 3711,
        "io_pressure_us": 42,
        "memory_pressure_us": 7,
        "cpu_ticks": 1135,
        "steal_ticks": 4,
        "context_switches": 777,
        "throttle_count": 6,
        "frequency_khz": 4_000_000,
        "on_battery": True,
    }


class Plugged:
    """A battery's answer."""

    def __init__(self, *, power_plugged: bool | None) -> None:
        self.power_plugged = power_plugged


@pytest.mark.parametrize(
    ("battery", "expected"),
    [
        (None, False),
        (Plugged(power_plugged=True), False),
        (Plugged(power_plugged=False), True),
        (Plugged(power_plugged=None), None),
    ],
)
def test_batteries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, battery: object, expected: bool | None
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert conditions.read(root=tmp_path).on_battery is expected


def test_a_system_that_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg", raising=False)
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    now = conditions.read(root=tmp_path)
    assert set(now.model_dump(exclude_none=True)) == {"monotonic_ns"}
    later = now.model_copy(update={"monotonic_ns": now.monotonic_ns + 10**9})
    assert difference(now, later) == Rates(seconds=1.0)


BEFORE = Conditions(
    monotonic_ns=10**9,
    probe_ns=30_000_000,
    load_average=0.1,
    cpu_pressure_us=1_000,
    io_pressure_us=0,
    memory_pressure_us=5,
    cpu_ticks=1_000,
    steal_ticks=10,
    context_switches=50,
    throttle_count=3,
    frequency_khz=4_000_000,
    on_battery=False,
)


def test_rates_of_a_block() -> None:
    after = Conditions(
        monotonic_ns=5 * 10**9,
        probe_ns=33_000_000,
        load_average=1.25,
        cpu_pressure_us=401_000,
        io_pressure_us=2_000_000,
        memory_pressure_us=5,
        cpu_ticks=1_800,
        steal_ticks=50,
        context_switches=8_050,
        throttle_count=4,
        frequency_khz=3_000_000,
        on_battery=True,
    )
    assert difference(BEFORE, after) == Rates(
        seconds=4.0,
        probe_ratio=1.1,
        load_average=1.25,
        cpu_pressure=0.1,
        io_pressure=0.5,
        memory_pressure=0.0,
        steal=0.05,
        context_switches_per_s=2_000.0,
        throttled=True,
        frequency_ratio=0.75,
        on_battery=True,
    )


def test_counters_that_fell_tell_nothing() -> None:
    after = BEFORE.model_copy(
        update={
            "monotonic_ns": 2 * 10**9,
            "cpu_pressure_us": 0,
            "steal_ticks": 9,
            "context_switches": 49,
            "throttle_count": 2,
        }
    )
    rates = difference(BEFORE, after)
    assert (rates.cpu_pressure, rates.steal) == (None, None)
    assert (rates.context_switches_per_s, rates.throttled) == (None, None)
    assert rates.io_pressure == 0.0


def test_a_share_is_never_above_one() -> None:
    later = {"monotonic_ns": BEFORE.monotonic_ns + 1_000_000, "cpu_pressure_us": 2_010}
    assert difference(BEFORE, BEFORE.model_copy(update=later)).cpu_pressure == 1.0


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (False, False, False),
        (True, False, True),
        (False, True, True),
        (None, True, True),
        (None, False, None),
        (None, None, None),
    ],
)
def test_the_battery_of_a_block(
    first: bool | None, second: bool | None, expected: bool | None
) -> None:
    looks = [BEFORE.model_copy(update={"on_battery": b}) for b in (first, second)]
    assert difference(*looks).on_battery is expected


COUNTS = st.none() | st.integers(0, 2**64 - 1)
LOOKS = st.builds(
    Conditions,
    monotonic_ns=st.integers(0, 2**63),
    load_average=st.none() | st.floats(0, 1e6),
    on_battery=st.none() | st.booleans(),
    **{
        name: COUNTS
        for name in Conditions.model_fields
        if name not in ("monotonic_ns", "load_average", "on_battery")
    },
)


@given(LOOKS, LOOKS)
def test_any_two_looks_have_rates_that_can_be_kept(before: Conditions, after: Conditions) -> None:
    rates = difference(before, after)
    for share in (rates.steal, rates.cpu_pressure, rates.io_pressure, rates.memory_pressure):
        assert share is None or 0 <= share <= 1
    assert Rates.model_validate_json(rates.model_dump_json()) == rates
    assert Conditions.model_validate_json(before.model_dump_json()) == before


def test_the_probe_is_a_fixed_amount_of_work_without_its_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0

    def work(iterations: int) -> None:
        nonlocal now
        now += iterations

    monkeypatch.setattr(conditions, "_work", work)
    monkeypatch.setattr(conditions.time, "perf_counter_ns", lambda: now)
    assert conditions.probe() == conditions.ITERATIONS
    assert now == conditions.WARM_UP + conditions.ITERATIONS


def test_the_probe_runs() -> None:
    assert conditions.probe() > 0
