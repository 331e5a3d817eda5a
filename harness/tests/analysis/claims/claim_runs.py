"""A made-up run of a made-up claim: every verdict, every kind of table."""

from typing import Any

import numpy as np

from sqlitmus.analysis import RunData
from sqlitmus.catalog.published import Claim
from sqlitmus.vocabulary.detail import bucket
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
        {
            "title": "All modes",
            "metric": "wall",
            "cases": ["read", "read@mode=same", "read@mode=broken"],
            "runners": ["fast", "slow"],
        },
        {
            "title": "Threads",
            "metric": "steady",
            "kind": "scaling",
            "cases": ["read", "read@workers=2", "read@workers=4", "read@workers=8"],
            "runners": ["fast", "slow"],
        },
        {
            "title": "Latencies",
            "metric": "p99",
            "kind": "histogram",
            "cases": ["read", "read@mode=huge"],
            "runners": ["fast"],
        },
        {
            "title": "Steps",
            "metric": "p99",
            "kind": "histogram",
            "cases": ["read"],
            "runners": ["slow"],
            "step_ms": 0.0005,
        },
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


def planned(*claims: Json, blocks: int = BLOCKS, names: tuple[str, ...] = tuple(TIMES)) -> Json:
    """A plan with both runners in each case; the canary is of "fast"."""
    cases = [*names, "read@mode=broken"]
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
    )
    # as the plan of a run holds it, defaults included
    frozen = [Claim.model_validate(one).model_dump(mode="json") for one in claims]
    return {**made, "claims": frozen}


def checked(of: Json) -> list[Json]:
    """Every cell is fine, but one that the runner does not have."""
    return [
        {**one, "outcome": "unsupported", "reason": "there is no such mode"}
        if one["case"] == "read@mode=broken"
        else one
        for one in runs.checks(of)
    ]


def times(of: Json, spread: float = 0.01) -> runs.Times:
    """ns per operation: each case's own, noisy from block to block."""
    names = [c["id"] for c in of["cases"]]

    def time(c: int, label: str, block: int) -> float:
        own = 0.2 if names[c].endswith("noisy") else spread
        noise = np.random.default_rng([c, block, *label.encode()]).normal(0, own)
        return TIMES.get(names[c], 1.0) * (2 if label == "slow" else 1) * float(np.exp(noise))

    return time


def run(of: Json, lines: list[Json], *, machine: Json | None = None, told: bool = True) -> RunData:
    """The run of that plan with those samples. If `told`, each has latencies of 1000 operations
    about its time, some twice and some four times as long, and a launch of two processes."""
    details: list[Json] = []
    for line in lines if told else []:
        if "case" not in line:
            continue
        each = line["steady_ns"] / 100
        latencies = {"p50_ns": each, "p99_ns": each * 2, "p999_ns": each * 4}
        own = {"iteration_median_ns": line["steady_ns"], "longest_ns": each * 4, "unfair": 1.25}
        line.update({**latencies, **own, **line})
        counts = {bucket(round(each * step)): n for step, n in ((1, 980), (2, 15), (4, 5))}
        cpus = {"0": 0.9, "1": 0.5}
        details.append(
            {
                "position": line["position"],
                "latencies": sorted(counts.items()),
                "launch": {"processes": 2, "skew_us": [40.0, 50.0, 60.0], "cpus": cpus},
            }
        )
    return runs.from_records(of, checked(of), lines, machine or {}, details=details)


def make(
    *claims: Json,
    blocks: int = BLOCKS,
    cores: str = "4",
    told: bool = True,
    spread: float = 0.01,
) -> RunData:
    """The run of those claims; without details unless `told`."""
    of = planned(*(claims or (EVERYTHING,)), blocks=blocks)
    switches = {"switches_voluntary": 5000, "switches_involuntary": 200}
    lines = [
        {**line, **switches} if "case" in line else line
        for line in runs.samples(of, times(of, spread))
        if line.get("case") != "read@mode=broken"
    ]
    machine = {"cores": cores, "cpu": "A processor", "os": "A system"}
    return run(of, lines, machine=machine, told=told)
