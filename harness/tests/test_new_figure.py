"""A figure is a row of the table: with one row more, it is in all that is written and read."""

# pyright: reportUnknownMemberType=false

import csv
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.export.model import export_model
from sqlitmus.run.processes import launch
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Measure, Result
from sqlitmus.vocabulary.figures import Figure
from tests.cli.calling import sqlitmus
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
UNTOLD = replace(CLOSE, name="untold", heading="Untold", source=("result.phases_ns.prepare",))
TOOLS = os.environ.get("SQLITMUS_PATHS", "")
LOADED = 3_000_000  # of `a`; `b` takes twice as long
CLOSED = 64


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table with a judged figure more, one that is only shown, and one that none reports."""
    monkeypatch.setattr(figures, "FIGURES", (*figures.FIGURES, LOAD, CLOSE, UNTOLD))


@pytest.fixture
def run(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run of 12 blocks; `b` closes something in every third block only."""
    for name in ("a", "b"):
        catalogue.runner(name)
    desk = Desk.make(catalogue, monkeypatch)
    desk.instant.lies["a"] = lambda number: {
        "phases_ns": {"load": LOADED + number, "close": CLOSED}
    }
    desk.instant.lies["b"] = lambda number: {
        "phases_ns": {"load": 2 * LOADED + number, "close": 0 if number % 3 else CLOSED}
    }
    assert desk.run(blocks=12).exit == 0
    return catalogue.latest().path


def test_it_is_in_samples_and_in_the_report_as_data(
    run: Path,
    catalogue: Clone,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = "SELECT name, count(value) > 0 FROM figure LEFT JOIN value ON figure = id GROUP BY id"
    assert ask(run, kept)[-3:] == [("load", 1), ("closing", 1), ("untold", 0)]
    text = sqlitmus(capsys, monkeypatch, "report", "--format", "json", run).out
    a, b = (cell["figures"] for cell in json.loads(text)["cases"][0]["cells"])
    assert a["load"]["value"] == pytest.approx(LOADED, rel=1e-3)
    assert a["load"]["contrast"] is None
    contrast = b["load"]["contrast"]
    assert contrast["ratio"]["value"] == pytest.approx(2, rel=1e-3)
    assert contrast["verdict"] == "materially slower"
    # unknown is not 0, and what happens in every third block is not lost
    assert "untold" not in a
    assert b["closing"]["value"] == pytest.approx(a["closing"]["value"] / 3)
    assert b["closing"]["contrast"] is None
    (run / "summary.json").write_text(text, "utf-8")
    assert catalogue.summary() == catalogue.analysed()
    # a figure of a later version is not in a run from before it
    later = replace(LOAD, name="later", heading="Later", title="Later")
    with monkeypatch.context() as patch:
        patch.setattr(figures, "FIGURES", (*figures.FIGURES, later))
        told = [cell.figures for cell in catalogue.analysed().cases[0].cells]
    assert all("load" in cell and "later" not in cell for cell in told)


def test_it_is_in_every_export_and_comes_back(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        name: sqlitmus(capsys, monkeypatch, "export", "--format", name, run).out
        for name in ("csv", "json", "bmf")
    }
    first, second = csv.DictReader(io.StringIO(texts["csv"], newline=""))
    load = [f"load_{part}" for part in ("ns", "ratio", "ratio_low", "ratio_high", "verdict")]
    assert list(first)[-7:] == [*load, "closing_per_unit", "untold_per_unit"]
    assert (first["load_ratio"], first["untold_per_unit"]) == ("", "")
    assert second["load_verdict"] == "materially slower"
    assert float(second["closing_per_unit"]) > 0
    data = json.loads(texts["json"])
    Draft202012Validator(export_model().model_json_schema()).validate(data)
    assert [row.model_dump(mode="json") for row in read(texts["csv"])] == data["rows"]
    (_, measures) = json.loads(texts["bmf"]).values()
    assert measures["load-ns"] == {"value": float(second["load_ns"])}


@pytest.mark.usefixtures("node", "run")
def test_it_is_a_column_of_the_page(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLITMUS_PATHS", TOOLS)  # the catalogue has no node
    page = "".join(cards(catalogue.analysed()))
    cells = re.findall(r'<td data-f="(load|closing|untold)">([^<]*)', page)
    assert [name for name, _ in cells] == ["load", "closing"] * 2  # none reports the third
    assert [text for name, text in cells if name == "load"] == ["3.00\u202fms", "6.00\u202fms "]
    for heading in ("Load", "Closing"):
        assert f'<th scope="col">{heading}</th>' in page
    assert "Untold" not in page


def test_processes_that_share_a_job_give_its_sum() -> None:
    program = {"name": "x", "version": "1"}
    given = {"runner": "x", "runtime": program, "driver": program, "architecture": "x64"}
    worker = {"operations": 1, "rows": 1, "checksum": 1, "iterations_ns": [1], "spans_us": [(0, 1)]}

    def of(load: int | None) -> Result:
        told = {"contract": 2, "cell": "a/x", "status": "ok", "identity": given}
        told |= {"answers": [[1, 0, 1]], "iterations_ns": [1], "workers": [worker]}
        return Result.model_validate({**told, "phases_ns": {"load": load}})

    asked = Measure(operations_per_iteration=1)
    assert launch.merge([of(3), of(4)], asked).phases_ns.load == 7
    assert launch.merge([of(3), of(None)], asked).phases_ns.load is None
