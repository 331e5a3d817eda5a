"""The example pages are what the runs kept beside them say today."""

from pathlib import Path

import pytest

from sqlitmus.analysis import analyse, load
from sqlitmus.render.html import page as html
from tests.render.printing import as_markdown

EXAMPLES = Path(__file__).resolve().parents[3] / "reports/example"


# `earlier` has no page of its own: it is merged with `report`
RUNS = sorted(run.name for run in (EXAMPLES / "runs").iterdir() if run.name != "earlier")


@pytest.mark.parametrize("name", RUNS)
def test_an_example_is_its_run_rendered_today(name: str) -> None:
    report = analyse(load(EXAMPLES / "runs" / name))
    rendered = {"md": as_markdown(report), "html": html.render(report)}
    for kind, text in rendered.items():
        stored = (EXAMPLES / f"{name}.{kind}").read_text("utf-8")
        assert text.strip() == stored.strip(), "render it again with `./just examples`"
