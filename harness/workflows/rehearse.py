"""Runs a workflow's job on this machine: each step's command, in order, in a fresh clone of HEAD.

`python -m workflows.rehearse [JOB...] [--workflow bench] [--event ...] [--input NAME=VALUE]`
Set-up, Node and .NET are those of this machine. Artifacts go from job to job; what else an action
would do is skipped, and said. Steps write to stderr, the table is on stdout.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlitmus import machine
from workflows import artifacts
from workflows.expression import fill, holds
from workflows.model import ROOT, Job, Step, Workflow, read

SUMMARY_LIMIT = 1024 * 1024  # GitHub drops a step's summary beyond it
# the variables of a recipe, which a job does not have
OF_RECIPES = ("SQLITMUS_PATHS", "SQLITMUS_CALLED_FROM", "PYTHONPATH")
ACTIONS = {"actions/upload-artifact": artifacts.keep, "actions/download-artifact": artifacts.bring}
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # as GitHub starts it


@dataclass(frozen=True)
class Done:
    """How a step ended: `ok`, `failed` or `skipped`, with what there is to say."""

    step: str
    word: str
    note: str = ""
    seconds: float = 0
    summary: int = 0


@dataclass
class Rehearsal:
    """A workflow in a temporary folder: clones, artifacts, and how its jobs ended."""

    workflow: Workflow
    source: Path
    folder: Path
    event: str
    inputs: Mapping[str, Any]
    results: dict[str, str] = field(default_factory=dict[str, str])

    def contexts(self) -> dict[str, Any]:
        """What expressions may ask outside of a matrix."""
        sha = _git(self.source, "rev-parse", "HEAD")
        return {
            "github": {
                "event_name": self.event,
                "ref": "refs/heads/main",
                "sha": sha,
                "workflow": self.workflow.path.stem,
            },
            "inputs": self.inputs,
            "needs": {name: {"result": result} for name, result in self.results.items()},
            "job": {"status": "success", "workflow_sha": sha, "workflow_repository": "."},
            "steps": {},
        }

    def job(self, job: Job) -> list[tuple[str, list[Done]]]:
        """Run a job once for each matrix combination of this machine; titles and steps."""
        told: list[tuple[str, list[Done]]] = []
        for number, chosen in enumerate(_here(job.matrix(self.contexts()))):
            clone = self.folder / f"{job.name}-{number}"
            _git(self.folder, "clone", "--quiet", str(self.source), str(clone))
            contexts = {**self.contexts(), "matrix": chosen}
            done = [self._step(step, clone, contexts) for step in job.steps]
            told.append((fill(str(job.raw.get("name", job.name)), contexts), done))
            if contexts["job"]["status"] != "success":
                self.results[job.name] = "failure"
        self.results.setdefault(job.name, "success")
        return told

    def _step(self, step: Step, clone: Path, contexts: dict[str, Any]) -> Done:
        if not holds(step.condition, contexts):
            return Done(step.name.partition("@")[0], "skipped", "its condition does not hold")
        if step.run is None:
            done = self._action(step, clone, contexts)
        else:
            done = self._run(step, step.run, clone, contexts)
        if done.word == "failed":
            contexts["job"]["status"] = "failure"
        return done

    def _action(self, step: Step, clone: Path, contexts: Mapping[str, Any]) -> Done:
        name = (step.uses or "").partition("@")[0]
        if name not in ACTIONS:
            return Done(name, "skipped", "an action")
        given = {key: fill(str(value), contexts) for key, value in step.given.items()}
        wrong = ACTIONS[name](self.folder / "artifacts", clone, given)
        what = given.get("name") or given.get("pattern", "")
        return Done(name, "failed" if wrong else "ok", wrong or what)

    def _run(self, step: Step, command: str, clone: Path, contexts: Mapping[str, Any]) -> Done:
        summary = self.folder / "summary.md"
        summary.write_bytes(b"")
        environ = {
            **_environ(clone, summary, contexts),
            **self.workflow.env(contexts),
            **{name: fill(str(value), contexts) for name, value in step.env.items()},
        }
        print(f"== {step.name}: {command}", file=sys.stderr, flush=True)
        started = time.monotonic()
        code = subprocess.run(
            [*SHELL, command],
            cwd=clone,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            check=False,
        ).returncode
        seconds, size = time.monotonic() - started, summary.stat().st_size
        word = "failed" if code else "ok"
        if size > SUMMARY_LIMIT:
            return Done(step.name, "failed", "its summary is too long for GitHub", seconds, size)
        return Done(step.name, word, f"exit {code}", seconds, size)


def _here(combinations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The combinations of this kind of machine; the first one if there is none."""
    kind = machine.kind()
    mine = [
        one for one in combinations if kind in {one.get("id"), one.get("machine", {}).get("id")}
    ]
    return mine or combinations[:1]


