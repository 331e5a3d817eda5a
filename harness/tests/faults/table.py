"""All planted faults, by what they are about."""

from tests.faults import (
    answers,
    durability,
    fixtures,
    folders,
    leftovers,
    memory,
    oracle,
    schemes,
    times,
    writes,
)
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "memory and values": memory.FAULTS,
    "writes": writes.FAULTS,
    "durability": durability.FAULTS,
    "times": times.FAULTS,
    "in turns and alone": schemes.FAULTS,
    "fixtures": fixtures.FAULTS,
    "the oracle and bad cells": oracle.FAULTS,
    "folders from elsewhere": folders.FAULTS,
    "leftovers": leftovers.FAULTS,
}
