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
from sqlitmus.workload.parts import parts_of
from sqlitmus.workload.statements import bound
from sqlitmus.workload.template import template
from tests import left_out
from tests.fakes.clone import Clone
from tests.faults.stage import Stage
from tests.known import KNOWN
from tests.workload.making import Line, Workload, at, workload

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


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The real runners, where those are set up that every corpus is measured with; none of its
    workloads changes it, so that each of them is described once."""
    for tool in ("hyperfine", "rust", "node"):
        left_out.tool(tool)
    return Stage(tmp_path_factory.mktemp("corpora"), left_out.tool("hyperfine")).real()


def agreed(clone: Clone, name: str, file: str, cases: str, *runners: str) -> set[str]:
    """The cases of this filter in which the runners, all without any named, answer as the oracle,
    or lack what is named."""
    options = [word for runner in runners for word in ("-r", runner)]
    process = clone.start("workload", "verify", file, "-f", cases, *options)
    out, err = process.communicate(timeout=DEADLINE_S)
    outcomes = [line.partition(" ") for line in out.splitlines()]
    cells = {tuple(rest.strip().partition(":")[0].split("/")) for _, _, rest in outcomes}
    verified, there = ({cell[place] for cell in cells} for place in (0, 1))
    tools = json.loads((clone.root / "paths.json").read_text("utf-8"))
    every = {
        spec.name
        for spec in KNOWN.runners.values()
        if spec.role in ("runner", "floor") and "path" in tools.get(spec.tool, {})
    }
    assert there == ({*runners} or every), err
    assert len(cells) == len(verified) * len(there)
    runner, reason = LACKING.get(name, ("", ""))
    lacking = {f"{case}/{runner}: {reason}" for case in verified}
    assert {outcome for outcome, *_ in outcomes} <= {"ok", "unsupported"}, out + err
    assert {rest.strip() for outcome, _, rest in outcomes if outcome != "ok"} <= lacking
    return verified


@pytest.mark.parametrize("name", CORPORA)
def test_its_queries_and_what_init_proposes_can_be_compared(name: str, tmp_path: Path) -> None:
    scenarios = workload(build(tmp_path, name)).scenarios
    assert len(scenarios) >= 8
    noted = {at for at, spec in scenarios.items() if spec.notes}
    assert noted - {"mix"} == NOTED.get(name, set())
    file, made = tmp_path / "my.toml", tmp_path / f"{name}.db"
    before = made.read_bytes()
    file.write_text(template(made, made.name, file.name, name), encoding="utf-8")
    begun = workload(file)
    assert made.read_bytes() == before
    proposed = {*begun.source.workload.query}
    assert proposed
    assert proposed <= {*begun.scenarios}


def test_a_corpus_can_be_as_large_as_a_services(tmp_path: Path) -> None:
    small, large = (database(tmp_path, "chat", size).stat().st_size for size in (1, 8))
    assert 4 * small < large < 12 * small


@pytest.mark.usefixtures("hyperfine_program")
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


def trace(made: Workload) -> Iterator[Line]:
    """What a service with the workload's queries would have done, on two connections."""
    every = parts_of(made.source, made.copy).compiled
    for n in range(200):
        part, turn = every[n % len(every)], n // len(every)
        more = {"connection": n % 2, "at": n / 1000}
        kind = part.query.transaction
        if kind != "none":
            yield at(f"BEGIN {kind}", **more)
        for step in part.steps:
            rows = bound(step.given) or [[]]
            for each in range(turn * step.repeat, (turn + 1) * step.repeat):
                row = rows[each % len(rows)]
                values = [{"blob": v.hex()} if isinstance(v, bytes) else v for v in row]
                yield at(step.text({}), *values, operation=step.operation, **more)
        if kind != "none":
            yield at("COMMIT", **more)


@pytest.mark.usefixtures("hyperfine_program")
@pytest.mark.parametrize("name", CORPORA)
def test_runners_answer_what_the_oracle_does(name: str, clone: Clone) -> None:
    """All replay its queries with two workers; those of one corpus at their times and as mixes,
    too. Mixes of the others, made of the same queries, are asked of the runner that starts
    fastest."""
    file = build(clone.root, name)
    before = (clone.root / f"{name}.db").read_bytes()
    lines = map(json.dumps, trace(workload(file)))
    (clone.root / "app.jsonl").write_text("\n".join(lines), "utf-8")
    clone.write("app.toml", f'database = "{name}.db"\ntrace = "app.jsonl"\nworkers = 2\n')
    whole = name == "values"
    cases = "replay" if whole else "replay -replay-at-times"
    assert agreed(clone, name, "app.toml", cases) == {"replay", *["replay-at-times"] * whole}
    runners = [] if whole else ["rust"]
    assert agreed(clone, name, file.name, "mix", *runners) == {"mix", "mix@workers=2"}
    assert (clone.root / f"{name}.db").read_bytes() == before
