"""`./just bench-fuzz` finds what is planted in the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="it forks")

PROGRAM = """
import os, subprocess, sys
from pathlib import Path
from benchmarks import fuzz
from sqlitmus import cli
fuzz.CPU_S = 1
cli.main = lambda: exec(sys.argv[-1])
for number, plant in enumerate(sys.argv[2:]):
    folder = Path(sys.argv[1], str(number))
    folder.mkdir()
    told = fuzz.judged(*fuzz.command([plant.replace("FOLDER", str(folder))], folder))
    print(told.replace(str(folder), "FOLDER"))
"""
PLANTS = [
    ("sys.exit(70)", "exit 70"),
    ("sys.exit(9)", "exit 9"),
    ("raise ValueError('odd')", "exit 99"),
    ("os.abort()", "exit -6"),
    ("while True: pass", "no end within 1 s of CPU, or 120 s"),
    ("print('Traceback (most recent call last)'); sys.exit(2)", "a traceback"),
    ("print('\\x1b[2J'); sys.exit(2)", "it prints '\\x1b'"),
    ("Path('FOLDER/../beside').mkdir(); sys.exit(2)", "WROTE 'FOLDER/../beside'"),
    ("os.symlink('/', 'FOLDER.link'); sys.exit(2)", "WROTE 'FOLDER.link'"),
    ("subprocess.run(['true']); sys.exit(2)", "STARTED ['true']"),
    ("Path('FOLDER/in').mkdir(); sys.exit(2)", ""),
]


def test_each_planted_fault_is_found(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path, *(plant for plant, _ in PLANTS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [fault for _, fault in PLANTS], done.stderr
