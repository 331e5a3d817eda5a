"""Databases as services have them: each runner answers for each of them, or lacks what is named."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import corpora as benchmark
from benchmarks.corpora import CORPORA, HEADS, build, database
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.vocabulary import paths
from sqlitmus.workload.parts import parts_of
from sqlitmus.workload.scenarios import MIX
from sqlitmus.workload.statements import bound
from sqlitmus.workload.template import template
from tests import left_out
from tests.fakes.clone import Clone
from tests.faults.stage import Stage
from tests.known import KNOWN
from tests.workload.making import workload

DEADLINE_S = 600.0
NUL = "its driver reads a text up to the first U+0000, which texts of this case hold"
LACKING = {
    "documents": ("dotnet", "its SQLite 3.35.5 does not know the syntax near >>"),
    "values": ("deno", NUL),
}
NOTED = {
    "chat": {"history", "react", "unreact"},
    "documents": {"by-owner", "revisions"},
    "media": {"search"},
    "places": {"box"},
    "series": {"downsample", "moving"},
    "shop": {"invoice", "sales"},
    "timeline": {"fan-out", "unfollow"},
    "values": {"texts", "wide"},
}


@pytest.fixture
def clone(tmp_path: Path, hyperfine_program: str) -> Clone:
    """The real runners, where those are set up that every corpus is measured with."""
    for runner in ("rust", "node"):
        left_out.tool(runner)
    return Stage(tmp_path, hyperfine_program).real()


def _takes_part(spec: RunnerSpec) -> bool:
    """Whether a workload is measured with it where it is set up, as it is here."""
    return spec.role in ("runner", "floor") and spec.tool in paths.tools().paths


def agreed(clone: Clone, name: str, file: str, cases: str) -> set[str]:
    """The cases of this filter in which all runners answer as the oracle, or lack what is named."""
    process = clone.start("workload", "verify", file, "-f", cases)
    out, err = process.communicate(timeout=DEADLINE_S)
    outcomes = [line.partition(" ") for line in out.splitlines()]
    assert len(outcomes) >= 4, err
    cells = {tuple(rest.strip().partition(":")[0].split("/")) for _, _, rest in outcomes}
    verified, runners = ({cell[place] for cell in cells} for place in (0, 1))
    assert runners == {spec.name for spec in KNOWN.runners.values() if _takes_part(spec)}, err
    assert len(cells) == len(verified) * len(runners)
    runner, reason = LACKING.get(name, ("", ""))
    lacking = {f"{case}/{runner}: {reason}" for case in verified}
    assert {outcome for outcome, *_ in outcomes} <= {"ok", "unsupported"}, out + err
    assert {rest.strip() for outcome, _, rest in outcomes if outcome != "ok"} <= lacking
    return verified


@pytest.mark.parametrize("name", CORPORA)
def test_its_queries_can_be_compared(name: str, tmp_path: Path) -> None:
    scenarios = workload(build(tmp_path, name), KNOWN).scenarios
    assert len(scenarios) >= 8
    noted = {at for at, spec in scenarios.items() if spec.notes}
    assert noted - {MIX} == NOTED.get(name, set())


@pytest.mark.parametrize("name", CORPORA)
def test_what_init_proposes_can_be_compared_as_it_is(name: str, tmp_path: Path) -> None:
    file, made = tmp_path / "my.toml", database(tmp_path, name)
    file.write_text(template(made, made.name, file.name, name), encoding="utf-8")
    before = made.read_bytes()
    begun = workload(file, KNOWN)
    assert made.read_bytes() == before
    proposed = set(begun.source.workload.query)
    assert proposed
    assert proposed <= set(begun.scenarios)


def test_a_corpus_can_be_as_large_as_a_services(tmp_path: Path) -> None:
    small, large = (database(tmp_path, "chat", size).stat().st_size for size in (1, 8))
    assert 4 * small < large < 12 * small


def test_the_benchmark_prints_what_an_answer_costs(tmp_path: Path, clone: Clone) -> None:
    script = inspect.getfile(benchmark)
    words = ["--only", "tenant", "--small", "--time-budget", "1s", "--"]
    words += ["--mode", "smoke", "-r", "rust", "-r", "node"]
    done = subprocess.run(
        [sys.executable, script, *words],
        env=clone.environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    head, _, row = done.stdout.splitlines()
    assert head == f"| {' | '.join(HEADS)} |"
    name, size, _, edits, _, blocks, verdicts, mix = row.strip("| ").split(" | ")
    assert (name, edits, blocks) == ("tenant", "0", "1")
    assert float(size) > 0
    assert verdicts.startswith("0 of ")  # one block gives none
    assert mix == "0 of 0"


@pytest.mark.parametrize("name", CORPORA)
def test_runners_answer_what_the_oracle_does(name: str, clone: Clone) -> None:
    build(clone.root, name)
    before = (clone.root / f"{name}.db").read_bytes()
    assert agreed(clone, name, f"{name}.toml", "mix") == {"mix", "mix@workers=2"}
    assert (clone.root / f"{name}.db").read_bytes() == before


def trace(file: Path) -> Iterator[str]:
    """What a service with the workload's queries would have done, on two connections."""
    made = workload(file, KNOWN)
    every = parts_of(made.source, made.copy).compiled
    for n in range(200):
        part, turn = every[n % len(every)], n // len(every)
        more = {"connection": n % 2, "at": n / 1000}
        kind = part.query.transaction
        if kind != "none":
            yield json.dumps({"sql": f"BEGIN {kind}", **more})
        for step in part.steps:
            rows = bound(step.given) or [[]]
            for each in range(turn * step.repeat, (turn + 1) * step.repeat):
                row = rows[each % len(rows)]
                values = [{"blob": v.hex()} if isinstance(v, bytes) else v for v in row]
                line = {"sql": step.text({}), "parameters": values, "operation": step.operation}
                yield json.dumps({**line, **more})
        if kind != "none":
            yield json.dumps({"sql": "COMMIT", **more})


@pytest.mark.parametrize("name", CORPORA)
def test_runners_replay_a_trace_as_the_oracle_does(name: str, clone: Clone) -> None:
    lines = trace(build(clone.root, name))
    (clone.root / "app.jsonl").write_text("\n".join(lines), "utf-8")
    text = f'database = "{name}.db"\ntrace = "app.jsonl"\nworkers = 2\n'
    (clone.root / "app.toml").write_text(text, "utf-8")
    assert agreed(clone, name, "app.toml", "replay") == {"replay", "replay-at-times"}
