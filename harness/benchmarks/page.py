"""How fast a large page is in a browser: `python harness/benchmarks/page.py [CELLS]`.

A synthetic report of 10 runners, 2,000 cells unless told otherwise. "ready" is from the start of
loading until the page's script has wired all controls, "change" from choosing another reference
until it is drawn; wall times in ms, which a loaded machine makes longer.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlitmus.render.html import page as html
from sqlitmus.vocabulary import paths
from tests.render import synthetic

RUNNERS = 10
CELLS = 2_000
BLOCKS = 30


def main() -> int:
    """Renders the page and has Chromium open it."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else CELLS
    report = synthetic.build(cases=cells // RUNNERS, runners=RUNNERS, blocks=BLOCKS)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(html.render(report), encoding="utf-8")
        print(f"{cells} cells, {file.stat().st_size / 1e6:.1f} MB", flush=True)
        speed = paths.ROOT / "reports" / "check" / "speed.mjs"
        return subprocess.run(["node", str(speed), str(file)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
