"""All planted faults, by what they are about."""

from tests.faults import answers, memory
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "memory and values": memory.FAULTS,
}
