"""Every vector on every runner: the same counts, checksums and digests, or a reason why not."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from sqlitmus.vocabulary.contract import (
    Description,
    Job,
    Measure,
    Operation,
    Result,
    Share,
    Writer,
    levels,
)
from tests.contract.jobs import (
    CONTRACT,
    VECTORS,
    Json,
    job_of,
    needs_own_process,
    of_vector,
    problem,
    result_of,
    write_job,
    written,
)
from tests.contract.started import (
    Performed,
    description,
    each_runner,
    lacking,
    perform_all,
    start,
)
from tests.known import KNOWN


def asks_for_more(job: Job, features: Json) -> list[str]:
    """What of a job the runner's features do not list, or say that it lacks."""
    engine = job.connection.engine
    more = [f"engine {option}" for option in engine if option not in features["engine"]]
    if job.measure.event_loop and not features.get("event_loop"):
        more.append("an event loop")
    flags = job.database.flags if job.database else []
    more += [f"flag {flag}" for flag in flags if flag not in features["flags"]]
    transactions = [job.transaction, *([job.writer.transaction] if job.writer else [])]
    more += [f"transaction {t}" for t in transactions if t not in features["transactions"]]
    asked = {"operation": "operations", "shape": "shapes"}
    asked |= {"integers": "integers", "statement": "statements"}
    words = {*map(str, engine.values()), *["per_operation"] * job.connection.per_operation}
    for step in [*job.steps, *(job.writer.steps if job.writer else [])]:
        wants = [(key, getattr(step, key), features[listed]) for key, listed in asked.items()]
        named = "named" if step.names else "positional"
        wants.append(("binding", named, features["bindings"]))
        more += [f"{key} {value}" for key, value, listed in wants if value not in listed]
        manner = {step.operation, step.shape, step.values, step.statement, named}
        more += lacking(features, {*words, *manner})
    return more


@each_runner
def test_a_runner_describes_itself_as_the_schema_wants(name: str) -> None:
    told = description(name)
    Description.model_validate_json(json.dumps(told), strict=True)
    assert told["identity"]["runner"] == name
    features, operations = told["features"], {*get_args(Operation)}
    for listed in ("operations", "shapes", "statements", "transactions"):
        assert features[listed]
    # one that was forgotten in the list would be skipped as unsupported in all vectors
    assert operations - {*features["operations"]} == operations & {*features.get("lacks", [])}


