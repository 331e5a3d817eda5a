"""What every page is made of: style, script and data in the file itself, no request to anywhere.

A page carries a content security policy that admits its own scripts by hash and nothing else.
"""

import gzip
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from itertools import cycle
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sqlitmus.vocabulary.text import capital

REPORTS = Path(__file__).resolve().parents[4] / "reports"
STYLES = [
    "tokens",
    "page",
    "controls",
    "tables",
    "document",
    "decide",
    "matrix",
    "cellcard",
    "cases",
    "charts",
    "machines",
    "print",
]
# In order of dependence: each may import from those before it.
SCRIPTS = [
    "packed",
    "address",
    "clipboard",
    "bar",
    "markup",
    "format",
    "data",
    "filter",
    "state",
    "svg",
    "student",
    "weights",
    "cardcopy",
    "decide",
    "figures",
    "matrix",
    "tally",
    "cases",
    "plots",
    "scatter",
    "cellcard",
    "visible",
    "export",
    "main",
]
MERGED = ["packed", "merged"]
# A fixed level: the same report is the same file.
LEVEL = 9


@cache
def environment() -> Environment:
    """Templates with escaping on; an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(REPORTS / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"g": "{:g}".format, "slug": slug, "capital": capital, "linked": linked}
    return made


def linked(text: str) -> Markup:
    """A text whose addresses are links: nothing is loaded from there unless somebody follows one,
    and it is not told from where."""
    parts = _ADDRESS.split(text)
    return Markup("").join(
        Markup('<a href="{0}" rel="noreferrer noopener">{0}</a>').format(part) if odd else part
        for odd, part in zip(cycle((False, True)), parts, strict=False)
    )


_ADDRESS = re.compile(r"(https://[\w./#?=&%~+-]*[\w/])")


def slug(text: str) -> str:
    """A text as the id of an element."""
    return re.sub(r"[^\w-]+", "-", text)


@cache
def styles() -> Markup:
    """All style sheets as one."""
    text = lean("\n".join([*(asset(f"{name}.css") for name in STYLES), _plain_colours()]))
    return own(re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"(?<=[\w)]): ", ":", text)))


def _plain_colours() -> str:
    """The colours for a browser that does not know light-dark(): those of the system's theme."""
    both = re.findall(
        r"^  (--[\w-]+): light-dark\((\S+), (\S+)\);", asset("tokens.css"), re.MULTILINE
    )
    light, dark = (
        " ".join(f"{colour[0]}: {colour[theme]};" for colour in both) for theme in (1, 2)
    )
    return (
        f"@supports not (color: light-dark(#000, #fff)) {{ :root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }} }}"
    )


@cache
def script(name: str) -> Markup:
    """One script of our own."""
    return own(asset(f"{name}.js"))


@cache
def bundle(*modules: str) -> Markup:
    """The modules, by default the page's, as one module script: their imports of each other go, and
    so do the exports."""
    text = "\n".join(asset(f"{name}.js") for name in modules or SCRIPTS)
    text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
    return own(lean(re.sub(r"^export ", "", text, flags=re.MULTILINE)))


def lean(text: str) -> str:
    """Without indentation and without lines that are comments only; assets hold no long strings."""
    text = re.sub(r"^[ ]*//.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ ]*/\*.*?\*/$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\n\s*", "\n", text)


def own(text: str) -> Markup:
    """Text of this project's own assets, which must not end the element it is put into."""
    if re.search(r"</(script|style)|<!--", text, flags=re.IGNORECASE):
        message = "an asset would end its <script> or <style> element early"
        raise ValueError(message)
    return Markup(text)  # noqa: S704


def asset(name: str) -> str:
    """The text of a file in reports/assets."""
    return (REPORTS / "assets" / name).read_text(encoding="utf-8")


def packed(data: bytes) -> str:
    """As the page keeps what only its script reads: gzip in base64."""
    return b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()


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
