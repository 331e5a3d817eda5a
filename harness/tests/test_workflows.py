"""What a workflow may do: pinned actions, few permissions, time limits, recipes that exist."""

import functools
import itertools
import re
import tomllib
from collections.abc import Sequence
from typing import Any

import pytest
import typer

from sqlitmus import cli
from workflows.expression import evaluate, fill, holds
from workflows.model import FOLDER, ROOT, Job, Step, Workflow, read, recipes, workflows

# of github.com/actions/runner-images; no -latest, which for weeks means two images
LABELS = {
    *("ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"),
    *("windows-2025", "windows-11-arm"),
}
WRITES = {("publish", "pages"), ("publish", "id-token")}
ALL = list(workflows())
JOBS = [(workflow, job) for workflow in ALL for job in workflow.jobs.values()]
STEPS = [(workflow, job, step) for workflow, job in JOBS for step in job.steps]
RUNS = [(workflow, job, step) for workflow, job, step in STEPS if step.run is not None]
BENCH = read(FOLDER / "bench.yml")


def name(part: Workflow | Job | Step) -> str:
    return part.path.stem if isinstance(part, Workflow) else part.name


def each(names: str, cases: Sequence[tuple[Any, ...]]) -> pytest.MarkDecorator:
    """A test for each file, job or step, named after it."""
    return pytest.mark.parametrize(names, cases, ids=["-".join(map(name, c)) for c in cases])


FILES = pytest.mark.parametrize("workflow", ALL, ids=name)


def contexts(event: str, ref: str = "refs/heads/main", **inputs: str) -> dict[str, Any]:
    return {
        "github": {"event_name": event, "ref": ref},
        "inputs": inputs,
        "job": {"status": "success"},
        "needs": {"report": {"result": "success"}},
    }


def step_of(job: str, title: str) -> Step:
    return next(step for step in BENCH.jobs[job].steps if step.name == title)


@FILES
def test_actions_are_pinned_by_commit_with_their_version(workflow: Workflow) -> None:
    used = re.findall(r"\buses: (.+)", workflow.path.read_text("utf-8"))
    assert used
    for use in used:
        pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)
        assert pinned or (ROOT / use).is_file(), use


def test_an_action_has_one_version_everywhere() -> None:
    used = {step.uses for _, _, step in STEPS if step.uses}
    assert len(used) == len({use.partition("@")[0] for use in used}), sorted(used)


@FILES
def test_no_event_gives_strangers_a_token_that_writes(workflow: Workflow) -> None:
    assert workflow.raw["permissions"] == {}
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(workflow.raw["on"])


@each("workflow,job", JOBS)
def test_each_job_has_its_own_permissions_and_only_publishing_writes(
    workflow: Workflow, job: Job
) -> None:
    granted = job.raw["permissions"]
    assert granted
    writing = {(job.name, what) for what, how in granted.items() if how != "read"}
    assert writing <= (WRITES if workflow.path.stem == "bench" else set())


@each("workflow,job", JOBS)
def test_each_job_ends_in_time(workflow: Workflow, job: Job) -> None:
    del workflow
    if "uses" in job.raw:  # it has the limits of the workflow that it calls
        assert (ROOT / job.raw["uses"]).is_file()
        return
    limit = job.raw["timeout-minutes"]
    assert 0 < limit <= 180
    # the job's own limit counts as cancelled, and then nothing is uploaded
    for raw in job.raw["steps"]:
        if raw.get("name") == "Measure":
            assert raw["timeout-minutes"] < limit


@each("workflow,job", [(workflow, job) for workflow, job in JOBS if job.steps])
def test_each_job_runs_on_a_machine_that_there_is(workflow: Workflow, job: Job) -> None:
    asked = {
        fill(job.raw["runs-on"], {"matrix": chosen, "inputs": workflow.inputs()})
        for chosen in job.matrix({"inputs": {}})
    }
    assert asked
    assert asked <= LABELS


@each("workflow,job,step", RUNS)
def test_each_command_is_a_recipe(workflow: Workflow, job: Job, step: Step) -> None:
    assert step.run
    found = re.fullmatch(r'\./just ([a-z-]+)([^;&|<>`]*)( >> "\$GITHUB_STEP_SUMMARY")?', step.run)
    assert found, step.run
    assert found[1] in recipes()
    assert "${{" not in step.run, "what comes from outside goes through env"
    filled = set(re.findall(r"\$\{?(\w+)", step.run)) - {"GITHUB_STEP_SUMMARY"}
    assert filled == set(step.env), (name(workflow), job.name)
    assert "(" not in step.run


@functools.cache
def options() -> dict[str, set[str]]:
    """The options of each command of sqlitmus."""
    app = typer.Typer()
    for module in cli.modules():
        module.register(app)
    commands: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    return {
        command: {flag for parameter in found.params for flag in parameter.opts}
        for command, found in commands.items()
    }


@each("workflow,job,step", RUNS)
def test_each_option_of_a_command_exists(workflow: Workflow, job: Job, step: Step) -> None:
    del workflow, job
    recipe, *words = step.words()[1:]
    known = options().get(recipe)
    if known is not None:
        given = {word.rpartition("+")[2] for word in words if re.search(r"(^|\+)-", word)}
        assert given <= known


