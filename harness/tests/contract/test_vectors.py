"""Every vector on every runner: the same counts, checksums and digests, or a reason why not."""

# pyright: reportUnknownMemberType=false

import contextlib
import itertools
import json
import sqlite3
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.catalog import definitions
from sqlitmus.cli.schema import schemas
from sqlitmus.vocabulary.contract import Job, Measure, Share, Writer
from tests.contract.started import CONTRACT, RUNNERS, Json, description, start

VECTORS = sorted(folder.name for folder in (CONTRACT / "vectors").iterdir())
# What a driver lacks only in combination, which `features` cannot say.
LACKING = {
    ("bun", "iterate", "array"): "bun:sqlite iterates over row objects only",
    **{
        (name, "threading", "single-thread"): "rusqlite refuses SQLite's single-thread mode"
        for name, spec in definitions.load().runners.items()
        if spec.driver == "rusqlite"
    },
}
# What no feature tells: drivers with a pool of connections.
POOLING = ("dotnet",)
# A vector that a driver would spend half a minute on: there its runner's own tests do it.
SLOW = {("dotnet", "busy"): "Microsoft.Data.Sqlite waits 30 s for each lock"}
COMPARED = ("operations", "rows", "affected", "checksum", "readback", "digest")


def perform(name: str, vector: str, folder: Path) -> tuple[int, Json | None, str]:
    """Exit code, result and stderr of a runner for a vector."""
    files = CONTRACT / "vectors" / vector
    database, output, file = folder / "vector.db", folder / "result.json", folder / "job.json"
    script = files / "database.sql"
    if script.exists():
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.executescript(script.read_text("utf-8"))
    text = (files / "job.json").read_text("utf-8")
    for place, path in (("{database}", database), ("{output}", output)):
        text = text.replace(place, json.dumps(str(path))[1:-1])
    file.write_text(text, "utf-8")
    done = start(name, "--job", str(file))
    result = json.loads(output.read_text("utf-8")) if output.exists() else None
    left = sorted(f.name for f in folder.iterdir() if f.suffix in (".part", ".tmp"))
    assert not left, f"temporary files stay: {left}"
    return done.returncode, result, done.stderr


def asks_for_more(name: str, job: Job, features: Json) -> list[str]:
    """What of a job the runner's features do not list."""
    more: list[str] = []
    for option, value in job.connection.engine.items():
        more += [f"engine {option}"] * (option not in features["engine"])
        more += filter(None, [LACKING.get((name, option, str(value)))])
    if job.connection.per_operation and name not in POOLING:
        more.append("a pool of connections")
    flags = job.database.flags if job.database else []
    more += [f"flag {flag}" for flag in flags if flag not in features["flags"]]
    transactions = [job.transaction, *([job.writer.transaction] if job.writer else [])]
    more += [f"transaction {t}" for t in transactions if t not in features["transactions"]]
    asked = (
        ("operation", "operations"),
        ("shape", "shapes"),
        ("integers", "integers"),
        ("statement", "statements"),
    )
    for step in [*job.steps, *(job.writer.steps if job.writer else [])]:
        wants = [(key, getattr(step, key), features[listed]) for key, listed in asked]
        more += [f"{key} {value}" for key, value, listed in wants if value not in listed]
        more += filter(None, [LACKING.get((name, step.operation, step.shape))])
    return more


@pytest.mark.parametrize("name", RUNNERS)
def test_a_runner_describes_itself_as_the_schema_wants(name: str) -> None:
    told = description(name)
    Draft202012Validator(schemas()["describe"]).validate(told)
    assert told["identity"]["runner"] == name
    for listed in ("operations", "shapes", "statements", "transactions"):
        assert told["features"][listed]


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("name", RUNNERS)
def test_vector(name: str, vector: str, tmp_path: Path) -> None:
    if reason := SLOW.get((name, vector.partition("-")[0])):
        pytest.skip(reason)
    code, result, stderr = perform(name, vector, tmp_path)
    assert result is not None, f"no result, exit code {code}: {stderr}"
    Draft202012Validator(schemas()["result"]).validate(result)
    want = json.loads((CONTRACT / "vectors" / vector / "expected.json").read_text("utf-8"))
    job = Job.model_validate_json((tmp_path / "job.json").read_text("utf-8"))
    assert result["cell"] == job.cell
    assert code == (1 if result["status"] == "failed" else 0)
    if result["status"] == "unsupported" and want["status"] == "ok":
        more = asks_for_more(name, job, description(name)["features"])
        assert more, f"unsupported ({result['reason']}), but all that is asked for is in features"
        pytest.skip(f"{name} lacks {', '.join(more)}")
    assert result["status"] == want["status"], result.get("error") or result.get("reason")
    if result["status"] == "ok":
        check_figures(job, result, want)
        check_engine(job, result, description(name)["features"]["engine"])


