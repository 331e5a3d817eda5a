"""The page in a real browser: what `just check-report` does, on a synthetic report."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sqlitmus.report import html
from sqlitmus.report.model import Report

NODE = shutil.which("node")
NO_CHROMIUM = 3


@pytest.mark.skipif(NODE is None, reason="node is not on PATH; it drives the browser")
@pytest.mark.parametrize("kind", ["small", "ab"])
def test_the_page_works_in_chromium(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    report: Report = request.getfixturevalue(kind)
    page = tmp_path / "report.html"
    page.write_text(html.render(report), encoding="utf-8")
    assert NODE is not None
    done = subprocess.run(
        [NODE, str(html.REPORTS / "check" / "check.mjs"), str(page)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode == NO_CHROMIUM:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no problems" in done.stdout
