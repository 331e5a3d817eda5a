"""`--print-loop` of the runners that make their loops from source."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.performed import file_of, loop_of
from tests.contract.started import of_runners, start
from tests.known import KNOWN, RUNNERS

GENERATING = [
    name
    for name, spec in KNOWN.runners.items()
    if spec.runtime in ("Node", "Bun", "Deno", "Python")
]
VARIED = [
    "busy-tolerated-measure",
    "execute-measure",
    "fails-constraint-measure",
    "insert-immediate-measure",
    "named-insert-measure",
    "rate-latencies-measure",
    "read-file-measure",
    "types-iterate-array-measure",
    "writer-workers-measure",
]
ORACLE = RUNNERS / "python"
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


@of_runners(GENERATING)
def test_the_loop_asks_for_null_only_where_a_column_is_nullable(name: str, tmp_path: Path) -> None:
    job, done = loop_of(name, "types-all-measure", tmp_path)
    nullable = [column.name for step in job.steps for column in step.columns if column.nullable]
    assert nullable == ["i", "r", "t", "b"]
    assert len(re.findall(r"v === null|v is None", done.stdout)) == len(nullable)


@of_runners(GENERATING)
def test_the_loop_of_a_job_is_printed_and_nothing_is_done(name: str, tmp_path: Path) -> None:
    job, done = loop_of(name, "writer-workers-measure", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = [line for line in done.stdout.splitlines() if line.startswith(("// ", "# "))]
    assert [line.split(" ", 1)[1] for line in told if "sql" not in line] == [
        "worker 0, worker 1",
        "writer",
    ]
    assert job.writer
    steps = [*job.steps, *job.writer.steps]
    assert [line.partition(" = ")[2] for line in told if "sql" in line] == [
        json.dumps(step.sql) for step in steps
    ]
    assert not Path(job.output).exists()


@of_runners(GENERATING)
def test_values_that_are_bound_by_name_are_an_object_of_each_execution(
    name: str, tmp_path: Path
) -> None:
    job, done = loop_of(name, "named-insert-measure", tmp_path)
    (made,) = re.findall(r"(?:\.run|execute)\([^{}]*\{(.+?)\}\)", done.stdout)
    keys = re.findall(r"[\w$:@]+(?='?\"?: )", made)
    assert [key.lstrip("$:@") for key in keys] == [name[1:] for name in job.steps[0].names]


@of_runners(GENERATING)
def test_executions_use_the_texts_of_a_cached_statement_in_turn(name: str, tmp_path: Path) -> None:
    job, done = loop_of(name, "texts-measure", tmp_path)
    assert all(step.texts == 4 for step in job.steps)
    if "unsupported" in done.stderr or done.returncode:
        pytest.skip(f"{name} has no cache of statements")
    assert len(re.findall(r"(q|sql)\d+\[n\d* & 3\]", done.stdout)) == 8


@of_runners(GENERATING)
def test_a_job_that_cannot_be_read_has_no_loop(name: str, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text('{"contract": 2,', "utf-8")
    done = start(name, "--print-loop", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert "job.json" in done.stderr


@of_runners(GENERATING)
def test_a_job_that_is_unsupported_has_a_reason_instead(name: str, tmp_path: Path) -> None:
    _, done = loop_of(name, "engine-serialized", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("unsupported: ")


@pytest.mark.parametrize("vector", VARIED)
def test_the_oracle_compiles_what_it_prints(vector: str, tmp_path: Path) -> None:
    _, done = loop_of("python", vector, tmp_path)
    listing = str(tmp_path / "texts")
    asked = [str(ORACLE / "main.py"), "--job", str(file_of(vector, tmp_path))]
    command = [sys.executable, "-X", "utf8", "-c", LISTENING, listing, *asked]
    subprocess.run(command, capture_output=True, check=False, timeout=60)
    compiled = json.loads(Path(listing).read_text("utf-8"))
    printed = re.split(r"^(?:# .*\n)+", done.stdout, flags=re.MULTILINE)[1:]
    assert printed
    assert {text.removesuffix("\n") for text in printed} == set(compiled)
