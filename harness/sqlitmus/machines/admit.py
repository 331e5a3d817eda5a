"""Decides whether a folder holds a run that can be merged.

Analysis is the judge: what it cannot read is refused, with its message. Bad samples are no reason,
since analysis marks their cells. This module adds the checks that one's own runs never need: names
that are paths, and numbers and sizes beyond reason.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from sqlitmus.analysis import RunData, from_records
from sqlitmus.analysis.data import validated
from sqlitmus.catalog import plan as plans
from sqlitmus.catalog import same_work
from sqlitmus.catalog.plan import Plan
from sqlitmus.machine import architecture
from sqlitmus.machine.facts import SYSTEMS, UNKNOWN
from sqlitmus.machines.candidate import Run, Unacceptable
from sqlitmus.run.folder import NAME, check_name
from sqlitmus.run.records import cut_off, document, lines, optional
from sqlitmus.vocabulary.plain import one_line

MOST_FACT = 1000  # characters
HARDWARE = ("cpu", "cores", "architecture", "memory", "os", "kernel")
SUITES_ONLY = {
    "compare": "a comparison is read by itself",
    "claims": "claims are read by themselves",
    "advise": "settings are tried on one machine",
}


def examine(folder: Path, path: str, digest: str, *, partial: bool) -> Run:
    """The run in `folder`; raises UsageError. `partial` accepts an interrupted run."""
    facts = {str(k): v for k, v in document(folder / "machine.json").items()}
    for name, value in facts.items():
        if not isinstance(value, str) or len(value) > MOST_FACT:
            raise Unacceptable(f"machine.json: $.{name}: expected a short text")
    raw = document(folder / "plan.json")
    plan = _plan(raw)
    run = _judge(folder, raw, facts)
    complete = run.samples.complete
    if not complete and not partial:
        raise Unacceptable(
            "samples.jsonl: no footer: the run was interrupted or is still measured; finish it "
            "with ./just run --resume, or take what there is with --partial"
        )
    for file in folder.glob("*.jsonl"):
        if cut_off(file) and (complete or file.name == "verify.jsonl"):
            raise Unacceptable(f"{file.name}: the last line is cut off; fetch the file again")
    kind = _kind(facts)
    gone_through = len({block.block for block in run.blocks if not block.repeated})
    return Run(
        path=path,
        hash=digest,
        run=plan.run,
        label=plan.machine or kind,
        created=plan.created,
        blocks=plan.blocks if complete else min(gone_through, plan.blocks),
        complete=complete,
        cpu=one_line(facts.get("cpu", UNKNOWN), MOST_FACT),
        kind=kind,
        hardware=tuple(facts.get(name, UNKNOWN) for name in HARDWARE),
        cases=frozenset(case.id for case in plan.cases),
        work=same_work.facts(plan),
        settings={
            "reference": plan.reference,
            "canary": plan.canary or "none",
            "floor": plan.floor or "none",
            "correction": plan.correction,
            "margin": f"{plan.margin:g}",
            "sessions": str(plan.sessions),
            "looks": str(plan.looks),
        },
    )


def _plan(raw: dict[str, Any]) -> Plan:
    version = raw.get("schema_version")
    if version != plans.SCHEMA:
        raise Unacceptable(
            f"plan.json: $.schema_version is {version!r}, this version reads {plans.SCHEMA}; "
            "measure again, or merge with the sqlitmus that wrote it"
        )
    plan = validated(Plan, raw, "plan.json", extra="ignore")
    if plan.kind != "suite":
        raise Unacceptable(
            f"plan.json: $.kind is {plan.kind}; only runs of a suite are merged: "
            f"{SUITES_ONLY[plan.kind]}"
        )
    _check_names(plan)
    for case in plan.cases:
        if f"scenario {case.scenario}" not in plan.definitions:
            raise Unacceptable(
                f"plan.json: $.definitions has no scenario {case.scenario}, so its work cannot "
                "be compared with that of other runs; measure again with this version"
            )
    return plan


def _check_names(plan: Plan) -> None:
    check_name("plan.json: $.run", plan.run)
    check_name("plan.json: $.machine", plan.machine or "none")
    try:
        datetime.fromisoformat(plan.created)
    except ValueError as error:
        raise Unacceptable(f"plan.json: $.created: {error}") from error


def _judge(folder: Path, plan: dict[str, Any], facts: dict[str, Any]) -> RunData:
    def records(name: str) -> Iterator[Any]:
        return chain.from_iterable(chunk for _, chunk in lines(folder / name))

    for number, record in enumerate(records("details.jsonl"), start=1):
        if not isinstance(record, dict):
            raise Unacceptable(f"details.jsonl line {number}: expected a JSON object")
    return from_records(
        plan,
        records("verify.jsonl"),
        _edges(folder / "samples.jsonl"),
        facts,
        blocks=records("blocks.jsonl"),
        selftest=optional(folder / "selftest.json"),
        gate=optional(folder / "gate.json"),
    )


def _edges(file: Path) -> Iterator[Any]:
    """The header and every other line that is no sample.

    A sample can make its cell bad, but never the run, so that none needs to be read for judging;
    all are parsed nevertheless.
    """
    for first, chunk in lines(file, numbers=False):
        if first > 1 and list(map(type, chunk)).count(list) == len(chunk):
            continue
        for number, record in enumerate(chunk, first):
            headed = isinstance(record, dict) and "schema" in record
            if headed != (number == 1):
                raise Unacceptable(
                    f"samples.jsonl line {number}: the header, which names the columns, stands in "
                    "line 1 and only there; fetch the file again"
                )
            if not isinstance(record, list):
                yield record


def _kind(facts: dict[str, str]) -> str:
    """System and architecture, such as `linux-x64`; unknown systems are distributions of Linux."""
    system = facts.get("os", "").partition(" ")[0].lower()
    if system not in ("darwin", "windows", "freebsd", "openbsd", "netbsd"):
        system = "linux"
    named = architecture.named(facts.get("architecture", ""))
    return f"{SYSTEMS.get(system, system)}-{named if NAME.fullmatch(named) else UNKNOWN}"
