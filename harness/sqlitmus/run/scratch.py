"""This process's folder for jobs and copies of databases."""

import os
import shutil
from pathlib import Path

import psutil

from sqlitmus.vocabulary import paths


def make_scratch() -> Path:
    """This process's folder for jobs and copies, on the fixtures' file system.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("work").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    scratch = paths.cache("work") / str(os.getpid())
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return scratch


def file_name(text: str) -> str:
    """`text` as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_=," else "_" for c in text)
