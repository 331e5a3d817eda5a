"""The workflow files of the clone: their jobs and steps as the YAML has them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
FOLDER = Path(".github") / "workflows"


def read(path: Path) -> dict[str, Any]:
    """The contents of a workflow file."""
    from ruamel.yaml import YAML  # a package for tests, which the help does without

    return YAML(typ="safe", pure=True).load(path.read_text("utf-8"))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] — ruamel.yaml leaves its types open


def title(step: Mapping[str, Any]) -> str:
    """What a step is called: its name, or its action without the commit."""
    return step.get("name") or step.get("uses", step.get("run", "")).partition("@")[0]
