"""All planted faults, by what they are about."""

from tests.faults import answers, writes
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "writes": writes.FAULTS,
}
