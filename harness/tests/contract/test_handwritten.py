"""The hand-written loops that the runners' own are compared with do the same work, still."""

import subprocess
import sys

from sqlitmus.catalog import definitions
from sqlitmus.vocabulary import paths
from tests.contract.started import command, of_runners

BENCHMARK = paths.ROOT / "harness" / "benchmarks" / "overhead.py"
NAMES = [name for name, spec in definitions.load().runners.items() if spec.handwritten]


@of_runners(NAMES)
def test_answers_are_the_runners(name: str) -> None:
    """Any ratio will do; the benchmark ends with the reason where answers differ or are missing."""
    command(name)
    asked = ["-r", name, "--rounds", "3", "--warmup-ms", "1", "--iterations", "2"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    told = [line[:22].strip() for line in done.stdout.splitlines()]
    assert told == ["runner", name, name, name], done.stderr
    assert done.stderr == ""
