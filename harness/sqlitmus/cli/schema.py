"""`./just schema`."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlitmus.cli.options import write
from sqlitmus.vocabulary.errors import UsageError


def schema(
    name: Annotated[
        str, typer.Argument(help="job, result, describe, plan, verified, detail or export.")
    ],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
) -> None:
    """Print a JSON Schema: the contract's, of what a run's file has as JSON, or of an export."""
    by_name = schemas()
    if name not in by_name:
        raise UsageError(f"there is no schema {name!r}; expected one of {', '.join(by_name)}")
    write(json.dumps(by_name[name], indent=1, ensure_ascii=False) + "\n", output)


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by name."""
    from sqlitmus.catalog.plan import Plan
    from sqlitmus.export.model import export_model
    from sqlitmus.store.file import Verified
    from sqlitmus.vocabulary.contract import Description, Job, Result
    from sqlitmus.vocabulary.detail import Detail

    models = {
        "job": Job,
        "result": Result,
        "describe": Description,
        "plan": Plan,
        "verified": Verified,
        "detail": Detail,
        "export": export_model(),
    }
    return {
        name: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(),
        }
        for name, model in models.items()
    }
