"""Processor time and size of each rendering: `python harness/benchmarks/report.py [FOLDER]` (FOLDER
keeps the files).

The reports are synthetic. "full suite" is 600 cells, 60 cases × 10 runners × 30 blocks; "large" is
2,000 cells; the largest suite has 702. "comparison" is an A/B comparison of 300 cases. User CPU
seconds are the first rendering's, with the templates compiled, and the best of several after it.
The process's peak memory is printed after each report; it never goes down.
"""

import os
import resource
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlitmus.render.document.build import build
from sqlitmus.render.html import page as html
from sqlitmus.render.markdown import page as markdown
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results.report import Report
from tests.render import synthetic

ROUNDS = 5
SIZES = {"full suite": 60, "large": 200}
BLOCKS = 30


def main() -> None:
    """Prints one line per report and renderer."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    renderers: dict[str, Callable[[Report], str]] = {
        "html": html.render,
        "md": lambda report: markdown.render(build(report)),
        "txt": lambda report: terminal.render(build(report), 80, color=False),
    }
    reports = {name: partial(synthetic.build, cases=cases) for name, cases in SIZES.items()}
    reports["comparison"] = partial(synthetic.build_compare, cases=300)
    for name, make in reports.items():
        report = make(blocks=BLOCKS)
        cells = sum(len(case.cells) for case in report.cases)
        pairs = sum(len(case.comparisons.ratio) for case in report.cases)
        print(f"{name}: {cells} cells, {pairs} pairs")
        for kind, render in renderers.items():
            times: list[float] = []
            text = ""
            for _ in range(ROUNDS):
                start = os.times().user
                text = render(report)
                times.append(os.times().user - start)
            size_kb = len(text.encode()) / 1000
            print(
                f"  {kind:5} user CPU: first {times[0]:5.2f} s  best {min(times):5.2f} s"
                f"  {size_kb:9.0f} kB"
            )
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name.replace(' ', '-')}.{kind}").write_text(text, encoding="utf-8")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  peak memory so far {peak:.0f} MB")


if __name__ == "__main__":
    main()
