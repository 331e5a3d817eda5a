"""A figure is a row of the table: with one row more, it is in all that is written and read."""

# pyright: reportUnknownMemberType=false

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.analysis import analyse, load
from sqlitmus.cli.export import text_of
from sqlitmus.export.formats import export_of
from sqlitmus.export.model import export_model
from sqlitmus.results import machines
from sqlitmus.run.processes import launch
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Measure as Asked
from sqlitmus.vocabulary.contract import Result
from sqlitmus.vocabulary.figures import Figure
from tests.export.reading import read
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk
from tests.machines.folders import ask
from tests.render.printing import cards

LOAD = Figure(
    name="load",
    heading="Load",
    title="Time to load",
    meaning="from the process's start to the runner's",
    unit="ns",
    per="process",
    source=("result.phases_ns.load",),
    smaller="faster",
)
CLOSE = Figure(
    name="closing",
    heading="Closing",
    title="Closing",
    meaning="how often something was closed",
    unit="count",
    per="operation",
    source=("result.phases_ns.close",),
    over_blocks="mean",
    judged=False,
)
UNTOLD = replace(
    CLOSE,
    name="untold",
    heading="Untold",
    title="Untold",
    source=("result.phases_ns.prepare",),
)
LOADED = 3_000_000  # of `a`; `b` takes twice as long
CLOSED = 64


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table with a judged figure more, one that is only shown, and one that none reports."""
    monkeypatch.setattr(figures, "FIGURES", (*figures.FIGURES, LOAD, CLOSE, UNTOLD))


@pytest.fixture
def run(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run of 12 blocks; `b` closes something in every third block only."""
    for name in ("a", "b"):
        clone.runner(name)
    desk = Desk.make(clone, monkeypatch)
    desk.instant.lies["a"] = lambda number: {
        "phases_ns": {"load": LOADED + number, "close": CLOSED}
    }
    desk.instant.lies["b"] = lambda number: {
        "phases_ns": {"load": 2 * LOADED + number, "close": 0 if number % 3 else CLOSED}
    }
    assert desk.run(blocks=12).exit == 0
    return clone.latest().path


def test_it_is_in_samples_and_in_the_report_as_data(run: Path) -> None:
    kept = "SELECT name, count(value) > 0 FROM figure LEFT JOIN value ON figure = id GROUP BY id"
    assert ask(run, kept)[-3:] == [("load", 1), ("closing", 1), ("untold", 0)]
    report = analyse(load(run))
    a, b = json.loads(machines.render(report))["cases"][0]["cells"]
    assert a["figures"]["load"]["value"] == pytest.approx(LOADED, rel=1e-3)
    assert a["figures"]["load"]["contrast"] is None
    contrast = b["figures"]["load"]["contrast"]
    assert contrast["ratio"]["value"] == pytest.approx(2, rel=1e-3)
    assert contrast["verdict"] == "materially slower"
    # unknown is not 0, and what happens in every third block is not lost
    assert "untold" not in a["figures"]
    assert b["figures"]["closing"]["value"] == pytest.approx(a["figures"]["closing"]["value"] / 3)
    assert b["figures"]["closing"]["contrast"] is None
    assert machines.load(machines.render(report)) == report


def test_it_is_in_every_export_and_comes_back(run: Path) -> None:
    reports = [("m", analyse(load(run)))]
    export = export_of(reports)
    text = text_of(reports, "csv")
    first, second = csv.DictReader(io.StringIO(text, newline=""))
    assert list(first)[-7:] == [
        "load_ns",
        "load_ratio",
        "load_ratio_low",
        "load_ratio_high",
        "load_verdict",
        "closing_per_unit",
        "untold_per_unit",
    ]
    assert (first["load_ratio"], first["untold_per_unit"]) == ("", "")
    assert (second["load_verdict"], float(second["closing_per_unit"]) > 0) == (
        "materially slower",
        True,
    )
    assert read(text) == export.rows
    assert export_model().model_validate_json(text_of(reports, "json")) == export
    Draft202012Validator(export_model().model_json_schema()).validate(
        json.loads(text_of(reports, "json"))
    )
    (_, measures) = json.loads(text_of(reports, "bmf")).values()
    assert measures["load-ns"] == {"value": float(second["load_ns"])}


@pytest.mark.usefixtures("node")
def test_it_is_a_column_of_the_page(run: Path) -> None:
    page = "".join(cards(analyse(load(run))))
    cells = re.findall(r'<td data-f="(load|closing|untold)">([^<]*)', page)
    assert [name for name, _ in cells] == ["load", "closing"] * 2  # none reports the third
    assert [text for name, text in cells if name == "load"] == ["3.00\u202fms", "6.00\u202fms "]
    for heading in ("Load", "Closing"):
        assert f'<th scope="col">{heading}</th>' in page
    assert "Untold" not in page


def test_processes_that_share_a_job_give_its_sum() -> None:
    def of(load: int | None) -> Result:
        program = {"name": "x", "version": "1"}
        return Result.model_validate(
            {
                "contract": 2,
                "cell": "a/x",
                "status": "ok",
                "identity": {
                    "runner": "x",
                    "runtime": program,
                    "driver": program,
                    "architecture": "x64",
                },
                "answers": [[1, 0, 1]],
                "iterations_ns": [1],
                "workers": [
                    {
                        "operations": 1,
                        "rows": 1,
                        "checksum": 1,
                        "iterations_ns": [1],
                        "spans_us": [(0, 1)],
                    }
                ],
                "phases_ns": {"load": load},
            }
        )

    asked = Asked(operations_per_iteration=1)
    assert launch.merge([of(3), of(4)], asked).phases_ns.load == 7
    assert launch.merge([of(3), of(None)], asked).phases_ns.load is None


def test_a_run_from_before_the_figure_is_read_without_it(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = replace(LOAD, name="later", heading="Later", title="Later")
    monkeypatch.setattr(figures, "FIGURES", (*figures.FIGURES, later))
    cells = analyse(load(run)).cases[0].cells
    assert all("load" in cell.figures and "later" not in cell.figures for cell in cells)
