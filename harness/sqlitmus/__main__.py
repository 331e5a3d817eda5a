"""`python -m sqlitmus`."""

from sqlitmus.cli import main

try:
    main()
finally:
    # Whoever presses Ctrl-C once more while Python ends would get a traceback for an answer.
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
