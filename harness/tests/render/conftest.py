"""Synthetic reports for the tests of this folder, and the check of a page in a browser."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.render.html import assets
from sqlitmus.results.report import Report
from tests.render import synthetic


@pytest.fixture(scope="session")
def small() -> Report:
    """Fourteen cases, ten runners: every outcome occurs."""
    return synthetic.build(cases=14, blocks=12)


@pytest.fixture(scope="session")
def ab() -> Report:
    """An A/B comparison in twenty-four cases; every verdict occurs."""
    return synthetic.build_compare(cases=24, blocks=12)


NO_CHROMIUM = 3


@pytest.fixture
def check_page(node: str, tmp_path: Path) -> Callable[..., str]:
    """From a page to what `just check-report` prints of it; fails on a problem."""

    def check(text: str, *options: str) -> str:
        page = tmp_path / "report.html"
        page.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [node, str(assets.REPORTS / "check" / "check.mjs"), str(page), *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode == NO_CHROMIUM:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return check
