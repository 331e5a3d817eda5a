"""What a workflow may do: few permissions, time limits, recipes that exist. That actions are
pinned, no event gives strangers a token and nothing from outside is run, zizmor says.
"""

import itertools
import re
import shlex
import tomllib
from typing import Any

import pytest

from bootstrap import recipes
from tests.known import commands, options
from tests.workflows.files import FOLDER, ROOT, read, title

# of github.com/actions/runner-images; no -latest, which for weeks means two images
LABELS = {
    *("ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"),
    *("windows-2025", "windows-11-arm"),
}
WRITES = {("publish", "pages"), ("publish", "id-token")}
AFTER_FAILURE = "${{ !cancelled() }}"
ON_MAIN = "github.event_name != 'pull_request' && github.ref == 'refs/heads/main'"

Raw = dict[str, Any]
FILES = sorted((ROOT / FOLDER).glob("*.yml"))
WORKFLOWS: dict[str, Raw] = {path.stem: read(path) for path in FILES}
JOBS: dict[str, Raw] = {
    f"{file}-{key}": job
    for file, workflow in WORKFLOWS.items()
    for key, job in workflow["jobs"].items()
}
STEPS: dict[str, Raw] = {
    f"{job}-{place}-{title(step)}": step
    for job, raw in JOBS.items()
    for place, step in enumerate(raw.get("steps", []))
}
BENCH = WORKFLOWS["bench"]
MACHINES: list[dict[str, str]] = BENCH["jobs"]["bench"]["strategy"]["matrix"]["machine"]


def each(name: str, cases: dict[str, Any]) -> pytest.MarkDecorator:
    """A test for each file, job or step, named after it."""
    return pytest.mark.parametrize(name, cases.values(), ids=cases)


def with_step(word: str) -> dict[str, Raw]:
    """The jobs that have a step whose name or action is `word`."""
    return {
        name: job
        for name, job in JOBS.items()
        if any(title(step) == word for step in job.get("steps", []))
    }


