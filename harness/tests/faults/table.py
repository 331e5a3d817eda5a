"""All planted faults, by what they are about."""

from tests.faults import answers, folders
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "folders from elsewhere": folders.FAULTS,
}
