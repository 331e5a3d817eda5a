"""Every vector on every runner: the same counts, checksums and digests, or a reason why not."""

# pyright: reportUnknownMemberType=false

import contextlib
import itertools
import json
import sqlite3
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sqlitmus import catalog, paths, runners
from sqlitmus.cli.schema import schemas

Json = dict[str, Any]
CONTRACT = paths.RUNNERS / "contract"
VECTORS = sorted(folder.name for folder in (CONTRACT / "vectors").iterdir())
RUNNERS = list(catalog.load().runners)
# What a driver lacks only in combination, which `features` cannot say.
LACKING = {
    ("bun", "iterate", "array"): "bun:sqlite iterates over row objects only",
    ("rust", "threading", "single-thread"): "rusqlite refuses SQLite's single-thread mode",
}
COMPARED = ("operations", "rows", "affected", "checksum", "readback", "digest")


@cache
def command(name: str) -> tuple[list[str], dict[str, str]] | str:
    """Command line and environment of a runner, or why it is missing."""
    spec = catalog.load().runners[name]
    tools = paths.tools()
    if spec.tool not in tools.paths:
        return tools.missing.get(spec.tool, f"{spec.tool} is not set up; run ./just setup")
    return runners.expand(spec.command, tools), runners.environment(spec)


def start(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a runner to its end; skips with the reason where its tool is missing."""
    found = command(name)
    if isinstance(found, str):
        pytest.skip(f"{name}: {found}")
    line, environment = found
    return subprocess.run(
        [*line, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@cache
def description(name: str) -> Json:
    """What a runner says of itself."""
    done = start(name, "describe")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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


def asks_for_more(name: str, job: Json, features: Json) -> list[str]:
    """What of a job the runner's features do not list."""
    more: list[str] = []
    for option, value in job["connection"]["engine"].items():
        more += [f"engine {option}"] * (option not in features["engine"])
        more += filter(None, [LACKING.get((name, option, value))])
    if job["transaction"] not in features["transactions"]:
        more.append(f"transaction {job['transaction']}")
    asked = (
        ("operation", "operations"),
        ("shape", "shapes"),
        ("integers", "integers"),
        ("statement", "statements"),
    )
    for step in job["steps"]:
        more += [f"{key} {step[key]}" for key, listed in asked if step[key] not in features[listed]]
        more += filter(None, [LACKING.get((name, step["operation"], step["shape"]))])
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
    code, result, stderr = perform(name, vector, tmp_path)
    assert result is not None, f"no result, exit code {code}: {stderr}"
    Draft202012Validator(schemas()["result"]).validate(result)
    want = json.loads((CONTRACT / "vectors" / vector / "expected.json").read_text("utf-8"))
    job = json.loads((tmp_path / "job.json").read_text("utf-8"))
    assert result["cell"] == job["cell"]
    assert code == (1 if result["status"] == "failed" else 0)
    if result["status"] == "unsupported" and want["status"] == "ok":
        more = asks_for_more(name, job, description(name)["features"])
        assert more, f"unsupported ({result['reason']}), but all that is asked for is in features"
        pytest.skip(f"{name} lacks {', '.join(more)}")
    assert result["status"] == want["status"], result.get("error") or result.get("reason")
    if result["status"] == "ok":
        check_figures(job, result, want)
        check_engine(job, result, description(name)["features"]["engine"])


def check_engine(job: Json, result: Json, options: list[str]) -> None:
    """What is asked is in effect, and what could be asked is told."""
    told = result.get("effective", {}).get("engine", {})
    assert job["connection"]["engine"].items() <= told.items()
    assert told.keys() == (set(options) if job["inspect"] and job["steps"] else set())


def check_figures(job: Json, result: Json, want: Json) -> None:
    """Counts, proofs and the shape of the times."""
    measured = job["mode"] == "measure"
    for key in COMPARED:
        if key in want and not (key == "digest" and measured):
            assert result.get(key) == want[key], key
    measure, times = job["measure"], result.get("iterations_ns", [])
    if measured and job["steps"]:
        assert len(times) == measure["iterations"]
        assert len(result["warmup_ns"]) >= measure["warmup_iterations"]
        assert sum(result["warmup_ns"]) >= measure["warmup_ns"]
    if measured and measure["workers"] > 1:
        shares = result["workers"]
        assert len(shares) == measure["workers"]
        assert sum(share["operations"] for share in shares) == result["operations"]
        assert sum(share["rows"] for share in shares) == result["rows"]
        assert sum(share["checksum"] for share in shares) % 2**32 == result["checksum"]
        total = measure["operations_per_iteration"]
        cuts = [total * w // len(shares) for w in range(len(shares) + 1)]
        assert [s["operations"] for s in shares] == [b - a for a, b in itertools.pairwise(cuts)]
    if job["inspect"] and job["steps"]:
        pragmas = result["effective"]["pragmas"]
        assert {name for name, _ in job["connection"]["pragmas"]} <= pragmas.keys()
        assert len(result["plans"]) == len(job["steps"])


BAD_JOBS = {
    "unknown key": ({"surprise": 1}, "surprise"),
    "wrong type": ({"measure": {"operations_per_iteration": "many"}}, "operations_per_iteration"),
    "unknown mode": ({"mode": "guess"}, "mode"),
    "steps without database": ({"database": None}, "database"),
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