@each("workflow,job", [(w, j) for w, j in JOBS if any(s.name == "Measure" for s in j.steps)])
def test_a_measuring_job_has_no_cache_and_keeps_what_it_measured(
    workflow: Workflow, job: Job
) -> None:
    del workflow
    steps = {step.name: step for step in job.steps}
    assert not [use for use in steps if "cache" in use]
    for step in job.steps:
        assert not step.given.get("cache")
        assert step.given.get("package-manager-cache", False) is False
        if step.uses and "setup-node" in step.uses:
            assert "package-manager-cache" in step.given, "on by default"
    order = list(steps)
    after = order[order.index("Measure") + 1 :]
    assert [step.partition("@")[0] for step in after] == ["Summary", "actions/upload-artifact"]
    failed = {**contexts("schedule"), "job": {"status": "failure"}}
    assert all(holds(steps[step].condition, failed) for step in after)


@each("workflow,job", [(w, j) for w, j in JOBS if any(step.run for step in j.steps)])
def test_a_job_with_commands_brings_its_own_python(workflow: Workflow, job: Job) -> None:
    del workflow
    names = [(step.uses or "run").partition("@")[0] for step in job.steps]
    assert "actions/setup-python" in names[: names.index("run")]
    (python,) = [step for step in job.steps if "setup-python" in (step.uses or "")]
    assert python.given == {"python-version": "3.13"}


@each("workflow,job,step", [c for c in STEPS if "actions/checkout" in (c[2].uses or "")])
def test_a_checkout_leaves_no_token_behind(workflow: Workflow, job: Job, step: Step) -> None:
    del workflow, job
    assert step.given["persist-credentials"] is False


@pytest.mark.parametrize("count", range(1, 9))
def test_n_shards_are_1_to_n_on_each_machine(count: int) -> None:
    offered = BENCH.raw["on"]["workflow_dispatch"]["inputs"]["shards"]["options"]
    assert offered == [str(number) for number in range(1, 9)]
    chosen = BENCH.jobs["bench"].matrix(contexts("workflow_dispatch", shards=str(count)))
    machines = {one["machine"]["id"] for one in chosen}
    expected = [(m, n) for m in machines for n in range(1, count + 1)]
    assert sorted((one["machine"]["id"], one["shard"]) for one in chosen) == sorted(expected)


def test_without_a_dispatch_there_is_one_shard() -> None:
    chosen = BENCH.jobs["bench"].matrix(contexts("schedule"))
    assert {one["shard"] for one in chosen} == {1}
    assert {one["machine"]["runner"] for one in chosen} == LABELS


def test_the_page_names_each_machine_that_did_not_arrive() -> None:
    words = step_of("report", "Merge what arrived").words()
    expected = [after for word, after in itertools.pairwise(words) if word == "--expect"]
    chosen = BENCH.jobs["bench"].matrix(contexts("schedule"))
    assert expected == [one["machine"]["id"] for one in chosen]


@pytest.mark.parametrize(
    ("event", "given", "suite"),
    [
        ("pull_request", {}, "smoke"),
        ("schedule", {}, "quick"),
        ("workflow_dispatch", {"suite": "full"}, "full"),
    ],
)
def test_what_is_measured_when(event: str, given: dict[str, str], suite: str) -> None:
    env = step_of("bench", "Measure").env
    assert evaluate(env["SUITE"], contexts(event, **given)) == suite


def test_the_suites_that_are_offered_exist() -> None:
    offered = BENCH.raw["on"]["workflow_dispatch"]["inputs"]["suite"]["options"]
    known = tomllib.loads((ROOT / "scenarios" / "suites.toml").read_text("utf-8"))
    assert set(offered) == set(known)


@pytest.mark.parametrize(
    ("event", "ref", "published"),
    [
        ("schedule", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/topic", False),
        ("pull_request", "refs/heads/main", False),
    ],
)
def test_only_main_publishes(event: str, ref: str, published: bool) -> None:
    asked = contexts(event, ref)
    pages = next(s for s in BENCH.jobs["report"].steps if "pages" in s.name)
    assert holds(pages.condition, asked) == published
    assert holds(BENCH.jobs["publish"].raw["if"], asked) == published


def test_a_machine_that_failed_neither_hides_the_others_nor_the_page() -> None:
    failed = {**contexts("schedule"), "job": {"status": "failure"}}
    assert holds(BENCH.jobs["report"].raw["if"], failed)
    assert holds(BENCH.jobs["publish"].raw["if"], failed)
    no_page = {**failed, "needs": {"report": {"result": "failure"}}}
    assert not holds(BENCH.jobs["publish"].raw["if"], no_page)


def test_pull_requests_are_measured_for_paths_that_there_are() -> None:
    paths = BENCH.raw["on"]["pull_request"]["paths"]
    assert [path for path in paths if not (ROOT / path.removesuffix("/**")).exists()] == []


def test_comparing_takes_the_commit_of_the_workflow_and_not_the_callers() -> None:
    (job,) = read(FOLDER / "compare.yml").jobs.values()
    checkout = job.steps[0].given
    assert checkout["repository"] == "${{ job.workflow_repository }}"
    assert checkout["ref"] == "${{ job.workflow_sha }}"
