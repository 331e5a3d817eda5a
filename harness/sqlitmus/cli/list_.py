"""`./just list`."""

from collections.abc import Mapping
from io import StringIO
from math import ceil
from typing import Annotated

import typer

from sqlitmus.catalog import definitions
from sqlitmus.catalog.cases import cases_of
from sqlitmus.catalog.choose import choose, mode_of
from sqlitmus.cli.options import Rows, Value, show
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import with_keys


def list_(
    what: Annotated[
        str, typer.Argument(help="scenarios, cases, runners, profiles, fixtures, suites or modes.")
    ] = "scenarios",
    suite: Annotated[str, typer.Option(help="The suite whose cases are listed.")] = "quick",
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List what can be run."""
    listings = {
        "scenarios": _scenarios,
        "cases": lambda: _cases(suite),
        "runners": _runners,
        "profiles": _profiles,
        "fixtures": _fixtures,
        "suites": _suites,
        "modes": _modes,
    }
    if what not in listings:
        raise UsageError(f"there is no listing {what!r}; expected one of {', '.join(listings)}")
    show(listings[what](), as_json=json_)


def _scenarios() -> Rows:
    return [
        {"scenario": name, "group": s.group, "question": s.question, "axes": s.axes}
        for name, s in definitions.load().scenarios.items()
    ]


def _cases(suite: str) -> Rows:
    catalog = definitions.load()
    _, mode = mode_of(catalog, suite, None)
    cases, _ = choose(catalog, suite, mode, [], [], [], None)
    return [
        {"case": c.id, "group": c.group, "operations": c.operations, "question": c.question}
        for c in cases
    ]


def _runners() -> Rows:
    from sqlitmus.catalog.runners import discover

    rows: list[Mapping[str, Value]] = []
    catalog = definitions.load()
    for runner in discover(catalog, list(catalog.runners), paths.tools()):
        about = runner.description
        rows.append(
            {
                "runner": runner.spec.name,
                "runtime": _version(runner.spec.runtime, about and about.identity.runtime.version),
                "driver": _version(runner.spec.driver, about and about.identity.driver.version),
                "sqlite": about.sqlite.version if about else None,
                "role": runner.spec.role,
                "missing": runner.missing,
            }
        )
    return rows


def _version(name: str, version: str | None) -> str:
    return f"{name} {version}" if version else name


def _profiles() -> Rows:
    return [
        {"profile": name, "summary": p.summary, "pragmas": with_keys(p.pragmas)}
        for name, p in definitions.load().profiles.items()
    ]


def _fixtures() -> Rows:
    return [
        {"fixture": name, "title": f.title, "sizes": {k: str(v) for k, v in f.sizes.items()}}
        for name, f in definitions.load().fixtures.items()
    ]


def _suites() -> Rows:
    from sqlitmus.run.plan.planning import outlook
    from sqlitmus.run.processes.progress import Progress

    rows: list[Mapping[str, Value]] = []
    catalog = definitions.load()
    for name, suite in catalog.suites.items():
        costs = outlook(Options(suite=name), catalog, paths.tools(), Progress(StringIO()))
        cells, *seconds = costs["all"].tolist()
        about = {"suite": name, "summary": suite.summary, "mode": suite.mode}
        count = len(cases_of(suite, catalog, catalog.modes[suite.mode]))
        minutes = ceil(sum(seconds) / 60)
        rows.append({**about, "cases": count, "cells": round(cells), "minutes": minutes})
    return rows


def _modes() -> Rows:
    return [
        {
            "mode": name,
            "summary": m.summary,
            "blocks": m.blocks,
            "sessions": m.sessions,
            "iterations": "–".join(map(str, dict.fromkeys(m.iterations))),
            "warm-up ms": "–".join(map(str, dict.fromkeys(m.warmup_ms))),
        }
        for name, m in definitions.load().modes.items()
    ]
