"""All planted faults, by what they are about."""

from tests.faults import answers, durability
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "durability": durability.FAULTS,
}
