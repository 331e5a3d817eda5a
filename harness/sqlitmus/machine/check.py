"""One finding of `doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: a warning lowers confidence, a failure makes measuring pointless.

    A fact that the system does not reveal is `ok` with the finding "unknown"; `advice` is empty
    when the state is ok.
    """

    name: str
    state: Literal["ok", "warning", "failure"]
    finding: str
    advice: str = ""
