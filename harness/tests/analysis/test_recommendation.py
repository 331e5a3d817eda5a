"""Recommendations for a workload, on synthetic runs whose truth is known."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document.decision import workload_section, workload_sentences
from tests.analysis import runs

NAMES = ["node", "bun", "rust"]
GROUPS = {
    "read": "queries", "list": "queries", "write": "queries", "mix": "mix", "mix@workers=4": "mix",
    "start": "start-up", "at-2000": "keeping up",
}  # fmt: skip
SHARES = {"read": 0.8, "list": 0.15, "write": 0.05}
WRITTEN = ("write", "mix", "mix@workers=4")
SYNCS: runs.Json = {"transactions": 10, "fdatasync": 0, "bytes": 41_000}


def planned(names: list[str], **limits: Any) -> runs.Json:
    cases = [
        runs.case(
            name,
            group=GROUPS[name],
            axes={"workers": name.partition("=")[2] or "1"} if name.startswith("mix") else {},
            metric="cold" if name == "start" else "steady",
            operations=0 if name == "start" else 100,
            unit="query",
        )
        for name in names
    ]
    paced = {"at-2000": 2000.0} if "at-2000" in names else {}
    workload = {**runs.WORKLOAD, "shares": SHARES, "workers": 4, "paced": paced, "round": 10}
    of = {"suite": "workload", "correction": "bh", "canary": None}
    return runs.plan(NAMES, cases=cases, workload={**workload, **limits}, **of)


def made(
    levels: Mapping[str, float] | None = None,
    *,
    spread: float = 0.01,
    p99: Mapping[str, float] | None = None,
    written: Mapping[str, runs.Json] | None = None,
    without: str = "",
    warming: str = "",
    sampled: runs.Changes = (),
    **limits: Any,
) -> dict[str, Any]:
    """A run whose rounds at 2,000 queries a second have these p99 in ms, and whose writes were
    read back with what else was `written`."""
    names = [name for name in GROUPS if (p99 or name != "at-2000") and name != without]
    sampled = [
        *sampled,
        *(
            ({"case": "at-2000", "runner": name}, {"p99_ns": 1e6 * ms})
            for name, ms in (p99 or {}).items()
        ),
    ]
    if warming:
        late = {"case": "mix@workers=4", "runner": warming}
        sampled.append((late, runs.by_block(drift=[0.89, 0.88, 0.9])))
    checked = [
        ({"case": case, "runner": name}, {"readback": {"rows": 1, "checksum": 1}, **of})
        for name, of in (written or {}).items()
        for case in WRITTEN
    ]
    time = runs.levels(names, levels, spread=spread)
    return {
        "of": planned(names, **limits), "time": time, "checked": checked, "sampled": sampled
    }  # fmt: skip


def recommended(*levels: Mapping[str, float], **how: Any) -> Any:
    return runs.statement(runs.report(**made(*levels, **how)), "recommendation")


def level(synchronous: int, fsync: int | None = None) -> runs.Json:
    """The pragma that was read back, and how many syncs were counted of ten transactions."""
    syncs = {} if fsync is None else {"syncs": {**SYNCS, "fsync": fsync}}
    return {"pragmas": {"synchronous": synchronous}, **syncs}


FOUR = "mix@workers=4"
SAID: dict[str, dict[str, Any]] = {
    "a true tenth": {"levels": {f"{FOUR}/rust": 0.9}},
    "the fastest exceeds a limit": {
        "levels": {f"{FOUR}/rust": 0.5, f"{FOUR}/bun": 0.9}, "memory_mib": 38.2,
        "sampled": [({"runner": "rust"}, {"peak_rss_bytes": 200 * 2**20})],
    },
    "nobody keeps to the limits": {"start_ms": 1e-6},
    # others: rust (0.8·800 + 0.15·1000) / 0.95 = 831.6; equal at s·1000 + (1 - s)·831.6 =
    # s·500 + (1 - s)·1000, so at a share of 168.4 / 668.4
    "a mix is slower than its parts, and writes are what would change it": {
        "levels": {
            f"{FOUR}/rust": 0.9, "read/rust": 0.8, "write/bun": 0.5, "mix/node": 1.3
        },
    },
    "parts that are slow, and what comes together": {
        "levels": {
            "read/node": 2.0, f"{FOUR}/rust": 0.8, f"{FOUR}/bun": 3.0, f"{FOUR}/node": 1.8
        },
        "spread": 1e-6,
    },
    "the fastest still warms up": {"levels": {f"{FOUR}/rust": 0.9}, "warming": "rust"},
    "a p99 beyond its limit": {"p99": {"node": 12, "bun": 3, "rust": 3}, "p99_ms": 5},
    "a p99 within its limit": {"p99": {"node": 12, "bun": 3, "rust": 3}, "p99_ms": 20},
    "a p99 without a limit": {"p99": {"node": 12, "bun": 3, "rust": 3}},
    "no p99 where one is asked for": {"p99": {"bun": 3, "rust": 3}, "p99_ms": 5},
    "limits whose cases were left out": {"p99_ms": 5, "start_ms": 100, "without": "start"},
}  # fmt: skip


def shown(said: Any) -> Iterator[str]:
    """The tables of what is said of a workload, a row in a line."""
    for section in workload_section(said):
        for table in section.tables():
            yield " | ".join(["", *(column.title for column in table.columns)])
            for row in table.rows:
                yield " | ".join([row.head.text, *(cell.text for cell in row.cells)])


@pytest.mark.parametrize("name", SAID)
def test_what_is_recommended_and_why(name: str, snapshot: SnapshotAssertion) -> None:
    said = recommended(**SAID[name])
    out = [f"{over.runner}: {over.shown}" for over in said.ranking.excluded]
    lines = [f"of {said.case}: in front {said.ranking.front}; left out {out}"]
    assert [*lines, *workload_sentences(said), *shown(said)] == snapshot


@pytest.mark.parametrize(
    ("limit", "node", "others", "words"),
    [
        ("full", level(1), level(2, 10), "synchronous normal, the limit full"),
        ("normal", level(0), level(2, 10), "synchronous off, the limit normal"),
        ("normal", level(1), level(2, 10), None),
        ("full", level(3), level(2, 10), None),
        ("full", level(2, 0), level(2, 10), "no sync a transaction, the limit full"),
        ("full", level(2, 10), level(2, 10), None),
        # what nobody syncs needs no sync, such as an update that finds no row
        ("full", level(2, 0), level(2, 0), None),
    ],
)
def test_a_limit_on_durability(
    limit: str, node: runs.Json, others: runs.Json, words: str | None
) -> None:
    written = {"node": node, "bun": others, "rust": others}
    said = recommended(durability=limit, written=written)
    assert [over.shown for over in said.ranking.excluded] == ([words] if words else [])
    assert ("node" in said.ranking.front) == (words is None)
    told = f"node is left out: its durability is {words}." in workload_sentences(said)
    assert told == (words is not None)


@pytest.mark.simulation
def test_equal_runners_are_ranked_in_at_most_one_of_twenty() -> None:
    run = runs.make(**made())
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        common = rng.normal(0, 0.05, (len(run.plan.cases), 1, 12))
        own = rng.normal(0, 0.01, (len(run.plan.cases), len(NAMES), 12))
        report = runs.retimed(run, 1000 * np.exp(common + own))
        order = runs.statement(report, "recommendation").ranking
        wrong += len(order.front) < len(NAMES) or bool(order.changes)
    assert wrong <= 5
