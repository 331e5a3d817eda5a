"""Time of `report` on a large synthetic run, stage by stage; prints a table.

    PYTHONPATH=harness python harness/benchmarks/analysis.py [--cases 1000] [--blocks 30]

The whole command is timed in a process of its own, with its peak memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sqlitmus.analysis import analyse, load
from sqlitmus.render.html import page as html
from sqlitmus.run.lines import Sample, columns
from sqlitmus.run.store import SCHEMA
from sqlitmus.vocabulary.figures import FIGURES

R = TypeVar("R")

ITERATIONS = 12
# The peak is the command's own: ru_maxrss would start from the size of whoever started it.
COMMAND = """
import re, sys
from pathlib import Path
sys.argv = ["sqlitmus", "report", sys.argv[1]]
sys.stderr = open("/dev/null", "w")
from sqlitmus.cli import main
try:
    main()
finally:
    peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
    print(f"peak memory {int(peak[1]) / 1024:.0f} MB", flush=True)
"""


def make_plan(cases: int, runners: int, blocks: int) -> dict[str, Any]:
    """A plan whose runner r takes 1 + r/20 times as long as the first."""
    groups = ("reads", "writes", "start-up", "parallel")
    names = [f"runner{r}" for r in range(runners)]
    return {
        "schema_version": 2,
        "correction": "bh",
        "run": "synthetic",
        "label": "",
        "suite": "synthetic",
        "mode": "standard",
        "size": "m",
        "fingerprint": "",
        "cells": {f"case{c}": names for c in range(cases)},
        "counts": {},
        "created": "2026-01-01T00:00:00Z",
        "sqlitmus": "0",
        "seed": 1,
        "blocks": blocks,
        "reference": names[0],
        "canary": names[0],
        "floor": names[-1],
        "margin": 0.02,
        "runners": [
            {"name": n, "title": n, "runtime": n, "driver": n, "role": "runner"} for n in names
        ],
        "cases": [
            {
                "id": f"case{c}",
                "scenario": f"case{c}",
                "title": f"case {c}",
                "question": "?",
                "group": groups[c % len(groups)],
                "bound_by": "driver",
                "axes": {"profile": "normalised"},
                "metric": "steady",
                "unit": "read",
                "operations": 1000,
                "per_operation": 1,
                "iterations": 10,
                "warmup_iterations": 1,
                "warmup_ms": 0,
                "workers": 1,
                "notes": [],
                "sql": ["SELECT 1"],
                "pragmas": [],
            }
            for c in range(cases)
        ],
    }


def make_lines(plan: dict[str, Any], rng: np.random.Generator) -> tuple[list[bytes], list[bytes]]:
    """verify.jsonl and samples.jsonl."""
    names = [runner["name"] for runner in plan["runners"]]
    series = [*((name, name) for name in names), (plan["canary"], "canary")]
    pragmas = {f"pragma{i}": i for i in range(11)}
    checks = [
        line(
            {
                "case": case["id"],
                "runner": name,
                "outcome": "ok",
                "rows": 1000,
                "affected": 0,
                "checksum": 1,
                "digest": "0" * 64,
                "plans": [["SEARCH users USING INTEGER PRIMARY KEY (rowid=?)"]],
                "pragmas": pragmas,
                "engine": {},
                "command": f"runner --job {case['id']}",
            }
        )
        for case in plan["cases"]
        for name in names
    ]
    samples = [line({"schema": SCHEMA, "run": plan["run"], "columns": columns()})]
    position = 0
    for block in range(plan["blocks"]):
        noise = rng.normal(0, 0.03, (len(plan["cases"]), len(series), ITERATIONS))
        for c, case in enumerate(plan["cases"]):
            for s, (name, label) in enumerate(series):
                slower = 1 + names.index(name) / 20
                times = (5e6 * slower * np.exp(noise[c, s])).astype(int).tolist()
                sample = Sample(
                    block=block,
                    position=position,
                    case=case["id"],
                    runner=name,
                    label=label,
                    outcome="ok",
                    steady_ns=sorted(times)[ITERATIONS // 2],
                    figures={
                        **{figure.name: 0.25 for figure in FIGURES},
                        "cold": 2 * sum(times),
                        "cpu": sum(times) / ITERATIONS,
                        "peak_rss": 50_000_000,
                    },
                )
                samples.append(line(sample.row()))
                position += 1
    samples.append(line({"complete": True}))
    return checks, samples


def line(item: object) -> bytes:
    """As the store writes it."""
    return json.dumps(item, separators=(",", ":")).encode() + b"\n"


def timed(name: str, work: Callable[[], R], rounds: int) -> R:
    """Run `work` at least once; print the best and the median of `rounds`."""
    times: list[float] = []
    while True:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        if len(times) >= rounds:
            break
    print(f"{name:<42} best {min(times):6.3f} s   median {sorted(times)[len(times) // 2]:6.3f} s")
    return result


def main() -> None:
    """Parse the sizes, make the run, time each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--runners", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    sizes = parser.parse_args()
    plan = make_plan(sizes.cases, sizes.runners, sizes.blocks)
    checks, samples = make_lines(plan, np.random.default_rng(1))
    size = sum(map(len, samples)) / 1e6
    print(f"{sizes.cases} cases, {sizes.runners} runners, {sizes.blocks} blocks:")
    print(f"{len(samples)} samples, {size:.0f} MB, {len(checks)} checks")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.json").write_text(json.dumps(plan))
        (folder / "verify.jsonl").write_bytes(b"".join(checks))
        (folder / "samples.jsonl").write_bytes(b"".join(samples))
        del checks, samples
        run = timed("load", lambda: load(folder), sizes.rounds)
        report = timed("analyse", lambda: analyse(run), sizes.rounds)
        print(f"pairs: {sum(len(case.comparisons.ratio) for case in report.cases)}")
        timed("html", lambda: html.render(report), sizes.rounds)
        command = [sys.executable, "-c", COMMAND, str(folder)]
        timed("whole command", lambda: subprocess.run(command, check=True), sizes.rounds)


if __name__ == "__main__":
    main()
