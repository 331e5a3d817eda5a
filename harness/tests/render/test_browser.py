"""The page in a real browser: what `./just check-report` does, on a synthetic report."""

from pathlib import Path

import pytest

from sqlitmus.render.html import page as html
from sqlitmus.results.report import Report
from tests.render.browser import checked


@pytest.mark.parametrize("kind", ["small", "ab"])
def test_the_page_works_in_chromium(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    report: Report = request.getfixturevalue(kind)
    assert "no problems" in checked(html.render(report), tmp_path)
