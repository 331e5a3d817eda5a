"""All planted faults, by what they are about."""

from tests.faults import answers, leftovers
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "leftovers": leftovers.FAULTS,
}
