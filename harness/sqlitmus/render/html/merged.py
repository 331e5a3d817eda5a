"""The merged report as one HTML file: the machines side by side, and each one's own page packed
inside.

A machine's page is unpacked into a frame of the same document. It inherits this page's policy, so
that names the scripts of both and nothing else.
"""

import gzip
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import machines as mergedwords
from sqlitmus.render.document.build import build
from sqlitmus.render.html import machines as mergedview
from sqlitmus.render.html import page as html
from sqlitmus.results.machines import Machine, MergedReport
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

STYLES = ("tokens", "page", "controls", "tables", "matrix", "charts", "merged", "print")
LIMIT = 3_000_000
RESERVE = 100_000
MOST_CELLS = 10_000  # a page of more never fits, and takes seconds to make


@dataclass(frozen=True, slots=True)
class Packed:
    """A machine and its page as base64 of gzip; "" where it had no room."""

    machine: Machine
    page: str


def pack(report: Report) -> bytes:
    """A machine's own page, compressed; nothing where it could not fit into the merged one."""
    if sum(len(case.cells) for case in report.cases) > MOST_CELLS:
        return b""
    return gzip.compress(html.render(report).encode(), compresslevel=9, mtime=0)


def render(report: MergedReport, pages: Sequence[bytes]) -> str:
    """The page; `pages` are the packed ones of `report.machines`; those stay out that would
    make the file too large."""
    empty = [Packed(machine, "") for machine in report.machines]
    room = LIMIT - RESERVE - len(_page(report, empty).encode())
    packed: list[Packed] = []
    for machine, page in zip(report.machines, pages, strict=True):
        text = b64encode(page).decode()
        if len(text) > room:
            text = ""
        room -= len(text)
        packed.append(Packed(machine, text))
    return _page(report, packed)


def _page(report: MergedReport, packed: Sequence[Packed]) -> str:
    first, inner = html.script("theme"), html.bundle()
    main = html.own(html.lean(html.asset("merged.js")))
    return (
        html.environment()
        .get_template("merged.html.j2")
        .render(
            report=report,
            document=build(report),
            packed=packed,
            holds=mergedview.holds(report),
            absent=mergedwords.absent(report),
            hold_words=mergedwords.WORDS,
            verdicts=list(Verdict),
            reading=mergedwords.READING.format(reference=report.reference),
            about_means=mergedwords.POOLED,
            told=mergedwords,
            counted=counted,
            data=html.inlined(
                {
                    "kind": "merged",
                    "machines": [
                        {"name": one.machine.name, "here": bool(one.page)} for one in packed
                    ],
                }
            ),
            style=html.own(html.lean("\n".join(html.asset(f"{name}.css") for name in STYLES))),
            first_script=first,
            main_script=main,
            policy=html.policy(first, main, inner),
        )
    )
