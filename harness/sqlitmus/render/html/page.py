"""A report as one self-contained HTML file: style, script and data inlined, no request to anywhere.

The page carries a content security policy that admits the page's own two scripts by hash and
nothing else.
"""

import os
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic_core import to_json

from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.build import build
from sqlitmus.render.html import (
    charts,
    claimcharts,
    embed,
    fragments,
    noise,
    sections,
    view,
)
from sqlitmus.render.html import (
    claims as claimview,
)
from sqlitmus.render.html import (
    comparison as changeview,
)
from sqlitmus.results.report import Report
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

REPORTS = Path(__file__).resolve().parents[4] / "reports"
STYLES = ("tokens", "page", "controls", "tables", "matrix", "cases", "charts", "claims", "print")
# In order of dependence: each may import from those before it.
SCRIPTS = (
    "address",
    "format",
    "data",
    "filter",
    "state",
    "svg",
    "matrix",
    "summary",
    "cases",
    "visible",
    "export",
    "main",
)


def render(report: Report) -> str:
    """The page for `report`."""
    first, main = script("theme"), bundle()
    runners = view.runner_views(report)
    compare = report.kind == "compare"
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            document=build(report),
            runners=runners,
            looks={runner.name: look for runner, look, _ in runners},
            heads={
                r.name: view.safe(fragments.runner_head(r.name, look)) for r, look, _ in runners
            },
            groups=view.group_views(report),
            profiles=sorted({c.axes["profile"] for c in report.cases if "profile" in c.axes}),
            summary=sections.summary(report) if report.kind == "suite" else [],
            claims=claimview.claim_views(report),
            claim_reading=f"{claimwords.READING} {claimwords.correction(report)}",
            claim_words=claimwords.WORDS,
            claimcharts=claimcharts,
            changed=changeview.changed(report) if compare else None,
            noise=noise.noise(report),
            correction=words.correction(report),
            selftest=words.selftest(report),
            grades=words.GRADES,
            badges={grade: view.safe(fragments.badge(grade)) for grade in words.GRADES},
            steadiness=words.STEADINESS,
            scaling=sections.scaling(report),
            overhead=sections.overhead(report),
            provenance=sections.provenance(report),
            verdicts=list(Verdict),
            outcomes=words.OUTCOMES,
            charts=charts,
            counted=counted,
            fmt=fmt,
            data=inlined(embed.page_data(report)),
            style=styles(),
            first_script=first,
            main_script=main,
            policy=policy(first, main),
        )
    )


@cache
def environment() -> Environment:
    """Templates with escaping on; an unknown name is an error."""
    return Environment(
        loader=FileSystemLoader(REPORTS / "templates"),
        bytecode_cache=compiled(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def compiled() -> FileSystemBytecodeCache | None:
    """The templates as compiled for an earlier page, where the set-up's folder can be written."""
    try:
        folder = paths.cache("templates")
    except NotFit:
        return None
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


@cache
def styles() -> Markup:
    """All style sheets as one."""
    return own(lean("\n".join(asset(f"{name}.css") for name in STYLES)))


@cache
def script(name: str) -> Markup:
    """One script of our own."""
    return own(asset(f"{name}.js"))


@cache
def bundle() -> Markup:
    """The modules as one module script: their imports of each other go, and so do the exports."""
    text = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
    return own(lean(re.sub(r"^export ", "", text, flags=re.MULTILINE)))


def lean(text: str) -> str:
    """Without indentation and without lines that are comments only; assets hold no long strings."""
    text = re.sub(r"^\s*(//.*|/\*[^\n]*\*/)$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*", "\n", text)


def own(text: str) -> Markup:
    """Text of this project's own assets, which must not end the element it is put into."""
    if "</s" in text.lower():
        message = "an asset contains '</s', which would end its <script> or <style> element early"
        raise ValueError(message)
    return Markup(text)  # noqa: S704


def asset(name: str) -> str:
    """The text of a file in reports/assets."""
    return (REPORTS / "assets" / name).read_text(encoding="utf-8")


def inlined(data: object) -> Markup:
    """JSON that can stand in a <script> element: no character of it can end one."""
    text = to_json(data).decode()
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def policy(*scripts: str) -> str:
    """The page's content security policy."""
    hashes = " ".join(f"'sha256-{digest(text)}'" for text in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """SHA-256 in base64, as a policy wants it."""
    return b64encode(sha256(text.encode()).digest()).decode()
