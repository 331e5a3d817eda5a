"""Time and size of each rendering: `python harness/benchmarks/report.py [FOLDER]` (FOLDER keeps the
files).

The reports are synthetic. "default suite" is 60 cases × 10 runners × 30 blocks; "large" is 10,000
cells with all 45,000 pairs; "comparison" is an A/B comparison of 300 cases. Times are the best of
several renderings in one process, after a first one.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlitmus.render.document.build import build
from sqlitmus.render.html import page as html
from sqlitmus.render.markdown import page as markdown
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results.report import Report
from tests.render import synthetic

ROUNDS = 5
SIZES = {
    "small": {"cases": 24, "blocks": 12},
    "default suite": {"cases": 60, "blocks": 30},
    "large": {"cases": 1000, "blocks": 30},
}


def main() -> None:
    """Prints one line per report and renderer."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    renderers: dict[str, Callable[[Report], str]] = {
        "html": html.render,
        "md": lambda report: markdown.render(build(report)),
        "txt": lambda report: terminal.render(build(report), 80, color=False),
    }
    reports = {name: synthetic.build(**size) for name, size in SIZES.items()}
    reports["comparison"] = synthetic.build_compare(cases=300, blocks=30)
    for name, report in reports.items():
        cells = sum(len(case.cells) for case in report.cases)
        pairs = sum(len(case.comparisons.ratio) for case in report.cases)
        print(f"{name}: {cells} cells, {pairs} pairs")
        for kind, render in renderers.items():
            times: list[float] = []
            text = ""
            for _ in range(ROUNDS):
                start = perf_counter()
                text = render(report)
                times.append(perf_counter() - start)
            size_kb = len(text.encode()) / 1000
            first, best = times[0] * 1000, min(times) * 1000
            print(f"  {kind:5} first {first:8.0f} ms  best {best:8.0f} ms  {size_kb:9.0f} kB")
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name.replace(' ', '-')}.{kind}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
