"""`python -m sqlitmus`."""

import signal

from sqlitmus.cli import main

try:
    main()
finally:
    # Whoever presses Ctrl-C once more while Python ends would get a traceback for an answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
