"""The page in a real browser: what `./just check-report` does, on a synthetic report."""

from collections.abc import Callable

import pytest

from sqlitmus.render.html import page as html
from sqlitmus.results.report import Report


@pytest.mark.parametrize("kind", ["small", "ab", "claimed"])
def test_the_page_works_in_chromium(
    kind: str, request: pytest.FixtureRequest, check_page: Callable[[str], str]
) -> None:
    report: Report = request.getfixturevalue(kind)
    assert "no problems" in check_page(html.render(report))
