"""A job rehearsed: what runs after a failure, what steps see, what has to be given."""

import os
import subprocess
from pathlib import Path

import pytest

from workflows.rehearse import Ended, rehearse

WORKFLOW = """
on: workflow_dispatch
env:
  COLOUR: blue
jobs:
  first:
    steps:
      - uses: actions/checkout@0
      - uses: actions/download-artifact@0
        with: { path: brought }
      - name: Says
        env:
          WORD: ${{ inputs.word }}
        run: echo "$CI $GITHUB_ACTIONS $COLOUR $WORD" >> "$GITHUB_STEP_SUMMARY"
      - name: Asks more
        if: ${{ inputs.word != '' }}
        run: exit 9
      - name: Fails
        run: exit 4
      - name: Left out
        run: echo never
      - name: Still done
        if: ${{ !cancelled() }}
        run: test ! -e added && test "$(cat committed brought/file)" = firstmine
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


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_a_job_goes_on_as_github_would(repository: Path, tmp_path: Path) -> None:
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    (artifacts / "file").write_text("mine", "utf-8")
    ended = rehearse(repository, "w", "first", {"WORD": "given"}, artifacts)
    assert [(step.step, step.word, step.note) for step in ended] == [
        ("actions/checkout", "skipped", "an action"),
        ("actions/download-artifact", "ok", f"from {artifacts}"),
        ("Says", "ok", "exit 0"),
        ("Asks more", "skipped", "if ${{ inputs.word != '' }}"),
        ("Fails", "failed", "exit 4"),
        ("Left out", "skipped", "a step before it failed"),
        ("Still done", "ok", "exit 0"),
    ]
    says = next(step for step in ended if step.step == "Says")
    assert isinstance(says, Ended)
    assert says.summary == len("true true blue given\n")


@pytest.mark.parametrize(
    ("name", "job", "given", "message"),
    [
        ("v", "first", {}, r"HEAD has no \.github/workflows/v\.yml"),
        ("w", "third", {}, "no job 'third'; it has first"),
        ("w", "first", {}, r"\n  WORD=  \(from \${{ inputs.word }}\)"),
        ("w", "first", {"WORD": "", "SUITE": "x"}, "no step has a variable SUITE; there are WORD"),
    ],
)
def test_what_does_not_exist_or_is_not_given_is_told(
    repository: Path, name: str, job: str, given: dict[str, str], message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        rehearse(repository, name, job, given)
