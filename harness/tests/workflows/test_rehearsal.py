"""A job rehearsed: what runs after a failure, what steps see, what goes from job to job."""

import os
import subprocess
from pathlib import Path

import pytest

from workflows.artifacts import bring, keep
from workflows.expression import ExpressionError, evaluate, fill
from workflows.rehearse import rehearse

ASKED = {"inputs": {"a": "x", "n": "2", "none": ""}, "matrix": {"machine": {"id": "m"}}}
WORKFLOW = """
on:
  workflow_dispatch:
    inputs:
      word: { default: plain }
env:
  COLOUR: blue
jobs:
  first:
    strategy:
      matrix:
        machine: [{ id: none-of-these }, { id: nor-this }]
    steps:
      - uses: actions/checkout@0
      - name: Says
        env:
          WORD: ${{ inputs.word }} ${{ matrix.machine.id }}
        run: echo "$CI $GITHUB_ACTIONS $GITHUB_EVENT_NAME $COLOUR $WORD" >> "$GITHUB_STEP_SUMMARY"
      - name: Makes
        run: mkdir out && cp committed "$GITHUB_STEP_SUMMARY" out
      - name: Fails
        run: exit 4
      - name: Left out
        run: echo never
      - name: Still done
        if: ${{ !cancelled() }}
        run: test ! -e added
      - uses: actions/upload-artifact@0
        if: ${{ !cancelled() }}
        with: { name: kept, path: out/ }
  second:
    steps:
      - uses: actions/download-artifact@0
        with: { pattern: k*, path: brought }
      - name: Reads
        run: test "$(cat brought/kept/committed)" = first
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    for path, text in ((".github/workflows/w.yml", WORKFLOW), ("committed", "first")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    for variable in ("NAME", "EMAIL"):
        monkeypatch.setenv(f"GIT_AUTHOR_{variable}", "a@b")
        monkeypatch.setenv(f"GIT_COMMITTER_{variable}", "a@b")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True)
    (root / "committed").write_text("changed", "utf-8")
    (root / "added").touch()
    return root


posix = pytest.mark.skipif(os.name == "nt", reason="shell, links and permissions are POSIX")


@posix
def test_a_job_goes_on_as_github_would(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert not rehearse(repository, "w", ["first", "second"], "workflow_dispatch", {})
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    ended = {
        " ".join(line[:-1]): line[-1] for line in lines if line[-1:] in (["success"], ["failure"])
    }
    assert ended == {"first:": "failure", "second:": "success"}
    told = [" ".join(line) for line in lines]
    assert "actions/checkout skipped an action" in told
    assert any(line.startswith("Fails failed") and line.endswith("exit 4") for line in told)
    assert "Left out skipped its condition does not hold" in told
    assert any(line.startswith("Still done ok") for line in told)
    assert "actions/upload-artifact ok kept" in told
    assert any(line.startswith("Reads ok") for line in told)


@posix
def test_steps_see_what_github_sets(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rehearse(repository, "w", ["first"], "workflow_dispatch", {"word": "given"})
    says = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("Says"))
    written = "true true workflow_dispatch blue given none-of-these\n"
    assert f"{len(written)} B  exit 0" in says


@pytest.mark.parametrize(
    ("name", "jobs", "given", "told"),
    [
        ("v", ["first"], {}, "HEAD has no .github/workflows/v.yml"),
        ("w", ["third"], {}, "no job 'third'; it has first, second"),
        ("w", ["first"], {"suite": "x"}, "no input 'suite'; it has word"),
    ],
)
def test_what_does_not_exist_is_told(
    repository: Path, name: str, jobs: list[str], given: dict[str, str], told: str
) -> None:
    with pytest.raises(SystemExit, match=told):
        rehearse(repository, name, jobs, "workflow_dispatch", given)


@posix
def test_an_artifact_has_files_once_and_no_permissions(tmp_path: Path) -> None:
    clone, store = tmp_path / "clone", tmp_path / "store"
    (clone / "results" / "run").mkdir(parents=True)
    program = clone / "results" / "run" / "program"
    program.touch(0o755)
    (clone / "results" / "latest").symlink_to("run")
    given = {"name": "a", "path": "results/\n!results/latest/**\n", "if-no-files-found": "error"}
    assert keep(store, clone, given) == ""
    assert bring(store, clone, {"name": "a", "path": "in"}) == ""
    found = [path for path in (clone / "in").rglob("*") if path.is_file()]
    assert found == [clone / "in" / "run" / "program"]
    assert not os.access(found[0], os.X_OK)
    assert keep(store, clone, {**given, "path": "elsewhere/"}) == "no files in elsewhere/"
    assert bring(store, clone, {"name": "b", "path": "in"}) == "there is no artifact b"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("inputs.a || 'b'", "x"),
        ("inputs.none || 'b'", "b"),
        ("inputs.absent || (inputs.a == 'x' && 'c') || 'd'", "c"),
        ("inputs.a != 'x' && 'c'", False),
        ("!cancelled()", True),
        ("matrix.machine.id", "m"),
        ("""${{ fromJSON('{"1": [1], "2": [1, 2]}')[inputs.n] }}""", [1, 2]),
        ("'it''s'", "it's"),
    ],
)
def test_expressions(text: str, value: object) -> None:
    assert evaluate(text, ASKED) == value


def test_a_text_is_filled_in() -> None:
    assert fill("${{ inputs.a }}-${{ matrix.machine.id }} $HOME", ASKED) == "x-m $HOME"


@pytest.mark.parametrize(
    "text", ["secrets.a", "hashFiles('x')", "inputs.a +", "inputs.a 'b'", "(1"]
)
def test_what_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, ASKED)
