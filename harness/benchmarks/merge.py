"""Time and memory of `merge` on synthetic run directories of as many machines.

`python harness/benchmarks/merge.py [--runs 36] [--cases 200] [--runners 10] [--blocks 30]` makes
them in a temporary folder and merges them with the command line, each time in a process of its own.
Memory is the highest sum of the resident memory of that process and those it starts, looked at
every 20 ms; what processes share is counted for each of them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.analysis import make_lines, make_plan

HARNESS = Path(__file__).resolve().parents[1]
LOOK_S = 0.02


def make_runs(folder: Path, runs: int, plan: dict[str, Any]) -> int:
    """Write the run directories; their bytes. Samples are the same in all of them."""
    checks, samples = make_lines(plan, np.random.default_rng(1))
    for number in range(runs):
        name = f"2026-01-01T0000{number:02}Z-synthetic"
        own = {
            **plan,
            "run": name,
            "created": f"2026-01-01T00:00:{number:02}Z",
            "machine": f"machine{number}",
            "definitions": {f"scenario {c['scenario']}": "0" * 16 for c in plan["cases"]},
        }
        files = {
            "plan.json": json.dumps(own).encode(),
            "machine.json": json.dumps({"cpu": f"CPU {number}", "os": "Linux"}).encode(),
            "verify.jsonl": b"".join(checks),
            "samples.jsonl": b"".join(samples),
        }
        (folder / name).mkdir(parents=True)
        for file, data in files.items():
            named = data.replace(b'"run":"synthetic"', f'"run":"{name}"'.encode(), 1)
            (folder / name / file).write_bytes(named)
    return sum(file.stat().st_size for file in folder.rglob("*.json*"))


def measure(folder: Path, out: Path, label: str) -> tuple[float, float, float, str]:
    """Seconds, CPU seconds and MB of one merge, and what it said of the machines."""
    command = [sys.executable, "-m", "sqlitmus", "merge", str(folder), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(HARNESS)}
    start, before, peak = time.perf_counter(), cpu_s(), 0
    with subprocess.Popen(
        [*command, "--label", label],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            resident = 0
            with suppress(psutil.Error):
                for one in [root, *root.children(recursive=True)]:
                    resident += one.memory_info().rss
            peak = max(peak, resident)
            time.sleep(LOOK_S)
        seconds = time.perf_counter() - start
        said = process.communicate()[1]
    if process.returncode:
        raise SystemExit(f"merge ended with {process.returncode}: {said}")
    return seconds, cpu_s() - before, peak / 2**20, said


def cpu_s() -> float:
    """CPU seconds of all children that have ended, and of theirs."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Make the runs, merge them a few times; print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=36)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--runners", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    sizes = parser.parse_args()
    plan = make_plan(sizes.cases, sizes.runners, sizes.blocks)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = make_runs(folder / "runs", sizes.runs, plan)
        print(
            f"{sizes.runs} run directories of {sizes.cases * sizes.runners} cells × "
            f"{sizes.blocks} blocks, {written / 1e6:.0f} MB; {os.cpu_count()} cores, load "
            f"{psutil.getloadavg()[0]:.1f}"
        )
        said = ""
        for number in range(sizes.rounds):
            seconds, cpu, memory, said = measure(folder / "runs", folder / "out", str(number))
            shutil.rmtree(folder / "out")
            print(f"merge {seconds:6.2f} s, {cpu:5.2f} s of CPU, at most {memory:4.0f} MB")
        print(said.partition("report:")[0], end="")


if __name__ == "__main__":
    main()
