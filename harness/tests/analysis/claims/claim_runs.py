"""A made-up run of a made-up claim: every verdict, every kind of table."""

from typing import Any

import numpy as np

from sqlitmus.catalog.published import Claim
from tests.analysis import runs

Json = dict[str, Any]
BLOCKS = 12
# Case → its time in ns per operation; the runner "slow" takes twice as long.
TIMES = {
    "read": 1000.0,
    "read@mode=same": 500.0,
    "read@mode=small": 900.0,
    "read@mode=huge": 100.0,
    "read@mode=noisy": 1000.0,
    "read@mode=turned": 1500.0,
    "read@mode=equal": 1001.0,
    "read@workers=2": 520.0,
    "read@workers=4": 510.0,
    "read@workers=8": 505.0,
}
LESSONS = {
    "reproduced": "Take the new one.",
    "different": "Take the new one, for less.",
    "unresolved": "It is unknown.",
    "reversed": "Keep the old one.",
    "untestable": "Ask elsewhere.",
}


def row(mode: str, published: float | None = 2.0, **more: object) -> Json:
    named = {"name": f"{mode} mode", "values": {"mode": mode}, **more}
    return named if published is None else {**named, "published": published}


def group(*rows: Json, **more: object) -> Json:
    return {
        "title": "Reads: times as fast in the mode",
        "metric": "steady",
        "base": {"case": "read"},
        "new": {"case": "read@mode={mode}"},
        "runners": ["fast"],
        "rows": list(rows),
        **more,
    }


def claim(*groups: Json, **more: object) -> Json:
    return {
        "name": "modes",
        "title": "A mode makes reads faster",
        "source": "A post on modes",
        "published_on": "16 cores",
        "hypothesis": "Reads in the mode take half the time.",
        "differences": ["The rows are shorter."],
        "lessons": LESSONS,
        "groups": list(groups),
        **more,
    }


def table(title: str, metric: str, *cases: str, **more: object) -> Json:
    return {"title": title, "metric": metric, "cases": cases, "runners": ["fast"], **more}


BOTH = ["fast", "slow"]
THREADS = [f"read@workers={count}" for count in (2, 4, 8)]
EVERYTHING = claim(
    group(
        row("same", said="2.0 times as fast", key=True),
        row("small", said="2.0 times as fast", key=True),
        row("huge"),
        row("noisy"),
        row("turned"),
        row("same", None, name="not published"),
        row("same", untestable="nobody has the hardware", name="elsewhere"),
    ),
    group(
        row("equal", 1.005), row("huge", 1.0), expects="no effect", tolerance=1.05,
        title="No effect",
    ),
    group(
        {"name": "slow against fast", "published": 2.0},
        base={"case": "read", "runner": "slow"},
        new={"case": "read", "runner": "fast"},
        runners=[],
        metric="p99",
        title="99 % latency",
    ),
    tables=[
        table("All modes", "wall", "read", "read@mode=same", "read@mode=broken", runners=BOTH),
        table("Threads", "steady", "read", *THREADS, kind="scaling", runners=BOTH),
        table("Latencies", "p99", "read", "read@mode=huge", kind="histogram"),
        table("Steps", "p99", "read", kind="histogram", runners=["slow"], step_ms=0.0005),
    ],
)  # fmt: skip


def case(name: str) -> Json:
    axes = {"mode": "none", "workers": "1"}
    for part in filter(None, name.partition("@")[2].split(",")):
        axis, _, value = part.partition("=")
        axes[axis] = value
    return runs.case(
        name, title="Reads", axes=axes, workers=int(axes["workers"]), database_bytes=8192
    )


def planned(*claims: Json, blocks: int = BLOCKS, **changes: Any) -> Json:
    """A plan with both runners in each case; the canary is of "fast"."""
    cases = [*TIMES, "read@mode=broken"]
    made = runs.plan(
        ("fast", "slow"),
        kind="claims",
        suite="claims",
        correction="bh",
        blocks=blocks,
        cases=[case(name) for name in cases],
        cells={
            name: ["fast"] if name == "read@mode=broken" else ["fast", "slow"] for name in cases
        },
        **changes,
    )
    # as the plan of a run holds it, defaults included
    frozen = [Claim.model_validate(one).model_dump(mode="json") for one in claims]
    return {**made, "claims": frozen}


def times(spread: float = 0.01) -> runs.Times:
    """ns per operation: each case's own, noisy from block to block."""
    names = [*TIMES, "read@mode=broken"]

    def time(c: int, label: str, block: int) -> float:
        own = 0.2 if names[c].endswith("noisy") else spread
        noise = runs.drawn(c, block, *label.encode())
        return TIMES.get(names[c], 1.0) * (2 if label == "slow" else 1) * float(np.exp(own * noise))

    return time


def make(
    *claims: Json,
    of: Json | None = None,
    cases: Json | None = None,
    blocks: int = BLOCKS,
    cores: str = "4",
    told: bool = True,
    spread: float = 0.01,
    time: runs.Times | None = None,
    sampled: runs.Changes = (),
    checked: runs.Changes = (),
) -> runs.RunData:
    """The run of those claims, of a plan with `of` and whose cases have what `cases` says. If
    `told`, each sample has latencies of 1000 operations about its time, some twice and some four
    times as long, and a launch of two processes."""
    plan = {**planned(*(claims or (EVERYTHING,)), blocks=blocks), **(of or {})}
    plan["cases"] = [{**one, **(cases or {})} for one in plan["cases"]]
    details: list[Json] = []

    def measured(line: Json) -> Json:
        each = line["steady_ns"] / 100
        counts = {round(each * step): n for step, n in ((1, 980), (2, 15), (4, 5))}
        cpus = {"0": 0.9, "1": 0.5}
        launch = {"processes": 2, "skew_us": [40.0, 50.0, 60.0], "cpus": cpus}
        details.append(
            {"position": line["position"], "latencies": runs.latencies(counts), "launch": launch}
        )
        return {
            "p50_ns": each,
            "p99_ns": each * 2,
            "p999_ns": each * 4,
            "iteration_median_ns": line["steady_ns"],
            "longest_ns": each * 4,
            "unfair": 1.25,
        }

    switches = {"switches_voluntary": 5000, "switches_involuntary": 200}
    broken = {"case": "read@mode=broken"}
    lines = runs.but_for(
        runs.samples(plan, time or times(spread)),
        [(broken, None), ({}, switches), *([({}, measured)] if told else []), *sampled],
    )
    refused = {"outcome": "unsupported", "reason": "there is no such mode"}
    return runs.make(
        plan,
        lines=lines,
        checked=[(broken, refused), *checked],
        machine={"cores": cores, "cpu": "A processor", "os": "A system"},
        details=details,
    )