def test_an_action_has_one_version_everywhere_and_says_which() -> None:
    used = {use for path in FILES for use in re.findall(r"\buses: (.+)", path.read_text("utf-8"))}
    actions = {use for use in used if not (ROOT / use).is_file()}
    assert [use for use in actions if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", use)] == []
    assert len(actions) == len({use.partition("@")[0] for use in actions}) > 1, sorted(actions)


def test_each_job_has_its_own_permissions_and_only_publishing_writes() -> None:
    for file, workflow in WORKFLOWS.items():
        for name, job in workflow["jobs"].items():
            assert job["permissions"], name
            writing = {(name, what) for what, how in job["permissions"].items() if how != "read"}
            assert writing <= (WRITES if file == "bench" else set())


@each("job", JOBS)
def test_each_job_ends_in_time_on_a_machine_that_there_is(job: Raw) -> None:
    if "uses" in job:  # it has the limits of the workflow that it calls
        assert (ROOT / job["uses"]).is_file()
        return
    assert 0 < job["timeout-minutes"] <= 180
    for step in job["steps"]:
        # the job's own limit counts as cancelled, and then nothing is uploaded
        if title(step) == "Measure":
            assert step["timeout-minutes"] < job["timeout-minutes"]
    if "${{" not in job["runs-on"]:
        assert job["runs-on"] in LABELS


def test_the_six_machines_are_measured_and_tested() -> None:
    assert BENCH["jobs"]["bench"]["runs-on"] == "${{ matrix.machine.runner }}"
    assert {machine["runner"] for machine in MACHINES} == LABELS
    assert len({machine["id"] for machine in MACHINES}) == len(MACHINES) == 6
    tested = WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert tested == MACHINES
    compared = WORKFLOWS["compare"]["on"]["workflow_call"]["inputs"]["machine"]["default"]
    assert compared in LABELS


@each("step", {name: step for name, step in STEPS.items() if "run" in step})
def test_each_command_is_a_recipe_with_options_that_exist(step: Raw) -> None:
    pattern = r'\./just ([a-z-]+)([^;&|<>`(]*)( >> "\$GITHUB_STEP_SUMMARY")?'
    command = re.fullmatch(pattern, step["run"])
    assert command, step["run"]
    assert command[1] in recipes.read(ROOT / "Justfile")
    filled = set(re.findall(r"\$\{?(\w+)", step["run"])) - {"GITHUB_STEP_SUMMARY"}
    assert filled == set(step.get("env", {}))
    words = [word.rpartition("+")[2] for word in shlex.split(command[2]) if "-" in word]
    given = {word for word in words if word.startswith("-")}
    if command[1] in commands():
        assert given <= options(command[1])


CACHED = "harness/bootstrap/bootstrap.toml", "runners/rust/Cargo.lock"


@each("job", with_step("actions/setup-dotnet"))
def test_of_what_is_compiled_only_that_of_the_same_locks_and_machine_is_kept(job: Raw) -> None:
    (cache,) = [step["with"] for step in job["steps"] if "cache" in title(step)]
    assert cache["path"].split() == [".toolchain/hyperfine", ".toolchain/work/cargo"]
    assert re.findall(r"'([^']+)'", cache["key"]) == [*CACHED]
    assert all((ROOT / name).is_file() for name in CACHED)
    assert "machine" in cache["key"] or "matrix" in cache["key"]
    assert "restore-keys" not in cache


def test_an_artifact_of_one_file_is_called_as_the_file() -> None:
    """upload-artifact takes no other name for it (upload-artifact#785)."""
    (single,) = [s["with"] for s in STEPS.values() if s.get("with", {}).get("archive") is False]
    assert "name" not in single


@each("job", with_step("Measure"))
def test_a_measuring_job_keeps_what_it_measured(job: Raw) -> None:
    names = [title(step) for step in job["steps"]]
    for step in job["steps"]:
        assert not step.get("with", {}).get("cache")
        if title(step) == "actions/setup-node":
            assert step["with"]["package-manager-cache"] is False, "on by default"
    after = job["steps"][names.index("Measure") + 1 :]
    comment = ["Comment"] if job is JOBS["compare-compare"] else []
    assert [title(step) for step in after] == ["Summary", *comment, "actions/upload-artifact"]
    assert {step["if"] for step in after} == {AFTER_FAILURE}


@each("job", {name: job for name, job in JOBS.items() if "run" in str(job.get("steps"))})
def test_a_job_with_commands_brings_its_own_python(job: Raw) -> None:
    commands = [place for place, step in enumerate(job["steps"]) if "run" in step]
    (python,) = [s for s in job["steps"] if title(s) == "actions/setup-python"]
    assert python["with"] == {"python-version": "3.13"}
    assert job["steps"].index(python) < commands[0]


def test_the_page_names_each_machine_that_did_not_arrive() -> None:
    merge = next(s for s in BENCH["jobs"]["report"]["steps"] if title(s) == "Merge what arrived")
    words = shlex.split(merge["run"])
    expected = [after for word, after in itertools.pairwise(words) if word == "--expect"]
    assert expected == [machine["id"] for machine in MACHINES]


def test_only_main_publishes_also_when_a_machine_failed_but_not_without_the_page() -> None:
    report, publish = BENCH["jobs"]["report"], BENCH["jobs"]["publish"]
    pages = next(step for step in report["steps"] if "pages" in title(step))
    assert pages["if"] == f"${{{{ {ON_MAIN} }}}}"
    assert report["if"] == AFTER_FAILURE
    arrived = "needs.report.result == 'success'"
    assert publish["if"] == f"${{{{ !cancelled() && {arrived} && {ON_MAIN} }}}}"


def test_suites_and_paths_that_are_named_exist() -> None:
    offered = BENCH["on"]["workflow_dispatch"]["inputs"]["suite"]["options"]
    assert set(offered) == set(tomllib.loads((ROOT / "scenarios/suites.toml").read_text("utf-8")))
    paths = BENCH["on"]["pull_request"]["paths"]
    assert [path for path in paths if not (ROOT / path.removesuffix("/**")).exists()] == []


def test_comparing_takes_the_commit_of_the_workflow_and_not_the_callers() -> None:
    (job,) = WORKFLOWS["compare"]["jobs"].values()
    checkout = job["steps"][0]["with"]
    assert checkout["repository"] == "${{ job.workflow_repository }}"
    assert checkout["ref"] == "${{ job.workflow_sha }}"
