"""The smallest plan of a run: one case, two runners, two blocks."""

from sqlitmus.catalog.plan import Plan
from tests.analysis.runs import case

RUNNERS = [
    {"name": name, "title": name, "runtime": name, "driver": name, "role": "runner"}
    for name in "ab"
]
PLAN = Plan.model_validate(
    {
        "run": "r1",
        "label": "quick",
        "suite": "quick",
        "size": "s",
        "created": "2026-01-01T00:00:00+00:00",
        "sqlitmus": "0",
        "seed": 1,
        "blocks": 2,
        "reference": "a",
        "canary": "a",
        "floor": None,
        "margin": 0.02,
        "runners": RUNNERS,
        "cases": [case("get")],
        "cells": {"get": ["a", "b"]},
        "counts": {},
        "mode": "quick",
        "correction": "bh",
        "fingerprint": "f",
    }
)
