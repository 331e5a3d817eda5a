"""Runners that lie beside an honest one."""

from functools import partial

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, of_run


def removes_scratch(stage: Stage) -> Seen:
    """What becomes of an honest runner after one that removes the folder of both."""
    clone = stage.fakes()
    clone.runner("planted", "removes-scratch")
    clone.runner("honest")
    return measured(clone, "honest", "planted", case="insert", size="s")


def uses_half(scheme: str, stage: Stage) -> Seen:
    """Half of the CPU time is told, of iterations of many ms, beside an honest runner in this
    scheme."""
    clone = stage.fakes()
    clone.runner("planted", "uses-share=0.5")
    clone.runner("honest")
    clone.replace("scenarios/tiny.toml", "operations = 4", "operations = 10_000")
    given = ("--mode", "relayed", "--size", "s", "--case", "get", "--suite", "quick")
    done = clone.sqlitmus("run", *given, "--scheme", scheme)
    assert of_run(clone, "honest", "").fate == "ok"
    return of_run(clone, "planted", done.out + done.err)


FAULTS = [
    Fault(
        "the scratch folder removed beside an honest runner",
        "fake",
        removes_scratch,
        "ok",
        "insert/planted: failed: its process removed the folder",
    ),
    *(
        Fault(
            f"half of the CPU time is missing {word}",
            "fake",
            partial(uses_half, scheme),
            "failed",
            "of CPU time; its thread used ",
        )
        for word, scheme in (("in turns", "relay"), ("alone", "process"))
    ),
]
