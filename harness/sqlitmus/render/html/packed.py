"""The merged report as one HTML file: the machines side by side, and each one's own page packed
inside.

A machine's page is unpacked into a frame of the same document. It inherits this page's policy, so
that names the scripts of both and nothing else.
"""

import gzip
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document.build import build
from sqlitmus.render.document.machinewords import WORDS
from sqlitmus.render.document.model import Document
from sqlitmus.render.html import assets, drawings, fitting
from sqlitmus.render.html import page as html
from sqlitmus.results.machines import Machine, MergedReport
from sqlitmus.results.report import Report

LIMIT = 3_000_000
RESERVE = 100_000
# What all rows may take of the page, in bytes; the machines' own pages get the rest.
ROOM = 1_500_000
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
    document, left_out = fitting.fitted(build(report), ROOM)
    empty = [Packed(machine, "") for machine in report.machines]
    room = LIMIT - RESERVE - len(_page(report, empty, document, left_out).encode())
    packed: list[Packed] = []
    for machine, page in zip(report.machines, pages, strict=True):
        text = b64encode(page).decode()
        if len(text) > room:
            text = ""
        room -= len(text)
        packed.append(Packed(machine, text))
    return _page(report, packed, document, left_out)


def _page(report: MergedReport, packed: Sequence[Packed], document: Document, left_out: str) -> str:
    machines = [{"name": each.machine.name, "here": bool(each.page)} for each in packed]
    data = {"kind": "merged", "words": list(WORDS), "machines": machines}
    main = assets.own(assets.lean(assets.asset("merged.js")))
    return html.printed(
        "merged.html.j2",
        drawings.Drawn(document),
        assets.inlined(data),
        [main, assets.bundle()],
        {"packed": packed, "run": report.run, "hold_words": WORDS, "left_out": left_out},
    )
