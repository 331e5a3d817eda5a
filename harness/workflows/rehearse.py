"""Runs the commands of a workflow's job on this machine, in order, in a fresh clone of HEAD.

Variables that the workflow fills in from an expression are given as NAME=VALUE. Actions are
skipped, and so are steps whose condition asks for more than the job's success.
Steps write to stderr, the table is on stdout.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows.files import FOLDER, ROOT, read, title

SUMMARY_LIMIT = 1024 * 1024  # GitHub drops a step's summary beyond it
# the variables of a recipe, which a job does not have
OF_RECIPES = ("SQLITMUS_PATHS", "SQLITMUS_CALLED_FROM", "PYTHONPATH")
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # as GitHub starts it
LATER = ("${{ !cancelled() }}", "${{ always() }}")  # conditions that a failure does not stop


@dataclass(frozen=True)
class Ended:
    """How a step ended: `ok`, `failed` or `skipped`, and why; summary in bytes."""

    step: str
    word: str
    note: str
    seconds: float = 0
    summary: int = 0


def rehearse(
    root: Path, name: str, job: str, given: Mapping[str, str], artifacts: Path | None = None
) -> list[Ended]:
    """Run the commands of `job` of workflow `name` in HEAD of `root`; how each step ended.

    `given` has the variables that come from expressions; `artifacts` is what a download brings.
    Ends the program when there is no such workflow or job, or a variable is not given.
    """
    with tempfile.TemporaryDirectory(prefix="sqlitmus-rehearsal-") as made:
        clone = Path(made) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
        workflow = _read(clone, name, job)
        steps: list[dict[str, Any]] = workflow["jobs"][job].get("steps", [])
        _check([workflow, *steps], given)
        ended: list[Ended] = []
        for step in steps:
            reason = _reason(step, failed=any(one.word == "failed" for one in ended))
            if reason:
                ended.append(Ended(title(step), "skipped", reason))
            elif "run" in step:
                environ = _environ(clone) | _filled(workflow, given) | _filled(step, given)
                ended.append(_run(step, clone, environ))
            elif artifacts and "download-artifact" in step["uses"]:
                shutil.copytree(artifacts, clone / step["with"]["path"], dirs_exist_ok=True)
                ended.append(Ended(title(step), "ok", f"from {artifacts}"))
            else:
                ended.append(Ended(title(step), "skipped", "an action"))
        return ended


def _read(clone: Path, name: str, job: str) -> dict[str, Any]:
    path = clone / FOLDER / f"{name}.yml"
    if not path.is_file():
        sys.exit(f"HEAD has no {FOLDER.as_posix()}/{name}.yml; is it committed?")
    workflow = read(path)
    if job not in workflow["jobs"]:
        sys.exit(f"{name}.yml has no job {job!r}; it has {', '.join(workflow['jobs'])}")
    return workflow


def _check(parts: Sequence[Mapping[str, Any]], given: Mapping[str, str]) -> None:
    """Whether exactly the variables are given that expressions make; ends the program if not."""
    asked = {
        name: value
        for part in parts
        for name, value in part.get("env", {}).items()
        if "${{" in str(value)
    }
    absent = [f"{name}=  (from {value})" for name, value in asked.items() if name not in given]
    if absent:
        sys.exit("give each of these a value, which may be empty:\n  " + "\n  ".join(absent))
    unknown = sorted(set(given) - set(asked))
    if unknown:
        sys.exit(f"no step has a variable {', '.join(unknown)}; there are {', '.join(asked)}")


def _filled(part: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    return {name: given.get(name, str(value)) for name, value in part.get("env", {}).items()}


def _reason(step: Mapping[str, Any], *, failed: bool) -> str:
    """Why a step is not run, or nothing."""
    condition = step.get("if", "")
    if condition and condition not in LATER:
        return f"if {condition}"
    return "a step before it failed" if failed and not condition else ""


def _run(step: Mapping[str, Any], clone: Path, environ: Mapping[str, str]) -> Ended:
    summary = Path(environ["GITHUB_STEP_SUMMARY"])
    summary.write_bytes(b"")
    print(f"== {title(step)}: {step['run']}", file=sys.stderr, flush=True)
    started = time.monotonic()
    code = subprocess.run(
        [*SHELL, step["run"]],
        cwd=clone,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        check=False,
    ).returncode
    seconds, size = time.monotonic() - started, summary.stat().st_size
    note = "its summary is too long for GitHub" if size > SUMMARY_LIMIT else f"exit {code}"
    word = "failed" if code or size > SUMMARY_LIMIT else "ok"
    return Ended(title(step), word, note, seconds, size)


def _environ(clone: Path) -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    search = os.environ.get("PATH", "").split(os.pathsep)
    kept = {name: value for name, value in os.environ.items() if name not in OF_RECIPES}
    return {
        **kept,
        "PATH": os.pathsep.join(folder for folder in search if folder != scripts),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(clone.with_name("summary.md")),
    }


def main(argv: Sequence[str]) -> int:
    """Parse the command line, rehearse, and say with 0 or 1 whether all went well."""
    parser = argparse.ArgumentParser(prog="./just rehearse", description=__doc__)
    parser.add_argument("workflow", help="name of its file, without .yml")
    parser.add_argument("job")
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--artifacts", type=Path, help="folder that stands for what is downloaded")
    options = parser.parse_args(argv)
    given = dict(word.partition("=")[::2] for word in options.variables)
    called_from = Path(os.environ.get("SQLITMUS_CALLED_FROM", ""))
    artifacts = (called_from / options.artifacts).resolve() if options.artifacts else None
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        print("what is not committed is not part of it", file=sys.stderr)
    ended = rehearse(ROOT, options.workflow, options.job, given, artifacts)
    print(f"{'step':<34}{'':<9}{'seconds':>8}{'summary':>12}")
    for step in ended:
        seconds = f"{step.seconds:.1f}" if step.seconds else ""
        size = f"{step.summary:,} B" if step.summary else ""
        print(f"{step.step:<34}{step.word:<9}{seconds:>8}{size:>12}  {step.note}")
    return 1 if any(step.word == "failed" for step in ended) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