@each_runner
def test_every_vector(name: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for performed in perform_all(name, tmp_path):
        with subtests.test(performed.vector):
            check_vector(name, performed)


def read(job: Job) -> Json:
    """The result of a job, which fits the model."""
    text = Path(job.output).read_bytes()
    Result.model_validate_json(text, strict=True)
    return json.loads(text)


def check_vector(name: str, done: Performed) -> None:
    """The result is right, or says why the runner has none."""
    job, output = done.job, Path(done.job.output)
    assert output.exists(), f"no result, exit code {done.code}: {done.stderr}"
    left = [file for file in output.parent.iterdir() if file.suffix in (".part", ".tmp")]
    assert not left, "temporary files stay"
    result, want = read(job), of_vector(done.vector, "expected")
    features = description(name)["features"]
    assert result["cell"] == job.cell
    if needs_own_process(job):
        assert done.code == (1 if result["status"] == "failed" else 0)
    told = result.get("error") or result.get("reason")
    if result["status"] == "unsupported" and want["status"] != "unsupported":
        more = asks_for_more(job, features)
        assert more, f"unsupported ({told}), but all that is asked for is in features"
        return
    if done.vector.startswith("nul-") and not KNOWN.runners[name].nul_in_text:
        assert result["status"] == want["status"], told
        assert result["digest"] != want["digest"], "it reads U+0000 now: say so in its runner.toml"
        return
    assert problem(job, done.vector, result) is None, told
    if result["status"] == "ok":
        check_figures(job, result, want, features)
        check_engine(job, result, features["engine"])


def test_a_runner_of_the_core_alone_passes_the_vectors_of_the_core(tmp_path: Path) -> None:
    names = [vector for vector in VECTORS if levels(job_of(vector)) == ["core"]]
    jobs = {name: written(name, tmp_path) for name in names}
    command = [sys.executable, str(CONTRACT / "core.py"), "--jobs", str(tmp_path / "jobs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")  # some have to fail
    problems = {name: problem(job, name, read(job)) for name, job in jobs.items()}
    assert {name: why for name, why in problems.items() if why} == {}


def check_engine(job: Job, result: Json, options: list[str]) -> None:
    """What is asked is in effect, and what could be asked is told."""
    told = result.get("effective", {}).get("engine", {})
    assert job.connection.engine.items() <= told.items()
    assert told.keys() == (set(options) if job.inspect and job.steps else set())


WITHOUT_PLAN = ("open", "open-file", "in-transaction", "execute", "read-file")
FIGURES = ("allocated_bytes", "collections", "page_cache")


def check_figures(job: Job, result: Json, want: Json, features: Json) -> None:
    """The shape of the times, and the counts of each worker."""
    measured = job.mode == "measure"
    if measured and not job.measure.digest:
        assert result.get("digest") is None
    measure, times = job.measure, result.get("iterations_ns", [])
    if measured and job.steps:
        assert len(times) == measure.iterations
        assert len(result["warmup_ns"]) >= measure.warmup_iterations
        assert sum(result["warmup_ns"]) >= measure.warmup_ns
        check_workers(job, result, want)
        for used in ("cpu_ns", "switches", "page_faults"):
            assert result.get(used) is not None or sys.platform != "linux", used
        figures = [*features.get("figures", [])]
        figures += features.get("digest_figures", []) if measure.digest else []
        assert {name for name in FIGURES if result.get(name) is not None} == {*figures}
        check_page_cache(job, result)
    if job.inspect and job.steps:
        pragmas = result["effective"]["pragmas"]
        assert {name for name, _ in job.connection.pragmas} <= pragmas.keys()
        assert len(result["plans"]) == len(job.steps)
        for step, plan in zip(job.steps, result["plans"], strict=True):
            assert plan == [] or step.operation not in WITHOUT_PLAN


def check_page_cache(job: Job, result: Json) -> None:
    """What finds no page in one of its connections looked at none."""
    cache = result.get("page_cache")
    reads = any(step.operation in ("get", "all", "iterate") for step in job.steps)
    if cache and reads and job.database and job.database.path != ":memory:":
        assert cache["hits"] + cache["misses"] > 0


def check_workers(job: Job, result: Json, want: Json) -> None:
    """Each worker's part, and after them the writer; there are none for one plain thread."""
    measure, writer, told = job.measure, job.writer, result["workers"]
    sequence = measure.sequence
    more = (
        measure.latencies,
        measure.rate,
        measure.share,
        sequence and sequence.planned_us,
        writer,
    )
    if measure.workers == 1 and not any(more):
        assert told == []
        return
    count = measure.workers
    assert [w.get("role", "worker") for w in told] == ["worker"] * count + ["writer"] * bool(writer)
    workers = told[:count]
    share = measure.share or Share(first=0, of=count)
    numbers = range(share.first, share.first + count + 1)
    total = measure.operations_per_iteration
    cuts = [total * w // share.of for w in numbers]
    times = measure.warmup_iterations + measure.iterations
    each = [(b - a) * times for a, b in itertools.pairwise(cuts)]
    if sequence and sequence.workers:
        each = [sequence.performed(number, 0, total * times) for number in range(count)]
    assert [w["operations"] for w in workers] == each
    if sequence and sequence.planned_us:
        # It begins with its first planned time, and does not end before the last.
        first, last = sequence.planned_us[-total], sequence.planned_us[-1]
        assert result["iterations_ns"][-1] >= (last - first) * 1000
    for key in ("operations", "rows"):
        assert sum(worker[key] for worker in workers) == result[key]
    assert sum(worker["checksum"] for worker in workers) % 2**32 == result["checksum"]
    if writer:
        assert {key: told[-1][key] for key in want["writer"]} == want["writer"]
    assert sum(worker.get("busy", 0) for worker in told) == want.get("busy", 0)
    for worker in told:
        paced = writer if writer and worker is told[-1] else measure
        check_recorded(measure, paced, worker)


def check_recorded(measure: Measure, paced: Measure | Writer, worker: Json) -> None:
    """One worker's times; `paced` is what its rate is asked in."""
    iterations = measure.iterations
    assert len(worker["iterations_ns"]) == iterations
    latencies, pacing = worker.get("latencies"), worker.get("pacing")
    assert (latencies is not None) == measure.latencies
    planned = measure.sequence.planned_us if measure.sequence else []
    assert (pacing is not None) == (paced.rate is not None or bool(planned))
    each = worker["operations"] // (measure.warmup_iterations + iterations)
    performed = each * iterations
    for histogram in filter(None, [latencies, pacing]):
        buckets = [bucket for bucket, _ in histogram["buckets"]]
        assert buckets == sorted(set(buckets))
    if latencies:
        assert sum(count for _, count in latencies["buckets"]) == performed
    if pacing:
        assert sum(count for _, count in pacing["buckets"]) <= performed
    if paced.rate is not None:
        # The last operation starts at its planned time, so an iteration is never shorter.
        planned_ns = (each - 1) / paced.rate * 1e9
        assert min(worker["iterations_ns"]) >= planned_ns * 0.999


@each_runner
def test_malformed_jobs_end_with_2_and_a_line_for_each(name: str, tmp_path: Path) -> None:
    """Where in the JSON the fault is, only some readers know: the runners' own tests ask for it."""
    good = of_vector("get-hit-and-miss-measure")
    faults: dict[str, Json] = json.loads((CONTRACT / "malformed.json").read_text("utf-8"))
    for fault, changes in faults.items():
        output = str(tmp_path / f"{fault}.result")
        write_job(tmp_path / f"{fault}.json", **{**good, "output": output, **changes})
    (tmp_path / "no JSON.json").write_text('{"contract": 2,', "utf-8")
    done = start(name, "--jobs", tmp_path)
    assert done.returncode == 2, done.stderr
    said = done.stderr.replace("\\", "/").splitlines()
    for fault in (*faults, "no JSON"):
        begin = f"{(tmp_path / fault).as_posix()}.json:"
        assert any(line.startswith(begin) for line in said), done.stderr
        assert not (tmp_path / f"{fault}.result").exists()


READ = {"operation": "get", "sql": "SELECT 1", "columns": [{"name": "1", "type": "integer"}]}


@each_runner
def test_of_several_jobs_the_worst_exit_code_is_told(name: str, tmp_path: Path) -> None:
    failing: Json = {"database": {"path": str(tmp_path / "absent" / "x.db")}, "steps": [READ]}
    alone: Json = {**failing, "measure": {"operations_per_iteration": 1, "share": {}}}
    engine: Json = {**failing, "connection": {"engine": {"memstatus": 1}}}
    steps: list[tuple[list[Json], int, list[str | None]]] = [
        ([{}], 0, ["ok"]),
        ([failing, {}], 1, ["ok", "failed", "ok"]),
        ([alone, engine], 2, ["ok", "failed", "ok", None, None]),
    ]
    files: list[Path] = []
    for jobs, code, statuses in steps:
        for changes in jobs:
            files.append(write_job(tmp_path / f"{len(files)}.json", **changes))
        done = start(name, "--jobs", tmp_path)
        assert done.returncode == code, done.stderr
        there = [file for file in files if file.with_suffix(".result").exists()]
        told = [result_of(file)["status"] if file in there else None for file in files]
        assert told == statuses, done.stderr