def _environ(clone: Path, summary: Path, contexts: Mapping[str, Any]) -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    search = os.environ.get("PATH", "").split(os.pathsep)
    kept = {name: value for name, value in os.environ.items() if name not in OF_RECIPES}
    github = {f"GITHUB_{name.upper()}": value for name, value in contexts["github"].items()}
    return {
        **kept,
        **github,
        "PATH": os.pathsep.join(folder for folder in search if folder != scripts),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_OS": platform.system(),
        "RUNNER_TEMP": str(summary.parent),
    }


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {words[0]} in {folder} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


def rehearse(
    root: Path, name: str, jobs: Sequence[str], event: str, given: Mapping[str, str]
) -> bool:
    """Rehearse `jobs` of workflow `name` in HEAD of `root` and print them; whether all went well.

    Ends the program when there is no such workflow, job or input.
    """
    with tempfile.TemporaryDirectory(prefix="sqlitmus-rehearsal-") as made:
        folder = Path(made)
        source = folder / "source"
        _git(folder, "clone", "--quiet", str(root), str(source))
        path = source / ".github" / "workflows" / f"{name}.yml"
        if not path.is_file():
            sys.exit(f"HEAD has no .github/workflows/{name}.yml; is it committed?")
        workflow = read(path)
        inputs = workflow.inputs() if event.startswith("workflow_") else {}
        for kind, asked, known in (("job", jobs, workflow.jobs), ("input", given, inputs)):
            for one in asked:
                if one not in known:
                    sys.exit(f"{name}.yml has no {kind} {one!r}; it has {', '.join(known)}")
        rehearsal = Rehearsal(workflow, source, folder, event, {**inputs, **given})
        for job in jobs:
            for title, done in rehearsal.job(workflow.jobs[job]):
                _print(title, done)
            print(f"{job}: {rehearsal.results[job]}", flush=True)
        return all(result == "success" for result in rehearsal.results.values())


def _print(title: str, steps: Sequence[Done]) -> None:
    print(f"\n{title}\n{'step':<34}{'':<9}{'seconds':>8}{'summary':>12}")
    for one in steps:
        seconds = f"{one.seconds:.1f}" if one.seconds else ""
        size = f"{one.summary:,} B" if one.summary else ""
        print(f"{one.step:<34}{one.word:<9}{seconds:>8}{size:>12}  {one.note}".rstrip())


def main(argv: Sequence[str]) -> int:
    """Parse the command line, rehearse, and say with 0 or 1 whether all went well."""
    parser = argparse.ArgumentParser(prog="./just rehearse", description=__doc__)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="in this order; bench by default")
    parser.add_argument("--workflow", default="bench", help="name of its file, without .yml")
    parser.add_argument("--event", default="workflow_dispatch", help="such as pull_request")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(argv)
    given = dict(one.partition("=")[::2] for one in options.input)
    jobs = options.jobs or ["bench"]
    if _git(ROOT, "status", "--porcelain"):
        print("what is not committed is not part of it", file=sys.stderr)
    return 0 if rehearse(ROOT, options.workflow, jobs, options.event, given) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
