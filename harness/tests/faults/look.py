"""A figure of a cell as its runner tells it, whatever checks say of it.

`python -m tests.faults.look RUNNER CASE FIGURE`: the figure is time, cpu or memory.
"""

import sys
from statistics import median

from sqlitmus.catalog.choose import choose
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.verify.context import opened
from tests.known import KNOWN, tools


def main(runner: str, case_id: str, figure: str) -> None:
    """Print nanoseconds of an iteration, or bytes."""
    mode = KNOWN.modes["quick"]
    (case,), cells = choose(KNOWN, "quick", mode, [case_id], [runner], [], None)
    with opened(KNOWN, tools(), Progress(), cells, size="s", timeout_s=60, fresh=False) as context:
        trial = case.model_copy(update={"warmup_ms": 50, "iterations": 12})
        installed = context.installed[runner]
        result = context.invocations.attempt(trial, installed, "measure", None).invocation.result
        assert result is not None
        figures = {"time": median(result.iterations_ns), "cpu": result.cpu_ns}
        print(float({**figures, "memory": result.peak_rss_bytes}[figure] or 0))


if __name__ == "__main__":
    main(*sys.argv[1:])
