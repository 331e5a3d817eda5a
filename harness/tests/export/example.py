"""The synthetic report whose exports lie in `docs/example-export/`: three cases, four runners."""

import json
from dataclasses import replace

from sqlitmus.results import machines as data
from tests.render import synthetic
from tests.render.synthetic import Case, Report

RUNNERS = ("node", "node-better-sqlite3", "bun", "rust-ffi")
CASES = (0, 4, 5)


def report() -> Report:
    """One cold and two steady cases, with an unsupported and a wrong cell."""
    whole = synthetic.build(cases=6, runners=8)
    cases = [narrowed(whole.cases[number]) for number in CASES]
    runners = [runner for runner in whole.runners if runner.name in RUNNERS]
    return rounded(replace(whole, cases=cases, runners=runners))


def narrowed(case: Case) -> Case:
    """The case with those runners; processes have no binding overhead."""
    cells = [cell for cell in case.cells if cell.runner in RUNNERS]
    if case.metric == "cold":
        cells = [replace(cell, overhead=None) for cell in cells]
    return replace(case, cells=cells)


def rounded(report: Report) -> Report:
    """Six digits of each number: systems' logarithms differ in the last of all."""
    text = data.render(report)
    short = json.loads(text, parse_float=lambda number: float(f"{float(number):.6g}"))
    return data.load(json.dumps(short))


def reports() -> list[tuple[str, Report]]:
    """On one machine."""
    return [("linux-x64", report())]
