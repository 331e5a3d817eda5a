"""Runners are asked whether they answer from the database, each once, and none is trusted else."""

from tests.fakes.clone import Clone, long_enough


def test_a_runner_with_a_memory_is_wrong_in_every_cell_and_the_others_are_measured(
    clone: Clone,
) -> None:
    clone.runner("remembers", "remembers")
    clone.runner("honest")
    done = clone.sqlitmus("run", "--size", "s", "--blocks", "2", "--case", "get", "--case", "all")
    assert done.code == 5
    assert clone.outcomes() == {"honest": "ok", "remembers": "wrong"}
    reasons = {record.reason for record in clone.latest().verified() if record.runner != "honest"}
    assert reasons == {
        "stale: another process changed rows, and `all` (prepared, object) returned the old ones"
    }
    assert {sample.runner for sample in clone.samples()} == {"honest"}
    assert "freshness.remembers.job.json" in clone.evidence()


def test_a_runner_that_does_not_change_is_asked_once(clone: Clone) -> None:
    clone.runner("honest")
    asked: list[int] = []
    for _ in range(2):
        done = clone.sqlitmus("run", "--size", "s", "--blocks", "2")
        assert done.code == 0, done.err
        asked.append(len(clone.pids()))
    # In the second run it is neither verified nor asked: a process for each invocation.
    assert asked[1] - asked[0] == len(clone.samples())
    assert asked[0] - len(clone.samples()) == 2


def test_a_runner_that_hangs_when_asked_is_killed(clone: Clone) -> None:
    clone.runner("hangs", "hangs-when-asked")

    def attempt(timeout_s: float) -> tuple[float, str] | None:
        done = clone.sqlitmus("verify", "--size", "s", "--timeout", f"{timeout_s:g}")
        return (timeout_s, done.out) if "asked whether" in done.out else None

    timeout_s, out = long_enough(attempt, 1)
    reason = f"asked whether it answers from the database: no end within {timeout_s:g} s; killed"
    assert out == f"failed       get/hangs: {reason}\n"
    assert clone.alive() == []


def test_a_runner_that_cannot_be_asked_is_failed(clone: Clone) -> None:
    clone.runner("old", "knows-contract-1")
    done = clone.sqlitmus("verify", "--size", "s")
    words = "ended with exit code 2 and wrote no result"
    assert (
        done.out == f"failed       get/old: asked whether it answers from the database: {words}\n"
    )
    assert done.code == 4
