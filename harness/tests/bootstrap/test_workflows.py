"""What a workflow may do: pinned actions, few permissions, time limits, recipes that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def text(request: pytest.FixtureRequest) -> str:
    path: Path = request.param
    return path.read_text("utf-8")


def test_actions_are_pinned_by_commit_with_their_version(text: str) -> None:
    used = re.findall(r"uses: (.+)", text)
    assert used
    for use in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


def test_permissions_are_none_by_default_and_every_job_has_a_time_limit(text: str) -> None:
    assert "\npermissions: {}\n" in text
    jobs = re.findall(r"^  \w+:\n    name:", text.split("\njobs:\n")[1], re.MULTILINE)
    assert jobs
    assert len(re.findall(r"^    timeout-minutes: \d+$", text, re.MULTILINE)) == len(jobs)
    assert len(re.findall(r"^    permissions:$", text, re.MULTILINE)) == len(jobs)


def test_recipes_exist(text: str) -> None:
    recipes = set(
        re.findall(r"^([a-z][\w-]*).*:", (ROOT / "Justfile").read_text("utf-8"), re.MULTILINE)
    )
    called = set(re.findall(r"\./just (\w[\w-]*)", text))
    assert called
    assert called <= recipes
