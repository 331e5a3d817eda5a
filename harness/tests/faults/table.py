"""All planted faults, by what they are about."""

from tests.faults import durability, fixtures, folders, leftovers, oracle
from tests.faults.fault import Fault
from tests.faults.planted import faults_about

FAULTS: dict[str, list[Fault]] = {
    "answers": [*faults_about("answers")],
    "memory and values": [*faults_about("memory")],
    "writes": [*faults_about("writes")],
    "durability": durability.FAULTS,
    "times": [*faults_about("times"), *fixtures.TIMES],
    "in turns and alone": [*faults_about("schemes")],
    "fixtures": fixtures.FAULTS,
    "the oracle and bad cells": oracle.FAULTS,
    "folders from elsewhere": folders.FAULTS,
    "leftovers": leftovers.FAULTS,
}
