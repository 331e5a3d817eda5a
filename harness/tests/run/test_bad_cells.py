"""A case that the oracle cannot answer fails; the other cases are measured."""

from typing import Any

import pytest

from sqlitmus.analysis import analyse, load
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary.errors import Exit
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk
from tests.worded import notices


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("a", "b"):
        catalogue.runner(name)
    return Desk.make(catalogue, monkeypatch)


def silent(desk: Desk, *numbers: int) -> list[int]:
    """Let the oracle crash when it is asked for the so-manieth time; how often it was asked."""
    questions: list[int] = []

    def lie(_number: int) -> dict[str, Any] | None:
        questions.append(len(questions) + 1)
        return None if questions[-1] in numbers else {}

    desk.instant.lies["python"] = lie
    return questions


def outcomes(run: RunDirectory) -> list[tuple[str, str, str]]:
    return [(r.case, r.runner, r.outcome) for r in run.verified()]


REASON = "the oracle cannot answer it: ended with exit code 7 and wrote no result"


@pytest.mark.parametrize("mode", ["quick", "piloted"])
def test_it_is_asked_once_and_its_cells_fail(desk: Desk, mode: str) -> None:
    # A walk of 8,192 operations is too long to be verified: with a pilot it is asked again, for
    # those that were planned: get, all, get.
    desk.clone.replace("scenarios/tiny.toml", "pool = 8", "pool = 8192")
    bad = 1 if mode == "quick" else 3
    questions = silent(desk, bad)
    ended = desk.run(cases=["get", "all"], mode=mode)
    assert ended.exit == Exit.CELLS_FAILED
    assert ended.directory
    run = RunDirectory.open(ended.directory)
    assert outcomes(run) == [
        ("get", "a", "failed"),
        ("get", "b", "failed"),
        ("all", "a", "ok"),
        ("all", "b", "ok"),
    ]
    assert {s.case for s in run.samples()} == {"all"}
    reasons = {(r.reason, r.log) for r in run.verified() if r.case == "get"}
    assert reasons == {(REASON, "logs/get.python.verify.log")}
    assert (run.path / "logs/get.python.verify.log").read_text() == "gave up, says the fake\n"
    assert "the oracle cannot answer get: ended with exit code 7" in desk.said()
    assert len(questions) == (2 if mode == "quick" else 3)


def test_runners_that_agree_against_the_oracle_are_told_everywhere(desk: Desk) -> None:
    desk.clone.replace("runners/fakes/runner.toml", 'title = "b, a fake"\nruntime = "Fake"', OTHER)
    for name in ("a", "b"):
        desk.instant.lies[name] = lambda _number: {"checksum": 6, "digest": "cd" * 32}
    ended = desk.run(cases=["get"])
    assert ended.exit == Exit.WRONG_ANSWERS
    assert ended.directory
    words = "both runners agree with each other against the oracle: suspect the oracle"
    assert f"get: {words}" in desk.said()
    for record in RunDirectory.open(ended.directory).verified():
        assert (record.outcome, record.against_oracle) == ("wrong", True)
        assert record.reason
        assert record.reason.startswith("operation 0: checksum 6; the oracle has 5; both")
    assert "In 1 case all runners that answered agree" in "".join(
        notices(analyse(load(ended.directory)))
    )


OTHER = 'title = "b, a fake"\nruntime = "Other"'


def test_a_run_goes_on_without_a_case_that_is_not_answered_any_more(desk: Desk) -> None:
    class Enough(Exception):
        pass

    def end(name: str, number: int) -> None:
        if (name, number) == ("a", 3):
            raise Enough

    desk.instant.before = end
    with pytest.raises(Enough):
        desk.run(cases=["get", "all"])
    desk.instant.before = lambda _name, _number: None
    (desk.clone.root / "toolchain/cache/memory/cells.json").unlink()
    silent(desk, 1)
    (path,) = [p for p in (desk.clone.root / "results").iterdir() if p.name != "latest"]
    ended = desk.resume(path)
    assert ended.exit == Exit.CELLS_FAILED
    samples = list(RunDirectory.open(path).samples())
    assert len([s for s in samples if s.case == "all"]) == 6
    assert all(sample.outcome == "ok" for sample in samples)


@pytest.mark.parametrize("lie", [{"checksum": 6}, None], ids=["wrong", "failed"])
def test_what_went_wrong_is_verified_again_and_what_went_well_is_not(
    desk: Desk, lie: dict[str, Any] | None
) -> None:
    desk.instant.lies["a"] = lambda number: {} if number else lie
    for verified in (["a", "b"], ["a"], []):
        desk.instant.verified.clear()
        desk.run(cases=["get"])
        assert [name for name in desk.instant.verified if name != "python"] == verified
        if verified == ["a", "b"]:
            desk.instant.lies.clear()
