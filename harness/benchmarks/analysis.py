"""Time of loading and analysing a large synthetic run; prints a table.

    PYTHONPATH=harness python harness/benchmarks/analysis.py [--cases 1000] [--blocks 30]

The run is made in memory: parsing, loading and analysis are timed, the file system is not.
"""

import argparse
import gc
import json
import resource
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from pydantic_core import from_json

from sqlitmus.analysis import RunData, analyse, from_records

R = TypeVar("R")

ITERATIONS = 12


def make_plan(cases: int, runners: int, blocks: int) -> dict[str, Any]:
    """A plan whose runner r takes 1 + r/20 times as long as the first."""
    groups = ("reads", "writes", "start-up", "parallel")
    names = [f"runner{r}" for r in range(runners)]
    return {
        "schema_version": 1,
        "run": "synthetic",
        "label": "",
        "suite": "synthetic",
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
                "sql": ["SELECT 1"],
                "pragmas": [],
            }
            for c in range(cases)
        ],
    }


def make_lines(plan: dict[str, Any], rng: np.random.Generator) -> tuple[list[bytes], list[bytes]]:
    """verify.jsonl and samples.jsonl, iterations and warm-up included."""
    names = [runner["name"] for runner in plan["runners"]]
    series = [*((name, name) for name in names), (plan["canary"], "canary")]
    pragmas = {f"pragma{i}": i for i in range(11)}
    checks = [
        json.dumps(
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
                "command": f"runner --job {case['id']}",
            }
        ).encode()
        for case in plan["cases"]
        for name in names
    ]
    samples = [json.dumps({"schema": 1, "run": plan["run"]}).encode()]
    position = 0
    for block in range(plan["blocks"]):
        noise = rng.normal(0, 0.03, (len(plan["cases"]), len(series), 2 * ITERATIONS))
        for c, case in enumerate(plan["cases"]):
            for s, (name, label) in enumerate(series):
                slower = 1 + names.index(name) / 20
                times = (5e6 * slower * np.exp(noise[c, s])).astype(int).tolist()
                line = {
                    "block": block,
                    "case": case["id"],
                    "runner": name,
                    "label": label,
                    "position": position,
                    "outcome": "ok",
                    "reason": None,
                    "wall_ns": 2 * sum(times),
                    "user_ns": sum(times),
                    "system_ns": 1_000_000,
                    "rss_bytes": 50_000_000,
                    "steady_ns": sorted(times[ITERATIONS:])[ITERATIONS // 2],
                    "cpu_ns": {"user": sum(times), "system": 1000},
                    "iterations_ns": times[ITERATIONS:],
                    "warmup_ns": times[:ITERATIONS],
                }
                samples.append(json.dumps(line).encode())
                position += 1
    samples.append(b'{"complete": true}')
    return checks, samples


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

    timed("parse samples, json", lambda: [json.loads(line) and None for line in samples], 1)
    timed("parse samples, pydantic_core", lambda: [from_json(x) and None for x in samples], 1)

    def read() -> RunData:
        machine = {"cores": "2"}
        return from_records(plan, map(from_json, checks), map(from_json, samples), machine)

    run = timed("parse and load, pydantic_core", read, 2)
    timed("analyse", lambda: analyse(run), sizes.rounds)
    gc.disable()
    report = timed("analyse, garbage collector off", lambda: analyse(run), sizes.rounds)
    print(f"comparisons: {sum(len(case.comparisons) for case in report.cases)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process, input text included: {peak:.0f} MB")


if __name__ == "__main__":
    main()
