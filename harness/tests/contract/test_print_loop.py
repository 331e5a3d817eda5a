"""`--print-loop` of the runners that make their loops from source."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.jobs import file_of, written
from tests.contract.started import of_runners, start
from tests.known import KNOWN, RUNNERS

generating = of_runners(
    [n for n, spec in KNOWN.runners.items() if spec.runtime in ("Node", "Bun", "Deno", "Python")]
)
VARIED = [
    *("busy-tolerated-measure", "execute-measure", "fails-constraint-measure"),
    *("insert-immediate-measure", "named-insert-measure", "rate-latencies-measure"),
    *("read-file-measure", "types-iterate-array-measure", "writer-workers-measure"),
]
# Tells every text that is compiled as the loop is.
LISTENING = """
import json, pathlib, runpy, sys
texts = []
def hook(event, given):
    if event == "compile" and given[1] == "<loop>":
        texts.append(given[0] if isinstance(given[0], str) else given[0].decode())
sys.addaudithook(hook)
listing, sys.argv = sys.argv[1], sys.argv[2:]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    pathlib.Path(listing).write_text(json.dumps(texts), "utf-8")
"""


def loop_of(name: str, vector: str, folder: Path) -> tuple[Any, subprocess.CompletedProcess[str]]:
    """The job of a vector, and what a runner prints of its loop."""
    job = written(vector, folder)
    return job, start(name, "--print-loop", file_of(vector, folder))


@generating
def test_a_loop_has_only_what_its_job_asks_for(name: str, tmp_path: Path) -> None:
    """NULL is looked for where a column is nullable, a name is a key of what is bound, and the
    texts of a cached statement take turns."""
    job, done = loop_of(name, "types-all-measure", tmp_path)
    nullable = [column.name for step in job.steps for column in step.columns if column.nullable]
    assert nullable == ["i", "r", "t", "b"]
    assert len(re.findall(r"v === null|v is None", done.stdout)) == len(nullable)
    job, done = loop_of(name, "named-insert-measure", tmp_path)
    (made,) = re.findall(r"(?:\.run|execute)\([^{}]*\{(.+?)\}\)", done.stdout)
    keys = re.findall(r"[\w$:@]+(?='?\"?: )", made)
    assert [key.lstrip("$:@") for key in keys] == [name[1:] for name in job.steps[0].names]
    job, done = loop_of(name, "texts-measure", tmp_path)
    assert all(step.texts == 4 for step in job.steps)
    has_cache = "unsupported" not in done.stderr and not done.returncode
    assert len(re.findall(r"(q|sql)\d+\[n\d* & 3\]", done.stdout)) == 8 * has_cache


@generating
def test_the_loop_of_a_job_is_printed_and_nothing_is_done(name: str, tmp_path: Path) -> None:
    job, done = loop_of(name, "writer-workers-measure", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = [line for line in done.stdout.splitlines() if line.startswith(("// ", "# "))]
    said = [line.split(" ", 1)[1] for line in told if "sql" not in line]
    assert said == ["worker 0, worker 1", "writer"]
    assert job.writer
    texts = [line.partition(" = ")[2] for line in told if "sql" in line]
    assert texts == [json.dumps(step.sql) for step in [*job.steps, *job.writer.steps]]
    assert not Path(job.output).exists()


@generating
def test_without_a_loop_there_is_a_reason(name: str, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text('{"contract": 2,', "utf-8")
    done = start(name, "--print-loop", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert "job.json" in done.stderr
    _, done = loop_of(name, "engine-serialized", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("unsupported: ")


@pytest.mark.parametrize("vector", VARIED)
def test_the_oracle_compiles_what_it_prints(vector: str, tmp_path: Path) -> None:
    _, done = loop_of("python", vector, tmp_path)
    listing = tmp_path / "texts"
    asked = [RUNNERS / "python" / "main.py", "--job", file_of(vector, tmp_path)]
    command = [sys.executable, "-X", "utf8", "-c", LISTENING, listing, *asked]
    subprocess.run(command, capture_output=True, check=False, timeout=60)
    compiled = json.loads(listing.read_text("utf-8"))
    printed = re.split(r"^(?:# .*\n)+", done.stdout, flags=re.MULTILINE)[1:]
    assert printed
    assert {text.removesuffix("\n") for text in printed} == set(compiled)
