"""Reports printed as a command prints them, and with hostile texts in them."""

import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace
from gzip import decompress
from html.parser import HTMLParser
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from rich.cells import cell_len

from sqlitmus.machines.report import merged_report, reference_of, survey
from sqlitmus.render import markdown, terminal
from sqlitmus.render.document.build import build
from sqlitmus.render.html import assets, page
from sqlitmus.results.machines import MergedReport
from tests import left_out
from tests.machines.merged_runs import Directory
from tests.render.synthetic import Report


def as_markdown(report: Report | MergedReport, *, all_rows: bool = False) -> str:
    """GitHub-flavoured Markdown."""
    return markdown.render(build(report), all_rows=all_rows)


def section(text: str, title: str) -> str:
    """A section of Markdown whose title begins so, without it."""
    return text.partition(f"\n## {title}")[2].partition("\n## ")[0]


def page_of(report: Report | MergedReport) -> str:
    """The page as it is written."""
    if isinstance(report, MergedReport):
        return page.render_merged(report, [b"page"] * len(report.machines))
    return page.render(report)


def as_html(report: Report | MergedReport) -> str:
    """The page without what its script says, whose folds are opened."""
    script = re.compile(r'(?<=<script type="module">).*?(?=</script>)', re.DOTALL)
    return opened(script.sub("", page_of(report)))


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


def as_text(report: Report | MergedReport, width: int = 80, **look: bool) -> str:
    """Text for a terminal that has that `look`."""
    return terminal.render(build(report), width, **{"color": False, **look})


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


def reported(directory: Directory, most: int = 9) -> tuple[MergedReport, list[bytes]]:
    """The report of so many of the machines, and their pages."""
    merged = directory.write()
    against = reference_of(merged, None)
    surveys = [survey(merged.file, one, against, page.pack) for one in merged.machines[:most]]
    return merged_report(merged, surveys, against), [one.page for one in surveys]


HOSTILE = "</script><img src=x onerror=alert(1)>\"'`|{{7*7}} `c` *d* @team\n# head \x1b[31m"
# Their names are looked up.
NAMED = {"axes", "figures", "facts"}
T = TypeVar("T")


def poisoned(report: T) -> T:
    """The report with a hostile text behind each that may be any; equal texts stay equal."""
    return cast("T", _poisoned(report, type(report), ""))


def _poisoned(value: Any, kind: Any, name: str) -> Any:
    plain: object = value
    holder = type(plain)
    of: Iterable[str] = getattr(holder, "__dataclass_fields__", ())
    if of:
        kinds = get_type_hints(holder)
        made = {each: _poisoned(getattr(value, each), kinds[each], each) for each in of}
        return replace(value, **made)
    if isinstance(value, str):
        return value + HOSTILE if kind is str or str in get_args(kind) else value
    if holder not in (dict, list, tuple):
        return value
    kinds = get_args(next(each for each in (kind, *get_args(kind)) if get_origin(each) is holder))
    if holder is dict:
        keys = kinds[0] if name not in NAMED else None
        made = {_poisoned(k, keys, ""): _poisoned(v, kinds[1], "") for k, v in value.items()}
        return {**made, HOSTILE: HOSTILE + "".join(made.values())} if name == "axes" else made
    if holder is list:
        return [_poisoned(each, kinds[0], "") for each in value]
    return tuple(_poisoned(each, of, "") for each, of in zip(value, kinds, strict=False))


class Page(HTMLParser):
    """Elements with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.words.append(data)


def check_gfm(text: str) -> None:
    """No table loses a column, and nothing that is not code is read as markup."""
    width = None
    for line in text.splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert width in (None, cells), line
        width = cells
    outside_code = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)(<img|@team)", outside_code)
    assert "\n# head" not in text
