"""Entry for `python3 harness/bootstrap ARGS`; the wrappers `just` and `just.cmd` call it."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from bootstrap.main import main

    sys.exit(main(sys.argv[1:]))