def check_engine(job: Job, result: Json, options: list[str]) -> None:
    """What is asked is in effect, and what could be asked is told."""
    told = result.get("effective", {}).get("engine", {})
    assert job.connection.engine.items() <= told.items()
    assert told.keys() == (set(options) if job.inspect and job.steps else set())


def check_figures(job: Job, result: Json, want: Json) -> None:
    """Counts, proofs and the shape of the times."""
    measured = job.mode == "measure"
    for key in COMPARED:
        if key in want and not (key == "digest" and measured):
            assert result.get(key) == want[key], key
    measure, times = job.measure, result.get("iterations_ns", [])
    if measured and job.steps:
        assert len(times) == measure.iterations
        assert len(result["warmup_ns"]) >= measure.warmup_iterations
        assert sum(result["warmup_ns"]) >= measure.warmup_ns
        check_workers(job, result, want)
    if job.inspect and job.steps:
        pragmas = result["effective"]["pragmas"]
        assert {name for name, _ in job.connection.pragmas} <= pragmas.keys()
        assert len(result["plans"]) == len(job.steps)


def check_workers(job: Job, result: Json, want: Json) -> None:
    """Each worker's part, and after them the writer; there are none for one plain thread."""
    measure, writer, told = job.measure, job.writer, result["workers"]
    more = (measure.latencies, measure.rate, measure.barrier, writer)
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
    assert [w["operations"] for w in workers] == [b - a for a, b in itertools.pairwise(cuts)]
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
    assert (pacing is not None) == (paced.rate is not None)
    performed = worker["operations"] * iterations
    for histogram in filter(None, [latencies, pacing]):
        buckets = [bucket for bucket, _ in histogram["buckets"]]
        assert buckets == sorted(set(buckets))
    if latencies:
        assert sum(count for _, count in latencies["buckets"]) == performed
    if pacing:
        assert sum(count for _, count in pacing["buckets"]) <= performed
    if paced.rate is not None:
        # The last operation starts at its planned time, so an iteration is never shorter.
        planned_ns = (worker["operations"] - 1) / paced.rate * 1e9
        assert min(worker["iterations_ns"]) >= planned_ns * 0.999


BAD_JOBS: dict[str, tuple[Json, str]] = {
    "unknown key": ({"surprise": 1}, "surprise"),
    "wrong type": ({"measure": {"operations_per_iteration": "many"}}, "operations_per_iteration"),
    "unknown mode": ({"mode": "guess"}, "mode"),
    "steps without database": ({"database": None}, "database"),
    "unknown flag": ({"database": {"path": "x", "flags": ["surprise"]}}, "flags"),
    "step without sql": ({"steps": [{"operation": "get"}]}, "steps[0]"),
    "sql of in-transaction": (
        {"steps": [{"operation": "in-transaction", "sql": "SELECT 1"}]},
        "steps[0]",
    ),
    "a read that is to fail": (
        {"steps": [{"operation": "get", "sql": "SELECT 1", "fails": 19}]},
        "steps[0]",
    ),
    "share beyond the whole": (
        {"measure": {"operations_per_iteration": 4, "share": {"first": 2, "of": 2}}},
        "share",
    ),
    "writer without steps": ({"writer": {"steps": [], "operations": 1}}, "writer.steps"),
    "rate of nothing": ({"measure": {"operations_per_iteration": 4, "rate": 0}}, "rate"),
}


@pytest.mark.parametrize("fault", BAD_JOBS)
@pytest.mark.parametrize("name", RUNNERS)
def test_a_malformed_job_ends_with_2_and_its_json_path(
    name: str, fault: str, tmp_path: Path
) -> None:
    changes, where = BAD_JOBS[fault]
    job = json.loads((CONTRACT / "vectors/get-hit-and-miss-measure/job.json").read_text("utf-8"))
    output = tmp_path / "result.json"
    file = tmp_path / "job.json"
    file.write_text(json.dumps({**job, "output": str(output), **changes}), "utf-8")
    done = start(name, "--job", str(file))
    assert done.returncode == 2, done.stderr
    assert where in done.stderr
    assert not output.exists()


@pytest.mark.parametrize("name", RUNNERS)
def test_a_job_that_is_no_json_ends_with_2(name: str, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text('{"contract": 1,', "utf-8")
    done = start(name, "--job", str(file))
    assert done.returncode == 2
    assert done.stderr.strip()
