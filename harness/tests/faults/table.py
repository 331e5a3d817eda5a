"""All planted faults, by what they are about."""

from tests.faults import answers, durability, fixtures, leftovers, oracle, times, writes
from tests.faults.fault import Fault

FAULTS: dict[str, list[Fault]] = {
    "answers": answers.FAULTS,
    "writes": writes.FAULTS,
    "durability": durability.FAULTS,
    "times": times.FAULTS,
    "fixtures": fixtures.FAULTS,
    "the oracle and bad cells": oracle.FAULTS,
    "leftovers": leftovers.FAULTS,
}
