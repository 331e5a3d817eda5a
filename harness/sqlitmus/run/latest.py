"""The link to the newest run."""

from pathlib import Path

from sqlitmus.machine import plainfiles
from sqlitmus.run import folder
from sqlitmus.vocabulary.errors import NotFit, UsageError


def latest(results: Path) -> Path:
    """The newest run in `results`; raises UsageError when there is none."""
    pointer = results / "latest"
    run = None
    if pointer.is_symlink() or pointer.is_dir():
        run = pointer.resolve()
    elif plainfiles.size(pointer) is not None:
        run = results / plainfiles.read(pointer, folder.MB).decode("utf-8", "replace").strip()
    if run is not None:
        if run.resolve().parent != results.resolve():
            raise UsageError(
                f"{pointer} leads elsewhere, to {run}; name the run that you mean, or remove it"
            )
        return run
    raise UsageError(f"there is no run in {results} yet; start one with ./just bench-quick")


def point_latest(run: Path) -> None:
    """Let `latest` beside `run` point at it: a link, or a file with the name where links fail.

    Raises NotFit where a folder has that name, which may be somebody's copy of a run.
    """
    pointer = run.parent / "latest"
    try:
        pointer.unlink(missing_ok=True)
    except OSError as error:
        raise NotFit(
            f"{pointer}: cannot be made to point at the newest run: {error.strerror}; rename or "
            "remove what has that name"
        ) from error
    try:
        pointer.symlink_to(run.name, target_is_directory=True)
    except OSError:
        pointer.write_bytes((run.name + "\n").encode())
