"""The check of a page in a real browser, which `just check-report` does, too."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sqlitmus.render.html import assets

NO_CHROMIUM = 3


def checked(text: str, folder: Path) -> str:
    """What the check prints of a page in which it finds nothing; skipped without a browser."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on PATH; it drives the browser")
    page = folder / "report.html"
    page.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [node, str(assets.REPORTS / "check" / "check.mjs"), str(page)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode == NO_CHROMIUM:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
