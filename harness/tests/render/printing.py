"""Reports printed as a command prints them."""

import json
import re
import subprocess
from base64 import b64decode
from gzip import decompress
from typing import Any, cast

from rich.cells import cell_len

from sqlitmus.render import markdown, terminal
from sqlitmus.render.document.build import build
from sqlitmus.render.html import assets, page
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report
from tests import left_out


def as_markdown(report: Report | MergedReport, *, all_rows: bool = False) -> str:
    """GitHub-flavoured Markdown."""
    return markdown.render(build(report), all_rows=all_rows)


def as_html(report: Report) -> str:
    """The page without what its script says, whose folds are opened."""
    text = re.sub(
        r'(?<=<script type="module">).*?(?=</script>)', "", page.render(report), flags=re.DOTALL
    )
    return opened(text)


def opened(text: str) -> str:
    """A page with its folded parts in their places, as its script puts them there."""
    folds = data_of(text)["folds"]
    text = _DATA.sub(r"\1", text)
    while found := re.search(r'<div data-fold="(\d+)">.*?</div>', text):
        text = text.replace(found[0], folds[int(found[1])])
    return text


def cards(report: Report) -> list[str]:
    """The cases of a page as its script draws them when they are opened; needs node."""
    code = (
        "spreadOut(given).cases.map((_, index) => {"
        " const ref = given.runners[given.reference]?.[0] ?? '';"
        " const state = {ref, view: '', as: '', unit: ''};"
        " const [table] = caseTimes(given, index, state, [...given.runners.keys()]);"
        " return String(caseBody(given, index)).replace('></table>', () => `>${table}</table>`); })"
    )
    modules = "markup format data figures matrix svg cases"
    drawn = run(modules, code, data_of(page.render(report)))
    return cast("list[str]", drawn)


def run(modules: str, code: str, given: object) -> object:
    """What `code` logs as JSON, with the modules' names in scope and `given` as its input."""
    text = "\n".join(assets.asset(f"{name}.js") for name in modules.split())
    text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    script = f"{text}\nconst given = {json.dumps(given)};\nconsole.log(JSON.stringify({code}));\n"
    done = subprocess.run(
        [left_out.tool("node"), "--input-type=module", "-"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def data_of(text: str) -> dict[str, Any]:
    """What the script of a page unpacks: bytes that depend on the machine's zlib, of the same."""
    found = _DATA.search(text)
    assert found, "the page has no data"
    return json.loads(decompress(b64decode(found[2])))


_DATA = re.compile(r'( id="data" data-kind="\w*">)([^<]*)')


def as_text(
    report: Report | MergedReport,
    width: int = 80,
    *,
    color: bool = False,
    plain: bool = False,
    all_rows: bool = False,
    brief: bool = False,
) -> str:
    """Text for a terminal."""
    look = {"color": color, "plain": plain, "all_rows": all_rows, "brief": brief}
    return terminal.render(build(report), width, **look)


def check_80_columns(report: Report | MergedReport, *, all_rows: bool = False) -> None:
    """No line is wider, and no id of a case, runner or machine is broken over lines."""
    lines = as_text(report, all_rows=all_rows).splitlines()
    assert max(map(cell_len, lines)) <= 80
    broken = [name for name in _ids(report) if not any(name in line for line in lines)]
    assert not broken


def _ids(report: Report | MergedReport) -> set[str]:
    """What the document's columns of ids hold, and the subjects of its matrices."""
    ids: set[str] = set()
    sections = [section for section in build(report).sections if not section.detail]
    for table in (table for section in sections for table in section.tables()):
        for row in table.rows:
            if table.matrix:
                ids |= {row.head.name, *row.head.axes}
            elif table.head.kind == "id":
                ids.add(row.head.text)
            cells = zip(table.columns, row.cells, strict=False)
            ids |= {cell.text for column, cell in cells if column.kind == "id"}
        if table.matrix:
            ids |= {column.title for column in table.columns}
    return ids
