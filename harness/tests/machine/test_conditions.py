"""Conditions at the ends of a block, and rates between them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from sqlitmus.machine import conditions
from tests.machine.linux import LAPTOP, battery, build, look, rates


def test_one_look_at_a_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 0.0, 0.0))
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery(plugged=False), raising=False)
    assert look(build(tmp_path, LAPTOP), probe_ns=31_000_000) == {
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


def test_batteries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    for seen in (None, *(battery(plugged=plugged) for plugged in (True, False, None))):
        monkeypatch.setattr(psutil, "sensors_battery", lambda seen=seen: seen, raising=False)
        told.append(look(tmp_path).get("on_battery"))
    assert told == [False, False, True, None]


@pytest.mark.parametrize("folders", [{}, LAPTOP], ids=["no files", "folders in their place"])
def test_a_system_that_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: dict[str, str]
) -> None:
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.delattr(os, "getloadavg", raising=False)
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert look(tmp_path) == {}


BEFORE: dict[str, Any] = {
    "monotonic_ns": 10**9,
    "cpu_pressure_us": 1_000,
    "io_pressure_us": 0,
    "memory_pressure_us": 5,
    "cpu_ticks": 1_000,
    "steal_ticks": 10,
    "throttle_count": 3,
    "on_battery": False,
}
AFTER: dict[str, Any] = {
    "monotonic_ns": 5 * 10**9,
    "load_average": 1.25,
    "cpu_pressure_us": 401_000,
    "io_pressure_us": 2_000_000,
    "cpu_ticks": 1_800,
    "steal_ticks": 50,
    "throttle_count": 4,
    "on_battery": True,
}
RATES: dict[str, Any] = {
    "seconds": 4.0,
    "load_average": 1.25,
    "cpu_pressure": 0.1,
    "io_pressure": 0.5,
    "memory_pressure": 0.0,
    "steal": 0.05,
    "throttled": True,
    "on_battery": True,
}
FELL = {"cpu_pressure_us": 0, "steal_ticks": 9, "throttle_count": 2}


@pytest.mark.parametrize(
    ("later", "told"),
    [
        ({}, RATES),
        ({"throttle_count": 3}, {**RATES, "throttled": False}),
        (FELL, {**RATES, "cpu_pressure": None, "steal": None, "throttled": None}),
        ({"cpu_ticks": 1_000}, {**RATES, "steal": None}),
        ({"cpu_pressure_us": 4_001_001}, {**RATES, "cpu_pressure": 1.0}),
    ],
    ids=["all", "cool", "counters that fell", "no tick", "a share is never above one"],
)
def test_rates_of_a_block(later: dict[str, Any], told: dict[str, Any]) -> None:
    known = {name: value for name, value in told.items() if value is not None}
    assert rates(BEFORE, {**BEFORE, **AFTER, **later}) == known


def test_the_battery_of_a_block() -> None:
    told = [
        rates({**BEFORE, "on_battery": first}, {**BEFORE, "on_battery": then}).get("on_battery")
        for first in (False, True, None)
        for then in (False, True, None)
    ]
    assert told == [False, True, None, True, True, True, None, True, None]


def test_the_probe_is_a_fixed_amount_of_work_without_its_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0

    def work(*arguments: Any) -> None:
        nonlocal now
        now += arguments[-1]

    monkeypatch.setattr(hashlib, "pbkdf2_hmac", work)
    monkeypatch.setattr(time, "perf_counter_ns", lambda: now)
    assert conditions.probe() == 80_000
    assert now == 82_000
